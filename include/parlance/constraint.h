#ifndef PARLANCE_CONSTRAINT_H_
#define PARLANCE_CONSTRAINT_H_

// Which tokens a model may generate next.
//
//   Result<Compiler> compiler = Compiler::create(vocabulary);  // once
//   Result<Constraint> c = compiler->compile_structural_tag(tag);
//   Matcher matcher = c->matcher();            // one per request
//   std::vector<std::int32_t> row(compiler->mask_words());
//   while (!matcher.is_terminated()) {
//     matcher.fill_bitmask(row);               // bit t: token t is allowed
//     matcher.accept_token(sample(row));
//   }
//
// Laws, tested on every grammar we have, unless error() says otherwise:
//   Mask.      A bit is 1 exactly if a copy of the matcher accepts the token.
//   No dead ends.  After any accepted tokens some text completes the response.
//   Rollback.  A step that is undone has no effect on later steps.

#include <chrono>
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
  // Memory for the masks that constraints share, in bytes, keys included.
  // Beyond it, masks that were not used recently are evicted, and computed
  // again when they are needed.  Default: 32 MiB.
  std::size_t cache_bytes = std::size_t{32} << 20;
  // Memory of Compiler::grammar_cache(), in bytes, keys included: grammars, the
  // automata of their schemas, and the lists of masks that are known for their
  // states.  0: nothing is cached.
  std::size_t grammar_bytes = GrammarCache::kDefaultBytes;
  // Tokens that end a text.  An empty list: a matcher is terminated where
  // nothing may follow.  Default: the vocabulary's stop_ids(); if these are
  // unknown (Vocabulary::has_stop_ids()), compiling fails with kMissingStopIds.
  std::optional<std::vector<TokenId>> stop_ids = std::nullopt;
};

struct ConstraintOptions {
  // Whether the markers of a structural tag are generated as special tokens or
  // as text; docs/reference/vocabularies.md, "Marks", has the rules.
  Markers markers = Markers::kToken;
};

struct CacheStatistics {
  std::size_t bytes = 0;         // in use now, keys included
  std::size_t entries = 0;       // masks in the cache now
  std::uint64_t hits = 0;        // masks found
  std::uint64_t misses = 0;      // masks computed
  std::uint64_t evictions = 0;   // masks dropped to stay within the budget
  std::size_t tables_bytes = 0;  // the vocabulary's tables
};

// The tables of one vocabulary, the masks that its constraints share, and a
// cache of compiled grammars.  Cheap to copy; copies share all of it.  Safe to
// use from several threads.
class Compiler {
 public:
  // Takes the tables from the file that the vocabulary was loaded from
  // (Vocabulary::load()); else builds them, which takes about 0.1 s for 128,000
  // tokens.
  //
  // Errors: kTooLarge for a vocabulary whose tables exceed their limits.
  static Result<Compiler> create(const Vocabulary& vocabulary,
                                 const CompilerOptions& options = {});

  // Errors: kMissingStopIds.  For a grammar whose markers are tokens of the
  // vocabulary also kConflict, when the name of a tool contains the spelling of
  // a control token or of a marker and so cannot be generated, and kTooLarge
  // and kUnsatisfiable as in Grammar.
  Result<Constraint> compile(const Grammar& grammar,
                             const ConstraintOptions& options = {}) const;

  // Compiles the source, or takes the grammar from grammar_cache() if the same
  // text was compiled with the same options, with its automata and masks.  A
  // source that is new still reuses the cached automata of the schemas inside
  // it.  Tokens that the source names by their text are looked up in the
  // vocabulary.
  //
  // Errors: those of the function of Grammar with the same source, and of
  // compile().
  Result<Constraint> compile_json_schema(
      std::string_view schema, const JsonSchemaOptions& options = {}) const;
  Result<Constraint> compile_ebnf(std::string_view text,
                                  const EbnfOptions& options = {}) const;
  Result<Constraint> compile_regex(std::string_view pattern,
                                   const GrammarLimits& limits = {}) const;
  // Default of options.tokens_spelled: Vocabulary::find() of vocabulary().
  Result<Constraint> compile_gbnf(std::string_view text,
                                  const GbnfOptions& options = {}) const;
  Result<Constraint> compile_lark(std::string_view text,
                                  const LarkGrammarOptions& options = {}) const;
  Result<Constraint> compile_structural_tag(
      std::string_view text, const GrammarLimits& limits = {},
      const ConstraintOptions& constraint = {}) const;
  Result<Constraint> compile_structural_tag(
      const StructuralTag& tag, const GrammarLimits& limits = {},
      const ConstraintOptions& constraint = {}) const;

  // Compiles what Constraint::to_bytes() wrote.  The compiler must be one of
  // the same tokens; its stop tokens may be others.  `limits` are the largest
  // that the grammar may have been made with. Errors: kInvalidValue for damaged
  // bytes, and for anything else that is not a constraint; kUnsupportedVersion;
  // kBadVocabulary for a constraint of other tokens; kTooLarge for a limit that
  // exceeds `limits`; and those of the function that made the constraint.
  Result<Constraint> constraint_from_bytes(
      std::string_view bytes, const GrammarLimits& limits = {}) const;

  // 32-bit words of one mask: ceil(vocabulary size / 32).
  std::size_t mask_words() const;
  const Vocabulary& vocabulary() const;
  CacheStatistics cache_statistics() const;
  // Parsers of structural tags can share it (CompiledTagOptions::cache).
  const GrammarCache& grammar_cache() const;
  // Drops every grammar, and every shared mask except those that another thread
  // is copying at that moment.
  void clear_cache() const;

 private:
  friend class MaskTable;
  struct State;
  explicit Compiler(std::shared_ptr<State> state);
  Result<Constraint> compile_made(Result<Grammar> grammar,
                                  const ConstraintOptions& options = {}) const;
  std::shared_ptr<State> state_;
};

struct MatcherOptions {
  // Replaces the compiler's stop tokens for this matcher.  Ids outside the
  // vocabulary are ignored.  A token listed here never matches as text, and an
  // ordinary token that is a stop token of the compiler only is never allowed.
  // An empty list: the matcher is terminated where nothing may follow.
  // Default: the compiler's stop tokens.
  std::optional<std::vector<TokenId>> stop_ids = std::nullopt;
  // Matcher::temperature() where no rule sets one.  Not checked.
  std::optional<double> default_temperature = std::nullopt;
};

// What Matcher::fill_bitmask() has done with the row.
enum class MaskFill : std::uint8_t {
  // It has the mask, which excludes some token: the mask must be applied.
  kConstrains,
  // It has the mask, which excludes nothing.
  kExcludesNothing,
  // It is shorter than mask_words(), and was left as it is.
  kRowTooShort,
};

// Nothing if three lists form a draft tree; otherwise the reason (kUsage).  In
// a draft tree the lists have equal sizes and at least one node, node 0 has no
// sibling, and the links lead to every other node exactly once.
std::optional<Error> check_draft_tree(
    std::span<const std::int64_t> first_child,
    std::span<const std::int64_t> next_sibling,
    std::span<const std::int64_t> tokens);

// How Matcher::fill_tree() fills the masks of a draft tree.
struct TreeOptions {
  // After this time no further node is visited.  The root always is, a mask
  // that has begun is finished, and the clock is read every few nodes.  0 or
  // less: no limit.
  std::chrono::nanoseconds time_limit{0};
  // Receives temperature() after each node; NaN where it is null, where the
  // tokens of the path are not allowed, and where no mask was made.  REQUIRES:
  // it is empty, or has a number for each node.
  std::span<float> temperatures = {};
  // Words from the beginning of a row to that of the next; the words after the
  // mask become 0.  0: mask_words().  REQUIRES: it is not less than that.
  std::size_t stride = 0;
  // Whether the row of a node after the end of the text has no bit set, as with
  // some other libraries.  Default: it has every bit set, as in fill_bitmask().
  bool clear_ended = false;
};

// A grammar compiled for a vocabulary.  Cheap to copy; copies share.  Safe to
// share between threads: automata and masks are built lazily, under a lock, and
// no answer depends on what has been built.
class Constraint {
 public:
  Matcher matcher(const MatcherOptions& options = {}) const;
  std::size_t mask_words() const;
  const Vocabulary& vocabulary() const;
  // The grammar that it was compiled from, made again.  `limits` as of
  // Grammar::from_bytes(), whose errors it has.  Complexity: one compile.
  Result<Grammar> grammar(const GrammarLimits& limits = {}) const;
  // What the constraint was compiled from, for
  // Compiler::constraint_from_bytes() in another process: text that does not
  // depend on the machine, without automata and masks.
  std::string to_bytes() const;
  // Memory of the automata built so far, in bytes, without the tables and masks
  // that constraints share.
  std::size_t memory_bytes() const;

 private:
  friend class Compiler;
  friend class Matcher;
  struct State;
  explicit Constraint(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

// One text while it is generated.  Movable, and copied by copy() only.  Not
// thread-safe: one text, one matcher, one thread.  Matchers of one constraint
// may be used from different threads.
class Matcher {
 public:
  ~Matcher();
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;
  // An independent matcher in the same state, with the same steps to undo.
  Matcher copy() const;

  // Why there is no mask: a call took more than GrammarLimits::work or ::steps
  // (kTooLarge), or no token of the vocabulary can write what must come, which
  // a call for a mask finds (kUnsatisfiable).  The message names the limit and
  // the place, or the bytes.  Nothing if there is no error.
  //
  // Then only a stop token is allowed, wherever the text is, and terminates the
  // matcher; without stop tokens it is terminated.  Every other token is
  // refused.  So an engine that does not look here ends the text.  can_end() is
  // false, nothing is forced, and captures() are those of the text so far.
  //
  // The error lies where the call was made: a rollback to an earlier step, or
  // reset(), removes it, and copy() copies it.  The token or the bytes for
  // which a call of accept_token() or accept_bytes() failed are not a step, and
  // the error lies after them: any rollback, also one of 0 steps, removes it.
  // So a draft that was tried and undone leaves nothing behind.  Other matchers
  // of the constraint are not concerned.  Whether a call takes too much also
  // depends on which automata and masks other calls have built.
  const std::optional<Error>& error() const;

  // The stop tokens of the text, ascending.  They live as long as the matcher.
  std::span<const TokenId> stop_ids() const;

  // Writes the mask of the next token: bit t % 32 of word t / 32 is 1 if token
  // t is allowed next.  A stop token is allowed where the text may end; one
  // that the grammar reads by its id, as a mark or by name, also where the text
  // may end with it.  Bits beyond the vocabulary are 0.
  //
  // The mask excludes nothing, and need not be applied, if every token is
  // allowed, or if the matcher is terminated (then every bit of the row is 1).
  // Free text does exclude tokens: it is UTF-8, and control tokens are not
  // text.
  //
  // REQUIRES: row.size() >= mask_words().  Otherwise nothing is written and the
  // call returns kRowTooShort.
  MaskFill fill_bitmask(std::span<std::int32_t> row);

  // Appends the token if the mask allows it.  Otherwise changes nothing and
  // returns false.  A stop token terminates the matcher.
  bool accept_token(TokenId id);
  // Appends tokens up to the first that is not allowed, and returns how many
  // were appended.
  std::size_t accept_tokens(std::span<const TokenId> ids);
  // Appends all of `bytes` as one step, or nothing.  The spelling of a mark
  // that is allowed next reads as the mark, everything else as bytes.  A
  // spelling that `bytes` cuts off reads as bytes: the next call does not
  // complete it.
  bool accept_bytes(std::string_view bytes);

  // 32-bit words of one mask, as Constraint::mask_words().
  std::size_t mask_words() const;

  // Undoes the last `steps` steps: accepted tokens, stop tokens included, and
  // byte strings; and the error() of a step that was not made.  Returns false
  // and changes nothing if there are fewer.
  // Complexity: O(1).
  bool rollback(std::size_t steps = 1);
  // Steps that rollback() could undo.
  std::size_t steps() const;
  // Undoes all steps.
  void reset();

  // Whether a stop token was accepted; if there are no stop tokens, whether the
  // text may end and nothing may follow.
  bool is_terminated() const;
  // Whether the text may end here.  False after a stop token.
  bool can_end() const;

  // The temperature at which to sample the next token, if the grammar sets one:
  // the option "temperature" of the innermost open rule that has it.  If the
  // text has several parses, the largest temperature among those that can
  // continue.  Else MatcherOptions::default_temperature.
  //
  // A stop token belongs to no rule.  Complexity: O(1) if no rule of the
  // grammar has a temperature, or if the call was made in the same state
  // before.
  std::optional<double> temperature();

  // The parts of the accepted text that rules with a capture matched, as
  // parlance/grammar.h defines them: after a stop token those of a whole text,
  // else those of a beginning or of a whole text.  A token that is read by its
  // id counts as its spelling.  A stop token does not belong to the text,
  // unless it is a mark with which the text ends.
  //
  // Nothing is read for this before the first call, and nothing at all if the
  // grammar captures nothing.  A call reads the steps that were accepted since
  // the last one, and after copy() all of them; it does not read again what a
  // rollback has left.
  // Complexity: of the new bytes as for captures(), which limits the items to
  // kMaxCaptureItems; and O(captures) for the answer.
  //
  // Errors: kTooLarge, also if the caller cancels; then the next call
  // continues.
  Result<std::vector<RuleCapture>> captures(const Interrupt& interrupt = {});

  // The text that every continuation begins with: up to the first choice or
  // possible end, whole UTF-8 characters, at most `limit` bytes.  A mark is
  // given by its spelling, so accept_bytes() reads the result.
  std::string forced_bytes(std::size_t limit = 4096);
  // The tokens that the text of forced_bytes() certainly begins with, of which
  // accept_token() accepts one after the other.  A mark is its token.  Bytes
  // are the tokens that Vocabulary::encoder() gives for them, without those at
  // the end that a longer token could replace together with the text that
  // follows.  Without an encoder, and after a token that ends inside a
  // character up to the end of this character, bytes are tokens only as long as
  // no other token matches them.
  std::vector<TokenId> forced_tokens();

  // Fills the masks of a draft tree in one call.  Node i has the token
  // `tokens[i]`, the first child `first_child[i]` and the next sibling
  // `next_sibling[i]` (-1: none).  Node 0 is the root; its token is already
  // accepted.  Row i of `buffer` (mask_words() words each) is the mask after
  // node i, if all tokens on the path from the root to node i are allowed; else
  // all its bits are 0.  The matcher does not change.
  //
  // Where a matcher at a node would have an error(), its row has the stop
  // tokens, and the rows below it are 0.  The work of all nodes together is
  // limited to that of eight calls.
  //
  // REQUIRES: check_draft_tree() finds no error, and `buffer` has a row for
  // each node.  Otherwise nothing is written and the call returns false.
  bool fill_tree(std::span<const std::int64_t> first_child,
                 std::span<const std::int64_t> next_sibling,
                 std::span<const std::int64_t> tokens,
                 std::span<std::int32_t> buffer);
  // The same with options.  Returns how many nodes were visited: all of them
  // unless the time ran out, and 0 only if a requirement does not hold.
  //
  // The order is depth first: a node, what is below its first child, and then
  // its next sibling.  The rows of nodes that were not visited are left as they
  // are.
  std::size_t fill_tree(std::span<const std::int64_t> first_child,
                        std::span<const std::int64_t> next_sibling,
                        std::span<const std::int64_t> tokens,
                        std::span<std::int32_t> buffer,
                        const TreeOptions& options);

 private:
  friend class Constraint;
  friend class MaskTable;
  friend std::optional<Error> fill_bitmasks(std::span<Matcher* const> matchers,
                                            std::span<const std::size_t> rows,
                                            std::span<std::int32_t> buffer,
                                            std::size_t stride,
                                            unsigned threads);
  struct State;
  explicit Matcher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Calls fill_bitmask() of many matchers on `threads` threads (0: as many as the
// machine has; at most 256, and fewer if the system has no more to give).  Row
// i of `buffer`, which begins at word i * stride, is the mask of matcher i.
//
// REQUIRES: no matcher is listed twice, stride is at least the matchers'
// mask_words(), and the buffer has all the rows.  Otherwise nothing is written,
// and the call returns an error (kUsage) that says what is wrong.
std::optional<Error> fill_bitmasks(std::span<Matcher* const> matchers,
                                   std::span<std::int32_t> buffer,
                                   std::size_t stride, unsigned threads = 0);

// The same, but the mask of matcher i is row rows[i] of `buffer`.  Other rows
// are left as they are.
//
// REQUIRES: also that `rows` has an entry for each matcher and no entry twice.
std::optional<Error> fill_bitmasks(std::span<Matcher* const> matchers,
                                   std::span<const std::size_t> rows,
                                   std::span<std::int32_t> buffer,
                                   std::size_t stride, unsigned threads = 0);

// Masks by number, for engines that keep masks on their device.
//
//   MaskTable table(compiler);
//   ...
//   const std::int32_t id = table.id_of(matcher);          // every step
//   if (table.size() > sent) upload(table.rows(sent, table.size()));
//
// Thousands of requests need few distinct masks.  A mask gets a row of the
// table when it is first needed, and its number is then all that a step sends:
// 4 bytes in place of a bit for each token.
//
// Law: the row of id_of(matcher) is what matcher.fill_bitmask() writes.

// Safe to use from many threads, except clear(), which must be alone.
// Movable; a table that was moved from may only be destroyed or assigned to.
class MaskTable {
 public:
  // The mask excludes nothing (Matcher::fill_bitmask() returns false).
  static constexpr std::int32_t kNothingExcluded = -1;
  // The mask has no row: fill_bitmask() must write it.
  static constexpr std::int32_t kNotListed = -2;

  static constexpr std::size_t kDefaultRows = 1024;

  // A table for the matchers of one compiler, with at most `max_rows` rows (at
  // least 1, at most 2^20) of compiler.mask_words() words each.  The memory of
  // a row is touched when the row is written.
  explicit MaskTable(const Compiler& compiler,
                     std::size_t max_rows = kDefaultRows);
  ~MaskTable();
  MaskTable(MaskTable&&) noexcept;
  MaskTable& operator=(MaskTable&&) noexcept;

  // The row with the mask of the next token, which is added if it is new.
  // kNotListed if the table is full, if the matcher is of another compiler, if
  // the mask does not fit into the compiler's caches, or if the matcher has
  // stop tokens of its own and the table has seen 16 other sets of them.
  //
  // Complexity: O(1) for a mask that is known, which is not copied.
  std::int32_t id_of(Matcher& matcher);

  // Rows so far.  A row never changes, until clear().
  std::size_t size() const;
  std::size_t max_rows() const;
  std::size_t mask_words() const;
  // Rows `begin` to `end` (exclusive), one after another.  Valid until the
  // table is destroyed; clear() allows the rows to be written again.
  //
  // REQUIRES: begin <= end <= size().  Otherwise the span is empty.
  std::span<const std::int32_t> rows(std::size_t begin, std::size_t end) const;

  // Starts at 0; clear() adds 1.  Numbers of another version mean nothing.
  std::uint64_t version() const;
  // Removes all rows, for example when the table is full of masks of requests
  // that are over.
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parlance

#endif  // PARLANCE_CONSTRAINT_H_
