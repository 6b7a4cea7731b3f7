#ifndef PARLANCE_SRC_INVERSION_BARE_H_
#define PARLANCE_SRC_INVERSION_BARE_H_

// How a format without "write" is written, derived from how it is read.
//
//   "open_pattern": "<tool>(?P<name>\\w+)</tool>\\s*",  "close": "<end>",
//   "content": "json", "transform": {"function": {"name": "{name}",
//                                                 "arguments": "{content}"}}
//
//   {"parts": ["<tool>", {"name": "raw"}, "</tool>", {"arguments": "json"},
//              "<end>"]}
//
// Delimiters have their shortest spelling, the calls follow the content, and
// the content follows the reasoning.  What is derived is a guess at what the
// model was trained to write, but not about what the reader reads: every call
// is verified (verify.h).

#include "format/description.h"
#include "format/family.h"
#include "parlance/error.h"

namespace parlance::inversion {

// Errors: kUnsupported, naming the field and the construct, with the pointer
// into the template.
Result<format::Writing> derive_writing(const format::FormatImpl& format);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_BARE_H_
