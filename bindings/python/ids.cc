// Reading the input of parsers and matchers: text, bytes, or token ids in any
// sequence or array of integers.

#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "binding.h"

namespace parlance::python {

namespace {

constexpr std::string_view kIdsWanted =
    "a flat sequence of token ids (a list, a tuple or a 1-D array of integers)";
constexpr std::string_view kNumbersWanted =
    "a flat sequence of integers (a list, a tuple or a 1-D array)";

template <class Int>
constexpr std::string_view kWanted = kNumbersWanted;
template <>
constexpr std::string_view kWanted<TokenId> = kIdsWanted;

[[noreturn]] void raise_too_many(std::string_view what) {
  raise_usage(std::string(what) + " has more than " + std::to_string(kMaxIds) +
              " items, which no call takes");
}

[[noreturn]] void raise_bad_id(std::string_view what, std::string id) {
  raise_usage(std::string(what) + " contains " + id +
              ", which cannot be a token id: those are 0 to 4294967295");
}

template <class Int>
[[noreturn]] void raise_beyond(std::string_view what) {
  if constexpr (std::is_same_v<Int, TokenId>) {
    raise_bad_id(what, "an integer beyond 64 bits");
  }
  raise_usage(std::string(what) + " contains an integer beyond 64 bits");
}

template <class Int>
Int checked(long long id, std::string_view what) {
  if constexpr (std::is_same_v<Int, TokenId>) {
    if (id < 0 || id > std::numeric_limits<TokenId>::max()) {
      raise_bad_id(what, std::to_string(id));
    }
  }
  return static_cast<Int>(id);
}

template <class Int>
Int read_item(nb::handle item, std::string_view what) {
  nb::object index;
  PyObject* number = item.ptr();
  if (!PyLong_Check(number)) {
    if (!PyIndex_Check(number)) raise_type(what, kWanted<Int>, item);
    index = nb::steal(PyNumber_Index(number));
    if (!index.is_valid()) throw nb::python_error();
    number = index.ptr();
  }
  int overflow = 0;
  long long id = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow != 0) raise_beyond<Int>(what);
  if (id == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return checked<Int>(id, what);
}

// Nothing for an integer of more than 63 bits.
template <class Int>
std::optional<long long> load(const char* at) {
  Int value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (sizeof(Int) == 8 && std::is_unsigned_v<Int>) {
    if (value > static_cast<Int>(std::numeric_limits<long long>::max())) {
      return std::nullopt;
    }
  }
  return static_cast<long long>(value);
}

using Load = std::optional<long long> (*)(const char*);

// The function that reads an item of a buffer, or null if the items are not
// integers.
Load loader(const char* format, Py_ssize_t size) {
  if (format == nullptr) return nullptr;
  // '>' and '!' are the other byte order and are not supported.
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (format[0] == '\0' || format[1] != '\0') return nullptr;
  bool is_signed = std::strchr("bhilqn", *format) != nullptr;
  if (!is_signed && std::strchr("BHILQN", *format) == nullptr) return nullptr;
  switch (size) {
    case 1:
      return is_signed ? &load<std::int8_t> : &load<std::uint8_t>;
    case 2:
      return is_signed ? &load<std::int16_t> : &load<std::uint16_t>;
    case 4:
      return is_signed ? &load<std::int32_t> : &load<std::uint32_t>;
    case 8:
      return is_signed ? &load<std::int64_t> : &load<std::uint64_t>;
    default:
      return nullptr;
  }
}

struct BufferView {
  Py_buffer view;
  ~BufferView() { PyBuffer_Release(&view); }
};

// Reads a sequence that computes its items.  Exactly as many items are read as
// its length says: a sequence may have an item for every index.
template <class Int>
std::vector<Int> read_sequence(nb::handle value, std::string_view what) {
  const Py_ssize_t size = PySequence_Size(value.ptr());
  if (size < 0) {
    // A length that is negative is a ValueError, one that is no integer a
    // TypeError.
    if (PyErr_ExceptionMatches(PyExc_ValueError) == 0) throw nb::python_error();
    raise_type(what, kWanted<Int>, value);
  }
  if (static_cast<std::size_t>(size) > kMaxIds) raise_too_many(what);
  std::vector<Int> out;
  for (Py_ssize_t i = 0; i < size; ++i) {
    nb::object item = nb::steal(PySequence_GetItem(value.ptr(), i));
    if (!item.is_valid()) {
      // A mapping raises KeyError, an array of null pointers ValueError.
      if (PyErr_ExceptionMatches(PyExc_LookupError) == 0 &&
          PyErr_ExceptionMatches(PyExc_ValueError) == 0) {
        throw nb::python_error();
      }
      const bool shorter = PyErr_ExceptionMatches(PyExc_IndexError) != 0;
      if (!shorter) raise_type(what, kWanted<Int>, value);
      raise_usage(std::string(what) + " says that it has " +
                  std::to_string(size) + " items, and has " +
                  std::to_string(i));
    }
    out.push_back(read_item<Int>(item, what));
  }
  return out;
}

// Reads an array of integers from its buffer, without making Python objects.
// Returns false if `value` is not such an array.
template <class Int>
bool read_buffer(nb::handle value, std::string_view what,
                 std::vector<Int>& out) {
  if (!PyObject_CheckBuffer(value.ptr())) return false;
  BufferView buffer;
  if (PyObject_GetBuffer(value.ptr(), &buffer.view,
                         PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    buffer.view.obj = nullptr;
    check_blames_argument();
    PyErr_Clear();
    return false;
  }
  const Py_buffer& view = buffer.view;
  if (view.ndim != 1) raise_type(what, kWanted<Int>, value);
  Load load_item = loader(view.format, view.itemsize);
  if (load_item == nullptr) return false;
  // Arrays of ctypes have no strides although they were requested: their items
  // are contiguous.
  const Py_ssize_t stride =
      view.strides == nullptr ? view.itemsize : view.strides[0];
  const auto count = static_cast<std::size_t>(
      view.shape == nullptr ? view.len / view.itemsize : view.shape[0]);
  if (count > kMaxIds) raise_too_many(what);
  out.reserve(count);
  const char* at = static_cast<const char*>(view.buf);
  for (std::size_t i = 0; i < count; ++i, at += stride) {
    const std::optional<long long> item = load_item(at);
    if (!item) raise_beyond<Int>(what);
    out.push_back(checked<Int>(*item, what));
  }
  return true;
}

// In a bytes object, surrogates encoded as three bytes are not characters.
// Their second byte is replaced by one that never occurs in UTF-8.
std::string_view without_surrogates(std::string_view bytes, std::string& copy,
                                    unsigned char* previous) {
  const auto is_tail = [](char c) {
    return static_cast<unsigned char>(c) >= 0xA0 &&
           static_cast<unsigned char>(c) < 0xC0;
  };
  const auto replace = [&](std::size_t at) {
    if (copy.empty()) copy = bytes;
    copy[at] = '\xFF';
  };
  copy.clear();
  if (bytes.empty()) return bytes;
  if (previous != nullptr) {
    if (*previous == 0xED && is_tail(bytes[0])) replace(0);
    *previous = static_cast<unsigned char>(bytes.back());
  }
  std::size_t at = bytes.find('\xED');
  while (at != std::string_view::npos && at + 1 < bytes.size()) {
    if (is_tail(bytes[at + 1])) replace(at + 1);
    at = bytes.find('\xED', at + 1);
  }
  return copy.empty() ? bytes : std::string_view(copy);
}

template <class Int>
std::vector<Int> read_integers(nb::handle value, std::string_view what) {
  std::vector<Int> out;
  bool list = PyList_Check(value.ptr());
  if (list || PyTuple_Check(value.ptr())) {
    const auto size = static_cast<std::size_t>(
        list ? PyList_Size(value.ptr()) : PyTuple_Size(value.ptr()));
    if (size > kMaxIds) raise_too_many(what);
    out.reserve(size);
    for (Py_ssize_t i = 0;
         i < (list ? PyList_Size(value.ptr()) : PyTuple_Size(value.ptr()));
         ++i) {
      nb::object item = nb::borrow(list ? PyList_GetItem(value.ptr(), i)
                                        : PyTuple_GetItem(value.ptr(), i));
      out.push_back(read_item<Int>(item, what));
    }
    return out;
  }
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) ||
      PyByteArray_Check(value.ptr()) || PyDict_Check(value.ptr())) {
    raise_type(what, kWanted<Int>, value);
  }
  if (read_buffer(value, what, out)) return out;
  // Tensors of other libraries: reading elements one by one is slow.
  if (const nb::object to_list = attribute(value, "tolist");
      to_list.is_valid()) {
    const nb::object items = nb::steal(PyObject_CallNoArgs(to_list.ptr()));
    if (!items.is_valid()) {
      // For example a memoryview that has been released.
      if (PyErr_ExceptionMatches(PyExc_ValueError) == 0) {
        throw nb::python_error();
      }
      raise_type(what, kWanted<Int>, value);
    }
    if (PyList_Check(items.ptr())) return read_integers<Int>(items, what);
  } else if (PySequence_Check(value.ptr())) {
    return read_sequence<Int>(value, what);
  }
  raise_type(what, kWanted<Int>, value);
}

}  // namespace

std::vector<TokenId> read_ids(nb::handle value, std::string_view what) {
  return read_integers<TokenId>(value, what);
}

std::vector<std::int64_t> read_numbers(nb::handle value,
                                       std::string_view what) {
  return read_integers<std::int64_t>(value, what);
}

TokenId read_id(nb::handle value, std::string_view what) {
  if (PyIndex_Check(value.ptr()) == 0) raise_type(what, "an integer", value);
  return read_item<TokenId>(value, what);
}

std::size_t read_count(nb::handle value, std::string_view what) {
  if (PyIndex_Check(value.ptr()) == 0) raise_type(what, "an integer", value);
  const auto number = read_item<std::int64_t>(value, what);
  if (number < 0) {
    raise_usage(std::string(what) + " is " + std::to_string(number) +
                ", and must be 0 or more");
  }
  return static_cast<std::size_t>(number);
}

void read_input(nb::handle value, std::string_view what, Input& in,
                unsigned char* previous) {
  PyObject* object = value.ptr();
  in.is_text = true;
  if (PyUnicode_Check(object)) {
    if (previous != nullptr) *previous = 0;
    if (const auto plain = utf8_of(value)) {
      in.text = *plain;
      return;
    }
    Py_ssize_t size = 0;
    in.owner =
        nb::steal(PyUnicode_AsEncodedString(object, "utf-8", "surrogatepass"));
    char* begin = nullptr;
    if (!in.owner.is_valid() ||
        PyBytes_AsStringAndSize(in.owner.ptr(), &begin, &size) != 0) {
      throw nb::python_error();
    }
    in.text = {begin, static_cast<std::size_t>(size)};
    return;
  }
  if (PyBytes_Check(object)) {
    char* begin = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(object, &begin, &size) != 0) {
      throw nb::python_error();
    }
    in.text = without_surrogates({begin, static_cast<std::size_t>(size)},
                                 in.copy, previous);
    return;
  }
  if (PyByteArray_Check(object)) {
    nb::object bytes = nb::steal(PyBytes_FromObject(object));
    if (!bytes.is_valid()) throw nb::python_error();
    in.owner = bytes;
    read_input(bytes, what, in, previous);
    return;
  }
  if (object == Py_None || PyLong_Check(object) || PyFloat_Check(object) ||
      PyDict_Check(object)) {
    raise_type(what, "str, bytes or a sequence of token ids", value);
  }
  in.is_text = false;
  in.ids = read_ids(value, what);
}

void continue_text(std::string_view before, Input& in) {
  if (!before.ends_with('\xED') || in.text.empty()) return;
  const auto next = static_cast<unsigned char>(in.text.front());
  if (next < 0xA0 || next >= 0xC0) return;
  if (in.copy.empty()) in.copy = in.text;
  in.copy.front() = '\xFF';
  in.text = in.copy;
}

void read_marked_prefix(nb::handle value, const Vocabulary* vocabulary,
                        Input& in) {
  read_input(value, "prefix", in);
  if (!in.is_text && !in.ids.empty() && vocabulary == nullptr) {
    raise_usage(
        "a prefix of token ids needs vocabulary=, which says what text they "
        "are");
  }
}

Markers to_markers(nb::handle value) {
  if (!PyUnicode_Check(value.ptr())) {
    raise_type("markers", "\"token\", \"either\" or \"text\"", value);
  }
  const std::string_view name = text_of(value, "markers");
  if (name == "token") return Markers::kToken;
  if (name == "either") return Markers::kEither;
  if (name == "text") return Markers::kText;
  raise_usage("markers is \"token\", \"either\" or \"text\", not '" +
              std::string(name) + "'");
}

std::string_view text_of(nb::handle value, std::string_view what) {
  if (PyBytes_Check(value.ptr())) return bytes_of(value, what);
  if (!PyUnicode_Check(value.ptr())) raise_type(what, "str or bytes", value);
  return str_of(value, what);
}

std::string_view str_of(nb::handle value, std::string_view what) {
  if (!PyUnicode_Check(value.ptr())) raise_type(what, "a str", value);
  const auto text = utf8_of(value);
  if (!text) {
    raise(Domain::kOther,
          {ErrorCode::kInvalidUtf8,
           std::string(what) + " contains half of a surrogate pair, which is "
                               "no text"});
  }
  return *text;
}

std::string_view bytes_of(nb::handle value, std::string_view what) {
  if (!PyBytes_Check(value.ptr())) raise_type(what, "bytes", value);
  char* begin = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(value.ptr(), &begin, &size) != 0) {
    throw nb::python_error();
  }
  return {begin, static_cast<std::size_t>(size)};
}

std::string path_of(nb::handle path) {
  PyObject* converted = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &converted) == 0) {
    // UnicodeEncodeError is a ValueError, and a NUL raises ValueError.
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw nb::python_error();
    raise_usage(
        "the path contains what no path can: a NUL, or characters that the "
        "file system cannot write");
  }
  const nb::object owner = nb::steal(converted);
  return std::string(text_of(owner, "path"));
}

void read_prefix(nb::handle value, const Vocabulary* vocabulary, Input& in) {
  read_text(value, "prefix", vocabulary, in);
}

void read_text(nb::handle value, std::string_view what,
               const Vocabulary* vocabulary, Input& in) {
  read_input(value, what, in);
  if (in.is_text || in.ids.empty()) {
    in.is_text = true;
    return;
  }
  if (vocabulary == nullptr) {
    raise_usage(
        "a " + std::string(what) +
        " of token ids needs vocabulary=, which says what text they are");
  }
  for (TokenId id : in.ids) {
    if (vocabulary->kind(id) == TokenKind::kUnused) {
      in.copy += "\xEF\xBF\xBD";
    } else {
      in.copy += vocabulary->bytes(id);
    }
  }
  in.text = in.copy;
  in.is_text = true;
}

nb::object to_ids(std::span<const TokenId> ids) {
  nb::list out;
  for (const TokenId id : ids) out.append(to_int(id));
  return out;
}

}  // namespace parlance::python
