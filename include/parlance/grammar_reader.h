#ifndef PARLANCE_GRAMMAR_READER_H_
#define PARLANCE_GRAMMAR_READER_H_

// Checking a text against a grammar, piece by piece: Grammar::accepts() and
// explain() for a text that is still being written, or so long that the caller
// may want to stop.
//
//   GrammarReader reader(grammar);
//   for (std::string_view piece : pieces)
//     if (!stop() && reader.feed(piece) < piece.size()) break;
//   if (!reader.can_end()) show(reader.offset(), reader.expected());
//   if (reader.error()) show(reader.error()->message);  // not decided
//
// Law: how a text is cut into pieces does not change any answer.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/grammar.h"

namespace parlance {

// Reads one text.  Movable, not copyable.  Not thread-safe: one text, one
// reader, one thread.  Readers may share a Grammar freely.
class GrammarReader {
 public:
  explicit GrammarReader(const Grammar& grammar);
  ~GrammarReader();
  GrammarReader(GrammarReader&&) noexcept;
  GrammarReader& operator=(GrammarReader&&) noexcept;

  // Reads `piece` up to the first byte that is not allowed, and returns how
  // many bytes were read.  After a piece that was not read in full, all further
  // calls read nothing and return 0.
  std::size_t feed(std::string_view piece);

  // Bytes read so far.
  std::size_t offset() const;

  // Whether everything fed so far, as a whole, is a text of the grammar.
  bool can_end();

  // What is allowed at offset(), for people.
  std::string expected();

  // kTooLarge if a call took more steps than GrammarLimits::work for one byte,
  // or than GrammarLimits::steps: then no answer since says anything about the
  // text.  Nothing otherwise.
  std::optional<Error> error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parlance

#endif  // PARLANCE_GRAMMAR_READER_H_
