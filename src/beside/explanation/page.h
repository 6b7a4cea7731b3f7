#ifndef PARLANCE_SRC_EXPLANATION_PAGE_H_
#define PARLANCE_SRC_EXPLANATION_PAGE_H_

// The files of viewer/, as cmake/EmbedPage.cmake makes one page of them.

#include <string_view>

namespace parlance::explanation {

// The page, with the place {FACTS}.
std::string_view page();

}  // namespace parlance::explanation

#endif  // PARLANCE_SRC_EXPLANATION_PAGE_H_
