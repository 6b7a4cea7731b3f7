// The law of capacities, for the logic of schemas: a schema with n
// alternatives, conditions, types or members, whatever n is,
//
//   * gives the verdicts of its keywords, exactly, where the cases below say
//   so;
//   * otherwise a valid text that is refused has a note in report(), or the
//     compile is an error (kTooLarge);
//   * never accepts an invalid text;
//   * never leads to a position where no byte may come and the text cannot end.
//
// It holds wherever the schema stands: below a member, an item, a reference, an
// allOf or anyOf with one element, and beside null.  Alternatives that a
// constant or a type tells apart cost a number of steps that is linear in n.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/work.h"
#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "support/sanitized.h"
#include "support/toy_vocabulary.h"

namespace parlance::alternatives_law_test {
namespace {

std::string join(int n, std::string_view separator,
                 const std::function<std::string(int)>& item) {
  std::string out;
  for (int i = 0; i < n; ++i) {
    if (i > 0) out += separator;
    out += item(i);
  }
  return out;
}

std::string number(int i) { return std::to_string(i); }

// A schema without its braces, so that keywords can be added.
struct Shape {
  std::string name;
  std::function<std::string(int n)> schema;
  std::function<std::vector<std::string>(int n)> valid;
  std::function<std::vector<std::string>(int n)> invalid;
  bool exact = true;  // no note, whatever n is
  int most = 10'000;  // the largest n
};

// n options, each an object whose kind is a constant of its own.
std::string tagged(int n, const std::string& more) {
  return join(n, ",", [&](int i) {
    return R"({"type":"object","properties":{"kind":{"const":"k)" + number(i) +
           R"("},"v":{"type":")" + (i % 2 == 0 ? "string" : "integer") +
           R"("}},"required":["kind"])" + more + "}";
  });
}

std::vector<std::string> tagged_valid(int n) {
  const std::string last = number((n - 1) / 2 * 2);
  return {R"({"kind":"k0","v":"x"})", R"({"v":"x","kind":"k)" + last + R"("})",
          R"({"kind":"k)" + last + R"(","v":"x"})"};
}

std::vector<std::string> tagged_invalid(int n) {
  const std::string last = number((n - 1) / 2 * 2);
  return {R"({"kind":"k)" + last + R"(","v":1})", R"({"v":"x"})",
          R"({"kind":"k)" + number(n) + R"("})"};
}

std::vector<Shape> shapes() {
  std::vector<Shape> out;
  for (const std::string keyword : {"oneOf", "anyOf"}) {
    for (const std::string more : {"", R"(,"additionalProperties":false)"}) {
      out.push_back({keyword + " told apart by a constant" +
                         (more.empty() ? "" : ", closed"),
                     [=](int n) {
                       return '"' + keyword + "\":[" + tagged(n, more) + ']';
                     },
                     tagged_valid, tagged_invalid});
    }
    out.push_back({keyword + " of tuples",
                   [=](int n) {
                     return '"' + keyword + "\":[" +
                            join(n, ",",
                                 [](int i) {
                                   return R"({"type":"array","minItems":2,)"
                                          R"("prefixItems":[{"const":)" +
                                          number(i) +
                                          R"(},{"type":"string"}]})";
                                 }) +
                            ']';
                   },
                   [](int n) {
                     return std::vector<std::string>{
                         "[" + number(n - 1) + R"(,"x"])", R"([0,"x",1])"};
                   },
                   [](int n) {
                     return std::vector<std::string>{
                         "[" + number(n) + R"(,"x"])", "[0,1]", "[0]"};
                   }});
    out.push_back(
        {keyword + " of numbers and a type",
         [=](int n) {
           return '"' + keyword + R"(":[{"type":"string"},)" +
                  join(n, ",",
                       [](int i) {
                         return R"({"const":)" + number(3 * i) + "}";
                       }) +
                  ']';
         },
         [](int n) {
           return std::vector<std::string>{number(3 * n - 3), "0", R"("x")"};
         },
         [](int n) {
           return std::vector<std::string>{number(3 * n), "1", "true"};
         }});
    out.push_back(
        {keyword + " of strings",
         [=](int n) {
           return '"' + keyword + "\":[" +
                  join(n, ",",
                       [](int i) {
                         return R"({"const":"k)" + number(i) + R"("})";
                       }) +
                  ']';
         },
         [](int n) {
           return std::vector<std::string>{R"("k0")",
                                           "\"k" + number(n - 1) + "\""};
         },
         [](int n) {
           return std::vector<std::string>{"\"k" + number(n) + "\"", "0"};
         }});
  }
  // One member names the alternative, as externally tagged enums are written.
  out.push_back({"oneOf told apart by a key",
                 [](int n) {
                   return "\"oneOf\":[" +
                          join(n, ",",
                               [](int i) {
                                 return R"({"type":"object","properties":{"k)" +
                                        number(i) +
                                        R"(":{"type":"integer"}},)"
                                        R"("required":["k)" +
                                        number(i) +
                                        R"("],"additionalProperties":false})";
                               }) +
                          ']';
                 },
                 [](int n) {
                   return std::vector<std::string>{
                       R"({"k0":1})", "{\"k" + number(n - 1) + "\":1}"};
                 },
                 [](int n) {
                   return std::vector<std::string>{"{\"k" + number(n) + "\":1}",
                                                   "{}", R"({"k0":1,"k1":1})",
                                                   R"({"k0":"x"})"};
                 },
                 /*exact=*/true, 513});
  out.push_back({"oneOf told apart further inside",
                 [](int n) {
                   return "\"oneOf\":[" +
                          join(
                              n, ",",
                              [](int i) {
                                return R"({"properties":{"m":{"type":"object",)"
                                       R"("properties":{"kind":{"const":)" +
                                       number(i) +
                                       R"(}},"required":["kind"]}},)"
                                       R"("required":["m"],"type":"object"})";
                              }) +
                          ']';
                 },
                 [](int n) {
                   return std::vector<std::string>{R"({"m":{"kind":)" +
                                                   number(n - 1) + "}}"};
                 },
                 [](int n) {
                   return std::vector<std::string>{
                       R"({"m":{"kind":)" + number(n) + "}}", R"({"m":{}})"};
                 }});
  // An alternative of several values is told apart by what they have in common.
  out.push_back(
      {"oneOf told apart by one of two constants",
       [](int n) {
         const auto kind = [](int i) {
           return R"({"type":"object","properties":{"kind":{"const":)" +
                  number(i) + R"(}},"required":["kind"]})";
         };
         return "\"oneOf\":[" +
                join(n, ",",
                     [&](int i) {
                       return "{\"anyOf\":[" + kind(2 * i) + "," +
                              kind(2 * i + 1) + "]}";
                     }) +
                ']';
       },
       [](int n) {
         return std::vector<std::string>{
             R"({"kind":)" + number(2 * n - 1) + "}", R"({"kind":0,"v":1})"};
       },
       [](int n) {
         return std::vector<std::string>{R"({"kind":)" + number(2 * n) + "}",
                                         "{}"};
       }});
  out.push_back({"oneOf of enums of arrays",
                 [](int n) {
                   return "\"oneOf\":[" +
                          join(n, ",",
                               [](int i) {
                                 return "{\"enum\":[[" + number(2 * i) + "],[" +
                                        number(2 * i + 1) + ",0]]}";
                               }) +
                          ']';
                 },
                 [](int n) {
                   return std::vector<std::string>{
                       "[" + number(2 * n - 1) + ",0]", "[0]"};
                 },
                 [](int n) {
                   return std::vector<std::string>{"[" + number(2 * n) + "]",
                                                   "[]", "[0,0]", "[1]"};
                 }});
  out.push_back(
      {"enum of objects",
       [](int n) {
         return "\"enum\":[" +
                join(n, ",",
                     [](int i) { return R"({"a":)" + number(i) + "}"; }) +
                ']';
       },
       [](int n) {
         return std::vector<std::string>{R"({"a":)" + number(n - 1) + "}"};
       },
       [](int n) {
         return std::vector<std::string>{R"({"a":)" + number(n) + "}", "{}"};
       }});
  out.push_back(
      {"not anyOf of strings",
       [](int n) {
         return R"("type":"string","not":{"anyOf":[)" +
                join(n, ",",
                     [](int i) {
                       return R"({"const":"k)" + number(i) + R"("})";
                     }) +
                "]}";
       },
       [](int n) { return std::vector<std::string>{"\"k" + number(n) + "\""}; },
       [](int n) {
         return std::vector<std::string>{R"("k0")",
                                         "\"k" + number(n - 1) + "\""};
       }});
  out.push_back(
      {"properties",
       [](int n) {
         return R"("type":"object","properties":{)" +
                join(n, ",",
                     [](int i) {
                       return "\"k" + number(i) + R"(":{"type":"integer"})";
                     }) +
                R"(},"required":["k0"],"additionalProperties":false)";
       },
       [](int n) {
         return std::vector<std::string>{"{\"k" + number(n - 1) +
                                         R"(":1,"k0":1})"};
       },
       [](int n) {
         return std::vector<std::string>{"{\"k" + number(n - 1) + "\":1}",
                                         "{\"k0\":1,\"k" + number(n) + "\":1}"};
       }});
  out.push_back(
      {"dependentSchemas",
       [](int n) {
         return R"("type":"object","dependentSchemas":{)" +
                join(n, ",",
                     [](int i) {
                       return "\"k" + number(i) + R"(":{"required":["r)" +
                              number(i) + R"("],"minProperties":3})";
                     }) +
                "}";
       },
       [](int n) {
         const std::string last = number(n - 1);
         return std::vector<std::string>{
             "{\"k" + last + "\":1,\"r" + last + "\":1,\"z\":1}", "{}"};
       },
       [](int n) {
         const std::string last = number(n - 1);
         return std::vector<std::string>{
             "{\"k" + last + "\":1}",
             "{\"k" + last + "\":1,\"r" + last + "\":1}"};
       },
       /*exact=*/false, 257});
  out.push_back(
      {"allOf of conditions",
       [](int n) {
         return R"("type":"object","required":["kind"],)"
                R"("properties":{"kind":{"type":"string"}},"allOf":[)" +
                join(n, ",",
                     [](int i) {
                       return R"({"if":{"properties":{"kind":{"const":"k)" +
                              number(i) +
                              R"("}}},"then":{"properties":{"v":{"type":")" +
                              (i % 2 == 0 ? "string" : "integer") + R"("}}}})";
                     }) +
                ']';
       },
       tagged_valid,
       [](int n) {
         return std::vector<std::string>{tagged_invalid(n)[0], R"({"v":"x"})"};
       },
       /*exact=*/false, 513});
  out.push_back({"oneOf of required members",
                 [](int n) {
                   return R"("type":"object","oneOf":[)" +
                          join(n, ",",
                               [](int i) {
                                 return R"({"required":["k)" + number(i) +
                                        R"("]})";
                               }) +
                          ']';
                 },
                 [](int n) {
                   return std::vector<std::string>{
                       R"({"k0":1})", "{\"k" + number(n - 1) + "\":1}"};
                 },
                 [](int) {
                   return std::vector<std::string>{R"({"k0":1,"k1":1})", "{}"};
                 },
                 /*exact=*/false, 513});
  return out;
}

struct Position {
  std::string name;
  std::function<std::string(const std::string& schema)> schema;
  std::string before;
  std::string after;
};

std::vector<Position> positions() {
  const auto inside = [](std::string before, std::string after) {
    return [=](const std::string& schema) {
      return before + "{" + schema + "}" + after;
    };
  };
  return {
      {"alone", inside("", ""), "", ""},
      {"below a member", inside(R"({"type":"object","properties":{"a":)", "}}"),
       R"({"a":)", "}"},
      {"below items", inside(R"({"type":"array","items":)", "}"), "[", "]"},
      {"below a reference",
       inside(R"({"$ref":"#/$defs/a","$defs":{"a":)", "}}"), "", ""},
      {"below allOf", inside(R"({"allOf":[)", "]}"), "", ""},
      {"below anyOf", inside(R"({"anyOf":[)", "]}"), "", ""},
      {"below oneOf beside null", inside(R"({"oneOf":[{"type":"null"},)", "]}"),
       "", ""},
  };
}

// Reads a text under masks: each of its bytes is allowed, and wherever it is
// not complete something is.
void expect_masks(const Grammar& grammar, const std::string& text) {
  static const Vocabulary vocabulary = testing::toy_vocabulary(1, 0);
  const Result<Compiler> compiler = Compiler::create(vocabulary);
  const Result<Constraint> constraint = compiler->compile(grammar);
  ASSERT_TRUE(constraint) << constraint.error().message;
  Matcher matcher = constraint->matcher();
  std::vector<std::int32_t> row(matcher.mask_words());
  for (std::size_t i = 0; i < text.size(); ++i) {
    matcher.fill_bitmask(row);
    ASSERT_FALSE(matcher.error()) << matcher.error()->message;
    ASSERT_TRUE(std::ranges::any_of(row, [](auto word) { return word != 0; }))
        << "nothing may follow " << text.substr(0, i);
    ASSERT_TRUE(matcher.accept_bytes(text.substr(i, 1)))
        << "after " << text.substr(0, i);
  }
  EXPECT_TRUE(matcher.can_end());
}

bool decides(const Grammar& grammar, const std::string& text) {
  GrammarReader reader(grammar);
  reader.feed(text);
  reader.can_end();
  return !reader.error();
}

void expect_law(const Shape& shape, const Position& position, int n,
                bool masks) {
  SCOPED_TRACE(shape.name + " " + position.name + ", n = " + number(n));
  const Result<Grammar> grammar =
      Grammar::from_json_schema(position.schema(shape.schema(n)));
  if (!grammar) {
    EXPECT_FALSE(shape.exact) << grammar.error().message;
    EXPECT_EQ(grammar.error().code, ErrorCode::kTooLarge)
        << grammar.error().message;
    return;
  }
  if (shape.exact) {
    EXPECT_TRUE(grammar->report().empty()) << grammar->report()[0].message;
  }
  for (const std::string& text : shape.valid(n)) {
    const std::string whole = position.before + text + position.after;
    const std::optional<Rejection> why = grammar->explain(whole);
    if (why && (shape.exact || decides(*grammar, whole))) {
      EXPECT_FALSE(shape.exact) << whole << " at " << why->offset;
      EXPECT_FALSE(grammar->report().empty()) << whole;
    }
    if (!why && masks) expect_masks(*grammar, whole);
  }
  for (const std::string& text : shape.invalid(n)) {
    const std::string whole = position.before + text + position.after;
    EXPECT_FALSE(grammar->accepts(whole)) << whole;
  }
}

TEST(AlternativesLaw, AnyNumberInAnyPosition) {
  for (const Shape& shape : shapes()) {
    for (const Position& position : positions()) {
      for (const int n : {65, 129}) {
        if (testing::kSanitized && n > 65) continue;
        expect_law(shape, position, n, n == 65);
      }
    }
  }
}

TEST(AlternativesLaw, HundredsAreRight) {
  for (const Shape& shape : shapes()) {
    for (const int n : {257, 513}) {
      if (testing::kSanitized && n > 257) continue;
      if (n <= shape.most) expect_law(shape, positions()[0], n, false);
      if (n <= shape.most) expect_law(shape, positions()[1], n, false);
    }
  }
}

TEST(AlternativesLaw, ThousandsAreRight) {
  for (const Shape& shape : shapes()) {
    if (shape.most >= 10'000) expect_law(shape, positions()[2], 10'000, false);
  }
}

TEST(AlternativesLaw, ThousandsInAnyPositionLongRun) {
  for (const Shape& shape : shapes()) {
    for (const Position& position : positions()) {
      for (const int n : {513, 10'000}) {
        if (n <= shape.most) expect_law(shape, position, n, false);
      }
    }
  }
}

// The steps of a compile and of reading a text.
std::uint64_t steps(const std::string& schema, const std::string& text) {
  base::Work work(std::uint64_t{1} << 40);
  const Result<Grammar> grammar = Grammar::from_json_schema(schema);
  EXPECT_TRUE(grammar && grammar->accepts(text));
  return work.spent();
}

TEST(AlternativesLaw, AlternativesThatAreToldApartAreLinear) {
  if (testing::kSanitized) GTEST_SKIP() << "work is the same without";
  for (const Shape& shape : shapes()) {
    if (!shape.exact || shape.most < 10'000) continue;
    for (const Position& position : positions()) {
      SCOPED_TRACE(shape.name + " " + position.name);
      const auto of = [&](int n) {
        return steps(position.schema(shape.schema(n)),
                     position.before + shape.valid(n)[0] + position.after);
      };
      const std::uint64_t few = of(250);
      EXPECT_LE(of(1000), 5 * few + 20'000) << few;
    }
  }
}

}  // namespace
}  // namespace parlance::alternatives_law_test
