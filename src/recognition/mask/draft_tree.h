#ifndef PARLANCE_SRC_MASK_DRAFT_TREE_H_
#define PARLANCE_SRC_MASK_DRAFT_TREE_H_

// The links of a draft tree: see parlance::check_draft_tree().

#include <cstdint>
#include <optional>
#include <span>

#include "parlance/error.h"

namespace parlance::mask {

std::optional<Error> check_draft_tree(
    std::span<const std::int64_t> first_child,
    std::span<const std::int64_t> next_sibling,
    std::span<const std::int64_t> tokens);

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_DRAFT_TREE_H_
