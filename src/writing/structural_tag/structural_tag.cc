// Implements parlance/structural_tag.h.

#include "parlance/structural_tag.h"

#include <utility>

#include "json/located.h"
#include "structural_tag/structural_tag.h"

namespace parlance {
namespace {

std::shared_ptr<const structural_tag::TagTree> share(
    Result<structural_tag::TagTree> tag) {
  return std::make_shared<const structural_tag::TagTree>(std::move(*tag));
}

}  // namespace

Result<StructuralTag> StructuralTag::from_json(std::string_view text,
                                               const Limits& limits) {
  Result<json::Value> source =
      json::parse(text, {.exact_floats = true, .limits = limits});
  if (!source) return std::move(source).error();
  Result<structural_tag::TagTree> tag =
      structural_tag::load_structural_tag(*source, limits);
  if (!tag) return json::place_error(std::move(tag).error(), text);
  return StructuralTag(share(std::move(tag)));
}

Result<StructuralTag> StructuralTag::from_value(const json::Value& source,
                                                const Limits& limits) {
  Result<structural_tag::TagTree> tag =
      structural_tag::load_structural_tag(source, limits);
  if (!tag) return std::move(tag).error();
  return StructuralTag(share(std::move(tag)));
}

Result<StructuralTag> StructuralTag::from_tags(const json::Value& tags,
                                               const json::Value& triggers,
                                               const Limits& limits) {
  Result<structural_tag::TagTree> tag =
      structural_tag::load_legacy_tags(tags, triggers, limits);
  if (!tag) return std::move(tag).error();
  return StructuralTag(share(std::move(tag)));
}

std::vector<GrammarNote> StructuralTag::report() const {
  return structural_tag::notes_of(*impl_);
}

json::Value StructuralTag::to_json() const {
  return structural_tag::to_json(*impl_);
}

}  // namespace parlance
