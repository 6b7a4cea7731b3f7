// Conversion of Python values to JSON text.
//
// Templates and tools are passed to the library as text: errors then have a
// position in it, and the caches on the Python side can compare texts, because
// equal texts are equal values.

#include <charconv>
#include <cmath>

#include "binding.h"

namespace parlance::python {

namespace {

// About the depth at which Python's own json fails.
constexpr std::size_t kMaxDepth = 990;

class Writer {
 public:
  Writer(Unfit unfit, Domain domain, std::string_view path)
      : unfit_(unfit), domain_(domain), root_(path) {}

  void write(nb::handle value) {
    PyObject* object = value.ptr();
    if (++values_ > kMaxValues) {
      refuse("more than " + std::to_string(kMaxValues) +
                 " values when it is written out, each part as often as it is "
                 "reached; pass JSON text for one that is meant to be so large",
             ErrorCode::kTooLarge);
    }
    if (object == Py_None) {
      out_ += "null";
    } else if (object == Py_True) {
      out_ += "true";
    } else if (object == Py_False) {
      out_ += "false";
    } else if (PyUnicode_Check(object)) {
      write_string(value);
    } else if (PyLong_Check(object)) {
      write_int(value);
    } else if (PyFloat_Check(object)) {
      write_float(value);
    } else if (PyList_Check(object)) {
      write_list(value);
    } else if (PyDict_Check(object)) {
      write_dict(value);
    } else if (PyTuple_Check(object) && unfit_ != Unfit::kRefuse) {
      write_list(value);
    } else if (unfit_ == Unfit::kNull) {
      out_ += "null";
    } else {
      refuse("a " + class_name(value) + " has no place in a " + noun() +
             ", which holds what JSON does: dict, list, str, int, float, bool "
             "and None");
    }
  }

  std::string take() { return std::move(out_); }

 private:
  // A key, held by the frame that is writing its value, or an index.
  struct Step {
    PyObject* key;
    Py_ssize_t index;
  };

  const char* noun() const {
    switch (domain_) {
      case Domain::kTemplate:
        return "template";
      case Domain::kSchema:
        return "schema";
      case Domain::kGrammar:
        return "description";
      default:
        return "tool";
    }
  }

  [[noreturn]] void refuse(std::string message,
                           ErrorCode code = ErrorCode::kWrongType) {
    std::string path = root_;
    for (const Step& step : path_) {
      path += '/';
      std::string text = std::to_string(step.index);
      if (step.key != nullptr) {
        with_utf8(step.key, [&](std::string_view key) { text = key; });
      }
      for (char c : text) {
        if (c == '~') {
          path += "~0";
        } else if (c == '/') {
          path += "~1";
        } else {
          path += c;
        }
      }
    }
    raise(domain_, {code, std::move(message), std::move(path)});
  }

  void enter() {
    if (++depth_ > kMaxDepth) {
      refuse("nested more than " + std::to_string(kMaxDepth) +
                 " levels deep, or containing itself",
             ErrorCode::kTooDeep);
    }
  }

  // Calls `use` with the UTF-8 of a str; surrogates are encoded as three bytes.
  template <class Use>
  static void with_utf8(nb::handle value, Use use) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
    if (text != nullptr) {
      use(std::string_view(text, static_cast<std::size_t>(size)));
      return;
    }
    PyErr_Clear();
    nb::object bytes = nb::steal(
        PyUnicode_AsEncodedString(value.ptr(), "utf-8", "surrogatepass"));
    char* begin = nullptr;
    if (!bytes.is_valid() ||
        PyBytes_AsStringAndSize(bytes.ptr(), &begin, &size) != 0) {
      throw nb::python_error();
    }
    use(std::string_view(begin, static_cast<std::size_t>(size)));
  }

  void write_escape(unsigned unit) {
    constexpr char kDigits[] = "0123456789abcdef";
    out_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
      out_ += kDigits[(unit >> shift) & 15];
    }
  }

  void write_string(nb::handle value) {
    with_utf8(value, [&](std::string_view text) { write_text(text); });
  }

  void write_text(std::string_view text) {
    out_ += '"';
    std::size_t plain = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      auto byte = static_cast<unsigned char>(text[i]);
      bool surrogate = byte == 0xED && i + 2 < text.size() &&
                       static_cast<unsigned char>(text[i + 1]) >= 0xA0;
      if (byte >= 0x20 && byte != '"' && byte != '\\' && !surrogate) continue;
      out_.append(text, plain, i - plain);
      plain = i + 1;
      switch (byte) {
        case '"':
          out_ += "\\\"";
          break;
        case '\\':
          out_ += "\\\\";
          break;
        case '\n':
          out_ += "\\n";
          break;
        case '\r':
          out_ += "\\r";
          break;
        case '\t':
          out_ += "\\t";
          break;
        case '\b':
          out_ += "\\b";
          break;
        case '\f':
          out_ += "\\f";
          break;
        case 0xED:
          write_escape(0xD000u |
                       (static_cast<unsigned char>(text[i + 1]) & 0x3Fu) << 6 |
                       (static_cast<unsigned char>(text[i + 2]) & 0x3Fu));
          i += 2;
          plain = i + 1;
          break;
        default:
          write_escape(byte);
      }
    }
    out_.append(text, plain, text.size() - plain);
    out_ += '"';
  }

  void write_ascii(nb::object text) {
    Py_ssize_t size = 0;
    const char* data =
        text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
    if (data == nullptr) throw nb::python_error();
    out_.append(data, static_cast<std::size_t>(size));
  }

  void write_int(nb::handle value) {
    int overflow = 0;
    long long small = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0) {
      // Python limits the digits of an int; the program may change the limit.
      nb::object digits = nb::steal(PyNumber_ToBase(value.ptr(), 10));
      if (!digits.is_valid() && PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear();
        refuse("an integer has more digits than Python writes",
               ErrorCode::kTooLarge);
      }
      write_ascii(std::move(digits));
      return;
    }
    if (small == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    char digits[24];
    auto end = std::to_chars(digits, digits + sizeof digits, small).ptr;
    out_.append(digits, end);
  }

  void write_float(nb::handle value) {
    double number = PyFloat_AsDouble(value.ptr());
    if (std::isnan(number)) {
      out_ += "NaN";
    } else if (std::isinf(number)) {
      out_ += number < 0 ? "-Infinity" : "Infinity";
    } else {
      // A subclass may have another repr.
      nb::object plain = nb::steal(PyFloat_FromDouble(number));
      if (!plain.is_valid()) throw nb::python_error();
      write_ascii(nb::steal(PyObject_Repr(plain.ptr())));
    }
  }

  void write_list(nb::handle value) {
    enter();
    bool list = PyList_Check(value.ptr());
    out_ += '[';
    // The size is read every time: another thread may change a list.
    for (Py_ssize_t i = 0;
         i < (list ? PyList_Size(value.ptr()) : PyTuple_Size(value.ptr()));
         ++i) {
      if (i > 0) out_ += ", ";
      nb::object item = nb::borrow(list ? PyList_GetItem(value.ptr(), i)
                                        : PyTuple_GetItem(value.ptr(), i));
      path_.push_back({nullptr, i});
      write(item);
      path_.pop_back();
    }
    out_ += ']';
    --depth_;
  }

  // A key as json.dumps writes it, or null if json.dumps has none.
  nb::object key_of(nb::handle key) {
    PyObject* object = key.ptr();
    if (PyUnicode_Check(object)) return nb::borrow(key);
    if (unfit_ == Unfit::kDumps &&
        (object == Py_None || PyLong_Check(object) || PyFloat_Check(object))) {
      Writer text(Unfit::kRefuse, domain_, root_);
      text.path_ = path_;
      text.write(key);
      return to_str(text.out_);
    }
    if (unfit_ == Unfit::kNull) return {};
    refuse("a key of a " + std::string(noun()) + " must be a str, not " +
           class_name(key));
  }

  void write_dict(nb::handle value) {
    enter();
    out_ += '{';
    bool first = true;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(value.ptr(), &position, &key, &item)) {
      nb::object held = nb::borrow(item);
      nb::object name = key_of(key);
      if (!name.is_valid()) continue;
      if (!first) out_ += ", ";
      first = false;
      write_string(name);
      path_.push_back({name.ptr(), 0});
      out_ += ": ";
      write(held);
      path_.pop_back();
    }
    out_ += '}';
    --depth_;
  }

  Unfit unfit_;
  Domain domain_;
  std::string root_;  // the path of the value itself
  std::string out_;
  std::size_t values_ = 0;
  std::size_t depth_ = 0;
  std::vector<Step> path_;
};

}  // namespace

std::string to_json_text(nb::handle value, Unfit unfit, Domain domain,
                         std::string_view path) {
  Writer writer(unfit, domain, path);
  writer.write(value);
  return writer.take();
}

}  // namespace parlance::python
