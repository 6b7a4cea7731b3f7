// Errors come from what the layouts and the plan of the format say; notes from
// the texts that the plan excludes.

#include "inversion/left_out.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/in_quotes.h"
#include "base/trimmed.h"
#include "inversion/reading.h"
#include "json/located.h"
#include "json/writer.h"

namespace parlance::inversion {
namespace {

using format::FieldId;
using format::WriteLayout;
using format::WritePart;
using json::Value;
using Texts = std::vector<std::string>;

// The pointer of a field in the template.
std::string pointer_of(const TagInput& in, FieldId field) {
  return json::append_pointer(
      in.format.name.empty() ? "/fields" : "/response_template/fields",
      in.format.description.fields[field].template_name);
}

// ---- errors ----

Error no_calls(const TagInput& in) {
  return Error{
      ErrorCode::kConflict,
      !in.plan.calls
          ? "tool_choice: a tool must be called, and the format has no field "
            "that writes calls."
          : "tool_choice: a builtin tool must be called, and field '" +
                std::string(in.name_of(*in.plan.calls)) +
                "' writes calls of functions only.",
      "/tool_choice"};
}

std::optional<Error> check_calls(const TagInput& in) {
  const std::string subject =
      "field '" + std::string(in.name_of(*in.plan.calls)) + "': ";
  for (const WriteLayout& layout : in.layouts_of(*in.plan.calls)) {
    for (const WritePart& part : layout.parts) {
      if (part.kind == WritePart::Kind::kArguments && part.as_text) {
        return Error{ErrorCode::kUnsupported,
                     subject +
                         "arguments that are the JSON text of a string cannot "
                         "be constrained.",
                     "/tools"};
      }
      if ((part.kind == WritePart::Kind::kAny ||
           part.kind == WritePart::Kind::kOptional) &&
          has_part({part}, WritePart::Kind::kArguments)) {
        return Error{ErrorCode::kUnsupported,
                     subject +
                         "the arguments of a call are in an optional part or a "
                         "choice; write two layouts.",
                     "/tools"};
      }
    }
  }
  return std::nullopt;
}

// A field that the template requires must be in every response of the tag.
std::optional<Error> check_required(const TagInput& in) {
  const auto& fields = in.format.description.fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldId field(i);
    if (!in.is_required(field)) continue;
    const std::string subject =
        "field '" + fields[i].name + "' is required, and ";
    const std::string pointer = pointer_of(in, field) + "/optional";
    if (in.layouts_of(field).empty()) {
      return Error{ErrorCode::kUnsupported,
                   subject + "it is not known how it is written.", pointer};
    }
    const FieldPlan& plan = in.plan_of(field);
    if (plan.role == Role::kCalls && !in.with_calls()) {
      return Error{ErrorCode::kConflict,
                   "tools: " + subject + "the request has no tools to call.",
                   "/tools"};
    }
    if (plan.role == Role::kCalls && in.request.document) {
      return Error{ErrorCode::kConflict,
                   "response_format: " + subject +
                       "a document is written instead of calls.",
                   "/response_format"};
    }
    if (plan.role == Role::kReasoning &&
        in.request.reasoning == Reasoning::kOff &&
        in.layouts_of(field).front().off.empty()) {
      return Error{ErrorCode::kConflict,
                   "reasoning: " + subject + "it is reasoning.", "/reasoning"};
    }
    if (!fields[i].open && !plan.free_text.patterns.empty()) {
      return Error{ErrorCode::kUnsupported,
                   subject +
                       "its text cannot be kept apart from the opener of "
                       "another field.",
                   pointer};
    }
  }
  return std::nullopt;
}

std::optional<Error> check_document(const TagInput& in) {
  if (!in.plan.content) {
    return Error{ErrorCode::kConflict,
                 "response_format: the format has no field for content.",
                 "/response_format"};
  }
  if (!in.plan_of(*in.plan.content).documents.impossible) return std::nullopt;
  return Error{ErrorCode::kConflict,
               "response_format: a JSON document in field '" +
                   std::string(in.name_of(*in.plan.content)) +
                   "' cannot be kept apart from the opener of another field.",
               "/response_format"};
}

// ---- values that a schema lists ----

// The value that "#/..." refers to, without escapes; null for any other.
const Value* local_target(const Value& root, std::string_view text) {
  if (!text.starts_with("#/") || text.find('~') != text.npos ||
      text.find('%') != text.npos) {
    return nullptr;
  }
  text.remove_prefix(2);
  const Value* at = &root;
  while (at != nullptr) {
    const std::size_t slash = text.find('/');
    at = at->find(text.substr(0, slash));
    if (slash == text.npos) return at;
    text.remove_prefix(slash + 1);
  }
  return nullptr;
}

// The values that a schema lists.  `closed`: it allows no others.
struct Listed {
  std::vector<const Value*> values = {};
  bool closed = true;
};

// Follows "$ref" into `root`, "anyOf" and "oneOf", to each schema once.
// REQUIRES: the pointers of `root` stay valid.
Listed listed_values(const Value& root, const Value& schema) {
  Listed out;
  std::vector<const Value*> left = {&schema};
  std::unordered_set<const Value*> seen;
  while (!left.empty()) {
    const Value& one = *left.back();
    left.pop_back();
    if (!seen.insert(&one).second) continue;
    // Keywords beside an enum or a const only take values away.
    if (const Value* values = one.find("enum")) {
      for (const Value& value : values->items()) out.values.push_back(&value);
      continue;
    }
    if (const Value* value = one.find("const")) {
      out.values.push_back(value);
      continue;
    }
    const Value* reference = one.find("$ref");
    const Value* target = reference == nullptr
                              ? nullptr
                              : local_target(root, reference->as_string());
    if (target != nullptr) {
      left.push_back(target);
      continue;
    }
    const Value* choices = one.find("anyOf");
    if (choices == nullptr) choices = one.find("oneOf");
    if (choices == nullptr || choices->items().empty()) {
      out.closed = false;
      continue;
    }
    for (const Value& choice : choices->items()) left.push_back(&choice);
  }
  return out;
}

// ---- notes ----

// Whether strings are written without quotes and escapes.
bool is_raw(const format::ArgumentLayout& layout) {
  using format::ArgumentStyle;
  const format::ElementLayout* elements = layout.elements();
  return elements == nullptr
             ? layout.style != ArgumentStyle::kJson &&
                   layout.style != ArgumentStyle::kPython
             : elements->strings == format::ElementLayout::Strings::kRaw;
}

class Notes {
 public:
  Notes(const TagInput& in, std::vector<GrammarNote>& out)
      : in_(in), out_(out) {}

  // What the number of calls, the text between them and the names of their
  // arguments leave out.
  void add_calls() {
    if (in_.read_back.one_call_only && in_.request.parallel) {
      narrow_calls("repeats",
                   "several calls in one response are not read back, so there "
                   "is at most one.");
    }
    if (in_.wants_text_between() && !in_.writes_text_between()) {
      narrow_calls("text_with_calls",
                   "there is no text between calls, because it would not be "
                   "read as content.");
    }
    if (!in_.plan.key_pattern.empty()) {
      narrow_calls("tag_pattern",
                   "names of arguments match " + in_.plan.key_pattern + ".");
    }
    if (in_.plan.largest_number > 0) {
      narrow_calls("content",
                   "numbers of arguments are not beyond 2^53 - 1 on either "
                   "side of 0.");
    }
  }

  // What the strings of arguments leave out.
  std::optional<Error> add_arguments() {
    // In every layout the strings of arguments are raw alike.
    const format::ArgumentLayout* layout =
        argument_layout(in_.layouts_of(*in_.plan.calls).front());
    if (layout != nullptr && is_raw(*layout)) return add_raw_arguments(*layout);
    const Texts& excluded = in_.plan_of(*in_.plan.calls).strings;
    if (excluded.empty()) return std::nullopt;
    narrow_calls("content", "a string of the arguments contains none of " +
                                quoted_list(excluded) + ".");
    return add_tools(excluded, /*as_json=*/true);
  }

  // What the strings of the document of response_format leave out.
  void add_document() {
    const FieldId field = *in_.plan.content;
    const Texts& excluded = in_.plan_of(field).strings;
    if (!excluded.empty()) {
      narrow(field, "content",
             "a string of the document contains none of " +
                 quoted_list(excluded) + ".");
    }
    for (const std::string& note : in_.plan_of(field).documents.notes) {
      narrow(field, "content", note);
    }
  }

  // No format writes calls of builtin tools, and some write no calls.
  void add_uncallable() {
    for (const Tool& tool : in_.request.tools.builtins) {
      add_uncallable(tool, "type", "the builtin tool ",
                     "the format writes calls of functions only.");
    }
    if (in_.plan.calls) return;
    for (const Tool& tool : in_.request.tools.functions) {
      add_uncallable(tool, "tools", "the tool ",
                     "the format has no field that writes calls.");
    }
  }

 private:
  void narrow(FieldId field, std::string_view keyword,
              const std::string& what) {
    out_.push_back(
        {GrammarNote::Kind::kNarrowed, std::string(keyword),
         pointer_of(in_, field),
         "field '" + std::string(in_.name_of(field)) + "': " + what});
  }
  void add_uncallable(const Tool& tool, std::string_view keyword,
                      const std::string& what, const std::string& why) {
    out_.push_back(
        {GrammarNote::Kind::kIgnored, std::string(keyword), tool.path,
         what + base::in_quotes(std::string_view(tool.name).substr(0, 200)) +
             " cannot be called: " + why});
  }
  void narrow_calls(std::string_view keyword, const std::string& what) {
    narrow(*in_.plan.calls, keyword, what);
  }

  std::optional<Error> add_raw_arguments(const format::ArgumentLayout& layout) {
    const FieldPlan& plan = in_.plan_of(*in_.plan.calls);
    const Texts excluded = raw_excludes(plan, layout);
    const Texts& nested = plan.raw_values;
    const format::ElementLayout* elements = layout.elements();
    narrow_calls("content",
                 "a string of the arguments, written without quotes, "
                 "contains none of " +
                     quoted_list(excluded) + ".");
    if (elements != nullptr && !nested.empty()) {
      narrow_calls("content",
                   "a string in a list or an object of the arguments contains "
                   "none of " +
                       quoted_list(nested) + ".");
    }
    if (elements != nullptr && elements->strip) {
      narrow_calls("content",
                   "a string of the arguments does not begin or end with "
                   "white space.");
    }
    return add_tools(excluded, /*as_json=*/false);
  }

  std::optional<Error> add_tools(const Texts& excluded, bool as_json) {
    for (const Tool& tool : in_.request.tools.functions) {
      if (auto error = add_tool(tool, excluded, as_json)) return error;
    }
    return std::nullopt;
  }

  // The listed values of a tool's own arguments.  `as_json`: strings are
  // written as JSON.
  std::optional<Error> add_tool(const Tool& tool, const Texts& excluded,
                                bool as_json) {
    const Value* properties = tool.schema.find("properties");
    if (properties == nullptr) return std::nullopt;
    for (const json::Member& property : properties->members()) {
      const Listed listed = listed_values(tool.schema, property.value);
      const auto left_out = static_cast<std::size_t>(std::count_if(
          listed.values.begin(), listed.values.end(), [&](const Value* value) {
            return value->is_string() &&
                   contains_any(value->as_string(), excluded, as_json);
          }));
      if (left_out == 0) continue;
      const bool none = left_out == listed.values.size();
      const std::string what =
          "the tool " + base::in_quotes(tool.name.substr(0, 200)) +
          ": of the listed values of its argument " +
          base::in_quotes(std::string_view(property.key).substr(0, 200)) +
          ", " + (none ? "none can" : "some cannot") +
          " be written, because the reader of field '" +
          std::string(in_.name_of(*in_.plan.calls)) +
          "' would end the value early.";
      const std::string pointer = argument_pointer(tool, property.key);
      if (none && listed.closed && requires_argument(tool, property.key)) {
        return Error{ErrorCode::kConflict, "tools: " + what, pointer};
      }
      out_.push_back({GrammarNote::Kind::kNarrowed, "enum", pointer, what});
    }
    return std::nullopt;
  }

  static bool contains_any(std::string_view value, const Texts& excluded,
                           bool as_json) {
    // What ends a value is looked for in the text as it is written, with quotes
    // and escapes.
    const std::string text = as_json ? json::quoted(value) : std::string(value);
    return std::any_of(
        excluded.begin(), excluded.end(),
        [&](const std::string& one) { return text.find(one) != text.npos; });
  }

  const TagInput& in_;
  std::vector<GrammarNote>& out_;
};

}  // namespace

std::optional<Error> check_request(const TagInput& in) {
  if (in.must_call() && !in.with_calls()) return no_calls(in);
  if (in.with_calls()) {
    if (auto error = check_calls(in)) return error;
  }
  if (auto error = check_required(in)) return error;
  if (in.request.document && !in.must_call()) return check_document(in);
  return std::nullopt;
}

std::optional<Error> note_left_out(const TagInput& in,
                                   std::vector<GrammarNote>& notes) {
  Notes out(in, notes);
  if (in.with_calls()) {
    out.add_calls();
    if (auto error = out.add_arguments()) return error;
  }
  if (in.request.document && !in.must_call()) out.add_document();
  out.add_uncallable();
  return std::nullopt;
}

}  // namespace parlance::inversion
