#include "pointer.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "parlance/json.h"

namespace parlance::cli {
namespace {

// Walks over a text that is known to be JSON, so nothing is checked but its
// end.
class Walker {
 public:
  explicit Walker(std::string_view json) : json_(json) {}

  std::size_t at() const { return at_; }
  bool done() const { return at_ >= json_.size(); }
  char peek() const { return done() ? '\0' : json_[at_]; }
  void step() { ++at_; }

  void skip_space() {
    while (!done() && std::string_view(" \t\r\n").find(json_[at_]) !=
                          std::string_view::npos) {
      ++at_;
    }
  }

  // Behind the string that begins here.
  void skip_string() {
    for (++at_; !done() && json_[at_] != '"'; ++at_) {
      if (json_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  // Behind the value that begins here.
  void skip_value() {
    std::size_t depth = 0;
    while (!done()) {
      char c = peek();
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return;
        --depth;
        ++at_;
      } else if (depth == 0 && (c == ',' || c == ' ' || c == '\n' ||
                                c == '\t' || c == '\r')) {
        return;
      } else {
        ++at_;
        if (depth > 0 || is_word(peek())) continue;
      }
      if (depth == 0) return;
    }
  }

  // The string that begins here, read.
  std::string read_string() {
    std::size_t begin = at_;
    skip_string();
    Result<json::Value> value = json::parse(json_.substr(begin, at_ - begin));
    return value ? std::string(value->as_string()) : std::string();
  }

 private:
  // Part of a number or a literal.
  static bool is_word(char c) {
    return c == '+' || c == '-' || c == '.' || (c >= '0' && c <= '9') ||
           (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }

  std::string_view json_;
  std::size_t at_ = 0;
};

// The first reference token of `pointer`, unescaped; removes it.
std::string take_token(std::string_view& pointer) {
  pointer.remove_prefix(1);
  std::size_t end = std::min(pointer.find('/'), pointer.size());
  std::string out;
  for (std::size_t i = 0; i < end; ++i) {
    if (pointer[i] == '~' && i + 1 < end) {
      out += pointer[++i] == '1' ? '/' : '~';
    } else {
      out += pointer[i];
    }
  }
  pointer.remove_prefix(end);
  return out;
}

}  // namespace

std::optional<Span> locate(std::string_view json, std::string_view pointer) {
  Walker walker(json);
  walker.skip_space();
  std::optional<Span> key;
  while (!pointer.empty()) {
    if (pointer[0] != '/') return std::nullopt;
    std::string token = take_token(pointer);
    bool object = walker.peek() == '{';
    if (!object && walker.peek() != '[') return std::nullopt;
    walker.step();
    bool found = false;
    for (std::size_t index = 0; !found; ++index) {
      walker.skip_space();
      if (walker.peek() == '}' || walker.peek() == ']' || walker.done()) {
        return std::nullopt;
      }
      std::string name = std::to_string(index);
      key.reset();
      if (object) {
        std::size_t begin = walker.at();
        name = walker.read_string();
        key = Span{begin, walker.at()};
        walker.skip_space();
        walker.step();  // ':'
        walker.skip_space();
      }
      found = name == token;
      if (!found) {
        walker.skip_value();
        walker.skip_space();
        if (walker.peek() == ',') walker.step();
      }
    }
  }
  std::size_t begin = walker.at();
  if (walker.peek() == '{' || walker.peek() == '[') {
    return key ? key : Span{begin, begin + 1};
  }
  walker.skip_value();
  return Span{begin, walker.at()};
}

}  // namespace parlance::cli
