#ifndef PARLANCE_SRC_VOCAB_VOCABULARY_IMPL_H_
#define PARLANCE_SRC_VOCAB_VOCABULARY_IMPL_H_

// The implementation of a Vocabulary.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parlance/vocabulary.h"
#include "vocab/saved_file.h"
#include "vocab/table.h"

namespace parlance {

struct Vocabulary::Impl {
  vocab::Table tokens;
  std::vector<TokenId> stop_ids;
  bool has_stop_ids = false;
  bool space_after_marks = false;
  Encoder encoder = {};
  // The file that the tokens were read from.
  std::optional<vocab::SavedFile> file = std::nullopt;

  static std::shared_ptr<const Impl> make(
      vocab::Table tokens,
      std::optional<vocab::SavedFile> file = std::nullopt) {
    Impl impl{
        .tokens = std::move(tokens), .stop_ids = {}, .file = std::move(file)};
    impl.has_stop_ids = impl.tokens.stop_ids().has_value();
    impl.stop_ids = impl.tokens.stop_ids().value_or(std::vector<TokenId>());
    impl.space_after_marks = impl.tokens.space_after_marks();
    return std::make_shared<const Impl>(std::move(impl));
  }
};

namespace vocab {

// The section of the tokens of a saved file.
std::string saved_tokens(const Vocabulary& vocabulary);

// The tokens of a vocabulary, for loops over all ids.
const Table& table_of(const Vocabulary& vocabulary);

}  // namespace vocab
}  // namespace parlance

#endif  // PARLANCE_SRC_VOCAB_VOCABULARY_IMPL_H_
