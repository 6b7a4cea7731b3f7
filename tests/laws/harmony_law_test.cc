// Laws of the Harmony parser over recorded cases and made-up streams: cuts,
// append, account, and the agreement of both modes where nothing is wrong.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/conformance.h"
#include "support/folders.h"
#include "support/harmony_vectors.h"

namespace parlance::harmony_law_test {
namespace {

using testing::HarmonyInput;
using testing::HarmonyRun;
using testing::HarmonyVocabulary;
using testing::run_harmony;
using testing::run_harmony_by_token;

const HarmonyVocabulary& small() {
  static const HarmonyVocabulary made = testing::small_harmony_vocabulary();
  return made;
}

// Streams of markers and of pieces of headers, in any order.
std::vector<TokenId> random_stream(std::mt19937& random) {
  static constexpr const char* kPieces[] = {
      "assistant",     "user",      "functions.f", " to=functions.f", " to=",
      "to=python",     " ",         "json",        "analysis",        "final",
      "Hello, world.", "<|end|>",   "\n",          "\xE2\x82",        "\xAC",
      "\u00e9",        "commentary"};
  const std::span<const TokenId> marks = small().vocabulary.special_ids();
  std::vector<TokenId> ids;
  const std::size_t size = random() % 24;
  for (std::size_t i = 0; i < size; ++i) {
    if (random() % 2 == 0) {
      ids.push_back(random() % 40 == 0 ? 100000u
                                       : marks[random() % marks.size()]);
      continue;
    }
    for (const char* c = kPieces[random() % std::size(kPieces)]; *c; ++c) {
      ids.push_back(small().first_byte + static_cast<unsigned char>(*c));
    }
  }
  return ids;
}

std::vector<HarmonyOptions> all_options() {
  std::vector<HarmonyOptions> out;
  for (const bool strict : {false, true}) {
    for (const bool role : {false, true}) {
      for (const std::size_t bytes : {std::size_t{512}, std::size_t{24}}) {
        HarmonyOptions options;
        if (role) options.role = HarmonyRole::kAssistant;
        options.strict = strict;
        options.header_bytes = bytes;
        out.push_back(options);
      }
    }
  }
  return out;
}

void check_cuts(const Vocabulary& vocabulary, const HarmonyOptions& options,
                const std::vector<TokenId>& ids, std::mt19937& random) {
  const HarmonyRun whole = run_harmony(vocabulary, options, ids, {});
  const std::string wanted = whole.to_string();
  ASSERT_EQ(run_harmony_by_token(vocabulary, options, ids).to_string(), wanted);
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < ids.size(); ++i) {
    if (random() % 3 == 0) cuts.push_back(i);
  }
  ASSERT_EQ(run_harmony(vocabulary, options, ids, cuts).to_string(), wanted);
  // The chunks of a message are its content.
  for (std::size_t i = 0; i < whole.messages.size(); ++i) {
    const std::string head = "message_chunk " + std::to_string(i) + " ";
    std::string chunks;
    for (const std::string& event : whole.events) {
      if (event.starts_with(head)) chunks += event.substr(head.size());
    }
    ASSERT_EQ(chunks, whole.messages[i].content);
  }
}

TEST(HarmonyLaw, CutsOfRecordedCases) {
  std::mt19937 random(1);
  for (const std::string file : {"own", "parse_header", "parse_spoofing",
                                 "parse_streaming", "parse_truncation"}) {
    const json::Value cases = testing::vectors("harmony/" + file + ".json");
    for (const json::Value& test : cases.items()) {
      SCOPED_TRACE(test.find("id")->as_string());
      const HarmonyInput input = small().encode(*test.find("tokens_text"));
      for (const HarmonyOptions& options : all_options()) {
        check_cuts(small().vocabulary, options, input.ids, random);
      }
    }
  }
}

TEST(HarmonyLaw, CutsOfRandomStreams) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const std::vector<TokenId> ids = random_stream(random);
    for (const HarmonyOptions& options : all_options()) {
      check_cuts(small().vocabulary, options, ids, random);
      if (HasFatalFailure()) return;
    }
  }
}

// A stream may end anywhere.  What was reported before stays as it is.
TEST(HarmonyLaw, Append) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const std::vector<TokenId> ids = random_stream(random);
    const HarmonyOptions options = {.role = HarmonyRole::kAssistant};
    const std::string whole = [&] {
      std::string out;
      for (const std::string& event :
           run_harmony(small().vocabulary, options, ids, {}, false).events) {
        out += event;
      }
      return out;
    }();
    for (std::size_t size = 0; size < ids.size(); ++size) {
      std::string part;
      for (const std::string& event : run_harmony(small().vocabulary, options,
                                                  {ids.data(), size}, {}, false)
                                          .events) {
        part += event;
      }
      ASSERT_TRUE(whole.starts_with(part));
    }
  }
}

// Every token with text is inside a message, inside a diagnostic, white space
// between messages, or the author of a header that the stream leaves open.
// Messages do not overlap.
TEST(HarmonyLaw, Account) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const std::vector<TokenId> ids = random_stream(random);
    for (const HarmonyOptions& options : all_options()) {
      if (options.strict) continue;
      const HarmonyRun run = run_harmony(small().vocabulary, options, ids, {});
      std::vector<bool> seen(ids.size());
      std::size_t last = 0;
      for (const HarmonyMessage& message : run.messages) {
        ASSERT_LE(last, message.tokens.begin);
        ASSERT_LE(message.tokens.begin, message.content_tokens.begin);
        ASSERT_LE(message.content_tokens.end, message.tokens.end);
        last = message.tokens.end;
        ASSERT_LE(last, ids.size());
        for (std::size_t i = message.tokens.begin; i < last; ++i) {
          seen[i] = true;
        }
      }
      for (const HarmonyDiagnostic& diagnostic : run.diagnostics) {
        ASSERT_LE(diagnostic.tokens.begin, diagnostic.tokens.end);
        ASSERT_LE(diagnostic.tokens.end, ids.size());
        for (std::size_t i = diagnostic.tokens.begin; i < diagnostic.tokens.end;
             ++i) {
          seen[i] = true;
        }
      }
      // Of the rest, what follows the last message can be an author at most:
      // a header that the response has begun.
      std::string between;
      std::string after;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (!seen[i] &&
            small().vocabulary.kind(ids[i]) == TokenKind::kOrdinary) {
          (i < last ? between : after) += small().vocabulary.bytes(ids[i]);
        }
      }
      ASSERT_EQ(between.find_first_not_of(" \n"), std::string::npos);
      const std::size_t word = after.find_first_not_of(" \n");
      if (word == std::string::npos) continue;
      const std::size_t end = after.find_first_of(" \n", word);
      if (end == std::string::npos) continue;
      ASSERT_EQ(after.find_first_not_of(" \n", end), std::string::npos)
          << after;
    }
  }
}

// A well-formed response is read alike by both modes.
TEST(HarmonyLaw, ModesAgree) {
  static constexpr const char* kChannels[] = {"analysis", "commentary",
                                              "final"};
  static constexpr const char* kTo[] = {"", " to=functions.f",
                                        " to=browser.search", " to=python"};
  static constexpr const char* kStops[] = {"<|end|>", "<|call|>", "<|return|>"};
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<TokenId> ids;
    const auto mark = [&](std::string_view spelling) {
      ids.push_back(small().vocabulary.special(spelling).value());
    };
    const auto text = [&](std::string_view written) {
      for (const char c : written) {
        ids.push_back(small().first_byte + static_cast<unsigned char>(c));
      }
    };
    const std::size_t messages = 1 + random() % 4;
    for (std::size_t i = 0; i < messages; ++i) {
      const char* to = kTo[random() % std::size(kTo)];
      const bool in_role = random() % 2 == 0;
      mark("<|start|>");
      text("assistant");
      if (in_role) text(to);
      mark("<|channel|>");
      text(kChannels[random() % std::size(kChannels)]);
      if (!in_role) text(to);
      if (*to != '\0' && random() % 2 == 0) {
        text(" ");
        mark("<|constrain|>");
        text("json");
      }
      mark("<|message|>");
      for (std::size_t n = random() % 9; n > 0; --n) {
        ids.push_back(small().first_byte + random() % 256);
      }
      mark(kStops[random() % std::size(kStops)]);
    }
    HarmonyOptions options;
    const HarmonyRun lax = run_harmony(small().vocabulary, options, ids, {});
    options.strict = true;
    const HarmonyRun strict = run_harmony(small().vocabulary, options, ids, {});
    ASSERT_EQ(lax.values(), strict.values());
    ASSERT_EQ(lax.messages.size(), messages);
    ASSERT_TRUE(lax.diagnostics.empty()) << lax.to_string();
    ASSERT_FALSE(strict.error.has_value());
  }
}

}  // namespace
}  // namespace parlance::harmony_law_test
