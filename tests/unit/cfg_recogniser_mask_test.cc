// Masks of grammars and structural tags, over a small vocabulary: a bit is set
// exactly if the slow recogniser reads the token, on random walks.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "cfg_recogniser/earley.h"
#include "grammar/grammar_impl.h"
#include "mask/matcher_impl.h"
#include "notation/ebnf.h"
#include "parlance/grammar.h"
#include "support/grammar_vectors.h"
#include "support/tag_reader.h"
#include "support/toy_vocabulary.h"

namespace parlance::mask::cfg_recogniser_mask_test {
namespace {

using cfg_recogniser::EarleyRecogniser;
using testing::toy_vocabulary;

using Row = std::vector<std::int32_t>;

bool bit(const Row& row, std::size_t id) {
  return (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
}

class Walks {
 public:
  explicit Walks(const std::vector<std::string>& texts,
                 std::size_t pieces = 400)
      : vocabulary_(toy_vocabulary(7, pieces, texts)),
        compiler_(std::make_shared<CompilerImpl>(
            vocabulary_, *vocab::TokenTables::build(vocabulary_),
            std::size_t{16} << 20, vocabulary_.stop_ids())) {}

  // The masks along a text, byte by byte.
  void along(const Grammar& grammar, EarleyRecogniser& slow,
             std::string_view text) {
    MatcherImpl matcher(constraint_of(grammar));
    EarleyRecogniser::Place place = slow.start();
    for (std::size_t at = 0; at < text.size(); ++at) {
      SCOPED_TRACE(text.substr(0, at));
      std::vector<Id> allowed;
      ASSERT_NO_FATAL_FAILURE(compare(matcher, slow, place, allowed));
      const auto next = std::ranges::find_if(allowed, [&](Id id) {
        return vocabulary_.bytes(id) == text.substr(at, 1);
      });
      ASSERT_NE(next, allowed.end());
      ASSERT_TRUE(matcher.accept_token(*next));
      slow.feed_token(place, *next, compiler_->text(*next));
    }
  }

  void run(const Grammar& grammar, EarleyRecogniser& slow, std::uint32_t seed,
           int rounds = 6) {
    const auto constraint = constraint_of(grammar);
    std::mt19937 random(seed);
    for (int round = 0; round < rounds; ++round) {
      MatcherImpl matcher(constraint);
      EarleyRecogniser::Place place = slow.start();
      std::string so_far;
      for (int step = 0; step < 25; ++step) {
        SCOPED_TRACE(so_far);
        std::vector<Id> allowed;
        ASSERT_NO_FATAL_FAILURE(compare(matcher, slow, place, allowed));
        if (allowed.empty()) break;
        const Id next = draw(allowed, random);
        ASSERT_TRUE(matcher.accept_token(next));
        slow.feed_token(place, next, compiler_->text(next));
        so_far += vocabulary_.bytes(next);
      }
    }
  }

 private:
  std::shared_ptr<ConstraintImpl> constraint_of(const Grammar& grammar) const {
    return std::make_shared<ConstraintImpl>(
        compiler_, detail::Access::impl(grammar)->language);
  }

  // The mask has the tokens that fit.  Sets `allowed` to those that are no stop
  // tokens.
  void compare(MatcherImpl& matcher, EarleyRecogniser& slow,
               const EarleyRecogniser::Place& place,
               std::vector<Id>& allowed) const {
    Row row(compiler_->mask_words(), 0x55555555);
    ASSERT_TRUE(matcher.fill_bitmask(row));
    for (Id id = 0; id < vocabulary_.size(); ++id) {
      const bool wanted = allows(slow, place, id);
      ASSERT_EQ(bit(row, id), wanted)
          << id << " \"" << vocabulary_.bytes(id) << '"';
      if (wanted && !compiler_->stops()->contains(id)) allowed.push_back(id);
    }
  }

  bool allows(EarleyRecogniser& slow, const EarleyRecogniser::Place& place,
              Id id) const {
    if (compiler_->stops()->contains(id)) return slow.can_end(place);
    if (vocabulary_.kind(id) == TokenKind::kUnused) return false;
    EarleyRecogniser::Place next = place;
    return slow.feed_token(next, id, compiler_->text(id));
  }

  // Mostly tokens of several bytes.
  Id draw(const std::vector<Id>& allowed, std::mt19937& random) const {
    Id id = allowed[random() % allowed.size()];
    for (int again = 0; again < 3 && compiler_->text(id).size() < 2; ++again) {
      id = allowed[random() % allowed.size()];
    }
    return id;
  }

  const Vocabulary vocabulary_;
  const std::shared_ptr<CompilerImpl> compiler_;
};

// Walks over the masks of each grammar, beside Earley's parser.
void compare(const std::vector<std::string>& grammars, Walks& walks,
             int rounds) {
  std::uint32_t seed = 1;
  for (const std::string& source : grammars) {
    SCOPED_TRACE(source.substr(0, 500));
    const Result<rules::Rules> rules = notation::read_ebnf(source);
    ASSERT_TRUE(rules) << rules.error().to_string();
    const Result<Grammar> fast = Grammar::from_ebnf(source);
    ASSERT_TRUE(fast) << fast.error().to_string();
    const testing::SchemaRecognisers schemas(*rules);
    ASSERT_EQ(schemas.failure(), "");
    EarleyRecogniser slow(*rules, schemas.recognisers());
    walks.run(*fast, slow, ++seed, rounds);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(CfgRecogniserMask, Grammars) {
  const std::vector<std::string> grammars = {
      R"x(root ::= "a" | "b" root "a" | root "ab"
)x",
      R"x(root ::= value
value ::= "{" (pair ("," pair)*)? "}" | "[" (value ("," value)*)? "]" | str
pair ::= str ":" " "? value
str ::= "\"" [^"\\]* "\""
)x",
      R"x(root ::= ([a-z]{2,5} " "){1,3} "id"
)x",
      R"x(root ::= JsonSchema("{\"type\": \"integer\"}") [0-9a]
)x",
      R"x(root ::= "[" item ("," item)* "]"
item ::= JsonSchema("{\"type\": [\"number\", \"string\"]}") | "id"
)x",
      R"x(root ::= JsonSchema("{\"properties\": {\"id\": {\"maxLength\": 5}}}") tail
tail ::= "" | "," root
)x",
      R"x(root ::= TagDispatch(("ab", tag), ("id\"", tag), loop_after_dispatch=true,
  excludes=("[]",))
tag ::= ":" [0-9]+ "," | "(" tag ")"
)x",
      R"x(root ::= text "\"" Token(3, 300) ExcludeToken(1, 2) "a"*
text[lazy] ::= [a-z"]* "id"
)x",
      R"x(root ::= TokenTagDispatch((5, tag), (310, tag), excludes=(7, 8))
tag ::= "ab" [a-c]*
)x",
      R"x(root ::= text " " text
text[max_tokens=3] ::= [a-z :,"]* "a"
)x",
      // Names and the words among them, comments, characters of several bytes.
      R"x(root ::= (word " "? | "if" " (" | "id(" [0-9]* ")" | note)+
word ::= [a-zA-Z_] [a-zA-Z0-9_]*
note ::= "#" [^\n#]* "\n" | "\"" [^"\\\n]* "\""
)x",
      R"x(root ::= [\u00e0-\u00ff\u4e00-\u9fff]+ | "<" [^<>]* ">" | [^a-z]* "\u20ac" root
)x",
      R"x(root ::= "a" [^\x00-\x1f"]{0,3} root | [\ud000-\ud7ff\U00010000-\U0010FFFF]*
)x",
      // Brackets in brackets: what is around them matters as far as a token
      // closes them.
      R"x(root ::= stmt+
stmt ::= "{" stmt* "}" | "if(" expr ")" stmt | expr ";"
expr ::= term (("+" | "-") term)*
term ::= name ("(" (expr ("," expr)*)? ")" | "." name)* | "(" expr ")" | "[" expr "]"
name ::= [a-d]+
)x",
      R"x(root ::= list | "<" root ">"
list ::= list "," item | item
item ::= "a" item* "b" | "(" root ")" | "ab"{2,3}
)x",
      R"x(root ::= text "." root | ""
text[max_chars=6] ::= ([^.] | "\u00e9")* "a"
)x",
  };
  Walks walks(grammars);
  compare(grammars, walks, /*rounds=*/6);
}

// Grammars that make a state for nearly every text: palindromes, names of which
// each is a rule, rules that all call each other and may all be empty.
TEST(CfgRecogniserMask, ManyStates) {
  const auto text_of = [](int i) {
    return std::string(1, static_cast<char>('a' + i % 26));
  };
  std::string palindromes = "root ::= [a-z]";
  std::string names = "root ::= name+\nname ::= \"zz\"";
  std::string calls = "root ::= r0";
  for (int i = 0; i < 26; ++i) {
    palindromes += " | \"" + text_of(i) + "\" root \"" + text_of(i) + "\"";
  }
  for (int i = 0; i < 60; ++i) {
    names +=
        " | \"" + text_of(i) + text_of(i * 7) + std::to_string(i) + "\" [a-z]*";
  }
  for (int i = 0; i < 12; ++i) {
    calls += "\nr" + std::to_string(i) + " ::= r" +
             std::to_string((i + 1) % 12) + " r" +
             std::to_string((i * 7 + 2) % 12) + " | \"x" + std::to_string(i) +
             "\" | \"\"";
  }
  std::string doubled = "root ::= r0";
  for (int i = 0; i < 6; ++i) {
    doubled += "\nr" + std::to_string(i) + " ::= r" + std::to_string(i + 1) +
               " r" + std::to_string(i + 1);
  }
  doubled += "\nr6 ::= \"x\"? | \"<\" root \">\"";
  const std::vector<std::string> grammars = {palindromes, names, calls,
                                             doubled};
  std::vector<std::string> texts = {"racecar", "abcba9",      "x12x3xx4",
                                    "xx<xx>x", "aa0bcd bh1x", "zzhq7zzz"};
  Walks walks(texts, 1200);
  compare(grammars, walks, /*rounds=*/1);
}

// More than 256 tokens begin with the same classes of bytes.
TEST(CfgRecogniserMask, CrowdedClasses) {
  const std::vector<std::string> grammars = {
      R"x(root ::= (word " "? | "ab" [e-h] "(" | [0-9]+)+
word ::= [a-d]+ [e-h] | "fee" | "h"
)x",
      R"x(root ::= [a-g \u00e9]{1,9} "." root | "cab" | [^c]* "\u00e9"
)x",
  };
  Walks walks(testing::crowded_texts(), 2000);
  compare(grammars, walks, /*rounds=*/2);
}

// Where only few levels are left, what may begin depends on their number.
TEST(CfgRecogniserMask, SchemasNearTheGreatestDepth) {
  const std::string schema = R"x({"anyOf": [{"type": ["null", "integer"]},
      {"type": "array", "minItems": 1,
       "items": {"type": "array", "minItems": 1, "items": {"$ref": "#"}}},
      {"type": "object", "required": ["id"], "properties": {
        "a": {"type": "array"}, "id": {"type": ["string", "object"]}},
       "additionalProperties": {"$ref": "#"}}]})x";
  Walks walks({schema, "[[[[[{\"id\":{\"a\":[[1]]}}]]]]]"});
  const Result<rules::Rules> rules =
      notation::read_ebnf("root ::= JsonSchema(\"true\")");
  for (std::size_t depth : {1, 2, 3, 4, 7, 130}) {
    SCOPED_TRACE(depth);
    JsonSchemaOptions options;
    options.limits.depth = depth;
    const Result<Grammar> fast = Grammar::from_json_schema(schema, options);
    const Result<Grammar> other = Grammar::from_json_schema(schema, options);
    ASSERT_TRUE(fast && other);
    recogniser::Recogniser* const bytes[] = {
        detail::Access::impl(*other)->language->with_room().get()};
    EarleyRecogniser slow(*rules, bytes);
    walks.run(*fast, slow, static_cast<std::uint32_t>(depth));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Calls `check` with the grammar of a structural tag and its slow reader.
template <class Check>
void with_tag(const std::string& source, Check check) {
  SCOPED_TRACE(source);
  const Result<Grammar> fast = Grammar::from_structural_tag(source);
  ASSERT_TRUE(fast) << fast.error().to_string();
  const Result<testing::TagReader> slow =
      testing::make_tag_reader(*json::parse(source));
  ASSERT_TRUE(slow) << slow.error().to_string();
  check(*fast, *slow->recogniser);
}

TEST(CfgRecogniserMask, Tags) {
  const std::vector<std::string> tags = {
      R"x({"type": "structural_tag", "format": {"type": "triggered_tags",
        "triggers": ["<f="], "tags": [
          {"begin": "<f=a>", "end": "</f>", "content": {"type": "json_schema",
           "json_schema": {"type": "object", "properties":
             {"id": {"type": "string"}, "ab": {"type": "integer"}},
             "required": ["id"]}}},
          {"begin": "<f=b>", "end": "</f>", "content": {"type": "json_schema",
           "json_schema": {"type": "number"}}}]}})x",
      // Values inside, and numbers and words that end where the tag says.
      R"x({"type": "structural_tag", "format": {"type": "triggered_tags",
        "triggers": ["<f="], "tags": [
          {"begin": "<f=a>", "end": "}</f>", "content": {"type": "json_schema",
           "json_schema": {"type": "object", "properties":
             {"id": {"type": "object", "properties":
                {"ab": {"type": "integer"}, "a": {"enum": ["x", 12, null]}}},
              "ab": {"type": "array", "items": {"type": ["number", "null"]}},
              "a": {"type": "boolean"}},
             "required": ["id"]}}},
          {"begin": "<f=b>", "end": "1</f>", "content": {"type": "json_schema",
           "json_schema": {"type": ["array", "integer", "null"],
                           "items": {"maxLength": 3}}}}]}})x",
      R"x({"type": "structural_tag", "format": {"type": "tag", "begin": "<t>",
        "content": {"type": "any_text"}, "end": "</t>"}})x",
      R"x({"type": "structural_tag", "format": {"type": "sequence", "elements": [
        {"type": "tag", "begin": {"type": "token", "token": 300},
         "content": {"type": "any_tokens", "exclude_tokens": [1]},
         "end": {"type": "token", "token": 301}},
        {"type": "json_schema", "json_schema": true}]}})x",
  };
  Walks walks({"<f=a>{\"id\": \"ab\"}</f> <f=b>12</f>", "<t>ab</t>", "</t",
               "<f=", "}</f>"});
  std::uint32_t seed = 1;
  for (const std::string& source : tags) {
    with_tag(source, [&](const Grammar& fast, EarleyRecogniser& slow) {
      walks.run(fast, slow, ++seed);
    });
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Inside free text the mask of a place is made from that of another one, which
// most bytes leave alike: after a part of a marker, and where other texts
// enclose it.
TEST(CfgRecogniserMask, PartsOfMarkers) {
  const std::vector<std::string> tags = {
      R"x({"type": "structural_tag", "format": {"type": "sequence", "elements": [
        {"type": "tag", "begin": "<t>", "content": {"type": "any_text"},
         "end": "</t>"},
        {"type": "triggered_tags", "triggers": ["<f=", "<fx"], "tags": [
          {"begin": "<f=a>", "end": "</f>", "content": {"type": "any_text"}},
          {"begin": "<f=ab>", "end": "</fab>", "content":
            {"type": "json_schema", "json_schema": {"type": "integer"}}},
          {"begin": "<fx", "end": ">", "content": {"type": "any_text",
           "excludes": ["x>", "ab"]}}]}]}})x",
      R"x({"type": "structural_tag", "format": {"type": "triggered_tags",
        "triggers": ["<t>", "<f"], "excludes": ["aba", "<t<"], "tags": [
          {"begin": "<t>", "end": "t>", "content": {"type": "any_text"}},
          {"begin": "<fff", "end": "fxf", "content": {"type": "any_text"}}]}})x",
      // The same text in the same marker, and then something else.
      R"x({"type": "structural_tag", "format": {"type": "sequence", "elements": [
        {"type": "tag", "begin": "<a>", "content": {"type": "any_text"},
         "end": "</f>"},
        {"type": "tag", "begin": "<b>", "content": {"type": "any_text"},
         "end": "</f>"},
        {"type": "tag", "begin": "ab", "content": {"type": "any_text"},
         "end": "</f>"},
        {"type": "tag", "begin": "x", "content": {"type": "any_text"},
         "end": "</f>"}]}})x",
  };
  Walks walks({"<t>ab</t><f=a>ab</f>", "<f=ab>1</fab>", "<fxabx>", "<t<fff",
               "</", "</f", "<f", "xf>ab", "fxfxff", "abaabab", "t>t>"},
              2500);
  std::uint32_t seed = 50;
  for (const std::string& source : tags) {
    const std::string_view texts[] = {
        "<t>a<b</</t</t>x<<f<<f=a>b</a</f><f=ab>12</fab>z<fxa<f>a<<f",
        "ab<<t>a<t>ab<fff<ff</fxf<t>tt>abb<fffabfxfxf<",
        "<a>ab</a</f><b>b</f</f>ab</fab</f>xa</f>",
    };
    const std::string_view text = texts[&source - tags.data()];
    with_tag(source, [&](const Grammar& fast, EarleyRecogniser& slow) {
      walks.run(fast, slow, ++seed, /*rounds=*/3);
      walks.along(fast, slow, text);
    });
    if (::testing::Test::HasFatalFailure()) return;
  }
  const std::vector<std::string> grammars = {
      R"x(root ::= "a" text | "<" text ">" root
text ::= ([^<] | "<" [^abf] | "<f" [^x])*
)x",
      R"x(root ::= (line "\n")* "<t>"
line ::= "a" [^\n<]* | "<" [^\n>]* ">" | [^a<\n] [^\n]*
)x",
  };
  compare(grammars, walks, /*rounds=*/3);
}

}  // namespace
}  // namespace parlance::mask::cfg_recogniser_mask_test
