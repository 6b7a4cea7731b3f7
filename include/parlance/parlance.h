#ifndef PARLANCE_PARLANCE_H_
#define PARLANCE_PARLANCE_H_

// All public headers.  A program that uses one part of the library compiles
// faster with the header of that part.

#include "parlance/access.h"
#include "parlance/arrow.h"
#include "parlance/batch.h"
#include "parlance/captures.h"
#include "parlance/chat.h"
#include "parlance/chat_message.h"
#include "parlance/constraint.h"
#include "parlance/detect.h"
#include "parlance/error.h"
#include "parlance/explain.h"
#include "parlance/flat_json.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/grammar_cache.h"
#include "parlance/grammar_reader.h"
#include "parlance/harmony.h"
#include "parlance/harmony_message.h"
#include "parlance/jmespath.h"
#include "parlance/json.h"
#include "parlance/json_place.h"
#include "parlance/limits.h"
#include "parlance/line_column.h"
#include "parlance/mask_table.h"
#include "parlance/message.h"
#include "parlance/response_fields.h"
#include "parlance/response_parser.h"
#include "parlance/response_schema.h"
#include "parlance/schema_options.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/version.h"
#include "parlance/vocabulary.h"

#endif  // PARLANCE_PARLANCE_H_
