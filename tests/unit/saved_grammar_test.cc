// Grammars and constraints as bytes: what is read accepts the same texts and
// has the same report and masks; damaged bytes are refused.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/source.h"
#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "parlance/vocabulary.h"
#include "support/sanitized.h"

namespace parlance::saved_grammar_test {
namespace {

Vocabulary make_vocabulary() {
  std::vector<TokenEntry> entries;
  entries.reserve(300);
  TokenId id = 0;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back({id++, std::string(1, static_cast<char>(byte))});
  }
  for (const char* text : {"ab", "\": \"", "{\"", "true", "city"}) {
    entries.push_back({id++, text});
  }
  entries.push_back({id++, "<call>", TokenKind::kAdded});
  entries.push_back({id++, "</call>", TokenKind::kAdded});
  entries.push_back({id++, "<|end|>", TokenKind::kControl});
  const TokenId stop = id - 1;
  return *Vocabulary::from_table(entries, std::vector<TokenId>{stop});
}

const Vocabulary& vocabulary() {
  static const Vocabulary made = make_vocabulary();
  return made;
}

constexpr std::string_view kTag = R"({"type": "structural_tag", "format":
  {"type": "triggered_tags", "triggers": ["<call>"], "tags": [
    {"type": "tag", "begin": "<call>", "end": "</call>", "content":
      {"type": "json_schema", "json_schema": {"required": ["city"],
       "properties": {"city": {"type": "string"}}, "type": "object"}}}]}})";

std::vector<Grammar> grammars() {
  JsonSchemaOptions options;
  options.layout.exact = true;
  options.layout.indent = 2;
  options.key_order = KeyOrder::kSchema;
  options.spelling = JsonSpelling::kAny;
  options.lenient = true;
  options.draft = SchemaDraft::k7;
  options.documents.emplace("https://a.b/c",
                            *json::parse(R"({"enum": [1.50]})"));
  LarkGrammarOptions lark;
  lark.tokens_spelled = [](std::string_view text) {
    return vocabulary().find(text);
  };
  lark.sources.emplace("word", "start: /[a-z]+/");
  lark.grammars.emplace("digits", *Grammar::from_regex("[0-9]{1,3}"));
  StructuralTagGrammarOptions tag;
  tag.find_token = [](std::string_view text) {
    return vocabulary().find_first(text);
  };
  tag.vocabulary_size = static_cast<std::uint32_t>(vocabulary().size());
  GrammarLimits limits;
  limits.depth = 5;
  const Grammar schema = *Grammar::from_json_schema(
      R"({"type": "object", "properties": {"b": {"$ref": "https://a.b/c"},
          "a": {"type": "string", "format": "unheard"}}, "unknown": 1})",
      options);
  const Grammar regex = *Grammar::from_regex("(ab|\\d)*\xC3\xA4", limits);
  const Grammar tagged = *Grammar::from_structural_tag(kTag);
  return {
      schema,
      *Grammar::from_json_schema("true"),
      *Grammar::from_ebnf("top ::= \"a\" top | JsonSchema(\"{\\\"type\\\": "
                          "\\\"integer\\\"}\")",
                          {.root_rule = "top", .limits = limits}),
      regex,
      *Grammar::from_lark("start: <call> @word @digits </call> | \"x\"", lark),
      tagged,
      *Grammar::from_structural_tag(
          R"({"format": {"type": "sequence", "elements": [
              {"type": "token", "token": "<call>"}, {"type": "const_string",
               "value": "x", "unheard": 1}]}})",
          tag),
      *Grammar::union_of({schema, regex, tagged}),
      *Grammar::concat({regex, *Grammar::union_of({regex, schema})}, limits),
  };
}

constexpr std::string_view kTexts[] = {"",
                                       "a",
                                       "aa5",
                                       "ab1ab\xC3\xA4",
                                       "\xC3\xA4\xC3\xA4",
                                       "{}",
                                       "{\n  \"b\": 1.50\n}",
                                       "{\n  \"b\": 2\n}",
                                       "[[[[[]]]]]",
                                       "x",
                                       "text <call>{\"city\": \"Bern\"}</call>",
                                       "text <call>{}</call>"};

// The masks along the beginning of a text, as far as it fits.
std::vector<std::int32_t> masks_of(const Constraint& constraint,
                                   std::string_view text) {
  std::vector<std::int32_t> out, row(constraint.mask_words());
  Matcher matcher = constraint.matcher();
  for (const char c : text) {
    matcher.fill_bitmask(row);
    out.insert(out.end(), row.begin(), row.end());
    if (!matcher.accept_bytes(std::string_view(&c, 1))) break;
  }
  matcher.fill_bitmask(row);
  out.insert(out.end(), row.begin(), row.end());
  return out;
}

TEST(SavedGrammar, IsTheSameGrammar) {
  const Compiler compiler = *Compiler::create(vocabulary());
  std::size_t which = 0;
  for (const Grammar& grammar : grammars()) {
    SCOPED_TRACE(which++);
    const std::string bytes = grammar.to_bytes();
    const Result<Grammar> read = Grammar::from_bytes(bytes);
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(read->to_bytes(), bytes);
    EXPECT_EQ(read->to_ebnf(), grammar.to_ebnf());
    ASSERT_EQ(read->report().size(), grammar.report().size());
    for (std::size_t i = 0; i < read->report().size(); ++i) {
      const GrammarNote& a = read->report()[i];
      const GrammarNote& b = grammar.report()[i];
      EXPECT_EQ(a.kind, b.kind);
      EXPECT_EQ(a.keyword + a.path + a.message, b.keyword + b.path + b.message);
    }
    const Constraint before = *compiler.compile(grammar);
    const Constraint after = *compiler.compile(*read);
    for (const std::string_view text : kTexts) {
      EXPECT_EQ(read->accepts(text), grammar.accepts(text)) << text;
      EXPECT_EQ(masks_of(after, text), masks_of(before, text)) << text;
    }
  }
}

// A tag of a format and a request has notes that its JSON form lacks.
TEST(SavedGrammar, KeepsTheNotesOfARequest) {
  const Format format = *Format::built_in("qwen3_coder");
  StructuralTagOptions options;
  options.tools = *json::parse(R"([{"type": "function",
      "function": {"name": "f", "parameters": {"type": "object", "properties":
      {"a": {"type": "string"}}, "required": ["a"]}}}])");
  const Result<StructuralTag> tag = format.structural_tag(options);
  ASSERT_TRUE(tag) << tag.error().to_string();
  const Grammar grammar = *Grammar::from_structural_tag(*tag);
  const Result<Grammar> read = Grammar::from_bytes(grammar.to_bytes());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_FALSE(grammar.report().empty());
  EXPECT_EQ(read->report().size(), grammar.report().size());
  EXPECT_EQ(read->to_ebnf(), grammar.to_ebnf());
}

TEST(SavedGrammar, LimitsAreBounds) {
  GrammarLimits more;
  more.steps = 5'000'000;
  const std::string bytes = Grammar::from_regex("a", more)->to_bytes();
  const Error error = Grammar::from_bytes(bytes).error();
  EXPECT_EQ(error.code, ErrorCode::kTooLarge);
  EXPECT_EQ(error.message,
            "The saved grammar was made with the limit steps = 5000000; limits "
            "allow 4000000.");
  EXPECT_TRUE(Grammar::from_bytes(bytes, more));
}

TEST(SavedGrammar, DamageIsRefused) {
  for (const Grammar& grammar : grammars()) {
    std::string bytes = grammar.to_bytes();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      ASSERT_FALSE(Grammar::from_bytes(std::string_view(bytes).substr(0, i)));
      bytes[i] ^= 4;
      ASSERT_FALSE(Grammar::from_bytes(bytes)) << i;
      bytes[i] ^= 4;
    }
  }
  EXPECT_EQ(Grammar::from_bytes("root ::= \"a\"").error().message,
            "This is not a saved grammar.");
  EXPECT_EQ(Grammar::from_bytes("parlance grammar 2 ").error().code,
            ErrorCode::kUnsupportedVersion);
}

// --- Forged documents: the checksum is right, and the content is anything.

// All values inside `value`, itself included.
void values_in(json::Value& value, std::vector<json::Value*>& out) {
  out.push_back(&value);
  if (value.is_array()) {
    for (json::Value& one : value.mutable_items()) values_in(one, out);
  } else if (value.is_object()) {
    for (json::Member& one : value.mutable_members()) {
      values_in(one.value, out);
    }
  }
}

// Changes one value somewhere inside: to one of another kind, to another value
// of the document, or in its text.
void change(json::Value& document, std::mt19937& random) {
  std::vector<json::Value*> places;
  values_in(document, places);
  json::Value& place = *places[random() % places.size()];
  switch (random() % 8) {
    case 0:
      place = json::Value();
      return;
    case 1:
      place = json::Value(std::int64_t{-1} << (random() % 63));
      return;
    case 2:
      place = json::Value("18446744073709551616");
      return;
    case 3:
      place = json::Object{{"a", json::Value("<call>")}};
      return;
    case 4:
      place = json::Array{json::Value("<call>"), json::Value(true)};
      return;
    case 5: {
      // As text, because a value inside itself would share its memory.
      const json::Value& other = *places[random() % places.size()];
      place = *json::parse(json::dump(other));
      return;
    }
    case 6:
      if (place.is_object() && place.size() != 0) {
        json::Object& members = place.mutable_members();
        const std::string key = members.begin()->key;
        members.erase(key);
      } else if (place.is_array() && place.size() != 0) {
        place.mutable_items().pop_back();
      }
      return;
    default: {
      if (!place.is_string() || place.as_string().empty()) return;
      std::string text(place.as_string());
      text[random() % text.size()] = "{}[]\"\\:,(|*a0<"[random() % 14];
      place = json::Value(text);
    }
  }
}

// The content of a document.
json::Value content_of(const std::string& bytes) {
  return *json::parse(std::string_view(bytes).substr(bytes.find('\n') + 1));
}

// Grammars whose limits keep a compile of anything short.
std::vector<Grammar> small_grammars() {
  GrammarLimits limits;
  limits.alternatives = 64;
  limits.steps = 20'000;
  limits.depth = 50;
  limits.bytes = 1 << 22;
  std::vector<Grammar> out;
  for (const Grammar& grammar : grammars()) {
    std::string text = grammar.to_bytes();
    json::Value content = content_of(text);
    std::vector<json::Value*> places;
    values_in(content, places);
    // The inner ones first: a change ends the values inside.
    for (auto at = places.rbegin(); at != places.rend(); ++at) {
      json::Value* const place = *at;
      if (!place->is_object() || place->find("limits") == nullptr) continue;
      json::Array wanted;
      for (const std::size_t limit :
           {limits.alternatives, limits.steps, limits.depth, limits.bytes}) {
        wanted.emplace_back(std::to_string(limit));
      }
      place->mutable_members().set("limits", json::Value(std::move(wanted)));
    }
    const Result<Grammar> made =
        Grammar::from_bytes(grammar::make_document("grammar", content));
    EXPECT_TRUE(made) << made.error().to_string();
    if (made) out.push_back(*made);
  }
  return out;
}

TEST(SavedGrammar, AForgedDocumentIsAGrammarOrAnError) {
  std::mt19937 random(7);
  std::size_t refused = 0, made = 0;
  for (const Grammar& grammar : small_grammars()) {
    const json::Value content = content_of(grammar.to_bytes());
    for (std::uint32_t round = 0; round < testing::cases(400); ++round) {
      json::Value forged = content;
      for (std::uint32_t i = random() % 3; i < 3; ++i) change(forged, random);
      const Result<Grammar> read =
          Grammar::from_bytes(grammar::make_document("grammar", forged));
      if (!read) {
        EXPECT_FALSE(read.error().message.empty());
        ++refused;
        continue;
      }
      ++made;
      for (const std::string_view text : kTexts) (void)read->accepts(text);
      // What was read can be written and read again.
      const std::string bytes = read->to_bytes();
      const Result<Grammar> again = Grammar::from_bytes(bytes);
      ASSERT_TRUE(again) << again.error().to_string() << bytes;
      EXPECT_EQ(again->to_bytes(), bytes);
    }
  }
  EXPECT_GT(refused, made / 20);
  EXPECT_GT(made, refused / 20);
}

TEST(SavedGrammar, AForgedListOfTokensIsRead) {
  const json::Value tokens = *json::parse(
      R"([{"<call>": 1}, [], "x", ["<call>", "y", -1, 1e9], [[]], 7])");
  json::Value content = content_of(grammars()[6].to_bytes());
  json::Value source = *content.find("source");
  source.mutable_members().set("tokens", tokens);
  content.mutable_members().set("source", source);
  (void)Grammar::from_bytes(grammar::make_document("grammar", content));
}

TEST(SavedGrammar, SourcesInsideEachOtherAreBounded) {
  const json::Value leaf =
      *content_of(Grammar::from_regex("a")->to_bytes()).find("source");
  for (const int depth : {50, 400, 5'000}) {
    json::Value source = leaf;
    for (int i = 0; i < depth; ++i) {
      json::Object outer{{"kind", "union"}, {"limits", *leaf.find("limits")}};
      outer.set("parts", json::Value(json::Array{std::move(source)}));
      source = json::Value(std::move(outer));
    }
    const Result<Grammar> read = Grammar::from_bytes(grammar::make_document(
        "grammar", json::Object{{"source", source}, {"notes", json::Array()}}));
    EXPECT_EQ(static_cast<bool>(read), depth < 500) << depth;
  }
}

TEST(SavedConstraint, DamageIsRefusedAndForgeryIsAConstraintOrAnError) {
  const Compiler compiler = *Compiler::create(vocabulary());
  std::mt19937 random(9);
  std::size_t refused = 0, made = 0;
  for (const Grammar& grammar : small_grammars()) {
    std::string bytes = compiler.compile(grammar)->to_bytes();
    for (std::size_t i = 0; i < bytes.size(); i += 1 + i / 64) {
      ASSERT_FALSE(
          compiler.constraint_from_bytes(std::string_view(bytes).substr(0, i)));
      bytes[i] ^= 4;
      ASSERT_FALSE(compiler.constraint_from_bytes(bytes)) << i;
      bytes[i] ^= 4;
    }
    const json::Value content = content_of(bytes);
    for (std::uint32_t round = 0; round < testing::cases(150); ++round) {
      json::Value forged = content;
      change(forged, random);
      change(forged, random);
      const Result<Constraint> read = compiler.constraint_from_bytes(
          grammar::make_document("constraint", forged));
      if (!read) {
        ++refused;
        continue;
      }
      ++made;
      for (const std::string_view text : kTexts) (void)masks_of(*read, text);
    }
  }
  EXPECT_GT(refused, made / 20);
  EXPECT_GT(made, refused / 20);
}

TEST(SavedConstraint, HasTheSameMasks) {
  const Compiler compiler = *Compiler::create(vocabulary());
  const Compiler other = *Compiler::create(vocabulary());
  std::vector<Constraint> constraints;
  for (const Markers markers :
       {Markers::kToken, Markers::kEither, Markers::kText}) {
    constraints.push_back(
        *compiler.compile_structural_tag(kTag, {}, {.markers = markers}));
    constraints.push_back(*compiler.compile(*Grammar::from_structural_tag(kTag),
                                            {.markers = markers}));
  }
  for (const Grammar& grammar : grammars()) {
    constraints.push_back(*compiler.compile(grammar));
  }
  for (const Constraint& constraint : constraints) {
    const std::string bytes = constraint.to_bytes();
    const Result<Constraint> read = other.constraint_from_bytes(bytes);
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(read->to_bytes(), bytes);
    for (const std::string_view text : kTexts) {
      ASSERT_EQ(masks_of(*read, text), masks_of(constraint, text)) << bytes;
    }
  }
}

TEST(SavedConstraint, ErrorsSayWhatIsWrong) {
  const Compiler compiler = *Compiler::create(vocabulary());
  const std::string bytes = compiler.compile_regex("a+")->to_bytes();
  const Vocabulary words = *Vocabulary::from_table(
      std::vector<TokenEntry>{{0, "a"}, {1, "<end>", TokenKind::kControl}},
      std::vector<TokenId>{1});
  const Error error =
      Compiler::create(words)->constraint_from_bytes(bytes).error();
  EXPECT_EQ(error.code, ErrorCode::kBadVocabulary);
  EXPECT_EQ(error.message,
            "The constraint was compiled for another vocabulary.");
  EXPECT_EQ(compiler.constraint_from_bytes("").error().message,
            "This is not a saved constraint.");
  EXPECT_EQ(compiler.constraint_from_bytes(Grammar::from_regex("a")->to_bytes())
                .error()
                .code,
            ErrorCode::kInvalidValue);
}

}  // namespace
}  // namespace parlance::saved_grammar_test
