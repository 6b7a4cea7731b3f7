#ifndef PARLANCE_CLI_EVENT_JSON_H_
#define PARLANCE_CLI_EVENT_JSON_H_

// Events as JSON.

#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance::cli {

// An event with upstream's members ("type", "field", "text", "dirty", "value"),
// followed by ours: "captures", "cut", "error", "start", "end" and, if tokens
// were fed, "tokens".
json::Value event_json(const Event& event, bool with_tokens);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_EVENT_JSON_H_
