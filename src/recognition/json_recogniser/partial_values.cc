// Tables of values that are begun: see partial_values.h.

#include "json_recogniser/partial_values.h"

#include <cstring>

#include "base/mix.h"
#include "base/work.h"

namespace parlance::json_recogniser {

using schema_solver::Fingerprint;
using schema_solver::ValueText;

std::string under(const Fingerprint& print) {
  // What the texts of the scalars under prints begin with, in a set of values.
  constexpr char kUnderPrint = 'c';
  std::string text(1 + sizeof print.low, kUnderPrint);
  std::memcpy(text.data() + 1, &print.low, sizeof print.low);
  return text;
}

std::uint32_t PartialValues::intern(const Partial& partial) {
  std::uint64_t hash = partial.sum.low ^ partial.at.high;
  base::mix(hash, std::uint64_t{partial.size} << 32 | partial.parts);
  base::mix(hash, std::uint64_t{partial.key} << 32 | partial.extras);
  const auto is_same = [&](std::uint32_t id) {
    return partials_[id] == partial;
  };
  if (const auto known = partial_of_.find(hash, is_same)) return *known;
  const auto id = static_cast<std::uint32_t>(partials_.size());
  partials_.push_back(partial);
  partial_of_.add(hash, id);
  bytes_ += sizeof(Partial) + 16;
  return id;
}

std::uint32_t PartialValues::intern(const Part& part) {
  std::uint64_t hash = part.at.low;
  base::mix(hash, std::uint64_t{part.nested} << 32 | part.scalar);
  base::mix(hash, part.next);
  const auto is_same = [&](std::uint32_t id) { return parts_[id] == part; };
  if (const auto known = part_of_.find(hash, is_same)) return *known;
  const auto id = static_cast<std::uint32_t>(parts_.size());
  parts_.push_back(part);
  part_of_.add(hash, id);
  bytes_ += sizeof(Part) + 16;
  return id;
}

std::uint32_t PartialValues::with_key(std::uint32_t partial,
                                      const std::string& key, bool foreign) {
  Partial next = partials_[partial];
  next.at = schema_solver::print_of_key(key);
  next.key = foreign ? texts_.extend(0, key) + 1 : 0;
  return intern(next);
}

std::uint32_t PartialValues::with_index(std::uint32_t partial) {
  Partial next = partials_[partial];
  next.at = schema_solver::print_of_index(next.size++);
  return intern(next);
}

std::uint32_t PartialValues::with_part(std::uint32_t partial,
                                       const ValueText& value,
                                       std::uint32_t nested) {
  Partial next = partials_[partial];
  const Fingerprint member = schema_solver::print_of_member(
      next.at, schema_solver::print_of_value(value));
  if (next.key != 0) {
    // Keys that the schema does not spell may come again.  If this one has come
    // before, `before` is the print of that member, which is taken out of the
    // sum and of `extras`.
    std::string entry = texts_[next.key - 1] + '\xFF';
    UsedValues::Set before = next.extras;
    for (const char c : entry) {
      before = values_.after(before, static_cast<std::uint8_t>(c));
    }
    if (before != UsedValues::kNone) {
      UsedValues::Set others = UsedValues::kNone;
      for (const std::string& one : values_.texts(next.extras)) {
        if (!one.starts_with(entry)) others = values_.with(others, one);
      }
      next.extras = others;
      next.sum = schema_solver::minus(
          next.sum,
          schema_solver::print_of_value(values_.texts(before).front()));
    }
    next.extras =
        values_.with(next.extras, entry + schema_solver::nested_text(member));
  }
  next.sum = schema_solver::plus(next.sum, member);
  next.parts = intern(Part{.at = next.at,
                           .nested = nested,
                           .scalar = nested == 0 ? texts_.extend(0, value) : 0,
                           .next = next.parts});
  next.at = {};
  next.key = 0;
  return intern(next);
}

Fingerprint print_of(const Partial& value, const Fingerprint& sum) {
  return value.array ? schema_solver::print_of_array(sum, value.size)
                     : schema_solver::print_of_object(sum);
}

std::uint32_t PartialValues::with_item(std::uint32_t items,
                                       std::uint32_t value) {
  const auto [it, is_new] =
      item_of_.try_emplace(std::uint64_t{items} << 32 | value,
                           static_cast<std::uint32_t>(items_.size()));
  if (is_new) {
    items_.push_back({.value = value, .before = items});
    bytes_ += sizeof(Item) + 48;
  }
  return it->second;
}

UsedValues::Set PartialValues::scalars_in(std::uint32_t items) {
  std::vector<std::uint32_t> later;
  UsedValues::Set set = UsedValues::kNone;
  for (std::uint32_t at = items; at != 0; at = items_[at].before) {
    if (items_[at].scalars != kUnknown) {
      set = items_[at].scalars;
      break;
    }
    later.push_back(at);
  }
  for (auto at = later.rbegin(); at != later.rend(); ++at) {
    set = with_scalars(set, items_[*at].value);
    items_[*at].scalars = set;
  }
  return set;
}

// A depth-first walk over the parts of a value.  Invariant: each part of `path`
// but the last is the array or object in which the next one is.
UsedValues::Set PartialValues::with_scalars(UsedValues::Set set,
                                            std::uint32_t value) {
  struct Step {
    std::uint32_t of = 0;    // partials_
    std::uint32_t part = 0;  // parts_
  };
  std::vector<Step> path = {{value, partials_[value].parts}};
  while (!path.empty()) {
    const Step at = path.back();
    if (at.part == 0) {
      path.pop_back();
      if (!path.empty()) path.back().part = parts_[path.back().part].next;
      continue;
    }
    const Part part = parts_[at.part];
    if (part.nested != 0) {
      path.push_back({part.nested, partials_[part.nested].parts});
      continue;
    }
    // Invariant: `is` is the print of the value at `step`, and `hole` the print
    // that it has with the hole in place of the scalar; from the inside out.
    const ValueText scalar = texts_[part.scalar];
    Fingerprint is = schema_solver::print_of_value(scalar);
    Fingerprint hole = schema_solver::print_of_value(kHole);
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      base::spend_work();
      const Partial& outer = partials_[step->of];
      const Fingerprint& where = parts_[step->part].at;
      const Fingerprint sum = schema_solver::plus(
          schema_solver::minus(outer.sum,
                               schema_solver::print_of_member(where, is)),
          schema_solver::print_of_member(where, hole));
      is = print_of(outer, outer.sum);
      hole = print_of(outer, sum);
    }
    const std::string prefix = under(hole);
    for (const std::string& one : spellings(scalar)) {
      set = values_.with(set, prefix + one);
    }
    if (scalar[0] == '"') set = values_.with(set, kNoted + scalar);
    path.back().part = part.next;
  }
  return set;
}

}  // namespace parlance::json_recogniser
