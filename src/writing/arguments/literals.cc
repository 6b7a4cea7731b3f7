// One pass over the tokens with a stack of open brackets.
//
// Invariant: `out_` is the JSON text of the tokens before `pos_`, and `open_`
// has the bracket that closes each open object or array, the outermost first.
// A Python call is an object that the end of the text closes.

#include "arguments/literals.h"

#include <array>
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

constexpr char kEndOfCall = ')';

class Translator {
 public:
  // `layout`: null for Python.
  Translator(std::string_view text, const DelimitedLayout* layout)
      : text_(text), layout_(layout) {}

  TranslatedLiterals translate() {
    if (layout_ == nullptr) {
      enter('{', kEndOfCall);
    } else {
      expected_ = Expected::kValue;
    }
    for (;;) {
      pos_ = skip_space(text_, pos_);
      if (pos_ == text_.size() && at_end()) {
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

  // Whether the text may end here; closes a call.
  bool at_end() {
    if (open_.empty()) return expected_ == Expected::kAfter;
    if (open_.size() > 1 || open_[0] != kEndOfCall) return false;
    if (expected_ != Expected::kFirstKey && expected_ != Expected::kAfter) {
      return false;
    }
    out_ += '}';
    return true;
  }

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
    if (open_.empty() || open_.back() == kEndOfCall ||
        !skip({&open_.back(), 1})) {
      return false;
    }
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
    const bool call = open_.back() == kEndOfCall;
    if (call || !string()) {
      // Python has bare names in calls alone.
      if (!call && layout_ == nullptr) return false;
      const std::string_view name = take([](char c) {
        return base::is_bare_key({&c, 1});
      });
      if (call ? !base::is_argument_name(name) : name.empty()) return false;
      json::append_string(out_, name, /*ascii=*/false);
    }
    pos_ = skip_space(text_, pos_);
    if (!skip(call ? "=" : ":")) return false;
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

  // A string.  In Python its escapes mean the same as in JSON.
  bool string() {
    if (layout_ != nullptr) {
      if (!skip(layout_->open)) return false;
      const std::size_t end = text_.find(layout_->close, pos_);
      if (end == std::string_view::npos) return false;
      json::append_string(out_, text_.substr(pos_, end - pos_),
                          /*ascii=*/false);
      pos_ = end + layout_->close.size();
      return true;
    }
    if (!text_.substr(pos_).starts_with('"')) return false;
    for (std::size_t i = pos_ + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == '"') {
        out_ += text_.substr(pos_, i + 1 - pos_);
        pos_ = i + 1;
        return true;
      }
    }
    return false;
  }

  bool word() {
    constexpr std::array<std::string_view, 3> kJson = {"null", "true", "false"};
    constexpr std::array<std::string_view, 3> kPython = {"None", "True",
                                                         "False"};
    for (std::size_t i = 0; i < kJson.size(); ++i) {
      if (!skip(layout_ == nullptr ? kPython[i] : kJson[i])) continue;
      out_ += kJson[i];
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
  const DelimitedLayout* const layout_;
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

TranslatedLiterals translate_python(std::string_view text) {
  return Translator(text, nullptr).translate();
}

TranslatedLiterals translate_delimited(std::string_view text,
                                       const DelimitedLayout& layout) {
  return Translator(text, &layout).translate();
}

}  // namespace parlance::arguments
