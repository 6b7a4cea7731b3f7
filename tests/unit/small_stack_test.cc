// What is nested deep, on a thread with a small stack: what does not fit into a
// limit is an error, and nothing uses the call stack for each level without
// one.  Threads of macOS have 512 KB, the first thread of a Windows program
// 1 MB.

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/jmespath.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/response_schema.h"
#include "parlance/structural_tag.h"
#include "support/sanitized.h"

namespace parlance::small_stack_test {
namespace {

using parlance::testing::cases;
using parlance::testing::reduced;

// Functions have larger frames with sanitizers.
constexpr std::size_t kStack =
    (parlance::testing::kSanitized ? 16 : 1) * (512 << 10);
constexpr int kDeep = parlance::testing::kSanitized ? 3'000 : 10'000;

void with_small_stack(const std::function<void()>& body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStack), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* argument) -> void* {
                  (*static_cast<const std::function<void()>*>(argument))();
                  return nullptr;
                },
                const_cast<std::function<void()>*>(&body)),
            0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

std::string repeated(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// Definitions 0 to `count`, each made of the next one by `made`; the last one
// is `last`.
std::string chain(int count,
                  const std::function<std::string(const std::string&)>& made,
                  const std::string& last = R"({"type":"boolean"})") {
  std::string all = R"({"$ref":"#/$defs/0","$defs":{)";
  for (int i = 0; i < count; ++i) {
    all += '"' + std::to_string(i) + "\":" +
           made(R"({"$ref":"#/$defs/)" + std::to_string(i + 1) + "\"}") + ',';
  }
  return all + '"' + std::to_string(count) + "\":" + last + "}}";
}

std::string object(const std::string& inner) {
  return R"({"type":"object","additionalProperties":false,"required":["a"],)"
         R"("properties":{"a":)" +
         inner + "}}";
}

bool accepts(const Grammar& grammar, const std::string& text) {
  GrammarReader reader(grammar);
  return reader.feed(text) == text.size() && reader.can_end();
}

// Each level requires the next one.  All have values, however many there are.
TEST(SmallStack, ChainsOfRequiredValues) {
  struct Case {
    std::function<std::string(const std::string&)> made;
    std::string open;
    std::string close;
  };
  const std::vector<Case> cases = {
      {object, R"({"a":)", "}"},
      {[](const std::string& inner) {
         return R"({"type":"array","minItems":1,"items":)" + inner + '}';
       },
       "[", "]"},
      // What one clause of the condition leaves open, others close.
      {[](const std::string& inner) {
         std::string all;
         for (int i = 0; i < 6; ++i) {
           const std::string n = std::to_string(i);
           all += R"({"anyOf":[{"required":["b)" + n +
                  R"("]},{"required":["c)" + n + R"("]},{"required":["a"]}]},)";
         }
         return R"({"type":"object","required":["a"],"properties":{"a":)" +
                inner + R"(},"allOf":[)" + all + "{}]}";
       },
       R"({"a":)", "}"},
      // With two members the values of both are asked for when the object is
      // expanded.
      {[](const std::string& inner) {
         return R"({"type":"object","required":["a","b"],"properties":{"a":)" +
                inner + R"(,"b":{"const":1}},"additionalProperties":false})";
       },
       R"({"a":)", R"(,"b":1})"},
      {[](const std::string& inner) {
         return R"({"type":"array","contains":)" + inner + '}';
       },
       "[", "]"},
      {[](const std::string& inner) {
         return R"({"type":"array","uniqueItems":true,"minItems":1,"items":)" +
                inner + '}';
       },
       "[", "]"},
      {[](const std::string& inner) {
         return R"({"type":"object","minProperties":1,"additionalProperties":)" +
                inner + '}';
       },
       R"({"a":)", "}"},
      {[](const std::string& inner) {
         return R"({"anyOf":[)" + object(inner) + R"(,{"type":"array",)" +
                R"("minItems":2,"items":)" + inner + "}]}";
       },
       R"({"a":)", "}"},
      {[](const std::string& inner) {
         return R"({"type":"array","prefixItems":[{"if":)" + inner +
                R"(,"else":false}],"minItems":1,"items":false})";
       },
       "[", "]"},
  };
  for (const Case& one : cases) {
    for (const int levels : {63, 64, 65, 130, reduced() ? 700 : 3'000}) {
      const std::string schema = chain(levels, one.made);
      const std::string text =
          repeated(one.open, levels) + "true" + repeated(one.close, levels);
      with_small_stack([&] {
        JsonSchemaOptions options;
        options.limits.depth = 4'000;
        const Result<Grammar> grammar =
            Grammar::from_json_schema(schema, options);
        ASSERT_TRUE(grammar)
            << one.made("?") << levels << grammar.error().message;
        EXPECT_TRUE(accepts(*grammar, text)) << one.open << levels;
        EXPECT_TRUE(grammar->report().empty()) << one.open << levels;
      });
    }
  }
}

// A circle of schemas that require each other has no value, nor has a chain
// that ends in one without a value.
TEST(SmallStack, CirclesOfRequiredValues) {
  for (const int levels : {10, 63, 64, 65, 130, 3'000}) {
    for (const std::string& last :
         {std::string(R"({"$ref":"#/$defs/0"})"), std::string("false"),
          R"({"anyOf":[)" + object(R"({"$ref":"#/$defs/0"})") + "," +
              object(R"({"$ref":"#/$defs/1"})") + "]}"}) {
      const std::string schema = chain(levels, object, last);
      with_small_stack([&] {
        const Result<Grammar> grammar = Grammar::from_json_schema(schema);
        ASSERT_FALSE(grammar);
        EXPECT_EQ(grammar.error().code, ErrorCode::kUnsatisfiable)
            << levels << last << grammar.error().message;
      });
      // Beside an alternative that has values it is left out.
      with_small_stack([&] {
        const Result<Grammar> grammar = Grammar::from_json_schema(
            R"({"anyOf":[{"type":"null"},{"$ref":"#/$defs/0"}],)" +
            schema.substr(schema.find(R"("$defs")")));
        ASSERT_TRUE(grammar) << grammar.error().message;
        EXPECT_TRUE(grammar->report().empty()) << levels << last;
        EXPECT_TRUE(accepts(*grammar, "null"));
        EXPECT_FALSE(accepts(*grammar, R"({"a":1})"));
      });
    }
  }
}

// Random definitions that require each other.  Oracle: those with values are
// the least fixpoint, found in rounds over all definitions.
TEST(SmallStack, RandomDefinitions) {
  std::mt19937 random(20);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  int compiled = 0;
  int empty = 0;
  for (std::uint32_t round = 0; round < cases(300); ++round) {
    const std::size_t count = 2 + below(round % 2 == 0 ? 12 : 400);
    const std::size_t reach = 1 + below(20);
    struct Definition {
      bool all = false;  // requires all of `others`, not just one
      std::vector<std::size_t> others;
    };
    std::vector<Definition> definitions(count);
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      Definition& one = definitions[i];
      one.all = below(2) == 0;
      const std::size_t others = below(9) == 0 ? 0 : 1 + below(2);
      for (std::size_t k = 0; k < others; ++k) {
        one.others.push_back(below(4) != 0 ? (i + 1 + below(reach)) % count
                                           : below(count));
      }
      std::string list;
      std::string keys;
      for (const std::size_t other : one.others) {
        const std::string ref =
            R"({"$ref":"#/$defs/)" + std::to_string(other) + "\"}";
        const std::string key = "\"k" + std::to_string(keys.size()) + '"';
        if (!list.empty()) list += ',', keys += ',';
        list += one.all ? key + ':' + ref
                : below(2) == 0
                    ? object(ref)
                    : R"({"type":"array","minItems":1,"items":)" + ref + '}';
        keys += key;
      }
      text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":" +
              (one.all ? R"({"type":"object","properties":{)" + list +
                             R"(},"required":[)" + keys +
                             R"(],"additionalProperties":false})"
               : list.empty() ? "false"
                              : R"({"anyOf":[)" + list + "]}");
    }
    std::vector<bool> has_value(count);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < count; ++i) {
        const auto has = [&](std::size_t other) { return has_value[other]; };
        const std::vector<std::size_t>& others = definitions[i].others;
        if (!has_value[i] &&
            (definitions[i].all ? std::ranges::all_of(others, has)
                                : std::ranges::any_of(others, has))) {
          has_value[i] = changed = true;
        }
      }
    }
    for (int k = 0; k < 5; ++k) {
      const std::size_t start = below(count);
      const std::string schema = R"({"$ref":"#/$defs/)" +
                                 std::to_string(start) + R"(","$defs":{)" +
                                 text + "}}";
      with_small_stack([&] {
        const Result<Grammar> grammar = Grammar::from_json_schema(schema);
        if (has_value[start]) {
          ASSERT_TRUE(grammar) << grammar.error().message << '\n' << schema;
          ++compiled;
        } else {
          ASSERT_FALSE(grammar) << schema;
          EXPECT_EQ(grammar.error().code, ErrorCode::kUnsatisfiable)
              << grammar.error().message << '\n'
              << schema;
          ++empty;
        }
      });
    }
  }
  RecordProperty("compiled", compiled);
  RecordProperty("empty", empty);
}

// Text that is nested deep is read, or is an error, by all that read text.
TEST(SmallStack, NestedText) {
  const int deep = 20 * kDeep;
  const auto nested = [&](std::string_view open, std::string_view inner,
                          std::string_view close) {
    return repeated(open, deep) + std::string(inner) + repeated(close, deep);
  };
  with_small_stack([&] {
    for (const std::string& value :
         {nested("[", "1", "]"), nested(R"({"a":)", "1", "}"),
          nested(R"({"not":)", "true", "}"),
          nested(R"({"anyOf":[)", "true", "]}"),
          nested(R"({"items":)", "true", "}"),
          nested(R"({"if":)", "true", R"(,"then":false})"),
          nested(R"({"properties":{"a":)", "true", "}}"),
          nested(R"({"type":"object","properties":{"a":)", "{}", "}}"),
          nested(R"({"type":"sequence","elements":[)",
                 R"({"type":"const_string","value":"a"})", "]}"),
          nested(R"({"type":"optional","content":)",
                 R"({"type":"const_string","value":"a"})", "}")}) {
      static_cast<void>(json::parse(value));
      static_cast<void>(Grammar::from_json_schema(value));
      static_cast<void>(ResponseSchema::from_json(value));
      static_cast<void>(Format::from_json(value));
      static_cast<void>(StructuralTag::from_json(
          R"({"type":"structural_tag","format":)" + value + '}'));
    }
    for (const auto& [open, inner, close] :
         {std::tuple("(", "a", ")"), std::tuple("(?:", "a", ")?"),
          std::tuple("(?=", "a", ")"), std::tuple("[^", "a", "]"),
          std::tuple("a|(", "a", ")*"), std::tuple("[", "a", "]"),
          std::tuple("{", "a", "}"), std::tuple("!", "a", ""),
          std::tuple("a.", "a", ""), std::tuple("f(", "a", ")"),
          std::tuple("a[?", "a", "]"), std::tuple("a||", "a", ""),
          std::tuple("~", "a", ""), std::tuple("\"a\" | ", "\"a\"", "")}) {
      const std::string text = nested(open, inner, close);
      static_cast<void>(Grammar::from_regex(text));
      static_cast<void>(Grammar::from_ebnf("root ::= " + text));
      static_cast<void>(Grammar::from_gbnf("root ::= " + text));
      static_cast<void>(Grammar::from_lark("start: " + text));
      static_cast<void>(Grammar::from_lark("start: A\nA: " + text));
      static_cast<void>(Jmespath::compile(text));
    }
  });
}

// What a model writes, whole and one byte at a time: calls whose arguments are
// nested, and a constraint that follows them.
TEST(SmallStack, NestedOutput) {
  const Result<Format> format = Format::built_in("qwen3");
  ASSERT_TRUE(format);
  for (const auto& [open, close] :
       {std::pair("[", "]"), std::pair(R"({"a":)", "}"), std::pair("[", "")}) {
    const std::string arguments =
        repeated(open, kDeep) + '1' + repeated(close, kDeep);
    const std::string text =
        R"(<tool_call>{"name":"f","arguments":{"a":)" + arguments + "}}";
    with_small_stack([&] {
      static_cast<void>(parse_response(*format, text + "</tool_call>"));
      ResponseParser parser(*format);
      for (const char c : text) parser.feed(std::string_view(&c, 1));
      parser.finalize();
      const Result<Grammar> any = Grammar::from_json_schema("true");
      ASSERT_TRUE(any) << any.error().message;
      static_cast<void>(accepts(*any, arguments));
    });
  }
}

// Rules that lead to each other in a chain are no nested text.
TEST(SmallStack, ChainsOfRules) {
  const auto rules = [](std::string_view between, std::string_view first,
                        std::string_view after) {
    std::string all;
    for (int i = 0; i < kDeep; ++i) {
      all += (i == 0 ? std::string(first) : "r" + std::to_string(i)) +
             std::string(between) + "\"(\" r" + std::to_string(i + 1) +
             std::string(after) + '\n';
    }
    return all + "r" + std::to_string(kDeep) + std::string(between) + "\"a\"" +
           '\n';
  };
  with_small_stack([&] {
    const std::string text = repeated("(", kDeep) + "a";
    const Result<Grammar> ebnf = Grammar::from_ebnf(rules(" ::= ", "root", ""));
    ASSERT_TRUE(ebnf) << ebnf.error().message;
    EXPECT_TRUE(accepts(*ebnf, text));
    const Result<Grammar> gbnf =
        Grammar::from_gbnf(rules(" ::= ", "root", " | \"b\""));
    ASSERT_TRUE(gbnf) << gbnf.error().message;
    EXPECT_TRUE(accepts(*gbnf, text));
    const Result<Grammar> lark = Grammar::from_lark(rules(": ", "start", "?"));
    ASSERT_TRUE(lark) << lark.error().message;
    EXPECT_TRUE(accepts(*lark, text));
    static_cast<void>(captures(*lark, text));
  });
}

}  // namespace
}  // namespace parlance::small_stack_test
