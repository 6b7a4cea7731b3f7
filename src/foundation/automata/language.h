#ifndef PARLANCE_SRC_AUTOMATA_LANGUAGE_H_
#define PARLANCE_SRC_AUTOMATA_LANGUAGE_H_

// Sets of strings as lazily built deterministic automata.
//
//   Languages languages;
//   auto id = languages.from_hir(pattern->hir, Languages::Mode::kSearch);
//   LanguageId short_ids =
//       languages.all_of({*id, languages.length_between(1, 8)});
//   StateId state = languages.start(short_ids);
//   for (char c : text) state = languages.step(state, std::uint8_t(c));
//   bool accepted = languages.accepting(state);
//
// A language is a regular expression, and a state is its derivative by the text
// read so far: the expression of all continuations (Brzozowski 1964; Owens,
// Reppy and Turon 2009).  Expressions are closed under and, or and not.  They
// are interned, and constructors bring them into a normal form, so equal
// languages mostly are equal states, and a state costs nothing before it is
// reached.  A bounded repeat is one expression with two numbers in it, never
// unrolled, and a look-ahead is a conjunction:
//
//   .{2,5}-      after "x"   .{1,4}-
//   (?!ab)\w+    after "a"   not(b.*) and \w*
//
// Text is strict UTF-8 (no surrogates); complements are relative to that.
//
// Not supported: look-behind, back-references, atomic groups.  Beyond the
// limits the automaton accepts less: a state that could not be explored is
// dead.  So every live state leads to a string of the language, and narrowed()
// says whether some strings of the language may be missing.  proves_empty() is
// true only of languages that are empty without any limit.
//
// A set that has no exact language, or none that is small enough, is known from
// both sides (LanguageBounds).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_row.h"
#include "base/fingerprint.h"
#include "base/id.h"
#include "parlance/error.h"
#include "regex/hir.h"

namespace parlance::automata {

using LanguageId = base::Id<struct LanguageTag>;
using StateId = base::Id<struct LanguageStateTag>;
inline constexpr StateId kDeadState{0};

struct LanguageLimits {
  // Memory of all states and expressions.  Beyond it, new states are dead.
  std::size_t bytes = std::size_t{64} << 20;

  // Nodes and characters of one pattern (kTooLarge).
  std::size_t pattern_size = 50000;

  // States that one query (live()? min_chars_to_accept()? infinite()?) may
  // visit.  In a question whose work is limited (base/work.h), live() visits as
  // many as that allows: there the question is stopped, and no state is taken
  // for dead.
  std::size_t search_states = 20000;
};

// A set of strings that is known from both sides: it has every string of
// `under`, and no string that `over` does not have.  Where both are the same it
// is exact.  Generated texts come from `under`, and proofs that a set is empty
// are made about `over`.  The complement exchanges the two, so that the
// negation of a set that is known only in part generates nothing wrong.
struct LanguageBounds {
  LanguageId under = {};
  LanguageId over = {};
  bool exact() const { return under == over; }
  bool operator==(const LanguageBounds&) const = default;
};

class Expressions;

// Owns languages and their states.  Append-only: ids stay valid.  Not
// thread-safe: queries build states too, so the owner must lock.
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
  // The languages of one string and of a set of strings.  A string that is not
  // UTF-8 is in no language.
  LanguageId literal(std::string_view string);
  LanguageId literals(const std::vector<std::string>& strings);

  // Errors: kUnsupportedPattern with the reason, kTooLarge.
  Result<LanguageId> from_hir(const regex::Hir& hir, Mode mode);

  // Intersection and union.  Equal sets of operands give equal ids, whatever
  // their order and duplicates; everything() and nothing() are absorbed.
  LanguageId all_of(std::vector<LanguageId> languages);
  LanguageId any_of(std::vector<LanguageId> languages);
  // Returns nothing() once a limit has made some language smaller than
  // requested: the complement of the smaller language would be too large.
  LanguageId complement(LanguageId language);

  // The same for sets known from both sides.  exact(): the bounds of a set that
  // the language was made for: no limit has made it smaller.
  LanguageBounds exact(LanguageId language);
  LanguageBounds all_of(const std::vector<LanguageBounds>& sets);
  LanguageBounds any_of(const std::vector<LanguageBounds>& sets);

  // A language from literals() without one of its strings, as literals() of the
  // other strings.  Nothing if the language is no trie of strings.
  // Complexity: O(characters of the string * branches at each).
  std::optional<LanguageId> without(LanguageId language,
                                    std::string_view string);

  // Strings of min_chars..max_chars code points; the largest number means no
  // upper bound.  Complexity: O(1), whatever the numbers.
  LanguageId length_between(std::uint64_t min_chars, std::uint64_t max_chars);

  StateId start(LanguageId language);

  // The state after `byte`, or kDeadState if no string of the language begins
  // with the text read so far: every other state is live.  An array lookup for
  // a transition that was taken before.
  StateId step(StateId state, std::uint8_t byte) {
    const StateId known = rows_[state].find(byte);
    return known != kUnknownState ? known : compute_step(state, byte);
  }

  bool accepting(StateId state) const { return (flags_[state] & 1) != 0; }

  // Whether every continuation that keeps the text valid UTF-8 is accepted.
  // May return false for a universal state whose expression is not visibly so.
  bool universal(StateId state) const { return (flags_[state] & 2) != 0; }

  // Membership.  Needs no search, so only the memory limit makes it inexact.
  bool contains(LanguageId language, std::string_view string);

  bool empty(LanguageId language) { return start(language) == kDeadState; }
  // Whether it is known to have no string.  empty() is also true if none was
  // found within the limits.
  bool proves_empty(LanguageId language);

  // Whether the language has infinitely many strings.  Exact within
  // LanguageLimits::search_states; beyond it false, with narrowed() set.
  bool infinite(LanguageId language);

  // The language as the strings of min_chars..max_chars characters of another
  // one.  A state of that one can be completed in any number of characters that
  // is no less than min_chars_to_accept(), so a reader may count: it is live as
  // long as that many are left.  Beside numbers, fewer states are different.
  //
  //   [a-z][a-z0-9]{0,62}   1..63 of [a-z][a-z0-9]*
  //   .{20,} and .*a.*b.*   20... of .*a.*b.*
  //
  // The language itself, without bounds, if its expression does not show one,
  // or only a small one.  Complexity: O(1) but for the first call.
  struct Counted {
    LanguageId language = {};
    std::uint64_t min_chars = 0;
    std::uint64_t max_chars = 0xFFFFFFFFFFFFFFFF;
  };
  Counted counted(LanguageId language);
  // The same, whether or not every state can be completed in any number of
  // characters: reach() says so.
  Counted without_bounds(LanguageId language);

  // The least number of code points that completes the text to a string of the
  // language; a code point that has begun counts as one.  Exact within the
  // search limit; beyond it an upper bound, with narrowed() set.
  // REQUIRES: state is not dead.
  std::uint64_t min_chars_to_accept(StateId state);
  // Whether it is exact.  REQUIRES: it was asked.
  bool min_chars_exact(StateId state) const {
    return states_[state].least_exact;
  }

  // An upper bound on min_chars_to_accept() after every continuation by whole
  // characters, if none of them leads to the dead state (1 for `.*x`).
  // kNoMaximum if one does, or if the expression does not show the bound.
  static constexpr std::uint64_t kNoMaximum = 0xFFFFFFFFFFFFFFFF;
  std::uint64_t max_min_chars(StateId state);

  // An upper bound on min_chars_to_accept() of the state and of every live
  // state that some text leads to.  kNoMaximum if the expression does not show
  // one.
  std::uint64_t most_chars_needed(StateId state);

  // What holds of a state and of all live states that texts lead to from it.
  struct Reach {
    // Each can be completed in any number of characters that is no less than
    // min_chars_to_accept().
    bool extends = false;
    // The most that min_chars_to_accept() is of one.
    std::uint64_t most_chars_needed = kNoMaximum;
  };
  // By visiting all of them, if they are few; beyond that nothing is known.
  // Complexity: O(300 states), each with a search for its shortest completion.
  Reach reach(StateId state);

  // max_min_chars() for continuations by plain text: characters except those
  // below U+0020, U+0085, U+2028 and U+2029.  Finite for `(?=.*a)(?=.*b)`,
  // which a newline leaves for good.  Complexity: O(operands of the
  // expression).
  std::uint64_t max_min_plain_chars(StateId state) const;

  // Whether every prefix of a continuation that is accepted is accepted, and
  // the text so far is.  So a live state between two characters accepts.  May
  // be false for a language that is so, but whose expression does not show it.
  bool prefix_closed(StateId state) const;

  // The operands of a state that is prefix_closed() and a conjunction or union,
  // as states.  From a conjunction, a text of whole characters leads to a live
  // state if it does so from each of them; from a union, any text does if it
  // does so from one of them.  Empty for other states.
  struct Parts {
    std::vector<StateId> states;
    bool any = false;  // of a union
  };
  Parts prefix_closed_parts(StateId state);

  // A number of characters that cannot lead to the dead state, whichever they
  // are.  kNoMaximum: no number can.  0 unless the state is prefix_closed().
  std::uint64_t chars_without_end(StateId state) const;

  // Whether the state is prefix_closed(), and all characters of plain text (see
  // max_min_plain_chars()) beyond ASCII lead back to it.  May be false although
  // it is so.
  bool loops_beyond_ascii(StateId state);

  // A range of bytes that contains `byte` and for all of which step() gives the
  // same, as far as that is known without computing anything: first and last.
  std::pair<std::uint8_t, std::uint8_t> known_range(StateId state,
                                                    std::uint8_t byte) const;

  // Whether some character of [low, high] may come next.  Surrogates are
  // skipped: they are no characters.
  bool any_in_range(StateId state, char32_t low, char32_t high);
  // The live states that the characters of [low, high] lead to, each once.
  // Complexity: O(states and ranges of bytes on the way), not of characters.
  std::vector<StateId> states_after(StateId state, char32_t low, char32_t high);
  StateId step_char(StateId state, char32_t c);

  // Of the expression of all continuations, the same in every Languages: equal
  // fingerprints mean equal sets.
  base::Fingerprint fingerprint(StateId state) const;

  // Copies languages and states of one table to another, which may have other
  // ids for them.  Both have to live as long.
  // Complexity: O(size of the expression), once for all that it shares with
  // others.
  class Copier;

  // Whether a limit has made a state dead that may have been live.
  bool narrowed() const { return narrowed_; }
  std::size_t state_count() const { return states_.size(); }
  std::size_t memory_bytes() const;
  // Whether LanguageLimits::bytes is exceeded.
  bool over_limit() const;
  // Removes the limit on memory.
  void lift_limit() { limits_.bytes = ~std::size_t{0}; }

 private:
  struct Copies;
  enum class Life : std::uint8_t { kUnknown, kLive, kDead };
  // A transition on a range of bytes: from the successor before it, exclusive,
  // up to `last`.  `target` need not be live.
  struct Successor {
    std::uint8_t last = 0;
    StateId target = kDeadState;
  };
  struct State {
    LanguageId expression = {};
    std::uint8_t utf8 = 0;  // state of the UTF-8 decoder; 0: between characters
    Life life = Life::kUnknown;
    bool expanded = false;
    bool undecided = false;  // dead, because a search for a live state gave up
    std::uint8_t steps = 0;  // that compute_step() took one by one
    bool least_known = false;
    bool least_exact = true;
    std::uint64_t least = 0;
    std::vector<Successor> successors = {};
  };

  LanguageId checked(LanguageId expression);
  template <class Use>
  void each_after(StateId state, char32_t low, char32_t high, const Use& use);
  StateId state_of(LanguageId expression, std::uint8_t utf8);
  StateId compute_step(StateId state, std::uint8_t byte);
  std::uint64_t max_min_chars_of(LanguageId expression);
  std::uint64_t max_min_plain_of(LanguageId expression) const;
  bool completes_within_length(LanguageId expression) const;
  std::pair<std::uint64_t, bool> plain_completion(LanguageId expression) const;
  std::uint64_t chars_without_end_of(LanguageId expression) const;
  LanguageId usable(LanguageId made);
  StateId derived(StateId state, std::uint8_t byte);
  StateId successor(StateId state, std::uint8_t byte, LanguageId after);
  std::pair<std::uint8_t, Successor> successor_range(StateId state,
                                                     std::uint8_t byte) const;
  // False when memory ran out.
  bool expand(StateId state);
  bool live(StateId state);
  bool leads_down(StateId state);
  std::uint64_t accepting_path_chars(StateId state);

  LanguageLimits limits_;
  std::unique_ptr<Expressions> expressions_;
  std::vector<State> states_;
  // The transitions that step() has computed.
  static constexpr StateId kUnknownState = base::ByteRow<StateId>::kUnknown;
  std::vector<base::ByteRow<StateId>> rows_;
  std::vector<std::uint8_t> flags_;  // bit 0: accepting, bit 1: universal
  std::vector<StateId> table_;       // open hashing of (expression, utf8)
  std::unordered_map<LanguageId, Counted> counted_;
  std::size_t row_bytes_ = 0;
  std::size_t successor_count_ = 0;
  bool narrowed_ = false;
  bool lost_ = false;  // some language is smaller than requested
};

class Languages::Copier {
 public:
  Copier(const Languages& from, Languages& to);
  ~Copier();
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  LanguageId language(LanguageId language);
  StateId state(StateId state);

 private:
  const Languages& from_;
  Languages& to_;
  const std::unique_ptr<Copies> copies_;
};

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_LANGUAGE_H_
