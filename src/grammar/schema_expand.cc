// Taking a goal apart: literals in, plain shapes out.
//
// A *partial* is a shape in the making with the literals it still has to take
// in.  A literal adds rules to it, or further literals; a disjunction splits it
// into several partials.  What must hold is taken in first: it decides most of
// what must not ("not {kind: const b}" is true of a shape whose kind is "a"),
// and such literals then split nothing.

#include <algorithm>
#include <variant>

#include "grammar/schema_facts.h"
#include "grammar/schema_goals.h"

namespace parlance::grammar {
namespace {

using schema::kNoNode;
using schema::Node;

constexpr std::uint8_t type_bit(JsonType type) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(type));
}
static_assert(type_bit(JsonType::kNull) == schema::kNull &&
              type_bit(JsonType::kObject) == schema::kObject);

base::Decimal decimal(const json::Value& number) {
  const auto value = base::Decimal::from_json(json::dump(number));
  return value ? *value : base::Decimal{};
}

bool is_number(const json::Value& value) {
  return value.kind() == json::Kind::kInt ||
         value.kind() == json::Kind::kBigInt ||
         value.kind() == json::Kind::kFloat;
}

// Sets of the values null (bit 0) or false, true (bits 0, 1).
using Constants = std::uint8_t;

struct Strings {
  std::vector<automata::LanguageId> languages;
  std::uint64_t min = 0;
  std::uint64_t max = kNoBound;
};

void raise(std::uint64_t& bound, std::uint64_t to) {
  bound = std::max(bound, to);
}
void lower(std::uint64_t& bound, std::uint64_t to) {
  bound = std::min(bound, to);
}

}  // namespace

struct Goals::Partial {
  struct Done {
    Literal literal = 0;
    std::uint32_t by = 0xFFFFFFFF;  // the entry that brought it in
  };
  std::vector<Done> todo;    // that hold, next one last
  std::vector<Done> denied;  // that fail, next one last
  std::vector<Done> done;
  std::variant<Constants, NumberSpec, Strings, ObjectShape, ArrayShape> shape;
};

// Expands one goal for one type.
class Goals::Expander {
 public:
  Expander(Goals& goals, JsonType type, std::size_t limit)
      : goals_(goals), type_(type), limit_(limit) {}

  void run(const std::vector<Literal>& literals) {
    Partial start;
    switch (type_) {
      case JsonType::kNull:
        start.shape = Constants{1};
        break;
      case JsonType::kBoolean:
        start.shape = Constants{3};
        break;
      case JsonType::kNumber:
        start.shape.emplace<NumberSpec>();
        break;
      case JsonType::kString:
        start.shape.emplace<Strings>();
        break;
      case JsonType::kArray:
        start.shape.emplace<ArrayShape>();
        break;
      case JsonType::kObject:
        start.shape.emplace<ObjectShape>();
        break;
    }
    for (auto it = literals.rbegin(); it != literals.rend(); ++it)
      require(start, *it);
    run(std::move(start));
  }

  void run(Partial start) {
    stack_.push_back(std::move(start));
    while (!stack_.empty()) {
      if (done_.size() >= limit_ || steps_ > limit_ * 64 ||
          goals_.steps_ > goals_.options_.limits.steps) {
        truncated_ = true;
        return;
      }
      Partial partial = std::move(stack_.back());
      stack_.pop_back();
      if (finish(partial)) done_.push_back(std::move(partial));
    }
  }

  std::vector<Partial>& done() { return done_; }
  bool truncated() const { return truncated_; }
  // Some alternatives were not looked for.
  bool cut() const { return cut_; }

 private:
  // One of several ways to go on.
  struct Choice {
    std::vector<Literal> literals = {};
    KeyId at_key = kNoKey;  // `at` says something of this member or index
    std::uint64_t at_index = 0;
    Literal at = kNoLiteral;
    enum class Edit : std::uint8_t {
      kNone,
      kRequire,       // at_key
      kForbid,        // at_key
      kRequireValue,  // at_key, at
      kDeny,          // denial
      kItem,          // at_index, at
      kItemWitness,   // at_index, at
      kCount,         // count
      kBounds,        // min, max
      kLanguage,      // language
      kNumber,        // number
      kConstants,     // constants
    };
    Edit edit = Edit::kNone;
    Denial denial = {};
    ItemCount count = {};
    std::uint64_t min = 0;
    std::uint64_t max = kNoBound;
    automata::LanguageId language = 0;
    NumberSpec number = {};
    Constants constants = 3;
  };

  Goals& goals_;
  JsonType type_;
  std::size_t limit_;
  std::size_t steps_ = 0;
  bool truncated_ = false;
  bool cut_ = false;
  std::vector<Partial> stack_;
  std::vector<Partial> done_;

  const schema::Document& document() const { return goals_.document_; }

  void leave_out() {
    cut_ = true;
    goals_.narrowed_ = true;
  }

  static void require(Partial& partial, Literal literal,
                      std::uint32_t by = 0xFFFFFFFF) {
    ((literal & 1) != 0 ? partial.denied : partial.todo)
        .push_back({literal, by});
  }

  // Takes literals in until none is left (true), nothing can fit, or the
  // partial was split (false).
  bool finish(Partial& partial) {
    while (true) {
      ++steps_;
      ++goals_.steps_;
      Partial::Done next;
      if (!partial.todo.empty()) {
        next = partial.todo.back();
        partial.todo.pop_back();
      } else if (!partial.denied.empty()) {
        next = partial.denied.back();
        partial.denied.pop_back();
      } else {
        return true;
      }
      if (next.literal == kNever) return false;
      bool known = false;
      for (const Partial::Done& old : partial.done) {
        if (old.literal == opposite(next.literal)) return false;
        known = known || (old.literal == next.literal &&
                          (!goals_.has_unevaluated_ || old.by == next.by));
      }
      if (known) continue;
      const auto place = static_cast<std::uint32_t>(partial.done.size());
      partial.done.push_back(next);
      const NodeId node = next.literal >> 1;
      const bool goes_on = (next.literal & 1) != 0
                               ? take_denied(partial, node, place)
                               : take(partial, node, place);
      if (!goes_on) return false;
    }
  }

  // Splits `partial`; true when there was only one choice, and it was taken.
  bool choose(Partial& partial, std::vector<Choice>& choices,
              std::uint32_t by) {
    if (choices.empty()) return false;
    for (std::size_t i = choices.size(); i-- > 1;) {
      Partial other = partial;
      if (apply(other, choices[i], by)) stack_.push_back(std::move(other));
    }
    if (choices.size() == 1) return apply(partial, choices[0], by);
    Partial first = std::move(partial);
    if (apply(first, choices[0], by)) stack_.push_back(std::move(first));
    return false;
  }

  bool apply(Partial& partial, const Choice& choice, std::uint32_t by) {
    for (auto it = choice.literals.rbegin(); it != choice.literals.rend(); ++it)
      require(partial, *it, by);
    using Edit = Choice::Edit;
    switch (choice.edit) {
      case Edit::kNone:
        return true;
      case Edit::kConstants: {
        auto& constants = std::get<Constants>(partial.shape);
        constants &= choice.constants;
        return constants != 0;
      }
      case Edit::kNumber:
        add_number(std::get<NumberSpec>(partial.shape), choice.number);
        return true;
      case Edit::kLanguage:
        std::get<Strings>(partial.shape).languages.push_back(choice.language);
        return true;
      case Edit::kBounds:
        return bound(partial, choice.min, choice.max);
      case Edit::kItem: {
        auto& array = std::get<ArrayShape>(partial.shape);
        raise(array.min, choice.at_index + 1);
        array.at.emplace_back(choice.at_index, choice.at);
        return array.min <= array.max;
      }
      case Edit::kItemWitness: {
        auto& array = std::get<ArrayShape>(partial.shape);
        array.witnesses.emplace_back(choice.at_index, choice.at);
        if (array.witnesses.size() <= kMaxWitnesses) return true;
        leave_out();
        return false;
      }
      case Edit::kCount:
        std::get<ArrayShape>(partial.shape).counts.push_back(choice.count);
        return choice.count.min <= choice.count.max;
      default:
        return apply_member(std::get<ObjectShape>(partial.shape), choice);
    }
  }

  bool apply_member(ObjectShape& object, const Choice& choice) {
    using Edit = Choice::Edit;
    const auto has = [](const std::vector<KeyId>& list, KeyId key) {
      return std::find(list.begin(), list.end(), key) != list.end();
    };
    if (choice.edit == Edit::kDeny) {
      object.denials.push_back(choice.denial);
      if (object.denials.size() <= kMaxDenials) return true;
      leave_out();
      return false;
    }
    if (choice.edit == Edit::kForbid) {
      object.forbidden.push_back(choice.at_key);
      return !has(object.required, choice.at_key);
    }
    object.required.push_back(choice.at_key);
    if (has(object.forbidden, choice.at_key)) return false;
    if (choice.edit == Edit::kRequireValue)
      object.at.emplace_back(choice.at_key, choice.at);
    return true;
  }

  bool bound(Partial& partial, std::uint64_t min, std::uint64_t max) {
    const auto limit = [&](auto& shape) {
      raise(shape.min, min);
      lower(shape.max, max);
      return shape.min <= shape.max;
    };
    if (auto* strings = std::get_if<Strings>(&partial.shape))
      return limit(*strings);
    if (auto* object = std::get_if<ObjectShape>(&partial.shape))
      return limit(*object);
    if (auto* array = std::get_if<ArrayShape>(&partial.shape))
      return limit(*array);
    return true;
  }

  static void add_number(NumberSpec& into, const NumberSpec& from) {
    into.integer |= from.integer;
    into.not_integer |= from.not_integer;
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
      return;
    }
    auto& allowed = *into.allowed;
    allowed.erase(std::remove_if(allowed.begin(), allowed.end(),
                                 [&](const base::Decimal& value) {
                                   return std::find(from.allowed->begin(),
                                                    from.allowed->end(),
                                                    value) ==
                                          from.allowed->end();
                                 }),
                  allowed.end());
  }
  static void add_minimum(NumberSpec& into, const base::Decimal& bound,
                          bool exclusive) {
    if (!into.minimum || bound > *into.minimum) {
      into.minimum = bound;
      into.exclusive_minimum = exclusive;
    } else if (bound == *into.minimum) {
      into.exclusive_minimum |= exclusive;
    }
  }
  static void add_maximum(NumberSpec& into, const base::Decimal& bound,
                          bool exclusive) {
    if (!into.maximum || bound < *into.maximum) {
      into.maximum = bound;
      into.exclusive_maximum = exclusive;
    } else if (bound == *into.maximum) {
      into.exclusive_maximum |= exclusive;
    }
  }

  // The node may hold for values of this type.
  bool possible(NodeId id) const {
    return (document().node(id).types & type_bit(type_)) != 0;
  }

  // --- What must hold. ------------------------------------------------------

  bool take(Partial& partial, NodeId id, std::uint32_t place) {
    const Node& node = document().node(id);
    if ((node.types & type_bit(type_)) == 0) return false;
    std::vector<Choice> enumerated;
    if (node.scalars && !take_enum(partial, node, &enumerated)) return false;
    if (!take_rules(partial, id, node)) return false;
    for (auto it = node.all_of.rbegin(); it != node.all_of.rend(); ++it)
      require(partial, holds(*it), place);
    if (node.ref != kNoNode) require(partial, holds(node.ref), place);
    if (node.not_node != kNoNode) require(partial, fails(node.not_node), place);

    // Disjunctions, one after the other: each later one is put off by being
    // given to every partial that the earlier ones make.
    std::vector<std::vector<Choice>> splits;
    if (!enumerated.empty()) splits.push_back(std::move(enumerated));
    if (node.has_any_of) splits.push_back(any_of(node));
    if (node.has_one_of) splits.push_back(one_of(node));
    if (node.if_node != kNoNode) splits.push_back(conditional(node));
    if (type_ == JsonType::kObject) {
      for (const auto& [name, child] : node.objects().dependent_schemas) {
        if (!add_clauses(std::get<ObjectShape>(partial.shape), name, child))
          splits.push_back(dependent(name, child));
      }
    }
    splits.erase(std::remove_if(splits.begin(), splits.end(),
                                [](const auto& split) {
                                  return split.size() == 1 &&
                                         split[0].literals.empty() &&
                                         split[0].edit == Choice::Edit::kNone;
                                }),
                 splits.end());
    return split(partial, splits, place);
  }

  // Every combination of one choice of each split.
  bool split(Partial& partial, std::vector<std::vector<Choice>>& splits,
             std::uint32_t place) {
    for (std::size_t i = 0; i < splits.size(); ++i) {
      if (splits[i].empty()) return false;
    }
    if (splits.empty()) return true;
    if (splits.size() == 1) return choose(partial, splits[0], place);
    std::vector<Partial> made;
    made.push_back(std::move(partial));
    for (const auto& choices : splits) {
      std::vector<Partial> next;
      for (const Partial& base : made) {
        for (const Choice& choice : choices) {
          Partial other = base;
          if (apply(other, choice, place)) next.push_back(std::move(other));
          if (next.size() > 4 * limit_) {
            truncated_ = true;
            break;
          }
        }
      }
      made = std::move(next);
    }
    for (auto it = made.rbegin(); it != made.rend(); ++it)
      stack_.push_back(std::move(*it));
    return false;
  }

  bool take_enum(Partial& partial, const Node& node,
                 std::vector<Choice>* choices) {
    switch (type_) {
      case JsonType::kNull:
      case JsonType::kBoolean: {
        auto& constants = std::get<Constants>(partial.shape);
        constants &= constants_in(*node.scalars);
        return constants != 0;
      }
      case JsonType::kNumber: {
        NumberSpec spec;
        spec.allowed.emplace();
        for (const json::Value& value : *node.scalars) {
          if (is_number(value)) spec.allowed->push_back(decimal(value));
        }
        if (spec.allowed->empty()) return false;
        add_number(std::get<NumberSpec>(partial.shape), spec);
        return true;
      }
      case JsonType::kString: {
        const automata::LanguageId words = goals_.enum_language(*node.scalars);
        if (goals_.languages_.empty(words)) return false;
        std::get<Strings>(partial.shape).languages.push_back(words);
        return true;
      }
      default:
        for (const NodeId child : node.enum_nodes) {
          if (possible(child)) choices->push_back({.literals = {holds(child)}});
        }
        return !choices->empty();
    }
  }

  Constants constants_in(const std::vector<json::Value>& values) const {
    Constants found = 0;
    for (const json::Value& value : values) {
      if (type_ == JsonType::kNull && value.is_null()) found |= 1;
      if (type_ == JsonType::kBoolean && value.kind() == json::Kind::kBool)
        found |= value.as_bool() ? 2 : 1;
    }
    return found;
  }
  static NumberSpec number_spec(const Node& node) {
    NumberSpec spec;
    spec.integer = node.integer_only;
    const schema::NumberRules& rules = node.numbers();
    if (rules.minimum) add_minimum(spec, *rules.minimum, false);
    if (rules.exclusive_minimum)
      add_minimum(spec, *rules.exclusive_minimum, true);
    if (rules.maximum) add_maximum(spec, *rules.maximum, false);
    if (rules.exclusive_maximum)
      add_maximum(spec, *rules.exclusive_maximum, true);
    if (rules.multiple_of) spec.multiple_of.push_back(*rules.multiple_of);
    return spec;
  }

  bool take_rules(Partial& partial, NodeId id, const Node& node) {
    switch (type_) {
      case JsonType::kNull:
      case JsonType::kBoolean:
        return true;
      case JsonType::kNumber:
        if (node.integer_only || node.number_rules != nullptr)
          add_number(std::get<NumberSpec>(partial.shape), number_spec(node));
        return true;
      case JsonType::kString: {
        if (node.string_rules == nullptr) return true;
        const schema::StringRules& rules = *node.string_rules;
        auto& strings = std::get<Strings>(partial.shape);
        for (const schema::PatternId pattern : {rules.pattern, rules.format}) {
          if (pattern != schema::kNoPattern)
            strings.languages.push_back(goals_.pattern_language(pattern));
        }
        return bound(partial, rules.min_length.value_or(0),
                     rules.max_length.value_or(kNoBound));
      }
      case JsonType::kArray:
        return node.array_rules == nullptr ||
               take_array(partial, id, *node.array_rules);
      case JsonType::kObject:
        return node.object_rules == nullptr ||
               take_object(partial, id, *node.object_rules);
    }
    return true;
  }

  bool take_array(Partial& partial, NodeId id,
                  const schema::ArrayRules& rules) {
    auto& array = std::get<ArrayShape>(partial.shape);
    if (!rules.prefix_items.empty() || rules.items != kNoNode) {
      Literal rest = rules.items == kNoNode ? kNoLiteral : holds(rules.items);
      if (rest == kNoLiteral && goals_.options_.closed &&
          rules.unevaluated_items == kNoNode)
        rest = kNever;
      array.items.push_back({id, rest});
    }
    if (rules.contains != kNoNode &&
        (rules.min_contains > 0 || rules.max_contains)) {
      if (rules.min_contains > rules.max_contains.value_or(kNoBound))
        return false;
      array.counts.push_back({holds(rules.contains), rules.min_contains,
                              rules.max_contains.value_or(kNoBound)});
    }
    array.unique = array.unique || rules.unique_items;
    return bound(partial, rules.min_items.value_or(0),
                 rules.max_items.value_or(kNoBound));
  }

  bool take_object(Partial& partial, NodeId id,
                   const schema::ObjectRules& rules) {
    auto& object = std::get<ObjectShape>(partial.shape);
    const bool lists =
        !rules.properties.empty() || !rules.pattern_properties.empty();
    if (lists || rules.additional_properties != kNoNode) {
      Literal extra = rules.additional_properties == kNoNode
                          ? kNoLiteral
                          : holds(rules.additional_properties);
      if (extra == kNoLiteral && goals_.options_.closed &&
          rules.unevaluated_properties == kNoNode)
        extra = kNever;
      object.members.push_back({id, extra});
    }
    const std::size_t required_before = object.required.size();
    if (rules.property_names != kNoNode)
      object.names.push_back(holds(rules.property_names));
    for (const std::string_view name : rules.required)
      object.required.push_back(goals_.key(name));
    for (const auto& [name, others] : rules.dependent_required) {
      std::vector<KeyId> keys;
      for (const std::string_view other : others)
        keys.push_back(goals_.key(other));
      object.dependent.emplace_back(goals_.key(name), std::move(keys));
    }
    for (const KeyId key : object.forbidden) {
      if (std::find(object.required.begin(), object.required.end(), key) !=
          object.required.end())
        return false;
    }
    // Of many conditions on one member ("kind" is a, "kind" is b) most pairs
    // exclude each other; to see that early keeps their number down.
    if (object.members.size() > 1) {
      const auto never = [&](KeyId key) {
        const Answer answer = goals_.ask(known_goal(object, key));
        return !answer.yes && answer.low == Answer::kNone;
      };
      for (std::size_t i = 0; i < object.required.size(); ++i) {
        if ((i >= required_before ||
             goals_.declared(id, object.required[i]) != kNoNode) &&
            never(object.required[i]))
          return false;
      }
    }
    return bound(partial, rules.min_properties.value_or(0),
                 rules.max_properties.value_or(kNoBound));
  }

  // What is known so far of the value of a member, patterns left aside.
  GoalId known_goal(const ObjectShape& object, KeyId key) {
    std::vector<Literal> literals;
    for (const MemberRules& rules : object.members) {
      const NodeId child = goals_.declared(rules.node, key);
      if (child != kNoNode) {
        literals.push_back(holds(child));
      } else if (rules.extra != kNoLiteral && document()
                                                  .node(rules.node)
                                                  .objects()
                                                  .pattern_properties.empty()) {
        literals.push_back(rules.extra);
      }
    }
    for (const auto& [at, literal] : object.at) {
      if (at == key) literals.push_back(literal);
    }
    return goals_.goal(std::move(literals));
  }

  std::vector<Choice> any_of(const Node& node) {
    std::vector<NodeId> options;
    for (const NodeId child : node.any_of) {
      if (!possible(child)) continue;
      if (document().node(child).accepts_everything() &&
          !goals_.has_unevaluated_)
        return {Choice{}};
      if (std::find(options.begin(), options.end(), child) == options.end())
        options.push_back(child);
    }
    std::vector<Choice> choices;
    // What several options evaluate together counts, so each set of options
    // that hold is a choice of its own.
    constexpr std::size_t kMaxSets = 6;
    if (goals_.has_unevaluated_ && options.size() <= kMaxSets) {
      for (std::uint32_t bits = 1; bits < (1U << options.size()); ++bits) {
        Choice choice;
        for (std::size_t i = 0; i < options.size(); ++i) {
          if ((bits >> i & 1) != 0)
            choice.literals.push_back(holds(options[i]));
        }
        choices.push_back(std::move(choice));
      }
      return choices;
    }
    if (goals_.has_unevaluated_) leave_out();
    for (const NodeId child : options)
      choices.push_back({.literals = {holds(child)}});
    return choices;
  }

  std::vector<Choice> one_of(const Node& node) {
    std::vector<Choice> choices;
    for (std::size_t i = 0; i < node.one_of.size(); ++i) {
      if (!possible(node.one_of[i])) continue;
      Choice choice;
      choice.literals.push_back(holds(node.one_of[i]));
      for (std::size_t j = 0; j < node.one_of.size(); ++j) {
        if (j != i && possible(node.one_of[j]))
          choice.literals.push_back(fails(node.one_of[j]));
      }
      choices.push_back(std::move(choice));
    }
    return choices;
  }

  static std::vector<Choice> conditional(const Node& node) {
    std::vector<Choice> choices(2);
    choices[0].literals.push_back(holds(node.if_node));
    if (node.then_node != kNoNode)
      choices[0].literals.push_back(holds(node.then_node));
    choices[1].literals.push_back(fails(node.if_node));
    if (node.else_node != kNoNode)
      choices[1].literals.push_back(holds(node.else_node));
    return choices;
  }

  // "If `name` is there, `child` holds", where child says no more than what
  // values some members have and which are required: a clause for each.  False
  // if it says more.
  bool add_clauses(ObjectShape& object, std::string_view name, NodeId id) {
    const Node& node = document().node(id);
    const schema::ObjectRules& rules = node.objects();
    if (!possible(id) || goals_.has_unevaluated_ || node.scalars ||
        node.has_any_of || node.has_one_of || !node.all_of.empty() ||
        node.ref != kNoNode || node.not_node != kNoNode ||
        node.if_node != kNoNode || !rules.pattern_properties.empty() ||
        rules.additional_properties != kNoNode ||
        rules.property_names != kNoNode || rules.min_properties ||
        rules.max_properties || !rules.dependent_required.empty() ||
        !rules.dependent_schemas.empty() || goals_.options_.closed)
      return false;
    if (object.denials.size() + rules.properties.size() > kMaxDenials)
      return false;
    using Kind = Violation::Kind;
    const KeyId key = goals_.key(name);
    std::vector<KeyId> required;
    for (const std::string_view other : rules.required)
      required.push_back(goals_.key(other));
    if (!required.empty()) object.dependent.emplace_back(key, required);
    for (const auto& [member, child] : rules.properties) {
      if (document().node(child).accepts_everything()) continue;
      const KeyId other = goals_.key(member);
      object.denials.push_back(
          {{}, static_cast<std::uint32_t>(goals_.clauses_.size())});
      goals_.clauses_.push_back(
          {{.kind = Kind::kAbsent, .key = key},
           {.kind = Kind::kAbsent, .key = other},
           {.kind = Kind::kValue, .key = other, .literal = holds(child)}});
    }
    return true;
  }

  std::vector<Choice> dependent(std::string_view name, NodeId child) {
    const KeyId key = goals_.key(name);
    return {Choice{.literals = {holds(child)},
                   .at_key = key,
                   .edit = Choice::Edit::kRequire},
            Choice{.at_key = key, .edit = Choice::Edit::kForbid}};
  }

  // --- What must fail. ------------------------------------------------------

  bool take_denied(Partial& partial, NodeId id, std::uint32_t place) {
    const Node& node = document().node(id);
    if ((node.types & type_bit(type_)) == 0) return true;
    std::vector<Choice> choices;
    if (type_ == JsonType::kObject) {
      Denial denial;
      if (!deny_objects(id, denial, choices)) return true;
      if (excludes(std::get<ObjectShape>(partial.shape), denial)) return true;
      add_denial(std::move(denial), choices);
      return choose(partial, choices, place);
    }
    if (!deny_logic(node, choices)) return true;
    deny_rules(node, choices);
    for (const NodeId child : node.all_of) choices.push_back(denied(child));
    if (node.ref != kNoNode) choices.push_back(denied(node.ref));
    if (choices.size() > 1 && contradicts(partial, id)) return true;
    return choose(partial, choices, place);
  }

  // The rules for objects of the node and of those it is a conjunction of go
  // to `denial`, everything else to `choices`.  False if the node fails anyway.
  // The depth is that of in-place chains, which the document bounds.
  bool deny_objects(NodeId id, Denial& denial, std::vector<Choice>& choices) {
    const Node& node = document().node(id);
    if ((node.types & type_bit(type_)) == 0) return false;
    if (!deny_logic(node, choices)) return false;
    for (const auto& [name, child] : node.objects().dependent_schemas) {
      choices.push_back({.literals = {fails(child)},
                         .at_key = goals_.key(name),
                         .edit = Choice::Edit::kRequire});
    }
    if (node.objects().unevaluated_properties != kNoNode) leave_out();
    if (node.object_rules != nullptr) denial.nodes.push_back(id);
    for (const NodeId child : node.all_of) {
      if (!deny_objects(child, denial, choices)) return false;
    }
    return node.ref == kNoNode || deny_objects(node.ref, denial, choices);
  }

  // A single way to break the rules is a rule of its own.
  void add_denial(Denial denial, std::vector<Choice>& choices) {
    std::size_t ways = 0;
    Violation last;
    goals_.for_ways(denial, [&](const Violation& way) {
      ++ways;
      last = way;
    });
    if (ways == 0) return;
    using Kind = Violation::Kind;
    if (ways == 1 && last.kind == Kind::kAbsent) {
      choices.push_back({.at_key = last.key, .edit = Choice::Edit::kForbid});
    } else if (ways == 1 && last.kind == Kind::kValue) {
      choices.push_back({.at_key = last.key,
                         .at = last.literal,
                         .edit = Choice::Edit::kRequireValue});
    } else if (ways == 1 && last.kind == Kind::kFewer) {
      choices.push_back({.edit = Choice::Edit::kBounds, .max = last.bound});
    } else if (ways == 1 && last.kind == Kind::kMore) {
      choices.push_back({.edit = Choice::Edit::kBounds, .min = last.bound});
    } else {
      choices.push_back(
          {.edit = Choice::Edit::kDeny, .denial = std::move(denial)});
    }
  }

  // Whether objects of this shape break the rules of `denial` anyway, as far
  // as that is clear at once: a member that both speak of, and that one of
  // them requires, cannot have a value.
  bool excludes(const ObjectShape& object, const Denial& denial) {
    const auto has = [](const std::vector<KeyId>& list, KeyId key) {
      return std::find(list.begin(), list.end(), key) != list.end();
    };
    std::vector<KeyId> required = object.required;
    for (const NodeId node : denial.nodes) {
      for (const std::string_view name :
           document().node(node).objects().required) {
        const KeyId key = goals_.key(name);
        if (has(object.forbidden, key)) return true;
        required.push_back(key);
      }
    }
    for (const KeyId key : required) {
      std::vector<Literal> literals;
      bool both = false;
      for (const NodeId node : denial.nodes) {
        const NodeId child = goals_.declared(node, key);
        const schema::ObjectRules& rules = document().node(node).objects();
        if (child != kNoNode) {
          literals.push_back(holds(child));
        } else if (rules.additional_properties != kNoNode &&
                   rules.pattern_properties.empty()) {
          literals.push_back(holds(rules.additional_properties));
        }
      }
      both = !literals.empty();
      const std::size_t denied = literals.size();
      for (const MemberRules& rules : object.members) {
        const NodeId child = goals_.declared(rules.node, key);
        if (child != kNoNode) {
          literals.push_back(holds(child));
        } else if (rules.extra != kNoLiteral &&
                   document()
                       .node(rules.node)
                       .objects()
                       .pattern_properties.empty()) {
          literals.push_back(rules.extra);
        }
      }
      for (const auto& [at, literal] : object.at) {
        if (at == key) literals.push_back(literal);
      }
      both = both && literals.size() > denied;
      const bool never =
          std::any_of(literals.begin(), literals.end(), [&](Literal literal) {
            return literal == kNever ||
                   ((literal & 1) == 0 &&
                    document().node(literal >> 1).types == 0);
          });
      if (never) return true;
      if (!both) continue;
      const Answer answer = goals_.ask(goals_.goal(std::move(literals)));
      if (answer.surely_not()) return true;
    }
    return false;
  }

  // What is not a rule of its own type: enumerations and applicators.  False
  // if one of them fails for every value of the type.
  bool deny_logic(const Node& node, std::vector<Choice>& choices) {
    if (node.scalars && !deny_enum(node, choices)) return false;
    if (node.not_node != kNoNode)
      choices.push_back({.literals = {holds(node.not_node)}});
    if (node.has_any_of) {
      Choice all;
      for (const NodeId child : node.any_of) {
        if (possible(child)) all.literals.push_back(fails(child));
      }
      if (all.literals.empty()) return false;
      choices.push_back(std::move(all));
    }
    if (node.has_one_of && !deny_one_of(node, choices)) return false;
    if (node.if_node != kNoNode) {
      if (node.then_node != kNoNode) {
        choices.push_back(
            {.literals = {holds(node.if_node), fails(node.then_node)}});
      }
      if (node.else_node != kNoNode) {
        choices.push_back(
            {.literals = {fails(node.if_node), fails(node.else_node)}});
      }
    }
    return true;
  }

  static Choice denied(NodeId node) { return {.literals = {fails(node)}}; }

  // Whether what is in `partial` already excludes that `id` holds.
  bool contradicts(const Partial& partial, NodeId id) {
    Partial both = partial;
    both.denied.clear();
    both.todo.clear();
    both.done.pop_back();  // that it fails
    require(both, holds(id));
    Expander expander(goals_, type_, 16);
    expander.run(std::move(both));
    if (expander.truncated() || expander.cut()) return false;
    return std::all_of(expander.done().begin(), expander.done().end(),
                       [&](Partial& shape) { return impossible(shape.shape); });
  }

  using Shape =
      std::variant<Constants, NumberSpec, Strings, ObjectShape, ArrayShape>;

  bool impossible(Shape& shape) {
    if (auto* spec = std::get_if<NumberSpec>(&shape)) {
      spec->zero_fraction = document().integer_may_have_zero_fraction;
      return goals_.numbers_.empty(goals_.numbers_.add(*spec));
    }
    if (auto* strings = std::get_if<Strings>(&shape)) {
      return strings->min > strings->max ||
             goals_.languages_.empty(
                 goals_.languages_.all_of(strings->languages));
    }
    return false;  // objects: see excludes()
  }

  // False when the value is in no list anyway, so that the node fails.
  bool deny_enum(const Node& node, std::vector<Choice>& choices) {
    switch (type_) {
      case JsonType::kNull:
      case JsonType::kBoolean: {
        const Constants all = type_ == JsonType::kNull ? 1 : 3;
        const Constants rest = all & ~constants_in(*node.scalars);
        if (rest == all) return false;
        if (rest != 0) {
          choices.push_back(
              {.edit = Choice::Edit::kConstants, .constants = rest});
        }
        return true;
      }
      case JsonType::kNumber: {
        Choice choice{.edit = Choice::Edit::kNumber};
        for (const json::Value& value : *node.scalars) {
          if (is_number(value))
            choice.number.excluded.push_back(decimal(value));
        }
        if (choice.number.excluded.empty()) return false;
        choices.push_back(std::move(choice));
        return true;
      }
      case JsonType::kString: {
        const automata::LanguageId words = goals_.enum_language(*node.scalars);
        if (goals_.languages_.empty(words)) return false;
        add_language(choices, words);
        return true;
      }
      default: {
        Choice all;
        for (const NodeId child : node.enum_nodes) {
          if (possible(child)) all.literals.push_back(fails(child));
        }
        if (all.literals.empty()) return false;
        choices.push_back(std::move(all));
        return true;
      }
    }
  }

  // The strings that are not in `language`.
  void add_language(std::vector<Choice>& choices,
                    automata::LanguageId language) {
    choices.push_back({.edit = Choice::Edit::kLanguage,
                       .language = goals_.languages_.complement(language)});
  }

  static void add_bounds(std::vector<Choice>& choices,
                         std::optional<std::uint64_t> min,
                         std::optional<std::uint64_t> max) {
    if (min && *min > 0)
      choices.push_back({.edit = Choice::Edit::kBounds, .max = *min - 1});
    if (max)
      choices.push_back({.edit = Choice::Edit::kBounds, .min = *max + 1});
  }

  void deny_rules(const Node& node, std::vector<Choice>& choices) {
    switch (type_) {
      case JsonType::kNull:
      case JsonType::kBoolean:
        return;
      case JsonType::kNumber:
        return deny_number(node, choices);
      case JsonType::kString: {
        // A format counts only where it holds: ours are a part of the texts
        // that it means, so that others do not surely fail it.
        const schema::StringRules& rules = node.strings();
        if (rules.pattern != schema::kNoPattern)
          add_language(choices, goals_.pattern_language(rules.pattern));
        return add_bounds(choices, rules.min_length, rules.max_length);
      }
      case JsonType::kArray:
        return deny_array(node.arrays(), choices);
      case JsonType::kObject:
        return;  // see deny_objects()
    }
  }

  static void deny_number(const Node& node, std::vector<Choice>& choices) {
    const auto add = [&](auto edit) {
      Choice choice{.edit = Choice::Edit::kNumber};
      edit(choice.number);
      choices.push_back(std::move(choice));
    };
    const schema::NumberRules& rules = node.numbers();
    if (node.integer_only)
      add([](NumberSpec& spec) { spec.not_integer = true; });
    if (rules.minimum)
      add([&](NumberSpec& spec) { add_maximum(spec, *rules.minimum, true); });
    if (rules.exclusive_minimum) {
      add([&](NumberSpec& spec) {
        add_maximum(spec, *rules.exclusive_minimum, false);
      });
    }
    if (rules.maximum)
      add([&](NumberSpec& spec) { add_minimum(spec, *rules.maximum, true); });
    if (rules.exclusive_maximum) {
      add([&](NumberSpec& spec) {
        add_minimum(spec, *rules.exclusive_maximum, false);
      });
    }
    if (rules.multiple_of) {
      add([&](NumberSpec& spec) {
        spec.not_multiple_of.push_back(*rules.multiple_of);
      });
    }
  }

  void deny_array(const schema::ArrayRules& rules,
                  std::vector<Choice>& choices) {
    for (std::size_t i = 0; i < rules.prefix_items.size(); ++i) {
      choices.push_back({.at_index = i,
                         .at = fails(rules.prefix_items[i]),
                         .edit = Choice::Edit::kItem});
    }
    if (rules.items != kNoNode) {
      choices.push_back({.at_index = rules.prefix_items.size(),
                         .at = fails(rules.items),
                         .edit = Choice::Edit::kItemWitness});
    }
    if (rules.contains != kNoNode) {
      const Literal literal = holds(rules.contains);
      if (rules.min_contains > 0) {
        choices.push_back({.edit = Choice::Edit::kCount,
                           .count = {literal, 0, rules.min_contains - 1}});
      }
      if (rules.max_contains) {
        choices.push_back(
            {.edit = Choice::Edit::kCount,
             .count = {literal, *rules.max_contains + 1, kNoBound}});
      }
    }
    // Two equal items, and items that are not evaluated, are not looked for.
    if (rules.unique_items || rules.unevaluated_items != kNoNode) leave_out();
    add_bounds(choices, rules.min_items, rules.max_items);
  }

  // None holds, or two of them do.  False when none can hold.
  bool deny_one_of(const Node& node, std::vector<Choice>& choices) {
    std::vector<NodeId> options;
    for (const NodeId child : node.one_of) {
      if (possible(child)) options.push_back(child);
    }
    if (options.empty()) return false;
    Choice none;
    for (const NodeId child : options) none.literals.push_back(fails(child));
    choices.push_back(std::move(none));
    for (std::size_t i = 0; i < options.size(); ++i) {
      for (std::size_t j = i + 1; j < options.size(); ++j) {
        choices.push_back({.literals = {holds(options[i]), holds(options[j])}});
      }
    }
    return true;
  }
};

namespace {

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

// Appends `shape` unless an equal one is among those at `begin` and behind.
template <class Shape>
std::optional<ShapeId> add_new(std::deque<Shape>& table, std::size_t begin,
                               Shape shape) {
  for (std::size_t i = begin; i < table.size(); ++i) {
    if (table[i] == shape) return std::nullopt;
  }
  table.push_back(std::move(shape));
  return static_cast<ShapeId>(table.size() - 1);
}

}  // namespace

Goals::Expansion& Goals::expansion(GoalId goal, JsonType type) {
  auto& known = expansions_[goal][static_cast<std::size_t>(type)];
  if (known == nullptr) known = std::make_unique<Expansion>();
  Expansion& expansion = *known;
  if (!expansion.expanded && !expansion.expanding) {
    expansion.expanding = true;
    expand(goal, type, expansion);
    expansion.expanding = false;
    expansion.expanded = true;
  }
  return expansion;
}

// The rules for what is not evaluated, each with the nodes that it sees: those
// that its own node brought in, as long as they hold.  What spells out members
// of an enum evaluates nothing.
std::vector<UnevaluatedRule> Goals::unevaluated(const Partial& partial,
                                                JsonType type) {
  std::vector<UnevaluatedRule> found;
  for (std::size_t i = 0; i < partial.done.size(); ++i) {
    if ((partial.done[i].literal & 1) != 0) continue;
    const NodeId node = partial.done[i].literal >> 1;
    const NodeId rule =
        type == JsonType::kObject
            ? document_.node(node).objects().unevaluated_properties
            : document_.node(node).arrays().unevaluated_items;
    if (rule == schema::kNoNode) continue;
    UnevaluatedRule made{holds(rule), node, {}};
    for (std::size_t j = i + 1; j < partial.done.size(); ++j) {
      std::uint32_t up = static_cast<std::uint32_t>(j);
      while (up != 0xFFFFFFFF && up != i &&
             (partial.done[up].literal & 1) == 0 &&
             !spells_enum_[partial.done[up].literal >> 1])
        up = partial.done[up].by;
      if (up == i) made.scopes.push_back(partial.done[j].literal >> 1);
    }
    sort_unique(made.scopes);
    found.push_back(std::move(made));
  }
  return found;
}

// From `prefix` on, all items have the same rules.
void Goals::find_prefix(ArrayShape& array) {
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

// The same enum is held, or denied, in many goals.
automata::LanguageId Goals::enum_language(
    const std::vector<json::Value>& values) {
  const auto [it, is_new] = enum_languages_.try_emplace(&values, 0);
  if (is_new) {
    std::vector<std::string> words;
    for (const json::Value& value : values) {
      if (value.is_string()) words.emplace_back(value.as_string());
    }
    it->second = languages_.literals(words);
  }
  return it->second;
}

void Goals::expand(GoalId goal, JsonType type, Expansion& into) {
  if (goal == kNothing) return;
  Expander expander(*this, type, options_.limits.alternatives);
  expander.run(goals_[goal]);
  if (expander.truncated()) narrowed_ = true;
  into.cut = expander.truncated() || expander.cut() || languages_.narrowed();

  const std::size_t first_object = objects_.size();
  const std::size_t first_array = arrays_.size();
  std::vector<automata::LanguageId> any_length;
  Constants constants = 0;
  for (Partial& partial : expander.done()) {
    if (const auto* some = std::get_if<Constants>(&partial.shape)) {
      constants |= *some;
    } else if (auto* spec = std::get_if<NumberSpec>(&partial.shape)) {
      spec->zero_fraction = document_.integer_may_have_zero_fraction;
      const NumberLanguages::Id id = numbers_.add(*spec);
      if (numbers_.empty(id)) continue;
      specs_.try_emplace(id, *spec);
      if (std::find(into.all.begin(), into.all.end(), id) == into.all.end())
        into.all.push_back(id);
    } else if (auto* strings = std::get_if<Strings>(&partial.shape)) {
      automata::LanguageId language =
          strings->languages.empty()
              ? languages_.everything()
              : languages_.all_of(std::move(strings->languages));
      if (languages_.empty(language) || strings->min > strings->max) continue;
      const bool bounded = strings->min > 0 || strings->max != kNoBound;
      const bool total = languages_.total(languages_.start(language));
      if (bounded && total) {
        if (auto id =
                add_new(strings_, strings_.size() - into.all.size(),
                        StringShape{language, strings->min, strings->max}))
          into.all.push_back(*id);
        continue;
      }
      // A least length is a part of the language, so that what is live is
      // decided in one place; a greatest one is compared with the shortest
      // text that is left.
      if (strings->min > 0) {
        language = languages_.all_of(
            {language, languages_.length_between(strings->min, kNoBound)});
        if (languages_.empty(language)) continue;
      }
      if (strings->max != kNoBound) {
        if (languages_.least_chars(languages_.start(language)) > strings->max)
          continue;
        if (auto id = add_new(strings_, strings_.size() - into.all.size(),
                              StringShape{language, 0, strings->max}))
          into.all.push_back(*id);
        continue;
      }
      any_length.push_back(language);
    } else if (auto* object = std::get_if<ObjectShape>(&partial.shape)) {
      sort_unique(object->required);
      sort_unique(object->forbidden);
      sort_unique(object->names);
      if (object->min > object->max ||
          overlap(object->required, object->forbidden))
        continue;
      if (has_unevaluated_)
        object->unevaluated = unevaluated(partial, JsonType::kObject);
      if (auto id = add_new(objects_, first_object, std::move(*object))) {
        facts_.emplace_back();
        into.all.push_back(*id);
      }
    } else if (auto* array = std::get_if<ArrayShape>(&partial.shape)) {
      if (array->min > array->max) continue;
      if (has_unevaluated_)
        array->unevaluated = unevaluated(partial, JsonType::kArray);
      find_prefix(*array);
      if (auto id = add_new(arrays_, first_array, std::move(*array)))
        into.all.push_back(*id);
    }
  }
  if (constants != 0) into.all.push_back(constants);
  if (!any_length.empty()) {
    const automata::LanguageId language =
        languages_.any_of(std::move(any_length));
    strings_.push_back({language, 0, kNoBound});
    // A language of all strings leaves the others nothing to add.
    if (languages_.total(languages_.start(language))) into.all.clear();
    into.all.push_back(static_cast<ShapeId>(strings_.size() - 1));
  }
}

}  // namespace parlance::grammar
