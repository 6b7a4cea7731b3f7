// `parlance harmony`: token ids of gpt-oss as messages.

#include "parlance/harmony.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "commands.h"
#include "io.h"
#include "pointer.h"
#include "report.h"
#include "setup.h"
#include "system.h"
#include "vocabulary.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance harmony --vocabulary gpt-oss-20b --role assistant ids.txt
  parlance harmony --vocabulary tokenizer.json --message < ids.json
  parlance harmony --vocabulary tokenizer.json --events transcript.txt)";

struct Arguments {
  std::string file = "-";
  VocabularyArguments vocabulary;
  std::string role;
  bool strict = false;
  bool events = false;
  bool message = false;
  bool chat = false;
  Color color = Color::kAuto;
};

void set_header(json::Object& out, const HarmonyMessage& message) {
  const auto set = [&](const char* key,
                       const std::optional<std::string>& value) {
    if (value) out.set(key, *value);
  };
  out.set("role", to_string(message.role));
  set("name", message.name);
  set("channel", message.channel);
  set("recipient", message.recipient);
  set("content_type", message.content_type);
}

json::Value message_json(const HarmonyMessage& message) {
  json::Object out;
  set_header(out, message);
  out.set("content", message.content);
  out.set("end", to_string(message.end));
  return out;
}

json::Value event_json(const HarmonyEvent& event) {
  json::Object out{{"type", to_string(event.kind)}};
  out.set("index", static_cast<std::int64_t>(event.index));
  switch (event.kind) {
    case HarmonyEventKind::kMessageChannel:
      out.set("channel", event.text);
      break;
    case HarmonyEventKind::kMessageOpen:
      set_header(out, *event.message);
      break;
    case HarmonyEventKind::kMessageChunk:
      out.set("text", event.text);
      break;
    case HarmonyEventKind::kMessageClose:
      out.set("end", to_string(event.message->end));
      break;
  }
  return out;
}

void put_events(const Style& style, std::span<const HarmonyEvent> events) {
  for (const HarmonyEvent& event : events) {
    put(paint_json(style, json_text(event_json(event))) + "\n");
  }
}

// Writes the diagnostics to standard error; returns whether one is an error of
// the strict mode.
bool tell_diagnostics(const HarmonyParser& parser, const std::string& name,
                      const Style& style) {
  for (const HarmonyDiagnostic& diagnostic : parser.diagnostics()) {
    const Severity severity =
        parser.error() != nullptr ? Severity::kError : Severity::kWarning;
    const std::string place = name + ": token " + std::to_string(diagnostic.at);
    put_error(describe(style, place, "",
                       {.severity = severity,
                        .message = diagnostic.message,
                        .code = to_string(diagnostic.problem)}));
  }
  return parser.error() != nullptr;
}

int run_harmony(const Arguments& arguments) {
  const std::string name = display_name(arguments.file);
  HarmonyOptions options;
  options.strict = arguments.strict;
  if (!arguments.role.empty()) {
    options.role = harmony_role(arguments.role);
    if (!options.role) {
      throw Failure(
          "--role is system, developer, user, assistant or tool, not '" +
          arguments.role + "'");
    }
  }
  const std::optional<Vocabulary> vocabulary =
      load_vocabulary(arguments.vocabulary);
  HarmonyParser parser = or_fail(HarmonyParser::create(*vocabulary, options),
                                 display_name(arguments.vocabulary.file), "");
  const std::vector<TokenId> ids = read_ids(read_all(arguments.file), name);
  const Style style(arguments.color, 1);
  if (arguments.events) {
    for (const TokenId id : ids) put_events(style, parser.feed(id));
    put_events(style, parser.finalize());
  } else {
    parser.feed(ids);
    parser.finalize();
  }
  const bool failed = tell_diagnostics(parser, name, Style(arguments.color, 2));
  if (arguments.events) return failed ? kDamage : kOk;
  json::Value out;
  if (arguments.message) {
    out = harmony_message(parser.messages());
  } else if (arguments.chat) {
    out = harmony_chat_message(parser.messages());
  } else {
    json::Array messages;
    for (const HarmonyMessage& message : parser.messages()) {
      messages.push_back(message_json(message));
    }
    out = std::move(messages);
  }
  const int indent = is_terminal(1) ? 2 : 0;
  put(paint_json(style, json_text(out, indent)) + "\n");
  return failed ? kDamage : kOk;
}

}  // namespace

void add_harmony(Command& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "harmony",
      "Reads token ids of Harmony (gpt-oss) and writes the messages");
  command->footer(kExamples);
  command
      ->add_option("FILE", a->file,
                   "The ids, a JSON list or numbers between white space; - is "
                   "standard input")
      ->type_name("");
  add_vocabulary(*command, a->vocabulary)->required();
  command
      ->add_option("--role", a->role,
                   "The role whose header the prompt has opened: assistant "
                   "after <|start|>assistant [none: a transcript]")
      ->type_name("ROLE");
  command->add_flag("--strict", a->strict,
                    "Read as openai-harmony does; the first error is status 1");
  auto* events =
      command->add_flag("-e,--events", a->events,
                        "Write the events of each token, one object per line");
  auto* message = command->add_flag("-m,--message", a->message,
                                    "Write one message of the assistant");
  command
      ->add_flag("--chat", a->chat,
                 "Write a message of the chat-completions API")
      ->excludes(events)
      ->excludes(message);
  message->excludes(events);
  add_color(*command, a->color);
  command->callback([a, &run] { run = [a] { return run_harmony(*a); }; });
}

}  // namespace parlance::cli
