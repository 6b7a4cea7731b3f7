// The doors of parlance/grammar.h for what is written as rules.

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grammar/ebnf.h"
#include "grammar/json_machine.h"
#include "grammar/lark.h"
#include "grammar/lower_tag.h"
#include "grammar/machine.h"
#include "grammar/regex_rules.h"
#include "grammar/rules_machine.h"
#include "grammar/schema_options.h"
#include "grammar/structural_tag.h"
#include "grammar/tag_leaf.h"
#include "grammar/trigger_automaton.h"
#include "grammar/trigger_ways.h"
#include "json/located.h"
#include "parlance/grammar.h"
#include "schema/document.h"

namespace parlance {
namespace {

using grammar::Rules;
using Leaf = Grammar::Machine::Leaf;

// Asked between the steps of a compile; schemas ask by themselves.
bool cancelled(const GrammarLimits& limits) {
  return limits.cancelled != nullptr &&
         limits.cancelled(limits.cancelled_argument);
}

Error cancelled_error() {
  return Error{ErrorCode::kTooLarge, "The compile was cancelled."};
}

// Schemas whose options are a number are those of `given`.
std::vector<Leaf> leaves_of(const Rules& rules, const GrammarLimits& limits,
                            const std::vector<Leaf>& given = {}) {
  std::vector<Leaf> leaves;
  for (const grammar::SchemaExpr& expr : rules.schemas) {
    if (expr.options.kind() == json::Kind::kInt) {
      leaves.push_back(given[static_cast<std::size_t>(expr.options.as_int())]);
      continue;
    }
    // Readers have checked the options.
    Leaf leaf{std::make_shared<const json::Value>(expr.schema),
              *grammar::read_schema_options(expr.options), expr.span};
    leaf.options.limits = limits;
    leaves.push_back(std::move(leaf));
  }
  return leaves;
}

// Null for a schema that no text fits.
Result<std::unique_ptr<grammar::Recogniser>> leaf_recogniser(
    const Leaf& leaf, std::vector<SchemaNote>& notes) {
  const JsonSchemaOptions& options = leaf.options;
  schema::LoadOptions load;
  if (options.draft) load.draft = static_cast<schema::Draft>(*options.draft);
  load.assert_formats = options.assert_formats;
  for (const auto& [url, document] : options.documents) {
    load.documents.emplace_back(url, document);
  }
  const auto locate = [&](std::string& path, std::string& message) {
    if (leaf.path.empty()) return;
    if (!leaf.in_place && !path.empty()) {
      message = "In the schema that is made here, at " + path + ": " + message;
    }
    path = leaf.in_place ? leaf.path + path : leaf.path;
  };
  const auto fail = [&](Error error) -> Error {
    if (leaf.span) error.span = leaf.span;
    locate(error.path, error.message);
    return error;
  };
  Result<schema::Document> document = schema::load(*leaf.schema, load);
  if (!document) return fail(std::move(document).error());
  Result<std::unique_ptr<grammar::JsonMachine>> made =
      grammar::JsonMachine::create(std::move(*document), options);
  if (!made && made.error().code == ErrorCode::kUnsatisfiable) {
    return std::unique_ptr<grammar::Recogniser>();
  }
  if (!made) return fail(std::move(made).error());
  for (SchemaNote note : (*made)->notes()) {
    locate(note.path, note.message);
    notes.push_back(std::move(note));
  }
  return std::unique_ptr<grammar::Recogniser>(std::move(*made));
}

Result<std::shared_ptr<Grammar::Machine>> make(Rules rules,
                                               std::vector<Leaf> leaves,
                                               const GrammarLimits& limits) {
  auto machine = std::make_shared<Grammar::Machine>();
  std::vector<std::unique_ptr<grammar::Recogniser>> schemas;
  for (Leaf& leaf : leaves) {
    if (cancelled(limits)) return cancelled_error();
    // Not whom its first compile asked: that may be gone.
    leaf.options.limits.cancelled = limits.cancelled;
    leaf.options.limits.cancelled_argument = limits.cancelled_argument;
    Result<std::unique_ptr<grammar::Recogniser>> made =
        leaf_recogniser(leaf, machine->notes);
    if (!made) return std::move(made).error();
    schemas.push_back(std::move(*made));
  }
  if (cancelled(limits)) return cancelled_error();
  auto recogniser = std::make_unique<grammar::RulesMachine>(
      rules, std::move(schemas),
      grammar::RulesMachineLimits{.bytes = limits.bytes});
  if (cancelled(limits)) return cancelled_error();
  if (recogniser->start().dead()) {
    if (recogniser->overflowed()) {
      return Error{ErrorCode::kTooLarge,
                   "The beginning of the grammar needs more than "
                   "GrammarLimits::bytes."};
    }
    return Error{ErrorCode::kUnsatisfiable, "No text fits the grammar."};
  }
  machine->recogniser = std::move(recogniser);
  machine->rules = std::make_shared<const Rules>(std::move(rules));
  machine->leaves = std::move(leaves);
  return machine;
}

// Triggers of free text that no text is read as.
void note_hidden_triggers(const Rules& rules, std::vector<SchemaNote>& notes) {
  const auto note = [&](std::string message) {
    notes.push_back(
        {SchemaNote::Kind::kNarrowed, "TagDispatch", "", std::move(message)});
  };
  for (const grammar::FreeTextExpr& text : rules.free_texts) {
    const auto excluded = grammar::word_automaton(text.excludes);
    std::vector<std::string> triggers;
    for (const auto& trigger : text.triggers) {
      if (const auto found = excluded.first_in(trigger.text)) {
        note("The trigger '" + trigger.text + "' contains '" +
             text.excludes[*found] +
             "', which is excluded, so it is never read.");
      } else {
        triggers.push_back(trigger.text);
      }
    }
    for (const grammar::HiddenWord& hidden : grammar::hidden_words(triggers)) {
      note(grammar::hidden_message(triggers[hidden.word],
                                   triggers[hidden.inside]));
    }
  }
}

// The rules of any grammar; its leaves are those of its machine.
Rules rules_of(const Grammar& grammar) {
  const Grammar::Machine& machine = *grammar.machine();
  if (machine.rules != nullptr) return *machine.rules;
  Rules rules;
  rules.root = rules.add_rule("root");
  rules.rules[rules.root].body = rules.schema({*machine.leaves.front().schema});
  return rules;
}

}  // namespace

Result<Grammar> Grammar::from_ebnf(std::string_view text,
                                   const EbnfOptions& options) {
  Result<Rules> rules = grammar::read_ebnf(text, options.root_rule);
  if (!rules) return std::move(rules).error();
  std::vector<Leaf> leaves = leaves_of(*rules, options.limits);
  auto made = make(std::move(*rules), std::move(leaves), options.limits);
  if (!made) return std::move(made).error();
  note_hidden_triggers(*(*made)->rules, (*made)->notes);
  return Grammar(std::move(*made));
}

Result<Grammar> Grammar::from_regex(std::string_view pattern,
                                    const GrammarLimits& limits) {
  Result<Rules> rules = grammar::regex_rules(pattern);
  if (!rules) return std::move(rules).error();
  auto made = make(std::move(*rules), {}, limits);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

Result<Grammar> Grammar::from_lark(std::string_view text) {
  return from_lark(text, {});
}

Result<Grammar> Grammar::from_lark(std::string_view text,
                                   const LarkGrammarOptions& options) {
  grammar::LarkOptions reading;
  std::vector<Leaf> given;
  for (const auto& [name, grammar] : options.grammars) {
    Rules& rules = reading.grammars[name] = rules_of(grammar);
    const std::vector<Leaf>& leaves = grammar.machine()->leaves;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      rules.schemas[i].options =
          json::Value(static_cast<std::int64_t>(given.size()));
      given.push_back(leaves[i]);
      given.back().span = std::nullopt;
    }
  }
  reading.sources = options.sources;
  reading.tokens_spelled = options.tokens_spelled;
  Result<Rules> rules = grammar::read_lark(text, reading);
  if (!rules) return std::move(rules).error();
  std::vector<Leaf> leaves = leaves_of(*rules, options.limits, given);
  auto made = make(std::move(*rules), std::move(leaves), options.limits);
  if (!made) return std::move(made).error();
  note_hidden_triggers(*(*made)->rules, (*made)->notes);
  return Grammar(std::move(*made));
}

namespace {

// Spans of errors count bytes of the string that their pointer names.
Result<std::shared_ptr<Grammar::Machine>> make_tag(
    const StructuralTag& tag, const StructuralTagGrammarOptions& options) {
  grammar::LowerOptions lowering;
  lowering.find_token = options.find_token;
  lowering.vocabulary_size = options.vocabulary_size;
  lowering.cancelled = [&] { return cancelled(options.limits); };
  Result<grammar::LoweredTag> lowered =
      grammar::lower_tag(*tag.tree(), lowering);
  if (!lowered) return std::move(lowered).error();
  std::vector<Leaf> leaves = leaves_of(lowered->rules, options.limits);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i].path = lowered->schema_paths[i];
    leaves[i].in_place = lowered->schema_in_place[i];
  }
  auto made =
      make(std::move(lowered->rules), std::move(leaves), options.limits);
  if (!made) return made;
  for (auto& [path, message] : lowered->narrowed) {
    (*made)->notes.push_back({SchemaNote::Kind::kNarrowed, "any_order",
                              std::move(path), std::move(message)});
  }
  for (grammar::HiddenTrigger& hidden : grammar::hidden_triggers(*tag.tree())) {
    (*made)->notes.push_back(
        {SchemaNote::Kind::kNarrowed, std::string(hidden.keyword),
         std::move(hidden.path), std::move(hidden.message)});
  }
  return made;
}

}  // namespace

Result<Grammar> Grammar::from_structural_tag(
    const StructuralTag& tag, const StructuralTagGrammarOptions& options) {
  auto made = make_tag(tag, options);
  if (made) return Grammar(std::move(*made));
  Error error = std::move(made).error();
  error.span = std::nullopt;  // there is no text to count in
  return error;
}

Result<Grammar> Grammar::from_structural_tag(
    std::string_view text, const StructuralTagGrammarOptions& options) {
  Result<StructuralTag> tag = StructuralTag::from_json(text);
  if (!tag) return std::move(tag).error();
  auto made = make_tag(*tag, options);
  if (!made) return json::place_error(std::move(made).error(), text);
  return Grammar(std::move(*made));
}

namespace {

Result<std::shared_ptr<Grammar::Machine>> combine(
    const std::vector<Grammar>& parts, const GrammarLimits& limits,
    Rules (*joined)(const std::vector<Rules>&)) {
  if (parts.empty()) {
    return Error{ErrorCode::kEmptyValue,
                 "A grammar made of others needs at least one."};
  }
  std::vector<Rules> rules;
  std::vector<Leaf> leaves;
  for (const Grammar& part : parts) {
    rules.push_back(rules_of(part));
    for (Leaf leaf : part.machine()->leaves) {
      leaf.span = std::nullopt;  // in a text that is not at hand
      leaves.push_back(std::move(leaf));
    }
  }
  return make(joined(rules), std::move(leaves), limits);
}

}  // namespace

std::string Grammar::to_ebnf() const {
  Rules rules = rules_of(*this);
  for (std::size_t i = 0; i < rules.schemas.size(); ++i) {
    rules.schemas[i].options =
        grammar::write_schema_options(machine_->leaves[i].options);
  }
  return grammar::to_ebnf(rules);
}

Result<Grammar> Grammar::union_of(const std::vector<Grammar>& parts,
                                  const GrammarLimits& limits) {
  auto made = combine(parts, limits, grammar::union_of);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

Result<Grammar> Grammar::concat(const std::vector<Grammar>& parts,
                                const GrammarLimits& limits) {
  auto made = combine(parts, limits, grammar::concat_of);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

namespace grammar {

Result<TagLeaf> make_tag_leaf(const StructuralTag& tag, FormatId id,
                              const LowerOptions& lowering,
                              const GrammarLimits& limits) {
  Result<LoweredTag> lowered = lower_leaf(tag, id, lowering);
  if (!lowered) return std::move(lowered).error();
  const Rules& rules = lowered->rules;
  std::vector<SchemaNote> notes;
  std::vector<std::unique_ptr<Recogniser>> schemas;
  std::vector<Leaf> leaves = leaves_of(rules, limits);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i].path = lowered->schema_paths[i];
    leaves[i].in_place = lowered->schema_in_place[i];
    Result<std::unique_ptr<Recogniser>> made =
        leaf_recogniser(leaves[i], notes);
    if (!made) return std::move(made).error();
    schemas.push_back(std::move(*made));
  }
  TagLeaf out;
  if (rules.exprs[rules.rules[rules.root].body].kind == ExprKind::kSchema) {
    out.recogniser = std::move(schemas.front());
    return out;
  }
  auto machine = std::make_unique<RulesMachine>(
      rules, std::move(schemas), RulesMachineLimits{.bytes = limits.bytes});
  if (machine->overflowed()) {
    return Error{ErrorCode::kTooLarge,
                 "The beginning of the format needs more than "
                 "GrammarLimits::bytes.",
                 tag[id].path};
  }
  if (!machine->start().dead()) out.recogniser = std::move(machine);
  out.reads_tokens =
      !rules.token_sets.empty() || !rules.token_texts.empty() ||
      std::any_of(rules.rules.begin(), rules.rules.end(), [](const Rule& rule) {
        return rule.options.max_tokens.has_value();
      });
  return out;
}

}  // namespace grammar
}  // namespace parlance
