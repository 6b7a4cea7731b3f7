// Passes over the text: strings out, keys quoted, strings back in.
//
//   {a:<|"|>b:1<|"|>}   →  {a:␁0␂}  →  {"a":␁0␂}  →  {"a":"b:1"}

#include "json/lax.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/writer.h"

namespace parlance::json {
namespace {

// The characters that enclose the number of a string that was cut out.  The
// number in its marks stands for the string in the text.
struct Marks {
  char open = '\x01';
  char close = '\x02';
};
constexpr Marks kNuls = {'\0', '\0'};

// Where one of two characters occurs first in `text` from `at` on, or npos.
std::size_t find_either(std::string_view text, char a, char b, std::size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] == a || text[at] == b) return at;
  }
  return std::string_view::npos;
}

// The end of the run of word characters in `text` from `at` on.
std::size_t word_end(std::string_view text, std::size_t at,
                     bool (*is_word)(char32_t)) {
  while (at < text.size()) {
    std::size_t next = at;
    if (!is_word(base::next_code_point(text, next))) break;
    at = next;
  }
  return at;
}

// Appends the mark of `string` to `out`, and `string` to `strings`.
void cut(std::string& out, std::string_view string,
         std::vector<std::string>& strings, Marks marks) {
  out += marks.open + std::to_string(strings.size()) + marks.close;
  strings.emplace_back(string);
}

// Replaces every shortest `open ... close` in `text`, from left to right, by
// the mark of the text between `open` and `close`.
std::string cut_strings(std::string_view text, std::string_view open,
                        std::string_view close,
                        std::vector<std::string>& strings, Marks marks = {}) {
  std::string out;
  if (open.empty() && close.empty()) {
    // Python's sub() matches the empty string.  It may not match the empty
    // string twice at one position, so its next match is one character.
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t start = i;
      base::next_code_point(text, i);
      cut(out, "", strings, marks);
      cut(out, text.substr(start, i - start), strings, marks);
    }
    cut(out, "", strings, marks);
    return out;
  }
  std::size_t done = 0;
  while (true) {
    const std::size_t start = text.find(open, done);
    if (start == std::string_view::npos) break;
    const std::size_t inner = start + open.size();
    const std::size_t stop = text.find(close, inner);
    if (stop == std::string_view::npos) break;
    out.append(text, done, start - done);
    cut(out, text.substr(inner, stop - inner), strings, marks);
    done = stop + close.size();
  }
  out.append(text, done);
  return out;
}

// The end of the ordinary string that opens at text[at], after its quote; npos
// if it is none.  As in upstream's pattern, an escape is no line feed.  `stop`
// is where the search for a closing quote ended: a quote before it, but after
// `at`, opens no string either.
std::size_t string_end(std::string_view text, std::size_t at,
                       std::size_t& stop) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\') continue;
    if (++at == text.size() || text[at] == '\n') break;
  }
  stop = at;
  return at < text.size() && text[at] == '"' ? at + 1 : std::string_view::npos;
}

std::size_t space_end(std::string_view text, std::size_t at) {
  while (at < text.size() && base::is_space(text[at])) ++at;
  return at;
}

// Quotes each run of word characters between '{' or ',' and ':'.  `spaced`:
// white space may stand around it, and ordinary strings stay as they are.
//
// Invariant of the loop: `out` is the result for text[0, done), and no key
// begins in text[done, at).
std::string quote_keys(std::string_view text, bool (*is_word)(char32_t),
                       bool spaced) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  std::size_t done = 0;
  std::size_t no_string = 0;  // no string opens before it
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' && spaced && at >= no_string) {
      const std::size_t end = string_end(text, at, no_string);
      at = end == std::string_view::npos ? at + 1 : end;
      continue;
    }
    ++at;
    if (c != '{' && c != ',') continue;
    const std::size_t start = spaced ? space_end(text, at) : at;
    const std::size_t end = word_end(text, start, is_word);
    const std::size_t colon = spaced ? space_end(text, end) : end;
    if (end > start && colon < text.size() && text[colon] == ':') {
      out.append(text, done, start - done);
      out.push_back('"');
      out.append(text, start, end - start);
      out.push_back('"');
      done = at = end;
    } else {
      at = std::max(at, end);
    }
  }
  out.append(text, done);
  return out;
}

// Replaces each mark by its string, in quotes.  Upstream replaces the marks one
// after the other.  One pass has the same result: a replacement contains no
// control characters, because they are escaped, so it contains no mark; and it
// begins with a quote, so it completes no mark either.
//
// Invariant of the loop: `out` is the result for text[0, done), and no mark
// begins in text[done, mark).
std::string restore_strings(std::string_view text,
                            const std::vector<std::string>& strings,
                            Marks marks = {}) {
  std::string out;
  std::size_t done = 0;
  while (true) {
    const std::size_t mark = text.find(marks.open, done);
    if (mark == std::string_view::npos) break;
    std::size_t index = 0;
    std::size_t i = mark + 1;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      index = index * 10 + static_cast<std::size_t>(text[i] - '0');
      if (index >= strings.size()) break;
    }
    const std::size_t digits = i - (mark + 1);
    const bool canonical = digits > 0 && (digits == 1 || text[mark + 1] != '0');
    if (canonical && index < strings.size() && i < text.size() &&
        text[i] == marks.close) {
      out.append(text, done, mark - done);
      append_string(out, strings[index]);
      done = i + 1;
    } else {
      out.append(text, done, mark + 1 - done);
      done = mark + 1;
    }
  }
  out.append(text, done);
  return out;
}

// Whether only digits separate two marks of kNuls.  The digits, the end of the
// first mark and the beginning of the second then look like one more mark.
bool marks_blend(std::string_view text) {
  std::size_t close = std::string_view::npos;
  for (std::size_t at = text.find('\0'); at != std::string_view::npos;) {
    if (close != std::string_view::npos && at > close + 1 &&
        text.substr(close + 1, at - close - 1)
                .find_first_not_of("0123456789") == std::string_view::npos) {
      return true;
    }
    close = text.find('\0', at + 1);
    at = text.find('\0', close + 1);
  }
  return false;
}

// Replaces the marks one after the other, as upstream does, where `text`
// contains other text that looks like a mark.  Nothing if that takes too much
// work.
std::optional<std::string> restore_one_by_one(
    std::string text, const std::vector<std::string>& strings, Marks marks) {
  constexpr std::size_t kMostWork = std::size_t{1} << 28;
  std::size_t work = 0;
  for (std::size_t i = 0; i < strings.size(); ++i) {
    work += text.size();
    if (work > kMostWork) return std::nullopt;
    const std::string mark = marks.open + std::to_string(i) + marks.close;
    std::string out;
    std::size_t done = 0;
    for (std::size_t at; (at = text.find(mark, done)) != std::string::npos;) {
      out.append(text, done, at - done);
      append_string(out, strings[i]);
      done = at + mark.size();
      if (out.size() > kMostWork) return std::nullopt;
    }
    out.append(text, done);
    text = std::move(out);
  }
  return text;
}

}  // namespace

std::optional<std::string> rewrite_gemma_call(std::string_view body,
                                              bool (*is_word)(char32_t)) {
  constexpr std::string_view kQuote = "<|\"|>";
  std::vector<std::string> strings;
  std::string text = cut_strings(body, kQuote, kQuote, strings, kNuls);
  text = quote_keys(text, is_word, /*spaced=*/false);
  if (strings.empty()) return text;
  if (body.find('\0') != std::string_view::npos || marks_blend(text)) {
    return restore_one_by_one(std::move(text), strings, kNuls);
  }
  return restore_strings(text, strings, kNuls);
}

std::optional<std::string> rewrite(std::string_view body,
                                   const Dialect& dialect,
                                   bool (*is_word)(char32_t)) {
  constexpr Marks kMarks;
  if (!dialect.string_delims.empty() &&
      find_either(body, kMarks.open, kMarks.close, 0) !=
          std::string_view::npos) {
    return std::nullopt;
  }
  std::string text(body);
  std::vector<std::string> strings;
  for (const auto& [open, close] : dialect.string_delims) {
    text = cut_strings(text, open, close, strings);
  }
  if (dialect.unquoted_keys) {
    text = quote_keys(text, is_word, /*spaced=*/true);
  }
  if (!strings.empty()) text = restore_strings(text, strings);
  return text;
}

}  // namespace parlance::json
