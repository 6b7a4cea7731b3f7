// Threads and what they do; see pike_vm.h.  AcceleratedStates is in
// pike_vm_skip.cc, what is said of them in pike_vm_report.cc.

#include "tag_parser/pike_vm.h"

#include <algorithm>

#include "automata/char_step.h"

namespace parlance::tag_parser {

PikeVm::PikeVm(const TagProgram& program, const Limits& limits)
    : program_(program),
      limits_(limits),
      recognisers_(program.recognisers.size()) {
  history_threshold_ = 4096;
  kernel_.push_back({{program.start, 0, false, {}}, 0, 0});
}

// --- Memory ------------------------------------------------------------------

void PikeVm::replace_full_recognisers() {
  release();
  if (!full_) return;
  full_ = false;
  for (std::size_t i = 0; i < recognisers_.size(); ++i) {
    const std::shared_ptr<recogniser::Recogniser> before = recognisers_[i];
    if (before == nullptr || !before->adopts()) continue;
    const recogniser::Recogniser::Lock lock(*before);
    if (!before->full()) continue;
    recognisers_[i] = before->fresh(/*same_parts=*/true);
    const recogniser::Recogniser::Lock after(*recognisers_[i]);
    for (std::vector<Thread>* threads : {&kernel_, &waiting_, &character_}) {
      for (Thread& thread : *threads) {
        const Instruction& at = program_.code[thread.state.pc];
        if (!thread.state.entered || at.op != Op::kRecogniser ||
            at.index != i) {
          continue;
        }
        thread.state.at = recognisers_[i]->adopt(*before, thread.state.at);
      }
    }
  }
}

// --- What follows without reading --------------------------------------------

void PikeVm::find_closure() {
  if (has_closure_) return;
  has_closure_ = true;
  waiting_.clear();
  seen_.clear();
  for (const Thread& thread : kernel_) {
    work_.push_back({thread});
    while (!work_.empty()) {
      Work work = work_.back();
      work_.pop_back();
      while (follow(work)) {
      }
    }
  }
}

// Whether there is a way on, which `work` then is; others wait in work_.
bool PikeVm::follow(Work& work) {
  State& state = work.thread.state;
  if (work.waits) {
    add_waiting(work.thread);
    return false;
  }
  if (state.entered) return wait_or_leave(work);
  const Instruction& at = program_.code[state.pc];
  if (at.joins) {
    // Whether the way here has read anything is a part of the state.
    State way = state;
    way.at.lex = work.empty_loop;
    if (!seen_.insert(way)) return false;
  }
  const auto step = [&](ParseStep::Kind kind) {
    const std::uint32_t back = at.back == kTokenBack ? token_bytes_ : at.back;
    work.thread.history =
        history_.add(work.thread.history, {position_ - back, at.index, kind});
    return continue_at(work, at.next);
  };
  switch (at.op) {
    case Op::kEnter:
      return step(ParseStep::Kind::kEnter);
    case Op::kLeave:
      return step(ParseStep::Kind::kLeave);
    case Op::kRule:
      return step(ParseStep::Kind::kRule);
    case Op::kFork: {
      const std::vector<Pc>& ways = program_.forks[at.index];
      if (ways.empty()) return false;
      for (std::size_t i = ways.size(); i-- > 1;) push(work, ways[i]);
      return continue_at(work, ways.front());
    }
    case Op::kIterate:
      work.empty_loop = std::min(work.empty_loop, at.index);
      return continue_at(work, at.next);
    case Op::kIterateEnd:
      if (work.empty_loop > at.index) return continue_at(work, at.next);
      if (work.empty_loop < at.index && at.other != kNoPc) {
        return continue_at(work, at.other);
      }
      return false;
    case Op::kCountFrom:
      state.counts = with_count(state.counts, 0);
      return continue_at(work, at.next);
    case Op::kCountTest: {
      const std::vector<Pc>& ways = program_.forks[at.index];
      const std::uint32_t count = count_of(state.counts);
      if (count >= at.min) push(work, ways[1]);
      return count < at.max && continue_at(work, ways[0]);
    }
    case Op::kCountNext: {
      std::uint32_t count = count_of(state.counts) + 1;
      if (at.max == kUnbounded) count = std::min(count, at.min);
      state.counts = with_count(counts_[state.counts].first, count);
      return continue_at(work, at.next);
    }
    case Op::kCountEnd:
      state.counts = counts_[state.counts].first;
      return continue_at(work, at.next);
    default:
      enter_instruction(state);
      return wait_or_leave(work);
  }
}

// At an instruction that reads, in front of its text.
void PikeVm::enter_instruction(State& state) {
  const Instruction& at = program_.code[state.pc];
  state.entered = true;
  switch (at.op) {
    case Op::kLiteral:
      state.at.lex = at.offset;
      break;
    case Op::kText:
    case Op::kTextToTrigger:
      state.at = {0, 0, at.max, at.max_tokens};
      break;
    case Op::kRecogniser:
      state.at = recogniser(at).start();
      break;
    case Op::kTokens:
      state.at.count = at.max;
      break;
    default:
      break;
  }
}

bool PikeVm::wait_or_leave(Work& work) {
  const State& state = work.thread.state;
  const Instruction& at = program_.code[state.pc];
  const auto wait_last = [&] {
    work_.push_back(work);
    work_.back().waits = true;
  };
  switch (at.op) {
    case Op::kText:
      if (state.at.frame != 0) break;
      if (state.at.count != 0 && state.at.extra != 0) wait_last();
      return continue_at(work, at.next);
    case Op::kTokens:
      if (state.at.count != 0) wait_last();
      return continue_at(work, at.next);
    case Op::kTokensLast:
      wait_last();
      return continue_at(work, at.next);
    case Op::kRecogniser:
      add_waiting(work.thread);
      return recogniser(at).can_end(state.at) && continue_at(work, at.next);
    default:
      break;
  }
  add_waiting(work.thread);
  return false;
}

void PikeVm::add_waiting(const Thread& thread) {
  if (!seen_.insert(thread.state)) return;
  waiting_.push_back(thread);
}

// --- Reading -----------------------------------------------------------------

void PikeVm::add(const Thread& thread) {
  if (seen_.insert(thread.state)) next_.push_back(thread);
}

void PikeVm::add_at(const Thread& thread, Pc next) {
  Thread arrived = thread;
  arrived.state = {next, thread.state.counts, false, {}};
  add(arrived);
}

void PikeVm::scan(const Thread& thread, std::uint8_t byte) {
  const Instruction& at = program_.code[thread.state.pc];
  switch (at.op) {
    case Op::kLiteral: {
      const std::string& text = program_.texts[at.index];
      const std::uint32_t offset = thread.state.at.lex;
      if (static_cast<std::uint8_t>(text[offset]) != byte) return;
      if (offset + 1 == text.size()) return add_at(thread, at.next);
      Thread next = thread;
      ++next.state.at.lex;
      return add(next);
    }
    case Op::kText:
    case Op::kTextToTrigger:
      return scan_text(thread, at, byte);
    case Op::kRecogniser: {
      Thread next = thread;
      next.state.at = recogniser(at).step(thread.state.at, byte);
      if (!next.state.at.dead()) add(next);
      return;
    }
    default:
      return;
  }
}

void PikeVm::scan_text(const Thread& thread, const Instruction& at,
                       std::uint8_t byte) {
  Thread next = thread;
  recogniser::Configuration& config = next.state.at;
  if (config.frame == 0 && config.count != kUnbounded) --config.count;
  if ((config.frame != 0 || byte >= 0x80) &&
      automata::read_char(automata::any_character(), byte, config.frame) ==
          automata::CharStep::kNo) {
    return;
  }
  enter_node(next, at,
             program_.free_texts[at.index].automaton.step(config.lex, byte));
}

// Free text has come to `to`.
void PikeVm::enter_node(Thread& next, const Instruction& at, std::uint32_t to) {
  if (to == automata::AhoCorasick::kRefused) return;
  const FreeText& text = program_.free_texts[at.index];
  const auto& node = text.automaton.nodes[to];
  if (node.excluded) return;
  next.state.at.lex = to;
  if (node.calls.empty()) return add(next);
  if (at.op == Op::kText) return;
  for (const std::uint32_t call : node.calls) {
    for (const Pc target : text.targets[call]) add_at(next, target);
  }
}

// Makes `next` the threads behind what was read, if there are any and not too
// many.
bool PikeVm::adopt(std::vector<Thread>& next) {
  if (next.empty()) return false;
  if (next.size() > limits_.threads || history_.bytes() > limits_.bytes) {
    overflowed_ = true;
    return false;
  }
  kernel_.swap(next);
  has_closure_ = false;
  return true;
}

bool PikeVm::step(std::uint8_t byte) {
  find_closure();
  if (waiting_.size() > limits_.threads + program_.code.size()) {
    overflowed_ = true;
    return false;
  }
  next_.clear();
  seen_.clear();
  for (const Thread& thread : waiting_) scan(thread, byte);
  if (!adopt(next_)) return false;
  if (byte >= 0xC0) {
    character_.swap(waiting_);
    character_position_ = position_;
  }
  ++position_;
  return true;
}

std::size_t PikeVm::feed(std::string_view bytes) {
  std::size_t at = 0;
  paused_ = false;
  while (at < bytes.size()) {
    if (wants_compaction() &&
        (static_cast<std::uint8_t>(bytes[at]) & 0xC0) != 0x80 && at > 0) {
      paused_ = true;
      break;
    }
    current_ = kNotAccelerated;
    at += skip(bytes.substr(at));
    if (at == bytes.size()) break;
    if (!in_token_ && (full_ || (locked_ != nullptr && locked_->full()))) {
      replace_full_recognisers();
    }
    const auto byte = static_cast<std::uint8_t>(bytes[at]);
    if (!step(byte)) break;
    learn_move(byte);
    ++at;
  }
  return at;
}

// --- Tokens ------------------------------------------------------------------

void PikeVm::scan_token(const Thread& thread, const Token& token) {
  const Instruction& at = program_.code[thread.state.pc];
  const TokenId id = token.id;
  switch (at.op) {
    case Op::kText:
      // A mark leads to a trigger, and this is the last text.
      return;
    case Op::kTextToTrigger: {
      if (token.mark == kNoMark || thread.state.at.frame != 0) return;
      Thread next = thread;
      const auto& automaton = program_.free_texts[at.index].automaton;
      return enter_node(next, at,
                        automaton.step(thread.state.at.lex,
                                       automata::mark_symbol(token.mark)));
    }
    case Op::kToken: {
      const TokenSet& set = program_.token_sets[at.index];
      if (set.negated && !token.is_any) return;
      if (set.contains(id)) add_at(thread, at.next);
      return;
    }
    case Op::kTokens: {
      if (!token.is_any || !program_.token_sets[at.index].contains(id)) return;
      Thread next = thread;
      if (next.state.at.count != kUnbounded) --next.state.at.count;
      return add(next);
    }
    case Op::kTokensLast:
    case Op::kTokensToTrigger: {
      const TokenText& text = program_.token_texts[at.index];
      if (std::binary_search(text.excludes.begin(), text.excludes.end(), id)) {
        return;
      }
      const auto found = text.targets.find(id);
      if (found == text.targets.end()) {
        if (token.is_any) add(thread);
        return;
      }
      if (at.op == Op::kTokensLast) return;
      for (const Pc target : found->second) add_at(thread, target);
      return;
    }
    default:
      return;
  }
}

// Reads the bytes of a token, by the threads that may read it so.  A failure
// leaves the threads as they were at that byte.
void PikeVm::read_bytes(const Token& token, std::size_t& read) {
  if (!token.is_text || token.text.empty()) return;
  if (token.mark != kNoMark) {
    std::erase_if(waiting_, [&](const Thread& thread) {
      const Op op = program_.code[thread.state.pc].op;
      return op == Op::kText || op == Op::kTextToTrigger;
    });
  }
  if (waiting_.empty() ||
      !step(static_cast<std::uint8_t>(token.text.front()))) {
    return;
  }
  read = 1;
  do {
    read += feed(token.text.substr(read));
  } while (paused_);
}

// Both ways of reading a token are followed, in the order of the threads that
// waited for it.
bool PikeVm::feed_token(const Token& token, std::size_t& read) {
  const std::string_view bytes = token.text;
  read = 0;
  if (token.is_text && !program_.has_tokens && !token.is_named) {
    do {
      read += feed(bytes.substr(read));
    } while (paused_);
    if (read != bytes.size()) return false;
    if (program_.has_budgets) spend_token();
    return true;
  }
  if (full_ || (locked_ != nullptr && locked_->full()))
    replace_full_recognisers();
  find_closure();
  const std::vector<Thread> before = waiting_;
  const std::uint64_t begin = position_;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    waiting_[i].origin = static_cast<std::uint32_t>(i);
  }
  in_token_ = true;
  read_bytes(token, read);
  in_token_ = false;
  if (overflowed_) return false;
  const bool whole = token.is_text && read == bytes.size();
  std::vector<Thread> by_bytes;
  if (whole) by_bytes = bytes.empty() ? before : kernel_;
  merge(token, before, std::move(by_bytes));
  if (!adopt(next_)) {
    // Its bytes did not fit, or fitted where it must not come.
    if (read == 0 || whole) {
      waiting_ = before;
      has_closure_ = true;
      position_ = begin;
      character_position_ = kNowhereYet;
    }
    return false;
  }
  position_ += bytes.size() - read;
  read = bytes.size();
  token_bytes_ = static_cast<std::uint32_t>(bytes.size());
  spend_token();
  return true;
}

// Puts what a token leads to into next_: from where its bytes have led and from
// the states that read it by its id.
void PikeVm::merge(const Token& token, const std::vector<Thread>& before,
                   std::vector<Thread> by_bytes) {
  std::size_t done = 0;
  seen_.clear();
  next_.clear();
  const auto pass = [&](std::size_t origin) {
    while (done < by_bytes.size() && by_bytes[done].origin <= origin) {
      add(by_bytes[done++]);
    }
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    Thread thread = before[i];
    thread.origin = static_cast<std::uint32_t>(i);
    const Instruction& at = program_.code[thread.state.pc];
    if (at.op == Op::kRecogniser &&
        (program_.recognisers[at.index].reads_tokens ||
         program_.recognisers[at.index].reads_marks)) {
      // It goes on by both at once, or not even by its bytes.
      recogniser::Configuration config;
      std::size_t same = done;
      while (same < by_bytes.size() && by_bytes[same].origin <= i) {
        const Thread& other = by_bytes[same];
        if (other.origin == i && other.history == thread.history &&
            other.state.entered && other.state.pc == thread.state.pc) {
          config = other.state.at;
          break;
        }
        ++same;
      }
      config = recogniser(at).step_token(thread.state.at, config, token.id);
      if (!config.dead()) {
        thread.state.at = config;
        if (same < by_bytes.size() && by_bytes[same].origin == i) {
          by_bytes[same] = thread;
        } else {
          add(thread);
        }
      } else if (token.mark != kNoMark) {
        std::erase_if(by_bytes, [&](const Thread& other) {
          return other.origin == i && other.state.entered &&
                 other.state.pc == thread.state.pc;
        });
      }
    } else {
      scan_token(thread, token);
    }
    pass(i);
  }
}

void PikeVm::spend_token() {
  for (Thread& thread : kernel_) {
    State& state = thread.state;
    if (!state.entered || program_.code[state.pc].op != Op::kText) continue;
    if (state.at.extra != kUnbounded && state.at.extra != 0) {
      --state.at.extra;
      has_closure_ = false;
    }
  }
}

// --- Going on behind what does not fit ---------------------------------------

void PikeVm::resume(std::span<const Pc> starts, std::uint32_t counts,
                    HistoryId history, std::uint64_t position,
                    std::size_t token_bytes) {
  kernel_.clear();
  for (const Pc start : starts) {
    kernel_.push_back({{start, counts, false, {}}, history, 0});
  }
  has_closure_ = false;
  paused_ = false;
  position_ = position;
  token_bytes_ = static_cast<std::uint32_t>(token_bytes);
  current_ = kNotAccelerated;
  character_position_ = kNowhereYet;
}

std::uint32_t PikeVm::outer_counts(const Thread& thread,
                                   std::uint32_t depth) const {
  std::uint32_t levels = 0;
  for (std::uint32_t id = thread.state.counts; id != 0;
       id = counts_[id].first) {
    ++levels;
  }
  std::uint32_t out = thread.state.counts;
  for (; levels > depth; --levels) out = counts_[out].first;
  return out;
}

// --- Counts ------------------------------------------------------------------

std::uint32_t PikeVm::count_of(std::uint32_t counts) const {
  return counts_[counts].second;
}

std::uint32_t PikeVm::with_count(std::uint32_t around, std::uint32_t count) {
  const auto [known, added] =
      count_ids_.try_emplace(std::uint64_t{around} << 32 | count,
                             static_cast<std::uint32_t>(counts_.size()));
  if (added) counts_.emplace_back(around, count);
  return known->second;
}

// Drops counts that no thread has any more.
void PikeVm::compact_counts() {
  std::vector<bool> kept(counts_.size(), false);
  for (const auto* threads : {&kernel_, &waiting_}) {
    for (const Thread& thread : *threads) {
      for (std::uint32_t id = thread.state.counts; id != 0 && !kept[id];
           id = counts_[id].first) {
        kept[id] = true;
      }
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> old;
  old.swap(counts_);
  count_ids_.clear();
  counts_.emplace_back(0, 0);
  std::vector<std::uint32_t> renumbered(old.size(), 0);
  // What is around a count came before it.
  for (std::uint32_t id = 1; id < old.size(); ++id) {
    if (!kept[id]) continue;
    renumbered[id] = with_count(renumbered[old[id].first], old[id].second);
  }
  for (auto* threads : {&kernel_, &waiting_}) {
    for (Thread& thread : *threads) {
      thread.state.counts = renumbered[thread.state.counts];
    }
  }
  accelerated_.clear();
  counts_threshold_ = std::max<std::size_t>(1024, 2 * counts_.size());
}

}  // namespace parlance::tag_parser
