// Derives what the rule of interruption needs from a file, see interruption.h.

#include "format/interruption.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/trimmed.h"
#include "regex/hir.h"
#include "regex/necessary_literals.h"

namespace parlance::format {
namespace {

using regex::Hir;
using regex::HirId;
using regex::HirKind;
using regex::HirNode;
using Texts = std::vector<std::string>;

bool has_white_space(const regex::CharClass& set) {
  return std::ranges::any_of(std::string_view(" \t\r\n"), [&](char c) {
    return set.contains(static_cast<char32_t>(c));
  });
}

// Whether the class has letters: 'a' stands for those of a text.
bool has_letters(const regex::CharClass& set) { return set.contains(U'a'); }

// Whether a node begins with white space that it requires.
bool begins_blank(const Hir& hir, HirId id) {
  for (;;) {
    const HirNode& node = hir.nodes[id];
    switch (node.kind) {
      case HirKind::kLiteral:
        return base::is_space(node.text.front());
      case HirKind::kClass:
        return has_white_space(node.char_class) &&
               !has_letters(node.char_class);
      case HirKind::kRepeat:
        if (node.min == 0) return false;
        break;
      case HirKind::kConcat:
      case HirKind::kCapture:
        break;
      default:
        return false;
    }
    if (node.children.empty()) return false;
    id = node.children[0];
  }
}

// Whether each match of the pattern that begins inside a text begins with a
// literal, so that an opener can be told from text at its first character.
// White space does not count where it may be missing.
bool begins_with_literal(const Hir& hir) {
  if (hir.nodes.empty()) return false;
  // Of each node: whether it begins so, whether it may be missing, and whether
  // it is white space alone.  Children come before their parents.
  std::vector<bool> begins(hir.nodes.size());
  std::vector<bool> optional(hir.nodes.size());
  std::vector<bool> blank(hir.nodes.size());
  for (std::size_t i = 0; i < hir.nodes.size(); ++i) {
    const HirNode& node = hir.nodes[i];
    const auto child = [&](HirId id) -> bool { return begins[id]; };
    const auto all = [&](const std::vector<bool>& of) {
      return std::ranges::all_of(node.children,
                                 [&](HirId id) -> bool { return of[id]; });
    };
    switch (node.kind) {
      case HirKind::kEmpty:
        optional[i] = blank[i] = true;
        break;
      case HirKind::kLiteral:
        begins[i] = !base::is_space(node.text.front());
        blank[i] = base::trimmed(node.text).empty();
        break;
      case HirKind::kClass:
        begins[i] =
            !has_letters(node.char_class) && !has_white_space(node.char_class);
        blank[i] =
            !has_letters(node.char_class) && has_white_space(node.char_class);
        break;
      case HirKind::kAssert:
        // The beginning of the response is inside no region.
        begins[i] = node.assertion == regex::Assertion::kTextStart;
        break;
      case HirKind::kConcat:
        // Parts that may be missing, up to the first that may not: each of
        // them may be the first of a match.
        for (const HirId id : node.children) {
          if (optional[id] && blank[id]) continue;
          begins[i] = begins[id];
          if (!begins[i] || !optional[id]) break;
        }
        optional[i] = all(optional);
        blank[i] = all(blank);
        break;
      case HirKind::kAlternation:
        // A way that only looks ahead has no text, and opens nothing: the
        // second in <think>|(?=</think>).
        begins[i] = std::ranges::any_of(node.children, child) &&
                    std::ranges::all_of(node.children, [&](HirId id) {
                      return child(id) || hir.nodes[id].kind == HirKind::kLook;
                    });
        optional[i] = std::ranges::any_of(
            node.children, [&](HirId id) -> bool { return optional[id]; });
        blank[i] = all(blank);
        break;
      case HirKind::kCapture:
      case HirKind::kAtomic:
      case HirKind::kRepeat:
        begins[i] = child(node.children[0]);
        optional[i] =
            all(optional) || (node.kind == HirKind::kRepeat && node.min == 0);
        blank[i] = all(blank);
        break;
      default:
        break;
    }
  }
  // An opener that may be missing as a whole opens at every place.
  return begins.back() && !optional.back();
}

// The literals with which a match of the pattern, or what it looks ahead to,
// begins; nothing if it may begin with other text, or be empty.
std::optional<Texts> first_literals(const Hir& hir) {
  if (hir.nodes.empty()) return std::nullopt;
  // By node, from the leaves up; a node whose kind is not listed has none.
  std::vector<std::optional<Texts>> first(hir.nodes.size());
  for (std::size_t i = 0; i < hir.nodes.size(); ++i) {
    const HirNode& node = hir.nodes[i];
    if (node.kind == HirKind::kLiteral) {
      first[i] = Texts{node.text};
    } else if (node.kind == HirKind::kConcat ||
               (node.kind == HirKind::kRepeat && node.min > 0) ||
               node.kind == HirKind::kCapture ||
               node.kind == HirKind::kAtomic ||
               (node.kind == HirKind::kLook && !node.behind &&
                !node.negative)) {
      if (!node.children.empty()) first[i] = first[node.children.front()];
    } else if (node.kind == HirKind::kAlternation) {
      first[i].emplace();
      for (const HirId id : node.children) {
        if (!first[id]) {
          first[i].reset();
          break;
        }
        first[i]->insert(first[i]->end(), first[id]->begin(), first[id]->end());
      }
    }
  }
  return first.back();
}

// What the body of a region of calls begins with where it is JSON, white space
// apart.  An opener with a part of the call, such as its name, is a call's: its
// arguments may be any JSON, or missing.  Without such a part it may be quoted
// in prose, as in "`<tool_call>` opens it", and only an object or a list makes
// it certain.
Texts json_begins(const Field& field) {
  Texts out = {"{", "["};
  if (field.open.pattern.hir.names.empty()) return out;
  out.insert(out.end(), {"\"", "null", "true", "false", "-"});
  for (char digit = '0'; digit <= '9'; ++digit) out.emplace_back(1, digit);
  if (const auto close = first_literals(field.close.pattern.hir)) {
    out.insert(out.end(), close->begin(), close->end());
  }
  return out;
}

// What the body of a region of calls begins with, white space apart.  Empty:
// any text.
Texts body_begins(const Field& field, const FieldReading& reading) {
  switch (reading.syntax) {
    case ValueSyntax::kJson:
      return json_begins(field);
    case ValueSyntax::kPython:
      return {"{", "["};
    case ValueSyntax::kPythonCalls:
      return {"["};  // or a name
    case ValueSyntax::kTemplate:
      break;
    default:
      return {};
  }
  if (field.content.kind == ContentKind::kJson) return json_begins(field);
  if (field.content.kind != ContentKind::kXmlInline) return {};
  // Markup, if only that of the end of a call, or an object in its place.
  Texts out = {"{"};
  for (const Hir* hir :
       {&field.content.tag_pattern.hir, &field.close.pattern.hir}) {
    const auto texts = first_literals(*hir);
    if (!texts) return {};
    for (const std::string& text : *texts) out.push_back(text.substr(0, 1));
  }
  return out;
}

// The text with which a layout begins, up to the first part that is no text.
std::string written_begin(const WriteLayout& layout) {
  std::string out;
  for (const WriteParts* parts : {&layout.section_begin, &layout.parts}) {
    for (const WritePart& part : *parts) {
      if (part.kind != WritePart::Kind::kText) return out;
      out += part.text;
    }
  }
  return out;
}

// The optional beginnings of an opener that each layout writes: an opener
// without one of them is only tolerated.  The template of Qwen3-Coder writes
// <tool_call>\n<function=f>, and <tool_call> may be missing.
Texts wrappers(const Field& field, const std::vector<WriteLayout>& layouts) {
  const Texts out = regex::optional_first_literals(field.open.pattern.hir);
  const bool written =
      !layouts.empty() &&
      std::ranges::all_of(layouts, [&](const WriteLayout& layout) {
        const std::string begin = written_begin(layout);
        const std::size_t at = begin.find_first_not_of(" \t\r\n");
        return at != std::string::npos &&
               std::ranges::any_of(out, [&](const std::string& text) {
                 return std::string_view(begin).substr(at).starts_with(text);
               });
      });
  return written ? out : Texts{};
}

bool has_calls(const Field& field) {
  return field.name == "tool_calls" ||
         (field.transform &&
          std::ranges::any_of(field.transform->members, [](const auto& member) {
            return member.first == "function";
          }));
}

// Whether the family writes `text` at the end of a section.
bool ends_section(const Family& family, std::string_view text) {
  if (!family.writing) return false;
  const auto ends = [&](const WriteLayout& layout) {
    return std::ranges::any_of(layout.section_end, [&](const WritePart& part) {
      return part.text.find(text) != std::string::npos;
    });
  };
  return std::ranges::any_of(family.writing->fields, [&](const auto& layouts) {
    return std::ranges::any_of(layouts, ends);
  });
}

// The texts with which an opener may begin and which it may lack: then the
// opener interrupts.
std::set<std::string_view> begins_of_openers(const Description& description) {
  std::set<std::string_view> out;
  for (const Field& field : description.fields) {
    const Hir& hir = field.open.pattern.hir;
    if (hir.nodes.empty() || hir.root().kind != HirKind::kConcat) continue;
    const HirNode& first = hir.nodes[hir.root().children.front()];
    if (first.kind != HirKind::kRepeat || first.min != 0) continue;
    const HirNode& part = hir.nodes[first.children.front()];
    if (part.kind == HirKind::kLiteral) out.insert(part.text);
  }
  return out;
}

// The start anchors, and what may stand between regions but for the ends of
// sections and the beginnings of openers.  The opener of a section interrupts
// although no field has it: Kimi K3 writes <|open|>tools<|sep|> before calls.
std::vector<Delimiter> interrupting_markup(const FormatImpl& format) {
  const Description& description = format.description;
  std::vector<Delimiter> out;
  if (!description.reports_unclaimed) return out;
  Delimiter markup = description.markup;
  if (markup.kind == Delimiter::Kind::kLiterals) {
    const std::set<std::string_view> begins = begins_of_openers(description);
    std::erase_if(markup.literals, [&](const std::string& text) {
      return begins.contains(text) || ends_section(format.family, text);
    });
    if (markup.literals.empty()) {
      markup = {};
    } else {
      markup.pattern.hir = regex::literal_set(markup.literals);
    }
  }
  if (markup) out.push_back(std::move(markup));
  if (description.start_anchor) out.push_back(description.start_anchor);
  return out;
}

}  // namespace

namespace {

// `begins`: only of the parts with which the pattern may begin.
std::vector<std::string> markup_in(const Hir& hir, bool begins) {
  // Shorter literals stand in ordinary text: "[", "```", "]]".
  constexpr std::size_t kFewest = 4;
  Texts out;
  // The nodes that are left to visit, each once: a tree.
  std::vector<HirId> left;
  if (!hir.nodes.empty()) {
    left.push_back(static_cast<HirId>(hir.nodes.size() - 1));
  }
  while (!left.empty()) {
    const HirNode& node = hir.nodes[left.back()];
    left.pop_back();
    if (node.kind == HirKind::kLiteral) {
      const std::string_view text = base::trimmed(node.text);
      if (text.size() >= kFewest &&
          !base::is_letter(static_cast<unsigned char>(text.front()))) {
        out.emplace_back(text);
      }
    } else if (node.kind == HirKind::kConcat) {
      for (const HirId id : node.children) {
        left.push_back(id);
        const HirNode& part = hir.nodes[id];
        if (begins && (part.kind != HirKind::kRepeat || part.min > 0)) break;
      }
    } else if (node.kind != HirKind::kLook) {
      left.insert(left.end(), node.children.begin(), node.children.end());
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> begins_of_opener(const Hir& hir) {
  return markup_in(hir, true);
}

std::vector<std::string> markup_of(const Hir& hir) {
  return markup_in(hir, false);
}

std::optional<Hir> opener_inside(const Hir& hir) {
  if (hir.nodes.empty() || hir.root().kind != HirKind::kConcat ||
      hir.root().children.size() < 2) {
    return std::nullopt;
  }
  const HirId first = hir.root().children[0];
  const HirNode& part = hir.nodes[first];
  if (part.kind != HirKind::kRepeat || part.min != 0 || part.max != 1) {
    return std::nullopt;
  }
  // The optional part begins with the white space, or comes before it: inside a
  // region an opener has no such part, or has it always.
  Hir out = hir;
  if (begins_blank(hir, part.children[0])) {
    out.nodes[first].max = 0;
    out.nodes.back().children.erase(out.nodes.back().children.begin());
    return out;
  }
  if (!begins_blank(hir, hir.root().children[1])) return std::nullopt;
  out.nodes[first].min = 1;
  return out;
}

namespace {

// Whether the opener of the field ends the region of another.
bool interrupts(const Field& field) {
  if (!field.open) return false;
  const Hir& hir = field.open.pattern.hir;
  const std::optional<Hir> inside = opener_inside(hir);
  return begins_with_literal(inside ? *inside : hir);
}

}  // namespace

void derive_interruption(FormatImpl& out) {
  Description& description = out.description;
  Reading& reading = out.family.reading;
  description.interrupting = interrupting_markup(out);
  for (const ListedMark& mark : out.marks) {
    if (!mark.literal.empty()) reading.control.push_back(mark.literal);
  }
  std::vector<FieldId> interrupting;
  for (FieldId i; i < description.fields.size(); ++i) {
    if (interrupts(description.fields[i])) interrupting.push_back(i);
  }
  for (FieldId i; i < description.fields.size(); ++i) {
    const Field& field = description.fields[i];
    FieldReading& own = reading.fields[i];
    if (field.open && has_calls(field)) {
      own.body = body_begins(field, own);
      if (out.family.writing) {
        own.wrappers = wrappers(field, out.family.writing->fields[i]);
      }
    }
    // Only a region that a delimiter closes can lack its end.
    if (!field.open || !field.close) continue;
    for (const FieldId other : interrupting) {
      // A second region of a field that has one value would replace the first.
      if (other == i && !field.repeats && !has_calls(field)) continue;
      // A region that ends with its value is read without backtracking.
      if (own.ends == RegionEnd::kValue &&
          !description.fields[other].open.pattern.hir.regular()) {
        continue;
      }
      own.interrupted_by.push_back(other);
    }
  }
}

}  // namespace parlance::format
