// `parlance explain`: which bytes of a response went where, and why.
//
//   bytes   what              text
//   0..7    opens thinking    │<think>│
//   7..18   text of thinking  │Bern, then.│
//   18..26  closes thinking   │</think>│
//
// With --chunk the rows come as the chunks let them, and after each chunk a row
// tells what is held back.

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "io.h"
#include "parlance/json.h"
#include "setup.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance explain --format qwen3 response.txt
  parlance explain --format qwen3 --chunk 4 response.txt
  parlance explain -f qwen3 --vocabulary tokenizer.json --ids ids.txt)";

struct Arguments {
  ReadingArguments reading;
  std::size_t chunk = 0;
  bool full = false;
};

struct Row {
  std::string bytes;
  std::string tokens;
  std::string what;
  std::string_view look;
  std::string text;
};

// Collects rows from events.  Events are in the order of their bytes and leave
// out only text that has no region.
class Rows {
 public:
  Rows(std::string_view stream, std::size_t prefix_bytes,
       const Response& response)
      : stream_(stream), prefix_bytes_(prefix_bytes), response_(response) {}

  void add(const Event& event) {
    gap(event.bytes.begin);
    at_ = std::max(at_, event.bytes.end);
    std::string_view look = field_look(event.field, event.field_index);
    std::string field(event.field);
    switch (event.kind) {
      case EventKind::kRegionOpen: {
        // The field that takes what stands outside of delimiters opens with
        // its first character.
        if (event.bytes.size() == 0) return;
        std::string what = "opens " + field;
        for (const Capture& capture : event.captures) {
          what +=
              ", " + std::string(capture.name) + "=" + one_line(capture.text);
        }
        return row(event.bytes, event.tokens, what, look);
      }
      case EventKind::kRegionChunk:
        return row(event.bytes, event.tokens, "text of " + field, look);
      case EventKind::kRegionClose:
        if (event.cut) {
          return remark("the response ends inside " + field, Style::kWarning);
        }
        if (event.bytes.size() == 0) return;
        return row(event.bytes, event.tokens, "closes " + field, look);
      case EventKind::kRegionMalformed: {
        std::string why = event.diagnostic == nullptr
                              ? std::string()
                              : ": " + event.diagnostic->message;
        if (event.bytes.size() > 0) {
          row(event.bytes, event.tokens, "closes " + field, look);
        }
        return remark(field + " is malformed" + why, Style::kError);
      }
    }
  }

  // What is held back after `fed` bytes or tokens, the first `end` bytes of the
  // stream.  All before it is decided.
  void held(std::size_t fed, std::size_t end, std::string_view text) {
    gap(end - std::min(end, text.size()));
    if (text.empty()) return;
    rows_.push_back({"", "",
                     "held, " + std::to_string(fed) +
                         (response_.reads_ids ? " tokens fed" : " bytes fed"),
                     Style::kDim, quoted(text)});
  }

  // Text up to `end` that no event stood for.
  void gap(std::size_t end) {
    if (end <= at_) return;
    Span bytes{at_, end};
    at_ = end;
    row(bytes, tokens_of(bytes), "in no region", Style::kDim);
  }

  const std::vector<Row>& rows() const { return rows_; }

 private:
  static std::string quoted(std::string_view text) {
    return "│" + one_line(text) + "│";
  }
  static std::string range(Span span) {
    return std::to_string(span.begin) + ".." + std::to_string(span.end);
  }

  void row(Span bytes, Span tokens, std::string what, std::string_view look) {
    std::size_t begin = std::min(bytes.begin, stream_.size());
    std::size_t end = std::min(bytes.end, stream_.size());
    if (end <= prefix_bytes_) {
      what += " (prefix)";
    } else if (begin < prefix_bytes_) {
      what += " (from the prefix on)";
    }
    rows_.push_back(
        {range(bytes), tokens.size() == 0 ? std::string() : range(tokens),
         std::move(what), look, quoted(stream_.substr(begin, end - begin))});
  }

  void remark(std::string what, std::string_view look) {
    rows_.push_back({"", "", std::move(what), look, ""});
  }

  Span tokens_of(Span bytes) const {
    const std::vector<std::size_t>& ends = response_.token_ends;
    if (ends.empty() || bytes.end <= prefix_bytes_) return {};
    std::size_t begin = std::max(bytes.begin, prefix_bytes_) - prefix_bytes_;
    auto first = std::upper_bound(ends.begin(), ends.end(), begin);
    auto last = std::lower_bound(first, ends.end(), bytes.end - prefix_bytes_);
    if (last != ends.end()) ++last;
    return {static_cast<std::size_t>(first - ends.begin()),
            static_cast<std::size_t>(last - ends.begin())};
  }

  std::string_view stream_;
  std::size_t prefix_bytes_;
  const Response& response_;
  std::size_t at_ = 0;
  std::vector<Row> rows_;
};

// A column's width, and whether it is there at all.
std::size_t width_of(const std::vector<Row>& rows, std::string Row::*column,
                     std::string_view head) {
  std::size_t width = 0;
  for (const Row& row : rows) {
    // Remarks run over the column of the text.
    if (row.text.empty() && !row.what.empty()) continue;
    width = std::max(width, columns_of(row.*column));
  }
  return width == 0 ? 0 : std::max(width, columns_of(head));
}

std::string table(const std::vector<Row>& rows, const Style& style,
                  std::size_t columns) {
  std::size_t bytes = width_of(rows, &Row::bytes, "bytes");
  std::size_t tokens = width_of(rows, &Row::tokens, "tokens");
  std::size_t what = width_of(rows, &Row::what, "what");
  const auto cell = [](const std::string& text, std::size_t width) {
    return width == 0 ? std::string() : pad(text, width) + "  ";
  };
  std::string head = cell("bytes", bytes) + cell("tokens", tokens) +
                     cell("what", what) + "text";
  std::string out = style.paint(Style::kDim, head) + "\n";
  std::size_t left = columns_of(cell("", bytes)) +
                     columns_of(cell("", tokens)) + columns_of(cell("", what));
  // A narrow terminal wraps rather than shows nothing.
  std::size_t room = columns > left + 20 ? columns - left : 0;
  for (const Row& row : rows) {
    out += style.paint(Style::kDim,
                       cell(row.bytes, bytes) + cell(row.tokens, tokens));
    if (row.text.empty()) {
      out += style.paint(row.look, safe_text(row.what)) + "\n";
      continue;
    }
    bool held = row.bytes.empty();
    out += style.paint(row.look, cell(row.what, what)) +
           style.paint(held ? Style::kHeld : "",
                       room == 0 ? row.text : clip(row.text, room)) +
           "\n";
  }
  return out;
}

int run_explain(const Arguments& arguments) {
  Reading reading(arguments.reading);
  Response response(arguments.reading, reading);
  ResponseParser parser(reading.format, reading.options());

  std::string stream =
      reading.prefix.substr(reading.prefix.size() - parser.prefix_bytes()) +
      response.bytes;
  Rows rows(stream, parser.prefix_bytes(), response);
  for (const Event& event : parser.initial_events()) rows.add(event);
  std::size_t step = arguments.chunk == 0 ? response.size() : arguments.chunk;
  for (std::size_t at = 0; at < response.size();) {
    std::size_t end = at + std::min(step, response.size() - at);
    for (const Event& event : response.feed(parser, at, end)) rows.add(event);
    if (arguments.chunk > 0) {
      rows.held(end, parser.prefix_bytes() + response.bytes_before(end),
                parser.held());
    }
    at = end;
  }
  for (const Event& event : parser.finalize()) rows.add(event);
  rows.gap(stream.size());

  Style style(arguments.reading.color, 1);
  bool clipped = !arguments.full && ::isatty(1) == 1;
  put(table(rows.rows(), style, clipped ? terminal_columns(1) : 0));

  bool damaged = tell_damage(parser, Style(arguments.reading.color, 2));
  bool failed = parser.failure() != nullptr;
  return failed || (damaged && arguments.reading.strict) ? kDamage : kOk;
}

}  // namespace

void add_explain(CLI::App& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "explain", "Tells which bytes went to which region, and why");
  command->footer(kExamples);
  add_reading(*command, a->reading);
  command
      ->add_option("--chunk", a->chunk,
                   "Feed so many bytes (or ids) at a time, and tell what is "
                   "held back")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  command->add_flag("--full", a->full,
                    "Whole texts also where the terminal is too narrow");
  command->callback([a, &run] { run = [a] { return run_explain(*a); }; });
}

}  // namespace parlance::cli
