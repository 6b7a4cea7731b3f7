#ifndef PARLANCE_SRC_VOCAB_TABLE_H_
#define PARLANCE_SRC_VOCAB_TABLE_H_

// A vocabulary as a table from id to bytes and kind, built from any source.
//
// One blob contains the bytes of all tokens, and a slot of eight bytes for each
// id has the position and size of the token's bytes.  Two hundred thousand
// tokens take about three megabytes, in one allocation for the blob and one for
// the slots.
//
//   blob_   | t h e |   i n g | < | e n d | > | ...
//             ^0      ^3        ^7
//   slots_  [ {0,3} {3,4} unused {7,5,control} ... ]
//
// The properties that only added and control tokens have are in a separate
// list, because these tokens are few.  The index of all spellings is a hash
// table with chains: a bucket has the lowest of its ids, and next_ links each
// id to the next higher id of the bucket.
//
// A table is a view of its arrays, which are in memory or in a mapped file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "vocab/flat_arrays.h"

namespace parlance::vocab {

using Id = std::uint32_t;

// ORDER: TokenKind
enum class Kind : std::uint8_t { kOrdinary, kAdded, kControl, kUnused };

inline bool is_special(Kind kind) {
  return kind == Kind::kAdded || kind == Kind::kControl;
}

// The largest id.  Token tables use the next number for "no token".  The limit
// also bounds the memory for empty slots: the largest vocabularies of today
// have 2^18 ids, and one absurd id in a file must not take gigabytes.
inline constexpr Id kMaxId = (Id{1} << 24) - 2;

// The properties that only added and control tokens have.
struct SpecialToken {
  std::string_view spelling = {};  // "": the same as the bytes
  bool strips_left = false;
  bool strips_right = false;
};

// The properties of a vocabulary that its copies can replace.
struct TableProperties {
  std::optional<std::span<const Id>> stop_ids = std::nullopt;
  bool space_after_marks = false;
};

// Immutable.  Copies share the arrays.
class Table {
 public:
  std::size_t size() const { return slots_.size(); }
  Kind kind(Id id) const {
    return id < slots_.size() ? static_cast<Kind>(slots_[id].kind)
                              : Kind::kUnused;
  }
  std::string_view bytes(Id id) const {
    if (id >= slots_.size()) return {};
    return {blob_.data() + slots_[id].begin, slots_[id].size};
  }
  // For an added or control token, its text in a prompt; for any other token,
  // its bytes.
  std::string_view spelling(Id id) const;
  bool strips_left(Id id) const;
  bool strips_right(Id id) const;

  // The lowest added or control token with this spelling.
  std::optional<Id> special(std::string_view spelling) const;
  // find_first() returns the lowest token, of any kind, with this spelling.
  // find_next() returns the lowest token above `id` with the spelling of `id`.
  std::optional<Id> find_first(std::string_view spelling) const;
  std::optional<Id> find_next(Id id) const;
  std::span<const Id> special_ids() const { return special_ids_; }
  // Nothing if the source does not define which ids end a response.
  const std::optional<std::vector<Id>>& stop_ids() const { return stop_ids_; }
  bool strip_leading_space() const { return strip_leading_space_; }
  bool space_after_marks() const { return space_after_marks_; }

  // A number that depends on the bytes, spellings and kinds of all tokens.
  std::uint64_t fingerprint() const { return fingerprint_; }

  // The table with other properties as bytes, a multiple of 8.
  std::string save(const TableProperties& properties) const;
  // Reads what save() wrote.  Nothing if it is malformed: no function of the
  // table reads outside of its arrays, whatever `saved` contains.  Its index
  // may lack spellings, and its fingerprint may be wrong; a checksum is for
  // the caller to compare.
  // Complexity: O(ids), without copying a token.
  static std::optional<Table> read(OwnedBytes saved);

 private:
  friend class TableBuilder;
  Table() = default;

  struct Slot {
    std::uint32_t begin = 0;
    std::uint32_t size : 30 = 0;
    std::uint32_t kind : 2 = static_cast<std::uint32_t>(Kind::kUnused);
  };
  static_assert(sizeof(Slot) == 8);

  struct Special {
    Id id = 0;
    std::uint32_t begin = 0;  // the spelling, in blob_
    std::uint32_t size = 0;
    std::uint32_t flags = 0;
  };
  static_assert(sizeof(Special) == 16);
  static constexpr std::uint32_t kStripsLeft = 1;
  static constexpr std::uint32_t kStripsRight = 2;

  struct Arrays {
    std::vector<char> blob;
    std::vector<Slot> slots;
    std::vector<Special> special;
    std::vector<Id> buckets, next;
  };
  struct Saved;

  explicit Table(std::shared_ptr<const Arrays> arrays);
  // Whether the arrays refer to each other as described below.
  bool fits_together() const;

  const Special* special_of(Id id) const;
  std::string_view spelling(const Special& special) const {
    return {blob_.data() + special.begin, special.size};
  }
  // The first token with this spelling in the chain from `id` on.
  std::optional<Id> follow(Id id, std::string_view spelling) const;
  std::size_t bucket_of(std::uint64_t hash) const;

  std::shared_ptr<const void> owner_;  // of the arrays
  std::span<const char> blob_;
  std::span<const Slot> slots_;
  std::span<const Special> special_;  // by id, one for each special token
  std::span<const Id> buckets_;       // a power of two of them, or none
  std::span<const Id> next_;          // by id; kNoId ends a chain
  std::vector<Id> special_ids_;       // ascending
  std::optional<std::vector<Id>> stop_ids_;  // in the order of the source
  bool strip_leading_space_ = false;
  bool space_after_marks_ = false;
  std::uint64_t fingerprint_ = 0;
};

// Collects tokens in any order.
class TableBuilder {
 public:
  void reserve(std::size_t ids, std::size_t bytes);

  // The kind that `id` was added with, kUnused if it was not added.
  Kind kind(Id id) const {
    return id < arrays_.slots.size() ? static_cast<Kind>(arrays_.slots[id].kind)
                                     : Kind::kUnused;
  }
  bool has(std::uint64_t id) const {
    return id <= kMaxId && kind(static_cast<Id>(id)) != Kind::kUnused;
  }

  // An added or control token of white space only becomes an ordinary one.
  // `special` is stored for added and control tokens only.
  // Errors, without a path or span: kTooLarge, and kBadVocabulary for an id
  // that was added before.
  std::optional<Error> add(std::uint64_t id, std::string_view bytes, Kind kind,
                           const SpecialToken& special = {});

  // Makes the table at least `ids` long.  Error: kTooLarge.
  std::optional<Error> pad(std::uint64_t ids);

  // Makes the table exactly `ids` long, the size of a model's output.  Tokens
  // beyond it are dropped, since the model cannot emit them.
  // Error: kTooLarge.
  std::optional<Error> resize(std::uint64_t ids);

  // The lowest added or control token with this spelling, or else the lowest
  // ordinary token.  Complexity: O(tokens).
  std::optional<Id> find(std::string_view spelling) const;

  // Records that the source defines the ids that end a response, even if it
  // names none.
  void set_stops_known();

  // Adds a stop id; an id that is added twice is stored once.  Error:
  // kBadVocabulary for an id without a token. REQUIRES: every token was added.
  std::optional<Error> add_stop(std::uint64_t id);

  void set_strip_leading_space(bool strip) { strip_leading_space_ = strip; }
  void set_space_after_marks(bool space) { space_after_marks_ = space; }

  // The table; the builder is empty afterwards.
  Table finish();

 private:
  std::string_view text(std::uint32_t begin, std::uint32_t size) const {
    return {arrays_.blob.data() + begin, size};
  }
  std::string_view bytes_of(Id id) const {
    return text(arrays_.slots[id].begin, arrays_.slots[id].size);
  }

  Table::Arrays arrays_;
  std::optional<std::vector<Id>> stop_ids_;
  bool strip_leading_space_ = false;
  bool space_after_marks_ = false;
};

// The error that the stop id `id` has no token in a vocabulary of `size` ids.
Error unknown_stop(std::uint64_t id, std::size_t size);

// `bytes` in double quotes, for an error message: at most the first 40 bytes;
// control characters and bytes that are not UTF-8 are written as \xnn.
std::string printable(std::string_view bytes);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TABLE_H_
