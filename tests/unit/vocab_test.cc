// Vocabularies from every source.  What tokenizer.json files mean is data:
// tests/data/tokenizers/cases.json says it of each file beside it.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/vocabulary.h"
#include "vocab/marker_pieces.h"
#include "vocab/special_spellings.h"
#include "vocab/token_log.h"

namespace parlance {

// For gtest's messages.
static void PrintTo(TokenKind kind, std::ostream* out) {
  *out << std::vector<const char*>{"ordinary", "added", "control",
                                   "unused"}[static_cast<std::size_t>(kind)];
}

namespace {

std::string read_data(std::string_view name) {
  const std::string path =
      std::string(PARLANCE_TEST_DATA) + "/tokenizers/" + std::string(name);
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

TEST(Limits, SourceBytes) {
  struct {
    const char* name;
    std::string text;
  } const sources[] = {
      {"tokenizer.json", read_data("byte_level.json")},
      {"vocabulary text", "vocab 1\nsize 1\ntokens\nT YQ==\n"},
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

TEST(VocabText, ReadsEveryKindOfLine) {
  const auto vocabulary = Vocabulary::from_text(
      "vocab 1\nname x\nsize 5\nsource a b\neos 3 1 3\npattern \\s+ tokens\n"
      "tokens\nT aGVsbG8=\nT 4oI=\nU\nS PHxlbmR8Pg==\nT \n");
  ASSERT_TRUE(vocabulary) << vocabulary.error().to_string();
  EXPECT_EQ(vocabulary->size(), 5u);
  EXPECT_EQ(vocabulary->bytes(0), "hello");
  EXPECT_EQ(vocabulary->bytes(1), "\xE2\x82");
  EXPECT_EQ(vocabulary->kind(2), TokenKind::kUnused);
  EXPECT_EQ(vocabulary->bytes(3), "<|end|>");
  EXPECT_EQ(vocabulary->kind(3), TokenKind::kControl);
  EXPECT_EQ(vocabulary->bytes(4), "");
  EXPECT_EQ(vocabulary->kind(4), TokenKind::kOrdinary);
  EXPECT_EQ(ids_of(vocabulary->stop_ids()), (std::vector<TokenId>{3, 1}));
  EXPECT_FALSE(vocabulary->strip_leading_space());
}

TEST(VocabText, Errors) {
  struct {
    const char* text;
    const char* error;
  } const rows[] = {
      {"vocab 2\n",
       "unsupported_version (bytes 0..7): The vocabulary text has version "
       "\"2\"; version \"1\" is supported."},
      {"vocab 1\nsize 1\n",
       "bad_vocabulary (bytes 8..14): Line 2: the text ends before the line "
       "\"tokens\"."},
      {"vocab 1\ntokens\n",
       "missing_key (bytes 8..14): The head has no \"size\"."},
      {"vocab 1\nsize one\n",
       "bad_vocabulary (bytes 8..16): Line 2: the size must be a decimal "
       "number; found \"one\"."},
      {"vocab 1\nsize 0\ntokens\n", "empty_value: The vocabulary has size 0."},
      {"vocab 1\neos 1,2\n",
       "bad_vocabulary (bytes 8..15): Line 2: eos must be decimal ids with "
       "single spaces between them; found \"1,2\"."},
      {"vocab 1\nsize 1\neos 0\ntokens\nU\n",
       "bad_vocabulary (bytes 15..20): Stop id 0 has no token; a stop id must "
       "be one of the vocabulary's 1 ids."},
      {"vocab 1\nsize 1\ntokens\nX\n",
       "bad_vocabulary (bytes 22..23): Line 4: expected \"T \" or \"S \" and "
       "base64, or \"U\"; found \"X\"."},
      {"vocab 1\nsize 1\ntokens\nT YQ=\n",
       "bad_vocabulary (bytes 22..27): Line 4: \"YQ=\" is not base64 with "
       "padding."},
      {"vocab 1\nsize 1\ntokens\nT Y===\n",
       "bad_vocabulary (bytes 22..28): Line 4: \"Y===\" is not base64 with "
       "padding."},
      {"vocab 1\nsize 1\ntokens\nT YQ==\nU\n",
       "bad_vocabulary (bytes 29..30): Line 5: the head says size 1, but there "
       "are more lines."},
      {"vocab 1\nsize 2\ntokens\nT YQ==",
       "bad_vocabulary (bytes 22..28): Line 4: the head says size 2, but there "
       "are 1 lines after \"tokens\"."},
  };
  for (const auto& row : rows) {
    const auto vocabulary = Vocabulary::from_vocab_text(row.text);
    ASSERT_FALSE(vocabulary) << row.text;
    EXPECT_EQ(vocabulary.error().to_string(), row.error) << row.text;
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
       "is supported, 16777215."},
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

TEST(Value, StopIdsMayBeUnknownNoneOrSome) {
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

TEST(Value, EncoderAndSpaceAfterMarks) {
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
      EXPECT_EQ(shown(vocab::split_marker(*vocabulary, row.marker)),
                row.pieces);
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

TEST(Value, CopiesShareOneTable) {
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
}  // namespace parlance
