// See exclusive.h.
//
// Steps: the facts of each option are collected; an index of each slot lists
// the options by the values that they allow there; each option takes the slot
// with the fewest candidates and compares itself with these.

#include "schema_solver/exclusive.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/work.h"

namespace parlance::schema_solver {
namespace {

using schema::kNoNode;
using schema::Node;
using schema::NodeId;

constexpr std::size_t kTypes = 6;
constexpr std::uint8_t kScalars =
    schema::kNull | schema::kBoolean | schema::kNumber | schema::kString;

// How far inside a value slots are looked for, how many of one option, and of
// all.  Constants that tell options apart are one or two levels inside.  Beyond
// the limits, options count as overlapping, which is always right.
constexpr std::size_t kMaxLevels = 4;
constexpr std::size_t kMaxSlots = 4096;
constexpr std::size_t kMaxSlotsOfAll = std::size_t{1} << 21;

// How many alternatives of one disjunction in an option are joined, how many
// slots of theirs in all, and how many disjunctions inside of one another.
// Beyond the limits a disjunction says nothing, which is always right.
constexpr std::size_t kMaxJoined = 256;
constexpr std::size_t kMaxJoinedSlots = std::size_t{1} << 18;
constexpr std::size_t kMaxNestedJoins = 4;

// How many pairs of options are compared for each overlap that is allowed.
constexpr std::size_t kMaxComparisons = 16;

// See scalar_key().
using Scalar = std::string;

std::uint8_t type_of(const Scalar& scalar) {
  return static_cast<std::uint8_t>(1U << (scalar.front() - '0'));
}

// What an option says of the value in a slot.
struct Values {
  std::uint8_t types = schema::kAllTypes;
  // If engaged, a scalar there is one of these, which are sorted.
  std::optional<std::vector<Scalar>> scalars = {};

  bool says_nothing() const { return types == schema::kAllTypes && !scalars; }
};

bool exclude(const Values& a, const Values& b) {
  const std::uint8_t common = a.types & b.types;
  if ((common & ~kScalars) != 0) return false;
  if (!a.scalars || !b.scalars) return common == 0;
  const bool a_is_shorter = a.scalars->size() < b.scalars->size();
  const auto& few = a_is_shorter ? *a.scalars : *b.scalars;
  const auto& many = a_is_shorter ? *b.scalars : *a.scalars;
  return std::ranges::none_of(few, [&](const Scalar& scalar) {
    return (type_of(scalar) & common) != 0 &&
           std::ranges::binary_search(many, scalar);
  });
}

struct Fact {
  Values values;
  // Each value of the option has the slot.
  bool required = false;
};

// What an option says, by slot.  A slot is the text of its path, each level one
// character and the number of a key or the index of an item; "" is the value.
struct Facts {
  std::map<std::string, Fact, std::less<>> slots;
  // The objects that can only have the members which have slots.
  std::unordered_set<std::string> closed;
};

// Narrows `values` to what `by` says as well.
void narrow(Values& values, Values by) {
  values.types &= by.types;
  if (!by.scalars) return;
  if (!values.scalars) {
    values.scalars = std::move(by.scalars);
    return;
  }
  std::vector<Scalar> both;
  std::ranges::set_intersection(*values.scalars, *by.scalars,
                                std::back_inserter(both));
  values.scalars = std::move(both);
}

// Adds the values of `by`.
void widen(Values& values, Values by) {
  for (Values* one : {&values, &by}) {
    if ((one->types & kScalars) == 0) one->scalars.emplace();
  }
  values.types |= by.types;
  if (!values.scalars || !by.scalars) {
    values.scalars.reset();
    return;
  }
  std::vector<Scalar> all;
  std::ranges::set_union(*values.scalars, *by.scalars, std::back_inserter(all));
  values.scalars = std::move(all);
}

constexpr std::size_t kLevelBytes = 9;

std::string inside(std::string_view slot, char kind, std::uint64_t number) {
  std::string out(slot);
  out += kind;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(number >> (8 * i));
  return out;
}

std::string_view outside(std::string_view slot) {
  return slot.substr(0, slot.size() - kLevelBytes);
}

// Adds what is known of a slot as well.
void add_fact(Facts& facts, const std::string& slot, Fact fact) {
  const auto [it, is_new] = facts.slots.try_emplace(slot);
  if (is_new) {
    it->second = std::move(fact);
    return;
  }
  narrow(it->second.values, std::move(fact.values));
  it->second.required = it->second.required || fact.required;
}

// Keeps what is true of the values of either.  If only one option has a slot,
// the other says nothing about it, unless its object is closed: then it forbids
// the slot.
void join(Facts& facts, const Facts& other) {
  const auto is_closed = [](const Facts& in, const std::string& slot) {
    return !slot.empty() && in.closed.contains(std::string(outside(slot)));
  };
  std::vector<std::pair<std::string, Fact>> more;
  for (const auto& [slot, fact] : other.slots) {
    if (!facts.slots.contains(slot) && is_closed(facts, slot)) {
      more.emplace_back(slot, Fact{.values = fact.values, .required = false});
    }
  }
  for (auto it = facts.slots.begin(); it != facts.slots.end();) {
    Fact& fact = it->second;
    const auto found = other.slots.find(it->first);
    if (found != other.slots.end()) {
      widen(fact.values, found->second.values);
      fact.required = fact.required && found->second.required;
    } else if (is_closed(other, it->first)) {
      fact.required = false;
    } else {
      it = facts.slots.erase(it);
      continue;
    }
    ++it;
  }
  facts.slots.insert(more.begin(), more.end());
  std::erase_if(facts.closed, [&](const std::string& slot) {
    return !other.closed.contains(slot);
  });
}

class Collector {
 public:
  explicit Collector(const schema::Document& document) : document_(document) {}

  Facts facts(NodeId option, std::uint8_t type) {
    return facts({.nodes = {option}, .types = type});
  }

 private:
  // A slot that is to be looked at.
  struct Place {
    std::string slot = {};
    std::vector<NodeId> nodes = {};
    std::uint8_t types = schema::kAllTypes;  // that the value may have
    bool required = true;
    std::size_t level = 0;
    std::size_t joins = 0;  // disjunctions that it is inside of
  };

  // Breadth first, so that a limit keeps the slots that are further out.
  Facts facts(Place start) {
    Facts out;
    std::vector<Place> places = {std::move(start)};
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (out.slots.size() >= kMaxSlots || !base::spend_work()) break;
      const Place place = std::move(places[i]);
      collect(place, places, out);
    }
    return out;
  }

  // The nodes that hold with some nodes, each once.
  std::vector<NodeId> conjuncts(std::vector<NodeId> nodes) const {
    std::unordered_set<NodeId> seen(nodes.begin(), nodes.end());
    const auto add = [&](NodeId id) {
      if (id != kNoNode && seen.insert(id).second) nodes.push_back(id);
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = document_.node(nodes[i]);
      add(node.ref);
      for (const NodeId child : node.all_of) add(child);
      if (node.any_of.size() == 1) add(node.any_of.front());
      if (node.one_of.size() == 1) add(node.one_of.front());
      if (node.scalars && node.scalars->empty() &&
          node.enum_nodes.size() == 1) {
        add(node.enum_nodes.front());
      }
    }
    return nodes;
  }

  // What one node says of the value itself.
  Values values_of(const Node& node) const {
    Values out{.types = node.types};
    if (!node.scalars) return out;
    std::uint8_t listed = 0;
    out.scalars.emplace();
    for (const json::Value& value : *node.scalars) {
      out.scalars->push_back(scalar_key(value));
      listed |= type_of(out.scalars->back());
    }
    for (const NodeId id : node.enum_nodes) listed |= document_.node(id).types;
    out.types &= listed;
    std::ranges::sort(*out.scalars);
    return out;
  }

  // What the alternatives of the disjunctions among some nodes have in common.
  // Recursion is as deep as disjunctions are nested, up to a limit.
  std::vector<Facts> joined(const Place& place,
                            const std::vector<NodeId>& nodes) {
    std::vector<Facts> out;
    if (place.joins == kMaxNestedJoins) return out;
    const auto see = [&](const std::vector<NodeId>& list) {
      if (std::optional<Facts> found = join_of(place, list)) {
        out.push_back(std::move(*found));
      }
    };
    for (const NodeId id : nodes) {
      const Node& node = document_.node(id);
      if (node.any_of.size() > 1) see(node.any_of);
      if (node.one_of.size() > 1) see(node.one_of);
      // conjuncts() has the only value of an enum.
      const std::size_t listed =
          node.enum_nodes.size() +
          (node.scalars && !node.scalars->empty() ? 1 : 0);
      if (listed > 1 && (place.types & kScalars) == 0) see(node.enum_nodes);
    }
    return out;
  }

  std::optional<Facts> join_of(const Place& place,
                               const std::vector<NodeId>& list) {
    if (list.size() > kMaxJoined) return std::nullopt;
    std::optional<Facts> out;
    for (const NodeId child : list) {
      if (joined_slots_ > kMaxJoinedSlots) return std::nullopt;
      Place one = place;
      one.nodes = {child};
      ++one.joins;
      Facts found = facts(std::move(one));
      joined_slots_ += 1 + found.slots.size();
      const auto itself = found.slots.find(place.slot);
      if (itself == found.slots.end()) return std::nullopt;
      if (itself->second.values.types == 0) continue;  // it has no value
      if (!out) {
        out = std::move(found);
      } else {
        join(*out, found);
      }
      if (out->slots.size() > kMaxSlots ||
          !base::spend_work(1 + out->slots.size() / 8)) {
        return std::nullopt;
      }
    }
    if (!out) {
      out.emplace().slots[place.slot] = {.values = {.types = 0},
                                         .required = true};
    }
    return out;
  }

  // Collects what the nodes of a place say of its slot, and the places inside
  // it.  Places inside of those that may be absent tell little apart.
  void collect(const Place& place, std::vector<Place>& places, Facts& out) {
    const std::vector<NodeId> nodes = conjuncts(place.nodes);
    Values values{.types = place.types};
    for (const NodeId id : nodes) narrow(values, values_of(document_.node(id)));
    if (place.required) {
      Place here = place;
      here.types = values.types;
      for (const Facts& some : joined(here, nodes)) {
        narrow(values, some.slots.at(place.slot).values);
        if (out.slots.size() + some.slots.size() > kMaxSlots) continue;
        for (const auto& [slot, fact] : some.slots) add_fact(out, slot, fact);
        out.closed.insert(some.closed.begin(), some.closed.end());
      }
    }
    const std::uint8_t types = values.types;
    if (place.required || !values.says_nothing()) {
      add_fact(out, place.slot, {std::move(values), place.required});
    }
    if (!place.required || place.level == kMaxLevels) return;
    if (types == schema::kObject) members(place, nodes, places, out);
    if (types == schema::kArray) items(place, nodes, places);
  }

  void members(const Place& place, const std::vector<NodeId>& nodes,
               std::vector<Place>& places, Facts& out) {
    struct Member {
      std::vector<NodeId> nodes;
      bool required = false;
      std::size_t declared = 0;  // by how many of the closed nodes
    };
    std::map<std::string_view, Member> found;
    std::size_t closed = 0;
    for (const NodeId id : nodes) {
      const schema::ObjectRules& rules = document_.node(id).objects();
      const bool closes = is_closed(document_.node(id));
      closed += closes ? 1 : 0;
      for (const auto& [name, child] : rules.properties) {
        Member& member = found[name];
        member.nodes.push_back(child);
        member.declared += closes ? 1 : 0;
      }
      for (const std::string_view name : rules.required) {
        found[name].required = true;
      }
    }
    const bool all_fit = out.slots.size() + found.size() <= kMaxSlots;
    if (closed > 0 && all_fit) out.closed.insert(place.slot);
    for (auto& [name, member] : found) {
      std::string slot = inside(place.slot, '/', key(name));
      // A member of a closed object has a slot, whatever is said of it.
      if (closed > 0 && all_fit) out.slots.try_emplace(slot);
      const bool forbidden = member.declared < closed;
      places.push_back(
          {.slot = std::move(slot),
           .nodes = std::move(member.nodes),
           .types = forbidden ? std::uint8_t{0}
                              : static_cast<std::uint8_t>(schema::kAllTypes),
           .required = member.required,
           .level = place.level + 1,
           .joins = place.joins});
    }
  }

  bool is_closed(const Node& node) const {
    const schema::ObjectRules& rules = node.objects();
    if (!rules.pattern_properties.empty()) return false;
    return node.object_closing == schema::Closing::kAdditional ||
           (rules.additional_properties != kNoNode &&
            document_.node(rules.additional_properties).types == 0);
  }

  void items(const Place& place, const std::vector<NodeId>& nodes,
             std::vector<Place>& places) const {
    std::map<std::size_t, std::vector<NodeId>> found;
    std::uint64_t min = 0;
    for (const NodeId id : nodes) {
      const schema::ArrayRules& rules = document_.node(id).arrays();
      min = std::max(min, rules.min_items.value_or(0));
      for (std::size_t i = 0; i < rules.prefix_items.size(); ++i) {
        found[i].push_back(rules.prefix_items[i]);
      }
    }
    for (auto& [index, children] : found) {
      places.push_back({.slot = inside(place.slot, '#', index),
                        .nodes = std::move(children),
                        .required = index < min,
                        .level = place.level + 1,
                        .joins = place.joins});
    }
  }

  std::uint64_t key(std::string_view name) {
    return keys_.try_emplace(name, keys_.size()).first->second;
  }

  const schema::Document& document_;
  std::unordered_map<std::string_view, std::uint64_t> keys_;
  std::size_t joined_slots_ = 0;
};

// The options by what they say of one slot.
struct SlotIndex {
  std::unordered_map<Scalar, std::vector<std::uint32_t>> by_scalar;
  // Options that list no scalars of a type, and those that do, with a type.
  std::array<std::vector<std::uint32_t>, kTypes> unlisted;
  std::array<std::vector<std::uint32_t>, kTypes> listed;

  void add(std::uint32_t option, const Values& values) {
    for (std::size_t type = 0; type < kTypes; ++type) {
      const auto bit = static_cast<std::uint8_t>(1U << type);
      if ((values.types & bit) == 0) continue;
      const bool lists = values.scalars && (bit & kScalars) != 0;
      (lists ? listed : unlisted)[type].push_back(option);
    }
    if (!values.scalars) return;
    for (const Scalar& scalar : *values.scalars) {
      if ((type_of(scalar) & values.types) != 0) {
        by_scalar[scalar].push_back(option);
      }
    }
  }

  // Calls `use` with lists that have each option which may have a value of
  // `values` in the slot.
  template <class Use>
  void each_list(const Values& values, const Use& use) const {
    for (std::size_t type = 0; type < kTypes; ++type) {
      const auto bit = static_cast<std::uint8_t>(1U << type);
      if ((values.types & bit) == 0) continue;
      use(unlisted[type]);
      if (!values.scalars && (bit & kScalars) != 0) use(listed[type]);
    }
    if (!values.scalars) return;
    for (const Scalar& scalar : *values.scalars) {
      const auto found = by_scalar.find(scalar);
      if (found != by_scalar.end()) use(found->second);
    }
  }
};

class OverlapSearch {
 public:
  OverlapSearch(const schema::Document& document,
                std::span<const NodeId> options, std::uint8_t type) {
    Collector collector(document);
    std::size_t slots = 0;
    for (const NodeId option : options) {
      Facts facts;
      if (slots < kMaxSlotsOfAll) facts = collector.facts(option, type);
      // The value itself has a slot, so that an option about which nothing is
      // known is in every list of candidates.
      facts.slots.try_emplace("", Fact{{.types = type}, true});
      slots += facts.slots.size();
      facts_.push_back(std::move(facts));
    }
    for (std::uint32_t i = 0; i < facts_.size(); ++i) {
      if (!possible(i)) continue;
      possible_.push_back(i);
      for (const auto& [slot, fact] : facts_[i].slots) {
        index_[slot].add(i, fact.values);
        slots_of_[slot].push_back(i);
      }
    }
  }

  std::optional<std::vector<std::vector<std::uint32_t>>> find(
      std::size_t most) {
    std::vector<std::vector<std::uint32_t>> out(facts_.size());
    std::size_t total = 0;
    std::size_t comparisons = 0;
    for (const std::uint32_t i : possible_) {
      std::vector<std::uint32_t> candidates = candidates_of(i);
      std::ranges::sort(candidates);
      candidates.erase(std::unique(candidates.begin(), candidates.end()),
                       candidates.end());
      comparisons += candidates.size();
      if (comparisons / kMaxComparisons > most ||
          !base::spend_work(candidates.size())) {
        return std::nullopt;
      }
      for (const std::uint32_t j : candidates) {
        if (i != j && !excluded(i, j)) out[i].push_back(j);
      }
      total += out[i].size();
      if (total > most) return std::nullopt;
    }
    return out;
  }

 private:
  bool possible(std::uint32_t i) const {
    return facts_[i].slots.at("").values.types != 0;
  }

  // The options whose object in a slot is not closed.
  const std::vector<std::uint32_t>& open_in(std::string_view slot) {
    const auto [it, is_new] = open_.try_emplace(std::string(slot));
    if (is_new) {
      for (const std::uint32_t i : possible_) {
        if (!facts_[i].closed.contains(it->first)) it->second.push_back(i);
      }
    }
    return it->second;
  }

  // The number of options that may have a slot although they say nothing of it.
  std::size_t number_without(const std::string& slot) {
    const auto [it, is_new] = number_without_.try_emplace(slot, 0);
    if (is_new) {
      const std::string outer(outside(slot));
      const auto open = std::ranges::count_if(
          slots_of_.at(slot),
          [&](std::uint32_t i) { return !facts_[i].closed.contains(outer); });
      it->second = open_in(outer).size() - static_cast<std::size_t>(open);
    }
    return it->second;
  }

  // Some options, with all those that may hold together with `i`.
  std::vector<std::uint32_t> candidates_of(std::uint32_t i) {
    std::size_t fewest = possible_.size();
    const std::string* best = nullptr;
    for (const auto& [slot, fact] : facts_[i].slots) {
      if (!fact.required) continue;
      std::size_t number = slot.empty() ? 0 : number_without(slot);
      index_.at(slot).each_list(
          fact.values, [&](const auto& list) { number += list.size(); });
      if (number >= fewest) continue;
      fewest = number;
      best = &slot;
    }
    if (best == nullptr) return possible_;
    std::vector<std::uint32_t> out;
    if (!best->empty()) {
      std::ranges::set_difference(open_in(outside(*best)), slots_of_.at(*best),
                                  std::back_inserter(out));
    }
    index_.at(*best).each_list(
        facts_[i].slots.at(*best).values, [&](const auto& list) {
          out.insert(out.end(), list.begin(), list.end());
        });
    return out;
  }

  bool excluded(std::uint32_t i, std::uint32_t j) const {
    return required_and_excluded(i, j) || required_and_excluded(j, i);
  }

  // Whether `i` requires a slot that excludes what `j` says of it.
  bool required_and_excluded(std::uint32_t i, std::uint32_t j) const {
    return std::ranges::any_of(facts_[i].slots, [&](const auto& entry) {
      const auto& [slot, fact] = entry;
      if (!fact.required) return false;
      const auto other = facts_[j].slots.find(slot);
      if (other != facts_[j].slots.end()) {
        return exclude(fact.values, other->second.values);
      }
      return !slot.empty() &&
             facts_[j].closed.contains(std::string(outside(slot)));
    });
  }

  std::vector<Facts> facts_;
  std::vector<std::uint32_t> possible_;
  std::unordered_map<std::string, SlotIndex> index_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> slots_of_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> open_;
  std::unordered_map<std::string, std::size_t> number_without_;
};

}  // namespace

std::string scalar_key(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return "0";
    case json::Kind::kBool:
      return value.as_bool() ? "1t" : "1f";
    case json::Kind::kString:
      return '3' + std::string(value.as_string());
    default: {
      const auto number = schema::to_decimal(value);
      return '2' + (number ? number->to_string() : json::dump(value));
    }
  }
}

std::optional<Overlaps> overlaps(const schema::Document& document,
                                 std::span<const NodeId> options,
                                 std::uint8_t type, std::size_t most) {
  return OverlapSearch(document, options, type).find(most);
}

const Overlaps* OverlapTable::of(schema::NodeId node, JsonType type) {
  // All pairs of as many options as may be followed side by side, and those of
  // many options that overlap with few.
  const std::size_t side = options_.limits.alternatives;
  const std::vector<schema::NodeId>& options = document_.node(node).one_of;
  const std::size_t most = side * side + 16 * options.size();
  const auto [it, is_new] = known_.try_emplace(
      std::uint64_t{node} << 8 | static_cast<std::uint64_t>(type));
  if (is_new) {
    it->second = overlaps(document_, options, type_bit(type), most);
  }
  return it->second ? &*it->second : nullptr;
}

}  // namespace parlance::schema_solver
