#ifndef PARLANCE_SRC_ARGUMENTS_TO_RULES_H_
#define PARLANCE_SRC_ARGUMENTS_TO_RULES_H_

// The arguments of a call in the styles that write each as an element:
//
//   <parameter=city>Bern</parameter>
//   <parameter=days>3</parameter>
//
// A string is raw text, every other value is JSON, and the object around them
// is a list of elements.  (cohere_xml and minimax_m3_xml write objects and
// arrays inside as elements too.)
//
// A declared name comes at most once, and a required one always: in its place
// or, with any_order, anywhere (member_order.h says how far).
// A name that is not declared may come twice: the last one then gives the
// value, which is as valid as the first.  Where minProperties asks for several
// that are not declared, the first of them differ in kind (name_partition.h),
// so that some objects are not let out.

#include <string>
#include <utility>
#include <vector>

#include "parlance/error.h"
#include "parlance/limits.h"
#include "rules/rules.h"
#include "structural_tag/structural_tag.h"

namespace parlance::arguments {

struct ArgumentOptions {
  structural_tag::ArgumentStyle style =
      structural_tag::ArgumentStyle::kQwenXml;  // not kJson
  bool any_order = false;
  std::uint32_t max_white_space = structural_tag::kUnbounded;
  // What a text that stands alone must not contain: where the schema is not
  // one of objects.
  std::vector<std::string> alone_excludes = {};
  // JsonSchemaBody::excludes.
  std::vector<std::string> excludes = {};
  std::size_t max_exprs = 2'000'000;
  Limits limits = {};
};

struct LoweredArguments {
  rules::ExprId list = rules::kNoId;
  // Schemas whose members come in any order only within limits: the pointer,
  // and a sentence that says which.
  std::vector<std::pair<std::string, std::string>> narrowed = {};
};

// Adds the expressions to `rules` and returns the one for the whole list.
// Pointers are those of `schema`.  Errors: those of schema::load();
// kUnsupported for what cannot be told by elements; kUnsatisfiable; kTooLarge.
Result<LoweredArguments> lower_arguments(const json::Value& schema,
                                         const ArgumentOptions& options,
                                         rules::Rules& rules);

// The members of SchemaExpr::options, see tag_to_rules.h.
json::Value schema_options(bool any_order, std::uint32_t max_white_space,
                           const std::vector<std::string>& excludes);

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_TO_RULES_H_
