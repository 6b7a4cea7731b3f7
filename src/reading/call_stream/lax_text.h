#ifndef PARLANCE_SRC_CALL_STREAM_LAX_TEXT_H_
#define PARLANCE_SRC_CALL_STREAM_LAX_TEXT_H_

// json::rewrite() piece by piece: the lax dialects of models to JSON, while the
// text grows.
//
//   {city:<|"|>Be            {"city":"Be
//   rn<|"|>}                 rn"}
//
// The rewritten text is that of json::rewrite() for every text whose strings
// are all closed.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "call_stream/call_stream.h"
#include "json/dialect.h"

namespace parlance::call_stream {

class LaxText {
 public:
  // REQUIRES: streams(dialect).  `is_word`: see json::rewrite().  `counts`
  // decides whether the delimiter of a string at a position is one; null: it
  // always is.
  LaxText(const json::Dialect& dialect, bool (*is_word)(char32_t),
          std::function<bool(std::size_t)> counts = nullptr);

  // Whether a dialect can be rewritten piece by piece: it has at most one pair
  // of delimiters, and both have text.
  static bool streams(const json::Dialect& dialect) {
    return dialect.string_delims.size() <= 1 &&
           (dialect.string_delims.empty() ||
            (!dialect.string_delims[0].first.empty() &&
             !dialect.string_delims[0].second.empty()));
  }

  // Rewrites what `text` has more than the text of the last call.
  // REQUIRES: `text` is UTF-8 and consists of whole characters.
  void advance(std::string_view text, bool end);
  const std::string& rewritten() const { return out_; }

 private:
  std::size_t find(std::string_view text, std::string_view delimiter,
                   std::size_t& safe) const;
  void outside(std::string_view text);
  void flush_word(bool key);

  const bool unquoted_keys_;
  const bool python_words_;
  const std::string open_;
  const std::string close_;
  bool (*const is_word_)(char32_t);
  const std::function<bool(std::size_t)> counts_;

  std::size_t at_ = 0;  // text before this position is rewritten
  bool in_string_ = false;
  // After '{' or ',' and word characters only.
  bool may_be_key_ = false;
  // The word that may be a key, or a word of Python's; at most as long as one
  // of these unless may_be_key_.
  std::string word_;
  // With python_words: in the rest of a word, in an ordinary string, after a
  // backslash in it.
  bool in_word_ = false;
  bool quoted_ = false;
  bool escaped_ = false;
  std::string out_;
};

// Reads calls in a lax dialect by a reader of JSON.
class LaxCallReader final : public CallReader {
 public:
  LaxCallReader(LaxText text, std::unique_ptr<CallReader> json)
      : text_(std::move(text)), json_(std::move(json)) {}

  void advance(std::string_view text, bool end, CallWriter& out) override {
    text_.advance(text, end);
    json_->advance(text_.rewritten(), end, out);
  }

 private:
  LaxText text_;
  std::unique_ptr<CallReader> json_;
};

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_LAX_TEXT_H_
