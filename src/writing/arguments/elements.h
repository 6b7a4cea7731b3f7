#ifndef PARLANCE_SRC_ARGUMENTS_ELEMENTS_H_
#define PARLANCE_SRC_ARGUMENTS_ELEMENTS_H_

// Scans the elements of cohere_xml into a tree, independently of the schema:
//
//   <cofl:value name="a" type="dict">           0  a, dict
//     <cofl:value name="b" type="json">1</...>  1    b, json "1"
//   </cofl:value>
//   <cofl:value name="c" type="raw">x</...>     2  c, raw "x"
//
// The elements of minimax_m3_xml are scanned in the same way.  An element that
// contains elements is a kNest, any other element is a kLeaf, and every element
// has a name.
//
// The elements are stored in one vector, in the order in which they begin.  So
// a parent comes before its children.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "call_syntax/nested_scanner.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::arguments {

struct ArgumentElement {
  enum class Kind : std::uint8_t {
    kRaw,
    kJson,
    kDict,
    kList,
    kLeaf,
    kNest,
  };
  Kind kind = Kind::kRaw;
  bool named = false;
  std::string_view name = {};
  std::size_t begin = 0;
  std::size_t content_begin = 0;
  std::size_t content_end = 0;
  std::size_t end = 0;  // after the closing marker; 0 while it is open
  std::uint32_t parent = 0xFFFFFFFF;
  std::uint32_t index = 0;  // among its siblings
};

// The first position from `pos` on that is not white space.
std::size_t skip_space(std::string_view text, std::size_t pos);

// The value of a JSON text; nothing for any other text, also for NaN and the
// infinities.
std::optional<json::Value> parse_json(std::string_view text,
                                      const Limits& limits);

// Scans elements up to the first byte that belongs to none.  O(text.size()).
std::vector<ArgumentElement> scan_elements(call_syntax::NestedStyle style,
                                           std::string_view text);

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_ELEMENTS_H_
