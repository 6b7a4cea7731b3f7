#ifndef PARLANCE_SRC_PARSE_SCHEMA_READER_H_
#define PARLANCE_SRC_PARSE_SCHEMA_READER_H_

#include <string_view>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parse/schema_program.h"

namespace parlance::parse {

// The message that `text`, well-formed but for surrogates, is by a schema.
Result<json::Value> read_by_schema(const SchemaProgram& program,
                                   std::string_view text);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_SCHEMA_READER_H_
