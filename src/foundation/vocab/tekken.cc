#include "vocab/tekken.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "vocab/json_pointer.h"
#include "vocab/lines.h"

namespace parlance::vocab {
namespace {

// Each of them is a token even if the file does not list it, so their number is
// no measure of the file's size.
constexpr std::uint64_t kMostSpecial = 65'536;

// Files up to version 7 need not list their special tokens; then they are
// these.
constexpr std::uint64_t kLastWithoutList = 7;
constexpr std::array<std::string_view, 20> kFirstSpecial = {
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
};
constexpr std::string_view kEnd = "</s>";

Error bad(std::string message, std::string path) {
  return Error{.code = ErrorCode::kBadVocabulary,
               .message = std::move(message),
               .path = std::move(path)};
}

class TekkenReader {
 public:
  TekkenReader(const json::Value& file, const AddedTokens& more,
               TableBuilder& builder, std::optional<Id>& end)
      : file_(file), more_(more), builder_(builder), end_(end) {}

  // The special tokens have the first ids, and the ordinary ones the others up
  // to the size; tokenizer_config.json may list further ones.
  std::optional<Error> read() {
    if (auto error = read_sizes()) return error;
    const json::Value* special = member(file_, "special_tokens");
    if (auto error = special == nullptr ? add_first() : add_special(*special)) {
      return error;
    }
    if (auto error = add_ordinary()) return error;
    return add_others(more_, builder_);
  }

 private:
  static Result<std::uint64_t> count(const json::Value& config,
                                     std::string_view key) {
    const json::Value* value = member(config, key);
    if (value == nullptr) return missing_key("/config", key);
    const std::string path = child("/config", key);
    if (value->kind() != json::Kind::kInt) {
      return wrong_type(path, "a number of tokens", *value);
    }
    if (value->as_int() < 0) {
      return bad("A number of tokens cannot be negative; found " +
                     std::to_string(value->as_int()) + ".",
                 path);
    }
    return static_cast<std::uint64_t>(value->as_int());
  }

  std::optional<Error> read_sizes() {
    const json::Value* config = member(file_, "config");
    if (config == nullptr) return missing_key("", "config");
    if (!config->is_object()) {
      return wrong_type("/config", "an object", *config);
    }
    const json::Value* vocab = member(file_, "vocab");
    if (vocab == nullptr) return missing_key("", "vocab");
    if (!vocab->is_array()) return wrong_type("/vocab", "an array", *vocab);
    const auto special = count(*config, "default_num_special_tokens");
    if (!special) return special.error();
    if (*special > kMostSpecial) {
      return Error{.code = ErrorCode::kTooLarge,
                   .message = "At most " + std::to_string(kMostSpecial) +
                              " special tokens are supported; found " +
                              std::to_string(*special) + ".",
                   .path = "/config/default_num_special_tokens"};
    }
    const auto size = count(*config, "default_vocab_size");
    if (!size) return size.error();
    if (*size < *special || *size - *special > vocab->size()) {
      return bad("The size must be from " + std::to_string(*special) +
                     ", the number of special tokens, to " +
                     std::to_string(*special + vocab->size()) +
                     ", with all entries of \"vocab\"; found " +
                     std::to_string(*size) + ".",
                 "/config/default_vocab_size");
    }
    special_ = *special;
    ordinary_ = *size - *special;
    return std::nullopt;
  }

  std::optional<Error> add_special(std::uint64_t id, std::string_view text,
                                   bool control, const std::string& path) {
    if (text == kEnd && !end_) end_ = static_cast<Id>(id);
    return at(
        add_listed({id, text, control ? Kind::kControl : Kind::kAdded, text},
                   more_, path, builder_),
        path);
  }

  std::optional<Error> add_first() {
    const json::Value& config = *member(file_, "config");
    const auto version = string_member(config, "/config", "version");
    if (!version) return version.error();
    const auto number = parse_number(
        version->starts_with('v') ? version->substr(1) : std::string_view());
    if (!number) {
      return bad("The version must be \"v\" and a number; found " +
                     printable(*version) + ".",
                 "/config/version");
    }
    if (*number > kLastWithoutList) return missing_key("", "special_tokens");
    if (kFirstSpecial.size() > special_) return too_few(kFirstSpecial.size());
    for (std::size_t id = 0; id < kFirstSpecial.size(); ++id) {
      if (auto error = add_special(id, kFirstSpecial[id], true, "")) {
        return error;
      }
    }
    return fill(kFirstSpecial.size());
  }

  Error too_few(std::size_t listed) const {
    return bad("There are " + std::to_string(listed) +
                   " special tokens, and the number given here is " +
                   std::to_string(special_) + ".",
               "/config/default_num_special_tokens");
  }

  std::optional<Error> add_special(const json::Value& list) {
    if (!list.is_array()) {
      return wrong_type("/special_tokens", "an array", list);
    }
    if (list.size() > special_) return too_few(list.size());
    for (std::size_t id = 0; id < list.size(); ++id) {
      const json::Value& entry = list.items()[id];
      const std::string path = child("/special_tokens", id);
      if (auto error = check_rank(entry, id, path)) return error;
      const auto text = string_member(entry, path, "token_str");
      if (!text) return text.error();
      const json::Value* control = member(entry, "is_control");
      if (control != nullptr && control->kind() != json::Kind::kBool) {
        return wrong_type(child(path, "is_control"), "a boolean", *control);
      }
      if (auto error = add_special(
              id, *text, control == nullptr || control->as_bool(), path)) {
        return error;
      }
    }
    return fill(list.size());
  }

  std::optional<Error> fill(std::uint64_t id) {
    for (; id < special_; ++id) {
      const std::string text = "<SPECIAL_" + std::to_string(id) + ">";
      if (auto error = add_special(id, text, true, "")) return error;
    }
    return std::nullopt;
  }

  // Upstream finds an entry by its position in some places and by its rank in
  // others.
  static std::optional<Error> check_rank(const json::Value& entry,
                                         std::size_t position,
                                         const std::string& path) {
    if (!entry.is_object()) return wrong_type(path, "an object", entry);
    const json::Value* rank = member(entry, "rank");
    if (rank == nullptr) return missing_key(path, "rank");
    const auto id = read_id(*rank, child(path, "rank"));
    if (!id) return id.error();
    if (*id == position) return std::nullopt;
    return bad("The rank must be the position in the list, " +
                   std::to_string(position) + "; found " + std::to_string(*id) +
                   ".",
               child(path, "rank"));
  }

  std::optional<Error> add_ordinary() {
    const json::Array& vocab = member(file_, "vocab")->items();
    std::string bytes;
    for (std::size_t i = 0; i < ordinary_; ++i) {
      const std::string path = child("/vocab", i);
      if (auto error = check_rank(vocab[i], i, path)) return error;
      const auto text = string_member(vocab[i], path, "token_bytes");
      if (!text) return text.error();
      if (!decode_base64(*text, bytes) || bytes.empty()) {
        return bad(printable(*text) +
                       " is not the base64, with padding, of a byte or more.",
                   child(path, "token_bytes"));
      }
      if (auto error =
              at(add_listed({special_ + i, bytes, Kind::kOrdinary, bytes},
                            more_, path, builder_),
                 path)) {
        return error;
      }
    }
    return std::nullopt;
  }

  const json::Value& file_;
  const AddedTokens& more_;
  TableBuilder& builder_;
  std::optional<Id>& end_;
  std::uint64_t special_ = 0;
  std::uint64_t ordinary_ = 0;
};

}  // namespace

bool is_tekken(const json::Value& file) {
  return file.is_object() && member(file, "config") != nullptr &&
         member(file, "vocab") != nullptr && member(file, "model") == nullptr;
}

std::optional<Error> read_tekken(const json::Value& file,
                                 const AddedTokens& more, TableBuilder& builder,
                                 std::optional<Id>& end) {
  return TekkenReader(file, more, builder, end).read();
}

}  // namespace parlance::vocab
