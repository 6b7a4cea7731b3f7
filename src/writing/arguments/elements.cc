// Scans elements, with a stack of the open ones.
//
// Both scanners read one opening or closing marker in each iteration of their
// loop.  Invariant: `open` has the elements that contain `pos`, the outermost
// first, and counts[i] is the number of children so far of open[i - 1], or of
// the text for i = 0.

#include "arguments/elements.h"

#include <optional>
#include <utility>

#include "arguments/markup.h"

namespace parlance::arguments {
namespace {

constexpr std::uint32_t kNoElement = 0xFFFFFFFF;
constexpr std::string_view kName = " name=\"";
constexpr std::string_view kType = " type=\"";

const ElementLayout& cohere() {
  static const ElementLayout layout =
      element_layout(structural_tag::ArgumentStyle::kCohereXml);
  return layout;
}

const ElementLayout& minimax_m3() {
  static const ElementLayout layout =
      element_layout(structural_tag::ArgumentStyle::kMinimaxM3Xml);
  return layout;
}

bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::optional<ArgumentElement::Kind> kind_of(std::string_view name) {
  using Kind = ArgumentElement::Kind;
  if (name == "raw") return Kind::kRaw;
  if (name == "json") return Kind::kJson;
  if (name == "dict") return Kind::kDict;
  if (name == "list") return Kind::kList;
  return std::nullopt;
}

// Finds the end of a value that may be JSON, without validating it: the end of
// a string or of the outermost brackets, otherwise the position of the next
// white space, closing bracket or marker.
std::size_t json_end(std::string_view text, std::size_t pos) {
  std::size_t depth = 0;
  bool string = false;
  for (std::size_t i = pos; i < text.size(); ++i) {
    const char c = text[i];
    if (string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        string = false;
        if (depth == 0) return i + 1;
      }
    } else if (c == '"') {
      string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth <= 1) return depth == 0 ? i : i + 1;
      --depth;
    } else if (c == '<' || (depth == 0 && space(c))) {
      return i;
    }
  }
  return text.size();
}

// Reads the opening marker at `out.begin`.  Returns false if there is none.
bool read_opening(std::string_view text, ArgumentElement& out) {
  std::size_t pos = out.begin;
  const auto skip = [&](std::string_view word) {
    if (!text.substr(pos).starts_with(word)) return false;
    pos += word.size();
    return true;
  };
  if (!skip(cohere().open)) return false;
  std::size_t behind = 0;
  if (skip(kName)) {
    behind = text.find(cohere().middle, pos);
    if (behind == std::string_view::npos) return false;
    out.named = true;
    out.name = text.substr(pos, behind - pos);
    pos = behind + cohere().middle.size();
  } else if (!skip(kType)) {
    return false;
  }
  behind = text.find(cohere().after_type, pos);
  if (behind == std::string_view::npos) return false;
  const auto kind = kind_of(text.substr(pos, behind - pos));
  if (!kind) return false;
  out.kind = *kind;
  out.content_begin = behind + cohere().after_type.size();
  return true;
}

}  // namespace

std::size_t skip_space(std::string_view text, std::size_t pos) {
  while (pos < text.size() && space(text[pos])) ++pos;
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

std::vector<ArgumentElement> scan_elements(std::string_view text) {
  std::vector<ArgumentElement> out;
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> counts = {0};
  std::size_t pos = 0;
  const auto close = [&](ArgumentElement& element, std::size_t at) {
    if (!text.substr(at).starts_with(cohere().close)) return false;
    element.content_end = at;
    element.end = pos = at + cohere().close.size();
    return true;
  };
  // A dict or list contains elements and is pushed.  Any other element is read
  // to its end.  Where nothing fits, the open elements stay incomplete.
  for (;;) {
    pos = skip_space(text, pos);
    if (!open.empty() && close(out[open.back()], pos)) {
      open.pop_back();
      counts.pop_back();
      continue;
    }
    ArgumentElement next;
    next.begin = pos;
    next.parent = open.empty() ? kNoElement : open.back();
    if (!read_opening(text, next)) return out;
    next.index = counts.back()++;
    out.push_back(next);
    ArgumentElement& element = out.back();
    pos = element.content_begin;
    if (element.kind == ArgumentElement::Kind::kDict ||
        element.kind == ArgumentElement::Kind::kList) {
      open.push_back(static_cast<std::uint32_t>(out.size() - 1));
      counts.push_back(0);
      continue;
    }
    const std::size_t end =
        element.kind == ArgumentElement::Kind::kRaw
            ? text.find(cohere().close, pos)
            : skip_space(text, json_end(text, skip_space(text, pos)));
    if (end == std::string_view::npos || !close(element, end)) return out;
  }
}

std::vector<ArgumentElement> scan_minimax_m3(std::string_view text) {
  using Kind = ArgumentElement::Kind;
  const ElementLayout& layout = minimax_m3();
  std::vector<ArgumentElement> out;
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> counts = {0};
  std::size_t pos = 0;
  // Closes the innermost element if its closing marker is at `at`.
  const auto close = [&](std::size_t at) {
    if (open.empty()) return false;
    ArgumentElement& element = out[open.back()];
    std::string_view rest = text.substr(at);
    for (const std::string_view part :
         {std::string_view(layout.close), element.name,
          std::string_view(layout.middle)}) {
      if (!rest.starts_with(part)) return false;
      rest.remove_prefix(part.size());
    }
    element.content_end = at;
    element.end = pos = text.size() - rest.size();
    open.pop_back();
    counts.pop_back();
    return true;
  };
  for (;;) {
    pos = skip_space(text, pos);
    // Closing markers are tried first, because they begin with the opening one.
    if (close(pos)) continue;
    if (!text.substr(pos).starts_with(layout.open)) return out;
    const std::size_t name = pos + layout.open.size();
    const std::size_t behind = text.find(layout.middle, name);
    if (behind == std::string_view::npos) return out;
    ArgumentElement next;
    next.kind = Kind::kNest;
    next.named = true;
    next.name = text.substr(name, behind - name);
    next.begin = pos;
    next.content_begin = pos = behind + layout.middle.size();
    next.parent = open.empty() ? kNoElement : open.back();
    next.index = counts.back()++;
    open.push_back(static_cast<std::uint32_t>(out.size()));
    counts.push_back(0);
    out.push_back(next);
    // The element is a leaf if the next marker is a closing one, which then
    // must be its own.
    const std::size_t marker = text.find(arguments::kMinimaxM3, pos);
    if (marker == std::string_view::npos) return out;
    if (text.substr(marker).starts_with(layout.close)) {
      out.back().kind = Kind::kLeaf;
      if (!close(marker)) return out;
    }
  }
}

}  // namespace parlance::arguments
