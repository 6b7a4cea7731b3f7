// Reports on the threads to callers: the preferred parse, what may come next,
// pending bytes; and the compaction of the history.  See pike_vm.h.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/writer.h"
#include "tag_parser/pike_vm.h"

namespace parlance::tag_parser {
namespace {

constexpr std::size_t kShown = 6;

// Spellings of the paths from `state` to triggers, at most kShown + 1 of them.
std::vector<std::string> rests(const TagProgram& program,
                               const automata::AhoCorasick& automaton,
                               std::uint32_t state) {
  std::vector<std::string> out;
  std::vector<std::pair<std::uint32_t, std::string>> open = {{state, {}}};
  while (!open.empty() && out.size() <= kShown) {
    const auto [at, read] = std::move(open.back());
    open.pop_back();
    const auto& here = automaton.at(at);
    if (here.excluded) continue;
    if (!here.calls.empty()) {
      out.push_back(read);
      continue;
    }
    for (auto next = here.next.rbegin(); next != here.next.rend(); ++next) {
      const std::uint32_t to = automaton.step(at, next->first);
      if (to == automata::AhoCorasick::kRefused) continue;
      open.emplace_back(to, read);
      open.back().second += spelling(program.marks.get(), next->first);
    }
  }
  return out;
}

}  // namespace

std::span<const Thread> PikeVm::waiting() {
  find_closure();
  return waiting_;
}

const Thread& PikeVm::preferred() {
  find_closure();
  for (const Thread& thread : waiting_) {
    if (program_.code[thread.state.pc].op == Op::kAccept) return thread;
  }
  return waiting_.front();
}

const Thread& PikeVm::preferred_of_cut() {
  if (can_end()) return preferred();
  for (const Thread& thread : waiting_) {
    const Instruction& at = program_.code[thread.state.pc];
    if (at.op != Op::kLiteral) return thread;
    const std::string_view read = std::string_view(program_.texts[at.index])
                                      .substr(0, thread.state.literal_offset());
    if (read.find_first_not_of(" \t\r\n") == read.npos) return thread;
  }
  return preferred();
}

bool PikeVm::can_end() {
  return program_.code[preferred().state.pc].op == Op::kAccept;
}

// --- What is certain ---------------------------------------------------------

std::uint32_t PikeVm::pending(const Thread& thread) const {
  const Instruction& at = program_.code[thread.state.pc];
  if (at.op != Op::kTextToTrigger) return 0;
  const FreeText& text = program_.free_texts[at.index];
  return text.pending[text.automaton.node_of(thread.state.text_node())];
}

// Whether the closure of a thread is the thread itself.
bool PikeVm::waits_alone(const Thread& thread) {
  if (!thread.state.entered) return false;
  const Instruction& at = program_.code[thread.state.pc];
  switch (at.op) {
    case Op::kLiteral:
    case Op::kTextToTrigger:
      return true;
    case Op::kRecogniser:
      return !recogniser(at).can_end(thread.state.configuration());
    default:
      return false;
  }
}

// Whether the closure of the kernel is the kernel.
bool PikeVm::all_wait_alone() {
  return kernel_.size() <= kFewParses &&
         std::all_of(kernel_.begin(), kernel_.end(),
                     [&](const Thread& thread) { return waits_alone(thread); });
}

// Finds, for each thread of the kernel, how many bytes before the position are
// read in another way by some thread of its closure: bytes that may become a
// trigger, or bytes after the first step that the closure adds.  This depends
// on the states of the kernel only.
//
// The closure adds its steps after all others, so the first step that it adds
// is the oldest node of the history that is new.  Returns false if a thread of
// the kernel does not wait, which is where a preferred thread has its state.
bool PikeVm::find_uncertain(AcceleratedStates& out) {
  waiting_.clear();
  seen_.clear();
  has_closure_ = true;
  out.certainty = AcceleratedStates::kUnavailable;
  out.uncertain.assign(kernel_.size(), 0);
  const HistoryId first_new = history_.next_id();
  bool all_wait = true;
  for (std::size_t i = 0; i < kernel_.size(); ++i) {
    const Thread& thread = kernel_[i];
    const std::size_t begin = waiting_.size();
    close_thread(thread);
    bool waits = false;
    for (std::size_t j = begin; j < waiting_.size(); ++j) {
      HistoryId at = waiting_[j].history;
      std::uint64_t bytes = 0;
      if (at < first_new) {
        waits = waits || waiting_[j].state == thread.state;
        bytes = pending(waiting_[j]);
      } else {
        while (history_.parent(at) >= first_new) at = history_.parent(at);
        bytes = position_ - history_[at].position;
      }
      out.uncertain[i] =
          std::max(out.uncertain[i], static_cast<std::uint32_t>(bytes));
    }
    all_wait = all_wait && waits;
  }
  if (all_wait) out.certainty = AcceleratedStates::kKnown;
  return all_wait;
}

PikeVm::Certain PikeVm::certain_of_closure() {
  find_closure();
  return certain_of(waiting_);
}

// The last step that all threads have in common; and the text up to the first
// position at which one of them has another step, or may be in a trigger.
// REQUIRES: `threads` are all that wait.
PikeVm::Certain PikeVm::certain_of(std::span<const Thread> threads) const {
  Certain out{threads.front().history, position_};
  for (const Thread& thread : threads) {
    out.step = history_.common_ancestor(out.step, thread.history);
  }
  for (const Thread& thread : threads) {
    out.end = std::min(
        out.end,
        thread.history == out.step
            ? position_ - pending(thread)
            : history_[history_.child_towards(out.step, thread.history)]
                  .position);
  }
  return out;
}

// The closure is needed only where it is neither the kernel itself nor that of
// known states.  In both cases every thread of the kernel waits, so the steps
// that all waiting threads have in common are those that the kernel has in
// common.
PikeVm::Certain PikeVm::certain() {
  if (has_closure_ || !limits_.fast) return certain_of_closure();
  if (kernel_.size() == 1 && waits_alone(kernel_.front())) {
    return {kernel_.front().history, position_ - pending(kernel_.front())};
  }
  if (kernel_.size() > 1 && all_wait_alone()) return certain_of(kernel_);
  if (current_ == kNotAccelerated) current_ = find_accelerated();
  if (current_ == kNotAccelerated) return certain_of_closure();
  AcceleratedStates& known = accelerated_[current_];
  if (known.certainty == AcceleratedStates::kUnknown) find_uncertain(known);
  if (known.certainty == AcceleratedStates::kUnavailable) {
    return certain_of_closure();
  }
  if (kernel_.size() == 1) {
    return {kernel_.front().history, position_ - known.uncertain.front()};
  }
  Certain out{kernel_.front().history, position_};
  for (const Thread& thread : kernel_) {
    out.step = history_.common_ancestor(out.step, thread.history);
  }
  for (std::size_t i = 0; i < kernel_.size(); ++i) {
    const HistoryId history = kernel_[i].history;
    out.end = std::min(
        out.end,
        history == out.step
            ? position_ - known.uncertain[i]
            : history_[history_.child_towards(out.step, history)].position);
  }
  return out;
}

// As certain(): the closure of a thread has the thread's steps and text, up to
// what is uncertain.
void PikeVm::open_parses(std::vector<OpenParse>& out) {
  out.clear();
  if (!has_closure_ && limits_.fast && all_wait_alone()) {
    for (const Thread& thread : kernel_) {
      out.push_back({thread.history, position_ - pending(thread)});
    }
    return;
  }
  if (limits_.fast && current_ != kNotAccelerated &&
      accelerated_[current_].certainty == AcceleratedStates::kKnown) {
    const std::vector<std::uint32_t>& uncertain =
        accelerated_[current_].uncertain;
    for (std::size_t i = 0; i < kernel_.size(); ++i) {
      out.push_back({kernel_[i].history, position_ - uncertain[i]});
    }
    return;
  }
  find_closure();
  for (const Thread& thread : waiting_) {
    out.push_back({thread.history, position_ - pending(thread)});
  }
}

HistoryId PikeVm::compact_history(HistoryId step) {
  if (!has_closure_) waiting_.clear();
  history_.begin_compaction(step);
  for (const auto* threads : {&kernel_, &waiting_}) {
    for (const Thread& thread : *threads) history_.mark(thread.history);
  }
  history_.compact();
  for (auto* threads : {&kernel_, &waiting_}) {
    for (Thread& thread : *threads) {
      thread.history = history_.new_id(thread.history);
    }
  }
  history_threshold_ = std::max<std::size_t>(4096, 2 * history_.bytes());
  if (counts_.size() > counts_threshold_) compact_counts();
  character_position_ = kNoPosition;
  return HistoryId{0};
}

bool PikeVm::rewind_character(std::uint64_t position) {
  if (character_position_ != position) return false;
  // The kernel before the character is not stored; its closure serves as both
  // lists.
  kernel_.assign(character_.begin(), character_.end());
  waiting_.assign(character_.begin(), character_.end());
  has_closure_ = true;
  current_ = kNotAccelerated;
  position_ = position;
  return true;
}

bool PikeVm::out_of_memory() {
  for (const Thread& thread : waiting()) {
    const Instruction& at = program_.code[thread.state.pc];
    if (at.op == Op::kRecogniser && recogniser(at).overflowed()) {
      return true;
    }
  }
  return false;
}

// Collects what each waiting thread can read next, in the order of preference
// and without repetitions, and joins the first kShown entries.
std::string PikeVm::expected() {
  find_closure();
  std::vector<std::string> ways;
  const auto add_expected = [&](std::string way) {
    if (std::find(ways.begin(), ways.end(), way) == ways.end()) {
      ways.push_back(std::move(way));
    }
  };
  // After a mark, only the rest of its trigger may come.
  const auto add_text = [&](const FreeText& text, std::uint32_t node) {
    if (text.automaton.may_end(node)) return add_expected("text");
    for (std::string& way : rests(program_, text.automaton, node)) {
      add_expected(json::quoted(way));
    }
  };
  for (const Thread& thread : waiting_) {
    const Instruction& at = program_.code[thread.state.pc];
    if (at.layout) continue;
    switch (at.op) {
      case Op::kLiteral:
        add_expected(json::quoted(std::string_view(program_.texts[at.index])
                                      .substr(thread.state.literal_offset())));
        break;
      case Op::kText:
      case Op::kTextToTrigger:
        add_text(program_.free_texts[at.index], thread.state.text_node());
        break;
      case Op::kRecogniser:
        add_expected(recogniser(at).expected(thread.state.configuration()));
        break;
      case Op::kToken: {
        const TokenSet& set = program_.token_sets[at.index];
        if (!set.spelling.empty()) {
          add_expected(json::quoted(set.spelling));
        } else {
          add_expected(set.negated
                           ? "another token"
                           : "token " + std::to_string(set.ids.front()));
        }
        break;
      }
      case Op::kTokens:
      case Op::kTokensLast:
      case Op::kTokensToTrigger:
        add_expected("tokens");
        break;
      default:
        add_expected("the end");
        break;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < ways.size() && i < kShown; ++i) {
    if (i > 0) out += i + 1 == ways.size() ? " or " : ", ";
    out += ways[i];
  }
  if (ways.size() > kShown) out += ", ...";
  return out;
}

std::string PikeVm::spelled_marker(std::uint8_t byte) {
  find_closure();
  for (const Thread& thread : waiting_) {
    const Instruction& at = program_.code[thread.state.pc];
    if (at.op != Op::kText && at.op != Op::kTextToTrigger) continue;
    const FreeText& text = program_.free_texts[at.index];
    std::uint32_t node = text.automaton.step(thread.state.text_node(), byte);
    if (node == automata::AhoCorasick::kRefused) continue;
    node = text.automaton.node_of(node);
    for (; node != 0; node = text.automaton.nodes[node].fail) {
      for (const auto& [end, marker] : text.spelled) {
        if (end == node) return marker;
      }
    }
  }
  return "";
}

}  // namespace parlance::tag_parser
