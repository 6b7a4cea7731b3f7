#include "call_syntax/json_values.h"

#include <optional>
#include <utility>

#include "base/ascii.h"
#include "call_syntax/json_text.h"

namespace parlance::call_syntax {
namespace {

bool is_between(char c) { return base::is_space(c) || c == ','; }

}  // namespace

// Invariant: `out` is the text before `written`.
std::string plain_json(const Input& input, const JsonDialect& dialect) {
  JsonScanner scanner(dialect, input.base, /*details=*/true);
  JsonText writer(JsonText::Spacing::kModels);
  std::string out;
  std::uint64_t written = input.base;
  for (;;) {
    const Token token = scanner.next(input);
    if (token.kind == Kind::kMore || token.kind == Kind::kBad) break;
    if (token.kind == Kind::kScalar && token.encoding == Encoding::kJson) {
      // A value of JSON, e.g. NaN, is one for its reader.
      out += input.slice(token.begin, token.end);
    } else {
      writer.add(token, input, out);
    }
    written = scanner.position();
  }
  out += input.slice(written, input.total());
  return out;
}

// Invariant: the text before the token is in `out`, but for white space and
// separators, the value that begins at `item`, and the damage that begins at
// `damage`.
std::vector<Span> json_items(const Input& input, const JsonDialect& dialect,
                             bool list) {
  std::vector<Span> out;
  // `open`: the item has not ended, so a comma after it is in it.
  const auto add = [&](std::uint64_t begin, std::uint64_t end,
                       bool open = false) {
    const auto follows = [&](char c) {
      return open ? base::is_space(c) : is_between(c);
    };
    while (begin < end && follows(input.slice(end - 1, end)[0])) --end;
    if (begin == end) return;
    out.push_back({static_cast<std::size_t>(begin - input.base),
                   static_cast<std::size_t>(end - input.base)});
  };
  JsonScanner scanner(dialect, input.base);
  std::size_t depth = 0;  // that of the items
  bool first = true;
  std::optional<std::uint64_t> item;
  bool string = false;  // it is one
  std::optional<std::uint64_t> damage;
  for (;;) {
    const Token token = scanner.next(input);
    const std::size_t now = scanner.depth();
    if (list && first && token.kind == Kind::kList) {
      depth = 1;
      first = false;
      continue;
    }
    first = false;
    bool begins = false;
    bool ends = false;
    switch (token.kind) {
      case Kind::kMore:
        if (item || damage) {
          add(item ? *item : *damage, input.total(), item.has_value());
        } else if (scanner.stopped()) {
          add(scanner.phase() == Phase::kOther ? scanner.other()
                                               : scanner.position(),
              input.total());
        }
        return out;
      case Kind::kBad:
        if (item && string && !scanner.in_string()) {
          damage = std::exchange(item, std::nullopt);
        }
        if (!item && !damage) damage = token.begin;
        continue;
      case Kind::kObject:
      case Kind::kList:
        begins = now == depth + 1;
        break;
      case Kind::kTextBegin:
        begins = now == depth;
        break;
      case Kind::kScalar:
        begins = ends = now == depth;
        break;
      case Kind::kTextEnd:
      case Kind::kClose:
        ends = now == depth;
        break;
      default:
        continue;
    }
    const bool closes = token.kind == Kind::kClose && now + 1 == depth;
    if (damage && (begins || closes)) {
      if (!item) add(*damage, token.begin);
      damage.reset();
    }
    if (begins && !item) {
      item = token.begin;
      string = token.kind == Kind::kTextBegin;
    }
    if (ends && item) {
      add(*item, token.end);
      item.reset();
    }
    if (closes) depth = 0;
  }
}

}  // namespace parlance::call_syntax
