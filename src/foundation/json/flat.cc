// A reader for a whole JSON text, see flat.h.  Unlike Reader it keeps nothing
// between pieces.  Rare constructs and errors are left to Reader, which reads
// the text again and explains the error.

#include "json/flat.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/ascii.h"
#include "base/python_number.h"
#include "base/utf8.h"
#include "json/find_special.h"
#include "json/string_body.h"

namespace parlance::json {
namespace {

using base::hex_digit;
using base::is_digit;
using base::is_space;

class FlatReader {
 public:
  FlatReader(std::string_view text, const ParseOptions& options,
             FlatTexts& texts, std::vector<FlatNode>& out)
      : p_(text.data()),
        end_(text.data() + text.size()),
        most_digits_(std::min<std::size_t>(options.limits.integer_digits, 18)),
        most_open_(std::min(options.limits.json_depth, open_.size())),
        texts_(texts),
        out_(out) {}

  // Each iteration reads one value, or opens a container and reads its first
  // key, and then the brackets and commas that follow it.
  bool read() {
    skip_space();
    for (;;) {
      if (p_ == end_) return false;
      const char c = *p_;
      if (c == '{' || c == '[') {
        const Kind kind = c == '{' ? Kind::kObject : Kind::kArray;
        if (depth_ == most_open_) return false;
        open_[depth_++] = static_cast<std::uint32_t>(out_.size());
        out_.push_back(flat_container(kind));
        ++p_;
        skip_space();
        const bool closes = p_ != end_ && *p_ == (c == '{' ? '}' : ']');
        if (!closes) {
          if (c == '{' && !read_key()) return false;
          continue;
        }
      } else if (!read_scalar(c)) {
        return false;
      } else {
        count();
      }
      bool more = false;
      if (!close_and_separate(more)) return false;
      if (!more) return p_ == end_;
    }
  }

 private:
  void skip_space() {
    while (p_ != end_ && is_space(*p_)) ++p_;
  }

  // Counts a value for the container that it is in.
  void count() {
    if (depth_ > 0) ++out_[open_[depth_ - 1]].size;
  }

  // After a value, or at the bracket of an empty container: reads the brackets
  // that close, and a comma.  `more`: a value follows.
  bool close_and_separate(bool& more) {
    for (;;) {
      skip_space();
      if (depth_ == 0) return true;
      if (p_ == end_) return false;
      FlatNode& container = out_[open_[depth_ - 1]];
      const bool object = container.kind == Kind::kObject;
      const char c = *p_++;
      if (c == (object ? '}' : ']')) {
        container.nodes = out_.size() - open_[depth_ - 1];
        --depth_;
        count();
        continue;
      }
      if (c != ',') return false;
      skip_space();
      more = true;
      return !object || read_key();
    }
  }

  bool read_key() {
    if (p_ == end_ || *p_ != '"' || !read_string()) return false;
    skip_space();
    if (p_ == end_ || *p_ != ':') return false;
    ++p_;
    skip_space();
    return true;
  }

  bool read_scalar(char c) {
    switch (c) {
      case '"':
        return read_string();
      case 't':
        return read_word("true", Kind::kBool, true);
      case 'f':
        return read_word("false", Kind::kBool, false);
      case 'n':
        return read_word("null", Kind::kNull, false);
      default:
        return read_number();
    }
  }

  bool read_word(std::string_view word, Kind kind, bool boolean) {
    if (!std::string_view(p_, end_).starts_with(word)) return false;
    p_ += word.size();
    FlatNode& node = out_.emplace_back();
    node.kind = kind;
    if (kind == Kind::kBool) node.boolean = boolean;
    return true;
  }

  // The digits at p_, at least one.
  bool skip_digits() {
    const char* const begin = p_;
    while (p_ != end_ && is_digit(*p_)) ++p_;
    return p_ != begin;
  }

  // The grammar of RFC 8259.
  bool read_number() {
    const char* const begin = p_;
    const bool negative = *p_ == '-';
    if (negative) ++p_;
    const char* const digits = p_;
    if (!skip_digits()) return false;
    const auto count = static_cast<std::size_t>(p_ - digits);
    if (*digits == '0' && count > 1) return false;
    FlatNode& node = out_.emplace_back();
    if (p_ == end_ || (*p_ != '.' && (*p_ | 0x20) != 'e')) {
      if (count > most_digits_) return false;
      std::int64_t value = 0;
      for (const char* q = digits; q != p_; ++q) {
        value = value * 10 + (*q - '0');
      }
      node.kind = Kind::kInt;
      node.integer = negative ? -value : value;
      return true;
    }
    if (*p_ == '.') {
      ++p_;
      if (!skip_digits()) return false;
    }
    if (p_ != end_ && (*p_ | 0x20) == 'e') {
      ++p_;
      if (p_ != end_ && (*p_ == '+' || *p_ == '-')) ++p_;
      if (!skip_digits()) return false;
    }
    node.kind = Kind::kFloat;
    node.number = base::decimal_to_double({begin, p_});
    return true;
  }

  // REQUIRES: p_ is at the opening quote.
  bool read_string() {
    const char* const begin = p_ + 1;
    p_ = find_special(begin, end_);
    if (p_ == end_) return false;
    if (*p_ == '"') {
      out_.push_back(flat_text({begin, p_++}));
      return true;
    }
    std::string& text = texts_.emplace_front(begin, p_);
    while (p_ != end_ && *p_ != '"') {
      if (*p_ != '\\' || !read_escape(text)) return false;
      const char* const next = find_special(p_, end_);
      text.append(p_, next);
      p_ = next;
    }
    if (p_ == end_) return false;
    ++p_;
    out_.push_back(flat_text(text));
    return true;
  }

  // REQUIRES: p_ is at the backslash.
  bool read_escape(std::string& text) {
    if (++p_ == end_) return false;
    const char c = *p_++;
    if (c != 'u') {
      const char character = short_escape(c);
      if (character == 0) return false;
      text.push_back(character);
      return true;
    }
    if (end_ - p_ < 4) return false;
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = hex_digit(*p_++);
      if (digit < 0) return false;
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    if (code >= 0xD800 && code <= 0xDFFF) return false;
    base::append_utf8(text, code);
    return true;
  }

  const char* p_;
  const char* const end_;
  const std::size_t most_digits_;
  // The open containers, by their places in out_.
  std::array<std::uint32_t, 32> open_;
  std::size_t depth_ = 0;
  const std::size_t most_open_;
  FlatTexts& texts_;
  std::vector<FlatNode>& out_;
};

Value value_at(const FlatNode*& node) {
  const FlatNode& head = *node++;
  switch (head.kind) {
    case Kind::kNull:
    case Kind::kBigInt:
      return {};
    case Kind::kBool:
      return head.boolean;
    case Kind::kInt:
      return head.integer;
    case Kind::kFloat:
      return head.number;
    case Kind::kString:
      return head.as_string();
    case Kind::kArray: {
      Array items;
      items.reserve(head.size);
      for (std::uint32_t i = 0; i < head.size; ++i) {
        items.push_back(value_at(node));
      }
      return items;
    }
    case Kind::kObject: {
      Object members;
      members.reserve(head.size);
      for (std::uint32_t i = 0; i < head.size; ++i) {
        const std::string_view key = (node++)->as_string();
        members.set(std::string(key), value_at(node));
      }
      return members;
    }
  }
  return {};
}

}  // namespace

FlatNode flat_text(std::string_view text) {
  FlatNode node;
  node.kind = Kind::kString;
  node.size = static_cast<std::uint32_t>(text.size());
  node.text = text.data();
  return node;
}

FlatNode flat_container(Kind kind) {
  FlatNode node;
  node.kind = kind;
  return node;
}

void close_flat(std::size_t at, std::size_t size, std::vector<FlatNode>& out) {
  out[at].size = static_cast<std::uint32_t>(size);
  out[at].nodes = out.size() - at;
}

void expect_nodes(std::size_t more, std::vector<FlatNode>& out) {
  const std::size_t needed = out.size() + more;
  if (needed > out.capacity()) {
    out.reserve(std::max(needed, 2 * out.capacity()));
  }
}

bool read_flat(std::string_view text, const ParseOptions& options,
               FlatTexts& texts, std::vector<FlatNode>& out) {
  // The sizes of nodes have 32 bits.
  constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
  if (text.size() > std::min(options.limits.source_bytes, kMost)) return false;
  const std::size_t before = out.size();
  // Of a typical text, so that the nodes need not move.
  expect_nodes(text.size() / 8 + 8, out);
  if (FlatReader(text, options, texts, out).read()) return true;
  out.resize(before);
  return false;
}

bool append_flat(const Value& value, std::vector<FlatNode>& out) {
  const std::size_t at = out.size();
  FlatNode& node = out.emplace_back();
  node.kind = value.kind();
  switch (value.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBigInt:
      return false;
    case Kind::kBool:
      node.boolean = value.as_bool();
      return true;
    case Kind::kInt:
      node.integer = value.as_int();
      return true;
    case Kind::kFloat:
      node.number = value.as_float();
      return value.as_string().empty();
    case Kind::kString:
      node = flat_text(value.as_string());
      return true;
    case Kind::kArray:
      for (const Value& item : value.items()) {
        if (!append_flat(item, out)) return false;
      }
      break;
    case Kind::kObject:
      for (const Member& member : value.members()) {
        out.push_back(flat_text(member.key));
        if (!append_flat(member.value, out)) return false;
      }
      break;
  }
  close_flat(at, value.size(), out);
  return true;
}

const FlatNode* find_flat(const FlatNode* node, std::string_view key,
                          std::size_t* count) {
  const FlatNode* found = nullptr;
  std::size_t n = 0;
  const FlatNode* member = node + 1;
  for (std::uint32_t i = 0; i < node->size; ++i) {
    const FlatNode* value = member + 1;
    if (member->as_string() == key) {
      found = value;
      ++n;
    }
    member = after(value);
  }
  if (count != nullptr) *count = n;
  return found;
}

Value value_of(std::span<const FlatNode> nodes) {
  const FlatNode* node = nodes.data();
  return value_at(node);
}

}  // namespace parlance::json
