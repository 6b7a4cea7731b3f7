// Conversion of Python values to JSON text.
//
// Templates and tools are passed to the library as text: errors then have a
// position in it, and the caches on the Python side can compare texts, because
// equal texts are equal values.

#include <cmath>

#include "binding.h"
#include "parlance/json_pointer.h"

namespace parlance::python {

namespace {

class Writer {
 public:
  Writer(Unfit unfit, Domain domain, std::string_view path)
      : unfit_(unfit), domain_(domain), root_(path) {}

  // The containers around a value are on a list and not on the call stack:
  // threads may have small ones.
  void write(nb::handle value) {
    nb::object next = nb::borrow(value);
    for (;;) {
      if (!open(next)) write_scalar(next);
      while (!open_.empty() && !advance(next)) close();
      if (open_.empty()) return;
    }
  }

  std::string take() { return std::move(out_); }

 private:
  // A container whose items are being written.
  struct Open {
    nb::object items;  // a list or a tuple; of a dict, its pairs
    bool dict = false;
    Py_ssize_t at = -1;    // the item
    nb::object key = {};   // of a dict: the key of the item
    bool written = false;  // whether there is an item in the text
  };

  // Begins to write `value`, if it is a container.
  bool open(nb::handle value) {
    if (++values_ > kMaxValues) {
      refuse("more than " + std::to_string(kMaxValues) +
                 " values when it is written out, each part as often as it is "
                 "reached; pass JSON text for one that is meant to be so large",
             ErrorCode::kTooLarge);
    }
    const bool dict = PyDict_Check(value.ptr());
    if (!dict && !PyList_Check(value.ptr()) &&
        (!PyTuple_Check(value.ptr()) || unfit_ == Unfit::kRefuse)) {
      return false;
    }
    if (open_.size() == kMaxValueDepth) {
      refuse("nested more than " + std::to_string(kMaxValueDepth) +
                 " levels deep, or containing itself",
             ErrorCode::kTooDeep);
    }
    open_.push_back({dict ? items_of(value) : nb::borrow(value), dict});
    out_ += dict ? '{' : '[';
    return true;
  }

  void close() {
    out_ += open_.back().dict ? '}' : ']';
    open_.pop_back();
  }

  // Goes on to the next item of the innermost container.
  bool advance(nb::object& next) {
    Open& top = open_.back();
    const bool list = PyList_Check(top.items.ptr());
    for (;;) {
      ++top.at;
      // The size is read every time: another thread may change a list.
      if (top.at >= (list ? PyList_Size(top.items.ptr())
                          : PyTuple_Size(top.items.ptr()))) {
        return false;
      }
      next = nb::borrow(list ? PyList_GetItem(top.items.ptr(), top.at)
                             : PyTuple_GetItem(top.items.ptr(), top.at));
      if (!top.dict) break;
      const nb::object pair = std::move(next);
      top.key = nb::object();  // of the dict itself, if it is refused
      top.key = key_of(nb::handle(PyTuple_GetItem(pair.ptr(), 0)));
      next = nb::borrow(PyTuple_GetItem(pair.ptr(), 1));
      if (top.key.is_valid()) break;
    }
    if (top.written) out_ += ", ";
    top.written = true;
    if (top.dict) {
      write_string(top.key);
      out_ += ": ";
    }
    return true;
  }

  void write_scalar(nb::handle value) {
    PyObject* const object = value.ptr();
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
    } else if (unfit_ == Unfit::kNull) {
      out_ += "null";
    } else {
      refuse("a " + class_name(value) + " has no place in a " + noun() +
             ", which holds what JSON does: dict, list, str, int, float, bool "
             "and None");
    }
  }

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
    for (const Open& step : open_) {
      if (step.dict && !step.key.is_valid()) break;
      if (step.at < 0) break;
      path = append_json_pointer(
          std::move(path),
          step.dict ? utf8_with_surrogates(step.key) : std::to_string(step.at));
    }
    raise(domain_, {code, std::move(message), std::move(path)});
  }

  void write_escape(unsigned unit) {
    constexpr char kDigits[] = "0123456789abcdef";
    out_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
      out_ += kDigits[(unit >> shift) & 15];
    }
  }

  void write_string(nb::handle value) {
    if (const auto plain = utf8_of(value)) {
      write_text(*plain);
    } else if (!has_pair(value)) {
      write_text(utf8_with_surrogates(value));
    } else if (unfit_ == Unfit::kNull) {
      out_ += "null";
    } else {
      refuse(
          "a str has the two halves of a surrogate pair as characters of "
          "their own, which JSON text cannot tell from the character that "
          "the pair stands for",
          ErrorCode::kInvalidUtf8);
    }
  }

  // Whether a str has the first half of a surrogate pair before a second one.
  static bool has_pair(nb::handle value) {
    if (utf8_of(value)) return false;
    const std::string text = utf8_with_surrogates(value);
    for (std::size_t at = text.find('\xED'); at != std::string_view::npos;
         at = text.find('\xED', at + 1)) {
      const auto half = [&](std::size_t begin, unsigned char least) {
        const auto tail = static_cast<unsigned char>(text[begin + 1]);
        return text[begin] == '\xED' && tail >= least && tail < least + 0x10;
      };
      if (at + 5 < text.size() && half(at, 0xA0) && half(at + 3, 0xB0)) {
        return true;
      }
    }
    return false;
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
    const std::optional<std::string> digits = digits_of(value);
    if (!digits) {
      refuse("an integer has more digits than " + std::to_string(kMaxDigits),
             ErrorCode::kTooLarge);
    }
    out_ += *digits;
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

  // A key as json.dumps writes it, or null if json.dumps has none.
  nb::object key_of(nb::handle key) {
    PyObject* object = key.ptr();
    if (PyUnicode_Check(object)) {
      if (unfit_ == Unfit::kNull && has_pair(key)) return {};
      return nb::borrow(key);
    }
    if (unfit_ == Unfit::kDumps &&
        (object == Py_None || PyLong_Check(object) || PyFloat_Check(object))) {
      std::string text;
      std::swap(text, out_);
      write_scalar(key);
      std::swap(text, out_);
      return to_str(text);
    }
    if (unfit_ == Unfit::kNull) return {};
    refuse("a key of a " + std::string(noun()) + " must be a str, not " +
           class_name(key));
  }

  Unfit unfit_;
  Domain domain_;
  std::string root_;  // the path of the value itself
  std::string out_;
  std::size_t values_ = 0;
  std::vector<Open> open_;
};

}  // namespace

std::string to_json_text(nb::handle value, Unfit unfit, Domain domain,
                         std::string_view path) {
  Writer writer(unfit, domain, path);
  writer.write(value);
  return writer.take();
}

}  // namespace parlance::python
