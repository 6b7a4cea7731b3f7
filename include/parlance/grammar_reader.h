#ifndef PARLANCE_GRAMMAR_READER_H_
#define PARLANCE_GRAMMAR_READER_H_

// Reading a text by a grammar, piece by piece: Grammar::accepts() and explain()
// for a text that is still coming, or that is long enough to be stopped.
//
//   GrammarReader reader(grammar);
//   for (std::string_view piece : pieces)
//     if (!stop() && reader.feed(piece) < piece.size()) break;
//   if (!reader.can_end()) show(reader.offset(), reader.expected());
//
// How a text is cut into pieces changes nothing.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "parlance/grammar.h"

namespace parlance {

// One text, one reader, one thread.  Readers may share a grammar freely.
// Movable, not copyable.
class GrammarReader {
 public:
  explicit GrammarReader(const Grammar& grammar);
  ~GrammarReader();
  GrammarReader(GrammarReader&&) noexcept;
  GrammarReader& operator=(GrammarReader&&) noexcept;

  // Reads as much of `piece` as fits, and returns how many bytes that is.
  // After fewer than all of them nothing more is read.
  std::size_t feed(std::string_view piece);

  // Bytes that have been read.
  std::size_t offset() const;

  // Whether all that was fed is a text of the grammar.
  bool can_end();

  // What may come next, for people.
  std::string expected();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parlance

#endif  // PARLANCE_GRAMMAR_READER_H_
