#include "parse/python_calls.h"

#include <optional>
#include <string>
#include <utility>

#include "base/span.h"
#include "call_stream/python_calls.h"
#include "call_syntax/python_scanner.h"
#include "call_syntax/value_builder.h"

namespace parlance::parse {
namespace {

using call_syntax::Input;
using call_syntax::Kind;
using call_syntax::PythonDialect;
using call_syntax::Token;

Error invalid_call(std::string message) {
  return {ErrorCode::kInvalidContent, std::move(message), ""};
}

// Makes calls of tokens.  Invariant: the calls before the open one are in out_.
class CallsReader {
 public:
  CallsReader(std::string_view text, PythonDialect dialect,
              const Limits& limits)
      : input_{.text = text, .end = true},
        language_(call_stream::python_language(dialect, limits)),
        scanner_(language_),
        limits_(limits),
        builder_(limits),
        strict_(dialect == PythonDialect::kCallList) {}

  std::vector<PythonCall> read() {
    for (;;) {
      const Token token = scanner_.next(input_);
      switch (token.kind) {
        case Kind::kMore:
          end();
          return std::move(out_);
        case Kind::kCall:
          open_ = token.begin;
          fault_.reset();
          builder_ = call_syntax::ValueBuilder(limits_);
          break;
        case Kind::kName:
          name_ = input_.slice(token.begin, token.end);
          break;
        case Kind::kBad:
          if (!open_) {
            // Text that is no call.  Its end is unknown.
            out_.push_back(
                {base::span_of(token.begin, input_.total()), scanner_.fault()});
            return std::move(out_);
          }
          fault_ = scanner_.fault();
          break;
        case Kind::kCallEnd:
          close(token.end);
          break;
        default:
          if (!fault_) add(token);
          break;
      }
    }
  }

  // Whether a list has ended, and nothing follows.
  bool complete() const {
    return scanner_.phase() == call_syntax::Phase::kAfter;
  }

 private:
  void add(const Token& token) {
    const bool key = token.kind == Kind::kKey;
    depth_ += token.kind == Kind::kObject || token.kind == Kind::kList ? 1 : 0;
    depth_ -= token.kind == Kind::kClose ? 1 : 0;
    builder_.add(token, input_);
    if (builder_.error()) return scanner_.reject(builder_.error()->message);
    if (key && builder_.repeats() && (strict_ || depth_ == 1)) {
      const std::string_view name = input_.slice(token.begin, token.end);
      scanner_.reject(call_stream::ArgumentNames::repeated(name));
    }
  }

  void close(std::uint64_t end) {
    depth_ = 0;
    const Span bytes = base::span_of(*std::exchange(open_, std::nullopt), end);
    if (fault_) {
      Error error = *std::exchange(fault_, std::nullopt);
      error.message = "call of '" + name_ + "': " + error.message;
      if (!strict_) error.span.reset();
      out_.push_back({bytes, std::move(error)});
      return;
    }
    json::Object call;
    call.set("name", json::Value(name_));
    call.set("arguments", builder_.take());
    out_.push_back({bytes, json::Value(std::move(call))});
  }

  void end() {
    if (open_) {
      Error fault =
          fault_ ? *fault_
                 : invalid_call(scanner_.phase() == call_syntax::Phase::kInside
                                    ? "the text ends inside a string"
                                    : "the text ends inside a value");
      fault.message = "the call is not complete: " + fault.message;
      fault_ = std::move(fault);
      close(input_.total());
      return;
    }
    // Only separators and brackets of lists stand between calls.
    const std::size_t begin = out_.empty() ? 0 : out_.back().bytes.end;
    const std::size_t name =
        input_.text.find_first_not_of(" \t\n\r\f\v,;[]", begin);
    if (name != std::string_view::npos) {
      out_.push_back({base::span_of(name, input_.total()),
                      invalid_call("the call is not complete: the text ends "
                                   "in its name")});
    } else if (scanner_.in_list() && out_.empty()) {
      out_.push_back({base::span_of(0, input_.total()),
                      invalid_call("the list of calls never ends")});
    }
  }

  const Input input_;
  const call_syntax::PythonLanguage language_;
  call_syntax::PythonScanner scanner_;
  const Limits limits_;
  call_syntax::ValueBuilder builder_;
  const bool strict_;
  std::vector<PythonCall> out_;
  std::optional<std::uint64_t> open_;  // where the call that is open begins
  std::optional<Error> fault_;         // of it
  std::string name_;
  std::size_t depth_ = 0;
};

}  // namespace

std::vector<PythonCall> read_python_calls(std::string_view text,
                                          const Limits& limits) {
  return CallsReader(text, PythonDialect::kCalls, limits).read();
}

Result<json::Value> read_call_list(std::string_view text,
                                   const Limits& limits) {
  CallsReader reader(text, PythonDialect::kCallList, limits);
  json::Array out;
  for (PythonCall& call : reader.read()) {
    if (!call.call) return std::move(call.call).error();
    out.push_back(*std::move(call.call));
  }
  if (!reader.complete()) return invalid_call("the list of calls never ends");
  return json::Value(std::move(out));
}

}  // namespace parlance::parse
