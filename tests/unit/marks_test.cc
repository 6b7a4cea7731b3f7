// Grammars over bytes and marks: the tokens that a vocabulary has for texts
// that a structural tag spells.  Every bit of every mask on random walks
// against the slow recogniser, and what single rules say.

#include "rules/marks.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "cfg_recogniser/earley.h"
#include "grammar/grammar_impl.h"
#include "parlance/constraint.h"
#include "support/tag_reader.h"

namespace parlance::marks_test {
namespace {

using cfg_recogniser::EarleyRecogniser;
using Row = std::vector<std::int32_t>;

bool bit(const Row& row, std::size_t id) {
  return (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
}

// Ids 0 to 255 are the bytes; then come pieces, then added and control tokens.
struct World {
  Vocabulary vocabulary;
  TokenId stop = 0;

  TokenId of(std::string_view spelling) const {
    return *vocabulary.special(spelling);
  }
};

World make_world(const std::vector<std::string>& pieces,
                 const std::vector<std::string>& added,
                 const std::vector<std::string>& control) {
  std::vector<TokenEntry> entries;
  TokenId id = 0;
  const auto add = [&](std::string bytes, TokenKind kind) {
    entries.push_back({.id = id++, .bytes = std::move(bytes), .kind = kind});
  };
  for (int byte = 0; byte < 256; ++byte) {
    add(std::string(1, static_cast<char>(byte)), TokenKind::kOrdinary);
  }
  for (const std::string& piece : pieces) add(piece, TokenKind::kOrdinary);
  for (const std::string& piece : added) add(piece, TokenKind::kAdded);
  for (const std::string& piece : control) add(piece, TokenKind::kControl);
  add("<eos>", TokenKind::kControl);
  const std::vector<TokenId> stops = {id - 1};
  return {*Vocabulary::from_table(entries, stops), id - 1};
}

World tool_world() {
  return make_world(
      {"<t",     "ool",   "_call", ">",           "</", "\n{\"", "name",
       "\": \"", "think", "<f=",   "f>",          "a<", "ab",    " ",
       "\"}",    "}\n",   "12",    "</tool_call", "x<", "ll>",   "k>",
       "\",",    "c<|",   "end",   "|>"},
      {"<tool_call>", "</tool_call>", "<think>", "</think>", "<arg_key>",
       "</arg_key>", "<arg_value>", "</arg_value>", "<m>", "<n>", "<other>"},
      {"<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>"});
}

constexpr std::string_view kQwen = R"x({"type": "structural_tag", "format": {
  "type": "triggered_tags", "triggers": ["<tool_call>"],
  "excludes": ["<think>"], "tags": [
    {"type": "tag", "begin": "<tool_call>\n{\"name\": \"ab\", \"arguments\": ",
     "end": "}\n</tool_call>", "content": {"type": "json_schema",
      "json_schema": {"type": "object", "properties": {"name": {"type":
        "string"}, "k": {"type": "integer"}}, "required": ["name"]}}},
    {"type": "tag", "begin": "<tool_call>x", "end": "</tool_call>",
     "content": {"type": "json_schema", "json_schema": {"type": "number"}}}]}})x";

const std::vector<std::string>& tags() {
  static const std::vector<std::string> all = {
      std::string(kQwen),
      // Reasoning, then an answer; the end is the text's.
      R"x({"type": "structural_tag", "format": {"type": "sequence", "elements": [
        {"type": "tag", "begin": "<think>", "end": "</think>",
         "content": {"type": "any_text"}},
        {"type": "any_text"}]}})x",
      // Headers of control tokens, several messages.
      R"x({"type": "structural_tag", "format": {"type": "tags_with_separator",
        "separator": "<|start|>a", "tags": [
          {"type": "tag", "begin": "<|channel|>b<|message|>", "end":
           ["<|end|>", "<|call|>"], "content": {"type": "any_text"}},
          {"type": "tag", "begin": "<|channel|>c<|message|>", "end": "<|end|>",
           "content": {"type": "json_schema", "json_schema": {"type":
             ["integer", "string"]}}}]}})x",
      // Marks after text, words that share beginnings, one within another.
      R"x({"type": "structural_tag", "format": {"type": "dispatch", "rules": [
        ["a<m>b", {"type": "const_string", "value": "1"}],
        ["<m>b<n>", {"type": "const_string", "value": "2<m>"}],
        ["<m>ba", {"type": "regex", "pattern": "[a-z<>]*3"}],
        ["<n>", {"type": "json_schema", "json_schema": true}]]}})x",
      // Values that end at a marker.
      R"x({"type": "structural_tag", "format": {"type": "tag",
        "begin": "<tool_call>ab", "end": "</tool_call>", "content": {
          "type": "json_schema", "style": "glm_xml", "json_schema": {
            "type": "object", "properties": {"s": {"type": "string"},
              "n": {"type": "integer"}, "e": {"enum": ["x", "yy"]}},
            "required": ["s", "n"]}}}})x",
      // What a user wrote is text.
      R"x({"type": "structural_tag", "format": {"type": "sequence", "elements": [
        {"type": "grammar", "grammar": "root ::= \"<m>\" [a-z]* \"<|end|>\""},
        {"type": "regex", "pattern": "(<m>|<n>)?a"},
        {"type": "const_string", "value": "<m>"}]}})x",
      R"x({"type": "structural_tag", "format": {"type": "triggered_tags",
        "triggers": ["<m>", "<f="], "stop_after_first": true, "tags": [
          {"type": "tag", "begin": "<m>a", "end": "<n>",
           "content": {"type": "any_text", "max_tokens": 3}},
          {"type": "tag", "begin": "<f=<n>", "end": "", "content":
           {"type": "json_schema", "json_schema": {"type": "integer"}}}]}})x",
  };
  return all;
}

class MarkWalks {
 public:
  explicit MarkWalks(Markers markers) : markers_(markers) {}

  void run(const std::string& source, std::uint32_t seed, int rounds) {
    SCOPED_TRACE(source);
    const Result<Compiler> compiler = Compiler::create(world_.vocabulary);
    ASSERT_TRUE(compiler);
    const Result<Constraint> constraint = compiler->compile_structural_tag(
        std::string_view(source), {}, {.markers = markers_});
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    Result<testing::TagReader> reader =
        testing::make_tag_reader(*json::parse(source));
    ASSERT_TRUE(reader) << reader.error().to_string();
    marks_ = std::make_unique<rules::Marks>(world_.vocabulary, markers_);
    marks_->add(reader->tag.rules);
    std::vector<recogniser::Recogniser*> leaves;
    for (const Grammar& schema : reader->schemas) {
      leaves.push_back(
          detail::Access::impl(schema)->language->with_room().get());
    }
    EarleyRecogniser slow(reader->tag.rules, leaves, 5'000'000, marks_.get());
    std::mt19937 random(seed);
    for (int round = 0; round < rounds; ++round) {
      walk(*constraint, slow, random);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  std::size_t ended() const { return ended_; }
  std::size_t marks_read() const { return marks_read_; }

 private:
  void walk(const Constraint& constraint, EarleyRecogniser& slow,
            std::mt19937& random) {
    Matcher matcher = constraint.matcher();
    EarleyRecogniser::Place place = slow.start();
    std::string so_far;
    for (int step = 0; step < 30; ++step) {
      SCOPED_TRACE(so_far);
      Row row(constraint.mask_words());
      ASSERT_EQ(matcher.fill_bitmask(row), MaskFill::kConstrains);
      std::vector<TokenId> allowed;
      for (TokenId id = 0; id < world_.vocabulary.size(); ++id) {
        const bool wanted = allows(slow, place, id);
        ASSERT_EQ(bit(row, id), wanted)
            << id << " " << world_.vocabulary.spelling(id);
        ASSERT_EQ(matcher.copy().accept_token(id), wanted) << id;
        if (wanted) allowed.push_back(id);
      }
      ASSERT_FALSE(allowed.empty());
      TokenId next = allowed[random() % allowed.size()];
      // Single bytes lead nowhere.
      for (int again = 0; again < 6 && next < 256; ++again) {
        next = allowed[random() % allowed.size()];
      }
      ASSERT_TRUE(matcher.accept_token(next));
      if (next == world_.stop) {
        EXPECT_TRUE(matcher.is_terminated());
        ++ended_;
        return;
      }
      marks_read_ += marks_->mark_of(next).has_value();
      slow.feed_token(place, next, text(next));
      so_far += world_.vocabulary.spelling(next);
    }
  }

  std::string_view text(TokenId id) const {
    if (world_.vocabulary.kind(id) == TokenKind::kControl) return {};
    return world_.vocabulary.bytes(id);
  }

  bool allows(EarleyRecogniser& slow, const EarleyRecogniser::Place& place,
              TokenId id) const {
    if (id == world_.stop && slow.can_end(place)) return true;
    if (id == world_.stop) return false;
    EarleyRecogniser::Place next = place;
    return slow.feed_token(next, id, text(id));
  }

  const World world_ = tool_world();
  const Markers markers_;
  std::unique_ptr<rules::Marks> marks_;
  std::size_t ended_ = 0;
  std::size_t marks_read_ = 0;
};

TEST(Marks, EveryBitOnRandomWalks) {
  for (const Markers markers : {Markers::kToken, Markers::kEither}) {
    MarkWalks walks(markers);
    std::uint32_t seed = 1;
    for (const std::string& tag : tags()) {
      walks.run(tag, seed++, 25);
      if (::testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(walks.ended(), 20u);
    EXPECT_GT(walks.marks_read(), 100u);
  }
}

// --- What single rules say ---------------------------------------------------

struct Fixture {
  World world = tool_world();
  Compiler compiler = *Compiler::create(world.vocabulary);

  Matcher matcher(std::string_view tag, Markers markers = Markers::kToken,
                  const MatcherOptions& options = {}) const {
    Result<Constraint> made =
        compiler.compile_structural_tag(tag, {}, {.markers = markers});
    EXPECT_TRUE(made) << made.error().to_string();
    return made->matcher(options);
  }
  bool allows(Matcher& matcher, std::string_view spelling) const {
    Row row(compiler.mask_words());
    matcher.fill_bitmask(row);
    return bit(row, world.of(spelling));
  }
};

TEST(Marks, AMarkerIsItsToken) {
  const Fixture f;
  Matcher token = f.matcher(kQwen);
  EXPECT_TRUE(f.allows(token, "<tool_call>"));
  EXPECT_FALSE(f.allows(token, "</tool_call>"));  // a mark elsewhere only
  EXPECT_FALSE(f.allows(token, "<think>"));       // excluded
  EXPECT_TRUE(f.allows(token, "<other>"));        // no mark of this grammar
  EXPECT_FALSE(f.allows(token, "<|end|>"));       // control
  EXPECT_TRUE(token.accept_token(f.world.of("<tool_call>")));
  EXPECT_EQ(token.forced_bytes(), "");
  EXPECT_FALSE(token.can_end());
  ASSERT_TRUE(token.accept_bytes("\n{\"name\": \"ab\", \"arguments\": {\""));
  ASSERT_TRUE(token.accept_bytes("name\": \""));
  // In a string an added token is its bytes, also a mark.
  EXPECT_TRUE(f.allows(token, "</tool_call>"));
  EXPECT_TRUE(token.accept_token(f.world.of("</tool_call>")));
  EXPECT_FALSE(f.allows(token, "<|end|>"));
  ASSERT_TRUE(token.accept_bytes("\"}"));
  EXPECT_EQ(token.forced_bytes(), "}\n</tool_call>");
  Matcher copy = token.copy();
  EXPECT_TRUE(copy.accept_bytes(copy.forced_bytes()));
  EXPECT_TRUE(copy.can_end());
  ASSERT_TRUE(token.accept_bytes("}\n"));
  EXPECT_EQ(token.forced_tokens(),
            std::vector<TokenId>{f.world.of("</tool_call>")});
  EXPECT_FALSE(token.accept_token('<'));
}

TEST(Marks, OrdinaryTokensDoNotSpellATrigger) {
  const Fixture f;
  Matcher token = f.matcher(kQwen);
  for (const char c : std::string_view("<tool_call")) {
    ASSERT_TRUE(token.accept_token(static_cast<std::uint8_t>(c)));
  }
  EXPECT_FALSE(token.accept_token('>'));
  EXPECT_TRUE(token.accept_token('x'));
  EXPECT_TRUE(token.can_end());

  Matcher either = f.matcher(kQwen, Markers::kEither);
  for (const char c : std::string_view("<tool_call>x12")) {
    ASSERT_TRUE(either.accept_token(static_cast<std::uint8_t>(c)));
  }
  EXPECT_TRUE(either.copy().accept_token(f.world.of("</tool_call>")));
  EXPECT_TRUE(either.accept_token('<'));

  Matcher text = f.matcher(kQwen, Markers::kText);
  EXPECT_TRUE(text.accept_token(f.world.of("<tool_call>")));
  EXPECT_FALSE(text.can_end());  // as its bytes, it is the trigger
  EXPECT_TRUE(text.accept_token('x'));
}

TEST(Marks, AStopTokenAsAMarker) {
  const Fixture f;
  const std::string tag = R"x({"type": "structural_tag", "format": {
    "type": "sequence", "elements": [
      {"type": "tag", "begin": "", "end": ["<|end|>", "<|call|>"],
       "content": {"type": "any_text"}},
      {"type": "optional", "content": {"type": "const_string",
                                       "value": "a<|end|>"}}]}})x";
  const TokenId end = f.world.of("<|end|>");
  const TokenId call = f.world.of("<|call|>");
  Matcher stops =
      f.matcher(tag, Markers::kToken, {.stop_ids = std::vector<TokenId>{end}});
  ASSERT_TRUE(stops.accept_token('x'));
  Matcher other = stops.copy();
  ASSERT_TRUE(stops.accept_token(end));
  EXPECT_TRUE(stops.is_terminated());
  EXPECT_TRUE(stops.rollback(1));
  EXPECT_FALSE(stops.is_terminated());
  // Not in this matcher's set: a marker only.
  ASSERT_TRUE(other.accept_token(call));
  EXPECT_FALSE(other.is_terminated());
  EXPECT_FALSE(other.accept_token(f.world.stop));
  ASSERT_TRUE(other.accept_token('a'));
  ASSERT_TRUE(other.accept_token(end));
  EXPECT_TRUE(other.is_terminated());
}

TEST(Marks, WithoutStopTokensATextEndsWhereNothingMayFollow) {
  const Fixture f;
  const MatcherOptions none = {.stop_ids = std::vector<TokenId>{}};
  Matcher matcher = f.matcher(
      R"x({"format": {"type": "tag", "begin": "<m>", "end": "<n>", "content":
      {"type": "regex", "pattern": "a?"}}})x",
      Markers::kToken, none);
  EXPECT_FALSE(matcher.is_terminated());
  EXPECT_EQ(matcher.forced_bytes(), "<m>");
  ASSERT_TRUE(matcher.accept_token(f.world.of("<m>")));
  ASSERT_TRUE(matcher.accept_token(f.world.of("<n>")));
  EXPECT_TRUE(matcher.is_terminated());
  Row row(f.compiler.mask_words());
  EXPECT_EQ(matcher.fill_bitmask(row), MaskFill::kExcludesNothing);
  EXPECT_EQ(row, Row(row.size(), -1));
  EXPECT_TRUE(matcher.rollback(1));
  EXPECT_FALSE(matcher.is_terminated());
}

TEST(Marks, ANameThatSpellsAMarkIsRefused) {
  const auto tag = [](const std::string& name) {
    return R"x({"format": {"type": "tag", "begin": "<m>)x" + name +
           R"x(", "end": "<n>", "tool": ")x" + name +
           R"x(", "content": {"type": "json_schema", "json_schema": true}}})x";
  };
  const Fixture f;
  const struct {
    std::string name;
    bool refused;
  } rows[] = {{"ab", false},
              {"a<m>b", true},
              {"<n>", true},
              {"<other>b", true},
              {"<|end|>", true}};
  for (const auto& row : rows) {
    const Result<Constraint> made =
        f.compiler.compile_structural_tag(tag(row.name));
    ASSERT_EQ(!made, row.refused) << row.name;
    if (made) continue;
    EXPECT_EQ(made.error().code, ErrorCode::kConflict);
    EXPECT_EQ(made.error().path, "/format/tool");
    EXPECT_TRUE(f.compiler.compile_structural_tag(tag(row.name), {},
                                                  {.markers = Markers::kText}));
  }
}

TEST(Marks, StopIdsHaveToBeKnown) {
  const std::vector<TokenEntry> entries = {{.id = 0, .bytes = "a"}};
  const Vocabulary vocabulary = *Vocabulary::from_table(entries);
  const Grammar grammar = *Grammar::from_regex("a+");
  const Result<Constraint> unknown =
      Compiler::create(vocabulary)->compile(grammar);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kMissingStopIds);
  EXPECT_TRUE(Compiler::create(vocabulary, {.stop_ids = std::vector<TokenId>{}})
                  ->compile(grammar));
  EXPECT_TRUE(
      Compiler::create(*vocabulary.with_stop_ids({}))->compile(grammar));
}

}  // namespace
}  // namespace parlance::marks_test
