#include "hints/reading.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "parlance/message.h"
#include "parlance/response_parser.h"

namespace parlance::hints {
namespace {

// Gathers the regions of a text from the events of its parser.
class Regions {
 public:
  explicit Regions(std::string_view text) : text_(text) {}

  void add(const Event& event) {
    switch (event.kind) {
      case EventKind::kRegionOpen:
        open_ = true;
        region_ = {};
        region_.field = event.field_index;
        region_.bytes.begin = event.bytes.begin;
        region_.opener = text_.substr(event.bytes.begin, event.bytes.size());
        break;
      case EventKind::kCallAttempt:
        if (!is_complete(event.attempt->status)) break;
        region_.calls.push_back(event.attempt->name);
        break;
      case EventKind::kRegionClose:
        if (std::exchange(open_, false)) {
          region_.bytes.end = event.bytes.end;
          region_.closed = !event.cut && event.bytes.size() > 0;
          all.push_back(std::move(region_));
        }
        break;
      case EventKind::kRegionMalformed:
        open_ = false;
        break;
      default:
        break;
    }
  }

  std::vector<ReadRegion> all = {};

 private:
  std::string_view text_;
  bool open_ = false;
  ReadRegion region_;
};

bool is_name_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return base::is_letter(byte) || base::is_digit(byte) || c == '_' ||
         c == '-' || c == '.' || byte >= 0x80;
}

}  // namespace

AllRegions read_regions(const Format& format, std::string_view text,
                        const ToolSet* tools) {
  ResponseParser parser(
      format, {.tools = tools, .recover = Recover::kYes, .attempts = true});
  Regions regions(text);
  for (const Event& event : parser.feed(text)) regions.add(event);
  for (const Event& event : parser.finalize()) regions.add(event);
  return {std::move(regions.all), parser.message().diagnostics.size()};
}

std::optional<ReadRegion> read_region(const Format& format,
                                      std::string_view text,
                                      const ToolSet* tools) {
  constexpr std::size_t kStep = 1024;
  ResponseParser parser(format, {.tools = tools,
                                 .recover = Recover::kYes,
                                 .keep_message = false,
                                 .attempts = true});
  Regions regions(text);
  bool ended = false;
  const auto add = [&](std::span<const Event> events) {
    for (const Event& event : events) {
      if (ended) return;
      regions.add(event);
      ended = !regions.all.empty() ||
              event.kind == EventKind::kRegionMalformed ||
              event.kind == EventKind::kTextUnclaimed;
    }
  };
  for (std::size_t at = 0; at < text.size() && !ended; at += kStep) {
    add(parser.feed(text.substr(at, kStep)));
  }
  if (!ended) add(parser.finalize());
  if (regions.all.empty() || regions.all[0].bytes.begin != 0) {
    return std::nullopt;
  }
  return std::move(regions.all[0]);
}

std::optional<Span> tool_named_in(std::string_view text, const ToolSet& tools) {
  constexpr std::string_view kNamespace = "functions.";
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_name_byte(text[at])) continue;
    const std::size_t begin = at;
    while (at < text.size() && is_name_byte(text[at])) ++at;
    Span word{begin, at};
    const auto spelled = [&] { return text.substr(word.begin, word.size()); };
    if (tools.contains(spelled())) return word;
    if (spelled().starts_with(kNamespace)) word.begin += kNamespace.size();
    while (word.size() > 0 && text[word.end - 1] == '.') --word.end;
    if (tools.contains(spelled())) return word;
  }
  return std::nullopt;
}

}  // namespace parlance::hints
