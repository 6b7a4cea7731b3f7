#include "parse/element_finder.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "format/interruption.h"
#include "parse/finder.h"
#include "regex/hir_properties.h"
#include "regex/literal_pattern.h"
#include "regex/necessary_literals.h"
#include "regex/pattern.h"

namespace parlance::parse {
namespace {

using regex::Hir;
using regex::HirId;
using regex::HirKind;
using regex::HirNode;

// The number of the group `name`, if exactly one group has this name.
std::optional<std::uint32_t> group_of(const Hir& hir, std::string_view name) {
  std::optional<std::uint32_t> group;
  for (const regex::GroupName& known : hir.names) {
    if (known.name == name) group = known.group;
  }
  if (!group) return std::nullopt;
  const auto count = std::ranges::count_if(hir.nodes, [&](const HirNode& node) {
    return node.kind == HirKind::kCapture && node.group == *group;
  });
  return count == 1 ? group : std::nullopt;
}

// Whether the node is (.*?).
bool is_any_text(const Hir& hir, const HirNode& capture) {
  const HirNode& repeat = hir.nodes[capture.children[0]];
  if (repeat.kind != HirKind::kRepeat || repeat.greedy || repeat.possessive ||
      repeat.min != 0 || repeat.max != base::kUnbounded) {
    return false;
  }
  const HirNode& character = hir.nodes[repeat.children[0]];
  return character.kind == HirKind::kClass &&
         character.char_class == regex::CharClass::any();
}

// The pattern of some parts of the root, in order.
Hir slice(const Hir& hir, std::vector<HirId> parts) {
  Hir out = hir;
  HirNode root;
  root.kind = parts.empty() ? HirKind::kEmpty : HirKind::kConcat;
  root.children = std::move(parts);
  out.nodes.push_back(std::move(root));
  return out;
}

std::shared_ptr<const automata::Automaton> compile(
    const std::vector<automata::PatternSpec>& patterns, const Limits& limits,
    const std::vector<automata::Mark>& marks) {
  Limits enough = limits;
  enough.pattern_states *= 2;  // see compile_group_finder()
  for (const automata::PatternSpec& pattern : patterns) {
    if (!runs_on_automaton(*pattern.hir, enough)) return nullptr;
  }
  enough.pattern_states *= patterns.size();
  auto automaton = automata::Automaton::compile(patterns, marks, enough);
  return automaton ? std::move(*automaton) : nullptr;
}

HirId add(HirNode node, Hir& out) {
  out.nodes.push_back(std::move(node));
  return static_cast<HirId>(out.nodes.size() - 1);
}

HirId add(HirKind kind, std::vector<HirId> children, Hir& out) {
  HirNode node;
  node.kind = kind;
  node.children = std::move(children);
  return add(std::move(node), out);
}

HirId add_text_end(Hir& out) {
  HirNode node;
  node.kind = HirKind::kAssert;
  node.assertion = regex::Assertion::kTextEnd;
  return add(std::move(node), out);
}

// White space of any length.
HirId add_blank(Hir& out) {
  HirNode space;
  space.kind = HirKind::kClass;
  space.char_class = regex::CharClass({{U'\t', U'\r'}, {U' ', U' '}});
  HirNode repeat;
  repeat.kind = HirKind::kRepeat;
  repeat.children = {add(std::move(space), out)};
  return add(std::move(repeat), out);
}

// Adds `from` without its captures and its looks, so that it may stand in a
// look-ahead.  Returns where each node is.
std::vector<HirId> add_plain(const Hir& from, Hir& out) {
  std::vector<HirId> at(from.nodes.size());
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    HirNode node = from.nodes[i];
    if (node.kind == HirKind::kCapture) {
      at[i] = at[node.children[0]];
      continue;
    }
    if (node.kind == HirKind::kLook) node = HirNode();
    for (HirId& child : node.children) child = at[child];
    at[i] = add(std::move(node), out);
  }
  return at;
}

// The pattern of `out` as it is, with its root at `root`.
Hir rooted(Hir out, HirId root) {
  add(HirKind::kConcat, {root}, out);
  return out;
}

// The ways in which an element may end that have text: without looks.
std::vector<Hir> closers_of(const Hir& tail) {
  Hir plain;
  const std::vector<HirId> at = add_plain(tail, plain);
  const HirNode* root = &tail.root();
  HirId id = static_cast<HirId>(tail.nodes.size() - 1);
  while ((root->kind == HirKind::kConcat || root->kind == HirKind::kCapture) &&
         root->children.size() == 1) {
    id = root->children[0];
    root = &tail.nodes[id];
  }
  const std::vector<HirId> ways = root->kind == HirKind::kAlternation
                                      ? root->children
                                      : std::vector<HirId>{id};
  std::vector<Hir> out;
  for (const HirId way : ways) {
    Hir one = rooted(plain, at[way]);
    if (!regex::can_be_empty(one)) out.push_back(std::move(one));
  }
  return out;
}

// `tail`, which counts only before what may follow an element: another, a tail
// once more, or the end of the text.  With `context`, what ends the region is
// an end of the text as well, also in the look-aheads of `tail`.
Hir before_what_follows(const Hir& head, const Hir& tail,
                        const ElementContext* context) {
  Hir out;
  out.group_count = tail.group_count;
  out.names = tail.names;
  std::vector<HirId> ends = {add_text_end(out)};
  if (context != nullptr) {
    ends.push_back(add_plain(*context->close, out).back());
    if (!context->turn_end.empty()) {
      ends.push_back(
          add_plain(regex::literal_set(context->turn_end), out).back());
    }
  }
  const HirId end = add(HirKind::kAlternation, ends, out);
  std::vector<HirId> next = {add_plain(head, out).back()};
  for (const Hir& closer : closers_of(tail)) {
    next.push_back(add_plain(closer, out).back());
  }
  next.push_back(end);
  const HirId blank = add_blank(out);
  const HirId any = add(HirKind::kAlternation, next, out);
  HirNode look;
  look.kind = HirKind::kLook;
  look.children = {add(HirKind::kConcat, {blank, any}, out)};
  const HirId follows = add(std::move(look), out);
  // The tail itself.
  std::vector<bool> looks(tail.nodes.size(), false);
  for (std::size_t i = tail.nodes.size(); i-- > 0;) {
    const HirNode& node = tail.nodes[i];
    if (node.kind != HirKind::kLook && !looks[i]) continue;
    for (const HirId child : node.children) looks[child] = true;
  }
  std::vector<HirId> at(tail.nodes.size());
  for (std::size_t i = 0; i < tail.nodes.size(); ++i) {
    HirNode node = tail.nodes[i];
    if (looks[i] && node.kind == HirKind::kAssert &&
        node.assertion == regex::Assertion::kTextEnd) {
      at[i] = end;
      continue;
    }
    for (HirId& child : node.children) child = at[child];
    at[i] = add(std::move(node), out);
  }
  add(HirKind::kConcat, {at.back(), follows}, out);
  return out;
}

ElementFinder compile_halves(const Hir& pattern, std::string_view type,
                             const ElementContext* context,
                             const Limits& limits,
                             const std::vector<automata::Mark>& marks) {
  if (!pattern.regular()) return {};
  const HirNode& root = pattern.root();
  const auto key = group_of(pattern, "key");
  const auto value = group_of(pattern, "value");
  if (root.kind != HirKind::kConcat || !key || !value) return {};
  const auto middle = std::ranges::find_if(root.children, [&](HirId id) {
    const HirNode& node = pattern.nodes[id];
    return node.kind == HirKind::kCapture && node.group == *value &&
           is_any_text(pattern, node);
  });
  if (middle == root.children.end()) return {};
  const Hir head = slice(pattern, {root.children.begin(), middle});
  // A head without text would match everywhere.
  if (regex::can_be_empty(head)) return {};
  ElementFinder out;
  std::vector<std::uint32_t> groups = {*key};
  if (!type.empty()) {
    const auto group = group_of(pattern, type);
    if (!group) return {};
    out.type = groups.size();
    groups.push_back(*group);
  }
  for (const auto& [name, at] :
       {std::pair("damage", &out.damage), std::pair("whole", &out.whole)}) {
    const auto group = group_of(pattern, name);
    if (!group) continue;
    *at = groups.size();
    groups.push_back(*group);
  }
  // The groups must be in the head.  Children precede their parents, so a walk
  // from the last node to the first one finds what the head contains.
  std::vector<bool> inside(head.nodes.size(), false);
  inside.back() = true;
  std::size_t found = 0;
  for (std::size_t i = head.nodes.size(); i-- > 0;) {
    if (!inside[i]) continue;
    const HirNode& node = head.nodes[i];
    found += node.kind == HirKind::kCapture &&
             std::ranges::find(groups, node.group) != groups.end();
    for (const HirId child : node.children) inside[child] = true;
  }
  if (found != groups.size()) return {};
  const Hir tail = slice(pattern, {middle + 1, root.children.end()});
  if (context != nullptr) {
    // The alternatives of a tail that stands alone are one pattern.
    Hir stray;
    std::vector<HirId> ways;
    for (const Hir& closer : closers_of(tail)) {
      ways.push_back(add_plain(closer, stray).back());
    }
    const bool closes = !ways.empty();
    if (closes) add(HirKind::kAlternation, std::move(ways), stray);
    const Hir in_region = before_what_follows(head, tail, nullptr);
    const Hir in_stream = before_what_follows(head, tail, context);
    std::vector<automata::PatternSpec> between = {{&head, groups}};
    if (closes) {
      between.push_back({&stray, {}});
      if (auto texts = regex::necessary_literals(stray)) {
        out.closers = std::move(texts->texts);
      }
    }
    out.head = compile(between, limits, marks);
    out.tail = compile({{&in_region, {}}}, limits, marks);
    out.tail_in_stream = compile({{&in_stream, {}}}, limits, marks);
    return out.tail_in_stream == nullptr ? ElementFinder() : out;
  }
  out.head = compile({{&head, std::move(groups)}}, limits, marks);
  out.tail = compile({{&tail, {}}}, limits, marks);
  return out;
}

}  // namespace

ElementFinder compile_element_finder(const Hir& pattern, std::string_view type,
                                     const ElementContext* context,
                                     const Limits& limits,
                                     const std::vector<automata::Mark>& marks) {
  ElementFinder out = compile_halves(pattern, type, context, limits, marks);
  out.strict = context != nullptr;
  if (!out && pattern.root().kind == HirKind::kConcat) {
    const HirNode& last = pattern.nodes[pattern.root().children.back()];
    if (last.kind == HirKind::kLiteral) out.closers = {last.text};
  }
  return out;
}

// In minimax_m3_xml the end of an element and the close of the region are
// markers of one form.  The text with which the close begins distinguishes
// them.
ElementFinder compile_nested_finder(call_syntax::NestedStyle style,
                                    const ElementContext& context,
                                    const Limits& limits,
                                    const std::vector<automata::Mark>& marks) {
  std::string text =
      R"(<cofl:value(?P<key>(?:[^">]|"[^"]*")*)>(?P<value>.*?)</cofl:value>)";
  if (style == call_syntax::NestedStyle::kMinimaxM3Xml) {
    std::string closes;
    for (const std::string& close : format::begins_of_opener(*context.close)) {
      if (!closes.empty()) closes += '|';
      closes += regex::literal_pattern(close);
    }
    text = R"(\]<\]minimax\[>\[<(?P<key>[^/>][^>]*)>(?P<value>.*?))";
    if (!closes.empty()) text += "(?!" + closes + ')';
    text += R"(\]<\]minimax\[>\[</[^>]*>)";
  }
  const Result<regex::Pattern> pattern =
      regex::parse_pattern(text, {.dot_all = true, .limits = limits});
  if (!pattern) return {};
  return compile_element_finder(pattern->hir, "", &context, limits, marks);
}

}  // namespace parlance::parse
