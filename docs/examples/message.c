/* A response becomes a message, by the C interface: docs/guide/c.md. */

#include <stdio.h>
#include <string.h>

#include "parlance_c.h"

int main(void) {
  static const char kText[] =
      "<think>Bern.</think>Let me look.<tool_call>\n{\"name\": "
      "\"get_weather\", \"arguments\": {\"city\": \"Bern\"}}\n</tool_call>";
  parlance_format *format = NULL;
  parlance_bytes result = {NULL, 0};
  parlance_error *error = NULL;
  if (parlance_format_built_in("qwen3", 5, &format, &error) != PARLANCE_OK ||
      parlance_parse(format, kText, strlen(kText), NULL, &result, &error) !=
          PARLANCE_OK) {
    fprintf(stderr, "%s\n", parlance_error_message(error, NULL));
    parlance_error_free(error);
    parlance_format_free(format);
    return 1;
  }
  puts(result.data);
  parlance_free(result.data);
  parlance_format_free(format);
  return 0;
}
