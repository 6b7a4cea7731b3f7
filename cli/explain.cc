// `parlance explain`: which bytes of a response went where, and why.
//
// With a format the rows are its events.  With a structural tag they are the
// formats of the tag, see explain_tag.h.  With another grammar they are the
// part of the text that fits and the part that does not.  With --chunk the rows
// are the events in the order in which the chunks produce them, and a row after
// each chunk shows the bytes that are held back.

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "explain_tag.h"
#include "io.h"
#include "parlance/json.h"
#include "setup.h"
#include "source.h"
#include "table.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance explain --format qwen3 response.txt
  parlance explain --format qwen3 --chunk 4 response.txt
  parlance explain --tag tools.tag.json response.txt
  parlance explain --grammar sums.ebnf sum.txt
  parlance explain -f qwen3 --vocabulary tokenizer.json --ids ids.txt)";

struct Arguments {
  ReadingArguments reading;
  SourceArguments source;
  std::size_t chunk = 0;
  bool full = false;
};

// Collects rows from events.  Events are in the order of their bytes and omit
// only text between regions.
class Rows {
 public:
  Rows(std::string_view stream, std::size_t prefix_bytes,
       const Response& response)
      : stream_(stream), prefix_bytes_(prefix_bytes), response_(response) {}

  void add(const Event& event) {
    gap(event.bytes.begin);
    const std::size_t shown = at_;
    at_ = std::max(at_, event.bytes.end);
    std::string_view look = field_look(event.field, event.field_index);
    std::string field(event.field);
    switch (event.kind) {
      case EventKind::kRegionOpen: {
        // The implicit field, which has no opening delimiter, opens with its
        // first character.
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
      case EventKind::kTextUnclaimed:
        // Text before the held text has a row already.
        row({std::max(shown, event.bytes.begin), event.bytes.end}, event.tokens,
            "in no field", look);
        return remark(event.diagnostic->message, Style::kWarning);
      case EventKind::kCallOpen:
      case EventKind::kCallArguments:
      case EventKind::kCallClose:
        return;
    }
  }

  // Adds a row for `text`, which is held back after `fed` bytes or tokens (the
  // first `end` bytes of the stream).  All text before it is decided.
  void held(std::size_t fed, std::size_t end, std::string_view text) {
    gap(end - std::min(end, text.size()));
    if (text.empty()) return;
    rows_.push_back({"", "",
                     "held, " + std::to_string(fed) +
                         (response_.reads_ids ? " tokens fed" : " bytes fed"),
                     Style::kDim, barred(text)});
  }

  // Text up to `end` that no event stood for.
  void gap(std::size_t end) {
    if (end <= at_) return;
    Span bytes{at_, end};
    at_ = end;
    const std::string_view text =
        stream_.substr(std::min(bytes.begin, stream_.size()), bytes.size());
    const bool blank =
        text.find_first_not_of(" \t\n\r\f\v") == std::string_view::npos;
    row(bytes, tokens_of(bytes), blank ? "layout" : "in no region",
        Style::kDim);
  }

  const std::vector<Row>& rows() const { return rows_; }

 private:
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
         std::move(what), look, barred(stream_.substr(begin, end - begin))});
  }

  void remark(std::string what, std::string_view look) {
    rows_.push_back(cli::remark(std::move(what), look));
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

void put_table(const Arguments& arguments, const std::vector<Row>& rows) {
  const Style style(arguments.reading.color, 1);
  const bool clipped = !arguments.full && ::isatty(1) == 1;
  put(table(rows, style, clipped ? terminal_columns(1) : 0));
}

int explain_response(const Arguments& arguments) {
  Reading reading(arguments.reading);
  Response response(arguments.reading, reading);
  Reader reader = reading.reader();

  std::string stream =
      reading.prefix.substr(reading.prefix.size() - reader.prefix_bytes()) +
      response.bytes;
  Rows rows(stream, reader.prefix_bytes(), response);
  for (const Event& event : reader.initial_events()) rows.add(event);
  std::size_t step = arguments.chunk == 0 ? response.size() : arguments.chunk;
  for (std::size_t at = 0; at < response.size();) {
    std::size_t end = at + std::min(step, response.size() - at);
    for (const Event& event : response.feed(reader, at, end)) rows.add(event);
    if (arguments.chunk > 0) {
      rows.held(end, reader.prefix_bytes() + response.bytes_before(end),
                reader.held());
    }
    at = end;
  }
  for (const Event& event : reader.finalize()) rows.add(event);
  rows.gap(stream.size());
  const bool by_formats = reading.tag && arguments.chunk == 0;
  put_table(arguments,
            by_formats ? explain_tree(reader.tree(), stream) : rows.rows());

  bool damaged = tell_damage(reader, Style(arguments.reading.color, 2));
  bool failed = reader.failure() != nullptr;
  return failed || (damaged && arguments.reading.strict) ? kDamage : kOk;
}

// By a grammar that has no parts: how much of the text fits.
int explain_text(const Arguments& arguments, const Source& source) {
  if (arguments.reading.ids || arguments.chunk > 0) {
    throw Failure(
        "--ids and --chunk are for responses, read by a format or a "
        "structural tag");
  }
  CompileOptions options;
  options.root = arguments.source.root;
  const Grammar grammar =
      or_fail(compile(source, options), source.name, source.text);
  const std::string text = read_all(arguments.reading.file);
  const std::optional<Rejection> rejection = grammar.explain(text);
  const Span fits{0, rejection ? rejection->offset : text.size()};
  std::vector<Row> rows = {{range(fits), "", "fits", Style::kString,
                            barred(text.substr(0, fits.end))}};
  if (rejection) {
    if (fits.end < text.size()) {
      rows.push_back({range({fits.end, text.size()}), "", "does not fit",
                      Style::kError, barred(text.substr(fits.end))});
    }
    const std::string what = fits.end < text.size() ? "" : "ends too early: ";
    rows.push_back(
        remark(what + "expected " + rejection->expected, Style::kError));
  }
  put_table(arguments, rows);
  return rejection ? kDamage : kOk;
}

int run_explain(Arguments& arguments) {
  if (!any_source(arguments.source)) return explain_response(arguments);
  const Source source = read_source(arguments.source);
  if (source.kind != SourceKind::kTag) return explain_text(arguments, source);
  arguments.reading.tag_file = arguments.source.grammar;
  return explain_response(arguments);
}

}  // namespace

void add_explain(CLI::App& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "explain", "Shows which bytes went to which region or format, and why");
  command->footer(kExamples);
  add_reading(*command, a->reading);
  add_sources(*command, a->source, false);
  for (const char* source :
       {"--grammar", "--schema", "--ebnf", "--lark", "--regex"}) {
    for (const char* other : {"--format", "--template", "--tag"}) {
      command->get_option(source)->excludes(command->get_option(other));
    }
  }
  command
      ->add_option(
          "--chunk", a->chunk,
          "Feed this many bytes (or ids) at a time, and show what is held back")
      ->type_name("N")
      ->check(one_or_more());
  command->add_flag("--full", a->full,
                    "Do not shorten texts to the width of the terminal");
  command->callback([a, &run] { run = [a] { return run_explain(*a); }; });
}

}  // namespace parlance::cli
