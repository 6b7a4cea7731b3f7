#ifndef PARLANCE_SRC_PARSE_ELEMENT_SCANNER_H_
#define PARLANCE_SRC_PARSE_ELEMENT_SCANNER_H_

// Follows the elements of a call while they arrive: where an element begins,
// where its value ends, and what is no element.
//
//   <parameter=city>Be|rn</parameter>  </parameter>  text
//   [head          ]     [tail      ]  [stray     ]  ^ kOther
//                   ^ value
//
// One scanner serves the end of the region, the value of the call, and its
// arguments while they grow.  The rules are those of docs/reference/recovery.md
// ("Elements"):
//
//   between   white space, a head, a stray tail; `{` before any element is an
//             object in place of the elements
//   value     ends at the first tail, which counts only before what may follow
//   JSON      the value of an element whose type says so, or the object: ends
//             where the JSON does; a value that is none is raw text
//
// Of a bare template everything between elements is skipped, and the first tail
// counts.

#include <cstdint>
#include <span>
#include <string_view>

#include "automata/dfa.h"
#include "parse/element_finder.h"
#include "parse/marked_text.h"
#include "parse/value_scanner.h"

namespace parlance::parse {

// Lets `search`, whose positions count from the origin of the marks, read up to
// the position `stop`.  True: it is decided.
bool run_search(automata::Search& search, const MarkedText& text,
                std::uint64_t stop);

// A token of the elements of a call, with places in the text.
struct ElementToken {
  enum class Kind : std::uint8_t {
    kMore,   // nothing else is certain; at the end: nothing follows
    kHead,   // key, type; stray: the damage in it, if it is damaged
    kValue,  // value: the element has ended
    kStray,  // stray: a tail without its element
    kJson,   // value: an object in place of the elements; in an element of its
             // own, if it is whole
    kOther,  // stray: other text begins here; once
  };
  struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  Kind kind = Kind::kMore;
  bool whole = false;
  bool damaged = false;
  Stretch key = {};
  Stretch type = {};
  Stretch value = {};
  Stretch stray = {};
  std::uint64_t end = 0;  // of its text
};

// Whether the value that has ended contains a tail after which, in the value or
// directly after it, an element begins or no tail comes: then the text after
// that tail stands between elements.
//
//   <p=a>1</p> and <p=b>2</p>    the value of a is "1</p> and <p=b>2", because
//                                the first tail does not stand before what may
//                                follow it
//   <p=a>1</p> and               the same, where a pattern does without a tail
//                                at the end
//
// Complexity: O(value).
bool hides_elements(const ElementFinder& finder, const MarkedText& text,
                    const ElementToken& element);

class ElementScanner {
 public:
  // What has come and is still in memory.
  struct Input {
    MarkedText text;  // begins at text.offset
    bool end = false;
    // The most bytes that a tail and the white space after it are held.
    std::uint64_t most = ~std::uint64_t{0};
  };
  using Kind = ElementToken::Kind;
  using Stretch = ElementToken::Stretch;

  // `finder` must outlive the scanner.  `in_stream`: the text goes on after the
  // region, so what ends the region may follow a tail.
  void start(const ElementFinder& finder, bool in_stream,
             std::uint64_t position, bool line_start = true);

  // Reads on, to the next token or the end of the text.
  // Complexity: O(bytes read).
  Kind next(const Input& in) { return token_.kind = read_token(in); }
  // The last token.  What is not of its kind is of the element that it is in.
  const ElementToken& token() const { return token_; }
  // Whether a tail was text because it was held for too long.
  bool gave_up() const { return gave_up_; }
  // Whether a value has begun and not ended.
  bool inside() const { return mode_ != Mode::kBetween; }

  // Where strings and values are, as of a ValueScanner.  kElement: in a value
  // that a tail ends.
  Phase phase() const {
    return mode_ == Mode::kBetween ? Phase::kOutside
           : mode_ == Mode::kValue ? Phase::kElement
                                   : json_.phase();
  }
  call_syntax::State state() const;
  // Text before it is of the current phase: what a search holds may be of the
  // next one.  A search that is over, without a match, holds nothing.
  std::uint64_t position() const {
    if (mode_ == Mode::kJson) return json_.position();
    if (!started_) return begin_;
    return search_.decided() || !search_.over() ? search_.hold()
                                                : search_.position();
  }
  // How far the text has been read.
  std::uint64_t read() const {
    if (mode_ == Mode::kJson) return json_.position();
    return started_ ? search_.position() : begin_;
  }
  // The end of the last JSON string.
  std::uint64_t string_end() const { return json_.string_end(); }
  // Whether the last JSON turned out not to be valid.
  bool is_damaged() const { return damaged_; }

 private:
  enum class Mode : std::uint8_t { kBetween, kValue, kJson };

  void search(Mode mode, std::uint64_t position, const Input& in);
  bool run(const Input& in);
  Kind read_token(const Input& in);
  Kind next_between(const Input& in, bool& goes_on);
  Kind begin_element(const Input& in, bool& goes_on);
  Kind next_value(const Input& in, bool& goes_on);
  Kind next_json(const Input& in, bool& goes_on);
  void begin_json(std::uint64_t position);
  char at(const Input& in, std::uint64_t position) const {
    return in.text.text[position - in.text.offset];
  }

  const ElementFinder* finder_ = nullptr;
  bool in_stream_ = false;
  std::uint64_t begin_ = 0;  // of the region
  bool line_start_ = true;
  Mode mode_ = Mode::kBetween;
  bool started_ = false;     // search_ has, at the first call of next()
  bool in_element_ = false;  // mode kJson: a value, not the object
  bool any_ = false;         // an element, a stray tail or the object has come
  bool tail_first_ = false;  // a stray tail has come before any element
  bool other_ = false;       // kOther was returned
  bool damaged_ = false;
  bool gave_up_ = false;
  std::uint64_t blank_ = 0;  // kBetween: white space alone stands before it
  automata::Search search_;
  automata::Match match_;
  ValueScanner json_;
  ElementToken token_;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_ELEMENT_SCANNER_H_
