#ifndef PARLANCE_SRC_RULES_MARKS_H_
#define PARLANCE_SRC_RULES_MARKS_H_

// The marks of a grammar: the added and control tokens of a vocabulary whose
// spellings occur in the markers of the grammar.
//
//   markers <tool_call>\n{ and </tool_call>     marks 0 <tool_call>   151657
//   vocabulary Qwen3                                  1 </tool_call>  151658
//
// With a vocabulary, a grammar is a language over two alphabets, bytes and
// marks. A marker consists of its marks and of any tokens for the text between
// them. Free text contains a mark only at the beginning of a trigger.
// Everywhere else an added token stands for its bytes.
//
// First add() all markers, then use the other functions.  May then be shared
// between threads.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automata/aho_corasick.h"
#include "parlance/error.h"
#include "parlance/vocabulary.h"
#include "rules/rules.h"
#include "vocab/marker_pieces.h"

namespace parlance::rules {

struct Mark {
  std::string spelling;
  std::vector<Token> ids;  // every token spelled so, ascending
};

// A piece of a marker.
struct MarkedPiece {
  std::string text;                   // the spelling, for a mark
  std::optional<std::uint32_t> mark;  // its number
  // The piece may be left out: white space beside a token that includes it, or
  // the space after a mark where the vocabulary adds one.
  bool optional = false;
  bool added = false;  // that space, which is not part of the marker
};

class Marks {
 public:
  // REQUIRES: markers != Markers::kText (then a grammar has no marks).
  Marks(const Vocabulary& vocabulary, Markers markers);

  // Adds the marks of a marker from byte `from` on, or of all markers of
  // `rules`.
  void add(std::string_view marker, std::size_t from = 0);
  void add(const Rules& rules);
  bool empty() const { return marks_.empty(); }

  // Error kConflict if a name in Rules::names contains the spelling of a
  // control token or of a mark: no text could contain such a name.
  std::optional<Error> check_names(const Rules& rules) const;

  // Whether the spelling of a mark in bytes also counts as the mark.
  bool either() const { return markers_ == Markers::kEither; }

  const std::vector<Mark>& marks() const { return marks_; }
  // The mark of a token, if the token is a mark.
  std::optional<std::uint32_t> mark_of(Token id) const;
  // The longest mark whose spelling is a prefix of `text` and that is
  // `possible` there; null if there is none.
  const Mark* spelled_at(
      std::string_view text,
      const std::function<bool(const Mark&)>& possible) const;
  // The spellings of all marks, by number.
  std::vector<std::string> spellings() const;
  // Whether the token of a mark may also be read as its bytes.
  bool has_bytes(Token id) const;
  const Vocabulary& vocabulary() const { return vocabulary_; }

  // REQUIRES: the marker was added.
  std::vector<MarkedPiece> pieces(std::string_view marker,
                                  std::size_t from = 0) const;
  // The spellings of a string of free text as bytes and marks: at most
  // kMaxSpellings, and one with Markers::kToken.
  // REQUIRES: the string was added.
  std::vector<std::vector<automata::WordSymbol>> spellings(
      std::string_view marker) const;
  static constexpr std::size_t kMaxSpellings = 16;

 private:
  const Vocabulary vocabulary_;
  const Markers markers_;
  const vocab::MarkerSplitter splitter_;
  std::vector<Mark> marks_;
  std::unordered_map<std::string, std::uint32_t> by_spelling_;
  std::unordered_map<Token, std::uint32_t> by_id_;
  std::vector<std::size_t> lengths_;  // of the spellings, descending
};

// The vocabulary whose marks a grammar uses.
struct MarkedFor {
  const Vocabulary& vocabulary;
  Markers markers = Markers::kToken;
};

// The marks of `rules`; null if there are none.  Error: as check_names().
Result<std::shared_ptr<const Marks>> marks_of(const Rules& rules,
                                              const MarkedFor& marked);

// The bytes of `text` as symbols.
std::vector<automata::WordSymbol> byte_symbols(std::string_view text);

}  // namespace parlance::rules

#endif  // PARLANCE_SRC_RULES_MARKS_H_
