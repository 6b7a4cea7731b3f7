// Byte-pair merging.

#include "encode.h"

#include <algorithm>
#include <cctype>

namespace parlance::bench {
namespace {

bool letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool digit(char c) { return c >= '0' && c <= '9'; }
bool line_end(char c) { return c == '\n' || c == '\r'; }
bool space(char c) { return c == ' ' || c == '\t' || line_end(c); }
bool other(char c) { return !letter(c) && !digit(c) && !space(c); }

// 's 't 're 've 'm 'll 'd
std::size_t contraction(std::string_view text) {
  for (const std::string_view one :
       {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.substr(0, one.size()) == one) return one.size();
  }
  return 0;
}

template <class Is>
std::size_t run(std::string_view text, std::size_t from, Is is) {
  while (from < text.size() && is(text[from])) ++from;
  return from;
}

// White space: up to the last end of a line in it, or all but the character
// that belongs to the next word.
std::size_t space_word(std::string_view text) {
  const std::size_t end = run(text, 0, space);
  const std::size_t line = text.substr(0, end).find_last_of("\r\n");
  if (line != std::string_view::npos) return line + 1;
  return end == text.size() || end == 1 ? end : end - 1;
}

// The bytes of the first word.
std::size_t word(std::string_view text) {
  if (const std::size_t size = contraction(text)) return size;
  if (letter(text[0])) return run(text, 1, letter);
  if (!digit(text[0]) && !line_end(text[0]) && text.size() > 1 &&
      letter(text[1])) {
    return run(text, 2, letter);
  }
  if (digit(text[0])) return std::min<std::size_t>(3, run(text, 1, digit));
  const std::size_t begin = text[0] == ' ' ? 1 : 0;
  if (begin < text.size() && other(text[begin])) {
    return run(text, run(text, begin, other), line_end);
  }
  return space_word(text);
}

}  // namespace

Encoder::Encoder(const Vocabulary& vocabulary) {
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.kind(id) == TokenKind::kOrdinary) {
      ids_.try_emplace(vocabulary.bytes(id), id);
    }
  }
}

std::vector<TokenId> Encoder::encode(std::string_view text) const {
  std::vector<TokenId> out;
  while (!text.empty()) {
    const std::size_t size = word(text);
    encode_word(text.substr(0, size), out);
    text.remove_prefix(size);
  }
  return out;
}

void Encoder::encode_word(std::string_view word,
                          std::vector<TokenId>& out) const {
  if (const auto whole = ids_.find(word); whole != ids_.end()) {
    out.push_back(whole->second);
    return;
  }
  std::vector<std::string_view> parts;
  for (std::size_t i = 0; i < word.size(); ++i) {
    parts.push_back(word.substr(i, 1));
  }
  const auto joined = [&](std::size_t i) {
    return std::string_view(parts[i].data(),
                            parts[i].size() + parts[i + 1].size());
  };
  while (parts.size() > 1) {
    std::size_t best = parts.size();
    TokenId best_id = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ids_.find(joined(i));
      if (found == ids_.end()) continue;
      if (best < parts.size() && found->second >= best_id) continue;
      best = i;
      best_id = found->second;
    }
    if (best == parts.size()) break;
    parts[best] = joined(best);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  for (const std::string_view part : parts) out.push_back(ids_.at(part));
}

}  // namespace parlance::bench
