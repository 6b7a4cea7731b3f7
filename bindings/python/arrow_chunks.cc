#include "arrow_chunks.h"

#include <algorithm>
#include <string>

namespace parlance::python {

namespace {

// Rows [begin, begin + size) of a column, as if it had one chunk.
// REQUIRES: they are within one of its chunks, of which there is one or more.
ArrowArray slice(const Chunks& chunks, std::int64_t begin, std::int64_t size) {
  for (const Owned<ArrowArray>& array : chunks.arrays) {
    if (begin < array->length) {
      ArrowArray part = *array;
      part.offset += begin;
      part.length = size;
      part.null_count = -1;
      return part;
    }
    begin -= array->length;
  }
  ArrowArray none = *chunks.arrays.front();
  none.length = 0;
  return none;
}

// What a column by row is called, and where it goes.
struct ByRow {
  const std::optional<Chunks>* chunks;
  const char* what;
  const ArrowColumn* ArrowParseOptions::*option;
};

}  // namespace

Result<std::int64_t> Chunks::rows(std::string_view what) const {
  // The sum of any two stays within 64 bits.
  constexpr std::int64_t kMost = std::int64_t{1} << 56;
  const auto unfit = [&](std::string_view why) {
    return Error{
        ErrorCode::kUsage,
        std::string(what) + " are no valid Arrow column: " + std::string(why)};
  };
  constexpr std::string_view kReleased =
      "it was released or consumed before; a column is given once";
  if (schema->release == nullptr) return unfit(kReleased);
  std::int64_t count = 0;
  for (const Owned<ArrowArray>& array : arrays) {
    if (array->release == nullptr) return unfit(kReleased);
    if (array->length < 0 || array->offset < 0 || array->offset > kMost ||
        array->length > kMost - count) {
      return unfit("its length or offset is negative, or beyond 2^56");
    }
    count += array->length;
  }
  return count;
}

Result<std::vector<Owned<ArrowArray>>> parse_chunks(const Chunks& responses,
                                                    const ChunksByRow& by_row,
                                                    ArrowParseOptions options) {
  const Result<std::int64_t> count = responses.rows("the responses");
  if (!count) return count.error();
  bool has_chunks = !responses.arrays.empty();
  std::vector<ByRow> columns;
  for (const ByRow& one :
       {ByRow{&by_row.formats, "the formats", &ArrowParseOptions::formats},
        ByRow{&by_row.prefixes, "the prefixes", &ArrowParseOptions::prefixes},
        ByRow{&by_row.tools, "the tools", &ArrowParseOptions::tools_by_row}}) {
    if (!*one.chunks) continue;
    const Result<std::int64_t> rows = (*one.chunks)->rows(one.what);
    if (!rows) return rows.error();
    if (*rows != *count) {
      return Error{ErrorCode::kUsage,
                   std::string(one.what) + " are " + std::to_string(*rows) +
                       " rows beside " + std::to_string(*count) + " responses"};
    }
    has_chunks = has_chunks && !(*one.chunks)->arrays.empty();
    columns.push_back(one);
  }
  std::vector<Owned<ArrowArray>> out;
  if (!has_chunks) return out;  // no rows, and no array to read a type with

  // The rows at which any column is cut.
  std::vector<std::int64_t> cuts = {0};
  const auto add_cuts = [&](const Chunks& chunks) {
    std::int64_t at = 0;
    for (const Owned<ArrowArray>& array : chunks.arrays) {
      cuts.push_back(at += array->length);
    }
  };
  add_cuts(responses);
  for (const ByRow& column : columns) add_cuts(**column.chunks);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  // A column without rows, which has a type to be checked all the same.
  if (cuts.size() == 1) cuts.push_back(0);

  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const std::int64_t size = cuts[i + 1] - cuts[i];
    const ArrowArray part = slice(responses, cuts[i], size);
    std::vector<ArrowArray> parts;
    std::vector<ArrowColumn> views;
    parts.reserve(columns.size());
    views.reserve(columns.size());
    for (const ByRow& column : columns) {
      const Chunks& chunks = **column.chunks;
      parts.push_back(slice(chunks, cuts[i], size));
      views.push_back({&*chunks.schema, &parts.back()});
      options.*column.option = &views.back();
    }
    ArrowArray made = {};
    const Result<std::size_t> rows =
        parse_arrow({&*responses.schema, &part}, options, &made);
    if (!rows) return rows.error();
    out.emplace_back(made);
  }
  return out;
}

}  // namespace parlance::python
