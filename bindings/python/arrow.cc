// parse_arrow: columns of responses by the Arrow PyCapsule interface
// (https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html).

#include "parlance/arrow.h"

#include <cerrno>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "arrow_chunks.h"
#include "binding.h"
#include "docstrings.h"
#include "interruptible.h"

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

extern "C" {

// The struct of the specification of streams.
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

#endif  // ARROW_C_STREAM_INTERFACE

namespace parlance::python {

namespace {

constexpr const char* kSchema = "arrow_schema";
constexpr const char* kArray = "arrow_array";
constexpr const char* kStream = "arrow_array_stream";

// Takes the struct out of a capsule of the interface.  A capsule whose struct
// was taken before has a released one.
template <class T>
Owned<T> from_capsule(nb::handle capsule, const char* name,
                      const char* method) {
  if (PyCapsule_IsValid(capsule.ptr(), name) == 0) {
    raise_type(method, "a capsule named \"" + std::string(name) + "\"",
               capsule);
  }
  auto* const found =
      static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (found->release == nullptr) {
    raise_usage(std::string("the capsule \"") + name + "\" of " + method +
                " was consumed before; a capsule gives its column once");
  }
  return Owned<T>(*found);
}

template <class T>
nb::object to_capsule(T value, const char* name) {
  auto owned = std::make_unique<T>(value);
  const auto destroy = [](PyObject* capsule) {
    auto* const one = static_cast<T*>(
        PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
    if (one->release != nullptr) one->release(one);
    delete one;
  };
  PyObject* const capsule = PyCapsule_New(owned.get(), name, destroy);
  if (capsule == nullptr) {
    if (value.release != nullptr) value.release(&value);
    throw nb::python_error();
  }
  static_cast<void>(owned.release());  // the capsule owns it
  return nb::steal(capsule);
}

Chunks read_stream(nb::handle capsule) {
  Owned<ArrowArrayStream> stream =
      from_capsule<ArrowArrayStream>(capsule, kStream, "__arrow_c_stream__()");
  if (stream->get_schema == nullptr || stream->get_next == nullptr) {
    raise_usage("the Arrow stream has no get_schema or no get_next");
  }
  const auto check = [&](int code) {
    if (code == 0) return;
    const char* const why = stream->get_last_error == nullptr
                                ? nullptr
                                : stream->get_last_error(&*stream);
    raise_usage(
        "the Arrow stream failed: " +
        (why == nullptr ? "error " + std::to_string(code) : std::string(why)));
  };
  Chunks chunks;
  check(stream->get_schema(&*stream, &*chunks.schema));
  for (;;) {
    Owned<ArrowArray> next;
    check(stream->get_next(&*stream, &*next));
    check_signals();
    if (next->release == nullptr) return chunks;
    chunks.arrays.push_back(std::move(next));
  }
}

// REQUIRES: `column` has one of the two methods.
Chunks read_column(nb::handle column) {
  const nb::object stream = attribute(column, "__arrow_c_stream__");
  if (stream.is_valid()) return read_stream(stream());
  const nb::object pair = column.attr("__arrow_c_array__")();
  if (!nb::isinstance<nb::tuple>(pair) || nb::len(pair) != 2) {
    raise_type("__arrow_c_array__()", "a pair of capsules", pair);
  }
  Chunks chunks;
  constexpr const char* kMethod = "__arrow_c_array__()";
  chunks.schema = from_capsule<ArrowSchema>(pair[0], kSchema, kMethod);
  chunks.arrays.push_back(from_capsule<ArrowArray>(pair[1], kArray, kMethod));
  return chunks;
}

// An array that shares the buffers of `of`, with structs of its own: whoever
// takes an array may move its children.
struct SharedNode {
  std::shared_ptr<const Owned<ArrowArray>> root;
  std::vector<Owned<ArrowArray>> children;
  std::vector<ArrowArray*> pointers;
};

void release_shared(ArrowArray* array) {
  delete static_cast<SharedNode*>(array->private_data);
  array->release = nullptr;
}

ArrowArray share(const ArrowArray& of,
                 const std::shared_ptr<const Owned<ArrowArray>>& root) {
  auto node = std::make_unique<SharedNode>();
  node->root = root;
  const auto count = static_cast<std::size_t>(of.n_children);
  node->children.reserve(count);
  node->pointers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ArrowArray child = share(*of.children[i], root);
    node->pointers.push_back(&*node->children.emplace_back(child));
  }
  ArrowArray out = of;
  out.children = count == 0 ? nullptr : node->pointers.data();
  out.release = &release_shared;
  out.private_data = node.release();
  return out;
}

using SharedArrays = std::vector<std::shared_ptr<const Owned<ArrowArray>>>;

// A stream over the chunks of a result.
struct StreamState {
  SharedArrays arrays;
  std::size_t next = 0;
};

// Nothing may be thrown through the caller, which may be in C.
template <class Fill>
int filled(const Fill& fill) noexcept {
  try {
    fill();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  return 0;
}

ArrowArrayStream stream_of(SharedArrays arrays) {
  ArrowArrayStream stream = {};
  stream.get_schema = [](ArrowArrayStream*, ArrowSchema* out) {
    *out = {};
    return filled([&] { arrow_message_schema(out); });
  };
  stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) {
    auto* const state = static_cast<StreamState*>(self->private_data);
    *out = {};  // released: the end
    if (state->next == state->arrays.size()) return 0;
    return filled([&] {
      const auto& root = state->arrays[state->next];
      *out = share(**root, root);
      ++state->next;
    });
  };
  stream.get_last_error = [](ArrowArrayStream*) -> const char* {
    return nullptr;
  };
  stream.release = [](ArrowArrayStream* self) {
    delete static_cast<StreamState*>(self->private_data);
    self->release = nullptr;
  };
  stream.private_data = new StreamState{std::move(arrays)};
  return stream;
}

// A column of messages.
class ArrowMessages {
 public:
  explicit ArrowMessages(SharedArrays arrays) : arrays_(std::move(arrays)) {}

  std::size_t size() const {
    std::int64_t rows = 0;
    for (const auto& array : arrays_) rows += (*array)->length;
    return static_cast<std::size_t>(rows);
  }
  nb::object schema() const {
    ArrowSchema out = {};
    arrow_message_schema(&out);
    return to_capsule(out, kSchema);
  }
  nb::tuple array(nb::handle /*requested_schema*/) const {
    if (arrays_.size() != 1) {
      raise_usage("these messages are " + std::to_string(arrays_.size()) +
                  " chunks; take them as a stream (__arrow_c_stream__), for "
                  "example with pyarrow.chunked_array(...)");
    }
    return nb::make_tuple(schema(),
                          to_capsule(share(**arrays_[0], arrays_[0]), kArray));
  }
  nb::object stream(nb::handle /*requested_schema*/) const {
    return to_capsule(stream_of(arrays_), kStream);
  }
  nb::object repr() const {
    return to_str("<ArrowMessages of " + std::to_string(size()) +
                  " responses>");
  }

 private:
  SharedArrays arrays_;
};

ArrowMessages parse(nb::handle responses, const FormatObject* format,
                    nb::handle prefix, const ToolSet* tools,
                    const Vocabulary* vocabulary, nb::handle markers,
                    unsigned threads, nb::handle formats, nb::handle prefixes,
                    nb::handle tools_by_row) {
  ArrowParseOptions options{
      .format = format == nullptr ? nullptr : &format->format(),
      .prefix = str_of(prefix, "prefix"),
      .tools = tools,
      .vocabulary = vocabulary,
      .markers = to_markers(markers),
      .threads = threads};
  const Chunks main = read_column(responses);
  ChunksByRow by_row;
  if (!formats.is_none()) by_row.formats = read_column(formats);
  if (!prefixes.is_none()) by_row.prefixes = read_column(prefixes);
  if (!tools_by_row.is_none()) by_row.tools = read_column(tools_by_row);
  Result<std::vector<Owned<ArrowArray>>> parsed = [&] {
    const WithoutGil released;
    Signals signals;
    options.cancelled = [&] { return signals.came(); };
    return parse_chunks(main, by_row, options);
  }();
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  if (!parsed) {
    if (parsed.error().code == ErrorCode::kWrongType) {
      PyErr_SetString(PyExc_TypeError, parsed.error().message.c_str());
      throw nb::python_error();
    }
    raise(Domain::kOther, parsed.error());
  }
  SharedArrays arrays;
  arrays.reserve(parsed->size());
  for (Owned<ArrowArray>& array : *parsed) {
    arrays.push_back(
        std::make_shared<const Owned<ArrowArray>>(std::move(array)));
  }
  return ArrowMessages(std::move(arrays));
}

}  // namespace

void define_arrow(nb::module_& m) {
  nb::class_<ArrowMessages>(m, "ArrowMessages", doc::arrow::kClass)
      .def("__len__", &ArrowMessages::size, doc::arrow::kLen)
      .def("__repr__", &ArrowMessages::repr)
      .def("__arrow_c_schema__", &ArrowMessages::schema, doc::arrow::kSchema)
      .def("__arrow_c_array__", &ArrowMessages::array,
           nb::arg("requested_schema") = nb::none(), doc::arrow::kArray)
      .def("__arrow_c_stream__", &ArrowMessages::stream,
           nb::arg("requested_schema") = nb::none(), doc::arrow::kStream);
  m.def("parse_arrow", &parse, nb::arg("responses"), nb::arg("format").none(),
        nb::arg("prefix"), nb::arg("tools").none(),
        nb::arg("vocabulary").none(), nb::arg("markers"), nb::arg("threads"),
        nb::arg("formats").none(), nb::arg("prefixes").none(),
        nb::arg("tools_by_row").none());
}

}  // namespace parlance::python
