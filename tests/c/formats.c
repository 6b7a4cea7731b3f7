/* Versions, errors, formats, tools and detection. */

#include "check.h"

static const char *const kTools =
    "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": "
    "{\"properties\": {\"n\": {\"type\": \"integer\"}}}}}]";

static void general(void) {
  void *memory = parlance_alloc(10);
  CHECK(parlance_abi() == PARLANCE_ABI);
  CHECK(parlance_abi_minor() == PARLANCE_ABI_MINOR);
  CHECK(strchr(parlance_version(), '.') != NULL);
  CHECK(memory != NULL);
  parlance_free(memory);
  parlance_free(NULL);
  CHECK(strcmp(parlance_status_name(PARLANCE_OK), "ok") == 0);
  CHECK(strcmp(parlance_status_name(PARLANCE_UNKNOWN_KEY), "unknown_key") == 0);
  CHECK(strcmp(parlance_status_name(PARLANCE_BUSY), "busy") == 0);
  CHECK(strcmp(parlance_status_name(1000), "unknown") == 0);
  CHECK(strcmp(parlance_status_name(-1000), "unknown") == 0);
}

static void errors(void) {
  parlance_error *error = NULL;
  parlance_format *format = NULL;
  parlance_span span = {9, 9};
  size_t size = 0;
  CHECK_STATUS(parlance_format_from_json(TEXT("{\"fields\": 3}"), NULL, 0,
                                         &format, &error),
               PARLANCE_WRONG_TYPE);
  CHECK(format == NULL && error != NULL);
  CHECK(parlance_error_status(error) == PARLANCE_WRONG_TYPE);
  CHECK(strlen(parlance_error_message(error, &size)) == size && size > 0);
  CHECK(strcmp(parlance_error_path(error, &size), "/fields") == 0 && size == 7);
  CHECK(parlance_error_span(error, &span) == 1);
  CHECK(span.begin == 11 && span.end == 12);
  CHECK(parlance_error_span(error, NULL) == 1);
  parlance_error_free(error);
  parlance_error_free(NULL);
  CHECK(parlance_error_status(NULL) == PARLANCE_OK);
  CHECK(parlance_error_message(NULL, NULL)[0] == '\0');
  CHECK(parlance_error_path(NULL, NULL)[0] == '\0');
  CHECK(parlance_error_span(NULL, &span) == 0 && span.end == 0);
  /* A success clears what was there. */
  error = (parlance_error *)&span;
  CHECK_OK(parlance_format_built_in(TEXT("qwen3"), &format, &error));
  CHECK(error == NULL);
  parlance_format_free(format);
}

static void places(void) {
  parlance_bytes out = {NULL, 0};
  CHECK_OK(parlance_json_locate(TEXT("{\"a\": [1, 23]}"), TEXT("/a/1"), &out,
                                NULL));
  CHECK(has(out, "{\"value\":[10,12],\"key\":null}"));
  CHECK_OK(
      parlance_json_locate(TEXT("{\"a\": 1}"), TEXT("/a"), &out, NULL));
  CHECK(has(out, "{\"value\":[6,7],\"key\":[1,4]}"));
  CHECK_OK(parlance_json_locate(TEXT("{\"a\": 1}"), TEXT("/b"), &out, NULL));
  CHECK(has(out, "null"));
  CHECK_OK(parlance_json_locate(TEXT("{"), TEXT("/b"), &out, NULL));
  CHECK(has(out, "null"));
  CHECK_STATUS(parlance_json_locate(NULL, 3, NULL, 0, &out, NULL),
               PARLANCE_NULL);
}

static void formats(void) {
  const size_t count = parlance_formats_count();
  parlance_format *format = NULL, *other = NULL;
  parlance_error *error = NULL;
  parlance_bytes out = {NULL, 0};
  size_t size = 0, i = 0;
  CHECK(count > 20);
  for (i = 0; i < count; ++i) {
    const char *const name = parlance_formats_name(i, &size);
    CHECK(name != NULL && strlen(name) == size);
    CHECK_OK(parlance_format_built_in(name, size, &format, NULL));
    parlance_format_free(format);
  }
  CHECK(parlance_formats_name(count, &size) == NULL && size == 0);
  CHECK_STATUS(parlance_format_built_in(TEXT("qwen33"), &format, &error),
               PARLANCE_UNKNOWN_FORMAT);
  CHECK(strstr(parlance_error_message(error, NULL), "qwen3") != NULL);
  parlance_error_free(error);

  CHECK_OK(parlance_format_built_in(TEXT("qwen3"), &format, NULL));
  CHECK(parlance_format_ref(format) == format);
  parlance_format_free(format);
  CHECK_OK(parlance_format_describe(format, &out, NULL));
  CHECK(has(out, "\"name\":\"qwen3\""));
  CHECK_OK(parlance_format_lint(format, &out, NULL));
  CHECK(has(out, "["));
  CHECK_OK(parlance_format_template(format, &out, NULL));
  CHECK(has(out, "\"fields\""));
  CHECK_OK(parlance_format_rename(
      format, TEXT("{\"thinking\": \"thoughts\"}"), &other, NULL));
  CHECK_OK(parlance_format_describe(other, &out, NULL));
  CHECK(has(out, "\"thoughts\""));
  parlance_format_free(other);
  CHECK_STATUS(parlance_format_rename(format, TEXT("{\"none\": \"x\"}"), &other,
                                      NULL),
               PARLANCE_UNKNOWN_NAME);
  CHECK_STATUS(parlance_format_rename(format, TEXT("[]"), &other, NULL),
               PARLANCE_WRONG_TYPE);
  CHECK_OK(parlance_format_to_json(format, &out, NULL));
  CHECK_OK(parlance_format_from_json(out.data, out.size, NULL, 0, &other, NULL));
  parlance_free(out.data);
  parlance_format_free(other);
  CHECK_OK(parlance_format_check(
      format, TEXT("{\"most_calls\": 50, \"walks\": 3, \"seed\": 4}"), NULL,
      &out, NULL));
  CHECK(has(out, "[]"));
  CHECK_STATUS(parlance_format_check(format, TEXT("{\"seed\": 4294967296}"),
                                     NULL, &out, &error),
               PARLANCE_WRONG_TYPE);
  CHECK(strcmp(parlance_error_path(error, NULL), "/seed") == 0);
  parlance_error_free(error);
  CHECK_OK(parlance_format_render(
      format, TEXT("{\"role\": \"assistant\", \"content\": \"Hi.\"}"), NULL, 0,
      &out, NULL));
  CHECK(has(out, "Hi."));
  CHECK_STATUS(
      parlance_format_render(format, TEXT("{}"), TEXT("{\"tool\": []}"), &out,
                             &error),
      PARLANCE_UNKNOWN_KEY);
  CHECK(strcmp(parlance_error_path(error, NULL), "/tool") == 0);
  parlance_error_free(error);
  CHECK_STATUS(
      parlance_format_render(format, TEXT("{}"), TEXT("{\"tools\": {}}"), &out,
                             &error),
      PARLANCE_WRONG_TYPE);
  CHECK(strcmp(parlance_error_path(error, NULL), "/tools") == 0);
  CHECK(out.data == NULL && out.size == 0);
  parlance_error_free(error);
  parlance_format_free(format);
}

static void requests(void) {
  parlance_format *format = NULL;
  parlance_tag *tag = NULL;
  parlance_bytes out = {NULL, 0};
  parlance_error *error = NULL;
  CHECK_OK(parlance_format_built_in(TEXT("qwen3"), &format, NULL));
  CHECK_OK(parlance_format_tag(
      format,
      TEXT("{\"tools\": [{\"type\": \"function\", \"function\": {\"name\": "
           "\"f\"}}], \"tool_choice\": \"required\", \"reasoning\": \"off\", "
           "\"parallel_tool_calls\": false, \"any_order\": true, "
           "\"max_white_space\": 3, \"text_with_calls\": \"before\", "
           "\"prefix\": \"<|im_start|>assistant\\n\"}"),
      NULL, &tag, NULL));
  CHECK_OK(parlance_tag_to_json(tag, &out, NULL));
  CHECK(has(out, "\"structural_tag\""));
  parlance_tag_free(tag);
  CHECK_STATUS(
      parlance_format_tag(format, TEXT("{\"reasoning\": \"some\"}"), NULL, &tag,
                          &error),
      PARLANCE_UNKNOWN_NAME);
  CHECK(strcmp(parlance_error_path(error, NULL), "/reasoning") == 0);
  parlance_error_free(error);
  CHECK_STATUS(parlance_format_tag(format, TEXT("{\"prefix\": [1, 2]}"), NULL,
                                   &tag, NULL),
               PARLANCE_USAGE);
  CHECK_STATUS(parlance_format_tag(format, TEXT("[]"), NULL, &tag, NULL),
               PARLANCE_WRONG_TYPE);
  CHECK_STATUS(parlance_format_tag(format, TEXT("{\"any_order\": 1}"), NULL,
                                   &tag, NULL),
               PARLANCE_WRONG_TYPE);
  CHECK_STATUS(parlance_format_tag(format, TEXT("{\"tools\": 1}"), NULL, &tag,
                                   NULL),
               PARLANCE_WRONG_TYPE);
  parlance_format_free(format);
}

static void tools(void) {
  parlance_tools *made = NULL;
  CHECK_OK(parlance_tools_from_json(TEXT(kTools), &made, NULL));
  CHECK(parlance_tools_ref(made) == made);
  parlance_tools_free(made);
  parlance_tools_free(made);
  CHECK(parlance_tools_ref(NULL) == NULL);
  CHECK_STATUS(parlance_tools_from_json(TEXT("{}"), &made, NULL),
               PARLANCE_WRONG_TYPE);
  CHECK_STATUS(parlance_tools_from_json(TEXT("["), &made, NULL),
               PARLANCE_INVALID_JSON);
}

static void detection(void) {
  parlance_bytes out = {NULL, 0};
  CHECK_OK(parlance_detection_sample(&out, NULL));
  CHECK(has(out, "\"messages\""));
  CHECK_STATUS(parlance_detect(TEXT("{\"chat_template\": \"plain\"}"), NULL, 0,
                               &out, NULL),
               PARLANCE_UNKNOWN_FORMAT);
  CHECK_OK(parlance_detect(
      TEXT("{\"response_template\": {\"fields\": {\"content\": {}}}}"), NULL, 0,
      &out, NULL));
  CHECK(has(out, "\"certainty\":\"certain\""));
}

static void ranking(void) {
  parlance_tools *made = NULL;
  parlance_bytes out = {NULL, 0};
  const char *const text =
      "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
  CHECK_OK(parlance_formats_rank(TEXT(text), NULL, &out, NULL));
  CHECK(has(out, "\"calls\":1,\"call\":\"f\",\"diagnostics\":0"));
  CHECK_OK(parlance_formats_rank(NULL, 0, NULL, &out, NULL));
  CHECK(has(out, "[]"));
  /* Of a tool of the request, without markers. */
  CHECK_OK(parlance_tools_from_json(TEXT(kTools), &made, NULL));
  CHECK_OK(parlance_formats_rank(TEXT("{\"name\": \"f\", \"arguments\": {}}"),
                                 made, &out, NULL));
  CHECK(has(out, "\"marked\":false"));
  CHECK_STATUS(parlance_formats_rank(TEXT("x"), NULL, NULL, NULL),
               PARLANCE_NULL);
  parlance_tools_free(made);
}

/* What is wrong with a call, and not with what a person wrote. */
static void misuse(void) {
  parlance_format *format = NULL, *none = NULL;
  parlance_tools *made = NULL;
  parlance_bytes out = {NULL, 0};
  parlance_error *error = NULL;
  CHECK_OK(parlance_format_built_in(TEXT("qwen3"), &format, NULL));
  CHECK_OK(parlance_tools_from_json(TEXT(kTools), &made, NULL));
  CHECK_STATUS(parlance_format_lint(NULL, &out, &error), PARLANCE_NULL);
  CHECK(strstr(parlance_error_message(error, NULL), "format") != NULL);
  parlance_error_free(error);
  CHECK_STATUS(parlance_format_lint(format, NULL, NULL), PARLANCE_NULL);
  CHECK_STATUS(parlance_format_built_in(NULL, 3, &none, NULL), PARLANCE_NULL);
  CHECK(none == NULL);
  CHECK_STATUS(parlance_format_lint((const parlance_format *)made, &out, &error),
               PARLANCE_WRONG_HANDLE);
  CHECK(parlance_error_status(error) == PARLANCE_WRONG_HANDLE);
  CHECK(parlance_error_status((const parlance_error *)made) ==
        PARLANCE_WRONG_HANDLE);
  parlance_error_free(error);
  /* Frees nothing. */
  parlance_format_free((parlance_format *)made);
  CHECK(parlance_format_ref((const parlance_format *)made) == NULL);
  parlance_tools_free(made);
  parlance_format_free(format);
}

int main(void) {
  general();
  errors();
  places();
  formats();
  requests();
  tools();
  detection();
  ranking();
  misuse();
  return 0;
}
