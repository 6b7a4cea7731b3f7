#ifndef PARLANCE_SRC_VOCAB_TABLE_H_
#define PARLANCE_SRC_VOCAB_TABLE_H_

// The table that every source of a vocabulary becomes: id -> bytes and kind.
//
// All bytes stand one after the other in one blob; a slot of eight bytes per id
// says where.  Two hundred thousand tokens take about three megabytes and one
// allocation each for blob and slots, whatever the source.
//
//   blob_   | t h e |   i n g | < | e n d | > | ...
//             ^0      ^3        ^7
//   slots_  [ {0,3} {3,4} unused {7,5,special} ... ]

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parlance/error.h"

namespace parlance::vocab {

using Id = std::uint32_t;

// ORDER: TokenKind
enum class Kind : std::uint8_t { kOrdinary, kSpecial, kUnused };

// Ids from 0 to this one can be used.  The largest vocabularies of today have
// 2^18 ids; one absurd id in a file must not cost gigabytes of empty slots.
inline constexpr Id kMaxId = (Id{1} << 24) - 1;

class Table {
 public:
  Table(Table&&) = default;
  Table& operator=(Table&&) = default;
  Table(const Table&) = delete;  // specials_ points into blob_
  Table& operator=(const Table&) = delete;

  std::size_t size() const { return slots_.size(); }
  Kind kind(Id id) const {
    return id < slots_.size() ? static_cast<Kind>(slots_[id].kind)
                              : Kind::kUnused;
  }
  std::string_view bytes(Id id) const {
    if (id >= slots_.size()) return {};
    return {blob_.data() + slots_[id].begin, slots_[id].size};
  }
  // Whether the source flags the token as one that plain text leaves out.
  bool hidden(Id id) const { return id < slots_.size() && slots_[id].hidden; }

  std::optional<Id> special(std::string_view spelling) const;
  // The first token from `from` on with exactly these bytes.
  std::optional<Id> find(std::string_view bytes, Id from) const;
  std::span<const Id> special_ids() const { return special_ids_; }
  std::span<const Id> stop_ids() const { return stop_ids_; }
  bool strip_leading_space() const { return strip_leading_space_; }

  // Bytes of memory, the special tokens' index estimated.
  std::size_t memory_bytes() const;

 private:
  friend class TableBuilder;
  Table() = default;

  struct Slot {
    std::uint32_t begin = 0;
    std::uint32_t size : 29 = 0;
    std::uint32_t kind : 2 = static_cast<std::uint32_t>(Kind::kUnused);
    std::uint32_t hidden : 1 = 0;
  };
  static_assert(sizeof(Slot) == 8);

  std::vector<char> blob_;
  std::vector<Slot> slots_;
  std::unordered_map<std::string_view, Id> specials_;  // views into blob_
  std::vector<Id> special_ids_;                        // ascending
  std::vector<Id> stop_ids_;                           // as the source has them
  bool strip_leading_space_ = false;
};

// Collects tokens in any order.
class TableBuilder {
 public:
  void reserve(std::size_t ids, std::size_t bytes);

  // What `id` was added as, kUnused if it was not.
  Kind kind(Id id) const { return table_.kind(id); }

  // Errors, without a path or span: kTooLarge, and kBadVocabulary for an id
  // that was added before.  `hidden` is kept for special tokens only.
  std::optional<Error> add(std::uint64_t id, std::string_view bytes, Kind kind,
                           bool hidden = true);

  // Makes the table at least `ids` long.  Error: kTooLarge.
  std::optional<Error> pad(std::uint64_t ids);

  // An id given twice is kept once.  Error: kBadVocabulary for an id without
  // a token.
  // REQUIRES: every token was added.
  std::optional<Error> add_stop(std::uint64_t id);

  void set_strip_leading_space(bool strip) {
    table_.strip_leading_space_ = strip;
  }

  // The table; the builder is empty afterwards.
  Table finish();

 private:
  Table table_;
};

// `bytes` in double quotes for a message: at most 40 bytes of it, what is not
// printable as \xnn.
std::string quoted(std::string_view bytes);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TABLE_H_
