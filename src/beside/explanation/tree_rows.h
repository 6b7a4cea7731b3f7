#ifndef PARLANCE_SRC_EXPLANATION_TREE_ROWS_H_
#define PARLANCE_SRC_EXPLANATION_TREE_ROWS_H_

// The rows of an explanation by the tree of a structural tag, format by format.
//
//   0..7    tag /elements/0                 <think>
//   7..10     any_text /elements/0/content  Hm.
//   10..18  its end                         </think>
//   18..22  json_schema /elements/1         true

#include "parlance/explain.h"
#include "parlance/json.h"

namespace parlance::explanation {

// `tree` is what TagParser::tree() gives for the text of `out`, and `out` has
// the message: the regions of its parts give the rows their fields.
// Complexity: O(nodes of the tree * log parts).
void add_tree_rows(const json::Value& tree, Explanation& out);

}  // namespace parlance::explanation

#endif  // PARLANCE_SRC_EXPLANATION_TREE_ROWS_H_
