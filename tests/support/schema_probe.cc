// Runs response schemas for tests in Python that compare with upstream's.
//
//   stdin:  one JSON object per line: schema, texts
//   stdout: one JSON object per line:
//     load_error {code, message, path}, or
//     results (per text {"value"} or {"code", "message", "path"}),
//     lint (a list of {path, message}),
//     template (or null), why (no template), by_template (per text the message
//     of the template, or {"code"})
//
// Values are written as the recorded vectors write them.

#include <iostream>
#include <string>

#include "parlance/format.h"
#include "parlance/response_parser.h"
#include "parlance/response_schema.h"
#include "support/encode.h"
#include "support/vectors.h"

namespace {

using namespace parlance;
using json::Array;
using json::Object;
using json::Value;

Value error_value(const Error& error) {
  return Object{{"code", to_string(error.code)},
                {"message", testing::encode(Value(error.message))},
                {"path", testing::encode(Value(error.path))}};
}

Value by_template(const Format& format, std::string_view text) {
  ResponseParser parser(format, {.allow_surrogates = true});
  parser.feed(text);
  parser.finalize();
  if (parser.failure() != nullptr) return error_value(*parser.failure());
  return Object{{"value", testing::encode(Value(parser.message().fields))}};
}

Value answer(const Value& request) {
  Result<ResponseSchema> schema =
      ResponseSchema::from_json(json::dump(*request.find("schema")));
  if (!schema) return Object{{"load_error", error_value(schema.error())}};
  Object out;
  Array results;
  for (const Value& text : request.find("texts")->items()) {
    const Value decoded = testing::decode(text);
    Result<Value> value =
        schema->parse(decoded.as_string(), {.allow_surrogates = true});
    results.push_back(value ? Value(Object{{"value", testing::encode(*value)}})
                            : error_value(value.error()));
  }
  out.set("results", std::move(results));
  Array lints;
  for (const Lint& lint : schema->lint()) {
    lints.push_back(Object{{"code", to_string(lint.code)},
                           {"path", lint.path},
                           {"message", lint.message}});
  }
  out.set("lint", std::move(lints));
  Result<std::string> made = schema->to_template();
  if (!made) {
    out.set("why", error_value(made.error()));
    return out;
  }
  out.set("template", *json::parse(*made));
  Result<Format> format = Format::from_json(*made);
  if (!format) {
    out.set("why", error_value(format.error()));
    return out;
  }
  Array messages;
  for (const Value& text : request.find("texts")->items()) {
    messages.push_back(by_template(*format, testing::decode(text).as_string()));
  }
  out.set("by_template", std::move(messages));
  return out;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    Result<Value> request = json::parse(line);
    if (!request) return 1;
    std::cout << json::dump(answer(*request)) << "\n" << std::flush;
  }
}
