#ifndef PARLANCE_SRC_PARSE_ELEMENT_FINDER_H_
#define PARLANCE_SRC_PARSE_ELEMENT_FINDER_H_

// The two halves of a tag_pattern, for reading an element while it is being
// written.
//
//   <parameter=(?P<key>[^>]+)>(?P<value>.*?)</parameter>
//   [head                    ]              [tail      ]
//
// The value is whatever comes between the first match of the head and the next
// match of the tail.  So the key is known when the head has matched, and all
// text before a possible tail belongs to the value.

#include <memory>
#include <string_view>
#include <vector>

#include "automata/dfa.h"
#include "parlance/limits.h"
#include "regex/hir.h"

namespace parlance::parse {

struct ElementFinder {
  // Its groups are the key and, if there is one, the type.
  std::shared_ptr<const automata::Automaton> head;
  std::shared_ptr<const automata::Automaton> tail;

  explicit operator bool() const { return head != nullptr && tail != nullptr; }
};

// `type`: the group that types the value, or "".  It must be in the head.
//
// Empty if the pattern does not have this form: parts in a row, one of which is
// the group "value" of any characters, as few as possible, and a part before it
// contains the group "key"; or if our automata do not run the halves.
ElementFinder compile_element_finder(const regex::Hir& pattern,
                                     std::string_view type,
                                     const Limits& limits,
                                     const std::vector<automata::Mark>& marks);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_ELEMENT_FINDER_H_
