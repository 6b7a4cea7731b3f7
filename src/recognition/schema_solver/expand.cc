// The branches of the tableau, and their conversion to disjuncts.
//
// Branches are expanded depth first, in the order of the schema, so that a
// limit keeps the alternatives that are written first.

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <string>

#include "base/hashed_ids.h"
#include "base/mix.h"
#include "base/work.h"
#include "schema_solver/expander.h"

namespace parlance::schema_solver {

using automata::NumberSpec;
namespace {

void raise(std::uint64_t& bound, std::uint64_t to) {
  bound = std::max(bound, to);
}
void lower(std::uint64_t& bound, std::uint64_t to) {
  bound = std::min(bound, to);
}

template <class T>
void sort_unique(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

bool overlap(const std::vector<KeyId>& a, const std::vector<KeyId>& b) {
  for (const KeyId key : a) {
    if (std::binary_search(b.begin(), b.end(), key)) return true;
  }
  return false;
}

// Appends `disjunct` unless the table has an equal one at `begin` or after it.
template <class Disjunct>
std::optional<DisjunctId> add_new(std::deque<Disjunct>& table,
                                  std::size_t begin, Disjunct disjunct) {
  for (std::size_t i = begin; i < table.size(); ++i) {
    if (table[i] == disjunct) return std::nullopt;
  }
  table.push_back(std::move(disjunct));
  return static_cast<DisjunctId>(table.size() - 1);
}

}  // namespace

void SchemaSolver::Expander::run(const std::vector<Literal>& literals) {
  Branch start;
  switch (type_) {
    case JsonType::kNull:
      start.disjunct = kNullValue;
      break;
    case JsonType::kBoolean:
      start.disjunct = Constants{kFalseValue | kTrueValue};
      break;
    case JsonType::kNumber:
      start.disjunct.emplace<NumberSpec>();
      break;
    case JsonType::kString:
      start.disjunct.emplace<Strings>();
      break;
    case JsonType::kArray:
      start.disjunct.emplace<ArrayConstraints>();
      break;
    case JsonType::kObject:
      start.disjunct.emplace<ObjectConstraints>();
      break;
  }
  for (auto it = literals.rbegin(); it != literals.rend(); ++it) {
    require(start, *it);
  }
  run(std::move(start));
}

void SchemaSolver::Expander::run(Branch branch) {
  while (true) {
    // Each of the n branches of a oneOf assumes n literals.
    if (truncated_ && joinable_) return;
    const std::size_t branches =
        finished_.size() + (limits_open_ ? stack_.size() : 0);
    if (branches >= limit_ ||
        steps_ > limit_ * std::max<std::size_t>(64, limit_) ||
        !solver_.steps().left()) {
      truncated_ = true;
      return;
    }
    if (finish(branch)) finished_.push_back(std::move(branch));
    if (stack_.empty()) return;
    branch = std::move(stack_.back());
    stack_.pop_back();
  }
}

// Equal literals are recognised as such, and so are contradictions, whichever
// way a definition is referred to.  An unevaluated rule depends on that way.
void SchemaSolver::Expander::require(Branch& branch, Literal literal,
                                     std::uint32_t by) const {
  if (!tracks_evaluated_) literal = solver_.unwrapped(literal);
  (literal.negated() ? branch.negative : branch.positive)
      .push_back({literal, by});
}

// Assumes the pending literals of `branch`.  True if the branch is finished;
// false if it is closed, or was split and its parts are on the stack.
//
// Invariant: the constraints of `branch.assumed` are in `branch.disjunct` or
// pending, and no two literals of `assumed` contradict each other.
bool SchemaSolver::Expander::finish(Branch& branch) {
  while (true) {
    ++steps_;
    solver_.steps().count();
    // Each literal of the branch is looked at.
    if (!base::spend_work(1 + branch.assumed.size() / 16)) return false;
    Branch::Assumption next;
    if (!branch.positive.empty()) {
      next = branch.positive.back();
      branch.positive.pop_back();
      // Before what the literal says splits the branch.
      const bool denied = std::ranges::any_of(
          branch.negative, [&](const Branch::Assumption& other) {
            return other.literal == negation(next.literal);
          });
      if (denied) return false;
    } else if (!branch.negative.empty()) {
      next = branch.negative.back();
      branch.negative.pop_back();
    } else {
      return join_clauses(branch);
    }
    if (next.literal == kNever) return false;
    // A contradiction closes the branch; a literal that is already assumed adds
    // nothing.  With unevaluated rules it adds a link if another entry required
    // it: the rule sees the literals that its own node required.
    const auto entry = static_cast<std::uint32_t>(branch.assumed.size());
    std::uint32_t known = entry;
    for (std::uint32_t i = 0; i < entry; ++i) {
      const Branch::Assumption& old = branch.assumed[i];
      if (old.literal == negation(next.literal)) return false;
      if (old.literal == next.literal) known = i;
    }
    if (known != entry) {
      const std::pair link(known, next.by);
      if (tracks_evaluated_ && next.by < entry &&
          branch.assumed[known].by != next.by &&
          std::ranges::find(branch.also, link) == branch.also.end()) {
        branch.also.push_back(link);
      }
      continue;
    }
    branch.assumed.push_back(next);
    const NodeId node = next.literal.node();
    const bool continues = next.literal.negated()
                               ? assume_negative(branch, node, entry)
                               : assume_positive(branch, node, entry);
    if (!continues) return false;
  }
}

// Splits `branch` by the choices, the first one on top of the stack.  True if
// there was only one choice, or the choices were joined: then `branch`
// continues unsplit.
bool SchemaSolver::Expander::choose(Branch& branch,
                                    std::vector<Choice>& choices,
                                    std::uint32_t by) {
  if (choices.empty()) return false;
  if (joins_ && choices.size() > 1) return join(branch, choices);
  for (std::size_t i = choices.size(); i-- > 1;) {
    Branch other = branch;
    if (apply(other, choices[i], by)) stack_.push_back(std::move(other));
  }
  if (choices.size() == 1) return apply(branch, choices[0], by);
  Branch first = std::move(branch);
  if (apply(first, choices[0], by)) stack_.push_back(std::move(first));
  return false;
}

// Takes one choice on a branch: its literals are to be assumed next, and its
// edit narrows the disjunct.  False if no value satisfies the disjunct then.
bool SchemaSolver::Expander::apply(Branch& branch, const Choice& choice,
                                   std::uint32_t by) {
  for (auto it = choice.literals.rbegin(); it != choice.literals.rend(); ++it) {
    require(branch, *it, by);
  }
  using Edit = Choice::Edit;
  switch (choice.edit) {
    case Edit::kNone:
      return true;
    case Edit::kConstants: {
      auto& constants = std::get<Constants>(branch.disjunct);
      constants &= choice.constants;
      return constants != 0;
    }
    case Edit::kNumber:
      add_number(std::get<NumberSpec>(branch.disjunct), choice.number);
      return true;
    case Edit::kLanguage: {
      auto& strings = std::get<Strings>(branch.disjunct);
      strings.languages.push_back(choice.language);
      strings.add_negated(choice.inexact);
      return true;
    }
    case Edit::kBounds:
      return bound(branch, choice.min, choice.max);
    case Edit::kItem: {
      auto& array = std::get<ArrayConstraints>(branch.disjunct);
      raise(array.min, choice.at_index + 1);
      array.at.emplace_back(choice.at_index, choice.at);
      return array.min <= array.max;
    }
    case Edit::kItemWitness: {
      auto& array = std::get<ArrayConstraints>(branch.disjunct);
      array.witnesses.emplace_back(choice.at_index, choice.at);
      if (array.witnesses.size() <= kMaxWitnesses) return true;
      leave_out(LeftOutBy::kLimit, place_of(branch, by), "",
                "arrays are left out that need more than 32 items to fail "
                "rules");
      return false;
    }
    case Edit::kCount:
      std::get<ArrayConstraints>(branch.disjunct)
          .counts.push_back(choice.count);
      return choice.count.min <= choice.count.max;
    default:
      return apply_member(branch, choice);
  }
}

bool SchemaSolver::Expander::apply_member(Branch& branch,
                                          const Choice& choice) {
  using Edit = Choice::Edit;
  auto& object = std::get<ObjectConstraints>(branch.disjunct);
  const auto has = [](const std::vector<KeyId>& list, KeyId key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  if (choice.edit == Edit::kCondition) {
    add_condition(branch, choice.condition, choice.nodes);
    return object.condition != kImpossible;
  }
  if (choice.edit == Edit::kForbid) {
    object.forbidden.push_back(choice.at_key);
    return !has(object.required, choice.at_key);
  }
  object.required.push_back(choice.at_key);
  if (has(object.forbidden, choice.at_key)) return false;
  if (choice.edit == Edit::kRequireValue) {
    object.at.emplace_back(choice.at_key, choice.at);
  }
  return true;
}

bool SchemaSolver::Expander::bound(Branch& branch, std::uint64_t min,
                                   std::uint64_t max) {
  const auto limit = [&](auto& disjunct) {
    raise(disjunct.min, min);
    lower(disjunct.max, max);
    return disjunct.min <= disjunct.max;
  };
  if (auto* strings = std::get_if<Strings>(&branch.disjunct)) {
    return limit(*strings);
  }
  if (auto* object = std::get_if<ObjectConstraints>(&branch.disjunct)) {
    return limit(*object);
  }
  if (auto* array = std::get_if<ArrayConstraints>(&branch.disjunct)) {
    return limit(*array);
  }
  return true;
}

void SchemaSolver::Expander::add_number(NumberSpec& into,
                                        const NumberSpec& from) {
  into.integer |= from.integer;
  into.not_integer |= from.not_integer;
  into.marked |= from.marked;
  if (from.minimum) add_minimum(into, *from.minimum, from.exclusive_minimum);
  if (from.maximum) add_maximum(into, *from.maximum, from.exclusive_maximum);
  const auto append = [](auto& list, const auto& more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  append(into.multiple_of, from.multiple_of);
  append(into.not_multiple_of, from.not_multiple_of);
  append(into.excluded, from.excluded);
  if (!from.allowed) return;
  if (!into.allowed) {
    into.allowed = from.allowed;
    into.texts = from.texts;
    return;
  }
  append(into.texts, from.texts);
  std::vector<base::Decimal> others = *from.allowed;
  std::ranges::sort(others);
  std::erase_if(*into.allowed, [&](const base::Decimal& value) {
    return !std::ranges::binary_search(others, value);
  });
}

void SchemaSolver::Expander::add_minimum(NumberSpec& into,
                                         const base::Decimal& bound,
                                         bool exclusive) {
  if (!into.minimum || bound > *into.minimum) {
    into.minimum = bound;
    into.exclusive_minimum = exclusive;
  } else if (bound == *into.minimum) {
    into.exclusive_minimum |= exclusive;
  }
}

void SchemaSolver::Expander::add_maximum(NumberSpec& into,
                                         const base::Decimal& bound,
                                         bool exclusive) {
  if (!into.maximum || bound < *into.maximum) {
    into.maximum = bound;
    into.exclusive_maximum = exclusive;
  } else if (bound == *into.maximum) {
    into.exclusive_maximum |= exclusive;
  }
}

const Expansion& SchemaSolver::expansion(ConjunctionId conjunction,
                                         JsonType type) {
  auto& known = expansions_[conjunction][static_cast<std::size_t>(type)];
  if (known == nullptr) known = std::make_unique<Expansion>();
  Expansion& expansion = *known;
  if (!expansion.expanded && !expansion.expanding) {
    Questions::Answer answer(questions_);
    const Questions::Question question(questions_);
    const ScopedExpansion inside(satisfiability_);
    expansion.expanding = true;
    expansion.depth = question.depth();
    expand(conjunction, type, expansion);
    expansion.expanding = false;
    expansion.expanded = true;
    question.has_more();
    // It is the same whatever was read: see proves_empty().
    answer.forget();
  }
  return expansion;
}

// What a node requires of members or items that are not evaluated.
std::optional<Literal> SchemaSolver::unevaluated_rule(NodeId id,
                                                      JsonType type) const {
  const schema::Node& node = document_.node(id);
  const bool object = type == JsonType::kObject;
  const NodeId rule = object ? node.objects().unevaluated_properties
                             : node.arrays().unevaluated_items;
  if (rule != schema::kNoNode) return holds(rule);
  if ((object ? node.object_closing : node.array_closing) ==
      schema::Closing::kUnevaluated) {
    return kNever;
  }
  return std::nullopt;
}

// Whether an unevaluated rule is among the nodes that apply to a value of the
// type.
bool SchemaSolver::has_unevaluated(ConjunctionId conjunction,
                                   JsonType type) const {
  if (!has_unevaluated_ || !is_nested(type)) return false;
  const std::vector<Literal>& literals = conjunctions_[conjunction];
  return std::any_of(literals.begin(), literals.end(), [&](Literal literal) {
    const std::vector<NodeId> nodes = in_place_nodes(literal.node());
    return std::any_of(nodes.begin(), nodes.end(), [&](NodeId node) {
      return unevaluated_rule(node, type).has_value();
    });
  });
}

// The unevaluated rules of a finished branch, each with its scopes: the nodes
// that the rule's own node required, directly or through others, by positive
// literals only.  A node that spells out a value of an enum evaluates nothing.
//
// `by` and `also` link each assumption to those that required it, so the nodes
// form a graph, and a node is in scope if some path of links leads from it to
// entry i.
std::vector<UnevaluatedRule> SchemaSolver::unevaluated(const Branch& branch,
                                                       JsonType type) {
  const std::size_t size = branch.assumed.size();
  const auto node_of = [&](std::size_t entry) {
    return branch.assumed[entry].literal.node();
  };
  std::vector<std::vector<std::uint32_t>> required;  // by each entry
  const auto link = [&](std::size_t entry, std::uint32_t by) {
    const bool evaluates = !branch.assumed[entry].literal.negated() &&
                           !spells_enum_[node_of(entry)];
    if (by < size && evaluates) {
      required[by].push_back(static_cast<std::uint32_t>(entry));
    }
  };
  std::vector<UnevaluatedRule> found;
  for (std::size_t i = 0; i < size; ++i) {
    if (branch.assumed[i].literal.negated()) continue;
    const std::optional<Literal> rule = unevaluated_rule(node_of(i), type);
    if (!rule) continue;
    if (required.empty()) {
      required.resize(size);
      for (std::size_t j = 0; j < size; ++j) link(j, branch.assumed[j].by);
      for (const auto& [entry, by] : branch.also) link(entry, by);
    }
    UnevaluatedRule made{*rule, node_of(i), {}};
    std::vector<bool> seen(size, false);
    seen[i] = true;
    std::vector<std::uint32_t> left = required[i];
    while (!left.empty()) {
      const std::uint32_t entry = left.back();
      left.pop_back();
      if (seen[entry]) continue;
      seen[entry] = true;
      made.scopes.push_back(node_of(entry));
      left.insert(left.end(), required[entry].begin(), required[entry].end());
    }
    sort_unique(made.scopes);
    found.push_back(std::move(made));
  }
  return found;
}

// Sets `prefix` to the first index from which on all items have the same rules.
void SchemaSolver::find_prefix(ArrayConstraints& array) {
  const auto beyond = [&](std::uint64_t index) {
    array.prefix = std::max(array.prefix, index);
  };
  const auto see = [&](NodeId node) {
    beyond(document_.node(node).arrays().prefix_items.size());
  };
  for (const ItemRules& rules : array.items) see(rules.node);
  for (const UnevaluatedRule& rule : array.unevaluated) {
    see(rule.node);
    for (const NodeId node : rule.scopes) see(node);
  }
  for (const auto& [index, literal] : array.at) beyond(index + 1);
  for (const auto& [index, literal] : array.witnesses) beyond(index);
}

// Writes the finished branches of one expansion to the tables of disjuncts,
// each unless it is empty or equal to one of this expansion.
//
// Invariant: the strings of this expansion are the entries of their table from
// first_string_ on; its arrays and objects are in known_arrays_ and
// known_objects_.  Null and booleans are united to one set of values, numbers
// that are listed to one list, strings without a bound on their length to one
// language; finish() adds these.
class SchemaSolver::Expander::Writer {
 public:
  // The most characters that a language can count (base::kUnbounded).  Beyond
  // them strings are left out, with a note.
  static constexpr std::uint64_t kMostChars = base::kUnbounded - 1;

  // `place`: of the conjunction, for notes.
  Writer(SchemaSolver& solver, bool tracks_evaluated, NodeId place,
         Expansion& into)
      : solver_(solver),
        tracks_evaluated_(tracks_evaluated),
        place_(place),
        exactness_(into.exactness),
        all_(into.all),
        first_string_(solver.strings_.size()) {}

  void add(Branch& branch) {
    if (const auto* some = std::get_if<Constants>(&branch.disjunct)) {
      constants_ |= *some;
    } else if (auto* spec = std::get_if<NumberSpec>(&branch.disjunct)) {
      add(*spec);
    } else if (auto* strings = std::get_if<Strings>(&branch.disjunct)) {
      add(*strings);
    } else if (auto* array = std::get_if<ArrayConstraints>(&branch.disjunct)) {
      add(branch, *array);
    } else {
      add(branch, std::get<ObjectConstraints>(branch.disjunct));
    }
  }

  void finish() {
    if (constants_ != 0) all_.push_back(DisjunctId(constants_));
    for (std::optional<NumberSpec>& spec : listed_) {
      if (spec) add_spec(*spec);
    }
    if (any_length_.empty()) return;
    automata::Languages& languages = solver_.languages_;
    const automata::LanguageId language =
        languages.any_of(std::move(any_length_));
    solver_.strings_.push_back({language, 0, kUnboundedCount});
    // The language of all strings subsumes the other disjuncts.
    if (languages.universal(languages.start(language))) all_.clear();
    all_.push_back(static_cast<DisjunctId>(solver_.strings_.size() - 1));
  }

 private:
  // Lists of numbers are united, unless integers are spelled otherwise.
  void add(NumberSpec& spec) {
    if (!spec.allowed || spec.marked) {
      add_spec(spec);
      return;
    }
    keep_valid(spec);
    std::optional<NumberSpec>& listed = listed_[spec.integer ? 1 : 0];
    if (!listed) {
      listed = std::move(spec);
      return;
    }
    const auto append = [](auto& list, auto& more) {
      list.insert(list.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
    };
    append(*listed->allowed, *spec.allowed);
    append(listed->texts, spec.texts);
  }

  // Drops the listed numbers that do not satisfy the rest of the spec, which
  // says no more then.
  static void keep_valid(NumberSpec& spec) {
    NumberSpec rest = std::move(spec);
    spec = {.integer = rest.integer,
            .allowed = std::exchange(rest.allowed, std::nullopt),
            .texts = std::exchange(rest.texts, {})};
    std::erase_if(*spec.allowed, [&](const base::Decimal& value) {
      return !automata::satisfies(rest, value);
    });
    std::erase_if(spec.texts, [&](const std::string& text) {
      const auto value = base::Decimal::from_json(text);
      return !value || !automata::satisfies(rest, *value);
    });
  }

  void add_spec(NumberSpec& spec) {
    const automata::NumberLanguages::Id id = solver_.add_numbers(spec);
    if (!solver_.numbers_.exact(id)) {
      exactness_ |= solver_.notes_.leave_out(
          LeftOutBy::kLimit, place_, "multipleOf",
          "numbers other than 0 are left out: the least common multiple of the "
          "steps has more than " +
              std::to_string(automata::kMaxStepDigits) + " digits");
    }
    if (solver_.numbers_.empty(id)) return;
    const DisjunctId disjunct(id);
    if (std::find(all_.begin(), all_.end(), disjunct) == all_.end()) {
      all_.push_back(disjunct);
    }
  }

  // A bound on the length stays a pair of numbers if the language is that of
  // all strings, or, of raw strings, if every text can be made longer before it
  // is completed.  Otherwise a minimum becomes part of the language, so that
  // the language alone decides emptiness, and a maximum is compared with the
  // length of the shortest string in the language.
  void add(Strings& strings) {
    if (strings.min > strings.max) return;
    automata::Languages& languages = solver_.languages_;
    const automata::LanguageBounds set =
        strings.languages.empty()
            ? languages.exact(languages.everything())
            : solver_.string_sets_.all_of(strings.languages);
    automata::LanguageId language = set.under;
    say_what_is_missing(strings, set);
    if (languages.empty(language)) return;
    const bool bounded = strings.min > 0 || strings.max != kUnboundedCount;
    const bool total = languages.universal(languages.start(language));
    if (bounded && total) {
      add_bounded(language, strings.min, strings.max);
      return;
    }
    const automata::StateId start = languages.start(language);
    constexpr std::uint64_t kFewChars = 16;  // cheaper as states
    if (strings.min > kFewChars &&
        solver_.options_.spelling == JsonSpelling::kRaw &&
        languages.reach(start).extends) {
      if (languages.min_chars_to_accept(start) <= strings.max) {
        add_bounded(language, strings.min, strings.max);
      }
      return;
    }
    if (strings.min > kMostChars) {
      leave_out(LeftOutBy::kLimit, "minLength",
                "beside other rules, strings of 2^32 characters and more are "
                "left out");
      return;
    }
    if (strings.min > 0) {
      language = languages.all_of(
          {language, languages.length_between(strings.min, kUnboundedCount)});
      if (languages.empty(language)) {
        say_undecided(language);
        return;
      }
    }
    if (strings.max == kUnboundedCount) {
      any_length_.push_back(language);
      return;
    }
    const automata::StateId first = languages.start(language);
    if (languages.min_chars_to_accept(first) <= strings.max) {
      add_bounded(language, 0, strings.max);
    } else if (!languages.min_chars_exact(first)) {
      leave_out(LeftOutBy::kLimit, "maxLength",
                "no string that is short enough was found, of states that one "
                "search may visit");
    }
  }

  void leave_out(LeftOutBy by, std::string_view keyword, std::string_view why) {
    exactness_ |= solver_.notes_.leave_out(by, place_, keyword, why);
  }

  // A language without strings was not proved to be empty.
  void say_undecided(automata::LanguageId language) {
    if (!solver_.languages_.proves_empty(language)) say_too_large();
  }
  void say_too_large() {
    leave_out(LeftOutBy::kLimit, "",
              "strings are left out, because the patterns of this schema are "
              "too large together");
  }

  // Says that strings of the set are left out, unless it is proved that there
  // is none of an allowed length.
  void say_what_is_missing(const Strings& strings,
                           const automata::LanguageBounds& set) {
    automata::Languages& languages = solver_.languages_;
    if (set.exact()) {
      if (languages.empty(set.under)) say_undecided(set.under);
      return;
    }
    // A format that must hold has its note anyway, so mostly no search is due.
    if (strings.negates_inexact || languages.empty(set.under)) {
      std::vector<automata::LanguageId> missing = {
          set.over, languages.complement(set.under)};
      if (strings.min > 0 || strings.max != kUnboundedCount) {
        missing.push_back(languages.length_between(strings.min, strings.max));
      }
      if (languages.proves_empty(languages.all_of(std::move(missing)))) return;
    }
    for (const LeftOut& one : strings.inexact) {
      exactness_ |=
          solver_.notes_.leave_out(one.by, one.node, one.keyword, one.why);
    }
    // The notes on joined alternatives were made when these were expanded.
    exactness_ |= Exactness::undecided();
    if (languages.narrowed() && strings.inexact.empty()) say_too_large();
  }

  void add_bounded(automata::LanguageId language, std::uint64_t min,
                   std::uint64_t max) {
    add_id(add_new(solver_.strings_, first_string_,
                   StringConstraints{language, min, max}));
  }

  void add(const Branch& branch, ArrayConstraints& array) {
    if (array.min > array.max) return;
    array.unique = array.unique && array.max > 1;
    if (tracks_evaluated_) {
      array.unevaluated = solver_.unevaluated(branch, JsonType::kArray);
    }
    solver_.find_prefix(array);
    const std::uint64_t hash = hash_of(array);
    const auto is_same = [&](DisjunctId id) {
      return solver_.arrays_[id] == array;
    };
    if (known_arrays_.find(hash, is_same)) return;
    const auto id = static_cast<DisjunctId>(solver_.arrays_.size());
    known_arrays_.add(hash, id);
    solver_.arrays_.push_back(std::move(array));
    add_id(id);
  }

  static std::uint64_t hash_of(const ArrayConstraints& array) {
    std::uint64_t hash = array.min;
    base::mix(hash, array.max);
    for (const ItemRules& rules : array.items) {
      base::mix(hash, rules.node);
      base::mix(hash, rules.rest.bits());
    }
    for (const auto& [index, literal] : array.at) {
      base::mix(hash, index);
      base::mix(hash, literal.bits());
    }
    return hash;
  }

  void add(const Branch& branch, ObjectConstraints& object) {
    sort_unique(object.required);
    sort_unique(object.forbidden);
    sort_unique(object.key_rules);
    if (object.min > object.max || overlap(object.required, object.forbidden)) {
      return;
    }
    if (tracks_evaluated_) {
      object.unevaluated = solver_.unevaluated(branch, JsonType::kObject);
    }
    const std::uint64_t hash = hash_of(object);
    const auto is_same = [&](DisjunctId id) {
      return solver_.objects_[id] == object;
    };
    if (known_objects_.find(hash, is_same)) return;
    const auto id = static_cast<DisjunctId>(solver_.objects_.size());
    known_objects_.add(hash, id);
    solver_.objects_.push_back(std::move(object));
    add_id(id);
  }

  // An enum of a thousand objects has as many disjuncts, each with a node of
  // its own.
  static std::uint64_t hash_of(const ObjectConstraints& object) {
    std::uint64_t hash = object.condition.value();
    for (const MemberRules& rules : object.members) {
      base::mix(hash, rules.node);
      base::mix(hash, rules.extra.bits());
    }
    for (const auto& [key, literal] : object.at) {
      base::mix(hash, key);
      base::mix(hash, literal.bits());
    }
    for (const KeyId key : object.required) base::mix(hash, key);
    return hash;
  }

  void add_id(std::optional<DisjunctId> id) {
    if (id) all_.push_back(*id);
  }

  SchemaSolver& solver_;
  const bool tracks_evaluated_;
  const NodeId place_;
  Exactness& exactness_;
  std::vector<DisjunctId>& all_;
  const std::size_t first_string_;
  base::HashedIds<DisjunctId> known_arrays_;
  base::HashedIds<DisjunctId> known_objects_;
  // Not of integers, and of integers.
  std::array<std::optional<NumberSpec>, 2> listed_;
  std::vector<automata::LanguageId> any_length_;
  Constants constants_ = 0;
};

// The number of alternatives of the widest disjunction in a literal about the
// value itself.  A disjunction inside an alternative adds to its own, and of
// several that hold together the widest counts.
std::size_t SchemaSolver::width(Literal literal, JsonType type) {
  const std::uint64_t query =
      std::uint64_t{literal.bits()} << 8 | static_cast<std::uint64_t>(type);
  const auto known = widths_.find(query);
  if (known != widths_.end()) return known->second;
  const std::size_t found =
      std::min(find_width(literal, type), kMostAlternatives);
  widths_.emplace(query, found);
  return found;
}

// Recursion follows chains of in-place applicators.
std::size_t SchemaSolver::find_width(Literal literal, JsonType type) {
  const NodeId id = literal.node();
  const schema::Node& node = document_.node(id);
  const bool negated = literal.negated();
  if ((node.types & type_bit(type)) == 0) return negated ? 1 : 0;
  const auto same = [&](NodeId child) {
    return child == schema::kNoNode ? 0 : width(literal.of(child), type);
  };
  const auto sum_of = [&](const std::vector<NodeId>& nodes) {
    std::size_t sum = 0;
    for (const NodeId child : nodes) sum += same(child);
    return sum;
  };
  const auto most_of = [&](const std::vector<NodeId>& nodes) {
    std::size_t most = 0;
    for (const NodeId child : nodes) most = std::max(most, same(child));
    return most;
  };
  const std::size_t denied =
      node.not_node == schema::kNoNode
          ? 0
          : width(negation(literal.of(node.not_node)), type);
  const std::size_t then_or_else = same(node.then_node) + same(node.else_node);
  if (negated) {
    // Each rule may fail.
    constexpr std::size_t kRules = 8;
    return kRules + node.arrays().prefix_items.size() + sum_of(node.all_of) +
           same(node.ref) + most_of(node.any_of) + most_of(node.enum_nodes) +
           most_of(node.one_of) + denied + then_or_else;
  }
  std::size_t one_of = sum_of(node.one_of);
  // Where many options exclude each other by their negations only, each of n
  // alternatives has n conditions.
  if (one_of > options_.limits.alternatives / 2) {
    const Overlaps* const found = overlaps_.of(id, type);
    std::size_t total = 0;
    if (found != nullptr) {
      for (const std::vector<std::uint32_t>& list : *found) {
        total += list.size();
      }
    }
    if (found == nullptr || total > 16 * node.one_of.size()) {
      one_of = options_.limits.alternatives / 2;
    }
  }
  return std::max({std::size_t{1}, sum_of(node.any_of), sum_of(node.enum_nodes),
                   one_of, most_of(node.all_of), same(node.ref), denied,
                   then_or_else});
}

std::size_t SchemaSolver::width(ConjunctionId conjunction, JsonType type) {
  std::size_t most = 0;
  for (const Literal literal : conjunctions_[conjunction]) {
    most = std::max(most, width(literal, type));
  }
  return most;
}

// Expands by a tableau, then writes the finished branches as disjuncts.
//
// Disjunctions are split first, because a disjunct without a condition is
// cheaper for recognisers.  If that gives more than kSplit branches, and not
// because a single disjunction is so wide, their product is avoided: the
// expansion is repeated with disjunctions joined, unless an unevaluated rule
// depends on which of their alternatives hold.
void SchemaSolver::expand(ConjunctionId conjunction, JsonType type,
                          Expansion& into) {
  if (conjunction == kNothing) return;
  constexpr std::size_t kSplit = 128;
  const bool tracks_evaluated = has_unevaluated(conjunction, type);
  const bool joins = type == JsonType::kString ||
                     (type == JsonType::kObject && !tracks_evaluated);
  const std::size_t limit = options_.limits.alternatives;
  if (!base::work_left()) return note_stop(conjunction);
  const std::size_t wide =
      type == JsonType::kString ? 0 : 2 * width(conjunction, type);
  const std::size_t first_limit =
      std::max(joins ? std::min(limit, kSplit) : limit, wide);
  std::optional<Expander> made;
  made.emplace(*this, type, first_limit, tracks_evaluated);
  if (joins) made->may_be_joined();
  if (joins && first_limit > kSplit) made->limit_open_branches();
  made->run(conjunctions_[conjunction]);
  if (made->truncated() && joins) {
    made.emplace(*this, type, limit, tracks_evaluated,
                 Expander::Disjunctions::kJoin);
    made->run(conjunctions_[conjunction]);
  }
  Expander& expander = *made;
  if (!base::work_left()) return note_stop(conjunction);
  if (expander.truncated()) {
    into.exactness |= notes_.leave_out(
        LeftOutBy::kLimit, place(conjunction), "",
        !steps_.left()
            ? "values are left out that are not found within "
              "GrammarLimits::steps"
            : "the schema has too many alternatives here; the first " +
                  std::to_string(joins ? limit : first_limit) +
                  " are used (GrammarLimits::alternatives)");
  }
  for (const LeftOut& one : expander.left_out()) {
    into.exactness |= notes_.leave_out(one.by, one.node, one.keyword, one.why);
  }
  Expander::Writer writer(*this, tracks_evaluated, place(conjunction), into);
  for (Branch& branch : expander.finished()) writer.add(branch);
  writer.finish();
}

}  // namespace parlance::schema_solver
