// States over expressions, and the queries that need a search.
//
// A state is an expression and a state of the UTF-8 decoder.  Its successors
// are computed for ranges of bytes (byte classes) at once, since most bytes
// have the same derivative.  Whether an expression contains any string is not
// always visible from the expression: a best-first search over the states
// decides it, ordered by a guess at the distance to acceptance.

#include "automata/language.h"

#include <algorithm>
#include <array>
#include <bit>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "automata/language_expressions.h"
#include "base/byte_set.h"
#include "base/utf8.h"
#include "base/work.h"

namespace parlance::automata {
namespace {

// The queue of a best-first search: the state with the smallest guess at its
// distance to acceptance first; of equal guesses, first in first out.
class StateQueue {
 public:
  bool empty() const { return entries_.empty(); }
  void push(std::uint64_t guess, StateId state) {
    entries_.push({guess, order_++, state});
  }
  StateId pop() {
    const StateId state = entries_.top().state;
    entries_.pop();
    return state;
  }

 private:
  struct Entry {
    std::uint64_t guess;
    std::uint32_t order;
    StateId state;
    bool operator<(const Entry& other) const {
      return std::tie(guess, order) > std::tie(other.guess, other.order);
    }
  };
  std::priority_queue<Entry> entries_;
  std::uint32_t order_ = 0;
};

constexpr std::uint8_t kInvalid = 255;

// The UTF-8 decoder: which bytes each state accepts, and the state after them.
struct Utf8State {
  std::uint8_t low, high, next;
};
constexpr std::array<Utf8State, 8> kUtf8States = {{
    {0, 0, 0},        // 0: between characters
    {0x80, 0xBF, 0},  // 1: one byte is missing
    {0x80, 0xBF, 1},  // 2: two bytes
    {0x80, 0xBF, 2},  // 3: three bytes
    {0xA0, 0xBF, 1},  // 4: after E0
    {0x80, 0x9F, 1},  // 5: after ED
    {0x90, 0xBF, 2},  // 6: after F0
    {0x80, 0x8F, 2},  // 7: after F4
}};

std::uint8_t next_utf8(std::uint8_t utf8, std::uint8_t byte) {
  if (utf8 != 0) {
    const Utf8State& here = kUtf8States[utf8];
    return byte >= here.low && byte <= here.high ? here.next : kInvalid;
  }
  if (byte < 0x80) return 0;
  if (byte < 0xC2 || byte > 0xF4) return kInvalid;
  if (byte < 0xE0) return 1;
  if (byte < 0xF0) return byte == 0xE0 ? 4 : byte == 0xED ? 5 : 2;
  return byte == 0xF0 ? 6 : byte == 0xF4 ? 7 : 3;
}

// The first bytes of the ranges that next_utf8(0, byte) maps alike.
constexpr std::array<std::uint8_t, 10> kUtf8Boundaries = {
    0x80, 0xC2, 0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5};

PreviousChar previous_char(std::uint8_t byte) {
  if (byte == '\n') return PreviousChar::kNewline;
  bool word = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
              (byte >= 'a' && byte <= 'z') || byte == '_';
  return word ? PreviousChar::kWord : PreviousChar::kOther;
}

std::uint64_t slot_hash(std::uint32_t expression, std::uint8_t utf8) {
  std::uint64_t key = std::uint64_t{expression} << 3 | utf8;
  key *= 0x9E3779B97F4A7C15;
  return key ^ (key >> 31);
}

// The maximum of an Or is that of its best operand.  An And is completed by
// completing one operand after the other; all but the last have to stay
// complete (Expr::extends).  `max_min`: the maximum of an operand.
template <typename MaxMin>
std::uint64_t max_min_of_operands(const Expressions& expressions, ExprId id,
                                  const MaxMin& max_min) {
  constexpr std::uint64_t kNoMaximum = Languages::kNoMaximum;
  const Expr expr = expressions[id];
  if (expr.kind != ExprKind::kOr && expr.kind != ExprKind::kAnd) {
    return kNoMaximum;
  }
  const bool any = expr.kind == ExprKind::kOr;
  std::uint64_t result = any ? kNoMaximum : 0;
  bool last = false;  // an operand that is completed last was found
  for (std::uint32_t i = 0; i < expr.count; ++i) {
    const ExprId operand = expressions.operands(id)[i];
    if (!any && !expressions[operand].extends) {
      if (last) return kNoMaximum;
      last = true;
    }
    const std::uint64_t one = max_min(operand);
    if (!any && one == kNoMaximum) return kNoMaximum;
    result = any ? std::min(result, one) : saturating_add(result, one);
  }
  return result;
}

}  // namespace

Languages::Languages(const LanguageLimits& limits)
    : limits_(limits), expressions_(std::make_unique<Expressions>()) {
  table_.assign(256, kUnknownState);
  states_.push_back({.expression = kNoText,
                     .life = Life::kDead,
                     .expanded = true,
                     .successors = {{0xFF, kDeadState}}});
  rows_.emplace_back();
  flags_.push_back(0);
}

Languages::~Languages() = default;

std::size_t Languages::memory_bytes() const {
  return expressions_->memory_bytes() +
         states_.size() * (sizeof(State) + sizeof(rows_[0]) + 1) +
         successor_count_ * sizeof(Successor) + row_bytes_ +
         table_.size() * sizeof(StateId);
}

bool Languages::over_limit() const { return memory_bytes() > limits_.bytes; }

// --- Languages --------------------------------------------------------------

LanguageId Languages::checked(LanguageId expression) {
  if (expressions_->overflowed() || over_limit()) {
    expressions_->clear_overflow();
    narrowed_ = true;
    lost_ = true;
    return kNoText;
  }
  return expression;
}

LanguageId Languages::everything() { return kAnyText; }
LanguageId Languages::nothing() { return kNoText; }

LanguageId Languages::literal(std::string_view string) {
  if (!base::is_utf8(string)) return kNoText;
  return checked(expressions_->text(string, kEmptyText));
}

LanguageId Languages::literals(const std::vector<std::string>& strings) {
  std::vector<std::string_view> sorted;
  for (const std::string& string : strings) {
    if (base::is_utf8(string)) sorted.push_back(string);
  }
  if (sorted.empty()) return kNoText;
  if (!std::ranges::is_sorted(sorted)) std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return checked(expressions_->strings(std::move(sorted)));
}

std::optional<LanguageId> Languages::without(LanguageId language,
                                             std::string_view string) {
  if (!base::is_utf8(string)) return language;
  const std::optional<ExprId> rest = expressions_->without(language, string);
  return rest ? std::optional(checked(*rest)) : std::nullopt;
}

Result<LanguageId> Languages::from_hir(const regex::Hir& hir, Mode mode) {
  Expressions& e = *expressions_;
  Result<ItemId> item = e.from_hir(hir, limits_.pattern_size);
  if (!item) return item.error();
  auto at_start = [&](ExprId expr) {
    return e.resolve(expr, PreviousChar::kStart);
  };
  ExprId whole = kNoText;
  if (mode == Mode::kWhole) {
    whole = at_start(e.build(*item, kEmptyText));
  } else {
    // A match that begins later: \A cannot hold there, which often removes
    // much of the pattern.
    ItemId later = e.not_at_start(*item);
    ExprId found_later = e.build(later, kAnyText);
    if (later == *item) {
      whole =
          at_start(e.repeat(e.any_char(), 0, base::kUnbounded, found_later));
    } else {
      whole = e.any_of(
          {at_start(e.build(*item, kAnyText)),
           at_start(e.repeat(e.any_char(), 1, base::kUnbounded, found_later))});
    }
  }
  if (e.overflowed()) {
    e.clear_overflow();
    return Error{ErrorCode::kTooLarge,
                 "The pattern has too many optional parts in a row."};
  }
  return checked(whole);
}

LanguageId Languages::all_of(std::vector<LanguageId> languages) {
  return checked(expressions_->all_of(std::move(languages)));
}

LanguageId Languages::any_of(std::vector<LanguageId> languages) {
  return checked(expressions_->any_of(std::move(languages)));
}

LanguageId Languages::complement(LanguageId language) {
  return lost_ ? kNoText : checked(expressions_->negate(language));
}

// Once a language is smaller than requested, any may rest on it.
LanguageBounds Languages::exact(LanguageId language) {
  return {language, lost_ ? kAnyText : language};
}

LanguageBounds Languages::all_of(const std::vector<LanguageBounds>& sets) {
  std::vector<LanguageId> under;
  std::vector<LanguageId> over;
  for (const LanguageBounds& set : sets) {
    under.push_back(set.under);
    over.push_back(set.over);
  }
  const LanguageId most = all_of(std::move(over));
  return {all_of(std::move(under)), lost_ ? kAnyText : most};
}

LanguageBounds Languages::any_of(const std::vector<LanguageBounds>& sets) {
  std::vector<LanguageId> under;
  std::vector<LanguageId> over;
  for (const LanguageBounds& set : sets) {
    under.push_back(set.under);
    over.push_back(set.over);
  }
  const LanguageId most = any_of(std::move(over));
  return {any_of(std::move(under)), lost_ ? kAnyText : most};
}

LanguageId Languages::length_between(std::uint64_t min_chars,
                                     std::uint64_t max_chars) {
  if (min_chars > max_chars) return kNoText;
  if (min_chars >= base::kUnbounded) {
    narrowed_ = true;
    return kNoText;
  }
  auto max = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(max_chars, base::kUnbounded));
  return checked(expressions_->repeat(expressions_->any_char(),
                                      static_cast<std::uint32_t>(min_chars),
                                      max, kEmptyText));
}

Languages::Counted Languages::counted(LanguageId language) {
  const ExprKind kind = (*expressions_)[language].kind;
  if (kind != ExprKind::kChar && kind != ExprKind::kRepeat &&
      kind != ExprKind::kAnd) {
    return {.language = language};
  }
  const auto [known, fresh] = counted_.try_emplace(language);
  if (fresh) {
    const Expressions::Counted made = expressions_->counted(language);
    known->second = {.language = checked(made.expr),
                     .min_chars = made.min_chars,
                     .max_chars = made.max_chars};
    if (known->second.language == kNoText) {
      known->second = {.language = language};
    }
  }
  return known->second;
}

Languages::Counted Languages::without_bounds(LanguageId language) {
  const Expressions::Counted made = expressions_->without_bounds(language);
  const LanguageId rest = checked(made.expr);
  if (rest == kNoText) return {.language = language};
  return {.language = rest,
          .min_chars = made.min_chars,
          .max_chars = made.max_chars};
}

// --- States -----------------------------------------------------------------

StateId Languages::state_of(LanguageId expression, std::uint8_t utf8) {
  if (expression == kNoText || utf8 == kInvalid) return kDeadState;
  std::size_t mask = table_.size() - 1;
  std::size_t at = slot_hash(expression, utf8) & mask;
  for (; table_[at] != kUnknownState; at = (at + 1) & mask) {
    const State& known = states_[table_[at]];
    if (known.expression == expression && known.utf8 == utf8) return table_[at];
  }
  // What the expression shows of its life.  One that is prefix-closed and not
  // empty contains the empty text; so if it does not accept, it is empty.
  const Expr& e = (*expressions_)[expression];
  bool accepts = utf8 == 0 && e.nullable;
  bool alive = accepts || e.live || e.positive;
  const bool closed = utf8 == 0 && e.prefix_closed;
  auto id = StateId(states_.size());
  states_.push_back({.expression = expression,
                     .utf8 = utf8,
                     .life = alive    ? Life::kLive
                             : closed ? Life::kDead
                                      : Life::kUnknown});
  rows_.emplace_back();
  flags_.push_back(
      static_cast<std::uint8_t>(accepts | (expression == kAnyText) << 1));
  table_[at] = id;
  if (states_.size() * 2 > table_.size()) {
    table_.assign(table_.size() * 2, kUnknownState);
    mask = table_.size() - 1;
    for (StateId s{1}; s < states_.size(); ++s) {
      at = slot_hash(states_[s].expression, states_[s].utf8) & mask;
      while (table_[at] != kUnknownState) at = (at + 1) & mask;
      table_[at] = s;
    }
  }
  return id;
}

// `made`, or no text if a limit was passed while it was made: an expression
// that lacks texts may be negated inside it, so it is unusable.
ExprId Languages::usable(ExprId made) {
  if (!expressions_->overflowed()) return made;
  expressions_->clear_overflow();
  narrowed_ = true;
  return kNoText;
}

// The successor by one byte.  It need not be live.
StateId Languages::derived(StateId id, std::uint8_t byte) {
  if (next_utf8(states_[id].utf8, byte) == kInvalid) return kDeadState;
  return successor(id, byte,
                   usable(expressions_->derive(states_[id].expression, byte)));
}

// The successor by a byte, whose derivative is `after`.
StateId Languages::successor(StateId id, std::uint8_t byte, ExprId after) {
  const std::uint8_t next = next_utf8(states_[id].utf8, byte);
  if (next == 0) {
    after = usable(expressions_->resolve(after, previous_char(byte)));
  }
  return state_of(after, next);
}

// Computes the successors for ranges of bytes.  Bytes between two boundaries of
// the expression have one derivative, which is computed once, however many
// states of UTF-8 they lead to.
bool Languages::expand(StateId id) {
  if (!base::spend_work()) return false;
  if (states_[id].expanded) return true;
  if (over_limit()) return false;
  const ExprId expression = states_[id].expression;
  const std::uint8_t utf8 = states_[id].utf8;
  base::ByteSet own = {};
  expressions_->boundaries(expression, own);
  base::ByteSet boundaries = own;
  if (utf8 == 0) {
    for (const std::uint8_t low : kUtf8Boundaries) {
      base::add_byte(boundaries, low);
    }
  } else {
    const Utf8State& due = kUtf8States[utf8];
    base::add_byte(boundaries, due.low);
    base::add_byte(boundaries, static_cast<std::uint8_t>(due.high + 1));
  }
  // Invariant: `successors` has the bytes below `low`, and neighbours differ in
  // their targets; `low` is a boundary.
  std::vector<Successor> successors;
  ExprId after = kNoText;  // of the bytes since the last of `own`
  bool known = false;      // `after`
  for (std::size_t low = 0; low < 256;) {
    if (!base::work_left()) return false;
    const std::size_t end = base::next_byte(boundaries, low + 1);
    const auto byte = static_cast<std::uint8_t>(low);
    if (base::has_byte(own, byte)) known = false;
    StateId target = kDeadState;
    if (next_utf8(utf8, byte) != kInvalid) {
      if (!known) after = usable(expressions_->derive(expression, byte));
      known = true;
      target = successor(id, byte, after);
    }
    auto last = static_cast<std::uint8_t>(end - 1);
    if (!successors.empty() && successors.back().target == target) {
      successors.back().last = last;
    } else {
      successors.push_back({last, target});
    }
    low = end;
  }
  successors.shrink_to_fit();
  successor_count_ += successors.size();
  states_[id].successors = std::move(successors);
  states_[id].expanded = true;
  return true;
}

// Whether one path, on which Expr::effort falls with each character, leads to a
// live state; then every state on it is live.  It takes one derivative a byte,
// where a search takes one for each class of bytes.
bool Languages::leads_down(StateId id) {
  const auto effort = [this](StateId state) {
    return (*expressions_)[states_[state].expression].effort;
  };
  std::vector<StateId> path;
  std::uint32_t least = effort(id);  // at the last end of a character
  for (StateId state = id;
       path.size() < limits_.search_states && !over_limit();) {
    path.push_back(state);
    const auto byte = expressions_->nearest_byte(states_[state].expression);
    if (!byte || !base::spend_work()) return false;
    const StateId next = derived(state, *byte);
    if (states_[next].life == Life::kLive) {
      for (const StateId passed : path) states_[passed].life = Life::kLive;
      return true;
    }
    if (states_[next].life == Life::kDead) return false;
    if (states_[next].utf8 == 0) {
      if (effort(next) >= least) return false;
      least = effort(next);
    }
    state = next;
  }
  return false;
}

// A best-first search for a live state.  Once it finds one, every state on the
// path to it is live.  If it finds none, every visited state is dead.
//
// Any path will do, so the search is ordered by Expr::effort, a guess at the
// distance to acceptance: of twelve conditions `.*a`, `.*b`, ... each character
// that fulfils one decreases the effort, and the search visits twelve states
// instead of their 4,096 subsets.
bool Languages::live(StateId id) {
  if (states_[id].life != Life::kUnknown) {
    return states_[id].life == Life::kLive;
  }
  // 1. Proofs that need no other state: by arithmetic on lengths, by a bound on
  //    what completes the text after any continuation, by one path.
  if (states_[id].utf8 == 0 &&
      completes_within_length(states_[id].expression)) {
    states_[id].life = Life::kLive;
    return true;
  }
  if ((*expressions_)[states_[id].expression].kind == ExprKind::kAnd &&
      (max_min_plain_chars(id) != kNoMaximum ||
       max_min_chars(id) != kNoMaximum)) {
    states_[id].life = Life::kLive;
    return true;
  }
  if (leads_down(id)) return true;
  // 2. The search.  Invariant: `reached_from` has all states that were met, and
  //    their life is unknown; those that are not in the queue have been
  //    expanded, and no successor of theirs is live.
  StateQueue queue;
  std::unordered_map<StateId, StateId> reached_from;
  auto push = [&](StateId state, StateId from) {
    if (!reached_from.try_emplace(state, from).second) return;
    const Expr& e = (*expressions_)[states_[state].expression];
    queue.push(e.effort, state);
  };
  push(id, id);
  std::size_t looked_at = 0;
  bool decided = true;  // no state that was met is undecided
  while (!queue.empty()) {
    const StateId state = queue.pop();
    if ((++looked_at > limits_.search_states && !base::in_question()) ||
        !expand(state)) {
      states_[id].life = Life::kDead;
      states_[id].undecided = true;
      narrowed_ = true;
      return false;
    }
    for (const Successor& successor : states_[state].successors) {
      StateId target = successor.target;
      if (states_[target].life == Life::kDead) {
        decided = decided && !states_[target].undecided;
        continue;
      }
      if (states_[target].life == Life::kUnknown) {
        push(target, state);
        continue;
      }
      for (StateId s = state;; s = reached_from[s]) {
        states_[s].life = Life::kLive;
        if (s == id) return true;
      }
    }
  }
  // 3. All that can be reached was expanded: none of it is live.  It is proved
  //    only if no dead state on the way was merely given up.
  for (const auto& [state, from] : reached_from) {
    states_[state].life = Life::kDead;
    states_[state].undecided = !decided;
  }
  return false;
}

StateId Languages::start(LanguageId language) {
  StateId state = state_of(language, 0);
  return live(state) ? state : kDeadState;
}

bool Languages::proves_empty(LanguageId language) {
  const StateId state = state_of(language, 0);
  // That there is no proof makes no language smaller.
  const bool narrowed = narrowed_;
  const bool proved = !live(state) && !states_[state].undecided;
  narrowed_ = narrowed;
  return proved;
}

// The first few steps from a state compute one successor each: most states on
// the way to a quote are left by a byte or two.
StateId Languages::compute_step(StateId state, std::uint8_t byte) {
  constexpr std::uint8_t kSingleSteps = base::ByteRow<StateId>::kFew;
  if (!states_[state].expanded && states_[state].steps < kSingleSteps &&
      !over_limit()) {
    ++states_[state].steps;
    const StateId found = derived(state, byte);
    const StateId target = live(found) ? found : kDeadState;
    rows_[state].set(byte, target);
    return target;
  }
  if (!expand(state)) {
    narrowed_ = true;
    return kDeadState;
  }
  const auto [first, found] = successor_range(state, byte);
  StateId target = live(found.target) ? found.target : kDeadState;
  base::ByteRow<StateId>& row = rows_[state];
  row_bytes_ -= row.memory_bytes();
  row.set_range(first, found.last, target);
  row_bytes_ += row.memory_bytes();
  return target;
}

std::pair<std::uint8_t, std::uint8_t> Languages::known_range(
    StateId state, std::uint8_t byte) const {
  if (!states_[state].expanded) return {byte, byte};
  const auto [first, successor] = successor_range(state, byte);
  return {first, successor.last};
}

// The first byte of the range that `byte` is in, and the successor by it.
// REQUIRES: the state is expanded.
std::pair<std::uint8_t, Languages::Successor> Languages::successor_range(
    StateId state, std::uint8_t byte) const {
  const std::vector<Successor>& all = states_[state].successors;
  const auto at = std::ranges::lower_bound(all, byte, {}, &Successor::last);
  const bool leads = at == all.begin();
  return {static_cast<std::uint8_t>(leads ? 0 : std::prev(at)->last + 1), *at};
}

StateId Languages::step_char(StateId state, char32_t c) {
  std::string bytes;
  base::append_utf8(bytes, c);
  for (char byte : bytes) state = step(state, static_cast<std::uint8_t>(byte));
  return state;
}

bool Languages::contains(LanguageId language, std::string_view string) {
  StateId state = state_of(language, 0);
  for (const char c : string) {
    if (!expand(state)) {
      narrowed_ = true;
      return false;
    }
    state = successor_range(state, static_cast<std::uint8_t>(c)).second.target;
  }
  return accepting(state);
}

base::Fingerprint Languages::fingerprint(StateId state) const {
  const State& of = states_[state];
  return base::Fingerprinter(of.utf8)
      .add((*expressions_)[of.expression].fingerprint)
      .take();
}

// --- Searches ---------------------------------------------------------------

// A language is infinite if a live cycle is reachable.  Depth-first search:
// `open` maps the states that were reached to whether they are on `path`, and
// an edge to a state on the path closes a cycle.
bool Languages::infinite(LanguageId language) {
  StateId first = start(language);
  if (first == kDeadState) return false;
  const Expr& e = (*expressions_)[states_[first].expression];
  if (e.infinite) return true;
  if (e.max_chars != kInfinite) return false;
  std::unordered_map<StateId, bool> open;
  std::vector<std::pair<StateId, std::size_t>> path = {{first, 0}};
  open[first] = true;
  while (!path.empty()) {
    StateId state = path.back().first;
    if (open.size() > limits_.search_states || !expand(state)) {
      narrowed_ = true;
      return false;
    }
    std::size_t at = path.back().second++;
    if (at >= states_[state].successors.size()) {
      open[state] = false;
      path.pop_back();
      continue;
    }
    StateId target = states_[state].successors[at].target;
    if (!live(target)) continue;
    if ((*expressions_)[states_[target].expression].infinite) return true;
    auto [it, fresh] = open.try_emplace(target, true);
    if (fresh) {
      path.push_back({target, 0});
    } else if (it->second) {
      return true;
    }
  }
  return false;
}

// A* search (Hart, Nilsson and Raphael 1968) for the shortest path to an
// accepting state, counted in characters.  The heuristic is Expr::min_chars,
// which never overestimates, so the first accepting state that is popped ends a
// shortest path.  `least` is the largest lower bound popped so far.
//
// The bound may fall by more than one from a state to its successor, so a state
// may be reached again by a shorter path after it was expanded.  `best` is the
// shortest known, and a state that is reached by a shorter one is expanded
// again.
std::uint64_t Languages::min_chars_to_accept(StateId id) {
  if (accepting(id)) return 0;
  if (states_[id].least_known) return states_[id].least;
  auto bound = [this](StateId state) {
    return (*expressions_)[states_[state].expression].min_chars;
  };
  auto effort = [this](StateId state) {
    return (*expressions_)[states_[state].expression].effort;
  };
  struct Entry {
    std::uint64_t total, done;
    std::uint32_t effort;
    StateId state;
    bool operator<(const Entry& other) const {
      // Of equal totals, the entry that seems nearest comes first, and of those
      // the one that has done more: any order is exact.
      return std::tie(total, effort, other.done, state) >
             std::tie(other.total, other.effort, done, other.state);
    }
  };
  std::priority_queue<Entry> queue;
  std::unordered_map<StateId, std::uint64_t> best;
  queue.push({bound(id), 0, effort(id), id});
  best[id] = 0;
  std::uint64_t least = bound(id);
  std::size_t looked_at = 0;
  bool exact = true;
  while (!queue.empty()) {
    Entry entry = queue.top();
    queue.pop();
    least = std::max(least, entry.total);
    const Expr& e = (*expressions_)[states_[entry.state].expression];
    // The bound of a `positive` expression is attained by a member.
    if (accepting(entry.state) || e.positive) break;
    if (entry.done > best[entry.state]) continue;
    if (++looked_at > limits_.search_states || !expand(entry.state)) {
      exact = false;
      break;
    }
    for (const Successor& successor : states_[entry.state].successors) {
      StateId target = successor.target;
      if (states_[target].life == Life::kDead) continue;
      std::uint64_t done = entry.done + (states_[target].utf8 == 0 ? 1 : 0);
      auto [it, fresh] = best.try_emplace(target, done);
      if (!fresh && it->second <= done) continue;
      it->second = done;
      const std::uint64_t rest = accepting(target) ? 0 : bound(target);
      queue.push({saturating_add(done, rest), done, effort(target), target});
    }
  }
  if (!exact) return accepting_path_chars(id);
  states_[id].least_known = true;
  states_[id].least = least;
  return least;
}

// An upper bound for min_chars_to_accept(), after an exact search was too
// large: the length of the first accepting path that a greedy search finds.
// Every state on the path stores its own distance along it.  kInfinite if no
// path is found.
std::uint64_t Languages::accepting_path_chars(StateId id) {
  narrowed_ = true;
  struct Visit {
    std::uint64_t done;  // characters from `id` to here
    StateId from;
  };
  StateQueue queue;
  std::unordered_map<StateId, Visit> reached;
  const auto push = [&](StateId state, StateId from, std::uint64_t done) {
    if (!reached.try_emplace(state, Visit{done, from}).second) return;
    const Expr& e = (*expressions_)[states_[state].expression];
    // The remaining effort has weight 2 (weighted A*), so that among many
    // paths of equal length the search follows one to its end.
    queue.push(saturating_add(done, saturating_add(e.effort, e.effort)), state);
  };
  const auto remember = [&](StateId state, std::uint64_t rest) {
    State& known = states_[state];
    if (known.least_known && known.least <= rest) return;
    known.least_known = true;
    known.least_exact = false;
    known.least = rest;
  };
  push(id, id, 0);
  std::size_t looked_at = 0;
  while (!queue.empty()) {
    const StateId state = queue.pop();
    const Visit visit = reached.at(state);
    const Expr& e = (*expressions_)[states_[state].expression];
    if (accepting(state) || e.positive || states_[state].least_known) {
      std::uint64_t rest = e.min_chars;
      if (accepting(state)) rest = 0;
      if (!accepting(state) && states_[state].least_known) {
        rest = states_[state].least;
      }
      const std::uint64_t all = saturating_add(visit.done, rest);
      for (StateId s = state; s != id;) {
        const Visit back = reached.at(s);
        s = back.from;
        remember(s, all - reached.at(s).done);
      }
      return states_[id].least_known ? states_[id].least : all;
    }
    if (++looked_at > limits_.search_states || !expand(state)) break;
    for (const Successor& successor : states_[state].successors) {
      const StateId target = successor.target;
      if (states_[target].life == Life::kDead) continue;
      push(target, state, visit.done + (states_[target].utf8 == 0 ? 1 : 0));
    }
  }
  remember(id, kInfinite);
  return states_[id].least;
}

// A state between two characters can be completed in one character more than
// another number if a character leads to a state that needs no more than it.
Languages::Reach Languages::reach(StateId state) {
  constexpr std::size_t kMostStates = 300;
  if (state == kDeadState) return {.extends = true, .most_chars_needed = 0};
  std::vector<StateId> found = {state};
  std::unordered_set<StateId> seen = {state};
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found.size() > kMostStates || !expand(found[i])) return {};
    for (std::size_t s = 0; s < states_[found[i]].successors.size(); ++s) {
      const StateId target = states_[found[i]].successors[s].target;
      if (live(target) && seen.insert(target).second) found.push_back(target);
    }
  }
  // `found` is closed under live successors.
  Reach out{.extends = true, .most_chars_needed = 0};
  for (const StateId one : found) {
    const std::uint64_t needed = min_chars_to_accept(one);
    if (!min_chars_exact(one)) return {};
    out.most_chars_needed = std::max(out.most_chars_needed, needed);
    if (states_[one].utf8 != 0) continue;
    // Some character of ASCII is enough: what is asked is whether one exists.
    bool extends = false;
    for (unsigned byte = 0; byte < 0x80 && !extends;) {
      const StateId next = step(one, static_cast<std::uint8_t>(byte));
      extends = next != kDeadState && min_chars_to_accept(next) <= needed;
      byte = known_range(one, static_cast<std::uint8_t>(byte)).second + 1U;
    }
    out.extends = out.extends && extends;
  }
  return out;
}

std::uint64_t Languages::max_min_chars(StateId id) {
  if (states_[id].utf8 != 0) return kNoMaximum;
  return max_min_chars_of(states_[id].expression);
}

std::uint64_t Languages::most_chars_needed(StateId id) {
  static_assert(kNoMaximum == kInfinite);
  const std::uint64_t most =
      (*expressions_)[states_[id].expression].most_needed;
  return most != kNoMaximum ? most : max_min_chars(id);
}

// The derivative of `.*x` by any character contains `.*x` as an alternative, so
// the minimum of `.*x` bounds the minimum of every later state.
//
// Operands: see max_min_of_operands().
std::uint64_t Languages::max_min_chars_of(LanguageId id) {
  if (id == kAnyText) return 0;
  const Expr expr = (*expressions_)[id];
  if (expr.context) return kNoMaximum;
  if (expr.kind == ExprKind::kRepeat) {
    if (ItemId(expr.a) != expressions_->any_char() ||
        expr.max != base::kUnbounded || !expr.live) {
      return kNoMaximum;
    }
    const StateId state = state_of(id, 0);
    const std::uint64_t least = min_chars_to_accept(state);
    return states_[state].least_exact ? least : kNoMaximum;
  }
  return max_min_of_operands(*expressions_, id, [&](ExprId operand) {
    return max_min_chars_of(operand);
  });
}

std::uint64_t Languages::max_min_plain_chars(StateId id) const {
  if (states_[id].utf8 != 0) return kNoMaximum;
  return max_min_plain_of(states_[id].expression);
}

// By induction over the expression E: if the result is m, then after every
// plain text w some plain text u of at most m characters leads to a member w u.
//
//   everything    u is empty.
//   X{n,} rest    X contains every plain character, so what follows w contains
//                 E again or what E has with a smaller n; u is the shortest
//                 plain member of E, or a shorter text.
//   Or            u is that of any operand.
//   And           Complete one operand after the other: w, u1 and u2 are plain,
//                 so the induction hypothesis gives u2 after w u1.  All
//                 operands but the last have to stay complete (Expr::extends).
//
// The recursion is no deeper than Expr::depth.
std::uint64_t Languages::max_min_plain_of(LanguageId id) const {
  if (id == kAnyText) return 0;
  const Expr& expr = (*expressions_)[id];
  if (expr.context) return kNoMaximum;
  if (expr.kind == ExprKind::kRepeat) {
    const bool lasts = expr.max == base::kUnbounded &&
                       expressions_->contains_plain(ItemId(expr.a)) &&
                       expr.min_plain != kNoPlain;
    return lasts ? expr.min_plain : kNoMaximum;
  }
  return max_min_of_operands(*expressions_, id, [&](ExprId operand) {
    return max_min_plain_of(operand);
  });
}

// Whether an And, or an Or of some, visibly has a member: its operands but for
// the condition on the length (.{a,b}) can be completed by plain text, one
// after the other (max_min_plain_of()), and the sum of what they need is at
// most b.  If what is completed stays so (Expr::extends), plain text fills up
// to a.
bool Languages::completes_within_length(LanguageId id) const {
  const Expr& expr = (*expressions_)[id];
  const ExprId* operands = expressions_->operands(id);
  if (expr.kind == ExprKind::kOr) {
    return std::any_of(operands, operands + expr.count, [&](ExprId operand) {
      return (*expressions_)[operand].kind == ExprKind::kAnd &&
             completes_within_length(operand);
    });
  }
  if (expr.kind != ExprKind::kAnd) return false;
  std::uint64_t sum = 0;
  std::uint64_t fewest = 0;
  std::uint64_t most = kInfinite;
  bool last = false;
  for (std::uint32_t i = 0; i < expr.count; ++i) {
    const Expr& operand = (*expressions_)[operands[i]];
    if (operand.kind == ExprKind::kRepeat && operand.b == kEmptyText &&
        ItemId(operand.a) == expressions_->any_char()) {
      fewest = std::max<std::uint64_t>(fewest, operand.min);
      most = std::min(most, operand.max_chars);
      continue;
    }
    const auto [chars, extends] = plain_completion(operands[i]);
    if (chars == kNoMaximum || (!extends && last)) return false;
    last = last || !extends;
    sum = saturating_add(sum, chars);
  }
  return sum <= most && fewest <= most && (!last || fewest == 0);
}

// max_min_plain_of(), and whether the member that it leads to can be extended.
// Of an Or, the operand that needs the fewest characters; one that extends is
// preferred.
std::pair<std::uint64_t, bool> Languages::plain_completion(
    LanguageId id) const {
  const Expr& expr = (*expressions_)[id];
  std::pair best(max_min_plain_of(id), expr.extends);
  if (expr.kind != ExprKind::kOr || expr.extends) return best;
  for (std::uint32_t i = 0; i < expr.count; ++i) {
    const ExprId operand = expressions_->operands(id)[i];
    if (!(*expressions_)[operand].extends) continue;
    const std::uint64_t chars = max_min_plain_of(operand);
    if (chars == kNoMaximum || (best.second && best.first <= chars)) continue;
    best = {chars, true};
  }
  return best;
}

bool Languages::prefix_closed(StateId id) const {
  return states_[id].utf8 == 0 &&
         (*expressions_)[states_[id].expression].prefix_closed;
}

bool Languages::loops_beyond_ascii(StateId id) {
  return prefix_closed(id) && (*expressions_)[states_[id].expression].alike &&
         step_char(id, U'\u00E9') == id;
}

Languages::Parts Languages::prefix_closed_parts(StateId id) {
  const LanguageId expression = states_[id].expression;
  const ExprKind kind = (*expressions_)[expression].kind;
  Parts parts{.states = {}, .any = kind == ExprKind::kOr};
  if (!prefix_closed(id) || !accepting(id) ||
      (kind != ExprKind::kAnd && kind != ExprKind::kOr)) {
    return parts;
  }
  const std::uint32_t count = (*expressions_)[expression].count;
  parts.states.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    parts.states.push_back(state_of(expressions_->operands(expression)[i], 0));
  }
  return parts;
}

std::uint64_t Languages::chars_without_end(StateId id) const {
  return prefix_closed(id) ? chars_without_end_of(states_[id].expression) : 0;
}

// A complement ends where the complemented language, whose members can only be
// extended to members, has one.  A conjunction ends where one operand does; a
// union, where all have ended.  The recursion is no deeper than Expr::depth.
std::uint64_t Languages::chars_without_end_of(LanguageId id) const {
  if (id == kAnyText) return kNoMaximum;
  const Expr& expr = (*expressions_)[id];
  if (expr.kind == ExprKind::kNot) {
    const std::uint64_t least = (*expressions_)[expr.b].min_chars;
    return least == kInfinite ? kNoMaximum : least == 0 ? 0 : least - 1;
  }
  if (expr.kind != ExprKind::kAnd && expr.kind != ExprKind::kOr) return 0;
  const bool all = expr.kind == ExprKind::kAnd;
  std::uint64_t result = all ? kNoMaximum : 0;
  for (std::uint32_t i = 0; i < expr.count; ++i) {
    const std::uint64_t one =
        chars_without_end_of(expressions_->operands(id)[i]);
    result = all ? std::min(result, one) : std::max(result, one);
  }
  return result;
}

namespace {

// Calls use(first, last) with the encodings of the ends of ranges that together
// are [low, high] without surrogates; each range is a product of ranges of
// bytes, one for each byte of the encoding.
template <class Use>
void each_byte_product(char32_t low, char32_t high, const Use& use) {
  constexpr std::array<std::pair<char32_t, char32_t>, 5> kLengths = {{
      {0, 0x7F},
      {0x80, 0x7FF},
      {0x800, 0xD7FF},
      {0xE000, 0xFFFF},
      {0x10000, 0x10FFFF},
  }};
  for (const auto& [first, last] : kLengths) {
    char32_t from = std::max(low, first);
    const char32_t to = std::min(high, last);
    while (from <= to) {
      // The largest block of 64^k characters that begins here and fits.
      char32_t end = from;
      for (unsigned bits = 6; bits <= 18; bits += 6) {
        const char32_t mask = (char32_t{1} << bits) - 1;
        if ((from & mask) != 0 || from + mask > to) break;
        end = from + mask;
      }
      // As many blocks of this size as the byte before them can begin.
      const char32_t size = end - from + 1;
      const char32_t siblings = last <= 0x7F ? to : from | (size * 64 - 1);
      end += (std::min(to, siblings) - end) / size * size;
      std::string a;
      std::string b;
      base::append_utf8(a, from);
      base::append_utf8(b, end);
      if (!use(a, b)) return;
      from = end + 1;
    }
  }
}

}  // namespace

// Breadth first, byte by byte: `states` are those after some text of the ranges
// of bytes so far.
template <class Use>
void Languages::each_after(StateId state, char32_t low, char32_t high,
                           const Use& use) {
  if (state == kDeadState) return;
  std::vector<StateId> states;
  std::vector<StateId> next;
  each_byte_product(low, high, [&](const std::string& a, const std::string& b) {
    states.assign(1, state);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto first = static_cast<std::uint8_t>(a[i]);
      const auto last = static_cast<std::uint8_t>(b[i]);
      next.clear();
      for (const StateId from : states) {
        for (unsigned byte = first; byte <= last;) {
          if (!base::spend_work()) return false;
          const StateId to = step(from, static_cast<std::uint8_t>(byte));
          if (to != kDeadState &&
              std::find(next.begin(), next.end(), to) == next.end()) {
            if (i + 1 == a.size() && !use(to)) return false;
            next.push_back(to);
          }
          byte = known_range(from, static_cast<std::uint8_t>(byte)).second + 1U;
        }
      }
      std::swap(states, next);
    }
    return true;
  });
}

bool Languages::any_in_range(StateId state, char32_t low, char32_t high) {
  bool found = false;
  each_after(state, low, high, [&](StateId) {
    found = true;
    return false;
  });
  return found;
}

std::vector<StateId> Languages::states_after(StateId state, char32_t low,
                                             char32_t high) {
  std::vector<StateId> out;
  each_after(state, low, high, [&](StateId next) {
    if (std::find(out.begin(), out.end(), next) == out.end()) {
      out.push_back(next);
    }
    return true;
  });
  return out;
}

}  // namespace parlance::automata
