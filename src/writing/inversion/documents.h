#ifndef PARLANCE_SRC_INVERSION_DOCUMENTS_H_
#define PARLANCE_SRC_INVERSION_DOCUMENTS_H_

// What keeps a JSON document, as the text of a field, apart from other fields.
//
// An opener that is a text cannot occur in JSON except inside a string, and
// strings exclude texts.  An opener that is a pattern matches
//
//   inside a string    \[\w+\(              no string may match the pattern
//   across strings     \{\s*"name"\s*:      the reader opens a region of calls
//                                           and decides by the value: if it is
//                                           no call, it is content again.  So
//                                           no part may be a call
//   outside strings    \{\s*\}              nothing keeps such documents apart

#include <optional>
#include <string>
#include <vector>

#include "format/description.h"
#include "format/family.h"
#include "parlance/json.h"

namespace parlance::inversion {

struct DocumentRule {
  // Schemas that no part of a document may satisfy.
  json::Array refused = {};
  // Patterns that no name of a member may match.
  std::vector<std::string> names = {};
  // What that means, for people.
  std::vector<std::string> notes = {};
  // Keys that only a schema has which requires calls; empty if `refused` has
  // none.
  std::vector<std::string> call_keys = {};
  // Whether a document may contain an opener all the same.
  bool impossible = false;
};

// For a text that must not contain a match of `patterns`.  `calls` is the field
// of calls, if there is one.
DocumentRule document_rule(const format::FormatImpl& format,
                           const std::vector<std::string>& patterns,
                           std::optional<format::FieldId> calls);

// `schema` with what the rule requires.
json::Value with_rule(json::Value schema, const DocumentRule& rule);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_DOCUMENTS_H_
