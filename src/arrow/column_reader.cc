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
  if (column.schema->dictionary != nullptr) {
    return make_dictionary(column, what);
  }
  constexpr std::pair<std::string_view, Layout> kTexts[] = {
      {"n", Layout::kNull},      {"u", Layout::kOffsets32},
      {"z", Layout::kOffsets32}, {"U", Layout::kOffsets64},
      {"Z", Layout::kOffsets64}, {"vu", Layout::kViews},
      {"vz", Layout::kViews}};
  constexpr std::pair<std::string_view, Layout> kLists[] = {
      {"+l", Layout::kOffsets32},
      {"+L", Layout::kOffsets64},
      {"+vl", Layout::kListView32},
      {"+vL", Layout::kListView64}};
  const std::string_view format = column.schema->format;
  ColumnReader made;
  made.array_ = column.array;
  for (const auto& [name, layout] : kTexts) {
    if (format != name) continue;
    made.layout_ = layout;
    return made;
  }
  bool known = false;
  for (const auto& [name, layout] : kLists) {
    if (format != name) continue;
    made.layout_ = layout;
    known = true;
  }
  if (format.starts_with("+w:")) {
    made.layout_ = Layout::kFixed;
    const std::string_view width = format.substr(3);
    const auto [end, failed] =
        std::from_chars(width.data(), width.data() + width.size(), made.width_);
    known = failed == std::errc() && end == width.data() + width.size() &&
            made.width_ >= 0;
  }
  if (!known) return wrong_type(what, "'" + std::string(format) + "'");
  const std::string_view items =
      column.schema->n_children == 1 ? column.schema->children[0]->format : "";
  made.integers_ = integers_of(items);
  if (made.integers_ == Integers::kNone || column.array->n_children != 1) {
    return wrong_type(what, "list of '" + std::string(items) + "'");
  }
  return made;
}

Result<ColumnReader> ColumnReader::make_dictionary(const ArrowColumn& column,
                                                   std::string_view what) {
  const std::string_view format = column.schema->format;
  ColumnReader made;
  made.array_ = column.array;
  made.layout_ = Layout::kDictionary;
  made.indices_ = integers_of(format);
  if (made.indices_ == Integers::kNone || column.array->dictionary == nullptr) {
    return wrong_type(what,
                      "dictionary with indices '" + std::string(format) + "'");
  }
  Result<ColumnReader> words =
      make({column.schema->dictionary, column.array->dictionary}, what);
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
ColumnReader::Range ColumnReader::range(std::int64_t at) const {
  switch (layout_) {
    case Layout::kOffsets32: {
      const auto* offsets = buffer<std::int32_t>(*array_, 1);
      return {offsets[at], offsets[at + 1]};
    }
    case Layout::kOffsets64: {
      const auto* offsets = buffer<std::int64_t>(*array_, 1);
      return {offsets[at], offsets[at + 1]};
    }
    case Layout::kListView32: {
      const auto begin = buffer<std::int32_t>(*array_, 1)[at];
      return {begin,
              std::int64_t{begin} + buffer<std::int32_t>(*array_, 2)[at]};
    }
    case Layout::kListView64: {
      const auto begin = buffer<std::int64_t>(*array_, 1)[at];
      return {begin, begin + buffer<std::int64_t>(*array_, 2)[at]};
    }
    case Layout::kFixed:
      return {at * width_, (at + 1) * width_};
    default:
      return {};
  }
}

std::string_view ColumnReader::text(std::size_t row) const {
  const std::int64_t at = array_->offset + static_cast<std::int64_t>(row);
  if (layout_ == Layout::kDictionary) {
    return words_->text(static_cast<std::size_t>(integer(*array_, at)));
  }
  if (layout_ == Layout::kViews) {
    const char* const views = buffer<char>(*array_, 1);
    View view;
    std::memcpy(&view, views + at * 16, sizeof(view));
    if (view.size <= 0) return {};
    const auto size = static_cast<std::size_t>(view.size);
    if (view.size <= kInlineBytes) return {views + at * 16 + 4, size};
    const char* const data =
        buffer<char>(*array_, static_cast<std::size_t>(view.buffer) + 2);
    return {data + view.offset, size};
  }
  const Range bytes = range(at);
  if (bytes.end <= bytes.begin) return {};
  return {buffer<char>(*array_, 2) + bytes.begin,
          static_cast<std::size_t>(bytes.end - bytes.begin)};
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

bool ColumnReader::ids(std::size_t row, std::vector<TokenId>& out) const {
  const ArrowArray& items = *array_->children[0];
  const Range all = range(array_->offset + static_cast<std::int64_t>(row));
  if (all.end > all.begin) {
    out.reserve(out.size() + static_cast<std::size_t>(all.end - all.begin));
  }
  for (std::int64_t i = all.begin; i < all.end; ++i) {
    const std::int64_t at = items.offset + i;
    if (is_null_at(items, at)) return false;
    const std::int64_t id = integer(items, at);
    if (id < 0 || id > std::numeric_limits<TokenId>::max()) return false;
    out.push_back(static_cast<TokenId>(id));
  }
  return true;
}

}  // namespace parlance::arrow
