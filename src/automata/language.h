#ifndef PARLANCE_SRC_AUTOMATA_LANGUAGE_H_
#define PARLANCE_SRC_AUTOMATA_LANGUAGE_H_

// Sets of strings as automata that are built where they are walked.
//
//   Languages languages;
//   auto id = languages.from_hir(pattern->hir, Languages::Mode::kSearch);
//   LanguageId short_ids =
//       languages.all_of({*id, languages.length_between(1, 8)});
//   StateId state = languages.start(short_ids);
//   for (char c : text) state = languages.step(state, std::uint8_t(c));
//   bool good = languages.accepting(state);
//
// A language is an expression, and a state is the expression of what may still
// follow: the derivative of the language by the text read so far.  Expressions
// are closed under and, or and not, are interned, and are brought into one of
// few shapes when they are made, so equal texts mostly lead to equal states
// and a state costs nothing before it is reached.  A repeat is an expression
// with two numbers in it, never unrolled, and a look-ahead is a conjunction:
//
//   .{2,5}-      after "x"   .{1,4}-
//   (?!ab)\w+    after "a"   not(b.*) and \w*
//
// Text is strict UTF-8 (no surrogates); complements are relative to that.
//
// What it leaves out: look-behind, back-references, atomic groups.  What does
// not fit the limits is cut off: a state that could not be explored is dead.
// So a walk never leads where no string of the language goes; narrowed() says
// that some strings may be missing.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "regex/hir.h"

namespace parlance::automata {

using LanguageId = std::uint32_t;
using StateId = std::uint32_t;
inline constexpr StateId kDeadState = 0;

struct LanguageLimits {
  // Memory of all states and expressions.  Beyond it whatever is new is dead.
  std::size_t bytes = std::size_t{64} << 20;

  // Nodes and characters of one pattern (kTooLarge).
  std::size_t pattern_size = 50000;

  // States that one question (is this state live? how long? infinite?) may
  // look at.
  std::size_t search_states = 20000;

  // Searches for a live state that may end without an answer.  When they are
  // used up there is no search any more: what is not known to be live is dead.
  std::size_t failed_searches = 100;
};

class Expressions;

// Owns languages and their states.  Append-only: ids stay valid.  Not
// thread-safe, not even the const-looking questions: whoever owns it locks.
class Languages {
 public:
  enum class Mode : std::uint8_t {
    kSearch,  // the pattern matches somewhere, as JSON Schema has it
    kWhole,   // the pattern matches the whole text
  };

  explicit Languages(const LanguageLimits& limits = {});
  ~Languages();
  Languages(const Languages&) = delete;
  Languages& operator=(const Languages&) = delete;

  LanguageId everything();
  LanguageId nothing();
  // Words that are not UTF-8 are in no language.
  LanguageId literal(std::string_view word);
  LanguageId literals(const std::vector<std::string>& words);

  // Errors: kUnsupportedPattern with the reason, kTooLarge.
  Result<LanguageId> from_hir(const regex::Hir& hir, Mode mode);

  // Order and duplicates do not matter; everything() and nothing() are
  // absorbed; equal sets of operands give equal ids.
  LanguageId all_of(std::vector<LanguageId> languages);
  LanguageId any_of(std::vector<LanguageId> languages);
  // Nothing once a language had to be cut off: what is outside of the smaller
  // one is not outside of the one that was meant.
  LanguageId complement(LanguageId language);

  // Strings of so many code points.  Costs nothing for large numbers; the
  // largest number means no upper bound.
  LanguageId length_between(std::uint64_t min_chars, std::uint64_t max_chars);

  StateId start(LanguageId language);

  // kDeadState unless some string of the language begins so: every other
  // state is live.  An array lookup when it was asked before.
  StateId step(StateId state, std::uint8_t byte) {
    const StateId* known = rows_[state].get();
    if (known != nullptr && known[byte] != kUnknownState) return known[byte];
    return compute_step(state, byte);
  }

  bool accepting(StateId state) const { return (flags_[state] & 1) != 0; }

  // Every continuation that keeps the text valid UTF-8 is accepted.  May say
  // false of a state of which that is true but hard to see.
  bool universal(StateId state) const { return (flags_[state] & 2) != 0; }

  // Needs no search, and so is exact but for the memory limit.
  bool contains(LanguageId language, std::string_view word);

  bool empty(LanguageId language) { return start(language) == kDeadState; }

  // Exact within LanguageLimits::search_states; false when that is passed, and
  // narrowed() says so.
  bool infinite(LanguageId language);

  // Code points still needed until the text is in the language, 0 if it is;
  // one that has begun counts as one.  Exact within the search limit; beyond it
  // so many are enough, fewer might be, and narrowed() says so.
  // REQUIRES: state is not dead.
  std::uint64_t min_chars_to_accept(StateId state);

  // A bound on min_chars_to_accept() behind every continuation of whole
  // characters, if none of them leads to the dead state (`.*x` whatever has
  // been read: 1). kNoMaximum otherwise, and where that is hard to see.
  static constexpr std::uint64_t kNoMaximum = 0xFFFFFFFFFFFFFFFF;
  std::uint64_t max_min_chars(StateId state);

  // The 256 transitions of a state; kUnknownState where step() has not been.
  // Valid as long as the Languages is.
  static constexpr StateId kUnknownState = 0xFFFFFFFF;
  const StateId* row(StateId state);

  // Whether some character of [low, high] may come next.  Surrogates in the
  // range are no characters.
  bool any_in_range(StateId state, char32_t low, char32_t high);
  StateId step_char(StateId state, char32_t c);

  // A number for what may follow in this state that does not depend on this
  // object: equal numbers mean equal sets of continuations (but for chance,
  // 2^-64 for a pair).  Never 0.
  std::uint64_t fingerprint(StateId state) const;

  // Whether a limit has cut something off that may have been live.
  bool narrowed() const { return narrowed_; }
  std::size_t state_count() const { return states_.size(); }
  std::size_t memory_bytes() const;
  // LanguageLimits::bytes is passed; there is no such limit from now on.
  bool over_limit() const;
  void lift_limit() { limits_.bytes = ~std::size_t{0}; }

 private:
  enum class Life : std::uint8_t { kUnknown, kLive, kDead };
  // Bytes up to `last` (from the one before it on) go to `target`, which need
  // not be live.
  struct Successor {
    std::uint8_t last = 0;
    StateId target = kDeadState;
  };
  struct State {
    std::uint32_t expression = 0;
    std::uint8_t utf8 = 0;  // place within a character
    Life life = Life::kUnknown;
    bool expanded = false;
    bool least_known = false;
    bool least_exact = true;
    std::uint64_t least = 0;
    std::vector<Successor> successors = {};
  };

  LanguageId checked(std::uint32_t expression);
  StateId state_of(std::uint32_t expression, std::uint8_t utf8);
  StateId compute_step(StateId state, std::uint8_t byte);
  // False when memory ran out.
  bool expand(StateId state);
  bool live(StateId state);
  std::uint64_t accepting_path_chars(StateId state);

  LanguageLimits limits_;
  std::unique_ptr<Expressions> expressions_;
  std::vector<State> states_;
  std::vector<std::unique_ptr<StateId[]>> rows_;
  std::vector<std::uint8_t> flags_;  // bit 0: accepting, bit 1: universal
  std::vector<StateId> table_;       // open hashing of (expression, utf8)
  std::size_t row_count_ = 0;
  std::size_t successor_count_ = 0;
  std::size_t failed_searches_ = 0;
  bool narrowed_ = false;
  bool lost_ = false;  // some language is smaller than what was asked for
};

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_LANGUAGE_H_
