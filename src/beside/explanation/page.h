#ifndef PARLANCE_SRC_EXPLANATION_PAGE_H_
#define PARLANCE_SRC_EXPLANATION_PAGE_H_

// The files of page/, as cmake/EmbedPage.cmake embeds them.
//
// The skeleton has the places {TITLE} (twice), {STYLE}, {FACTS} and {SCRIPT}.
// Its security policy has the hashes of the style sheet and of the script, so
// both must be put in as they are.

#include <string_view>

namespace parlance::explanation {

std::string_view page_skeleton();
std::string_view page_style();
std::string_view page_script();

}  // namespace parlance::explanation

#endif  // PARLANCE_SRC_EXPLANATION_PAGE_H_
