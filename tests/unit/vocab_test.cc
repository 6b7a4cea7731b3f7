// Vocabularies from every source.  What tokenizer.json files mean is data:
// tests/data/tokenizers/cases.json says it of each file beside it.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/vocabulary.h"
#include "support/folders.h"
#include "vocab/marker_pieces.h"
#include "vocab/special_spellings.h"
#include "vocab/token_log.h"

namespace parlance {

// For gtest's messages.
static void PrintTo(TokenKind kind, std::ostream* out) {
  *out << std::vector<const char*>{"ordinary", "added", "control",
                                   "unused"}[static_cast<std::size_t>(kind)];
}

}  // namespace parlance

namespace parlance::vocab_test {
namespace {

std::string read_data(std::string_view name) {
  const std::string path =
      testing::test_data() + "/tokenizers/" + std::string(name);
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<TokenId> ids_of(const json::Value& list) {
  std::vector<TokenId> ids;
  for (const json::Value& id : list.items()) {
    ids.push_back(static_cast<TokenId>(id.as_int()));
  }
  return ids;
}

std::vector<TokenId> ids_of(std::span<const TokenId> ids) {
  return {ids.begin(), ids.end()};
}

// Bytes as text, or as a list of numbers.
std::string bytes_of(const json::Value& value) {
  if (value.is_string()) return std::string(value.as_string());
  std::string bytes;
  for (const json::Value& byte : value.items()) {
    bytes += static_cast<char>(byte.as_int());
  }
  return bytes;
}

void expect_tokens(const Vocabulary& vocabulary, const json::Value& wanted) {
  const json::Array& tokens = wanted.find("tokens")->items();
  EXPECT_EQ(vocabulary.size(), tokens.size());
  std::vector<TokenId> control;
  for (TokenId id = 0; id < tokens.size(); ++id) {
    EXPECT_EQ(vocabulary.bytes(id), bytes_of(tokens[id])) << "id " << id;
    EXPECT_EQ(vocabulary.kind(id) == TokenKind::kUnused, tokens[id].is_null())
        << "id " << id;
    if (vocabulary.kind(id) == TokenKind::kControl) control.push_back(id);
  }
  EXPECT_EQ(control, ids_of(*wanted.find("control")));
  EXPECT_EQ(ids_of(vocabulary.special_ids()), ids_of(*wanted.find("special")));
  for (const TokenId id : vocabulary.special_ids()) {
    EXPECT_NE(vocabulary.kind(id), TokenKind::kOrdinary);
    EXPECT_EQ(vocabulary.special(vocabulary.spelling(id)), id);
  }
  EXPECT_EQ(vocabulary.strip_leading_space(),
            wanted.find("strip_leading_space")->as_bool());
  EXPECT_FALSE(vocabulary.has_stop_ids());
  EXPECT_TRUE(vocabulary.stop_ids().empty());
  if (const json::Value* texts = wanted.find("decode")) {
    for (const json::Value& row : texts->items()) {
      EXPECT_EQ(vocabulary.decode(ids_of(*row.find("ids"))),
                row.find("text")->as_string())
          << json::dump(row);
    }
  }
}

void expect_error(const Error& error, const json::Value& wanted) {
  EXPECT_EQ(to_string(error.code), wanted.find("code")->as_string());
  EXPECT_EQ(error.path, wanted.find("path")->as_string());
  EXPECT_EQ(error.message, wanted.find("message")->as_string());
}

TEST(TokenizerJson, Cases) {
  const Result<json::Value> cases = json::parse(read_data("cases.json"));
  ASSERT_TRUE(cases) << cases.error().to_string();
  ASSERT_GT(cases->size(), 40u);
  for (const json::Value& row : cases->items()) {
    SCOPED_TRACE(std::string(row.find("file")->as_string()) + ": " +
                 std::string(row.find("what")->as_string()));
    const std::string text = read_data(row.find("file")->as_string());
    const Result<Vocabulary> vocabulary = Vocabulary::from_tokenizer_json(text);
    const json::Value* error = row.find("error");
    if (error != nullptr) {
      EXPECT_FALSE(vocabulary);
      if (!vocabulary) expect_error(vocabulary.error(), *error);
    } else {
      EXPECT_TRUE(vocabulary) << vocabulary.error().to_string();
      if (vocabulary) expect_tokens(*vocabulary, row);
    }
  }
}

TEST(TokenizerJson, NotJson) {
  const auto vocabulary = Vocabulary::from_tokenizer_json("{\"model\": ");
  ASSERT_FALSE(vocabulary);
  EXPECT_EQ(vocabulary.error().code, ErrorCode::kInvalidJson);
  EXPECT_TRUE(vocabulary.error().span);
}

TEST(TokenizerJson, NotAnObject) {
  const auto vocabulary = Vocabulary::from_tokenizer_json("[1]");
  ASSERT_FALSE(vocabulary);
  EXPECT_EQ(vocabulary.error().to_string(),
            "wrong_type: Expected an object, found array.");
}

// A stage in a thousand Sequences is found without recursion, or the JSON is
// too deep: never a crash.
TEST(TokenizerJson, DeepSequences) {
  for (const int depth : {100, 400, 100000}) {
    std::string text = R"({"model": {"vocab": {"a": 0}}, "decoder": )";
    for (int i = 0; i < depth; ++i) {
      text += R"({"type": "Sequence", "decoders": [)";
    }
    text += R"({"type": "Fuse"})";
    for (int i = 0; i < depth; ++i) text += "]}";
    text += "}";
    const auto vocabulary = Vocabulary::from_tokenizer_json(text);
    EXPECT_EQ(vocabulary.has_value(), depth <= 400) << depth;
  }
}

std::string with_decoder(const std::string& decoder) {
  return R"({"model": {"type": "BPE", "vocab": {"aaaa": 0}}, "decoder": )" +
         decoder + "}";
}

std::string replace_stages(int count, const std::string& to) {
  std::string text = R"({"type": "Sequence", "decoders": [)";
  for (int i = 0; i < count; ++i) {
    if (i != 0) text += ", ";
    text += R"({"type": "Replace", "pattern": {"String": "a"}, "content": ")" +
            to + "\"}";
  }
  return text + "]}";
}

// Stages that grow a piece exponentially, or are too many, end at once.
TEST(TokenizerJson, HostileDecoders) {
  const struct {
    std::string decoder;
    const char* error;
  } rows[] = {
      {replace_stages(4, std::string(1000, 'a')),
       "too_large at /decoder: The decoder makes more than 65536 bytes of one "
       "piece, with the replacement of \"a\"."},
      {replace_stages(60, "aa"),
       "too_large at /decoder: The decoder makes more than 65536 bytes of one "
       "piece, with the replacement of \"a\"."},
      {replace_stages(20000, "b"),
       "too_large at /decoder/decoders/64: The decoder has more than 64 "
       "stages."},
  };
  for (const auto& row : rows) {
    const auto vocabulary =
        Vocabulary::from_tokenizer_json(with_decoder(row.decoder));
    ASSERT_FALSE(vocabulary);
    EXPECT_EQ(vocabulary.error().to_string(), row.error);
  }
  const auto vocabulary =
      Vocabulary::from_tokenizer_json(with_decoder(replace_stages(13, "aa")));
  ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
  EXPECT_EQ(vocabulary->bytes(0).size(), 4u << 13);
}

// Many stages for many pieces.
TEST(TokenizerJson, WorkOfADecoder) {
  std::string text = R"({"model": {"type": "BPE", "vocab": {)";
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 20; ++i) {
    if (i != 0) text += ", ";
    text += '"' + std::to_string(i) + piece + "\": " + std::to_string(i);
  }
  text += R"(}}, "decoder": )" + replace_stages(64, "b") + "}";
  const auto vocabulary = Vocabulary::from_tokenizer_json(text);
  ASSERT_FALSE(vocabulary);
  EXPECT_EQ(vocabulary.error().to_string(),
            "too_large at /decoder: The decoder's stages have more than "
            "1073741824 bytes of pieces to look at.");
}

constexpr std::string_view kTokenizer = R"({
  "added_tokens": [
    {"id": 2, "content": "</s>", "special": true},
    {"id": 3, "content": "<think>", "special": false, "lstrip": true}],
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}},
  "decoder": {"type": "ByteLevel"}})";

TEST(Pretrained, StopIdsSizeAndAddedTokens) {
  const struct {
    ModelFiles files;
    std::optional<std::vector<TokenId>> stops;
    std::size_t size;
  } rows[] = {
      {{.tokenizer_json = kTokenizer}, std::nullopt, 4},
      {{.tokenizer_json = kTokenizer,
        .tokenizer_config = R"({"eos_token": "</s>"})"},
       {{2}},
       4},
      {{.tokenizer_json = kTokenizer,
        .tokenizer_config = R"({"eos_token": {"content": "</s>"}})",
        .generation_config = R"({"eos_token_id": [1, 2]})",
        .config = R"({"vocab_size": 9, "eos_token_id": 0})"},
       {{1, 2}},
       9},
      {{.tokenizer_json = kTokenizer,
        .tokenizer_config = R"({"eos_token": null})",
        .config = R"({"text_config": {"vocab_size": 3}, "eos_token_id": 1})"},
       {{1}},
       3},
      {{.tokenizer_json = kTokenizer,
        .generation_config = R"({"eos_token_id": []})"},
       std::vector<TokenId>{},
       4},
      {{.tokenizer_json = kTokenizer,
        .generation_config = R"({"eos_token_id": null})"},
       std::nullopt,
       4},
  };
  for (const auto& row : rows) {
    const auto vocabulary = Vocabulary::from_pretrained(row.files);
    ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
    EXPECT_EQ(vocabulary->has_stop_ids(), row.stops.has_value());
    EXPECT_EQ(ids_of(vocabulary->stop_ids()),
              row.stops.value_or(std::vector<TokenId>()));
    EXPECT_EQ(vocabulary->size(), row.size);
    EXPECT_EQ(vocabulary->special("</s>"), 2u);
    EXPECT_EQ(vocabulary->special("<think>").has_value(), row.size > 3);
  }
}

TEST(Pretrained, TheConfigurationOfTheTokenizerHasTheFlags) {
  const auto vocabulary = Vocabulary::from_pretrained(
      ModelFiles{.tokenizer_json = kTokenizer,
                 .tokenizer_config = R"({"added_tokens_decoder": {
        "1": {"content": "b", "special": true},
        "3": {"content": "<think>", "special": true, "rstrip": true},
        "6": {"content": "<tool>", "special": false},
        "7": {"content": "", "special": true}}})"});
  ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
  EXPECT_EQ(vocabulary->size(), 7u);
  EXPECT_EQ(vocabulary->kind(1), TokenKind::kControl);
  EXPECT_EQ(vocabulary->kind(2), TokenKind::kControl);
  EXPECT_EQ(vocabulary->kind(3), TokenKind::kControl);
  EXPECT_FALSE(vocabulary->strips_left(3));
  EXPECT_TRUE(vocabulary->strips_right(3));
  EXPECT_EQ(vocabulary->kind(6), TokenKind::kAdded);
}

TEST(Pretrained, ErrorsNameTheFile) {
  const struct {
    ModelFiles files;
    const char* error;
  } rows[] = {
      {{.tokenizer_json = "[]"},
       "wrong_type: tokenizer.json: Expected an object, found array."},
      {{.tokenizer_json = kTokenizer, .tokenizer_config = "[]"},
       "wrong_type: tokenizer_config.json: Expected an object, found array."},
      {{.tokenizer_json = kTokenizer,
        .tokenizer_config = R"({"eos_token": "</t>"})"},
       "bad_vocabulary at /eos_token: tokenizer_config.json: The eos_token "
       "\"</t>\" is no token of tokenizer.json."},
      {{.tokenizer_json = kTokenizer,
        .tokenizer_config = R"({"eos_token": 2})"},
       "wrong_type at /eos_token: tokenizer_config.json: Expected a string or "
       "an object, found integer."},
      {{.tokenizer_json = kTokenizer,
        .tokenizer_config = R"({"added_tokens_decoder": {"x": {}}})"},
       "bad_vocabulary at /added_tokens_decoder/x: tokenizer_config.json: A "
       "key must be a token id from 0 to 16777214; found \"x\"."},
      {{.tokenizer_json = kTokenizer,
        .tokenizer_config =
            R"({"added_tokens_decoder": {"3": {"content": "<x>"}}})"},
       "conflict at /added_tokens/1/content: tokenizer.json: Token id 3 is "
       "\"<think>\" here and \"<x>\" in tokenizer_config.json."},
      {{.tokenizer_json = kTokenizer,
        .generation_config = R"({"eos_token_id": [0, "x"]})"},
       "wrong_type at /eos_token_id/1: generation_config.json: Expected an "
       "integer as token id, found string."},
      {{.tokenizer_json = kTokenizer,
        .generation_config = R"({"eos_token_id": 9})"},
       "bad_vocabulary at /eos_token_id: generation_config.json: Stop id 9 has "
       "no token; a stop id must be one of the vocabulary's 4 ids."},
      {{.tokenizer_json = kTokenizer, .config = R"({"vocab_size": 0})"},
       "bad_vocabulary at /vocab_size: config.json: The vocab_size must be 1 "
       "or more; found 0."},
      {{.tokenizer_json = kTokenizer, .config = R"({"vocab_size": 99999999})"},
       "too_large at /vocab_size: config.json: Token id 99999998 is beyond the "
       "largest that is supported, 16777214."},
  };
  for (const auto& row : rows) {
    const auto vocabulary = Vocabulary::from_pretrained(row.files);
    ASSERT_FALSE(vocabulary) << row.error;
    EXPECT_EQ(vocabulary.error().to_string(), row.error);
  }
}

TEST(Files, FoldersAndTheirAbsence) {
  const std::string folder = ::testing::TempDir() + "parlance_vocab_test";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder + "/tokenizer.json");
  const auto empty = Vocabulary::from_file(folder);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::kIo);
  std::ofstream(folder + "/tokenizer.json") << kTokenizer;
  std::ofstream(folder + "/generation_config.json") << R"({"eos_token_id": 2})";
  for (const auto& vocabulary :
       {Vocabulary::from_file(folder), Vocabulary::from_pretrained(folder)}) {
    ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
    EXPECT_EQ(ids_of(vocabulary->stop_ids()), std::vector<TokenId>{2});
  }
  const auto file = Vocabulary::from_file(folder + "/tokenizer.json");
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_FALSE(file->has_stop_ids()) << "the file alone does not say";
  EXPECT_EQ(
      Vocabulary::from_pretrained(folder + "/tokenizer.json").error().code,
      ErrorCode::kIo);
  EXPECT_EQ(Vocabulary::from_file(folder + "/nothing").error().code,
            ErrorCode::kIo);
  EXPECT_EQ(Vocabulary::from_file(folder, {.source_bytes = 10}).error().code,
            ErrorCode::kTooLarge);
}

TEST(TokenLists, Spellings) {
  const std::vector<std::string> tokens = {
      "a", "", "\u2581b", "<0x0A>", "\u0120c", "<t>", "</s>"};
  const TokenId added[] = {5};
  const TokenId control[] = {6};
  const TokenId stops[] = {6};
  const struct {
    TokenSpelling spelling;
    std::vector<std::string_view> bytes;
  } rows[] = {
      {TokenSpelling::kRaw,
       {"a", "", "\u2581b", "<0x0A>", "\u0120c", "<t>", "</s>"}},
      {TokenSpelling::kByteFallback,
       {"a", "", " b", "\n", "\u0120c", "<t>", "</s>"}},
      {TokenSpelling::kByteLevel,
       {"a", "", "\u2581b", "<0x0A>", " c", "<t>", "</s>"}},
  };
  for (const auto& row : rows) {
    const auto vocabulary = Vocabulary::from_tokens({.tokens = tokens,
                                                     .spelling = row.spelling,
                                                     .added_ids = added,
                                                     .control_ids = control,
                                                     .stop_ids = stops});
    ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
    for (TokenId id = 0; id < tokens.size(); ++id) {
      EXPECT_EQ(vocabulary->bytes(id), row.bytes[id]);
    }
    EXPECT_EQ(vocabulary->kind(1), TokenKind::kUnused);
    EXPECT_EQ(vocabulary->kind(5), TokenKind::kAdded);
    EXPECT_EQ(vocabulary->kind(6), TokenKind::kControl);
    EXPECT_EQ(ids_of(vocabulary->stop_ids()), std::vector<TokenId>{6});
  }
  const auto longer =
      Vocabulary::from_tokens({.tokens = tokens, .model_size = 100});
  EXPECT_EQ(longer->size(), 100u);
  EXPECT_EQ(longer->kind(99), TokenKind::kUnused);
  EXPECT_FALSE(longer->has_stop_ids());
  const auto shorter = Vocabulary::from_tokens(
      {.tokens = tokens, .control_ids = control, .model_size = 4});
  EXPECT_EQ(shorter->size(), 4u);
  EXPECT_TRUE(shorter->special_ids().empty());
  EXPECT_EQ(Vocabulary::from_tokens(
                {.tokens = tokens, .stop_ids = stops, .model_size = 4})
                .error()
                .to_string(),
            "bad_vocabulary: Stop id 6 has no token; a stop id must be one of "
            "the vocabulary's 4 ids.");
  const TokenId far[] = {7};
  EXPECT_EQ(Vocabulary::from_tokens({.tokens = tokens, .added_ids = far})
                .error()
                .to_string(),
            "bad_vocabulary: added_ids contains 7, and the list has only 7 "
            "tokens.");
}

// The bytes of a GGUF header.
class GgufText {
 public:
  GgufText& number(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      text_ += static_cast<char>(value >> (8 * i) & 0xFF);
    }
    return *this;
  }
  GgufText& string(std::string_view text) {
    number(text.size(), 8);
    text_ += text;
    return *this;
  }
  GgufText& pair(std::string_view key, std::uint32_t type) {
    ++pairs_;
    return string(key).number(type, 4);
  }
  GgufText& name(std::string_view key, std::string_view value) {
    return pair(key, 8).string(value);
  }
  GgufText& id(std::string_view key, std::uint32_t value) {
    return pair(key, 4).number(value, 4);
  }
  GgufText& list(std::string_view key, std::uint32_t type,
                 std::uint64_t count) {
    return pair(key, 9).number(type, 4).number(count, 8);
  }
  GgufText& tokens(const std::vector<std::string>& tokens) {
    list("tokenizer.ggml.tokens", 8, tokens.size());
    for (const std::string& token : tokens) string(token);
    return *this;
  }
  GgufText& types(const std::vector<std::uint32_t>& types) {
    list("tokenizer.ggml.token_type", 5, types.size());
    for (const std::uint32_t type : types) number(type, 4);
    return *this;
  }
  std::string text(std::uint32_t version = 3) const {
    std::string head = "GGUF";
    GgufText numbers;
    numbers.number(version, 4).number(272, 8).number(pairs_, 8);
    return head + numbers.text_ + text_;
  }

 private:
  std::string text_;
  std::uint64_t pairs_ = 0;
};

TEST(Gguf, TokensByModelAndType) {
  const std::vector<std::string> tokens = {
      "a",       "\u0120b", "\u2581c", "<0x0A>", "<|im_end|>",
      "<think>", "unused",  "<unk>",   "\\n",    "  "};
  const std::vector<std::uint32_t> types = {1, 1, 1, 6, 3, 4, 5, 2, 1, 4};
  const struct {
    const char* model;
    const char* pre;
    std::vector<std::string_view> bytes;
    bool prefix;
  } rows[] = {
      {"gpt2", "qwen2", {"a", " b", "\u2581c", "\n", "\\n"}, false},
      {"gpt2", "gemma4", {"a", "\u0120b", " c", "\n", "\\n"}, false},
      {"llama", "default", {"a", "\u0120b", " c", "\n", "\\n"}, true},
      {"gemma4", "", {"a", "\u0120b", " c", "\n", "\\n"}, false},
      {"bert", "", {"a", "\u0120b", " c", "\n", "\\n"}, false},
      {"t5", "", {"a", "\u0120b", " c", "\n", "\\n"}, false},
      {"plamo2", "", {"a", "\u0120b", "\u2581c", "\n", "\\n"}, false},
      {"rwkv", "", {"a", "\u0120b", "\u2581c", "\n", "\n"}, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.model);
    GgufText header;
    header.name("general.architecture", "llama")
        .list("general.tags", 8, 2)
        .string("x")
        .string("")
        .list("tokenizer.ggml.scores", 6, 1)
        .number(0, 4)
        .types(types)
        .name("tokenizer.ggml.model", row.model)
        .name("tokenizer.ggml.pre", row.pre)
        .tokens(tokens)
        .id("tokenizer.ggml.eos_token_id", 4)
        .id("tokenizer.ggml.eot_token_id", 7)
        .id("tokenizer.ggml.eom_token_id", 0xFFFFFFFF)
        .id("tokenizer.ggml.bos_token_id", 0);
    const auto vocabulary =
        Vocabulary::from_text(header.text() + "tensors follow");
    ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
    ASSERT_EQ(vocabulary->size(), tokens.size());
    for (TokenId id = 0; id < 4; ++id) {
      EXPECT_EQ(vocabulary->bytes(id), row.bytes[id]);
      EXPECT_EQ(vocabulary->kind(id), TokenKind::kOrdinary);
    }
    EXPECT_EQ(vocabulary->bytes(8), row.bytes[4]);
    EXPECT_EQ(vocabulary->kind(4), TokenKind::kControl);
    EXPECT_EQ(vocabulary->kind(5), TokenKind::kAdded);
    EXPECT_EQ(vocabulary->kind(6), TokenKind::kUnused);
    EXPECT_EQ(vocabulary->kind(7), TokenKind::kControl);
    EXPECT_EQ(vocabulary->kind(9), TokenKind::kOrdinary) << "white space only";
    EXPECT_EQ(ids_of(vocabulary->stop_ids()), (std::vector<TokenId>{4, 7}));
    EXPECT_EQ(vocabulary->strip_leading_space(), row.prefix);
    EXPECT_EQ(vocabulary->space_after_marks(), row.prefix);
  }
}

// However little of a header there is, it is an error and nothing more.
TEST(Gguf, EveryPrefixIsCutOff) {
  GgufText header;
  header.name("tokenizer.ggml.model", "gpt2")
      .tokens({"a", "b"})
      .types({1, 1})
      .pair("tokenizer.ggml.add_space_prefix", 7)
      .number(1, 1)
      .id("tokenizer.ggml.eos_token_id", 1);
  const std::string text = header.text(2);
  ASSERT_TRUE(Vocabulary::from_gguf(text));
  EXPECT_TRUE(Vocabulary::from_gguf(text)->strip_leading_space());
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto part = Vocabulary::from_gguf(text.substr(0, size));
    ASSERT_FALSE(part) << size;
    EXPECT_EQ(part.error().code, ErrorCode::kBadVocabulary);
    EXPECT_NE(part.error().message.find("cut off"), std::string::npos);
  }
  EXPECT_EQ(
      Vocabulary::from_gguf(text, {.source_bytes = 40}).error().to_string(),
      "too_large: The GGUF header has more bytes than the limit source_bytes, "
      "40.");
}

TEST(Gguf, Errors) {
  constexpr std::uint64_t kHuge = ~std::uint64_t{0} / 2;
  const auto begun = [] {
    GgufText header;
    header.name("tokenizer.ggml.model", "gpt2");
    return header;
  };
  const auto rwkv = [] {
    GgufText header;
    header.name("tokenizer.ggml.model", "rwkv");
    return header;
  };
  const struct {
    std::string text;
    const char* error;
  } rows[] = {
      {GgufText().text(1),
       "unsupported_version: The GGUF version 1 is not supported; supported "
       "are 2 and 3, little-endian."},
      {GgufText().text(),
       "missing_key: The GGUF header has no tokenizer.ggml.model."},
      {begun().text(),
       "missing_key: The GGUF header has no tokenizer.ggml.tokens."},
      {GgufText().name("tokenizer.ggml.model", "x").tokens({}).text(),
       "unknown_name: The tokenizer.ggml.model \"x\" is not supported; "
       "supported are gpt2, llama, gemma4, bert, t5, rwkv and plamo2."},
      {begun().list("tokenizer.ggml.tokens", 8, kHuge).text(),
       "bad_vocabulary: The GGUF header is cut off: at byte 113 it announces "
       "more than the 0 bytes that are left."},
      {begun().list("tokenizer.ggml.merges", 10, kHuge).text(),
       "bad_vocabulary: The GGUF header is cut off: at byte 113 it announces "
       "more than the 0 bytes that are left."},
      {begun().pair("x", 8).number(kHuge, 8).text(),
       "bad_vocabulary: The GGUF header is cut off: at byte 81 it announces "
       "more than the 8 bytes that are left."},
      {begun().list("tokenizer.ggml.tokens", 5, 0).text(),
       "wrong_type: tokenizer.ggml.tokens must be a list of strings."},
      {begun().list("tokenizer.ggml.token_type", 4, 0).text(),
       "wrong_type: tokenizer.ggml.token_type must be a list of 32-bit "
       "integers."},
      {begun().id("tokenizer.ggml.pre", 1).text(),
       "wrong_type: tokenizer.ggml.pre must be a string."},
      {begun().name("tokenizer.ggml.eos_token_id", "x").text(),
       "wrong_type: tokenizer.ggml.eos_token_id must be an integer."},
      {begun().id("tokenizer.ggml.add_space_prefix", 1).text(),
       "wrong_type: tokenizer.ggml.add_space_prefix must be a boolean."},
      {begun().pair("x", 13).text(),
       "bad_vocabulary: The value of \"x\" has the type 13, which GGUF does "
       "not have."},
      {begun().list("x", 9, 1).text(),
       "bad_vocabulary: The value of \"x\" is a list of lists, which is not "
       "supported."},
      {begun().tokens({"a"}).tokens({"a"}).text(),
       "bad_vocabulary: tokenizer.ggml.tokens is given twice."},
      {begun().name("tokenizer.ggml.model", "llama").tokens({"a"}).text(),
       "bad_vocabulary: tokenizer.ggml.model is given twice."},
      {begun()
           .id("tokenizer.ggml.eos_token_id", 0xFFFFFFFF)
           .tokens({"a"})
           .id("tokenizer.ggml.eos_token_id", 0)
           .text(),
       "bad_vocabulary: tokenizer.ggml.eos_token_id is given twice."},
      {rwkv().tokens({"a", "\\xzz"}).text(),
       "bad_vocabulary: Token 1 has \"\\x\" without two hexadecimal digits "
       "after it: \"\\\\xzz\"."},
      {rwkv().tokens({"\\x4"}).text(),
       "bad_vocabulary: Token 0 has \"\\x\" without two hexadecimal digits "
       "after it: \"\\\\x4\"."},
      {rwkv().tokens({"\\x-1"}).text(),
       "bad_vocabulary: Token 0 has \"\\x\" without two hexadecimal digits "
       "after it: \"\\\\x-1\"."},
      {begun().tokens({"a"}).types({}).text(),
       "bad_vocabulary: tokenizer.ggml.token_type has 0 entries for 1 tokens."},
      {begun().tokens({"a"}).types({6}).text(),
       "bad_vocabulary: Token 0 has the type of a byte, so it must be spelled "
       "like \"<0x0A>\"; found \"a\"."},
      {begun().tokens({"a"}).id("tokenizer.ggml.eos_token_id", 1).text(),
       "bad_vocabulary: tokenizer.ggml.eos_token_id: Stop id 1 has no token; a "
       "stop id must be one of the vocabulary's 1 ids."},
  };
  for (const auto& row : rows) {
    const auto vocabulary = Vocabulary::from_gguf(row.text);
    ASSERT_FALSE(vocabulary) << row.error;
    EXPECT_EQ(vocabulary.error().to_string(), row.error);
  }
}

// A file is read as far as its header goes.
TEST(Gguf, Files) {
  GgufText header;
  std::vector<std::string> tokens;
  for (int i = 0; i < 200000; ++i) tokens.push_back("t" + std::to_string(i));
  header.name("tokenizer.ggml.model", "gpt2").tokens(tokens);
  const std::string path = ::testing::TempDir() + "parlance_vocab_test.gguf";
  std::ofstream(path, std::ios::binary)
      << header.text() << std::string(5 << 20, '\0');
  const auto vocabulary =
      Vocabulary::from_file(path, {.source_bytes = 6 << 20});
  ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
  EXPECT_EQ(vocabulary->size(), tokens.size());
  EXPECT_EQ(vocabulary->bytes(199999), "t199999");
  EXPECT_FALSE(vocabulary->has_stop_ids());
  EXPECT_EQ(Vocabulary::from_file(path, {.source_bytes = 2 << 20}).error().code,
            ErrorCode::kTooLarge);
}

TEST(VocabularyLimits, SourceBytes) {
  struct {
    const char* name;
    std::string text;
  } const sources[] = {
      {"tokenizer.json", read_data("byte_level.json")},
      {"tiktoken", "YQ== 0\n"},
  };
  for (const auto& source : sources) {
    EXPECT_TRUE(Vocabulary::from_text(source.text,
                                      {.source_bytes = source.text.size()}))
        << source.name;
    const auto over = Vocabulary::from_text(
        source.text, {.source_bytes = source.text.size() - 1});
    ASSERT_FALSE(over) << source.name;
    EXPECT_EQ(over.error().code, ErrorCode::kTooLarge) << source.name;
    EXPECT_NE(over.error().message.find("source_bytes"), std::string::npos);
  }
}

TEST(Tiktoken, RanksAndSpecialTokens) {
  const TokenEntry special[] = {{5, "<|end|>"}, {4, "<|start|>"}};
  const auto vocabulary =
      Vocabulary::from_tiktoken("YQ== 0\r\n\nYg== 1\n//4= 2", special);
  ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
  EXPECT_EQ(vocabulary->size(), 6u);
  EXPECT_EQ(vocabulary->bytes(1), "b");
  EXPECT_EQ(vocabulary->bytes(2), "\xFF\xFE");
  EXPECT_EQ(vocabulary->kind(3), TokenKind::kUnused);
  EXPECT_EQ(vocabulary->special("<|end|>"), 5u);
  EXPECT_EQ(vocabulary->special("a"), std::nullopt);
  EXPECT_EQ(ids_of(vocabulary->special_ids()), (std::vector<TokenId>{4, 5}));
}

TEST(Tiktoken, Errors) {
  struct {
    const char* text;
    const char* error;
  } const rows[] = {
      {"",
       "empty_value (bytes 0..0): There is no token: expected lines of "
       "base64, a space and a rank."},
      {"YQ==\n",
       "bad_vocabulary (bytes 0..4): Line 1: expected base64, a "
       "space and a rank; found \"YQ==\"."},
      {"\nY\x01Q= 0\n",
       "bad_vocabulary (bytes 1..7): Line 2: \"Y\\x01Q=\" is "
       "not base64 with padding."},
      {"YQ== -1\n",
       "bad_vocabulary (bytes 0..7): Line 1: the rank must be a "
       "decimal number; found \"-1\"."},
      {"YQ== 16777216\n",
       "too_large (bytes 0..13): Token id 16777216 is beyond the largest that "
       "is supported, 16777214."},
      {"YQ== 0\n/w== 0\n",
       "bad_vocabulary (bytes 7..13): Token id 0 is given twice, to \"a\" and "
       "to \"\\xff\"."},
  };
  for (const auto& row : rows) {
    const auto vocabulary = Vocabulary::from_tiktoken(row.text, {});
    ASSERT_FALSE(vocabulary) << row.text;
    EXPECT_EQ(vocabulary.error().to_string(), row.error) << row.text;
  }
}

TEST(Table, GapsPaddingAndStops) {
  const TokenEntry entries[] = {{7, "", TokenKind::kUnused},
                                {3, "<s>", TokenKind::kControl},
                                {1, "a"},
                                {5, "<s>", TokenKind::kControl}};
  const TokenId stops[] = {3, 1};
  const auto vocabulary = Vocabulary::from_table(entries, stops);
  ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
  EXPECT_EQ(vocabulary->size(), 8u);
  EXPECT_EQ(vocabulary->kind(0), TokenKind::kUnused);
  EXPECT_EQ(vocabulary->kind(7), TokenKind::kUnused);
  EXPECT_EQ(vocabulary->kind(8), TokenKind::kUnused);
  EXPECT_EQ(vocabulary->kind(~TokenId{0}), TokenKind::kUnused);
  EXPECT_EQ(vocabulary->bytes(~TokenId{0}), "");
  EXPECT_EQ(vocabulary->special("<s>"), 3u) << "the lower of two";
  EXPECT_EQ(vocabulary->find("<s>"), (std::vector<TokenId>{3, 5}));
  EXPECT_EQ(vocabulary->find("a"), std::vector<TokenId>{1});
  EXPECT_TRUE(vocabulary->find("").empty()) << "unused ids have no bytes";
  EXPECT_EQ(vocabulary->find_first("<s>"), 3u);
  EXPECT_EQ(vocabulary->find_first("b"), std::nullopt);
  EXPECT_EQ(ids_of(vocabulary->stop_ids()), (std::vector<TokenId>{3, 1}));
  const TokenId ids[] = {1, 0, 3, 9};
  EXPECT_EQ(vocabulary->decode(ids), "a\uFFFD<s>\uFFFD");
}

TEST(Table, KindsAndSpellings) {
  const TokenEntry entries[] = {
      {.id = 0, .bytes = "\n\n", .kind = TokenKind::kAdded},
      {.id = 1, .bytes = " \u3000", .kind = TokenKind::kControl},
      {.id = 2,
       .bytes = "  ",
       .kind = TokenKind::kAdded,
       .spelling = "\u2581\u2581"},
      {.id = 3,
       .bytes = "<a b>",
       .kind = TokenKind::kControl,
       .spelling = "<a\u2581b>",
       .strips_left = true},
      {.id = 4,
       .bytes = " <t>",
       .kind = TokenKind::kAdded,
       .strips_right = true},
      {.id = 5, .bytes = "\xC2", .kind = TokenKind::kAdded},
      {.id = 6, .bytes = "<a b>"},
      {.id = 7, .bytes = "", .kind = TokenKind::kControl},
      {.id = 8,
       .bytes = "x",
       .kind = TokenKind::kAdded,
       .spelling = "<a\u2581b>"}};
  const auto vocabulary = *Vocabulary::from_table(entries);
  struct {
    TokenKind kind;
    const char* bytes;
    const char* spelling;
  } const rows[] = {
      {TokenKind::kOrdinary, "\n\n", "\n\n"},
      {TokenKind::kOrdinary, " \u3000", " \u3000"},
      {TokenKind::kOrdinary, "  ", "  "},
      {TokenKind::kControl, "<a b>", "<a\u2581b>"},
      {TokenKind::kAdded, " <t>", " <t>"},
      {TokenKind::kAdded, "\xC2", "\xC2"},
      {TokenKind::kOrdinary, "<a b>", "<a b>"},
      {TokenKind::kControl, "", ""},
      {TokenKind::kAdded, "x", "<a\u2581b>"},
      {TokenKind::kUnused, "", ""},
  };
  for (TokenId id = 0; id < std::size(rows); ++id) {
    EXPECT_EQ(vocabulary.kind(id), rows[id].kind) << id;
    EXPECT_EQ(vocabulary.bytes(id), rows[id].bytes) << id;
    EXPECT_EQ(vocabulary.spelling(id), rows[id].spelling) << id;
    EXPECT_EQ(vocabulary.strips_left(id), id == 3) << id;
    EXPECT_EQ(vocabulary.strips_right(id), id == 4) << id;
  }
  EXPECT_EQ(ids_of(vocabulary.special_ids()),
            (std::vector<TokenId>{3, 4, 5, 7, 8}));
  EXPECT_EQ(vocabulary.special("<a\u2581b>"), 3u);
  EXPECT_EQ(vocabulary.special("<a b>"), std::nullopt);
  EXPECT_EQ(vocabulary.special("  "), std::nullopt) << "is ordinary";
  EXPECT_EQ(vocabulary.find("<a\u2581b>"), (std::vector<TokenId>{3, 8}));
  EXPECT_EQ(vocabulary.find("<a b>"), std::vector<TokenId>{6});
  EXPECT_EQ(vocabulary.find("  "), std::vector<TokenId>{2});
  EXPECT_EQ(vocabulary.find(""), std::vector<TokenId>{7});
  EXPECT_TRUE(vocabulary.find("x").empty()) << "spelled otherwise";
  const TokenId ids[] = {3, 2, 8};
  EXPECT_EQ(vocabulary.decode(ids), "<a b>  x") << "as the tokenizer decodes";
}

// Every token is found by its spelling, in the order of ids.
TEST(Table, FindIsAnIndexOfSpellings) {
  std::vector<TokenEntry> entries;
  for (TokenId id = 0; id < 3000; id += 3) {
    entries.push_back({id, "t" + std::to_string(id % 700)});
  }
  const auto vocabulary = *Vocabulary::from_table(entries);
  for (const TokenEntry& entry : entries) {
    std::vector<TokenId> wanted;
    for (const TokenEntry& other : entries) {
      if (other.bytes == entry.bytes) wanted.push_back(other.id);
    }
    ASSERT_EQ(vocabulary.find(entry.bytes), wanted) << entry.bytes;
    ASSERT_EQ(vocabulary.find_first(entry.bytes), wanted.front());
  }
  EXPECT_EQ(vocabulary.find_first("t701"), std::nullopt);
}

TEST(VocabularyValue, StopIdsMayBeUnknownNoneOrSome) {
  const TokenEntry entries[] = {{0, "a"}, {2, "</s>", TokenKind::kControl}};
  const Vocabulary unknown = *Vocabulary::from_table(entries);
  EXPECT_FALSE(unknown.has_stop_ids());
  EXPECT_TRUE(unknown.stop_ids().empty());
  const std::vector<TokenId> empty;
  const Vocabulary none = *Vocabulary::from_table(entries, empty);
  EXPECT_TRUE(none.has_stop_ids());
  EXPECT_TRUE(none.stop_ids().empty());

  const TokenId stops[] = {2, 0, 2};
  const Vocabulary some = *unknown.with_stop_ids(stops);
  EXPECT_TRUE(some.has_stop_ids());
  EXPECT_EQ(ids_of(some.stop_ids()), (std::vector<TokenId>{2, 0}));
  EXPECT_FALSE(unknown.has_stop_ids()) << "a value does not change";
  EXPECT_NE(some.identity(), unknown.identity());
  EXPECT_EQ(some.bytes(2).data(), unknown.bytes(2).data())
      << "the tokens are shared";
  EXPECT_TRUE((*some.with_stop_ids({})).has_stop_ids());
  const TokenId wrong[] = {1};
  EXPECT_EQ(unknown.with_stop_ids(wrong).error().to_string(),
            "bad_vocabulary: Stop id 1 has no token; a stop id must be one of "
            "the vocabulary's 3 ids.");
}

TEST(VocabularyValue, EncoderAndSpaceAfterMarks) {
  const TokenEntry entries[] = {{0, "a"}, {1, "b"}};
  const Vocabulary plain = *Vocabulary::from_table(entries);
  EXPECT_FALSE(plain.encoder());
  EXPECT_FALSE(plain.space_after_marks());
  const Vocabulary encoding = plain
                                  .with_encoder([](std::string_view text) {
                                    return std::vector<TokenId>(text.size(), 1);
                                  })
                                  .with_space_after_marks(true);
  EXPECT_EQ(encoding.encoder()("bb"), (std::vector<TokenId>{1, 1}));
  EXPECT_TRUE(encoding.space_after_marks());
  EXPECT_FALSE(encoding.with_encoder({}).encoder());
  EXPECT_FALSE(plain.encoder());
}

TEST(SpecialSpellings, AreFoundLeftmostLongestAndOnce) {
  const TokenEntry entries[] = {
      {0, "<a", TokenKind::kControl},   {1, "<a>", TokenKind::kControl},
      {2, "a>", TokenKind::kControl},   {3, "<a>", TokenKind::kControl},
      {4, "", TokenKind::kControl},     {5, "b"},
      {6, "<abc>", TokenKind::kControl}};
  const Vocabulary vocabulary = *Vocabulary::from_table(entries);
  const auto found = [&](std::string_view text, std::span<const TokenId> ids) {
    const vocab::SpecialSpellings spelled(vocabulary, ids);
    std::string out;
    std::size_t from = 0;
    while (const auto next = spelled.find(text, from)) {
      out += std::to_string(next->at) + ":" + std::to_string(next->id) + " ";
      from = next->at + vocabulary.bytes(next->id).size();
    }
    return out;
  };
  const TokenId some[] = {0, 2};
  const auto all = vocabulary.special_ids();
  EXPECT_EQ(found("b<a><ab<abc>a>", all), "1:1 4:0 7:6 12:2 ");
  EXPECT_EQ(found("b<a><ab<abc>a>", some), "1:0 4:0 7:0 12:2 ");
  EXPECT_EQ(found("b", all), "");
  EXPECT_EQ(found("", all), "");
}

std::string shown(const std::vector<vocab::MarkerPiece>& pieces) {
  std::string out;
  for (const vocab::MarkerPiece& piece : pieces) {
    out += out.empty() ? "" : " ";
    if (!piece.is_mark()) {
      out += "'" + piece.text + "'";
      continue;
    }
    out += piece.text;
    for (const TokenId id : piece.ids) out += "/" + std::to_string(id);
  }
  return out;
}

TEST(MarkerPieces, LeftmostThenLongest) {
  const TokenEntry entries[] = {
      {.id = 0, .bytes = "<a>", .kind = TokenKind::kControl},
      {.id = 1, .bytes = "<a><b>", .kind = TokenKind::kControl},
      {.id = 2, .bytes = "<b>", .kind = TokenKind::kControl},
      {.id = 3, .bytes = "<c>", .kind = TokenKind::kOrdinary},
      {.id = 4, .bytes = "<a>", .kind = TokenKind::kControl},
  };
  const auto vocabulary = Vocabulary::from_table(entries);
  ASSERT_TRUE(vocabulary);
  const vocab::MarkerSplitter splitter(*vocabulary);
  const struct {
    std::string_view marker;
    std::size_t from;
    std::string_view pieces;
  } rows[] = {
      {"", 0, ""},
      {"none", 0, "'none'"},
      {"<a>", 0, "<a>/0/4"},
      {"<c>", 0, "'<c>'"},
      {"<a><b>", 0, "<a><b>/1"},
      {"x<a><a><b>y", 0, "'x' <a>/0/4 <a><b>/1 'y'"},
      {"<<b>>", 0, "'<' <b>/2 '>'"},
      {"x<b>yz", 1, "<b>/2 'yz'"},
      {"x<b>yz", 5, "'z'"},
      {"x<b>yz", 2, "'b>yz'"},
      {"x<a><b>", 4, "<b>/2"},  // the mark of the whole covers the cut
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.marker);
    EXPECT_EQ(shown(splitter.split_rest(row.marker, row.from)), row.pieces);
    if (row.from == 0) {
      EXPECT_EQ(shown(splitter.split(row.marker)), row.pieces);
    }
  }
}

TEST(TokenLog, SaysWhichTokensHoldBytes) {
  vocab::TokenLog log;
  EXPECT_EQ(log.holding({0, 5}, 0), (Span{0, 0})) << "there are none";
  for (TokenId id = 0; id < 200; ++id) log.add(id, 10 + 3 * (id + 1));
  EXPECT_EQ(log.holding({0, 10}, 10), (Span{0, 0})) << "before the tokens";
  EXPECT_EQ(log.holding({10, 13}, 10), (Span{0, 1}));
  EXPECT_EQ(log.holding({12, 14}, 10), (Span{0, 2}));
  EXPECT_EQ(log.holding({13, 13}, 10), (Span{1, 1}));
  log.forget(10 + 3 * 150);
  EXPECT_EQ(log.size(), 200u);
  EXPECT_EQ(log.holding({460, 463}, 10), (Span{150, 151}));
  EXPECT_EQ(log.id(150), 150u);
  log.forget(10 + 3 * 200);
  EXPECT_EQ(log.holding({610, 610}, 10), (Span{200, 200}))
      << "all ends are forgotten";
}

TEST(Table, Errors) {
  const TokenEntry twice[] = {{1, "a"}, {1, "b", TokenKind::kControl}};
  EXPECT_EQ(Vocabulary::from_table(twice).error().to_string(),
            "bad_vocabulary: Token id 1 is given twice, to \"a\" and to "
            "\"b\".");
  const TokenEntry far[] = {{1u << 24, "a"}};
  EXPECT_EQ(Vocabulary::from_table(far).error().code, ErrorCode::kTooLarge);
  const TokenEntry one[] = {{0, "a"}};
  const TokenId stops[] = {2};
  EXPECT_EQ(Vocabulary::from_table(one, stops).error().to_string(),
            "bad_vocabulary: Stop id 2 has no token; a stop id must be one of "
            "the vocabulary's 1 ids.");
}

TEST(Table, EmptyIsAllowed) {
  const auto vocabulary = Vocabulary::from_table({});
  ASSERT_TRUE(vocabulary);
  EXPECT_EQ(vocabulary->size(), 0u);
  EXPECT_EQ(vocabulary->kind(0), TokenKind::kUnused);
}

TEST(VocabularyValue, CopiesShareOneTable) {
  const TokenEntry entries[] = {{0, "a"}};
  const auto one = Vocabulary::from_table(entries);
  const auto other = Vocabulary::from_table(entries);
  const Vocabulary copy = *one;
  EXPECT_EQ(copy.identity(), one->identity());
  EXPECT_NE(other->identity(), one->identity());
  EXPECT_EQ(copy.bytes(0).data(), one->bytes(0).data());
}

// Every byte sequence becomes well-formed text, one U+FFFD per maximal subpart.
TEST(Decode, IllFormedBytes) {
  std::vector<TokenEntry> entries;
  for (TokenId byte = 0; byte < 256; ++byte) {
    entries.push_back({byte, std::string(1, static_cast<char>(byte))});
  }
  entries.push_back({256, "<m>", TokenKind::kControl});
  const auto vocabulary = Vocabulary::from_table(entries);
  ASSERT_TRUE(vocabulary);
  struct {
    std::vector<TokenId> ids;
    const char* text;
  } const rows[] = {
      {{0xE2, 0x82, 0xAC}, "€"},
      {{0xE2, 0x82, 'a'}, "\uFFFDa"},
      {{0xE2, 0x82, 256, 0xAC}, "\uFFFD<m>\uFFFD"},
      {{0xE2, 0x82, 999, 0xAC}, "\uFFFD\uFFFD\uFFFD"},
      {{0xE2, 0x82}, "\uFFFD"},
      {{0xF0, 0x9F, 0x99}, "\uFFFD"},
      {{0x80}, "\uFFFD"},
      {{0xC0, 0xAF}, "\uFFFD\uFFFD"},
      {{0xED, 0xA0, 0x80}, "\uFFFD\uFFFD\uFFFD"},
      {{0xF4, 0x90, 0x80, 0x80}, "\uFFFD\uFFFD\uFFFD\uFFFD"},
      {{0xEF, 0xBF, 0xBD}, "\uFFFD"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(vocabulary->decode(row.ids), row.text);
  }
}

}  // namespace
}  // namespace parlance::vocab_test
