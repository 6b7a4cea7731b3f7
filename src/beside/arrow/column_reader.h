#ifndef PARLANCE_SRC_ARROW_COLUMN_READER_H_
#define PARLANCE_SRC_ARROW_COLUMN_READER_H_

// The rows of a column of texts or of token ids, whatever its Arrow type.
//
//   string, binary      offsets of 32 bits, then the bytes
//   large_*             offsets of 64 bits, then the bytes
//   *_view              16 bytes a row: up to 12 bytes of text, or where it is
//   dictionary          the index of a text
//   list, large_list    offsets, and a child of integers
//   fixed-size list     as many integers a row
//   list views          offsets and sizes, and a child of integers
//
// An extension type is read as the type that stores it, as the specification
// asks of readers that do not know it.
//
// What the interface lets a reader check is checked: the structs when a reader
// is made, and the offsets, indices and sizes of a row when the row is read.
// The interface does not give the sizes of the buffers that have offsets, and
// of those that offsets of texts point into: these are trusted.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "parlance/arrow.h"
#include "parlance/error.h"
#include "parlance/vocabulary.h"

namespace parlance::arrow {

// Immutable; safe to share between threads.  Borrows the column.
class ColumnReader {
 public:
  // `what` names the column in messages: "the responses".
  // Errors: kWrongType; kUsage for structs that were released, or do not fit
  // each other or the specification; kTooLarge.
  static Result<ColumnReader> make(const ArrowColumn& column,
                                   std::string_view what);

  std::size_t size() const { return static_cast<std::size_t>(array_->length); }
  // Whether rows are lists of token ids.
  bool of_ids() const { return integers_ != Integers::kNone; }
  bool is_null(std::size_t row) const;

  // Errors: kUsage if the offsets of the row lie outside of the column.
  // REQUIRES: !is_null(row) and !of_ids().
  Result<std::string_view> text(std::size_t row) const;
  // Appends the token ids of a row.  Returns an error at an id that is null,
  // negative, or of more than 32 bits, and as text().
  // REQUIRES: !is_null(row) and of_ids().
  std::optional<Error> ids(std::size_t row, std::vector<TokenId>& out) const;

 private:
  enum class Layout : std::uint8_t {
    kNull,
    kOffsets32,
    kOffsets64,
    kViews,       // of texts
    kFixed,       // lists of width_ items
    kListView32,  // offsets and sizes
    kListView64,
    kDictionary,
  };
  enum class Integers : std::uint8_t {
    kNone,
    kI8,
    kU8,
    kI16,
    kU16,
    kI32,
    kU32,
    kI64,
    kU64
  };
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  static Result<ColumnReader> make_dictionary(const ArrowColumn& column,
                                              std::string_view what);
  static Integers integers_of(std::string_view format);
  std::int64_t integer(const ArrowArray& array, std::int64_t at) const;
  // Nothing if the range lies outside of the items, or begins after its end.
  std::optional<Range> range(std::int64_t at) const;
  std::optional<std::string_view> view(std::int64_t at) const;
  template <class T>
  static const T* buffer(const ArrowArray& array, std::size_t index) {
    return static_cast<const T*>(array.buffers[index]);
  }

  const ArrowArray* array_ = nullptr;
  Layout layout_ = Layout::kNull;
  Integers integers_ = Integers::kNone;  // the items of lists
  Integers indices_ = Integers::kNone;   // of a dictionary
  std::int64_t width_ = 0;
  std::shared_ptr<const ColumnReader> words_;  // the texts of a dictionary
};

}  // namespace parlance::arrow

#endif  // PARLANCE_SRC_ARROW_COLUMN_READER_H_
