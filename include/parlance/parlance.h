#ifndef PARLANCE_PARLANCE_H_
#define PARLANCE_PARLANCE_H_

// All public headers.  A program that uses one part of the library compiles
// faster with the header of that part.
//
// Exceptions.  The library throws none of its own: what can fail returns a
// Result (parlance/error.h).  When there is no memory, the std::bad_alloc of
// the standard library passes through, also from threads that a call has
// started, after all of them have ended.  If a thread cannot be started, the
// call uses fewer.  After a std::bad_alloc
//   - nothing is locked, and what is shared (formats, grammars, caches,
//     compilers, constraints, compiled tags, tables of masks) can be used as
//     before, by the same call, too;
//   - a Matcher is where it was before the call; accept_tokens() may have
//     accepted some of its tokens, which steps() counts;
//   - a parser of a stream has ended, and so has a ChatStream or an SseReader,
//     because it is not known how much of the input was read: finalized() is
//     true, and finalize() returns no events; that of a ResponseParser or
//     TagParser adds a diagnostic (kTooLarge) to the message;
//   - a Batch has made the step of some of its rows.

#include "parlance/access.h"
#include "parlance/arrow.h"
#include "parlance/batch.h"
#include "parlance/chat.h"
#include "parlance/constraint.h"
#include "parlance/detect.h"
#include "parlance/error.h"
#include "parlance/explain.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/grammar_cache.h"
#include "parlance/harmony.h"
#include "parlance/hints.h"
#include "parlance/jmespath.h"
#include "parlance/json.h"
#include "parlance/json_pointer.h"
#include "parlance/limit_names.h"
#include "parlance/limits.h"
#include "parlance/message.h"
#include "parlance/message_json.h"
#include "parlance/response_parser.h"
#include "parlance/response_schema.h"
#include "parlance/schema_options.h"
#include "parlance/sse.h"
#include "parlance/stream.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/verify_format.h"
#include "parlance/version.h"
#include "parlance/vocabulary.h"

#endif  // PARLANCE_PARLANCE_H_
