// The alternatives of objects and arrays as the schema solver finds them.
//
// A disjunct of the solver has no logic but what it did not split: a condition
// (schema_solver/conditions.h), and keys that require others.  Rules of members
// have no memory of the members before them, so here both are split, too, until
// every alternative is a plain list of members:
//
//   a optional, b optional,             a optional, b absent
//   a or not b                    =>    a required, b optional

#include <algorithm>
#include <optional>
#include <utility>

#include "arguments/schema_view.h"

namespace parlance::arguments {
namespace {

using automata::LanguageId;
using schema_solver::Condition;
using schema_solver::ConditionId;
using schema_solver::ConjunctionId;
using schema_solver::DisjunctId;
using schema_solver::JsonType;
using schema_solver::KeyClass;
using schema_solver::KeyId;
using schema_solver::Literal;
using schema_solver::ObjectConstraints;
using schema_solver::SchemaSolver;
using Kind = Condition::Kind;

static_assert(schema_solver::kUnboundedCount == ArgumentObject::kUnbounded);

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Splits one disjunct.
class ObjectSplitter {
 public:
  // A part of the disjunct: the assumptions that were made to split it.
  struct Part {
    std::vector<ConditionId> pending;
    std::vector<std::pair<KeyId, Literal>> at;  // of the values of members
    std::vector<ConditionId> every;             // each a kEvery
    std::vector<KeyId> required = {};
    std::vector<KeyId> forbidden = {};
    std::uint64_t min = 0;
    std::uint64_t max = 0;
  };

  ObjectSplitter(SchemaSolver& solver, DisjunctId disjunct)
      : solver_(solver),
        disjunct_(disjunct),
        constraints_(solver.object(disjunct)) {}

  // Nothing if there are more than `limit`.
  std::optional<std::vector<Part>> run(std::size_t limit) {
    std::vector<Part> done;
    std::vector<Part> open;
    open.push_back({.pending = {constraints_.condition},
                    .at = {},
                    .every = {},
                    .required = constraints_.required,
                    .forbidden = constraints_.forbidden,
                    .min = constraints_.min,
                    .max = constraints_.max});
    std::size_t steps = 0;
    while (!open.empty()) {
      if (++steps > 64 * limit || open.size() + done.size() > limit) {
        return std::nullopt;
      }
      Part now = std::move(open.back());
      open.pop_back();
      std::vector<Part> parts;
      if (!propagate(now)) continue;
      if (!split(now, parts)) {
        done.push_back(std::move(now));
        continue;
      }
      std::move(parts.rbegin(), parts.rend(), std::back_inserter(open));
    }
    return done;
  }

  // What the value of a member must satisfy.
  ConjunctionId value(const Part& part, const KeyClass& key_class) {
    ConjunctionId out = solver_.member_conjunction(disjunct_, key_class);
    for (const auto& [key, literal] : part.at) {
      if (key == key_class.key) out = solver_.with(out, literal);
    }
    for (const ConditionId id : part.every) {
      const Condition& rule = solver_.conditions()[id];
      if (!solver_.is_in(rule.keys, key_class)) continue;
      out = rule.literal == schema_solver::kNever
                ? schema_solver::kNothing
                : solver_.with(out, rule.literal);
    }
    return out;
  }

  // Whether alternatives are left out that require a member of which the schema
  // gives no name.
  bool omits() const { return omits_; }

 private:
  const Condition& at(ConditionId id) const { return solver_.conditions()[id]; }

  bool possible(const Part& part, KeyId key) {
    return solver_.satisfiable(value(part, {.key = key}));
  }

  // Each function returns false if the part has no objects.
  bool require(Part& part, KeyId key) {
    if (contains(part.forbidden, key)) return false;
    if (!contains(part.required, key)) part.required.push_back(key);
    return possible(part, key);
  }
  static bool forbid(Part& part, KeyId key) {
    if (contains(part.required, key)) return false;
    if (!contains(part.forbidden, key)) part.forbidden.push_back(key);
    return true;
  }
  // The member is absent, or its value satisfies the literal.
  bool restrict_value(Part& part, KeyId key, Literal literal) {
    part.at.emplace_back(key, literal);
    return !contains(part.required, key) || possible(part, key);
  }

  bool assume(Part& part, ConditionId id) {
    const Condition& atom = at(id);
    switch (atom.kind) {
      case Kind::kAbsent:
        return forbid(part, atom.key);
      case Kind::kPresent:
        return require(part, atom.key);
      case Kind::kValue:
        part.at.emplace_back(atom.key, atom.literal);
        return require(part, atom.key);
      case Kind::kEvery:
        part.every.push_back(id);
        return std::ranges::all_of(
            part.required, [&](KeyId key) { return possible(part, key); });
      case Kind::kAtLeast:
        part.min = std::max(part.min, atom.bound);
        return part.min <= part.max;
      case Kind::kAtMost:
        part.max = std::min(part.max, atom.bound);
        return part.min <= part.max;
      default:
        return false;
    }
  }

  // Whether the condition holds by what was assumed.
  bool holds(const Part& part, ConditionId id) const {
    const Condition& one = at(id);
    const auto part_holds = [&](ConditionId inner) {
      return holds(part, inner);
    };
    switch (one.kind) {
      case Kind::kTrue:
        return true;
      case Kind::kAll:
        return std::ranges::all_of(one.parts, part_holds);
      case Kind::kAny:
        return std::ranges::any_of(one.parts, part_holds);
      case Kind::kAbsent:
        return contains(part.forbidden, one.key);
      case Kind::kPresent:
        return contains(part.required, one.key);
      case Kind::kValue:
        return contains(part.required, one.key) &&
               contains(part.at, std::pair(one.key, one.literal));
      case Kind::kEvery:
        return contains(part.every, id);
      case Kind::kAtLeast:
        return part.min >= one.bound;
      case Kind::kAtMost:
        return part.max <= one.bound;
      default:
        return false;
    }
  }

  // Assumes all that is no disjunction.  What is left in `pending` are kAny and
  // kSome that do not hold yet.
  bool propagate(Part& part) {
    std::vector<ConditionId> left = std::move(part.pending);
    part.pending.clear();
    while (!left.empty()) {
      const ConditionId id = left.back();
      left.pop_back();
      const Condition& one = at(id);
      if (one.kind == Kind::kTrue) continue;
      if (one.kind == Kind::kAll) {
        left.insert(left.end(), one.parts.rbegin(), one.parts.rend());
      } else if (one.kind == Kind::kAny || one.kind == Kind::kSome) {
        part.pending.push_back(id);
      } else if (!assume(part, id)) {
        return false;
      }
    }
    std::erase_if(part.pending,
                  [&](ConditionId id) { return holds(part, id); });
    // Keys that required keys require.
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [key, others] : constraints_.dependent) {
        if (!contains(part.required, key)) continue;
        for (const KeyId other : others) {
          if (contains(part.required, other)) continue;
          if (!require(part, other)) return false;
          changed = true;
        }
      }
    }
    return true;
  }

  // Splits by a key that may require others, or by a disjunction.  False if
  // there is none.
  bool split(const Part& part, std::vector<Part>& out) {
    for (const auto& [key, others] : constraints_.dependent) {
      const bool decided = contains(part.required, key) ||
                           contains(part.forbidden, key) ||
                           std::ranges::all_of(others, [&](KeyId other) {
                             return contains(part.required, other);
                           });
      if (decided) continue;
      Part with = part;
      if (require(with, key)) out.push_back(std::move(with));
      Part without = part;
      if (forbid(without, key)) out.push_back(std::move(without));
      return true;
    }
    if (part.pending.empty()) return false;
    const ConditionId id = part.pending.back();
    Part rest = part;
    rest.pending.pop_back();
    if (at(id).kind == Kind::kSome) {
      split_some(rest, at(id), out);
    } else {
      split_any(rest, at(id), out);
    }
    return true;
  }

  // One part for each alternative.  "The member is absent" and "its value
  // satisfies S" are one alternative: an optional member.
  void split_any(const Part& rest, const Condition& any,
                 std::vector<Part>& out) {
    const auto is_absent = [&](KeyId key) {
      return std::ranges::any_of(any.parts, [&](ConditionId id) {
        return at(id).kind == Kind::kAbsent && at(id).key == key;
      });
    };
    const auto has_value = [&](KeyId key) {
      return std::ranges::any_of(any.parts, [&](ConditionId id) {
        return at(id).kind == Kind::kValue && at(id).key == key;
      });
    };
    for (const ConditionId id : any.parts) {
      const Condition& one = at(id);
      Part with = rest;
      if (one.kind == Kind::kValue && is_absent(one.key)) {
        if (!restrict_value(with, one.key, one.literal)) continue;
      } else if (one.kind == Kind::kAbsent && has_value(one.key)) {
        continue;
      } else {
        with.pending.push_back(id);
      }
      out.push_back(std::move(with));
    }
  }

  // Some member of a group has a value that satisfies a literal: a part for
  // each key that the schema spells.
  void split_some(const Part& rest, const Condition& some,
                  std::vector<Part>& out) {
    for (const KeyId key : solver_.spelled_list(disjunct_)) {
      if (!solver_.is_in(some.keys, {.key = key})) continue;
      Part with = rest;
      if (some.literal != schema_solver::kNoLiteral) {
        with.at.emplace_back(key, some.literal);
      }
      if (require(with, key)) out.push_back(std::move(with));
    }
    for (const schema_solver::ExtraKeys& extra :
         solver_.extra_keys(disjunct_)) {
      const KeyClass key_class{schema_solver::kNoKey,
                               &solver_.key_languages(disjunct_),
                               &extra.matched};
      ConjunctionId conjunction = value(rest, key_class);
      if (some.literal != schema_solver::kNoLiteral) {
        conjunction = solver_.with(conjunction, some.literal);
      }
      omits_ = omits_ || (solver_.is_in(some.keys, key_class) &&
                          solver_.satisfiable(conjunction));
    }
  }

  SchemaSolver& solver_;
  const DisjunctId disjunct_;
  const ObjectConstraints& constraints_;
  bool omits_ = false;
};

using Part = ObjectSplitter::Part;

// The languages of the undeclared names that can be written; see
// UndeclaredNames.
struct WritableNames {
  LanguageId writable;
  LanguageId unconstrained;
};

// The keys that a disjunct spells: those that the schema declares in its order,
// then the others.
std::vector<KeyId> ordered_keys(SchemaSolver& solver, DisjunctId disjunct) {
  std::vector<KeyId> keys = solver.spelled_list(disjunct);
  std::stable_sort(keys.begin(), keys.end(), [&](KeyId one, KeyId other) {
    return solver.rank(disjunct, one) < solver.rank(disjunct, other);
  });
  return keys;
}

// The members of a part with the keys `keys`.  Nothing if one that is required
// is impossible.
std::optional<std::vector<ArgumentObject::Member>> members_of(
    SchemaSolver& solver, DisjunctId disjunct, ObjectSplitter& splitter,
    const Part& part, const std::vector<KeyId>& keys, const auto& is_writable) {
  std::vector<ArgumentObject::Member> out;
  for (const KeyId key : keys) {
    if (contains(part.forbidden, key)) continue;
    const bool required = contains(part.required, key);
    const ConjunctionId value = splitter.value(part, {.key = key});
    // A key that the rules for names spell is an undeclared name.
    const bool named = required ||
                       solver.rank(disjunct, key) != SchemaSolver::kNoRank ||
                       is_writable(solver.key_text(key));
    if (named && solver.satisfiable(value)) {
      out.push_back({solver.key_text(key), solver.literals(value), required});
    } else if (required) {
      return std::nullopt;
    }
  }
  return out;
}

// The undeclared members of a part.  `spelled` are no undeclared names.
std::vector<ArgumentObject::Extra> extras_of(
    SchemaSolver& solver, DisjunctId disjunct, ObjectSplitter& splitter,
    const Part& part, const std::vector<std::string>& spelled,
    const WritableNames& names, TextLanguages& texts) {
  std::vector<ArgumentObject::Extra> out;
  const std::vector<LanguageId>& languages = solver.key_languages(disjunct);
  const bool rules_names = !solver.object(disjunct).key_rules.empty();
  for (const schema_solver::ExtraKeys& extra : solver.extra_keys(disjunct)) {
    const ConjunctionId value = splitter.value(
        part, {schema_solver::kNoKey, &languages, &extra.matched});
    if (!solver.satisfiable(value)) continue;
    std::vector<LanguageId> in = {names.writable};
    for (std::size_t i = 0; i < languages.size(); ++i) {
      in.push_back(extra.matched[i] ? languages[i]
                                    : texts.complement(languages[i]));
    }
    ArgumentObject::Extra one;
    one.by_pattern = contains(extra.matched, true);
    // Names that no pattern and no propertyNames constrain are fewer.
    if (!one.by_pattern && !rules_names) in.push_back(names.unconstrained);
    one.names = texts.all_of(std::move(in));
    one.value = solver.literals(value);
    one.declared = spelled;
    if (!texts.empty(one.names)) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

Result<SchemaSolver*> ArgumentSchema::solver() {
  if (solver_ == nullptr) {
    solver_ = std::make_unique<SchemaSolver>(document_, choices_,
                                             solver_options_, &languages_);
    if (auto error = solver_->check_nodes()) {
      solver_.reset();
      return *std::move(error);
    }
    for (GrammarNote& note :
         schema_solver::locate(document_, solver_->take_notes())) {
      if (note.kind != GrammarNote::Kind::kNarrowed) continue;
      narrowed_.emplace_back(std::move(note.path),
                             "'" + note.keyword + "': " + note.message);
    }
  }
  return solver_.get();
}

void ArgumentSchema::note_narrowed(const Conjunction& all,
                                   std::string_view what) {
  std::pair<std::string, std::string> note(pointer(all), what);
  if (!contains(narrowed_, note)) narrowed_.push_back(std::move(note));
}

// One alternative for each part of each disjunct.
Result<std::vector<ArgumentObject>> ArgumentSchema::solved_objects(
    const Conjunction& all, const UndeclaredNames& undeclared) {
  Result<SchemaSolver*> made = solver();
  if (!made) return std::move(made).error();
  SchemaSolver& solver = **made;
  const bool narrowed_before = solver.narrowed();
  const std::vector<DisjunctId> disjuncts =
      solver.disjuncts(solver.conjunction(all), JsonType::kObject);
  if (disjuncts.size() >= kMaxAlternatives) return too_many(pointer(all));
  const WritableNames names{languages_.whole(undeclared.writable),
                            languages_.whole(undeclared.unconstrained)};
  const auto is_writable = [&](const std::string& name) {
    return accepts(names.writable, name);
  };
  std::vector<ArgumentObject> out;
  bool omits = false;
  for (const DisjunctId disjunct : disjuncts) {
    ObjectSplitter splitter(solver, disjunct);
    const auto parts = splitter.run(kMaxAlternatives);
    if (!parts) return too_many(pointer(all));
    omits = omits || splitter.omits();
    const std::vector<KeyId> keys = ordered_keys(solver, disjunct);
    std::vector<std::string> spelled;
    spelled.reserve(keys.size());
    for (const KeyId key : keys) spelled.push_back(solver.key_text(key));
    for (const Part& part : *parts) {
      auto members =
          members_of(solver, disjunct, splitter, part, keys, is_writable);
      if (!members || part.min > part.max) continue;
      ArgumentObject object;
      object.min = part.min;
      object.max = part.max;
      object.members = *std::move(members);
      object.extras = extras_of(solver, disjunct, splitter, part, spelled,
                                names, languages_);
      if (!contains(out, object)) out.push_back(std::move(object));
      if (out.size() > kMaxAlternatives) return too_many(pointer(all));
    }
  }
  if (out.empty() && omits) {
    return Error{ErrorCode::kUnsupported,
                 "Every object needs a member whose name the schema does not "
                 "list, which cannot be enforced where arguments are written "
                 "as elements.",
                 pointer(all)};
  }
  if (omits) {
    note_narrowed(all,
                  "objects are left out that need a member whose name the "
                  "schema does not list");
  }
  note_combinations(all, narrowed_before);
  return out;
}

// Whether a disjunct has a rule that a list of elements cannot enforce.  Then
// `why` gets the error: of several, the last one about 'contains', or else the
// first.
bool ArgumentSchema::is_unlistable(
    const schema_solver::ArrayConstraints& constraints, const Conjunction& all,
    std::optional<Error>& why) const {
  bool counts = false;
  for (const schema_solver::ItemCount& count : constraints.counts) {
    if (count.max == 0) continue;
    counts = true;
    why = Error{ErrorCode::kUnsupported,
                "'contains' cannot be enforced where a list is written as "
                "elements.",
                document_.pointer(count.literal >> 1)};
  }
  const bool unique = constraints.unique && constraints.max > 1;
  if (!counts && !unique && constraints.witnesses.empty()) return false;
  if (!why) {
    why = Error{ErrorCode::kUnsupported,
                "'uniqueItems', and a rule that some item must break, cannot "
                "be enforced where a list is written as elements.",
                pointer(all)};
  }
  return true;
}

Result<std::vector<ArgumentArray>> ArgumentSchema::solved_arrays(
    const Conjunction& all) {
  Result<SchemaSolver*> made = solver();
  if (!made) return std::move(made).error();
  SchemaSolver& solver = **made;
  const bool narrowed_before = solver.narrowed();
  const std::vector<DisjunctId> disjuncts =
      solver.disjuncts(solver.conjunction(all), JsonType::kArray);
  if (disjuncts.size() >= kMaxAlternatives) return too_many(pointer(all));
  std::vector<ArgumentArray> out;
  std::optional<Error> refused;
  for (const DisjunctId disjunct : disjuncts) {
    const schema_solver::ArrayConstraints constraints = solver.array(disjunct);
    if (is_unlistable(constraints, all, refused)) continue;
    const auto item = [&](std::uint64_t index) {
      ConjunctionId value = solver.item_conjunction(disjunct, index);
      // That no item satisfies a literal is a rule for each item.
      for (const schema_solver::ItemCount& count : constraints.counts) {
        value = solver.with(value, schema_solver::negation(count.literal));
      }
      return value;
    };
    ArgumentArray array;
    array.min = constraints.min;
    array.max = constraints.max;
    // The list ends before the first item that no value satisfies, and no item
    // follows the last one that maxItems allows.
    bool ends = false;
    for (std::uint64_t i = 0; i < constraints.prefix && !ends; ++i) {
      const ConjunctionId value = item(i);
      ends = i >= array.max || !solver.satisfiable(value);
      if (!ends) array.prefix.push_back(solver.literals(value));
    }
    const ConjunctionId rest = item(constraints.prefix);
    if (!ends && array.prefix.size() < array.max && solver.satisfiable(rest)) {
      array.rest = solver.literals(rest);
    } else {
      array.max = std::min<std::uint64_t>(array.max, array.prefix.size());
    }
    if (array.min <= array.max && !contains(out, array)) {
      out.push_back(std::move(array));
    }
  }
  if (refused) {
    if (out.empty()) return *std::move(refused);
    note_narrowed(all,
                  "arrays are left out that have to be looked at as a "
                  "whole (contains, uniqueItems)");
  }
  note_combinations(all, narrowed_before);
  return out;
}

void ArgumentSchema::note_combinations(const Conjunction& all,
                                       bool narrowed_before) {
  if (!solver_->narrowed() || narrowed_before) return;
  note_narrowed(all, "some combinations of alternatives are left out");
}

}  // namespace parlance::arguments
