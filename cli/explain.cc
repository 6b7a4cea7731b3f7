// `parlance explain`: which bytes of a response went where, and why.
//
// The library explains (parlance/explain.h); the command loads what a response
// is read by and shows the rows: as a table, as JSON, or as a
// page for a browser.

#include "parlance/explain.h"

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "io.h"
#include "parlance/json.h"
#include "setup.h"
#include "source.h"
#include "system.h"
#include "table.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance explain --format qwen3 response.txt
  parlance explain --format qwen3 --chunk 4 response.txt
  parlance explain --format qwen3 --html -o page.html response.txt
  parlance explain --tag tools.tag.json response.txt
  parlance explain --grammar sums.ebnf sum.txt
  parlance explain -f qwen3 --vocabulary tokenizer.json --ids ids.txt)";

struct Arguments {
  ReadingArguments reading;
  SourceArguments source;
  std::string constraint;
  std::string output;
  std::size_t chunk = 0;
  bool full = false;
  bool json = false;
  bool html = false;
};

std::string_view look_of(const ExplanationRow& row) {
  switch (row.kind) {
    case ExplanationKind::kOpen:
    case ExplanationKind::kText:
    case ExplanationKind::kClose:
    case ExplanationKind::kUnclaimed:
      return field_look(row.field, row.field_index);
    case ExplanationKind::kLayout:
    case ExplanationKind::kOutside:
    case ExplanationKind::kHeld:
      return Style::kDim;
    case ExplanationKind::kFits:
      return Style::kString;
    case ExplanationKind::kFormat:
    case ExplanationKind::kEnd:
    case ExplanationKind::kBetween:
      return "";
    case ExplanationKind::kCut:
    case ExplanationKind::kProblem:
    case ExplanationKind::kHint:
      return Style::kWarning;
    case ExplanationKind::kRest:
    case ExplanationKind::kMalformed:
    case ExplanationKind::kExpected:
      break;
  }
  return Style::kError;
}

// The rows of formats are indented, and their tokens are not shown: they are
// many, and short.
std::vector<Row> rows_of(const Explanation& explanation) {
  const std::string_view text = explanation.text;
  std::vector<Row> rows;
  rows.reserve(explanation.rows.size());
  for (const ExplanationRow& row : explanation.rows) {
    const std::string_view look = look_of(row);
    if (row.kind == ExplanationKind::kHeld) {
      rows.push_back({"", "", row.what, look,
                      barred(text.substr(row.bytes.begin, row.bytes.size()))});
    } else if (!owns_bytes(row.kind)) {
      rows.push_back(remark(row.what, look));
    } else {
      const bool tokens = row.type.empty() && row.tokens.size() > 0 &&
                          row.kind != ExplanationKind::kRest;
      rows.push_back(
          {range(row.bytes), tokens ? range(row.tokens) : std::string(),
           std::string(2 * std::size_t{row.depth}, ' ') + one_line(row.what),
           look, barred(text.substr(row.bytes.begin, row.bytes.size()))});
    }
  }
  return rows;
}

void put_result(const Arguments& arguments, std::string_view text) {
  if (arguments.output.empty() || arguments.output == "-") return put(text);
  write_file(arguments.output, text);
}

void show(const Arguments& arguments, const Explanation& explanation) {
  if (arguments.json) {
    return put_result(arguments, json_text(to_json(explanation)) + "\n");
  }
  if (arguments.html) return put_result(arguments, to_html(explanation));
  const Style style(arguments.reading.color, 1);
  const bool clipped = !arguments.full && is_terminal(1);
  put(table(rows_of(explanation), style, clipped ? terminal_columns(1) : 0));
}

Constraint compile_constraint(const Source& source, const std::string& root,
                              const Vocabulary& vocabulary,
                              const Arguments& arguments) {
  const std::string name = display_name(arguments.reading.vocabulary.file);
  CompileOptions options;
  options.root = root;
  options.vocabulary = &vocabulary;
  const Grammar grammar =
      or_fail(compile(source, options), source.name, source.text);
  const Compiler compiler = or_fail(Compiler::create(vocabulary), name, "");
  Result<Constraint> made =
      compiler.compile(grammar, {.markers = arguments.reading.markers});
  if (!made && made.error().code == ErrorCode::kMissingStopIds) {
    throw Failure(name +
                  " has no stop token; give one with --stop, or give "
                  "the model's folder, whose generation_config.json "
                  "names it");
  }
  return or_fail(std::move(made), source.name, source.text);
}

// What the model was constrained by, for the counts of allowed tokens: what
// --constraint names, else the tag that the response is read by.  The table has
// no such counts.
std::optional<Constraint> constraint_of(const Arguments& arguments,
                                        const Reading& reading) {
  if (!reading.vocabulary) return std::nullopt;
  if (!arguments.constraint.empty()) {
    return compile_constraint(
        read_source(arguments.constraint, "--constraint", std::nullopt),
        arguments.source.root, *reading.vocabulary, arguments);
  }
  if (!reading.tag || !reading.vocabulary->has_stop_ids()) return std::nullopt;
  if (!arguments.json && !arguments.html) return std::nullopt;
  return compile_constraint(
      read_source(arguments.reading.tag_file, "--tag", SourceKind::kTag),
      arguments.source.root, *reading.vocabulary, arguments);
}

std::string name_of(const ReadingArguments& arguments, const Reading& reading) {
  if (reading.tag) {
    const bool inline_text = arguments.tag_file.starts_with('{');
    return inline_text ? std::string() : display_name(arguments.tag_file);
  }
  if (!arguments.template_file.empty()) {
    return display_name(arguments.template_file);
  }
  const std::string_view own = reading.format->name();
  return own.empty() ? arguments.format : std::string(own);
}

int explain_response(const Arguments& arguments) {
  const Reading reading(arguments.reading);
  const Response response(arguments.reading, reading);
  const std::optional<Constraint> constraint =
      constraint_of(arguments, reading);
  const std::string name = name_of(arguments.reading, reading);
  const ExplainOptions options{
      .prefix = reading.prefix,
      .tools = reading.tools ? &*reading.tools : nullptr,
      .markers = reading.markers,
      .recover = reading.recover,
      .vocabulary = reading.vocabulary ? &*reading.vocabulary : nullptr,
      .chunk = arguments.chunk,
      .constraint = constraint ? &*constraint : nullptr,
      .name = name};
  const auto explained = [&](const auto& by) {
    return response.reads_ids ? explain(by, response.ids, options)
                              : explain(by, response.bytes, options);
  };
  const Explanation explanation =
      reading.tag ? explained(*reading.tag) : explained(*reading.format);
  show(arguments, explanation);

  const Error* failure = explanation.failure ? &*explanation.failure : nullptr;
  const bool damaged = tell_damage(failure, explanation.message->diagnostics,
                                   Style(arguments.reading.color, 2));
  return failure != nullptr || (damaged && arguments.reading.strict) ? kDamage
                                                                     : kOk;
}

// By a grammar that has no parts: how much of the text fits.
int explain_text(const Arguments& arguments, const Source& source) {
  if (arguments.chunk > 0) {
    throw Failure(
        "--chunk is for responses, read by a format or a structural tag");
  }
  // A text that was given on the command line has the name of its option.
  const bool named = !source.name.starts_with("--");
  const ExplainOptions options{.name = named ? std::string_view(source.name)
                                       : source.kind == SourceKind::kRegex
                                           ? std::string_view(source.text)
                                           : std::string_view()};
  const std::string input = read_all(arguments.reading.file);
  const auto explained = [&]() -> Explanation {
    if (!arguments.reading.ids) {
      CompileOptions compiling;
      compiling.root = arguments.source.root;
      return explain(
          or_fail(compile(source, compiling), source.name, source.text), input,
          options);
    }
    return explain(
        compile_constraint(source, arguments.source.root,
                           *load_vocabulary(arguments.reading.vocabulary),
                           arguments),
        read_ids(input, display_name(arguments.reading.file)), options);
  };
  const Explanation explanation = explained();
  show(arguments, explanation);
  return explanation.accepted ? kOk : kDamage;
}

int run_explain(Arguments& arguments) {
  if (!arguments.output.empty() && !arguments.json && !arguments.html) {
    throw Failure("--output is for --json and --html");
  }
  if (!any_source(arguments.source)) return explain_response(arguments);
  const Source source = read_source(arguments.source);
  if (source.kind != SourceKind::kTag) return explain_text(arguments, source);
  arguments.reading.tag_file = arguments.source.grammar;
  return explain_response(arguments);
}

}  // namespace

void add_explain(Command& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "explain", "Shows which bytes went to which region or format, and why");
  command->footer(kExamples);
  add_reading(*command, a->reading);
  add_sources(*command, a->source, false);
  for (const char* source :
       {"--grammar", "--schema", "--ebnf", "--gbnf", "--lark", "--regex"}) {
    for (const char* other : {"--format", "--template", "--tag"}) {
      command->option(source)->excludes(command->option(other));
    }
  }
  command
      ->add_option(
          "--chunk", a->chunk,
          "Feed this many bytes (or ids) at a time, and show what is held back")
      ->type_name("N")
      ->check(one_or_more());
  command
      ->add_option("--constraint", a->constraint,
                   "With --ids: the grammar, schema or structural tag that the "
                   "model was constrained by; --json and --html tell how many "
                   "tokens were allowed at each token")
      ->type_name("FILE")
      ->needs("--ids");
  auto* json = command->add_flag("--json", a->json, "The same facts as JSON");
  command
      ->add_flag("--html", a->html,
                 "The same facts as a page for a browser: one file, which "
                 "loads nothing")
      ->excludes(json);
  command
      ->add_option(
          "-o,--output", a->output,
          "Where --json and --html write to; standard output by default")
      ->type_name("FILE");
  command->add_flag("--full", a->full,
                    "Do not shorten texts to the width of the terminal");
  command->callback([a, &run] { run = [a] { return run_explain(*a); }; });
}

}  // namespace parlance::cli
