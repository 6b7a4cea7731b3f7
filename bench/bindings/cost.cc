// cost feed ROUNDS: a response is read in small pieces.  cost fill ROUNDS
// TIMES: masks along a text, each filled so many times.  Prints a number that
// shows that the work was done.

#include "cost.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/response_parser.h"

namespace {

using namespace parlance;

std::uint64_t feed(int rounds) {
  const Format format = *Format::built_in("hermes_qwen2_5");
  std::string text;
  for (int i = 0; i < 8; ++i) text += COST_RESPONSE;
  std::uint64_t sum = 0;
  const auto add = [&](std::span<const Event> events) {
    for (const Event& event : events) {
      sum += static_cast<std::uint64_t>(event.kind) + event.text.size();
    }
  };
  StreamOptions options;
  options.stream_calls = true;
  for (int round = 0; round < rounds; ++round) {
    ResponseParser parser(format, options);
    for (std::size_t at = 0; at < text.size(); at += COST_PIECE) {
      add(parser.feed(std::string_view(text).substr(at, COST_PIECE)));
    }
    add(parser.finalize());
  }
  return sum;
}

std::uint64_t fill(int rounds, int times) {
  std::vector<TokenEntry> entries;
  const auto token = [&](std::string bytes) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = std::move(bytes)});
  };
  for (int byte = 0; byte < 256; ++byte) {
    token(std::string(1, static_cast<char>(byte)));
  }
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b) token({a, b});
  }
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b) {
      for (char c = 'a'; c <= 'z'; ++c) token({a, b, c});
    }
  }
  token("<end>");
  const std::vector<TokenId> stops = {COST_TOKENS - 1};
  const Compiler compiler =
      *Compiler::create(*Vocabulary::from_table(entries, stops));
  const Constraint constraint =
      *compiler.compile(*Grammar::from_json_schema(COST_SCHEMA));
  std::vector<std::int32_t> mask(compiler.mask_words());
  std::uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    Matcher matcher = constraint.matcher();
    for (const char c : std::string_view(COST_TEXT)) {
      for (int i = 0; i < times; ++i) {
        sum += matcher.fill_bitmask(mask) == MaskFill::kExcludesNothing ? 0 : 1;
      }
      sum += static_cast<std::uint32_t>(mask[1]);
      sum += matcher.accept_token(static_cast<unsigned char>(c)) ? 1 : 0;
    }
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const bool feeds = std::string_view(argv[1]) == "feed";
  const int rounds = std::atoi(argv[2]);
  std::printf("%llu\n",
              static_cast<unsigned long long>(
                  feeds ? feed(rounds) : fill(rounds, std::atoi(argv[3]))));
  return 0;
}
