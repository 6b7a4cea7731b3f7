// Any text as a structural tag: a value or an error with a place in the text;
// what is accepted goes back out and in again, and becomes rules or an error.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/access.h"
#include "grammar/tag_to_rules.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "structural_tag/structural_tag.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tag = parlance::StructuralTag::from_json(text);
  if (!tag) {
    const parlance::Error& error = tag.error();
    require(!error.message.empty());
    require(!error.span || (error.span->begin <= error.span->end &&
                            error.span->end <= text.size()));
    return 0;
  }
  const parlance::json::Value written = tag->to_json();
  const auto again = parlance::StructuralTag::from_value(written);
  require(again && again->to_json() == written);

  parlance::grammar::LowerOptions options;
  options.tokens.vocabulary_size = 1000;
  options.rules.exprs = 20000;
  options.rules.rules = 5000;
  const auto lowered = parlance::grammar::lower_tag(
      *parlance::detail::Access::impl(*tag), options);
  if (lowered) {
    const parlance::rules::Rules& rules = lowered->rules;
    require(rules.root < rules.rules.size());
    require(lowered->schema_paths.size() == rules.schemas.size());
    for (const parlance::rules::Rule& rule : rules.rules) {
      require(rule.body < rules.exprs.size());
    }
    for (const parlance::rules::Expr& expr : rules.exprs) {
      for (const parlance::rules::ExprId child : expr.children) {
        require(child < rules.exprs.size());
      }
    }
  } else {
    require(!lowered.error().message.empty());
  }
  return 0;
}
