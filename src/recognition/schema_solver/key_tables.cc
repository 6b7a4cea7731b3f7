// The keys of an object disjunct: those that its rules spell, in their order,
// and the others, by the patterns that they match.
//
//   of()                     what the rules say, collected node by node
//   find_extra_keys()        other keys in classes, one for each set of
//                            patterns
//   possible_extra_keys()    other keys that may be members: of a class whose
//                            value is satisfiable, or, beside many patterns,
//                            without classes

#include "schema_solver/key_tables.h"

#include <algorithm>
#include <unordered_set>

#include "base/mix.h"
#include "base/work.h"
#include "schema_solver/compatible_patterns.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {
namespace {

// The most patterns beside which extra keys are divided into all classes by
// which of the patterns they match: 2^6 classes.  Beyond, the keys that may
// come are exact where extra_keys_of_any_class() finds them; else, and where a
// condition depends on the classes, keys are left out with a note.
constexpr std::size_t kMostClassified = 6;

}  // namespace

void ObjectKeys::rank_declared() {
  ranks.clear();
  ranks.reserve(declared.size());
  for (const KeyId key : declared) {
    ranks.emplace_back(key, static_cast<std::uint32_t>(ranks.size()));
  }
  std::sort(ranks.begin(), ranks.end());
  const auto twice = std::unique(ranks.begin(), ranks.end(),
                                 [](const auto& one, const auto& other) {
                                   return one.first == other.first;
                                 });
  if (twice == ranks.end()) return;
  ranks.erase(twice, ranks.end());
  std::vector<std::pair<std::uint32_t, KeyId>> kept;
  kept.reserve(ranks.size());
  for (const auto& [key, rank] : ranks) kept.emplace_back(rank, key);
  std::sort(kept.begin(), kept.end());
  declared.clear();
  for (const auto& [rank, key] : kept) declared.push_back(key);
  rank_declared();
}

// The keys that `properties` of the node declare, in its order, and its
// patterns.
void ObjectKeys::add_node(SchemaSolver& solver, NodeId node) {
  const std::vector<KeyId>& keys = solver.names().of_node(node).declared;
  declared.insert(declared.end(), keys.begin(), keys.end());
  for (const auto& [pattern, child] :
       solver.document().node(node).objects().pattern_properties) {
    languages.push_back(solver.string_sets().of_pattern(pattern));
  }
}

// The keys, patterns and numbers of one atom of the condition.
void ObjectKeys::add_atom(SchemaSolver& solver, const Condition& atom) {
  using Atom = Condition::Kind;
  if (atom.key != kNoKey) presence.push_back(atom.key);
  if (atom.kind == Atom::kAtLeast || atom.kind == Atom::kAtMost) {
    count_cap = std::max(count_cap, atom.bound + 1);
    tracks_extra_keys = true;
  }
  if (atom.kind != Atom::kSome && atom.kind != Atom::kEvery) return;
  groups.push_back(atom.keys);
  switch (atom.keys.kind) {
    case KeyGroup::Kind::kPattern:
      languages.push_back(solver.string_sets().of_pattern(atom.keys.pattern()));
      break;
    case KeyGroup::Kind::kExtra:
      add_node(solver, atom.keys.node());
      break;
    case KeyGroup::Kind::kName:
    case KeyGroup::Kind::kNotName: {
      const automata::LanguageBounds names =
          solver.string_language({atom.keys.name()});
      languages.push_back(names.under);
      if (!names.exact()) exactness |= Exactness::undecided();
      break;
    }
  }
  // A repeated key would replace the value that satisfied the literal.  Without
  // a literal the presence of the key is enough.
  if (atom.kind == Atom::kSome && atom.literal != kNoLiteral) {
    tracks_extra_keys = true;
  }
}

// What the rules of the disjunct say of keys, one rule after the other.
// Afterwards `declared` and `languages` may have repetitions, and the keys are
// in `declared`, `spelled_list` and `presence`.
void ObjectKeys::collect(SchemaSolver& solver,
                         const ObjectConstraints& disjunct) {
  for (const MemberRules& rules : disjunct.members) {
    add_node(solver, rules.node);
  }
  for (const UnevaluatedRule& rule : disjunct.unevaluated) {
    add_node(solver, rule.node);
    for (const NodeId node : rule.scopes) add_node(solver, node);
  }
  spelled_list = disjunct.required;
  spelled_list.insert(spelled_list.end(), disjunct.forbidden.begin(),
                      disjunct.forbidden.end());
  for (const auto& [id, literal] : disjunct.at) spelled_list.push_back(id);
  for (const auto& [id, others] : disjunct.dependent) {
    presence.push_back(id);
    presence.insert(presence.end(), others.begin(), others.end());
  }
  if (!disjunct.key_rules.empty()) {
    key_rule_language = solver.string_language(disjunct.key_rules);
    languages.push_back(key_rule_language.under);
    // The note on missing strings was made when the rules were expanded.
    if (!key_rule_language.exact()) exactness |= Exactness::undecided();
  }
  // A single member cannot repeat a key.
  tracks_extra_keys =
      disjunct.min > std::max<std::size_t>(1, disjunct.required.size());
  count_cap = disjunct.min;
  if (disjunct.max != kUnboundedCount) {
    count_cap = std::max(count_cap, disjunct.max);
  }
  for (const NodeId node : disjunct.condition_nodes) add_node(solver, node);
  solver.conditions().for_each_atom(
      disjunct.condition,
      [&](const Condition& atom) { add_atom(solver, atom); });
}

// Computed once for each disjunct, in this order: what its rules say; the ranks
// of the declared keys; the strings of small languages; and from all of these
// the sets of keys.
ObjectKeys& KeyTables::of(DisjunctId object) {
  while (tables_.size() <= object) tables_.emplace_back();
  std::unique_ptr<ObjectKeys>& known = tables_[object];
  if (known != nullptr) return *known;
  known = std::make_unique<ObjectKeys>();
  ObjectKeys& object_keys = *known;
  object_keys.collect(solver_, solver_.object(object));
  object_keys.rank_declared();
  const auto sort_unique = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  sort_unique(object_keys.languages);
  std::vector<KeyId>& spelled = object_keys.spelled_list;
  for (const automata::LanguageId language : object_keys.languages) {
    for (const std::string& text : few_strings(language)) {
      spelled.push_back(solver_.names().id(text));
    }
  }
  for (const std::vector<KeyId>* keys :
       {&object_keys.declared, &object_keys.presence}) {
    spelled.insert(spelled.end(), keys->begin(), keys->end());
  }
  sort_unique(spelled);
  object_keys.incomplete = object_keys.languages.size() > kMostClassified;
  object_keys.spelled = sets_.of(spelled);
  object_keys.required = sets_.of(solver_.object(object).required);
  object_keys.presence_keys = sets_.of(object_keys.presence);
  std::vector<KeyId> condition_keys = object_keys.presence;
  for (const KeyId id : spelled) {
    if (std::any_of(
            object_keys.groups.begin(), object_keys.groups.end(),
            [&](const KeyGroup& group) { return is_in(group, {.key = id}); })) {
      condition_keys.push_back(id);
    }
  }
  object_keys.condition_keys = sets_.of(std::move(condition_keys));
  return object_keys;
}

// The strings of a language that has at most kFew; nothing for a larger one.
// They are treated as keys that the schema spells, so that their number is
// exact: the rules may require more members than there are keys.
std::vector<std::string> KeyTables::few_strings(automata::LanguageId language) {
  // A larger language is counted each time (count_strings()).
  constexpr std::size_t kFew = 32;
  // Characters of a string.  Beyond, the language counts as large.
  constexpr std::size_t kLong = 256;
  std::vector<std::string> texts;
  if (solver_.languages().infinite(language)) return texts;
  std::vector<std::pair<automata::StateId, std::string>> pending;
  pending.emplace_back(solver_.languages().start(language), std::string());
  while (!pending.empty()) {
    const auto [at, text] = std::move(pending.back());
    pending.pop_back();
    if (at == automata::kDeadState) continue;
    if (solver_.languages().accepting(at)) texts.push_back(text);
    if (texts.size() + pending.size() > 4 * kFew || text.size() > kLong) {
      return {};
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
      const automata::StateId next =
          solver_.languages().step(at, static_cast<std::uint8_t>(byte));
      if (next != automata::kDeadState) {
        pending.emplace_back(next, text + static_cast<char>(byte));
      }
    }
  }
  if (texts.size() > kFew) texts.clear();
  return texts;
}

// Reads all texts of ASCII with all languages of the list at once, and tells
// which of them match a text that no other matches.  Nothing if they lead to
// too many combinations of states.  What was asked before must not matter, so
// only the work bounds the time for all lists of a schema.
std::optional<std::vector<bool>> KeyTables::match_alone(
    const std::vector<automata::LanguageId>& list) {
  // Combinations of states.  Beyond, keys that match a pattern are left out of
  // the classes, with a note.
  constexpr std::size_t kMost = 1000;
  using States = std::vector<automata::StateId>;
  const auto hash = [](const States& states) {
    std::uint64_t mixed = states.size();
    for (const automata::StateId state : states) base::mix(mixed, state);
    return static_cast<std::size_t>(mixed);
  };
  std::unordered_set<States, decltype(hash)> known(64, hash);
  std::vector<const States*> pending;
  std::vector<bool> alone(list.size());
  const auto add = [&](const States& states) {
    const auto [it, is_new] = known.insert(states);
    if (!is_new) return;
    pending.push_back(&*it);
    const auto accepts = [&](automata::StateId state) {
      return solver_.languages().accepting(state);
    };
    const auto first = std::ranges::find_if(states, accepts);
    if (first != states.end() &&
        std::find_if(first + 1, states.end(), accepts) == states.end()) {
      alone[static_cast<std::size_t>(first - states.begin())] = true;
    }
  };
  States states;
  states.reserve(list.size());
  for (const automata::LanguageId language : list) {
    states.push_back(solver_.languages().start(language));
  }
  add(states);
  while (!pending.empty()) {
    if (known.size() > kMost || !base::spend_work()) return std::nullopt;
    const States& from = *pending.back();
    pending.pop_back();
    // Most bytes lead where the byte before them does.
    for (std::uint8_t byte = 0x20; byte < 0x7F; ++byte) {
      bool same = byte != 0x20;
      for (std::size_t i = 0; i < from.size(); ++i) {
        const automata::StateId next = solver_.languages().step(from[i], byte);
        same = same && states[i] == next;
        states[i] = next;
      }
      if (!same) add(states);
    }
  }
  return alone;
}

// The classes of keys that are not spelled, by the patterns that they match:
// each non-empty intersection of the patterns and complements of patterns.  For
// more than kMostClassified patterns only keys that match at most one of them
// are considered; and none that match one if the patterns have too many
// combinations of states.  What matches no pattern is read pattern by pattern,
// if whatever is not matched yet may end (Languages::prefix_closed_parts()).
void KeyTables::find_extra_keys(ObjectKeys& object_keys) {
  const std::size_t count = object_keys.languages.size();
  if (count == 0) {
    object_keys.extras.push_back({});
    return;
  }
  std::vector<std::string> spelled;
  for (const KeyId id : object_keys.spelled_list) {
    spelled.push_back(solver_.names().text(id));
  }
  const automata::LanguageId other =
      solver_.languages().complement(solver_.languages().literals(spelled));
  const auto add = [&](const std::vector<bool>& matched) {
    std::vector<automata::LanguageId> parts = {other};
    for (std::size_t i = 0; i < count; ++i) {
      parts.push_back(matched[i] ? object_keys.languages[i]
                                 : solver_.languages().complement(
                                       object_keys.languages[i]));
    }
    const automata::LanguageId language =
        solver_.languages().all_of(std::move(parts));
    if (!solver_.languages().empty(language)) {
      object_keys.extras.push_back({matched, language});
    }
  };
  if (!object_keys.incomplete) {
    for (std::uint32_t bits = 0; bits < (1U << count); ++bits) {
      std::vector<bool> matched(count);
      for (std::size_t i = 0; i < count; ++i) matched[i] = (bits >> i & 1) != 0;
      add(matched);
    }
    return;
  }
  const std::optional<std::vector<bool>> alone =
      match_alone(object_keys.languages);
  using Classes = ObjectKeys::Classes;
  if (!alone) {
    object_keys.classes = Classes::kUnmatched;
    for (const automata::LanguageId language : object_keys.languages) {
      const automata::StateId state =
          solver_.languages().start(solver_.languages().complement(language));
      if (!solver_.languages().prefix_closed(state)) {
        object_keys.classes = Classes::kNone;
        return;
      }
    }
  }
  add(std::vector<bool>(count, false));
  for (std::size_t i = 0; alone && i < count; ++i) {
    if (!(*alone)[i]) continue;
    std::vector<bool> matched(count, false);
    matched[i] = true;
    add(matched);
  }
}

const std::vector<ExtraKeys>& KeyTables::extra_keys(DisjunctId object) {
  static_cast<void>(note_incomplete(object));
  return classes_of(object);
}

// extra_keys() without a note.  Found when they are needed for the first time,
// because most objects need only the union of the classes that may come.
const std::vector<ExtraKeys>& KeyTables::classes_of(DisjunctId object) {
  ObjectKeys& object_keys = of(object);
  if (!object_keys.extras_known) {
    object_keys.extras_known = true;
    find_extra_keys(object_keys);
  }
  return object_keys.extras;
}

// Some class of keys that object_keys() has left out may be missed.
Exactness KeyTables::note_incomplete(DisjunctId object) {
  ObjectKeys& object_keys = of(object);
  Exactness exactness;
  if (!object_keys.incomplete) return exactness;
  classes_of(object);
  const char* why =
      "keys that match several of more than 6 patterns are left out, unless "
      "the schema spells them";
  if (object_keys.classes == ObjectKeys::Classes::kUnmatched) {
    why =
        "keys that match one of these patterns are left out, unless the schema "
        "spells them: more than 6 patterns overlap in more than 1000 ways, and "
        "no value satisfies all of their schemas";
  } else if (object_keys.classes == ObjectKeys::Classes::kNone) {
    why =
        "keys that the schema does not spell are left out: more than 6 "
        "patterns overlap in more than 1000 ways, and no value satisfies all "
        "of their schemas";
  }
  for (const MemberRules& rules : solver_.object(object).members) {
    if (solver_.document()
            .node(rules.node)
            .objects()
            .pattern_properties.empty()) {
      continue;
    }
    exactness |= solver_.notes().leave_out(LeftOutBy::kLimit, rules.node,
                                           "patternProperties", why);
  }
  if (exactness.exact()) {
    exactness = solver_.notes().leave_out(
        LeftOutBy::kLimit, solver_.place_of_object(object), "", why);
  }
  return exactness;
}

std::uint32_t KeyTables::rank(DisjunctId object, KeyId key) {
  const auto& ranks = of(object).ranks;
  const auto it = std::lower_bound(ranks.begin(), ranks.end(),
                                   std::pair(key, std::uint32_t{0}));
  return it == ranks.end() || it->first != key ? kNoRank : it->second;
}

// Cached for each subtree of a key set, because similar sets share subtrees.
// A subtree leaves `pending` when the ranks of its halves are known.
std::uint32_t KeyTables::min_rank(DisjunctId object, KeySet set) {
  if (set == kNoKeys) return kNoRank;
  auto& known = of(object).min_ranks;
  std::vector<KeySet> pending = {set};
  while (!pending.empty()) {
    const KeySet at = pending.back();
    std::uint32_t min = kNoRank;
    bool ready = true;
    const KeySets::Halves halves = sets_.halves(at);
    for (const KeySet half : {halves.left, halves.right}) {
      if (half == kNoKeys) continue;
      const auto it = known.find(half);
      if (it != known.end()) {
        min = std::min(min, it->second);
      } else {
        pending.push_back(half);
        ready = false;
      }
    }
    if (!ready) continue;
    pending.pop_back();
    if (halves.left == kNoKeys) {
      sets_.each(at, [&](KeyId key) {
        min = std::min(min, rank(object, key));
        return true;
      });
    }
    known.emplace(at, min);
  }
  return known.at(set);
}

KeySet KeyTables::ranked_below(DisjunctId object, std::uint32_t rank) {
  ObjectKeys& object_keys = of(object);
  const std::size_t wanted =
      std::min<std::size_t>(rank, object_keys.declared.size());
  while (object_keys.below.size() <= wanted) {
    object_keys.below.push_back(
        sets_.with(object_keys.below.back(),
                   object_keys.declared[object_keys.below.size() - 1]));
  }
  return object_keys.below[wanted];
}

automata::LanguageId KeyTables::possible_extra_keys(DisjunctId object) {
  ObjectKeys& object_keys = of(object);
  if (object_keys.possible_known &&
      solver_.satisfiability().levels() == kAnyLevels) {
    return object_keys.possible;
  }
  Questions::Answer answer(solver_.questions());
  automata::LanguageId possible = solver_.languages().nothing();
  if (const auto all = extra_keys_of_any_class(object)) {
    possible = *all;
  } else {
    static_cast<void>(note_incomplete(object));
    std::vector<automata::LanguageId> parts;
    for (const ExtraKeys& extra : classes_of(object)) {
      const KeyClass key_class{kNoKey, &object_keys.languages, &extra.matched};
      if (!solver_.satisfiable(solver_.member_conjunction(object, key_class))) {
        continue;
      }
      parts.push_back(object_keys.languages.empty()
                          ? solver_.languages().everything()
                          : extra.language);
    }
    if (!parts.empty()) possible = solver_.languages().any_of(std::move(parts));
  }
  if (solver_.satisfiability().levels() == kAnyLevels && answer.final()) {
    object_keys.possible_known = true;
    object_keys.possible = possible;
  }
  return possible;
}

// possible_extra_keys() as a language without intersections of patterns, whose
// automaton is small however many patterns overlap; nothing if that would need
// too many parts.
//
// A value that satisfies the rules of all patterns satisfies those of fewer.
// So the classes of keys that may come are the subsets of the largest sets of
// patterns that one value can satisfy together, and such a subset means that
// no other pattern matches: of integers under fifteen patterns and strings
// under fifteen others, a key may match any of the first and none of the
// others, or the other way round.
//
// This is exact if the rule for other keys is not one more rule of a key that
// matches some pattern.  Else all rules have to be satisfied together.
std::optional<automata::LanguageId> KeyTables::extra_keys_of_any_class(
    DisjunctId object) {
  const ObjectConstraints& disjunct = solver_.object(object);
  const ObjectKeys& object_keys = of(object);
  const std::vector<automata::LanguageId>& languages = object_keys.languages;
  std::vector<automata::LanguageId> parts;
  if (!disjunct.key_rules.empty()) {
    parts.push_back(object_keys.key_rule_language.under);
  }
  const std::vector<PatternRules> patterns = pattern_rules(object);
  ConjunctionId all = kAnything;
  for (const PatternRules& one : patterns) {
    for (const Literal literal : one.literals) all = solver_.with(all, literal);
  }
  const bool joined =
      !disjunct.unevaluated.empty() ||
      (disjunct.members.size() > 1 &&
       std::ranges::any_of(disjunct.members, [](const MemberRules& rules) {
         return rules.extra != kNoLiteral;
       }));
  if (joined) {
    for (const MemberRules& rules : disjunct.members) {
      if (rules.extra != kNoLiteral) all = solver_.with(all, rules.extra);
    }
    for (const UnevaluatedRule& rule : disjunct.unevaluated) {
      all = solver_.with(all, rule.rule);
    }
    if (!solver_.satisfiable(all)) return std::nullopt;
    return solver_.languages().all_of(std::move(parts));
  }
  if (!solver_.satisfiable(all)) {
    const auto sets = schema_solver::compatible_patterns(solver_, patterns);
    if (!sets) return std::nullopt;
    std::vector<automata::LanguageId> any;
    for (const std::vector<bool>& set : *sets) {
      std::vector<automata::LanguageId> none;
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (!set[i]) {
          none.push_back(solver_.languages().complement(languages[i]));
        }
      }
      any.push_back(solver_.languages().all_of(std::move(none)));
    }
    parts.push_back(solver_.languages().any_of(std::move(any)));
  }
  if (disjunct.members.size() == 1 &&
      disjunct.members.front().extra != kNoLiteral &&
      !solver_.satisfiable(
          solver_.conjunction({disjunct.members.front().extra}))) {
    std::vector<automata::LanguageId> some;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (!patterns[i].literals.empty()) some.push_back(languages[i]);
    }
    parts.push_back(solver_.languages().any_of(std::move(some)));
  }
  return solver_.languages().all_of(std::move(parts));
}

// By the index of the pattern's language in ObjectKeys::languages.
std::vector<PatternRules> KeyTables::pattern_rules(DisjunctId object) {
  const std::vector<automata::LanguageId>& languages = of(object).languages;
  std::vector<PatternRules> patterns(languages.size());
  for (const MemberRules& rules : solver_.object(object).members) {
    for (const auto& [pattern, child] :
         solver_.document().node(rules.node).objects().pattern_properties) {
      const auto at = std::ranges::lower_bound(
          languages, solver_.string_sets().of_pattern(pattern));
      PatternRules& one =
          patterns[static_cast<std::size_t>(at - languages.begin())];
      one.literals.push_back(holds(child));
      one.types &= solver_.document().node(child).types;
    }
  }
  return patterns;
}

bool KeyTables::matches(automata::LanguageId language,
                        const KeyClass& key_class) {
  if (key_class.key == kNoKey) {
    for (std::size_t i = 0; i < key_class.languages->size(); ++i) {
      if ((*key_class.languages)[i] == language) return (*key_class.matched)[i];
    }
    return false;
  }
  const std::uint64_t query =
      (static_cast<std::uint64_t>(language) << 32) | key_class.key;
  const auto [it, is_new] = matches_.try_emplace(query, false);
  if (is_new) {
    it->second = solver_.languages().contains(
        language, solver_.names().text(key_class.key));
  }
  return it->second;
}

// Whether `properties` or `patternProperties` of the node declare the key.
bool KeyTables::knows(NodeId node, const KeyClass& key_class) {
  if (key_class.key != kNoKey &&
      solver_.names().declared(node, key_class.key) != schema::kNoNode) {
    return true;
  }
  for (const auto& [pattern, child] :
       solver_.document().node(node).objects().pattern_properties) {
    if (matches(solver_.string_sets().of_pattern(pattern), key_class)) {
      return true;
    }
  }
  return false;
}

bool KeyTables::evaluated(const UnevaluatedRule& rule,
                          const KeyClass& key_class) {
  const auto by = [&](NodeId node) {
    return solver_.document().node(node).objects().additional_properties !=
               schema::kNoNode ||
           knows(node, key_class);
  };
  return by(rule.node) ||
         std::any_of(rule.scopes.begin(), rule.scopes.end(), [&](NodeId node) {
           return solver_.document()
                          .node(node)
                          .objects()
                          .unevaluated_properties != schema::kNoNode ||
                  by(node);
         });
}

bool KeyTables::is_in(const KeyGroup& keys, const KeyClass& key_class) {
  switch (keys.kind) {
    case KeyGroup::Kind::kPattern:
      return matches(solver_.string_sets().of_pattern(keys.pattern()),
                     key_class);
    case KeyGroup::Kind::kExtra:
      return !knows(keys.node(), key_class);
    case KeyGroup::Kind::kName:
      return matches(solver_.string_language({keys.name()}).under, key_class);
    case KeyGroup::Kind::kNotName:
      return !matches(solver_.string_language({keys.name()}).under, key_class);
  }
  return false;
}

KeySet KeyTables::needed(DisjunctId object, KeySet seen) {
  const auto& relation = solver_.object(object).dependent;
  const KeySet always = required(object);
  if (relation.empty()) return sets_.subtract(always, seen);
  std::unique_ptr<DependentKeys>& keys = dependent_keys_[object];
  const std::size_t before = keys == nullptr ? 0 : keys->memory_bytes();
  if (keys == nullptr) {
    keys = std::make_unique<DependentKeys>(sets_, always, relation);
  }
  const KeySet needed = keys->needed(sets_, seen);
  dependent_bytes_ += keys->memory_bytes() - before;
  return needed;
}

}  // namespace parlance::schema_solver
