#ifndef PARLANCE_SRC_RECOGNISER_RECOGNISER_H_
#define PARLANCE_SRC_RECOGNISER_RECOGNISER_H_

// The interface between a language and the masks: a recogniser reads a text of
// its language byte by byte.
//
//   Configuration at = recogniser.start();
//   for (std::uint8_t byte : text) at = recogniser.step(at, byte);
//   if (recogniser.can_end(at)) ...  // `text` is a text of the language
//
// A configuration determines what may follow.  It is a plain value, so forks,
// rollbacks and draft trees copy it.  The tables that it indexes are built
// lazily and only grow, so a configuration is valid for as long as its
// recogniser.
//
// The invariant that everything rests on: a configuration that is not dead can
// be continued to an accepted text.
//
// step() and step_token() are enough to compute any mask; all other functions
// have an answer that says nothing.  They make masks cheaper, and are asked in
// this order, under the lock: mask_key() and mask_equivalent(), whether a mask
// is known; begin_tracking(); hint(), once for the place; the bytes that can be
// read, and what walks over tokens ask, as often as they need; end_tracking().
// mask/mask_maker.h ranks all relations between configurations that share
// masks.
//
// A recogniser may delegate to other recognisers, its parts, and recognisers of
// several grammars may share a part.  A recogniser locks a part when it uses
// the part, and holds at most one of them: it unlocks a part before it locks
// the next, so two recognisers never deadlock over their parts.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_set.h"
#include "base/mutex.h"
#include "base/unwinding.h"
#include "base/work.h"
#include "recogniser/configuration.h"
#include "recogniser/hint.h"
#include "recogniser/user_data.h"

namespace parlance::recogniser {

// Bytes of the longest token that a mask is asked about.
inline constexpr std::uint32_t kLongestToken = 255;

// Not thread-safe: the caller holds a Lock, for instance while it makes a mask.
//
// The order of locks: that of a constraint's generations; a language
// (language.h); the languages of its parts; tables; the tables that replace
// them; those of a part.  Of two parts that are locked one adopts from the
// other: no third is locked, and the one with the lower address is first.
class Recogniser : public UserDataStore {
 public:
  // ~Lock() also unlocks the part that is locked, if any, spoils the recogniser
  // if the question of this thread was stopped, and breaks it if an exception
  // leaves it.
  class Lock {
   public:
    explicit Lock(Recogniser& of) : of_(of) { of_.mutex.lock(); }
    ~Lock() {
      of_.settle(failing());
      of_.note_room();
      of_.mutex.unlock();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    // What to ask while the lock is held.
    Recogniser& operator*() const { return of_.usable(); }
    Recogniser* operator->() const { return &of_.usable(); }
    // Whether an exception is leaving the block of this lock.
    bool failing() const { return unwinding_.begun(); }

   private:
    Recogniser& of_;
    const base::Unwinding unwinding_;
  };

  virtual ~Recogniser() {
    if (locked_part_ != nullptr) locked_part_->mutex.unlock();
  }

  // May be called without a lock.
  virtual Configuration start() = 0;
  // The configuration after `byte`.  Dead unless `byte` can be continued to an
  // accepted text.  A dead configuration stays dead.
  virtual Configuration step(Configuration config, std::uint8_t byte) = 0;
  // Whether the text may end at `config`.
  virtual bool can_end(Configuration config) = 0;

  // The configuration after the token `id`, which some configurations read by
  // its id and not by its bytes.  `read` is the configuration after the bytes
  // of the token, dead if these do not fit.  The result is dead where `read` is
  // not only for the ids of TokenIds::undecided.
  virtual Configuration step_token(Configuration, Configuration read,
                                   std::uint32_t) {
    return read;
  }
  // The tokens whose bytes do not decide whether they are accepted.
  struct TokenIds {
    // Accepted by their id: ascending, without duplicates.
    std::vector<std::uint32_t> accepted;
    // Only step_token() decides, whether or not their bytes fit.  Some of them
    // may be among `accepted` as well.
    std::vector<std::uint32_t> undecided;

    void clear() {
      accepted.clear();
      undecided.clear();
    }
  };
  // Writes the ids below `size` to `out`.
  virtual void token_ids(Configuration, std::uint32_t /*size*/, TokenIds& out) {
    out.clear();
  }

  // As step_token() of a token without bytes, but dead where the grammar does
  // not name the token: any tokens but some name none.
  virtual Configuration step_named(Configuration, std::uint32_t /*id*/) {
    return {};
  }

  // What may come at `config`, in words for messages: `"a string", "}" or ","`.
  virtual std::string expected(Configuration config) = 0;
  // The temperature of the next symbol.  Each derivation that can read one has
  // the temperature of its innermost open rule with a temperature; the result
  // is the largest of them, null if there is none.
  virtual std::optional<double> temperature(Configuration) {
    return std::nullopt;
  }

  // What holds of the whole language.
  struct Traits {
    bool has_temperatures = false;  // of some rule
    // Tokens are named by their ids, other than as marks.
    bool names_tokens = false;
    // All bytes that occur in some text, and maybe others.
    base::ByteSet alphabet = base::kAllBytes;
    // It has hints of its own, not those of parts.
    bool has_hints = false;
    // Some part has no hints.
    bool has_plain_parts = false;
  };
  const Traits& traits() const { return traits_; }

  // --- Configurations with the same mask.

  // Configurations with equal keys have equal masks for every token of at most
  // `longest` bytes.  Counts that no token can exhaust are saturated.
  // REQUIRES: `longest` is at most kLongestToken.
  virtual Configuration mask_key(Configuration config,
                                 std::uint32_t longest) = 0;
  // A configuration that provably has the same mask as `config`: one
  // representative of its class, or `config` itself if none is known.
  //
  // The classes are learnt.  While a mask is made between begin_tracking() and
  // end_tracking(config), the recogniser records what the results depend on;
  // configurations that agree on all of that are equivalent.
  virtual Configuration mask_equivalent(Configuration config) { return config; }
  virtual void begin_tracking() {}
  // Ends what begin_tracking() began.  Returns whether results depended on what
  // follows the text of a part.
  virtual bool end_tracking(Configuration) { return false; }
  // Between the two: results depend on all that the mask of `config` depends
  // on.  False if that is not known.  REQUIRES: the mask is one of those that
  // mask_equivalent() is about.
  virtual bool track_mask_of(Configuration) { return false; }

  // --- The bytes that can be read.

  // A superset of the bytes that step() accepts.
  virtual base::ByteSet first_bytes(Configuration) { return base::kAllBytes; }
  // What is known without a step.  The sets are valid as long as the
  // recogniser.
  struct ByteFacts {
    // The bytes that step() accepts; null: not known.
    const base::ByteSet* readable = nullptr;
    // A configuration from which all bytes but `others`, which are few, lead to
    // what they lead to from here; dead if none is known.
    Configuration base = {};
    const base::ByteSet* others = nullptr;
  };
  virtual ByteFacts bytes_at(Configuration) { return {}; }
  // For each byte, the least byte of its class: bytes of one class lead from
  // `config` to the same configuration.  Null if they are not known.  Valid as
  // long as the recogniser.
  using ByteClassTable = std::array<std::uint8_t, 256>;
  virtual const ByteClassTable* byte_classes_at(Configuration) {
    return nullptr;
  }
  // Bytes of which every text, of whole characters, can be read from `config`.
  // Of the bytes beyond ASCII it contains all or none.  May be empty where such
  // bytes are hard to find.
  virtual base::ByteSet repeatable_bytes(Configuration) { return {}; }

  // --- Hints (hint.h).

  // Whether a part with hints reads at `config`.  REQUIRES: config.in_part().
  virtual bool has_hints_at(Configuration) { return true; }
  virtual Hint hint(Configuration) { return {}; }
  // The configuration that continues `config`, after its Hint::value was left.
  // Dead if it does not fit.
  virtual Configuration resume(Configuration /*config*/, LeftValue) {
    return {};
  }
  // As step(), but a byte after which a value begins may lead to its
  // Hint::value instead.  That is cheaper if the result is not used in the end.
  virtual Configuration step_or_value(Configuration config, std::uint8_t byte) {
    return step(config, byte);
  }
  // A superset of the bytes after which a FreeString with exceptions still has
  // exceptions, or ends as one; null if it has none.
  virtual std::optional<base::ByteSet> exception_bytes(Configuration) {
    return std::nullopt;
  }
  // Whether `config` is in a number that continues with every text of digits.
  virtual bool any_digits(Configuration) { return false; }
  // If `to` is in the lexeme of `from`: the number of characters between them
  // plus the number that the lexeme must still have at `to`.  Null if the
  // lexeme was left.  REQUIRES: the hint of `from` is a LexemeHint; `to` is not
  // dead and is one step from a configuration in the lexeme.
  virtual std::optional<std::uint32_t> chars_needed(Configuration /*from*/,
                                                    Configuration /*to*/) {
    return std::nullopt;
  }

  // --- Parts.

  // The recognisers that this one delegates to, without duplicates.
  std::span<const std::shared_ptr<Recogniser>> parts() const { return parts_; }
  // Where a part reads.
  struct PartPosition {
    Recogniser* part = nullptr;  // null: none
    Configuration config = {};   // of the part
    // The text that must follow that of the part.  Valid until the next call of
    // a function of the recogniser.
    std::string_view text_after = {};
  };
  // The part that alone reads at `config`.  None where its text may end.  The
  // part is locked until another one is used, or this recogniser is unlocked.
  virtual PartPosition part_at(Configuration) { return {}; }

  // --- Memory.
  //
  // The tables of a recogniser have a budget in bytes.  When it is used up the
  // recogniser is full(): all results still hold, but a new text should be read
  // with the newest of its language (language.h), which accepts the same texts
  // and began with empty tables.  A configuration is moved there by adopt().
  //
  // When even that budget was exceeded, the recogniser has overflowed(): some
  // configurations are dead for this reason only, and results of the last call
  // and of calls after it may be wrong.  Configurations from before it are
  // right.
  //
  // The same holds for a recogniser that is spoiled(): a question was stopped
  // inside it before it was answered (base/work.h), so that its tables may hold
  // wrong answers.  More memory does not help; other tables do, and a question
  // that met a spoiled recogniser is asked again there.
  //
  // A recogniser is broken(), and spoiled, if an exception has left it: when
  // there is no memory, tables are half written.  They are not used again.
  // Whoever comes with a configuration of it asks usable() instead, a
  // recogniser of no text, and asks again as above; fresh(), own_bytes(),
  // room() and the user data can be used as before.
  enum class Room : std::uint8_t { kLeft, kFull, kOverflowed };
  virtual Room room() { return Room::kLeft; }
  bool full() { return room() != Room::kLeft; }
  bool overflowed() { return room() == Room::kOverflowed; }
  // room() when a lock of the recogniser was last released.  Needs no lock.
  Room last_room() const { return last_room_.load(std::memory_order_relaxed); }
  bool spoiled() const { return spoiled_; }
  bool broken() const { return broken_; }
  Recogniser& usable() { return broken_ ? nothing() : *this; }
  // A recogniser of the same language with empty tables, and with the newest
  // tables of its parts.  Null if this recogniser is never full.  Needs no
  // lock: reads what never changes.
  // REQUIRES: the caller has locked no part.
  virtual std::shared_ptr<Recogniser> fresh() const { return nullptr; }
  // The configuration here that corresponds to `config` of `from`, whatever
  // memory that takes: the budget grows by a multiple of that.  The cost
  // depends on what the configuration refers to, and not on the text that led
  // to it.  Dead if no text led to it.  REQUIRES: both were derived from one
  // recogniser by calls of fresh(), unless this recogniser is never full; the
  // caller holds the locks of both.
  virtual Configuration adopt(Recogniser& /*from*/, Configuration) {
    return {};
  }
  // Increases the budget by `bytes`.
  void widen(std::size_t bytes) { room_ += bytes; }
  // Moves each of `configs` from `from` to `to`, under the locks of both
  // (adopt()).  `from` may be spoiled: its configurations are right.
  static void move(Recogniser& from, Recogniser& to,
                   std::span<Configuration* const> configs);
  // fresh(), with `room` bytes more than usual, and with `configs` moved there.
  // Null, and nothing is moved, if this recogniser is never full.
  // REQUIRES: the caller has locked neither this recogniser nor a part.
  std::shared_ptr<Recogniser> renewed(std::size_t room,
                                      std::span<Configuration* const> configs);
  // Bytes of the tables built so far, without the parts and the user data.
  virtual std::size_t own_bytes() const = 0;
  // Bytes of everything: tables, parts and all user data.
  std::size_t memory_bytes();

  base::Mutex mutex;

 protected:
  // Unlocks the part that is locked, if any.
  void release() {
    if (locked_part_ == nullptr) return;
    if (!base::work_left()) locked_part_->spoil();
    if (locked_part_->spoiled()) spoil();
    locked_part_->note_room();
    part_full_ = part_full_ || locked_part_->last_room() != Room::kLeft;
    locked_part_->mutex.unlock();
    locked_part_ = nullptr;
  }
  // What comes before the recogniser is unlocked: releases its part, and notes
  // what the question of this thread (base/work.h) has done to both.
  void settle(bool failed) {
    if (failed) {
      if (locked_part_ != nullptr) locked_part_->break_off();
      break_off();
    }
    if (!base::work_left()) spoil();
    release();
    if (spoiled_ && base::in_question()) base::thread_work.spoiled = true;
  }

  void spoil() { spoiled_ = true; }
  void break_off() { spoiled_ = broken_ = true; }
  // Locks `part`, which may be locked already, in place of another one: do not
  // use the result after a call that may lock one.
  Recogniser& lock_part(Recogniser& part) {
    if (&part != locked_part_) {
      release();
      part.mutex.lock();
      locked_part_ = &part;
      if (part.spoiled()) spoil();
    }
    return part.usable();
  }
  // Whether some part was full when it was unlocked, or is.
  bool part_full() {
    return part_full_ || (locked_part_ != nullptr && locked_part_->full());
  }

  Traits traits_;
  std::vector<std::shared_ptr<Recogniser>> parts_;
  std::size_t room_ = 0;  // bytes that the tables may grow before full()

 private:
  static Recogniser& nothing();
  void note_room() { last_room_.store(room(), std::memory_order_relaxed); }

  Recogniser* locked_part_ = nullptr;
  bool part_full_ = false;
  bool spoiled_ = false;
  bool broken_ = false;
  std::atomic<Room> last_room_{Room::kLeft};
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_RECOGNISER_H_
