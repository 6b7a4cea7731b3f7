// Reads columns of any Arrow type for texts or token ids: see column_reader.h.

#include "arrow/column_reader.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace parlance::arrow {
namespace {

bool bit(const std::uint8_t* bits, std::int64_t at) {
  return (bits[at >> 3] >> (at & 7) & 1) != 0;
}

bool is_null_at(const ArrowArray& array, std::int64_t at) {
  if (array.n_buffers == 0 || array.null_count == 0) return false;
  const auto* bits = static_cast<const std::uint8_t*>(array.buffers[0]);
  return bits != nullptr && !bit(bits, at);
}

// One row of a view column: the specification's 16 bytes.
struct View {
  std::int32_t size;
  char text[4];  // the first bytes; all 12 follow if that is enough
  std::int32_t buffer;
  std::int32_t offset;
};
static_assert(sizeof(View) == 16);
constexpr std::int32_t kInlineBytes = 12;

// The longest column, and the furthest row in the buffers.  Sizes of buffers up
// to there fit 64 bits.
constexpr std::int64_t kMaxRows = std::int64_t{1} << 32;
constexpr std::int64_t kMaxOffset = std::int64_t{1} << 56;

Error unfit(std::string_view what, std::string_view why) {
  return Error{
      ErrorCode::kUsage,
      std::string(what) + " are no valid Arrow column: " + std::string(why)};
}

Error outside(std::string_view what) {
  return Error{ErrorCode::kUsage,
               "the Arrow column has " + std::string(what) +
                   " of this row that lie outside of it, so it is not read"};
}

// What can be checked of both structs, whatever the type is.
std::optional<Error> check(const ArrowColumn& column, std::string_view what) {
  if (column.schema == nullptr || column.array == nullptr) {
    return unfit(what, "a part of the column is missing");
  }
  const ArrowSchema& schema = *column.schema;
  const ArrowArray& array = *column.array;
  if (schema.release == nullptr || array.release == nullptr) {
    return unfit(what,
                 "it was released or consumed before; a column is given once");
  }
  if (schema.format == nullptr) return unfit(what, "it has no format");
  if (array.length < 0 || array.offset < 0) {
    return unfit(what, "its length or offset is negative");
  }
  if (array.length > kMaxRows || array.offset > kMaxOffset) {
    return Error{ErrorCode::kTooLarge, std::string(what) + " are more than " +
                                           std::to_string(kMaxRows) + " rows"};
  }
  if (array.n_buffers < 0 ||
      (array.n_buffers > 0 && array.buffers == nullptr)) {
    return unfit(what, "its buffers are missing");
  }
  if (schema.n_children != array.n_children || array.n_children < 0 ||
      (array.n_children > 0 &&
       (schema.children == nullptr || array.children == nullptr))) {
    return unfit(what, "its array and its schema differ in their children");
  }
  if ((schema.dictionary == nullptr) != (array.dictionary == nullptr)) {
    return unfit(what, "only one of its array and its schema has a dictionary");
  }
  return std::nullopt;
}

// Whether the array has the first `count` buffers, of which those from
// `begin` on have an entry for each row.
bool has_buffers(const ArrowArray& array, std::int64_t count,
                 std::int64_t begin, std::int64_t end) {
  if (array.n_buffers < count) return false;
  if (array.length == 0) return true;
  for (std::int64_t i = begin; i < end; ++i) {
    if (array.buffers[i] == nullptr) return false;
  }
  return true;
}

Error no_buffers(std::string_view what) {
  return unfit(what, "it has fewer buffers than its type needs");
}

Error wrong_type(std::string_view what, const std::string& found) {
  return Error{ErrorCode::kWrongType,
               std::string(what) + " are a column of Arrow type " + found +
                   "; this takes texts (string, large_string, string_view, "
                   "binary, or a dictionary of them) and lists of integers, "
                   "which are token ids"};
}

}  // namespace

ColumnReader::Integers ColumnReader::integers_of(std::string_view format) {
  if (format.size() != 1) return Integers::kNone;
  switch (format[0]) {
    case 'c':
      return Integers::kI8;
    case 'C':
      return Integers::kU8;
    case 's':
      return Integers::kI16;
    case 'S':
      return Integers::kU16;
    case 'i':
      return Integers::kI32;
    case 'I':
      return Integers::kU32;
    case 'l':
      return Integers::kI64;
    case 'L':
      return Integers::kU64;
    default:
      return Integers::kNone;
  }
}

Result<ColumnReader> ColumnReader::make(const ArrowColumn& column,
                                        std::string_view what) {
  if (auto error = check(column, what)) return *std::move(error);
  if (column.schema->dictionary != nullptr) {
    return make_dictionary(column, what);
  }
  // The buffers of the type, and which of them have an entry for each row.
  struct Type {
    std::string_view format;
    Layout layout;
    std::int64_t buffers;
    std::int64_t entries_end;  // from buffer 1 on
  };
  constexpr Type kTexts[] = {
      {"n", Layout::kNull, 0, 0},      {"u", Layout::kOffsets32, 3, 2},
      {"z", Layout::kOffsets32, 3, 2}, {"U", Layout::kOffsets64, 3, 2},
      {"Z", Layout::kOffsets64, 3, 2}, {"vu", Layout::kViews, 3, 2},
      {"vz", Layout::kViews, 3, 2}};
  constexpr Type kLists[] = {{"+l", Layout::kOffsets32, 2, 2},
                             {"+L", Layout::kOffsets64, 2, 2},
                             {"+vl", Layout::kListView32, 3, 3},
                             {"+vL", Layout::kListView64, 3, 3}};
  const std::string_view format = column.schema->format;
  const ArrowArray& array = *column.array;
  ColumnReader made;
  made.array_ = &array;
  for (const Type& type : kTexts) {
    if (format != type.format) continue;
    if (!has_buffers(array, type.buffers, 1, type.entries_end)) {
      return no_buffers(what);
    }
    made.layout_ = type.layout;
    return made;
  }
  bool known = false;
  for (const Type& type : kLists) {
    if (format != type.format) continue;
    if (!has_buffers(array, type.buffers, 1, type.entries_end)) {
      return no_buffers(what);
    }
    made.layout_ = type.layout;
    known = true;
  }
  if (format.starts_with("+w:")) {
    made.layout_ = Layout::kFixed;
    const std::string_view width = format.substr(3);
    const auto [end, failed] =
        std::from_chars(width.data(), width.data() + width.size(), made.width_);
    known = failed == std::errc() && end == width.data() + width.size() &&
            made.width_ >= 0;
    if (known && !has_buffers(array, 1, 0, 0)) return no_buffers(what);
  }
  if (!known) return wrong_type(what, "'" + std::string(format) + "'");
  if (array.n_children != 1) {
    return unfit(
        what, "a list has one child, not " + std::to_string(array.n_children));
  }
  const ArrowColumn items = {column.schema->children[0], array.children[0]};
  const std::string of_items = "the items of " + std::string(what);
  if (auto error = check(items, of_items)) return *std::move(error);
  if (items.schema->dictionary != nullptr) {
    // Its integers are indices of the dictionary.
    return wrong_type(what, "list of dictionary");
  }
  made.integers_ = integers_of(items.schema->format);
  if (made.integers_ == Integers::kNone) {
    return wrong_type(what,
                      "list of '" + std::string(items.schema->format) + "'");
  }
  if (!has_buffers(*items.array, 2, 1, 2)) return no_buffers(of_items);
  return made;
}

Result<ColumnReader> ColumnReader::make_dictionary(const ArrowColumn& column,
                                                   std::string_view what) {
  const std::string_view format = column.schema->format;
  ColumnReader made;
  made.array_ = column.array;
  made.layout_ = Layout::kDictionary;
  made.indices_ = integers_of(format);
  if (made.indices_ == Integers::kNone) {
    return wrong_type(what,
                      "dictionary with indices '" + std::string(format) + "'");
  }
  if (!has_buffers(*column.array, 2, 1, 2)) return no_buffers(what);
  if (column.schema->dictionary->dictionary != nullptr) {
    return wrong_type(what, "dictionary of dictionaries");
  }
  Result<ColumnReader> words =
      make({column.schema->dictionary, column.array->dictionary},
           "the texts of " + std::string(what));
  if (!words) return std::move(words).error();
  if (words->of_ids()) return wrong_type(what, "dictionary of lists");
  made.words_ = std::make_shared<const ColumnReader>(*std::move(words));
  return made;
}

bool ColumnReader::is_null(std::size_t row) const {
  const std::int64_t at = array_->offset + static_cast<std::int64_t>(row);
  if (layout_ == Layout::kNull || is_null_at(*array_, at)) return true;
  if (layout_ != Layout::kDictionary) return false;
  const std::int64_t index = integer(*array_, at);
  // An index outside of the dictionary refers to no text.
  return index < 0 || index >= words_->array_->length ||
         words_->is_null(static_cast<std::size_t>(index));
}

// The bytes or items of the row at `at`, which counts from the beginning of the
// buffers.
std::optional<ColumnReader::Range> ColumnReader::range(std::int64_t at) const {
  const auto offsets = [&](const auto* all) -> Range {
    return {all[at], all[at + 1]};
  };
  // An end that would overflow is before its beginning.
  const auto sized = [&](const auto* begins, const auto* sizes) -> Range {
    const std::int64_t begin = begins[at];
    const std::int64_t size = sizes[at];
    if (begin < 0 || size > std::numeric_limits<std::int64_t>::max() - begin) {
      return {0, -1};
    }
    return {begin, begin + size};
  };
  Range all;
  switch (layout_) {
    case Layout::kOffsets32:
      all = offsets(buffer<std::int32_t>(*array_, 1));
      break;
    case Layout::kOffsets64:
      all = offsets(buffer<std::int64_t>(*array_, 1));
      break;
    case Layout::kListView32:
      all = sized(buffer<std::int32_t>(*array_, 1),
                  buffer<std::int32_t>(*array_, 2));
      break;
    case Layout::kListView64:
      all = sized(buffer<std::int64_t>(*array_, 1),
                  buffer<std::int64_t>(*array_, 2));
      break;
    case Layout::kFixed:
      if (width_ > 0 && at >= array_->children[0]->length / width_) {
        return std::nullopt;
      }
      all = {at * width_, (at + 1) * width_};
      break;
    default:
      break;
  }
  if (all.begin < 0 || all.end < all.begin) return std::nullopt;
  if (of_ids() && all.end > array_->children[0]->length) return std::nullopt;
  return all;
}

// The text of the row at `at` of a view column.
std::optional<std::string_view> ColumnReader::view(std::int64_t at) const {
  const char* const views = buffer<char>(*array_, 1);
  View view;
  std::memcpy(&view, views + at * 16, sizeof(view));
  if (view.size < 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(view.size);
  if (view.size <= kInlineBytes) {
    return std::string_view(views + at * 16 + 4, size);
  }
  // After validity and views come the buffers of bytes, and then their sizes.
  const std::int64_t count = array_->n_buffers - 3;
  const void* const sizes = array_->buffers[array_->n_buffers - 1];
  if (view.buffer < 0 || view.buffer >= count || view.offset < 0 ||
      sizes == nullptr) {
    return std::nullopt;
  }
  const std::int64_t bytes =
      static_cast<const std::int64_t*>(sizes)[view.buffer];
  const char* const data =
      buffer<char>(*array_, static_cast<std::size_t>(view.buffer) + 2);
  if (data == nullptr || std::int64_t{view.offset} + view.size > bytes) {
    return std::nullopt;
  }
  return std::string_view(data + view.offset, size);
}

Result<std::string_view> ColumnReader::text(std::size_t row) const {
  const std::int64_t at = array_->offset + static_cast<std::int64_t>(row);
  if (layout_ == Layout::kDictionary) {
    return words_->text(static_cast<std::size_t>(integer(*array_, at)));
  }
  if (layout_ == Layout::kViews) {
    const std::optional<std::string_view> found = view(at);
    if (!found) return outside("bytes");
    return *found;
  }
  const std::optional<Range> bytes = range(at);
  if (!bytes) return outside("offsets");
  if (bytes->end == bytes->begin) return std::string_view();
  const char* const data = buffer<char>(*array_, 2);
  if (data == nullptr) return outside("bytes");
  return std::string_view(data + bytes->begin,
                          static_cast<std::size_t>(bytes->end - bytes->begin));
}

// The integer at `at` of the buffer of a list's child, or of the indices of a
// dictionary.  -1 for unsigned integers beyond int64.
std::int64_t ColumnReader::integer(const ArrowArray& array,
                                   std::int64_t at) const {
  switch (layout_ == Layout::kDictionary ? indices_ : integers_) {
    case Integers::kI8:
      return buffer<std::int8_t>(array, 1)[at];
    case Integers::kU8:
      return buffer<std::uint8_t>(array, 1)[at];
    case Integers::kI16:
      return buffer<std::int16_t>(array, 1)[at];
    case Integers::kU16:
      return buffer<std::uint16_t>(array, 1)[at];
    case Integers::kI32:
      return buffer<std::int32_t>(array, 1)[at];
    case Integers::kU32:
      return buffer<std::uint32_t>(array, 1)[at];
    case Integers::kI64:
      return buffer<std::int64_t>(array, 1)[at];
    case Integers::kU64: {
      const std::uint64_t value = buffer<std::uint64_t>(array, 1)[at];
      return value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                 ? -1
                 : static_cast<std::int64_t>(value);
    }
    default:
      return -1;
  }
}

std::optional<Error> ColumnReader::ids(std::size_t row,
                                       std::vector<TokenId>& out) const {
  const ArrowArray& items = *array_->children[0];
  const std::optional<Range> all =
      range(array_->offset + static_cast<std::int64_t>(row));
  if (!all) return outside("items");
  out.reserve(out.size() + static_cast<std::size_t>(all->end - all->begin));
  for (std::int64_t i = all->begin; i < all->end; ++i) {
    const std::int64_t at = items.offset + i;
    const std::int64_t id = is_null_at(items, at) ? -1 : integer(items, at);
    if (id < 0 || id > std::numeric_limits<TokenId>::max()) {
      return Error{ErrorCode::kWrongType,
                   "an item of the list is no token id: it is null, negative, "
                   "or has more than 32 bits"};
    }
    out.push_back(static_cast<TokenId>(id));
  }
  return std::nullopt;
}

}  // namespace parlance::arrow
