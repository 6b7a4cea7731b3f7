// Any token ids as Harmony.  The first byte chooses the options; each further
// byte is a token: a low one a marker, a control token or an unknown id, any
// other an ordinary token with this byte.  However the ids are cut, events,
// messages and diagnostics are the same; the chunks of a message are its
// content, which is UTF-8; the parts of a stream do not overlap.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "support/harmony_vectors.h"

namespace {

using parlance::HarmonyDiagnostic;
using parlance::HarmonyMessage;
using parlance::HarmonyOptions;
using parlance::TokenId;
using parlance::testing::HarmonyRun;
using parlance::testing::HarmonyVocabulary;
using parlance::testing::run_harmony;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const HarmonyRun& run, std::size_t tokens) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < run.messages.size(); ++i) {
    const HarmonyMessage& message = run.messages[i];
    const std::string head = "message_chunk " + std::to_string(i) + " ";
    std::string chunks;
    for (const std::string& event : run.events) {
      if (event.starts_with(head)) chunks += event.substr(head.size());
    }
    require(chunks == message.content);
    require(parlance::base::is_utf8(message.content));
    require(last <= message.tokens.begin &&
            message.tokens.begin <= message.tokens.end &&
            message.tokens.end <= tokens);
    last = message.tokens.end;
  }
  for (const HarmonyDiagnostic& diagnostic : run.diagnostics) {
    require(diagnostic.tokens.begin <= diagnostic.tokens.end &&
            diagnostic.tokens.end <= tokens && diagnostic.at <= tokens);
    require(parlance::base::is_utf8(diagnostic.message));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const HarmonyVocabulary plain =
      parlance::testing::small_harmony_vocabulary();
  static const HarmonyVocabulary spaced =
      parlance::testing::small_harmony_vocabulary(true);
  if (size == 0 || size > 20000) return 0;
  const std::uint8_t head = data[0];
  const HarmonyVocabulary& vocabulary = (head & 8) != 0 ? spaced : plain;
  HarmonyOptions options;
  if ((head & 1) != 0) options.role = parlance::HarmonyRole::kAssistant;
  options.strict = (head & 2) != 0;
  options.header_bytes = (head & 4) != 0 ? 16 : 512;
  options.limits.held_bytes = 64;
  std::vector<TokenId> ids;
  for (std::size_t i = 1; i < size; ++i) {
    // The markers are the first tokens; tab and line feed are text.
    ids.push_back(data[i] < 9     ? TokenId{data[i]}
                  : data[i] == 11 ? TokenId{100000}
                                  : vocabulary.first_byte + data[i]);
  }
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i <= ids.size(); ++i) cuts.push_back(i);
  const HarmonyRun whole = run_harmony(vocabulary.vocabulary, options, ids, {});
  const HarmonyRun by_token =
      run_harmony(vocabulary.vocabulary, options, ids, cuts);
  require(whole.to_string() == by_token.to_string());
  check(whole, ids.size());
  parlance::json::dump(parlance::harmony_message(whole.messages));
  parlance::json::dump(parlance::harmony_chat_message(whole.messages));
  parlance::json::dump(parlance::harmony_response_items(whole.messages));
  return 0;
}
