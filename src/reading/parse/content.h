#ifndef PARLANCE_SRC_PARSE_CONTENT_H_
#define PARLANCE_SRC_PARSE_CONTENT_H_

// From the text of a region to its value: the content parsers of
// response templates (text, int, float, bool, json, xml-inline, kv-lines,
// python-call-list), then the transform.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call_syntax/json_scanner.h"
#include "format/description.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parse/delimiter_program.h"
#include "parse/element_scanner.h"
#include "parse/marked_text.h"
#include "parse/repeated_part.h"

namespace parlance::parse {

// The value of a region, or why it has none.  The error's code says which of
// Python's exceptions upstream raises: kInvalidContent ValueError,
// kMissingPlaceholder and kUnknownName KeyError, kContentType TypeError,
// kContentAttribute AttributeError, kTooDeep RecursionError.
using ContentResult = Result<json::Value>;

// `text` for an error message: quoted, and cut if it is long.
std::string shown(std::string_view text);

// Whether `content` is JSON in a lax dialect.
inline bool is_lax(const format::Content& content) {
  return content.kind == format::ContentKind::kJson &&
         (content.unquoted_keys || !content.string_delims.empty());
}

// The dialect of `content`, which is_lax(), as upstream reads it.
call_syntax::JsonDialect json_dialect(const format::Content& content,
                                      const DelimiterProgram& program);

// The text of a region of JSON in a lax dialect, rewritten as plain JSON.
// Nothing if it contains characters that the rewriting reserves.
std::optional<std::string> rewritten_json(const MarkedText& marked,
                                          const format::Content& content,
                                          const DelimiterProgram& program);

// What is wrong with a stretch of a text whose value counts.
struct Remark {
  Span bytes;
  std::string_view what;  // static
};

// Parses `text` by `content`.  `cut`: the end of the response cut the region
// off, so its value is valid only if it accounts for all of the text
// (recovery). Complexity: O(text.size()) for patterns that our automata run.
//
// `remarks`, if not null, receives what the value does not account for, without
// white space at its ends: text between the tags of xml-inline, and lines of
// kv-lines without a separator; and an object in place of elements.  At most
// kMostRemarks.
//
// `once`, if not null: JSON that gives a part of a call twice is an error.
//
// `elements`, if not null: the tokens of the text, which need not be read
// again.
ContentResult parse_content(
    const MarkedText& text, const format::Content& content,
    const DelimiterProgram& program, const Limits& limits, bool cut = false,
    std::vector<Remark>* remarks = nullptr, const CallContent* once = nullptr,
    const std::vector<ElementToken>* elements = nullptr);
inline constexpr std::size_t kMostRemarks = 100;

// Parses the value of an element or a line of `parent`, which is xml-inline or
// kv-lines, with the value parser of `parent`.  `null`: the group "value" took
// no part in the match.
ContentResult parse_member_value(const MarkedText& raw, bool null,
                                 const format::Content& parent,
                                 const DelimiterProgram& program,
                                 const Limits& limits);

using Captures = std::span<const std::pair<std::string_view, std::string_view>>;

// Applies the transform of `field` (which has one) to a parsed value.
ContentResult apply_transform(const format::Field& field, json::Value value,
                              Captures captures);

// Applies it to one item: of a list if the field has transform_each, else to
// the whole content.  `by_name`: placeholders may name the members of the item
// in any case.  `optional_id`: the member "id" of the result is left out if it
// refers to something that is not there.
struct ItemOptions {
  bool by_name = false;
  bool optional_id = false;
};
ContentResult apply_transform_to_item(const format::Field& field,
                                      const json::Value& item,
                                      Captures captures, ItemOptions options);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_CONTENT_H_
