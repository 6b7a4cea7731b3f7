// `parlance parse`: a response becomes a message, its events, or a line per
// stored generation.

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

#include "batch.h"
#include "commands.h"
#include "event_json.h"
#include "io.h"
#include "outline.h"
#include "parlance/chat_message.h"
#include "report.h"
#include "setup.h"
#include "sse.h"

namespace parlance::cli {
namespace {

const std::map<std::string, Progress> kProgress = {
    {"auto", Progress::kAuto},
    {"always", Progress::kAlways},
    {"never", Progress::kNever}};

struct Arguments {
  ReadingArguments reading;
  BatchOptions batch;
  bool events = false;
  bool jsonl = false;
  bool sse = false;
  bool pretty = false;
  bool compact = false;
  std::size_t chunk = 0;
};

constexpr const char* kExamples = R"(Examples:
  parlance parse --format qwen3 response.txt
  curl ... | parlance parse --format auto --chat
  curl --no-buffer ... | parlance parse --format qwen3 --sse --events
  parlance parse --template mine.json --prefix '<think>' < response.txt
  parlance parse --format gpt_oss --events --chunk 8 response.txt
  parlance parse --format qwen3 --vocabulary tokenizer.json --ids ids.txt
  parlance parse --format qwen3 --jsonl generations.jsonl > messages.jsonl)";

// The lines of --events, written in blocks of some kilobytes.
class EventWriter {
 public:
  explicit EventWriter(const Style& style, bool with_tokens)
      : style_(style), with_tokens_(with_tokens) {}

  void add(std::span<const Event> events) {
    for (const Event& event : events) {
      out_ += paint_json(style_, json::dump(event_json(event, with_tokens_),
                                            {.ascii = false}));
      out_ += '\n';
    }
    if (out_.size() > (std::size_t{1} << 16)) flush();
  }
  void flush() {
    put(out_);
    out_.clear();
  }

 private:
  const Style& style_;
  bool with_tokens_;
  std::string out_;
};

int parse_events(const Arguments& arguments, const Reading& reading) {
  Style style(arguments.reading.color, 1);
  Response response(arguments.reading, reading);
  Reader parser = reading.reader();
  EventWriter writer(style, response.reads_ids);
  writer.add(parser.initial_events());
  std::size_t step = arguments.chunk == 0 ? response.size() : arguments.chunk;
  for (std::size_t at = 0; at < response.size();) {
    std::size_t end = at + std::min(step, response.size() - at);
    writer.add(response.feed(parser, at, end));
    at = end;
  }
  writer.add(parser.finalize());
  writer.flush();
  bool damaged = tell_damage(parser, Style(arguments.reading.color, 2));
  bool failed = parser.failure() != nullptr;
  return failed || (damaged && arguments.reading.strict) ? kDamage : kOk;
}

int write_message(const Arguments& arguments, const Reading& reading,
                  Reader& parser) {
  bool damaged = tell_damage(parser, Style(arguments.reading.color, 2));
  if (parser.failure() != nullptr) {
    if (!arguments.reading.strict) {
      note("--recover limits damage to its region and continues");
    }
    return kDamage;
  }
  const Message& message = parser.message();
  json::Value value = arguments.batch.chat
                          ? chat_message(message, reading.fields())
                          : message.fields;
  Style style(arguments.reading.color, 1);
  bool pretty =
      arguments.pretty || (!arguments.compact && ::isatty(STDOUT_FILENO) == 1);
  std::string text = json::dump(
      value,
      {.ascii = false, .indent = pretty ? 2 : 0, .compact = arguments.compact});
  put(paint_json(style, text) + "\n");
  return damaged && arguments.reading.strict ? kDamage : kOk;
}

int parse_message(const Arguments& arguments, const Reading& reading) {
  Response response(arguments.reading, reading);
  Reader parser = reading.reader();
  response.feed(parser, 0, response.size());
  parser.finalize();
  return write_message(arguments, reading, parser);
}

// A response inside server-sent events.  Events of the parser are written as
// they come.
int parse_sse(const Arguments& arguments, const Reading& reading) {
  InputFile file(arguments.reading.file);
  SseText sse(display_name(arguments.reading.file));
  Style style(arguments.reading.color, 1);
  Reader parser = reading.reader();
  EventWriter writer(style, false);
  const auto add = [&](std::span<const Event> events) {
    if (!arguments.events) return;
    writer.add(events);
    writer.flush();
  };
  add(parser.initial_events());
  std::string buffer(std::size_t{1} << 16, '\0');
  while (const std::size_t n = file.read(buffer.data(), buffer.size())) {
    add(parser.feed(sse.feed(std::string_view(buffer).substr(0, n))));
  }
  add(parser.feed(sse.finish()));
  add(parser.finalize());
  if (!arguments.events) {
    const int status = write_message(arguments, reading, parser);
    return status == kOk && sse.damaged() != 0 ? kDamage : status;
  }
  const bool damaged = tell_damage(parser, Style(arguments.reading.color, 2));
  return sse.damaged() != 0 || parser.failure() != nullptr ||
                 (damaged && arguments.reading.strict)
             ? kDamage
             : kOk;
}

int run_parse(Arguments& arguments) {
  Reading reading(arguments.reading);
  if (arguments.sse) return parse_sse(arguments, reading);
  if (arguments.jsonl) {
    arguments.batch.file = arguments.reading.file;
    arguments.batch.strict = arguments.reading.strict;
    arguments.batch.color = arguments.reading.color;
    return run_batch(reading, arguments.batch);
  }
  if (arguments.events) return parse_events(arguments, reading);
  return parse_message(arguments, reading);
}

}  // namespace

void add_parse(CLI::App& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("parse", "Parses a response and writes its message");
  command->footer(kExamples);
  add_reading(*command, a->reading);

  auto* events = command->add_flag(
      "-e,--events", a->events, "Write the events, one JSON object per line");
  command
      ->add_option("--chunk", a->chunk,
                   "With --events: feed this many bytes (or ids) at a time")
      ->type_name("N")
      ->check(one_or_more())
      ->needs(events);
  command
      ->add_flag("--chat", a->batch.chat,
                 "Write a message of the chat-completions API")
      ->excludes(events);
  auto* pretty = command->add_flag("--pretty", a->pretty,
                                   "Indent (default on a terminal)");
  command->add_flag("--compact", a->compact, "One line without spaces")
      ->excludes(pretty)
      ->excludes(events);
  pretty->excludes(events);

  auto* sse = command->add_flag(
      "--sse", a->sse,
      "The input is the server-sent events of an inference server; the text in "
      "them is the response");
  sse->excludes("--ids");

  auto* jsonl = command->add_flag(
      "--jsonl", a->jsonl,
      "Each line of the input is a stored response: a JSON string, or an "
      "object with the response as a member; write one message per line");
  jsonl->excludes(events)->excludes(sse)->excludes("--ids")->excludes(pretty);
  command
      ->add_flag("--details", a->batch.details,
                 "With --jsonl: add the diagnostics to each row")
      ->needs(jsonl);
  command
      ->add_option("--key", a->batch.key,
                   "With --jsonl: the name of the member that is the response "
                   "[response]")
      ->type_name("NAME")
      ->needs(jsonl);
  command
      ->add_option("--threads", a->batch.threads,
                   "With --jsonl: worker threads [one per core]")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->needs(jsonl);
  command
      ->add_option("--progress", a->batch.progress,
                   "With --jsonl: show the progress: auto (on a terminal), "
                   "always, never")
      ->transform(offering(CLI::CheckedTransformer(kProgress).description(""),
                           kProgress))
      ->type_name("WHEN")
      ->needs(jsonl);
  command->callback([a, &run] { run = [a] { return run_parse(*a); }; });
}

}  // namespace parlance::cli
