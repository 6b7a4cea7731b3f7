// Ast -> Hir: resolves flags, and finds the constructs that are not regular.
//
// One loop over the Ast, in which children precede their parents.  Invariant:
// for every Ast node before the current one, hir_of_ holds its Hir node and
// properties_ the properties of its subtree.  Hir nodes that a parent absorbed
// (the characters of a literal) become unreachable and are removed at the end.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "regex/ast.h"
#include "regex/unicode_properties.h"

namespace parlance::regex {
namespace {

// Properties of the subtree of one Ast node.
struct Properties {
  bool has_capture = false;
  bool has_ahead = false;
  std::optional<std::uint64_t> length = 0;  // in characters, when fixed
};

class Translator {
 public:
  Translator(const Ast& ast, const PatternOptions& options)
      : ast_(ast), flavor_(options.flavor) {}
  Result<Hir> run();

 private:
  HirId node(const AstNode& node);
  HirNode character(const AstNode& node) const;
  HirNode set(const AstNode& node) const;
  HirNode one_of(CharClass set) const;
  HirNode anchor(const AstNode& node) const;
  HirId concat(const AstNode& node);
  Properties properties(const AstNode& node);
  Properties sum(const AstNode& node) const;
  bool fixed_behind(const AstNode& node) const;
  void not_regular(const AstNode& node, std::string_view what);
  HirId store(HirNode node);

  const Ast& ast_;
  Flavor flavor_;
  Hir hir_;
  std::vector<HirId> hir_of_;           // by AstId
  std::vector<Properties> properties_;  // by AstId
  std::size_t not_regular_at_ = 0;
};

HirNode literal(char32_t c) {
  HirNode node;
  node.kind = HirKind::kLiteral;
  base::append_utf8(node.text, c);
  return node;
}

// The nodes that the root reaches, in the same order.  Parents are visited
// before their children to mark, children before their parents to renumber.
Hir without_leftovers(Hir hir) {
  std::vector<bool> reached(hir.nodes.size(), false);
  reached.back() = true;
  for (std::size_t i = hir.nodes.size(); i-- > 0;) {
    if (!reached[i]) continue;
    for (HirId child : hir.nodes[i].children) reached[child] = true;
  }
  std::vector<HirId> renamed(hir.nodes.size());
  std::vector<HirNode> reachable;
  for (std::size_t i = 0; i < hir.nodes.size(); ++i) {
    if (!reached[i]) continue;
    renamed[i] = HirId(reachable.size());
    for (HirId& child : hir.nodes[i].children) child = renamed[child];
    reachable.push_back(std::move(hir.nodes[i]));
  }
  hir.nodes = std::move(reachable);
  return hir;
}

Result<Hir> Translator::run() {
  for (const AstNode& ast_node : ast_.nodes) {
    if (ast_node.kind == AstKind::kLook && ast_node.behind &&
        !fixed_behind(ast_node)) {
      return Error{ErrorCode::kUnsupportedPattern,
                   "This look-behind has no fixed length; each of its "
                   "alternatives must match a fixed number of characters.",
                   "", ast_node.span};
    }
    properties_.push_back(properties(ast_node));
    hir_of_.push_back(node(ast_node));
  }
  // The root must be the last node.
  HirId root = hir_of_.back();
  hir_.nodes.resize(root + 1);
  hir_.group_count = ast_.group_count;
  hir_.names = ast_.names;
  return without_leftovers(std::move(hir_));
}

HirId Translator::store(HirNode node) {
  hir_.nodes.push_back(std::move(node));
  return HirId(hir_.nodes.size() - 1);
}

HirId Translator::node(const AstNode& ast_node) {
  HirNode out;
  switch (ast_node.kind) {
    case AstKind::kEmpty:
      break;
    case AstKind::kChar:
      return store(character(ast_node));
    case AstKind::kDot:
    case AstKind::kSet:
      return store(set(ast_node));
    case AstKind::kAnchor:
      return store(anchor(ast_node));
    case AstKind::kConcat:
      return concat(ast_node);
    case AstKind::kAlternation:
      out.kind = HirKind::kAlternation;
      break;
    case AstKind::kRepeat:
      out.kind = HirKind::kRepeat;
      out.min = ast_node.min;
      out.max = ast_node.max;
      out.greedy = ast_node.mode != RepeatMode::kLazy;
      out.possessive = ast_node.mode == RepeatMode::kPossessive;
      break;
    case AstKind::kGroup:
      out.kind = HirKind::kCapture;
      break;
    case AstKind::kLook:
      out.kind = HirKind::kLook;
      out.behind = ast_node.behind;
      out.negative = ast_node.negated;
      break;
    case AstKind::kAtomic:
      out.kind = HirKind::kAtomic;
      break;
    case AstKind::kBackref:
      out.kind = HirKind::kBackref;
      out.ignore_case = ast_node.flags.ignore_case;
      break;
    case AstKind::kConditional:
      out.kind = HirKind::kConditional;
      break;
  }
  out.group = ast_node.group;
  for (AstId child : ast_node.children) out.children.push_back(hir_of_[child]);
  return store(std::move(out));
}

HirNode Translator::character(const AstNode& ast_node) const {
  if (!ast_node.flags.ignore_case) return literal(ast_node.c);
  return one_of(fold_case(CharClass({{ast_node.c, ast_node.c}})));
}

HirNode Translator::set(const AstNode& ast_node) const {
  if (ast_node.kind == AstKind::kDot) {
    if (ast_node.flags.dot_all) return one_of(CharClass::any());
    CharClass ends({{'\n', '\n'}});
    if (flavor_ == Flavor::kEcma) {
      ends.add(CharClass({{'\r', '\r'}, {0x2028, 0x2029}}));
    }
    return one_of(ends.negated());
  }
  CharClass members = ast_node.set;
  if (ast_node.flags.ignore_case && ast_node.bracketed) {
    members = fold_case(members);
  }
  return one_of(ast_node.negated ? members.negated() : std::move(members));
}

// The node for a set: kNothing, a literal or a class.
HirNode Translator::one_of(CharClass members) const {
  HirNode out;
  if (members.empty()) {
    out.kind = HirKind::kNothing;
    return out;
  }
  const CharRange& first = members.ranges().front();
  if (members.ranges().size() == 1 && first.first == first.last) {
    return literal(first.first);
  }
  out.kind = HirKind::kClass;
  out.char_class = std::move(members);
  return out;
}

HirNode Translator::anchor(const AstNode& ast_node) const {
  HirNode out;
  out.kind = HirKind::kAssert;
  bool lines = ast_node.flags.multi_line;
  switch (ast_node.anchor) {
    case AstAnchor::kCaret:
      out.assertion = lines ? Assertion::kLineStart : Assertion::kTextStart;
      break;
    case AstAnchor::kDollar:
      out.assertion = lines                      ? Assertion::kLineEnd
                      : flavor_ == Flavor::kEcma ? Assertion::kTextEnd
                                                 : Assertion::kTextEndNewline;
      break;
    case AstAnchor::kTextStart:
      out.assertion = Assertion::kTextStart;
      break;
    case AstAnchor::kTextEnd:
      out.assertion = Assertion::kTextEnd;
      break;
    case AstAnchor::kWordBoundary:
      out.assertion = Assertion::kWordBoundary;
      break;
    case AstAnchor::kNotWordBoundary:
      out.assertion = Assertion::kNotWordBoundary;
      break;
  }
  return out;
}

// A concatenation in canonical form: no child is a concatenation or empty, and
// no two neighbours are literals.
//
// Invariant of append(): out.children is the canonical form of the parts
// appended so far.  If in_run, the last child is a literal made here, which may
// be changed because no other node refers to it.
HirId Translator::concat(const AstNode& ast_node) {
  HirNode out;
  out.kind = HirKind::kConcat;
  bool in_run = false;  // the last child is a run of literals made here
  auto append = [&](HirId id) {
    if (hir_.nodes[id].kind == HirKind::kEmpty) return;
    if (hir_.nodes[id].kind == HirKind::kLiteral && !out.children.empty()) {
      const HirNode& last = hir_.nodes[out.children.back()];
      if (last.kind == HirKind::kLiteral) {
        // The run is a copy, so that the node of the child does not change.
        if (!in_run) {
          HirNode run = last;
          out.children.back() = store(std::move(run));
          in_run = true;
        }
        hir_.nodes[out.children.back()].text += hir_.nodes[id].text;
        return;
      }
    }
    out.children.push_back(id);
    in_run = false;
  };
  for (AstId child : ast_node.children) {
    HirId id = hir_of_[child];
    if (hir_.nodes[id].kind == HirKind::kConcat) {
      std::vector<HirId> parts = hir_.nodes[id].children;
      for (HirId part : parts) append(part);
    } else {
      append(id);
    }
  }
  if (out.children.empty()) return store(HirNode{});
  if (out.children.size() == 1) {
    HirNode only = hir_.nodes[out.children[0]];
    return store(std::move(only));
  }
  return store(std::move(out));
}

// --- Constructs that are not regular --------------------------------------

void Translator::not_regular(const AstNode& ast_node, std::string_view what) {
  std::size_t at = ast_node.span.begin;
  if (hir_.not_regular && not_regular_at_ <= at) return;
  not_regular_at_ = at;
  hir_.not_regular = std::string(what) + " at byte " + std::to_string(at);
}

// The properties of the concatenation of the children.
Properties Translator::sum(const AstNode& ast_node) const {
  Properties all;
  for (AstId child : ast_node.children) {
    const Properties& part = properties_[child];
    all.has_capture |= part.has_capture;
    all.has_ahead |= part.has_ahead;
    if (all.length && part.length) {
      *all.length += *part.length;
    } else {
      all.length = std::nullopt;
    }
  }
  return all;
}

// Computes the properties of a node from those of its children, and records the
// node if it is not regular.  sum() is right for a concatenation; each case
// corrects the properties that differ.
Properties Translator::properties(const AstNode& ast_node) {
  Properties result = sum(ast_node);
  switch (ast_node.kind) {
    case AstKind::kEmpty:
    case AstKind::kConcat:
      break;
    case AstKind::kChar:
    case AstKind::kDot:
    case AstKind::kSet:
      result.length = 1;
      break;
    case AstKind::kAnchor:
      if (ast_node.anchor == AstAnchor::kWordBoundary ||
          ast_node.anchor == AstAnchor::kNotWordBoundary) {
        not_regular(ast_node, "word boundary");
      }
      break;
    case AstKind::kConditional:
      not_regular(ast_node, "conditional");
      [[fallthrough]];
    case AstKind::kAlternation:
      result.length = properties_[ast_node.children[0]].length;
      for (AstId child : ast_node.children) {
        if (properties_[child].length != result.length) result.length.reset();
      }
      break;
    case AstKind::kRepeat:
      if (ast_node.mode == RepeatMode::kPossessive) {
        not_regular(ast_node, "possessive repeat");
      }
      if (ast_node.min != ast_node.max || result.length > 0xFFFF) {
        result.length.reset();
      } else if (result.length) {
        *result.length *= ast_node.min;
      }
      break;
    case AstKind::kGroup:
      result.has_capture = true;
      break;
    case AstKind::kLook:
      if (ast_node.behind) {
        not_regular(ast_node, "look-behind");
      } else {
        if (result.has_ahead) {
          not_regular(ast_node, "look-ahead inside a look-ahead");
        }
        if (result.has_capture) {
          not_regular(ast_node, "group inside a look-ahead");
        }
        result.has_ahead = true;
      }
      result.length = 0;
      break;
    case AstKind::kAtomic:
      not_regular(ast_node, "atomic group");
      break;
    case AstKind::kBackref:
      not_regular(ast_node, "back-reference");
      result.length.reset();
      break;
  }
  return result;
}

// Whether the length of a look-behind is fixed.  PCRE2 requires that each
// alternative has a fixed length, `re` that all have the same.
bool Translator::fixed_behind(const AstNode& ast_node) const {
  constexpr std::uint64_t kMost = 0xFFFF;
  AstId child = ast_node.children[0];
  const AstNode& inner = ast_.nodes[child];
  if (inner.kind != AstKind::kAlternation || flavor_ == Flavor::kPythonRe) {
    return properties_[child].length && *properties_[child].length <= kMost;
  }
  for (AstId alternative : inner.children) {
    if (!properties_[alternative].length) return false;
    if (*properties_[alternative].length > kMost) return false;
  }
  return true;
}

}  // namespace

Result<Hir> translate(const Ast& ast, const PatternOptions& options) {
  return Translator(ast, options).run();
}

}  // namespace parlance::regex
