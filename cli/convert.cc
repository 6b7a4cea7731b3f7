// `parlance convert`: from a response schema to the response template that
// means the same, shown on samples.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "io.h"
#include "parlance/detect.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/response_schema.h"
#include "pointer.h"
#include "report.h"
#include "setup.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance convert schema.json > template.json
  parlance convert schema.json --sample one.txt --sample two.txt
  parlance convert schema.json --start-anchor '<|im_start|>assistant\n'

Where no template means the same, the part of the schema that stands in the way
is named. The status is 1 when a sample reads differently by the two.)";

struct Arguments {
  std::string file;
  std::string start_anchor;
  std::vector<std::string> samples;
  Color color = Color::kAuto;
};

// Replaces "\n" in an argument by a newline.
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n') {
      out += '\n';
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Compares without the order of keys, in which the two differ.
bool same(const json::Value& a, const json::Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!same(a.items()[i], b.items()[i])) return false;
    }
    return true;
  }
  if (!a.is_object()) return a == b;
  if (a.size() != b.size()) return false;
  for (const json::Member& member : a.members()) {
    const json::Value* other = b.find(member.key);
    if (other == nullptr || !same(member.value, *other)) return false;
  }
  return true;
}

struct Reading {
  json::Value message;
  std::string failure;

  std::string text() const {
    return failure.empty() ? json_text(message) : "error: " + failure;
  }
};

Reading by_schema(const ResponseSchema& schema, std::string_view text) {
  Result<json::Value> value = schema.parse(text);
  if (!value) return {nullptr, value.error().to_string()};
  return {*std::move(value), ""};
}

Reading by_template(const Format& format, std::string_view text) {
  ResponseParser parser(format);
  parser.feed(text);
  parser.finalize();
  if (parser.failure() != nullptr) {
    return {nullptr, parser.failure()->to_string()};
  }
  return {json::Value(std::move(parser).take_message().fields), ""};
}

// Whether both read the sample alike; two failures count as alike.
bool compare(const ResponseSchema& schema, const Format& format,
             const std::string& file) {
  const std::string text = read_all(file);
  const Reading old_way = by_schema(schema, text);
  const Reading new_way = by_template(format, text);
  const bool agree = old_way.failure.empty() == new_way.failure.empty() &&
                     same(old_way.message, new_way.message);
  std::string line =
      display_name(file) + (agree ? ": the same\n" : ": differs\n");
  if (!agree) {
    line += "  schema:   " + old_way.text() +
            "\n  template: " + new_way.text() + "\n";
  }
  put_error(safe_text(line));
  return agree;
}

int run_convert(const Arguments& arguments) {
  const Style style(arguments.color, 2);
  std::string text = read_all(arguments.file);
  std::string name = display_name(arguments.file);
  // A tokenizer_config.json has the schema inside.
  ResponseSpec spec =
      or_fail(response_spec(text, /*schema_first=*/true), name, "");
  if (spec.kind == ResponseSpec::Kind::kSchema) {
    name = "response_schema of " + name;
    text = std::move(spec.text);
  }
  const ResponseSchema schema =
      or_fail(ResponseSchema::from_json(text), name, text);
  Result<std::string> made =
      schema.to_template(unescaped(arguments.start_anchor));
  if (!made) {
    Error error = std::move(made).error();
    if (!error.span) error.span = locate(text, error.path);
    put_error(describe(style, name, text, error));
    return kDamage;
  }
  const Format format = or_fail(Format::from_json(*made), "template", *made);
  bool agree = true;
  for (const std::string& sample : arguments.samples) {
    agree = compare(schema, format, sample) && agree;
  }
  put(safe_json(*made) + "\n");
  return agree ? kOk : kDamage;
}

}  // namespace

void add_convert(Command& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "convert", "Turns a response schema into a response template");
  command->footer(kExamples);
  command->add_option("FILE", a->file, "The schema; - is standard input")
      ->type_name("")
      ->required();
  command
      ->add_option("--start-anchor", a->start_anchor,
                   "The end of the prompt before a response, \\n for a newline "
                   "(default: the prompt is ignored)")
      ->type_name("TEXT");
  command
      ->add_option(
          "--sample", a->samples,
          "A response that schema and template must read alike; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_color(*command, a->color);
  command->callback([a, &run] { run = [a] { return run_convert(*a); }; });
}

}  // namespace parlance::cli
