#ifndef PARLANCE_SRC_JMESPATH_REACH_H_
#define PARLANCE_SRC_JMESPATH_REACH_H_

// Which parts of its input an expression can look at, told from its tree.

#include <cstdint>
#include <string>
#include <vector>

#include "jmespath/ast.h"

namespace parlance::jmespath {

enum class PlaceId : std::uint32_t {};

// A place in every input: the root, a member, the elements.
struct Place {
  bool all = false;
  bool shape = false;
  std::vector<std::pair<std::string, PlaceId>> fields = {};
  std::vector<std::pair<std::int64_t, PlaceId>> indices = {};
  // 0, the root, is below nothing and means none.
  PlaceId each = {};
  PlaceId values = {};
};

// The places below the root, which is the first.
std::vector<Place> places_of(const Expression& expression);

}  // namespace parlance::jmespath

#endif  // PARLANCE_SRC_JMESPATH_REACH_H_
