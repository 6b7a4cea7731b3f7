// Hir -> the text that PCRE2 reads.
//
// The text is written from the Hir and not from the pattern, so that its
// meaning does not depend on PCRE2's dialect: sets are spelled out, because
// PCRE2's \w and \s are other sets; case is already folded; `\Z` and `$` are
// the assertions of the flavor; groups have the numbers and names of the Hir.
//
// Sets of many ranges are written through general categories, which PCRE2
// stores in a few bytes: \w is eleven of them and some ranges.  Characters
// that a PCRE2 with older tables does not know are written out (kNewer).
//
// Groups.  Two groups of the Hir may have the same number
// ("(?P<n>a)|(?P<n>b)").  PCRE2 numbers every group by its opening parenthesis,
// so groups that share a number in the Hir share the name "g<number>" in PCRE2.

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "regex/ast.h"
#include "regex/unicode_properties.h"
#include "regex/unicode_tables.h"

namespace parlance::regex {
namespace {

// A set of more ranges than this is written through categories.
constexpr std::size_t kFewRanges = 24;

void append_char(std::string& out, char32_t c) {
  bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
              (c >= 'A' && c <= 'Z') || c == '_';
  if (word) {
    out += static_cast<char>(c);
  } else if (c > 0x20 && c < 0x7F) {
    out += '\\';
    out += static_cast<char>(c);
  } else {
    char buffer[16];
    std::snprintf(buffer, sizeof buffer, "\\x{%X}", static_cast<unsigned>(c));
    out += buffer;
  }
}

void append_ranges(std::string& out, const CharClass& set) {
  for (const CharRange& range : set.ranges()) {
    append_char(out, range.first);
    if (range.last == range.first) continue;
    if (range.last > range.first + 1) out += '-';
    append_char(out, range.last);
  }
}

// A general category.  `all` is its complete set, `known` the set without the
// characters that only newer tables have.
struct Category {
  std::string code;
  CharClass all;
  CharClass known;
};

const std::vector<Category>& categories() {
  static const std::vector<Category> table = [] {
    std::vector<Category> made;
    CharClass old = newer_characters().negated();
    for (std::size_t i = 0; i < tables::kCategoryCount; ++i) {
      // The unassigned characters depend on the version of Unicode, and the
      // category of surrogates cannot be tested with PCRE2.
      if (i == tables::kUnassigned || i == tables::kSurrogate) continue;
      CharClass all = category_class(1U << i);
      made.push_back({tables::kCategoryCodes[i], all, all.intersect(old)});
    }
    return made;
  }();
  return table;
}

// The text between "[" and "]" for `set`.
std::string written_members(const CharClass& set) {
  std::string out;
  if (set.ranges().size() <= kFewRanges) {
    append_ranges(out, set);
    return out;
  }
  CharClass covered;
  CharClass outside = set.negated();
  for (const Category& category : categories()) {
    if (!outside.intersect(category.all).empty()) continue;
    out += "\\p{" + category.code + "}";
    covered.add(category.known);
  }
  append_ranges(out, set.intersect(covered.negated()));
  return out;
}

// The same.  The text of \w is written once: many patterns contain it, and
// large sets are expensive to write.
std::string members(const CharClass& set) {
  static const std::string kWord =
      written_members(property_class(Property::kWord));
  return set == property_class(Property::kWord) ? kWord : written_members(set);
}

std::string brackets(const CharClass& set) {
  if (set == CharClass::any()) return "(?s:.)";
  // A set that contains unassigned characters is written as a complement.
  if (set.contains(kMaxCodePoint)) {
    return "[^" + members(set.negated()) + "]";
  }
  return "[" + members(set) + "]";
}

// Whether a quantifier can follow the node without an enclosing "(?:...)".
bool is_one_item(const HirNode& node) {
  if (node.kind == HirKind::kClass || node.kind == HirKind::kCapture) {
    return true;
  }
  return node.kind == HirKind::kLiteral && node.text.size() == 1;
}

class Writer {
 public:
  Writer(const Hir& hir, Flavor flavor) : hir_(hir), flavor_(flavor) {}
  std::string run();

 private:
  struct Visit {
    HirId id;
    std::size_t next_child;
    bool bare;  // an alternation that needs no parentheses
  };

  void number_groups();
  void open(const HirNode& node, bool bare);
  void close(const HirNode& node, bool bare);
  void assertion(Assertion which);
  std::string reference(std::uint32_t group) const;

  const Hir& hir_;
  Flavor flavor_;
  std::string out_;
  std::vector<std::uint32_t> occurrences_;  // by our number
  std::vector<std::uint32_t> last_number_;  // PCRE2's number, by ours
};

void Writer::number_groups() {
  occurrences_.assign(hir_.group_count + 1, 0);
  last_number_.assign(hir_.group_count + 1, 0);
  std::vector<HirId> captures = pcre2_groups(hir_);
  for (std::size_t i = 1; i < captures.size(); ++i) {
    std::uint32_t group = hir_.nodes[captures[i]].group;
    ++occurrences_[group];
    last_number_[group] = static_cast<std::uint32_t>(i);
  }
}

std::string Writer::run() {
  number_groups();
  std::vector<Visit> stack{{HirId(hir_.nodes.size() - 1), 0, true}};
  while (!stack.empty()) {
    Visit& visit = stack.back();
    const HirNode& node = hir_.nodes[visit.id];
    if (visit.next_child == 0) open(node, visit.bare);
    if (visit.next_child < node.children.size()) {
      bool separated = node.kind == HirKind::kAlternation ||
                       node.kind == HirKind::kConditional;
      if (visit.next_child > 0 && separated) out_ += '|';
      HirId child = node.children[visit.next_child++];
      bool bare =
          node.kind == HirKind::kCapture || node.kind == HirKind::kLook ||
          node.kind == HirKind::kAtomic ||
          (node.kind == HirKind::kRepeat && !is_one_item(hir_.nodes[child]));
      stack.push_back({child, 0, bare});
      continue;
    }
    bool bare = visit.bare;
    stack.pop_back();
    close(node, bare);
  }
  return std::move(out_);
}

std::string Writer::reference(std::uint32_t group) const {
  if (occurrences_[group] > 1) return "<g" + std::to_string(group) + ">";
  return std::to_string(last_number_[group]);
}

// Writes the part of a node before its children; for a node without children,
// the whole node.  close() writes the part after them, and run() the "|"
// between them.
void Writer::open(const HirNode& node, bool bare) {
  switch (node.kind) {
    case HirKind::kEmpty:
      out_ += "(?:)";
      break;
    case HirKind::kNothing:
      out_ += "(?!)";
      break;
    case HirKind::kLiteral:
      for (std::size_t i = 0; i < node.text.size();) {
        append_char(out_, base::next_code_point(node.text, i));
      }
      break;
    case HirKind::kClass:
      out_ += brackets(node.char_class);
      break;
    case HirKind::kConcat:
      break;
    case HirKind::kAlternation:
      if (!bare) out_ += "(?:";
      break;
    case HirKind::kRepeat:
      // "(?>a*)" and not "a*+": when the JIT of 10.42 backtracks over a
      // possessive repeat, it does not reset the captures of the groups in it.
      if (node.possessive) out_ += "(?>";
      if (!is_one_item(hir_.nodes[node.children[0]])) out_ += "(?:";
      break;
    case HirKind::kCapture:
      out_ += '(';
      if (occurrences_[node.group] > 1) {
        out_ += "?<g" + std::to_string(node.group) + ">";
      }
      break;
    case HirKind::kAssert:
      assertion(node.assertion);
      break;
    case HirKind::kLook:
      out_ += node.behind ? "(?<" : "(?";
      out_ += node.negative ? '!' : '=';
      break;
    case HirKind::kAtomic:
      out_ += "(?>";
      break;
    case HirKind::kBackref: {
      if (node.ignore_case) out_ += "(?i:";
      std::string name = reference(node.group);
      out_ += name[0] == '<' ? "\\k" + name : "\\g{" + name + "}";
      if (node.ignore_case) out_ += ')';
      break;
    }
    case HirKind::kConditional:
      out_ += "(?(" + reference(node.group) + ")";
      break;
  }
}

void Writer::close(const HirNode& node, bool bare) {
  switch (node.kind) {
    case HirKind::kAlternation:
      if (!bare) out_ += ')';
      break;
    case HirKind::kRepeat:
      if (!is_one_item(hir_.nodes[node.children[0]])) out_ += ')';
      out_ += '{' + std::to_string(node.min);
      if (node.max != node.min) {
        out_ += ',';
        if (node.max != base::kUnbounded) out_ += std::to_string(node.max);
      }
      out_ += '}';
      if (!node.greedy) out_ += '?';
      if (node.possessive) out_ += ')';
      break;
    case HirKind::kCapture:
    case HirKind::kLook:
    case HirKind::kAtomic:
    case HirKind::kConditional:
      out_ += ')';
      break;
    default:
      break;
  }
}

// NOTBOL stops "^" and not "\A", so the start of the text is always "^": a
// search in a later part of a text can then specify that the text does not
// begin there.  Options MULTILINE and DOLLAR_ENDONLY are never set.
void Writer::assertion(Assertion which) {
  std::string word;
  if (which == Assertion::kWordBoundary ||
      which == Assertion::kNotWordBoundary) {
    word = brackets(word_class(flavor_));
  }
  switch (which) {
    case Assertion::kTextStart:
      out_ += '^';
      break;
    case Assertion::kTextEnd:
      out_ += "\\z";
      break;
    case Assertion::kTextEndNewline:
      out_ += '$';
      break;
    case Assertion::kLineStart:
      // PCRE2's "(?m:^)" does not match after a newline that ends the text.
      out_ += "(?:^|(?<=\\n))";
      break;
    case Assertion::kLineEnd:
      out_ += "(?m:$)";
      break;
    case Assertion::kWordBoundary:
      out_ += "(?(?<=" + word + ")(?!" + word + ")|(?=" + word + "))";
      break;
    case Assertion::kNotWordBoundary:
      out_ += "(?(?<=" + word + ")(?=" + word + ")|(?!" + word + "))";
      break;
  }
}

}  // namespace

// Preorder, which is the order of opening parentheses.
std::vector<HirId> pcre2_groups(const Hir& hir) {
  auto root = HirId(hir.nodes.size() - 1);
  std::vector<HirId> captures{root};
  std::vector<HirId> stack{root};
  while (!stack.empty()) {
    HirId id = stack.back();
    stack.pop_back();
    const HirNode& node = hir.nodes[id];
    if (node.kind == HirKind::kCapture) captures.push_back(id);
    stack.insert(stack.end(), node.children.rbegin(), node.children.rend());
  }
  return captures;
}

std::string to_pcre2(const Hir& hir, Flavor flavor) {
  return Writer(hir, flavor).run();
}

}  // namespace parlance::regex
