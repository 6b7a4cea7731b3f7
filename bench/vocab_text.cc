#include "vocab_text.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace parlance::bench {
namespace {

std::string decode_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;  // the padding
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xFF);
    }
  }
  return out;
}

}  // namespace

Result<Vocabulary> read_vocabulary(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  if (!std::getline(in, line) || line != "vocab 1") {
    return Vocabulary::from_file(path);
  }
  std::vector<TokenId> stops;
  while (std::getline(in, line) && line != "tokens") {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key != "eos") continue;
    for (TokenId id = 0; words >> id;) stops.push_back(id);
  }
  std::vector<TokenEntry> entries;
  for (TokenId id = 0; std::getline(in, line); ++id) {
    TokenEntry entry{.id = id, .kind = TokenKind::kUnused};
    if (line != "U") {
      entry.kind =
          line.starts_with("S ") ? TokenKind::kControl : TokenKind::kOrdinary;
      entry.bytes = decode_base64(std::string_view(line).substr(2));
    }
    entries.push_back(std::move(entry));
  }
  return Vocabulary::from_table(entries, stops);
}

}  // namespace parlance::bench
