// A spec falls into two sides, its positive and its negative numbers; states
// belong to sides, so that specs share what they have in common.  The work is
// done in non_negative_set.cc and number_prefix.cc.

#include "automata/number_language.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/work.h"

namespace parlance::automata {

using base::Decimal;

namespace {

Decimal negated(Decimal value) {
  if (!value.is_zero()) value.negative = !value.negative;
  return value;
}

// What a fingerprint is of: the key of a state of a set, that of a state that
// all sets share, or that of a start.
constexpr std::uint64_t kOfSet = 0;
constexpr std::uint64_t kOfAll = 1;
constexpr std::uint64_t kOfStart = 2;

// The negative numbers of `spec` are the positive ones of its mirror image.
NumberSpec mirrored(NumberSpec spec) {
  std::swap(spec.minimum, spec.maximum);
  std::swap(spec.exclusive_minimum, spec.exclusive_maximum);
  if (spec.minimum) spec.minimum = negated(*spec.minimum);
  if (spec.maximum) spec.maximum = negated(*spec.maximum);
  for (Decimal& value : spec.excluded) value = negated(value);
  if (spec.allowed) {
    for (Decimal& value : *spec.allowed) value = negated(value);
  }
  for (std::string& text : spec.texts) {
    text = text.starts_with('-') ? text.substr(1) : "-" + text;
  }
  return spec;
}

// Sets `step` to the least common multiple of the steps.  False if it is too
// large.
bool find_step(const NumberSpec& spec, std::optional<NumberStep>& step) {
  if (spec.integer) step = NumberStep{};
  for (const Decimal& of : spec.multiple_of) {
    step = step ? common_step(*step, number_step(of)) : number_step(of);
    if (!step) return false;
  }
  return true;
}

// The numbers of `spec` that are not negative; nullopt if there are none.
//
// A list of allowed values is filtered by the other conditions, which it then
// replaces.  Otherwise the bounds are cut at zero, the steps become their least
// common multiple, and the steps to avoid are listed.  If the common step is
// too large only zero remains, and `exact` becomes false.
std::optional<NonNegativeSet> make_side(const NumberSpec& spec, bool& exact) {
  NonNegativeSet side;
  side.point = !spec.integer || (spec.every_spelling && spec.zero_fraction);
  side.marked = spec.marked;
  side.every_spelling = spec.every_spelling;
  const auto list = [&](const std::vector<Decimal>& values) {
    NumberSpec others = spec;
    others.allowed.reset();
    std::vector<Decimal> out;
    for (const Decimal& value : values) {
      if (!value.negative && satisfies(others, value)) out.push_back(value);
    }
    return out;
  };
  if (spec.allowed) {
    side.allowed = list(*spec.allowed);
    if (!side.canonicalize()) return {};
    if (!spec.texts.empty()) side.write_as(spec.texts);
    return side;
  }

  if (spec.minimum && !spec.minimum->negative) {
    side.low = *spec.minimum;
    side.above_low = spec.exclusive_minimum;
  }
  if (spec.maximum) {
    if (spec.maximum->negative) return {};
    side.high = *spec.maximum;
    side.below_high = spec.exclusive_maximum;
  }
  if (!find_step(spec, side.step)) {
    exact = false;
    side.allowed = list({Decimal{}});
    if (!side.canonicalize()) return {};
    return side;
  }
  if (spec.not_integer) side.avoid.push_back({});
  for (const Decimal& of : spec.not_multiple_of) {
    side.avoid.push_back(number_step(of));
  }
  for (const Decimal& value : spec.excluded) {
    if (!value.negative) side.excluded.push_back(value);
  }
  if (!side.canonicalize()) return {};
  return side;
}

}  // namespace

bool satisfies(const NumberSpec& spec, const Decimal& value) {
  if (spec.integer && !value.is_integer()) return false;
  if (spec.not_integer && value.is_integer()) return false;
  if (spec.minimum && (value < *spec.minimum ||
                       (spec.exclusive_minimum && value == *spec.minimum))) {
    return false;
  }
  if (spec.maximum && (*spec.maximum < value ||
                       (spec.exclusive_maximum && value == *spec.maximum))) {
    return false;
  }
  auto multiple = [&](const Decimal& of) {
    return base::is_multiple(value, of);
  };
  auto has = [&](const std::vector<Decimal>& values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  return std::all_of(spec.multiple_of.begin(), spec.multiple_of.end(),
                     multiple) &&
         std::none_of(spec.not_multiple_of.begin(), spec.not_multiple_of.end(),
                      multiple) &&
         !has(spec.excluded) && (!spec.allowed || has(*spec.allowed));
}

NumberLanguages::NumberLanguages() {
  nodes_.emplace_back();
  nodes_[kDead].next.fill(kDead);
}

std::uint32_t NumberLanguages::add_set(NonNegativeSet side) {
  auto [found, made] = side_ids_.try_emplace(
      side.text, static_cast<std::uint32_t>(sets_.size()));
  if (made) {
    memory_bytes_ += sizeof side + 4 * side.text.size();
    set_fingerprints_.push_back(
        base::Fingerprinter(kOfSet).add(side.text).take());
    sets_.push_back(std::move(side));
  }
  return found->second;
}

// The two sides, each with its length before it.
std::string NumberLanguages::key_of_start(const Node& start) const {
  std::string key = "s";
  for (const std::uint32_t side : {start.side, start.negative_side}) {
    if (side == kNoSide) {
      key += "none";
      continue;
    }
    key += std::to_string(sets_[side].text.size()) + ':' + sets_[side].text;
  }
  return key;
}

NumberLanguages::State NumberLanguages::add_start(std::string key, Node start) {
  auto is_free = [&](std::uint32_t side) {
    return side != kNoSide && sets_[side].text == NonNegativeSet::kFreeText;
  };
  start.free = is_free(start.side) && is_free(start.negative_side);
  start.fingerprint = base::Fingerprinter(kOfStart).add(key).take();
  return intern(std::move(key), std::move(start));
}

NumberLanguages::State NumberLanguages::copy(const NumberLanguages& from,
                                             State state) {
  if (state == kDead) return kDead;
  const Node& of = from.nodes_[state];
  const auto side = [&](std::uint32_t id) {
    return id == kNoSide ? kNoSide : add_set(from.sets_[id]);
  };
  if (!of.starting) return read(side(of.side), from.prefix_of(state), {});
  Node start;
  start.starting = true;
  start.side = side(of.side);
  start.negative_side = side(of.negative_side);
  std::string key = key_of_start(start);
  return add_start(std::move(key), std::move(start));
}

// Builds the start state of `spec`: its two sides.  Specs with equal sides
// share an id, by the key.
NumberLanguages::Id NumberLanguages::add(const NumberSpec& spec) {
  Spec out;
  Node node;
  node.starting = true;
  const NumberSpec mirror = mirrored(spec);
  if (std::optional<NonNegativeSet> side = make_side(spec, out.exact)) {
    node.side = add_set(std::move(*side));
  }
  // Canonically, without a negative number other than zero there is no minus
  // sign, and none for a listed zero or that of an integer.
  NumberSpec negative = mirror;
  negative.excluded.emplace_back();
  if (spec.every_spelling || make_side(negative, out.exact)) {
    const bool minus_zero =
        spec.every_spelling || (!spec.allowed && !spec.integer);
    if (std::optional<NonNegativeSet> side =
            make_side(minus_zero ? mirror : negative, out.exact)) {
      node.negative_side = add_set(std::move(*side));
    }
  }

  std::string key = key_of_start(node);
  auto [found, made] = spec_ids_.try_emplace(key + (out.exact ? "" : "~"),
                                             static_cast<Id>(specs_.size()));
  if (!made) return found->second;
  out.side = node.side;
  out.negative_side = node.negative_side;
  if (node.side != kNoSide || node.negative_side != kNoSide) {
    out.start = add_start(std::move(key), std::move(node));
  }
  memory_bytes_ += sizeof out + found->first.size() + 64;
  specs_.push_back(out);
  return found->second;
}

std::uint64_t NumberLanguages::count(Id id, std::uint64_t wanted) const {
  const Spec& spec = specs_[id];
  std::uint64_t found = 0;
  if (spec.side != kNoSide) {
    found = std::min(count_values(sets_[spec.side]), wanted);
  }
  if (spec.negative_side == kNoSide || found == wanted) return found;
  const NonNegativeSet& negative = sets_[spec.negative_side];
  std::uint64_t more = std::min(count_values(negative), wanted);
  // values() leaves out the zero of the negative side, which is 0.  `wanted` is
  // too small for it to matter whether the count was saturated.
  if (negative.contains({})) {
    more = std::min(count_values(negative) - 1, wanted);
  }
  return more > wanted - found ? wanted : found + more;
}

std::optional<std::vector<Decimal>> NumberLanguages::values(
    Id id, std::size_t limit) const {
  if (count(id, std::uint64_t{limit} + 1) > limit) return {};
  const Spec& spec = specs_[id];
  std::vector<Decimal> out;
  if (spec.negative_side != kNoSide) {
    for (const Decimal& value : values_of(sets_[spec.negative_side])) {
      if (!value.is_zero()) out.push_back(negated(value));
    }
  }
  if (spec.side != kNoSide) {
    for (Decimal& value : values_of(sets_[spec.side])) {
      out.push_back(std::move(value));
    }
  }
  return out;
}

NumberLanguages::State NumberLanguages::intern(std::string key, Node node) {
  auto [found, made] =
      node_ids_.try_emplace(std::move(key), static_cast<State>(nodes_.size()));
  if (made) {
    node.next.fill(kUnknown);
    memory_bytes_ +=
        sizeof node + found->first.size() + node.prefix.size() + 96;
    nodes_.push_back(std::move(node));
  }
  return found->second;
}

// The literal that `state` stands for.
std::string NumberLanguages::prefix_of(State state) const {
  std::string end;
  for (; nodes_[state].parent != kDead; state = nodes_[state].parent) {
    end += nodes_[state].byte;
  }
  return nodes_[state].prefix + std::string(end.rbegin(), end.rend());
}

// The state of `prefix`.  A new one becomes `node`, which says how to find the
// prefix; without a parent it holds it.
NumberLanguages::State NumberLanguages::read(std::uint32_t side,
                                             const std::string& prefix,
                                             Node node) {
  const NonNegativeSet& numbers = sets_[side];
  NumberPrefix found = read_number_prefix(numbers, prefix);
  if (!found.live) return kDead;
  if (found.plain) {
    return read(add_set(numbers.without_exponents()), prefix, std::move(node));
  }
  node.side = side;
  node.accepting = found.accepting;
  node.free = found.free;
  node.any_digits = found.any_digits;
  node.plainly = found.plainly;
  if (!found.shorter.empty()) {
    node.prefix = std::move(found.shorter);
    node.parent = kDead;
  } else if (node.parent == kDead) {
    node.prefix = prefix;
  }
  std::string key = (found.shared ? "*" : std::to_string(side) + ":");
  const std::size_t before = nodes_.size();
  const State made = intern(key + found.key, std::move(node));
  if (made == before) {
    base::Fingerprinter print(found.shared ? kOfAll : kOfSet);
    if (!found.shared) print.add(set_fingerprints_[side]);
    nodes_[made].fingerprint = print.add(found.key).take();
  }
  return made;
}

NumberLanguages::State NumberLanguages::find(State state, std::uint8_t byte,
                                             std::uint8_t column) {
  const Node& node = nodes_[state];
  const char c = static_cast<char>(byte);
  State next = kDead;
  if (!node.starting) {
    const std::string prefix = prefix_of(state) + c;
    if (!base::spend_work(1 + prefix.size() / 16)) return kDead;
    Node more;
    more.parent = state;
    more.byte = c;
    next = read(node.side, prefix, std::move(more));
  } else if (byte == '-') {
    if (node.negative_side != kNoSide) next = read(node.negative_side, "", {});
  } else if (node.side != kNoSide) {
    next = read(node.side, std::string(1, c), {});
  }
  if (base::work_left()) nodes_[state].next[column] = next;
  return next;
}

}  // namespace parlance::automata
