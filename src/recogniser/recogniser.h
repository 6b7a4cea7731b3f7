#ifndef PARLANCE_SRC_RECOGNISER_RECOGNISER_H_
#define PARLANCE_SRC_RECOGNISER_RECOGNISER_H_

// Reading a text of a language byte by byte, with the state in the open.
//
// A configuration says everything about what may follow.  It is 16 bytes, a
// plain value: forks, rollbacks and draft trees copy it.  The tables behind it
// are built lazily and only ever grow, so a configuration stays good as long
// as its recogniser.
//
// The one promise everything rests on: a configuration that is not dead can be
// continued to an accepted text.
//
// Besides step(), which is enough to make any mask, a recogniser tells what
// kind of place a configuration is where whole classes of tokens behave alike,
// so that the mask need not ask for each of them (StringHint, WhitespaceHint).

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/string_body.h"

namespace parlance::recogniser {

struct Configuration {
  std::uint32_t lex = 0;    // where inside a lexeme; 0: dead
  std::uint32_t frame = 0;  // what is open around it
  std::uint32_t count = 0;  // characters or bytes of the lexeme so far
  std::uint32_t extra = 0;

  bool dead() const { return lex == 0; }
  bool operator==(const Configuration&) const = default;
};

// ActivePart a JSON string in which every character is welcome.
struct StringHint {
  static constexpr std::uint32_t kMany = 0xFFFFFFFF;

  // Without this nothing below holds, and step() decides each byte.
  bool unconstrained = false;
  // The place inside an escape or a character.
  json::BodyState state = json::BodyState::kText;
  // Characters that may still come, and that must come before the quote.  One
  // that has begun (`state` is not kText) counts as still to come.
  std::uint32_t max_chars = kMany;
  std::uint32_t min_chars = 0;
  // Behind the closing quote after a sufficient number of characters; dead if
  // the string cannot end here at all.
  Configuration after = {};
  // Where that depends on the number of characters: what stands for
  // `min_chars`, `max_chars` and `after`, in ascending order; `max_chars` is
  // still what may come in all.  Else empty.  REQUIRES: not `has_exceptions`.
  struct AcceptingRange {
    std::uint32_t min_chars = 0;
    std::uint32_t max_chars = kMany;
    Configuration after = {};
  };
  std::vector<AcceptingRange> accepting_ranges = {};
  // Some continuations are exceptions to `after` (names of properties that
  // stand for something else, or were used): where the text so far is the
  // beginning of one.  Then following step() as long as string_hint() says
  // `has_exceptions` leads to every quote that is an exception.
  bool has_exceptions = false;
  // `after` also depends on the text of this string (items that have to
  // differ), which shows only where another string ends within the same token:
  // a remainder with a quote in it has to be read from the token's beginning.
  bool depends_on_text = false;
};

// Between two lexemes: white space may come and changes only the number of
// bytes of it that may still come.
struct WhitespaceHint {
  bool unconstrained = false;  // without this, no such statement
  // Bytes of white space that may still come.
  std::uint32_t max_bytes = 0;
  // Whatever comes behind it begins with one of {}[],:"-0123456789tfn.
  bool json = false;
  // The same place with no white space read: what comes after the white space
  // is decided from here.
  Configuration behind = {};
};

// What the rooms above keep with a recogniser, so that it lives as long.
class UserData {
 public:
  virtual ~UserData() = default;
  virtual std::size_t memory_bytes() const = 0;
};

// Not thread-safe: whoever calls holds a Lock (a mask is made under one).
//
// A recogniser may ask others, its parts, which it shares with recognisers of
// other grammars.  It takes the mutex of a part when it asks it, and of one
// part at a time: it gives one up before it takes another, so no two of them
// ever wait for each other.  A Lock gives up the last.
class Recogniser {
 public:
  class Lock {
   public:
    explicit Lock(Recogniser& of) : of_(of) { of_.mutex.lock(); }
    ~Lock() {
      of_.release();
      of_.mutex.unlock();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Recogniser& of_;
  };

  virtual ~Recogniser() = default;

  // Each once.
  virtual std::span<const std::shared_ptr<Recogniser>> parts() const {
    return {};
  }
  // Gives up the part that is held, if any.
  virtual void release() {}

  // The part that `config` is in, and where in it, if the part cannot end
  // there; else null.  It is held.  `behind` is a text that must come behind
  // the part.
  struct ActivePart {
    Recogniser* part = nullptr;
    Configuration config = {};
    std::string_view behind = {};
  };
  virtual ActivePart active_part(Configuration) { return {}; }
  // Whether any question since active_part() was about what is behind a part.
  virtual bool read_past_part() const { return true; }

  // May be asked without a lock.
  virtual Configuration start() = 0;
  // Dead unless some text continues `config` with `byte` to an accepted end.
  // A dead configuration stays dead.
  virtual Configuration step(Configuration config, std::uint8_t byte) = 0;
  virtual bool can_end(Configuration config) = 0;

  // Some places read a token by its id, whatever its bytes are.  `read` is
  // where the bytes of the token `id` lead from `from`, dead if they do not
  // fit; the answer is where the token leads.  Dead though `read` is not only
  // for the ids of token_choices().
  virtual Configuration step_token(Configuration, Configuration read,
                                   std::uint32_t) {
    return read;
  }
  // Adds the ids below `size` that may be read by their id, each once, in
  // order.
  virtual void token_marks(Configuration, std::uint32_t,
                           std::vector<std::uint32_t>&) {}
  // Adds ids of which step_token() alone says whether they may come, whatever
  // their bytes say.  Some may be among token_marks() too.
  virtual void token_choices(Configuration, std::vector<std::uint32_t>&) {}

  // Equal keys have equal masks for every token of at most `longest` bytes.
  // Counts that no token can exhaust are saturated here.
  virtual Configuration mask_key(Configuration config,
                                 std::uint32_t longest) = 0;

  // Another place with the same mask as this one, so that it need not be made
  // again; the same for many such places.  What is not known to have one is its
  // own.  A place comes to be known when its mask is made between
  // begin_tracking() and end_tracking(): all that the mask depends on was then
  // asked.
  virtual Configuration mask_equivalent(Configuration config) { return config; }
  virtual void begin_tracking() {}
  virtual void end_tracking(Configuration) {}

  virtual StringHint string_hint(Configuration config) = 0;
  // Whether string_hint(config) is `has_exceptions`; cheaper.
  virtual bool has_exceptions(Configuration config) {
    return string_hint(config).has_exceptions;
  }
  // In a body that is `has_exceptions`: the bytes behind which it is still
  // special, or an exception may end; any others may be in it too.
  virtual std::array<std::uint64_t, 4> exception_bytes(Configuration) {
    return {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0},
            ~std::uint64_t{0}};
  }
  // A set of bytes outside of which step() is dead.
  virtual std::array<std::uint64_t, 4> first_bytes(Configuration) {
    return {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0},
            ~std::uint64_t{0}};
  }
  // The same, but only as far as it costs less than to try a few bytes.
  virtual std::array<std::uint64_t, 4> likely_bytes(Configuration) {
    return {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0},
            ~std::uint64_t{0}};
  }
  virtual WhitespaceHint whitespace_hint(Configuration config) = 0;
  // Whether letters, digits and the like mostly lead to few places, so that
  // tokens are best read by their shapes.
  virtual bool by_shapes(Configuration) { return false; }

  // A number equal for configurations of different recognisers only if the
  // bytes that keep the lexeme going (not those that end it) are the same for
  // both, so that such work can be shared; 0 when there is none.
  virtual std::uint64_t lexeme_fingerprint(Configuration config) = 0;
  // Whether the step from `from` to `to` went on with the lexeme of `from`.
  // REQUIRES: lexeme_fingerprint(from) != 0 and `to` is a step from there, not
  // dead.
  virtual bool same_lexeme(Configuration from, Configuration to) {
    return from.frame == to.frame && lexeme_fingerprint(to) != 0;
  }
  // The only byte that can end the lexeme, here or later and in whatever
  // recogniser has the same fingerprint and the same answer (a quote for
  // strings); kJsonEnd: white space, or one of ,]} ; kAnyEnd: any byte may.
  //
  // A bound on the lexeme's length is not part of the fingerprint where
  // chars_left() is not kMany: then lexeme_unbounded() is the same place
  // without the bound, and a step within the lexeme from there to `to` is one
  // from `config` if chars_needed(config, to) <= chars_left(config).
  virtual std::uint32_t chars_left(Configuration) { return StringHint::kMany; }
  virtual Configuration lexeme_unbounded(Configuration config) {
    return config;
  }
  virtual std::uint32_t chars_needed(Configuration, Configuration) { return 0; }
  // Whether `lex` alone says what keeps the lexeme going, in a string between
  // two characters and without regard to a bound that lexeme_unbounded() takes
  // away.  Then the next four may be asked about the `lex` of that place and
  // those that lexeme_step() leads to.
  virtual bool lexeme_by_state(Configuration) { return false; }
  // The state of the lexeme behind `byte`; 0: it does not go on so.
  // REQUIRES: `byte` is not the closing quote.
  virtual std::uint32_t lexeme_step(std::uint32_t, std::uint8_t) { return 0; }
  // Characters that are still needed; one that has begun counts.
  virtual std::uint32_t min_chars_to_accept(std::uint32_t) { return 0; }
  // If no text leads out of the lexeme any more (but for what no string has in
  // it): a bound on min_chars_to_accept() behind whatever whole characters;
  // else kMany.  May say kMany where that is hard to see.
  virtual std::uint32_t max_min_chars(std::uint32_t) {
    return StringHint::kMany;
  }
  // Whether a character of the lexeme may be written in every way that JSON
  // has; else only with the escapes that JSON needs.
  virtual bool lexeme_any_escapes(std::uint32_t) { return true; }
  // A lexeme without a fingerprint may be one of a few words, or else one that
  // has a fingerprint.  These two places by themselves: a byte leads from the
  // lexeme to somewhere if it does from one of them, and what is behind the
  // lexeme is reached from one of them only, and is the same.  No words: dead.
  // Nothing else, or no such lexeme: both are dead.
  struct LexemeSplit {
    Configuration words, others;
  };
  virtual LexemeSplit split_lexeme(Configuration) { return {}; }
  static constexpr int kAnyEnd = -1;
  static constexpr int kJsonEnd = -2;
  virtual int lexeme_end(Configuration) { return kAnyEnd; }

  // --- What places have in common whatever is around them.
  //
  // Where a value comes, what may stand in it does not depend on what comes
  // behind it.  value_state() is the same place with nothing known behind the
  // value: equal for all places whose value is the same.  Reading from there
  // ends in an left_value() configuration, which no byte continues, when the
  // value is over; resume() says what that is at the real place.  Dead where
  // there is no such place.
  virtual Configuration value_state(Configuration) { return {}; }
  virtual bool left_value(Configuration) { return false; }
  // Of an escaped configuration: only the last byte showed that the value is
  // over (`12}`).  Whether it fits is for resume() to say.
  virtual bool ended_by_lookahead(Configuration) { return false; }
  virtual Configuration resume(Configuration, Configuration) { return {}; }
  // Equal for relative places of different recognisers only if what may stand
  // in the value is the same, and nothing can tell how it ended apart; 0 when
  // there is no such number.  translate_left_value() is then how every value
  // ends that ended as the second of them with another of these recognisers.
  virtual std::uint64_t value_fingerprint(Configuration) { return 0; }
  virtual Configuration translate_left_value(Configuration, Configuration) {
    return {};
  }
  // A place that most tokens cannot tell from this one, equal for many places:
  // a token is read from both or from none, unless it leads from the coarse to
  // an left_value() configuration and goes on there (or its last byte leads to
  // one that is ended_by_lookahead()), or ends an exception of a
  // `has_exceptions` string_hint() here, and not with its first byte.  Dead
  // where there is no such place.
  virtual Configuration coarse_state(Configuration) { return {}; }
  // As step(), but a byte after which a value comes may lead to the relative
  // place instead, which costs less where nobody goes there in the end.
  virtual Configuration step_or_value_state(Configuration config,
                                            std::uint8_t byte) {
    return step(config, byte);
  }

  // What may come, for people: `"a string", "}" or ","`.
  virtual std::string expected(Configuration config) = 0;

  // --- Memory.
  //
  // A recogniser has room for a certain number of bytes.  When they are used it
  // is full(): whatever it says still holds, but whoever begins something new
  // goes on with the successor(), which reads the same texts and begins with
  // empty tables.  A place is taken along by adopt(), or found again by reading
  // the text.
  virtual bool full() { return false; }
  // Some configurations were made dead for lack of memory: what was asked last
  // may be wrong, and what is asked next.  The configurations from before are
  // right.
  virtual bool overflowed() const { return false; }
  // Another one for the same texts, with empty tables.  Parts that are full are
  // replaced by their successors, unless `same_parts`.  Null: there is none,
  // and this one is never full.
  virtual std::shared_ptr<Recogniser> fresh(bool /*same_parts*/) {
    return nullptr;
  }
  // The same place here as `config` in `from`, whatever memory that takes; dead
  // if that is not known.  REQUIRES: one of the two is fresh() of the other, by
  // any number of steps; both are locked.
  virtual Configuration adopt(Recogniser& /*from*/, Configuration) {
    return {};
  }
  // Whether it may know.
  virtual bool adopts() const { return false; }
  // Room for so many bytes more.
  virtual void widen(std::size_t /*bytes*/) {}

  // One with room: the same for all who ask.
  // REQUIRES: the caller does not hold the mutex.
  std::shared_ptr<Recogniser> successor();
  // `one`, or the first that is not full of its successors.
  static std::shared_ptr<Recogniser> with_room(std::shared_ptr<Recogniser> one);

  // Bytes of the tables built so far, without parts and user_data.
  virtual std::size_t own_bytes() const = 0;
  std::size_t user_data_bytes() const;
  // All of it.
  std::size_t memory_bytes();

  // CacheEntry under a number that is the key's alone (new_user_key()).  Null:
  // none.
  std::shared_ptr<UserData> user_data(std::uint64_t key) const;
  // Only the last few owners keep theirs.
  void set_user_data(std::uint64_t key, std::shared_ptr<UserData> user_data);
  static std::uint64_t new_user_key();

  std::mutex mutex;

 private:
  struct UserEntry {
    std::uint64_t key = 0;
    std::shared_ptr<UserData> what;
  };
  std::vector<UserEntry> user_entries_;

  // The last of the successors of one another, kept by the first of them.
  struct Line {
    std::mutex mutex;
    std::shared_ptr<Recogniser> newest;
  };
  std::mutex line_mutex_;  // of the next two
  std::shared_ptr<Line> line_;
  std::weak_ptr<Line> line_of_first_;
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_RECOGNISER_H_
