#ifndef PARLANCE_SRC_TAG_PARSER_PIKE_VM_H_
#define PARLANCE_SRC_TAG_PARSER_PIKE_VM_H_

// A Pike VM: all parses of a text that are still possible, in the order of
// preference.
//
// A thread is a state of the program (program.h) and the list of the steps of
// its parse (history.h).  A byte moves every thread to wherever the byte can
// lead it; if it can lead to several states, the thread becomes several, the
// preferred one first.  Of two threads with one state only the first remains:
// both have the same continuations, and it is preferred in all of them.  So the
// first thread that accepts at the end of the text has the preferred parse, and
// there are never more threads than states (Pike, "The text editor sam", 1987;
// Cox, "Regular expression matching: the virtual machine approach", 2009; the
// priorities are those of Perl's backtracking search).
//
// There are two lists of threads: `kernel`, the threads right after a byte, and
// `waiting`, its closure: the threads that instructions without reading lead
// to, which wait for the next byte, for a token, or for the end.
//
// A token that no instruction names by its id is read by its bytes.  A token
// that is named is read both ways, by its id and by its bytes; but free text
// does not read a mark by its bytes.
//
// Most bytes change no thread, and pike_vm_skip.cc skips them: where all
// threads are in free text and the byte begins neither a word that the text
// watches for nor anything that may follow it; and where the only thread is
// inside a literal, or a JSON text or a pattern that cannot end yet.  There,
// what is certain is known without the closure (pike_vm_report.cc).

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recogniser/recogniser.h"
#include "tag_parser/history.h"
#include "tag_parser/program.h"
#include "tag_parser/state_set.h"

namespace parlance::tag_parser {

struct Thread {
  State state;
  HistoryId history;
  // Index of the thread that waited for the last token and became this one.
  std::uint32_t origin = 0;
};

// A token of the input.
struct Token {
  TokenId id = 0;
  std::string_view text;
  // Whether an instruction of the program names it by its id, and which mark it
  // is.
  bool is_named = false;
  std::uint32_t mark = kNoMark;
  // Its bytes may be read as text.  False for a control token.
  bool is_text = true;
  // It matches a set of tokens that is given by what is excluded.  False for a
  // token that ends a turn.
  bool is_any = true;
};

class PikeVm {
 public:
  struct Limits {
    std::size_t threads = 4096;
    std::size_t bytes = std::size_t{64} << 20;  // of the history
    // False: every byte is read by step(), and what is certain is found in the
    // closure.  The results are the same; a test compares them.
    bool fast = true;
  };

  PikeVm(const TagProgram& program, const Limits& limits);

  // Reads bytes as long as some parse accepts them, and returns how many.  If
  // it returns less than all, either the caller should emit what is certain
  // and call compact_history() (paused()); or no parse accepts the next byte;
  // or there are too many threads (overflowed()).  In the last two cases the
  // waiting threads are those before that byte.
  std::size_t feed(std::string_view bytes);
  bool paused() const { return paused_; }

  // Reads a token by its id and, if it is text, by its bytes.  Returns false if
  // no parse accepts it; `read` is then how many of its bytes were accepted.
  bool feed_token(const Token& token, std::size_t& read);
  // Reads a token by its id if the text can end after it.  Otherwise reads
  // nothing and returns false.
  bool feed_last_token(const Token& token);

  // Reads bytes if this is the common case: all steps up to `emitted` are
  // certain, there are no others, and `bytes` are a piece of free text, or of a
  // JSON text or pattern that cannot end yet, that is certain().  Otherwise
  // returns false, and reads nothing.
  // REQUIRES: the program has no budgets.
  bool feed_certain(std::string_view bytes, HistoryId emitted);

  // Unlocks the recogniser that was used last, which other parsers share.
  // REQUIRES: called at the end of every round.
  void release() {
    if (locked_ != nullptr && locked_->full()) full_ = true;
    lock_.reset();
    locked_ = nullptr;
  }

  // The threads that wait for the next byte, token or end; never empty.
  std::span<const Thread> waiting();
  // The thread whose parse is taken if the text ends here or does not fit any
  // further: the first that accepts, otherwise the first of all.
  const Thread& preferred();
  bool can_end();
  // The thread whose parse is taken if the text ends here, too early: the first
  // that has not read half a marker, otherwise preferred().  White space alone
  // is no half of a marker: it is layout.
  const Thread& preferred_of_cut();

  std::uint64_t position() const { return position_; }
  bool overflowed() const { return overflowed_; }
  // What all parses have in common: the last step that is in the history of
  // every waiting thread, and where the text ends that each of them reads in
  // the formats that are open after this step.
  struct Certain {
    HistoryId step;
    std::uint64_t end = 0;
  };
  Certain certain();
  // Whether more than one parse, but not many, may be open.
  bool has_few_parses() const {
    return kernel_.size() > 1 && kernel_.size() <= kFewParses;
  }
  // The parses that are open, with the text that is certain in each of them.
  // What a parse may still become has the steps and the text of the parse.
  void open_parses(std::vector<OpenParse>& out);

  const History& history() const { return history_; }
  // Drops the steps before `step`, and those of threads that are gone.  Returns
  // the new id of `step`.  REQUIRES: `step` is in the history of all threads,
  // and the position is between two characters.
  HistoryId compact_history(HistoryId step);
  bool wants_compaction() const {
    return history_.bytes() > history_threshold_ ||
           counts_.size() > counts_threshold_;
  }

  // Goes back to the beginning of the character at `position`.  Returns false,
  // and does nothing, unless it is the last character that was begun and its
  // bytes were read one by one.
  bool rewind_character(std::uint64_t position);

  // Replaces all threads by threads at `starts`, before the byte at `position`,
  // with the given history and enclosing counts.  The last token had
  // `token_bytes` bytes.
  void resume(std::span<const Pc> starts, CountsId counts, HistoryId history,
              std::uint64_t position, std::size_t token_bytes);
  // The outermost `depth` counts of `thread`.
  CountsId outer_counts(const Thread& thread, std::uint32_t depth) const;

  // Whether the recogniser of a waiting thread has run out of memory.
  bool out_of_memory();

  // What may come next, for a diagnostic.
  std::string expected();
  // The marker whose spelling `byte` would complete in free text where the
  // marker must be written as its token; "" if there is none.
  std::string spelled_marker(std::uint8_t byte);

 private:
  static constexpr std::uint64_t kNoPosition = ~std::uint64_t{0};
  static constexpr std::size_t kFewParses = 16;
  static constexpr std::size_t kMany = 64;

  // An entry of the stack that find_closure() works off.
  struct Work {
    Thread thread;
    // The depth of the outermost loop in which an iteration has begun and has
    // read nothing since.  kUnbounded: there is none.
    std::uint32_t empty_loop = kUnbounded;
    // The thread has been followed; all that is left is to add it to waiting_.
    bool waits = false;
  };

  // Bytes before the position that `thread` reads as free text and that may
  // still turn out to be the beginning of a trigger.
  std::uint32_t pending(const Thread& thread) const;
  // How a byte acts on all threads, which are in free text: it has to be read
  // by step(); it changes nothing; it begins a character that changes nothing;
  // or it leads to the states of another AcceleratedStates.
  enum ByteEffect : std::uint8_t { kStop, kSelfLoop, kLead, kMove };
  // The states of a kernel and what bytes do to them, as in an accelerated
  // state of rust-regex; with kMove it is a lazy DFA for ASCII.
  struct AcceleratedStates {
    std::vector<State> states;
    std::array<std::uint8_t, 256> bytes = {};  // ByteEffect
    std::array<std::uint8_t, 256> next = {};   // kMove: index in accelerated_
    // By thread of the kernel, once it is known: how many bytes before the
    // position are uncertain_bytes().  Not available if the closure does not
    // have all threads of the kernel.
    std::vector<std::uint32_t> uncertain = {};
    enum : std::uint8_t { kUnknown, kKnown, kUnavailable } certainty = kUnknown;
  };
  static constexpr std::size_t kNotAccelerated = ~std::size_t{0};

  // The closure.
  void find_closure();
  void close_thread(const Thread& thread);
  bool follow(Work& work);
  bool wait_or_leave(Work& work);
  // Follows `next` after what is pushed later.
  void push(const Work& from, Pc next) {
    work_.push_back({from.thread, from.empty_loop});
    work_.back().thread.state = {next, from.thread.state.counts, false, {}};
  }
  // Follows `next` at once.
  static bool continue_at(Work& work, Pc next) {
    work.thread.state = {next, work.thread.state.counts, false, {}};
    return true;
  }
  void add_waiting(const Thread& thread);
  void enter_instruction(State& state);

  // Reading.
  bool step(std::uint8_t byte);
  void scan(const Thread& thread, std::uint8_t byte);
  void scan_text(const Thread& thread, const Instruction& at,
                 std::uint8_t byte);
  void add(const Thread& thread);
  void add_at(const Thread& thread, Pc next);
  void enter_node(Thread& next, const Instruction& at, std::uint32_t node);
  void scan_token(const Thread& thread, const Token& token);
  void read_bytes(const Token& token, std::size_t& read);
  void merge(const Token& token);
  bool adopt(std::vector<Thread>& next);
  void drop_counted(std::vector<Thread>& threads);
  bool same_but_counts(const State& a, const State& b) const;
  bool subsumes(const State& b, const State& a) const;
  void restore_waiting(std::uint64_t position);
  void spend_token();
  void read_characters(std::string_view bytes);

  // What is certain.
  bool waits_alone(const Thread& thread);
  bool all_wait_alone();
  Certain certain_of(std::span<const Thread> threads) const;
  bool find_uncertain(AcceleratedStates& out);
  Certain certain_of_closure();

  // Skipping.
  std::size_t skip(std::string_view bytes);
  std::size_t skip_literal(std::string_view bytes);
  bool skip_self_loops(std::string_view bytes, Op op);
  std::size_t skip_text(std::string_view bytes);
  std::size_t skip_recogniser(std::string_view bytes);
  bool reads_as_one() const;
  void set_configurations(const recogniser::Configuration& config);
  bool all_in_text() const;
  std::size_t find_accelerated();
  void learn_move(std::size_t from, std::uint8_t byte);
  bool find_self_loops(AcceleratedStates& out);

  // The recogniser of an instruction, locked until another one is used.
  recogniser::Recogniser& recogniser(const Instruction& at) {
    std::shared_ptr<recogniser::Recogniser>& known = recognisers_[at.index];
    if (known == nullptr) {
      release();
      known = program_.languages[at.index].language->with_room();
    }
    recogniser::Recogniser& asked = *known;
    if (locked_ != &asked) {
      release();
      lock_.emplace(asked);
      locked_ = &asked;
    }
    return asked.usable();
  }
  // Replaces recognisers that are full or spoiled by empty ones that belong to
  // this parser alone, and moves the configurations of all threads.
  // REQUIRES: no byte or token is being read.
  void replace_full_recognisers();
  std::vector<recogniser::Configuration*> configurations_in(
      std::size_t recogniser);

  std::uint32_t count_of(CountsId counts) const;
  CountsId push_count(CountsId outer, std::uint32_t count, std::uint32_t min);
  void compact_counts();

  const TagProgram& program_;
  const Limits limits_;
  // By index of the program's languages: their tables in use; null until they
  // are used.
  std::vector<std::shared_ptr<recogniser::Recogniser>> recognisers_;
  bool full_ = false;      // a recogniser was full when it was unlocked
  bool in_token_ = false;  // configurations are held outside of the threads
  // At most one recogniser is locked at a time.
  recogniser::Recogniser* locked_ = nullptr;
  std::optional<recogniser::Recogniser::Lock> lock_;

  std::uint64_t position_ = 0;
  std::uint32_t token_bytes_ = 0;  // of the last token that was read by its id
  std::uint32_t character_begun_ =
      0;  // by the tokens so far, as State::character
  bool overflowed_ = false;
  bool paused_ = false;
  std::size_t many_ = kMany;  // threads, beyond which drop_counted() is called

  std::vector<Thread> kernel_;
  std::vector<Thread> waiting_;
  bool has_closure_ = false;  // waiting_ is the closure of kernel_
  std::vector<Thread> next_;
  // While a token is read: the threads that waited for it, and those that its
  // bytes have led to.
  std::vector<Thread> before_;
  std::vector<Thread> by_bytes_;
  std::vector<Work> work_;
  StateSet seen_;

  History history_;
  std::size_t history_threshold_ = 0;

  std::vector<Count> counts_ = {Count{}};  // by CountsId
  std::size_t counts_threshold_ = 1024;
  std::unordered_map<Count, CountsId, CountHash> count_ids_;

  std::vector<AcceleratedStates> accelerated_;
  // The entry whose states the kernel has, if that is known.
  std::size_t current_ = kNotAccelerated;

  // The threads that waited for the last character of more than one byte, and
  // where it begins.
  std::vector<Thread> character_;
  std::uint64_t character_position_ = kNoPosition;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_PIKE_VM_H_
