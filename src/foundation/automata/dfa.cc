// Map of this file
//
//   Builder       one state from another: steps threads, follows closures,
//                 prunes, numbers the positions
//   Automaton     the shared table of states; how bytes are passed over
//                 (accelerators, their runs and refinements; paths)
//   Search        the inner loop
//
// The subset construction (Rabin and Scott, 1959), done lazily as in RE2, over
// ordered threads with tags (Laurikari, 2000) in place of sets of states.

#include "automata/dfa.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <optional>
#include <utility>

#include "base/append_bytes.h"
#include "base/mix.h"

namespace parlance::automata {
namespace {

using base::append_bytes;

// While a transition is computed, a tag is a position of the old state, kUnset,
// kNow, or kHere.
constexpr std::int32_t kHere = -3;  // where the symbol just read began

constexpr std::size_t kMaxObligations = 1 << 16;
constexpr std::size_t kMaxThreads = 1 << 16;
// After this many bytes in one state a search builds its accelerator.
constexpr unsigned kAccelerateAfter = 16;
// After this many calls of stay(), and again at each power of two, a search
// looks for a run of its current state (Accelerator::Run).
constexpr unsigned kRunsAfter = 8;
// How often all searches together look for a run of one state.
constexpr unsigned kRunTries = 4;
// A search that has been stopped so often by accelerators has the accelerator
// of its state refined.
constexpr unsigned kRefineAfter = 64;
// How many bytes the threads with the first start read in a literal state,
// counted for each thread.
constexpr std::size_t kMostLiterals = 6;

// REQUIRES: link != 0.
const State* target_of(Link link) {
  return (link & 1) == 0
             ? reinterpret_cast<const State*>(link)
             : reinterpret_cast<const Transition*>(link - 1)->target;
}

}  // namespace

// Builds the threads after one symbol, or those of a start state.
// REQUIRES: the caller holds the automaton's lock.
struct Automaton::Builder {
  using Work = Workspace::Work;

  explicit Builder(const Automaton& automaton)
      : a(automaton),
        nfa(automaton.nfa_),
        work(a.workspace_.work),
        pool(a.workspace_.pool) {
    a.workspace_.begin(nfa.insts.size());
  }

  const Automaton& a;
  const Nfa& nfa;
  std::vector<Work>& work;
  std::vector<std::int32_t>& pool;
  bool text_start = false;
  bool line_start = false;

  // Room for the tags of a thread at the end of the pool.
  std::uint32_t new_tags() {
    const std::size_t at = pool.size();
    pool.resize(at + nfa.slots, kUnset);
    return static_cast<std::uint32_t>(at);
  }
  std::uint32_t copy_of(std::uint32_t tags) {
    const std::uint32_t at = new_tags();
    std::copy_n(pool.begin() + tags, nfa.slots, pool.begin() + at);
    return at;
  }

  bool holds(regex::Assertion assertion) const {
    return assertion == regex::Assertion::kTextStart ? text_start : line_start;
  }

  // The symbol-consuming instructions of sub-programs that can be reached from
  // the look_stack without reading anything; sorted.  `matched`: whether a
  // sub-program has matched.
  std::vector<Pc> look_closure(bool& matched) const {
    Workspace& space = a.workspace_;
    std::vector<Pc>& stack = space.look_stack;
    std::vector<Pc> out;
    space.look_entered.clear(nfa.insts.size());
    matched = false;
    while (!stack.empty()) {
      Pc pc = stack.back();
      stack.pop_back();
      if (space.look_entered.has(pc)) continue;
      space.look_entered.insert(pc);
      const Inst& inst = nfa.insts[pc];
      switch (inst.op) {
        case Op::kSymbols:
          if (inst.count > 0) out.push_back(pc);
          break;
        case Op::kUnion:
          for (std::uint32_t i = 0; i < inst.count; ++i) {
            stack.push_back(nfa.targets[inst.first + i]);
          }
          break;
        case Op::kSave:
          stack.push_back(inst.next);
          break;
        case Op::kAssert:
          if (holds(inst.assertion)) stack.push_back(inst.next);
          break;
        case Op::kLook:
          // compile_nfa accepts \Z and $ only at the end of a look-ahead, so
          // the nested condition is the rest of the enclosing one.
          stack.push_back(inst.first);
          break;
        case Op::kMatch:
          break;
        case Op::kLookMatch:
          matched = true;
          break;
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  std::vector<Pc> look_step(const std::vector<Pc>& set, Symbol symbol,
                            bool& matched) const {
    std::vector<Pc>& next = a.workspace_.look_stack;
    next.clear();
    for (Pc pc : set) {
      const Inst& inst = nfa.insts[pc];
      for (std::uint32_t i = 0; i < inst.count; ++i) {
        const Edge& edge = nfa.edges[inst.first + i];
        if (edge.low <= symbol && symbol <= edge.high) {
          next.push_back(edge.next);
        }
      }
    }
    return look_closure(matched);
  }

  // The id of a set of obligations; kDead when the table of sets is full.
  static constexpr std::uint32_t kDead = 0xFFFFFFFF;
  std::uint32_t intern(Obligations obligations) const {
    std::sort(obligations.negative.begin(), obligations.negative.end());
    obligations.negative.erase(
        std::unique(obligations.negative.begin(), obligations.negative.end()),
        obligations.negative.end());
    auto& positive = obligations.positive;
    std::sort(positive.begin(), positive.end());
    positive.erase(std::unique(positive.begin(), positive.end()),
                   positive.end());
    if (obligations.negative.empty() && positive.empty()) return 0;
    std::string name;
    for (Pc pc : obligations.negative) append_bytes(name, pc);
    for (const auto& set : positive) {
      append_bytes(name, 0xFFFFFFFF);
      for (Pc pc : set) append_bytes(name, pc);
    }
    auto it = a.obligation_ids_.find(name);
    if (it != a.obligation_ids_.end()) return it->second;
    if (a.obligations_.size() >= kMaxObligations) return kDead;
    auto id = static_cast<std::uint32_t>(a.obligations_.size());
    a.memory_ += 2 * name.size() + 64;
    a.obligations_.push_back(std::move(obligations));
    a.obligation_ids_.emplace(std::move(name), id);
    return id;
  }

  // `id` after `symbol`, or kDead when one of its conditions has failed.
  std::uint32_t step_obligations(std::uint32_t id, Symbol symbol) const {
    if (id == 0) return 0;
    // Valid until intern().
    const Obligations& old = a.obligations_[id];
    Obligations next;
    bool matched = false;
    if (!old.negative.empty()) {
      next.negative = look_step(old.negative, symbol, matched);
      if (matched) return kDead;
    }
    for (const auto& set : old.positive) {
      std::vector<Pc> after = look_step(set, symbol, matched);
      if (matched) continue;
      if (after.empty()) return kDead;
      next.positive.push_back(std::move(after));
    }
    return intern(std::move(next));
  }

  // `id` with the sub-program at `entry` added from here on.
  std::uint32_t add_obligation(std::uint32_t id, Pc entry,
                               bool negative) const {
    bool matched = false;
    a.workspace_.look_stack.assign(1, entry);
    std::vector<Pc> set = look_closure(matched);
    if (matched) return negative ? kDead : id;
    if (set.empty()) return negative ? id : kDead;
    Obligations next = a.obligations_[id];
    if (negative) {
      next.negative.insert(next.negative.end(), set.begin(), set.end());
    } else {
      next.positive.push_back(std::move(set));
    }
    return intern(std::move(next));
  }

  // Appends to `work` the threads that can be reached from `pc` without reading
  // a symbol: the closure of Pike's simulation.
  //
  // Invariant: `work` followed by the closures of `stack` from its top down is
  // the result in order of priority.  A union therefore pushes its targets
  // last to first.  Each (pc, obligations) enters once, with the tags of the
  // thread of the highest priority.  Threads may share tags, so tags are copied
  // before they change.
  void close_over(Pc pc, std::uint32_t obligations, std::uint32_t tags) {
    std::vector<Work>& stack = a.workspace_.stack;
    stack.clear();
    stack.push_back({pc, obligations, tags});
    while (!stack.empty() && work.size() < kMaxThreads) {
      Work top = stack.back();
      stack.pop_back();
      if (!a.workspace_.enter(top.pc, top.obligations)) continue;
      const Inst& inst = nfa.insts[top.pc];
      switch (inst.op) {
        case Op::kSymbols:
          if (inst.count > 0) work.push_back(top);
          break;
        case Op::kUnion:
          for (std::uint32_t i = inst.count; i-- > 0;) {
            stack.push_back(
                {nfa.targets[inst.first + i], top.obligations, top.tags});
          }
          break;
        case Op::kSave:
          top.tags = copy_of(top.tags);
          pool[top.tags + inst.first] = kNow;
          top.pc = inst.next;
          stack.push_back(top);
          break;
        case Op::kAssert:
          if (holds(inst.assertion)) {
            top.pc = inst.next;
            stack.push_back(top);
          }
          break;
        case Op::kLook: {
          std::uint32_t id =
              add_obligation(top.obligations, inst.first, inst.negative);
          if (id == kDead) break;
          top.obligations = id;
          top.pc = inst.next;
          stack.push_back(top);
          break;
        }
        case Op::kMatch:
          top.tags = copy_of(top.tags);
          pool[top.tags + 1] = kNow;
          work.push_back(top);
          break;
        case Op::kLookMatch:
          break;
      }
    }
  }

  // Adds the threads of matches that begin here, pattern by pattern.  A pattern
  // in `not_empty` does not match the empty string here.
  void spawn(const std::vector<std::uint32_t>* not_empty) {
    for (std::uint32_t p = 0; p < nfa.entries.size(); ++p) {
      const std::uint32_t tags = new_tags();
      pool[tags] = kNow;
      std::size_t before = work.size();
      close_over(nfa.entries[p], 0, tags);
      if (not_empty != nullptr &&
          std::binary_search(not_empty->begin(), not_empty->end(), p)) {
        auto empty = [&](const Work& w) {
          return nfa.insts[w.pc].op == Op::kMatch;
        };
        work.erase(
            std::remove_if(work.begin() + static_cast<std::ptrdiff_t>(before),
                           work.end(), empty),
            work.end());
      }
    }
  }

  bool is_match(const Work& w) const {
    return nfa.insts[w.pc].op == Op::kMatch && w.obligations == 0;
  }

  // Removes the threads that cannot win any more because of a match: those of
  // the same pattern after it (lower priority), and those of every pattern that
  // start later.  Returns whether there is a match, after which no new match
  // may begin.
  bool prune() {
    std::vector<bool>& cut = a.workspace_.cut;
    cut.assign(nfa.entries.size(), false);
    bool closed = false;
    std::int32_t closed_start = kUnset;
    std::size_t remaining = 0;
    for (std::size_t i = 0; i < work.size(); ++i) {
      const Work w = work[i];
      if (closed && pool[w.tags] != closed_start) break;
      std::uint32_t pattern = nfa.pattern_of[w.pc];
      if (cut[pattern]) continue;
      if (is_match(w)) {
        cut[pattern] = true;
        closed = true;
        closed_start = pool[w.tags];
      }
      work[remaining++] = w;
    }
    work.resize(remaining);
    return closed;
  }

  // Turns `work` into `draft`.
  //
  // Positions are numbered by first appearance in the threads, so that states
  // which differ only in the numbering are equal (canonical form).
  // sources[n] is where position n comes from.  Then `decided` is set if only
  // matches are left at the first start, and `moves` is the cheapest operation
  // on the positions that the transition needs.
  void finish(Draft& draft, bool spawning) {
    bool closed = prune();
    draft.spawning = spawning && !closed;
    auto& numbers = a.workspace_.numbers;
    numbers.clear();
    draft.threads.reserve(work.size());
    draft.tags.reserve(work.size() * nfa.slots);
    for (const Work& w : work) {
      draft.threads.push_back({w.pc, w.obligations});
      for (std::size_t slot = 0; slot < nfa.slots; ++slot) {
        const std::int32_t tag = pool[w.tags + slot];
        if (tag == kUnset || tag == kNow) {
          draft.tags.push_back(tag);
          continue;
        }
        auto it = std::find_if(numbers.begin(), numbers.end(),
                               [&](const auto& n) { return n.first == tag; });
        if (it == numbers.end()) {
          numbers.emplace_back(tag, static_cast<std::int32_t>(numbers.size()));
          draft.sources.push_back(
              tag == kHere ? kFromHere : static_cast<std::uint16_t>(tag));
          it = numbers.end() - 1;
        }
        draft.tags.push_back(it->second);
      }
    }
    draft.positions = numbers.size();
    if (!work.empty()) {
      draft.first_start = draft.tags[0];
      draft.decided = true;
      for (std::size_t i = 0; i < work.size(); ++i) {
        if (draft.tags[i * nfa.slots] != draft.first_start) break;
        if (!is_match(work[i])) draft.decided = false;
      }
      draft.decided_empty = draft.decided && draft.first_start == kNow;
    }
    std::size_t changed = 0;
    for (std::size_t i = draft.sources.size(); i-- > 0;) {
      std::uint16_t source = draft.sources[i];
      if (source == i) continue;
      ++changed;
      draft.first = static_cast<std::uint16_t>(i);
      draft.moves = std::max(draft.moves,
                             source == kFromHere ? Moves::kSet : Moves::kShift);
    }
    if (draft.moves == Moves::kSet && changed == 1) draft.moves = Moves::kOne;
  }

  // The state after `old` and `symbol`.
  //
  // Invariant: after t iterations `work` holds the successors of the first t
  // threads, in order of priority.  A match with open obligations waits: it
  // stays a thread until they are discharged.  New matches begin after all
  // threads, since they start later, and never inside a character.
  Draft& step(const State& old, Symbol symbol) {
    Draft& draft = a.workspace_.draft;
    draft.clear();
    text_start = false;
    line_start = symbol == '\n';
    for (std::size_t t = 0; t < old.threads.size(); ++t) {
      const Thread& thread = old.threads[t];
      const Inst& inst = nfa.insts[thread.pc];
      std::optional<std::uint32_t>
          tags;  // those of `old`, once they are needed
      const auto get_tags = [&] {
        if (!tags) {
          tags = new_tags();
          const std::int32_t* from = &old.tags[t * nfa.slots];
          for (std::size_t i = 0; i < nfa.slots; ++i) {
            pool[*tags + i] = from[i] == kNow ? kHere : from[i];
          }
        }
        return *tags;
      };
      if (inst.op == Op::kMatch) {
        std::uint32_t id = step_obligations(thread.obligations, symbol);
        if (id == kDead || !a.workspace_.enter(thread.pc, id)) continue;
        work.push_back({thread.pc, id, get_tags()});
        continue;
      }
      for (std::uint32_t i = 0; i < inst.count; ++i) {
        const Edge& edge = nfa.edges[inst.first + i];
        if (symbol < edge.low || edge.high < symbol) continue;
        std::uint32_t id = step_obligations(thread.obligations, symbol);
        if (id != kDead) close_over(edge.next, id, get_tags());
      }
    }
    if (nfa.matches_empty) draft.inside = inside_after(old, symbol);
    if (old.spawning && symbol != kEnd && draft.inside == 0) spawn(nullptr);
    finish(draft, old.spawning && symbol != kEnd);
    return draft;
  }

  // How many bytes of the current character are missing after `symbol`.
  static std::uint8_t inside_after(const State& old, Symbol symbol) {
    if (symbol < 0x80 || symbol > 0xFF) return 0;
    if (symbol < 0xC0) return old.inside > 0 ? old.inside - 1 : 0;
    return symbol < 0xE0 ? 1 : symbol < 0xF0 ? 2 : 3;
  }

  static bool same(const Draft& a, const State& b) {
    const auto same_thread = [](const Thread& s, const Thread& t) {
      return s.pc == t.pc && s.obligations == t.obligations;
    };
    return a.spawning == b.spawning && a.inside == b.inside &&
           std::ranges::equal(a.tags, b.tags) &&
           std::ranges::equal(a.threads, b.threads, same_thread);
  }

  // Equal for states that are the same.
  static std::uint64_t hash(const Draft& draft) {
    std::uint64_t hash = (draft.spawning ? 1U : 0U) | (draft.inside << 1);
    for (const Thread& thread : draft.threads) {
      base::mix(hash, std::uint64_t{thread.obligations} << 32 | thread.pc);
    }
    for (std::int32_t tag : draft.tags) {
      base::mix(hash, static_cast<std::uint32_t>(tag));
    }
    return hash;
  }
};

void Automaton::Workspace::begin(std::size_t insts) {
  work.clear();
  pool.clear();
  seen.clear();
  entered.clear(insts);
}

void Automaton::PcSet::clear(std::size_t insts) {
  rounds_.resize(insts, 0);
  if (++round_ != 0) return;
  std::ranges::fill(rounds_, 0);
  round_ = 1;
}

bool Automaton::Workspace::enter(Pc pc, std::uint32_t obligations) {
  if (entered.has(pc)) return false;
  if (obligations == 0) {
    entered.insert(pc);
    return true;
  }
  return seen.insert((std::uint64_t{pc} << 32) | obligations).second;
}

Automaton::Automaton(Nfa nfa, std::size_t memory_limit)
    : nfa_(std::move(nfa)), memory_limit_(memory_limit) {
  obligations_.emplace_back();
}

Automaton::~Automaton() = default;

Result<std::shared_ptr<const Automaton>> Automaton::compile(
    const std::vector<PatternSpec>& patterns, const std::vector<Mark>& marks,
    const Limits& limits) {
  Result<Nfa> nfa = compile_nfa(patterns, marks, limits.pattern_states);
  if (!nfa) return nfa.error();
  std::shared_ptr<Automaton> automaton(
      new Automaton(std::move(*nfa), limits.automaton_bytes));
  for (const PatternSpec& pattern : patterns) {
    automaton->slots_of_.push_back(2 + 2 * pattern.groups.size());
  }
  return std::shared_ptr<const Automaton>(std::move(automaton));
}

std::size_t Automaton::memory_bytes() const {
  std::lock_guard lock(mutex_);
  return memory_ + nfa_.insts.size() * (sizeof(Inst) + 8) +
         nfa_.edges.size() * sizeof(Edge);
}

std::size_t Automaton::state_count() const {
  std::lock_guard lock(mutex_);
  return states_.size();
}

void Automaton::Draft::clear() {
  static_cast<StateFacts&>(*this) = {};
  threads.clear();
  tags.clear();
  moves = Moves::kNone;
  first = 0;
  sources.clear();
}

const State* Automaton::add_state(const Draft& draft,
                                  std::uint64_t hash) const {
  if (2 * (states_.size() + 1) > state_slots_.size()) {
    state_slots_.assign(std::max<std::size_t>(32, 2 * state_slots_.size()), 0);
    for (std::size_t i = 0; i < states_.size(); ++i) {
      place(states_[i]->hash, i);
    }
  }
  static_assert(sizeof(State) % alignof(std::atomic<Link>) == 0);
  void* memory = arena_.allocate(
      sizeof(State) + nfa_.class_count * sizeof(std::atomic<Link>),
      alignof(State));
  auto* state = new (memory) State;
  state->in_table = true;
  std::uninitialized_value_construct_n(state->links(), nfa_.class_count);
  static_cast<StateFacts&>(*state) = draft;
  state->threads = copy_to_arena<Thread>(draft.threads);
  state->tags = copy_to_arena<std::int32_t>(draft.tags);
  state->regular = !state->decided;
  state->literal = state->regular && is_literal(draft);
  state->hash = hash;
  states_.push_back(state);
  place(hash, states_.size() - 1);
  return state;
}

bool Automaton::is_literal(const Draft& draft) const {
  if (draft.first_start < 0) return false;
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < draft.threads.size(); ++t) {
    if (draft.tags[t * nfa_.slots] != draft.first_start) break;
    const Inst& inst = nfa_.insts[draft.threads[t].pc];
    if (inst.op != Op::kSymbols) continue;
    for (std::uint32_t i = 0; i < inst.count; ++i) {
      const Edge& edge = nfa_.edges[inst.first + i];
      bytes += edge.high - edge.low + 1;
    }
    if (bytes > kMostLiterals) return false;
  }
  return bytes > 0;
}

template <class T>
std::span<const T> Automaton::copy_to_arena(std::span<const T> from) const {
  if (from.empty()) return {};
  T* to = static_cast<T*>(arena_.allocate(from.size() * sizeof(T), alignof(T)));
  std::uninitialized_copy(from.begin(), from.end(), to);
  return {to, from.size()};
}

const Transition* Automaton::add_transition(const Draft& draft,
                                            const State* target) const {
  memory_ += sizeof(Transition) + 2 * draft.sources.size() + 16;
  void* memory = arena_.allocate(sizeof(Transition), alignof(Transition));
  return new (memory)
      Transition{.target = target,
                 .moves = draft.moves,
                 .first = draft.first,
                 .sources = copy_to_arena<std::uint16_t>(draft.sources)};
}

// REQUIRES: a slot of state_slots_ is free.
void Automaton::place(std::uint64_t hash, std::size_t index) const {
  const std::size_t mask = state_slots_.size() - 1;
  std::size_t at = hash & mask;
  while (state_slots_[at] != 0) at = (at + 1) & mask;
  state_slots_[at] = static_cast<std::uint32_t>(index + 1);
}

// The state of the table that equals `draft`, which is added if there is none;
// null when the table is full.
const State* Automaton::intern(const Draft& draft) const {
  const std::uint64_t hash = Builder::hash(draft);
  if (!state_slots_.empty()) {
    const std::size_t mask = state_slots_.size() - 1;
    for (std::size_t at = hash & mask; state_slots_[at] != 0;
         at = (at + 1) & mask) {
      const State& known = *states_[state_slots_[at] - 1];
      if (known.hash == hash && Builder::same(draft, known)) return &known;
    }
  }
  const std::size_t key = 4 + 8 * draft.threads.size() + 4 * draft.tags.size();
  const std::size_t bytes =
      2 * key + sizeof(State) + 64 + nfa_.class_count * sizeof(void*);
  if (memory_ + bytes > memory_limit_) return nullptr;
  memory_ += bytes;
  return add_state(draft, hash);
}

Link Automaton::step(const State* state, Symbol symbol,
                     Scratch& scratch) const {
  std::lock_guard lock(mutex_);
  Draft& draft = workspace_.draft;
  if (state->in_table) {
    if (const Link link = step_locked(*state, symbol); link != 0) return link;
  } else {
    Builder(*this).step(*state, symbol);
  }
  std::swap(scratch.draft, draft);
  const Draft& kept = scratch.draft;
  static_cast<StateFacts&>(scratch.state) = kept;
  scratch.state.threads = kept.threads;
  scratch.state.tags = kept.tags;
  scratch.transition = {&scratch.state, kept.moves, kept.first, kept.sources};
  return reinterpret_cast<Link>(&scratch.transition) | 1;
}

Link Automaton::step_locked(const State& state, Symbol symbol) const {
  std::atomic<Link>& entry = state.links()[nfa_.class_of[symbol]];
  Link link = entry.load(std::memory_order_acquire);
  if (link != 0) return link;
  const Draft& draft = Builder(*this).step(state, symbol);
  const State* interned = intern(draft);
  if (interned == nullptr) return 0;
  link = reinterpret_cast<Link>(interned);
  if (draft.moves != Moves::kNone) {
    link = reinterpret_cast<Link>(add_transition(draft, interned)) | 1;
  }
  entry.store(link, std::memory_order_release);
  return link;
}

void Automaton::accelerate(const State& state) const {
  std::lock_guard lock(mutex_);
  accelerate_locked(state);
}

void Automaton::accelerate_locked(const State& state) const {
  if (accelerators_.contains(&state)) return;
  const Accelerator::Bytes leaves = leaving_bytes(state);
  set_accelerator(
      state, std::make_unique<Accelerator>(leaves, find_run(state, leaves)));
}

void Automaton::accelerate_runs(const State& state) const {
  std::lock_guard lock(mutex_);
  if (accelerators_.contains(&state)) return;
  if (returning_bytes(state).empty()) return;
  const Accelerator::Bytes leaves = leaving_bytes(state);
  auto run = find_run(state, leaves);
  if (run == nullptr) return;
  set_accelerator(state, std::make_unique<Accelerator>(leaves, std::move(run)));
}

void Automaton::set_accelerator(
    const State& state, std::unique_ptr<Accelerator> accelerator) const {
  memory_ += sizeof(Accelerator) + 64;
  if (accelerator->run() != nullptr) memory_ += sizeof(Accelerator::Run) + 16;
  std::unique_ptr<Accelerator>& entry = accelerators_[&state];
  if (entry != nullptr) old_accelerators_.push_back(std::move(entry));
  entry = std::move(accelerator);
  if (entry->useful()) {
    state.accelerator.store(entry.get(), std::memory_order_release);
  }
}

// Whether `link` leads to another state, from which the table knows a way back
// that changes no position.
bool Automaton::returns_from(Link link, const State& state) const {
  if (link == 0) return false;
  const State* after = target_of(link);
  if (after == &state || !after->regular) return false;
  for (unsigned cls = 0; cls < nfa_.class_count; ++cls) {
    if (after->links()[cls].load(std::memory_order_acquire) ==
        reinterpret_cast<Link>(&state)) {
      return true;
    }
  }
  return false;
}

// One byte of each class that leads to another state, from which the table
// knows a way back.
std::vector<Symbol> Automaton::returning_bytes(const State& state) const {
  std::vector<Symbol> out;
  std::vector<bool> tried(nfa_.class_count);
  for (unsigned b = 0; b < 256; ++b) {
    const std::size_t cls = nfa_.class_of[b];
    if (tried[cls]) continue;
    tried[cls] = true;
    if (returns_from(state.links()[cls].load(std::memory_order_acquire),
                     state)) {
      out.push_back(static_cast<Symbol>(b));
    }
  }
  return out;
}

// The bytes that lead to another state or change a position.
Accelerator::Bytes Automaton::leaving_bytes(const State& state) const {
  const auto leaves_on = [&](Symbol symbol) {
    const Draft& draft = Builder(*this).step(state, symbol);
    return draft.moves != Moves::kNone || !Builder::same(draft, state);
  };
  // The bytes that some thread reads.  Every other byte ends all threads, so
  // one of them stands for all.  The end of a line counts as read if a pattern
  // asks for it.  Where a byte has a further effect (on the size of a
  // character, an obligation or a waiting match), each class is tried.
  std::array<bool, 256> read = {};
  bool reads_all = nfa_.matches_empty;
  for (const Thread& thread : state.threads) {
    const Inst& inst = nfa_.insts[thread.pc];
    if (inst.op == Op::kMatch || thread.obligations != 0) reads_all = true;
    for (std::uint32_t i = 0; i < inst.count && inst.op == Op::kSymbols; ++i) {
      const Edge& edge = nfa_.edges[inst.first + i];
      for (unsigned b = edge.low; b <= edge.high && b < read.size(); ++b) {
        read[b] = true;
      }
    }
  }
  read['\n'] = read['\n'] || nfa_.needs_line_start;
  Accelerator::Bytes leaves;
  std::vector<std::int8_t> known(nfa_.class_count, -1);
  std::int8_t unread = -1;  // for the symbols that no thread reads
  for (unsigned b = 0; b < 256; ++b) {
    std::int8_t& found =
        reads_all || read[b] ? known[nfa_.class_of[b]] : unread;
    if (found < 0) found = leaves_on(static_cast<Symbol>(b)) ? 1 : 0;
    leaves[b] = found == 1;
  }
  return leaves;
}

// The run of the first byte that has one, of those that searches have come back
// from: to try all bytes would build states that no text leads to.
std::unique_ptr<const Accelerator::Run> Automaton::find_run(
    const State& state, const Accelerator::Bytes& leaves) const {
  for (const Symbol first : returning_bytes(state)) {
    if (auto run = run_of(state, leaves, first)) return run;
  }
  return nullptr;
}

// The run that begins with `first`, if it is one.  After any text of bytes that
// do not leave and bytes of the run, the search is in `state`, or, if the text
// ends with bytes of the run, where `link` leads on the first of these: they
// stay there, no other byte brings anything back from there, and all positions
// of `state` are as they were.
std::unique_ptr<const Accelerator::Run> Automaton::run_of(
    const State& state, const Accelerator::Bytes& leaves, Symbol first) const {
  const auto sets_only_new = [&](const Transition& transition) {
    return transition.moves == Moves::kNone ||
           (transition.moves != Moves::kShift &&
            transition.first >= state.positions);
  };
  const auto transition_of = [](Link link) {
    return (link & 1) == 0
               ? Transition{.target = reinterpret_cast<const State*>(link)}
               : *reinterpret_cast<const Transition*>(link - 1);
  };
  const auto leads_to = [&](const State& from, Symbol symbol, const State& to) {
    return step_locked(from, symbol) == reinterpret_cast<Link>(&to);
  };
  Accelerator::Run run = {.link = step_locked(state, first)};
  if (run.link == 0) return nullptr;
  const Transition begins = transition_of(run.link);
  const State& after = *begins.target;
  if (&after == &state || !after.regular || !sets_only_new(begins) ||
      !leads_to(after, first, after)) {
    return nullptr;
  }
  for (unsigned b = 0; b < 256; ++b) {
    const auto symbol = static_cast<Symbol>(b);
    if (!leaves[b]) {
      if (!leads_to(after, symbol, state)) return nullptr;
      continue;
    }
    const Transition other = transition_of(step_locked(state, symbol));
    run.bytes[b] = other.target == &after && other.moves == begins.moves &&
                   std::ranges::equal(other.sources, begins.sources) &&
                   leads_to(after, symbol, after);
  }
  return std::make_unique<const Accelerator::Run>(run);
}

void Automaton::refine(const State& state) const {
  std::lock_guard lock(mutex_);
  const auto found = accelerators_.find(&state);
  if (found == accelerators_.end() || !found->second->to_be_refined()) return;
  if (found->second->run() != nullptr) return;
  const Accelerator::Bytes& leaves = found->second->leaves();
  if (auto run = find_run(state, leaves)) {
    set_accelerator(state,
                    std::make_unique<Accelerator>(leaves, std::move(run)));
  } else {
    refine_by_pair(state, *found->second);
  }
}

// The only byte that leaves `state` leads to a state of its own.  What counts
// is which bytes lead back from there, so that both together change nothing: a
// state without positions forgets where that one began.
void Automaton::refine_by_pair(const State& state,
                               const Accelerator& accelerator) const {
  const int stop = accelerator.only_stop();
  if (stop < 0 || state.positions != 0 || nfa_.matches_empty) return;
  const Link link =
      state.links()[nfa_.class_of[static_cast<std::size_t>(stop)]].load(
          std::memory_order_acquire);
  if (link == 0) return;
  const State* after = target_of(link);
  if (after->decided) return;
  std::vector<unsigned char> seconds;
  std::vector<std::int8_t> known(nfa_.class_count, -1);
  for (unsigned b = 0; b < 256; ++b) {
    std::int8_t& returns = known[nfa_.class_of[b]];
    if (returns < 0) {
      const Draft& draft = Builder(*this).step(*after, static_cast<Symbol>(b));
      returns = Builder::same(draft, state) ? 1 : 0;
    }
    if (returns != 0) continue;
    if (seconds.size() == Accelerator::kMostSeconds) return;
    seconds.push_back(static_cast<unsigned char>(b));
  }
  accelerator.refine(seconds);
}

std::size_t Path::follow(const char* data, std::size_t size) const {
  const std::size_t most = std::min(size, bytes.size());
  std::size_t i = 0;
  for (; i + 8 <= most; i += 8) {
    if (std::memcmp(data + i, &bytes[i], 8) != 0) break;
  }
  while (i < most && data[i] == bytes[i]) ++i;
  return i;
}

// Walks on from `state` as long as the table knows the way and the states are
// literal.  Invariant: `at` is the state after `count` bytes, and no position
// has changed on the way there.
void Automaton::lay_path(const State& state, const char* data,
                         std::size_t size) const {
  static const Path kNone = {};
  if (size < Path::kFewest) return;
  size = std::min(size, Path::kMost);
  std::array<const State*, Path::kMost> states;
  std::size_t count = 0;
  const State* at = &state;
  while (count < size && at->literal) {
    const Link link =
        at->links()[nfa_.class_of[static_cast<unsigned char>(data[count])]]
            .load(std::memory_order_acquire);
    if (link == 0) return;
    if ((link & 1) != 0 || link == reinterpret_cast<Link>(at)) break;
    at = reinterpret_cast<const State*>(link);
    states[count++] = at;
  }
  if (count < Path::kFewest) {
    if (state.tries.fetch_add(1, std::memory_order_relaxed) + 1 ==
        Path::kTries) {
      state.path.store(&kNone, std::memory_order_release);
    }
    return;
  }
  std::lock_guard lock(mutex_);
  const std::size_t bytes = sizeof(Path) + count * (1 + sizeof(State*)) + 16;
  if (state.path.load(std::memory_order_relaxed) != nullptr) return;
  if (memory_ + bytes > memory_limit_) {
    state.path.store(&kNone, std::memory_order_release);
    return;
  }
  memory_ += bytes;
  void* memory = arena_.allocate(sizeof(Path), alignof(Path));
  const auto* path = new (memory)
      Path{copy_to_arena(std::span<const char>(data, count)),
           copy_to_arena(std::span<const State* const>(states.data(), count))
               .data()};
  state.path.store(path, std::memory_order_release);
}

const State* Automaton::start(const Context& context) const {
  bool text_start = context.text_start && nfa_.needs_text_start;
  bool line_start = (context.text_start || context.line_start) &&
                    (nfa_.needs_line_start || text_start);
  bool plain = !text_start && !line_start && context.not_empty.empty();
  // Start states are cached for `not_empty` with no pattern and with all.
  const bool remembered = context.not_empty.empty() ||
                          context.not_empty.size() == nfa_.entries.size();
  std::atomic<const State*>& start =
      starts_[(text_start ? 1U : 0U) | (line_start ? 2U : 0U) |
              (context.not_empty.empty() ? 0U : 4U)];
  if (remembered) {
    const State* known = start.load(std::memory_order_acquire);
    if (known != nullptr) return known;
  }
  std::lock_guard lock(mutex_);
  Builder builder(*this);
  builder.text_start = text_start;
  builder.line_start = line_start;
  builder.spawn(&context.not_empty);
  Draft& draft = workspace_.draft;
  draft.clear();
  builder.finish(draft, true);
  const State* interned = intern(draft);
  // Start states are in the table even when it is full.
  if (interned == nullptr) interned = add_state(draft, Builder::hash(draft));
  if (plain && !interned->decided) accelerate_locked(*interned);
  if (remembered) start.store(interned, std::memory_order_release);
  return interned;
}

// ---------------------------------------------------------------------------

void Search::start(const Automaton* automaton, std::uint64_t position,
                   const Context& context) {
  automaton_ = automaton;
  state_ = automaton->start(context);
  position_ = position;
  decided_ = false;
  over_ = false;
}

void Search::move(const Transition* transition, std::uint64_t here) {
  const std::uint16_t* sources = transition->sources.data();
  std::size_t count = transition->sources.size();
  positions_.expect(count);
  if (transition->moves == Moves::kNone) return;
  if (transition->moves != Moves::kShift) {
    for (std::size_t i = transition->first; i < count; ++i) {
      if (sources[i] == kFromHere) positions_[i] = here;
    }
    return;
  }
  spare_.expect(count);
  for (std::size_t i = 0; i < count; ++i) {
    spare_[i] = sources[i] == kFromHere ? here : positions_[sources[i]];
  }
  for (std::size_t i = 0; i < count; ++i) positions_[i] = spare_[i];
}

// The transition on `symbol`, which is not in the table yet.  Two scratches
// take turns, because the state of the other one may be the current state.
Link Search::step(Symbol symbol) {
  auto& scratch = scratch_[scratch_turn_ ^= 1];
  if (scratch == nullptr) scratch = std::make_unique<Automaton::Scratch>();
  return automaton_->step(state_, symbol, *scratch);
}

// Reads bytes that change nothing, at most kAccelerateAfter of them; the first
// byte is such a byte.  Counts how many there were in a row.
std::size_t Search::stay(const State& state, std::string_view bytes) {
  const std::uint16_t* class_of = automaton_->nfa_.class_of.data();
  const std::atomic<Link>* links = state.links();
  const std::size_t stop =
      std::min<std::size_t>(bytes.size(), kAccelerateAfter);
  const unsigned before = stayed_;
  std::size_t i = 0;
  do {
    ++i;
  } while (i < stop &&
           links[class_of[static_cast<unsigned char>(bytes[i])]].load(
               std::memory_order_acquire) == reinterpret_cast<Link>(&state));
  stayed_ += static_cast<unsigned>(i);
  ++stays_;
  if (before < kAccelerateAfter && stayed_ >= kAccelerateAfter) {
    automaton_->accelerate(state);
  } else if (stays_ >= kRunsAfter && std::has_single_bit(stays_) &&
             !state.literal &&
             state.tries.fetch_add(1, std::memory_order_relaxed) < kRunTries) {
    automaton_->accelerate_runs(state);
  }
  return i;
}

// Invariant: `state` and positions_ are the state after the first i bytes.
// `state` is a copy of state_, because from one byte to the next the wait is
// for the next state, and a variable has it sooner than memory.
//
// Each iteration first jumps over bytes that leave the state as it is, if its
// accelerator is built; then it goes along the state's path, or reads one byte.
// A state that stays the same for kAccelerateAfter bytes has its accelerator
// built, and a literal state without a path is asked for one, so also where the
// text leaves the path of another.  An empty match is decided when the next
// byte arrives, any other once only matches are left.
std::size_t Search::run(std::string_view bytes) {
  if (decided_ || automaton_ == nullptr) return 0;
  const std::uint16_t* class_of = automaton_->nfa_.class_of.data();
  const char* const data = bytes.data();
  const std::size_t size = bytes.size();
  std::size_t i = 0;
  const std::uint64_t base = position_;
  const State* state = state_;
  const auto add = [&](unsigned char byte) {
    state_ = state;
    return step(byte);
  };
  while (true) {
    if (!state->regular && state->decided) {
      // Nothing has to follow a match that is not empty.
      decided_ = !state->decided_empty || i < size;
      break;
    }
    if (i == size) break;
    if (!state->regular) {
      state = follow(add(static_cast<unsigned char>(data[i])), base + i);
      ++i;
      continue;
    }
    const Accelerator* accelerator =
        state->accelerator.load(std::memory_order_acquire);
    if (accelerator != nullptr) {
      const std::size_t passed = accelerator->find(data + i, size - i);
      i += passed;
      if (const std::size_t run =
              accelerator->run_before(data + i - passed, passed);
          run > 0) {
        state = follow(accelerator->run()->link, base + i - run);
        continue;
      }
      if (i == size) break;
      if (++stopped_ == kRefineAfter) automaton_->refine(*state);
    } else if (state->literal) {
      const Path* path = state->path.load(std::memory_order_acquire);
      if (path == nullptr) {
        automaton_->lay_path(*state, data + i, size - i);
      } else if (const std::size_t count = path->follow(data + i, size - i);
                 count > 0) {
        stayed_ = 0;
        state = path->states[count - 1];
        i += count;
        continue;
      }
    }
    const auto byte = static_cast<unsigned char>(data[i]);
    const Link link =
        state->links()[class_of[byte]].load(std::memory_order_acquire);
    if (link != reinterpret_cast<Link>(state)) {
      stayed_ = 0;
      state = follow(link != 0 ? link : add(byte), base + i);
      ++i;
    } else {
      i += stay(*state, bytes.substr(i));
    }
  }
  state_ = state;
  position_ = base + i;
  return i;
}

bool Search::mark(Symbol symbol, std::size_t length) {
  if (decided_ || automaton_ == nullptr) return false;
  if (state_->decided_empty) {
    decided_ = true;
    return false;
  }
  Link link = known(symbol);
  state_ = follow(link != 0 ? link : step(symbol), position_);
  position_ += length;
  if (state_->decided && !state_->decided_empty) decided_ = true;
  return true;
}

void Search::finish() {
  if (decided_ || automaton_ == nullptr) return;
  if (state_->decided_empty) {
    decided_ = true;
    return;
  }
  Link link = known(kEnd);
  state_ = follow(link != 0 ? link : step(kEnd), position_);
  if (state_->decided) {
    decided_ = true;
  } else {
    over_ = true;
  }
}

// The threads with the first start are all matches.  The longest of them wins;
// among equally long ones, the one of the lowest pattern.
template <class Groups>
void Search::match(MatchWith<Groups>& out) const {
  assert(decided_);
  std::size_t slots = automaton_->nfa_.slots;
  auto value = [&](std::int32_t tag) {
    return tag == kUnset ? kNoPosition
           : tag == kNow ? position_
                         : positions_[static_cast<std::size_t>(tag)];
  };
  const std::int32_t* best = nullptr;
  for (std::size_t t = 0; t < state_->threads.size(); ++t) {
    const std::int32_t* tags = &state_->tags[t * slots];
    if (tags[0] != state_->first_start) break;
    std::uint32_t pattern = automaton_->nfa_.pattern_of[state_->threads[t].pc];
    std::uint64_t end = value(tags[1]);
    if (best == nullptr || end > out.end ||
        (end == out.end && pattern < out.pattern)) {
      best = tags;
      out.pattern = pattern;
      out.end = end;
    }
  }
  out.begin = value(best[0]);
  out.groups.clear();
  for (std::size_t s = 2; s < automaton_->slots_of_[out.pattern]; s += 2) {
    std::uint64_t begin = value(best[s]);
    std::uint64_t end = value(best[s + 1]);
    if (begin == kNoPosition || end == kNoPosition) begin = end = kNoPosition;
    out.groups.emplace_back(begin, end);
  }
}

template void Search::match(Match& out) const;
template void Search::match(BriefMatch& out) const;

}  // namespace parlance::automata
