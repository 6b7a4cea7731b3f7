// Computes the plan of a format.
//
// Soundness of free text: a text that contains none of the excluded texts has
// no match of a delimiter in it, because each match contains one of them
// (regex/necessary_literals.h).

#include "inversion/plan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/reasoning_names.h"
#include "inversion/bare.h"
#include "inversion/shortest.h"
#include "inversion/trimmed.h"
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

// Adds what keeps matches of `delimiter` out of a text.
void exclude(Excludes& out, const Delimiter& delimiter) {
  if (delimiter.kind == Delimiter::Kind::kLiterals) {
    append(out.texts, delimiter.literals);
    return;
  }
  if (delimiter.kind != Delimiter::Kind::kPattern) return;
  const auto found = regex::necessary_literals(delimiter.pattern.hir);
  // A text of a look-ahead need not be close to the match, so it has to be more
  // like markup.
  if (found &&
      found->shortest() >= (found->ahead ? kShortestAhead : kShortestExclude)) {
    append(out.texts, found->texts);
    append(out.texts, regex::optional_first_literals(delimiter.pattern.hir));
    return;
  }
  if (auto pattern = text_with_match(delimiter.pattern.hir)) {
    out.patterns.push_back(*std::move(pattern));
  } else if (found) {
    append(out.texts, found->texts);
  }
}

// What ends a region, as texts that its strings must not contain.
void exclude_from_strings(Texts& out, const Delimiter& close) {
  if (close.kind == Delimiter::Kind::kLiterals) append(out, close.literals);
  if (close.kind != Delimiter::Kind::kPattern) return;
  if (auto found = regex::necessary_literals(close.pattern.hir, true)) {
    append(out, found->texts);
  }
}

// The parts of tag_pattern that may follow a value: what ends the value for the
// reader.
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
      exclude_from(i);
    }
    make_samples();
    return std::shared_ptr<const Plan>(plan_);
  }

 private:
  const format::FieldReading* reading(std::size_t field) const {
    const auto& fields = format_.family.reading.fields;
    return field < fields.size() ? &fields[field] : nullptr;
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
        plan_->calls = FieldId(static_cast<std::uint32_t>(i));
      } else if (description_.implicit ==
                     FieldId(static_cast<std::uint32_t>(i)) ||
                 fields[i].name == "content") {
        role = Role::kContent;
        plan_->content = FieldId(static_cast<std::uint32_t>(i));
      } else if (names_reasoning(fields[i].name)) {
        role = Role::kReasoning;
      }
    }
  }

  void exclude_from(std::size_t index) {
    const format::Field& field = description_.fields[index];
    FieldPlan& plan = plan_->fields[index];
    const format::FieldReading* read = reading(index);
    Excludes& text = plan.free_text;
    exclude(text, field.close);
    // A pattern may read on into the text: (?:<think>\s*)+.
    if (field.open.kind == Delimiter::Kind::kPattern) {
      exclude(text, field.open);
    }
    append(text.texts, plan_->turn_end);
    if (read != nullptr) {
      append(text.texts, read->drop);
      for (const FieldId other : read->interrupted_by) {
        exclude(text, description_.fields[other.value()].open);
      }
    }
    // Text that nothing opens may hold no opener, and not what closes
    // reasoning, which would look like its end.
    if (!field.open) {
      for (std::size_t i = 0; i < description_.fields.size(); ++i) {
        exclude(text, description_.fields[i].open);
        if (plan_->fields[i].role == Role::kReasoning) {
          exclude(text, description_.fields[i].close);
        }
        for (const WriteLayout& layout : layouts(i)) {
          exclude_section(text, layout.section_begin);
          exclude_section(text, layout.section_end);
        }
      }
    }
    without_borders(text.texts);
    reduce(text.texts);

    if (plan.role != Role::kCalls) {
      plan.strings = text.texts;
      return;
    }
    const bool first =
        read == nullptr || read->ends == format::RegionEnd::kFirst;
    if (first) {
      exclude_from_strings(plan.strings, field.close);
      if (read != nullptr) {
        for (const FieldId other : read->interrupted_by) {
          exclude_from_strings(plan.strings,
                               description_.fields[other.value()].open);
        }
      }
    }
    // A text that ends the response ends each region, except inside the strings
    // of a JSON value that has its own end.
    if (first) append(plan.strings, plan_->turn_end);
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
    for (std::string& value : plan.raw_values) value = trimmed(value);
    reduce(plan.strings);
    reduce(plan.raw_values);
  }

  static void exclude_section(Excludes& text, const WriteParts& parts) {
    for (const WritePart& part : parts) {
      const std::string_view spelled = trimmed(part.text);
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
          add(SamplePiece::Kind::kText, empty_arguments(part));
          break;
        case Kind::kIndex:
          add(SamplePiece::Kind::kText, std::to_string(part.first));
          break;
        case Kind::kId: {
          const Result<regex::Pattern> pattern =
              regex::parse_pattern(part.text);
          std::optional<std::string> text;
          if (pattern) text = shortest_match(pattern->hir);
          add(SamplePiece::Kind::kText, text.value_or(""));
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
    const json::Value* style = part.style.find("style");
    const std::string_view name =
        style == nullptr ? "json" : style->as_string();
    if (part.as_text) return "\"{}\"";
    return name == "json" || name == "delimited" ? "{}" : "";
  }

  const format::FormatImpl& format_;
  const format::Description& description_;
  std::shared_ptr<Plan> plan_;
};

}  // namespace

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
