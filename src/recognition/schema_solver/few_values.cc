#include "schema_solver/few_values.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/work.h"

namespace parlance::schema_solver {
namespace {

// `number` (digits after an optional minus) plus `more`.
std::string add_to(std::string_view number, std::int64_t more) {
  // Numbers of at most 18 digits are added as such.  To a longer one only the
  // length of a text is added, which is shorter: the sign stays.
  constexpr std::size_t kSmall = 18;
  const bool minus = number.starts_with('-');
  std::string digits(number.substr(minus ? 1 : 0));
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.size() <= kSmall) {
    const std::int64_t value = digits.empty() ? 0 : std::stoll(digits);
    return std::to_string((minus ? -value : value) + more);
  }
  std::int64_t carry = minus ? -more : more;
  for (std::size_t i = digits.size(); i-- > 0 && carry != 0;) {
    std::int64_t digit = digits[i] - '0' + carry % 10;
    carry /= 10;
    if (digit < 0) digit += 10, --carry;
    if (digit > 9) digit -= 10, ++carry;
    digits[i] = static_cast<char>('0' + digit);
  }
  if (carry > 0) digits.insert(0, std::to_string(carry));
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return (minus ? "-" : "") + digits;
}

}  // namespace

// Beyond the exponents of base::Decimal, the digits and the exponent are
// compared as texts: digits without zeros at either end, and the exponent of
// the last of them.
ValueText number_value(std::string_view number) {
  if (const auto value = base::Decimal::from_json(number)) {
    return value->to_string();
  }
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  const bool minus = number.starts_with('-');
  std::string digits(number.substr(minus ? 1 : 0, e - (minus ? 1 : 0)));
  std::int64_t exponent = 0;
  if (const std::size_t point = digits.find('.'); point != digits.npos) {
    exponent -= static_cast<std::int64_t>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return "0";
  const std::size_t end = digits.find_last_not_of('0') + 1;
  exponent += static_cast<std::int64_t>(digits.size() - end);
  digits.resize(end);
  std::string_view written = number.substr(std::min(e + 1, number.size()));
  if (written.starts_with('+')) written.remove_prefix(1);
  return (minus ? "-" : "") + digits + 'e' + add_to(written, exponent);
}

std::size_t DifferentValues::add(const FewValues& set) {
  const auto [it, is_new] = numbers_.try_emplace(&set, sets_.size());
  if (is_new) sets_.push_back(&set);
  return it->second;
}

void DifferentValues::make_classes() {
  if (classified_ == sets_.size()) return;
  classified_ = sets_.size();
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> in;
  std::vector<const ValueText*> order;
  for (std::uint32_t set = 0; set < sets_.size(); ++set) {
    base::spend_work(1 + sets_[set]->values.size() / 4);
    for (const ValueText& value : sets_[set]->values) {
      if (used_(value)) continue;
      std::vector<std::uint32_t>& list = in[value];
      if (list.empty()) order.push_back(&value);
      list.push_back(set);
    }
  }
  classes_.clear();
  classes_of_.assign(sets_.size(), {});
  std::map<std::vector<std::uint32_t>, ClassId> ids;
  for (const ValueText* value : order) {
    const auto [it, is_new] =
        ids.try_emplace(in.at(*value), static_cast<ClassId>(classes_.size()));
    if (is_new) {
      for (const std::uint32_t set : it->first) {
        classes_of_[set].push_back(it->second);
      }
      classes_.push_back({it->first, {}});
    }
    classes_[it->second].values.push_back(value);
  }
}

// Whether each set with a wanted value has `more` beyond what all sets want
// together.  Then the order of drawing does not matter.
bool DifferentValues::plenty(const std::vector<std::uint64_t>& wanted,
                             std::uint64_t more) const {
  const std::uint64_t all =
      std::accumulate(wanted.begin(), wanted.end(), most_used_ + more);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] > 0 && sets_[i]->values.size() < all) return false;
  }
  return true;
}

// Draws the wanted values, as far as possible.
//
// Invariant: the flow takes from the classes what the sets before `i` want, and
// a part of what set i wants.  An augmenting path leads from a set to a class
// with something left: each set of the path takes from the class after it what
// it gives back to the class before.  A breadth-first search finds it.
bool DifferentValues::draw(const std::vector<std::uint64_t>& wanted,
                           Flow& flow) const {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  constexpr ClassId kNoClass{kNone};
  // by[c]: the set from which class c was reached.  via[s]: the class from
  // which set s was reached.  Between searches all are kNone and kNoClass.
  std::vector<std::uint32_t> by(classes_.size(), kNone);
  std::vector<ClassId> via(wanted.size(), kNoClass);
  std::vector<std::uint32_t> sets;
  std::vector<ClassId> seen;
  flow.taken.resize(wanted.size());
  for (const Class& one : classes_) flow.left.push_back(one.values.size());
  for (std::uint32_t i = 0; i < wanted.size(); ++i) {
    for (std::uint64_t need = wanted[i]; need > 0;) {
      sets = {i};
      std::optional<ClassId> end;
      for (std::size_t at = 0; at < sets.size() && !end; ++at) {
        base::spend_work();
        for (const ClassId c : classes_of_[sets[at]]) {
          if (by[c] != kNone) continue;
          by[c] = sets[at];
          seen.push_back(c);
          if (flow.left[c] > 0) {
            end = c;
            break;
          }
          for (const std::uint32_t other : classes_[c].sets) {
            if (other >= wanted.size() || other == i ||
                via[other] != kNoClass) {
              continue;
            }
            const auto has = flow.taken[other].find(c);
            if (has == flow.taken[other].end() || has->second == 0) continue;
            via[other] = c;
            sets.push_back(other);
          }
        }
      }
      if (!end) return false;
      std::uint64_t amount = std::min(need, flow.left[*end]);
      for (ClassId c = *end; by[c] != i; c = via[by[c]]) {
        amount = std::min(amount, flow.taken[by[c]].at(via[by[c]]));
      }
      flow.left[*end] -= amount;
      for (ClassId c = *end;; c = via[by[c]]) {
        flow.taken[by[c]][c] += amount;
        if (by[c] == i) break;
        flow.taken[by[c]].at(via[by[c]]) -= amount;
      }
      need -= amount;
      for (const ClassId c : seen) by[c] = kNone;
      for (const std::uint32_t set : sets) via[set] = kNoClass;
      seen.clear();
    }
  }
  return true;
}

bool DifferentValues::possible(const std::vector<std::uint64_t>& wanted) {
  if (plenty(wanted, 0)) return true;
  make_classes();
  Flow flow;
  return draw(wanted, flow);
}

// A class can spare a value if one is left, or if a set that takes from it can
// take from another class that can spare one.
std::vector<ValueText> DifferentValues::critical(
    const std::vector<std::uint64_t>& wanted) {
  if (plenty(wanted, 1)) return {};
  make_classes();
  Flow flow;
  draw(wanted, flow);
  std::vector<bool> spares(classes_.size());
  std::vector<bool> moves(wanted.size());  // the set can take from another
  std::vector<ClassId> pending;
  const auto spare = [&](ClassId c) {
    if (spares[c]) return;
    spares[c] = true;
    pending.push_back(c);
  };
  for (ClassId c; c < classes_.size(); ++c) {
    if (flow.left[c] > 0) spare(c);
  }
  while (!pending.empty()) {
    const ClassId at = pending.back();
    pending.pop_back();
    for (const std::uint32_t set : classes_[at].sets) {
      if (set >= wanted.size() || moves[set]) continue;
      moves[set] = true;
      for (const auto& [c, amount] : flow.taken[set]) {
        if (amount > 0) spare(c);
      }
    }
  }
  std::vector<ValueText> out;
  for (ClassId c; c < classes_.size(); ++c) {
    if (spares[c]) continue;
    for (const ValueText* value : classes_[c].values) out.push_back(*value);
  }
  return out;
}

}  // namespace parlance::schema_solver
