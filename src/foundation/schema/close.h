#ifndef PARLANCE_SRC_SCHEMA_CLOSE_H_
#define PARLANCE_SRC_SCHEMA_CLOSE_H_

// Closed schemas: undeclared members and items are forbidden where some are
// declared.
//
// A level is a schema for one value: the root, or a schema for a member or an
// item.  The schemas that apply in place in it ($ref, allOf, anyOf, oneOf, if,
// then, else, dependentSchemas) belong to the level.
//
//   {"properties": {"a": A}}                    additionalProperties: false
//   {"properties": {"a": A},
//    "allOf": [{"properties": {"b": B}}]}       unevaluatedProperties: false
//   {"required": ["a"]}                         stays open
//
// A level that is only a reference is the level that the reference leads to,
// and one that is only a choice (anyOf) is one of the levels in it: an
// alternative without properties stays open beside one that has some.  A level
// that says itself what other members are, with additionalProperties or
// unevaluatedProperties, stays as it is.  Likewise arrays, with prefixItems,
// items and unevaluatedItems.
//
// The schemas in `not`, `if` and `contains` are conditions and stay as written.

#include "schema/document.h"

namespace parlance::schema {

// Sets Node::object_closing and Node::array_closing.  A schema that is a level
// in one place and applies in place in another becomes several nodes with one
// source.  `names_declare`: `"properties": {}` declares, too, and a closed
// level declares the keys that it requires.
//
// REQUIRES: `document` is as load() made it.
// Complexity: O(size of the document), at most three nodes for each.
void close(Document& document, bool names_declare = false);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_CLOSE_H_
