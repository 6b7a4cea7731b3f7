#include "call_syntax/json_text.h"

#include <algorithm>

#include "base/ascii.h"
#include "call_syntax/encoding.h"
#include "json/writer.h"

namespace parlance::call_syntax {
namespace {

// Whether `text` is an integer of JSON.
bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && (text[0] != '0' || text.size() == 1) &&
         std::ranges::all_of(text, base::is_digit);
}

}  // namespace

// What separates an item or a member from the one before it.
void JsonText::separate(std::string& out) {
  if (spacing_ == Spacing::kOwn && !open_.empty() && !first_) out += ", ";
  first_ = false;
}

// What stands before a value: the separator of an item; nothing after a key.
void JsonText::begin_value(std::string& out) {
  if (!keyed_) separate(out);
  keyed_ = false;
}

void JsonText::open(bool object, std::string& out) {
  begin_value(out);
  out += object ? '{' : '[';
  open_ += object ? '}' : ']';
  first_ = true;
}

void JsonText::close(std::string& out) {
  if (open_.empty()) return;
  out += open_.back();
  open_.pop_back();
  first_ = false;
}

void JsonText::key(std::string_view text, std::string& out) {
  separate(out);
  json::append_string(out, text, false);
  if (spacing_ == Spacing::kOwn) out += ": ";
  keyed_ = true;
}

void JsonText::value(const json::Value& value, std::string& out) {
  begin_value(out);
  out += json::standard_text(value);
}

void JsonText::open_string(std::string& out) {
  begin_value(out);
  out += '"';
}

void JsonText::text(std::string_view piece, Encoding encoding,
                    std::string& out) {
  append_json(out, piece, encoding);
}

bool JsonText::add(const Token& token, const Input& input, std::string& out) {
  const std::string_view span = input.slice(token.begin, token.end);
  switch (token.kind) {
    case Kind::kObject:
    case Kind::kList:
      open(token.kind == Kind::kObject, out);
      break;
    case Kind::kClose:
      close(out);
      break;
    case Kind::kKey:
      separate(out);
      out += '"';
      append_json(out, span, token.encoding);
      out += spacing_ == Spacing::kOwn ? "\": " : "\"";
      keyed_ = true;
      break;
    case Kind::kScalar: {
      // A number of JSON stays as it was written, and so does an integer of
      // Python that is one.
      if ((token.encoding == Encoding::kJson && base::is_digit(span.back())) ||
          is_integer(span)) {
        begin_value(out);
        out += span;
        break;
      }
      const auto known = scalar_value(span, token.encoding, Limits());
      if (!known) return false;
      value(*known, out);
      break;
    }
    case Kind::kTextBegin:
      open_string(out);
      break;
    case Kind::kText:
      text(span, token.encoding, out);
      break;
    case Kind::kTextEnd:
      close_string(out);
      break;
    case Kind::kSpace:
      if (spacing_ == Spacing::kModels) out += span;
      break;
    default:
      break;
  }
  return true;
}

}  // namespace parlance::call_syntax
