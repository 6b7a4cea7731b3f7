// Raw texts: the strings of a schema without quotes and escapes, as notations
// other than JSON write them between delimiters of their own.
//
// The whole text is one lexeme of a string, in which every byte is text; what
// follows it, and so where it ends, is decided by the grammar around it.  As in
// a string, a bound on the length is a number beside the state of the language:
//
//   {"minLength": 1000, "maxLength": 2000}  without "</p>"
//   state of .* without "</p>"  count 1234
//
// A maximum is compared with the characters that a state still needs.  A
// minimum is a number if every text can be made longer before it is completed
// (Languages::reach()); else it is a part of the language.
//
// A mask depends on numbers only near a bound: raw_mask_key() drops the bounds
// that no token reaches.

#include <algorithm>

#include "json_recogniser/distinct_list.h"
#include "json_recogniser/json_recogniser.h"

namespace parlance::json_recogniser {

using json::BodyState;
using recogniser::Configuration;

Configuration JsonRecogniser::enter_raw(FrameId frame) {
  const LexId lexeme = starts_.string(frame);
  return lexeme == 0 ? Configuration{} : Configuration{lexeme, frame, 0, 0};
}

bool JsonRecogniser::raw_can_end(Configuration config) {
  const Lexeme& lexeme = lexemes_[config];
  return lexeme.body == BodyState::kText &&
         std::ranges::any_of(lexeme.entries, [&](const LexemeEntry& entry) {
           return config.count >= entry.min && config.count <= entry.max &&
                  solver_.languages().accepting(entry.language_state());
         });
}

// The bounds are counted from here, so that texts with equally much left have
// one key.  A maximum that no token reaches does not matter, and neither does a
// minimum that is reached; a minimum that no token reaches cannot be reached
// later either.
Configuration JsonRecogniser::raw_mask_key(Configuration config,
                                           std::uint32_t longest) {
  if (config.dead()) return config;
  const Lexeme& now = lexemes_[config];
  const auto is_bounded = [](const LexemeEntry& entry) {
    return entry.min != 0 || entry.max != base::kUnbounded;
  };
  if (std::ranges::none_of(now.entries, is_bounded)) return config;
  Lexeme key = now.without_entries();
  DistinctList distinct(key.entries, &LexemeEntry::key);
  for (LexemeEntry entry : now.entries) {
    if (entry.min <= config.count) {
      entry.min = 0;
    } else if (entry.min != base::kUnbounded) {
      entry.min -= config.count;
      if (entry.min > longest) entry.min = base::kUnbounded;
    }
    if (entry.max != base::kUnbounded) {
      entry.max -= config.count;
      // One more for a character that has begun.
      if (strings_.most_needed() < entry.max &&
          entry.max - strings_.most_needed() > longest + 1) {
        entry.max = base::kUnbounded;
      }
    }
    if (entry.max == base::kUnbounded) entry.needed = 0;
    distinct.add(entry);
  }
  config.lex = lexemes_.intern(std::move(key));
  config.count = 0;
  return config;
}

// What two bytes lead to differs only by the lexeme.
const JsonRecogniser::ByteClassTable* JsonRecogniser::byte_classes_at(
    Configuration config) {
  if (!language_->raw() || config.dead()) return nullptr;
  std::unique_ptr<ByteClassTable>& known = raw_classes_[lex_of(config)];
  if (known == nullptr) {
    known = std::make_unique<ByteClassTable>();
    std::vector<std::pair<LexId, std::uint8_t>> least;
    for (unsigned i = 0; i < 256; ++i) {
      const auto byte = static_cast<std::uint8_t>(i);
      const bool dead =
          strings_.next_body(lexemes_[config].body, byte) == BodyState::kDead;
      const LexId target =
          dead ? kDeadLexeme : strings_.step(lex_of(config), byte);
      const auto at = std::ranges::find(least, target,
                                        &std::pair<LexId, std::uint8_t>::first);
      (*known)[i] = at == least.end() ? byte : at->second;
      if (at == least.end()) least.emplace_back(target, byte);
    }
  }
  return known.get();
}

}  // namespace parlance::json_recogniser
