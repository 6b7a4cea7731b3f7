// Chooses how a mask is made: see mask_maker.h.

#include "mask/mask_maker.h"

#include <array>
#include <vector>

namespace parlance::mask {

MaskMaker::MaskMaker(const MaskResources& resources)
    : resources_(resources),
      walk_(resources.tables.trie()),
      strings_(resources_, walk_),
      values_(resources_, walk_, strings_),
      lexemes_(resources_, walk_),
      texts_(resources_, walk_),
      mask_(resources.tables.mask_words()) {}

const MaskBuilder& MaskMaker::make(Recogniser& recogniser, Configuration config,
                                   RecogniserMasks& masks) {
  read_most_ = false;
  if (config.dead()) {
    mask_.start({});
  } else {
    const MaskSource source(recogniser, masks);
    read_most_ = make_by_kind(Where(source, config));
    set_marks(recogniser, config);
  }
  if (mask_.dense()) {
    const std::array bases = {
        Base{.words =
                 resources_.tables.body(json::BodyState::kText).inner().data()},
        Base{.words = resources_.tables.all_text().data()}, Base{}};
    mask_.compact(bases);
  }
  return mask_;
}

// Returns whether most tokens were read.
bool MaskMaker::make_by_kind(const Where& place) {
  const auto& kind = place.hint.place;
  if (const auto* const string = std::get_if<FreeString>(&kind)) {
    strings_.make(place, *string, mask_);
  } else if (const auto* const space = std::get_if<Between>(&kind)) {
    values_.make(place, *space, mask_);
  } else if (const auto* const lexeme = std::get_if<LexemeHint>(&kind)) {
    lexemes_.make(place, *lexeme, mask_);
  } else if (const auto* const keys = std::get_if<SplitKeys>(&kind)) {
    lexemes_.make(place, *keys, mask_);
  } else {
    return texts_.make(place, mask_);
  }
  return false;
}

// Sets the tokens that can be read by their ids, and decides each token for
// which only step_token() knows whether it fits.
void MaskMaker::set_marks(Recogniser& recogniser, Configuration config) {
  const auto size = static_cast<std::uint32_t>(resources_.vocabulary.size());
  recogniser.token_ids(config, size, token_ids_);
  if (!token_ids_.accepted.empty()) {
    std::vector<std::uint32_t> words(resources_.tables.mask_words());
    mask_.view().write(words);
    for (const Id id : token_ids_.accepted) {
      if (resources_.vocabulary.kind(id) == TokenKind::kUnused) continue;
      if ((words[id >> 5] >> (id & 31) & 1) == 0) mask_.set(id);
    }
  }
  for (const Id id : token_ids_.undecided) {
    const bool fits = !recogniser.step_token(config, {}, id).dead();
    if (fits == mask_.has(id)) continue;
    if (fits) {
      mask_.set(id);
    } else {
      mask_.clear(id);
    }
  }
}

}  // namespace parlance::mask
