#ifndef PARLANCE_SRC_RECOGNISER_RECOGNISER_H_
#define PARLANCE_SRC_RECOGNISER_RECOGNISER_H_

// The interface between a language and the masks: a recogniser reads a text of
// its language byte by byte.
//
//   Configuration at = recogniser.start();
//   for (std::uint8_t byte : text) at = recogniser.step(at, byte);
//   if (recogniser.can_end(at)) ...  // `text` is a text of the language
//
// A configuration determines what may follow.  It is a plain value of 16 bytes,
// so forks, rollbacks and draft trees copy it.  The tables that it indexes are
// built lazily and only grow, so a configuration is valid for as long as its
// recogniser.
//
// The invariant that everything rests on: a configuration that is not dead can
// be continued to an accepted text.
//
// step() alone is enough to compute any mask.  The other functions make masks
// cheaper.  Hints describe whole classes of tokens at once (StringHint,
// WhitespaceHint).  Six functions identify configurations, each more coarsely
// or in a wider scope, so that their masks are shared:
//   mask_key()            same mask, for tokens of a bounded length
//   mask_equivalent()     same mask, found by tracking what a mask depends on
//   active_part()         same part, whichever grammar uses the part
//   lexeme_fingerprint()  same rest of the lexeme, in any recogniser
//   value_state()         same rest of the JSON value, whatever follows it
//   coarse_state()        same mask, except for tokens that must be rechecked

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/unbounded.h"
#include "json/string_body.h"

namespace parlance::recogniser {

struct Configuration {
  std::uint32_t lex = 0;    // the state inside the lexeme; 0: dead
  std::uint32_t frame = 0;  // what encloses the lexeme
  std::uint32_t count = 0;  // characters or bytes of the lexeme so far
  std::uint32_t extra = 0;  // its meaning depends on `lex`

  bool dead() const { return lex == 0; }
  bool operator==(const Configuration&) const = default;
};

// The rest of a JSON string in which every character is allowed.
struct StringHint {
  // If false, the configuration is not inside such a string: the other members
  // mean nothing, and step() decides each byte.
  bool unconstrained = false;
  // The position inside an escape or a UTF-8 sequence.
  json::BodyState state = json::BodyState::kText;
  // How many more characters the string may have, and must have before the
  // closing quote.  A character that has begun (`state` is not kText) is
  // counted in both.
  std::uint32_t max_chars = base::kUnbounded;
  std::uint32_t min_chars = 0;
  // The configuration after the closing quote, if there were enough characters.
  // Dead if the string cannot end here at all.
  Configuration after = {};
  // If `after` depends on the number of characters: `after` for each range of
  // that number, in ascending order.  The ranges then replace `min_chars` and
  // `after`; `max_chars` is still the maximum over all ranges.
  // Empty otherwise, and whenever `has_exceptions`.
  struct AcceptingRange {
    std::uint32_t min_chars = 0;
    std::uint32_t max_chars = base::kUnbounded;
    Configuration after = {};
  };
  std::vector<AcceptingRange> accepting_ranges = {};
  // The text so far is a prefix of a string that does not lead to `after`: an
  // object key that the schema treats specially, or one that was used before.
  // Every closing quote that is such an exception is found by following step()
  // through configurations whose string_hint() also `has_exceptions`.
  bool has_exceptions = false;
  // `after` also depends on the text of this string (the items of an array must
  // differ).  The difference shows only where another string ends within the
  // same token, so a token with a further quote after the closing quote must be
  // read from its first byte, not from `after`.
  bool depends_on_text = false;
};

// The position is between two lexemes: white space is allowed, and reading it
// changes only how many more bytes of white space are allowed.
struct WhitespaceHint {
  // If false, the configuration is at no such position, and the other members
  // mean nothing.
  bool unconstrained = false;
  // How many more bytes of white space are allowed.
  std::uint32_t max_bytes = 0;
  // The lexeme after the white space begins with one of {}[],:"-0123456789tfn.
  bool json = false;
  // The same position before any white space was read.  It decides what may
  // come after the white space.
  Configuration without_space = {};
};

// Data that a user of the recogniser stores with it, so that both live equally
// long: the masks made for one vocabulary, for instance.
class UserData {
 public:
  virtual ~UserData() = default;
  virtual std::size_t memory_bytes() const = 0;
};

// Not thread-safe: the caller holds a Lock, for instance while it makes a mask.
//
// A recogniser may delegate to other recognisers, its parts, and recognisers of
// several grammars may share a part.  A recogniser locks a part when it uses
// the part, and holds at most one of them: it unlocks a part before it locks
// the next, so two recognisers never deadlock over their parts.  ~Lock()
// unlocks the last part as well.
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

  // The recognisers that this one delegates to, without duplicates.
  virtual std::span<const std::shared_ptr<Recogniser>> parts() const {
    return {};
  }
  // Unlocks the part that is locked, if any.
  virtual void release() {}

  // The part that alone reads at `config`, and its own configuration there.
  // Null if there is no such part, or if the part's text may end at `config`.
  // The part is locked until another is used or release() is called.
  // `forced_text` must follow the text of the part.
  struct ActivePart {
    Recogniser* part = nullptr;
    Configuration config = {};
    std::string_view forced_text = {};
  };
  virtual ActivePart active_part(Configuration) { return {}; }
  // Whether any result since active_part() depended on what follows a part.
  virtual bool read_past_part() const { return true; }

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
  // not only for the ids of token_choices().
  virtual Configuration step_token(Configuration, Configuration read,
                                   std::uint32_t) {
    return read;
  }
  // Appends the ids below `size` that are accepted by their id, ascending and
  // without duplicates.
  virtual void token_marks(Configuration, std::uint32_t,
                           std::vector<std::uint32_t>&) {}
  // Appends the ids that only step_token() decides, whether or not their bytes
  // fit.  Some of them may be among token_marks() as well.
  virtual void token_choices(Configuration, std::vector<std::uint32_t>&) {}

  // Configurations with equal keys have equal masks for every token of at most
  // `longest` bytes.  Counts that no token can exhaust are saturated.
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
  virtual void end_tracking(Configuration) {}

  virtual StringHint string_hint(Configuration config) = 0;
  // As string_hint(config).has_exceptions, but cheaper.
  virtual bool has_exceptions(Configuration config) {
    return string_hint(config).has_exceptions;
  }
  // A superset of the bytes after which a string that `has_exceptions` still
  // has exceptions, or ends as one.
  virtual std::array<std::uint64_t, 4> exception_bytes(Configuration) {
    return {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0},
            ~std::uint64_t{0}};
  }
  // A superset of the bytes that step() accepts.
  virtual std::array<std::uint64_t, 4> first_bytes(Configuration) {
    return {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0},
            ~std::uint64_t{0}};
  }
  // As first_bytes(), but never more expensive than to try a few bytes.
  virtual std::array<std::uint64_t, 4> likely_bytes(Configuration) {
    return {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0},
            ~std::uint64_t{0}};
  }
  virtual WhitespaceHint whitespace_hint(Configuration config) = 0;
  // Whether the bytes of a class (letters, digits, ...) mostly lead to few
  // configurations, so that a mask is best made for tokens of the same byte
  // classes at once.
  virtual bool prefers_classes(Configuration) { return false; }

  // --- Lexemes.  The tokens that stay inside a lexeme (a string, a number) are
  // found once and shared by all configurations with the same fingerprint.

  // Identifies the rest of the lexeme across recognisers: configurations with
  // equal fingerprints continue their lexemes with the same bytes, though other
  // bytes may end them.  0: there is no fingerprint.
  //
  // If chars_left() is not kUnbounded, the bound on the length of the lexeme is
  // not part of the fingerprint.
  virtual std::uint64_t lexeme_fingerprint(Configuration config) = 0;
  // Whether the step from `from` to `to` stayed inside the lexeme of `from`.
  // REQUIRES: lexeme_fingerprint(from) != 0; `to` is not dead and is one step
  // from `from`.
  virtual bool same_lexeme(Configuration from, Configuration to) {
    return from.frame == to.frame && lexeme_fingerprint(to) != 0;
  }
  // How many more characters the lexeme may have; kUnbounded: no bound, or the
  // bound is part of the fingerprint.
  //
  // A text inside the lexeme that leads from lexeme_unbounded(config) to `to`
  // is also accepted from `config`, within the bound, if
  // chars_needed(config, to) <= chars_left(config).
  virtual std::uint32_t chars_left(Configuration) { return base::kUnbounded; }
  // `config` without the bound.
  virtual Configuration lexeme_unbounded(Configuration config) {
    return config;
  }
  // The number of characters between the two configurations plus the number
  // that the lexeme must still have at the second.
  virtual std::uint32_t chars_needed(Configuration, Configuration) { return 0; }
  // Whether `config` is between two characters of a string whose rest, but for
  // a bound, depends on `lex` alone.  The four functions below then accept the
  // `lex` of lexeme_unbounded(config), and what lexeme_step() returns.
  virtual bool lexeme_by_state(Configuration) { return false; }
  // The state of the lexeme after `byte`; 0 if the lexeme does not continue
  // with it.
  // REQUIRES: `byte` is not the closing quote.
  virtual std::uint32_t lexeme_step(std::uint32_t, std::uint8_t) { return 0; }
  // The least number of characters before the lexeme may end.  A character that
  // has begun counts.
  virtual std::uint32_t min_chars_to_accept(std::uint32_t) { return 0; }
  // An upper bound of min_chars_to_accept() after any sequence of whole
  // characters, if no such sequence makes the lexeme fail; else kUnbounded. May
  // be kUnbounded where such a bound is hard to find.
  virtual std::uint32_t max_min_chars(std::uint32_t) {
    return base::kUnbounded;
  }
  // Whether the lexeme accepts every JSON spelling of a character.  If false,
  // it accepts only the escapes that JSON requires.
  virtual bool lexeme_any_escapes(std::uint32_t) { return true; }
  // Splits a lexeme that has no fingerprint into the fixed keys that it may
  // still spell (`keys`) and the rest, which has a fingerprint (`others`).
  // Their union accepts exactly what the lexeme accepts, and a byte that ends
  // the lexeme ends exactly one of the two, with the same configuration after
  // it.  `keys` is dead if there are no such keys; both are dead if the lexeme
  // cannot be split.
  struct LexemeSplit {
    Configuration keys, others;
  };
  virtual LexemeSplit split_lexeme(Configuration) { return {}; }
  // The only byte that can end the lexeme, now or later: a quote for strings.
  // This also holds in every recogniser that has the same fingerprint and
  // returns the same.  kJsonEnd: white space or one of ,]} ends it.  kAnyEnd:
  // any byte may end it.
  static constexpr int kAnyEnd = -1;
  static constexpr int kJsonEnd = -2;
  virtual int lexeme_end(Configuration) { return kAnyEnd; }

  // --- Values.  What a JSON value may contain does not depend on what follows
  // the value, so the mask of a value is made once for all its contexts.

  // `config` without what follows the value: equal for all configurations whose
  // value has the same rest.  Dead if there is none.
  //
  // Reading from a value_state() ends in a left_value() configuration, which
  // has no transitions, when the value is over.  resume() maps that
  // configuration back to the context of `config`.
  virtual Configuration value_state(Configuration) { return {}; }
  virtual bool left_value(Configuration) { return false; }
  // Whether only a byte after the value showed that the value is over, as `}`
  // does in `12}`.  resume() decides whether that byte fits.
  // REQUIRES: left_value(config).
  virtual bool ended_by_lookahead(Configuration) { return false; }
  // The configuration that continues `config` after its value has ended as the
  // second argument says, a left_value() configuration.  Dead if it does not
  // fit.
  virtual Configuration resume(Configuration, Configuration) { return {}; }
  // Identifies a value_state() across recognisers: equal only if the values
  // accepted are the same, and if what follows cannot depend on which of them
  // was read.  0: there is no fingerprint.
  virtual std::uint64_t value_fingerprint(Configuration) { return 0; }
  // A left_value() configuration of a recogniser with the same
  // value_fingerprint(), translated to this recogniser.
  virtual Configuration translate_left_value(Configuration, Configuration) {
    return {};
  }
  // A coarser configuration, shared by many.  A token is accepted from both or
  // from neither, except for two kinds of tokens, which the caller must
  // recheck:
  //   * tokens that continue after a left_value() configuration of the coarse
  //     one, or whose last byte leads to one that is ended_by_lookahead();
  //   * tokens that complete an exception of string_hint(config) after their
  //     first byte.
  // Dead if there is none.
  virtual Configuration coarse_state(Configuration) { return {}; }
  // As step(), but a byte after which a value begins may lead to the
  // value_state() instead.  That is cheaper if the result is not used in the
  // end.
  virtual Configuration step_or_value_state(Configuration config,
                                            std::uint8_t byte) {
    return step(config, byte);
  }

  // What may come at `config`, in words for messages: `"a string", "}" or ","`.
  virtual std::string expected(Configuration config) = 0;

  // --- Memory.
  //
  // The tables of a recogniser have a budget in bytes.  When it is used up the
  // recogniser is full(): all results still hold, but a new text should be read
  // with the successor(), which accepts the same texts and begins with empty
  // tables.  A configuration is moved there by adopt(), or found again by
  // reading the text.
  virtual bool full() { return false; }
  // Some configurations are dead only because the budget was exceeded: results
  // of the last call and of calls after it may be wrong.  Configurations from
  // before it are right.
  virtual bool overflowed() const { return false; }
  // A recogniser of the same language with empty tables.  Unless `same_parts`,
  // parts that are full are replaced by their successors.  Null if this
  // recogniser is never full.
  virtual std::shared_ptr<Recogniser> fresh(bool /*same_parts*/) {
    return nullptr;
  }
  // The configuration here that corresponds to `config` of `from`, whatever
  // memory that takes; dead if it is not known.
  // REQUIRES: one of the two was derived from the other by calls of fresh();
  // the caller holds a Lock of both.
  virtual Configuration adopt(Recogniser& /*from*/, Configuration) {
    return {};
  }
  // Whether adopt() is implemented.
  virtual bool adopts() const { return false; }
  // Increases the budget by `bytes`.
  virtual void widen(std::size_t /*bytes*/) {}

  // A recogniser of the same language that is not full: the same one for all
  // callers.
  // REQUIRES: the caller does not hold the mutex.
  std::shared_ptr<Recogniser> successor();
  // `one`, or the first of its successors that is not full.
  static std::shared_ptr<Recogniser> with_room(std::shared_ptr<Recogniser> one);

  // Bytes of the tables built so far, without the parts and the user data.
  virtual std::size_t own_bytes() const = 0;
  std::size_t user_data_bytes() const;
  // Bytes of everything: tables, parts and all user data.
  std::size_t memory_bytes();

  // The data stored under `key`; null if there is none.
  std::shared_ptr<UserData> user_data(std::uint64_t key) const;
  // Stores data under `key`.  The recogniser stores data for a few keys only,
  // and drops the oldest.
  // REQUIRES: `key` is from new_user_key() and has no data here.
  void set_user_data(std::uint64_t key, std::shared_ptr<UserData> user_data);
  // A key that no other call has returned.
  static std::uint64_t new_user_key();

  std::mutex mutex;

 private:
  struct UserEntry {
    std::uint64_t key = 0;
    std::shared_ptr<UserData> what;
  };
  std::vector<UserEntry> user_entries_;

  // The newest of a chain of successors, owned by the first of them.
  struct Line {
    std::mutex mutex;
    std::shared_ptr<Recogniser> newest;
  };
  std::mutex line_mutex_;  // guards the two members below
  std::shared_ptr<Line> line_;
  std::weak_ptr<Line> line_of_first_;
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_RECOGNISER_H_
