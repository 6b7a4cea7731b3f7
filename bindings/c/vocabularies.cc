// Vocabularies.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calls.h"
#include "parlance/vocabulary.h"

namespace parlance::c {

// ORDER: TokenKind
static_assert(static_cast<int>(TokenKind::kOrdinary) ==
              PARLANCE_TOKEN_ORDINARY);
static_assert(static_cast<int>(TokenKind::kUnused) == PARLANCE_TOKEN_UNUSED);

namespace {

// What the host tokenises with, and its end.
class HostEncoder {
 public:
  HostEncoder(parlance_encode_fn encode, void* user, void (*drop)(void*))
      : encode_(encode), user_(user), drop_(drop) {}
  HostEncoder(const HostEncoder&) = delete;
  HostEncoder& operator=(const HostEncoder&) = delete;
  ~HostEncoder() {
    if (drop_ != nullptr) drop_(user_);
  }

  std::vector<TokenId> ids_of(std::string_view text) const {
    // A token has a byte at least, but for tokenizers that add some.
    std::vector<TokenId> out(text.size() + 16);
    std::size_t count =
        encode_(user_, text.data(), text.size(), out.data(), out.size());
    if (count > out.size()) {
      out.resize(count);
      count = std::min(count, encode_(user_, text.data(), text.size(),
                                      out.data(), out.size()));
    }
    out.resize(count);
    return out;
  }

 private:
  parlance_encode_fn encode_;
  void* user_;
  void (*drop_)(void*);
};

// A path as the system takes it: what follows a NUL would be lost, and another
// file opened.
std::string path_of(const char* path, std::size_t size) {
  std::string out(text_of(path, size, "path"));
  if (out.find('\0') != std::string::npos) {
    fail({.code = ErrorCode::kIo,
          .message = "the path has a NUL byte, so it names no file"});
  }
  return out;
}

}  // namespace

PARLANCE_C_FUNCTIONS_BEGIN

parlance_status parlance_vocabulary_from_tokens(const parlance_tokens* tokens,
                                                parlance_vocabulary** out,
                                                parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    need(tokens, "tokens");
    static constexpr parlance_tokens kDefaults = PARLANCE_TOKENS_INIT;
    const parlance_tokens given = read_options(tokens, kDefaults, "tokens");
    const auto ends = list_of(given.ends, given.count, "tokens.ends");
    std::vector<std::string> texts;
    texts.reserve(ends.size());
    std::uint64_t begin = 0;
    for (const std::uint64_t end : ends) {
      if (end < begin) {
        misuse(PARLANCE_BAD_ARGUMENT, "tokens.ends", "does not ascend");
      }
      texts.emplace_back(
          text_of(given.bytes, end, "tokens.bytes").substr(begin));
      begin = end;
    }
    TokenList list{.tokens = texts};
    list.spelling =
        one_of(given.spelling, TokenSpelling::kByteLevel, "tokens.spelling");
    list.added_ids =
        list_of(given.added_ids, given.added_count, "tokens.added_ids");
    list.control_ids =
        list_of(given.control_ids, given.control_count, "tokens.control_ids");
    if (given.has_stop_ids != 0) {
      list.stop_ids =
          list_of(given.stop_ids, given.stop_count, "tokens.stop_ids");
    }
    if (given.model_size != 0) list.model_size = given.model_size;
    made.set(taken(Vocabulary::from_tokens(list)));
  });
}

parlance_status parlance_vocabulary_from_memory(const void* data, size_t size,
                                                parlance_vocabulary** out,
                                                parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    made.set(taken(Vocabulary::from_text(text_of(data, size, "data"))));
  });
}

parlance_status parlance_vocabulary_from_files(
    const char* tokenizer_json, size_t tokenizer_json_size,
    const char* tokenizer_config, size_t tokenizer_config_size,
    const char* generation_config, size_t generation_config_size,
    const char* config, size_t config_size, parlance_vocabulary** out,
    parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const ModelFiles files{
        .tokenizer_json =
            text_of(tokenizer_json, tokenizer_json_size, "tokenizer_json"),
        .tokenizer_config = text_of(tokenizer_config, tokenizer_config_size,
                                    "tokenizer_config"),
        .generation_config = text_of(generation_config, generation_config_size,
                                     "generation_config"),
        .config = text_of(config, config_size, "config")};
    made.set(taken(Vocabulary::from_pretrained(files)));
  });
}

parlance_status parlance_vocabulary_from_path(const char* path,
                                              size_t path_size,
                                              parlance_vocabulary** out,
                                              parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    made.set(taken(Vocabulary::from_file(path_of(path, path_size))));
  });
}

parlance_status parlance_vocabulary_save(const parlance_vocabulary* vocabulary,
                                         const char* path, size_t path_size,
                                         parlance_error** error) {
  return call(error, [&] {
    const Vocabulary& of = the(vocabulary, "vocabulary").value;
    taken(of.save(path_of(path, path_size)));
  });
}

parlance_status parlance_vocabulary_to_bytes(
    const parlance_vocabulary* vocabulary, parlance_bytes* out,
    parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(the(vocabulary, "vocabulary").value.to_bytes());
  });
}

parlance_status parlance_vocabulary_with_stop_ids(
    const parlance_vocabulary* vocabulary, const uint32_t* ids, size_t count,
    parlance_vocabulary** out, parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const Vocabulary& of = the(vocabulary, "vocabulary").value;
    made.set(taken(of.with_stop_ids(list_of(ids, count, "ids"))));
  });
}

parlance_status parlance_vocabulary_with_encoder(
    const parlance_vocabulary* vocabulary, parlance_encode_fn encode,
    void* user, void (*drop)(void* user), parlance_vocabulary** out,
    parlance_error** error) {
  bool taken_over = false;
  const parlance_status status = call(error, [&] {
    Out made(out, "out");
    const Vocabulary& of = the(vocabulary, "vocabulary").value;
    if (encode == nullptr) misuse(PARLANCE_NULL, "encode", "is NULL");
    auto owner = std::make_unique<HostEncoder>(encode, user, drop);
    taken_over = true;
    const std::shared_ptr<const HostEncoder> host = std::move(owner);
    made.set(of.with_encoder(
        [host](std::string_view text) { return host->ids_of(text); }));
  });
  if (!taken_over && drop != nullptr) drop(user);
  return status;
}

parlance_vocabulary* parlance_vocabulary_ref(
    const parlance_vocabulary* vocabulary) {
  return add_reference(vocabulary);
}
void parlance_vocabulary_free(parlance_vocabulary* vocabulary) {
  drop_reference(vocabulary);
}

size_t parlance_vocabulary_size(const parlance_vocabulary* vocabulary) {
  const bool is_one = vocabulary != nullptr && is_of_its_kind(vocabulary);
  return is_one ? vocabulary->value.size() : 0;
}

parlance_status parlance_vocabulary_token(const parlance_vocabulary* vocabulary,
                                          uint32_t id, const char** bytes,
                                          size_t* size, int32_t* kind) {
  return call(nullptr, [&] {
    store(kind, PARLANCE_TOKEN_UNUSED);
    Out at(bytes, "bytes");
    Out length(size, "size");
    const Vocabulary& of = the(vocabulary, "vocabulary").value;
    const std::string_view text = of.bytes(id);
    at.set(text.data());
    length.set(text.size());
    store(kind, of.kind(id));
  });
}

parlance_status parlance_vocabulary_special(
    const parlance_vocabulary* vocabulary, const char* spelling,
    size_t spelling_size, int64_t* id) {
  return call(nullptr, [&] {
    Out found(id, "id", std::int64_t{-1});
    const Vocabulary& of = the(vocabulary, "vocabulary").value;
    const auto special =
        of.special(text_of(spelling, spelling_size, "spelling"));
    if (special) found.set(*special);
  });
}

parlance_status parlance_vocabulary_stop_ids(
    const parlance_vocabulary* vocabulary, const uint32_t** ids, size_t* count,
    int32_t* known) {
  return call(nullptr, [&] {
    store(known, 0);
    Out at(ids, "ids");
    Out length(count, "count");
    const Vocabulary& of = the(vocabulary, "vocabulary").value;
    at.set(of.stop_ids().data());
    length.set(of.stop_ids().size());
    store(known, of.has_stop_ids());
  });
}

parlance_status parlance_vocabulary_decode(
    const parlance_vocabulary* vocabulary, const uint32_t* ids, size_t count,
    parlance_bytes* out, parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    const Vocabulary& of = the(vocabulary, "vocabulary").value;
    told.set(of.decode(list_of(ids, count, "ids")));
  });
}

PARLANCE_C_FUNCTIONS_END

}  // namespace parlance::c
