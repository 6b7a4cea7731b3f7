// Reads the configuration files first, because tokenizer_config.json defines
// flags of the tokens in tokenizer.json, and then adds tokens, size and stop
// ids to the builder.

#include "vocab/model_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system.h"
#include "parlance/json.h"
#include "vocab/gguf.h"
#include "vocab/json_pointer.h"
#include "vocab/lines.h"
#include "vocab/sentencepiece.h"
#include "vocab/tekken.h"
#include "vocab/tokenizer_json.h"

namespace parlance::vocab {
namespace {

constexpr std::string_view kTokenizer = "tokenizer.json";
constexpr std::string_view kTekken = "tekken.json";
constexpr std::string_view kSentencePiece = "tokenizer.model";
constexpr std::string_view kTokenizerConfig = "tokenizer_config.json";
constexpr std::string_view kGenerationConfig = "generation_config.json";
constexpr std::string_view kConfig = "config.json";

Error in_file(std::string_view file, Error error) {
  error.message = std::string(file) + ": " + error.message;
  return error;
}

// The object in `text`; null if the file is missing, that is if `text` is
// empty.
Result<json::Value> read_object(std::string_view file, std::string_view text,
                                const Limits& limits) {
  if (text.empty()) return json::Value();
  auto value = json::parse(text, {.limits = limits});
  if (!value) return in_file(file, value.error());
  if (!value->is_object()) {
    return in_file(file, wrong_type("", "an object", *value));
  }
  return value;
}

class ModelFilesReader {
 public:
  ModelFilesReader(const Limits& limits, TableBuilder& builder)
      : limits_(limits), builder_(builder) {}

  // Parses the configuration files, adds the tokens, finds the eos_token, sets
  // the size, and then adds the stop ids, which must be within the size: the
  // ids of generation_config.json or else config.json, and the eos_token.
  std::optional<Error> read(const ModelFiles& files) {
    const auto tokenizer =
        read_object(kTokenizerConfig, files.tokenizer_config, limits_);
    if (!tokenizer) return tokenizer.error();
    const auto generation =
        read_object(kGenerationConfig, files.generation_config, limits_);
    if (!generation) return generation.error();
    const auto config = read_object(kConfig, files.config, limits_);
    if (!config) return config.error();

    AddedTokens added;
    if (auto error = read_added(*tokenizer, added)) {
      return in_file(kTokenizerConfig, *std::move(error));
    }
    std::optional<Id> end;
    if (auto error = read_tokenizer(files.tokenizer_json, added, limits_,
                                    builder_, name_, end)) {
      return in_file(name_, *std::move(error));
    }
    // The eos_token is looked up before read_size(), which can drop tokens.
    if (auto error = read_eos_token(*tokenizer)) {
      return in_file(kTokenizerConfig, *std::move(error));
    }
    if (auto error = read_size(*config)) {
      return in_file(kConfig, *std::move(error));
    }
    if (auto error = read_eos_ids(*generation)) {
      return in_file(kGenerationConfig, *std::move(error));
    }
    if (files.generation_config.empty()) {
      if (auto error = read_eos_ids(*config)) {
        return in_file(kConfig, *std::move(error));
      }
    }
    if (!eos_token_ && end && builder_.has(*end)) eos_token_ = end;
    if (eos_token_) {
      if (auto error = builder_.add_stop(*eos_token_)) {
        error->path = "/eos_token";
        return in_file(kTokenizerConfig, *std::move(error));
      }
    }
    return std::nullopt;
  }

 private:
  static std::optional<Error> read_added(const json::Value& config,
                                         AddedTokens& added) {
    constexpr std::string_view kPath = "/added_tokens_decoder";
    const json::Value* list = member(config, "added_tokens_decoder");
    if (list == nullptr) return std::nullopt;
    if (!list->is_object()) {
      return wrong_type(std::string(kPath), "an object", *list);
    }
    for (const json::Member& entry : list->members()) {
      const std::string path = child(kPath, entry.key);
      const auto id = parse_number(entry.key);
      if (!id || *id > kMaxId) {
        return Error{.code = ErrorCode::kBadVocabulary,
                     .message = "A key must be a token id from 0 to " +
                                std::to_string(kMaxId) + "; found " +
                                vocab::printable(entry.key) + ".",
                     .path = path};
      }
      auto token = read_added_token(entry.value, path);
      if (!token) return token.error();
      if (!token->content.empty()) added.emplace(*id, *std::move(token));
    }
    return std::nullopt;
  }

  std::optional<Error> read_eos_token(const json::Value& config) {
    const json::Value* value = member(config, "eos_token");
    if (value == nullptr) return std::nullopt;
    std::string_view spelling;
    if (value->is_object()) {
      const auto content = string_member(*value, "/eos_token", "content");
      if (!content) return content.error();
      spelling = *content;
    } else if (value->is_string()) {
      spelling = value->as_string();
    } else {
      return wrong_type("/eos_token", "a string or an object", *value);
    }
    eos_token_ = builder_.find(spelling);
    if (eos_token_) return std::nullopt;
    return Error{.code = ErrorCode::kBadVocabulary,
                 .message = "The eos_token " + vocab::printable(spelling) +
                            " is no token of " + std::string(name_) + ".",
                 .path = "/eos_token"};
  }

  std::optional<Error> read_size(const json::Value& config) {
    std::string path = "/vocab_size";
    const json::Value* size = member(config, "vocab_size");
    const json::Value* text = member(config, "text_config");
    if (size == nullptr && text != nullptr) {
      size = member(*text, "vocab_size");
      path = "/text_config/vocab_size";
    }
    if (size == nullptr) return std::nullopt;
    if (size->kind() != json::Kind::kInt) {
      return wrong_type(path, "a number of ids", *size);
    }
    if (size->as_int() < 1) {
      return Error{.code = ErrorCode::kBadVocabulary,
                   .message = "The vocab_size must be 1 or more; found " +
                              std::to_string(size->as_int()) + ".",
                   .path = path};
    }
    auto error = builder_.resize(static_cast<std::uint64_t>(size->as_int()));
    if (error) error->path = path;
    return error;
  }

  std::optional<Error> read_eos_ids(const json::Value& config) {
    const json::Value* value = member(config, "eos_token_id");
    if (value == nullptr) return std::nullopt;
    builder_.set_stops_known();
    if (!value->is_array()) return add_stop(*value, "/eos_token_id");
    for (std::size_t i = 0; i < value->size(); ++i) {
      if (auto error = add_stop(value->items()[i], child("/eos_token_id", i))) {
        return error;
      }
    }
    return std::nullopt;
  }

  std::optional<Error> add_stop(const json::Value& value,
                                const std::string& path) {
    const auto id = read_id(value, path);
    if (!id) return id.error();
    auto error = builder_.add_stop(*id);
    if (error) error->path = path;
    return error;
  }

  const Limits& limits_;
  TableBuilder& builder_;
  std::string_view name_ = kTokenizer;  // of the file with the tokens
  std::optional<Id> eos_token_;
};

struct Close {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

Error io_error(const std::string& path, const std::string& why) {
  return Error{.code = ErrorCode::kIo,
               .message = path + " cannot be read: " + why + "."};
}

// Reads a whole file, or the beginning of a GGUF file that contains its header.
// The size of the part that is read doubles until the header is complete, so
// most of the tensors are never read.
Result<std::string> read_file(const std::string& path, const Limits& limits) {
  const File file(base::open_file(path));
  if (file == nullptr) return io_error(path, std::strerror(errno));
  std::string text;
  std::size_t part = std::size_t{1} << 20;
  for (;;) {
    const std::size_t size = text.size();
    text.resize(size + part);
    const std::size_t read =
        std::fread(text.data() + size, 1, part, file.get());
    text.resize(size + read);
    if (std::ferror(file.get()) != 0) {
      return io_error(path, std::strerror(errno));
    }
    if (read < part) return text;
    if (is_gguf(text)) {
      TableBuilder ignored;
      bool truncated = false;
      read_gguf(text, truncated, ignored);
      if (!truncated) return text;
    }
    if (text.size() > limits.source_bytes) {
      return Error{.code = ErrorCode::kTooLarge,
                   .message = path + " has more to read than " +
                              std::to_string(limits.source_bytes) +
                              " bytes, the limit source_bytes."};
    }
    part = text.size();
  }
}

// Reads a file; "" if it does not exist.
Result<std::string> read_optional(const std::string& path,
                                  const Limits& limits) {
  if (base::file_kind(path) == base::FileKind::kNone) return std::string();
  return read_file(path, limits);
}

}  // namespace

std::optional<Error> read_tokenizer(std::string_view text,
                                    const AddedTokens& more,
                                    const Limits& limits, TableBuilder& builder,
                                    std::string_view& name,
                                    std::optional<Id>& end) {
  if (is_sentencepiece(text)) {
    name = kSentencePiece;
    return read_sentencepiece(text, more, builder, end);
  }
  name = kTokenizer;
  const auto file = json::parse(text, {.limits = limits});
  if (!file) return file.error();
  if (!is_tekken(*file)) return read_tokenizer_json(*file, more, builder);
  name = kTekken;
  return read_tekken(*file, more, builder, end);
}

std::optional<Error> read_model_files(const ModelFiles& files,
                                      const Limits& limits,
                                      TableBuilder& builder) {
  return ModelFilesReader(limits, builder).read(files);
}

Result<Loaded> load(const std::string& path, const Limits& limits) {
  Loaded out;
  out.folder = base::file_kind(path) == base::FileKind::kFolder;
  if (!out.folder) {
    auto text = read_file(path, limits);
    if (!text) return text.error();
    out.text = *std::move(text);
    return out;
  }
  std::string_view tokenizer;
  for (const std::string_view name : {kTokenizer, kTekken, kSentencePiece}) {
    if (base::file_kind(base::in_folder(path, name)) != base::FileKind::kNone) {
      tokenizer = name;
      break;
    }
  }
  if (tokenizer.empty()) {
    return Error{.code = ErrorCode::kIo,
                 .message = "The folder " + path +
                            " has no tokenizer.json, tekken.json or "
                            "tokenizer.model; a tokenizer that has none is "
                            "read from its GGUF file or its object."};
  }
  const std::pair<std::string_view, std::string*> files[] = {
      {tokenizer, &out.tokenizer},
      {kTokenizerConfig, &out.tokenizer_config},
      {kGenerationConfig, &out.generation_config},
      {kConfig, &out.config}};
  for (const auto& [name, text] : files) {
    auto read = read_optional(base::in_folder(path, name), limits);
    if (!read) return read.error();
    *text = *std::move(read);
  }
  return out;
}

}  // namespace parlance::vocab
