#include "vocab/marker_pieces.h"

#include <optional>

namespace parlance::vocab {

MarkerSplitter::MarkerSplitter(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary),
      spellings_(vocabulary, vocabulary.special_ids()) {}

std::vector<MarkerPiece> MarkerSplitter::split(std::string_view marker) const {
  std::vector<MarkerPiece> pieces;
  std::size_t at = 0;
  while (at < marker.size()) {
    const std::optional<SpecialSpellings::Found> found =
        spellings_.find(marker, at);
    const std::size_t text_end = found ? found->at : marker.size();
    if (text_end > at) {
      pieces.push_back({std::string(marker.substr(at, text_end - at))});
    }
    if (!found) break;
    const std::string_view spelling = vocabulary_.spelling(found->id);
    pieces.push_back({std::string(spelling), spelled_as(found->id)});
    at = text_end + spelling.size();
  }
  return pieces;
}

std::vector<MarkerPiece> MarkerSplitter::split_rest(std::string_view marker,
                                                    std::size_t from) const {
  std::vector<MarkerPiece> rest;
  std::size_t end = 0;
  for (MarkerPiece& piece : split(marker)) {
    const std::size_t begin = end;
    end += piece.text.size();
    if (end <= from) continue;
    if (begin < from) {
      if (piece.is_mark()) return split(marker.substr(from));
      piece.text.erase(0, from - begin);
    }
    rest.push_back(std::move(piece));
  }
  return rest;
}

std::vector<TokenId> MarkerSplitter::spelled_as(TokenId id) const {
  const std::string_view spelling = vocabulary_.spelling(id);
  std::vector<TokenId> ids;
  for (const TokenId other : vocabulary_.special_ids()) {
    if (vocabulary_.spelling(other) == spelling) ids.push_back(other);
  }
  return ids;
}

}  // namespace parlance::vocab
