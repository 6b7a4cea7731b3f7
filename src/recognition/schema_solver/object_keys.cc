// The keys of an object disjunct: those that its rules spell, in their order,
// and the others, by the patterns that they match.
//
//   object_keys()            what the rules say, collected node by node
//   find_extra_keys()        other keys in classes, one for each set of
//   patterns possible_extra_keys()    other keys that may be members: of a
//   class whose
//                            value is satisfiable, or, beside many patterns,
//                            without classes
//   CompatiblePatterns       the sets of patterns that one value can satisfy

#include "schema_solver/object_keys.h"

#include <algorithm>
#include <unordered_set>

#include "base/mix.h"
#include "base/work.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {
namespace {

// The most patterns beside which extra keys are divided into all classes by
// which of the patterns they match: 2^6 classes.  Beyond, the keys that may
// come are exact where extra_keys_of_any_class() finds them; else, and where a
// condition depends on the classes, keys are left out with a note.
constexpr std::size_t kMostClassified = 6;

}  // namespace

bool SchemaSolver::tracks_extra_keys(DisjunctId object) {
  return object_keys(object).tracks_extra_keys;
}
std::uint64_t SchemaSolver::count_cap(DisjunctId object) {
  return object_keys(object).count_cap;
}

void SchemaSolver::ObjectKeys::rank_declared() {
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
void SchemaSolver::ObjectKeys::add_node(SchemaSolver& solver, NodeId node) {
  const std::vector<KeyId>& keys = solver.names_.of_node(node).declared;
  declared.insert(declared.end(), keys.begin(), keys.end());
  for (const auto& [pattern, child] :
       solver.document_.node(node).objects().pattern_properties) {
    languages.push_back(solver.string_sets_.of_pattern(pattern));
  }
}

// The keys, patterns and numbers of one atom of the condition.
void SchemaSolver::ObjectKeys::add_atom(SchemaSolver& solver,
                                        const Condition& atom) {
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
      languages.push_back(solver.string_sets_.of_pattern(atom.keys.id));
      break;
    case KeyGroup::Kind::kExtra:
      add_node(solver, atom.keys.id);
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
void SchemaSolver::ObjectKeys::collect(SchemaSolver& solver,
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
    // The strings that are missing were said when the rules were expanded.
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
  solver.conditions_.for_each_atom(
      disjunct.condition,
      [&](const Condition& atom) { add_atom(solver, atom); });
}

// Computed once for each disjunct, in this order: what its rules say; the ranks
// of the declared keys; the strings of small languages; and from all of these
// the sets of keys.
SchemaSolver::ObjectKeys& SchemaSolver::object_keys(DisjunctId object) {
  std::unique_ptr<ObjectKeys>& known = object_keys_[object];
  if (known != nullptr) return *known;
  known = std::make_unique<ObjectKeys>();
  ObjectKeys& object_keys = *known;
  object_keys.collect(*this, objects_[object]);
  object_keys.rank_declared();
  const auto sort_unique = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  sort_unique(object_keys.languages);
  std::vector<KeyId>& spelled = object_keys.spelled_list;
  for (const automata::LanguageId language : object_keys.languages) {
    for (const std::string& text : few_strings(language)) {
      spelled.push_back(names_.id(text));
    }
  }
  for (const std::vector<KeyId>* keys :
       {&object_keys.declared, &object_keys.presence}) {
    spelled.insert(spelled.end(), keys->begin(), keys->end());
  }
  sort_unique(spelled);
  object_keys.incomplete = object_keys.languages.size() > kMostClassified;
  object_keys.spelled = key_sets_.of(spelled);
  object_keys.required = key_sets_.of(objects_[object].required);
  object_keys.presence_keys = key_sets_.of(object_keys.presence);
  std::vector<KeyId> condition_keys = object_keys.presence;
  for (const KeyId id : spelled) {
    if (std::any_of(
            object_keys.groups.begin(), object_keys.groups.end(),
            [&](const KeyGroup& group) { return is_in(group, {.key = id}); })) {
      condition_keys.push_back(id);
    }
  }
  object_keys.condition_keys = key_sets_.of(std::move(condition_keys));
  return object_keys;
}

// The strings of a language that has at most kFew; nothing for a larger one.
// They are treated as keys that the schema spells, so that their number is
// exact: the rules may require more members than there are keys.
std::vector<std::string> SchemaSolver::few_strings(
    automata::LanguageId language) {
  // A larger language is counted each time (count_strings()).
  constexpr std::size_t kFew = 32;
  // Characters of a string.  Beyond, the language counts as large.
  constexpr std::size_t kLong = 256;
  std::vector<std::string> texts;
  if (languages_.infinite(language)) return texts;
  std::vector<std::pair<automata::StateId, std::string>> pending;
  pending.emplace_back(languages_.start(language), std::string());
  while (!pending.empty()) {
    const auto [at, text] = std::move(pending.back());
    pending.pop_back();
    if (at == automata::kDeadState) continue;
    if (languages_.accepting(at)) texts.push_back(text);
    if (texts.size() + pending.size() > 4 * kFew || text.size() > kLong) {
      return {};
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
      const automata::StateId next =
          languages_.step(at, static_cast<std::uint8_t>(byte));
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
std::optional<std::vector<bool>> SchemaSolver::match_alone(
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
      return languages_.accepting(state);
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
    states.push_back(languages_.start(language));
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
        const automata::StateId next = languages_.step(from[i], byte);
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
void SchemaSolver::find_extra_keys(ObjectKeys& object_keys) {
  const std::size_t count = object_keys.languages.size();
  if (count == 0) {
    object_keys.extras.push_back({});
    return;
  }
  std::vector<std::string> spelled;
  for (const KeyId id : object_keys.spelled_list)
    spelled.push_back(names_.text(id));
  const automata::LanguageId other =
      languages_.complement(languages_.literals(spelled));
  const auto add = [&](const std::vector<bool>& matched) {
    std::vector<automata::LanguageId> parts = {other};
    for (std::size_t i = 0; i < count; ++i) {
      parts.push_back(matched[i]
                          ? object_keys.languages[i]
                          : languages_.complement(object_keys.languages[i]));
    }
    const automata::LanguageId language = languages_.all_of(std::move(parts));
    if (!languages_.empty(language)) {
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
          languages_.start(languages_.complement(language));
      if (!languages_.prefix_closed(state)) {
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

const std::vector<KeyId>& SchemaSolver::spelled_list(DisjunctId object) {
  return object_keys(object).spelled_list;
}
const std::vector<automata::LanguageId>& SchemaSolver::key_languages(
    DisjunctId object) {
  return object_keys(object).languages;
}
const std::vector<ExtraKeys>& SchemaSolver::extra_keys(DisjunctId object) {
  static_cast<void>(note_incomplete(object));
  return classes_of(object);
}

// extra_keys() without a note.  Found when they are needed for the first time,
// because most objects need only the union of the classes that may come.
const std::vector<ExtraKeys>& SchemaSolver::classes_of(DisjunctId object) {
  ObjectKeys& object_keys = this->object_keys(object);
  if (!object_keys.extras_known) {
    object_keys.extras_known = true;
    find_extra_keys(object_keys);
  }
  return object_keys.extras;
}

// Some class of keys that object_keys() has left out may be missed.
Exactness SchemaSolver::note_incomplete(DisjunctId object) {
  ObjectKeys& object_keys = this->object_keys(object);
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
  for (const MemberRules& rules : objects_[object].members) {
    if (document_.node(rules.node).objects().pattern_properties.empty()) {
      continue;
    }
    exactness |= notes_.leave_out(LeftOutBy::kLimit, rules.node,
                                  "patternProperties", why);
  }
  if (exactness.exact()) {
    exactness =
        notes_.leave_out(LeftOutBy::kLimit, place_of_object(object), "", why);
  }
  return exactness;
}

KeySet SchemaSolver::spelled(DisjunctId object) {
  return object_keys(object).spelled;
}
KeySet SchemaSolver::required(DisjunctId object) {
  return object_keys(object).required;
}
KeySet SchemaSolver::presence_keys(DisjunctId object) {
  return object_keys(object).presence_keys;
}
KeySet SchemaSolver::condition_keys(DisjunctId object) {
  return object_keys(object).condition_keys;
}

std::uint32_t SchemaSolver::rank(DisjunctId object, KeyId key) {
  const auto& ranks = object_keys(object).ranks;
  const auto it = std::lower_bound(ranks.begin(), ranks.end(),
                                   std::pair(key, std::uint32_t{0}));
  return it == ranks.end() || it->first != key ? kNoRank : it->second;
}

// Cached for each subtree of a key set, because similar sets share subtrees.
// A subtree leaves `pending` when the ranks of its halves are known.
std::uint32_t SchemaSolver::min_rank(DisjunctId object, KeySet set) {
  if (set == kNoKeys) return kNoRank;
  auto& known = object_keys(object).min_ranks;
  std::vector<KeySet> pending = {set};
  while (!pending.empty()) {
    const KeySet at = pending.back();
    std::uint32_t min = kNoRank;
    bool ready = true;
    const KeySets::Halves halves = key_sets_.halves(at);
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
      key_sets_.each(at, [&](KeyId key) {
        min = std::min(min, rank(object, key));
        return true;
      });
    }
    known.emplace(at, min);
  }
  return known.at(set);
}

KeySet SchemaSolver::ranked_below(DisjunctId object, std::uint32_t rank) {
  ObjectKeys& object_keys = this->object_keys(object);
  const std::size_t wanted =
      std::min<std::size_t>(rank, object_keys.declared.size());
  while (object_keys.below.size() <= wanted) {
    object_keys.below.push_back(
        key_sets_.with(object_keys.below.back(),
                       object_keys.declared[object_keys.below.size() - 1]));
  }
  return object_keys.below[wanted];
}

automata::LanguageId SchemaSolver::possible_extra_keys(DisjunctId object) {
  ObjectKeys& object_keys = this->object_keys(object);
  if (object_keys.possible_known && levels_ == kAnyLevels) {
    return object_keys.possible;
  }
  automata::LanguageId possible = languages_.nothing();
  if (const auto all = extra_keys_of_any_class(object)) {
    possible = *all;
  } else {
    static_cast<void>(note_incomplete(object));
    std::vector<automata::LanguageId> parts;
    for (const ExtraKeys& extra : classes_of(object)) {
      const KeyClass key_class{kNoKey, &object_keys.languages, &extra.matched};
      if (!satisfiable(member_conjunction(object, key_class))) continue;
      parts.push_back(object_keys.languages.empty() ? languages_.everything()
                                                    : extra.language);
    }
    if (!parts.empty()) possible = languages_.any_of(std::move(parts));
  }
  if (levels_ == kAnyLevels) {
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
std::optional<automata::LanguageId> SchemaSolver::extra_keys_of_any_class(
    DisjunctId object) {
  const ObjectConstraints& disjunct = objects_[object];
  const ObjectKeys& object_keys = this->object_keys(object);
  const std::vector<automata::LanguageId>& languages = object_keys.languages;
  std::vector<automata::LanguageId> parts;
  if (!disjunct.key_rules.empty()) {
    parts.push_back(object_keys.key_rule_language.under);
  }
  const std::vector<PatternRules> patterns = pattern_rules(object);
  ConjunctionId all = kAnything;
  for (const PatternRules& one : patterns) {
    for (const Literal literal : one.literals) all = with(all, literal);
  }
  const bool joined =
      !disjunct.unevaluated.empty() ||
      (disjunct.members.size() > 1 &&
       std::ranges::any_of(disjunct.members, [](const MemberRules& rules) {
         return rules.extra != kNoLiteral;
       }));
  if (joined) {
    for (const MemberRules& rules : disjunct.members) {
      if (rules.extra != kNoLiteral) all = with(all, rules.extra);
    }
    for (const UnevaluatedRule& rule : disjunct.unevaluated) {
      all = with(all, rule.rule);
    }
    if (!satisfiable(all)) return std::nullopt;
    return languages_.all_of(std::move(parts));
  }
  if (!satisfiable(all)) {
    const auto sets = compatible_patterns(patterns);
    if (!sets) return std::nullopt;
    std::vector<automata::LanguageId> any;
    for (const std::vector<bool>& set : *sets) {
      std::vector<automata::LanguageId> none;
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (!set[i]) none.push_back(languages_.complement(languages[i]));
      }
      any.push_back(languages_.all_of(std::move(none)));
    }
    parts.push_back(languages_.any_of(std::move(any)));
  }
  if (disjunct.members.size() == 1 &&
      disjunct.members.front().extra != kNoLiteral &&
      !satisfiable(conjunction({disjunct.members.front().extra}))) {
    std::vector<automata::LanguageId> some;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (!patterns[i].literals.empty()) some.push_back(languages[i]);
    }
    parts.push_back(languages_.any_of(std::move(some)));
  }
  return languages_.all_of(std::move(parts));
}

// By the index of the pattern's language in ObjectKeys::languages.
std::vector<SchemaSolver::PatternRules> SchemaSolver::pattern_rules(
    DisjunctId object) {
  const std::vector<automata::LanguageId>& languages =
      object_keys(object).languages;
  std::vector<PatternRules> patterns(languages.size());
  for (const MemberRules& rules : objects_[object].members) {
    for (const auto& [pattern, child] :
         document_.node(rules.node).objects().pattern_properties) {
      const auto at =
          std::ranges::lower_bound(languages, string_sets_.of_pattern(pattern));
      PatternRules& one =
          patterns[static_cast<std::size_t>(at - languages.begin())];
      one.literals.push_back(holds(child));
      one.types &= document_.node(child).types;
    }
  }
  return patterns;
}

// Finds the largest sets of patterns whose rules one value satisfies.
//
// A set is grown from patterns that are compatible, one after another.  If a
// compatible set is in none of those found so far, it has a pattern outside
// each of them.  So a search for such patterns, one for each set, finds where
// to grow the next one, or proves that there is no other.  (The dualization of
// Gunopulos, Khardon, Mannila and Toivonen, "Data mining, hypergraph
// transversals, and machine learning", 1997.)
class SchemaSolver::CompatiblePatterns {
 public:
  CompatiblePatterns(SchemaSolver& solver,
                     const std::vector<PatternRules>& patterns)
      : solver_(solver), patterns_(patterns) {}

  // All of them; nothing if there are many, or it takes many steps.
  //
  // The search is depth first: outside[k] is a pattern outside sets_[k], and
  // all of them are compatible, with together[k + 1].
  std::optional<std::vector<std::vector<bool>>> find() {
    grow({});
    std::vector<std::size_t> outside = {0};
    std::vector<Together> together = {{}};
    while (!outside.empty()) {
      if (steps_ > kMostSteps || sets_.size() > kMostSets) return std::nullopt;
      const std::size_t k = outside.size() - 1;
      std::size_t& i = outside.back();
      std::optional<Together> both;
      while (i < patterns_.size() &&
             (sets_[k][i] || !(both = add(together[k], i)))) {
        ++i;
      }
      if (i == patterns_.size()) {
        outside.pop_back();
        together.pop_back();
        if (!outside.empty()) ++outside.back();
      } else if (outside.size() == sets_.size()) {
        grow(outside);
        outside = {0};
        together = {{}};
      } else {
        outside.push_back(0);
        together.push_back(*both);
      }
    }
    return std::move(sets_);
  }

 private:
  // Beyond these, keys are divided into classes, of which some may be left out
  // with a note.
  static constexpr std::size_t kMostSets = 8;
  static constexpr std::size_t kMostSteps = 4096;
  // What the value of a key that matches some patterns must satisfy.
  struct Together {
    ConjunctionId value = kAnything;
    std::uint8_t types = schema::kAllTypes;
  };

  // With one more pattern; nothing if no value satisfies all.
  std::optional<Together> add(const Together& to, std::size_t i) {
    ++steps_;
    Together both = to;
    both.types &= patterns_[i].types;
    if (both.types == 0) return std::nullopt;
    for (const Literal literal : patterns_[i].literals) {
      both.value = solver_.with(both.value, literal);
    }
    if (both.value != to.value && !solver_.satisfiable(both.value)) {
      return std::nullopt;
    }
    return both;
  }

  // Adds a largest set with the patterns of `from`, which are compatible.
  void grow(const std::vector<std::size_t>& from) {
    Together now;
    std::vector<bool>& set = sets_.emplace_back(patterns_.size(), false);
    const auto try_one = [&](std::size_t i) {
      if (set[i]) return;
      if (const auto both = add(now, i)) {
        now = *both;
        set[i] = true;
      }
    };
    for (const std::size_t i : from) try_one(i);
    for (std::size_t i = 0; i < patterns_.size(); ++i) try_one(i);
  }

  SchemaSolver& solver_;
  const std::vector<PatternRules>& patterns_;
  std::size_t steps_ = 0;
  std::vector<std::vector<bool>> sets_;
};

std::optional<std::vector<std::vector<bool>>> SchemaSolver::compatible_patterns(
    const std::vector<PatternRules>& patterns) {
  return CompatiblePatterns(*this, patterns).find();
}

}  // namespace parlance::schema_solver
