// Reads vocabularies for tests in Python: one JSON object per line in, one per
// line out.
//
//   in   {"file": "tokenizer.json", "decode": [[1, 2], [3]]}
//   out  {"size": 4, "strip_leading_space": false, "seconds": 0.01,
//         "special": [3], "stop": [], "texts": ["ab", "<end>"],
//         "bytes": [[97], [98], ...]}
//   or   {"error": {"code": "...", "message": "...", "path": "..."}}
//
// "bytes" comes when the input has "bytes": true.

#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "parlance/json.h"
#include "parlance/vocabulary.h"

namespace {

using parlance::Result;
using parlance::TokenId;
using parlance::Vocabulary;
namespace json = parlance::json;

json::Value describe(const parlance::Error& error) {
  return json::Object{
      {"error",
       json::Object{{"code", std::string(parlance::to_string(error.code))},
                    {"message", error.message},
                    {"path", error.path}}}};
}

json::Value list(std::span<const TokenId> ids) {
  json::Array out;
  for (const TokenId id : ids) out.emplace_back(std::int64_t{id});
  return out;
}

json::Value answer(const json::Value& request) {
  const json::Value* file = request.find("file");
  if (file == nullptr) {
    return describe({.message = "The request has no \"file\"."});
  }
  std::ifstream in(std::string(file->as_string()), std::ios::binary);
  if (!in) {
    return describe(
        {.code = parlance::ErrorCode::kIo, .message = "Cannot read the file."});
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto start = std::chrono::steady_clock::now();
  const Result<Vocabulary> vocabulary = Vocabulary::from_text(text);
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  if (!vocabulary) return describe(vocabulary.error());

  json::Array texts;
  if (const json::Value* sequences = request.find("decode")) {
    for (const json::Value& sequence : sequences->items()) {
      std::vector<TokenId> ids;
      for (const json::Value& id : sequence.items()) {
        ids.push_back(static_cast<TokenId>(id.as_int()));
      }
      texts.emplace_back(vocabulary->decode(ids));
    }
  }
  json::Object out{
      {"size", static_cast<std::int64_t>(vocabulary->size())},
      {"strip_leading_space", vocabulary->strip_leading_space()},
      {"seconds", seconds.count()},
      {"special", list(vocabulary->special_ids())},
      {"stop", list(vocabulary->stop_ids())},
      {"texts", std::move(texts)},
  };
  if (const json::Value* wanted = request.find("bytes");
      wanted != nullptr && wanted->as_bool()) {
    json::Array tokens;
    for (TokenId id = 0; id < vocabulary->size(); ++id) {
      json::Array bytes;
      for (const char c : vocabulary->bytes(id)) {
        bytes.emplace_back(std::int64_t{static_cast<unsigned char>(c)});
      }
      tokens.emplace_back(std::move(bytes));
    }
    out.set("bytes", std::move(tokens));
  }
  return out;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const Result<json::Value> request = json::parse(line);
    const json::Value reply =
        request ? answer(*request) : describe(request.error());
    std::cout << json::dump(reply) << std::endl;
  }
}
