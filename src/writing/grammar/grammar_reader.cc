// Implements parlance/grammar.h.

#include <memory>
#include <utility>

#include "base/access.h"
#include "grammar/grammar_impl.h"
#include "parlance/grammar.h"
#include "recogniser/text_reader.h"

namespace parlance {

struct GrammarReader::State {
  explicit State(const Grammar& of)
      : grammar(of),
        reader(detail::Access::impl(grammar)->language,
               detail::Access::impl(grammar)->work) {}
  Grammar grammar;
  recogniser::TextReader reader;
  std::size_t offset = 0;
  bool refused = false;
};

GrammarReader::GrammarReader(const Grammar& grammar)
    : state_(std::make_unique<State>(grammar)) {}
GrammarReader::~GrammarReader() = default;
GrammarReader::GrammarReader(GrammarReader&&) noexcept = default;
GrammarReader& GrammarReader::operator=(GrammarReader&&) noexcept = default;

std::size_t GrammarReader::feed(std::string_view piece) {
  if (state_->refused) return 0;
  const std::size_t read = state_->reader.read(piece);
  state_->offset += read;
  state_->refused = read < piece.size();
  return read;
}

std::size_t GrammarReader::offset() const { return state_->offset; }

bool GrammarReader::can_end() {
  return !state_->refused && state_->reader.can_end();
}

std::optional<Error> GrammarReader::error() const {
  return state_->reader.error();
}

std::string GrammarReader::expected() { return state_->reader.expected(); }

}  // namespace parlance
