#ifndef PARLANCE_SRC_MASK_RECOGNISER_MASKS_H_
#define PARLANCE_SRC_MASK_RECOGNISER_MASKS_H_

// What is cached about the masks of one recogniser with one vocabulary.  It is
// attached to the recogniser, so all constraints made from the recogniser share
// it.
//
// Inside a part (the schema of one tool) most masks are the same whatever
// grammar contains the part: those that do not depend on what follows the part,
// and those of parts that are followed by the same forced text, if no token
// extends beyond that text.  These are attached to the part.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "mask/mask_memo.h"
#include "mask/partial_mask.h"
#include "recogniser/recogniser.h"

namespace parlance::mask {

// Guarded by the lock of the recogniser.
struct RecogniserMasks final : recogniser::UserData {
  // Next::byte is the only byte that fits, or one of:
  static constexpr std::int16_t kChoice =
      -1;  // several bytes, or the text can end
  static constexpr std::int16_t kInCharacter =
      -2;  // several bytes, inside a UTF-8 character
  static constexpr std::int16_t kMark = -3;  // no byte fits, only `mark`
  struct Next {
    recogniser::Configuration from;
    recogniser::Configuration to;
    std::int16_t byte = kChoice;
    std::uint32_t mark = 0;
  };
  static constexpr std::size_t kNextCount = 256;
  // Texts after the part for which masks are stored.
  static constexpr std::size_t kMaxFollowingTexts = 8;

  // By configuration of this recogniser.  A mask reads the recogniser from
  // there on, tokens of this vocabulary, and no stop tokens.
  MaskMemo memo;
  // Configurations whose masks were made lately by reading most tokens, the
  // last one at `last_read`; dead: none.
  std::array<recogniser::Configuration, 4> lately;
  std::size_t last_read = 0;
  // By configuration of this recogniser.  A partial mask reads the same as a
  // mask.
  PartialMaskCache partial;
  // By hash; each has its configuration, and reads the recogniser there, the
  // marks of its grammar and the number of ids.  Null until used.
  std::unique_ptr<std::array<Next, kNextCount>> next;

  // By configuration of this recogniser as a part of others.  The first read
  // this recogniser alone: inside a part no mark can come, and tracking has
  // seen that nothing after the part was read.  The others read the text that
  // follows it as well, and nothing after that text (no_token_extends()).
  MaskMemo independent;
  std::map<std::string, MaskMemo, std::less<>> by_following_text;

  std::size_t memory_bytes() const override {
    std::size_t bytes = sizeof(RecogniserMasks) + memo.memory_bytes() +
                        partial.memory_bytes() + independent.memory_bytes() +
                        (next == nullptr ? 0 : sizeof(*next));
    for (const auto& [text, one] : by_following_text) {
      bytes += sizeof(MaskMemo) + 96 + text.capacity() + one.memory_bytes();
    }
    return bytes;
  }

  MaskHandle find_in_part(const recogniser::Configuration& key,
                          std::string_view text) {
    if (const MaskHandle found = independent.find(key)) return found;
    const auto known = by_following_text.find(text);
    return known == by_following_text.end() ? MaskHandle{}
                                            : known->second.find(key);
  }
  void insert_followed_by(std::string_view text,
                          const recogniser::Configuration& key,
                          MaskHandle handle) {
    if (const auto known = by_following_text.find(text);
        known != by_following_text.end()) {
      known->second.insert(key, handle);
    } else if (by_following_text.size() < kMaxFollowingTexts) {
      by_following_text[std::string(text)].insert(key, handle);
    }
  }
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_RECOGNISER_MASKS_H_
