// Moves the threads of the VM (pike_vm.h) by bytes and by tokens.
//
//   kernel --find_closure()--> waiting --step(byte)--> kernel
//
// feed() skips what it can (pike_vm_skip.cc) and reads other bytes by step().
// feed_token() reads a token both by its id and by its bytes, and merges the
// two lists of threads.  What callers ask about threads is in
// pike_vm_report.cc.

#include "tag_parser/pike_vm.h"

#include <algorithm>

#include "automata/char_step.h"
#include "base/white_space.h"

namespace parlance::tag_parser {

PikeVm::PikeVm(const TagProgram& program, const Limits& limits)
    : program_(program),
      limits_(limits),
      recognisers_(program.languages.size()) {
  history_threshold_ = 4096;
  kernel_.push_back({{program.start, kNoCounts, false, {}}, {}, 0});
}

// --- Memory ------------------------------------------------------------------

// The configurations of the recogniser that threads have.
std::vector<recogniser::Configuration*> PikeVm::configurations_in(
    std::size_t recogniser) {
  std::vector<recogniser::Configuration*> out;
  for (std::vector<Thread>* threads : {&kernel_, &waiting_, &character_}) {
    for (Thread& thread : *threads) {
      const Instruction& at = program_.code[thread.state.pc];
      if (thread.state.entered && at.op == Op::kRecogniser &&
          at.index == recogniser) {
        out.push_back(&thread.state.configuration());
      }
    }
  }
  return out;
}

void PikeVm::replace_full_recognisers() {
  release();
  if (!full_) return;
  full_ = false;
  for (std::size_t i = 0; i < recognisers_.size(); ++i) {
    const std::shared_ptr<recogniser::Recogniser> before = recognisers_[i];
    if (before == nullptr) continue;
    const std::vector<recogniser::Configuration*> inside = configurations_in(i);
    {
      const recogniser::Recogniser::Lock lock(*before);
      if (!before->full() && !before->spoiled()) continue;
      // What is inside a broken recogniser is lost, and stays there: it is dead
      // for lack of memory (out_of_memory()).
      if (before->broken() && !inside.empty()) continue;
      // Another one is found when it is used next.
      if (before->spoiled() && inside.empty()) {
        recognisers_[i] = nullptr;
        continue;
      }
    }
    if (auto empty = before->renewed(0, inside)) {
      recognisers_[i] = std::move(empty);
    }
  }
}

// --- The closure -------------------------------------------------------------

// Computes waiting_ by a depth-first search from each thread of the kernel, in
// order.  The stack is explicit.  Invariant: everything above an entry of
// work_ is preferred to the entry, so threads reach waiting_ in the order of
// preference.  Each state is followed once, since the thread that comes first
// is preferred in every continuation; this is checked where several ways join
// (Instruction::joins).

void PikeVm::find_closure() {
  if (has_closure_) return;
  has_closure_ = true;
  waiting_.clear();
  seen_.clear();
  for (const Thread& thread : kernel_) close_thread(thread);
}

// Adds to waiting_ the closure of one thread, without the states that are
// there.
void PikeVm::close_thread(const Thread& thread) {
  work_.push_back({thread});
  while (!work_.empty()) {
    Work work = work_.back();
    work_.pop_back();
    while (follow(work)) {
    }
  }
}

// Executes one instruction.  Returns whether the thread continues; `work` is
// then its preferred successor, and the others have been pushed to work_.
//
// An iteration of a loop that reads nothing is dropped, as otherwise the search
// would not end.  `work.empty_loop` says how far out nothing has been read: it
// is the depth of the outermost loop in which an iteration has begun since the
// last byte.  It decides what kIterateEnd does, so it is a part of the state
// that may be followed only once.
bool PikeVm::follow(Work& work) {
  State& state = work.thread.state;
  if (work.waits) {
    add_waiting(work.thread);
    return false;
  }
  if (state.entered) return wait_or_leave(work);
  const Instruction& at = program_.code[state.pc];
  if (at.joins) {
    State key = state;
    key.set_empty_loop(work.empty_loop);
    if (!seen_.insert(key)) return false;
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
      // `>`: the iteration has read something.  `==`: it is empty, and dropped.
      // `<`: an iteration of an enclosing loop is empty as well.
      if (work.empty_loop > at.index) return continue_at(work, at.next);
      if (work.empty_loop < at.index && at.other != kNoPc) {
        return continue_at(work, at.other);
      }
      return false;
    case Op::kCountFrom:
      state.counts = push_count(state.counts, 0, at.min);
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
      state.counts = push_count(counts_[state.counts].outer, count, at.min);
      return continue_at(work, at.next);
    }
    case Op::kCountEnd:
      state.counts = counts_[state.counts].outer;
      return continue_at(work, at.next);
    default:
      enter_instruction(state);
      return wait_or_leave(work);
  }
}

// The thread arrives at an instruction that reads.  Sets what the instruction
// has read so far, which is nothing.
void PikeVm::enter_instruction(State& state) {
  const Instruction& at = program_.code[state.pc];
  state.entered = true;
  switch (at.op) {
    case Op::kLiteral:
      state.literal_offset() = at.offset;
      break;
    case Op::kText:
    case Op::kTextToTrigger:
      state.chars_left() = at.max;
      state.tokens_left() = at.max_tokens;
      break;
    case Op::kRecogniser:
      state.configuration() = recogniser(at).start();
      break;
    case Op::kTokens:
      state.tokens_left() = at.max;
      break;
    default:
      break;
  }
}

// The thread is at an instruction that reads.  It waits for input there, and
// where the instruction may end, it also leaves.  White space, and free text
// that may end, are left first, since shorter text is preferred; but free
// tokens wait first inside a character, so that one format has all of it.  A
// recogniser waits first, since longer text is preferred.  Returns whether
// `work` has left the instruction.
bool PikeVm::wait_or_leave(Work& work) {
  const State& state = work.thread.state;
  const Instruction& at = program_.code[state.pc];
  const auto wait_last = [&] {
    work_.push_back(work);
    work_.back().waits = true;
  };
  const auto wait_for_token = [&] {
    if (character_begun_ != 0) return add_waiting(work.thread);
    wait_last();
  };
  switch (at.op) {
    case Op::kText:
      if (state.in_character()) break;
      if (state.chars_left() != 0 && state.tokens_left() != 0) wait_last();
      return continue_at(work, at.next);
    case Op::kTokens:
      if (state.tokens_left() == 0) return continue_at(work, at.next);
      wait_for_token();
      return continue_at(work, at.next);
    case Op::kTokensLast:
      wait_for_token();
      return continue_at(work, at.next);
    case Op::kSpaces:
      wait_last();
      return continue_at(work, at.next);
    case Op::kRecogniser:
      add_waiting(work.thread);
      return recogniser(at).can_end(state.configuration()) &&
             continue_at(work, at.next);
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

// --- Bytes -------------------------------------------------------------------

// Adds a thread to next_, unless a preferred thread has the same state.
void PikeVm::add(const Thread& thread) {
  if (seen_.insert(thread.state)) next_.push_back(thread);
}

// The same for a thread that has completed its instruction.
void PikeVm::add_at(const Thread& thread, Pc next) {
  Thread arrived = thread;
  arrived.state = {next, thread.state.counts, false, {}};
  add(arrived);
}

// Adds to next_ the threads that `thread` becomes by reading a byte.
void PikeVm::scan(const Thread& thread, std::uint8_t byte) {
  const Instruction& at = program_.code[thread.state.pc];
  switch (at.op) {
    case Op::kLiteral: {
      const std::string& text = program_.texts[at.index];
      const std::uint32_t offset = thread.state.literal_offset();
      if (static_cast<std::uint8_t>(text[offset]) != byte) return;
      if (offset + 1 == text.size()) return add_at(thread, at.next);
      Thread next = thread;
      ++next.state.literal_offset();
      return add(next);
    }
    case Op::kSpaces:
      if (base::is_ascii_space(static_cast<char>(byte))) add(thread);
      return;
    case Op::kText:
    case Op::kTextToTrigger:
      return scan_text(thread, at, byte);
    case Op::kRecogniser: {
      Thread next = thread;
      recogniser::Configuration& config = next.state.configuration();
      config = recogniser(at).step(config, byte);
      if (!config.dead()) add(next);
      return;
    }
    default:
      return;
  }
}

// Free text reads any character, and a limit counts a character at its first
// byte.
void PikeVm::scan_text(const Thread& thread, const Instruction& at,
                       std::uint8_t byte) {
  Thread next = thread;
  State& state = next.state;
  if (!state.in_character() && state.chars_left() != kUnbounded) {
    --state.chars_left();
  }
  if ((state.in_character() || byte >= 0x80) &&
      automata::read_char(automata::any_character(), byte, state.character()) ==
          automata::CharStep::kNo) {
    return;
  }
  enter_node(
      next, at,
      program_.free_texts[at.index].automaton.step(state.text_node(), byte));
}

// Free text has read a symbol that leads to state `to` of its automaton.  A
// node that spells a trigger ends the text, unless this is the text after the
// last trigger.
void PikeVm::enter_node(Thread& next, const Instruction& at, std::uint32_t to) {
  if (to == automata::AhoCorasick::kRefused) return;
  const FreeText& text = program_.free_texts[at.index];
  const auto& node = text.automaton.at(to);
  if (node.excluded) return;
  next.state.text_node() = to;
  if (node.calls.empty()) return add(next);
  if (at.op == Op::kText) return;
  for (const std::uint32_t call : node.calls) {
    for (const Pc target : text.targets[call]) add_at(next, target);
  }
}

// Makes `next` the kernel.  Returns false, and changes nothing, if there is no
// thread or a limit is exceeded.
bool PikeVm::adopt(std::vector<Thread>& next) {
  if (next.empty()) return false;
  if (next.size() > std::min(many_, limits_.threads)) drop_counted(next);
  if (next.size() > limits_.threads || history_.bytes() > limits_.bytes) {
    overflowed_ = true;
    return false;
  }
  kernel_.swap(next);
  has_closure_ = false;
  current_ = kNotAccelerated;
  return true;
}

// --- Counters ----------------------------------------------------------------

// Where a limited text or a repeat may begin at every character, there is a
// thread for each beginning, and the threads differ only in what is left of the
// limit: after n characters of two texts of at most 100,000, n threads are in
// the second text.  Whatever continues one of them continues the thread with
// the most left, so that thread decides which texts fit; the preferred thread
// is retained as well, because it decides the tree.

// Whether two states differ in nothing but counters.
bool PikeVm::same_but_counts(const State& a, const State& b) const {
  if (a.pc != b.pc || a.entered != b.entered ||
      (a.counts == kNoCounts) != (b.counts == kNoCounts)) {
    return false;
  }
  if (!a.entered) return a.packed == b.packed;
  const Op op = program_.code[a.pc].op;
  State left = a;
  if (op == Op::kText) left.chars_left() = b.chars_left();
  if (op == Op::kText || op == Op::kTokens) {
    left.tokens_left() = b.tokens_left();
  }
  return left.packed == b.packed;
}

// Whether `b` accepts all that `a` accepts.  Above the minimum of a repeat, a
// smaller count leaves more repetitions.
// REQUIRES: same_but_counts().
bool PikeVm::subsumes(const State& b, const State& a) const {
  const Op op = program_.code[a.pc].op;
  if (a.entered && op == Op::kText && b.chars_left() < a.chars_left()) {
    return false;
  }
  if (a.entered && (op == Op::kText || op == Op::kTokens) &&
      b.tokens_left() < a.tokens_left()) {
    return false;
  }
  CountsId of_b = b.counts;
  CountsId of_a = a.counts;
  while (of_b != of_a) {
    const Count& mine = counts_[of_b];
    const Count& other = counts_[of_a];
    if (mine.count != other.count &&
        (mine.count > other.count || mine.count < mine.min)) {
      return false;
    }
    of_b = mine.outer;
    of_a = other.outer;
  }
  return true;
}

// Of the threads that differ in counters only, keeps the preferred one, and
// those that no other one subsumes.
//
// Invariant: of each thread that is `gone`, a thread that stays subsumes it;
// one that is gone is compared with no other, and to subsume is transitive. The
// next call comes when there are twice as many threads.
void PikeVm::drop_counted(std::vector<Thread>& threads) {
  std::vector<bool> gone(threads.size(), false);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    bool preferred = true;
    for (std::size_t j = 0; j < threads.size() && !gone[i]; ++j) {
      if (i == j || gone[j] ||
          !same_but_counts(threads[i].state, threads[j].state)) {
        continue;
      }
      preferred = preferred && i < j;
      gone[i] = !preferred && subsumes(threads[j].state, threads[i].state);
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (!gone[i]) threads[kept++] = threads[i];
  }
  threads.resize(kept);
  many_ = std::max(kMany, 2 * kept);
}

// Reads one byte: moves each waiting thread, in order.
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

// Each iteration skips bytes that change no thread, and then reads one byte.
// The loop pauses, between two characters, when the history is to be compacted.
std::size_t PikeVm::feed(std::string_view bytes) {
  std::size_t at = 0;
  paused_ = false;
  while (at < bytes.size()) {
    if (wants_compaction() &&
        (static_cast<std::uint8_t>(bytes[at]) & 0xC0) != 0x80 && at > 0) {
      paused_ = true;
      break;
    }
    at += skip(bytes.substr(at));
    if (at == bytes.size()) break;
    if (!in_token_ && (full_ || (locked_ != nullptr && locked_->full()))) {
      replace_full_recognisers();
    }
    const auto byte = static_cast<std::uint8_t>(bytes[at]);
    const std::size_t from = current_;
    if (!step(byte)) break;
    learn_move(from, byte);
    ++at;
  }
  return at;
}

// --- Tokens ------------------------------------------------------------------

// Adds to next_ the threads that `thread` becomes by reading a token by its id.
// Literals do not read ids; merge() handles recognisers.
void PikeVm::scan_token(const Thread& thread, const Token& token) {
  const Instruction& at = program_.code[thread.state.pc];
  const TokenId id = token.id;
  switch (at.op) {
    case Op::kText:
      // A mark is a part of a trigger, and no trigger follows this text.
      return;
    case Op::kTextToTrigger: {
      if (token.mark == kNoMark || thread.state.in_character()) return;
      Thread next = thread;
      const auto& automaton = program_.free_texts[at.index].automaton;
      return enter_node(next, at,
                        automaton.step(thread.state.text_node(),
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
      std::uint32_t& tokens_left = next.state.tokens_left();
      if (tokens_left != kUnbounded) --tokens_left;
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

// Reads the bytes of a token with the threads that may read it by its bytes.
// If a byte does not fit, the threads are left as they were before that byte.
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

// 1. A token that no instruction can read by its id is read by its bytes.
// 2. Otherwise the waiting threads are saved, and each remembers its index as
//    its origin.  read_bytes() moves them by the bytes of the token.
// 3. merge() moves the saved threads by the id, and puts both results into the
//    order of their origins.
// 4. If no thread is left, the threads are those before the byte that did not
//    fit, or those before the token if all bytes fitted where the token must
//    not come.
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
  if (full_ || (locked_ != nullptr && locked_->full())) {
    replace_full_recognisers();
  }
  find_closure();
  before_.assign(waiting_.begin(), waiting_.end());
  const std::uint64_t begin = position_;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    waiting_[i].origin = static_cast<std::uint32_t>(i);
  }
  in_token_ = true;
  read_bytes(token, read);
  in_token_ = false;
  if (overflowed_) return false;
  const bool whole = token.is_text && read == bytes.size();
  by_bytes_.clear();
  if (whole) {
    const std::vector<Thread>& to = bytes.empty() ? before_ : kernel_;
    by_bytes_.assign(to.begin(), to.end());
  }
  merge(token);
  if (!adopt(next_)) {
    // The first byte did not fit, or all bytes fitted where it must not come.
    if (read == 0 || whole) restore_waiting(begin);
    return false;
  }
  position_ += bytes.size() - read;
  read = bytes.size();
  token_bytes_ = static_cast<std::uint32_t>(bytes.size());
  read_characters(bytes);
  spend_token();
  return true;
}

// Makes before_ the waiting threads again.
void PikeVm::restore_waiting(std::uint64_t position) {
  waiting_.assign(before_.begin(), before_.end());
  has_closure_ = true;
  position_ = position;
  character_position_ = kNoPosition;
}

bool PikeVm::feed_last_token(const Token& token) {
  const std::uint64_t begin = position_;
  const std::uint32_t character = character_begun_;
  Token by_id = token;
  by_id.is_text = false;
  std::size_t read = 0;
  if (!feed_token(by_id, read)) return false;
  if (can_end()) return true;
  // The kernel before the token is not stored; its closure serves as both
  // lists.
  kernel_.assign(before_.begin(), before_.end());
  restore_waiting(begin);
  current_ = kNotAccelerated;
  character_begun_ = character;
  return false;
}

void PikeVm::read_characters(std::string_view bytes) {
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    const bool inside = character_begun_ != 0;
    if (!inside && byte < 0x80) continue;
    const automata::CharStep step =
        automata::read_char(automata::any_character(), byte, character_begun_);
    if (step != automata::CharStep::kNo) continue;
    character_begun_ = inside ? automata::lead_of_char(byte) : 0;
  }
}

// Sets next_ to the threads after a token: before_, moved by the id, and
// by_bytes_, which the bytes led to.  Both are in the order of preference, and
// the threads of one origin come together, those by its id first.
//
// A recogniser that reads tokens merges the two itself: step_token() gets the
// configuration that the bytes led to, and returns the configuration after the
// token.  If it refuses a mark, the mark is not read by its bytes either.
void PikeVm::merge(const Token& token) {
  // Invariant: next_ has all threads whose origins are before `i`, and `done`
  // of the threads of by_bytes_ are among them.
  std::size_t done = 0;
  seen_.clear();
  next_.clear();
  const auto pass = [&](std::size_t origin) {
    while (done < by_bytes_.size() && by_bytes_[done].origin <= origin) {
      add(by_bytes_[done++]);
    }
  };
  for (std::size_t i = 0; i < before_.size(); ++i) {
    Thread thread = before_[i];
    thread.origin = static_cast<std::uint32_t>(i);
    const Instruction& at = program_.code[thread.state.pc];
    if (at.op == Op::kRecogniser &&
        (program_.languages[at.index].reads_tokens ||
         program_.languages[at.index].reads_marks)) {
      // The thread that the bytes led to inside the same recogniser, if any.
      recogniser::Configuration config;
      std::size_t same = done;
      while (same < by_bytes_.size() && by_bytes_[same].origin <= i) {
        const Thread& other = by_bytes_[same];
        if (other.origin == i && other.history == thread.history &&
            other.state.entered && other.state.pc == thread.state.pc) {
          config = other.state.configuration();
          break;
        }
        ++same;
      }
      config = recogniser(at).step_token(thread.state.configuration(), config,
                                         token.id);
      if (!config.dead()) {
        thread.state.configuration() = config;
        if (same < by_bytes_.size() && by_bytes_[same].origin == i) {
          by_bytes_[same] = thread;
        } else {
          add(thread);
        }
      } else if (token.mark != kNoMark) {
        std::erase_if(by_bytes_, [&](const Thread& other) {
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

// Counts a token that has been read in the limits of the free texts that the
// threads are in.
void PikeVm::spend_token() {
  for (Thread& thread : kernel_) {
    State& state = thread.state;
    if (!state.entered || program_.code[state.pc].op != Op::kText) continue;
    if (state.tokens_left() != kUnbounded && state.tokens_left() != 0) {
      --state.tokens_left();
      has_closure_ = false;
      current_ = kNotAccelerated;
    }
  }
}

// --- Resuming after a mismatch -----------------------------------------------

// All earlier threads are gone, and so is all that was derived from them.
void PikeVm::resume(std::span<const Pc> starts, CountsId counts,
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
  character_begun_ = 0;
  current_ = kNotAccelerated;
  character_position_ = kNoPosition;
}

CountsId PikeVm::outer_counts(const Thread& thread, std::uint32_t depth) const {
  std::uint32_t levels = 0;
  for (CountsId id = thread.state.counts; id != kNoCounts;
       id = counts_[id].outer) {
    ++levels;
  }
  CountsId out = thread.state.counts;
  for (; levels > depth; --levels) out = counts_[out].outer;
  return out;
}

// --- Counts ------------------------------------------------------------------

std::uint32_t PikeVm::count_of(CountsId counts) const {
  return counts_[counts].count;
}

CountsId PikeVm::push_count(CountsId outer, std::uint32_t count,
                            std::uint32_t min) {
  const Count made{outer, count, min};
  const auto [known, added] =
      count_ids_.try_emplace(made, CountsId{counts_.size()});
  if (added) counts_.push_back(made);
  return known->second;
}

// Drops the counts that no thread has.
//
// 1. Marks the counts of all threads, and the counts that enclose these.
// 2. Adds the marked ones to an empty table.  An enclosing count has a smaller
//    id than the counts inside it, so its new id is known in time.
// 3. Renumbers the threads.  Accelerated states hold ids, so they are dropped.
void PikeVm::compact_counts() {
  std::vector<bool> kept(counts_.size(), false);
  for (const auto* threads : {&kernel_, &waiting_}) {
    for (const Thread& thread : *threads) {
      for (CountsId id = thread.state.counts; id != kNoCounts && !kept[id];
           id = counts_[id].outer) {
        kept[id] = true;
      }
    }
  }
  std::vector<Count> old;
  old.swap(counts_);
  count_ids_.clear();
  counts_.emplace_back();
  std::vector<CountsId> renumbered(old.size(), kNoCounts);
  for (CountsId id{1}; id < old.size(); ++id) {
    if (!kept[id]) continue;
    renumbered[id] =
        push_count(renumbered[old[id].outer], old[id].count, old[id].min);
  }
  for (auto* threads : {&kernel_, &waiting_}) {
    for (Thread& thread : *threads) {
      thread.state.counts = renumbered[thread.state.counts];
    }
  }
  accelerated_.clear();
  current_ = kNotAccelerated;
  counts_threshold_ = std::max<std::size_t>(1024, 2 * counts_.size());
}

}  // namespace parlance::tag_parser
