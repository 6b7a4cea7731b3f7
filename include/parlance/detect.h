#ifndef PARLANCE_DETECT_H_
#define PARLANCE_DETECT_H_

// Which format a model needs, by what its tokenizer's configuration says.
//
//   Result<json::Value> config = json::parse(tokenizer_config_text);
//   Result<DetectedFormat> found = detect_format(*config);
//   if (found) std::cout << found->name << ": " << found->why;
//
// A model's own response_template or response_schema comes first.  Otherwise
// the rules of the format files ("detect") are tried on the chat template and
// the added tokens; a template that writes calls in another way than the family
// contradicts it.  A caller who can run the chat template renders a sample with
// it; then the format must read the sample's call back:
//
//   std::string text = my_jinja.render(chat_template, detection_sample());
//   detect_format(*config, {.rendered = text});

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance {

// How sure a detected format is.
enum class Certainty : std::uint8_t {
  // The model's own template or schema.  Or, of all formats that fit, only this
  // one reads the call that the chat template renders.  Or, without a rendered
  // call, all texts of the rule are added tokens and no other family fits.
  kCertain,
  // By markers in the chat template, which other families may share.
  kLikely,
  // The markers are common, or fit another family equally well; or no rule
  // holds, and several formats read the rendered call.
  kGuess,
};
// "certain", "likely", "guess".
std::string_view to_string(Certainty certainty);

// The format that a model needs, and the evidence for it.
struct DetectedFormat {
  // The name of a built-in format or variant; or "response_template" or
  // "response_schema" if the configuration has its own, which is then the one
  // to use.
  std::string name = {};
  // The name of the built-in format without its variant; "" if the
  // configuration has its own.
  std::string family = {};
  std::string why = {};
  Certainty certainty = Certainty::kGuess;
  // The other families that fit, the most likely first.
  std::vector<std::string> others = {};
};

struct DetectOptions {
  // detection_sample() as the chat template renders it, without a prompt for
  // generation.  Default: not known.  A text without the call of the sample is
  // no evidence, because some templates do not render calls.
  std::string_view rendered = {};
};

// A conversation that ends with a call: {"messages": [...], "tools": [...]},
// the variables of a chat template.  Some templates want the arguments of the
// call as JSON text: replace them by "{\"city\": \"Reykjavik\"}" if rendering
// fails.
const json::Value& detection_sample();

// Detects the format from the contents of a tokenizer_config.json: its
// response_template or response_schema, the added tokens that it declares, and
// its chat template.
// Errors: kWrongType if the configuration is no object; kUnknownFormat if no
// format fits, or none reads the rendered call.  Then the message names the
// families that come near, and says what is missing.
// Complexity: O(size of the configuration); with a rendered text, formats that
// fit are loaded and read it, all of them if none fits.
Result<DetectedFormat> detect_format(const json::Value& tokenizer_config,
                                     const DetectOptions& options = {});

// Whether `value` is the content of a tokenizer_config.json, by its keys alone:
// an object without "fields" that has a key of tokenizers (tokenizer_class,
// chat_template, added_tokens_decoder, ...), "response_schema", or
// "response_template" without a key of format files.
bool is_tokenizer_config(const json::Value& value);

// What a text describes that is given as the description of responses.
struct ResponseSpec {
  enum class Kind : std::uint8_t {
    kGiven,     // itself: it is no tokenizer_config.json
    kTemplate,  // the configuration's response_template
    kSchema,    // its response_schema
    kFormat,    // the built-in format that detect_format() finds
  };
  Kind kind = Kind::kGiven;
  std::string text = {};  // JSON; kFormat: the name; kGiven: ""
};

// Of a configuration that has both, the template counts, unless the caller
// reads schemas alone (`schema_first`). Errors: kUnknownFormat for a
// configuration that has neither and fits no built-in format; the message says
// what was looked for. Complexity: O(text.size()) with a small constant, unless
// it may be a configuration.
Result<ResponseSpec> response_spec(std::string_view text,
                                   bool schema_first = false);

}  // namespace parlance

#endif  // PARLANCE_DETECT_H_
