// Requests that share a compiler do not see each other.
//
//   apart   masks and verdicts of a request are the same bit by bit whether a
//           compiler serves it alone, or serves many requests, in any order,
//           their steps interleaved, with fresh tables, used ones and full
//           ones, after questions that were stopped
//   mask    a bit is set exactly if a copy of the matcher accepts the token,
//   for
//           tokens of 1 to 255 bytes, wherever a count or a depth is near its
//           limit, and whatever was asked before
//   whole   what a limit has cut short is shared with nobody

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "support/small_schemas.h"

namespace parlance::sharing_law_test {
namespace {

using Row = std::vector<std::int32_t>;

bool bit(const Row& row, std::size_t id) {
  return (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
}

std::string times(std::size_t count, std::string_view text) {
  std::string out;
  while (count-- > 0) out += text;
  return out;
}

// All single bytes, pieces of JSON, and runs of such pieces with 2 to 255
// bytes.
const Vocabulary& vocabulary() {
  static const Vocabulary made = [] {
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte) {
      tokens.emplace_back(1, static_cast<char>(byte));
    }
    for (const std::string_view text :
         {"true",    "false",    "null",     "tr",        "\"a\"",    "\"b\":",
          "{\"a\":", "\"}",      "\":",      "\": ",      "\": \"",   "\":\"",
          "\":[0,0", "\":[0, 0", "\": [0,0", "\": [0, 0", "\",\"",    "\", \"",
          "], [",    "},{",      "ab",       "ba",        "aab",      "12",
          "1, ",     "0.5",      "-1",       "1e",        "</a>",     "\"</a>",
          "}</a>",   "1</a>",    "<b>",      "\u00e9",    "\xE2\x82", "\\u00",
          "\\\"",    ": ["}) {
      tokens.emplace_back(text);
    }
    const std::string_view units[] = {
        "0,",     ",0",       "0, ",     "[",  "[[],", "]",
        "{",      " ",        "a",       "ab", "1",    "\"a\",",
        ",\"b\"", "\xC3\xA9", "{\"a\":", "}",  "\n\t", "\\n"};
    for (const std::string_view unit : units) {
      for (const std::size_t bytes :
           {6u, 20u, 79u, 80u, 81u, 129u, 159u, 162u, 200u, 254u, 255u}) {
        tokens.push_back(times(bytes / unit.size() + 1, unit).substr(0, bytes));
      }
    }
    for (const std::size_t bytes : {30u, 100u, 209u, 250u}) {
      tokens.push_back('"' + std::string(bytes, 'a'));
      tokens.push_back(std::string(bytes, 'b') + '"');
      tokens.push_back('[' + times(bytes / 2, "0,"));
      tokens.push_back(times(bytes / 2, "0,") + "0]");
    }
    std::vector<TokenEntry> entries;
    for (std::string& token : tokens) {
      entries.push_back({.id = static_cast<TokenId>(entries.size()),
                         .bytes = std::move(token),
                         .kind = TokenKind::kOrdinary});
    }
    for (const char* mark : {"</s>", "<x>", "<y>"}) {
      entries.push_back({.id = static_cast<TokenId>(entries.size()),
                         .bytes = mark,
                         .kind = TokenKind::kControl});
    }
    const std::vector<TokenId> stop_ids = {entries.back().id - 2};
    return *Vocabulary::from_table(entries, stop_ids);
  }();
  return made;
}

Compiler compiler() { return *Compiler::create(vocabulary()); }

Row row_of(Matcher& matcher) {
  Row row(matcher.mask_words());
  matcher.fill_bitmask(row);
  return row;
}

void expect_equal(const Row& actual, const Row& expected) {
  for (std::size_t id = 0; id < vocabulary().size(); ++id) {
    ASSERT_EQ(bit(actual, id), bit(expected, id))
        << "token " << id << " "
        << json::dump(
               json::Value(vocabulary().bytes(static_cast<TokenId>(id))));
  }
}

// The mask of `matcher` is what copies of it accept.
void expect_mask(const Matcher& matcher) {
  Matcher asking = matcher.copy();
  const Row row = row_of(asking);
  for (std::size_t id = 0; id < vocabulary().size(); ++id) {
    Matcher copy = matcher.copy();
    ASSERT_EQ(copy.accept_token(static_cast<TokenId>(id)), bit(row, id))
        << "token " << id << " of "
        << vocabulary().bytes(static_cast<TokenId>(id)).size() << " bytes: "
        << json::dump(
               json::Value(vocabulary().bytes(static_cast<TokenId>(id))));
  }
}

// --- Requests ----------------------------------------------------------------

struct Request {
  std::string name;
  std::function<Result<Constraint>(const Compiler&, const GrammarLimits&)> make;
};

Request schema(std::string text, JsonSchemaOptions options = {}) {
  return {"schema " + text,
          [text, options](const Compiler& by, const GrammarLimits& limits) {
            JsonSchemaOptions with = options;
            with.limits = limits;
            return by.compile_json_schema(text, with);
          }};
}

Request tag(std::string text) {
  return {"tag " + text,
          [text](const Compiler& by, const GrammarLimits& limits) {
            return by.compile_structural_tag(text, limits);
          }};
}

Request ebnf(std::string text) {
  return {"ebnf " + text,
          [text](const Compiler& by, const GrammarLimits& limits) {
            return by.compile_ebnf(text, {.limits = limits});
          }};
}

Request regex(std::string pattern) {
  return {"regex " + pattern,
          [pattern](const Compiler& by, const GrammarLimits& limits) {
            return by.compile_regex(pattern, limits);
          }};
}

class Requests {
 public:
  explicit Requests(std::uint32_t seed) : schemas_(seed) {}

  Request one() {
    switch (below(8)) {
      case 0:
      case 1:
        return schema(any_schema(), options());
      case 2:
      case 3:
        return schema(member_schema(), options());
      case 4:
        return tag(tag_text());
      case 5:
        return tag(tag_text());
      case 6:
        return ebnf(
            "root ::= " +
            pick({"\"a\" root \"b\" | \"\"", "(\"[\" root \"]\")* [0-9]*",
                  "\"{\" [ab]{0,3} \"}\" | [^a]{2,200}"}));
      default:
        return regex(text_pattern());
    }
  }

 private:
  std::size_t below(std::size_t n) { return schemas_.below(n); }
  std::string pick(std::initializer_list<const char*> list) {
    return list.begin()[below(list.size())];
  }
  std::string number(std::initializer_list<int> list) {
    return std::to_string(list.begin()[below(list.size())]);
  }
  std::string text_pattern() {
    return pick({"^a*$", "^(a|ab)*b?$", "^[ab]{2,}$", "[0-9]", "^.{0,90}$",
                 "^(?=.*a)(?=.*b)[a-z]+$", "^\\u00e9+", "a.b|ba"});
  }

  // Values of which few are lists or objects: those that grammars share.
  std::string scalar() {
    std::string out = pick(
        {"{\"type\":\"boolean\"", "{\"type\":\"null\"", "{\"type\":\"integer\"",
         "{\"type\":\"number\"", "{\"type\":\"string\"",
         "{\"type\":[\"string\",\"null\"]", "{\"enum\":[\"a\",\"ab\",1,null]",
         "{\"anyOf\":[{\"maxLength\":3,\"type\":\"string\"},{\"pattern\":\"^"
         "a\"},"
         "{\"const\":true}]"});
    if (below(2) == 0) out += ",\"pattern\":\"" + escaped(text_pattern()) + '"';
    if (below(3) == 0) out += ",\"minLength\":" + number({0, 1, 2, 130});
    if (below(3) == 0) out += ",\"maxLength\":" + number({2, 3, 80, 260, 300});
    if (below(3) == 0) out += ",\"minimum\":" + number({-1, 0, 3});
    if (below(4) == 0) out += ",\"multipleOf\":" + number({1, 3, 25});
    if (below(6) == 0) return "true";
    return out + "}";
  }
  static std::string escaped(const std::string& pattern) {
    std::string out;
    for (const char c : pattern) {
      if (c == '\\') out += '\\';
      out += c;
    }
    return out;
  }
  std::string member_schema() {
    switch (below(3)) {
      case 0:
        return "{\"type\":\"array\",\"items\":" + scalar() +
               ",\"maxItems\":" + number({1, 3, 100, 130, 200, 300}) + "}";
      case 1:
        return "{\"type\":\"object\",\"additionalProperties\":" + scalar() +
               "}";
      default:
        return "{\"type\":\"object\",\"properties\":{\"a\":" + scalar() +
               ",\"b\":" + scalar() +
               "},\"required\":[\"a\"],\"additionalProperties\":false}";
    }
  }
  std::string any_schema() {
    return json::dump(schemas_.schema({}), {.ascii = false});
  }
  JsonSchemaOptions options() {
    JsonSchemaOptions out;
    if (below(3) == 0) out.layout.max_white_space = below(3) * 30;
    if (below(4) == 0) {
      out.layout.exact = true;
      if (below(2) == 0) out.layout.item_separator = ",";
      if (below(2) == 0) out.layout.key_separator = ":";
      if (below(4) == 0) out.layout.indent = 1;
    }
    if (below(3) == 0) out.spelling = JsonSpelling::kAny;
    if (below(4) == 0) out.key_order = KeyOrder::kSchema;
    if (below(6) == 0) out.excludes = {"ab"};
    return out;
  }

  std::string tag_text() {
    const std::string content = R"({"type":"json_schema","json_schema":)" +
                                (below(2) == 0 ? member_schema() : scalar()) +
                                "}";
    const std::string end = pick({"</a>", "<b>", "", "<y>"});
    std::string inner = R"({"type":"tag","begin":")" +
                        pick({"<a>", "", "<x>"}) + R"(","content":)" + content +
                        R"(,"end":")" + end + "\"}";
    if (below(3) == 0) {
      inner = R"({"type":"sequence","elements":[)" + inner +
              R"(,{"type":"any_text","excludes":["b"]}]})";
    }
    return R"({"type":"structural_tag","format":)" + inner + "}";
  }

  testing::SmallSchemas schemas_;
};

// --- Apart -------------------------------------------------------------------

// What a request alone was asked, and what it answered.
struct Record {
  struct Step {
    Row mask;
    bool can_end = false;
    TokenId accepted = 0;
    TokenId refused = 0;
    bool any_refused = false;
  };
  Request request;
  std::vector<Step> steps;
};

// Nothing if the request is refused.
std::optional<Record> record(Request request, std::mt19937& random,
                             const GrammarLimits& limits = {}) {
  const Compiler alone = compiler();
  const Result<Constraint> made = request.make(alone, limits);
  if (!made) return std::nullopt;
  Record out{std::move(request), {}};
  Matcher matcher = made->matcher();
  while (out.steps.size() < 14 && !matcher.is_terminated()) {
    Record::Step step;
    step.mask = row_of(matcher);
    if (matcher.error()) return std::nullopt;
    step.can_end = matcher.can_end();
    std::vector<TokenId> allowed;
    std::vector<TokenId> refused;
    for (TokenId id = 0; id < vocabulary().size(); ++id) {
      (bit(step.mask, id) ? allowed : refused).push_back(id);
    }
    if (allowed.empty()) {
      ADD_FAILURE() << "a dead end: " << out.request.name;
      return std::nullopt;
    }
    step.accepted = allowed[random() % allowed.size()];
    // Long tokens are few: one of the longest that fit, at times.
    if (random() % 3 == 0) {
      step.accepted = *std::ranges::max_element(allowed, {}, [&](TokenId id) {
        return vocabulary().bytes(id).size() * 8 + random() % 512;
      });
    }
    step.any_refused = !refused.empty();
    if (step.any_refused) step.refused = refused[random() % refused.size()];
    if (!matcher.accept_token(step.accepted)) {
      ADD_FAILURE() << "the mask allows what is refused: token "
                    << step.accepted << " of " << out.request.name;
      return std::nullopt;
    }
    out.steps.push_back(std::move(step));
  }
  return out;
}

// Asks all records of one compiler, in a shuffled order with interleaved steps.
void expect_apart(const std::vector<Record>& records, const Compiler& shared,
                  const GrammarLimits& limits, std::mt19937& random) {
  struct Reader {
    const Record* record;
    Matcher matcher;
    std::size_t at = 0;
  };
  std::vector<Reader> readers;
  std::vector<const Record*> order;
  for (const Record& one : records) order.push_back(&one);
  std::ranges::shuffle(order, random);
  for (const Record* one : order) {
    const Result<Constraint> made = one->request.make(shared, limits);
    // Small tables may not hold the beginning of a grammar.
    if (!made && limits.bytes != GrammarLimits{}.bytes) continue;
    ASSERT_TRUE(made) << one->request.name << ": " << made.error().message;
    readers.push_back({one, made->matcher()});
  }
  EXPECT_GT(2 * readers.size(), records.size()) << "most do not fit";
  while (!readers.empty()) {
    const std::size_t i = random() % readers.size();
    Reader& reader = readers[i];
    if (reader.at == reader.record->steps.size()) {
      std::swap(reader, readers.back());
      readers.pop_back();
      continue;
    }
    const Record::Step& step = reader.record->steps[reader.at];
    SCOPED_TRACE(reader.record->request.name + ", step " +
                 std::to_string(reader.at));
    if (step.any_refused) {
      ASSERT_FALSE(reader.matcher.copy().accept_token(step.refused))
          << step.refused;
    }
    if (random() % 4 != 0) {
      const Row row = row_of(reader.matcher);
      ASSERT_FALSE(reader.matcher.error()) << reader.matcher.error()->message;
      expect_equal(row, step.mask);
      if (::testing::Test::HasFatalFailure()) return;
    }
    ASSERT_EQ(reader.matcher.can_end(), step.can_end);
    ASSERT_TRUE(reader.matcher.accept_token(step.accepted)) << step.accepted;
    ++reader.at;
  }
}

// Asks the same with so little work that most questions are stopped.
void ask_and_stop(const std::vector<Record>& records, const Compiler& shared,
                  std::mt19937& random) {
  for (const Record& one : records) {
    const Result<Constraint> made =
        one.request.make(shared, {.work = 1 + random() % 3000});
    if (!made) continue;
    Matcher matcher = made->matcher();
    for (const Record::Step& step : one.steps) {
      row_of(matcher);
      if (matcher.error() || !matcher.accept_token(step.accepted)) break;
    }
  }
}

void expect_law(std::uint32_t seed, int requests) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Requests draw(seed);
  std::vector<Record> records;
  for (int i = 0; i < requests; ++i) {
    if (auto one = record(draw.one(), random)) {
      records.push_back(*std::move(one));
    }
  }
  ASSERT_FALSE(records.empty());
  const Compiler shared = compiler();
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    expect_apart(records, shared, {}, random);
    if (::testing::Test::HasFatalFailure()) return;
  }
  const Compiler interrupted = compiler();
  for (int round = 0; round < 2; ++round) {
    SCOPED_TRACE("after stopped questions, round " + std::to_string(round));
    ask_and_stop(records, interrupted, random);
    expect_apart(records, interrupted, {}, random);
    if (::testing::Test::HasFatalFailure()) return;
  }
  for (const std::size_t bytes : {300'000u, 100'000u}) {
    SCOPED_TRACE("bytes " + std::to_string(bytes));
    const Compiler small = *Compiler::create(
        vocabulary(), {.cache_bytes = bytes, .grammar_bytes = bytes * 8});
    for (int round = 0; round < 2; ++round) {
      expect_apart(records, small, {.bytes = bytes}, random);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

class SharingLaws : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(SharingLaws, Apart) { expect_law(GetParam(), 24); }

INSTANTIATE_TEST_SUITE_P(Seeds, SharingLaws,
                         ::testing::Range(std::uint32_t{1}, std::uint32_t{7}));

TEST(SharingLaws, ApartLongRun) {
  for (std::uint32_t seed = 1000; seed < 1150; ++seed) {
    expect_law(seed, 60);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// --- Values that look alike to a weak hash -----------------------------------

// Asks the masks of both texts of one compiler, in both orders, and of one
// each.
void expect_apart(const std::vector<Request>& requests,
                  const std::vector<std::string>& texts) {
  const auto masks = [&](const Compiler& by, const Request& request) {
    std::vector<Row> out;
    const Result<Constraint> made = request.make(by, {});
    EXPECT_TRUE(made) << request.name << ": " << made.error().message;
    for (const std::string& text : texts) {
      Matcher matcher = made->matcher();
      out.push_back(matcher.accept_bytes(text) ? row_of(matcher) : Row());
    }
    return out;
  };
  for (const bool reversed : {false, true}) {
    std::vector<Request> order = requests;
    if (reversed) std::ranges::reverse(order);
    const Compiler shared = compiler();
    for (const Request& request : order) {
      SCOPED_TRACE(request.name + (reversed ? ", reversed" : ""));
      const std::vector<Row> actual = masks(shared, request);
      const std::vector<Row> expected = masks(compiler(), request);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        SCOPED_TRACE("after " + texts[i]);
        ASSERT_EQ(actual[i].empty(), expected[i].empty());
        if (!actual[i].empty()) expect_equal(actual[i], expected[i]);
      }
    }
  }
}

// The bound on the length solves a hash whose steps can be inverted.
TEST(Sharing, ASolvedBoundIsNotABoolean) {
  const auto closed = [](std::string_view member) {
    return schema(R"({"type":"object","properties":{"a":)" +
                  std::string(member) +
                  R"(},"required":["a"],"additionalProperties":false})");
  };
  expect_apart({closed(R"({"type":"string","minLength":1,)"
                       R"("maxLength":958022327168526251})"),
                closed(R"({"type":"boolean"})")},
               {"", "{\"a\":", "{\"a\": "});
}

// Members of an open object: the separators of an exact layout are part of what
// a value without a schema may contain.
TEST(Sharing, SeparatorsOfAnyValue) {
  std::vector<Request> requests;
  for (const char* item : {",", ", "}) {
    for (const char* key : {":", ": "}) {
      JsonSchemaOptions options;
      options.layout.exact = true;
      options.layout.item_separator = item;
      options.layout.key_separator = key;
      requests.push_back(
          schema(R"({"properties":{"a":true},"required":["a"],)"
                 R"("type":"object","additionalProperties":false})",
                 options));
      requests.back().name += std::string(item) + "|" + key;
      requests.push_back(schema(R"({"type":"object"})", options));
      requests.back().name += std::string(item) + "|" + key;
    }
  }
  expect_apart(requests,
               {"{\"a\":", "{\"a\": ", "{\"a", "{\"a\":[", "{\"a\": ["});
}

// The marks of a grammar are not those of another one with the same part.
TEST(Sharing, MarksAroundOnePart) {
  std::vector<Request> requests;
  for (const char* end : {"<x>", "<y>", "</a>", "<b>", "\\\"", "0", ""}) {
    for (const char* of : {"{\"type\":\"integer\"}", "{\"type\":\"string\"}",
                           "{\"type\":\"array\",\"items\":{}}"}) {
      requests.push_back(tag(
          R"({"type":"structural_tag","format":{"type":"tag","begin":"<a>",)"
          R"("content":{"type":"json_schema","json_schema":)" +
          std::string(of) + R"(},"end":")" + end + "\"}}"));
    }
  }
  expect_apart(requests, {"<a>", "<a>1", "<a>\"", "<a>\"a", "<a>\"a\"", "<a>[",
                          "<a>[1", "<a>[\"", "<a>[\"x", "<a>[]"});
}

// --- Long tokens -------------------------------------------------------------

// Positions are asked in both orders: a mask of the one must not serve the
// other.
void expect_masks_at(const Request& request,
                     const std::vector<std::string>& texts) {
  for (const bool reversed : {false, true}) {
    std::vector<std::string> order = texts;
    if (reversed) std::ranges::reverse(order);
    const Compiler by = compiler();
    const Result<Constraint> made = request.make(by, {});
    ASSERT_TRUE(made) << made.error().message;
    for (const std::string& text : order) {
      Matcher matcher = made->matcher();
      ASSERT_TRUE(matcher.accept_bytes(text)) << text;
      SCOPED_TRACE(request.name + " after " + std::to_string(text.size()) +
                   " bytes" + (reversed ? ", reversed" : ""));
      expect_mask(matcher);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(LongTokens, NearTheLastItem) {
  for (const std::string_view item : {"0", "\"a\"", "[]"}) {
    std::vector<std::string> texts;
    for (const std::size_t items : {1u, 10u, 70u, 72u, 73u, 115u, 120u, 135u}) {
      std::string list = "[" + times(items, std::string(item) + ",");
      texts.push_back(list);
      list.pop_back();
      texts.push_back(list);
    }
    expect_masks_at(schema(R"({"type":"array","maxItems":200})"), texts);
    expect_masks_at(
        tag(R"({"type":"structural_tag","format":{"type":"json_schema",)"
            R"("json_schema":{"type":"array","maxItems":200}}})"),
        texts);
  }
}

TEST(LongTokens, NearTheDepthLimit) {
  std::vector<std::string> texts;
  for (const std::size_t depth : {1u, 140u, 145u, 200u, 217u, 345u, 399u}) {
    texts.push_back(times(depth, "["));
    texts.push_back(times(depth, "{\"a\":"));
    texts.push_back(times(depth, "{\"a\":") + "[");
  }
  const auto with_depth = [](std::string text) {
    return Request{text, [text](const Compiler& by, const GrammarLimits&) {
                     return by.compile_json_schema(text,
                                                   {.limits = {.depth = 600}});
                   }};
  };
  std::vector<std::string> deep;
  for (const std::string& text : texts) {
    deep.push_back(text);
    deep.push_back(times(200, "[") + text);
  }
  for (const char* text :
       {"{}",
        R"({"items":{"$ref":"#"},"additionalProperties":{"$ref":"#"}})"}) {
    expect_masks_at(with_depth(text), deep);
  }
}

TEST(LongTokens, NearTheLastCharacterAndBlank) {
  for (const std::size_t most : {100u, 254u, 255u, 256u, 400u}) {
    const std::string bound = std::to_string(most);
    std::vector<std::string> texts;
    for (const std::size_t read : {0u, 1u, 44u, 45u, 90u}) {
      texts.push_back("\"" + std::string(read, 'a'));
    }
    expect_masks_at(schema(R"({"type":"string","maxLength":)" + bound + "}"),
                    texts);
    expect_masks_at(
        schema(R"({"type":"string","pattern":"^a*b?$","maxLength":)" + bound +
               "}"),
        texts);
    JsonSchemaOptions options;
    options.layout.max_white_space = most;
    expect_masks_at(schema(R"({"type":"array"})", options),
                    {"[", "[" + std::string(1, ' '), "[" + std::string(45, ' '),
                     "[0," + std::string(90, ' ')});
  }
}

// --- Stopped questions -------------------------------------------------------

// A question that runs out of work is answered with nothing, and leaves nothing
// in what others share.
TEST(Sharing, AStoppedMaskIsNotShared) {
  const std::string member = R"({"type":"string",)"
                             R"("pattern":"^(?=.*a)(?=.*b)[a-z0-9]{2,40}$"})";
  const Request victim = schema(R"({"type":"array","items":)" + member + "}");
  const std::vector<std::string> texts = {"[", "[\"", "[\"a", "[\"ab"};
  std::vector<Row> expected;
  const Compiler alone = compiler();
  const Result<Constraint> made = victim.make(alone, {});
  ASSERT_TRUE(made);
  for (const std::string& text : texts) {
    Matcher matcher = made->matcher();
    ASSERT_TRUE(matcher.accept_bytes(text));
    expected.push_back(row_of(matcher));
  }
  int stopped = 0;
  for (std::size_t work = 1; work < 40'000; work += 1 + work / 6) {
    const Compiler shared = compiler();
    // Another schema with the same strings.
    const Result<Constraint> small =
        shared.compile_json_schema(member, {.limits = {.work = work}});
    if (!small) continue;
    for (const std::string& text : texts) {
      Matcher matcher = small->matcher();
      if (text.size() > 1 && !matcher.accept_bytes(text.substr(1))) continue;
      row_of(matcher);
      stopped += matcher.error() ? 1 : 0;
    }
    const Result<Constraint> other = victim.make(shared, {});
    ASSERT_TRUE(other);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      Matcher matcher = other->matcher();
      ASSERT_TRUE(matcher.accept_bytes(texts[i]));
      SCOPED_TRACE("work " + std::to_string(work) + " after " + texts[i]);
      expect_equal(row_of(matcher), expected[i]);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(stopped, 0);
}

}  // namespace
}  // namespace parlance::sharing_law_test
