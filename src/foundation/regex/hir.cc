// Builds a Hir from literals, and prints a Hir for tests.

#include "regex/hir.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace parlance::regex {
namespace {

void append_code_point(std::string& out, char32_t c) {
  if (c > 0x20 && c < 0x7F && c != '-' && c != ']' && c != '\\' && c != '^') {
    out += static_cast<char>(c);
    return;
  }
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "\\x%X", static_cast<unsigned>(c));
  out += buffer;
}

// The text in the braces of a class; long text is cut.
std::string dump_ranges(const CharClass& set) {
  constexpr std::size_t kShown = 12;
  std::string out;
  std::size_t shown = 0;
  for (const CharRange& range : set.ranges()) {
    if (shown++ == kShown) {
      return out + " +" + std::to_string(set.ranges().size() - kShown);
    }
    append_code_point(out, range.first);
    if (range.last == range.first) continue;
    out += '-';
    append_code_point(out, range.last);
  }
  return out;
}

std::string_view name_of(Assertion assertion) {
  switch (assertion) {
    case Assertion::kTextStart:
      return "text_start";
    case Assertion::kTextEnd:
      return "text_end";
    case Assertion::kTextEndNewline:
      return "text_end_newline";
    case Assertion::kLineStart:
      return "line_start";
    case Assertion::kLineEnd:
      return "line_end";
    case Assertion::kWordBoundary:
      return "word_boundary";
    case Assertion::kNotWordBoundary:
      break;
  }
  return "not_word_boundary";
}

// The text of a node before its children, such as "rep{1,inf,greedy ".
std::string dump_head(const Hir& hir, const HirNode& node) {
  switch (node.kind) {
    case HirKind::kEmpty:
      return "empty";
    case HirKind::kNothing:
      return "nothing";
    case HirKind::kLiteral:
      return "lit{" + node.text;
    case HirKind::kClass:
      return "class{" + dump_ranges(node.char_class);
    case HirKind::kConcat:
      return "concat{";
    case HirKind::kAlternation:
      return "alt{";
    case HirKind::kRepeat:
      return "rep{" + std::to_string(node.min) + "," +
             (node.max == base::kUnbounded ? "inf" : std::to_string(node.max)) +
             (node.possessive ? ",possessive "
              : node.greedy   ? ",greedy "
                              : ",lazy ");
    case HirKind::kCapture: {
      std::string out = "cap{" + std::to_string(node.group);
      for (const GroupName& name : hir.names) {
        if (name.group == node.group) out += ":" + name.name;
      }
      return out + " ";
    }
    case HirKind::kAssert:
      return std::string(name_of(node.assertion));
    case HirKind::kLook:
      return std::string(node.negative ? "not_" : "") +
             (node.behind ? "behind{" : "ahead{");
    case HirKind::kAtomic:
      return "atomic{";
    case HirKind::kBackref:
      return "backref{" + std::to_string(node.group) +
             (node.ignore_case ? ",i" : "");
    case HirKind::kConditional:
      break;
  }
  return "if{" + std::to_string(node.group) + " ";
}

bool has_braces(HirKind kind) {
  return kind != HirKind::kEmpty && kind != HirKind::kNothing &&
         kind != HirKind::kAssert;
}

}  // namespace

Hir literal_set(const std::vector<std::string>& literals) {
  std::vector<std::string> sorted = literals;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const std::string& a, const std::string& b) {
                     return base::count_code_points(a) >
                            base::count_code_points(b);
                   });
  Hir hir;
  HirNode all;
  all.kind = HirKind::kAlternation;
  for (std::string& text : sorted) {
    HirNode literal;
    literal.kind = HirKind::kLiteral;
    literal.text = std::move(text);
    all.children.push_back(HirId(hir.nodes.size()));
    hir.nodes.push_back(std::move(literal));
  }
  if (all.children.size() > 1) hir.nodes.push_back(std::move(all));
  return hir;
}

std::string dump(const Hir& hir) {
  std::string out;
  struct Visit {
    HirId id;
    std::size_t next_child;
  };
  std::vector<Visit> stack{{HirId(hir.nodes.size() - 1), 0}};
  while (!stack.empty()) {
    Visit& visit = stack.back();
    const HirNode& node = hir.nodes[visit.id];
    if (visit.next_child == 0) out += dump_head(hir, node);
    if (visit.next_child < node.children.size()) {
      if (visit.next_child > 0) out += ' ';
      HirId child = node.children[visit.next_child++];
      stack.push_back({child, 0});
      continue;
    }
    if (has_braces(node.kind)) out += '}';
    stack.pop_back();
  }
  return out;
}

}  // namespace parlance::regex
