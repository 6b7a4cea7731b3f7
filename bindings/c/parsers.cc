// Parsers by format and by tag, their events, and whole responses.

#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "calls.h"
#include "parlance/explain.h"
#include "parlance/hints.h"
#include "parlance/message_json.h"
#include "requests.h"

namespace parlance::c {

// ORDER: EventKind
static_assert(static_cast<int>(EventKind::kRegionOpen) == PARLANCE_REGION_OPEN);
static_assert(static_cast<int>(EventKind::kRegionMalformed) ==
              PARLANCE_REGION_MALFORMED);
static_assert(static_cast<int>(EventKind::kTextUnclaimed) ==
              PARLANCE_TEXT_UNCLAIMED);
static_assert(static_cast<int>(EventKind::kCallOpen) == PARLANCE_CALL_OPEN);
static_assert(static_cast<int>(EventKind::kCallAttempt) ==
              PARLANCE_CALL_ATTEMPT);

// The layouts that bindings in other languages write down.
static_assert(sizeof(parlance_event) == (sizeof(void*) == 8 ? 104 : 80));
static_assert(alignof(parlance_event) == alignof(std::uint64_t));

namespace {

// Writes every member.
void write(const Event& event, parlance_event& out) {
  out.kind = static_cast<std::int32_t>(event.kind);
  out.flags = 0;
  if (event.dirty) out.flags |= PARLANCE_EVENT_DIRTY;
  if (event.cut) out.flags |= PARLANCE_EVENT_CUT;
  if (event.value != nullptr || event.attempt != nullptr ||
      event.diagnostic != nullptr || !event.captures.empty()) {
    out.flags |= PARLANCE_EVENT_DETAIL;
  }
  out.field_index = event.field_index;
  out.call = event.call;
  out.bytes_begin = event.bytes.begin;
  out.bytes_end = event.bytes.end;
  out.tokens_begin = event.tokens.begin;
  out.tokens_end = event.tokens.end;
  out.field = event.field.data();
  out.field_size = event.field.size();
  out.text = event.text.data();
  out.text_size = event.text.size();
  out.call_id = event.call_id.data();
  out.call_id_size = event.call_id.size();
  out.code = event.diagnostic == nullptr ? PARLANCE_OK
                                         : status_of(event.diagnostic->code);
  out.reserved = 0;
}

// Gives the events of one call of a parser.
class EventsOut {
 public:
  EventsOut(std::size_t event_size, const parlance_event** events,
            std::size_t* count)
      : event_size_(event_size),
        events_(events, "events"),
        count_(count, "count") {
    check_stride(event_size, sizeof(parlance_event), "event_size");
  }

  void set(parlance_parser& parser, std::span<const Event> events) {
    events_.set(flatten(parser, events, event_size_));
    count_.set(events.size());
  }

 private:
  std::size_t event_size_;
  Out<const parlance_event*> events_;
  Out<std::size_t> count_;
};

// Calls a parser.  The events of the call before are over.
template <class Call>
void step(parlance_parser* handle, EventsOut& out, const Call& call) {
  const Use parser(handle, "parser");
  parser->events = {};
  // The usual parser comes first: no dispatch.
  const auto fed = [&](auto& p) -> std::span<const Event> {
    const std::span<const Event> made = call(p);
    if (made.empty() && p.misuse() != nullptr) fail(*p.misuse());
    return made;
  };
  out.set(*parser, parser->by_format != nullptr ? fed(*parser->by_format)
                                                : fed(*parser->value));
}

// A parser whose events were lost, because there was no memory to give them,
// has ended like one that lost its input.
// REQUIRES: the call holds `parser` (Use), since another call changes `lost`.
void check_not_lost(const parlance_parser& parser) {
  if (parser.lost) {
    fail({.code = ErrorCode::kFinalized,
          .message = "the parser has ended: there was no memory"});
  }
}

json::Value counts_of(const TokenCounts& tokens) {
  return json::Object{{"reasoning", tokens.reasoning},
                      {"content", tokens.content},
                      {"tool_calls", tokens.tool_calls},
                      {"markup", tokens.markup}};
}

json::Value error_of(const Error* error) {
  if (error == nullptr) return nullptr;
  json::Object out{{"code", to_string(error->code)},
                   {"message", error->message}};
  if (error->span) out.set("span", range(*error->span));
  return out;
}

json::Value result_of(const Message& message, const Error* failure,
                      const TokenCounts& tokens) {
  json::Array diagnostics;
  for (const Diagnostic& one : message.diagnostics) {
    diagnostics.push_back(to_json(one));
  }
  json::Array attempts;
  for (const Attempt& one : message.attempts) attempts.push_back(to_json(one));
  return json::Object{{"message", message.fields},
                      {"complete", message.complete},
                      {"diagnostics", std::move(diagnostics)},
                      {"error", error_of(failure)},
                      {"turn_ended", message.turn_ended},
                      {"attempted_calls", std::move(attempts)},
                      {"prefix_bytes", number(message.prefix_bytes)},
                      {"tokens", counts_of(tokens)}};
}

// A parser that has read a whole text.
ResponseParser read_whole(const Format& format, std::string_view text,
                          const StreamOptions& options) {
  ResponseParser parser(format, options);
  parser.feed(text);
  if (parser.misuse() != nullptr) fail(*parser.misuse());
  parser.finalize();
  return parser;
}

}  // namespace

const parlance_event* flatten(parlance_parser& parser,
                              std::span<const Event> of,
                              std::size_t event_size) {
  // Until all is done: if there is no memory, the events are lost.
  const bool was_lost = std::exchange(parser.lost, true);
  parser.events = {};
  // Words, so that every struct is aligned.  A caller of a later version has
  // longer structs, whose further members are 0.
  const std::size_t words = event_size / sizeof(std::uint64_t);
  if (parser.flat.size() < of.size() * words) {
    parser.flat.resize(of.size() * words);
  }
  for (std::size_t i = 0; i < of.size(); ++i) {
    std::uint64_t* const at = parser.flat.data() + i * words;
    write(of[i], *new (at) parlance_event);
    if (event_size > sizeof(parlance_event)) {
      std::memset(reinterpret_cast<unsigned char*>(at) + sizeof(parlance_event),
                  0, event_size - sizeof(parlance_event));
    }
  }
  parser.events = of;
  parser.lost = was_lost;
  return of.empty()
             ? nullptr
             : reinterpret_cast<const parlance_event*>(parser.flat.data());
}

StreamOptions stream_options(const parlance_parser_options* options) {
  static constexpr parlance_parser_options kDefaults =
      PARLANCE_PARSER_OPTIONS_INIT;
  const parlance_parser_options given =
      read_options(options, kDefaults, "options");
  StreamOptions out;
  out.prefix = text_of(given.prefix, given.prefix_size, "options.prefix");
  out.prefix_ids =
      list_of(given.prefix_ids, given.prefix_count, "options.prefix_ids");
  out.tools = value_or_null(given.tools, "options.tools");
  out.vocabulary = value_or_null(given.vocabulary, "options.vocabulary");
  out.markers = one_of(given.markers, Markers::kText, "options.markers");
  if (given.has_stop_ids != 0) {
    out.stop_ids =
        list_of(given.stop_ids, given.stop_count, "options.stop_ids");
  }
  out.recover = one_of(given.recover, Recover::kYes, "options.recover");
  out.keep_message = given.events_only == 0;
  out.stream_calls = given.stream_calls != 0;
  out.attempts = given.attempts != 0;
  return out;
}

PARLANCE_C_FUNCTIONS_BEGIN

parlance_status parlance_parser_new(const parlance_format* format,
                                    const parlance_parser_options* options,
                                    parlance_parser** out,
                                    parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    made.set(the(format, "format").value, stream_options(options));
  });
}

parlance_status parlance_parser_new_by_tag(
    const parlance_compiled_tag* tag, const parlance_parser_options* options,
    parlance_parser** out, parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    made.set(the(tag, "tag").value, stream_options(options));
  });
}

void parlance_parser_free(parlance_parser* parser) { drop_reference(parser); }

parlance_status parlance_parser_initial(parlance_parser* parser,
                                        size_t event_size,
                                        const parlance_event** events,
                                        size_t* count) {
  return call(nullptr, [&] {
    EventsOut given(event_size, events, count);
    const Use used(parser, "parser");
    given.set(*used, used->value->initial_events());
  });
}

parlance_status parlance_parser_feed(parlance_parser* parser, const char* text,
                                     size_t text_size, size_t event_size,
                                     const parlance_event** events,
                                     size_t* count) {
  return call(nullptr, [&] {
    EventsOut given(event_size, events, count);
    const std::string_view chunk = text_of(text, text_size, "text");
    step(parser, given, [&](auto& p) {
      check_not_lost(*parser);
      return p.feed(chunk);
    });
  });
}

parlance_status parlance_parser_feed_tokens(parlance_parser* parser,
                                            const uint32_t* ids,
                                            size_t id_count, size_t event_size,
                                            const parlance_event** events,
                                            size_t* count) {
  return call(nullptr, [&] {
    EventsOut given(event_size, events, count);
    const auto tokens = list_of(ids, id_count, "ids");
    step(parser, given, [&](auto& p) {
      check_not_lost(*parser);
      return p.feed_tokens(tokens);
    });
  });
}

parlance_status parlance_parser_finalize(parlance_parser* parser,
                                         size_t event_size,
                                         const parlance_event** events,
                                         size_t* count) {
  return call(nullptr, [&] {
    EventsOut given(event_size, events, count);
    step(parser, given, [&](auto& p) {
      const std::span<const Event> last = p.finalize();
      return parser->lost ? std::span<const Event>() : last;
    });
  });
}

parlance_status parlance_parser_event_json(const parlance_parser* parser,
                                           size_t index, parlance_bytes* out,
                                           parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Use used(parser, "parser");
    if (index >= used->events.size()) {
      misuse(PARLANCE_BAD_ARGUMENT, "index", "is beyond the last event");
    }
    told.set(to_json(used->events[index], used->value->reads_tokens()));
  });
}

parlance_status parlance_parser_result(const parlance_parser* parser,
                                       parlance_bytes* out,
                                       parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Use used(parser, "parser");
    const AnyParser& p = *used->value;
    told.set(result_of(p.message(), p.failure(), p.tokens()));
  });
}

parlance_status parlance_parser_chat_message(const parlance_parser* parser,
                                             parlance_bytes* out,
                                             parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Use used(parser, "parser");
    told.set(chat_message(used->value->message(), used->value->field_names()));
  });
}

parlance_status parlance_parser_tree(const parlance_parser* parser,
                                     parlance_bytes* out,
                                     parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Use used(parser, "parser");
    const std::optional<json::Value> tree = used->value->tree();
    if (!tree) {
      fail({.code = ErrorCode::kUsage,
            .message = "only a parser by tag has a tree"});
    }
    told.set(*tree);
  });
}

parlance_status parlance_parser_held(const parlance_parser* parser,
                                     const char** text, size_t* text_size) {
  return call(nullptr, [&] {
    Out at(text, "text");
    Out size(text_size, "text_size");
    const Use used(parser, "parser");
    const std::string_view held = used->value->held();
    at.set(held.data());
    size.set(held.size());
  });
}

parlance_status parlance_parser_state(const parlance_parser* parser,
                                      size_t* prefix_bytes,
                                      int32_t* finalized) {
  return call(nullptr, [&] {
    store(prefix_bytes, 0);
    store(finalized, 0);
    const Use used(parser, "parser");
    store(prefix_bytes, used->value->prefix_bytes());
    store(finalized, used->value->finalized() || used->lost);
  });
}

parlance_status parlance_parse(const parlance_format* format, const char* text,
                               size_t text_size,
                               const parlance_parser_options* options,
                               parlance_bytes* out, parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const ResponseParser parser =
        read_whole(the(format, "format").value,
                   text_of(text, text_size, "text"), stream_options(options));
    told.set(result_of(parser.message(), parser.failure(), parser.tokens()));
  });
}

parlance_status parlance_format_explain(
    const parlance_format* format, const char* text, size_t text_size,
    const parlance_parser_options* options, const char* request,
    size_t request_size, parlance_bytes* out, parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Format& by = the(format, "format").value;
    const StreamOptions reading = stream_options(options);
    if (reading.vocabulary != nullptr) {
      fail({.code = ErrorCode::kUsage,
            .message = "text is read, so there is no vocabulary"});
    }
    Request asked(request, request_size);
    const std::string name = asked.text("name");
    const std::size_t chunk = asked.number("chunk", 0);
    const bool packed = asked.flag("packed", false);
    asked.finish();
    const Explanation made = explain(by, text_of(text, text_size, "text"),
                                     {.prefix = reading.prefix,
                                      .tools = reading.tools,
                                      .recover = reading.recover,
                                      .chunk = chunk,
                                      .name = name});
    if (packed) {
      told.set(to_packed_json(made));
    } else {
      told.set(to_json(made));
    }
  });
}

parlance_status parlance_format_hints(const parlance_format* format,
                                      const char* text, size_t text_size,
                                      const parlance_parser_options* options,
                                      parlance_bytes* out,
                                      parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Format& by = the(format, "format").value;
    StreamOptions reading = stream_options(options);
    reading.keep_message = true;
    const std::string_view response = text_of(text, text_size, "text");
    const ResponseParser parser = read_whole(by, response, reading);
    std::string all(
        reading.prefix.substr(reading.prefix.size() - parser.prefix_bytes()));
    all += response.substr(0, kHintBytes);
    json::Array list;
    for (const Hint& hint :
         hints_of(by, all, parser.message(), {.tools = reading.tools})) {
      list.push_back(json::Object{{"kind", to_string(hint.kind)},
                                  {"message", hint.message},
                                  {"field", hint.field},
                                  {"format", hint.format},
                                  {"span", range(hint.bytes)}});
    }
    told.set(json::Value(std::move(list)));
  });
}

PARLANCE_C_FUNCTIONS_END

}  // namespace parlance::c
