// An expression plug-in for Polars.
//
// Polars loads the library of this module by its path and calls the functions
// below, without Python and from any thread.  Their names and types are those
// of version 0.1 of its interface (crates/polars-ffi and polars-plan's
// plugin.rs):
//
//   _polars_plugin_get_version             major << 16 | minor
//   _polars_plugin_field_parse             the type of the result
//   _polars_plugin_parse                   the result
//   _polars_plugin_get_last_error_message  why there is none, in this thread
//
// The expression has four columns: responses, formats, prefixes and tools.  A
// column of one row stands for all rows, as literals of Polars do.  Keyword
// arguments would be a pickle, and are not used.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrow_chunks.h"

#if defined(_WIN32)
#define PARLANCE_POLARS_EXPORT __declspec(dllexport)
#else
#define PARLANCE_POLARS_EXPORT __attribute__((visibility("default")))
#endif

extern "C" {

// A column that goes from one side to the other.  The receiver moves the arrays
// out; `release` then frees the rest.
struct SeriesExport {
  ArrowSchema* field;
  ArrowArray** arrays;
  std::size_t len;
  void (*release)(SeriesExport*);
  void* private_data;
};

// What the caller allows.
struct CallerContext {
  bool parallelized;  // the caller uses all cores already
};
}

namespace parlance::python {

namespace {

thread_local std::string last_error;

// arrow_message_schema() with a name.
struct NamedSchema {
  ArrowSchema schema = {};
  std::string name;
};

ArrowSchema message_field(std::string name) {
  auto named = std::make_unique<NamedSchema>();
  named->name = std::move(name);
  arrow_message_schema(&named->schema);
  ArrowSchema out = named->schema;
  out.name = named->name.c_str();
  out.private_data = named.release();
  out.release = [](ArrowSchema* self) {
    const std::unique_ptr<NamedSchema> owned(
        static_cast<NamedSchema*>(self->private_data));
    owned->schema.release(&owned->schema);
    self->release = nullptr;
  };
  return out;
}

std::string name_of(const ArrowSchema* field) {
  return field == nullptr || field->name == nullptr ? "" : field->name;
}

// Takes the arrays of an argument.  The type stays the argument's.
Chunks take_arrays(const SeriesExport& from) {
  Chunks chunks;
  if (from.field == nullptr) return chunks;  // an error, as if released
  chunks.schema = Owned<ArrowSchema>::borrowed(*from.field);
  chunks.arrays.reserve(from.len);
  for (std::size_t i = 0; i < from.len; ++i) {
    ArrowArray none = {};  // an error, as if released
    ArrowArray* const one = from.arrays == nullptr ? nullptr : from.arrays[i];
    chunks.arrays.emplace_back(one == nullptr ? none : *one);
  }
  return chunks;
}

// A column of `rows` rows, each of which is the only row of `one`: a dictionary
// whose indices are all 0.
class Repeated {
 public:
  Repeated(Chunks one, std::int64_t rows)
      : one_(std::move(one)), indices_(static_cast<std::size_t>(rows), 0) {}

  // Valid as long as this.
  Chunks column() {
    Chunks out;
    ArrowSchema schema = {};
    schema.format = "c";
    schema.name = "";
    schema.dictionary = &*one_.schema;
    schema.release = &Owned<ArrowSchema>::release_nothing;
    out.schema = Owned<ArrowSchema>::borrowed(schema);
    ArrowArray array = {};
    array.length = static_cast<std::int64_t>(indices_.size());
    array.n_buffers = 2;
    array.buffers = buffers_;
    array.dictionary = &*one_.arrays.front();
    array.release = &Owned<ArrowArray>::release_nothing;
    buffers_[1] = indices_.data();
    out.arrays.push_back(Owned<ArrowArray>::borrowed(array));
    return out;
  }

 private:
  Chunks one_;
  std::vector<std::int8_t> indices_;
  const void* buffers_[2] = {};
};

// A result on its way to Polars.
struct Exported {
  ArrowSchema field = {};
  std::vector<ArrowArray> arrays;
  std::vector<ArrowArray*> pointers;
};

SeriesExport export_messages(std::vector<Owned<ArrowArray>> messages,
                             std::string name) {
  auto exported = std::make_unique<Exported>();
  exported->field = message_field(std::move(name));
  exported->arrays.reserve(messages.size());
  exported->pointers.reserve(messages.size());
  for (Owned<ArrowArray>& array : messages) {
    exported->arrays.push_back(array.take());
    exported->pointers.push_back(&exported->arrays.back());
  }
  SeriesExport out = {};
  out.field = &exported->field;
  out.arrays = exported->pointers.data();
  out.len = exported->pointers.size();
  out.private_data = exported.release();
  out.release = [](SeriesExport* self) {
    const std::unique_ptr<Exported> owned(
        static_cast<Exported*>(self->private_data));
    owned->field.release(&owned->field);
    self->release = nullptr;
  };
  return out;
}

// The result for the four arguments; an error if they do not fit.
Result<SeriesExport> parse_series(std::vector<Chunks> arguments,
                                  std::string name, bool parallelized) {
  const Chunks responses = std::move(arguments[0]);
  const Result<std::int64_t> rows = responses.rows("the responses");
  if (!rows) return rows.error();
  ChunksByRow by_row;
  std::vector<Repeated> repeated;
  repeated.reserve(3);
  std::optional<Chunks>* const targets[] = {&by_row.formats, &by_row.prefixes,
                                            &by_row.tools};
  for (std::size_t i = 0; i < 3; ++i) {
    Chunks& given = arguments[i + 1];
    const Result<std::int64_t> own = given.rows("an argument of parse()");
    if (!own) return own.error();
    if (*own == 1 && given.arrays.size() == 1 && *rows != 1) {
      repeated.emplace_back(std::move(given), *rows);
      *targets[i] = repeated.back().column();
    } else {
      *targets[i] = std::move(given);
    }
  }
  Result<std::vector<Owned<ArrowArray>>> parsed =
      parse_chunks(responses, by_row, {.threads = parallelized ? 1U : 0U});
  if (!parsed) return std::move(parsed).error();
  return export_messages(*std::move(parsed), std::move(name));
}

}  // namespace

}  // namespace parlance::python

extern "C" {

PARLANCE_POLARS_EXPORT std::uint32_t _polars_plugin_get_version() {
  return 0U << 16 | 1U;
}

PARLANCE_POLARS_EXPORT const char* _polars_plugin_get_last_error_message() {
  return parlance::python::last_error.c_str();
}

PARLANCE_POLARS_EXPORT void _polars_plugin_field_parse(
    const ArrowSchema* fields, std::size_t count, ArrowSchema* out,
    const std::uint8_t* /*kwargs*/, std::size_t /*kwargs_size*/) {
  *out = parlance::python::message_field(
      count == 0 ? "" : parlance::python::name_of(&fields[0]));
}

// Leaves `out` empty, with a message, if the arguments do not fit.
PARLANCE_POLARS_EXPORT void _polars_plugin_parse(const SeriesExport* series,
                                                 std::size_t count,
                                                 const std::uint8_t* /*kwargs*/,
                                                 std::size_t /*kwargs_size*/,
                                                 SeriesExport* out,
                                                 const CallerContext* context) {
  using parlance::python::Chunks;
  using parlance::python::last_error;
  // The arrays and the arguments are the callee's to release, in this order.
  const std::span<const SeriesExport> arguments(series, count);
  try {
    std::vector<Chunks> columns;
    columns.reserve(count);
    for (const SeriesExport& one : arguments) {
      columns.push_back(parlance::python::take_arrays(one));
    }
    if (count != 4) {
      last_error = "parse takes 4 columns, not " + std::to_string(count);
    } else {
      auto parsed = parlance::python::parse_series(
          std::move(columns), parlance::python::name_of(series[0].field),
          context != nullptr && context->parallelized);
      if (parsed) {
        *out = *parsed;
      } else {
        last_error = parsed.error().message;
      }
    }
  } catch (const std::exception&) {
    last_error = "out of memory";  // short: it needs none
  }
  for (SeriesExport one : arguments) one.release(&one);
}
}
