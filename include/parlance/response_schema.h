#ifndef PARLANCE_RESPONSE_SCHEMA_H_
#define PARLANCE_RESPONSE_SCHEMA_H_

// The older description of a response: a JSON Schema whose x- keys say how a
// complete text becomes a message.
//
//   Result<ResponseSchema> schema = ResponseSchema::from_json(text);
//   if (!schema) return schema.error();
//   Result<json::Value> message = schema->parse(response);
//
// A schema means what Hugging Face's recursive parser makes of it, failures
// included; docs/reference/response-schemas.md has the rules.  There is no
// stream: most patterns of response schemas need the end of the text.

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
struct Program;  // src/reading/response_schema/program.h
}

struct ResponseSchemaOptions {
  Limits limits = {};
};

// How one text is parsed.
struct ResponseSchemaParseOptions {
  // Accept lone surrogates in three bytes each, as Python's strings have them.
  // Default: they are ill-formed and read as U+FFFD, like all ill-formed bytes.
  bool allow_surrogates = false;
  // Do not check that the text is UTF-8, with surrogates if those are accepted.
  // The caller knows that it is.
  bool well_formed = false;
};

// Immutable, cheap to copy, safe to share between threads.
class ResponseSchema {
 public:
  // Reads a schema.  Reports the errors that do not depend on a text, with JSON
  // Pointer and byte span: a known key whose value has the wrong JSON type, a
  // pattern that cannot be run, a tree that is too deep.  An error that only
  // some texts reach (an invalid pattern in a property that is not always
  // visited) is an error of parse(); lint() reports it in advance.
  static Result<ResponseSchema> from_json(
      std::string_view text, const ResponseSchemaOptions& options = {});

  // Whether `spec` is a response schema and not a template: an object with
  // neither "version" nor "fields".
  static bool is_schema(const json::Value& spec);

  // The message; null if the pattern of the root does not match.
  //
  // Errors have the JSON Pointer of the schema node in `path` and quote the
  // text that the node got.  Their code corresponds to the Python exception
  // that upstream raises: kInvalidContent ValueError, kContentType TypeError,
  // kBadPattern re.error, kTransform an error of jmespath (a ValueError),
  // kTooDeep RecursionError.  kTooLarge: a limit was passed, e.g.
  // Limits::match_steps.
  //
  // Complexity: O(text.size()) for each node that reads the whole text and
  // whose pattern runs on an automaton.  Other patterns have a step limit.
  Result<json::Value> parse(
      std::string_view text,
      const ResponseSchemaParseOptions& options = {}) const;
  // The message without any text: the "const" of the root, or null.
  json::Value parse_nothing() const;

  // Warnings: nodes that fail for every text that reaches them, and nodes that
  // no text reaches.
  std::vector<Lint> lint() const;

  // The response template (parlance/format.h) with the same meaning, as JSON
  // text; docs/reference/response-schemas.md defines "the same".
  // Errors: kNotConvertible, with the node that a template cannot express.
  //
  // `start_anchor` is the start anchor of the template: the text that ends a
  // prompt, before the response, e.g. "<|im_start|>assistant\n".  A schema does
  // not contain it.  Default: the end of the prompt, so a prefix is ignored, as
  // it is here.
  Result<std::string> to_template(std::string_view start_anchor = "") const;

 private:
  explicit ResponseSchema(
      std::shared_ptr<const response_schema::Program> program)
      : program_(std::move(program)) {}
  std::shared_ptr<const response_schema::Program> program_;
};

}  // namespace parlance

#endif  // PARLANCE_RESPONSE_SCHEMA_H_
