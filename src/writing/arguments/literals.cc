// From the tokens of a scanner to JSON text, as far as it is certain.

#include "arguments/literals.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/ascii.h"
#include "call_stream/python_calls.h"
#include "call_syntax/json_text.h"
#include "call_syntax/python_scanner.h"

namespace parlance::arguments {

using call_syntax::Input;
using call_syntax::Kind;
using call_syntax::Token;
using structural_tag::DelimitedLayout;
namespace {

// Invariant: out.json is the text of the tokens so far; `last` is where its
// last whole member ends, and `whole` where the one before it does, after which
// a comma was read.
template <call_syntax::Scanner Scanner>
Literals read_literals(Scanner scanner, std::string_view text) {
  struct Place {
    std::size_t json = 1;
    std::size_t text = 0;
  };
  const Input input = {.text = text, .end = true};
  call_syntax::JsonText json;
  call_stream::ArgumentNames names;
  constexpr bool kOnce = std::is_same_v<Scanner, call_syntax::PythonScanner>;
  Literals out;
  Place whole;
  Place last;
  Token token = scanner.next(input);
  for (; token.kind != Kind::kMore && token.kind != Kind::kBad;
       token = scanner.next(input)) {
    if (kOnce && token.kind == Kind::kKey && json.depth() == 1 &&
        !names.add(input.slice(token.begin, token.end))) {
      break;
    }
    if (!json.add(token, input, out.json)) break;
    out.complete = out.complete || token.kind == Kind::kCallEnd;
    const bool ends = token.kind == Kind::kScalar ||
                      token.kind == Kind::kTextEnd ||
                      token.kind == Kind::kClose;
    if (!ends || json.depth() != 1) continue;
    whole = std::exchange(
        last, {out.json.size(), static_cast<std::size_t>(scanner.position())});
  }
  out.complete =
      token.kind == Kind::kMore &&
      (out.complete || scanner.phase() == call_syntax::Phase::kAfter);
  out.read = text.size();
  if (out.complete) return out;
  if (!out.json.starts_with('{')) return {};
  const auto skip_space = [&](std::size_t at) {
    while (at < text.size() && base::is_space(text[at])) ++at;
    return at;
  };
  // A member without a comma may go on.
  std::size_t comma = skip_space(last.text);
  if (last.text > 0 && comma < text.size() && text[comma] == ',') {
    whole = last;
  } else {
    comma = skip_space(whole.text);
  }
  out.read = whole.text == 0 ? 0 : skip_space(comma + 1);
  out.json.resize(whole.json);
  out.json += '}';
  return out;
}

}  // namespace

Literals read_python(std::string_view text, const Limits& limits) {
  const auto language = call_stream::python_language(
      call_syntax::PythonDialect::kArguments, limits);
  return read_literals(call_syntax::PythonScanner(language), text);
}

call_syntax::JsonDialect delimited_dialect(const DelimitedLayout& layout,
                                           const Limits& limits) {
  call_syntax::JsonDialect out;
  out.keys = call_syntax::JsonDialect::Keys::kText;
  out.delimiters = {{layout.open, layout.close}};
  out.max_depth = limits.json_depth;
  return out;
}

Literals read_delimited(std::string_view text, const DelimitedLayout& layout,
                        const Limits& limits) {
  const call_syntax::JsonDialect dialect = delimited_dialect(layout, limits);
  return read_literals(call_syntax::JsonScanner(dialect, 0, /*details=*/true),
                       text);
}

}  // namespace parlance::arguments
