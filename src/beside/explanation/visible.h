#ifndef PARLANCE_SRC_EXPLANATION_VISIBLE_H_
#define PARLANCE_SRC_EXPLANATION_VISIBLE_H_

// Text of a response in HTML.

#include <string>
#include <string_view>

namespace parlance::explanation {

// Whether a character would not be seen, or would change how the characters
// beside it are seen: controls, marks of direction, characters without a look.
// Joiners (U+200C, U+200D) are not among them, because scripts and emoji need
// them.  page.js has the same list.
bool is_unseen(char32_t c);

// Appends `text` as HTML text: '<', '>', '&' and quotation marks are
// references, a byte that is not UTF-8 is \xNN, an unseen character U+NNNN, and
// line ends and tabs are \n, \r and \t.
void append_html(std::string& out, std::string_view text);

}  // namespace parlance::explanation

#endif  // PARLANCE_SRC_EXPLANATION_VISIBLE_H_
