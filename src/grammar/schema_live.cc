// What can be fulfilled at all.
//
// An object is live when what it requires is, and there is room for it; an
// array when its least number of items is.  The question goes round in a
// recursive schema: a question that is being asked already counts as "no",
// because a value that needs itself is never finished.  Such a "no" is
// remembered only if it did not rest on a question further out.

#include <algorithm>
#include <set>

#include "grammar/schema_facts.h"
#include "grammar/schema_goals.h"

namespace parlance::grammar {
namespace {

// Questions within questions; beyond it the answer is no.
constexpr std::uint32_t kMaxQuestions = 2000;

std::string reason(schema::Ignored::Why why) {
  using enum schema::Ignored::Why;
  switch (why) {
    case kUnknownKeyword:
      return "is not a keyword";
    case kUnknownFormat:
      return "is not a format that is enforced";
    case kOtherDraft:
      return "belongs to another draft";
    case kRequiredFlag:
      return "is a flag of draft 3; a list of names belongs there";
    case kBesideRef:
      return "stands beside \"$ref\", which stands alone in this draft";
    case kUnknownDraft:
      return "is not a draft that is known; 2020-12 is assumed";
  }
  return {};
}

bool is_nested(JsonType type) {
  return type == JsonType::kArray || type == JsonType::kObject;
}

template <class T>
bool contains(const std::vector<T>& sorted, const T& value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

}  // namespace

Goals::Answer Goals::ask(GoalId goal, JsonType type) {
  if (levels_ != kAnyLevels && is_nested(type)) {
    const bool yes = !shapes_within(goal, type).empty();
    return {.yes = yes, .cut = !yes};
  }
  Expansion& known = expansion(goal, type);
  if (known.known == Known::kYes) return {.yes = true};
  if (known.known == Known::kNo) return {.cut = known.cut};
  if (known.expanding) return {.low = 0};
  if (known.known == Known::kBusy) return {.low = known.place};
  if (depth_ >= kMaxQuestions || steps_ > options_.limits.steps) {
    narrowed_ = true;
    return {.low = 0, .cut = true};
  }
  known.known = Known::kBusy;
  known.place = depth_++;
  ++steps_;
  Answer answer;
  for (const ShapeId shape : known.all) {
    const Answer one = ask_shape(type, shape);
    answer.yes = answer.yes || one.yes;
    answer.rest_on(one);
    if (one.yes) break;
  }
  --depth_;
  if (answer.yes) {
    known.known = Known::kYes;
    return {.yes = true};
  }
  known.cut = known.cut || answer.cut;
  answer.cut = known.cut;
  known.known = answer.low >= known.place ? Known::kNo : Known::kUnknown;
  if (known.known == Known::kNo) answer.low = Answer::kNone;
  return answer;
}

Goals::Answer Goals::ask(GoalId goal) {
  if (goal == kAnything) return {.yes = true};
  Answer answer;
  if (goal == kNothing) return answer;
  // Scalars first: they ask nothing further.
  for (const JsonType type :
       {JsonType::kString, JsonType::kNumber, JsonType::kBoolean,
        JsonType::kNull, JsonType::kArray, JsonType::kObject}) {
    const Answer one = ask(goal, type);
    if (one.yes) return one;
    answer.rest_on(one);
  }
  return answer;
}

Goals::Answer Goals::ask_shape(JsonType type, ShapeId shape) {
  switch (type) {
    case JsonType::kArray: {
      const std::vector<std::uint64_t> none(arrays_[shape].counts.size(), 0);
      return ask_items(shape, 0, none, 0);
    }
    case JsonType::kObject:
      return ask_members(shape, {}, false);
    default:
      return {.yes = true};  // expand() keeps only what is not empty
  }
}

// Each question leads to one about fewer levels, so this comes to an end.
const std::vector<ShapeId>& Goals::shapes_within(GoalId goal, JsonType type) {
  const std::tuple key(goal, type, levels_);
  const auto known = within_.find(key);
  if (known != within_.end()) return known->second;
  std::vector<ShapeId> live;
  if (levels_ > 0) {
    std::vector<ShapeId> all;
    {
      const Levels any(*this, kAnyLevels);
      all = shapes(goal, type);
    }
    const Levels inside(*this, levels_ - 1);
    for (const ShapeId shape : all) {
      if (ask_shape(type, shape).yes) live.push_back(shape);
    }
  }
  return within_.emplace(key, std::move(live)).first->second;
}

const std::vector<ShapeId>& Goals::shapes(GoalId goal, JsonType type) {
  if (levels_ != kAnyLevels && is_nested(type)) {
    return shapes_within(goal, type);
  }
  Expansion& known = expansion(goal, type);
  if (!known.live_known) {
    known.live_known = true;
    for (const ShapeId shape : known.all) {
      if (ask_shape(type, shape).yes) known.live.push_back(shape);
    }
  }
  return known.live;
}

// A way to complete an object: what becomes of the members that matter.
struct Goals::Plan {
  struct Member {
    KeyId key = kNoKey;  // kNoKey: a name of `extra`
    const ExtraNames* extra = nullptr;
    bool absent = false;
    std::vector<Literal> literals = {};
  };
  std::vector<Member> members;
  std::uint64_t min = 0;
  std::uint64_t max = kNoBound;
};

// Looks for a plan that breaks every denial that is not broken yet: one way
// for each, so that the ways agree.  Depth first, those with the fewest ways
// first, within a number of steps; when they are used up there is no plan.
class Goals::Planner {
 public:
  Planner(Goals& goals, ShapeId object, const Members& members, bool live)
      : goals_(goals),
        object_(object),
        live_(live),
        shape_(goals.objects_[object]),
        facts_(goals.facts(object)),
        sets_(goals.name_sets_),
        seen_(members.seen),
        gone_(members.gone),
        count_(members.count) {}

  Answer run(std::uint64_t broken) {
    plan_.min = shape_.min;
    plan_.max = shape_.max;
    answer_.cut = facts_.cut;
    for (std::size_t i = 0; i < shape_.denials.size(); ++i) {
      if ((broken >> i & 1) != 0) continue;
      std::vector<const Violation*> ways;
      goals_.for_ways(shape_.denials[i], [&](const Violation& way) {
        if (is_open(way)) ways.push_back(&way);
      });
      if (ways.empty()) return answer_;
      open_.push_back(std::move(ways));
    }
    if (lacks_enough()) {
      answer_.yes = true;
      return answer_;
    }
    std::sort(open_.begin(), open_.end(),
              [](const auto& x, const auto& y) { return x.size() < y.size(); });
    answer_.yes = search(0);
    return answer_;
  }

 private:
  static constexpr std::size_t kMaxSteps = 1000;

  Goals& goals_;
  ShapeId object_;
  bool live_;
  const ObjectShape& shape_;
  const ObjectFacts& facts_;
  NameSets& sets_;
  NameSet seen_;
  NameSet gone_;
  std::uint64_t count_;
  std::vector<std::vector<const Violation*>> open_;
  Plan plan_;
  std::size_t steps_ = 0;
  Answer answer_;

  bool is_seen(KeyId key) const { return sets_.contains(seen_, key); }
  bool may_come(KeyId key) const {
    return !is_seen(key) && !sets_.contains(gone_, key);
  }
  bool is_required(KeyId key) const { return contains(shape_.required, key); }

  bool ask(GoalId goal) {
    const Answer one = goals_.ask(goal);
    answer_.rest_on(one);
    return one.yes;
  }

  // Whether a way may still be taken, looked at by itself.
  bool is_open(const Violation& way) {
    using Kind = Violation::Kind;
    switch (way.kind) {
      case Kind::kAbsent:
        return !is_seen(way.key) && !is_required(way.key);
      case Kind::kValue:
        return may_come(way.key) &&
               ask(goals_.with(goals_.member_goal(object_, {.key = way.key}),
                               way.literal));
      case Kind::kDependent:
        return !is_seen(way.other) && !is_required(way.other) &&
               (is_seen(way.key) || may_come(way.key));
      case Kind::kFewer:
        return count_ <= way.bound;
      default:
        return true;
    }
  }

  // Whether the object is complete, or can be, where it lacks a member for each
  // denial: of alternatives that require different members most plans say so.
  bool lacks_enough() {
    for (const auto& ways : open_) {
      const auto way =
          std::find_if(ways.begin(), ways.end(), [](const Violation* one) {
            return one->kind == Violation::Kind::kAbsent;
          });
      if (way == ways.end()) {
        plan_.members.clear();
        return false;
      }
      leave_out((*way)->key);
    }
    const bool found = fits();
    plan_.members.clear();
    return found;
  }

  // The number of denials is at most kMaxDenials, and so is the depth.
  bool search(std::size_t next) {
    if (++steps_ > kMaxSteps) {
      goals_.narrowed_ = true;
      answer_.cut = true;
      return false;
    }
    if (next == open_.size()) return fits();
    for (const Violation* way : open_[next]) {
      if (follow(*way, next)) return true;
      if (steps_ > kMaxSteps) return false;
    }
    return false;
  }

  // Takes a way; what it did to the plan is undone if nothing comes of it.
  bool follow(const Violation& way, std::size_t next) {
    using Kind = Violation::Kind;
    const Plan before_bounds{{}, plan_.min, plan_.max};
    const auto go_on = [&] {
      const bool found = search(next + 1);
      plan_.min = before_bounds.min;
      plan_.max = before_bounds.max;
      return found;
    };
    switch (way.kind) {
      case Kind::kAbsent: {
        const Undo undo = leave_out(way.key);
        const bool found = undo.ok && go_on();
        revert(undo);
        return found;
      }
      case Kind::kValue: {
        const Undo undo = put(way.key, way.literal);
        const bool found = undo.ok && go_on();
        revert(undo);
        return found;
      }
      case Kind::kDependent: {
        const Undo there =
            is_seen(way.key) ? Undo{.ok = true} : put(way.key, kNoLiteral);
        const Undo gone = there.ok ? leave_out(way.other) : Undo{};
        const bool found = gone.ok && go_on();
        revert(gone);
        revert(there);
        return found;
      }
      case Kind::kFewer:
        plan_.max = std::min(plan_.max, way.bound);
        return go_on();
      case Kind::kMore:
        plan_.min = std::max(plan_.min, way.bound);
        return go_on();
      default:
        return follow_names(way, next);
    }
  }

  bool follow_names(const Violation& way, std::size_t next) {
    const auto breaks = [&](const NameClass& name) {
      switch (way.kind) {
        case Violation::Kind::kPattern:
          return goals_.matches(goals_.pattern_language(way.pattern), name);
        case Violation::Kind::kExtra:
          return !goals_.knows(way.node, name);
        default:
          return goals_.matches(goals_.names_language({way.literal}), name);
      }
    };
    const Literal literal =
        way.kind == Violation::Kind::kName ? kNoLiteral : way.literal;
    for (const KeyId key : facts_.names) {
      if (!may_come(key) || !breaks({.key = key})) continue;
      const Undo undo = put(key, literal);
      const bool found = undo.ok && search(next + 1);
      revert(undo);
      if (found) return true;
    }
    for (const ExtraNames& extra : facts_.extras) {
      const NameClass name{kNoKey, &facts_.languages, &extra.matched};
      if (!breaks(name) || names_left(extra, 1) == 0) continue;
      GoalId goal = goals_.member_goal(object_, name);
      if (literal != kNoLiteral) goal = goals_.with(goal, literal);
      if (!ask(goal)) continue;
      plan_.members.push_back({.extra = &extra});
      const bool found = search(next + 1);
      plan_.members.pop_back();
      if (found) return true;
    }
    return false;
  }

  // How many names of a kind are neither used nor planned, at most `wanted`.
  std::uint64_t names_left(const ExtraNames& extra, std::uint64_t wanted) {
    automata::Languages& languages = goals_.languages_;
    if (facts_.languages.empty() || languages.infinite(extra.language))
      return wanted;
    std::uint64_t taken = 0;
    sets_.each(sets_.unite(seen_, gone_), [&](KeyId key) {
      taken += goals_.matches(extra.language, {.key = key});
      return true;
    });
    for (const Plan::Member& member : plan_.members)
      taken += member.extra == &extra;
    const std::uint64_t number =
        goals_.count_words(languages.start(extra.language), wanted + taken);
    return number > taken ? number - taken : 0;
  }

  // How to take back a step: the last member goes, or a member's last literal.
  struct Undo {
    bool ok = false;
    bool pop_member = false;
    std::size_t pop_literal_of = ~std::size_t{0};
  };

  void revert(const Undo& undo) {
    if (undo.pop_literal_of != ~std::size_t{0})
      plan_.members[undo.pop_literal_of].literals.pop_back();
    if (undo.pop_member) plan_.members.pop_back();
  }

  std::size_t place_of(KeyId key) const {
    for (std::size_t i = 0; i < plan_.members.size(); ++i) {
      if (plan_.members[i].key == key && plan_.members[i].extra == nullptr)
        return i;
    }
    return plan_.members.size();
  }

  Undo leave_out(KeyId key) {
    if (is_seen(key) || is_required(key)) return {};
    const std::size_t place = place_of(key);
    if (place < plan_.members.size())
      return {.ok = plan_.members[place].absent};
    plan_.members.push_back({.key = key, .absent = true});
    return {.ok = true, .pop_member = true};
  }

  Undo put(KeyId key, Literal literal) {
    if (!may_come(key)) return {};
    const std::size_t place = place_of(key);
    Undo undo;
    if (place == plan_.members.size()) {
      plan_.members.push_back({.key = key});
      undo.pop_member = true;
    }
    Plan::Member& member = plan_.members[place];
    if (member.absent) return undo;
    undo.ok = true;
    if (literal == kNoLiteral) return undo;
    member.literals.push_back(literal);
    undo.pop_literal_of = place;
    std::vector<Literal> all =
        goals_.goals_[goals_.member_goal(object_, {.key = key})];
    all.insert(all.end(), member.literals.begin(), member.literals.end());
    undo.ok = ask(goals_.goal(std::move(all)));
    return undo;
  }

  // Whether the members of the plan, those that are required and those that
  // they require can be there, in a number that is allowed.
  bool fits() {
    const Plan& plan = plan_;
    NameSet here = seen_;
    NameSet absent = gone_;
    std::uint64_t extras = 0;
    for (const Plan::Member& member : plan.members) {
      if (member.extra != nullptr) {
        ++extras;
      } else if (member.absent) {
        absent = sets_.with(absent, member.key);
      } else {
        if (!is_possible(member.key)) return false;
        here = sets_.with(here, member.key);
      }
    }
    const NameSet need = goals_.needed(object_, here);
    if (sets_.intersect(need, absent) != kNoNames) return false;
    // What a live shape requires is possible.
    if (!all_possible(live_ ? sets_.subtract(need, facts_.required) : need))
      return false;
    const std::uint64_t least = count_ +
                                (sets_.size(here) - sets_.size(seen_)) +
                                sets_.size(need) + extras;
    if (least > plan.max || plan.min > plan.max) return false;
    if (least >= plan.min) return true;
    // Others have to fill up.
    std::uint64_t others = 0;
    for (const ExtraNames& extra : facts_.extras) {
      const NameClass name{kNoKey, &facts_.languages, &extra.matched};
      if (!ask(goals_.member_goal(object_, name))) continue;
      others += names_left(extra, plan.min - least - others);
      if (least + others >= plan.min) return true;
    }
    return fills_up(sets_.unite(here, need), absent, plan.min - least - others,
                    plan.max - least);
  }

  // Whether names can join those that are `here`, together with all that they
  // require, at least `min` and at most `max` of them.
  bool fills_up(NameSet here, NameSet absent, std::uint64_t min,
                std::uint64_t max) {
    const auto needs_of = [&](KeyId key) {
      return goals_.needed(object_, sets_.with(here, key));
    };
    const NameSet others =
        sets_.subtract(facts_.spelled, sets_.unite(here, absent));
    // Mostly there are enough that require nothing.
    NameSet free = kNoNames;
    std::uint64_t single = 0;
    sets_.each(others, [&](KeyId key) {
      if (!is_possible(key)) return true;
      free = sets_.with(free, key);
      if (needs_of(key) == kNoNames) ++single;
      return single < min;
    });
    if (single >= min) return true;
    // What requires a name that cannot come cannot come either.  Those that are
    // left can come all together.
    std::vector<std::pair<KeyId, NameSet>> groups;
    for (NameSet before = kNoNames; before != free;) {
      before = free;
      groups.clear();
      NameSet left = kNoNames;
      sets_.each(free, [&](KeyId key) {
        const NameSet needs = needs_of(key);
        if (sets_.subtract(needs, free) != kNoNames) return true;
        left = sets_.with(left, key);
        groups.emplace_back(key, needs);
        return true;
      });
      free = left;
    }
    if (sets_.size(free) < min) return false;
    if (sets_.size(free) <= max) return true;
    // Where names require others, their number may skip some values.  Names
    // that require nothing come last: they fill any gap.
    NameSet idle = kNoNames;
    for (const auto& [key, needs] : groups) {
      if (needs == kNoNames) idle = sets_.with(idle, key);
    }
    std::set<NameSet> tried;
    std::vector<NameSet> todo = {kNoNames};
    while (!todo.empty()) {
      const NameSet now = todo.back();
      todo.pop_back();
      if (sets_.size(sets_.unite(now, idle)) >= min) return true;
      for (const auto& [key, needs] : groups) {
        if (needs == kNoNames || sets_.contains(now, key)) continue;
        const NameSet next = sets_.unite(sets_.with(now, key), needs);
        if (sets_.size(next) > max || !tried.insert(next).second) continue;
        if (++steps_ > kMaxSteps) {
          goals_.narrowed_ = true;
          answer_.cut = true;
          return false;
        }
        todo.push_back(next);
      }
    }
    return false;
  }

  bool is_possible(KeyId key) {
    return ask(goals_.member_goal(object_, {.key = key}));
  }

  bool all_possible(NameSet names) {
    bool all = true;
    sets_.each(names, [&](KeyId key) { return all = is_possible(key); });
    return all;
  }
};

Goals::Answer Goals::ask_members(ShapeId object, const Members& members,
                                 bool live) {
  return Planner(*this, object, members, live).run(members.broken);
}

bool Goals::complete(ShapeId object, const Members& members) {
  const ObjectShape& shape = objects_[object];
  const NameSet seen = members.seen;
  const std::uint64_t count = members.count;
  if (count < shape.min || count > shape.max ||
      needed(object, seen) != kNoNames)
    return false;
  const auto is_broken = [&](const Violation& way) {
    using Kind = Violation::Kind;
    switch (way.kind) {
      case Kind::kAbsent:
        return !name_sets_.contains(seen, way.key);
      case Kind::kFewer:
        return count <= way.bound;
      case Kind::kMore:
        return count >= way.bound;
      case Kind::kDependent:
        return name_sets_.contains(seen, way.key) &&
               !name_sets_.contains(seen, way.other);
      default:
        return false;
    }
  };
  for (std::size_t i = 0; i < shape.denials.size(); ++i) {
    bool done = (members.broken >> i & 1) != 0;
    for_ways(shape.denials[i],
             [&](const Violation& way) { done = done || is_broken(way); });
    if (!done) return false;
  }
  return true;
}

Goals::Answer Goals::ask_items(ShapeId array, std::uint64_t size,
                               const std::vector<std::uint64_t>& counted,
                               std::uint32_t found) {
  const ArrayShape& shape = arrays_[array];
  Answer answer;
  // How many items there can be at most.
  std::uint64_t most = shape.max;
  if (size > most) return answer;
  const auto ask_item = [&](std::uint64_t index, Literal also) {
    GoalId goal = item_goal(array, index);
    if (also != kNoLiteral) goal = with(goal, also);
    const Answer one = ask(goal);
    answer.rest_on(one);
    return one.yes;
  };
  // Up to where it matters: the least number of items, and where witnesses are.
  std::uint64_t wanted = shape.min;
  for (std::size_t i = 0; i < shape.counts.size(); ++i) {
    if (shape.counts[i].max < counted[i]) return answer;
    if (shape.counts[i].min > counted[i]) wanted = kNoBound;
  }
  const auto all = static_cast<std::uint32_t>(
      (std::uint64_t{1} << shape.witnesses.size()) - 1);
  if ((found & all) != all) wanted = kNoBound;
  if (size >= wanted) return {.yes = true};
  std::uint64_t index = size;
  for (; index < std::min({shape.prefix, wanted, most}); ++index) {
    if (!ask_item(index, kNoLiteral)) {
      most = index;
      break;
    }
  }
  if (index == shape.prefix || size >= shape.prefix) {
    const std::uint64_t rest = std::max(size, shape.prefix);
    if (rest < std::min(wanted, most) && !ask_item(rest, kNoLiteral))
      most = rest;
  }
  if (shape.min > most) return answer;
  if (shape.unique && !enough_to_differ(array, size, counted)) {
    // Items of the prefix may be others than those behind it.
    answer.cut = answer.cut || shape.prefix > 0;
    narrowed_ = narrowed_ || shape.prefix > 0;
    return answer;
  }
  if (const auto weighed = ask_counts(array, size, counted, found, most)) {
    answer.rest_on(*weighed);
    answer.yes = weighed->yes;
    return answer;
  }
  if (wanted != kNoBound) return {.yes = true};

  // Places where items of a kind may stand, from `from` on; no more than
  // `enough` are counted.
  const auto places = [&](std::uint64_t from, Literal literal,
                          std::uint64_t enough) {
    std::uint64_t number = 0;
    for (std::uint64_t i = std::max(from, size);
         i < std::min(shape.prefix, most) && number < enough; ++i)
      number += ask_item(i, literal);
    const std::uint64_t rest = std::max({from, size, shape.prefix});
    if (number < enough && rest < most && ask_item(rest, literal))
      number += std::min(enough - number, most - rest);
    return number;
  };
  std::uint64_t needs = 0;
  for (std::size_t i = 0; i < shape.counts.size(); ++i) {
    const ItemCount& count = shape.counts[i];
    if (count.min <= counted[i]) continue;
    const std::uint64_t missing = count.min - counted[i];
    if (places(0, count.literal, missing) < missing) return answer;
    needs += missing;
  }
  for (std::size_t i = 0; i < shape.witnesses.size(); ++i) {
    if ((found >> i & 1) != 0) continue;
    if (places(shape.witnesses[i].first, shape.witnesses[i].second, 1) == 0)
      return answer;
    ++needs;
  }
  if (needs > most - size) return answer;
  return {.yes = true};
}

bool Goals::complete_array(ShapeId array, std::uint64_t size,
                           const std::vector<std::uint64_t>& counted,
                           std::uint32_t found) {
  const ArrayShape& shape = arrays_[array];
  if (size < shape.min || size > shape.max) return false;
  for (std::size_t i = 0; i < shape.counts.size(); ++i) {
    if (counted[i] < shape.counts[i].min || counted[i] > shape.counts[i].max)
      return false;
  }
  const auto all = static_cast<std::uint32_t>(
      (std::uint64_t{1} << shape.witnesses.size()) - 1);
  return (found & all) == all;
}

// The words that begin in `state`, counted up to `wanted`.
std::uint64_t Goals::count_words(automata::StateId state,
                                 std::uint64_t wanted) {
  constexpr std::size_t kMaxSteps = 100'000;
  std::vector<automata::StateId> todo = {state};
  std::uint64_t number = 0;
  std::size_t steps = 0;
  while (!todo.empty() && number < wanted && steps < kMaxSteps) {
    const automata::StateId at = todo.back();
    todo.pop_back();
    number += languages_.accepting(at);
    for (unsigned byte = 0; byte < 256; ++byte) {
      ++steps;
      const automata::StateId next =
          languages_.step(at, static_cast<std::uint8_t>(byte));
      if (next != automata::kDeadState) todo.push_back(next);
    }
  }
  // There may be more of them.
  if (number < wanted && !todo.empty()) narrowed_ = true;
  return number;
}

// Whether a goal has at least `wanted` scalar values.  Exact for enumerations,
// booleans and null; otherwise yes only where there is no end of them.
bool Goals::enough_values(GoalId goal, std::uint64_t wanted) {
  std::uint64_t number = 0;
  for (const ShapeId shape : shapes(goal, JsonType::kString)) {
    automata::LanguageId language = strings_[shape].language;
    if (strings_[shape].max_chars != kNoBound) {
      language = languages_.all_of(
          {language, languages_.length_between(strings_[shape].min_chars,
                                               strings_[shape].max_chars)});
    }
    if (languages_.infinite(language)) return true;
    number += count_words(languages_.start(language), wanted);
  }
  for (const ShapeId shape : shapes(goal, JsonType::kNumber)) {
    number += count_numbers(shape, wanted);
    if (number >= wanted) return true;
  }
  for (const ShapeId shape : shapes(goal, JsonType::kBoolean))
    number += (shape & 1) + (shape >> 1 & 1);
  number += shapes(goal, JsonType::kNull).size();
  return number >= wanted;
}

// --- What is wrong with single nodes. ---------------------------------------

void Goals::note(SchemaNote::Kind kind, NodeId node, std::string_view keyword,
                 std::string message) {
  notes_.push_back({kind, std::string(keyword), document_.pointer(node),
                    std::move(message)});
}

std::optional<Error> Goals::check_nodes() {
  for (const schema::Ignored& ignored : document_.ignored) {
    if (ignored.why == schema::Ignored::Why::kUnknownFormat) {
      note(
          SchemaNote::Kind::kIgnored, ignored.node, "format",
          json::dump(std::string(ignored.keyword)) + " " + reason(ignored.why));
      continue;
    }
    note(SchemaNote::Kind::kIgnored, ignored.node, ignored.keyword,
         reason(ignored.why));
  }
  for (NodeId id = 0; id < document_.nodes.size(); ++id) {
    if (std::optional<Error> error = check_node(id)) return error;
    if (options_.limits.cancelled != nullptr &&
        options_.limits.cancelled(options_.limits.cancelled_argument)) {
      return Error{ErrorCode::kTooLarge, "The compile was cancelled.", {}, {}};
    }
  }
  note_denied();
  return std::nullopt;
}

std::optional<Error> Goals::check_node(NodeId id) {
  const schema::Node& node = document_.node(id);
  // In lenient mode a keyword that cannot be enforced is noted instead.
  const auto refuse = [&](std::string_view keyword, ErrorCode code,
                          const std::string& why) -> std::optional<Error> {
    if (options_.lenient) {
      note(SchemaNote::Kind::kIgnored, id, keyword, why);
      return std::nullopt;
    }
    return Error{code,
                 "'" + std::string(keyword) + "': " + why,
                 document_.pointer(id),
                 {}};
  };
  const auto check_pattern =
      [&](std::string_view keyword,
          schema::PatternId pattern) -> std::optional<Error> {
    automata::LanguageId& known = pattern_languages_[pattern];
    if (known != 0xFFFFFFFF) return std::nullopt;
    Result<automata::LanguageId> made = languages_.from_hir(
        document_.patterns[pattern].hir(), automata::Languages::Mode::kSearch);
    if (made) {
      known = *made;
      return std::nullopt;
    }
    return refuse(keyword, made.error().code, made.error().message);
  };
  if (node.string_rules != nullptr) {
    for (const auto& [keyword, pattern] :
         {std::pair("pattern", node.string_rules->pattern),
          std::pair("format", node.string_rules->format)}) {
      if (pattern == schema::kNoPattern) continue;
      if (auto error = check_pattern(keyword, pattern)) return error;
    }
  }
  for (const auto& [pattern, child] : node.objects().pattern_properties) {
    if (auto error = check_pattern("patternProperties", pattern)) return error;
  }
  const schema::ArrayRules& arrays = node.arrays();
  if (arrays.unique_items && arrays.max_items.value_or(kNoBound) > 1) {
    // Items are told apart by remembering them, which is done for scalars.
    bool scalars = true;
    const auto see = [&](GoalId items) {
      scalars = scalars && !ask(items, JsonType::kArray).yes &&
                !ask(items, JsonType::kObject).yes;
    };
    for (const NodeId item : arrays.prefix_items) see(goal({holds(item)}));
    see(arrays.items == schema::kNoNode ? kAnything
                                        : goal({holds(arrays.items)}));
    if (!scalars) {
      if (auto error = refuse("uniqueItems", ErrorCode::kUnsupported,
                              "is enforced for items that are neither arrays "
                              "nor objects; give \"items\" a type"))
        return error;
    }
  }
  return std::nullopt;
}

}  // namespace parlance::grammar
