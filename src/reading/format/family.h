#ifndef PARLANCE_SRC_FORMAT_FAMILY_H_
#define PARLANCE_SRC_FORMAT_FAMILY_H_

// The key "parlance" of a family file: what a response template cannot say.
//
//   parlance.read   how a response is read, beyond the template     -> Reading
//   parlance.write  how a response is written: for the structural   -> Writing
//                   tag of a request and for rendering
//
// The loader (load_family.cc) checks both and converts names of fields to ids.
// docs/reference/format-files.md is the description for authors.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "format/argument_layout.h"
#include "parlance/json.h"
#include "regex/pattern.h"

namespace parlance::format {

using FieldId = base::Id<struct Field>;

// ---- read ----

// Where a region ends.
enum class RegionEnd : std::uint8_t {
  kFirst,  // at the first match of its close delimiter, as upstream
  kValue,  // with its value: a close delimiter in a string is text, and the
           // region ends after its last value even if no close follows
};

// What the text of a region of calls is.
enum class ValueSyntax : std::uint8_t {
  kTemplate,      // what "content" of the template says
  kJson,          // JSON
  kPython,        // a JSON value or a Python literal
  kPythonCalls,   // f(a=1, b='x'): one call, a list of calls, or a call a line
  kCohereXml,     // nested <cofl:value name= type=> elements
  kMinimaxM3Xml,  // nested elements named after the arguments
};

// How many values a region has.
enum class ValueCount : std::uint8_t {
  kTemplate,  // a list if the template has "transform_each", else one
  kOne,
  kList,      // one JSON list of calls, or one call
  kSequence,  // values one after another, with `separator` between them
};

// How an argument's text becomes a value, for arguments written as elements
// (content "xml-inline").
struct ArgumentReading {
  // Line feeds that belong to the markup on each side of a value: 0 or 1.
  std::uint32_t line_feeds = 0;
  // A value whose schema asks for a list or an object, or that is typed as
  // "json", may be a Python literal.
  bool python = false;
  // The named group of tag_pattern that types the value, and the types of its
  // texts: "string" (raw text) or "json".  Empty: typed by the tool's schema.
  std::string type_capture = {};
  std::vector<std::pair<std::string, std::string>> types = {};
  enum class Decode : std::uint8_t { kNone, kXml, kCdata };
  Decode decode = Decode::kNone;
  // Names of arguments have references (&quot; &amp;).
  bool xml_keys = false;
};

// Names under which a call is found in a JSON value; the first that the value
// has counts.  Empty: what the template's transform names.
struct MemberNames {
  std::vector<std::string> name = {};
  std::vector<std::string> arguments = {};
  std::vector<std::string> id = {};
  // The arguments may be a string that contains the JSON text of an object.
  bool as_text = false;
  // {"f": {...}}: the only key is the name, its value the arguments.
  bool only_key = false;
};

// White space beside the delimiters of a region that belongs to the format and
// not to a payload.  At each place the longest literal that stands there is
// left out, once.
struct Layout {
  std::vector<std::string> before = {};  // ends the text before the region
  std::vector<std::string> after = {};   // begins the text after the region
  std::vector<std::string> first = {};   // begins the text of the region
  std::vector<std::string> last = {};    // ends the text of the region

  bool empty() const {
    return before.empty() && after.empty() && first.empty() && last.empty();
  }
};

// parlance.read.FIELD.
struct FieldReading {
  RegionEnd ends = RegionEnd::kFirst;
  // Derived (interruption.h).  The opener of one of these fields ends the
  // region if the opener is certain or begins a line.
  std::vector<FieldId> interrupted_by = {};
  // Of calls: an opener that begins with none of these is only tolerated.
  // Empty: none is.
  std::vector<std::string> wrappers = {};
  // Of calls: what follows an opener, white space apart.  Empty: any text.
  std::vector<std::string> body = {};
  ValueSyntax syntax = ValueSyntax::kTemplate;
  ValueCount count = ValueCount::kTemplate;
  std::string separator = {};  // of kSequence
  ArgumentReading arguments = {};
  MemberNames members = {};
  // The text of a region that turns out not to be a call is content.
  bool otherwise_content = false;
  std::vector<std::string> drop = {};  // texts of no field
  Layout layout = {};
  // "as": the field that the values belong to.  Empty: this one.
  std::string as = {};
  // Whether white space around the text of the region is left out; overrides
  // content_args.strip of the template.
  std::optional<bool> strip = std::nullopt;
};

struct Reading {
  std::vector<FieldReading> fields = {};  // by FieldId
  // Texts that may end a response.  Never text of a field.
  std::vector<std::string> turn_end = {};
  // Spellings of control tokens: the literals of "marks".
  std::vector<std::string> control = {};
};

// ---- write ----

// One part of a layout of `write`.
struct WritePart {
  enum class Kind : std::uint8_t {
    kText,       // "..."                   marker text
    kPayload,    // {"text": true}          the text of the field
    kName,       // {"name": "raw"|"json"}  the name of the tool
    kArguments,  // {"arguments": ...}      the arguments
    kIndex,      // {"index": first}        the number of the call
    kId,         // {"id": pattern}         the id of the call
    kAny,        // {"any": [parts...]}     one of several
    kOptional,   // {"optional": parts}
  };
  Kind kind = Kind::kText;
  std::string text = {};          // kText; kId: the pattern
  bool json = false;              // kName: inside a JSON string
  std::int64_t first = 0;         // kIndex
  ArgumentLayout arguments = {};  // kArguments
  // kArguments: the arguments are the JSON text of a string.
  bool as_text = false;
  std::vector<std::vector<WritePart>> choices = {};  // kAny; kOptional: one
};
using WriteParts = std::vector<WritePart>;

// One spelling of a field.
struct WriteLayout {
  WriteParts parts = {};
  // Of repeated fields: before the first, between two, and what encloses all.
  // A list of calls in JSON has its brackets in the section.
  WriteParts before = {};
  WriteParts between = {};
  WriteParts section_begin = {};
  WriteParts section_end = {};
  // What is written if the field is switched off (reasoning "off").
  WriteParts off = {};
  // Only for a request with response_format.
  bool for_response_format = false;
};

struct WriteStep {
  FieldId field{0};
  bool optional = false;  // "FIELD?"
  bool repeats = false;   // "FIELD*"
};

// "order": a fixed order of fields, or messages in any order.
struct WriteMessages {
  std::vector<FieldId> fields = {};
  WriteParts between = {};
  std::vector<FieldId> last = {};  // which fields may be the last message
};

struct Writing {
  std::vector<WriteStep> steps = {};
  std::optional<WriteMessages> messages = std::nullopt;
  std::vector<std::vector<WriteLayout>> fields = {};  // by FieldId; the first
                                                      // is rendered
};

// ---- detect ----

// A rule of "detect": evidence that a model is of the family.
struct DetectRule {
  std::vector<std::string> all = {};     // occur in the chat template or tokens
  std::vector<std::string> any = {};     // one of these occurs
  std::vector<std::string> none = {};    // none of these occurs
  std::vector<std::string> tokens = {};  // are added tokens
  std::string why = {};
  // Rules of a higher rank are tried first.
  std::int64_t rank = 0;
};

// A variant: the family file with a merge patch (RFC 7396) applied.
struct Variant {
  std::string name = {};
  std::vector<std::string> aliases = {};
  std::vector<std::string> models = {};
  std::vector<DetectRule> when = {};
  json::Value patch = {};
};

struct Family {
  std::vector<std::string> aliases = {};
  std::vector<DetectRule> detect = {};
  Reading reading = {};
  std::optional<Writing> writing = std::nullopt;
  std::vector<Variant> variants = {};
  std::string protocol = {};  // "harmony", or "" for none
};

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_FAMILY_H_
