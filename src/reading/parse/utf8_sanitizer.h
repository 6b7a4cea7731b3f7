#ifndef PARLANCE_SRC_PARSE_UTF8_SANITIZER_H_
#define PARLANCE_SRC_PARSE_UTF8_SANITIZER_H_

// Incremental repair of UTF-8, with a map of positions.
//
// Its input is any bytes, cut anywhere; its output is well-formed UTF-8 in
// whole characters.  Each maximal subpart of an ill-formed sequence becomes
// U+FFFD (Unicode 15, section 3.9).  A character that the end of a chunk cuts
// is held until the next call (at most three bytes).  Replacement changes
// lengths, so the sanitizer records each change and converts positions in its
// output to positions in the caller's bytes.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace parlance::parse {

class Utf8Sanitizer {
 public:
  // Surrogates, which are three bytes, are ill-formed (three times U+FFFD),
  // kept or replaced (once).
  enum class Surrogates : std::uint8_t { kIllFormed, kKept, kReplaced };
  explicit Utf8Sanitizer(Surrogates surrogates) : surrogates_(surrogates) {}

  // Sanitizes `bytes` and calls `out(std::string_view)` with the result, in any
  // number of pieces.
  template <class Out>
  void feed(std::string_view bytes, Out&& out) {
    if (bytes.empty()) return;
    if (tail_.empty() && base::is_ascii(bytes)) {
      text_ += bytes.size();
      out(bytes);
      return;
    }
    feed_any(bytes, out);
  }

  // Replaces the held bytes, because no byte can complete them: a mark or the
  // end of the stream follows.
  template <class Out>
  void flush(Out&& out) {
    if (tail_.empty()) return;
    std::string replaced;
    std::size_t size = tail_.size();
    tail_.clear();
    replace(replaced, size);
    out(std::string_view(replaced));
  }

  // Accounts for `size` bytes of well-formed output that the caller delivers
  // itself.
  void pass(std::size_t size) { text_ += size; }

  // Bytes of the caller that produce no text.
  void skip(std::size_t size) { shifts_.emplace_back(text_, delta() + size); }

  // Bytes that the caller has fed, held ones included.
  std::uint64_t bytes_in() const { return text_ + delta() + tail_.size(); }

  // The caller's position for a position in the output.
  std::uint64_t original(std::uint64_t position) const {
    if (shifts_.empty()) return position;
    std::size_t before = shifts_until(position);
    return before == 0 ? position + base_delta_
                       : position + shifts_[before - 1].second;
  }

  // Declares that no position before `position` will be asked for.
  void forget(std::uint64_t position) {
    if (shifts_.size() < 2) return;
    std::size_t gone = shifts_until(position);
    if (gone <= shifts_.size() / 2 || gone < 2) return;
    base_delta_ = shifts_[gone - 2].second;
    shifts_.erase(shifts_.begin(),
                  shifts_.begin() + static_cast<std::ptrdiff_t>(gone - 1));
  }

  std::string_view tail() const { return tail_; }

 private:
  static constexpr std::size_t kPiece = 4096;

  // feed() for any bytes.
  //
  // Invariant of the loop: `replaced` holds output that `out` has not got yet.
  // Long well-formed stretches go to `out` without a copy; short ones are
  // collected in `replaced`.
  template <class Out>
  void feed_any(std::string_view bytes, Out&& out) {
    std::string joined;
    if (!tail_.empty()) {
      joined = tail_;
      joined.append(bytes);
      bytes = joined;
      tail_.clear();
    }
    std::string replaced;
    while (!bytes.empty()) {
      base::Utf8Step step =
          base::next_utf8(bytes, surrogates_ == Surrogates::kKept);
      if (surrogates_ == Surrogates::kReplaced && begins_surrogate(bytes)) {
        step.size = std::min<std::size_t>(bytes.size(), 3);
        if (step.size < 3) step.kind = base::Utf8Step::Kind::kIncomplete;
      }
      switch (step.kind) {
        case base::Utf8Step::Kind::kValid:
          if (replaced.empty() &&
              (step.size >= kPiece || step.size == bytes.size())) {
            text_ += step.size;
            out(bytes.substr(0, step.size));
          } else {
            replaced.append(bytes.substr(0, step.size));
            text_ += step.size;
          }
          break;
        case base::Utf8Step::Kind::kIllFormed:
          replace(replaced, step.size);
          break;
        case base::Utf8Step::Kind::kIncomplete:
          tail_ = bytes;
          break;
      }
      bytes.remove_prefix(step.size);
      if (replaced.size() >= kPiece) {
        out(std::string_view(replaced));
        replaced.clear();
      }
    }
    if (!replaced.empty()) out(std::string_view(replaced));
  }

  static bool begins_surrogate(std::string_view bytes) {
    const auto at = [&](std::size_t i) {
      return static_cast<unsigned char>(bytes[i]);
    };
    return bytes.size() >= 2 && at(0) == 0xED && (at(1) & 0xE0) == 0xA0 &&
           (bytes.size() == 2 || (at(2) & 0xC0) == 0x80);
  }

  // The number of shifts at or before `position`.
  std::size_t shifts_until(std::uint64_t position) const {
    auto after = std::upper_bound(
        shifts_.begin(), shifts_.end(), position,
        [](std::uint64_t p, const auto& shift) { return p < shift.first; });
    return static_cast<std::size_t>(after - shifts_.begin());
  }

  std::uint64_t delta() const {
    return shifts_.empty() ? base_delta_ : shifts_.back().second;
  }

  void replace(std::string& out, std::size_t size) {
    out.append("\xEF\xBF\xBD");
    text_ += 3;
    // `now` may be negative; unsigned arithmetic wraps around correctly.
    std::uint64_t now = delta() + size - 3;
    if (size != 3) shifts_.emplace_back(text_, now);
  }

  Surrogates surrogates_;
  std::string tail_;
  std::uint64_t text_ = 0;  // bytes of output so far
  // (position in the output, caller's position minus output position from
  // there on), ascending.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> shifts_;
  std::uint64_t base_delta_ = 0;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_UTF8_SANITIZER_H_
