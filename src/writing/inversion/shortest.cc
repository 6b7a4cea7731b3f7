// Attributes of the nodes of a Hir.  Children precede their parents, so one
// loop computes an attribute of every node from those of its children.

#include "inversion/shortest.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "regex/literal_pattern.h"

namespace parlance::inversion {
namespace {

using regex::CharClass;
using regex::CharRange;
using regex::Hir;
using regex::HirId;
using regex::HirKind;
using regex::HirNode;

// Loops with more repetitions are not spelled out.
constexpr std::uint32_t kMostRepeats = 64;

std::optional<std::string> character_of(const CharClass& set) {
  if (set.empty()) return std::nullopt;
  char32_t c = set.ranges().front().first;
  const CharClass space({{' ', ' '}, {'\t', '\r'}});
  // A class of white space, or of almost anything.
  const std::u32string_view preferred =
      set.contains('\n') && !set.contains('a') && !set.contains('<')
          ? U" \n"
          : U"a0A-_ ";
  for (const char32_t candidate : preferred) {
    if (set.contains(candidate)) {
      c = candidate;
      break;
    }
  }
  std::string text;
  base::append_utf8(text, c);
  return text;
}

// `set` as a class of a pattern.  Surrogates, which no text has, are left out.
std::string class_pattern(const CharClass& set) {
  const bool negated = set.contains(regex::kMaxCodePoint);
  const CharClass listed = negated ? set.negated() : set;
  if (listed.empty()) return negated ? "[\\s\\S]" : "[^\\s\\S]";
  std::string out = negated ? "[^" : "[";
  const auto add = [&](char32_t c) {
    std::string text;
    base::append_utf8(text, c);
    out += regex::escaped(text, "\\]^-[&~|");
  };
  const CharClass texts =
      listed.intersect(CharClass({{0, 0xD7FF}, {0xE000, 0x10FFFF}}));
  for (const CharRange& range : texts.ranges()) {
    add(range.first);
    if (range.last == range.first) continue;
    if (range.last > range.first + 1) out += '-';
    add(range.last);
  }
  return out + "]";
}

std::string repeated(const std::string& part, std::uint32_t min,
                     std::uint32_t max) {
  const std::string group = "(?:" + part + ")";
  if (min == 0 && max == 1) return group + "?";
  if (max == base::kUnbounded) {
    if (min <= 1) return group + (min == 0 ? "*" : "+");
    return group + "{" + std::to_string(min) + ",}";
  }
  return group + "{" + std::to_string(min) + "," + std::to_string(max) + "}";
}

// By node, a pattern in which each text with a match of the node has a match.
// Conditions of zero width are left out.
std::vector<std::string> patterns_of(const Hir& hir) {
  std::vector<std::string> of;
  for (const HirNode& node : hir.nodes) {
    std::string out;
    switch (node.kind) {
      case HirKind::kLiteral:
        out = regex::literal_pattern(node.text);
        break;
      case HirKind::kClass:
        out = class_pattern(node.char_class);
        break;
      case HirKind::kNothing:
        out = "[^\\s\\S]";
        break;
      case HirKind::kConcat:
        for (const HirId child : node.children) out += of[child];
        break;
      case HirKind::kAlternation:
      case HirKind::kConditional:
        out = "(?:";
        for (std::size_t i = 0; i < node.children.size(); ++i) {
          if (i > 0) out += '|';
          out += of[node.children[i]];
        }
        out += node.children.size() == 1 ? "|)" : ")";
        break;
      case HirKind::kRepeat:
        out = repeated(of[node.children[0]], node.min, node.max);
        break;
      case HirKind::kCapture:
      case HirKind::kAtomic:
        out = "(?:" + of[node.children[0]] + ")";
        break;
      case HirKind::kBackref:
        out = "[\\s\\S]*";
        break;
      case HirKind::kEmpty:
      case HirKind::kAssert:
      case HirKind::kLook:
        break;
    }
    of.push_back(std::move(out));
  }
  return of;
}

bool may_be_empty(const Hir& hir, HirId id) {
  const HirNode& node = hir.nodes[id];
  switch (node.kind) {
    case HirKind::kLiteral:
    case HirKind::kClass:
    case HirKind::kNothing:
      return false;
    case HirKind::kConcat:
      return std::all_of(node.children.begin(), node.children.end(),
                         [&](HirId child) { return may_be_empty(hir, child); });
    case HirKind::kAlternation:
      return std::any_of(node.children.begin(), node.children.end(),
                         [&](HirId child) { return may_be_empty(hir, child); });
    case HirKind::kRepeat:
      return node.min == 0 || may_be_empty(hir, node.children[0]);
    case HirKind::kCapture:
    case HirKind::kAtomic:
      return may_be_empty(hir, node.children[0]);
    default:
      return true;
  }
}

}  // namespace

std::optional<std::string> shortest_match(const Hir& hir) {
  return shortest_match(hir, static_cast<HirId>(hir.nodes.size() - 1));
}

std::optional<std::string> shortest_match(const Hir& hir, HirId id) {
  // The texts of all nodes before the current one; a node without a text makes
  // what contains it one, unless another alternative has a text.
  std::vector<std::optional<std::string>> of;
  for (const HirNode& node : hir.nodes) {
    std::optional<std::string> out = "";
    switch (node.kind) {
      case HirKind::kLiteral:
        out = node.text;
        break;
      case HirKind::kClass:
        out = character_of(node.char_class);
        break;
      case HirKind::kConcat:
        for (const HirId child : node.children) {
          if (!of[child]) out = std::nullopt;
          if (!out) break;
          *out += *of[child];
        }
        break;
      case HirKind::kConditional:
        // Parts that may be missing are, so the group has not matched.
        if (node.children.size() > 1) out = of[node.children[1]];
        break;
      case HirKind::kAlternation:
        out = std::nullopt;
        for (const HirId child : node.children) {
          if (!out) out = of[child];
        }
        break;
      case HirKind::kRepeat: {
        const auto& part = of[node.children[0]];
        if (node.min > 0 && (!part || node.min > kMostRepeats)) {
          out = std::nullopt;
          break;
        }
        for (std::uint32_t i = 0; i < node.min; ++i) *out += *part;
        break;
      }
      case HirKind::kCapture:
      case HirKind::kAtomic:
        out = of[node.children[0]];
        break;
      case HirKind::kNothing:
      case HirKind::kBackref:
        out = std::nullopt;
        break;
      case HirKind::kEmpty:
      case HirKind::kAssert:
      case HirKind::kLook:
        break;
    }
    of.push_back(std::move(out));
  }
  return of[id];
}

bool may_match_nothing(const Hir& hir) {
  std::vector<bool> of;
  of.reserve(hir.nodes.size());
  for (const HirNode& node : hir.nodes) {
    const auto of_child = [&](HirId child) { return of[child]; };
    const auto& children = node.children;
    switch (node.kind) {
      case HirKind::kConcat:
        of.push_back(std::all_of(children.begin(), children.end(), of_child));
        break;
      case HirKind::kAlternation:
      case HirKind::kConditional:
        of.push_back(std::any_of(children.begin(), children.end(), of_child));
        break;
      case HirKind::kRepeat:
        of.push_back(node.min == 0 || of[children[0]]);
        break;
      case HirKind::kCapture:
      case HirKind::kAtomic:
        of.push_back(of[children[0]]);
        break;
      case HirKind::kLook:
        of.push_back(node.negative || node.behind || of[children[0]]);
        break;
      default:
        of.push_back(node.kind == HirKind::kEmpty ||
                     node.kind == HirKind::kAssert);
        break;
    }
  }
  return of.back();
}

std::string pattern_of(const Hir& hir, HirId id) {
  return patterns_of(hir)[id];
}

// Invariant for each branch: a text with a match of the branch has a match of
// the parts that are left.  A part at an end that may match nothing can go:
//
//   a?bc*      b, because "ab" and "bcc" have a b
//   x(?=y)     xy, because a match of x is followed by a y
//
// In the middle it cannot: a text with a match of ab?c need not have "ac".
std::optional<std::string> text_with_match(const Hir& hir) {
  const std::vector<std::string> of = patterns_of(hir);
  const auto root = static_cast<HirId>(hir.nodes.size() - 1);
  std::vector<HirId> branches = {root};
  if (hir.nodes[root].kind == HirKind::kAlternation) {
    branches = hir.nodes[root].children;
  }
  std::string out;
  for (const HirId branch : branches) {
    std::vector<HirId> parts = {branch};
    if (hir.nodes[branch].kind == HirKind::kConcat) {
      parts = hir.nodes[branch].children;
    }
    // Read a final look-ahead; then leave out what may be missing at the ends.
    std::optional<HirId> ahead;
    const HirNode& last = hir.nodes[parts.back()];
    if (last.kind == HirKind::kLook && !last.behind && !last.negative) {
      ahead = last.children[0];
      parts.back() = *ahead;
    }
    while (!parts.empty() && may_be_empty(hir, parts.front())) {
      parts.erase(parts.begin());
    }
    while (!parts.empty() && may_be_empty(hir, parts.back())) parts.pop_back();
    if (parts.empty()) return std::nullopt;
    if (!out.empty()) out += '|';
    for (const HirId part : parts) out += of[part];
  }
  return out;
}

}  // namespace parlance::inversion
