#ifndef PARLANCE_SRC_RULES_MARKS_H_
#define PARLANCE_SRC_RULES_MARKS_H_

// The marks of a grammar: the added and control tokens of a vocabulary that the
// grammar's own markers spell.
//
//   markers <tool_call>\n{ and </tool_call>     marks 0 <tool_call>   151657
//   vocabulary Qwen3                                  1 </tool_call>  151658
//
// With a vocabulary a grammar is a language over two alphabets, bytes and
// marks.  A marker is written by its marks and by any tokens for the text
// between them; free text holds a mark only as the beginning of a trigger; in
// everything else an added token is its bytes.
//
// Marks are collected first (add()), then asked for.  Shared between threads
// once they are collected.

#include <cstddef>
#include <cstdint>
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

// A marker, or the rest of one, in order.
struct MarkedPiece {
  std::string text;                   // of a mark: its spelling
  std::optional<std::uint32_t> mark;  // its number
  // White space at the side of a token that takes it along, which need not be
  // written; or one space after a mark, where the vocabulary puts it there.
  bool optional = false;
  bool added = false;  // it is that space, and no part of the marker
};

class Marks {
 public:
  // REQUIRES: markers != Markers::kText (then a grammar has no marks).
  Marks(const Vocabulary& vocabulary, Markers markers);

  // The marks of a marker from byte `from` on; of all markers of `rules`.
  void add(std::string_view marker, std::size_t from = 0);
  void add(const Rules& rules);
  bool empty() const { return marks_.empty(); }

  // Error kConflict for a name among Rules::names that has the spelling of a
  // control token or of a mark in it: no text could write it.
  std::optional<Error> check_names(const Rules& rules) const;

  // Whether the spelling of a mark is the mark as well.
  bool either() const { return markers_ == Markers::kEither; }

  const std::vector<Mark>& marks() const { return marks_; }
  // The mark that a token is, if it is one.
  std::optional<std::uint32_t> mark_of(Token id) const;
  // The longest mark whose spelling `text` begins with.
  std::optional<std::uint32_t> spelled_at(std::string_view text) const;
  // Whether a mark's token may stand for its bytes.
  bool has_bytes(Token id) const;
  const Vocabulary& vocabulary() const { return vocabulary_; }

  // REQUIRES: the marker was added.
  std::vector<MarkedPiece> pieces(std::string_view marker,
                                  std::size_t from = 0) const;
  // The ways in which a word of free text may be written: bytes and marks.
  // At most kMostWays; with Markers::kToken one.
  // REQUIRES: the word was added.
  std::vector<std::vector<automata::WordSymbol>> words(
      std::string_view marker) const;
  static constexpr std::size_t kMostWays = 16;

 private:
  const Vocabulary vocabulary_;
  const Markers markers_;
  const vocab::MarkerSplitter splitter_;
  std::vector<Mark> marks_;
  std::unordered_map<std::string, std::uint32_t> by_spelling_;
  std::unordered_map<Token, std::uint32_t> by_id_;
  std::vector<std::size_t> lengths_;  // of spellings, falling
};

// Whose marks a grammar is made with.
struct MarkedFor {
  const Vocabulary& vocabulary;
  Markers markers = Markers::kToken;
};

// Those of `rules`; null if there are none.  Error: as check_names().
Result<std::shared_ptr<const Marks>> marks_of(const Rules& rules,
                                              const MarkedFor& marked);

// `text` as symbols of bytes.
std::vector<automata::WordSymbol> byte_symbols(std::string_view text);

}  // namespace parlance::rules

#endif  // PARLANCE_SRC_RULES_MARKS_H_
