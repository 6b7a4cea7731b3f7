/* Parsers by format and by tag, chat streams, and explanations. */

#include "check.h"

static const char kText[] =
    "<think>Hm.</think>Let me look.<tool_call>\n{\"name\": \"f\", "
    "\"arguments\": {\"n\": 1}}\n</tool_call>";

/* As the family's models write it, to the letter. */
static const char kTagText[] =
    "<think>\nHm.\n</think>\n\nLet me look.\n<tool_call>\n{\"name\": \"f\", "
    "\"arguments\": {\"n\": 1}}\n</tool_call>";

static parlance_format *qwen3(void) {
  parlance_format *format = NULL;
  CHECK_OK(parlance_format_built_in(TEXT("qwen3"), &format, NULL));
  return format;
}

static void feed(parlance_parser *parser, const char *text, size_t *count,
                 const parlance_event **events) {
  CHECK_OK(parlance_parser_feed(parser, text, strlen(text),
                                sizeof(parlance_event), events, count));
}

static int is(const char *text, size_t size, const char *wanted) {
  return strlen(wanted) == size && memcmp(text, wanted, size) == 0;
}

static void by_format(void) {
  parlance_format *format = qwen3();
  parlance_tools *tools = NULL;
  parlance_parser *parser = NULL;
  parlance_parser_options options = PARLANCE_PARSER_OPTIONS_INIT;
  const parlance_event *events = NULL;
  parlance_bytes out = {NULL, 0};
  const char *held = NULL;
  size_t count = 0, size = 0, prefix_bytes = 0;
  int32_t finalized = 1;

  CHECK_OK(parlance_tools_from_json(
      TEXT("[{\"function\": {\"name\": \"f\", \"parameters\": {}}}]"), &tools,
      NULL));
  options.prefix = "<|im_start|>assistant\n<think>";
  options.prefix_size = strlen(options.prefix);
  options.tools = tools;
  options.stream_calls = 1;
  options.attempts = 1;
  CHECK_OK(parlance_parser_new(format, &options, &parser, NULL));
  /* The parser keeps what it needs. */
  parlance_tools_free(tools);
  parlance_format_free(format);

  CHECK_OK(parlance_parser_initial(parser, sizeof *events, &events, &count));
  CHECK(count == 1 && events[0].kind == PARLANCE_REGION_OPEN);
  CHECK(is(events[0].field, events[0].field_size, "thinking"));
  CHECK_OK(parlance_parser_state(parser, &prefix_bytes, &finalized));
  CHECK(prefix_bytes == 7 && finalized == 0);

  feed(parser, "Hm</th", &count, &events);
  CHECK(count == 1 && events[0].kind == PARLANCE_REGION_CHUNK);
  CHECK(is(events[0].text, events[0].text_size, "Hm"));
  CHECK(events[0].bytes_begin == 7 && events[0].bytes_end == 9);
  CHECK_OK(parlance_parser_held(parser, &held, &size));
  CHECK(is(held, size, "</th"));
  feed(parser, "ink>", &count, &events);
  CHECK(count == 1 && events[0].kind == PARLANCE_REGION_CLOSE);
  CHECK((events[0].flags & PARLANCE_EVENT_DETAIL) != 0);
  CHECK_OK(parlance_parser_event_json(parser, 0, &out, NULL));
  CHECK(has(out, "\"value\":\"Hm\""));
  CHECK_STATUS(parlance_parser_event_json(parser, 1, &out, NULL),
               PARLANCE_BAD_ARGUMENT);
  feed(parser, strstr(kText, "Let"), &count, &events);
  CHECK(count > 4);
  CHECK_OK(parlance_parser_finalize(parser, sizeof *events, &events, &count));
  CHECK_STATUS(
      parlance_parser_feed(parser, "x", 1, sizeof *events, &events, &count),
      PARLANCE_FINALIZED);
  CHECK(events == NULL && count == 0);
  CHECK_OK(parlance_parser_result(parser, &out, NULL));
  CHECK(has(out, "\"complete\":true"));
  CHECK_OK(parlance_parser_result(parser, &out, NULL));
  CHECK(has(out, "\"status\":\"ok\""));
  CHECK_OK(parlance_parser_chat_message(parser, &out, NULL));
  CHECK(has(out, "\"arguments\":\"{\\\"n\\\": 1}\""));
  CHECK_STATUS(parlance_parser_tree(parser, &out, NULL), PARLANCE_USAGE);
  CHECK_OK(parlance_parser_state(parser, NULL, &finalized));
  CHECK(finalized == 1);
  parlance_parser_free(parser);
  parlance_parser_free(NULL);
}

static void by_tag(void) {
  parlance_format *format = qwen3();
  parlance_tag *tag = NULL, *copy = NULL;
  parlance_compiled_tag *compiled = NULL;
  parlance_parser *parser = NULL;
  const parlance_event *events = NULL;
  parlance_bytes out = {NULL, 0};
  size_t count = 0;
  CHECK_OK(parlance_format_tag(
      format, TEXT("{\"tools\": [{\"function\": {\"name\": \"f\"}}]}"), NULL,
      &tag, NULL));
  CHECK_OK(parlance_tag_report(tag, &out, NULL));
  CHECK(has(out, "["));
  CHECK_OK(parlance_tag_to_json(tag, &out, NULL));
  CHECK_OK(parlance_tag_from_json(out.data, out.size, &copy, NULL));
  parlance_free(out.data);
  CHECK(parlance_tag_ref(copy) == copy);
  parlance_tag_free(copy);
  CHECK_OK(parlance_tag_compile(copy, NULL, NULL,
                                TEXT("{\"markers\": \"either\", \"limits\": "
                                     "{\"work\": 1000000}, \"max_parses\": 9}"),
                                &compiled, NULL));
  parlance_tag_free(copy);
  parlance_tag_free(tag);
  CHECK(parlance_compiled_tag_ref(compiled) == compiled);
  parlance_compiled_tag_free(compiled);
  CHECK_OK(parlance_parser_new_by_tag(compiled, NULL, &parser, NULL));
  feed(parser, kTagText, &count, &events);
  CHECK(count > 4);
  CHECK_OK(parlance_parser_finalize(parser, sizeof *events, &events, &count));
  CHECK_OK(parlance_parser_tree(parser, &out, NULL));
  CHECK(has(out, "\"type\":\"tag\""));
  CHECK_OK(parlance_parser_chat_message(parser, &out, NULL));
  CHECK(has(out, "Hm."));
  parlance_parser_free(parser);
  parlance_compiled_tag_free(compiled);
  parlance_format_free(format);
}

static void whole(void) {
  parlance_format *format = qwen3();
  parlance_parser_options options = PARLANCE_PARSER_OPTIONS_INIT;
  parlance_bytes out = {NULL, 0};
  CHECK_OK(parlance_parse(format, TEXT(kText), NULL, &out, NULL));
  CHECK(has(out, "\"thinking\":\"Hm.\""));
  CHECK_OK(parlance_parse(format, NULL, 0, &options, &out, NULL));
  CHECK(has(out, "\"error\":null"));
  parlance_format_free(format);
}

/* Facts and hints of a text. */
static void facts(void) {
  parlance_format *format = qwen3();
  parlance_parser_options options = PARLANCE_PARSER_OPTIONS_INIT;
  parlance_tokens tokens = PARLANCE_TOKENS_INIT;
  parlance_vocabulary *vocabulary = NULL;
  const uint64_t end = 1;
  parlance_bytes out = {NULL, 0};
  parlance_error *error = NULL;
  const char *const lost =
      "I call <tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>.";
  CHECK_OK(parlance_format_explain(format, TEXT(kText), NULL,
                                   TEXT("{\"name\": \"mine\", \"chunk\": 4}"),
                                   &out, NULL));
  CHECK(has(out, "\"by\":\"format\",\"name\":\"mine\""));
  CHECK_OK(
      parlance_format_explain(format, TEXT(kText), NULL, NULL, 0, &out, NULL));
  CHECK(has(out, "\"what\":\"opens thinking\""));
  CHECK_OK(parlance_format_explain(format, TEXT(kText), NULL,
                                   TEXT("{\"packed\": true}"), &out, NULL));
  CHECK(has(out, "\"rows\":[0,"));
  CHECK_STATUS(parlance_format_explain(format, TEXT(kText), NULL,
                                       TEXT("{\"names\": 1}"), &out, &error),
               PARLANCE_UNKNOWN_KEY);
  parlance_error_free(error);
  CHECK_OK(parlance_format_hints(format, TEXT(kText), NULL, &out, NULL));
  CHECK(has(out, "[]"));
  options.prefix = "<think>";
  options.prefix_size = 7;
  options.events_only = 1;
  CHECK_OK(parlance_format_hints(format, TEXT(lost), &options, &out, NULL));
  CHECK(has(out, "\"kind\":\"call_in_reasoning\""));
  options.events_only = 0;
  CHECK_OK(parlance_format_hints(format, TEXT(lost), &options, &out, NULL));
  CHECK(has(out, "\"field\":\"thinking\",\"format\":\"\",\"span\":[14,"));
  CHECK_OK(parlance_format_explain(format, TEXT(lost), &options, NULL, 0, &out,
                                   NULL));
  CHECK(has(out, "\"hint\":\"call_in_reasoning\""));
  /* They read text alone. */
  tokens.bytes = "a";
  tokens.ends = &end;
  tokens.count = 1;
  CHECK_OK(parlance_vocabulary_from_tokens(&tokens, &vocabulary, NULL));
  options.vocabulary = vocabulary;
  CHECK_STATUS(parlance_format_explain(format, TEXT(lost), &options, NULL, 0,
                                       &out, NULL),
               PARLANCE_USAGE);
  CHECK_STATUS(parlance_format_hints(format, TEXT(lost), &options, &out, NULL),
               PARLANCE_USAGE);
  CHECK_STATUS(parlance_format_hints(NULL, TEXT(lost), NULL, &out, NULL),
               PARLANCE_NULL);
  parlance_vocabulary_free(vocabulary);
  parlance_format_free(format);
}

static void misuse(void) {
  parlance_format *format = qwen3();
  parlance_parser *parser = NULL, *none = NULL;
  parlance_parser_options options = PARLANCE_PARSER_OPTIONS_INIT;
  /* A later header's options, and its events. */
  struct {
    parlance_parser_options options;
    uint64_t more;
  } later = {PARLANCE_PARSER_OPTIONS_INIT, 0};
  struct longer {
    parlance_event event;
    uint64_t more;
  };
  const parlance_event *events = NULL;
  const struct longer *longer = NULL;
  const uint32_t id = 1;
  size_t count = 0;

  options.struct_size = 0;
  CHECK_STATUS(parlance_parser_new(format, &options, &none, NULL),
               PARLANCE_BAD_SIZE);
  options.struct_size = (size_t)-1;
  CHECK_STATUS(parlance_parser_new(format, &options, &none, NULL),
               PARLANCE_BAD_SIZE);
  options.struct_size = sizeof options - 4;
  CHECK_STATUS(parlance_parser_new(format, &options, &none, NULL),
               PARLANCE_BAD_SIZE);
  options.struct_size = sizeof options;
  options.markers = 3;
  CHECK_STATUS(parlance_parser_new(format, &options, &none, NULL),
               PARLANCE_BAD_ARGUMENT);
  options.markers = 0;
  options.recover = -1;
  CHECK_STATUS(parlance_parser_new(format, &options, &none, NULL),
               PARLANCE_BAD_ARGUMENT);
  options.recover = 0;
  options.prefix_size = 1;
  CHECK_STATUS(parlance_parser_new(format, &options, &none, NULL),
               PARLANCE_NULL);
  options.prefix_size = 0;
  options.tools = (const parlance_tools *)format;
  CHECK_STATUS(parlance_parser_new(format, &options, &none, NULL),
               PARLANCE_WRONG_HANDLE);
  CHECK_STATUS(parlance_parser_new(NULL, NULL, &none, NULL), PARLANCE_NULL);
  CHECK_STATUS(parlance_parser_new(format, NULL, NULL, NULL), PARLANCE_NULL);

  later.options.struct_size = sizeof later;
  CHECK_OK(parlance_parser_new(format, &later.options, &parser, NULL));
  later.more = 1;
  CHECK_STATUS(parlance_parser_new(format, &later.options, &none, NULL),
               PARLANCE_BAD_SIZE);
  CHECK_OK(parlance_parser_feed(parser, TEXT("<think>a</think>b"),
                                sizeof *longer, &events, &count));
  longer = (const struct longer *)(const void *)events;
  CHECK(count >= 4 && longer[2].event.kind == PARLANCE_REGION_CLOSE);
  CHECK(longer[2].more == 0);

  CHECK_STATUS(parlance_parser_feed(parser, "x", 1, sizeof *events - 8, &events,
                                    &count),
               PARLANCE_BAD_SIZE);
  CHECK_STATUS(parlance_parser_feed(parser, "x", 1, 0, &events, &count),
               PARLANCE_BAD_SIZE);
  CHECK_STATUS(
      parlance_parser_feed(parser, "x", 1, ~(size_t)7, &events, &count),
      PARLANCE_BAD_SIZE);
  CHECK_STATUS(
      parlance_parser_feed(parser, NULL, 1, sizeof *events, &events, &count),
      PARLANCE_NULL);
  CHECK_STATUS(
      parlance_parser_feed(parser, "x", 1, sizeof *events, NULL, &count),
      PARLANCE_NULL);
  CHECK_STATUS(
      parlance_parser_feed(NULL, "x", 1, sizeof *events, &events, &count),
      PARLANCE_NULL);
  CHECK_STATUS(parlance_parser_feed((parlance_parser *)format, "x", 1,
                                    sizeof *events, &events, &count),
               PARLANCE_WRONG_HANDLE);
  CHECK_STATUS(parlance_parser_feed_tokens(parser, &id, 1, sizeof *events,
                                           &events, &count),
               PARLANCE_USAGE);
  parlance_parser_free(parser);
  parlance_format_free(format);
}

static void chat(void) {
  parlance_format *format = qwen3();
  parlance_parser *parser = NULL;
  parlance_chat *stream = NULL;
  const parlance_event *events = NULL;
  parlance_bytes out = {NULL, 0};
  size_t count = 0;
  CHECK_OK(parlance_parser_new(format, NULL, &parser, NULL));
  CHECK_OK(parlance_chat_new(
      format, NULL, TEXT("{\"model\": \"m\", \"call_id_prefix\": \"c\"}"),
      &stream, NULL));
  CHECK_OK(parlance_chat_begin(stream, &out, NULL));
  CHECK(has(out, "data: {"));
  feed(parser, kText, &count, &events);
  CHECK_OK(parlance_chat_feed(stream, parser, &out, NULL));
  CHECK(has(out, "\"reasoning_content\":\"Hm.\""));
  CHECK_OK(parlance_parser_finalize(parser, sizeof *events, &events, &count));
  CHECK_OK(parlance_chat_feed(stream, parser, &out, NULL));
  parlance_free(out.data);
  CHECK_STATUS(parlance_chat_end(stream, 7, parser, NULL, 0, &out, NULL),
               PARLANCE_BAD_ARGUMENT);
  CHECK_OK(parlance_chat_end(stream, PARLANCE_END_STOP, parser,
                             TEXT("{\"prompt_tokens\": 3}"), &out, NULL));
  CHECK(has(out, "data: [DONE]\n\n"));
  CHECK_STATUS(parlance_chat_feed(stream, parser, &out, NULL),
               PARLANCE_FINALIZED);
  CHECK_OK(parlance_chat_response(stream, &out, NULL));
  CHECK(has(out, "\"finish_reason\":\"tool_calls\""));
  parlance_chat_free(stream);
  parlance_chat_free(NULL);

  CHECK_OK(parlance_chat_new(format, NULL,
                             TEXT("{\"api\": \"messages\", \"output\": "
                                  "\"json\"}"),
                             &stream, NULL));
  CHECK_OK(parlance_chat_begin(stream, &out, NULL));
  CHECK(has(out, "[{\"event\":\"message_start\""));
  parlance_chat_free(stream);
  CHECK_STATUS(parlance_chat_new(NULL, NULL, NULL, 0, &stream, NULL),
               PARLANCE_NULL);
  CHECK_STATUS(
      parlance_chat_new(format, NULL, TEXT("{\"api\": \"x\"}"), &stream, NULL),
      PARLANCE_UNKNOWN_NAME);
  parlance_parser_free(parser);
  parlance_format_free(format);
}

static void other_servers(void) {
  static const char kSent[] =
      "data: {\"choices\": [{\"delta\": {\"content\": \"<think>H\"}}]}\r\n\r\n"
      ": a comment\n\ndata: {]\n\ndata: {\"content\": \"m.\"}";
  parlance_sse *sse = NULL;
  parlance_bytes out = {NULL, 0};
  CHECK_OK(parlance_sse_new(&sse, NULL));
  CHECK_OK(parlance_sse_feed(sse, kSent, 10, &out, NULL));
  CHECK(out.data != NULL && out.size == 0);
  parlance_free(out.data);
  CHECK_OK(parlance_sse_feed(sse, kSent + 10, strlen(kSent) - 10, &out, NULL));
  CHECK(is(out.data, out.size, "<think>H"));
  parlance_free(out.data);
  CHECK_OK(parlance_sse_faults(sse, &out, NULL));
  CHECK(has(out, "[{\"line\":5,\"message\":\"the data is no JSON"));
  CHECK_OK(parlance_sse_finalize(sse, &out, NULL));
  CHECK(has(out, "m."));
  CHECK_OK(parlance_sse_faults(sse, &out, NULL));
  CHECK(has(out, "[]"));
  CHECK_STATUS(parlance_sse_feed(sse, kSent, 1, &out, NULL),
               PARLANCE_FINALIZED);
  CHECK_STATUS(parlance_sse_finalize(sse, &out, NULL), PARLANCE_FINALIZED);
  CHECK_STATUS(parlance_sse_feed(NULL, kSent, 1, &out, NULL), PARLANCE_NULL);
  CHECK_STATUS(parlance_sse_feed(sse, NULL, 1, &out, NULL), PARLANCE_NULL);
  CHECK_STATUS(parlance_sse_new(NULL, NULL), PARLANCE_NULL);
  parlance_sse_free(sse);
  parlance_sse_free(NULL);
}

static void explanation(void) {
  parlance_format *format = qwen3();
  parlance_explanation what = PARLANCE_EXPLANATION_INIT;
  const uint32_t id = 1;
  parlance_bytes out = {NULL, 0};
  CHECK_STATUS(parlance_explain(&what, &out, NULL), PARLANCE_NULL);
  what.format = format;
  what.text = kText;
  what.text_size = strlen(kText);
  CHECK_OK(parlance_explain(&what, &out, NULL));
  CHECK(has(out, "\"rows\""));
  what.html = 1;
  CHECK_OK(parlance_explain(&what, &out, NULL));
  CHECK(has(out, "<html"));
  what.ids = &id;
  what.id_count = 1;
  CHECK_STATUS(parlance_explain(&what, &out, NULL), PARLANCE_USAGE);
  what.struct_size = 8;
  CHECK_STATUS(parlance_explain(&what, &out, NULL), PARLANCE_BAD_SIZE);
  parlance_format_free(format);
}

int main(void) {
  by_format();
  by_tag();
  whole();
  facts();
  misuse();
  chat();
  other_servers();
  explanation();
  return 0;
}
