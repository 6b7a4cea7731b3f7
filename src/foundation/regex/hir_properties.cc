// Each property is an attribute that a node synthesizes from its children.
// Children precede their parents, so one loop over the nodes computes it.

#include "regex/hir_properties.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace parlance::regex {
namespace {

std::uint32_t saturated(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, base::kUnbounded));
}

// base::kUnbounded times 0 is 0: zero repetitions of anything are empty.
std::uint32_t times(std::uint32_t length, std::uint32_t count) {
  if (length == 0 || count == 0) return 0;
  if (length == base::kUnbounded || count == base::kUnbounded) {
    return base::kUnbounded;
  }
  return saturated(std::uint64_t{length} * count);
}

std::uint32_t utf8_size(char32_t c) {
  return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

enum class Match : std::uint8_t { kShortest, kLongest };

// By node, the bytes of its shortest or longest match.  Invariant: of[i] is
// known for all nodes before the current node.  The shortest match of a node
// that matches nothing has kUnbounded, and the longest one 0.
std::vector<std::uint32_t> lengths(const Hir& hir, Match match) {
  const bool longest = match == Match::kLongest;
  const std::uint32_t none = longest ? 0 : base::kUnbounded;
  std::vector<std::uint32_t> of;
  of.reserve(hir.nodes.size());
  for (const HirNode& node : hir.nodes) {
    std::uint32_t length = 0;
    switch (node.kind) {
      case HirKind::kLiteral:
        length = saturated(node.text.size());
        break;
      case HirKind::kNothing:
        length = none;
        break;
      case HirKind::kClass: {
        const auto& ranges = node.char_class.ranges();
        length = utf8_size(longest ? ranges.back().last : ranges.front().first);
        break;
      }
      case HirKind::kConcat:
        for (HirId child : node.children) {
          length = saturated(std::uint64_t{length} + of[child]);
        }
        break;
      case HirKind::kAlternation:
      case HirKind::kConditional:
        length = none;
        for (HirId child : node.children) {
          length = longest ? std::max(length, of[child])
                           : std::min(length, of[child]);
        }
        break;
      case HirKind::kRepeat:
        length = times(of[node.children[0]], longest ? node.max : node.min);
        break;
      case HirKind::kCapture:
      case HirKind::kAtomic:
        length = of[node.children[0]];
        break;
      case HirKind::kBackref:
        length = longest ? base::kUnbounded : 0;
        break;
      case HirKind::kEmpty:
      case HirKind::kAssert:
      case HirKind::kLook:
        break;
    }
    of.push_back(length);
  }
  return of;
}

}  // namespace

std::uint32_t min_length(const Hir& hir) {
  return lengths(hir, Match::kShortest).back();
}
std::uint32_t max_length(const Hir& hir) {
  return lengths(hir, Match::kLongest).back();
}

std::uint32_t lookbehind_bytes(const Hir& hir) {
  std::vector<std::uint32_t> longest = lengths(hir, Match::kLongest);
  std::vector<std::uint32_t> of;
  of.reserve(hir.nodes.size());
  for (const HirNode& node : hir.nodes) {
    std::uint32_t most = 0;
    for (HirId child : node.children) most = std::max(most, of[child]);
    if (node.kind == HirKind::kLook && node.behind) {
      most = saturated(std::uint64_t{most} + longest[node.children[0]]);
    }
    // An assertion reads the character before it, which has at most four bytes.
    constexpr std::uint32_t kOneCharacter = 4;
    if (node.kind == HirKind::kAssert) most = std::max(most, kOneCharacter);
    of.push_back(most);
  }
  return of.back();
}

bool can_be_empty(const Hir& hir) { return min_length(hir) == 0; }

// Walks down from the root, always into the part that comes first; `next` is
// the stack of parts whose text follows `prefix`.  Assertions consume no byte,
// so the part after an assertion continues the prefix.
std::string required_prefix(const Hir& hir) {
  std::string prefix;
  std::vector<HirId> next{HirId(hir.nodes.size() - 1)};
  while (!next.empty()) {
    const HirNode& node = hir.nodes[next.back()];
    next.pop_back();
    switch (node.kind) {
      case HirKind::kLiteral:
        prefix += node.text;
        break;
      case HirKind::kEmpty:
      case HirKind::kAssert:
      case HirKind::kLook:
        break;
      case HirKind::kConcat:
        next.insert(next.end(), node.children.rbegin(), node.children.rend());
        break;
      case HirKind::kCapture:
      case HirKind::kAtomic:
        next.push_back(node.children[0]);
        break;
      case HirKind::kRepeat:
        if (node.min == 0) return prefix;
        // The first repetition is part of every match.  The text after it
        // is unknown, so the rest of the stack is dropped.
        next.assign(1, node.children[0]);
        break;
      default:
        return prefix;
    }
  }
  return prefix;
}

}  // namespace parlance::regex
