#ifndef PARLANCE_SRC_ARGUMENTS_TO_RULES_H_
#define PARLANCE_SRC_ARGUMENTS_TO_RULES_H_

// The arguments of a call in the styles other than json.  Most write each as an
// element:
//
//   <parameter=city>Bern</parameter>
//   <parameter=days>3</parameter>
//
// A string is raw text, every other value is JSON, and the enclosing object is
// a list of elements.  (cohere_xml and minimax_m3_xml write nested objects and
// arrays as elements too.)  In the styles python and delimited it is written as
// literals:
//
//   city="Bern", days=3             {city:<|"|>Bern<|"|>,days:3}
//
// A declared name comes at most once, and a required name exactly once: in the
// order of the schema or, with any_order, in any order within the limits of
// member_order.h.  An undeclared name may come twice: then the last element
// gives the value, which is as valid as the first.  If minProperties requires
// several undeclared names, the first of them are from different parts
// (name_partition.h), so some objects are not generated.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arguments/language_rules.h"
#include "arguments/text_languages.h"
#include "parlance/error.h"
#include "parlance/limits.h"
#include "parlance/schema_options.h"
#include "rules/rules.h"
#include "structural_tag/structural_tag.h"

namespace parlance::arguments {

struct ArgumentDocument;  // schema_view.h

struct ArgumentOptions {
  structural_tag::ArgumentStyle style =
      structural_tag::ArgumentStyle::kQwenXml;  // not kJson
  // element_layout() of the node.
  structural_tag::ElementLayout layout = {};
  structural_tag::DelimitedLayout delimited = {};
  bool any_order = false;
  std::uint32_t max_white_space = structural_tag::kUnbounded;
  // The texts that a value must not contain if the schema is not a schema of
  // objects, so that the value is written without elements.
  std::vector<std::string> alone_excludes = {};
  // JsonSchemaBody::excludes.
  std::vector<std::string> excludes = {};
  std::size_t max_exprs = 2'000'000;
  Limits limits = {};
};

struct LoweredArguments {
  rules::ExprId list = rules::kNoExpr;
  // What the rules leave out of the language of the schema.
  std::vector<GrammarNote> narrowed = {};
  // Rules whose bodies LinkTexts writes.
  std::vector<TextRule> texts = {};
  // The schema, for a reader of the same arguments.
  std::shared_ptr<const ArgumentDocument> document = {};
};

// Adds the expressions to `rules` and returns the one for the whole list, and
// the rules that have no body yet.
// `shared`: what the schemas of one compile share; may be null.
// Pointers are those of `schema`.  Errors: those of schema::load();
// kUnsupported for constraints that elements cannot enforce; kUnsatisfiable;
// kTooLarge.
Result<LoweredArguments> lower_arguments(const json::Value& schema,
                                         const ArgumentOptions& options,
                                         rules::Rules& rules,
                                         SharedTexts* shared = nullptr);

// The JSON texts of a tag that a schema describes, of these types at the root.
// Their numbers are in the range of a double, since a reader of JSON makes
// infinity of any other.  The options are those of tag_to_rules.h.
rules::SchemaExpr json_texts(json::Value schema, std::uint8_t types,
                             bool any_order, std::uint32_t max_white_space,
                             const std::vector<std::string>& excludes);

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_TO_RULES_H_
