// Spellings of marks in ordinary text, see spoofs.h.

#include "parse/spoofs.h"

#include <algorithm>
#include <unordered_set>

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

// Defaces the spellings that begin in [from, to) of `text`, in `out`, whose
// bytes from `skip` on are a copy of `text`.  Returns the end of the last one,
// or `from`.
std::size_t deface_spellings(const MarkedText& text, std::size_t from,
                             std::size_t to, std::span<const Mark> marks,
                             std::string& out, std::size_t skip) {
  std::size_t last_end = from;
  std::size_t next = text.first_mark(from);
  for (std::size_t at = from; at < to;) {
    const bool marked = next < text.marks.size();
    const std::size_t end =
        marked ? text.begin_of(text.marks[next]) : text.text.size();
    if (at == end) {
      at += text.marks[next++].length;
      continue;
    }
    const Mark* mark = spelled_at(text.text.substr(at, end - at), marks);
    if (mark == nullptr) {
      ++at;
      continue;
    }
    deface(out, skip + at, mark->spelling.size());
    last_end = at += mark->spelling.size();
  }
  return last_end;
}

// Where the longest suffix of `text` begins that is a proper prefix of a
// spelling of one of `marks`; the size of `text` if there is none.
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

// `text` with each `from` replaced by its `to`; of several that begin at one
// place the longest counts.
struct Replacement {
  std::string_view from;
  std::string_view to;
};
std::string replaced(std::string_view text,
                     const std::vector<Replacement>& replacements) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Replacement* best = nullptr;
    for (const Replacement& one : replacements) {
      if (text.substr(i).starts_with(one.from) &&
          (best == nullptr || one.from.size() > best->from.size())) {
        best = &one;
      }
    }
    if (best == nullptr) {
      out += text[i++];
    } else {
      out += best->to;
      i += best->from.size();
    }
  }
  return out;
}

// The numbers that `text` has between the controls of a sentinel, each of these
// as a character or as a JSON escape, with leading zeros or without.
std::unordered_set<std::size_t> numbers_between_controls(
    std::string_view text) {
  const auto skip = [&](std::size_t& at, std::string_view character,
                        std::string_view escape) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with(character)) {
      at += character.size();
    } else if (rest.starts_with(escape)) {
      at += escape.size();
    } else {
      return false;
    }
    return true;
  };
  std::unordered_set<std::size_t> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t i = at;
    if (!skip(i, "\x03", "\\u0003")) {
      ++at;
      continue;
    }
    at = i;  // what follows the digits may begin the next number
    std::size_t number = 0;
    while (i < text.size() &&
           base::is_digit(static_cast<unsigned char>(text[i]))) {
      number = 10 * number + static_cast<std::size_t>(text[i++] - '0');
    }
    if (skip(i, "\x04", "\\u0004")) out.insert(number);
  }
  return out;
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
  deface_spellings(text, 0, out.size(), marks, out, 0);
  return out;
}

std::string_view HiddenSpoofs::update(const MarkedText& text,
                                      std::span<const Mark> marks, bool end) {
  if (text.offset - base_ > hidden_.size() / 2) {
    hidden_.erase(0, static_cast<std::size_t>(text.offset - base_));
    base_ = text.offset;
  }
  const auto skip = static_cast<std::size_t>(text.offset - base_);
  hidden_ += text.text.substr(hidden_.size() - skip);
  // A spelling that begins before `visible` is complete, and no longer one
  // begins with it.
  const std::size_t visible =
      end ? text.text.size() : unfinished_spelling(text, marks);
  const auto from =
      static_cast<std::size_t>(std::max(decided_, text.offset) - text.offset);
  work_ += visible - std::min(from, visible);
  const std::size_t last_end =
      deface_spellings(text, from, visible, marks, hidden_, skip);
  decided_ = text.offset + std::max(last_end, visible);
  return std::string_view(hidden_).substr(skip, visible);
}

Sentinels::Sentinels(const MarkedText& text, std::span<const Mark> marks,
                     const Delimiters& delimiters) {
  const auto names = [&](const Mark& mark) {
    return std::ranges::any_of(delimiters, [&](const auto& pair) {
      return pair.first.find(mark.spelling) != std::string::npos ||
             pair.second.find(mark.spelling) != std::string::npos;
    });
  };
  // A sentinel is a number between two control characters: the least numbers
  // that the text does not have in that way.
  const std::unordered_set<std::size_t> taken =
      numbers_between_controls(text.text);
  std::size_t number = 0;
  std::vector<const Used*> of_symbol(marks.size(), nullptr);
  used_.reserve(marks.size());
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (!names(marks[i])) continue;
    while (taken.contains(number)) ++number;
    const std::string sentinel = '\x03' + std::to_string(number++) + '\x04';
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
  std::vector<Replacement> sentinels;
  for (const Used& used : used_) {
    sentinels.push_back({used.spelling, used.sentinel});
  }
  for (const auto& [open, close] : delimiters) {
    delimiters_.emplace_back(replaced(open, sentinels),
                             replaced(close, sentinels));
  }
}

std::string Sentinels::restored(std::string_view text) const {
  std::vector<std::string> spellings;  // escaped
  spellings.reserve(used_.size());
  std::vector<Replacement> back;
  for (const Used& used : used_) {
    spellings.push_back(escaped(used.spelling));
    back.push_back({used.sentinel, used.spelling});
    back.push_back({used.escaped, spellings.back()});
  }
  return replaced(text, back);
}

}  // namespace parlance::parse
