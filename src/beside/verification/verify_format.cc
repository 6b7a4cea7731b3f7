// Implements parlance/verify_format.h.
//
// For each argument, calls are written with some values at the limits of what
// the grammar accepts, and with the other required arguments.  The tag's own
// parser says what a text means; a text that this parser does not read
// completely is not in the grammar, and is not tested.

#include "parlance/verify_format.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/access.h"
#include "base/in_quotes.h"
#include "format/description.h"
#include "inversion/plan.h"
#include "inversion/reading.h"
#include "inversion/tool_choice.h"
#include "json/writer.h"
#include "parlance/grammar.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "rendering/arguments.h"
#include "schema/declared.h"
#include "schema/validate.h"
#include "verification/walker.h"
#include "verification/walks.h"

namespace parlance {
namespace verification {
namespace {

using inversion::argument_layout;
using inversion::arguments_of;
using inversion::call_text;
using inversion::calls_pointer;
using inversion::make_plan;
using inversion::name_of;
using inversion::Plan;
using inversion::requires_argument;
using inversion::select_tools;
using inversion::Tool;
using inversion::ToolSelection;
using json::Value;

// Arguments of every type, none of which is required.
constexpr std::string_view kSampleTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "additionalProperties": false, "properties": {
      "city": {"type": "string"},
      "unit": {"enum": ["celsius", " f", "1", 1, null]},
      "word": {"type": "string", "minLength": 3},
      "days": {"type": "integer"}, "height": {"type": "number"},
      "exact": {"type": "boolean"}, "nothing": {"type": "null"},
      "tags": {"type": "array", "items": {"type": "string"}},
      "place": {"type": "object"},
      "either": {"anyOf": [{"type": "number"}, {"type": "string"}]}}}}},
  {"type": "function", "function": {"name": "now", "parameters": {
    "type": "object", "properties": {}, "additionalProperties": false}}}])";

// Values at the edges of what notations read.
std::vector<Value> edge_values() {
  std::vector<Value> out;
  for (const char* text :
       {"ab",        "",      " ",    "   ",  " ab",
        "ab ",       "\nab",  "ab\n", "a\nb", "a b",
        "\tab",      "3",     "-1",   "1.5",  "1e5",
        "true",      "false", "null", "None", "True",
        "NaN",       "[]",    "[1]",  "{}",   "{\"a\": 1}",
        "\"a\"",     "'a'",   "a: b", "a=b",  "<",
        ">",         "<a>",   "</a>", "&lt;", "&",
        "a\\nb",     "\\",    "\"",   "é€",   "😀",
        ";",         "|",     ",",    "]]>",  "<![CDATA[a]]>",
        "2024-01-31"}) {
    out.emplace_back(text);
  }
  for (const char* text :
       {"0", "7", "-12", "12.0", "0.5", "-2.25", "1e+20", "true", "false",
        "null", "[]", R"(["a", 1, null])", R"([" a\n", "<;|&"])", "{}",
        R"({"a": {"b": [1, "c d"]}})", R"({"a b": "</a>"})"}) {
    out.push_back(*json::parse(text));
  }
  return out;
}

// The values that a schema lists.
void add_listed(const Value& schema, std::vector<Value>& out) {
  for (const char* key : {"enum", "examples"}) {
    const Value* list = schema.find(key);
    if (list == nullptr) continue;
    out.insert(out.end(), list->items().begin(), list->items().end());
  }
  for (const char* key : {"anyOf", "oneOf", "allOf"}) {
    const Value* list = schema.find(key);
    if (list == nullptr) continue;
    for (const Value& item : list->items()) add_listed(item, out);
  }
  for (const char* key : {"const", "default"}) {
    if (const Value* value = schema.find(key)) out.push_back(*value);
  }
}

// A response: the text before and after the value that is tried, which is
// written with ordinary tokens.
struct CallText {
  std::string before;
  std::string value;
  std::string after;

  std::string whole() const { return before + value + after; }
};

// Marks in markers, ordinary tokens in values.  Nothing if the vocabulary
// cannot write the call.
std::optional<std::vector<TokenId>> encoded(const PhraseWriter& writer,
                                            const CallText& call) {
  std::vector<TokenId> out = writer.write(call.before);
  if (out.empty() && !call.before.empty()) return std::nullopt;
  if (!writer.write_plain(call.value, out)) return std::nullopt;
  const std::vector<TokenId> after = writer.write(call.after);
  if (after.empty() && !call.after.empty()) return std::nullopt;
  out.insert(out.end(), after.begin(), after.end());
  return out;
}

// The calls of a message of the tag or of the format.
std::vector<Value> calls_in(const Value& fields, std::string_view name) {
  const Value* found = fields.find(name);
  if (found == nullptr) return {};
  if (!found->is_array()) return {*found};
  return {found->items().begin(), found->items().end()};
}

class Verifier {
 public:
  Verifier(const Format& format, const VerifyFormatOptions& options)
      : format_(format),
        impl_(*detail::Access::impl(format)),
        options_(options),
        given_(!options.tools.is_null()),
        tools_(given_ ? options.tools : *json::parse(kSampleTools)),
        tool_set_(ToolSet::from_value(tools_)) {}

  std::vector<FormatFinding> run() {
    Result<std::shared_ptr<const Plan>> plan = make_plan(impl_);
    if (!plan) return {{std::move(plan).error()}};
    plan_ = *std::move(plan);
    if (std::optional<Error> error = try_calls()) return {{*std::move(error)}};
    if (options_.walks > 0 && findings_.empty()) {
      findings_ = find_by_walks(format_, impl_, *plan_, tools_, options_);
      for (FormatFinding& finding : findings_) {
        finding.error = placed(std::move(finding.error));
      }
    }
    return std::move(findings_);
  }

 private:
  // Why there is no structural tag.
  std::optional<Error> try_calls() {
    StructuralTagOptions request;
    if (plan_->calls) {
      request.tools = tools_;
      request.tool_choice = "required";
    }
    const Result<StructuralTag> tag = format_.structural_tag(request);
    if (!tag) return placed(tag.error());
    const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
    if (!grammar) return placed(grammar.error());
    const Result<CompiledTag> texts = CompiledTag::compile(*tag);
    if (!texts) return placed(texts.error());
    if (!plan_->calls) return std::nullopt;
    texts_ = &*texts;
    std::optional<CompiledTag> ids;
    std::optional<PhraseWriter> writer;
    if (options_.vocabulary != nullptr) {
      Result<CompiledTag> made =
          CompiledTag::compile(*tag, {.vocabulary = options_.vocabulary});
      if (!made) return placed(made.error());
      ids = *std::move(made);
      writer.emplace(*options_.vocabulary);
      ids_ = &*ids;
      writer_ = &*writer;
    }
    const Result<ToolSelection> selected = select_tools(tools_, "required");
    if (!selected) return placed(selected.error());
    for (const Tool& tool : selected->functions) try_tool(tool);
    return std::nullopt;
  }

  // What goes wrong with the sample of tools, or in a tag that nobody wrote, is
  // a fault of the file.
  Error placed(Error error) const {
    const bool in_tag = error.path.starts_with("/format");
    if (!in_tag && (given_ || !error.path.starts_with("/tools"))) return error;
    error.path = plan_->calls ? calls_pointer(impl_, *plan_) : "";
    return error;
  }

  void try_tool(const Tool& tool) {
    const Value* properties = tool.schema.find("properties");
    json::Object required;
    const auto root = schema::Declared::root(
        std::make_shared<const schema::ToolSchema>(tool.schema));
    struct Argument {
      std::string key;
      std::vector<Value> values;
    };
    std::vector<Argument> arguments;
    if (properties != nullptr) {
      for (const json::Member& member : properties->members()) {
        Argument argument{member.key, {}};
        std::vector<Value> values;
        add_listed(member.value, values);
        values.insert(values.end(), edges_.begin(), edges_.end());
        const schema::Declared declared = root.member(member.key);
        for (Value& value : values) {
          if (!declared.restricts() || declared.valid(value) != false) {
            argument.values.push_back(std::move(value));
          }
        }
        if (requires_argument(tool, member.key) && !argument.values.empty()) {
          required.set(member.key, argument.values.front());
        }
        arguments.push_back(std::move(argument));
      }
    }
    found_ = false;
    try_call(tool, required, "", Value());
    for (const Argument& argument : arguments) {
      found_ = false;
      for (const Value& value : argument.values) {
        try_call(tool, required, argument.key, value);
      }
    }
  }

  // A call in each spelling; `key` "" for the required arguments alone.
  void try_call(const Tool& tool, const json::Object& required,
                const std::string& key, const Value& value) {
    const auto& layouts = plan_->writing->fields[*plan_->calls];
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      const format::ArgumentLayout* layout = argument_layout(layouts[i]);
      if (layout == nullptr) continue;
      const std::size_t first = plan_->first_samples[i];
      const std::size_t end = i + 1 < layouts.size()
                                  ? plan_->first_samples[i + 1]
                                  : plan_->samples.size();
      for (std::size_t k = first; k < end; ++k) {
        for (const auto& [before, text, after] :
             spellings(*layout, required, key, value)) {
          // The arguments stand where a text that nothing else has would.
          constexpr std::string_view kPlace = "\x01parlance\x01";
          const std::string call =
              call_text(*plan_, plan_->samples[k], tool.name, kPlace);
          const std::size_t at = call.find(kPlace);
          if (at == std::string::npos) continue;
          if (tried_++ >= options_.most_calls) return;
          try_text(tool, key,
                   {call.substr(0, at) + before, text,
                    after + call.substr(at + kPlace.size())});
        }
      }
    }
  }

  // The texts of the arguments, around that of the value.
  static std::vector<CallText> spellings(const format::ArgumentLayout& layout,
                                         const json::Object& required,
                                         const std::string& key,
                                         const Value& value) {
    if (key.empty() || layout.elements() == nullptr) {
      json::Object arguments = required;
      if (!key.empty()) arguments.set(key, value);
      const Result<std::string> text = rendering::write_arguments(
          arguments, layout, {}, rendering::Escapes::kNo);
      if (!text) return {};
      if (key.empty()) return {{*text, "", ""}};
      return {{"", *text, ""}};
    }
    const format::ElementLayout& elements = *layout.elements();
    std::vector<std::string> texts = {
        rendering::element_value(elements, value)};
    if (value.is_array() || value.is_object()) {
      texts.push_back(json::dump(value, {.ascii = false, .indent = 1}));
      texts.push_back(texts[0].substr(0, 1) + "\n" + texts[0].substr(1));
    }
    // In the order of the schema the arguments that are required come with the
    // one that is tried in its place; the tag refuses other orders.
    std::vector<json::Object> orders;
    if (required.find(key) == nullptr && !required.empty()) {
      json::Object& first = orders.emplace_back();
      first.set(key, value);
      for (const json::Member& member : required) {
        first.set(member.key, member.value);
      }
    }
    orders.emplace_back(required).set(key, value);
    std::vector<CallText> out;
    for (const std::string& text : texts) {
      for (const json::Object& arguments : orders) {
        out.push_back(split_at(elements, arguments, key, text));
      }
    }
    return out;
  }

  // Arguments as elements, split at the value of `key`, which is `text`.
  static CallText split_at(const format::ElementLayout& elements,
                           const json::Object& arguments, std::string_view key,
                           const std::string& text) {
    using rendering::element;
    CallText out{"", text, ""};
    std::string* to = &out.before;
    bool first = true;
    for (const json::Member& member : arguments) {
      if (!first) *to += elements.between;
      first = false;
      const std::string_view type = json::to_string(member.value.kind());
      if (member.key != key) {
        *to += element(elements, member.key, type,
                       rendering::element_value(elements, member.value));
        continue;
      }
      // `open` and `close` surround the value.
      const std::string whole = element(elements, key, type, text);
      const std::size_t end = whole.size() - elements.close.size();
      out.before += whole.substr(0, end - text.size());
      out.after = whole.substr(end);
      to = &out.after;
    }
    return out;
  }

  void try_text(const Tool& tool, const std::string& key,
                const CallText& call) {
    const std::string text = call.whole();
    TagParser tag(*texts_);
    tag.feed(text);
    tag.finalize();
    if (tag.complete()) {
      ResponseParser parser(format_, {.tools = &tool_set_});
      parser.feed(text);
      parser.finalize();
      compare(tool, key, text, tag.message(), parser.message(),
              parser.failure(), /*as_ids=*/false);
    }
    if (writer_ == nullptr) return;
    const auto ids = encoded(*writer_, call);
    if (!ids) return;
    TagParser tag_of_ids(*ids_);
    tag_of_ids.feed_tokens(*ids);
    tag_of_ids.finalize();
    if (!tag_of_ids.complete()) return;
    ResponseParser parser(
        format_, {.tools = &tool_set_, .vocabulary = options_.vocabulary});
    parser.feed_tokens(*ids);
    parser.finalize();
    compare(tool, key, text, tag_of_ids.message(), parser.message(),
            parser.failure(), /*as_ids=*/true);
  }

  void compare(const Tool& tool, const std::string& key,
               const std::string& text, const Message& meant,
               const Message& read, const Error* failure, bool as_ids) {
    const std::vector<Value> expected = calls_in(meant.fields, "tool_calls");
    const std::vector<Value> found =
        calls_in(read.fields, impl_.description.fields[*plan_->calls].name);
    if (expected.empty() || arguments_of(expected[0]) == nullptr) return;
    FormatFinding finding;
    finding.text = text;
    finding.meant = *arguments_of(expected[0]);
    std::string fault;
    if (failure != nullptr) {
      fault = failure->message;
    } else if (!read.diagnostics.empty()) {
      fault = read.diagnostics.front().message;
    } else if (found.empty()) {
      fault = "it opens no call";
    }
    if (!found.empty() && arguments_of(found[0]) != nullptr) {
      const Value* name = name_of(found[0]);
      finding.read = *arguments_of(found[0]);
      const bool same = name != nullptr && name->as_string() == tool.name &&
                        found.size() == expected.size() &&
                        schema::equal_values(finding.read, finding.meant);
      if (fault.empty() && same) return;
      if (fault.empty()) {
        fault = "it is read as " + json::dump(finding.read, {.ascii = false});
      }
    }
    if (found_ && findings_.back().text.size() <= text.size()) {
      return;
    }
    finding.error = {
        ErrorCode::kConflict,
        "field '" + impl_.description.fields[*plan_->calls].name + "': " +
            (key.empty()
                 ? "a call"
                 : "the argument " + base::in_quotes(key.substr(0, 200))) +
            " is not read back as it is written: of the call " +
            json::dump(Value(text), {.ascii = false}) +
            (as_ids ? " in tokens, " : ", ") + fault + ".",
        calls_pointer(impl_, *plan_)};
    if (found_) {
      findings_.back() = std::move(finding);
    } else {
      findings_.push_back(std::move(finding));
    }
    found_ = true;
  }

  const Format& format_;
  const format::FormatImpl& impl_;
  const VerifyFormatOptions& options_;
  const bool given_;  // the tools
  const Value tools_;
  const ToolSet tool_set_;
  std::shared_ptr<const Plan> plan_ = nullptr;
  const CompiledTag* texts_ = nullptr;
  const CompiledTag* ids_ = nullptr;
  const PhraseWriter* writer_ = nullptr;
  const std::vector<Value> edges_ = edge_values();
  std::size_t tried_ = 0;
  std::vector<FormatFinding> findings_ = {};
  bool found_ = false;  // something about the argument that is tried
};

}  // namespace
}  // namespace verification

std::vector<FormatFinding> verify_format(const Format& format,
                                         const VerifyFormatOptions& options) {
  return verification::Verifier(format, options).run();
}

}  // namespace parlance
