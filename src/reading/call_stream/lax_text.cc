// The rewriting of json/lax.cc as an automaton; see lax_text.h.

#include "call_stream/lax_text.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "call_stream/member_writer.h"

namespace parlance::call_stream {

LaxText::LaxText(const json::Dialect& dialect, bool (*is_word)(char32_t),
                 std::function<bool(std::size_t)> counts)
    : unquoted_keys_(dialect.unquoted_keys),
      python_words_(dialect.python_words),
      open_(dialect.string_delims.empty() ? std::string()
                                          : dialect.string_delims[0].first),
      close_(dialect.string_delims.empty() ? std::string()
                                           : dialect.string_delims[0].second),
      is_word_(is_word),
      counts_(std::move(counts)) {}

// The position of the next delimiter from at_ on, or npos.  `safe`: no
// delimiter begins before this position.
std::size_t LaxText::find(std::string_view text, std::string_view delimiter,
                          std::size_t& safe) const {
  std::size_t from = at_;
  while (true) {
    const std::size_t found = text.find(delimiter, from);
    if (found == std::string_view::npos) break;
    safe = found;
    if (!counts_ || counts_(found)) return found;
    from = found + 1;
  }
  safe = text.size();
  // Marks come whole, so a delimiter that has only begun is none.
  if (counts_) return std::string_view::npos;
  const std::size_t most = std::min(delimiter.size() - 1, text.size() - from);
  for (std::size_t size = most; size > 0; --size) {
    if (!delimiter.starts_with(text.substr(text.size() - size))) continue;
    safe = text.size() - size;
    break;
  }
  return std::string_view::npos;
}

// Ends word_.  `key`: it is a key.
void LaxText::flush_word(bool key) {
  if (key && unquoted_keys_ && !word_.empty()) {
    out_ += '"';
    out_ += word_;
    out_ += '"';
  } else {
    const std::string_view meant = python_words_ && !quoted_ && !key
                                       ? json::Dialect::json_word(word_)
                                       : std::string_view();
    out_ += meant.empty() ? std::string_view(word_) : meant;
  }
  word_.clear();
  may_be_key_ = false;
  in_word_ = false;
}

// Rewrites text between strings: quotes each word that stands directly between
// '{' or ',' and ':', and replaces Python's words.
//
// Invariant of the loop: what a word means is known at its end, so word_ is a
// word that has not ended and may be rewritten, and out_ is the rewriting of
// all text before it.
void LaxText::outside(std::string_view text) {
  if (!unquoted_keys_ && !python_words_) {
    out_ += text;
    return;
  }
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const char32_t c = base::next_code_point(text, i);
    const std::string_view character = text.substr(begin, i - begin);
    const bool escaped = std::exchange(escaped_, false);
    if (is_word_(c)) {
      const bool begun = python_words_ && !quoted_ && !in_word_;
      if (!may_be_key_ && !begun) {
        out_ += character;
        continue;
      }
      word_ += character;
      if (may_be_key_ || json::Dialect::begins_python_word(word_)) continue;
      out_ += word_;
      word_.clear();
      in_word_ = true;
      continue;
    }
    flush_word(may_be_key_ && c == ':');
    out_ += character;
    may_be_key_ = c == '{' || c == ',';
    if (python_words_ && !escaped) {
      if (c == '"') quoted_ = !quoted_;
      escaped_ = c == '\\' && quoted_;
    }
  }
}

void LaxText::advance(std::string_view text, bool end) {
  while (at_ < text.size()) {
    const std::string& delimiter = in_string_ ? close_ : open_;
    std::size_t safe = text.size();
    const std::size_t found = delimiter.empty() ? std::string_view::npos
                                                : find(text, delimiter, safe);
    if (end && found == std::string_view::npos) safe = text.size();
    const std::string_view piece = text.substr(at_, safe - at_);
    if (in_string_) {
      append_escaped(out_, piece);
    } else {
      outside(piece);
    }
    at_ = safe;
    if (found == std::string_view::npos) break;
    flush_word(false);
    escaped_ = false;
    out_ += '"';
    in_string_ = !in_string_;
    at_ = found + delimiter.size();
  }
  if (end && !in_string_) flush_word(false);
}

}  // namespace parlance::call_stream
