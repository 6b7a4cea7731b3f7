#include "parse/python_calls.h"

#include <string>
#include <utility>

#include "json/python_literal.h"

namespace parlance::parse {
namespace {

Error invalid_call(std::string message) {
  return {ErrorCode::kInvalidContent, std::move(message), ""};
}

char opening(char bracket) {
  return bracket == ')' ? '(' : bracket == ']' ? '[' : '{';
}

// Reads the name of a call, with its dots.
std::string read_name(json::PythonReader& reader) {
  std::string out;
  for (;;) {
    const std::string_view part = reader.name();
    if (part.empty()) return {};
    out += part;
    if (!reader.skip('.')) return out;
    out += '.';
  }
}

// Reads the arguments of a call up to its closing parenthesis.
// REQUIRES: the opening one was read.
Result<json::Value> read_arguments(json::PythonReader& reader) {
  json::Object out;
  reader.skip_space();
  if (reader.skip(')')) return json::Value(std::move(out));
  for (;;) {
    reader.skip_space();
    const std::string name(reader.name());
    reader.skip_space();
    if (name.empty() || !reader.skip('=')) {
      return invalid_call("expected an argument with its name (name=value)");
    }
    Result<json::Value> value = reader.value();
    if (!value) return value;
    if (out.find(name) != nullptr) {
      return invalid_call("the argument '" + name + "' is given twice");
    }
    out.set(name, std::move(*value));
    reader.skip_space();
    const bool comma = reader.skip(',');
    reader.skip_space();
    if (reader.skip(')')) return json::Value(std::move(out));
    if (!comma) return invalid_call("expected ',' or ')' after an argument");
  }
}

}  // namespace

std::size_t end_of_brackets(std::string_view text, std::size_t begin,
                            bool python) {
  std::string open;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '"':
      case '\'': {
        if (c == '\'' && !python) break;
        for (++i; i < text.size() && text[i] != c; ++i) {
          if (text[i] == '\\') ++i;
        }
        break;
      }
      case '(':
      case '[':
      case '{':
        open += c;
        break;
      case ')':
      case ']':
      case '}': {
        const std::size_t pair = open.rfind(opening(c));
        if (pair == std::string::npos) return std::string_view::npos;
        open.resize(pair);
        if (open.empty()) return i + 1;
        break;
      }
      default:
        break;
    }
  }
  return std::string_view::npos;
}

// Invariant of the loop: all calls before the reader's position are in `out`.
std::vector<PythonCall> read_python_calls(std::string_view text,
                                          const Limits& limits) {
  std::vector<PythonCall> out;
  json::PythonReader reader(text, limits);
  reader.skip_space();
  const bool list = reader.skip('[');
  bool closed = false;
  for (;;) {
    // 1. White space and separators.
    do {
      reader.skip_space();
    } while (reader.skip(',') || reader.skip(';'));
    const std::size_t begin = reader.position();
    if (begin >= text.size()) break;
    if (list && !closed && reader.skip(']')) {
      closed = true;
      continue;
    }
    // 2. A call.
    const std::string name = closed ? std::string() : read_name(reader);
    const std::size_t after_name = reader.position();
    reader.skip_space();
    if (name.empty() || !reader.skip('(')) {
      // Text that is no call.  Its end is unknown, unless it is a string or
      // stands in brackets, so it is all of the rest.
      out.push_back({{begin, text.size()},
                     invalid_call(closed ? "text follows the list of calls"
                                         : "expected a call (name(...))")});
      return out;
    }
    Result<json::Value> arguments = read_arguments(reader);
    if (arguments) {
      json::Object call;
      call.set("name", json::Value(name));
      call.set("arguments", std::move(*arguments));
      out.push_back({{begin, reader.position()}, json::Value(std::move(call))});
      continue;
    }
    // 3. It cannot be read: go on after its parenthesis.
    const std::size_t open = text.find('(', after_name);
    std::size_t end = end_of_brackets(text, open, true);
    Error error = std::move(arguments).error();
    if (end == std::string_view::npos) {
      end = text.size();
      error.message = "the call is not complete: " + error.message;
    }
    error.message = "call of '" + name + "': " + error.message;
    error.span.reset();
    out.push_back({{begin, end}, std::move(error)});
    reader.seek(end);
  }
  if (list && !closed && out.empty()) {
    out.push_back(
        {{0, text.size()}, invalid_call("the list of calls never ends")});
  }
  return out;
}

}  // namespace parlance::parse
