#include "vocab/lines.h"

#include <array>
#include <charconv>
#include <utility>

namespace parlance::vocab {
namespace {

constexpr std::uint8_t kNoDigit = 64;

constexpr std::array<std::uint8_t, 256> make_digits() {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] =
        static_cast<std::uint8_t>(i);
  }
  return digits;
}

constexpr std::array<std::uint8_t, 256> kDigits = make_digits();

}  // namespace

bool Lines::next() {
  if (next_ >= text_.size()) return false;
  begin_ = next_;
  const std::size_t end = text_.find('\n', begin_);
  next_ = end == std::string_view::npos ? text_.size() : end + 1;
  line_ = text_.substr(begin_,
                       (end == std::string_view::npos ? next_ : end) - begin_);
  if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
  ++number_;
  return true;
}

std::optional<std::uint64_t> parse_number(std::string_view digits) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, status] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || status != std::errc() || stop != end || value >> 63) {
    return std::nullopt;
  }
  return value;
}

// Each group of four characters is 24 bits, of which `digits` characters give
// `digits` - 1 bytes.
bool decode_base64(std::string_view text, std::string& out) {
  out.clear();
  if (text.size() % 4 != 0) return false;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    // Only the last four characters may end in '=' or '=='.
    std::size_t digits = 4;
    if (i + 4 == text.size()) {
      while (digits > 2 && text[i + digits - 1] == '=') --digits;
    }
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::uint8_t digit =
          k < digits ? kDigits[static_cast<unsigned char>(text[i + k])] : 0;
      if (digit == kNoDigit) return false;
      bits = bits << 6 | digit;
    }
    for (std::size_t k = 0; k + 1 < digits; ++k) {
      out += static_cast<char>(bits >> (16 - 8 * k) & 0xFF);
    }
  }
  return true;
}

Error bad_line(const Lines& lines, std::string message) {
  return Error{.code = ErrorCode::kBadVocabulary,
               .message = "Line " + std::to_string(lines.number()) + ": " +
                          std::move(message),
               .span = lines.span()};
}

}  // namespace parlance::vocab
