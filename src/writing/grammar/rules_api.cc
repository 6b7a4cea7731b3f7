// Implements the functions of parlance/grammar.h for EBNF, GBNF, Lark and
// regexes.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "automata/shadowed_words.h"
#include "base/access.h"
#include "grammar/compile.h"
#include "grammar/grammar_impl.h"
#include "grammar/source.h"
#include "notation/ebnf.h"
#include "notation/lark.h"
#include "notation/regex_rules.h"
#include "parlance/grammar.h"
#include "rules/schema_options.h"

namespace parlance {
namespace {

using grammar::EmbeddedSchema;
using rules::Rules;

// Adds a note for each trigger of free text that can never be read.
void note_hidden_triggers(const Rules& rules, std::vector<GrammarNote>& notes) {
  const auto note = [&](std::string message) {
    notes.push_back(
        {GrammarNote::Kind::kNarrowed, "TagDispatch", "", std::move(message)});
  };
  for (const rules::FreeTextExpr& text : rules.free_texts) {
    const auto excluded = automata::word_automaton(text.excludes);
    std::vector<std::string> triggers;
    for (const auto& trigger : text.triggers) {
      if (const auto found = excluded.first_in(trigger.text)) {
        note("The trigger '" + trigger.text + "' contains '" +
             text.excludes[*found] +
             "', which is excluded, so it is never read.");
      } else if (text.exclude_dfa != nullptr &&
                 text.exclude_dfa->always_finds(trigger.text)) {
        note("The trigger '" + trigger.text +
             "' contains a match of a pattern that is excluded, so it is "
             "never read.");
      } else {
        triggers.push_back(trigger.text);
      }
    }
    for (const automata::ShadowedWord& hidden :
         automata::shadowed_words(triggers)) {
      note(automata::shadowed_message(triggers[hidden.word],
                                      triggers[hidden.inside]));
    }
  }
}

// The rules of any grammar.  rules.schemas[i] is the schema of impl.schemas[i].
Rules rules_of(const Grammar& grammar) {
  const grammar::GrammarImpl& impl = *detail::Access::impl(grammar);
  if (impl.rules != nullptr) return *impl.rules;
  Rules rules;
  rules.root = rules.add_rule("root");
  rules.rules[rules.root].body = rules.schema({*impl.schemas.front().schema});
  return rules;
}

// What follows a prefix in one text need not follow it in a text of several
// parts, so the rules cannot be joined.
Error prefix_error(const std::string& part) {
  return Error{ErrorCode::kUnsupported,
               part +
                   " continues a prefix, and a grammar that does cannot be a "
                   "part of another one."};
}

}  // namespace

namespace grammar {

ImplResult ebnf_grammar(std::string_view text, const EbnfOptions& options,
                        recogniser::PartCache* cache) {
  Result<Rules> rules = notation::read_ebnf(text, options.root_rule);
  if (!rules) return std::move(rules).error();
  std::vector<EmbeddedSchema> schemas = schemas_of(*rules, options.limits);
  ImplResult made =
      make_impl(std::move(*rules), std::move(schemas), {options.limits, cache});
  if (!made) return made;
  note_hidden_triggers(*(*made)->rules, (*made)->notes);
  (*made)->source = ebnf_source(text, options);
  return made;
}

ImplResult gbnf_grammar(std::string_view text, const GbnfOptions& options,
                        recogniser::PartCache* cache) {
  notation::GbnfOptions reading{.root_rule = options.root_rule};
  LookedUp tokens;
  reading.tokens_spelled = recorded(options.tokens_spelled, tokens);
  Result<Rules> rules = notation::read_gbnf(text, reading);
  if (!rules) return std::move(rules).error();
  ImplResult made = make_impl(std::move(*rules), {}, {options.limits, cache});
  if (made) (*made)->source = gbnf_source(text, options, std::move(tokens));
  return made;
}

ImplResult regex_grammar(std::string_view pattern,
                         const GrammarLimits& limits) {
  Result<Rules> rules = notation::regex_rules(pattern);
  if (!rules) return std::move(rules).error();
  ImplResult made = make_impl(std::move(*rules), {}, {limits, nullptr});
  if (made) (*made)->source = regex_source(pattern, limits);
  return made;
}

ImplResult lark_grammar(std::string_view text,
                        const LarkGrammarOptions& options,
                        recogniser::PartCache* cache) {
  notation::LarkOptions reading;
  std::vector<EmbeddedSchema> given;
  for (const auto& [name, grammar] : options.grammars) {
    Rules& rules = reading.grammars[name] = rules_of(grammar);
    const std::vector<EmbeddedSchema>& schemas =
        detail::Access::impl(grammar)->schemas;
    for (std::size_t i = 0; i < schemas.size(); ++i) {
      rules.schemas[i].options =
          json::Value(static_cast<std::int64_t>(given.size()));
      given.push_back(schemas[i]);
      given.back().span = std::nullopt;
    }
  }
  reading.sources = options.sources;
  for (const auto& [name, rules] : reading.grammars) {
    if (!rules.prefix.empty()) return prefix_error("\"@" + name + "\"");
  }
  LookedUp tokens;
  reading.tokens_spelled = recorded(options.tokens_spelled, tokens);
  reading.start_rule = options.start_rule;
  std::vector<std::string> declared;
  Result<Rules> rules = notation::read_lark(text, reading, &declared);
  if (!rules) return std::move(rules).error();
  std::vector<EmbeddedSchema> schemas =
      schemas_of(*rules, options.limits, given);
  ImplResult made =
      make_impl(std::move(*rules), std::move(schemas), {options.limits, cache});
  if (!made) return made;
  note_hidden_triggers(*(*made)->rules, (*made)->notes);
  for (const std::string& name : declared) {
    (*made)->notes.push_back(
        {GrammarNote::Kind::kNarrowed, "%declare", "",
         "The terminal '" + name +
             "' is declared, and nothing says what its text is, so no text "
             "has it."});
  }
  (*made)->source = lark_source(text, options, std::move(tokens));
  return made;
}

}  // namespace grammar

Result<Grammar> Grammar::from_ebnf(std::string_view text,
                                   const EbnfOptions& options) {
  auto made = grammar::ebnf_grammar(text, options, nullptr);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

Result<Grammar> Grammar::from_gbnf(std::string_view text,
                                   const GbnfOptions& options) {
  auto made = grammar::gbnf_grammar(text, options, nullptr);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

Result<Grammar> Grammar::from_regex(std::string_view pattern,
                                    const GrammarLimits& limits) {
  auto made = grammar::regex_grammar(pattern, limits);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

Result<Grammar> Grammar::from_lark(std::string_view text) {
  return from_lark(text, {});
}

Result<Grammar> Grammar::from_lark(std::string_view text,
                                   const LarkGrammarOptions& options) {
  auto made = grammar::lark_grammar(text, options, nullptr);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

namespace {

Result<std::shared_ptr<grammar::GrammarImpl>> combine(
    const std::vector<Grammar>& parts, const GrammarLimits& limits,
    bool in_sequence) {
  if (parts.empty()) {
    return Error{ErrorCode::kEmptyValue,
                 "A grammar made of others needs at least one."};
  }
  std::vector<Rules> rules;
  std::vector<EmbeddedSchema> schemas;
  for (const Grammar& part : parts) {
    rules.push_back(rules_of(part));
    if (!rules.back().prefix.empty()) return prefix_error("A grammar here");
    for (EmbeddedSchema embedded : detail::Access::impl(part)->schemas) {
      embedded.span = std::nullopt;  // it counts bytes of the part's own source
      schemas.push_back(std::move(embedded));
    }
  }
  auto made = grammar::make_impl(
      in_sequence ? rules::concat_of(rules) : rules::union_of(rules),
      std::move(schemas), {limits, nullptr});
  if (made) (*made)->source = grammar::parts_source(parts, in_sequence, limits);
  return made;
}

}  // namespace

std::string Grammar::to_ebnf() const {
  Rules rules = rules_of(*this);
  for (std::size_t i = 0; i < rules.schemas.size(); ++i) {
    rules.schemas[i].options =
        rules::write_schema_options(impl_->schemas[i].options);
  }
  return notation::to_ebnf(rules);
}

Result<Grammar> Grammar::union_of(const std::vector<Grammar>& parts,
                                  const GrammarLimits& limits) {
  auto made = combine(parts, limits, false);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

Result<Grammar> Grammar::concat(const std::vector<Grammar>& parts,
                                const GrammarLimits& limits) {
  auto made = combine(parts, limits, true);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

}  // namespace parlance
