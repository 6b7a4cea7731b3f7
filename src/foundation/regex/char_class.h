#ifndef PARLANCE_SRC_REGEX_CHAR_CLASS_H_
#define PARLANCE_SRC_REGEX_CHAR_CLASS_H_

// A set of code points as sorted, disjoint, non-adjacent ranges.
//
// The universe is U+0000..U+10FFFF with the surrogates included: responses may
// hold lone surrogates in three bytes each (see parlance/json.h), and a
// negated class matches them as it does in Python.

#include <cstddef>
#include <span>
#include <vector>

namespace parlance::regex {

inline constexpr char32_t kMaxCodePoint = 0x10FFFF;

struct CharRange {
  char32_t first = 0;
  char32_t last = 0;  // inclusive
  bool operator==(const CharRange&) const = default;
};

class CharClass {
 public:
  CharClass() = default;
  // `ranges` in any order, overlapping or not.
  explicit CharClass(std::vector<CharRange> ranges);
  static CharClass any();  // every code point

  std::span<const CharRange> ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  bool contains(char32_t c) const;  // O(log n)

  void add(CharRange range);
  void add(const CharClass& other);
  CharClass negated() const;
  CharClass intersect(const CharClass& other) const;

  bool operator==(const CharClass&) const = default;

 private:
  std::vector<CharRange> ranges_;
};

}  // namespace parlance::regex

#endif  // PARLANCE_SRC_REGEX_CHAR_CLASS_H_
