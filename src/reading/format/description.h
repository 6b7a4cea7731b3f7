#ifndef PARLANCE_SRC_FORMAT_DESCRIPTION_H_
#define PARLANCE_SRC_FORMAT_DESCRIPTION_H_

// A loaded format: the loader's result, which the parser compiles.
//
//   template text --json--> values --load.cc--> Description
//
// A description is data only.  The parse room compiles its automata on first
// use and stores them in FormatImpl::parse_program, so that all parsers of one
// format share them.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/once.h"
#include "format/family.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "regex/pattern.h"

namespace parlance::format {

// The text that opens or closes a region, or that a response starts after.
struct Delimiter {
  enum class Kind : std::uint8_t { kNone, kLiterals, kPattern };
  Kind kind = Kind::kNone;
  // kLiterals: without duplicates, in the order of the template.
  std::vector<std::string> literals = {};
  // kPattern: Pattern::source is the pattern as written; it is parsed with
  // DOTALL.  kLiterals: the hir of the set of literals; source and pcre2 are
  // empty.
  regex::Pattern pattern = {};

  explicit operator bool() const { return kind != Kind::kNone; }
};

// ORDER: ContentKind, names in content.cc
enum class ContentKind : std::uint8_t {
  kText,
  kInt,
  kFloat,
  kBool,
  kJson,
  kXmlInline,
  kKvLines,
  kPythonCallList,
};
// "text", "int", ..., "kv-lines", "python-call-list".
std::string_view to_string(ContentKind kind);

// A content parser with its arguments.
struct Content {
  ContentKind kind = ContentKind::kText;
  bool strip = true;  // text, int, float, bool, kv-lines, fallback of json
  // json
  bool allow_non_json = false;
  bool unquoted_keys = false;
  std::vector<std::pair<std::string, std::string>> string_delims = {};
  // xml-inline
  regex::Pattern tag_pattern = {};
  bool merge_duplicates = false;
  // kv-lines
  std::string line_separator = "\n";
  std::string key_separator = ":";
  // xml-inline, kv-lines: how values are parsed; null: the raw text.
  std::shared_ptr<const Content> value_parser = nullptr;

  // Set for a value parser that cannot work, e.g. one of an unknown name.  As
  // in upstream it fails when it gets its first value; regions without values
  // are read.
  std::optional<Error> fault = std::nullopt;

  // Whether the text of chunks differs from the value.
  bool dirty() const { return kind >= ContentKind::kJson; }
};

// A transform: a JSON value in which some strings are placeholders.
struct Transform {
  enum class Kind : std::uint8_t { kConstant, kPlaceholder, kList, kObject };
  Kind kind = Kind::kConstant;
  json::Value constant = {};           // kConstant
  std::vector<std::string> path = {};  // kPlaceholder: root, then keys
  std::vector<Transform> items = {};   // kList
  std::vector<std::pair<std::string, Transform>> members = {};  // kObject
};

// Indexed by FieldId (format/family.h).
struct Field {
  std::string name;           // in events and messages
  std::string template_name;  // in the template
  Delimiter open;             // kNone: the implicit field
  Delimiter close;            // kNone: runs to the end of the stream
  Content content;
  bool repeats = false;
  std::optional<std::string> join = std::nullopt;
  bool optional = true;
  std::optional<Transform> transform = std::nullopt;
  bool transform_each = false;
  // The regions are calls of this field, in a second notation; `name` is that
  // of the field ("as" in a format file).
  std::optional<FieldId> values_of = std::nullopt;
};

struct Description {
  json::Value defaults = json::Value(json::Object());
  std::vector<Field> fields = {};  // in the order of the template
  std::optional<FieldId> implicit = std::nullopt;
  Delimiter start_anchor = {};
  // For a format file without an implicit field: `markup` (key "markup" of the
  // file) and the start anchor may come between regions.  Any other text there,
  // except white space, is reported as unclaimed.
  bool reports_unclaimed = false;
  Delimiter markup = {};
  // Derived (interruption.h): start anchors and markup that interrupt a region.
  std::vector<Delimiter> interrupting = {};
};

// An entry of "marks" of a format file: added tokens that are marks although no
// literal of a delimiter spells them.
struct ListedMark {
  // Matches the whole spelling.  Its source is empty for an entry that is a
  // literal.
  regex::Pattern pattern = {};
  std::string literal = {};
};

struct FormatImpl {
  std::string name = {};
  std::vector<std::string> models = {};
  bool recovers = false;
  // What it writes is read back: the tests of the project say so.
  bool built_in = false;
  std::vector<ListedMark> marks = {};  // "marks" of a format file
  Family family = {};                  // of a bare template: default
  Limits limits = {};
  json::Value file = {};               // as read, for to_json()
  json::Value response_template = {};  // as read, for template_json()
  Description description = {};

  // Whether the chunks of a field are not parts of its value (Event::dirty).  A
  // bare template says what transformers says, which asks the content alone.
  bool dirty(FieldId field) const {
    const Field& of = description.fields[field];
    if (!recovers) return of.content.dirty();
    return of.content.kind != ContentKind::kText || of.transform ||
           family.reading.fields[field].syntax != ValueSyntax::kTemplate;
  }

  // Set by the parse room on first use, never changed afterwards.
  mutable base::Once program_once = {};
  mutable std::shared_ptr<const void> parse_program = nullptr;

  // The same for the inversion room.
  mutable base::Once inversion_once = {};
  mutable std::shared_ptr<const void> inversion_plan = nullptr;
};

// Reads a bare response template.  `source` is its JSON text.
Result<Description> load_template(std::string_view source,
                                  const Limits& limits);

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_DESCRIPTION_H_
