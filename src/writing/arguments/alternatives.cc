// Turns the disjuncts of the schema solver into plain lists of members or
// items.
//
// A disjunct of the solver has no logic but what it did not split: a condition
// (schema_solver/conditions.h), and keys that require others.  Rules of members
// have no memory of the members before them, so here both are split, too, until
// every alternative is a plain list of members:
//
//   a optional, b optional,             a optional, b absent
//   a or not b                    =>    a required, b optional

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "arguments/schema_view.h"
#include "schema_solver/node_checks.h"

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
  //
  // Invariant: each object of the disjunct is in a part of `open` or `done`, or
  // omits() says that it may not be; and every object of a part is one of the
  // disjunct once the part's pending conditions hold.  A step takes a part from
  // `open`, and each part that it makes has assumed more; so the loop ends.
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
      if (!solver_.keys().is_in(rule.keys, key_class)) continue;
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
  using Kind = Condition::Kind;

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
  // kSome that do not hold yet.  False if the assumptions contradict each
  // other, or some required member has no value.
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
    // Keys that required keys require, up to a fixed point: those may require
    // others in turn.
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
    for (const KeyId key : solver_.keys().spelled_list(disjunct_)) {
      if (!solver_.keys().is_in(some.keys, {.key = key})) continue;
      Part with = rest;
      if (some.literal != schema_solver::kNoLiteral) {
        with.at.emplace_back(key, some.literal);
      }
      if (require(with, key)) out.push_back(std::move(with));
    }
    // A member without a listed name could satisfy it as well.  Rules of
    // members cannot require one of unknown name, so those objects are left
    // out.
    for (const schema_solver::ExtraKeys& extra :
         solver_.keys().extra_keys(disjunct_)) {
      const KeyClass key_class{schema_solver::kNoKey,
                               &solver_.keys().languages(disjunct_),
                               &extra.matched};
      ConjunctionId conjunction = value(rest, key_class);
      if (some.literal != schema_solver::kNoLiteral) {
        conjunction = solver_.with(conjunction, some.literal);
      }
      omits_ = omits_ || (solver_.keys().is_in(some.keys, key_class) &&
                          solver_.satisfiable(conjunction));
    }
  }

  SchemaSolver& solver_;
  const DisjunctId disjunct_;
  const ObjectConstraints& constraints_;
  bool omits_ = false;
};

using Part = ObjectSplitter::Part;

// Makes the alternatives of one disjunct: one for each part.
class ObjectWriter {
 public:
  ObjectWriter(SchemaSolver& solver, DisjunctId disjunct,
               ObjectSplitter& splitter, TextLanguages& texts,
               const UndeclaredNames& names)
      : solver_(solver),
        disjunct_(disjunct),
        splitter_(splitter),
        texts_(texts),
        names_(names),
        keys_(solver.keys().spelled_list(disjunct)) {
    // Those that the schema declares in its order, then the others.
    std::stable_sort(keys_.begin(), keys_.end(), [&](KeyId one, KeyId other) {
      return solver.keys().rank(disjunct, one) <
             solver.keys().rank(disjunct, other);
    });
    spelled_.reserve(keys_.size());
    for (const KeyId key : keys_) spelled_.push_back(solver.names().text(key));
    const std::vector<Literal>& rules = solver.object(disjunct).key_rules;
    if (!rules.empty()) name_rule_ = solver.string_language(rules).under;
  }

  // Nothing if no object satisfies the part.
  std::optional<ArgumentObject> write(const Part& part) {
    ArgumentObject out;
    out.min = part.min;
    out.max = part.max;
    if (out.min > out.max || !add_members(part, out)) return std::nullopt;
    add_extras(part, out);
    return out;
  }

  // Whether members are left out that may have a value.
  bool leaves_out() const { return leaves_out_; }

 private:
  // Made where it is needed, because most objects have no undeclared names.
  LanguageId writable() { return texts_.whole(names_.writable); }

  bool possible(ConjunctionId value) {
    if (solver_.satisfiable(value)) return true;
    leaves_out_ = leaves_out_ || !solver_.is_empty(value);
    return false;
  }

  // Adds the spelled keys.  An optional one that only a pattern or
  // propertyNames spell, such as "^(a|b)$", has no place in an order and
  // becomes an undeclared name.  False if a required key has no value.
  bool add_members(const Part& part, ArgumentObject& out) {
    for (const KeyId key : keys_) {
      if (contains(part.forbidden, key)) continue;
      const bool required = contains(part.required, key);
      const bool listed = required || solver_.keys().rank(disjunct_, key) !=
                                          schema_solver::KeyTables::kNoRank;
      const std::string& name = solver_.names().text(key);
      if (!listed && !texts_.contains(writable(), name)) continue;
      const ConjunctionId value = splitter_.value(part, {.key = key});
      if (!possible(value)) {
        if (required) return false;
        continue;
      }
      if (listed || !add_name(name, solver_.literals(value), out)) {
        out.members.push_back({name, solver_.literals(value), required});
      }
    }
    return true;
  }

  // False if no language of names has the name.
  bool add_name(const std::string& name, const Conjunction& value,
                ArgumentObject& out) {
    bool found = false;
    bool by_pattern = false;
    for (const LanguageId language : solver_.keys().languages(disjunct_)) {
      if (!texts_.contains(language, name)) continue;
      found = true;
      by_pattern = by_pattern || language != name_rule_;
    }
    if (!found) return false;
    const LanguageId names = texts_.literals({name});
    for (ArgumentObject::Extra& other : out.extras) {
      if (other.value != value || other.by_pattern != by_pattern) continue;
      other.names = texts_.any_of({other.names, names});
      return true;
    }
    out.extras.push_back(
        {.names = names, .value = value, .by_pattern = by_pattern});
    return true;
  }

  // Adds the keys that are not spelled, by the patterns that they match.
  void add_extras(const Part& part, ArgumentObject& out) {
    const std::vector<LanguageId>& languages =
        solver_.keys().languages(disjunct_);
    for (const schema_solver::ExtraKeys& extra :
         solver_.keys().extra_keys(disjunct_)) {
      const ConjunctionId value = splitter_.value(
          part, {schema_solver::kNoKey, &languages, &extra.matched});
      if (!possible(value)) continue;
      std::vector<LanguageId> in = {writable()};
      ArgumentObject::Extra one;
      for (std::size_t i = 0; i < languages.size(); ++i) {
        in.push_back(extra.matched[i] ? languages[i]
                                      : texts_.complement(languages[i]));
        one.by_pattern =
            one.by_pattern || (extra.matched[i] && languages[i] != name_rule_);
      }
      // Names that no pattern and no propertyNames constrain are fewer.
      if (!one.by_pattern && !name_rule_) {
        in.push_back(texts_.whole(names_.unconstrained));
      }
      one.names = texts_.all_of(std::move(in));
      one.value = solver_.literals(value);
      one.declared = spelled_;
      if (!texts_.empty(one.names)) out.extras.push_back(std::move(one));
    }
  }

  SchemaSolver& solver_;
  const DisjunctId disjunct_;
  ObjectSplitter& splitter_;
  TextLanguages& texts_;
  const UndeclaredNames& names_;
  std::vector<KeyId> keys_;
  std::vector<std::string> spelled_;
  std::optional<LanguageId> name_rule_;  // of propertyNames
  bool leaves_out_ = false;
};

}  // namespace

void ArgumentSchema::note_narrowed(std::string keyword, std::string path,
                                   std::string what) {
  const bool known = std::ranges::any_of(narrowed_, [&](const auto& note) {
    return note.path == path && note.message == what;
  });
  if (known) return;
  narrowed_.push_back({GrammarNote::Kind::kNarrowed, std::move(keyword),
                       std::move(path), std::move(what)});
}

void ArgumentSchema::note_formats(const Conjunction& all) {
  if (document_.patterns.empty()) return;
  for (const Literal literal : all) {
    for (const NodeId node : solver_.in_place_nodes(literal.node())) {
      schema_solver::note_format(document_, node, solver_.notes());
    }
  }
  add_notes(solver_.notes().take());
}

void ArgumentSchema::add_notes(std::vector<schema_solver::NodeNote> notes) {
  if (notes.empty()) return;
  for (GrammarNote& note : schema_solver::locate(document_, std::move(notes))) {
    if (note.kind != GrammarNote::Kind::kNarrowed) continue;
    note_narrowed(std::move(note.keyword), std::move(note.path),
                  std::move(note.message));
  }
}

void ArgumentSchema::note_left_out(const Conjunction& all, bool leaves_out) {
  add_notes(solver_.notes().take());
  const bool narrowed = solver_.languages().narrowed() && !narrowed_before_;
  narrowed_before_ = solver_.languages().narrowed();
  if (!leaves_out && !narrowed) return;
  if (narrowed || negation_notes_.empty()) {
    note_narrowed({}, pointer(all),
                  "some combinations of alternatives are left out");
  }
  add_notes(std::move(negation_notes_));
  negation_notes_.clear();
}

// One alternative for each part of each disjunct.
Result<std::vector<ArgumentObject>> ArgumentSchema::objects(
    const Conjunction& all, const UndeclaredNames& names) {
  const ConjunctionId conjunction = solver_.conjunction(all);
  const std::vector<DisjunctId> disjuncts =
      solver_.disjuncts(conjunction, JsonType::kObject);
  if (disjuncts.size() > kMaxAlternatives) return too_many(pointer(all));
  std::vector<ArgumentObject> out;
  bool omits = false;
  bool leaves_out =
      solver_.satisfiability().leaves_out(conjunction, JsonType::kObject);
  for (const DisjunctId disjunct : disjuncts) {
    ObjectSplitter splitter(solver_, disjunct);
    const auto parts = splitter.run(kMaxAlternatives);
    if (!parts) return too_many(pointer(all));
    omits = omits || splitter.omits();
    ObjectWriter writer(solver_, disjunct, splitter, languages_, names);
    for (const ObjectSplitter::Part& part : *parts) {
      std::optional<ArgumentObject> object = writer.write(part);
      if (!object || contains(out, *object)) continue;
      out.push_back(*std::move(object));
      if (out.size() > kMaxAlternatives) return too_many(pointer(all));
    }
    leaves_out = leaves_out || writer.leaves_out();
  }
  if (solver_.pattern_error()) return *solver_.pattern_error();
  if (out.empty() && omits) {
    return Error{ErrorCode::kUnsupported,
                 "Every object needs a member whose name the schema does not "
                 "list, which cannot be enforced where arguments are written "
                 "as elements.",
                 pointer(all)};
  }
  if (omits) {
    note_narrowed("required", pointer(all),
                  "objects are left out that need a member whose name the "
                  "schema does not list");
  }
  note_left_out(all, leaves_out);
  return out;
}

std::optional<Error> ArgumentSchema::why_unlistable(
    const schema_solver::ArrayConstraints& constraints,
    const Conjunction& all) const {
  const auto unsupported = [](std::string_view rule, std::string path) {
    return Error{ErrorCode::kUnsupported,
                 std::string(rule) +
                     " cannot be enforced where a list is written as elements.",
                 std::move(path)};
  };
  for (const schema_solver::ItemCount& count : constraints.counts) {
    // That no item satisfies a literal is a rule for each item.
    if (count.max == 0) continue;
    return unsupported("'contains'", document_.pointer(count.literal.node()));
  }
  if (constraints.unique && constraints.max > 1) {
    for (const Literal literal : all) {
      for (const NodeId node : solver_.in_place_nodes(literal.node())) {
        if (!document_.node(node).arrays().unique_items) continue;
        return unsupported("'uniqueItems'",
                           document_.pointer(node) + "/uniqueItems");
      }
    }
    assert(false);
  }
  if (constraints.witnesses.empty()) return std::nullopt;
  return unsupported("A rule that some item must break", pointer(all));
}

Result<std::vector<ArgumentArray>> ArgumentSchema::arrays(
    const Conjunction& all) {
  const ConjunctionId conjunction = solver_.conjunction(all);
  const std::vector<DisjunctId> disjuncts =
      solver_.disjuncts(conjunction, JsonType::kArray);
  if (disjuncts.size() > kMaxAlternatives) return too_many(pointer(all));
  std::vector<ArgumentArray> out;
  std::optional<Error> refused;
  bool leaves_out =
      solver_.satisfiability().leaves_out(conjunction, JsonType::kArray);
  const auto possible = [&](ConjunctionId value) {
    if (solver_.satisfiable(value)) return true;
    leaves_out = leaves_out || !solver_.is_empty(value);
    return false;
  };
  for (const DisjunctId disjunct : disjuncts) {
    const schema_solver::ArrayConstraints& constraints =
        solver_.array(disjunct);
    if (auto why = why_unlistable(constraints, all)) {
      refused = std::move(why);
      continue;
    }
    const auto item = [&](std::uint64_t index) {
      ConjunctionId value = solver_.item_conjunction(disjunct, index);
      // That no item satisfies a literal is a rule for each item.
      for (const schema_solver::ItemCount& count : constraints.counts) {
        value = solver_.with(value, schema_solver::negation(count.literal));
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
      ends = i >= array.max || !possible(value);
      if (!ends) array.prefix.push_back(solver_.literals(value));
    }
    const ConjunctionId rest = item(constraints.prefix);
    if (!ends && array.prefix.size() < array.max && possible(rest)) {
      array.rest = solver_.literals(rest);
    } else {
      array.max = std::min<std::uint64_t>(array.max, array.prefix.size());
    }
    if (array.min <= array.max && !contains(out, array)) {
      out.push_back(std::move(array));
    }
  }
  if (solver_.pattern_error()) return *solver_.pattern_error();
  if (refused) {
    if (out.empty()) return *std::move(refused);
    note_narrowed({}, pointer(all),
                  "arrays are left out that have to be looked at as a "
                  "whole (contains, uniqueItems)");
  }
  note_left_out(all, leaves_out);
  return out;
}

}  // namespace parlance::arguments
