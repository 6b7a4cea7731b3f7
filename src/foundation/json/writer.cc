// Writing values as Python's json.dumps does, byte for byte.  The open
// containers stand on a stack of their own, so depth is no concern here.

#include "json/writer.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "parlance/json.h"

namespace parlance::json {
namespace {

void append_u_escape(std::string& out, char32_t unit) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) {
    out.push_back(kHex[(unit >> shift) & 15]);
  }
}

// The escape of a character that always has one; false for others.
bool append_short_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return true;
    case '\\':
      out += "\\\\";
      return true;
    case '\n':
      out += "\\n";
      return true;
    case '\r':
      out += "\\r";
      return true;
    case '\t':
      out += "\\t";
      return true;
    case '\f':
      out += "\\f";
      return true;
    case '\b':
      out += "\\b";
      return true;
    default:
      return false;
  }
}

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

// The position of the first character from `i` on that is not plain, or the
// end. Tests eight bytes at a time.  A byte of `found` whose high bit is set is
// not plain itself, or a borrow came from a byte before it that is not plain.
std::size_t skip_plain(std::string_view text, std::size_t i) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kOnes;
  const auto differs = [](std::uint64_t word, unsigned char c) {
    return (word ^ (c * kOnes)) - kOnes;  // borrows where equal
  };
  for (; text.size() - i >= 8; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    const std::uint64_t found = word | (word - 0x20 * kOnes) |
                                differs(word, '"') | differs(word, '\\') |
                                differs(word, 0x7F);
    if ((found & kHigh) != 0) break;
  }
  while (i < text.size() && is_plain(text[i])) ++i;
  return i;
}

// Writes a value and the containers in it, iteratively.
class Writer {
 public:
  explicit Writer(const DumpOptions& options, bool standard = false)
      : options_(options), standard_(standard) {}

  std::string write(const Value& root) {
    begin(root);
    while (!frames_.empty()) advance();
    return std::move(out_);
  }

 private:
  struct Frame {
    const Value* container;
    std::size_t next = 0;
  };

  // Writes a scalar or empty container, or opens a container.
  void begin(const Value& value) {
    switch (value.kind()) {
      case Kind::kNull:
        out_ += "null";
        break;
      case Kind::kBool:
        out_ += value.as_bool() ? "true" : "false";
        break;
      case Kind::kInt:
        out_ += std::to_string(value.as_int());
        break;
      case Kind::kBigInt:
        out_ += value.as_string();
        break;
      case Kind::kFloat:
        if (!value.as_string().empty()) {
          out_ += value.as_string();
        } else if (standard_ && !std::isfinite(value.as_float())) {
          out_ += std::isnan(value.as_float()) ? "null"
                  : value.as_float() < 0       ? "-1e999"
                                               : "1e999";
        } else {
          append_float(out_, value.as_float());
        }
        break;
      case Kind::kString:
        append_string(out_, value.as_string(), options_.ascii);
        break;
      case Kind::kArray:
      case Kind::kObject:
        if (value.size() == 0) {
          out_ += value.is_array() ? "[]" : "{}";
        } else {
          out_ += value.is_array() ? '[' : '{';
          frames_.push_back({&value});
        }
        break;
    }
  }

  // Writes the next part of the innermost container, or closes it.
  void advance() {
    Frame& frame = frames_.back();
    const Value& container = *frame.container;
    if (frame.next == container.size()) {
      frames_.pop_back();
      new_line();
      out_ += container.is_array() ? ']' : '}';
      return;
    }
    if (frame.next != 0) {
      out_ += options_.compact || options_.indent > 0 ? "," : ", ";
    }
    new_line();
    const std::size_t i = frame.next++;
    if (container.is_array()) {
      begin(container.items()[i]);
    } else {
      const Member& member =
          *(container.members().begin() + static_cast<std::ptrdiff_t>(i));
      append_string(out_, member.key, options_.ascii);
      out_ += options_.compact ? ":" : ": ";
      begin(member.value);
    }
  }

  void new_line() {
    if (options_.indent <= 0) return;
    out_.push_back('\n');
    out_.append(frames_.size() * static_cast<std::size_t>(options_.indent),
                ' ');
  }

  const DumpOptions options_;
  const bool standard_;
  std::string out_;
  std::vector<Frame> frames_;
};

}  // namespace

void append_string(std::string& out, std::string_view text, bool ascii) {
  out.push_back('"');
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    i = skip_plain(text, i);
    out.append(text, start, i - start);
    if (i == text.size()) break;
    const std::size_t at = i;
    const char32_t c = base::next_code_point(text, i);
    if (c < 0x80 && append_short_escape(out, static_cast<unsigned char>(c))) {
      continue;
    }
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    if (c >= 0x20 && !ascii && !surrogate) {
      // An ill-formed byte has become U+FFFD.
      if (c == 0xFFFD) {
        base::append_utf8(out, c);
      } else {
        out.append(text, at, i - at);
      }
    } else if (c >= 0x10000) {
      append_u_escape(out, 0xD800 + ((c - 0x10000) >> 10));
      append_u_escape(out, 0xDC00 + ((c - 0x10000) & 0x3FF));
    } else {
      append_u_escape(out, c);
    }
  }
  out.push_back('"');
}

std::string quoted(std::string_view text) {
  std::string out;
  append_string(out, text, /*ascii=*/false);
  return out;
}

// repr(float): the shortest digits that read back the same; an exponent below
// 1e-4 and from 1e16 on.
void append_float(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  // "d.ddde+XX"
  char text[40];
  const char* const end = std::to_chars(text, text + sizeof text, value,
                                        std::chars_format::scientific)
                              .ptr;
  const char* p = text;
  if (*p == '-') {
    out.push_back('-');
    ++p;
  }
  std::string digits(1, *p++);
  if (*p == '.') ++p;
  while (*p != 'e') digits.push_back(*p++);
  ++p;
  if (*p == '+') ++p;
  int exponent = 0;
  std::from_chars(p, end, exponent);
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out.push_back(digits[0]);
    if (count > 1) out.append(".").append(digits, 1);
    out += exponent < 0 ? "e-" : "e+";
    const int magnitude = exponent < 0 ? -exponent : exponent;
    if (magnitude < 10) out.push_back('0');
    out += std::to_string(magnitude);
  } else if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
  } else if (count <= exponent + 1) {
    out += digits;
    out.append(static_cast<std::size_t>(exponent + 1 - count), '0');
    out += ".0";
  } else {
    out.append(digits, 0, static_cast<std::size_t>(exponent + 1));
    out.append(".");
    out.append(digits, static_cast<std::size_t>(exponent + 1));
  }
}

std::string dump(const Value& value, const DumpOptions& options) {
  return Writer(options).write(value);
}

std::string standard_text(const Value& value) {
  return Writer({.ascii = false}, /*standard=*/true).write(value);
}

}  // namespace parlance::json
