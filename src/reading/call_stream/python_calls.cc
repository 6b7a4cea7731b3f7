// Python calls as JSON text, step by step; see python_calls.h.

#include "call_stream/python_calls.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "call_stream/member_writer.h"
#include "json/python_literal.h"
#include "json/writer.h"
#include "parlance/json.h"

namespace parlance::call_stream {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' ||
         c == '\v';
}
using base::is_digit;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
         c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_prefix(char c) {
  return std::string_view("rRuUbBfF").find(c) != std::string_view::npos;
}

constexpr std::size_t kLongestPrefix = 2;  // of a string

// Where the quote of the string at `at` is, after its prefix; nothing if no
// string begins there.  `wait`: more text decides.
std::optional<std::size_t> quote_at(std::string_view text, std::size_t at,
                                    bool& wait) {
  wait = false;
  for (std::size_t i = at; i <= at + kLongestPrefix; ++i) {
    if (i >= text.size()) {
      wait = true;
      return std::nullopt;
    }
    if (is_quote(text[i])) return i;
    if (!is_prefix(text[i])) return std::nullopt;
  }
  return std::nullopt;
}

// The size of the escape at `at` as far as it is a unit of its own; 0 if more
// text is needed.  REQUIRES: a backslash is there.
std::size_t escape_size(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return 0;
  const char c = text[at + 1];
  std::size_t size = 2;
  if (c >= '0' && c <= '7') {
    while (size < 4 && at + size < text.size() && text[at + size] >= '0' &&
           text[at + size] <= '7') {
      ++size;
    }
    // Another digit may follow.
    if (size < 4 && at + size == text.size()) return 0;
    return size;
  }
  size = c == 'x' ? 4 : c == 'u' ? 6 : c == 'U' ? 10 : 2;
  return at + size <= text.size() ? size : 0;
}

// The same for escapes that belong together: a high surrogate and what may be
// the low one.
std::size_t joined_escape_size(std::string_view text, std::size_t at) {
  const std::size_t size = escape_size(text, at);
  if (size < 6) return size;
  const std::string_view digits = text.substr(at + size - 4, 4);
  const bool high =
      (digits[0] == 'd' || digits[0] == 'D') &&
      std::string_view("89abAB").find(digits[1]) != std::string_view::npos;
  if (!high) return size;
  const std::size_t next = at + size;
  if (next >= text.size()) return 0;
  if (text[next] != '\\') return size;
  if (next + 1 >= text.size()) return 0;
  if (text[next + 1] != 'u' && text[next + 1] != 'U') return size;
  const std::size_t second = escape_size(text, next);
  return second == 0 ? 0 : size + second;
}

}  // namespace

std::unique_ptr<PythonCallReader> PythonCallReader::of_arguments(
    std::string_view name, const Limits& limits) {
  auto out = std::make_unique<PythonCallReader>(Casts(), "", limits);
  out->only_arguments_ = true;
  out->name_ = name;
  return out;
}

void PythonCallReader::skip_space(std::string_view text) {
  while (at_ < text.size() && is_space(text[at_])) ++at_;
}

// ---- Calls ----

void PythonCallReader::begin_arguments(CallWriter& out) {
  out.open(name_, id_);
  out.arguments() += '{';
  parameters_ = schema::parameters_of(casts_.tools, name_);
  names_.clear();
  open_ = "(";
  first_ = true;
  step_ = Step::kArgument;
}

void PythonCallReader::end_arguments(std::string& out) {
  out += '}';
  open_.clear();
  step_ = only_arguments_ ? Step::kStopped : Step::kBetween;
}

bool PythonCallReader::read_between(std::string_view text, bool end) {
  while (at_ < text.size() &&
         (is_space(text[at_]) || text[at_] == ',' || text[at_] == ';')) {
    ++at_;
  }
  if (at_ == text.size()) return end && stop();
  if (list_ && !closed_ && text[at_] == ']') {
    ++at_;
    closed_ = true;
    return true;
  }
  if (closed_) return stop();
  searched_ = at_;
  step_ = Step::kName;
  return true;
}

bool PythonCallReader::read_name(std::string_view text, CallWriter& out) {
  while (searched_ < text.size() &&
         (is_word(text[searched_]) || text[searched_] == '.')) {
    ++searched_;
  }
  std::size_t open = searched_;
  while (open < text.size() && is_space(text[open])) ++open;
  if (open == text.size()) return false;
  name_ = text.substr(at_, searched_ - at_);
  // Each part between dots is a name.
  bool valid = text[open] == '(';
  char before = '.';
  for (const char c : name_ + ".") {
    if (before == '.' && (c == '.' || is_digit(c))) valid = false;
    before = c;
  }
  if (!valid) return stop();
  item_begin_ = at_;
  call_begin_ = open;
  at_ = open + 1;
  begin_arguments(out);
  return true;
}

// What is open cannot be read.
bool PythonCallReader::stop() {
  const bool in_call = !open_.empty() && !only_arguments_;
  step_ = in_call ? Step::kDamage : Step::kStopped;
  open_.clear();
  extent_ = {};
  extent_.at = call_begin_;
  return true;
}

// Looks for the end of the call's parentheses, by the rules of
// parse::end_of_brackets(): a bracket closes what is open inside its pair.
bool PythonCallReader::read_damage(std::string_view text) {
  Extent& e = extent_;
  for (; e.at < text.size(); ++e.at) {
    const char c = text[e.at];
    if (e.escaped) {
      e.escaped = false;
    } else if (e.quote != 0) {
      e.escaped = c == '\\';
      if (c == e.quote) e.quote = 0;
    } else if (is_quote(c)) {
      e.quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      e.open += c;
    } else if (c == ')' || c == ']' || c == '}') {
      const std::size_t pair = e.open.rfind(c == ')'   ? '('
                                            : c == ']' ? '['
                                                       : '{');
      if (pair == std::string::npos) return stop();
      e.open.resize(pair);
      if (!e.open.empty()) continue;
      at_ = e.at + 1;
      step_ = Step::kBetween;
      return true;
    }
  }
  return false;
}

// ---- Arguments ----

bool PythonCallReader::read_argument(std::string_view text, bool end,
                                     std::string& out) {
  skip_space(text);
  if (at_ == text.size()) {
    // Without parentheses the end of the text ends them, but not after a comma.
    if (end && only_arguments_ && first_) end_arguments(out);
    return false;
  }
  if (!only_arguments_ && text[at_] == ')') {
    ++at_;
    end_arguments(out);
    return true;
  }
  searched_ = std::max(searched_, at_);
  while (searched_ < text.size() && is_word(text[searched_])) ++searched_;
  std::size_t equals = searched_;
  while (equals < text.size() && is_space(text[equals])) ++equals;
  if (equals == text.size()) return false;
  const std::string_view name = text.substr(at_, searched_ - at_);
  if (name.empty() || is_digit(name[0]) || text[equals] != '=' ||
      (!names_.emplace(name).second && !only_arguments_)) {
    return stop();
  }
  if (!first_) out += ", ";
  first_ = false;
  json::append_string(out, name, false);
  out += ": ";
  parameter_ = nullptr;
  if (parameters_ != nullptr) {
    const auto found = parameters_->find(name);
    if (found != parameters_->end()) parameter_ = &found->second;
  }
  at_ = equals + 1;
  step_ = Step::kValue;
  return true;
}

// Whether the argument that begins with `first` may be cast.
bool PythonCallReader::may_cast(char first) const {
  if (open_.size() > 1 || parameter_ == nullptr) return false;
  if (is_quote(first) || is_prefix(first)) {
    return schema::may_cast_string(*parameter_, casts_.strings);
  }
  const bool list = first == '[' || first == '(' || first == '{';
  return list && schema::may_cast_list(*parameter_);
}

bool PythonCallReader::read_value(std::string_view text, bool end,
                                  std::string& out) {
  skip_space(text);
  if (at_ == text.size()) return false;
  const char c = text[at_];
  // 1. The end of a list.
  if (step_ != Step::kValue && c == ']') {
    ++at_;
    out += ']';
    open_.pop_back();
    step_ = Step::kAfter;
    return true;
  }
  if (step_ == Step::kItem) out += ", ";
  step_ = Step::kValue;
  // 2. What is held.
  if (may_cast(c)) {
    hold(Held::kArgument, at_);
    return true;
  }
  if (c == '(' || c == '{') {
    hold(c == '(' ? Held::kBrackets : Held::kBrace, at_);
    return true;
  }
  // 3. What is written piece by piece.
  if (c == '[') {
    if (open_.size() > limits_.json_depth) return stop();
    ++at_;
    out += '[';
    open_ += '[';
    step_ = Step::kFirstItem;
    return true;
  }
  bool wait = false;
  if (const auto quote = quote_at(text, at_, wait)) {
    if (text.size() < *quote + 3 && !end) return false;
    begin_string(text, *quote);
    if (step_ == Step::kString) out += '"';
    return true;
  }
  if (wait && !end) return false;
  std::size_t digit = at_;
  if (c == '+' || c == '-') {
    ++digit;
    while (digit < text.size() && is_space(text[digit])) ++digit;
    if (digit == text.size()) return false;
  }
  if (text[digit] >= '1' && text[digit] <= '9') {
    if (c == '-') out += '-';
    at_ = digit;
    fraction_ = exponent_ = false;
    step_ = Step::kNumber;
    return true;
  }
  hold(Held::kScalar, at_);
  extent_.at = digit;
  return true;
}

// ---- Strings ----

// REQUIRES: the two bytes after the quote have come, or never come.
void PythonCallReader::begin_string(std::string_view text, std::size_t quote) {
  raw_ = false;
  for (; at_ < quote; ++at_) {
    if (text[at_] == 'r' || text[at_] == 'R') raw_ = true;
    if (std::string_view("bBfF").find(text[at_]) != std::string_view::npos) {
      stop();
      return;
    }
  }
  quote_ = text[quote];
  triple_ = text.substr(quote).starts_with(std::string(3, quote_));
  at_ = quote + (triple_ ? 3 : 1);
  step_ = Step::kString;
}

// Invariant: the string before at_ is written, and what begins at `i` is a
// character, an escape or the end of the string.
bool PythonCallReader::read_string(std::string_view text, std::string& out) {
  std::size_t i = at_;
  bool ended = false;
  while (i < text.size()) {
    if (text[i] == quote_) {
      if (!triple_) {
        ended = true;
        break;
      }
      const std::string_view left = text.substr(i, 3);
      const std::string three(3, quote_);
      ended = left == three;
      if (ended || std::string_view(three).starts_with(left)) break;
      ++i;
    } else if (text[i] == '\\') {
      const std::size_t size =
          raw_ ? (i + 1 < text.size() ? 2 : 0) : joined_escape_size(text, i);
      if (size == 0) break;
      i += size;
    } else {
      ++i;
    }
  }
  std::string piece;
  const bool valid =
      json::append_python_text(text.substr(at_, i - at_), raw_, piece);
  append_escaped(out, piece);
  if (!valid) return stop();
  at_ = i;
  if (!ended) return false;
  at_ += triple_ ? 3 : 1;
  step_ = Step::kAfterString;
  return true;
}

bool PythonCallReader::read_after_string(std::string_view text, bool end,
                                         std::string& out) {
  skip_space(text);
  if (at_ == text.size() && !end) return false;
  bool wait = false;
  const auto quote = quote_at(text, at_, wait);
  if (quote) {
    if (text.size() < *quote + 3 && !end) return false;
    begin_string(text, *quote);
    return true;
  }
  if (wait && !end) return false;
  out += '"';
  step_ = Step::kAfter;
  return true;
}

// ---- Numbers ----

// Invariant: the number before at_ is written, and ends with a digit.
bool PythonCallReader::read_number(std::string_view text, bool end,
                                   std::string& out) {
  while (at_ < text.size()) {
    const char c = text[at_];
    if (is_digit(c)) {
      out += c;
      ++at_;
      continue;
    }
    const bool point = c == '.' && !fraction_;
    const bool exponent = (c == 'e' || c == 'E') && !exponent_;
    if (c != '_' && !point && !exponent) {
      if (is_word(c) || c == '.') return stop();
      step_ = Step::kAfter;
      return true;
    }
    // What follows decides.
    std::size_t next = at_ + 1;
    if (exponent && next < text.size() &&
        (text[next] == '+' || text[next] == '-')) {
      ++next;
    }
    if (next == text.size() && !end) return false;
    const bool digit = next < text.size() && is_digit(text[next]);
    if (point) {
      fraction_ = true;
      out += digit ? "." : ".0";
    } else if (!digit) {
      return stop();
    } else if (exponent) {
      fraction_ = exponent_ = true;
      out += text.substr(at_, next - at_);
    }
    at_ = next;
  }
  if (!end) return false;
  step_ = Step::kAfter;
  return true;
}

// ---- Held texts ----

void PythonCallReader::hold(Held held, std::size_t begin) {
  held_ = held;
  held_begin_ = begin;
  extent_ = {};
  extent_.at = begin;
  step_ = Step::kHeld;
}

// Follows the held text to a byte outside strings that `stops`, with no bracket
// open in it.  False: more text is needed.
bool PythonCallReader::follow(std::string_view text, bool end,
                              bool (*stops)(char)) {
  Extent& e = extent_;
  while (e.at < text.size()) {
    const char c = text[e.at];
    if (e.quote != 0) {
      if (c == '\\') {
        if (e.at + 1 >= text.size()) break;
        e.at += 2;
        continue;
      }
      if (c == e.quote) {
        const std::string_view left = text.substr(e.at, 3);
        const std::string three(3, c);
        if (e.triple && left != three) {
          if (!end && std::string_view(three).starts_with(left)) break;
        } else {
          e.at += e.triple ? 2 : 0;
          e.quote = 0;
        }
      }
      ++e.at;
      continue;
    }
    if (e.open.empty() && stops(c)) return true;
    if (is_quote(c)) {
      if (text.size() < e.at + 3 && !end) break;
      e.triple = text.substr(e.at).starts_with(std::string(3, c));
      e.quote = c;
      e.at += e.triple ? 3 : 1;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') e.open += c;
    if ((c == ')' || c == ']' || c == '}') && !e.open.empty()) {
      e.open.pop_back();
    }
    ++e.at;
  }
  return end && e.quote == 0 && e.open.empty();
}

std::string_view PythonCallReader::held(std::string_view text) const {
  return text.substr(held_begin_, extent_.at - held_begin_);
}

// Writes a value that was held.
bool PythonCallReader::write_held(std::string_view held, std::string& out) {
  Result<json::Value> value = json::read_python(held, limits_);
  if (!value) return stop();
  if (open_.size() == 1 && parameter_ != nullptr) {
    if (auto changed =
            schema::cast_argument(*value, *parameter_, casts_.strings)) {
      *value = std::move(*changed);
    }
  }
  out += json::standard_text(*value);
  at_ = extent_.at;
  step_ = Step::kAfter;
  return true;
}

bool PythonCallReader::read_held(std::string_view text, bool end,
                                 std::string& out) {
  switch (held_) {
    case Held::kScalar:
      if (!follow(text, end, [](char c) {
            return !is_word(c) && c != '.' && c != '+' && c != '-';
          })) {
        return false;
      }
      return write_held(held(text), out);
    case Held::kArgument:
      if (!follow(text, end, [](char c) { return c == ',' || c == ')'; })) {
        return false;
      }
      return write_held(held(text), out);
    case Held::kBrackets: {
      // The brackets close where nothing is open in them any more.
      if (extent_.at == held_begin_) {
        extent_.open += text[held_begin_];
        ++extent_.at;
      }
      if (!follow(text, end, [](char) { return true; })) return false;
      return write_held(held(text), out);
    }
    case Held::kBrace:
      return read_brace(text, end, out);
    case Held::kKey:
      return read_key(text, end, out);
  }
  return stop();
}

bool PythonCallReader::read_brace(std::string_view text, bool end,
                                  std::string& out) {
  if (extent_.at == held_begin_) ++extent_.at;
  if (!follow(text, end,
              [](char c) { return c == ':' || c == ',' || c == '}'; }) ||
      extent_.at == text.size()) {
    return false;
  }
  if (text[extent_.at] != ':') {
    // A set, or an empty dict.
    held_ = Held::kBrackets;
    extent_.open += '{';
    return true;
  }
  if (open_.size() > limits_.json_depth) return stop();
  out += '{';
  open_ += '{';
  first_ = true;
  ++held_begin_;
  held_ = Held::kKey;
  return true;
}

bool PythonCallReader::read_key(std::string_view text, bool end,
                                std::string& out) {
  if (!follow(text, end, [](char c) { return c == ':'; }) ||
      extent_.at == text.size()) {
    return false;
  }
  // A dict of its own reads the key.
  const std::string dict = "{" + std::string(held(text)) + ":0}";
  const Result<json::Value> key = json::read_python(dict, limits_);
  if (!key || !key->is_object() || key->size() != 1) return stop();
  if (!first_) out += ", ";
  first_ = false;
  json::append_string(out, key->members().begin()->key, false);
  out += ": ";
  at_ = extent_.at + 1;
  step_ = Step::kValue;
  return true;
}

bool PythonCallReader::read_after(std::string_view text, bool end,
                                  std::string& out) {
  skip_space(text);
  const char in = open_.back();
  if (at_ == text.size()) {
    if (end && only_arguments_ && open_.size() == 1) end_arguments(out);
    return false;
  }
  const char c = text[at_++];
  if (c == ',') {
    first_ = false;
    step_ = in == '(' ? Step::kArgument : in == '[' ? Step::kItem : Step::kKey;
    return true;
  }
  if (in == '(') {
    if (c != ')' || only_arguments_) return stop();
    end_arguments(out);
    return true;
  }
  const char closing = in == '[' ? ']' : '}';
  if (c != closing) return stop();
  out += closing;
  open_.pop_back();
  return true;
}

bool PythonCallReader::step(std::string_view text, bool end, CallWriter& out) {
  switch (step_) {
    case Step::kStart:
      if (only_arguments_) {
        begin_arguments(out);
        return true;
      }
      skip_space(text);
      if (at_ == text.size()) return end && stop();
      list_ = text[at_] == '[';
      at_ += list_ ? 1 : 0;
      step_ = Step::kBetween;
      return true;
    case Step::kBetween:
      return read_between(text, end);
    case Step::kName:
      return read_name(text, out);
    case Step::kArgument:
      return read_argument(text, end, out.arguments());
    case Step::kValue:
    case Step::kFirstItem:
    case Step::kItem:
      return read_value(text, end, out.arguments());
    case Step::kKey:
      skip_space(text);
      if (at_ == text.size()) return false;
      if (text[at_] == '}') {
        step_ = Step::kAfter;
        return true;
      }
      hold(Held::kKey, at_);
      return true;
    case Step::kString:
      return read_string(text, out.arguments());
    case Step::kAfterString:
      return read_after_string(text, end, out.arguments());
    case Step::kNumber:
      return read_number(text, end, out.arguments());
    case Step::kHeld:
      return read_held(text, end, out.arguments());
    case Step::kAfter:
      return read_after(text, end, out.arguments());
    case Step::kDamage:
      return read_damage(text);
    case Step::kStopped:
      return false;
  }
  return false;
}

// Invariant: the text before at_ is read, and what is certain of it is written.
void PythonCallReader::advance(std::string_view text, bool end,
                               CallWriter& out) {
  while (step_ != Step::kStopped) {
    const bool in_call = !open_.empty();
    if (!step(text, end, out)) return;
    if (in_call && step_ == Step::kBetween) out.end_item({item_begin_, at_});
  }
}

}  // namespace parlance::call_stream
