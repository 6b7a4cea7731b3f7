#ifndef PARLANCE_RESPONSE_SCHEMA_H_
#define PARLANCE_RESPONSE_SCHEMA_H_

// The older description of a response: a JSON Schema whose x- keys say how a
// finished text becomes a message.
//
//   Result<ResponseSchema> schema = ResponseSchema::from_json(text);
//   if (!schema) return schema.error();
//   Result<json::Value> message = schema->parse(response);
//
// A schema is read as Hugging Face's recursive parser reads it, failures
// included; docs/reference/response-schemas.md tells how.  Nothing of it
// streams: most of its patterns ask for the end of the text.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance {

namespace response_schema {
struct Program;  // src/response_schema/program.h
}

struct ResponseSchemaOptions {
  Limits limits = {};
};

// How a text is read.
struct ResponseSchemaParseOptions {
  // Surrogates in three bytes each are text, as in Python's strings.
  // Default: they are ill-formed, and read as U+FFFD like any other such byte.
  bool allow_surrogates = false;
};

// Immutable, cheap to copy, safe to share between threads.
class ResponseSchema {
 public:
  // Reads a schema.  Fails for what can never work: a key that means something
  // here with a value of the wrong JSON type, a pattern that cannot be run, a
  // tree that is too deep; with JSON pointer and byte span.  What fails only
  // for some texts (an invalid pattern in a property that is never looked at)
  // fails then; lint() names it now.
  static Result<ResponseSchema> from_json(
      std::string_view text, const ResponseSchemaOptions& options = {});

  // Whether `spec` is read as a response schema and not as a template: an
  // object with neither "version" nor "fields".
  static bool is_schema(const json::Value& spec);

  // The message; null when the pattern of the root does not match.
  //
  // Errors have the JSON pointer of the node in `path` and quote the text that
  // it got.  Their code tells which of Python's exceptions upstream raises:
  // kInvalidContent ValueError, kContentType TypeError, kBadPattern re.error,
  // kTransform an error of jmespath (a ValueError), kTooDeep RecursionError.
  // kTooLarge: a limit was passed, e.g. Limits::match_steps.
  //
  // Complexity: O(text.size()) for every node that looks at the whole text and
  // whose pattern our automata run; others have a step limit.
  Result<json::Value> parse(
      std::string_view text,
      const ResponseSchemaParseOptions& options = {}) const;
  // The message where there is no text at all: the root's "const", or null.
  json::Value parse_nothing() const;

  // What is legal and fails as soon as a text gets there, or is never reached.
  std::vector<Lint> lint() const;

  // The response template (see parlance/format.h) that means the same, as JSON
  // text, or why there is none: kNotConvertible with the node that cannot
  // be said in a template.  See docs/reference/response-schemas.md for what
  // "the same" covers.
  //
  // `start_anchor` is the template's: what stands last in a prompt before the
  // response, e.g. "<|im_start|>assistant\n".  A schema does not know it.
  // Default: the end of the prompt, so that a prefix is ignored, as here.
  Result<std::string> to_template(std::string_view start_anchor = "") const;

 private:
  explicit ResponseSchema(
      std::shared_ptr<const response_schema::Program> program)
      : program_(std::move(program)) {}
  std::shared_ptr<const response_schema::Program> program_;
};

}  // namespace parlance

#endif  // PARLANCE_RESPONSE_SCHEMA_H_
