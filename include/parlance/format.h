#ifndef PARLANCE_FORMAT_H_
#define PARLANCE_FORMAT_H_

// The description of how a model family writes a response.
//
//   Result<Format> format = Format::built_in("qwen3");
//   Result<Format> mine = Format::from_json(template_text);
//
// A format is either a bare response template (Hugging Face's language, an
// object with "fields") or a format file that wraps one:
//
//   {"name": "qwen3", "models": ["Qwen3-..."], "response_template": {...},
//    "parlance": {}}
//
// docs/reference/format-files.md describes the file.
//
// A bare template is strict: a response that makes upstream's parser raise is a
// failure (ResponseParser::failure()).  A format file recovers: damage stays in
// its region (see Recover in parlance/response_parser.h).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/access.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/tools.h"

namespace parlance {

namespace format {
struct FormatImpl;  // src/reading/format/description.h
}

class Grammar;                // parlance/grammar.h
class StructuralTag;          // parlance/structural_tag.h
struct StructuralTagOptions;  // parlance/structural_tag.h

struct FormatOptions {
  Limits limits = {};
  // The variant of the family to load, by its name or an alias.  Default: none.
  std::string_view variant = {};
};

// What kind of mistake a lint is about.  docs/reference/lints.md describes each
// with an example.
enum class LintCode : std::uint8_t {
  kUnknownKey,      // nothing reads the key
  kNotBoolean,      // a flag that is neither true nor false
  kUnknownName,     // a field or placeholder of this name does not exist
  kBadDefault,      // a default that the field cannot extend
  kTextReplaced,    // a stretch of text replaces the one before
  kTextUnclaimed,   // text outside the regions is lost without a word
  kUnescapedBar,    // <|...|> or [|...|] in a pattern with bars unescaped
  kHoldsText,       // a delimiter for which all text is held back
  kBacktracking,    // a pattern that no automaton can match
  kEmptyMatch,      // a delimiter that matches without consuming text
  kHiddenBranch,    // an alternative that an earlier one hides
  kSharedOpener,    // two fields open with the same text
  kMissingGroup,    // a pattern without a group that its reader needs
  kUnusedGroup,     // a group of a pattern that nothing reads
  kUnused,          // a part of a description that has no effect
  kFailsOnText,     // each text that comes here fails
  kKindGuessed,     // parlance check: the file does not say what it describes
  kNotInvertible,   // no grammar can be made of the template
  kTurnEndWritten,  // 'write' goes on after a text that ends the response
};
// "unknown_key", "not_boolean", ...: stable names.
std::string_view to_string(LintCode code);

// Something in a format that is valid and probably not what its author wants.
struct Lint {
  LintCode code;
  std::string message;
  // JSON Pointer into the text that was loaded: the bare template, the format
  // file or the response schema.
  std::string path;
};

struct RenderOptions {
  // The tools of the request, by whose schemas the text is read back.  May be
  // null.
  const ToolSet* tools = nullptr;

  // What the prompt already wrote of this response, as in StreamOptions: the
  // text continues there.
  std::string_view prefix = {};

  // Read the text back, and refuse a message that would not come back equal.
  bool verify = true;
};

// Immutable, cheap to copy, safe to share between threads.
class Format {
 public:
  // Reads and checks a format file or a bare response template.  Finds every
  // error that does not depend on a response; of several it returns the one
  // that upstream reports.  An error has a JSON Pointer and a byte span.
  static Result<Format> from_json(std::string_view text,
                                  const FormatOptions& options = {});

  // The same format with other names of fields in events and messages, and in
  // the structural tags made of it: pairs of the name in the template and the
  // new name.  "reasoning" also means a field called "thinking" or
  // "reasoning_content".
  // Errors: kUnknownName for a field that does not exist; kEmptyValue for an
  // empty name; kConflict for two fields of one name, and for another name of
  // the field "content", of "tool_calls", or of a second notation of calls.
  Result<Format> with_names(
      std::span<const std::pair<std::string, std::string>> names) const;

  // A format that is part of the library, by its name, an alias, or the name or
  // an alias of a variant.  Case, '-', '_' and '.' make no difference.
  // Errors: kUnknownFormat, whose message lists the closest names.
  static Result<Format> built_in(std::string_view name,
                                 const FormatOptions& options = {});
  static std::span<const std::string_view> built_in_names();  // sorted

  // The JSON text of a built-in format file, "" if there is none.  The names of
  // a variant give the file of its family.
  static std::string_view built_in_source(std::string_view name);

  std::string_view name() const;  // "" for a bare template
  // Other names of the family or variant, as the file lists them.
  std::span<const std::string> aliases() const;
  std::span<const std::string> models() const;
  // The names of the variants that the file describes.
  std::vector<std::string> variants() const;
  // Whether parsers of this format recover by default.
  bool recovers() const;

  std::size_t field_count() const;
  std::string_view field_name(std::size_t index) const;
  // Whether a chunk of this field is not yet a part of its value (json,
  // xml-inline, ...): Event::dirty.
  bool field_dirty(std::size_t index) const;
  // Whether white space around the text of a region of this field does not
  // belong to the value.  REQUIRES: index < field_count().
  bool field_trimmed(std::size_t index) const;
  // What joins the texts of several regions of this field; nothing if the
  // template has no "join".  REQUIRES: index < field_count().
  std::optional<std::string_view> field_join(std::size_t index) const;

  // Warnings: text that gets lost, delimiters that can match nothing, patterns
  // that need backtracking, ...
  std::vector<Lint> lint() const;

  // Writes a message as the family writes it, with the markers, line feeds and
  // order that its models were trained on, without a marker that ends the turn
  // unless the format needs it.  `message` is an object as parsers return it or
  // as the chat completions API has it; reasoning may be called "thinking",
  // "reasoning" or "reasoning_content", and arguments may be an object or its
  // JSON text.
  //
  // Law: parsing the text gives the message, and so does parsing its token ids,
  // whichever marks of the format are tokens of their own.  In a string of JSON
  // a mark that would be read as one is escaped.
  //
  // Errors: kUnsupported if the format has no description of how it is written
  // (a bare template); kWrongType, kMissingKey, kUnknownName for a malformed
  // message; kConflict for a message that the format cannot express, such as a
  // text that contains a marker, or that does not begin with the prefix.
  // Pointers refer to the message.
  //
  // Complexity: O(size of the text).
  Result<std::string> render(const json::Value& message,
                             const RenderOptions& options = {}) const;

  // The whole file (of a bare template: the template) as JSON text, from which
  // from_json() loads the same format.  For a variant, the file with the
  // variant's patch.
  std::string to_json() const;

  // The response template alone, as JSON text that can be put into a
  // tokenizer's configuration.  Other readers of a template do not know
  // `parlance.turn_end`, so its texts become the close delimiter of each field
  // that has none.
  std::string template_json() const;

  // The structural tag of a response to a request: what the model may write in
  // this format.
  //
  // Law: what the tag allows, this format reads without a diagnostic, as calls
  // of the given tools with valid arguments.  Each name of a tool is verified:
  // the format's own reader must read its call back.
  //
  // Errors: those of malformed tools and choices (see tool_calling()), and
  //
  //   kUnsupported  the format does not say how it is written, and its template
  //                 cannot be inverted; the pointer is into the format
  //   kConflict     the call of a tool is not read back; none of the listed
  //                 values of a required argument can be written; a document of
  //                 response_format could be a call; or no response begins with
  //                 the prefix
  //
  // Pointers of errors in the request begin with the name of the option.
  // StructuralTag::report() says what the tag leaves out.
  // Complexity: O(size of the tools); a name is verified once per format.
  Result<StructuralTag> structural_tag(
      const StructuralTagOptions& options) const;
  // The grammar of that tag.  The same errors, and those of
  // Grammar::from_structural_tag(), with pointers into the request; kConflict
  // for a tool or a document of which no text can be written.
  Result<Grammar> grammar(const StructuralTagOptions& options) const;

 private:
  friend struct detail::Access;
  explicit Format(std::shared_ptr<const format::FormatImpl> impl)
      : impl_(std::move(impl)) {}
  std::shared_ptr<const format::FormatImpl> impl_;
};

}  // namespace parlance

#endif  // PARLANCE_FORMAT_H_
