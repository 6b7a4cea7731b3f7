// Chat streams: events in the shapes of chat APIs, as server-sent events; and
// the server-sent events of other servers.

#include "parlance/chat.h"

#include <string>
#include <utility>
#include <vector>

#include "calls.h"
#include "parlance/sse.h"
#include "requests.h"

namespace parlance::c {

namespace {

constexpr json::DumpOptions kOneLine{.ascii = false, .compact = true};

// "event: message_start\ndata: {...}\n\n"; a chunk without a name has no event.
std::string sent(const std::vector<ChatChunk>& chunks) {
  std::string out;
  for (const ChatChunk& chunk : chunks) {
    if (!chunk.event.empty()) {
      out += "event: ";
      out += chunk.event;
      out += '\n';
    }
    out += "data: " + json::dump(chunk.body, kOneLine) + "\n\n";
  }
  return out;
}

std::string listed(const std::vector<ChatChunk>& chunks) {
  json::Array out;
  for (const ChatChunk& chunk : chunks) {
    out.push_back(json::Object{{"event", chunk.event},
                               {"body", chunk.body},
                               {"bytes", range(chunk.bytes)},
                               {"tokens", range(chunk.tokens)}});
  }
  return json::dump(json::Value(std::move(out)), kOneLine);
}

std::string written(const parlance_chat& chat,
                    const std::vector<ChatChunk>& chunks) {
  return chat.server_sent ? sent(chunks) : listed(chunks);
}

// Gives what a stream, a parlance_chat or parlance_sse, makes.  If there is no
// memory it is lost, and the stream has ended.
template <class Stream, class Make>
void step(Stream& stream, Out<parlance_bytes>& out, const Make& make) {
  if (stream.ended) {
    fail({.code = ErrorCode::kFinalized, .message = "the stream has ended"});
  }
  stream.ended = true;
  out.set(make());
  stream.ended = false;
}

void check_fields(const parlance_chat& chat, const parlance_parser& parser) {
  for (const Event& event : parser.events) {
    // Unclaimed text is of no field.
    if (event.kind != EventKind::kTextUnclaimed &&
        event.field_index >= chat.field_count) {
      misuse(PARLANCE_BAD_ARGUMENT, "parser",
             "is of another format than the stream");
    }
  }
}

}  // namespace

PARLANCE_C_FUNCTIONS_BEGIN

parlance_status parlance_chat_new(const parlance_format* format,
                                  const parlance_compiled_tag* tag,
                                  const char* request, size_t request_size,
                                  parlance_chat** out, parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    the_or_null(format, "format");
    the_or_null(tag, "tag");
    if ((format == nullptr) == (tag == nullptr)) {
      misuse(PARLANCE_NULL, "either format or tag", "must be NULL");
    }
    Request asked(request, request_size);
    ChatOptions options;
    // ORDER: ChatApi
    options.api = static_cast<ChatApi>(
        asked.choice("api", {"chat_completions", "responses", "messages"}));
    options.id = asked.text("id");
    options.model = asked.text("model");
    options.created = static_cast<std::int64_t>(asked.number("created", 0));
    options.choice = static_cast<std::int64_t>(asked.number("choice", 0));
    options.reasoning_name =
        asked.text("reasoning_name", options.reasoning_name);
    options.call_id_prefix = asked.text("call_id_prefix");
    options.model_call_ids =
        asked.flag("model_call_ids", options.model_call_ids);
    options.extras = asked.flag("extras", options.extras);
    const bool sse = asked.choice("output", {"sse", "json"}) == 0;
    asked.finish();
    made.set(format != nullptr ? chat_fields(format->value)
                               : chat_fields(tag->value),
             std::move(options), sse);
  });
}

void parlance_chat_free(parlance_chat* chat) { drop_reference(chat); }

parlance_status parlance_chat_begin(parlance_chat* chat, parlance_bytes* out,
                                    parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Use used(chat, "chat");
    step(*used, told, [&] { return written(*used, used->value.begin()); });
  });
}

parlance_status parlance_chat_feed(parlance_chat* chat,
                                   const parlance_parser* parser,
                                   parlance_bytes* out,
                                   parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Use used(chat, "chat");
    const Use of(parser, "parser");
    check_fields(*used, *of);
    step(*used, told,
         [&] { return written(*used, used->value.feed(of->events)); });
  });
}

parlance_status parlance_chat_end(parlance_chat* chat, int32_t why,
                                  const parlance_parser* parser,
                                  const char* request, size_t request_size,
                                  parlance_bytes* out, parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Use used(chat, "chat");
    const auto of = Use<const parlance_parser>::maybe(parser, "parser");
    // ORDER: ChatEnd
    const ChatEnd reason = one_of(why, ChatEnd::kContentFilter, "why");
    Request asked(request, request_size);
    ChatUsage usage;
    usage.prompt_tokens =
        static_cast<std::int64_t>(asked.number("prompt_tokens", 0));
    if (const auto given = asked.maybe_number("completion_tokens")) {
      usage.completion_tokens = static_cast<std::int64_t>(*given);
    }
    asked.finish();
    if (of.get() != nullptr) usage.message = &of->value->message();
    step(*used, told, [&] {
      std::string text = written(*used, used->value.end(reason, usage));
      if (used->server_sent && used->api == ChatApi::kChatCompletions) {
        text += "data: [DONE]\n\n";
      }
      return text;
    });
    used->ended = true;
  });
}

parlance_status parlance_chat_response(const parlance_chat* chat,
                                       parlance_bytes* out,
                                       parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Use used(chat, "chat");
    told.set(used->value.response());
  });
}

parlance_status parlance_sse_new(parlance_sse** out, parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    made.set();
  });
}

void parlance_sse_free(parlance_sse* sse) { drop_reference(sse); }

parlance_status parlance_sse_feed(parlance_sse* sse, const char* bytes,
                                  size_t size, parlance_bytes* out,
                                  parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Use used(sse, "sse");
    const std::string_view fed = text_of(bytes, size, "bytes");
    step(*used, told, [&] { return used->value.feed(fed); });
  });
}

parlance_status parlance_sse_finalize(parlance_sse* sse, parlance_bytes* out,
                                      parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Use used(sse, "sse");
    step(*used, told, [&] { return used->value.finalize(); });
    used->ended = true;
  });
}

parlance_status parlance_sse_faults(const parlance_sse* sse,
                                    parlance_bytes* out,
                                    parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Use used(sse, "sse");
    json::Array list;
    for (const SseFault& fault : used->value.faults()) {
      list.push_back(json::Object{{"line", number(fault.line)},
                                  {"message", fault.message}});
    }
    told.set(json::Value(std::move(list)));
  });
}

PARLANCE_C_FUNCTIONS_END

}  // namespace parlance::c
