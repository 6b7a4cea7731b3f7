// From tokens of Python to calls; see python_calls.h.

#include "call_stream/python_calls.h"

#include <utility>

#include "parlance/json.h"

namespace parlance::call_stream {

using call_syntax::Input;
using call_syntax::Kind;
using call_syntax::PythonDialect;
using call_syntax::Token;

call_syntax::PythonLanguage python_language(PythonDialect dialect,
                                            const Limits& limits) {
  constexpr std::size_t kCallListDepth = 100;
  return {.dialect = dialect,
          .max_depth = dialect == PythonDialect::kCallList ? kCallListDepth
                                                           : limits.json_depth};
}

std::string ArgumentNames::repeated(std::string_view key) {
  return "the argument '" + std::string(key) + "' is given twice";
}

PythonCallReader::PythonCallReader(PythonDialect dialect, Casts casts,
                                   std::string_view id, const Limits& limits)
    : casts_(std::move(casts)),
      id_(id),
      limits_(limits),
      language_(python_language(dialect, limits)),
      scanner_(language_),
      builder_(limits) {}

std::unique_ptr<PythonCallReader> PythonCallReader::of_arguments(
    std::string_view name, const Limits& limits) {
  auto out = std::make_unique<PythonCallReader>(PythonDialect::kArguments,
                                                Casts(), "", limits);
  out->name_ = name;
  return out;
}

void PythonCallReader::open(CallWriter& out) {
  out.open(name_, id_);
  opened_ = true;
  parameters_ = schema::parameters_of(casts_.tools, name_);
  names_.clear();
  json_ = call_syntax::JsonText();
  held_ = false;
  builder_ = call_syntax::ValueBuilder(limits_);
}

// Whether the value of the argument begins with `token`, and may be cast.
bool PythonCallReader::may_cast(const Token& token, const Input& input) const {
  if (parameter_ == nullptr || json_.depth() != 1) return false;
  switch (token.kind) {
    case Kind::kTextBegin:
      return schema::may_cast_string(*parameter_, casts_.strings);
    case Kind::kScalar:
      // A tuple, a set or a value in parentheses.
      if (input.text[token.begin] != '(' && input.text[token.begin] != '{') {
        return false;
      }
      [[fallthrough]];
    case Kind::kObject:
    case Kind::kList:
      return schema::may_cast_list(*parameter_);
    default:
      return false;
  }
}

// Adds a token of the arguments.
void PythonCallReader::add(const Token& token, const Input& input,
                           std::string& out) {
  if (token.kind == Kind::kKey && json_.depth() == 1 && !held_) {
    const std::string_view name = input.slice(token.begin, token.end);
    if (!names_.add(name)) {
      return scanner_.reject(ArgumentNames::repeated(name));
    }
    parameter_ = nullptr;
    if (parameters_ != nullptr) {
      const auto found = parameters_->find(name);
      if (found != parameters_->end()) parameter_ = &found->second;
    }
  } else if (!held_) {
    held_ = may_cast(token, input);
  }
  if (!held_) {
    if (!json_.add(token, input, out)) {
      scanner_.reject("this is no number that JSON has");
    }
    return;
  }
  builder_.add(token, input);
  if (builder_.error()) return scanner_.reject(builder_.error()->message);
  if (!builder_.complete()) return;
  held_ = false;
  json::Value value = builder_.take();
  if (auto changed =
          schema::cast_argument(value, *parameter_, casts_.strings)) {
    value = std::move(*changed);
  }
  json_.value(value, out);
}

void PythonCallReader::advance(std::string_view text, bool end,
                               CallWriter& out) {
  if (language_.dialect == PythonDialect::kArguments && !opened_) open(out);
  const Input input = {.text = text, .end = end};
  while (!stopped_) {
    const Token token = scanner_.next(input);
    switch (token.kind) {
      case Kind::kMore:
        return;
      case Kind::kCall:
        in_call_ = true;
        damaged_ = false;
        break;
      case Kind::kName:
        name_ = input.slice(token.begin, token.end);
        open(out);
        break;
      case Kind::kCallEnd:
        in_call_ = false;
        if (!damaged_) {
          out.end({static_cast<std::size_t>(token.begin),
                   static_cast<std::size_t>(token.end)});
        }
        break;
      case Kind::kBad:
        // The end of a text that is no call is unknown.
        damaged_ = true;
        stopped_ = !in_call_;
        break;
      default:
        if (!damaged_) add(token, input, out.arguments());
        break;
    }
  }
}

}  // namespace parlance::call_stream
