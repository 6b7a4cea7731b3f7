#include "vocab/token_list.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vocab/decoder.h"

namespace parlance::vocab {
namespace {

std::optional<Error> set_kind(std::span<const TokenId> ids, Kind kind,
                              std::string_view what, std::vector<Kind>& kinds) {
  for (const TokenId id : ids) {
    if (id >= kinds.size()) {
      return Error{.code = ErrorCode::kBadVocabulary,
                   .message = std::string(what) + " contains " +
                              std::to_string(id) + ", and the list has only " +
                              std::to_string(kinds.size()) + " tokens."};
    }
    kinds[id] = kind;
  }
  return std::nullopt;
}

// Nothing for tokens that are their bytes.
std::optional<Decoder> decoder_of(TokenSpelling spelling) {
  switch (spelling) {
    case TokenSpelling::kByteFallback:
      return Decoder::byte_fallback();
    case TokenSpelling::kByteLevel:
      return Decoder::byte_level();
    case TokenSpelling::kRaw:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> read_token_list(const TokenList& list,
                                     TableBuilder& builder) {
  std::vector<Kind> kinds(list.tokens.size(), Kind::kOrdinary);
  if (auto error = set_kind(list.added_ids, Kind::kAdded, "added_ids", kinds)) {
    return error;
  }
  if (auto error =
          set_kind(list.control_ids, Kind::kControl, "control_ids", kinds)) {
    return error;
  }
  std::optional<Decoder> decoder = decoder_of(list.spelling);
  std::string bytes;
  for (std::size_t id = 0; id < list.tokens.size(); ++id) {
    const std::string& token = list.tokens[id];
    if (decoder) {
      if (auto error = decoder->bytes(token, bytes)) return error;
    }
    if (auto error = builder.add(id, decoder ? bytes : token,
                                 token.empty() ? Kind::kUnused : kinds[id],
                                 {.spelling = token})) {
      return error;
    }
  }
  if (list.model_size) {
    if (auto error = builder.resize(*list.model_size)) return error;
  }
  if (!list.stop_ids) return std::nullopt;
  builder.set_stops_known();
  for (const TokenId id : *list.stop_ids) {
    if (auto error = builder.add_stop(id)) return error;
  }
  return std::nullopt;
}

}  // namespace parlance::vocab
