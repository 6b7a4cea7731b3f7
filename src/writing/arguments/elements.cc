// Scans elements into a tree; see elements.h.

#include "arguments/elements.h"

#include <optional>

#include "base/ascii.h"

namespace parlance::arguments {
namespace {

constexpr std::uint32_t kNoElement = 0xFFFFFFFF;

}  // namespace

std::size_t skip_space(std::string_view text, std::size_t pos) {
  while (pos < text.size() && base::is_space(text[pos])) ++pos;
  return pos;
}

std::optional<json::Value> parse_json(std::string_view text,
                                      const Limits& limits) {
  json::ParseOptions options;
  options.allow_nonfinite = false;
  options.limits = limits;
  Result<json::Value> value = json::parse(text, options);
  if (!value) return std::nullopt;
  return std::move(*value);
}

// Invariant: `open` has the elements that contain the next token, the outermost
// first, and `counts` the number of their children so far, and that of the
// text.
std::vector<ArgumentElement> scan_elements(call_syntax::NestedStyle style,
                                           std::string_view text) {
  using call_syntax::Kind;
  using ElementKind = ArgumentElement::Kind;
  const bool cohere = style == call_syntax::NestedStyle::kCohereXml;
  std::vector<ArgumentElement> out;
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> counts = {0};
  // How deeply a text may nest is the grammar's business.
  Limits limits;
  limits.json_depth = ~std::size_t{0};
  call_syntax::NestedScanner scanner(style, limits);
  const call_syntax::Input input = {.text = text, .end = true};
  std::string_view name;
  bool named = false;
  // An element whose opening marker is from `at` to `content`.
  const auto begin = [&](ElementKind kind, std::uint64_t at,
                         std::uint64_t content) {
    ArgumentElement next;
    next.kind = kind;
    next.named = named;
    next.name = name;
    next.begin = at;
    next.content_begin = content;
    next.parent = open.empty() ? kNoElement : open.back();
    next.index = counts.back()++;
    named = false;
    open.push_back(static_cast<std::uint32_t>(out.size()));
    counts.push_back(0);
    out.push_back(next);
  };
  const auto end = [&] {
    out[open.back()].content_end = scanner.closing_begin();
    out[open.back()].end = scanner.position();
    open.pop_back();
    counts.pop_back();
  };
  bool begun = false;
  for (;;) {
    const call_syntax::Token token = scanner.next(input);
    switch (token.kind) {
      case Kind::kMore:
      case Kind::kBad:
        return out;
      case Kind::kObject:
        if (begun) begin(ElementKind::kDict, token.begin, token.end);
        begun = true;
        break;
      case Kind::kList:
        begin(ElementKind::kList, token.begin, token.end);
        break;
      case Kind::kElements:
        begin(ElementKind::kNest, token.begin, token.end);
        break;
      case Kind::kKey:
        name = input.slice(token.begin, token.end);
        named = true;
        break;
      case Kind::kScalar:
        if (!begun) return out;
        begin(ElementKind::kJson, scanner.opening_begin(),
              scanner.opening_end());
        end();
        break;
      case Kind::kTextBegin:
        begin(cohere ? ElementKind::kRaw : ElementKind::kLeaf,
              scanner.opening_begin(), scanner.opening_end());
        break;
      case Kind::kTextEnd:
      case Kind::kClose:
        if (open.empty()) return out;
        end();
        break;
      default:
        break;
    }
  }
}

}  // namespace parlance::arguments
