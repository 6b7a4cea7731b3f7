#ifndef PARLANCE_SRC_JSON_RECOGNISER_TEXTS_H_
#define PARLANCE_SRC_JSON_RECOGNISER_TEXTS_H_

// The texts of lexemes that are remembered, as a trie: equal texts have equal
// ids, and a text with one byte more takes one entry more.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace parlance::json_recogniser {

// Append-only.  Not thread-safe.
class Texts {
 public:
  using Id = std::uint32_t;
  static constexpr Id kEmpty = 0;

  // The text with more bytes.
  Id extend(Id id, std::string_view bytes) {
    for (const char c : bytes) {
      const std::uint64_t key =
          (std::uint64_t{id} << 8 | static_cast<std::uint8_t>(c)) + 1;
      const auto [it, is_new] =
          ids_.try_emplace(key, static_cast<Id>(entries_.size()));
      if (is_new) entries_.push_back(key);
      id = it->second;
    }
    return id;
  }
  // Complexity: O(size of the text).
  std::string operator[](Id id) const {
    std::string text;
    for (; id != kEmpty; id = static_cast<Id>((entries_[id] - 1) >> 8)) {
      text.push_back(static_cast<char>((entries_[id] - 1) & 0xFF));
    }
    std::reverse(text.begin(), text.end());
    return text;
  }

  std::size_t size() const { return entries_.size(); }
  std::size_t memory_bytes() const { return entries_.size() * 64; }

 private:
  // (the text before << 8 | the last byte) + 1; the first is the empty text.
  std::vector<std::uint64_t> entries_ = {0};
  std::unordered_map<std::uint64_t, Id> ids_;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_TEXTS_H_
