#ifndef PARLANCE_TESTS_SUPPORT_TAG_READER_H_
#define PARLANCE_TESTS_SUPPORT_TAG_READER_H_

// A structural tag with everything that reads its texts, the slow way.

#include <memory>
#include <utility>
#include <vector>

#include "base/access.h"
#include "cfg_recogniser/earley.h"
#include "grammar/grammar_impl.h"
#include "grammar/tag_to_rules.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "rules/schema_options.h"
#include "structural_tag/structural_tag.h"

namespace parlance::testing {

struct TagReader {
  grammar::LoweredTag tag;
  std::vector<Grammar> schemas;
  std::unique_ptr<cfg_recogniser::EarleyRecogniser> recogniser;

  bool accepts(std::string_view text) const {
    return recogniser->accepts(text);
  }
};

inline Result<TagReader> make_tag_reader(
    const json::Value& spec, const grammar::LowerOptions& options = {}) {
  Result<structural_tag::TagTree> tag =
      structural_tag::load_structural_tag(spec);
  if (!tag) return std::move(tag).error();
  Result<grammar::LoweredTag> lowered = grammar::lower_tag(*tag, options);
  if (!lowered) return std::move(lowered).error();
  TagReader out;
  out.tag = std::move(*lowered);
  std::vector<recogniser::Recogniser*> leaves;
  for (std::size_t i = 0; i < out.tag.rules.schemas.size(); ++i) {
    const rules::SchemaExpr& leaf = out.tag.rules.schemas[i];
    Result<Grammar> schema = Grammar::from_json_schema(
        leaf.schema, *rules::read_schema_options(leaf.options));
    if (!schema && schema.error().code == ErrorCode::kUnsatisfiable) {
      leaves.push_back(nullptr);  // matches nothing
      continue;
    }
    if (!schema) {
      Error error = std::move(schema).error();
      error.path = out.tag.schema_paths[i] + " -> " + error.path;
      return error;
    }
    out.schemas.push_back(std::move(*schema));
    leaves.push_back(
        detail::Access::impl(out.schemas.back())->language->with_room().get());
  }
  out.recogniser =
      std::make_unique<cfg_recogniser::EarleyRecogniser>(out.tag.rules, leaves);
  if (!out.recogniser->alive(out.recogniser->start())) {
    return Error{ErrorCode::kUnsatisfiable, "No text fits the structural tag."};
  }
  return out;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_TAG_READER_H_
