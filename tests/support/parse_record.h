#ifndef PARLANCE_TESTS_SUPPORT_PARSE_RECORD_H_
#define PARLANCE_TESTS_SUPPORT_PARSE_RECORD_H_

// All that a parser emitted in one run, and the laws that every run obeys.
//
//   ParseRecord record = record_parse(format, cut_every(text, 7), options);
//   EXPECT_EQ(account(record, text), "");
//   EXPECT_EQ(fold(record), json::dump(record.message.fields));
//
// A law gives "" when it holds, else what is wrong.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/access.h"
#include "base/utf8.h"
#include "format/description.h"
#include "json/flat.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parse/region_values.h"

namespace parlance::testing {

// An event with all it points to.
struct EventRecord {
  EventKind kind = EventKind::kRegionOpen;
  std::uint32_t field = 0;
  std::string name;
  std::string text;
  bool dirty = false;
  bool cut = false;
  bool delimited = false;  // has bytes of a delimiter
  json::Value value;
  std::string captures;
  std::string diagnostic;
  Span bytes;
  Span tokens;

  std::string to_string() const {
    std::string out(parlance::to_string(kind));
    out += " " + name;
    if (cut) out += " cut";
    if (dirty) out += " dirty";
    out += " [" + std::to_string(bytes.begin) + ", " +
           std::to_string(bytes.end) + ")";
    if (tokens.end > 0) {
      out += " tokens [" + std::to_string(tokens.begin) + ", " +
             std::to_string(tokens.end) + ")";
    }
    if (!text.empty()) out += " " + json::dump(json::Value(text));
    if (kind == EventKind::kRegionClose) out += " " + json::dump(value);
    return out + captures + diagnostic;
  }
};

struct ParseRecord {
  Format format;
  std::vector<EventRecord> events =
      {};  // neighbouring chunks of a region joined
  Message message = {};
  std::optional<Error> failure = std::nullopt;
  std::size_t prefix_bytes = 0;
  std::size_t most_held = 0;
  std::uint64_t work = 0;

  const format::Description& description() const {
    return detail::Access::impl(format)->description;
  }
  std::string to_string() const {
    std::string out;
    for (const EventRecord& event : events) out += event.to_string() + "\n";
    out += json::dump(message.fields) + "\n";
    out += message.complete ? "complete\n" : "incomplete\n";
    for (const Diagnostic& d : message.diagnostics) {
      out += std::string(parlance::to_string(d.code)) + " [" +
             std::to_string(d.bytes.begin) + ", " +
             std::to_string(d.bytes.end) + ") " + d.field + ": " + d.message +
             "\n";
    }
    if (failure) out += failure->to_string() + "\n";
    return out;
  }
};

inline void append_events(ParseRecord& record, std::span<const Event> events) {
  for (const Event& event : events) {
    EventRecord t;
    t.kind = event.kind;
    t.field = event.field_index;
    t.name = event.field;
    t.text = event.text;
    t.dirty = event.dirty;
    t.cut = event.cut;
    t.delimited = event.bytes.size() > 0;
    t.bytes = event.bytes;
    t.tokens = event.tokens;
    if (event.value != nullptr) t.value = *event.value;
    for (const Capture& capture : event.captures) {
      t.captures += " " + std::string(capture.name) + "=" +
                    json::dump(json::Value(capture.text));
    }
    if (event.diagnostic != nullptr) {
      t.diagnostic = " " + event.diagnostic->message;
    }
    if (t.kind == EventKind::kRegionChunk && !record.events.empty()) {
      EventRecord& last = record.events.back();
      if (last.kind == EventKind::kRegionChunk && last.field == t.field &&
          last.bytes.end == t.bytes.begin) {
        last.text += t.text;
        last.bytes.end = t.bytes.end;
        last.tokens.end = t.tokens.end;
        continue;
      }
    }
    record.events.push_back(std::move(t));
  }
}

inline void end(ParseRecord& record, ResponseParser& parser) {
  append_events(record, parser.finalize());
  record.message = parser.message();
  if (parser.failure() != nullptr) record.failure = *parser.failure();
  record.work = parser.work();
}

inline ParseRecord record_parse(const Format& format,
                                const std::vector<std::string>& chunks,
                                const StreamOptions& options = {}) {
  ParseRecord record{format};
  ResponseParser parser(format, options);
  record.prefix_bytes = parser.prefix_bytes();
  append_events(record, parser.initial_events());
  for (const std::string& chunk : chunks) {
    append_events(record, parser.feed(chunk));
    record.most_held = std::max(record.most_held, parser.held_bytes());
  }
  end(record, parser);
  return record;
}

// The same from token ids, in groups.
inline ParseRecord record_tokens(
    const Format& format, const std::vector<std::vector<TokenId>>& groups,
    const StreamOptions& options) {
  ParseRecord record{format};
  ResponseParser parser(format, options);
  record.prefix_bytes = parser.prefix_bytes();
  append_events(record, parser.initial_events());
  for (const std::vector<TokenId>& ids : groups) {
    append_events(record, parser.feed_tokens(ids));
  }
  end(record, parser);
  return record;
}

inline std::vector<std::string> cut_every(std::string_view text,
                                          std::size_t size) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size(); at += size) {
    out.emplace_back(text.substr(at, size));
  }
  return out;
}

inline std::vector<std::string> cut_at_random(std::string_view text,
                                              std::mt19937& random,
                                              std::size_t most) {
  std::vector<std::string> out;
  while (!text.empty()) {
    std::size_t size = random() % (most + 1);
    out.emplace_back(text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
  }
  return out;
}

// What is left of `text` without the delimiter at its places.  The patterns of
// markup are so simple that std::regex reads them alike.
inline std::string without(std::string text,
                           const format::Delimiter& delimiter) {
  if (delimiter.kind == format::Delimiter::Kind::kPattern) {
    return std::regex_replace(text, std::regex(delimiter.pattern.source), "");
  }
  for (const std::string& literal : delimiter.literals) {
    for (std::size_t at = text.find(literal); at != std::string::npos;
         at = text.find(literal, at)) {
      text.erase(at, literal.size());
    }
  }
  return text;
}

// Whether bytes at rest may be in no event: they are white space and markup;
// nothing says what is markup; or they are closes of the implicit field where
// it was not open.
inline bool may_be_skipped(const format::Description& description,
                           std::string_view text) {
  if (text.empty()) return true;
  if (description.reports_unclaimed) {
    const std::string left =
        without(without(std::string(text), description.markup),
                description.start_anchor);
    return left.find_first_not_of(" \t\n\r\f\v") == std::string::npos;
  }
  if (!description.implicit) return true;
  const format::Delimiter& close =
      description.fields[*description.implicit].close;
  if (close.kind != format::Delimiter::Kind::kLiterals) return bool(close);
  while (!text.empty()) {
    std::size_t longest = 0;
    for (const std::string& literal : close.literals) {
      if (text.rfind(literal, 0) == 0) {
        longest = std::max(longest, literal.size());
      }
    }
    if (longest == 0) return false;
    text.remove_prefix(longest);
  }
  return true;
}

// Account: ranges come in order and do not overlap; every byte is in a chunk or
// a delimiter, or where may_be_skipped() allows it, or is a control token that
// was left out; after the end of a response, without a diagnostic (`padding`:
// their spellings).
// `stream` is what was parsed, the kept prefix included; chunks must be slices
// of it unless it is not well-formed, as `exact` says.
inline std::string account(const ParseRecord& record, std::string_view stream,
                           bool exact = true,
                           std::vector<std::string> padding = {}) {
  std::size_t at = 0;
  bool inside = false;
  // Bytes between events, without control tokens that were left out.
  const format::Reading& reading =
      detail::Access::impl(record.format)->family.reading;
  // Without the texts of a family file that are in no event.
  const auto payload = [&](std::string text, std::size_t end) {
    std::vector<std::string> skipped = reading.turn_end;
    for (const format::FieldReading& field : reading.fields) {
      const format::Layout& layout = field.layout;
      for (const auto* list : {&field.drop, &layout.before, &layout.after,
                               &layout.first, &layout.last}) {
        skipped.insert(skipped.end(), list->begin(), list->end());
      }
    }
    const bool ended = std::ranges::any_of(
        reading.turn_end,
        [&](const std::string& literal) { return stream.find(literal) < end; });
    if (ended) skipped.insert(skipped.end(), padding.begin(), padding.end());
    if (skipped.empty()) return text;
    format::Delimiter literals;
    literals.kind = format::Delimiter::Kind::kLiterals;
    literals.literals = std::move(skipped);
    return without(std::move(text), literals);
  };
  const auto gap = [&](std::size_t begin, std::size_t end) {
    std::string out;
    std::vector<Span> left_out;
    for (const Diagnostic& d : record.message.diagnostics) {
      if (d.code == ErrorCode::kUnexpectedSpecial && d.bytes.begin >= begin &&
          d.bytes.end <= end) {
        left_out.push_back(d.bytes);
      }
    }
    // A control token may stand behind a delimiter that is left out with it.
    std::ranges::sort(left_out, {}, &Span::begin);
    for (const Span& bytes : left_out) {
      if (bytes.begin > begin) {
        out += stream.substr(begin, bytes.begin - begin);
      }
      begin = std::max(begin, bytes.end);
    }
    out += stream.substr(begin, end - begin);
    out = payload(std::move(out), end);
    // With a format file, white space beside regions is layout.
    const bool blank = out.find_first_not_of(" \t\n\r\f\v") == out.npos;
    return blank && !inside && !record.format.name().empty() ? std::string()
                                                             : out;
  };
  for (const EventRecord& event : record.events) {
    const Span& b = event.bytes;
    auto fault = [&](std::string_view what) {
      return std::string(what) + " at byte " + std::to_string(at) + ": " +
             event.to_string();
    };
    if (b.begin < at || b.end < b.begin) return fault("overlap");
    if (b.end > stream.size()) return fault("beyond the end");
    const std::string between = gap(at, b.begin);
    if (inside && !between.empty()) return fault("gap in a region");
    if (!may_be_skipped(record.description(), between)) {
      return fault("gap");
    }
    switch (event.kind) {
      case EventKind::kRegionOpen:
        if (inside) return fault("nested open");
        inside = true;
        break;
      case EventKind::kRegionChunk:
        if (!inside) return fault("chunk outside of a region");
        if (event.text.empty()) return fault("empty chunk");
        if (exact && stream.substr(b.begin, b.size()) != event.text) {
          return fault("not the text of the stream");
        }
        break;
      case EventKind::kTextUnclaimed:
        if (inside) return fault("unclaimed text in a region");
        if (event.text.empty()) return fault("empty unclaimed text");
        if (exact && stream.substr(b.begin, b.size()) != event.text) {
          return fault("not the text of the stream");
        }
        break;
      case EventKind::kCallOpen:
      case EventKind::kCallArguments:
      case EventKind::kCallClose:
        if (!inside) return fault("call outside of a region");
        break;
      default:
        if (!inside) return fault("close outside of a region");
        inside = false;
    }
    at = b.end;
  }
  if (inside) return "a region is open at the end";
  if (!may_be_skipped(record.description(), gap(at, stream.size()))) {
    return "bytes after " + std::to_string(at) + " of " +
           std::to_string(stream.size()) + " are in no event";
  }
  // Parts say the same once more.
  std::size_t part = 0;
  std::size_t begin = 0;
  for (const EventRecord& event : record.events) {
    if (event.kind == EventKind::kRegionOpen) begin = event.bytes.begin;
    if (event.kind != EventKind::kRegionClose &&
        event.kind != EventKind::kRegionMalformed) {
      continue;
    }
    if (part == record.message.parts.size()) return "a part is missing";
    const Part& p = record.message.parts[part++];
    if (p.field_index != event.field ||
        p.bytes != Span{begin, event.bytes.end} || p.cut != event.cut ||
        p.value != event.value ||
        p.malformed != (event.kind == EventKind::kRegionMalformed)) {
      return "part " + std::to_string(part - 1) +
             " is not as its event: " + event.to_string();
    }
  }
  return part == record.message.parts.size() ? "" : "there are too many parts";
}

inline bool is_empty(const json::Value& value) {
  return value.is_null() || (value.is_string() && value.as_string().empty()) ||
         ((value.is_array() || value.is_object()) && value.size() == 0);
}

// The members that `read` has of a message, and its failure.
inline std::string shown(const ResponseFields& read) {
  json::Object members;
  for (const ResponseFields::Field& field : read.fields()) {
    members.set(std::string(field.name), field.value != nullptr ? *field.value
                                         : field.nodes.empty()
                                             ? json::Value(field.text)
                                             : json::value_of(field.nodes));
  }
  std::string out = json::dump(json::Value(std::move(members)));
  if (read.failure() != nullptr) out += read.failure()->to_string();
  return out;
}

// Fields: a response that is read as a whole, without events, has the same
// members and the same failure, whether or not its UTF-8 is checked, and also
// by an object that has read another response before.
inline std::string fields_alone(const ParseRecord& record,
                                std::string_view text,
                                const StreamOptions& options = {}) {
  const std::string wanted =
      json::dump(record.message.fields) +
      (record.failure ? record.failure->to_string() : std::string());
  for (const bool well_formed : {false, true}) {
    if (well_formed && !base::is_utf8(text, options.allow_surrogates)) continue;
    ResponseFields read(record.format, text, options, well_formed);
    std::string got = shown(read);
    if (got == wanted) {
      read.read(record.format, text.substr(0, text.size() / 2), options);
      read.read(record.format, text, options, well_formed);
      got = shown(read);
    }
    if (got != wanted) return "fields: " + got + "\nmessage: " + wanted;
  }
  return "";
}

// Fold: the message that the closed regions' values add up to, by the rules of
// docs/reference/response-templates.md.  Written for obviousness: one pass,
// one object.
inline std::string fold(const ParseRecord& record) {
  const format::Description& description = record.description();
  const format::Reading& reading =
      detail::Access::impl(record.format)->family.reading;
  json::Object out;
  for (const auto& [key, value] : description.defaults.members()) {
    out.set(key, value);
  }
  for (const EventRecord& event : record.events) {
    if (event.kind != EventKind::kRegionClose) continue;
    const format::Field& field = description.fields[event.field];
    const json::Value* old = out.find(field.name);
    if (field.join) {
      bool first = old == nullptr || old->is_null();
      out.set(field.name,
              first ? event.value
                    : json::Value(std::string(old->as_string()) + *field.join +
                                  std::string(event.value.as_string())));
    } else if (event.field < reading.fields.size() &&
               parse::has_several_values(field, reading.fields[event.field])) {
      json::Array list = old == nullptr ? json::Array() : old->items();
      list.insert(list.end(), event.value.items().begin(),
                  event.value.items().end());
      out.set(field.name, std::move(list));
    } else if (field.repeats) {
      json::Array list = old == nullptr ? json::Array() : old->items();
      list.push_back(event.value);
      out.set(field.name, std::move(list));
    } else {
      out.set(field.name, event.value);
    }
  }
  json::Object kept;
  for (const auto& [key, value] : out) {
    if (description.defaults.find(key) != nullptr || !is_empty(value)) {
      kept.set(key, value);
    }
  }
  return json::dump(json::Value(std::move(kept)));
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_PARSE_RECORD_H_
