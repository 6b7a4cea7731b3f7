// The tables of languages: built while texts are read, shared by all texts, and
// replaced when they are full.  None of that may be seen.
//
//   apart     what a text may continue with does not depend on the texts that
//             were read before
//   linear    a text of twice the length takes twice the work, full tables or
//             not, and no call takes far more than one before they were full
//   too large a grammar that leaves no room for a text is an error
//
// Work is counted (base/work.h), not timed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/work.h"
#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/vocabulary.h"
#include "support/small_schemas.h"

namespace parlance::tables_law_test {
namespace {

using testing::SmallSchemas;

Grammar grammar_of(const std::string& schema) {
  auto made = Grammar::from_json_schema(std::string_view(schema));
  EXPECT_TRUE(made) << schema << ": " << made.error().to_string();
  return *made;
}

// Token i is the byte i; then come some pieces, and a stop token.
const Vocabulary& vocabulary() {
  static const Vocabulary made = [] {
    std::vector<TokenEntry> entries;
    const auto add = [&](std::string bytes, TokenKind kind) {
      entries.push_back({.id = static_cast<TokenId>(entries.size()),
                         .bytes = std::move(bytes),
                         .kind = kind});
    };
    for (int byte = 0; byte < 256; ++byte) {
      add(std::string(1, static_cast<char>(byte)), TokenKind::kOrdinary);
    }
    for (const char* const piece :
         {"\",\"", "\":",   "[\"",          "\",\"a",   "item", "ab", "bab",
          "aaaa",  "\\u00", "\\u0000\\\"b", "]}",       "}]",   "1,", "},{\"",
          "true",  "c,",    "b\",\"aa",     "\xC3\xA9", "((",   "))"}) {
      add(piece, TokenKind::kOrdinary);
    }
    add("</s>", TokenKind::kControl);
    const std::vector<TokenId> stop_ids = {entries.back().id};
    return *Vocabulary::from_table(entries, stop_ids);
  }();
  return made;
}

// --- Apart -------------------------------------------------------------------

struct Verdict {
  std::string_view text;
  bool accepted = false;
};

// Every order of the texts gives the same verdicts.
void expect_apart(const std::string& schema, std::vector<Verdict> texts) {
  const auto by_text = [](const Verdict& a, const Verdict& b) {
    return a.text < b.text;
  };
  std::ranges::sort(texts, by_text);
  do {
    const Grammar grammar = grammar_of(schema);
    std::string order;
    for (const auto& [text, accepted] : texts) {
      order += std::string(text) + '\n';
      EXPECT_EQ(grammar.accepts(text), accepted) << schema << '\n' << order;
    }
  } while (std::ranges::next_permutation(texts, by_text).found);
}

// An alternative that was dropped has read a key that the one left does not
// spell.
TEST(Tables, KeysOfAnAlternativeThatIsDropped) {
  expect_apart(
      R"({"anyOf": [{"properties": {"kind": {"const": "a"},
                                    "x": {"type": "integer"}},
                     "required": ["kind", "x"], "additionalProperties": false},
                    {"properties": {"kind": {"type": "string"}},
                     "required": ["kind"]}]})",
      {{R"({"kind":"b","\u0078":1})", true},
       {R"({"x":1,"kind":"b","z":1})", true},
       {R"({"x":1,"kind":"b","x":2})", false},
       {R"({"kind":"b","z":1})", true}});
}

// No two sets of values are spelled alike, whatever bytes the values have.
TEST(Tables, SetsOfAnyValues) {
  expect_apart(R"({"type": "array", "uniqueItems": true,
                   "items": {"type": "string"}})",
               {{R"(["a","b","c"])", true},
                {R"(["a\u0000\"b","a"])", true},
                {R"(["a\u0000\"b","a\u0000\"b"])", false},
                {R"(["","\u0000","\u0000\u0000",""])", false}});
  expect_apart(R"({"type": "array", "uniqueItems": true, "items": {
                   "type": ["string", "number", "boolean", "null"]}})",
               {{R"(["wtrue",true,"true"])", true},
                {R"([1,"1",1.0])", false},
                {R"(["\"1",1,"1","\"1"])", false}});
}

TEST(Tables, SetsOfValuesOfALanguage) {
  expect_apart(
      R"({"type": "array", "uniqueItems": true, "items": {
          "enum": ["a\u0000\"b", "a", "b", "", 1, null]}})",
      {{R"(["a","b",""])", true},
       {R"(["a\u0000\"b","a"])", true},
       {R"(["a\u0000\"b","b",1,"a\u0000\"b"])", false},
       {R"([null,"a",1,"a\u0000\"b","b",""])", true}});
  expect_apart(R"({"type": "array", "uniqueItems": true, "items": {
                   "type": "string", "pattern": "^[ab\u0000\"]*$"}})",
               {{R"(["a","b"])", true},
                {R"(["a\u0000\"b","a"])", true},
                {R"(["a\u0000\"b","b","a\u0000\"b"])", false}});
}

// Text of a value in which every string and name may have an escape, a NUL or a
// quote more, and a name may come twice.
std::string spelled(const json::Value& value, std::mt19937& random) {
  const auto text = [&](std::string_view plain) {
    std::string out = "\"";
    for (const char c : plain) {
      if (random() % 8 == 0) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        const auto byte = static_cast<std::uint8_t>(c);
        out += "\\u00";
        out += kDigits[byte >> 4];
        out += kDigits[byte & 15];
      } else {
        out += c;
      }
    }
    if (random() % 5 == 0)
      out += random() % 2 == 0 ? "\\u0000\\\"b" : "\\u0000";
    return out + '"';
  };
  if (value.is_string()) return text(value.as_string());
  if (value.is_array()) {
    std::string out = "[";
    for (const json::Value& item : value.items()) {
      if (out.size() > 1) out += ",";
      out += spelled(item, random);
    }
    return out + "]";
  }
  if (value.is_object()) {
    std::string out = "{";
    const std::size_t rounds = random() % 6 == 0 ? 2 : 1;
    for (std::size_t round = 0; round < rounds; ++round) {
      for (const auto& [name, member] : value.members()) {
        if (out.size() > 1) out += ",";
        out += text(name) + ":" + spelled(member, random);
      }
    }
    return out + "}";
  }
  return json::dump(value);
}

// Masks on the way through the text, as far as it fits.
std::vector<std::vector<std::int32_t>> masks_along(const Constraint& constraint,
                                                   std::string_view text) {
  Matcher matcher = constraint.matcher();
  std::vector<std::vector<std::int32_t>> out;
  for (const char byte : text) {
    out.emplace_back(matcher.mask_words());
    matcher.fill_bitmask(out.back());
    if (!matcher.accept_token(static_cast<std::uint8_t>(byte))) break;
  }
  return out;
}

void expect_fresh_like_used(std::uint32_t first, std::uint32_t last) {
  constexpr std::size_t kBefore = 50;
  constexpr std::size_t kCompared = 12;
  std::size_t accepted = 0;
  for (std::uint32_t seed = first; seed < last; ++seed) {
    SmallSchemas schemas(seed);
    json::Value schema = schemas.schema({});
    if (seed % 3 == 0) {
      json::Object items;
      items.set("type", json::Array{"string", "number", "boolean", "null"});
      if (seed % 2 == 0) items.set("maxLength", 3);
      json::Object unique;
      unique.set("uniqueItems", true);
      unique.set("items", items);
      schema = unique;
    }
    const std::string source = json::dump(schema);
    const auto made = Grammar::from_json_schema(std::string_view(source));
    if (!made) continue;
    std::mt19937 random(seed);
    const Compiler for_all = *Compiler::create(vocabulary());
    const Constraint used = *for_all.compile(*made);
    for (std::size_t i = 0; i < kBefore; ++i) {
      const std::string text = spelled(schemas.value(3), random);
      (void)made->accepts(text);
      if (i % 8 == 0) (void)masks_along(used, text);
    }
    for (std::size_t i = 0; i < kCompared; ++i) {
      const std::string text = spelled(schemas.value(3), random);
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + source + '\n' +
                   text);
      const Grammar fresh = grammar_of(source);
      ASSERT_EQ(made->accepts(text), fresh.accepts(text));
      accepted += made->accepts(text) ? 1 : 0;
      if (i % 4 != 0) continue;
      const Compiler alone = *Compiler::create(vocabulary());
      ASSERT_EQ(masks_along(used, text),
                masks_along(*alone.compile(fresh), text));
    }
  }
  EXPECT_GT(accepted, std::size_t{last - first} / 2);
}

TEST(Tables, FreshLikeUsed) { expect_fresh_like_used(1, 60); }
TEST(Tables, FreshLikeUsedLongRun) { expect_fresh_like_used(60, 4000); }

// --- Linear ------------------------------------------------------------------

struct Family {
  std::string_view name;
  std::function<Result<Grammar>(const GrammarLimits&)> make;
  std::string_view head;
  std::function<std::string(std::size_t)> unit;  // the i-th
  std::size_t bytes = 0;  // few, so that the tables are full again and again
  std::size_t units = 0;
};

Result<Grammar> unique_strings(const GrammarLimits& limits) {
  return Grammar::from_json_schema(
      std::string_view(R"({"type": "array", "uniqueItems": true,
                           "items": {"type": "string"}})"),
      {.limits = limits});
}
Result<Grammar> unique_in_tag(const GrammarLimits& limits) {
  return Grammar::from_structural_tag(
      std::string_view(R"({"format": {"type": "tag", "begin": "<a>",
          "end": "</a>", "content": {"type": "json_schema", "json_schema":
            {"type": "array", "uniqueItems": true,
             "items": {"type": "string"}}}}})"),
      {.limits = limits});
}

Result<Grammar> unique_items(std::string_view items,
                             const GrammarLimits& limits) {
  return Grammar::from_json_schema(
      R"({"type":"array","uniqueItems":true,"items":)" + std::string(items) +
          '}',
      {.limits = limits});
}

std::string item(std::size_t i) {
  std::mt19937 random(static_cast<std::uint32_t>(i));
  std::string out = "\"";
  for (int k = 0; k < 16; ++k) out += static_cast<char>('a' + random() % 26);
  return out + "\",";
}

const std::vector<Family>& families() {
  static const std::vector<Family> made = {
      {"UniqueStrings", unique_strings, "[", item, std::size_t{1} << 20, 150},
      {"UniqueStringsInATag", unique_in_tag, "<a>[", item, std::size_t{1} << 20,
       150},
      {"UniquePatterns",
       [](const GrammarLimits& limits) {
         return unique_items(R"({"type":"string","pattern":"^[a-z]+$"})",
                             limits);
       },
       "[", item, std::size_t{1} << 20, 150},
      {"UniqueIntegers",
       [](const GrammarLimits& limits) {
         return unique_items(R"({"type":"integer"})", limits);
       },
       "[",
       [](std::size_t i) {
         return std::to_string(1'000'000 + i * 7919 % 100'000) + ',';
       },
       std::size_t{1} << 20, 150},
      {"UniqueObjects",
       [](const GrammarLimits& limits) {
         return unique_items(
             R"({"type":"object","properties":{"id":{"type":"integer"},
                 "name":{"type":"string"},"on":{"type":"boolean"}},
                 "required":["id","name"],"additionalProperties":false})",
             limits);
       },
       "[",
       [](std::size_t i) {
         std::string name = item(i);
         name.pop_back();
         return i % 2 == 0 ? R"({"id":7,"name":)" + name + R"(,"on":true},)"
                           : R"({"name":)" + name + R"(,"id":)" +
                                 std::to_string(i) + "},";
       },
       std::size_t{1} << 20, 150},
      {"UniqueOpenObjects",
       [](const GrammarLimits& limits) { return unique_items("true", limits); },
       "[",
       [](std::size_t i) {
         return R"({"a":{"b":[1,)" + item(i) + R"({}]},"c":null},)";
       },
       std::size_t{1} << 20, 150},
      {"UniqueNumbers",
       [](const GrammarLimits& limits) {
         return unique_items(R"({"type":"number","minimum":0,"maximum":1})",
                             limits);
       },
       "[",
       [](std::size_t i) {
         return "0." + std::to_string(1'000'000 + i * 7919 % 100'000) + ',';
       },
       std::size_t{1} << 20, 150},
      {"Patterns",
       [](const GrammarLimits& limits) {
         return Grammar::from_json_schema(
             std::string_view(R"({"type": "array", "items": {
                 "type": "string", "pattern": "a.{30}b"}})"),
             {.limits = limits});
       },
       "[",
       [](std::size_t i) {
         std::string out = "\"";
         for (std::size_t k = 0; k < 40; ++k) {
           out += (i * 2654435761U >> (k % 31) & 1) != 0 ? 'a' : 'b';
         }
         return out + "a" + std::string(30, 'c') + "b\",";
       },
       std::size_t{1} << 20, 60},
      {"Rules",
       [](const GrammarLimits& limits) {
         return Grammar::from_regex("([ab]*a[ab]{40}c)*", limits);
       },
       "",
       [](std::size_t i) {
         std::string out;
         for (std::size_t k = 0; k < 50; ++k) {
           out += ((i + 1) * 2654435761U >> (k % 31) & 1) != 0 ? 'a' : 'b';
         }
         return out + "a" + std::string(40, 'b') + "c";
       },
       std::size_t{1} << 18, 60},
  };
  return made;
}

struct Measured {
  std::size_t bytes = 0;
  std::uint64_t all = 0;
  std::uint64_t dearest = 0;  // of one call
};

// Reads the text byte by byte, with a mask at every fourth.
Measured measure(const Family& family, std::size_t bytes, std::size_t units) {
  const Compiler compiler = *Compiler::create(vocabulary());
  const auto grammar = family.make({.bytes = bytes});
  EXPECT_TRUE(grammar) << grammar.error().to_string();
  Matcher matcher = compiler.compile(*grammar)->matcher();
  std::string text(family.head);
  for (std::size_t i = 0; i < units; ++i) text += family.unit(i);
  std::vector<std::int32_t> row(matcher.mask_words());
  Measured out{.bytes = text.size()};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const base::Work work(base::ThreadWork::kUnlimited);
    if (i % 4 == 0) matcher.fill_bitmask(row);
    const bool accepted =
        matcher.accept_token(static_cast<std::uint8_t>(text[i]));
    EXPECT_TRUE(accepted) << family.name << " at " << i << " of "
                          << text.size();
    if (!accepted) break;
    out.all += work.spent();
    out.dearest = std::max(out.dearest, work.spent());
  }
  return out;
}

void expect_linear(std::size_t times) {
  for (const Family& family : families()) {
    SCOPED_TRACE(family.name);
    const std::size_t units = times * family.units;
    const Measured once = measure(family, family.bytes, units);
    const Measured twice = measure(family, family.bytes, 2 * units);
    const Measured four = measure(family, family.bytes, 4 * units);
    const Measured roomy = measure(family, GrammarLimits{}.bytes, 4 * units);
    if (std::getenv("PARLANCE_SHOW") != nullptr) {
      std::printf("%-20s %10zu %10zu %10zu | %10zu || %8zu %8zu %8zu | %8zu\n",
                  std::string(family.name).c_str(),
                  static_cast<std::size_t>(once.all),
                  static_cast<std::size_t>(twice.all),
                  static_cast<std::size_t>(four.all),
                  static_cast<std::size_t>(roomy.all),
                  static_cast<std::size_t>(once.dearest),
                  static_cast<std::size_t>(twice.dearest),
                  static_cast<std::size_t>(four.dearest),
                  static_cast<std::size_t>(roomy.dearest));
    }
    EXPECT_LE(twice.all, once.all * 5 / 2);
    EXPECT_LE(four.all, twice.all * 5 / 2);
    // What a position refers to, here all values, is moved now and then.
    EXPECT_LE(four.dearest, 4 * roomy.dearest + 2 * four.bytes);
  }
}

TEST(Tables, FullTablesCostNoMoreThanTheText) { expect_linear(1); }
TEST(Tables, FullTablesCostNoMoreThanTheTextLongRun) { expect_linear(8); }

// Readers of other texts fill the tables while this one is not read.
TEST(Tables, OthersCostNoMoreThanTheConfiguration) {
  for (const Family& family : families()) {
    SCOPED_TRACE(family.name);
    const Compiler compiler = *Compiler::create(vocabulary());
    const Constraint constraint =
        *compiler.compile(*family.make({.bytes = family.bytes}));
    std::string text(family.head);
    for (std::size_t i = 0; i < family.units; ++i) text += family.unit(i);
    Matcher matcher = constraint.matcher();
    Matcher other = constraint.matcher();
    for (std::size_t i = 0; i < text.size(); ++i) {
      ASSERT_TRUE(other.accept_token(static_cast<std::uint8_t>(text[i])));
      if (i % 16 == 0 && i / 16 < text.size()) {
        ASSERT_TRUE(
            matcher.accept_token(static_cast<std::uint8_t>(text[i / 16])));
      }
    }
  }
}

TEST(Tables, TagParsersReadOnWithEmptyTables) {
  const auto tag = StructuralTag::from_json(
      R"({"format": {"type": "tag", "begin": "<a>", "end": "</a>", "content":
          {"type": "json_schema", "json_schema": {"type": "array",
           "uniqueItems": true, "items": {"type": "string"}}}}})");
  ASSERT_TRUE(tag);
  const auto program =
      CompiledTag::compile(*tag, {.limits = {.bytes = std::size_t{512} << 10}});
  ASSERT_TRUE(program) << program.error().to_string();
  std::string text = "<a>[";
  for (std::size_t i = 0; i < 600; ++i) text += item(i);
  text += "\"\"]</a>";
  TagParser parser(*program);
  for (std::size_t at = 0; at < text.size(); at += 7) {
    parser.feed(std::string_view(text).substr(at, 7));
  }
  parser.finalize();
  EXPECT_TRUE(parser.message().diagnostics.empty());
  // A value that was used long ago.
  TagParser again(*program);
  std::string twice = text.substr(0, text.size() - 7) + item(3);
  again.feed(twice);
  again.finalize();
  EXPECT_FALSE(again.message().diagnostics.empty());
}

// --- Too large ---------------------------------------------------------------

TEST(Tables, AGrammarWithoutRoomIsTooLarge) {
  std::size_t refused = 0;
  std::size_t read = 0;
  for (std::size_t bytes = 200; bytes < 64'000; bytes += bytes / 16 + 1) {
    const GrammarLimits limits{.bytes = bytes};
    const auto check = [&](const Result<Grammar>& made, std::string_view text,
                           bool accepted) {
      if (!made) {
        EXPECT_EQ(made.error().code, ErrorCode::kTooLarge)
            << bytes << ": " << made.error().to_string();
        ++refused;
        return;
      }
      EXPECT_EQ(made->accepts(text), accepted) << bytes << ": " << text;
      const auto constraint = Compiler::create(vocabulary())->compile(*made);
      if (!constraint) return;
      Matcher matcher = constraint->matcher();
      std::vector<std::int32_t> row(matcher.mask_words());
      for (const char byte : text) {
        matcher.fill_bitmask(row);
        const auto token = static_cast<std::uint8_t>(byte);
        const bool set =
            (static_cast<std::uint32_t>(row[token / 32]) >> (token % 32) & 1) !=
            0;
        EXPECT_EQ(matcher.accept_token(token), set) << bytes << ": " << text;
      }
      ++read;
    };
    check(Grammar::from_regex("ab+", limits), "abb", true);
    check(Grammar::from_ebnf("root ::= \"(\" root \")\" | [a-z]{2,9}",
                             {.limits = limits}),
          "((((abc))))", true);
    check(Grammar::from_json_schema(std::string_view(R"({"type": "array"})"),
                                    {.limits = limits}),
          R"([1,"a"])", true);
    check(Grammar::from_structural_tag(
              std::string_view(R"({"format": {"type": "tag", "begin": "<a>",
                  "end": "</a>", "content": {"type": "regex",
                  "pattern": "a*b"}}})"),
              {.limits = limits}),
          "<a>aab</a>", true);
    const auto tag = StructuralTag::from_json(
        R"({"format": {"type": "tag", "begin": "<a>", "end": "</a>",
            "content": {"type": "regex", "pattern": "a*b"}}})");
    const auto program = CompiledTag::compile(*tag, {.limits = limits});
    if (!program) {
      EXPECT_EQ(program.error().code, ErrorCode::kTooLarge);
      continue;
    }
    TagParser parser(*program);
    parser.feed("<a>aab</a>");
    parser.finalize();
    EXPECT_TRUE(parser.message().diagnostics.empty()) << bytes;
  }
  EXPECT_GT(refused, 10U);
  EXPECT_GT(read, 10U);
}

}  // namespace
}  // namespace parlance::tables_law_test
