#include "call_syntax/encoding.h"

#include "json/python_literal.h"
#include "json/writer.h"

namespace parlance::call_syntax {
namespace {

bool has_escape(std::string_view text) {
  return text.find('\\') != std::string_view::npos;
}

// '\/' is an escape in JSON, and two characters in Python.
void append_call_list(std::string& out, std::string_view text) {
  for (;;) {
    std::size_t i = 0;
    while (i < text.size() && (text[i] != '\\' || text[i + 1] != '/')) {
      i += text[i] == '\\' ? 2 : 1;
    }
    json::append_python_text(text.substr(0, i), /*raw=*/false, out);
    if (i >= text.size()) return;
    out += '/';
    text.remove_prefix(i + 2);
  }
}

}  // namespace

void append_text(std::string& out, std::string_view text, Encoding encoding) {
  if (encoding == Encoding::kPythonKey) {
    const Result<json::Value> key = json::read_python(text);
    out += !key               ? std::string(text)
           : key->is_string() ? std::string(key->as_string())
                              : json::dump(*key);
  } else if (encoding == Encoding::kPlain || !has_escape(text)) {
    out += text;
  } else if (encoding == Encoding::kPython) {
    json::append_python_text(text, /*raw=*/false, out);
  } else if (encoding == Encoding::kCallList) {
    append_call_list(out, text);
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
  if (encoding == Encoding::kPythonKey ||
      (encoding != Encoding::kPlain && has_escape(text))) {
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
