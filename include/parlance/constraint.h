#ifndef PARLANCE_CONSTRAINT_H_
#define PARLANCE_CONSTRAINT_H_

// Which tokens a model may write next.
//
//   Result<Compiler> compiler = Compiler::create(vocabulary);  // once
//   Result<Constraint> c = compiler->compile_structural_tag(tag);
//   Matcher matcher = c->matcher();            // one per request
//   std::vector<std::int32_t> row(compiler->mask_words());
//   while (!matcher.is_terminated()) {
//     matcher.fill_bitmask(row);               // bit t set: token t fits
//     matcher.accept_token(sample(row));
//   }
//
// Laws, tested on every grammar we have:
//   Mask.      A bit is set exactly if a copy of the matcher accepts the token.
//   No dead ends.  After any accepted tokens some text leads to the end.
//   Rollback.  What is undone leaves no trace.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/grammar.h"
#include "parlance/grammar_cache.h"
#include "parlance/structural_tag.h"
#include "parlance/vocabulary.h"

namespace parlance {

class Constraint;
class Matcher;

struct CompilerOptions {
  // Memory for masks that constraints share, bytes, keys counted.  Beyond it
  // those go that were not used lately, and are made again when needed.
  std::size_t cache_bytes = std::size_t{64} << 20;
  // Memory of Compiler::grammar_cache(): grammars, the machines of their
  // schemas, and what is known of their masks, bytes, keys counted.  0: nothing
  // is kept.
  std::size_t grammar_bytes = GrammarCache::kDefaultBytes;
  // Tokens that may end a text.  Default: the vocabulary's stop_ids(), and if
  // it does not know any, compiling is the error kMissingStopIds.  An empty
  // list: a matcher is terminated where nothing may follow.
  std::optional<std::vector<TokenId>> stop_ids = std::nullopt;
  // A file written by Compiler::save_tables() for the same vocabulary, mapped
  // into memory.  Default: the tables are built, in about 0.1 s for 128,000
  // tokens.
  std::string tables_file = {};
};

struct ConstraintOptions {
  // How texts that a structural tag itself spells are written: see
  // docs/reference/vocabularies.md, "Marks".
  Markers markers = Markers::kToken;
};

struct CacheStatistics {
  std::size_t bytes = 0;         // now held, keys counted
  std::size_t entries = 0;       // masks now held
  std::uint64_t hits = 0;        // masks found
  std::uint64_t misses = 0;      // masks made
  std::uint64_t evictions = 0;   // masks dropped for the budget
  std::size_t tables_bytes = 0;  // the vocabulary's tables
};

// The tables of one vocabulary, the masks that its constraints share, and the
// grammars that it has made.
// Cheap to copy; copies share.  Safe to use from many threads.
class Compiler {
 public:
  // Errors: kIo, kBadVocabulary when options.tables_file cannot be used.
  static Result<Compiler> create(const Vocabulary& vocabulary,
                                 const CompilerOptions& options = {});

  // Errors: kMissingStopIds; kConflict for the name of a tool that contains the
  // spelling of a control token or of a marker, and so cannot be written.
  Result<Constraint> compile(const Grammar& grammar,
                             const ConstraintOptions& options = {}) const;

  // From the source, at no cost if grammar_cache() has it: a text and options
  // that were there before give the same automata and know the same masks.  Of
  // what is new the schemas that were there before are not made again.
  // Tokens that the source names by their text are looked up in the vocabulary.
  // Errors: as the function of Grammar that has the name.
  Result<Constraint> compile_json_schema(
      std::string_view schema, const JsonSchemaOptions& options = {}) const;
  Result<Constraint> compile_ebnf(std::string_view text,
                                  const EbnfOptions& options = {}) const;
  Result<Constraint> compile_regex(std::string_view pattern,
                                   const GrammarLimits& limits = {}) const;
  // Default of options.tokens_spelled: the vocabulary's.
  Result<Constraint> compile_lark(std::string_view text,
                                  const LarkGrammarOptions& options = {}) const;
  Result<Constraint> compile_structural_tag(
      std::string_view text, const GrammarLimits& limits = {},
      const ConstraintOptions& constraint = {}) const;
  Result<Constraint> compile_structural_tag(
      const StructuralTag& tag, const GrammarLimits& limits = {},
      const ConstraintOptions& constraint = {}) const;

  // 32-bit words of one mask: ceil(vocabulary size / 32).
  std::size_t mask_words() const;
  const Vocabulary& vocabulary() const;
  CacheStatistics cache_statistics() const;
  // Also for parsers (CompiledTagOptions::cache).
  const GrammarCache& grammar_cache() const;
  // Drops every shared mask that is not being copied right now, and every
  // grammar.
  void clear_cache() const;
  // Errors: kIo.
  Result<std::size_t> save_tables(const std::string& path) const;

  struct State;

 private:
  explicit Compiler(std::shared_ptr<State> state);
  Result<Constraint> compile_made(Result<Grammar> grammar,
                                  const ConstraintOptions& options = {}) const;
  std::shared_ptr<State> state_;
};

struct MatcherOptions {
  // Tokens that may end this text, in the place of the compiler's; ids that the
  // vocabulary does not have are ignored.  One that has a text of its own is
  // then no text, and ordinary ones of the compiler's do not come at all.  An
  // empty list: the matcher is terminated where nothing may follow.
  // Default: the compiler's.
  std::optional<std::vector<TokenId>> stop_ids = std::nullopt;
};

// A grammar made for a vocabulary.  Immutable to the outside, cheap to copy,
// safe to share between threads; what it builds lazily is locked inside.
class Constraint {
 public:
  Matcher matcher(const MatcherOptions& options = {}) const;
  std::size_t mask_words() const;
  const Vocabulary& vocabulary() const;
  // Memory of the automata built so far, shared tables left out.
  std::size_t memory_bytes() const;
  struct State;

 private:
  friend class Compiler;
  friend class Matcher;
  explicit Constraint(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

// One text being written.  Movable; copy() forks.  Not thread-safe; matchers of
// one constraint may be used from different threads.
class Matcher {
 public:
  ~Matcher();
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;
  // An independent matcher in the same state, with the same history.
  Matcher copy() const;

  // Writes the mask of the next token: bit t % 32 of word t / 32 is 1 if token
  // t may come next.  Stop tokens are set exactly where the text may end, or,
  // those that are marks of the grammar, where it may end behind them.
  // Bits beyond the vocabulary are 0.
  //
  // False if the row constrains nothing, so that it need not be applied: when
  // the matcher is terminated (then every bit is 1), or every token may come.
  // Free text does constrain: it is UTF-8, and control tokens are no text.
  // REQUIRES: row.size() >= mask_words(); else false and nothing is written.
  bool fill_bitmask(std::span<std::int32_t> row);

  // Appends the token if it fits, else changes nothing and says false.  A stop
  // token fits where the text may end, or where it may end behind the token as
  // a mark, and terminates the matcher.
  bool accept_token(TokenId id);
  // Appends tokens up to the first that does not fit; says how many fitted.
  std::size_t accept_tokens(std::span<const TokenId> ids);
  // Appends all of `bytes` as one step, or nothing.  The spelling of a mark
  // that may come is that mark, all else is bytes; of one that is spelled half
  // at the end nothing is remembered.
  bool accept_bytes(std::string_view bytes);

  // Undoes the last `steps` accepted tokens or byte strings, an end included.
  // False and unchanged if there are fewer.  O(1).
  bool rollback(std::size_t steps = 1);
  // Steps that rollback() could undo.
  std::size_t steps() const;
  void reset();

  // A stop token was accepted; without stop tokens, nothing may follow.
  bool is_terminated() const;
  // The text may end here.
  bool can_end() const;

  // The text that must come next, whatever the model wants: up to the first
  // choice or possible end, never a part of a UTF-8 character, at most `limit`
  // bytes.  Marks are spelled; accept_bytes() reads the whole.
  std::string forced_bytes(std::size_t limit = 4096);
  // The first tokens that forced_bytes() is written with: marks, and for bytes
  // what Vocabulary::encoder() writes, leaving out those at the end that a
  // longer token could replace together with what comes next.  Without an
  // encoder, of bytes only tokens that have no alternative.
  std::vector<TokenId> forced_tokens();

  // Masks of a draft tree in one call.  Node i has token `tokens[i]`, its first
  // child `first_child[i]` and its next sibling `next_sibling[i]` (-1: none);
  // node 0 is the root, whose token is already accepted.  Row i of `buffer`
  // (mask_words() words each) gets the mask behind node i if all tokens on the
  // way fit; rows of other nodes get no bit.  The matcher is as before.
  // REQUIRES: equal sizes, a tree; else false.
  bool fill_tree(std::span<const std::int64_t> first_child,
                 std::span<const std::int64_t> next_sibling,
                 std::span<const std::int64_t> tokens,
                 std::span<std::int32_t> buffer);

 private:
  friend class Constraint;
  friend void fill_bitmasks(std::span<Matcher* const> matchers,
                            std::span<const std::size_t> rows,
                            std::span<std::int32_t> buffer, std::size_t stride,
                            unsigned threads);
  struct State;
  explicit Matcher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// fill_bitmask for many matchers, on `threads` threads (0: as many as the
// machine has; at most 256).  Row i goes to `buffer` at word i * stride.
// REQUIRES: no matcher stands twice in the list.
void fill_bitmasks(std::span<Matcher* const> matchers,
                   std::span<std::int32_t> buffer, std::size_t stride,
                   unsigned threads = 0);

// The same where the row of matcher i is row rows[i], and other rows are left
// as they are.
// REQUIRES: equal sizes, no row twice; else nothing is written.
void fill_bitmasks(std::span<Matcher* const> matchers,
                   std::span<const std::size_t> rows,
                   std::span<std::int32_t> buffer, std::size_t stride,
                   unsigned threads = 0);

}  // namespace parlance

#endif  // PARLANCE_CONSTRAINT_H_
