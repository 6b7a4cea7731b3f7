#ifndef PARLANCE_SRC_MASK_RECOGNISER_MASKS_H_
#define PARLANCE_SRC_MASK_RECOGNISER_MASKS_H_

// What is known of the masks of one recogniser with one vocabulary.  It is kept
// with the recogniser, so every constraint that is made of it knows the masks
// that were made for another.
//
// ActivePart a part (the schema of one tool) most masks say the same whatever
// grammar the part is in: those for which nothing behind the part was asked,
// and those of a part behind which the same text is forced, if that text is
// longer than what any token has of it.

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

// Under the lock of its recogniser.
struct RecogniserMasks final : recogniser::UserData {
  // The only byte that may come, or one of:
  static constexpr std::int16_t kChoice = -1;       // several, or an end
  static constexpr std::int16_t kInCharacter = -2;  // several, inside UTF-8
  static constexpr std::int16_t kMark = -3;         // no byte: only `mark`
  struct Next {
    recogniser::Configuration from;
    recogniser::Configuration to;
    std::int16_t byte = kChoice;
    std::uint32_t mark = 0;
  };
  static constexpr std::size_t kNextCount = 256;
  // Texts behind a part that are told apart.
  static constexpr std::size_t kMaxFollowingTexts = 8;

  MaskMemo memo;  // of the recogniser as a whole
  PartialMaskCache partial;
  std::unique_ptr<std::array<Next, kNextCount>> next;  // by hash, when used

  // Of the recogniser as a part of others: whatever is behind it, and by what
  // is.
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
