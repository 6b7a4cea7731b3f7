#ifndef PARLANCE_SRC_CFG_RECOGNISER_COMMON_PARTS_H_
#define PARLANCE_SRC_CFG_RECOGNISER_COMMON_PARTS_H_

// Equal parts of sequences: a value, and the literal that ends it.
//
//   "<parameter=city>" text "</parameter>" ...
//   "<parameter=day>"  text "</parameter>" ...      part 0: text "</parameter>"
//
// The elements of a tag have few kinds of values and many names.  A network
// calls such a part as an unnamed rule.  Then a position inside the value is
// the same state in each element, only with another context, and the masks of
// the first element serve all others (mask-equivalence, cfg_recogniser.h), up
// to the tokens that read beyond the literal.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "recogniser/recogniser.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

class CommonParts {
 public:
  // Complexity: O(rules.exprs).
  CommonParts(const rules::Rules& rules,
              std::span<recogniser::Recogniser* const> schemas);

  struct Part {
    std::uint32_t first = 0;   // of the children of the sequence: the value
    std::uint32_t number = 0;  // equal parts have equal numbers
  };
  // The part of the sequence `id` that other sequences have as well; null if
  // there is none.
  const Part* of(rules::ExprId id) const;

 private:
  // Expressions that are compared; a larger value has no part.
  static constexpr std::size_t kMostExprs = 16;

  void find_part(rules::ExprId sequence);
  bool write_value(rules::ExprId value, std::string& key) const;
  void write_literal(const rules::Expr& literal, std::string& key) const;

  const rules::Rules& rules_;
  const std::span<recogniser::Recogniser* const> schemas_;
  std::unordered_map<rules::ExprId, Part> part_of_;  // by sequence
  std::unordered_map<std::string, std::uint32_t> number_of_;
  std::vector<std::uint32_t> count_;  // by number: sequences
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_COMMON_PARTS_H_
