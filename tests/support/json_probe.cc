// Answers questions about the json and base rooms, for tests in Python that
// compare with Python's own.
//
//   stdin:  "<operation> <length>...\n" and that many bytes per length, again
//           and again
//   stdout: "<length>\n" and that many bytes, once per request
//
// Operations (arguments): parse (text), pieces (text, size of a piece),
// dump (text, ascii, indent, compact), int, float, space, strip (text),
// rewrite (body, word characters, unquoted keys, then open and close of each
// pair), python (text).

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/python_number.h"
#include "base/utf8.h"
#include "json/lax.h"
#include "json/python_literal.h"
#include "json/reader.h"
#include "json/writer.h"
#include "parlance/json.h"

namespace {

using Arguments = std::vector<std::string>;
using namespace parlance;

std::size_t number(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 10);
}

// "ok <json>" or "<status> <offset> <message>".
std::string outcome(json::Reader& reader) {
  switch (reader.status()) {
    case json::Status::kOk:
      return "ok " + json::dump(reader.take());
    case json::Status::kSyntax:
      return "syntax " + std::to_string(reader.consumed()) + " " +
             reader.message();
    case json::Status::kTooDeep:
      return "deep";
    case json::Status::kTooManyDigits:
      return "digits";
  }
  return "";
}

std::string read_in_pieces(std::string_view text, std::size_t size) {
  json::Reader reader;
  while (!text.empty()) {
    reader.feed(text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
  }
  reader.finish();
  return outcome(reader);
}

std::string dump_as(const Arguments& a) {
  const Result<json::Value> value = json::parse(a[0]);
  if (!value) return value.error().to_string();
  return json::dump(*value, {.ascii = a[1] == "1",
                             .indent = static_cast<int>(number(a[2])),
                             .compact = a[3] == "1"});
}

std::string read_int(const std::string& text) {
  std::string digits;
  switch (base::python_int(text, digits)) {
    case base::NumberStatus::kOk:
      return digits;
    case base::NumberStatus::kNotANumber:
      return "not a number";
    case base::NumberStatus::kTooManyDigits:
      return "too many digits";
  }
  return "";
}

std::string read_float(const std::string& text) {
  double value = 0;
  if (!base::python_float(text, value)) return "not a number";
  std::string out;
  json::append_float(out, value);
  return out;
}

std::set<char32_t> word_characters;

std::string rewrite(const Arguments& a) {
  word_characters.clear();
  for (std::size_t i = 0; i < a[1].size();) {
    word_characters.insert(base::next_code_point(a[1], i));
  }
  json::Dialect dialect;
  dialect.unquoted_keys = a[2] == "1";
  for (std::size_t i = 3; i + 1 < a.size(); i += 2) {
    dialect.string_delims.emplace_back(a[i], a[i + 1]);
  }
  const auto text = json::rewrite(
      a[0], dialect, [](char32_t c) { return word_characters.count(c) != 0; });
  return text ? "ok " + *text : "marks";
}

std::string answer(const std::string& operation, const Arguments& a) {
  if (operation == "parse") return read_in_pieces(a[0], a[0].size());
  if (operation == "pieces") return read_in_pieces(a[0], number(a[1]));
  if (operation == "dump") return dump_as(a);
  if (operation == "int") return read_int(a[0]);
  if (operation == "float") return read_float(a[0]);
  if (operation == "strip") return std::string(base::python_strip(a[0]));
  if (operation == "space") {
    std::size_t i = 0;
    return base::is_python_space(base::next_code_point(a[0], i)) ? "1" : "0";
  }
  if (operation == "rewrite") return rewrite(a);
  if (operation == "python") {
    const Result<json::Value> value = json::read_python(a[0]);
    return value ? "ok " + json::dump(*value) : "error";
  }
  return "unknown operation";
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream header(line);
    std::string operation;
    header >> operation;
    Arguments arguments;
    for (std::size_t length = 0; header >> length;) {
      std::string argument(length, '\0');
      std::cin.read(argument.data(), static_cast<std::streamsize>(length));
      arguments.push_back(std::move(argument));
    }
    const std::string text = answer(operation, arguments);
    std::cout << text.size() << '\n' << text;
  }
  return 0;
}
