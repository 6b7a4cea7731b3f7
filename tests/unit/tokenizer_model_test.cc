// The tokenizer files that models have in place of a tokenizer.json: Mistral's
// tekken.json and SentencePiece's tokenizer.model.
// tests/differential/test_mistral.py compares real ones with the packages that
// read them.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/vocabulary.h"

namespace parlance::tokenizer_model_test {
namespace {

std::vector<TokenId> stops_of(const Vocabulary& vocabulary) {
  return {vocabulary.stop_ids().begin(), vocabulary.stop_ids().end()};
}

// A Tekken file with this configuration, list of special tokens and
// vocabulary.
std::string tekken(std::string_view config, std::string_view special,
                   std::string_view vocab) {
  std::string out = "{\"config\": {" + std::string(config) + "}";
  if (!special.empty()) out += ", \"special_tokens\": " + std::string(special);
  return out + ", \"vocab\": " + std::string(vocab) + "}";
}

constexpr std::string_view kSizes =
    R"("default_vocab_size": 7, "default_num_special_tokens": 4)";
constexpr std::string_view kSpecial = R"([
  {"rank": 0, "token_str": "<unk>", "is_control": true},
  {"rank": 1, "token_str": "[THINK]", "is_control": false},
  {"rank": 2, "token_str": "</s>"}])";
constexpr std::string_view kVocab = R"([
  {"rank": 0, "token_bytes": "AA==", "token_str": "\u0000"},
  {"rank": 1, "token_bytes": "4piD", "token_str": "☃"},
  {"rank": 2, "token_bytes": "4pg=", "token_str": null},
  {"rank": 3, "token_bytes": "YQ==", "token_str": "a"}])";

TEST(Tekken, SpecialTokensComeFirst) {
  const auto vocabulary =
      Vocabulary::from_text(tekken(kSizes, kSpecial, kVocab));
  ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
  ASSERT_EQ(vocabulary->size(), 7u) << "the fourth entry is beyond the size";
  EXPECT_EQ(vocabulary->kind(0), TokenKind::kControl);
  EXPECT_EQ(vocabulary->kind(1), TokenKind::kAdded);
  EXPECT_EQ(vocabulary->kind(2), TokenKind::kControl);
  EXPECT_EQ(vocabulary->kind(3), TokenKind::kControl);
  EXPECT_EQ(vocabulary->spelling(3), "<SPECIAL_3>");
  EXPECT_EQ(vocabulary->bytes(4), std::string_view("\0", 1));
  EXPECT_EQ(vocabulary->bytes(5), "☃");
  EXPECT_EQ(vocabulary->bytes(6), "\xE2\x98");
  EXPECT_EQ(stops_of(*vocabulary), std::vector<TokenId>{2});
  EXPECT_FALSE(vocabulary->strip_leading_space());
  EXPECT_FALSE(vocabulary->space_after_marks());
}

TEST(Tekken, OldFilesDoNotListTheirSpecialTokens) {
  const auto vocabulary =
      Vocabulary::from_text(tekken(R"("version": "v3", "default_vocab_size": 23,
                "default_num_special_tokens": 22)",
                                   "", kVocab));
  ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
  EXPECT_EQ(vocabulary->special("[TOOL_CALLS]"), 9u);
  EXPECT_EQ(vocabulary->special("<SPECIAL_20>"), 20u);
  EXPECT_EQ(vocabulary->bytes(22), std::string_view("\0", 1));
  EXPECT_EQ(stops_of(*vocabulary), std::vector<TokenId>{2});
}

TEST(Tekken, Errors) {
  const struct {
    std::string text;
    const char* error;
  } rows[] = {
      {R"({"config": 1, "vocab": []})",
       "wrong_type at /config: Expected an object, found integer."},
      {R"({"config": {}, "vocab": {}})",
       "wrong_type at /vocab: Expected an array, found object."},
      {tekken("", "", "[]"),
       "missing_key at /config: The key \"default_num_special_tokens\" is "
       "missing."},
      {tekken(R"("default_num_special_tokens": 1)", "", "[]"),
       "missing_key at /config: The key \"default_vocab_size\" is missing."},
      {tekken(R"("default_num_special_tokens": 0.5)", "", "[]"),
       "wrong_type at /config/default_num_special_tokens: Expected a number of "
       "tokens, found number."},
      {tekken(R"("default_num_special_tokens": -1)", "", "[]"),
       "bad_vocabulary at /config/default_num_special_tokens: A number of "
       "tokens cannot be negative; found -1."},
      {tekken(R"("default_num_special_tokens": 65537)", "", "[]"),
       "too_large at /config/default_num_special_tokens: At most 65536 special "
       "tokens are supported; found 65537."},
      {tekken(R"("default_vocab_size": 9, "default_num_special_tokens": 4)",
              kSpecial, kVocab),
       "bad_vocabulary at /config/default_vocab_size: The size must be from 4, "
       "the number of special tokens, to 8, with all entries of \"vocab\"; "
       "found 9."},
      {tekken(R"("default_vocab_size": 3, "default_num_special_tokens": 4)",
              kSpecial, kVocab),
       "bad_vocabulary at /config/default_vocab_size: The size must be from 4, "
       "the number of special tokens, to 8, with all entries of \"vocab\"; "
       "found 3."},
      {tekken(R"("default_vocab_size": 3, "default_num_special_tokens": 2)",
              kSpecial, kVocab),
       "bad_vocabulary at /config/default_num_special_tokens: There are 3 "
       "special tokens, and the number given here is 2."},
      {tekken(kSizes, "", kVocab),
       "missing_key at /config: The key \"version\" is missing."},
      {tekken(R"("version": "3",)" + std::string(kSizes), "", kVocab),
       "bad_vocabulary at /config/version: The version must be \"v\" and a "
       "number; found \"3\"."},
      {tekken(R"("version": "v11",)" + std::string(kSizes), "", kVocab),
       "missing_key: The key \"special_tokens\" is missing."},
      {tekken(R"("version": "v7",)" + std::string(kSizes), "", kVocab),
       "bad_vocabulary at /config/default_num_special_tokens: There are 20 "
       "special tokens, and the number given here is 4."},
      {tekken(kSizes, "{}", kVocab),
       "wrong_type at /special_tokens: Expected an array, found object."},
      {tekken(kSizes, "[1]", kVocab),
       "wrong_type at /special_tokens/0: Expected an object, found integer."},
      {tekken(kSizes, "[{}]", kVocab),
       "missing_key at /special_tokens/0: The key \"rank\" is missing."},
      {tekken(kSizes, R"([{"rank": 1}])", kVocab),
       "bad_vocabulary at /special_tokens/0/rank: The rank must be the "
       "position in the list, 0; found 1."},
      {tekken(kSizes, R"([{"rank": 0}])", kVocab),
       "missing_key at /special_tokens/0: The key \"token_str\" is missing."},
      {tekken(kSizes, R"([{"rank": 0, "token_str": "a", "is_control": 1}])",
              kVocab),
       "wrong_type at /special_tokens/0/is_control: Expected a boolean, found "
       "integer."},
      {tekken(kSizes, kSpecial, R"([{}, 1, 2])"),
       "missing_key at /vocab/0: The key \"rank\" is missing."},
      {tekken(kSizes, kSpecial, R"([{"rank": "0"}, 1, 2])"),
       "wrong_type at /vocab/0/rank: Expected an integer as token id, found "
       "string."},
      {tekken(kSizes, kSpecial, R"([{"rank": 0, "token_bytes": 1}, 1, 2])"),
       "wrong_type at /vocab/0/token_bytes: Expected a string, found "
       "integer."},
      {tekken(kSizes, kSpecial, R"([{"rank": 0, "token_bytes": "A"}, 1, 2])"),
       "bad_vocabulary at /vocab/0/token_bytes: \"A\" is not the base64, with "
       "padding, of a byte or more."},
      {tekken(kSizes, kSpecial, R"([{"rank": 0, "token_bytes": ""}, 1, 2])"),
       "bad_vocabulary at /vocab/0/token_bytes: \"\" is not the base64, with "
       "padding, of a byte or more."},
  };
  for (const auto& row : rows) {
    const auto vocabulary = Vocabulary::from_text(row.text);
    ASSERT_FALSE(vocabulary) << row.error;
    EXPECT_EQ(vocabulary.error().to_string(), row.error);
  }
}

// ---- SentencePiece ----

// The fields of a message.
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
    return *this;
  }
  Message& text(std::uint32_t field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& score() {
    bytes_ += "\x15\xCD\xCC\x4C\xC1";
    return *this;
  }
  Message& piece(std::string_view text_of_it,
                 std::optional<std::uint64_t> type = std::nullopt) {
    Message message;
    message.text(1, text_of_it).score();
    if (type) message.number(3, *type);
    return text(1, message.bytes());
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_ += static_cast<char>(value | 0x80);
    }
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

Message pieces() {
  Message model;
  model.piece("<unk>", 2)
      .piece("<s>", 3)
      .piece("</s>", 3)
      .piece("<0x0A>", 6)
      .piece("▁the")
      .piece("▁▁", 4)
      .piece("<think>", 4)
      .piece("gone", 5)
      .piece("é", 1);
  return model;
}

TEST(SentencePiece, PiecesByType) {
  const auto vocabulary = Vocabulary::from_text(pieces().bytes());
  ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
  ASSERT_EQ(vocabulary->size(), 9u);
  const std::vector<std::string_view> bytes = {
      "<unk>", "<s>", "</s>", "\n", " the", "  ", "<think>", "", "é"};
  const std::vector<TokenKind> kinds = {
      TokenKind::kControl,  TokenKind::kControl,  TokenKind::kControl,
      TokenKind::kOrdinary, TokenKind::kOrdinary, TokenKind::kOrdinary,
      TokenKind::kAdded,    TokenKind::kUnused,   TokenKind::kOrdinary};
  for (TokenId id = 0; id < 9; ++id) {
    EXPECT_EQ(vocabulary->bytes(id), bytes[id]) << id;
    EXPECT_EQ(vocabulary->kind(id), kinds[id]) << id;
  }
  EXPECT_EQ(stops_of(*vocabulary), std::vector<TokenId>{2});
  EXPECT_TRUE(vocabulary->strip_leading_space());
  EXPECT_TRUE(vocabulary->space_after_marks());
}

// Where spaces come from, and what ends a text.
TEST(SentencePiece, Properties) {
  const std::string no_prefix = Message().number(3, 0).bytes();
  const std::string no_trim = Message().number(4, 0).bytes();
  const std::string neither = Message().number(3, 0).number(4, 0).bytes();
  const std::string suffix = Message().number(24, 1).bytes();
  const struct {
    std::string model;
    bool strips;
    bool after_marks;
    std::vector<TokenId> stops;
  } rows[] = {
      {pieces().text(3, no_prefix).bytes(), true, false, {2}},
      {pieces().text(3, no_trim).bytes(), true, true, {2}},
      {pieces().text(3, neither).bytes(), false, false, {2}},
      {pieces().text(3, neither).text(3, no_prefix).bytes(), false, false, {2}},
      {pieces().text(2, suffix).bytes(), true, false, {2}},
      {pieces().text(2, Message().text(47, "<s>").bytes()).bytes(),
       true,
       true,
       {1}},
      {pieces().text(2, Message().text(47, "é").bytes()).bytes(),
       true,
       true,
       {}},
      {Message().text(2, suffix).bytes() + pieces().bytes(), true, false, {2}},
      {pieces().text(4, "x").number(200, 1).bytes(), true, true, {2}},
  };
  for (const auto& row : rows) {
    const auto vocabulary = Vocabulary::from_text(row.model);
    ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
    EXPECT_EQ(vocabulary->strip_leading_space(), row.strips);
    EXPECT_EQ(vocabulary->space_after_marks(), row.after_marks);
    EXPECT_EQ(vocabulary->has_stop_ids(), !row.stops.empty());
    EXPECT_EQ(stops_of(*vocabulary), row.stops);
  }
}

// Of a model that is cut off, either whole pieces are left or it is an error.
TEST(SentencePiece, EveryPrefix) {
  const std::string model = pieces().text(3, "\x18\x01").bytes();
  std::size_t whole = 0;
  for (std::size_t size = 3; size < model.size(); ++size) {
    const auto part = Vocabulary::from_text(model.substr(0, size));
    whole += part.has_value();
    if (part) continue;
    EXPECT_EQ(part.error().code, ErrorCode::kBadVocabulary);
    ASSERT_TRUE(part.error().span);
    EXPECT_LE(part.error().span->end, size);
  }
  EXPECT_EQ(whole, 9u);
}

TEST(SentencePiece, Errors) {
  const std::string one = Message().piece("a").bytes();
  const struct {
    std::string model;
    const char* error;
  } rows[] = {
      {Message().text(2, "\x08\x01").bytes(),
       "empty_value (bytes 0..4): The SentencePiece model has no piece."},
      {Message().piece("").bytes(),
       "bad_vocabulary (bytes 0..9): Piece 0 has no text."},
      {one + Message().text(1, "").bytes(),
       "bad_vocabulary (bytes 10..12): Piece 1 has no text."},
      {Message().piece("a", 7).bytes(),
       "bad_vocabulary (bytes 10..12): Field 3 must be the type of a piece, "
       "from 1 to 6."},
      {Message().piece("a", 257).bytes(),
       "bad_vocabulary (bytes 10..13): Field 3 must be the type of a piece, "
       "from 1 to 6."},
      {Message().piece("a", 0).bytes(),
       "bad_vocabulary (bytes 10..12): Field 3 must be the type of a piece, "
       "from 1 to 6."},
      {Message().piece("a", 6).bytes(),
       "bad_vocabulary (bytes 0..12): Token 0 has the type of a byte, so it "
       "must be spelled like \"<0x0A>\"; found \"a\"."},
      {Message().text(1, "\x0A\x05\x61\x62").bytes(),
       "bad_vocabulary (bytes 2..3): A field is cut off."},
      {one + "\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",
       "bad_vocabulary (bytes 10..11): A field is cut off."},
      {one + std::string(11, '\xFF'),
       "bad_vocabulary (bytes 10..11): A number is cut off or too long."},
      {one + std::string("\x00\x00", 2),
       "bad_vocabulary (bytes 10..11): A field has the number 0."},
      {one + "\x31\x01", "bad_vocabulary (bytes 10..11): A number is cut off."},
      {one + "\x33",
       "bad_vocabulary (bytes 10..11): A field has a kind that is not "
       "supported."},
      {one + Message().number(1, 1).bytes(),
       "bad_vocabulary (bytes 10..12): Field 1 must be a message."},
      {one + Message().text(1, Message().number(1, 1).bytes()).bytes(),
       "bad_vocabulary (bytes 12..14): Field 1 must be the text of a piece."},
      {one + Message().text(2, Message().number(47, 1).bytes()).bytes(),
       "bad_vocabulary (bytes 12..15): Field 47 must be a piece."},
      {one + Message().text(3, Message().text(3, "x").bytes()).bytes(),
       "bad_vocabulary (bytes 12..15): Field 3 must be a boolean."},
      {one + Message().text(5, Message().text(2, "x").bytes()).bytes(),
       "bad_vocabulary (bytes 12..15): The model has rules that rewrite a "
       "decoded text, which cannot be said per token."},
  };
  for (const auto& row : rows) {
    const auto vocabulary = Vocabulary::from_text(row.model);
    ASSERT_FALSE(vocabulary) << row.error;
    EXPECT_EQ(vocabulary.error().to_string(), row.error);
    ASSERT_TRUE(vocabulary.error().span) << row.error;
    EXPECT_LE(vocabulary.error().span->end, row.model.size());
  }
}

TEST(SentencePiece, RanksThatBeginWithEmptyLinesAreRanks) {
  for (const char* text : {"\nYQ== 0\n", "\n\n\nYQ== 0\n", "\r\nYQ== 0\r\n"}) {
    const auto vocabulary = Vocabulary::from_text(text);
    ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
    EXPECT_EQ(vocabulary->bytes(0), "a");
  }
}

// ---- with the other files of a folder ----

TEST(ModelFolders, TokenizersOfOtherKinds) {
  const std::string folder = ::testing::TempDir() + "parlance_model_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/tokenizer.model", std::ios::binary)
      << pieces().bytes();
  std::ofstream(folder + "/tokenizer_config.json")
      << R"({"added_tokens_decoder": {
        "2": {"content": "</s>", "special": true, "rstrip": true},
        "6": {"content": "<think>", "special": true},
        "10": {"content": "<tool>", "special": false}}})";
  std::ofstream(folder + "/generation_config.json") << R"({"eos_token_id": 1})";
  const auto model = Vocabulary::from_file(folder);
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(stops_of(*model), (std::vector<TokenId>{1, 2}));
  EXPECT_TRUE(model->strips_right(2));
  EXPECT_EQ(model->kind(6), TokenKind::kControl);
  EXPECT_EQ(model->size(), 11u);
  EXPECT_EQ(model->spelling(10), "<tool>");

  std::ofstream(folder + "/tokenizer_config.json")
      << R"({"added_tokens_decoder": {"4": {"content": " the"}}})";
  const auto conflict = Vocabulary::from_file(folder);
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().to_string(),
            "conflict (bytes 62..77): tokenizer.model: Token id 4 is \"▁the\" "
            "here and "
            "\" the\" in tokenizer_config.json.");

  // tekken.json comes before tokenizer.model.
  std::ofstream(folder + "/tekken.json") << tekken(kSizes, kSpecial, kVocab);
  std::filesystem::remove(folder + "/generation_config.json");
  std::ofstream(folder + "/tokenizer_config.json") << "{}";
  std::ofstream(folder + "/config.json") << R"({"vocab_size": 9})";
  const auto mistral = Vocabulary::from_pretrained(folder);
  ASSERT_TRUE(mistral) << mistral.error().to_string();
  EXPECT_EQ(mistral->bytes(5), "☃");
  EXPECT_EQ(mistral->size(), 9u);
  EXPECT_EQ(stops_of(*mistral), std::vector<TokenId>{2});

  std::ofstream(folder + "/tokenizer_config.json")
      << R"({"added_tokens_decoder": {"1": {"content": "[X]"}}})";
  EXPECT_EQ(Vocabulary::from_file(folder).error().to_string(),
            "conflict at /special_tokens/1: tekken.json: Token id 1 is "
            "\"[THINK]\" here and \"[X]\" in tokenizer_config.json.");
  std::ofstream(folder + "/tokenizer_config.json") << R"({"eos_token": "x"})";
  EXPECT_EQ(Vocabulary::from_file(folder).error().to_string(),
            "bad_vocabulary at /eos_token: tokenizer_config.json: The "
            "eos_token \"x\" is no token of tekken.json.");
}

}  // namespace
}  // namespace parlance::tokenizer_model_test
