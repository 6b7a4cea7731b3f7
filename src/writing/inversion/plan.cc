// Computes the plan of a format.
//
// Soundness of free text: a text that contains none of the excluded texts has
// no match of a delimiter in it, because each match contains one of them
// (regex/necessary_literals.h).

#include "inversion/plan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "automata/language.h"
#include "base/reasoning_names.h"
#include "base/trimmed.h"
#include "format/interruption.h"
#include "inversion/bare.h"
#include "inversion/shortest.h"
#include "json/located.h"
#include "regex/literal_pattern.h"
#include "regex/necessary_literals.h"
#include "regex/pattern.h"

namespace parlance::inversion {
namespace {

using format::Delimiter;
using format::FieldId;
using format::WriteLayout;
using format::WritePart;
using format::WriteParts;
using Texts = std::vector<std::string>;

// Shorter texts occur in too much prose to be excluded.
constexpr std::size_t kShortestExclude = 3;
constexpr std::size_t kShortestAhead = 8;
// Spellings of one layout that are tried.
constexpr std::size_t kMostSamples = 16;

// Without duplicates, empty texts, and texts that contain another one.
void reduce(Texts& texts) {
  Texts kept;
  std::stable_sort(texts.begin(), texts.end(),
                   [](const std::string& a, const std::string& b) {
                     return a.size() < b.size();
                   });
  for (std::string& text : texts) {
    const bool redundant =
        text.empty() ||
        std::any_of(kept.begin(), kept.end(), [&](const std::string& other) {
          return text.find(other) != std::string::npos;
        });
    if (!redundant) kept.push_back(std::move(text));
  }
  texts = std::move(kept);
}

// A text that begins as it ends, such as "[e~[", can be found across the end of
// the free text: in "[e~" before "[e~[".  What comes before its last occurrence
// of the common part is excluded instead.
void without_borders(Texts& texts) {
  for (std::string& text : texts) {
    for (std::size_t size = text.size(); size-- > 1;) {
      if (!text.ends_with(std::string_view(text).substr(0, size))) continue;
      const std::size_t left = text.size() - size;
      if (left >= kShortestExclude && (text[left] & 0xC0) != 0x80) {
        text.resize(left);
      }
      break;
    }
  }
}

void append(Texts& out, const Texts& more) {
  out.insert(out.end(), more.begin(), more.end());
}

// Adds what keeps matches of `delimiter` out of a text.  `inside`: a match at
// the end of the response does no harm.  False if nothing does.
bool exclude(Excludes& out, const Delimiter& delimiter, bool inside) {
  if (delimiter.kind == Delimiter::Kind::kLiterals) {
    append(out.texts, delimiter.literals);
    return true;
  }
  if (delimiter.kind != Delimiter::Kind::kPattern) return true;
  auto found = regex::necessary_literals(delimiter.pattern.hir);
  // A text of a look-ahead need not be close to the match, so it has to be more
  // like markup.
  if (found &&
      found->shortest() >= (found->ahead ? kShortestAhead : kShortestExclude)) {
    append(out.texts, found->texts);
    append(out.texts, regex::optional_first_literals(delimiter.pattern.hir));
    return true;
  }
  if (auto pattern = text_with_match(delimiter.pattern.hir)) {
    out.patterns.push_back(*std::move(pattern));
    append(out.texts, regex::optional_first_literals(delimiter.pattern.hir));
    return true;
  }
  if (!found && inside) {
    found = regex::necessary_literals(delimiter.pattern.hir, true);
  }
  if (found) append(out.texts, found->texts);
  return found.has_value();
}

// Whether `text` cannot occur in JSON except inside one string.
bool only_in_strings(std::string_view text) {
  constexpr std::string_view kOutside = "{}[]:, \t\r\n0123456789+-.Eaeflnrstu";
  return text.find('"') == std::string_view::npos &&
         text.find_first_not_of(kOutside) != std::string_view::npos;
}

// What ends a region, as texts that its strings must not contain.  False if
// `close` may match elsewhere in JSON.
bool exclude_from_strings(Texts& out, const Delimiter& close) {
  const std::size_t before = out.size();
  if (close.kind == Delimiter::Kind::kLiterals) append(out, close.literals);
  if (close.kind == Delimiter::Kind::kPattern) {
    const auto found = regex::necessary_literals(close.pattern.hir, true);
    if (!found) return false;
    append(out, found->texts);
  }
  return std::all_of(out.begin() + static_cast<std::ptrdiff_t>(before),
                     out.end(), only_in_strings);
}

// The parts of tag_pattern that may follow a value: what ends the value for the
// reader.
//
// Children precede their parents, so one pass over the nodes climbs from the
// capture to the root.  Invariant: `at` is the highest node so far that
// contains the capture, and `after` has what follows the capture in it.
Texts value_ends(const regex::Hir& hir) {
  std::uint32_t group = 0;
  for (const regex::GroupName& name : hir.names) {
    if (name.name == "value") group = name.group;
  }
  // From the capture up to the root, what follows in each concatenation.
  std::optional<regex::HirId> at;
  std::vector<regex::HirId> after;
  for (regex::HirId id = 0; id < hir.nodes.size(); ++id) {
    const regex::HirNode& node = hir.nodes[id];
    if (node.kind == regex::HirKind::kCapture && node.group == group && !at) {
      at = id;
      continue;
    }
    if (!at) continue;
    const auto child =
        std::find(node.children.begin(), node.children.end(), *at);
    if (child == node.children.end()) continue;
    if (node.kind == regex::HirKind::kConcat) {
      after.insert(after.end(), child + 1, node.children.end());
    }
    at = id;
  }
  const auto found = regex::necessary_literals(hir, std::span(after), true);
  return found ? found->texts : Texts{};
}

bool names_reasoning(std::string_view name) {
  return base::is_reasoning_name(name) || name == "thoughts";
}

class Planner {
 public:
  explicit Planner(const format::FormatImpl& format)
      : format_(format),
        description_(format.description),
        plan_(std::make_shared<Plan>()) {}

  Result<std::shared_ptr<const Plan>> make() {
    if (format_.family.writing) {
      plan_->writing = &*format_.family.writing;
    } else {
      Result<format::Writing> derived = derive_writing(format_);
      if (!derived) return std::move(derived).error();
      plan_->derived = std::move(*derived);
      plan_->writing = &plan_->derived;
    }
    plan_->turn_end = format_.family.reading.turn_end;
    // By default, what closes the implicit field ends the turn.
    if (plan_->turn_end.empty() && description_.implicit) {
      const Delimiter& close =
          description_.fields[*description_.implicit].close;
      if (close.kind == Delimiter::Kind::kLiterals) {
        plan_->turn_end = close.literals;
      }
    }
    plan_->fields.resize(description_.fields.size());
    assign_roles();
    for (std::size_t i = 0; i < plan_->fields.size(); ++i) {
      exclude_from_text(i);
      FieldPlan& plan = plan_->fields[i];
      if (plan.role == Role::kCalls) {
        exclude_from_calls(i);
      } else {
        plan.strings = plan.free_text.texts;
      }
    }
    if (plan_->is_derived()) {
      for (std::size_t i = 0; i < plan_->fields.size(); ++i) keep_apart(i);
      set_key_pattern();
    } else {
      for (FieldPlan& plan : plan_->fields) keep_from_next(plan);
    }
    if (fault_) return *std::move(fault_);
    if (plan_->content) {
      FieldPlan& content = plan_->fields[*plan_->content];
      content.documents =
          document_rule(format_, content.free_text.patterns, plan_->calls);
    }
    make_samples();
    return std::shared_ptr<const Plan>(plan_);
  }

 private:
  const format::FieldReading& reading(std::size_t field) const {
    return format_.family.reading.fields[field];
  }
  const std::vector<WriteLayout>& layouts(std::size_t field) const {
    static const std::vector<WriteLayout> kNone;
    const auto& fields = plan_->writing->fields;
    return field < fields.size() ? fields[field] : kNone;
  }

  void assign_roles() {
    const auto& fields = description_.fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Role& role = plan_->fields[i].role;
      const bool calls = std::any_of(
          layouts(i).begin(), layouts(i).end(), [](const WriteLayout& layout) {
            return has_part(layout.parts, WritePart::Kind::kArguments);
          });
      if (calls) {
        role = Role::kCalls;
        plan_->calls = FieldId(i);
      } else if (description_.implicit == FieldId(i) ||
                 fields[i].name == "content") {
        role = Role::kContent;
        plan_->content = FieldId(i);
      } else if (names_reasoning(fields[i].name)) {
        role = Role::kReasoning;
      }
    }
  }

  // What free text of the field must not contain: whatever would end it, or
  // would be read as the beginning of something else.
  void exclude_from_text(std::size_t index) {
    const format::Field& field = description_.fields[index];
    const format::FieldReading& read = reading(index);
    Excludes& text = plan_->fields[index].free_text;
    const bool free = has_text(index);
    if (!exclude(text, field.close, true) && free) {
      unsupported(index, "close_pattern", "may match anywhere in its text");
    }
    // A pattern may read on into the text: (?:<think>\s*)+.  A literal that
    // comes first in its own text is left out.
    exclude(text, field.open, true);
    append(text.texts, plan_->turn_end);
    append(text.texts, read.drop);
    for (const FieldId other : read.interrupted_by) {
      exclude_opener(text, other.value(), free);
    }
    if (field.open) {
      for (const Delimiter& markup : description_.interrupting) {
        exclude(text, markup, false);
      }
    }
    // Text that nothing opens may hold no opener, and not what closes
    // reasoning, which would look like its end, or calls.
    if (!field.open) {
      for (std::size_t i = 0; i < description_.fields.size(); ++i) {
        exclude_opener(text, i, free);
        if (plan_->fields[i].role == Role::kReasoning) {
          exclude(text, description_.fields[i].close, true);
        } else if ((plan_->fields[i].role == Role::kCalls ||
                    description_.fields[i].values_of) &&
                   description_.fields[i].close && format_.recovers) {
          append(text.texts,
                 format::markup_of(description_.fields[i].close.pattern.hir));
        }
        for (const WriteLayout& layout : layouts(i)) {
          exclude_section(text, layout.section_begin);
          exclude_section(text, layout.section_end);
        }
      }
    }
    without_borders(text.texts);
    reduce(text.texts);
  }

  // What the strings and the raw values of a call must not contain.  A raw
  // value contains nothing that a string does not.
  void exclude_from_calls(std::size_t index) {
    const format::Field& field = description_.fields[index];
    FieldPlan& plan = plan_->fields[index];
    const format::FieldReading& read = reading(index);
    const bool first = read.ends == format::RegionEnd::kFirst;
    if (first) {
      if (!exclude_from_strings(plan.strings, field.close)) {
        unsupported(index,
                    field.close.kind == Delimiter::Kind::kPattern
                        ? "close_pattern"
                        : "close",
                    "may match in the arguments of a call, outside strings");
      }
      for (const FieldId other : read.interrupted_by) {
        exclude_from_strings(plan.strings, description_.fields[other].open);
      }
      for (const Delimiter& markup : description_.interrupting) {
        exclude_from_strings(plan.strings, markup);
      }
      // A text that ends the response ends each region, except inside the
      // strings of a JSON value that has its own end.
      append(plan.strings, plan_->turn_end);
    }
    plan.raw_values = plan.strings;
    if (!first) {
      append(plan.raw_values, plan_->turn_end);
      exclude_from_strings(plan.raw_values, field.close);
    }
    // The reader puts U+0001 and U+0002 in the place of string delimiters.
    if (!field.content.string_delims.empty()) {
      append(plan.raw_values, {"\x01", "\x02"});
    }
    if (field.content.kind == format::ContentKind::kXmlInline) {
      append(plan.raw_values, value_ends(field.content.tag_pattern.hir));
    }
    if (field.content.kind == format::ContentKind::kKvLines) {
      plan.raw_values.push_back(field.content.line_separator);
    }
    // White space alone is no text that the grammar can exclude: read_texts.h.
    for (std::string& value : plan.raw_values) {
      value = std::string(base::trimmed(value));
    }
    reduce(plan.strings);
    reduce(plan.raw_values);
  }

  // Whether the tag writes free text of the field.
  bool has_text(std::size_t field) const {
    return std::any_of(layouts(field).begin(), layouts(field).end(),
                       [](const WriteLayout& layout) {
                         return has_part(layout.parts,
                                         WritePart::Kind::kPayload);
                       });
  }

  // Keeps the opener of a field out of the text of another one.
  void exclude_opener(Excludes& text, std::size_t opened, bool free) {
    if (exclude(text, description_.fields[opened].open, false) || !free) return;
    unsupported(opened, "open_pattern", "may match anywhere in other text");
  }

  // The first fault counts.
  void unsupported(std::size_t field, std::string_view key,
                   std::string_view what) {
    if (fault_) return;
    const std::string& name = description_.fields[field].template_name;
    fault_ = Error{
        ErrorCode::kUnsupported,
        "field '" + description_.fields[field].name + "': its " +
            std::string(key) + " " + std::string(what) +
            ", and no text can be excluded that keeps it out.",
        json::append_pointer(
            format_.name.empty() ? "/fields" : "/response_template/fields",
            name) +
            "/" + std::string(key)};
  }

  // ---- what is read across the ends of a text ----

  // What follows a text must not complete an excluded text: ">>>" after
  // "<|eom_id|".
  void keep_from_next(FieldPlan& plan) {
    if (plan.role == Role::kCalls) return;
    Texts next;
    for (std::size_t i = 0; i < plan_->fields.size(); ++i) {
      for (const WriteLayout& layout : layouts(i)) {
        next.push_back(text_before(from_section(layout)));
        next.push_back(text_before(layout.before) + next.back());
      }
    }
    Texts more;
    for (const std::string_view text : plan.free_text.texts) {
      for (std::size_t i = 1; i < text.size(); ++i) {
        if ((text[i] & 0xC0) == 0x80) continue;
        if (std::any_of(next.begin(), next.end(), [&](const auto& one) {
              return one.starts_with(text.substr(i));
            })) {
          more.emplace_back(text.substr(0, i));
        }
      }
    }
    append(plan.free_text.texts, more);
    reduce(plan.free_text.texts);
  }

  // A match of another opener may begin before the text of a field, with the
  // field's own opener in it: then the text must not complete the match.  And
  // an excluded text may be completed by the markers beside a text.
  //
  // This is for layouts that are derived from delimiters.  Files with `write`
  // have keep_from_next() instead.
  void keep_apart(std::size_t index) {
    FieldPlan& plan = plan_->fields[index];
    for (const WriteLayout& layout : layouts(index)) {
      const WriteParts parts = from_section(layout);
      const std::string open = text_before(parts);
      check_varied_open(index, parts);
      for (std::size_t i = 0; i < plan_->fields.size(); ++i) {
        if (i == index || open.empty()) continue;
        const Delimiter& other = description_.fields[i].open;
        if (!matches_around(other, open)) continue;
        if (plan.role != Role::kCalls) {
          exclude_opener(plan.free_text, i, true);
        } else if (!exclude_from_strings(plan.strings, other) ||
                   !exclude_from_strings(plan.raw_values, other)) {
          unsupported(
              i,
              other.kind == Delimiter::Kind::kPattern ? "open_pattern" : "open",
              "may match around a call");
        }
      }
      if (plan.role == Role::kCalls) {
        // Before and after the strings of a delimited object, too.
        for (const auto& [begin, end] :
             description_.fields[index].content.string_delims) {
          exclude_across(plan.raw_values, begin, {end});
        }
        const format::ArgumentLayout* arguments = argument_layout(layout);
        if (arguments == nullptr || arguments->elements() == nullptr) continue;
        const format::ElementLayout& elements = *arguments->elements();
        check_elements(index, elements);
        exclude_across(plan.raw_values, elements.middle, {elements.close});
        continue;
      }
      if (open.empty() &&
          description_.fields[index].open.kind == Delimiter::Kind::kNone) {
        exclude_across(plan.free_text.texts, "", plan.free_text.texts);
        for (std::size_t i = 0; i < plan_->fields.size(); ++i) {
          for (const WriteLayout& next : layouts(i)) {
            exclude_across(plan.free_text.texts, "",
                           {text_before(from_section(next))});
          }
        }
      } else {
        exclude_across(plan.free_text.texts, open, {text_after(layout.parts)});
      }
    }
    reduce(plan.free_text.texts);
    reduce(plan.strings);
    reduce(plan.raw_values);
  }

  // An opener of which a part may vary must not become another opener.
  void check_varied_open(std::size_t index, const WriteParts& parts) {
    std::string pattern;
    bool varies = false;
    for (const WritePart& part : parts) {
      if (part.kind == WritePart::Kind::kText) {
        pattern += regex::literal_pattern(part.text);
      } else if (part.kind == WritePart::Kind::kId) {
        pattern += "(?:" + part.text + ")";
        varies = true;
      } else {
        break;
      }
    }
    if (!varies) return;
    const std::string any = "[\\s\\S]*";
    for (std::size_t i = 0; i < plan_->fields.size(); ++i) {
      if (i == index ||
          !meet(description_.fields[i].open, any, pattern + any)) {
        continue;
      }
      unsupported(index, "open_pattern",
                  "may match the opener of field '" +
                      description_.fields[i].name + "'");
    }
  }

  // Whether a match of `opener` may have `text` in it.
  static bool matches_around(const Delimiter& opener, const std::string& text) {
    const std::string any = "[\\s\\S]*";
    return meet(opener, "", any + regex::literal_pattern(text) + any);
  }

  // Whether some text matches `opener`, followed by `rest`, and `pattern`.
  static bool meet(const Delimiter& opener, const std::string& rest,
                   const std::string& pattern) {
    if (opener.kind == Delimiter::Kind::kNone) return false;
    // Without the conditions of zero width, so that it matches more.
    const regex::Hir& hir = opener.pattern.hir;
    const auto left = regex::parse_pattern(
        "(?:" +
        pattern_of(hir, static_cast<regex::HirId>(hir.nodes.size() - 1)) + ")" +
        rest);
    const auto right = regex::parse_pattern(pattern);
    if (!left || !right) return true;
    automata::Languages languages;
    using Mode = automata::Languages::Mode;
    const auto a = languages.from_hir(left->hir, Mode::kWhole);
    const auto b = languages.from_hir(right->hir, Mode::kWhole);
    return !a || !b || !languages.empty(languages.all_of({*a, *b}));
  }

  // What ends a call must not occur in the markup of its elements.
  void check_elements(std::size_t index,
                      const format::ElementLayout& elements) {
    const Delimiter& close = description_.fields[index].close;
    Texts ends;
    exclude_from_strings(ends, close);
    for (const std::string& markup :
         {elements.open, elements.middle, elements.close}) {
      for (const std::string& end : ends) {
        if (markup.find(end) == std::string::npos) continue;
        unsupported(
            index,
            close.kind == Delimiter::Kind::kPattern ? "close_pattern" : "close",
            "may match in the markup of the arguments");
      }
    }
  }

  // A layout from the beginning of its section on.
  static WriteParts from_section(const WriteLayout& layout) {
    WriteParts out = layout.section_begin;
    out.insert(out.end(), layout.parts.begin(), layout.parts.end());
    return out;
  }
  static std::string text_before(const WriteParts& parts) {
    std::string out;
    for (const WritePart& part : parts) {
      if (part.kind != WritePart::Kind::kText) break;
      out += part.text;
    }
    return out;
  }
  static std::string text_after(const WriteParts& parts) {
    return parts.empty() || parts.back().kind != WritePart::Kind::kText
               ? ""
               : parts.back().text;
  }

  // Adds what completes one of `texts` together with the end of `before` or
  // the beginning of one of `after`.  If the text is "</x>", what comes after a
  // "<" must not contain "/x>", and what comes before an "x>" must not contain
  // "</".
  static void exclude_across(Texts& texts, std::string_view before,
                             const Texts& after) {
    Texts more;
    for (const std::string_view text : texts) {
      for (std::size_t i = 1; i < text.size(); ++i) {
        if ((text[i] & 0xC0) == 0x80) continue;
        const std::string_view left = text.substr(0, i);
        const std::string_view right = text.substr(i);
        if (before.ends_with(left) ||
            (!before.empty() && left.ends_with(before))) {
          more.emplace_back(right);
        }
        if (std::any_of(after.begin(), after.end(), [&](const auto& next) {
              return !next.empty() &&
                     (next.starts_with(right) || right.starts_with(next));
            })) {
          more.emplace_back(left);
        }
      }
    }
    append(texts, more);
  }

  void set_key_pattern() {
    if (!plan_->calls) return;
    const format::Field& field = description_.fields[*plan_->calls];
    // A template adds quotes to keys of letters, digits and '_' only.
    if (field.content.unquoted_keys && !field.content.string_delims.empty()) {
      plan_->key_pattern = "^[A-Za-z_][A-Za-z0-9_]*$";
    }
    // What a strict list of calls reads.
    if (field.content.kind == format::ContentKind::kPythonCallList) {
      plan_->key_pattern = "^[A-Za-z_][A-Za-z0-9_]*$";
      plan_->largest_number = 9007199254740991;  // 2^53 - 1
    }
    if (field.content.kind != format::ContentKind::kXmlInline) return;
    const regex::Hir& hir = field.content.tag_pattern.hir;
    for (const regex::GroupName& name : hir.names) {
      if (name.name != "key") continue;
      for (regex::HirId id = 0; id < hir.nodes.size(); ++id) {
        const regex::HirNode& node = hir.nodes[id];
        if (node.kind != regex::HirKind::kCapture || node.group != name.group) {
          continue;
        }
        plan_->key_pattern = "^(?:" + pattern_of(hir, id) + ")$";
      }
    }
  }

  static void exclude_section(Excludes& text, const WriteParts& parts) {
    for (const WritePart& part : parts) {
      const std::string_view spelled = base::trimmed(part.text);
      if (part.kind == WritePart::Kind::kText && spelled.size() >= 4) {
        text.texts.emplace_back(spelled);
      }
    }
  }

  // ---- samples ----

  void make_samples() {
    if (!plan_->calls) return;
    for (const WriteLayout& layout : layouts(plan_->calls->value())) {
      std::vector<Sample> made = {Sample{}};
      extend(made, layout.parts);
      plan_->first_samples.push_back(plan_->samples.size());
      for (Sample& sample : made) plan_->samples.push_back(std::move(sample));
    }
  }

  // Appends the spellings of `parts` to each of `samples`.
  static void extend(std::vector<Sample>& samples, const WriteParts& parts) {
    using Kind = WritePart::Kind;
    const auto add = [&](SamplePiece::Kind kind, std::string text) {
      for (Sample& sample : samples) sample.push_back({kind, text});
    };
    for (const WritePart& part : parts) {
      switch (part.kind) {
        case Kind::kText:
          add(SamplePiece::Kind::kText, part.text);
          break;
        case Kind::kName:
          add(part.json ? SamplePiece::Kind::kJsonName
                        : SamplePiece::Kind::kName,
              "");
          break;
        case Kind::kArguments:
          add(SamplePiece::Kind::kArguments, empty_arguments(part));
          break;
        case Kind::kIndex:
          add(SamplePiece::Kind::kId, std::to_string(part.first));
          break;
        case Kind::kId: {
          const Result<regex::Pattern> pattern =
              regex::parse_pattern(part.text);
          std::optional<std::string> text;
          if (pattern) text = shortest_match(pattern->hir);
          add(SamplePiece::Kind::kId, text.value_or(""));
          break;
        }
        case Kind::kPayload:
          break;
        case Kind::kAny:
        case Kind::kOptional:
          branch(samples, part);
          break;
      }
    }
  }

  // A part may be spelled in several ways.  Beyond kMostSamples only the first
  // way is taken.
  static void branch(std::vector<Sample>& samples, const WritePart& part) {
    std::vector<Sample> out;
    for (const WriteParts& choice : part.choices) {
      std::vector<Sample> with = samples;
      extend(with, choice);
      for (Sample& sample : with) out.push_back(std::move(sample));
      if (out.size() >= kMostSamples) break;
    }
    if (part.kind == WritePart::Kind::kOptional && out.size() < kMostSamples) {
      out.insert(out.end(), samples.begin(), samples.end());
    }
    samples = std::move(out);
  }

  static std::string empty_arguments(const WritePart& part) {
    using format::ArgumentStyle;
    if (part.as_text) return "\"{}\"";
    const ArgumentStyle style = part.arguments.style;
    return style == ArgumentStyle::kJson || style == ArgumentStyle::kDelimited
               ? "{}"
               : "";
  }

  const format::FormatImpl& format_;
  const format::Description& description_;
  std::shared_ptr<Plan> plan_;
  std::optional<Error> fault_ = std::nullopt;
};

}  // namespace

const format::ArgumentLayout* argument_layout(const WriteLayout& layout) {
  for (const WritePart& part : layout.parts) {
    if (part.kind == WritePart::Kind::kArguments && !part.as_text) {
      return &part.arguments;
    }
  }
  return nullptr;
}

std::vector<std::string> raw_excludes(const FieldPlan& plan,
                                      const format::ArgumentLayout& layout) {
  Texts out = plan.raw_values;
  const format::ElementLayout* elements = layout.elements();
  if (elements != nullptr &&
      elements->strings != format::ElementLayout::Strings::kJson) {
    out.emplace_back(base::trimmed(elements->close));
    append(out, elements->ends);
  }
  if (layout.delimited() != nullptr) out.push_back(layout.delimited()->close);
  std::erase(out, "");
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool ends_early(std::string_view name, const format::ArgumentLayout& layout) {
  const format::ElementLayout* elements = layout.elements();
  if (elements == nullptr ||
      elements->key == format::ElementLayout::Key::kXml) {
    return false;
  }
  const auto has = [&](std::string_view text) {
    return name.find(text) != std::string_view::npos;
  };
  return (elements->open.ends_with('"') && has("\"")) ||
         (!elements->middle.empty() && has(elements->middle));
}

bool has_part(const WriteParts& parts, WritePart::Kind kind) {
  return std::any_of(parts.begin(), parts.end(), [&](const WritePart& part) {
    return part.kind == kind ||
           std::any_of(part.choices.begin(), part.choices.end(),
                       [&](const WriteParts& choice) {
                         return has_part(choice, kind);
                       });
  });
}

Result<std::shared_ptr<const Plan>> make_plan(
    const format::FormatImpl& format) {
  return Planner(format).make();
}

}  // namespace parlance::inversion
