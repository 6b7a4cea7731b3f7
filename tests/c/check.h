#ifndef PARLANCE_TESTS_C_CHECK_H_
#define PARLANCE_TESTS_C_CHECK_H_

/* What the C programs have in common: checks that end the program with the line
 * and what was found there. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parlance_c.h"

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

#define CHECK_STATUS(call, wanted)                                        \
  do {                                                                    \
    const parlance_status found_ = (call);                                \
    if (found_ != (wanted)) {                                             \
      fprintf(stderr, "%s:%d: %s, not %s: %s\n", __FILE__, __LINE__,      \
              parlance_status_name(found_), parlance_status_name(wanted), \
              #call);                                                     \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

#define CHECK_OK(call) CHECK_STATUS(call, PARLANCE_OK)

/* Text as (pointer, size). */
#define TEXT(text) (text), strlen(text)

/* Whether `bytes` contains `part`; frees them. */
static int has(parlance_bytes bytes, const char *part) {
  const int found = bytes.data != NULL && strlen(bytes.data) == bytes.size &&
                    strstr(bytes.data, part) != NULL;
  if (!found) {
    fprintf(stderr, "without \"%s\": %s\n", part,
            bytes.data == NULL ? "NULL" : bytes.data);
  }
  parlance_free(bytes.data);
  return found;
}

#endif /* PARLANCE_TESTS_C_CHECK_H_ */
