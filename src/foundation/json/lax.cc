// Passes over the text: strings out, Python's words replaced, keys quoted,
// strings back in.
//
//   {a:<|"|>b:1<|"|>}   →  {a:␁0␂}  →  {"a":␁0␂}  →  {"a":"b:1"}

#include "json/lax.h"

#include <vector>

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

// Quotes each run of word characters that stands directly between '{' or ','
// and ':'.
std::string quote_keys(std::string_view text, bool (*is_word)(char32_t)) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  std::size_t done = 0;
  while (true) {
    const std::size_t before = find_either(text, '{', ',', done);
    if (before == std::string_view::npos) break;
    const std::size_t start = before + 1;
    const std::size_t end = word_end(text, start, is_word);
    out.append(text, done, start - done);
    if (end > start && end < text.size() && text[end] == ':') {
      out.push_back('"');
      out.append(text, start, end - start);
      out.push_back('"');
    } else {
      out.append(text, start, end - start);
    }
    done = end;
  }
  out.append(text, done);
  return out;
}

// Replaces None, True and False by JSON's words where they are whole words
// outside ordinary strings, "...".  A word between '{' or ',' and ':' is a key.
//
// Invariant of the loop: `out` is the result for text[0, at).
std::string replace_python_words(std::string_view text,
                                 bool (*is_word)(char32_t)) {
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = quoted ? at : word_end(text, at, is_word);
    if (end > at) {
      const std::string_view word = text.substr(at, end - at);
      const std::string_view meant = Dialect::json_word(word);
      const bool key = at > 0 && (text[at - 1] == '{' || text[at - 1] == ',') &&
                       end < text.size() && text[end] == ':';
      out += meant.empty() || key ? word : meant;
      at = end;
      continue;
    }
    const char c = text[at++];
    out += c;
    if (c == '"') quoted = !quoted;
    if (c == '\\' && quoted && at < text.size()) out += text[at++];
  }
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
  text = quote_keys(text, is_word);
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
  if (dialect.python_words) text = replace_python_words(text, is_word);
  if (dialect.unquoted_keys) text = quote_keys(text, is_word);
  if (!strings.empty()) text = restore_strings(text, strings);
  return text;
}

}  // namespace parlance::json
