#include "call_syntax/encoding.h"

#include "json/python_literal.h"
#include "json/writer.h"

namespace parlance::call_syntax {
namespace {

bool has_escape(std::string_view text) {
  return text.find('\\') != std::string_view::npos;
}

}  // namespace

void append_text(std::string& out, std::string_view text, Encoding encoding) {
  if (encoding == Encoding::kPlain || !has_escape(text)) {
    out += text;
  } else if (encoding == Encoding::kPython) {
    json::append_python_text(text, /*raw=*/false, out);
  } else {
    std::string quoted = "\"";
    quoted += text;
    quoted += '"';
    const Result<json::Value> value = json::parse(quoted);
    out += value ? value->as_string() : text;
  }
}

void append_json(std::string& out, std::string_view text, Encoding encoding) {
  if (encoding == Encoding::kJson) {
    out += text;
    return;
  }
  std::string decoded;
  if (encoding == Encoding::kPython && has_escape(text)) {
    append_text(decoded, text, encoding);
    text = decoded;
  }
  // append_string() writes quotes, too; they are removed again.
  const std::size_t begin = out.size();
  json::append_string(out, text, false);
  out.pop_back();
  out.erase(begin, 1);
}

Result<json::Value> scalar_value(std::string_view text, Encoding encoding,
                                 const Limits& limits) {
  if (encoding == Encoding::kPython) return json::read_python(text, limits);
  return json::parse(text, {.limits = limits});
}

}  // namespace parlance::call_syntax
