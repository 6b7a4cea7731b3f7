#ifndef PARLANCE_SRC_RESPONSE_SCHEMA_READER_H_
#define PARLANCE_SRC_RESPONSE_SCHEMA_READER_H_

#include <string_view>

#include "parlance/error.h"
#include "parlance/json.h"
#include "response_schema/program.h"

namespace parlance::response_schema {

// Reads `text` by a response schema and returns the message.
// REQUIRES: `text` is UTF-8, in which surrogates are allowed.
Result<json::Value> read(const Program& program, std::string_view text);

}  // namespace parlance::response_schema

#endif  // PARLANCE_SRC_RESPONSE_SCHEMA_READER_H_
