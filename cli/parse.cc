// `parlance parse`: a response becomes a message, its events, or a line per
// stored generation.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "batch.h"
#include "commands.h"
#include "files.h"
#include "io.h"
#include "outline.h"
#include "parlance/message.h"
#include "parlance/message_json.h"
#include "parlance/sse.h"
#include "parlance/version.h"
#include "report.h"
#include "setup.h"
#include "system.h"

namespace parlance::cli {
namespace {

const std::map<std::string, Progress> kProgress = {
    {"auto", Progress::kAuto},
    {"always", Progress::kAlways},
    {"never", Progress::kNever}};

// More than any machine has cores, and few enough to start them all.
constexpr std::size_t kMostThreads = 1024;

struct Arguments {
  ReadingArguments reading;
  BatchOptions batch;
  std::vector<std::string> files;
  std::string keep;
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
  parlance parse --format qwen3 --jsonl generations.jsonl > messages.jsonl
  parlance parse --format qwen3 --jsonl --id id --errors damaged.jsonl \
      in/*.jsonl.gz -o messages.jsonl.zst --resume)";

// The lines of --events, written by flush(), or when they are many.
class EventWriter {
 public:
  explicit EventWriter(const Style& style, bool with_tokens)
      : style_(style), with_tokens_(with_tokens) {}

  void add(std::span<const Event> events) {
    for (const Event& event : events) {
      out_ += paint_json(style_, json_text(to_json(event, with_tokens_)));
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

// Tells the damage of a response, and what was probably meant.
bool tell_all(const Arguments& arguments, const Reading& reading,
              const Reader& parser, const HintText& text) {
  const Style style(arguments.reading.color, 2);
  const bool damaged = tell_damage(parser, style);
  text.tell(reading, parser.message(), style);
  return damaged;
}

// Of a response whose events are written.
int tell_status(const Arguments& arguments, const Reading& reading,
                const Reader& parser, const HintText& text) {
  bool damaged = tell_all(arguments, reading, parser, text);
  bool failed = parser.failure() != nullptr;
  return failed || (damaged && arguments.reading.strict) ? kDamage : kOk;
}

int write_message(const Arguments& arguments, const Reading& reading,
                  Reader& parser, const HintText& text) {
  bool damaged = tell_all(arguments, reading, parser, text);
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
  bool pretty = arguments.pretty || (!arguments.compact && is_terminal(1));
  put(paint_json(style, json_text(value, pretty ? 2 : 0, arguments.compact)) +
      "\n");
  return damaged && arguments.reading.strict ? kDamage : kOk;
}

// The pieces in which a file comes; of `chunk` bytes each, if it is not 0, up
// to the last one.
class Pieces {
 public:
  Pieces(const std::string& path, std::size_t chunk)
      : file_(path), chunk_(chunk) {}

  // Empty at the end.  Valid until the next call.
  std::string_view next() {
    piece_.clear();
    do {
      const std::size_t room =
          chunk_ == 0 ? buffer_.size()
                      : std::min(buffer_.size(), chunk_ - piece_.size());
      const std::size_t n = file_.read(buffer_.data(), room);
      if (n == 0) break;
      piece_.append(buffer_, 0, n);
    } while (piece_.size() < chunk_);
    return piece_;
  }

 private:
  InputFile file_;
  std::size_t chunk_;
  std::string buffer_ = std::string(std::size_t{1} << 16, '\0');
  std::string piece_;
};

// Text, or text inside server-sent events.  Events of the parser are written as
// they come.
int parse_growing(const Arguments& arguments, const Reading& reading) {
  const std::string& path = arguments.reading.file;
  Pieces pieces(path, arguments.chunk);
  std::optional<SseReader> sse;
  if (arguments.sse) sse.emplace();
  bool damaged = false;
  Style style(arguments.reading.color, 1);
  Reader parser = reading.reader();
  EventWriter writer(style, false);
  const auto add = [&](std::span<const Event> events) {
    if (!arguments.events) return;
    writer.add(events);
    writer.flush();
  };
  HintText text;
  text.begin(reading, parser);
  const auto feed = [&](std::string_view piece) {
    text.add(piece);
    add(parser.feed(piece));
  };
  const auto feed_sent = [&](std::string_view piece) {
    damaged |= tell_faults(display_name(path), sse->faults());
    feed(piece);
  };
  add(parser.initial_events());
  for (auto piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    if (sse) {
      feed_sent(sse->feed(piece));
    } else {
      feed(piece);
    }
  }
  if (sse) feed_sent(sse->finalize());
  add(parser.finalize());
  const int status = arguments.events
                         ? tell_status(arguments, reading, parser, text)
                         : write_message(arguments, reading, parser, text);
  return status == kOk && damaged ? kDamage : status;
}

int parse_ids(const Arguments& arguments, const Reading& reading) {
  Style style(arguments.reading.color, 1);
  Response response(arguments.reading, reading);
  Reader parser = reading.reader();
  EventWriter writer(style, true);
  if (arguments.events) writer.add(parser.initial_events());
  std::size_t step = arguments.chunk == 0 ? response.size() : arguments.chunk;
  for (std::size_t at = 0; at < response.size();) {
    std::size_t end = at + std::min(step, response.size() - at);
    const std::span<const Event> events = response.feed(parser, at, end);
    if (arguments.events) writer.add(events);
    at = end;
  }
  const std::span<const Event> events = parser.finalize();
  HintText text;
  text.begin(reading, parser);
  text.add(response.bytes);
  if (!arguments.events) return write_message(arguments, reading, parser, text);
  writer.add(events);
  writer.flush();
  return tell_status(arguments, reading, parser, text);
}

// The digest of a file that was read, so that a run is continued with the
// descriptions that it was begun with.
json::Value fingerprint(const std::string& path) {
  if (path.empty() || path.starts_with('{')) return json::Value(path);
  return json::Value(digest_read(path));
}

// What the output of a run is made from.  Null if the input is not files, which
// alone can be read again.
json::Value manifest_of(const Arguments& arguments) {
  const ReadingArguments& reading = arguments.reading;
  const BatchOptions& batch = arguments.batch;
  json::Array files;
  for (const std::string& path : batch.files) {
    const auto facts = facts_of(path);
    if (path == "-" || !facts || facts->kind != FileKind::kFile) return {};
    files.push_back(
        json::Object{{"name", path}, {"digest", digest_of_file(path)}});
  }
  json::Object options;
  options["--format"] = reading.format;
  options["--format (the file)"] = is_format_path(reading.format)
                                       ? fingerprint(reading.format)
                                       : json::Value();
  options["--template"] = fingerprint(reading.template_file);
  options["--tag"] = fingerprint(reading.tag_file);
  options["--tokenizer-config"] = reading.format == "auto"
                                      ? fingerprint(reading.tokenizer_config)
                                      : json::Value();
  options["--prefix"] = reading.prefix;
  options["--prefix-file"] = fingerprint(reading.prefix_file);
  options["--tools"] = fingerprint(reading.tools_file);
  options["--strict"] = reading.strict;
  options["--recover"] = reading.recover;
  options["--key"] = batch.key;
  options["--prefix-key"] = batch.prefix_key;
  options["--tools-key"] = batch.tools_key;
  options["--format-key"] = batch.format_key;
  options["--message-key"] = batch.message_key;
  options["--id"] = batch.id;
  options["--keep"] = arguments.keep;
  options["--chat"] = batch.chat;
  options["--details"] = batch.details;
  options["--errors"] = batch.output.errors;
  return json::Object{{"version", version()},
                      {"options", std::move(options)},
                      {"files", std::move(files)}};
}

int parse_stored(Arguments& arguments, const Reading& reading) {
  BatchOptions& batch = arguments.batch;
  batch.files = arguments.files;
  if (batch.files.empty()) batch.files.emplace_back("-");
  std::vector<NamedFile> names = files_written(batch.output);
  for (NamedFile& file : files_read()) names.push_back(std::move(file));
  for (std::size_t i = 0; i < batch.files.size(); ++i) {
    const std::string& path = batch.files[i];
    const auto end = batch.files.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(batch.files.begin(), end, path) != end) {
      throw Failure(display_name(path) + " is given twice");
    }
    // Before hours of work on the files before it.
    if (path != "-" && !is_readable(path)) InputFile file(path);
    names.push_back(
        {path, "an input", path == "-" ? file_id(0) : file_id(path), false});
  }
  refuse_overlaps(names);
  for (std::size_t at = 0; at < arguments.keep.size();) {
    const std::size_t end =
        std::min(arguments.keep.find(',', at), arguments.keep.size());
    if (end > at) batch.keep.push_back(arguments.keep.substr(at, end - at));
    at = end + 1;
  }
  batch.strict = arguments.reading.strict;
  batch.color = arguments.reading.color;
  if (!batch.output.output.empty()) {
    batch.output.manifest = manifest_of(arguments);
  }
  if (batch.output.resume && batch.output.manifest.is_null()) {
    throw Failure("--resume takes files as input, which can be read again");
  }
  return run_batch(reading, batch);
}

int run_parse(Arguments& arguments) {
  if (!arguments.files.empty()) arguments.reading.file = arguments.files[0];
  if (arguments.files.size() > 1 && !arguments.jsonl) {
    throw Failure("several files are stored responses: add --jsonl");
  }
  arguments.reading.needs_format = arguments.batch.format_key.empty();
  Reading reading(arguments.reading);
  if (arguments.jsonl) return parse_stored(arguments, reading);
  return reading.vocabulary ? parse_ids(arguments, reading)
                            : parse_growing(arguments, reading);
}

// A number of seconds, with a fraction or not.
Check seconds() {
  return {[](const std::string& text) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool good = !text.empty() && *end == '\0' && value >= 0;
    return good ? "" : "it must be a number of seconds, 0 or more";
  }};
}

// The options of --jsonl.
void add_rows(Command& command, Arguments& a, Option* jsonl) {
  command
      .add_flag("--details", a.batch.details,
                "With --jsonl: add the diagnostics to each row")
      ->needs(jsonl);
  command
      .add_option("--key", a.batch.key,
                  "With --jsonl: the name of the member that is the response "
                  "[response]")
      ->type_name("NAME")
      ->needs(jsonl);
  command
      .add_option("-j,--threads,--jobs", a.batch.threads,
                  "With --jsonl: worker threads [one per core]")
      ->type_name("N")
      ->check(one_or_more(kMostThreads))
      ->needs(jsonl);
  command
      .add_option("--progress", a.batch.progress,
                  "With --jsonl: show the progress: auto (on a terminal), "
                  "always, never")
      ->transform(one_of(kProgress))
      ->type_name("WHEN")
      ->needs(jsonl);
  const auto name_option = [&](const char* names, std::string& value,
                               const char* type, const char* what) {
    return command.add_option(names, value, what)
        ->type_name(type)
        ->needs(jsonl);
  };
  name_option("--message-key", a.batch.message_key, "NAME",
              "With --jsonl: write rows with the message as this member "
              "[message]");
  name_option("--id", a.batch.id, "NAME",
              "With --jsonl: a member to copy, which also names the rows in "
              "--errors");
  name_option("--keep", a.keep, "NAMES",
              "With --jsonl: the members to copy, separated by commas; '*' for "
              "all [none]");
  name_option("--prefix-key", a.batch.prefix_key, "NAME",
              "With --jsonl: the member with the prompt of a row [prefix]");
  name_option("--tools-key", a.batch.tools_key, "NAME",
              "With --jsonl: the member with the tools of a row [tools]");
  name_option("--format-key", a.batch.format_key, "NAME",
              "With --jsonl: the member with the format of a row, a name or a "
              "format file [none]");
  auto* output = name_option("-o,--output", a.batch.output.output, "FILE",
                             "With --jsonl: where to write, compressed if the "
                             "name ends in .gz or .zst [standard output]");
  name_option("--errors", a.batch.output.errors, "FILE",
              "With --jsonl: write a JSON line for each row that is cut off or "
              "damaged");
  auto* resume =
      command.add_flag("--resume", a.batch.output.resume,
                       "With --output: continue an interrupted run of the "
                       "same command");
  resume->needs(output);
  command
      .add_option("--checkpoint", a.batch.output.checkpoint_seconds,
                  "With --output: after how many seconds the place is saved "
                  "from which --resume continues [1]")
      ->type_name("SECONDS")
      ->check(seconds())
      ->needs(output);
}

}  // namespace

void add_parse(Command& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  Command* command =
      app.add_subcommand("parse", "Parses a response and writes its message");
  command->footer(kExamples);
  add_reading(*command, a->reading, &a->files);

  auto* events = command->add_flag(
      "-e,--events", a->events, "Write the events, one JSON object per line");
  command
      ->add_option("--chunk", a->chunk,
                   "With --events: feed this many bytes (or ids) at a time")
      ->type_name("N")
      ->check(one_or_more())
      ->needs(events);
  command
      ->add_flag("--attempts", a->reading.attempts,
                 "With --events: also an event for each call that the model "
                 "attempted, with what came of it")
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
  add_rows(*command, *a, jsonl);
  command->callback([a, &run] { run = [a] { return run_parse(*a); }; });
}

}  // namespace parlance::cli
