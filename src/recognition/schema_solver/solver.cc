// Conjunctions, and the rules of disjuncts for members and items.  The
// expansion of conjunctions is in expander.h, satisfiability in
// satisfiability.h, what is known of the keys of an object in key_tables.cc.

#include "schema_solver/solver.h"

#include <algorithm>
#include <unordered_set>

#include "base/work.h"
#include "schema_solver/expander.h"
#include "schema_solver/node_checks.h"

namespace parlance::schema_solver {
namespace {

std::uint64_t hash_of(const std::vector<Literal>& literals) {
  std::uint64_t hash = literals.size();
  for (const Literal literal : literals) {
    hash = (hash ^ literal.bits()) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
  return hash;
}

// For a node without rules of its own, the node that has the same values: the
// target of its reference, or the only element of its allOf, anyOf or oneOf.
// kNoNode for any other node.
NodeId wrapped_node(const schema::Node& node) {
  if (node.types != schema::kAllTypes || node.integer_only || node.scalars ||
      node.number_rules != nullptr || node.string_rules != nullptr ||
      node.array_rules != nullptr || node.object_rules != nullptr ||
      node.not_node != schema::kNoNode || node.if_node != schema::kNoNode ||
      node.object_closing != schema::Closing::kNone ||
      node.array_closing != schema::Closing::kNone) {
    return schema::kNoNode;
  }
  NodeId only = node.ref;
  std::size_t parts = only == schema::kNoNode ? 0 : 1;
  const auto see = [&](bool has, const std::vector<NodeId>& list) {
    if (!has) return;
    // A list of several is no wrapper, and neither is an empty one, which no
    // value satisfies.
    parts += list.size() == 1 ? 1 : 2;
    if (list.size() == 1) only = list.front();
  };
  see(!node.all_of.empty(), node.all_of);
  see(node.has_any_of, node.any_of);
  see(node.has_one_of, node.one_of);
  return parts == 1 ? only : schema::kNoNode;
}

}  // namespace

SchemaSolver::SchemaSolver(const schema::Document& document,
                           const ItemChoices& choices,
                           const JsonSchemaOptions& options,
                           automata::Languages* languages)
    : document_(document),
      choices_(choices),
      options_(options),
      own_languages_(
          languages != nullptr
              ? nullptr
              : std::make_unique<automata::Languages>(automata::LanguageLimits{
                    .bytes = options.limits.bytes / 2, .search_states = 4000})),
      languages_(languages != nullptr ? *languages : *own_languages_),
      string_sets_(document, languages_),
      names_(document),
      facts_(document, string_sets_),
      overlaps_(document, options),
      member_conditions_(document, names_, overlaps_, conditions_),
      keys_(*this, key_sets_),
      values_(*this, questions_),
      satisfiability_(*this, questions_),
      steps_(options.limits.steps) {
  // kAnything and kNothing.  Conjunctions, types_ and expansions_ are in step.
  conjunctions_.push_back({});
  conjunctions_.push_back({kNever});
  expansions_.resize(2);
  types_ = {schema::kAllTypes, 0};
  for (const schema::Node& node : document_.nodes) {
    has_unevaluated_ =
        has_unevaluated_ ||
        node.objects().unevaluated_properties != schema::kNoNode ||
        node.arrays().unevaluated_items != schema::kNoNode ||
        node.object_closing == schema::Closing::kUnevaluated ||
        node.array_closing == schema::Closing::kUnevaluated;
  }
  spells_enum_.assign(document_.nodes.size(), false);
  for (const schema::Node& node : document_.nodes) {
    for (const NodeId child : node.enum_nodes) spells_enum_[child] = true;
  }
}

std::optional<Error> SchemaSolver::check_nodes() {
  return schema_solver::check_nodes(
      {document_, options_, choices_, string_sets_, notes_});
}

SchemaSolver::~SchemaSolver() = default;

Literal SchemaSolver::unwrapped(Literal literal) const {
  if (literal >= kNever) return literal;
  // Ends: the loader refuses references that come back in one place
  // (document.h).
  NodeId node = literal.node();
  while (true) {
    const NodeId inner = wrapped_node(document_.node(node));
    if (inner == schema::kNoNode) return literal.of(node);
    node = inner;
  }
}

// Interned in canonical form: wrappers are taken off, trivial literals are
// dropped, the others are sorted, and a contradiction gives kNothing.
ConjunctionId SchemaSolver::conjunction(std::vector<Literal> literals) {
  std::size_t kept = 0;
  for (Literal literal : literals) {
    if (literal == kNever) return kNothing;
    literal = unwrapped(literal);
    const schema::Node* node = &document_.node(literal.node());
    const bool negated = literal.negated();
    if (node->types == 0) {
      if (!negated) return kNothing;
      continue;
    }
    if (node->accepts_everything()) {
      if (negated) return kNothing;
      continue;
    }
    literals[kept++] = literal;
  }
  literals.resize(kept);
  if (literals.empty()) return kAnything;
  std::sort(literals.begin(), literals.end());
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  for (std::size_t i = 1; i < literals.size(); ++i) {
    // In their order a node and its negation are neighbours (literal.h).
    if (literals[i] == negation(literals[i - 1])) return kNothing;
  }
  const std::uint64_t hash = hash_of(literals);
  if (const auto known = conjunction_of_.find(hash, [&](ConjunctionId id) {
        return conjunctions_[id] == literals;
      })) {
    return *known;
  }
  const auto id = static_cast<ConjunctionId>(conjunctions_.size());
  // Only positive literals: a node that must fail excludes a type if all values
  // of the type satisfy it, which the expansion finds out.
  std::uint8_t types = schema::kAllTypes;
  for (const Literal literal : literals) {
    if (!literal.negated()) types &= document_.node(literal.node()).types;
  }
  types_.push_back(types);
  conjunctions_.push_back(std::move(literals));
  expansions_.emplace_back();
  conjunction_of_.add(hash, id);
  return id;
}

ConjunctionId SchemaSolver::with(ConjunctionId id, Literal literal) {
  if (id == kNothing) return kNothing;
  const auto [it, is_new] =
      with_.try_emplace(std::uint64_t{id} << 32 | literal.bits(), kNothing);
  if (is_new) {
    std::vector<Literal> literals = conjunctions_[id];
    literals.push_back(literal);
    it->second = conjunction(std::move(literals));
  }
  return it->second;
}

automata::LanguageBounds SchemaSolver::string_language(
    const std::vector<Literal>& literals) {
  const ConjunctionId id = conjunction(literals);
  std::vector<automata::LanguageId> parts;
  for (const DisjunctId disjunct : disjuncts(id, JsonType::kString)) {
    const StringConstraints& string = strings_[disjunct];
    automata::LanguageId part = string.language;
    if (string.min_chars > 0 || string.max_chars != kUnboundedCount) {
      part = languages_.all_of({part, languages_.length_between(
                                          string.min_chars, string.max_chars)});
    }
    parts.push_back(part);
  }
  const automata::LanguageId all = parts.empty()
                                       ? languages_.nothing()
                                       : languages_.any_of(std::move(parts));
  // Alternatives may be missing, so the union is a lower bound alone.
  if (satisfiability_.leaves_out(id, JsonType::kString)) {
    return {all, languages_.everything()};
  }
  return languages_.exact(all);
}

bool SchemaSolver::evaluated(const UnevaluatedRule& rule, std::uint64_t index) {
  // Draft 2020-12, 11.2: what "prefixItems" and "items" apply to, here or in a
  // scope, and in a scope also "unevaluatedItems".  Which items satisfy a
  // `contains` depends on the values: item_rule().
  const auto by = [&](NodeId node) {
    const schema::ArrayRules& rules = document_.node(node).arrays();
    return rules.items != schema::kNoNode || index < rules.prefix_items.size();
  };
  return by(rule.node) ||
         std::any_of(rule.scopes.begin(), rule.scopes.end(), [&](NodeId node) {
           return document_.node(node).arrays().unevaluated_items !=
                      schema::kNoNode ||
                  by(node);
         });
}

Literal SchemaSolver::item_rule(const UnevaluatedRule& rule) const {
  // For close(), `contains` evaluates nothing.
  if (rule.rule == kNever) return kNever;
  // An item is evaluated if it satisfies one of the `contains` in scope, so the
  // rule becomes "one of these, or the rule" (contains.h).
  std::vector<NodeId> contains;
  const auto see = [&](NodeId node) {
    const schema::ArrayRules& rules = document_.node(node).arrays();
    if (rules.contains != schema::kNoNode && rules.contains_evaluates) {
      contains.push_back(rules.contains);
    }
  };
  see(rule.node);
  for (const NodeId node : rule.scopes) see(node);
  std::sort(contains.begin(), contains.end());
  contains.erase(std::unique(contains.begin(), contains.end()), contains.end());
  return holds(choices_.choice(rule.rule.node(), contains));
}

ConjunctionId SchemaSolver::member_conjunction(DisjunctId object,
                                               const KeyClass& key_class) {
  // A class of other keys has no number to be a key of the cache; what depends
  // on it is cached by whoever holds the class.
  if (key_class.key == kNoKey) {
    return find_member_conjunction(object, key_class);
  }
  const std::uint64_t query = std::uint64_t{object} << 32 | key_class.key;
  const auto known = member_conjunctions_.find(query);
  if (known != member_conjunctions_.end()) return known->second;
  const ConjunctionId found = find_member_conjunction(object, key_class);
  member_conjunctions_.emplace(query, found);
  return found;
}

// Each node with rules for members says something of the key: by `properties`,
// and by every pattern that matches; by `additionalProperties` only if neither
// declares it.  Then come the unevaluated rules, for keys that no node in their
// scope has evaluated, and what the expansion added about single keys.
//
// REQUIRES: kNoKey comes with the patterns that its keys match (KeyClass).
ConjunctionId SchemaSolver::find_member_conjunction(DisjunctId object,
                                                    const KeyClass& key_class) {
  const ObjectConstraints& disjunct = objects_[object];
  if (key_class.key != kNoKey &&
      std::binary_search(disjunct.forbidden.begin(), disjunct.forbidden.end(),
                         key_class.key)) {
    return kNothing;
  }
  if (!disjunct.key_rules.empty() &&
      !keys_.matches(keys_.object_keys(object).key_rule_language.under,
                     key_class)) {
    return kNothing;
  }
  std::vector<Literal> literals;
  for (const MemberRules& rules : disjunct.members) {
    bool known = false;
    if (key_class.key != kNoKey) {
      const NodeId child = names_.declared(rules.node, key_class.key);
      if (child != schema::kNoNode) {
        literals.push_back(holds(child));
        known = true;
      }
    }
    for (const auto& [pattern, child] :
         document_.node(rules.node).objects().pattern_properties) {
      if (keys_.matches(string_sets_.of_pattern(pattern), key_class)) {
        literals.push_back(holds(child));
        known = true;
      }
    }
    if (!known && rules.extra != kNoLiteral) literals.push_back(rules.extra);
  }
  for (const UnevaluatedRule& rule : disjunct.unevaluated) {
    if (!keys_.evaluated(rule, key_class)) literals.push_back(rule.rule);
  }
  for (const auto& [key, literal] : disjunct.at) {
    if (key == key_class.key) literals.push_back(literal);
  }
  return conjunction(std::move(literals));
}

ConjunctionId SchemaSolver::item_conjunction(DisjunctId array,
                                             std::uint64_t index) {
  const ArrayConstraints& disjunct = arrays_[array];
  std::vector<Literal> literals;
  for (const ItemRules& rules : disjunct.items) {
    const auto& prefix = document_.node(rules.node).arrays().prefix_items;
    if (index < prefix.size()) {
      literals.push_back(holds(prefix[index]));
    } else if (rules.rest != kNoLiteral) {
      literals.push_back(rules.rest);
    }
  }
  for (const UnevaluatedRule& rule : disjunct.unevaluated) {
    if (!evaluated(rule, index)) literals.push_back(item_rule(rule));
  }
  for (const auto& [at, literal] : disjunct.at) {
    if (at == index) literals.push_back(literal);
  }
  return conjunction(std::move(literals));
}

automata::NumberLanguages::Id SchemaSolver::add_numbers(
    automata::NumberSpec& spec) {
  spec.every_spelling = options_.spelling == JsonSpelling::kAny;
  spec.zero_fraction = document_.integer_may_have_zero_fraction;
  return numbers_.add(spec);
}

NodeId SchemaSolver::place(ConjunctionId conjunction) const {
  const std::vector<Literal>& literals = conjunctions_[conjunction];
  return literals.empty() || literals.front() == kNever
             ? document_.root
             : literals.front().node();
}

NodeId SchemaSolver::place_of_object(DisjunctId object) const {
  const ObjectConstraints& disjunct = objects_[object];
  if (!disjunct.members.empty()) return disjunct.members.front().node;
  if (!disjunct.condition_nodes.empty()) {
    return disjunct.condition_nodes.front();
  }
  if (!disjunct.key_rules.empty()) return disjunct.key_rules.front().node();
  return document_.root;
}

NodeId SchemaSolver::place_of_array(DisjunctId array) const {
  const ArrayConstraints& disjunct = arrays_[array];
  if (!disjunct.items.empty()) return disjunct.items.front().node;
  if (!disjunct.counts.empty()) return disjunct.counts.front().literal.node();
  if (!disjunct.unevaluated.empty()) return disjunct.unevaluated.front().node;
  return document_.root;
}

void SchemaSolver::note_stop(ConjunctionId conjunction) const {
  if (base::work_left()) return;
  base::note_place([&] {
    const std::vector<Literal>& literals = conjunctions_[conjunction];
    if (literals.empty()) return std::string();
    return "the schema at \"" + document_.pointer(literals.front().node()) +
           '"';
  });
}

std::size_t SchemaSolver::memory_bytes() const {
  return languages_.memory_bytes() + numbers_.memory_bytes() +
         conjunctions_.size() * 160 +
         (with_.size() + member_conjunctions_.size()) * 32 +
         objects_.size() * 700 + arrays_.size() * 400 +
         strings_.size() * sizeof(StringConstraints) + names_.size() * 80 +
         satisfiability_.memory_bytes() + values_.memory_bytes() +
         questions_.memory_bytes() + key_sets_.memory_bytes() +
         string_sets_.memory_bytes() + conditions_.memory_bytes() +
         keys_.memory_bytes();
}

// --- Survey -----------------------------------------------------------------

// Asks about every value inside a value of the root, breadth first, so that
// notes and narrowed() say what texts could meet.  Bounded: what is left out is
// noted when a text meets it.
void SchemaSolver::survey(ConjunctionId root) {
  constexpr std::size_t kMaxConjunctions = 2000;
  constexpr std::size_t kMaxSteps = 100'000;
  constexpr std::uint64_t kMaxPrefix = 64;
  const std::size_t steps_before = steps_.taken();
  std::vector<ConjunctionId> pending = {root};
  std::unordered_set<ConjunctionId> seen = {root, kAnything, kNothing};
  const auto visit = [&](ConjunctionId conjunction) {
    if (seen.size() < kMaxConjunctions && seen.insert(conjunction).second) {
      pending.push_back(conjunction);
    }
  };
  for (std::size_t i = 0; i < pending.size(); ++i) {
    // Invariant: `pending` has, in the order of discovery, each conjunction in
    // `seen` but the two trivial ones; those before i have been asked about.
    //
    // Compilation is over, so `cancelled` is no longer called: the number of
    // steps is the only limit here.
    if (steps_.taken() - steps_before > kMaxSteps) return;
    const ConjunctionId conjunction = pending[i];
    for (std::size_t type = 0; type < kJsonTypes; ++type) {
      disjuncts(conjunction, static_cast<JsonType>(type));
    }
    for (const DisjunctId disjunct : disjuncts(conjunction, JsonType::kArray)) {
      const std::uint64_t prefix =
          std::min(arrays_[disjunct].prefix, kMaxPrefix);
      for (std::uint64_t index = 0; index <= prefix; ++index) {
        visit(item_conjunction(disjunct, index));
      }
      const ConjunctionId rest =
          item_conjunction(disjunct, arrays_[disjunct].prefix);
      for (const ItemCount& count : arrays_[disjunct].counts) {
        visit(with(rest, count.literal));
      }
    }
    for (const DisjunctId disjunct :
         disjuncts(conjunction, JsonType::kObject)) {
      for (const KeyId key : keys_.spelled_list(disjunct)) {
        visit(member_conjunction(disjunct, {.key = key}));
      }
      // For notes.
      if (keys_.object_keys(disjunct).incomplete) {
        keys_.possible_extra_keys(disjunct);
        if (objects_[disjunct].condition != kAlways) {
          static_cast<void>(keys_.note_incomplete(disjunct));
        }
      }
      for (const ExtraKeys& extra : keys_.classes_of(disjunct)) {
        visit(member_conjunction(
            disjunct, {kNoKey, &keys_.languages(disjunct), &extra.matched}));
      }
      conditions_.for_each_atom(
          objects_[disjunct].condition, [&](const Condition& part) {
            if (part.kind == Condition::Kind::kValue) {
              visit(with(member_conjunction(disjunct, {.key = part.key}),
                         part.literal));
            }
          });
    }
  }
}

}  // namespace parlance::schema_solver
