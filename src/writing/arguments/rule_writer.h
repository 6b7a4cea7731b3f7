#ifndef PARLANCE_SRC_ARGUMENTS_RULE_WRITER_H_
#define PARLANCE_SRC_ARGUMENTS_RULE_WRITER_H_

// Writes the rules of the arguments of one schema (to_rules.h).
//
// Files:
//   to_rules.cc           the worklist; objects and arrays; elements
//   raw_text.cc           strings without quotes
//   literals_to_rules.cc  the styles python and delimited
//
// A worklist of rules whose bodies are still to be made replaces recursion, so
// a schema may be recursive.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments/language_rules.h"
#include "arguments/markup.h"
#include "arguments/schema_view.h"
#include "arguments/text_languages.h"
#include "arguments/to_rules.h"
#include "automata/language.h"
#include "schema/document.h"

namespace parlance::arguments {

// `n` as a bound of a repetition.
inline std::uint32_t repeat_bound(std::uint64_t n) {
  return n > 0x7FFFFFFF ? rules::kUnbounded : static_cast<std::uint32_t>(n);
}

class RuleWriter {
 public:
  // All must outlive this.  `loaded` was loaded from `source`.
  RuleWriter(const ArgumentOptions& options, rules::Rules& rules,
             const ArgumentDocument& loaded, const json::Value& source,
             SharedTexts& shared);

  Result<LoweredArguments> write();

 private:
  using ExprId = rules::ExprId;
  using LanguageId = automata::LanguageId;

  // A rule of all members of an object or items of an array.  `call`: they are
  // the keyword arguments of a Python call.
  struct ListKey {
    schema::TypeBits type = schema::kObject;
    bool call = false;
    Conjunction all = {};
    auto operator<=>(const ListKey&) const = default;
  };
  struct Waiting {
    ListKey list;
    rules::RuleId rule;
  };

  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  // The value of a result; nothing, and an error, if it has none.
  template <class T>
  std::optional<T> taken(Result<T> result) {
    if (result) return *std::move(result);
    fail(std::move(result).error());
    return std::nullopt;
  }
  // The pointer of a value, for errors.
  std::string pointer(const Conjunction& all) const {
    return all.empty() ? "" : document_.pointer(all[0].node());
  }

  ExprId root();
  rules::RuleId list_rule(schema::TypeBits type, const Conjunction& all,
                          bool call = false);
  bool is_literal() const { return writes_literals(options_.style); }

  ExprId marker(std::string_view text);
  // `texts` and the texts that every string excludes.
  std::vector<std::string> joined(std::vector<std::string> texts) const;
  const std::vector<std::string>& excludes_in_element() const {
    return excludes_in_element_;
  }
  ExprId schema_expr(const Conjunction& all, std::uint8_t types,
                     bool integers = false);

  // raw_text.cc
  // The texts that contain none of `excludes` and are not among `without`.
  ExprId language(LanguageId id, const Conjunction& all,
                  const std::vector<std::string>& excludes,
                  std::span<const std::string> without = {});
  // Some of the strings that satisfy a conjunction: those of a language with a
  // number of characters between two bounds; and the schemas that the others do
  // not satisfy.
  struct StringSet {
    automata::Languages::Counted counted = {};
    std::vector<json::Value> rules = {};
  };
  bool no_strings(LanguageId language);
  LanguageId language_of(const StringSet& strings);
  // Those that match a constant pattern somewhere, and those that do not.
  StringSet matching(StringSet strings, std::string_view pattern);
  StringSet not_matching(StringSet strings, std::string_view pattern);
  ExprId raw_text(const Conjunction& all, LanguageId language,
                  const std::vector<std::string>& excludes, bool line_feeds);
  ExprId listed_text(const std::vector<std::string>& listed,
                     const std::vector<std::string>& excludes, bool line_feeds);
  ExprId lines(const Conjunction& all, const StringSet& strings,
               const std::vector<std::string>& excludes);
  ExprId written(const Conjunction& all, const StringSet& strings,
                 const std::vector<std::string>& excludes);
  ExprId counted_text(const Conjunction& all, const StringSet& strings,
                      const std::vector<std::string>& excludes);

  // Values and elements.
  ExprId json(const Conjunction& all, std::uint8_t types);
  ExprId value(const Conjunction& all, const TypeGroup& group,
               const std::vector<std::string>& excludes, bool line_feeds);
  ExprId exact_value(const Conjunction& all, const TypeGroup& group,
                     const std::vector<std::string>& excludes, bool cdata);
  ExprId element(ExprId name, const Conjunction& all);
  ExprId exact_element(ExprId name, const Conjunction& all);
  ExprId typed_value(const Conjunction& all);
  ExprId cohere_element(ExprId name, const Conjunction& all);
  ExprId minimax_m3_element(ExprId name, const Conjunction& all);
  void remove_undeclared(ArgumentObject& constraints, const Conjunction& all);

  // Objects and arrays.
  ExprId object(const ListKey& list);
  ExprId array(const ListKey& list);
  std::string why_unwritable(std::string_view name, bool call) const;
  void remove_unwritable(ArgumentObject& constraints, const ListKey& list);
  ExprId extra_members(const ArgumentObject& constraints, const ListKey& list,
                       std::optional<LanguageId> part);
  ExprId extras(const ArgumentObject& constraints, const ListKey& list,
                ExprId any, std::uint64_t least, std::uint64_t most,
                bool first);
  ExprId different(const ArgumentObject& constraints, const ListKey& list,
                   ExprId any, std::uint64_t least, std::uint64_t most,
                   bool first);
  ExprId after_separator(ExprId one);
  ExprId members(const ArgumentObject& constraints, const ListKey& list);
  // Between two members or items; empty if white space is.
  std::string separator() const;

  // literals_to_rules.cc: names with the punctuation after them, and values.
  UndeclaredNames undeclared_names(bool call) const;
  ExprId literal_name(std::string_view name, bool call);
  ExprId literal_names(LanguageId names, const ArgumentObject::Extra& extra,
                       bool call);
  ExprId literal(const Conjunction& all);
  void python_scalars(const Conjunction& all, std::uint8_t types,
                      std::vector<ExprId>& choices);
  ExprId python_string(const Conjunction& all);
  ExprId quoted_character();
  void delimited_scalars(const Conjunction& all, std::uint8_t types,
                         std::vector<ExprId>& choices);

  const ArgumentOptions& options_;
  rules::Rules& rules_;
  const schema::Document& document_;
  const ElementLayout& layout_;
  const std::vector<std::string> excludes_in_element_;
  TextLanguages& languages_;
  ArgumentSchema schema_;
  LanguageRules texts_;
  ExprId space_ = rules::kNoExpr;
  std::map<ListKey, rules::RuleId> list_rules_;
  std::map<Conjunction, rules::RuleId> literal_rules_;
  // By language and excludes.
  std::map<std::pair<LanguageId, std::vector<std::string>>, rules::RuleId>
      counted_texts_;
  rules::RuleId quoted_character_ = rules::kNoRule;
  std::vector<Waiting> waiting_;
  std::vector<GrammarNote> narrowed_;
  std::optional<Error> error_;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_RULE_WRITER_H_
