// Arrays whose items have to differ, to be counted and to fit a tuple: which
// texts are accepted, which beginnings lead nowhere, and what is said where
// arrays are left out.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "json_recogniser/json_recogniser.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "schema/document.h"
#include "schema/validate.h"
#include "support/sanitized.h"

namespace parlance::arrays_test {
namespace {

using json_recogniser::JsonRecogniser;

struct Vector {
  std::string schema;
  std::vector<std::string> valid;
  std::vector<std::string> dead;  // no valid array begins so
};

std::unique_ptr<JsonRecogniser> compiled(std::string_view schema,
                                         bool lenient = false) {
  JsonSchemaOptions options;
  options.lenient = lenient;
  Result<std::unique_ptr<JsonRecogniser>> made =
      JsonRecogniser::create(*schema::load(*json::parse(schema)), options);
  EXPECT_TRUE(made) << schema << "\n" << (made ? "" : made.error().message);
  return made ? *std::move(made) : nullptr;
}

recogniser::Configuration after(JsonRecogniser& machine,
                                std::string_view text) {
  recogniser::Configuration config = machine.start();
  for (const char c : text) {
    config = machine.step(config, static_cast<std::uint8_t>(c));
  }
  return config;
}

std::string contains_at_least(int number) {
  std::string all;
  for (int i = 0; i < number; ++i) {
    all += (i > 0 ? "," : "") +
           (R"({"contains":{"type":"integer","minimum":)" + std::to_string(i)) +
           "}}";
  }
  return R"({"type":"array","maxItems":1,"allOf":[)" + all + "]}";
}

std::string constants_at_most_once(int number) {
  std::string all;
  for (int i = 0; i < number; ++i) {
    all += R"({"contains":{"const":)" + std::to_string(i) +
           R"(},"maxContains":1},)";
  }
  return R"({"type":"array","maxItems":)" + std::to_string(number + 1) +
         R"(,"allOf":[)" + all + R"({"contains":{"type":"string"}}]})";
}

TEST(Arrays, CanBeCompleted) {
  const std::vector<Vector> vectors = {
      // One item differs from all others, whatever it is.
      {R"({"type":"array","items":{"type":"object"},"minItems":1,
           "maxItems":1,"uniqueItems":true})",
       {"[{}]", R"([{"a":1}])"},
       {"[]", "[1"}},
      {R"({"type":"object","properties":{"a":{"type":"array",
           "items":{"type":"object"},"minItems":1,"maxItems":1,
           "uniqueItems":true}}})",
       {R"({"a":[{}]})", "{}"},
       {R"({"a":[{},)"}},
      // Tuples.
      {R"({"type":"array","prefixItems":[{"type":"string"},
           {"type":"integer"}],"items":false,"uniqueItems":true,
           "minItems":2})",
       {R"(["a",1])"},
       {R"(["a"])", R"(["a",1,)"}},
      // The last two need 1 and 2, so the first cannot have them.
      {R"({"type":"array","prefixItems":[{"type":"integer"},{"enum":[1,2]},
           {"enum":[1,2]}],"items":false,"uniqueItems":true,"minItems":3})",
       {"[3,1,2]", "[0,2,1]", "[12,2,1]"},
       {"[1,", "[2.0", "[3,1,1", "[1]"}},
      {R"({"type":"array","prefixItems":[{"type":"string"},{"const":"a"}],
           "uniqueItems":true,"minItems":2,"items":{"type":"string"}})",
       {R"(["b","a"])", R"(["","a"])", R"(["aa","a","b"])"},
       {R"(["a")", R"(["\u0061")"}},
      // Without the second item the first may have its value.
      {R"({"type":"array","prefixItems":[{"enum":[1,2]},{"const":1}],
           "items":{"type":"integer"},"uniqueItems":true})",
       {"[1]", "[2,1]", "[2,1,3]"},
       {"[1,"}},
      // What contains needs.
      {R"({"type":"array","items":{"enum":[1,2,3]},"maxItems":2,
           "uniqueItems":true,"contains":{"enum":[1,2]},"minContains":2})",
       {"[1,2]", "[2,1]"},
       {"[3", "[1,3", "[1]"}},
      {R"({"type":"array","items":{"type":["boolean","null"]},"minItems":3,
           "uniqueItems":true,"allOf":[{"contains":{"const":null}}]})",
       {"[null,true,false]", "[true,false,null]"},
       {"[true,true", "[true,null]"}},
      // Counts of six and seven.
      {contains_at_least(6), {"[5]", "[6]"}, {"[4]", "[-", "[5,"}},
      {contains_at_least(7), {"[6]"}, {"[5]"}},
      {constants_at_most_once(5),
       {R"([0,1,2,3,4,"a"])", R"(["a",4,3,2,1,0])"},
       {R"([0,1,2,3,4,0)", R"(["a","b")"}},
      // Numbers beyond any double are compared by value.
      {R"({"type":"array","items":{"type":"number"},"uniqueItems":true})",
       {"[1e2000000000,1e3000000000]", "[10e2000000000,10e2000000001]"},
       {"[1,1.0]", "[1e2000000000,10e1999999999]"}},
      // Numbers that only an exponent completes, and all that do are used.
      {R"({"type":"array","items":{"enum":[1e-05,2.5e-07,3]},
           "uniqueItems":true})",
       {"[1e-05,2.5e-07]", "[2.5e-07,3,1e-05]"},
       {"[2.5e-07,2", "[1e-05,3,1"}},
      {R"({"type":"array","items":{"type":"number","minimum":1e50,
           "maximum":2e50},"uniqueItems":true})",
       {"[1e50,1.5e50]", "[1.00e50,1.5E50]"},
       {"[1e50,1e"}},
      // Items that are values of the array's own schema, and how many different
      // ones there are, whichever option is asked first.
      {R"({"$ref":"#/$defs/c","$defs":{"c":{"anyOf":[
           {"type":"array","items":{"$ref":"#/$defs/c"},"minItems":2,
            "uniqueItems":true},
           {"type":"array","items":{"$ref":"#/$defs/c"},"maxItems":1}]}}})",
       {"[]", "[[]]", "[[],[[]]]", "[[[],[[]]],[]]"},
       {"[[],[]]", "[[[]],[],[]"}},
      {R"({"$ref":"#/$defs/c","$defs":{"c":{"anyOf":[
           {"type":"array","items":{"$ref":"#/$defs/c"},"maxItems":1},
           {"type":"array","items":{"$ref":"#/$defs/c"},"minItems":2,
            "uniqueItems":true}]}}})",
       {"[]", "[[]]", "[[],[[]]]", "[[[],[[]]],[]]"},
       {"[[],[]]", "[[[]],[],[]"}},
      // Here there is one, so the first option has no values.
      {R"({"$ref":"#/$defs/c","$defs":{"c":{"anyOf":[
           {"type":"array","items":{"$ref":"#/$defs/c"},"minItems":2,
            "uniqueItems":true},
           {"type":"array","maxItems":0}]}}})",
       {"[]"},
       {"[["}},
      {R"({"$ref":"#/$defs/a","$defs":{
           "a":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/b"},
             "minItems":3,"uniqueItems":true},{"const":0}]},
           "b":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/a"},
             "minItems":1,"maxItems":2,"uniqueItems":true},
             {"type":"object","properties":{"k":{"$ref":"#/$defs/a"}},
              "additionalProperties":false},{"const":1}]}}})",
       {"0", R"([1,[0],{}])", R"([{"k":0},{},[[1,[0],{}],0]])"},
       {"1", "[1,{},{}"}},
  };
  for (const Vector& one : vectors) {
    SCOPED_TRACE(one.schema);
    const auto machine = compiled(one.schema);
    ASSERT_NE(machine, nullptr);
    for (const std::string& text : one.valid) {
      EXPECT_TRUE(machine->can_end(after(*machine, text))) << text;
    }
    for (const std::string& text : one.dead) {
      EXPECT_TRUE(after(*machine, text).dead()) << text;
    }
    EXPECT_TRUE(machine->notes().empty());
  }
}

TEST(Arrays, HaveNoAnswer) {
  for (const std::string_view schema : {
           R"({"type":"array","items":{"type":"integer","minimum":0,
               "maximum":1000000,"multipleOf":400000},"minItems":4,
               "uniqueItems":true})",
           R"({"type":"array","prefixItems":[{"const":1},{"const":1}],
               "items":{"type":"integer"},"minItems":2,"uniqueItems":true})",
           R"({"type":"array","items":{"enum":[1,1.0]},"minItems":2,
               "uniqueItems":true})",
           R"({"type":"array","items":{"type":"number","minimum":0.5,
               "maximum":0.5},"minItems":2,"uniqueItems":true})",
           R"({"type":"array","items":{"type":"integer","minimum":1,
               "maximum":12000},"minItems":12001,"uniqueItems":true})",
           R"({"type":"array","items":{"type":"integer"},"uniqueItems":true,
               "contains":{"const":1},"minContains":2})",
       }) {
    const Result<Grammar> made =
        Grammar::from_json_schema(*json::parse(schema));
    ASSERT_FALSE(made) << schema;
    EXPECT_EQ(made.error().code, ErrorCode::kUnsatisfiable) << schema;
  }
}

// A large number of different values is no problem as such.
TEST(Arrays, MayNeedManyValues) {
  const auto machine =
      compiled(R"({"type":"array","items":{"type":"integer","minimum":0,
                   "maximum":20000000},"minItems":10000000,
                   "uniqueItems":true})");
  ASSERT_NE(machine, nullptr);
  EXPECT_FALSE(after(*machine, "[7,8,").dead());
  EXPECT_TRUE(after(*machine, "[7,7]").dead());
}

// Many rules that do not meet in one item need no search.
TEST(Arrays, ManyContainsAreDecided) {
  for (const bool limited : {false, true}) {
    std::string all;
    std::string text;
    for (int i = 0; i < 65; ++i) {
      const std::string number = std::to_string(i);
      all +=
          (i > 0 ? R"(,{"contains":{"const":)" : R"({"contains":{"const":)") +
          number + (limited ? R"(},"maxContains":1})" : "}}");
      text += (i > 0 ? "," : "[") + number;
    }
    const Result<Grammar> made = Grammar::from_json_schema(
        *json::parse(R"({"type":"array","allOf":[)" + all + "]}"));
    ASSERT_TRUE(made);
    EXPECT_TRUE(made->accepts(text + "]"));
    EXPECT_FALSE(made->accepts("[0,1,2]"));
    EXPECT_EQ(made->accepts(text + ",0]"), !limited);
  }
}

// Most values of a tuple are needed later on, which one matching tells, not a
// search for each value.
TEST(Arrays, ManyValuesMayBeNeeded) {
  std::string all;
  std::string text;
  for (int i = 0; i < 500; ++i) {
    all += (i > 0 ? "," : "") + (R"({"enum":[)" + std::to_string(i) + ",0]}");
    text += (i > 0 ? "," : "") + std::to_string(i);
  }
  const auto machine =
      compiled(R"({"type":"array","prefixItems":[)" + all +
               R"(],"items":false,"minItems":500,"uniqueItems":true})");
  ASSERT_NE(machine, nullptr);
  EXPECT_TRUE(machine->can_end(after(*machine, '[' + text + ']')));
  EXPECT_TRUE(after(*machine, "[0,0").dead());
}

// What cannot be decided is left out and said.
TEST(Arrays, TooManyValuesAreSaid) {
  const Result<Grammar> made = Grammar::from_json_schema(*json::parse(
      R"({"type":"array","items":{"type":"string","pattern":"^[a-z]{4}$"},
          "minItems":30000,"uniqueItems":true})"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kTooLarge);
  EXPECT_NE(made.error().message.find("uniqueItems"), std::string::npos);
}

// Of the ways to choose what is inside an item, only as many are followed as
// are needed.
TEST(Arrays, ItemsOfManyPartsAreListed) {
  constexpr const char* kNumber =
      R"({"type":"integer","minimum":1,"maximum":19000})";
  std::string properties;
  std::string keys;
  for (int i = 0; i < 30; ++i) {
    const std::string comma = i > 0 ? "," : "";
    const std::string key = "\"k" + std::to_string(i) + '"';
    keys += comma + key;
    properties += comma + key + ':' + kNumber;
  }
  for (const std::string& items :
       {R"({"type":"array","minItems":3000,"maxItems":3000,"items":)" +
            std::string(kNumber) + '}',
        R"({"type":"object","additionalProperties":false,"required":[)" + keys +
            R"(],"properties":{)" + properties + "}}"}) {
    EXPECT_NE(compiled(R"({"type":"array","minItems":2,"uniqueItems":true,)"
                       R"("items":)" +
                       items + '}'),
              nullptr);
  }
}

// Values inside values are followed to a depth, not to the end of the stack.
TEST(Arrays, ItemsMayBeDeep) {
  constexpr int kLevels = 30'000;
  std::string levels;
  for (int i = 0; i < kLevels; ++i) {
    levels += "\"" + std::to_string(i) +
              R"(":{"type":"object","additionalProperties":false,)"
              R"("properties":{"a":{"$ref":"#/$defs/)" +
              std::to_string(i + 1) + "\"}}},";
  }
  const auto machine = compiled(
      R"({"type":"array","minItems":2,"uniqueItems":true,)"
      R"("items":{"$ref":"#/$defs/0"},"$defs":{)" +
      levels + '"' + std::to_string(kLevels) + R"(":{"type":"boolean"}}})");
  ASSERT_NE(machine, nullptr);
  EXPECT_TRUE(machine->can_end(after(*machine, R"([{},{"a":{}}])")));
}

// `lenient` has no keyword to ignore here: items may be anything.
TEST(Arrays, ObjectsAndArraysDiffer) {
  for (const bool lenient : {false, true}) {
    const auto machine = compiled(
        R"({"type":"array","items":{"type":["object","boolean"]},"minItems":4,
            "uniqueItems":true})",
        lenient);
    ASSERT_NE(machine, nullptr);
    EXPECT_TRUE(machine->notes().empty());
    EXPECT_TRUE(
        machine->can_end(after(*machine, R"([{},true,{"a":[{}]},{"a":[]}])")));
    EXPECT_TRUE(after(*machine, R"([{},{})").dead());
    EXPECT_FALSE(after(*machine, R"([{},{"a":1,"b":{}},{"b":{},"a":1)").dead());
    EXPECT_TRUE(after(*machine, R"([{},{"a":1,"b":{}},{"b":{},"a":1})").dead());
  }
}

// Random walks, in which each byte that may come is one that leads to an end: a
// walk that meets no byte, or that does not end, is a dead end.
TEST(Arrays, OfDifferentItemsEnd) {
  const std::vector<std::string> items = {
      R"({"type":"integer","minimum":0,"maximum":11})",
      R"({"type":"integer","minimum":-3,"maximum":3})",
      R"({"type":"integer"})",
      R"({"type":"number"})",
      R"({"type":"number","multipleOf":0.5,"minimum":-1,"maximum":2})",
      R"({"type":"number","multipleOf":10000000,"minimum":1,
          "maximum":30000000})",
      R"({"type":"string","pattern":"^[ab]{1,2}$"})",
      R"({"type":"string","pattern":"^[ab]*$"})",
      R"({"type":"string","pattern":"^[\n\t\u00e9]$"})",
      R"({"type":"string","pattern":"^a?$"})",
      R"({"type":"string","maxLength":1})",
      R"({"type":"string","pattern":"^[ab]*$","maxLength":2})",
      R"({"anyOf":[{"type":"string","pattern":"^[ab]{1,2}$"},
          {"type":"integer","minimum":0,"maximum":3}]})",
      R"({"enum":["a","ab",1,10,100,true,null]})",
      R"({"enum":[0.00001,0.000012,1e50,12,3]})",
  };
  std::mt19937 random(1);
  for (const std::string& item : items) {
    for (const JsonSpelling spelling :
         {JsonSpelling::kCanonical, JsonSpelling::kAny}) {
      const std::string schema =
          R"({"type":"array","uniqueItems":true,"minItems":2,"items":)" + item +
          '}';
      SCOPED_TRACE(schema);
      JsonSchemaOptions options;
      options.spelling = spelling;
      options.layout.max_white_space = 0;
      Result<schema::Document> document = schema::load(*json::parse(schema));
      schema::Validator validator(*document);
      Result<std::unique_ptr<JsonRecogniser>> made =
          JsonRecogniser::create(*schema::load(*json::parse(schema)), options);
      ASSERT_TRUE(made);
      JsonRecogniser& machine = **made;
      for (std::uint32_t walk = 0; walk < testing::cases(25); ++walk) {
        recogniser::Configuration config = machine.start();
        std::string text;
        // Later on, what ends an item or the array is preferred.
        while (text.size() < 400 && !machine.can_end(config)) {
          std::vector<char> may;
          std::vector<char> ends;
          for (int byte = 0; byte < 256; ++byte) {
            const char c = static_cast<char>(byte);
            if (machine.step(config, static_cast<std::uint8_t>(byte)).dead()) {
              continue;
            }
            may.push_back(c);
            if (c == '"' || c == ',' || (c == ']' && text.size() > 60)) {
              ends.push_back(c);
            }
          }
          ASSERT_FALSE(may.empty()) << text;
          const bool end = !ends.empty() && random() % 8 < 5;
          const std::vector<char>& from = end ? ends : may;
          const char c = from[random() % from.size()];
          text += c;
          config = machine.step(config, static_cast<std::uint8_t>(c));
        }
        ASSERT_TRUE(machine.can_end(config)) << text;
        const Result<json::Value> value = json::parse(text);
        ASSERT_TRUE(value) << text;
        // The validator compares doubles.
        if (text.find_first_of("eE") == std::string::npos) {
          ASSERT_TRUE(validator.valid(*value)) << text;
        }
      }
    }
  }
}

// What may come does not depend on whether a mask was asked for: counts far
// from a bound have one representative, whatever the bound.
TEST(Arrays, BoundsBeyond32BitsAreBounds) {
  for (const std::string max :
       {"4294967377", "4294967296", "8589934592", "18446744073709551615"}) {
    for (const bool asked : {false, true}) {
      const auto machine =
          compiled(R"({"type":"array","items":{"type":"boolean"},
                       "minItems":2,"maxItems":)" +
                   max + "}");
      ASSERT_NE(machine, nullptr);
      std::string text = "[true";
      for (int i = 0; i < 300; ++i) {
        const recogniser::Configuration config = after(*machine, text);
        if (asked) machine->mask_key(config, 255);
        EXPECT_EQ(machine->step(config, ']').dead(), i == 0) << max << text;
        EXPECT_FALSE(machine->step(config, ',').dead()) << max << text;
        const recogniser::Configuration same = machine->mask_key(config, 255);
        EXPECT_EQ(machine->step(same, ']').dead(), i == 0) << max << text;
        text += ",true";
      }
    }
  }
}

}  // namespace
}  // namespace parlance::arrays_test
