#ifndef PARLANCE_SRC_HARMONY_TEXT_DECODER_H_
#define PARLANCE_SRC_HARMONY_TEXT_DECODER_H_

// The bytes of tokens as well-formed UTF-8, decided as early as possible.
//
// A token may end inside a character.  The bytes of the character, at most
// three, wait for the next token; each maximal subpart of an ill-formed
// sequence becomes U+FFFD (Unicode 15, section 3.9) as soon as the next byte
// shows that it is ill-formed.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace parlance::harmony {

class TextDecoder {
 public:
  // Appends to `out` what is decided now.
  void feed(std::string_view bytes, std::string& out) {
    if (held_ == 0 && (bytes.empty() || (bytes.back() & 0x80) == 0) &&
        base::is_ascii(bytes)) {
      out.append(bytes);
      return;
    }
    feed_any(bytes, out);
  }

  // Replaces the bytes that wait, because nothing can complete the character.
  void flush(std::string& out) {
    if (held_ == 0) return;
    held_ = 0;
    out.append(base::kReplacement);
  }

  // The number of bytes that wait.
  std::size_t pending() const { return held_; }

 private:
  using Kind = base::Utf8Step::Kind;

  // Invariant of the loop: the bytes before `done` are decided and in `out`;
  // those in [done, at) are whole characters.
  void feed_any(std::string_view bytes, std::string& out) {
    std::size_t at = held_ == 0 ? 0 : complete(bytes, out);
    std::size_t done = at;
    while (at < bytes.size()) {
      if (const std::size_t size = common_character(bytes.substr(at))) {
        at += size;
        continue;
      }
      const base::Utf8Step step = base::next_character(bytes.substr(at));
      if (step.kind == Kind::kValid) {
        at += step.size;
        continue;
      }
      out.append(bytes.substr(done, at - done));
      if (step.kind == Kind::kIncomplete) {
        hold(bytes.substr(at));
        return;
      }
      out.append(base::kReplacement);
      at += step.size;
      done = at;
    }
    out.append(bytes.substr(done));
  }

  // The size of the character that `bytes` begins with, if it is one of the
  // two kinds that most text consists of: ASCII, and three bytes of which the
  // first does not restrict the second.  Else 0.
  static std::size_t common_character(std::string_view bytes) {
    const auto byte = [&](std::size_t i) {
      return static_cast<unsigned char>(bytes[i]);
    };
    if (byte(0) < 0x80) return 1;
    return byte(0) > 0xE0 && byte(0) < 0xED && bytes.size() >= 3 &&
                   (byte(1) & 0xC0) == 0x80 && (byte(2) & 0xC0) == 0x80
               ? 3
               : 0;
  }

  // Decides the bytes that wait by those that follow.  Returns how many of
  // `bytes` it used.  If they do not belong to the character, all that waits is
  // one maximal subpart, because it was well-formed so far.
  std::size_t complete(std::string_view bytes, std::string& out) {
    const std::size_t added = std::min(bytes.size(), kLongest - held_);
    std::copy_n(bytes.begin(), added, character_.begin() + held_);
    const std::string_view all(character_.data(), held_ + added);
    if (const std::size_t size = common_character(all)) {
      const std::size_t used = size - held_;
      held_ = 0;
      out.append(all.substr(0, size));
      return used;
    }
    const base::Utf8Step step = base::next_character(all);
    if (step.kind == Kind::kIncomplete) {
      held_ = all.size();
      return added;
    }
    const std::size_t used = step.size - held_;
    held_ = 0;
    out.append(step.kind == Kind::kValid ? all.substr(0, step.size)
                                         : base::kReplacement);
    return used;
  }

  void hold(std::string_view bytes) {
    std::copy_n(bytes.begin(), bytes.size(), character_.begin());
    held_ = bytes.size();
  }

  static constexpr std::size_t kLongest = 4;  // bytes of a character
  std::array<char, kLongest> character_ = {};
  std::size_t held_ = 0;  // of character_: bytes that wait, at most three
};

}  // namespace parlance::harmony

#endif  // PARLANCE_SRC_HARMONY_TEXT_DECODER_H_
