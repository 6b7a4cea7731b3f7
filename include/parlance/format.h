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
// A bare template is read strictly: what upstream raises on is a failure.  A
// format file recovers: damage stays in its region (see ParserOptions).

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/access.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance {

namespace format {
struct FormatImpl;  // src/format/description.h
}

struct FormatOptions {
  Limits limits = {};
};

// Something in a format that is legal and probably not what its author wants.
struct Lint {
  std::string message;
  std::string path;  // JSON Pointer into the template
};

// Immutable, cheap to copy, safe to share between threads.
class Format {
 public:
  // Reads and checks a format file or a bare response template.  Everything
  // that can be known to be wrong is reported here, in the order that
  // upstream reports it, with JSON pointer and byte span.
  static Result<Format> from_json(std::string_view text,
                                  const FormatOptions& options = {});

  // A format compiled into the library.  '-' and '_' are the same in names.
  // Errors: kUnknownFormat, naming the closest ones.
  static Result<Format> built_in(std::string_view name,
                                 const FormatOptions& options = {});
  static std::span<const std::string_view> built_in_names();  // sorted

  // The JSON text of a built-in format file, "" when there is none.
  static std::string_view built_in_source(std::string_view name);

  std::string_view name() const;  // "" for a bare template
  std::span<const std::string> models() const;
  // Whether parsers of this format recover by default.
  bool recovers() const;

  std::size_t field_count() const;
  std::string_view field_name(std::size_t index) const;
  // Whether chunks of this field are not its value yet (json, xml-inline, ...).
  bool field_dirty(std::size_t index) const;

  // What a checker should say about it: text that gets lost, delimiters that
  // can match nothing, patterns that need backtracking, ...
  std::vector<Lint> lint() const;

  // The response template alone, as JSON text that can be put into a
  // tokenizer's configuration.
  std::string template_json() const;

 private:
  friend struct detail::Access;
  explicit Format(std::shared_ptr<const format::FormatImpl> impl)
      : impl_(std::move(impl)) {}
  std::shared_ptr<const format::FormatImpl> impl_;
};

// Which built-in format a model needs, and why that was concluded.
struct DetectedFormat {
  // A built-in format's name; or "response_template" when the configuration
  // carries one of its own, which is then the right one to use.
  std::string name;
  std::string why;
};

// Looks at the contents of a tokenizer_config.json: its response_template, the
// special tokens it declares and the markers in its chat template.  Error:
// kUnknownFormat when nothing fits, saying what was looked for.
Result<DetectedFormat> detect_format(const json::Value& tokenizer_config);

}  // namespace parlance

#endif  // PARLANCE_FORMAT_H_
