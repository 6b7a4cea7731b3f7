// Spellings of marks in ordinary text, see spoofs.h.

#include "parse/spoofs.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "json/writer.h"

namespace parlance::parse {
namespace {

using automata::Mark;

// The longest spelling that `text` begins with.
const Mark* spelled_at(std::string_view text, std::span<const Mark> marks) {
  const Mark* best = nullptr;
  for (const Mark& mark : marks) {
    if (text.starts_with(mark.spelling) &&
        (best == nullptr || mark.spelling.size() > best->spelling.size())) {
      best = &mark;
    }
  }
  return best;
}

// Changes one character of the spelling at `at` into another of the same size:
// the first ASCII letter if there is one, else the first character.
void deface(std::string& text, std::size_t at, std::size_t size) {
  for (std::size_t i = at; i < at + size; ++i) {
    if (!base::is_letter(static_cast<unsigned char>(text[i]))) continue;
    const bool last = text[i] == 'z' || text[i] == 'Z';
    text[i] = static_cast<char>(text[i] + (last ? -1 : 1));
    return;
  }
  const auto first = static_cast<unsigned char>(text[at]);
  const std::string_view other = first < 0x80   ? "\x7F"
                                 : first < 0xE0 ? "\xC2\x80"
                                 : first < 0xF0 ? "\xEE\x80\x80"
                                                : "\xF4\x8F\xBF\xBD";
  text.replace(at, other.size(), other);
}

// Calls `found(begin, end)` for each stretch of `text` between its marks.
template <class Found>
void between_marks(const MarkedText& text, Found&& found) {
  std::size_t done = 0;
  for (const MarkAt& mark : text.marks) {
    found(done, text.begin_of(mark));
    done = text.begin_of(mark) + mark.length;
  }
  found(done, text.text.size());
}

// `text` with each stretch that spells one of `used` replaced.
template <class Used>
std::string replaced(std::string_view text, const std::vector<Used>& used) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Used* best = nullptr;
    for (const Used& one : used) {
      if (text.substr(i).starts_with(one.spelling) &&
          (best == nullptr || one.spelling.size() > best->spelling.size())) {
        best = &one;
      }
    }
    if (best == nullptr) {
      out += text[i++];
    } else {
      out += best->sentinel;
      i += best->spelling.size();
    }
  }
  return out;
}

void replace_all(std::string& text, std::string_view from,
                 std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

// `text` as a JSON string has it, without the quotes.
std::string escaped(std::string_view text) {
  std::string out;
  json::append_string(out, text);
  return out.substr(1, out.size() - 2);
}

}  // namespace

std::string spoofs_hidden(const MarkedText& text, std::span<const Mark> marks) {
  std::string out(text.text);
  between_marks(text, [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const Mark* mark =
          spelled_at(text.text.substr(begin, end - begin), marks);
      if (mark == nullptr) {
        ++begin;
        continue;
      }
      deface(out, begin, mark->spelling.size());
      begin += mark->spelling.size();
    }
  });
  return out;
}

std::size_t unfinished_spelling(const MarkedText& text,
                                std::span<const Mark> marks) {
  const std::size_t size = text.text.size();
  std::size_t begin = 0;
  if (!text.marks.empty()) {
    begin = text.begin_of(text.marks.back()) + text.marks.back().length;
  }
  std::size_t first = size;
  for (const Mark& mark : marks) {
    const std::size_t most = mark.spelling.size() - 1;
    for (std::size_t at = std::max(begin, size - std::min(size, most));
         at < first; ++at) {
      if (std::string_view(mark.spelling).starts_with(text.text.substr(at))) {
        first = at;
      }
    }
  }
  return first;
}

Sentinels::Sentinels(const MarkedText& text, std::span<const Mark> marks,
                     const Delimiters& delimiters) {
  const auto names = [&](const Mark& mark) {
    return std::ranges::any_of(delimiters, [&](const auto& pair) {
      return pair.first.find(mark.spelling) != std::string::npos ||
             pair.second.find(mark.spelling) != std::string::npos;
    });
  };
  // A sentinel is a number between two control characters.  Numbers are tried
  // in order until one is not in the text.
  std::size_t number = 0;
  std::vector<const Used*> of_symbol(marks.size(), nullptr);
  used_.reserve(marks.size());
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (!names(marks[i])) continue;
    std::string sentinel;
    do {
      sentinel = '\x03' + std::to_string(number++) + '\x04';
    } while (text.text.find(sentinel) != std::string_view::npos);
    used_.push_back({marks[i].spelling, sentinel, escaped(sentinel)});
    of_symbol[i] = &used_.back();
  }
  if (used_.empty()) return;
  std::size_t done = 0;
  for (const MarkAt& mark : text.marks) {
    const std::size_t index = mark.symbol - automata::kFirstMark;
    const Used* used = of_symbol[index];
    if (used == nullptr) continue;
    text_ += text.text.substr(done, text.begin_of(mark) - done);
    text_ += used->sentinel;
    done = text.begin_of(mark) + mark.length;
  }
  text_ += text.text.substr(done);
  for (const auto& [open, close] : delimiters) {
    delimiters_.emplace_back(replaced(open, used_), replaced(close, used_));
  }
}

std::string Sentinels::restored(std::string text) const {
  for (const Used& used : used_) {
    replace_all(text, used.sentinel, used.spelling);
    replace_all(text, used.escaped, escaped(used.spelling));
  }
  return text;
}

}  // namespace parlance::parse
