#ifndef PARLANCE_SRC_AUTOMATA_DFA_H_
#define PARLANCE_SRC_AUTOMATA_DFA_H_

// Searching a stream for several patterns at once, each byte read once.
//
// After every byte a search knows which delimiter comes first, whether it is
// complete, and from which position on text may still become part of one.  An
// ordinary DFA knows that something matched, not where it began, so this one is
// tagged (Laurikari, 2000): a state is an ordered list of threads of the Nfa,
// each with a few positions (its start, its end, its groups), and a transition
// specifies how the positions of the new state follow from those of the old.
// Most transitions in plain text change no position at all.
//
// The order of threads is: earlier start first; for one start the patterns in
// their order; within a pattern the priorities of a backtracking engine.  So
//
//   * the text from the first thread's start on has to be held back;
//   * a match cuts the later threads of its own pattern (they lose by
//     priority) and every thread that starts later (they lose by position),
//     but not other patterns at the same start (they may match more);
//   * when only matches are left at the first start, the search is decided.
//
// A thread may carry obligations: sub-programs of look-aheads that have yet to
// match, or to fail.  They are stepped along with the thread.  A match with
// open obligations waits, and holds its text, until they are discharged.
//
// States are built when first needed, in a table shared by all searches of an
// automaton: readers need no lock, builders take one.  Past the memory limit
// states are no longer stored but rebuilt at each step: slower, never larger.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "automata/accelerator.h"
#include "automata/nfa.h"
#include "base/mutex.h"
#include "base/small_list.h"
#include "parlance/error.h"
#include "parlance/limits.h"

namespace parlance::automata {

inline constexpr std::uint64_t kNoPosition = ~std::uint64_t{0};

struct State;

// Where a position of the new state comes from: a position of the old state,
// or the position of the symbol just read.
inline constexpr std::uint16_t kFromHere = 0xFFFF;

// How the positions change.  ORDER: cheapest first
enum class Moves : std::uint8_t {
  kNone,   // every position stays where it is
  kOne,    // one becomes the position of the symbol just read, others stay
  kSet,    // some become the position of the symbol just read, others stay
  kShift,  // some become the old value of another
};

struct Transition {
  const State* target = nullptr;
  Moves moves = Moves::kNone;
  std::uint16_t first = 0;  // the first position that changes
  std::span<const std::uint16_t> sources = {};
};

// The value of a tag within a state.
inline constexpr std::int32_t kUnset = -1;
inline constexpr std::int32_t kNow = -2;  // the position after the last symbol

struct Thread {
  Pc pc = 0;
  std::uint32_t obligations = 0;  // id, 0: none
};

// An edge of the table: null while unknown; a State when no position changes;
// else a Transition, with the lowest bit set.
using Link = std::uintptr_t;

// What is known of a state, besides its threads.
struct StateFacts {
  bool decided = false;
  bool decided_empty = false;  // decided for an empty match right here
  bool spawning = true;        // new matches may begin here
  // Bytes that the character we are in still lacks.  Only counted where a
  // pattern may match nothing: it must not do so inside a character, and
  // one that reads something cannot.
  std::uint8_t inside = 0;
  std::int32_t first_start = kUnset;  // tag of the first thread, kNow: no hold
  std::size_t positions = 0;          // tags count from 0 to this
};

// Bytes that lead from a literal state through others while no position
// changes: the rest of a delimiter.  A state has one path, along the first text
// that came; where another text leaves it, the state there has its own.
struct Path {
  static constexpr std::size_t kFewest = 4;
  static constexpr std::size_t kMost = 64;
  static constexpr unsigned kTries = 32;  // see Automaton::lay_path()

  std::span<const char> bytes = {};
  const State* const* states = nullptr;  // after each byte

  // How many bytes of `data` are on it.
  std::size_t follow(const char* data, std::size_t size) const;
};

// Not changed once built, apart from links, accelerator and path.
struct State : StateFacts {
  // In the table and not decided: all that the inner loop asks of most states.
  bool regular = false;
  bool in_table = false;
  // Regular, and a match may have begun that only a few bytes continue: most
  // likely one of them comes next.
  bool literal = false;
  // Null while unknown or not useful.
  mutable std::atomic<const Accelerator*> accelerator = nullptr;
  // The path of a literal state.  Null while unknown; empty if the state has no
  // path.
  mutable std::atomic<const Path*> path = nullptr;
  mutable std::atomic<unsigned> tries = 0;      // to lay it
  mutable std::atomic<unsigned> run_tries = 0;  // to find a run
  std::span<const Thread> threads = {};
  std::span<const std::int32_t> tags = {};  // slots per thread
  std::uint64_t hash = 0;                   // of a state of the table

  // By class of symbol.  They follow a state of the table in memory, so that
  // the inner loop needs no pointer to them.  REQUIRES: in_table.
  std::atomic<Link>* links() const {
    return reinterpret_cast<std::atomic<Link>*>(const_cast<State*>(this) + 1);
  }
};

// The text before a search, as far as patterns depend on it.
struct Context {
  bool text_start = true;  // nothing came before
  bool line_start = true;  // nothing or a newline came before
  // Patterns, by index in ascending order, that may not match the empty string
  // at the position where the search begins.
  std::vector<std::uint32_t> not_empty = {};
};

template <class Groups>
struct MatchWith {
  std::uint32_t pattern = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  // Spans of the wanted groups, kNoPosition twice if one took no part.
  Groups groups = {};
};
using GroupSpan = std::pair<std::uint64_t, std::uint64_t>;
// Match is small, for a search that lives long.  BriefMatch has room for groups
// in itself, for one match without an allocation.
using Match = MatchWith<std::vector<GroupSpan>>;
using BriefMatch = MatchWith<base::SmallList<GroupSpan, 4>>;

// Immutable from outside; safe to share between threads.
class Automaton {
 public:
  // Errors: kTooLarge.
  static Result<std::shared_ptr<const Automaton>> compile(
      const std::vector<PatternSpec>& patterns,
      const std::vector<Mark>& marks = {}, const Limits& limits = {});
  ~Automaton();

  std::size_t memory_bytes() const;
  std::size_t state_count() const;

 private:
  friend class Search;
  struct Builder;

  explicit Automaton(Nfa nfa, std::size_t memory_limit);

  const State* start(const Context& context) const;
  // The transition of `state` on `symbol`: from the table, or added to it, or,
  // when the table is full, built in `scratch`.
  struct Scratch;
  Link step(const State* state, Symbol symbol, Scratch& scratch) const;
  // As step(), with the lock held and `state` in the table; 0 if the table is
  // full, and then the step is in the workspace.
  Link step_locked(const State& state, Symbol symbol) const;
  // A state and the transition to it while they are built.
  struct Draft : StateFacts {
    std::vector<Thread> threads;
    std::vector<std::int32_t> tags;
    Moves moves = Moves::kNone;
    std::uint16_t first = 0;
    std::vector<std::uint16_t> sources;

    // Makes this a state without threads again.  Keeps the capacities.
    void clear();
  };
  struct Scratch {
    Draft draft;
    State state;
    Transition transition;
  };
  const State* intern(const Draft& draft) const;
  // Adds `draft`, whether or not the memory limit allows it.
  const State* add_state(const Draft& draft, std::uint64_t hash) const;
  bool is_literal(const Draft& draft) const;
  const Transition* add_transition(const Draft& draft,
                                   const State* target) const;
  template <class T>
  std::span<const T> copy_to_arena(std::span<const T> from) const;
  void place(std::uint64_t hash, std::size_t index) const;
  // Builds the accelerator of `state`, a state of the table.
  void accelerate(const State& state) const;
  void accelerate_locked(const State& state) const;
  // The same, if there is a run to pass over.
  void accelerate_runs(const State& state) const;
  Accelerator::Bytes leaving_bytes(const State& state) const;
  std::unique_ptr<const Accelerator::Run> find_run(
      const State& state, const Accelerator::Bytes& leaves) const;
  std::unique_ptr<const Accelerator::Run> run_of(
      const State& state, const Accelerator::Bytes& leaves, Symbol first) const;
  std::vector<Symbol> returning_bytes(const State& state) const;
  bool returns_from(Link link, const State& state) const;
  void set_accelerator(const State& state,
                       std::unique_ptr<Accelerator> accelerator) const;
  // Refines the accelerator of `state`, if it can be.
  void refine(const State& state) const;
  void refine_by_pair(const State& state, const Accelerator& accelerator) const;
  // Gives `state`, which is literal, the path along `data`, if the table knows
  // enough of it; no path if that has been tried often in vain.
  void lay_path(const State& state, const char* data, std::size_t size) const;

  static constexpr std::size_t kFirstBlock = 2048;  // bytes of arena_

  // A set of instructions, which is emptied without being written.
  class PcSet {
   public:
    void clear(std::size_t insts);
    bool has(Pc pc) const { return rounds_[pc] == round_; }
    void insert(Pc pc) { rounds_[pc] = round_; }

   private:
    std::vector<std::uint32_t> rounds_;  // the round of the last insert()
    std::uint32_t round_ = 0;
  };

  // What a Builder works in, so that a step allocates nothing of its own.
  // Guarded by mutex_.
  struct Workspace {
    struct Work {
      Pc pc;
      std::uint32_t obligations;
      std::uint32_t tags;  // where its slots begin in `pool`
    };
    std::vector<Work> work;
    std::vector<Work> stack;
    std::vector<std::int32_t> pool;
    // Every (pc, obligations) that has been entered since begin(): those
    // without obligations, and the others.
    PcSet entered;
    std::unordered_set<std::uint64_t> seen;
    std::vector<bool> cut;       // of prune(), by pattern
    PcSet look_entered;          // of look_closure()
    std::vector<Pc> look_stack;  // of look_closure()
    // Of finish(): the tags that are positions, and their numbers.
    std::vector<std::pair<std::int32_t, std::int32_t>> numbers;
    // What a step results in, before it is known whether the table has it.
    Draft draft;

    void begin(std::size_t insts);
    // Whether (pc, obligations) is new.  A thread without obligations matches
    // whenever a later thread at the same instruction does, so the later one is
    // not new.
    bool enter(Pc pc, std::uint32_t obligations);
  };

  Nfa nfa_;
  std::vector<std::size_t> slots_of_;  // by pattern
  std::size_t memory_limit_;

  // Obligations, interned.  Guarded by mutex_.
  struct Obligations {
    std::vector<Pc> negative;               // none of these may match
    std::vector<std::vector<Pc>> positive;  // one of each must match
  };
  mutable base::Mutex mutex_;
  mutable Workspace workspace_;
  mutable std::vector<Obligations> obligations_;
  mutable std::unordered_map<std::string, std::uint32_t> obligation_ids_;
  // Holds states, transitions and their arrays.
  mutable std::pmr::monotonic_buffer_resource arena_{kFirstBlock};
  mutable std::vector<const State*> states_;
  // Indices into states_ plus one by State::hash, 0: free.  Open addressing; a
  // power of two, at most half full.
  mutable std::vector<std::uint32_t> state_slots_;
  mutable std::unordered_map<const State*, std::unique_ptr<Accelerator>>
      accelerators_;
  // Those that others have replaced, since searches may still use them.
  mutable std::vector<std::unique_ptr<Accelerator>> old_accelerators_;
  mutable std::size_t memory_ = 0;
  // Start states by context, see start().
  mutable std::array<std::atomic<const State*>, 8> starts_ = {};
};

// The positions of a state.  Memory is allocated only for more than a few, so
// that most searches allocate none.
class Positions {
 public:
  std::size_t size() const { return more_.empty() ? kFew : more_.size(); }
  std::uint64_t& operator[](std::size_t i) {
    return more_.empty() ? few_[i] : more_[i];
  }
  std::uint64_t operator[](std::size_t i) const {
    return more_.empty() ? few_[i] : more_[i];
  }
  // Makes this at least `count` positions.  Keeps their values.
  void expect(std::size_t count) {
    if (count <= size()) return;
    if (more_.empty()) more_.assign(few_.begin(), few_.end());
    more_.resize(count + kFew);
  }

 private:
  static constexpr std::size_t kFew = 8;
  std::array<std::uint64_t, kFew> few_ = {};
  std::vector<std::uint64_t> more_;  // instead of few_, unless it is empty
};

// One search of one stream.  Positions are the caller's; they grow by one per
// byte and by the length of a mark's spelling per mark.
class Search {
 public:
  Search() = default;

  // Begins at `position`.  The caller keeps `automaton` alive.
  void start(const Automaton* automaton, std::uint64_t position,
             const Context& context);

  // Reads bytes until the search is decided or the bytes end; returns how many
  // were read.  A match that is empty and at the very end is not decided
  // before another symbol follows.
  std::size_t run(std::string_view bytes);
  // Reads one mark of `length` bytes.  Returns false, without reading, when
  // the search is decided before it.
  bool mark(Symbol symbol, std::size_t length);
  // Declares the end of the text.  Afterwards the search is decided or over.
  void finish();

  bool decided() const { return decided_; }
  bool over() const { return over_; }  // finished without a match
  std::uint64_t position() const { return position_; }
  // The first position that may belong to a match; position() if none does.
  std::uint64_t hold() const {
    if (state_ == nullptr || state_->first_start < 0) return position_;
    return positions_[static_cast<std::size_t>(state_->first_start)];
  }

  // The pattern that a match from hold() on may be of; of several the first.
  // REQUIRES: hold() < position().
  std::uint32_t held_pattern() const {
    return automaton_->nfa_.pattern_of[state_->threads.front().pc];
  }

  // REQUIRES: decided().  Of several patterns that match at the first start
  // the longest wins, then the one with the lowest index.
  template <class Groups>
  void match(MatchWith<Groups>& out) const;

 private:
  // The state after `link`, with its positions.
  const State* follow(Link link, std::uint64_t here) {
    if ((link & 1) == 0) return reinterpret_cast<const State*>(link);
    const auto* transition = reinterpret_cast<const Transition*>(link - 1);
    if (transition->moves == Moves::kOne &&
        transition->first < positions_.size()) {
      positions_[transition->first] = here;
    } else {
      move(transition, here);
    }
    return transition->target;
  }
  Link known(Symbol symbol) const {
    return state_->in_table
               ? state_->links()[automaton_->nfa_.class_of[symbol]].load(
                     std::memory_order_acquire)
               : 0;
  }
  void move(const Transition* transition, std::uint64_t here);
  Link step(Symbol symbol);
  std::size_t stay(const State& state, std::string_view bytes);

  const Automaton* automaton_ = nullptr;
  const State* state_ = nullptr;
  std::uint64_t position_ = 0;
  bool decided_ = false;
  bool over_ = false;
  Positions positions_;
  Positions spare_;
  std::unique_ptr<Automaton::Scratch> scratch_[2];
  int scratch_turn_ = 0;
  unsigned stayed_ = 0;   // bytes in a row that left state_ as it was
  unsigned stays_ = 0;    // calls of stay()
  unsigned stopped_ = 0;  // times that an accelerator stopped at a byte
};

extern template void Search::match(Match& out) const;
extern template void Search::match(BriefMatch& out) const;

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_DFA_H_
