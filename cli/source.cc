#include "source.h"

#include <map>
#include <memory>
#include <utility>

#include "io.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "pointer.h"
#include "report.h"

namespace parlance::cli {
namespace {

bool is_tag(const json::Value& value) {
  const json::Value* type = value.find("type");
  const json::Value* format = value.find("format");
  return (type != nullptr && type->is_string() &&
          type->as_string() == "structural_tag") ||
         (format != nullptr && format->is_object()) ||
         value.find("structures") != nullptr ||
         value.find("response_format") != nullptr;
}

// Whether a line of a Lark grammar defines its rule "start".
bool defines_start(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("start")) continue;
    line.remove_prefix(5);
    const std::size_t next = line.find_first_not_of(" \t");
    if (next == std::string_view::npos) continue;
    // start: ..., start[lazy]: ..., start.2: ...
    if (line[next] == ':' || line[next] == '[' || line[next] == '.') {
      return true;
    }
  }
  return false;
}

StructuralTagGrammarOptions tokens_of(const CompileOptions& options) {
  StructuralTagGrammarOptions tokens;
  if (options.vocabulary != nullptr) {
    tokens.vocabulary_size =
        static_cast<std::uint32_t>(options.vocabulary->size());
    tokens.find_token = [&](std::string_view text) {
      return options.vocabulary->find_first(text);
    };
  } else if (options.every_token) {
    // Counted down from the highest, away from ids that the tag may give.
    auto ids = std::make_shared<std::map<std::string, std::uint32_t>>();
    tokens.find_token =
        [ids](std::string_view text) -> std::optional<std::uint32_t> {
      const auto next = static_cast<std::uint32_t>(0xFFFFFFF0 - ids->size());
      return ids->emplace(text, next).first->second;
    };
  }
  return tokens;
}

// Where GBNF and Lark look up tokens that are named by their text.
std::function<std::vector<std::uint32_t>(std::string_view)> tokens_spelled(
    const CompileOptions& options) {
  if (options.vocabulary != nullptr) {
    return
        [&](std::string_view text) { return options.vocabulary->find(text); };
  }
  if (!options.every_token) return nullptr;
  return [](std::string_view) { return std::vector<std::uint32_t>{0}; };
}

std::string root_of(const CompileOptions& options, const char* otherwise) {
  return options.root.empty() ? otherwise : options.root;
}

}  // namespace

std::optional<SourceKind> kind_of(std::string_view name,
                                  std::string_view text) {
  if (name.ends_with(".ebnf")) return SourceKind::kEbnf;
  if (name.ends_with(".gbnf")) return SourceKind::kGbnf;
  if (name.ends_with(".lark")) return SourceKind::kLark;
  if (name.ends_with(".regex")) return SourceKind::kRegex;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (name.ends_with(".json") ||
      (first != std::string_view::npos && text[first] == '{')) {
    const Result<json::Value> value = json::parse(text);
    return value && is_tag(*value) ? SourceKind::kTag : SourceKind::kSchema;
  }
  if (text.find("::=") != std::string_view::npos) return SourceKind::kEbnf;
  if (defines_start(text)) return SourceKind::kLark;
  return std::nullopt;
}

Source make_source(std::string name, std::string text, SourceKind kind) {
  if (kind == SourceKind::kRegex && text.ends_with('\n')) text.pop_back();
  return {kind, std::move(name), std::move(text)};
}

Source read_source(const std::string& file, const std::string& option,
                   std::optional<SourceKind> kind) {
  const bool inline_text = file.starts_with('{');
  std::string name = inline_text ? option : display_name(file);
  std::string text = inline_text ? file : read_all(file);
  if (!kind) kind = kind_of(name, text);
  if (!kind) {
    throw Failure(name +
                  ": unknown kind of grammar; use --schema, --tag, --ebnf, "
                  "--gbnf, --lark or --regex instead of --grammar");
  }
  return make_source(std::move(name), std::move(text), *kind);
}

void add_sources(Command& app, SourceArguments& a, bool with_tag) {
  std::vector<Option*> all;
  const auto add = [&](const char* names, std::string& value, const char* type,
                       const char* what) {
    Option* option = app.add_option(names, value, what)->type_name(type);
    for (Option* other : all) option->excludes(other);
    all.push_back(option);
  };
  add("-g,--grammar", a.grammar, "FILE",
      "A grammar of any of these kinds, recognised by file name (.ebnf, .gbnf, "
      ".lark, .regex) or content");
  add("-s,--schema", a.schema, "FILE",
      "A JSON Schema: a file, or the text itself");
  if (with_tag) {
    add("--tag", a.tag, "FILE", "A structural tag: a file, or the text itself");
  }
  add("--ebnf", a.ebnf, "FILE", "EBNF, as XGrammar has it");
  add("--gbnf", a.gbnf, "FILE", "GBNF, as llama.cpp has it");
  add("--lark", a.lark, "FILE", "A Lark grammar");
  add("--regex", a.regex, "PATTERN",
      "A regular expression that matches the whole text");
  app.add_option("--root", a.root,
                 "EBNF, GBNF, Lark: the name of the start rule (root; in Lark "
                 "start)")
      ->type_name("RULE");
}

bool any_source(const SourceArguments& a) {
  for (const std::string* value :
       {&a.grammar, &a.schema, &a.tag, &a.ebnf, &a.gbnf, &a.lark, &a.regex}) {
    if (!value->empty()) return true;
  }
  return false;
}

Source read_source(const SourceArguments& a) {
  if (!a.schema.empty()) {
    return read_source(a.schema, "--schema", SourceKind::kSchema);
  }
  if (!a.tag.empty()) return read_source(a.tag, "--tag", SourceKind::kTag);
  if (!a.ebnf.empty()) return read_source(a.ebnf, "--ebnf", SourceKind::kEbnf);
  if (!a.gbnf.empty()) return read_source(a.gbnf, "--gbnf", SourceKind::kGbnf);
  if (!a.lark.empty()) return read_source(a.lark, "--lark", SourceKind::kLark);
  if (!a.regex.empty()) return {SourceKind::kRegex, "--regex", a.regex};
  if (!a.grammar.empty()) {
    return read_source(a.grammar, "--grammar", std::nullopt);
  }
  throw Failure(
      "no grammar given: use --grammar FILE, or one of --schema, --tag, "
      "--ebnf, --gbnf, --lark and --regex");
}

Result<Grammar> compile(const Source& source, const CompileOptions& options) {
  const auto make = [&]() -> Result<Grammar> {
    switch (source.kind) {
      case SourceKind::kSchema:
        return Grammar::from_json_schema(source.text, options.schema);
      case SourceKind::kTag:
        return Grammar::from_structural_tag(source.text, tokens_of(options));
      case SourceKind::kEbnf:
        return Grammar::from_ebnf(source.text,
                                  {.root_rule = root_of(options, "root")});
      case SourceKind::kGbnf:
        return Grammar::from_gbnf(source.text,
                                  {.root_rule = root_of(options, "root"),
                                   .tokens_spelled = tokens_spelled(options)});
      case SourceKind::kLark: {
        LarkGrammarOptions reading;
        reading.start_rule = root_of(options, "start");
        reading.tokens_spelled = tokens_spelled(options);
        return Grammar::from_lark(source.text, reading);
      }
      case SourceKind::kRegex:
        return Grammar::from_regex(source.text);
    }
    return Error{};
  };
  Result<Grammar> made = make();
  if (made) return made;
  Error error = std::move(made).error();
  const bool is_json =
      source.kind == SourceKind::kSchema || source.kind == SourceKind::kTag;
  if (is_json && !error.span) {
    error.span = locate(source.text, error.path);
  }
  return error;
}

Result<Grammar> compile(const StructuralTag& tag,
                        const CompileOptions& options) {
  return Grammar::from_structural_tag(tag, tokens_of(options));
}

std::vector<std::string> describe_notes(const Grammar& grammar,
                                        const Source& source,
                                        const Style& style) {
  std::vector<std::string> out;
  for (const GrammarNote& note : grammar.report()) {
    const bool narrowed = note.kind == GrammarNote::Kind::kNarrowed;
    const std::string message = std::string(narrowed ? "narrowed" : "ignored") +
                                " '" + note.keyword + "': " + note.message;
    const bool is_json =
        source.kind == SourceKind::kSchema || source.kind == SourceKind::kTag;
    out.push_back(describe(
        style, source.name, source.text,
        {.severity = Severity::kWarning,
         .message = message,
         .path = note.path,
         .span = is_json ? locate(source.text, note.path) : std::nullopt}));
  }
  return out;
}

}  // namespace parlance::cli
