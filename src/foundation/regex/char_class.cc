// Sets of code points; char_class.h describes the representation.

#include "regex/char_class.h"

#include <algorithm>
#include <utility>

namespace parlance::regex {

namespace {

bool before(const CharRange& a, const CharRange& b) {
  return a.first < b.first;
}

}  // namespace

CharClass::CharClass(std::vector<CharRange> ranges)
    : ranges_(std::move(ranges)) {
  // Most sets are made of tables, which are sorted.
  if (!std::is_sorted(ranges_.begin(), ranges_.end(), before)) {
    std::sort(ranges_.begin(), ranges_.end(), before);
  }
  std::size_t kept = 0;
  for (const CharRange& range : ranges_) {
    if (kept > 0 && range.first <= ranges_[kept - 1].last + 1) {
      ranges_[kept - 1].last = std::max(ranges_[kept - 1].last, range.last);
    } else {
      ranges_[kept++] = range;
    }
  }
  ranges_.resize(kept);
}

CharClass CharClass::any() {
  CharClass all;
  all.ranges_.push_back({0, kMaxCodePoint});
  return all;
}

bool CharClass::contains(char32_t c) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), c,
                                [](char32_t value, const CharRange& range) {
                                  return value < range.first;
                                });
  return after != ranges_.begin() && c <= std::prev(after)->last;
}

void CharClass::add(CharRange range) {
  if (ranges_.empty() || range.first > ranges_.back().last + 1) {
    ranges_.push_back(range);
    return;
  }
  std::vector<CharRange> all = std::move(ranges_);
  all.insert(std::upper_bound(all.begin(), all.end(), range, before), range);
  *this = CharClass(std::move(all));
}

void CharClass::add(const CharClass& other) {
  std::vector<CharRange> all = std::move(ranges_);
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), other.ranges_.begin(), other.ranges_.end());
  std::inplace_merge(all.begin(), all.begin() + middle, all.end(), before);
  *this = CharClass(std::move(all));
}

CharClass CharClass::negated() const {
  CharClass result;
  char32_t next = 0;
  for (const CharRange& range : ranges_) {
    if (range.first > next) result.ranges_.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kMaxCodePoint) result.ranges_.push_back({next, kMaxCodePoint});
  return result;
}

CharClass CharClass::intersect(const CharClass& other) const {
  CharClass result;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    char32_t first = std::max(a->first, b->first);
    char32_t last = std::min(a->last, b->last);
    if (first <= last) result.ranges_.push_back({first, last});
    (a->last < b->last ? a : b)++;
  }
  return result;
}

}  // namespace parlance::regex
