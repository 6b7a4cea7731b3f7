#include "arrow_chunks.h"

#include <algorithm>
#include <string>

namespace parlance::python {

namespace {

// Rows [begin, begin + size) of a column, as if it had one chunk.
// REQUIRES: they are within one of its chunks.
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

std::int64_t Chunks::rows() const {
  std::int64_t count = 0;
  for (const Owned<ArrowArray>& array : arrays) count += array->length;
  return count;
}

Result<std::vector<Owned<ArrowArray>>> parse_chunks(const Chunks& responses,
                                                    const ChunksByRow& by_row,
                                                    ArrowParseOptions options) {
  std::vector<ByRow> columns;
  for (const ByRow& one :
       {ByRow{&by_row.formats, "the formats", &ArrowParseOptions::formats},
        ByRow{&by_row.prefixes, "the prefixes", &ArrowParseOptions::prefixes},
        ByRow{&by_row.tools, "the tools", &ArrowParseOptions::tools_by_row}}) {
    if (!*one.chunks) continue;
    if ((*one.chunks)->rows() != responses.rows()) {
      return Error{ErrorCode::kUsage,
                   std::string(one.what) + " are " +
                       std::to_string((*one.chunks)->rows()) + " rows beside " +
                       std::to_string(responses.rows()) + " responses"};
    }
    columns.push_back(one);
  }

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
  if (cuts.size() == 1 && !responses.arrays.empty()) cuts.push_back(0);

  std::vector<Owned<ArrowArray>> out;
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
