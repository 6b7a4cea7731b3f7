// Any text is a vocabulary or an error; a vocabulary keeps its promises.  A
// text with NUL, but GGUF and what begins with a control character as
// SentencePiece's models do, is the files of a model's folder.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "parlance/vocabulary.h"

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

void check(const parlance::Vocabulary& vocabulary) {
  using parlance::TokenId;
  using parlance::TokenKind;
  const auto size = static_cast<TokenId>(vocabulary.size());
  require(vocabulary.kind(size) == TokenKind::kUnused);
  require(vocabulary.bytes(size).empty());
  std::size_t specials = 0;
  // One absurd id makes a table of millions; the first ids tell enough.
  for (TokenId id = 0; id < std::min<TokenId>(size, 4096); ++id) {
    const TokenKind kind = vocabulary.kind(id);
    require(kind != TokenKind::kUnused || vocabulary.bytes(id).empty());
    specials += kind == TokenKind::kAdded || kind == TokenKind::kControl;
    if (kind != TokenKind::kUnused) {
      require(vocabulary.find_first(vocabulary.spelling(id)) <= id);
    }
  }
  require(specials <= vocabulary.special_ids().size());
  for (const TokenId id : vocabulary.special_ids()) {
    const auto found = vocabulary.special(vocabulary.spelling(id));
    require(found && *found <= id);
    require(vocabulary.spelling(*found) == vocabulary.spelling(id));
  }
  for (const TokenId id : vocabulary.stop_ids()) {
    require(vocabulary.kind(id) != TokenKind::kUnused);
  }
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < std::min<TokenId>(size, 64); ++id) {
    ids.push_back(id);
  }
  ids.push_back(size);
  require(vocabulary.decode(ids).ends_with("\xEF\xBF\xBD"));
}

parlance::ModelFiles split(std::string_view text) {
  parlance::ModelFiles files;
  for (std::string_view* file : {&files.tokenizer_json, &files.tokenizer_config,
                                 &files.generation_config, &files.config}) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    *file = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool file =
      text.starts_with("GGUF") ||
      (!text.empty() && text.front() > '\0' && text.front() < ' ');
  const bool folder = !file && text.find('\0') != text.npos;
  const auto vocabulary =
      folder ? parlance::Vocabulary::from_pretrained(split(text))
             : parlance::Vocabulary::from_text(text);
  if (vocabulary) {
    check(*vocabulary);
  } else {
    require(!vocabulary.error().message.empty());
    require(!vocabulary.error().span ||
            vocabulary.error().span->end <= text.size());
  }
  return 0;
}
