#ifndef PARLANCE_SRC_TAG_PARSER_PIKE_VM_H_
#define PARLANCE_SRC_TAG_PARSER_PIKE_VM_H_

// All readings of a text that are still possible, in order of preference.
//
// A thread is a state of the program (program.h) and the list of what
// it has done (history.h).  With every byte each thread goes on as far as the
// byte lets it; where there are several ways, to all of them, the preferred one
// first. Of two threads at one state the first stays: whatever comes, the
// second could do no better.  So the first thread that ends with the text is
// the first reading, and there are never more threads than states (Pike, 1987;
// the priorities are Cox's and Perl's).
//
// Two lists of threads take turns: behind a byte (`kernel`), and all that wait
// for the next byte, token or end (`waiting`).
//
// A token that no state names by its id is its bytes.  One that is named is
// read both ways at once, by its id and by its bytes; but free text does not
// read a mark by its bytes.
//
// Bytes that change nothing are skipped: where all threads are in free text
// that no word has begun in, and whatever may follow it begins with other
// bytes; where they only move inside words; and where the only thread is inside
// a JSON text or a pattern.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "recogniser/recogniser.h"
#include "tag_parser/history.h"
#include "tag_parser/program.h"
#include "tag_parser/state_set.h"

namespace parlance::tag_parser {

struct Thread {
  State state;
  HistoryId history = 0;
  // The thread that waited for the last token and became this one.
  std::uint32_t origin = 0;
};

// A token as it comes.
struct Token {
  TokenId id = 0;
  std::string_view text;
  // Whether a state of the program names it by its id, and which mark it is.
  bool is_named = false;
  std::uint32_t mark = kNoMark;
  // Its bytes may be read as any others; not those of a control token.
  bool is_text = true;
  // It may be what a format of tokens does not name; not one that ends a turn.
  bool is_any = true;
};

class PikeVm {
 public:
  struct Limits {
    std::size_t threads = 4096;
    std::size_t bytes = std::size_t{64} << 20;
  };

  PikeVm(const TagProgram& program, const Limits& limits);

  // Reads bytes as far as there is a reading, and returns how many.  Less than
  // all: it wants to compact_history() first (paused()); or the next byte fits
  // none, or there are too many (overflowed()), and the waiting threads are
  // those in front of it.
  std::size_t feed(std::string_view bytes);
  bool paused() const { return paused_; }

  // Reads a token by its id and, if it is text, by its bytes.  False: it fits
  // no reading, and `read` is how many of its bytes did.
  bool feed_token(const Token& token, std::size_t& read);

  // Gives up the machine that was asked last, which belongs to others too.
  // Called behind every round.
  void release() {
    if (locked_ != nullptr && locked_->full()) full_ = true;
    lock_.reset();
    locked_ = nullptr;
  }

  // The threads that wait for what comes next; never empty.
  std::span<const Thread> waiting();
  // The one whose reading is taken if nothing follows, or nothing that fits:
  // the first that may end, else the first of all.
  const Thread& preferred();
  bool can_end();

  std::uint64_t position() const { return position_; }
  bool overflowed() const { return overflowed_; }
  // Bytes in front of the position that may still become something else than
  // the text that `thread` takes them for.
  std::uint32_t pending(const Thread& thread) const;

  const History& history() const { return history_; }
  // All that threads have in common up to `step` has been taken note of.
  // Returns its new number.  REQUIRES: the position is between two characters.
  HistoryId compact_history(HistoryId step);
  // Whether that is worth it.
  bool wants_compaction() const {
    return history_.bytes() > history_threshold_ ||
           counts_.size() > counts_threshold_;
  }

  // Back to where the character at `position` begins, if it is the last one and
  // its bytes were read one by one; returns whether.
  bool rewind_character(std::uint64_t position);

  // Goes on with threads at `states`, in front of the byte at `position`, which
  // have done what `history` says.  `counts` are those around them; the last
  // token had `token_bytes`.
  void resume(std::span<const Pc> starts, std::uint32_t counts,
              HistoryId history, std::uint64_t position,
              std::size_t token_bytes);
  // The outermost `depth` of the counts of `thread`.
  std::uint32_t outer_counts(const Thread& thread, std::uint32_t depth) const;

  // Whether a machine that waits has no memory left to go on.
  bool out_of_memory();

  // What may come, for people.
  std::string expected();
  // The marker whose spelling `byte` would complete where only tokens write it;
  // "" if that is not what is wrong with `byte`.
  std::string spelled_marker(std::uint8_t byte);

 private:
  static constexpr std::uint64_t kNowhereYet = ~std::uint64_t{0};
  struct Work {
    Thread thread;
    // The outermost loop of which an iteration has begun and read nothing.
    std::uint32_t empty_loop = kUnbounded;
    bool waits = false;  // it waits; do not look for ways on
  };
  // What bytes do to threads that are in free text: change nothing, begin a
  // character that changes nothing, or lead to the states of another
  // AcceleratedStates.
  enum ByteEffect : std::uint8_t { kStop, kSelfLoop, kLead, kMove };
  struct AcceleratedStates {
    std::vector<State> states;
    std::array<std::uint8_t, 256> bytes = {};
    std::array<std::uint8_t, 256> next = {};
  };
  static constexpr std::size_t kNotAccelerated = ~std::size_t{0};

  void find_closure();
  bool follow(Work& work);
  bool wait_or_leave(Work& work);
  // A way that is looked at behind those found later.
  void push(const Work& from, Pc next) {
    work_.push_back({from.thread, from.empty_loop});
    work_.back().thread.state = {next, from.thread.state.counts, false, {}};
  }
  // The same, at once.
  static bool continue_at(Work& work, Pc next) {
    work.thread.state = {next, work.thread.state.counts, false, {}};
    return true;
  }
  void add_waiting(const Thread& thread);
  void enter_instruction(State& state);

  bool step(std::uint8_t byte);
  void scan(const Thread& thread, std::uint8_t byte);
  void scan_text(const Thread& thread, const Instruction& at,
                 std::uint8_t byte);
  void add(const Thread& thread);
  void add_at(const Thread& thread, Pc next);
  void enter_node(Thread& next, const Instruction& at, std::uint32_t node);
  void scan_token(const Thread& thread, const Token& token);
  void read_bytes(const Token& token, std::size_t& read);
  void merge(const Token& token, const std::vector<Thread>& before,
             std::vector<Thread> by_bytes);
  bool adopt(std::vector<Thread>& next);
  void spend_token();
  std::size_t skip(std::string_view bytes);
  std::size_t skip_text(std::string_view bytes);
  std::size_t skip_recogniser(std::string_view bytes);
  bool all_in_text() const;
  std::size_t find_accelerated();
  void learn_move(std::uint8_t byte);
  bool find_self_loops(AcceleratedStates& out);

  recogniser::Recogniser& recogniser(const Instruction& at) {
    std::shared_ptr<recogniser::Recogniser>& known = recognisers_[at.index];
    if (known == nullptr) {
      release();
      known = recogniser::Recogniser::with_room(
          program_.recognisers[at.index].recogniser);
    }
    recogniser::Recogniser& asked = *known;
    if (locked_ != &asked) {
      release();
      lock_.emplace(asked);
      locked_ = &asked;
    }
    return asked;
  }
  // Machines that are full are replaced by ones of this reader alone, which
  // take over the states of all threads.
  // REQUIRES: between two symbols.
  void replace_full_recognisers();
  std::uint32_t count_of(std::uint32_t counts) const;
  std::uint32_t with_count(std::uint32_t around, std::uint32_t count);
  void compact_counts();

  const TagProgram& program_;
  const Limits limits_;
  // Those of the program, or their successors; null: not asked yet.
  std::vector<std::shared_ptr<recogniser::Recogniser>> recognisers_;
  bool full_ = false;      // one of them was when it was given up
  bool in_token_ = false;  // states are kept beside the threads
  // Of one machine at a time.
  recogniser::Recogniser* locked_ = nullptr;
  std::optional<recogniser::Recogniser::Lock> lock_;

  std::uint64_t position_ = 0;
  std::uint32_t token_bytes_ = 0;  // of the token that is read by its id
  bool overflowed_ = false;
  bool paused_ = false;

  std::vector<Thread> kernel_;
  std::vector<Thread> waiting_;
  bool has_closure_ = false;  // waiting_ is what follows from kernel_
  std::vector<Thread> next_;
  std::vector<Work> work_;
  StateSet seen_;

  History history_;
  std::size_t history_threshold_ = 0;

  // Counts of repeats inside each other: (what is around, count).  0: none.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> counts_ = {{0, 0}};
  std::size_t counts_threshold_ = 1024;
  CountTable count_ids_;

  std::vector<AcceleratedStates> accelerated_;
  std::size_t current_ = kNotAccelerated;  // where skip() has left the threads

  // The threads that waited for the last character of more than one byte.
  std::vector<Thread> character_;
  std::uint64_t character_position_ = kNowhereYet;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_PIKE_VM_H_
