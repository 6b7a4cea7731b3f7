#include "harmony/marks.h"

#include <optional>
#include <string>
#include <string_view>

namespace parlance::harmony {
namespace {

struct Marker {
  std::string_view spelling;
  Mark mark;
  bool required;
};

// Without the required markers there is no header or no end of a message.
constexpr Marker kMarkers[] = {
    {"<|start|>", Mark::kStart, true},
    {"<|channel|>", Mark::kChannel, true},
    {"<|message|>", Mark::kMessage, true},
    {"<|end|>", Mark::kEnd, true},
    {"<|call|>", Mark::kCall, false},
    {"<|return|>", Mark::kReturn, false},
    {"<|constrain|>", Mark::kConstrain, false},
    {"<|endoftext|>", Mark::kEosToken, false},
};

}  // namespace

Result<Marks> Marks::find(const Vocabulary& vocabulary) {
  Marks marks;
  std::string missing;
  for (const Marker& marker : kMarkers) {
    if (const std::optional<TokenId> id = vocabulary.special(marker.spelling)) {
      marks.marks_.emplace_back(*id, marker.mark);
    } else if (marker.required) {
      missing += missing.empty() ? "" : ", ";
      missing += marker.spelling;
    }
  }
  if (!missing.empty()) {
    return Error{
        .code = ErrorCode::kBadVocabulary,
        .message = "The vocabulary has no added or control token " + missing +
                   ". Harmony needs <|start|>, <|channel|>, <|message|> and "
                   "<|end|>."};
  }
  // After the markers: a marker that is a stop token is read as the marker.
  for (const TokenId id : vocabulary.stop_ids()) {
    marks.marks_.emplace_back(id, Mark::kEosToken);
  }
  return marks;
}

Mark Marks::of_special(TokenKind kind, TokenId id) const {
  if (kind == TokenKind::kUnused) return Mark::kUnknown;
  for (const auto& [marker, mark] : marks_) {
    if (marker == id) return mark;
  }
  return kind == TokenKind::kAdded ? Mark::kText : Mark::kOther;
}

}  // namespace parlance::harmony
