#ifndef PARLANCE_TESTS_SUPPORT_GRAMMAR_VECTORS_H_
#define PARLANCE_TESTS_SUPPORT_GRAMMAR_VECTORS_H_

// Recorded vectors of grammars: what they define, as Rules.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "grammar/grammar_impl.h"
#include "notation/ebnf.h"
#include "notation/lark.h"
#include "notation/regex_rules.h"
#include "parlance/grammar.h"
#include "rules/rules.h"
#include "support/vectors.h"

namespace parlance::testing {

inline Result<rules::Rules> rules_of(const json::Value& vector) {
  const std::string_view kind = text_of(vector, "kind");
  if (kind == "union" || kind == "concat") {
    std::vector<rules::Rules> parts;
    for (const json::Value& part : vector.find("parts")->items()) {
      Result<rules::Rules> rules = rules_of(part);
      if (!rules) return rules.error();
      parts.push_back(std::move(*rules));
    }
    return kind == "union" ? rules::union_of(parts) : rules::concat_of(parts);
  }
  const std::string_view spec = text_of(vector, "spec");
  if (kind == "regex") return notation::regex_rules(spec);
  if (kind != "lark") return notation::read_ebnf(spec);
  notation::LarkOptions options;
  const json::Value none;
  const json::Value* given = vector.find("options");
  const json::Value* named =
      given == nullptr ? nullptr : given->find("named_grammars");
  for (const auto& [name, part] : (named ? *named : none).members()) {
    if (text_of(part, "kind") == "lark") {
      options.sources[name] = text_of(part, "spec");
      continue;
    }
    Result<rules::Rules> rules = rules_of(part);
    if (!rules) return rules.error();
    options.grammars[name] = std::move(*rules);
  }
  const json::Value* tokenizer =
      given == nullptr ? nullptr : given->find("tokenizer");
  if (tokenizer != nullptr) {
    options.tokens_spelled = [&](std::string_view spelled) {
      std::vector<rules::Token> tokens;
      const json::Array& words = tokenizer->find("vocab")->items();
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (bytes_of(words[i]) == spelled) {
          tokens.push_back(static_cast<rules::Token>(i));
        }
      }
      return tokens;
    };
  }
  return notation::read_lark(spec, options);
}

// Recognisers of the JSON Schemas that a grammar holds.
class SchemaRecognisers {
 public:
  explicit SchemaRecognisers(const rules::Rules& rules) {
    for (const rules::SchemaExpr& expr : rules.schemas) {
      Result<Grammar> made = Grammar::from_json_schema(expr.schema);
      if (!made) {
        failure_ = made.error().to_string();
        continue;
      }
      grammars_.push_back(*made);
      recognisers_.push_back(
          detail::Access::impl(*made)->language->with_room().get());
    }
  }
  const std::string& failure() const { return failure_; }
  std::span<recogniser::Recogniser* const> recognisers() const {
    return recognisers_;
  }

 private:
  std::vector<Grammar> grammars_;
  std::vector<recogniser::Recogniser*> recognisers_;
  std::string failure_;
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_GRAMMAR_VECTORS_H_
