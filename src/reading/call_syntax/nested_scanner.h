#ifndef PARLANCE_SRC_CALL_SYNTAX_NESTED_SCANNER_H_
#define PARLANCE_SRC_CALL_SYNTAX_NESTED_SCANNER_H_

// Reads arguments that are written as nested elements.
//
//   cohere_xml       <cofl:value name="a" type="dict">      kObject  kKey a
//                      <cofl:value name="b" type="json">1     kObject  kKey b
//                      </cofl:value></cofl:value>             kScalar 1
//                                                           kClose  kClose
//   minimax_m3_xml   ]<]minimax[>[<a>]<]minimax[>[<item>1   kObject  kKey a
//                    ]<]minimax[>[</item>                     kElements
//                    ]<]minimax[>[</a>                        kKey item  (text)
//                                                             kClose  kClose
//
// In cohere_xml an attribute types each value: "raw" (text), "json", "dict" or
// "list".  In minimax_m3_xml the schema of the tool does: an element has text,
// which may be any value, or elements, which are an object or a list.
//
// The closing marker of a text counts before white space and a marker, or the
// end; before anything else it is text, and so is that of no open element.  A
// JSON value decides its own end: in its strings a closing marker is text.  It
// is one kScalar, which may turn out to be no JSON.  A closing marker that
// comes directly after another one and closes nothing is stray: it is a kSpace
// token.  A text that begins with "{" is the arguments as JSON: one kScalar, an
// object.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "call_syntax/token.h"
#include "parlance/error.h"
#include "parlance/limits.h"

namespace parlance::call_syntax {

enum class NestedStyle : std::uint8_t { kCohereXml, kMinimaxM3Xml };

class NestedScanner {
 public:
  NestedScanner(NestedStyle style, const Limits& limits)
      : style_(style), limits_(limits) {}

  // Reads on.  After kBad, or when the text has ended, kMore.
  // Complexity: O(bytes read).  Memory: the names of the open elements.
  Token next(const Input& input);

  std::uint64_t position() const { return at_; }
  State state() const;
  // The marker of the last element that began (that of an object, a list or of
  // kElements is their token), and, at the token with which an element ends,
  // where its closing marker begins.
  std::uint64_t opening_begin() const { return opening_begin_; }
  std::uint64_t opening_end() const { return opening_end_; }
  std::uint64_t closing_begin() const { return closing_begin_; }
  // At kTextEnd: the whole text of the element.
  std::string_view content(const Input& input) const {
    return input.slice(opening_end_, closing_begin_);
  }
  // After kBad: a message that says what is wrong, to be followed by the text
  // of the token.
  std::string_view damage() const { return damage_; }
  ErrorCode code() const { return code_; }

 private:
  // ORDER: NestedScanner::state().
  enum class Step : std::uint8_t {
    kBetween,  // between elements
    kTag,      // in an opening of cohere_xml
    kText,     // in an element; in minimax_m3_xml perhaps before others
    kJson,     // in a value of JSON
    kBody,     // in arguments that are JSON
    kDone,
  };
  struct Frame {
    std::string name = {};  // minimax_m3_xml
    bool list = false;      // cohere_xml
  };
  // ]<]minimax[>[<NAME>, ]<]minimax[>[</NAME>
  struct Marker {
    bool valid = false;
    bool closes = false;
    std::string_view name = {};
    std::uint64_t name_begin = 0;
    std::uint64_t end = 0;
  };

  bool step(const Input& input);
  bool read_between(const Input& input);
  bool read_value(const Input& input, std::string_view left);
  bool read_tag(const Input& input);
  bool begin_value(const Input& input, std::string_view attributes);
  bool read_text(const Input& input);
  bool end_text(const Input& input, std::uint64_t end);
  void grow(const Input& input, std::uint64_t end);
  bool read_json(const Input& input);
  bool read_body(const Input& input);
  bool read_marker(const Input& input);
  bool open_element(const Marker& marker, std::uint64_t begin);
  std::optional<Marker> marker_at(const Input& input, std::uint64_t at);
  std::optional<bool> may_follow(const Input& input, std::uint64_t end);
  void begin_arguments();
  bool fail(std::string_view damage, std::uint64_t begin, std::uint64_t end,
            ErrorCode code = ErrorCode::kInvalidContent);
  void queue(Kind kind, std::uint64_t begin, std::uint64_t end,
             Encoding encoding = Encoding::kPlain) {
    queued_[count_++] = {kind, encoding, begin, end};
  }

  NestedStyle style_;
  Limits limits_;
  Step step_ = Step::kBetween;
  bool begun_ = false;             // the arguments are an object
  bool closed_ = false;            // kBetween: after a closing marker
  bool quoted_ = false;            // kTag, kJson: between quotes
  bool escaped_ = false;           // kJson: after a backslash
  bool string_ = false;            // kText: the string has begun
  std::uint64_t at_ = 0;           // the text before it is in tokens
  std::uint64_t searched_ = 0;     // no marker begins between at_ and this
  std::uint64_t name_search_ = 0;  // no name of a marker ends before this
  std::uint64_t blank_ = 0;        // white space from at_ to this
  std::uint64_t look_ = 0;         // white space from a closing marker to this
  std::uint64_t opening_begin_ = 0;
  std::uint64_t opening_end_ = 0;
  std::uint64_t closing_begin_ = 0;
  std::vector<Frame> frames_;  // the open elements, the outermost first
  std::string last_;           // minimax_m3_xml: the name that was closed last
  std::string_view damage_ = {};
  ErrorCode code_ = ErrorCode::kInvalidContent;
  // The tokens of one step: at most a string that begins, its text, and its end
  // or damage.
  std::array<Token, 3> queued_ = {};
  std::size_t count_ = 0;  // of queued_
  std::size_t taken_ = 0;
};

}  // namespace parlance::call_syntax

#endif  // PARLANCE_SRC_CALL_SYNTAX_NESTED_SCANNER_H_
