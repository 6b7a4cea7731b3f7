// Three passes over the text: strings out, keys quoted, strings back in.
//
//   {a:<|"|>b:1<|"|>}   →  {a:␁0␂}  →  {"a":␁0␂}  →  {"a":"b:1"}

#include "json/lax.h"

#include <vector>

#include "base/utf8.h"
#include "json/writer.h"

namespace parlance::json {
namespace {

constexpr char kMarkOpen = '\x01';
constexpr char kMarkClose = '\x02';

// Puts the mark of `string` in its place.
void cut(std::string& out, std::string_view string,
         std::vector<std::string>& strings) {
  out += kMarkOpen + std::to_string(strings.size()) + kMarkClose;
  strings.emplace_back(string);
}

// Replaces every shortest `open ... close` in `text` by the mark of what
// stands between.
std::string cut_strings(std::string_view text, std::string_view open,
                        std::string_view close,
                        std::vector<std::string>& strings) {
  std::string out;
  if (open.empty() && close.empty()) {
    // Python's sub() finds the empty string, then, as it may not find it again
    // at the same place, one character.
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t start = i;
      base::next_code_point(text, i);
      cut(out, "", strings);
      cut(out, text.substr(start, i - start), strings);
    }
    cut(out, "", strings);
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
    cut(out, text.substr(inner, stop - inner), strings);
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
    const std::size_t before = text.find_first_of("{,", done);
    if (before == std::string_view::npos) break;
    const std::size_t start = before + 1;
    std::size_t end = start;
    while (end < text.size()) {
      std::size_t next = end;
      if (!is_word(base::next_code_point(text, next))) break;
      end = next;
    }
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

// Upstream replaces mark after mark by the string it stands for.  One pass does
// the same: what is put in contains no marks (its control characters are
// escaped) and begins with a quote, so it never completes one either.
std::string restore_strings(std::string_view text,
                            const std::vector<std::string>& strings) {
  std::string out;
  std::size_t done = 0;
  while (true) {
    const std::size_t mark = text.find(kMarkOpen, done);
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
        text[i] == kMarkClose) {
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

}  // namespace

std::optional<std::string> rewrite(std::string_view body,
                                   const Dialect& dialect,
                                   bool (*is_word)(char32_t)) {
  constexpr std::string_view kMarks("\x01\x02", 2);
  if (!dialect.string_delims.empty() &&
      body.find_first_of(kMarks) != std::string_view::npos) {
    return std::nullopt;
  }
  std::string text(body);
  std::vector<std::string> strings;
  for (const auto& [open, close] : dialect.string_delims) {
    text = cut_strings(text, open, close, strings);
  }
  if (dialect.unquoted_keys) text = quote_keys(text, is_word);
  if (!strings.empty()) text = restore_strings(text, strings);
  return text;
}

}  // namespace parlance::json
