#ifndef PARLANCE_MESSAGE_JSON_H_
#define PARLANCE_MESSAGE_JSON_H_

// Events and diagnostics as JSON, as every output in JSON has them.
//
//   for (const Event& event : parser.feed(chunk)) {
//     send(json::dump(to_json(event, parser.reads_tokens())));
//   }

#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance {

// {"type", "field", "start", "end"}, and by the kind of the event:
//
//   kRegionOpen       "captures", an object, if there are any
//   kRegionChunk      "text", "dirty"
//   kRegionClose      "value"; "cut": true if Event::cut
//   kRegionMalformed  "text", "error"; "cut": true if Event::cut
//   kTextUnclaimed    "text", "error"
//   kCallOpen         "call", "name"; "id" if the model wrote one
//   kCallArguments    "call", "text"
//   kCallClose        "call"
//   kCallAttempt      "attempt", see to_json() of an Attempt
//
// "error" is {"code", "message"}.  "start" and "end" are Event::bytes.
// `with_tokens` adds "tokens", a pair.
json::Value to_json(const Event& event, bool with_tokens = false);

// {"code", "message", "field": a name or null, "span": [begin, end]}
json::Value to_json(const Diagnostic& diagnostic);

}  // namespace parlance

#endif  // PARLANCE_MESSAGE_JSON_H_
