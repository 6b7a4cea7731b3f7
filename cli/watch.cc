// `parlance watch`: shows a response on the terminal while it arrives.
//
// Text appears in the colour of its region under a small heading.  Text that is
// held back follows it, dim and underlined, until it is decided.  A region
// whose text differs from its value (a tool call in JSON, say) shows a line
// with the number of bytes so far, which the value replaces when it is
// complete.
//
// Without colours only decided text is written, so the output of a pipe is the
// same wherever the stream was cut.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "commands.h"
#include "io.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "parlance/sse.h"
#include "report.h"
#include "setup.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  curl --no-buffer ... | parlance watch --format qwen3
  parlance watch --format gpt_oss --delay-ms 20 --chunk 3 response.txt)";

struct Arguments {
  ReadingArguments reading;
  std::size_t delay_ms = 0;
  std::size_t chunk = 0;
  bool sse = false;
};

class Screen {
 public:
  explicit Screen(const Style& style)
      : style_(style), columns_(terminal_columns(1)) {}

  void show(const Event& event) {
    erase_tail();
    look_ = field_look(event.field, event.field_index);
    switch (event.kind) {
      case EventKind::kRegionOpen:
        blank_.clear();
        raw_bytes_ = 0;
        raw_tail_.clear();
        break;
      case EventKind::kRegionChunk:
        if (event.dirty) {
          follow(event);
        } else {
          write_text(event);
        }
        break;
      case EventKind::kRegionClose:
        close(event);
        break;
      case EventKind::kRegionMalformed:
        malformed(event);
        break;
      case EventKind::kTextUnclaimed:
        unclaimed(event);
        break;
      case EventKind::kCallOpen:
      case EventKind::kCallArguments:
      case EventKind::kCallClose:
      case EventKind::kCallAttempt:
        break;
    }
  }

  // Draws the part that may still change: a line for the open value, held
  // bytes.
  void show_tail(std::string_view held) {
    if (!style_.on()) return flush();
    erase_tail();
    if (raw_bytes_ > 0) {
      draw_line("  ⋯ " + std::to_string(raw_bytes_) + " bytes  ", raw_tail_);
    } else if (!held.empty()) {
      draw_held(one_line(held));
    }
    flush();
  }

  void finish(const Reader& parser) {
    erase_tail();
    end_line();
    if (!parser.message().complete && !cut_shown_) {
      out_ +=
          "\n" +
          style_.paint(Style::kWarning, "The response ended inside a region.") +
          "\n";
    }
    flush();
  }

 private:
  void flush() {
    put(out_);
    out_.clear();
  }

  // A heading, with an empty line above unless it is the first.
  void heading(const Event& event) {
    end_line();
    if (any_) out_ += "\n";
    any_ = true;
    out_ +=
        style_.paint(look_, "● ") +
        style_.paint(std::string("1;").append(look_), one_line(event.field)) +
        "\n";
    headed_ = true;
  }

  // Layout around a region's text is not shown: blank text waits until
  // something follows it.
  void write_text(const Event& event) {
    std::string text = blank_ + std::string(event.text);
    std::size_t end = text.find_last_not_of(" \t\r\n");
    end = end == std::string::npos ? 0 : end + 1;
    blank_ = text.substr(end);
    text.resize(end);
    if (text.empty()) return;
    if (!headed_) {
      text.erase(0, text.find_first_not_of(" \t\r\n"));
      heading(event);
    }
    std::string shown = safe_text(text);
    move(shown);
    // Colours end with each line, so that none remain after the command.
    for (std::size_t at = 0; at < shown.size();) {
      std::size_t newline = std::min(shown.find('\n', at), shown.size());
      out_ += style_.paint(text_look(event), shown.substr(at, newline - at));
      if (newline < shown.size()) out_ += '\n';
      at = newline + 1;
    }
  }

  // The answer is read most, so it has the terminal's own colour.
  std::string_view text_look(const Event& event) const {
    return event.field == "content" ? std::string_view() : look_;
  }

  void follow(const Event& event) {
    if (!headed_) heading(event);
    raw_bytes_ += event.text.size();
    raw_tail_ += event.text;
    if (raw_tail_.size() > 2048) raw_tail_.erase(0, raw_tail_.size() - 1024);
  }

  void close(const Event& event) {
    const json::Value* value = event.value;
    bool shown_as_text = headed_ && raw_bytes_ == 0;
    if (value != nullptr && !shown_as_text && has_value(*value)) {
      if (!headed_) heading(event);
      show_value(*value);
    }
    if (event.cut) {
      end_line();
      out_ += style_.paint(Style::kWarning, "  ✂ cut off here") + "\n";
      cut_shown_ = true;
    }
    end_region();
  }

  // White space alone is layout.
  static bool has_value(const json::Value& value) {
    return !value.is_null() &&
           !(value.is_string() && value.as_string().find_first_not_of(
                                      " \t\r\n") == std::string_view::npos);
  }

  void malformed(const Event& event) {
    if (!headed_) heading(event);
    end_line();
    std::string why = event.diagnostic == nullptr ? std::string("malformed")
                                                  : event.diagnostic->message;
    out_ += style_.paint(Style::kError, "  ✗ ") + safe_text(why) + "\n";
    std::string text = one_line(event.text);
    if (style_.on() && columns_ > 8) text = clip(text, columns_ - 4);
    if (raw_bytes_ > 0) out_ += "    " + style_.paint(Style::kDim, text) + "\n";
    end_region();
  }

  void unclaimed(const Event& event) {
    end_line();
    out_ += style_.paint(Style::kWarning, "  ! ") +
            safe_text(event.diagnostic->message) + "\n";
    std::string text = one_line(event.text);
    if (style_.on() && columns_ > 8) text = clip(text, columns_ - 4);
    out_ += "    " + style_.paint(Style::kDim, text) + "\n";
    end_region();
  }

  void end_region() {
    end_line();
    headed_ = false;
    blank_.clear();
    raw_bytes_ = 0;
    raw_tail_.clear();
  }

  void show_value(const json::Value& value) {
    if (value.is_array() && value.size() > 0) {
      bool all_calls = std::all_of(
          value.items().begin(), value.items().end(),
          [](const json::Value& v) { return view_call(v).has_value(); });
      if (all_calls) {
        for (const json::Value& item : value.items()) show_value(item);
        return;
      }
    }
    if (const auto call = view_call(value)) return show_call(*call);
    std::string text = json_text(value, 2);
    std::string indented = "  ";
    for (char c : paint_json(style_, text)) {
      indented += c;
      if (c == '\n') indented += "  ";
    }
    out_ += indented + "\n";
  }

  void show_call(const CallView& call) {
    out_ += style_.paint(look_, "  → ") +
            style_.paint(Style::kBold, safe_text(call.name));
    if (call.arguments == nullptr || !call.arguments->is_object()) {
      std::string text = call.arguments == nullptr ? std::string()
                                                   : json_text(*call.arguments);
      out_ += "  " + paint_json(style_, text) + "\n";
      return;
    }
    out_ += "\n";
    std::size_t width = 0;
    for (const json::Member& member : call.arguments->members()) {
      width = std::max(width, columns_of(safe_text(member.key)));
    }
    for (const json::Member& member : call.arguments->members()) {
      std::string key =
          pad(one_line(member.key), std::min<std::size_t>(width, 24));
      out_ += "      " + style_.paint(Style::kKey, key) + "  " +
              paint_json(style_, json_text(member.value)) + "\n";
    }
  }

  void end_line() {
    if (column_ > 0) out_ += "\n";
    column_ = 0;
  }

  // Follows the cursor over `text`.
  void move(std::string_view text) {
    while (!text.empty()) {
      char32_t c = take_character(text);
      if (c == U'\n') {
        column_ = 0;
        continue;
      }
      std::size_t width = c == U'\t' ? 8 - column_ % 8 : columns_of(c);
      column_ = column_ + width > columns_ ? width : column_ + width;
    }
  }

  // Text that will be erased never reaches the end of its line.  So erasing is
  // to go back and clear to the right.
  void draw_held(const std::string& text) {
    std::size_t room = columns_ > column_ + 1 ? columns_ - column_ - 1 : 0;
    std::string shown = clip(text, room);
    tail_columns_ = columns_of(shown);
    out_ += style_.paint(Style::kHeld, shown);
  }

  void draw_line(const std::string& head, const std::string& text) {
    std::size_t used = columns_of(head) + 1;
    std::size_t room = columns_ > used ? columns_ - used : 0;
    // The beginning of the tail may be the rest of a character.
    std::string line =
        head + clip_front(one_line(text), std::min<std::size_t>(room, 60));
    tail_columns_ = columns_of(line);
    out_ += style_.paint(Style::kDim, line);
  }

  void erase_tail() {
    if (tail_columns_ > 0) {
      out_ += "\x1b[" + std::to_string(tail_columns_) + "D\x1b[K";
    }
    tail_columns_ = 0;
  }

  const Style& style_;
  std::size_t columns_;
  std::string out_;
  std::string_view look_;
  std::string blank_;          // white space of the open region, not shown yet
  std::string raw_tail_;       // the end of a value's raw text
  std::size_t raw_bytes_ = 0;  // of a value's raw text
  std::size_t column_ = 0;     // of the cursor, without the tail
  std::size_t tail_columns_ = 0;
  bool cut_shown_ = false;
  bool any_ = false;     // something has been shown
  bool headed_ = false;  // the open region has its heading
};

// Ends of the pieces that a replay feeds: `characters` each.
std::size_t step_end(const Response& response, std::size_t at,
                     std::size_t characters) {
  if (response.reads_ids) {
    return std::min(at + characters, response.ids.size());
  }
  std::string_view rest = std::string_view(response.bytes).substr(at);
  for (std::size_t i = 0; i < characters && !rest.empty(); ++i) {
    take_character(rest);
  }
  return response.bytes.size() - rest.size();
}

void show_events(Screen& screen, std::span<const Event> events) {
  for (const Event& event : events) screen.show(event);
}

void replay(const Arguments& arguments, const Reading& reading, Reader& parser,
            Screen& screen) {
  Response response(arguments.reading, reading);
  std::size_t characters = arguments.chunk == 0 ? 4 : arguments.chunk;
  if (response.reads_ids && arguments.chunk == 0) characters = 1;
  for (std::size_t at = 0; at < response.size();) {
    std::size_t end = step_end(response, at, characters);
    show_events(screen, response.feed(parser, at, end));
    screen.show_tail(parser.held());
    if (arguments.delay_ms > 0) {
      std::this_thread::sleep_for(
          std::chrono::milliseconds(arguments.delay_ms));
    }
    at = end;
  }
}

void follow(const Arguments& arguments, Reader& parser, Screen& screen) {
  InputFile file(arguments.reading.file);
  SseReader sse;
  std::string buffer(std::size_t{1} << 16, '\0');
  const auto show = [&](std::string_view text) {
    show_events(screen, parser.feed(text));
    screen.show_tail(parser.held());
  };
  const auto show_sent = [&](std::string_view text) {
    tell_faults(display_name(arguments.reading.file), sse.faults());
    show(text);
  };
  while (const std::size_t n = file.read(buffer.data(), buffer.size())) {
    const std::string_view bytes = std::string_view(buffer).substr(0, n);
    if (arguments.sse) {
      show_sent(sse.feed(bytes));
    } else {
      show(bytes);
    }
  }
  if (arguments.sse) show_sent(sse.finalize());
}

int run_watch(const Arguments& arguments) {
  Reading reading(arguments.reading);
  Style style(arguments.reading.color, 1);
  Reader parser = reading.reader();
  Screen screen(style);
  show_events(screen, parser.initial_events());
  bool stepped = arguments.delay_ms > 0 || arguments.chunk > 0 ||
                 reading.vocabulary.has_value();
  if (stepped) {
    replay(arguments, reading, parser, screen);
  } else {
    follow(arguments, parser, screen);
  }
  show_events(screen, parser.finalize());
  screen.finish(parser);
  if (parser.failure() != nullptr) {
    tell_damage(parser, Style(arguments.reading.color, 2));
    return kDamage;
  }
  bool damaged = !parser.message().diagnostics.empty();
  return damaged && arguments.reading.strict ? kDamage : kOk;
}

}  // namespace

void add_watch(Command& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "watch", "Shows a response in colour while it arrives");
  command->footer(kExamples);
  add_reading(*command, a->reading);
  command
      ->add_option("--delay-ms", a->delay_ms,
                   "Replay: wait this long after each step")
      ->type_name("N");
  command
      ->add_option("--chunk", a->chunk,
                   "Replay: characters (or ids) per step [4; 1 id]")
      ->type_name("N")
      ->check(one_or_more());
  auto* sse = command->add_flag(
      "--sse", a->sse,
      "The input is the server-sent events of an inference server; the text in "
      "them is the response");
  sse->excludes("--ids")->excludes("--delay-ms")->excludes("--chunk");
  command->callback([a, &run] { run = [a] { return run_watch(*a); }; });
}

}  // namespace parlance::cli
