// One pass over the tokens with a stack of open brackets.
//
// Invariant: `out_` is the JSON text of the tokens before `pos_`, and `open_`
// has the bracket that closes each open object or array, the outermost first.

#include "arguments/literals.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "arguments/elements.h"
#include "arguments/markup.h"
#include "base/argument_names.h"
#include "json/writer.h"

namespace parlance::arguments {

using structural_tag::DelimitedLayout;
namespace {

class Translator {
 public:
  Translator(std::string_view text, const DelimitedLayout& layout)
      : text_(text), layout_(layout) {}

  TranslatedLiterals translate() {
    for (;;) {
      pos_ = skip_space(text_, pos_);
      if (pos_ == text_.size() && open_.empty() &&
          expected_ == Expected::kAfter) {
        return {std::move(out_), true, text_.size()};
      }
      if (!token()) break;
    }
    if (root_ != '{') return {};
    out_.resize(whole_members_);
    out_ += '}';
    return {std::move(out_), false, read_};
  }

 private:
  enum class Expected : std::uint8_t {
    kFirstKey,   // a key or the end of the object
    kKey,        // a key
    kFirstItem,  // an item or the end of the array
    kValue,      // a value
    kAfter,      // a comma or the end of the object or array
  };

  bool token() {
    switch (expected_) {
      case Expected::kFirstKey:
        return closes() || key();
      case Expected::kKey:
        return key();
      case Expected::kFirstItem:
        return closes() || value();
      case Expected::kValue:
        return value();
      case Expected::kAfter:
        return closes() || comma();
    }
    return false;
  }

  bool skip(std::string_view part) {
    if (!text_.substr(pos_).starts_with(part)) return false;
    pos_ += part.size();
    return true;
  }

  void enter(char bracket, char end) {
    if (open_.empty()) root_ = bracket;
    open_.push_back(end);
    out_ += bracket;
    if (open_.size() == 1) whole_members_ = out_.size();
    expected_ = bracket == '{' ? Expected::kFirstKey : Expected::kFirstItem;
  }

  bool closes() {
    if (open_.empty() || !skip({&open_.back(), 1})) return false;
    out_ += open_.back();
    open_.pop_back();
    expected_ = Expected::kAfter;
    return true;
  }

  bool comma() {
    if (open_.empty() || !skip(",")) return false;
    if (open_.size() == 1) {
      whole_members_ = out_.size();
      read_ = pos_ = skip_space(text_, pos_);
    }
    out_ += ',';
    expected_ = open_.back() == ']' ? Expected::kValue : Expected::kKey;
    return true;
  }

  // The text from `pos_` on of the bytes that `fits` accepts.
  template <class Fits>
  std::string_view take(const Fits& fits) {
    const std::size_t begin = pos_;
    while (pos_ < text_.size() && fits(text_[pos_])) ++pos_;
    return text_.substr(begin, pos_ - begin);
  }

  bool key() {
    if (!string()) {
      const std::string_view name = take([](char c) {
        return base::is_bare_key({&c, 1});
      });
      if (name.empty()) return false;
      json::append_string(out_, name, /*ascii=*/false);
    }
    pos_ = skip_space(text_, pos_);
    if (!skip(":")) return false;
    out_ += ':';
    expected_ = Expected::kValue;
    return true;
  }

  bool value() {
    if (skip("{")) {
      enter('{', '}');
      return true;
    }
    if (skip("[")) {
      enter('[', ']');
      return true;
    }
    expected_ = Expected::kAfter;
    return string() || word() || number();
  }

  bool string() {
    if (!skip(layout_.open)) return false;
    const std::size_t end = text_.find(layout_.close, pos_);
    if (end == std::string_view::npos) return false;
    json::append_string(out_, text_.substr(pos_, end - pos_),
                        /*ascii=*/false);
    pos_ = end + layout_.close.size();
    return true;
  }

  bool word() {
    for (const std::string_view word : {"null", "true", "false"}) {
      if (!skip(word)) continue;
      out_ += word;
      return true;
    }
    return false;
  }

  bool number() {
    const std::string_view digits = take([](char c) {
      return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' ||
             c == 'e' || c == 'E';
    });
    out_ += digits;
    return !digits.empty();
  }

  const std::string_view text_;
  const DelimitedLayout& layout_;
  std::size_t pos_ = 0;
  Expected expected_ = Expected::kValue;
  std::vector<char> open_;
  std::string out_;
  char root_ = 0;  // the outermost bracket
  // out_ up to the last comma of the outermost object, and the position after
  // that comma.
  std::size_t whole_members_ = 0;
  std::size_t read_ = 0;
};

}  // namespace

TranslatedLiterals translate_delimited(std::string_view text,
                                       const DelimitedLayout& layout) {
  return Translator(text, layout).translate();
}

}  // namespace parlance::arguments
