#ifndef PARLANCE_SRC_JSON_FIND_SPECIAL_H_
#define PARLANCE_SRC_JSON_FIND_SPECIAL_H_

// The bytes inside a string of JSON that are not its text.

#include "base/byte_vector.h"

namespace parlance::json {

// The first quote, backslash or control character in [p, end), else end.
inline const char* find_special(const char* p, const char* end) {
#if PARLANCE_BYTE_VECTORS
  for (; end - p >= 16; p += 16) {
    const base::ByteVector block = base::load_bytes(p);
    const base::Hits hits((block < 0x20) | (block == '"') | (block == '\\'));
    if (hits.any()) return p + hits.first();
  }
#endif
  while (p != end && *p != '"' && *p != '\\' &&
         static_cast<unsigned char>(*p) >= 0x20) {
    ++p;
  }
  return p;
}

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_FIND_SPECIAL_H_
