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
//
// In a format file a value may contain what looks like its tail, so there the
// tail gets a look-ahead at what may follow an element:
//
//   </parameter>(?=\s*(?:<parameter=[^>]+>|</parameter>|</function>|\Z))

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "automata/dfa.h"
#include "call_syntax/nested_scanner.h"
#include "parlance/limits.h"
#include "regex/hir.h"

namespace parlance::parse {

struct ElementFinder {
  // Its groups are the key and those below.  If `strict`, the
  // second pattern is a tail that stands alone.
  std::shared_ptr<const automata::Automaton> head;
  std::shared_ptr<const automata::Automaton> tail;

  // Which group of the head types the value, which one takes part if the head
  // is damaged, and which one if the value is an object with all arguments; 0:
  // none.
  std::size_t type = 0;
  std::size_t damage = 0;
  std::size_t whole = 0;

  // Of a format file's calls: a tail counts only before what may follow an
  // element, and nothing else stands between elements.  `tail` is for the text
  // of a region, `tail_in_stream` for a text in which the region's close, or a
  // text that ends the response, stands in place of the end.
  bool strict = false;
  std::shared_ptr<const automata::Automaton> tail_in_stream;
  // Each tail contains one of these texts, unless it has no text that tells it
  // from a value.  Without halves: the text with which an element ends.
  std::vector<std::string> closers;
  // The texts of the type that say that the value is JSON.
  std::vector<std::string> json_types;

  explicit operator bool() const { return head != nullptr && tail != nullptr; }
};

// What a format file says about the elements of its calls.
struct ElementContext {
  const regex::Hir* close = nullptr;  // of the region
  std::vector<std::string> turn_end;
};

// `type`: the group that types the value, or "".  It must be in the head, as
// groups "damage" and "whole" must.  `context`: null for a bare template.
//
// Without halves if the pattern does not have this form: parts in a row, one of
// which is the group "value" of any characters, as few as possible, and a part
// before it contains the group "key"; or if our automata do not run the halves.
ElementFinder compile_element_finder(const regex::Hir& pattern,
                                     std::string_view type,
                                     const ElementContext* context,
                                     const Limits& limits,
                                     const std::vector<automata::Mark>& marks);

// The same for nested elements, to find where a region of them ends.  An
// element that contains others is read as if its value ended with the first of
// them: after that its own end is a tail too many, as in all of these regions.
ElementFinder compile_nested_finder(call_syntax::NestedStyle style,
                                    const ElementContext& context,
                                    const Limits& limits,
                                    const std::vector<automata::Mark>& marks);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_ELEMENT_FINDER_H_
