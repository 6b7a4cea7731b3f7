#ifndef PARLANCE_SRC_INVERSION_PLAN_H_
#define PARLANCE_SRC_INVERSION_PLAN_H_

// What the structural tags of a format have in common, whatever the request.
//
// A plan is computed once per format: the roles of the fields, the texts that
// must not occur in free text, in JSON strings and in raw values, and the
// spellings of a call in which the format's own reader tries the names of
// tools.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "format/description.h"
#include "format/family.h"
#include "inversion/documents.h"
#include "parlance/error.h"

namespace parlance::inversion {

enum class Role : std::uint8_t { kContent, kReasoning, kCalls, kOther };

// Texts, and patterns of texts, that must not occur.
struct Excludes {
  std::vector<std::string> texts = {};
  std::vector<std::string> patterns = {};
};

struct FieldPlan {
  Role role = Role::kOther;
  // In the text of the field, if it is free text.
  Excludes free_text = {};
  // In the strings of a JSON value that is the text of the field, or that is in
  // a call.
  std::vector<std::string> strings = {};
  // In the raw values of a call, besides what ends an element.
  std::vector<std::string> raw_values = {};
  // Of the field of content: in a JSON document that is its text, besides what
  // its strings do not contain.
  DocumentRule documents = {};
};

// A piece of a sample: text, the name of a tool, no arguments, or an id or a
// number of the call.
struct SamplePiece {
  enum class Kind : std::uint8_t { kText, kName, kJsonName, kArguments, kId };
  Kind kind = Kind::kText;
  std::string text = {};
};
using Sample = std::vector<SamplePiece>;

// Which values of arguments the notation gives back (read_texts.h).
struct ReadTexts {
  // Of JSON Schema.  "integer": no other numbers.
  std::vector<std::string> types = {};
  // A pattern of whole strings.  Empty: any string.
  std::string strings = {};
  // The most characters of a string.
  std::optional<std::size_t> longest = {};
  // Integers beyond 2^53 lose digits.
  bool countable = false;
  // Texts that a string does not contain.
  std::vector<std::string> without = {};
  // Texts that a string in a list or an object does not contain.
  std::vector<std::string> nested = {};
  // Lists and objects are JSON on one line.
  bool one_line = false;
  // Of two arguments of one name, the last one counts.
  bool last_counts = true;
  // A pattern of the names of arguments that are not declared.  Empty: any.
  std::string names = {};
  // Patterns of such names that must not match: with the markup beside it, the
  // name would spell what ends a call or opens another region.
  std::vector<std::string> names_without = {};
  std::vector<std::string> notes = {};
  // The shortest call that is not read back, and why; empty if there is none.
  std::string text = {};
  std::string fault = {};

  bool integers_only() const {
    for (const std::string& type : types) {
      if (type == "integer") return true;
    }
    return false;
  }
};

// How the format's reader reads responses with the calls of some tools, besides
// reading each call back.
struct ReadBack {
  // Calls are read back one by one, but not several of them; then a response
  // has at most one call.
  bool one_call_only = false;
  // Text between two calls is read back as content.
  bool text_between_calls = false;
  // A text of turn_end after a call would be read as a part of the call.
  bool no_turn_end = false;
  // The id of a call is the id or number that is written, after this text.
  // Nothing if calls have no id.
  std::optional<Sample> id_before = {};
  // Of a format that is not built in.
  ReadTexts texts = {};
};

struct Plan {
  // Of the family, or derived from a bare template (then `derived`).
  const format::Writing* writing = nullptr;
  format::Writing derived = {};
  std::vector<FieldPlan> fields = {};  // by FieldId
  std::optional<format::FieldId> calls = std::nullopt;
  std::optional<format::FieldId> content = std::nullopt;
  std::vector<std::string> turn_end = {};
  // What the names of arguments are for the reader of a derived writing in
  // elements: a pattern of whole names.  Empty: any text.
  std::string key_pattern = {};
  // The largest number that arguments have; 0: any.
  double largest_number = 0;
  // Spellings of a call without arguments, one or more per layout: each
  // optional part with and without, each choice.
  std::vector<Sample> samples = {};
  std::vector<std::size_t> first_samples = {};  // of each layout

  // verify_names() by its names, in their order: besides them and the format it
  // reads nothing, so no request sees what another one has asked.  At most
  // kMostNames names; guarded by the mutex.
  static constexpr std::size_t kMostNames = 4096;
  mutable base::Mutex read_back_mutex = {};
  mutable std::map<std::vector<std::string>, ReadBack> read_back = {};
  mutable std::size_t names = 0;  // in the keys

  bool is_derived() const { return writing == &derived; }
};

// How a layout writes the arguments of a call; null if they are the JSON text
// of a string, or in a choice.
const format::ArgumentLayout* argument_layout(
    const format::WriteLayout& layout);

// The texts that a raw string of the arguments does not contain, sorted.
std::vector<std::string> raw_excludes(const FieldPlan& plan,
                                      const format::ArgumentLayout& layout);

// Whether the markup beside the name of an argument would end it early, so that
// the grammar leaves it out; see name_excludes() in arguments/markup.h.
bool ends_early(std::string_view name, const format::ArgumentLayout& layout);

// Whether `parts` have a part of this kind, at any depth.
bool has_part(const format::WriteParts& parts, format::WritePart::Kind kind);

// Errors: kUnsupported for a format that cannot be written, with the pointer
// to the field.
Result<std::shared_ptr<const Plan>> make_plan(const format::FormatImpl& format);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_PLAN_H_
