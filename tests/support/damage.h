#ifndef PARLANCE_TESTS_SUPPORT_DAMAGE_H_
#define PARLANCE_TESTS_SUPPORT_DAMAGE_H_

// Damage to the text of a response: pieces of it are dropped, inserted,
// repeated and replaced, and the text may end early.

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace parlance::testing {

// What is inserted: pieces of JSON, of Python and of elements.
inline std::vector<std::string> damage_pieces() {
  return {"{",
          "}",
          "[",
          "]",
          "\"",
          ",",
          ":",
          " x",
          "(",
          ")",
          "<",
          ">",
          "\n",
          "=",
          "01",
          "\\",
          "é",
          "\"name\": \"g\", ",
          "1}",
          "}}",
          "}, {",
          "]}",
          ";",
          "\\ud83d",
          "\"arguments\": {}, ",
          "\"id\": \"7\", ",
          "=xééééééééééééééééééééé"};
}

// The next whole character after a random place.
inline std::size_t random_place(const std::string& text, std::mt19937& random) {
  std::size_t at = random() % (text.size() + 1);
  while (at < text.size() &&
         (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
    ++at;
  }
  return at;
}

inline std::string damaged(std::string text,
                           const std::vector<std::string>& pieces,
                           std::mt19937& random) {
  for (std::size_t n = 1 + random() % 3; n > 0; --n) {
    std::size_t begin = random_place(text, random);
    std::size_t end = random_place(text, random);
    if (begin > end) std::swap(begin, end);
    // Most stretches are short.
    if (random() % 4 != 0) {
      end = begin;
      for (std::size_t k = 1 + random() % 4; k > 0 && end < text.size();) {
        ++end;
        if (end == text.size() ||
            (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80) {
          --k;
        }
      }
    }
    const std::string stretch = text.substr(begin, end - begin);
    const std::string& piece = pieces[random() % pieces.size()];
    switch (random() % 6) {
      case 0:
        text.erase(begin, end - begin);
        break;
      case 1:
        text.insert(begin, piece);
        break;
      case 2:
        text.insert(random_place(text, random), stretch);
        break;
      case 3:
        text.replace(begin, end - begin, piece);
        break;
      case 4: {
        // A piece of the text, dropped or repeated where it occurs.
        const std::size_t at = text.find(piece);
        if (at == std::string::npos) break;
        if (random() % 2 == 0) {
          text.erase(at, piece.size());
        } else {
          text.insert(at, piece);
        }
        break;
      }
      default:
        if (random() % 3 == 0) text.resize(begin);
        break;
    }
  }
  return text;
}

// Adds stretches of the text that are as long as markers.
inline void add_stretches(const std::string& text, std::mt19937& random,
                          std::vector<std::string>& pieces) {
  for (int i = 0; i < 12; ++i) {
    const std::size_t begin = random_place(text, random);
    std::size_t end = std::min(begin + 2 + random() % 24, text.size());
    while (end < text.size() &&
           (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
      ++end;
    }
    if (end > begin) pieces.push_back(text.substr(begin, end - begin));
  }
}

// The sizes of pieces: everything, one each, random ones.
inline std::vector<std::size_t> sizes_of(std::size_t size, int cut,
                                         std::mt19937& random) {
  if (cut == 0) return {size};
  std::vector<std::size_t> out;
  for (std::size_t at = 0; at < size; at += out.back()) {
    out.push_back(cut == 1 ? 1 : 1 + random() % 12);
    out.back() = std::min(out.back(), size - at);
  }
  return out;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_DAMAGE_H_
