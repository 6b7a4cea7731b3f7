// Skips bytes that change no thread of the VM (pike_vm.h).
//
// skip() reads bytes whose effect is known, in one of three situations:
//
//   skip_literal()     The only thread is inside a literal.
//   skip_text()        All threads of the kernel are in free text.  A table has
//                      the effect of each byte on them (AcceleratedStates).
//   skip_recogniser()  The only thread, or all as one, are inside a recogniser,
//                      which cannot end yet.  The recogniser steps; no closure
//                      is computed.
//
// feed_certain() does the same for a whole token, where no closure is needed to
// know that all of it is certain.
//
// A byte that is not skipped is read by step(), and learn_move() then adds what
// it did to the table.

#include <algorithm>

#include "base/byte_set.h"
#include "base/white_space.h"
#include "tag_parser/pike_vm.h"

namespace parlance::tag_parser {
namespace {

constexpr std::size_t kMaxAccelerated = 64;

// The size of the character of more than one byte that `text` begins with; 0 if
// it is not valid UTF-8 or not complete.  base::next_character() returns more
// and takes half as long again, which is noticeable in texts beyond ASCII.
std::size_t character(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return static_cast<std::uint8_t>(text[i]);
  };
  const auto tail = [&](std::size_t i) { return (at(i) & 0xC0) == 0x80; };
  const std::uint8_t lead = at(0);
  if (lead < 0xE0) return text.size() >= 2 && tail(1) ? 2 : 0;
  if (lead < 0xF0) {
    if (text.size() < 3 || !tail(1) || !tail(2)) return 0;
    if (lead == 0xE0 && at(1) < 0xA0) return 0;
    return lead == 0xED && at(1) >= 0xA0 ? 0 : 3;
  }
  if (text.size() < 4 || !tail(1) || !tail(2) || !tail(3)) return 0;
  if (lead == 0xF0 && at(1) < 0x90) return 0;
  return lead == 0xF4 && at(1) >= 0x90 ? 0 : 4;
}

}  // namespace

std::size_t PikeVm::skip(std::string_view bytes) {
  const State& first = kernel_.front().state;
  if (!first.entered || !limits_.fast) return 0;
  switch (program_.code[first.pc].op) {
    case Op::kLiteral:
      return kernel_.size() == 1 ? skip_literal(bytes) : 0;
    case Op::kRecogniser:
      return kernel_.size() == 1 || reads_as_one() ? skip_recogniser(bytes) : 0;
    case Op::kText:
    case Op::kTextToTrigger:
      return skip_text(bytes);
    default:
      return 0;
  }
}

bool PikeVm::feed_certain(std::string_view bytes, HistoryId emitted) {
  if (kernel_.size() != 1 || kernel_.front().history != emitted) return false;
  State& state = kernel_.front().state;
  if (!state.entered || !limits_.fast) return false;
  const Instruction& at = program_.code[state.pc];
  if (at.op == Op::kText || at.op == Op::kTextToTrigger) {
    return skip_self_loops(bytes, at.op);
  }
  if (at.op != Op::kRecogniser) return false;
  recogniser::Recogniser& reader = recogniser(at);
  if (reader.full() || reader.can_end(state.configuration())) return false;
  recogniser::Configuration config = state.configuration();
  for (const char c : bytes) {
    // A character may not fit as a whole; skip_recogniser() notes where it
    // begins.
    if (static_cast<std::uint8_t>(c) >= 0x80) return false;
    config = reader.step(config, static_cast<std::uint8_t>(c));
    if (config.dead() || reader.can_end(config)) return false;
  }
  state.configuration() = config;
  position_ += bytes.size();
  has_closure_ = false;
  return true;
}

// Skips bytes that lead the only thread, in free text, back to its state, if
// there is nothing else in `bytes` and all text in this state is certain.
bool PikeVm::skip_self_loops(std::string_view bytes, Op op) {
  if (current_ == kNotAccelerated) return false;
  const AcceleratedStates& known = accelerated_[current_];
  // Text up to a trigger is certain where the node has no beginning of one,
  // which is so where it has self-loops.
  if (op != Op::kTextToTrigger &&
      (known.certainty != AcceleratedStates::kKnown ||
       known.uncertain.front() != 0)) {
    return false;
  }
  for (std::size_t read = 0; read < bytes.size();) {
    const std::uint8_t kind =
        known.bytes[static_cast<std::uint8_t>(bytes[read])];
    std::size_t size = 1;
    if (kind == kLead) size = character(bytes.substr(read, 4));
    if (size == 0 || (kind != kSelfLoop && kind != kLead)) return false;
    read += size;
  }
  position_ += bytes.size();
  has_closure_ = false;
  return true;
}

// Skips bytes of a literal, except its last one.
std::size_t PikeVm::skip_literal(std::string_view bytes) {
  State& state = kernel_.front().state;
  const std::string_view left =
      std::string_view(program_.texts[program_.code[state.pc].index])
          .substr(state.literal_offset());
  const std::size_t most = std::min(left.size() - 1, bytes.size());
  std::size_t read = 0;
  while (read < most && left[read] == bytes[read]) {
    if (static_cast<std::uint8_t>(bytes[read]) >= 0xC0) {
      character_.assign(kernel_.begin(), kernel_.end());
      character_position_ = position_ + read;
    }
    ++read;
    ++state.literal_offset();
  }
  position_ += read;
  if (read > 0) has_closure_ = false;
  return read;
}

// Whether all threads are inside one recogniser, in one configuration: parses
// that differ in what surrounds it.
bool PikeVm::reads_as_one() const {
  const State& first = kernel_.front().state;
  const auto& reader = recognisers_[program_.code[first.pc].index];
  return reader != nullptr && kernel_.size() <= kFewParses &&
         std::all_of(kernel_.begin(), kernel_.end(), [&](const Thread& thread) {
           const Instruction& at = program_.code[thread.state.pc];
           return thread.state.entered && at.op == Op::kRecogniser &&
                  recognisers_[at.index] == reader &&
                  thread.state.configuration() == first.configuration();
         });
}

void PikeVm::set_configurations(const recogniser::Configuration& config) {
  for (Thread& thread : kernel_) thread.state.configuration() = config;
}

// Skips bytes inside a JSON text or a pattern that cannot end yet.
// REQUIRES: there is one thread, or reads_as_one().
std::size_t PikeVm::skip_recogniser(std::string_view bytes) {
  const State& state = kernel_.front().state;
  recogniser::Configuration config = state.configuration();
  recogniser::Recogniser& reader = recogniser(program_.code[state.pc]);
  std::size_t read = 0;
  while (read < bytes.size() && !reader.can_end(config)) {
    if (reader.full()) break;
    const recogniser::Configuration next =
        reader.step(config, static_cast<std::uint8_t>(bytes[read]));
    if (next.dead()) break;
    if (static_cast<std::uint8_t>(bytes[read]) >= 0xC0) {
      set_configurations(config);
      character_.assign(kernel_.begin(), kernel_.end());
      character_position_ = position_ + read;
    }
    config = next;
    ++read;
  }
  if (read == 0) return 0;
  set_configurations(config);
  position_ += read;
  has_closure_ = false;
  return read;
}

std::size_t PikeVm::skip_text(std::string_view bytes) {
  if (current_ == kNotAccelerated) current_ = find_accelerated();
  if (current_ == kNotAccelerated) return 0;
  const AcceleratedStates* table = &accelerated_[current_];
  std::size_t read = 0;
  while (read < bytes.size()) {
    const auto byte = static_cast<std::uint8_t>(bytes[read]);
    const std::uint8_t kind = table->bytes[byte];
    if (kind == kSelfLoop) {
      ++read;
      continue;
    }
    if (kind == kMove) {
      ++read;
      current_ = table->next[byte];
      table = &accelerated_[current_];
      continue;
    }
    const std::size_t size =
        kind == kLead ? character(bytes.substr(read, 4)) : 0;
    if (size == 0) break;
    read += size;
  }
  if (read == 0) return 0;
  for (std::size_t i = 0; i < kernel_.size(); ++i) {
    kernel_[i].state = table->states[i];
  }
  position_ += read;
  has_closure_ = false;
  return read;
}

bool PikeVm::all_in_text() const {
  return std::all_of(kernel_.begin(), kernel_.end(), [&](const Thread& thread) {
    const State& state = thread.state;
    const Op op = program_.code[state.pc].op;
    return state.entered && (op == Op::kText || op == Op::kTextToTrigger) &&
           !state.in_character() && state.chars_left() == kUnbounded &&
           state.tokens_left() == kUnbounded;
  });
}

std::size_t PikeVm::find_accelerated() {
  if (!all_in_text()) return kNotAccelerated;
  for (std::size_t i = 0; i < accelerated_.size(); ++i) {
    const std::vector<State>& states = accelerated_[i].states;
    if (std::equal(states.begin(), states.end(), kernel_.begin(), kernel_.end(),
                   [](const State& state, const Thread& thread) {
                     return state == thread.state;
                   })) {
      return i;
    }
  }
  AcceleratedStates made;
  const bool at_rest = std::all_of(
      kernel_.begin(), kernel_.end(),
      [](const Thread& thread) { return thread.state.text_node() == 0; });
  for (const Thread& thread : kernel_) made.states.push_back(thread.state);
  if (!at_rest || !find_self_loops(made)) made.bytes.fill(kStop);
  if (accelerated_.size() == kMaxAccelerated) accelerated_.clear();
  accelerated_.push_back(std::move(made));
  return accelerated_.size() - 1;
}

// After step(byte): if the byte only moved the threads from node to node of
// their free texts, it will do so whenever the threads are in these states.
// Notes that as a transition.  next_ holds the threads before the byte.
void PikeVm::learn_move(std::size_t from, std::uint8_t byte) {
  if (from == kNotAccelerated || byte >= 0x80) return;
  const bool same =
      std::equal(kernel_.begin(), kernel_.end(), next_.begin(), next_.end(),
                 [](const Thread& a, const Thread& b) {
                   return a.history == b.history && a.state.pc == b.state.pc &&
                          a.state.counts == b.state.counts && a.state.entered;
                 });
  if (!same) return;
  const std::size_t known = accelerated_.size();
  const std::size_t to = find_accelerated();
  if (to == kNotAccelerated || accelerated_.size() < known) return;
  current_ = to;
  accelerated_[from].bytes[byte] = kMove;
  accelerated_[from].next[byte] = static_cast<std::uint8_t>(to);
}

// Finds the bytes that lead the states of the kernel, all at node 0 of their
// free texts, back to themselves.
//
// 1. Every ASCII byte is assumed to be a self-loop, and every lead byte to be
//    the first of a character that is one: free text accepts any character.
// 2. A byte that can move a waiting thread in another way has to be read by
//    step(): a byte that leaves node 0 of a free text, the next byte of a
//    literal, white space of layout, and the first bytes of a recogniser.  A
//    thread that waits for a token or for the end is not moved by bytes.
//
// Returns false if the free texts among the waiting threads are not exactly the
// threads of the kernel, in their order.  Then reading a byte could change the
// list of threads.
bool PikeVm::find_self_loops(AcceleratedStates& out) {
  find_closure();
  out.bytes.fill(kSelfLoop);
  std::fill(out.bytes.begin() + 0x80, out.bytes.end(), kStop);
  std::fill(out.bytes.begin() + 0xC2, out.bytes.begin() + 0xF5, kLead);
  std::size_t at_rest = 0;
  for (const Thread& thread : waiting_) {
    const Instruction& at = program_.code[thread.state.pc];
    switch (at.op) {
      case Op::kText:
      case Op::kTextToTrigger: {
        if (at_rest == kernel_.size() ||
            thread.state != kernel_[at_rest].state ||
            thread.history != kernel_[at_rest].history) {
          return false;
        }
        ++at_rest;
        const FreeText& text = program_.free_texts[at.index];
        for (std::size_t byte = 0; byte < text.special.size(); ++byte) {
          if (text.special[byte]) out.bytes[byte] = kStop;
        }
        break;
      }
      case Op::kLiteral: {
        const std::string& text = program_.texts[at.index];
        out.bytes[static_cast<std::uint8_t>(
            text[thread.state.literal_offset()])] = kStop;
        break;
      }
      case Op::kSpaces:
        for (const char c : base::kAsciiSpace) {
          out.bytes[static_cast<std::uint8_t>(c)] = kStop;
        }
        break;
      case Op::kRecogniser: {
        const auto firsts =
            recogniser(at).first_bytes(thread.state.configuration());
        base::for_bytes(firsts,
                        [&](std::uint8_t byte) { out.bytes[byte] = kStop; });
        break;
      }
      default:
        break;
    }
  }
  return at_rest == kernel_.size();
}

}  // namespace parlance::tag_parser
