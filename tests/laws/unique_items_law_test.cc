// The law of uniqueItems for arrays and objects.
//
// Over a small world of nested values, every array of up to three items is
// tried, with members in every order:
//
//   an array is accepted exactly if a plain validator finds it valid;
//   a beginning is alive exactly if it begins a valid array;
//   a schema is unsatisfiable only if no array is valid.
//
// Over worlds without end, arrays of a few values in different spellings are
// accepted exactly if they are valid, and random walks end.
//
// PARLANCE_SEED=<n> runs the schema of one seed only.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "json_recogniser/json_recogniser.h"
#include "parlance/json.h"
#include "schema/document.h"
#include "schema/validate.h"
#include "support/sanitized.h"

namespace parlance::unique_items_law_test {
namespace {

using json_recogniser::JsonRecogniser;
using recogniser::Configuration;

std::unique_ptr<JsonRecogniser> compiled(const std::string& schema,
                                         std::optional<Error>* error = nullptr,
                                         JsonSchemaOptions options = {}) {
  options.layout.max_white_space = 0;
  Result<std::unique_ptr<JsonRecogniser>> made =
      JsonRecogniser::create(*schema::load(*json::parse(schema)), options);
  if (made) return *std::move(made);
  if (error != nullptr) *error = made.error();
  return nullptr;
}

bool narrowed(JsonRecogniser& machine) {
  for (const auto& notes : {machine.notes(), machine.survey()}) {
    for (const GrammarNote& note : notes) {
      if (note.kind == GrammarNote::Kind::kNarrowed) return true;
    }
  }
  return false;
}

// --- A small world. ----------------------------------------------------------

constexpr std::size_t kMostItems = 3;

// Objects with members a, b, c of 0 and 1, arrays of at most two, and 0 and 1.
std::vector<std::string> world() {
  std::vector<std::string> values = {"0", "1", "[]", "{}"};
  for (const char* one : {"0", "1", "[0]", "{}"}) {
    values.push_back("[" + std::string(one) + "]");
    values.push_back(R"({"a":)" + std::string(one) + "}");
  }
  for (const char* one : {"0", "1"}) {
    values.push_back(R"({"b":)" + std::string(one) + "}");
    for (const char* two : {"0", "1"}) {
      const std::string x = one, y = two;
      values.push_back("[" + x + "," + y + "]");
      values.push_back(R"({"a":)" + x + R"(,"b":)" + y + "}");
      values.push_back(R"({"b":)" + y + R"(,"a":)" + x + "}");
    }
  }
  return values;
}

class RandomSchemas {
 public:
  explicit RandomSchemas(std::uint32_t seed) : random_(seed) {}

  // Only arrays of values of the world satisfy it.
  std::string schema() {
    return R"({"$defs":{"leaf":{"enum":[0,1,[0],{}]},"bit":{"enum":[0,1]}},
      "type":"array","maxItems":)" +
           std::to_string(2 + below(2)) + R"(,"allOf":[{"items":{"anyOf":[
      {"enum":[0,1]},
      {"type":"array","items":{"$ref":"#/$defs/leaf"},"maxItems":1},
      {"type":"array","items":{"$ref":"#/$defs/bit"},"maxItems":2},
      {"type":"object","properties":{"a":{"$ref":"#/$defs/leaf"}},
       "additionalProperties":false},
      {"type":"object","properties":{"a":{"$ref":"#/$defs/bit"},
       "b":{"$ref":"#/$defs/bit"}},"additionalProperties":false}]}},
      {"items":)" +
           item(2) + "," + rules() + "}]}";
  }

 private:
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(random_() % n);
  }

  std::string rules() {
    std::string out = R"("uniqueItems":true)";
    if (below(2) == 0) out += R"(,"minItems":)" + std::to_string(below(4));
    if (below(6) == 0) {
      out += R"(,"prefixItems":[)" + item(1) + "," + item(1) + "]";
    }
    if (below(6) == 0) {
      out += R"(,"contains":)" + item(1);
      if (below(2) == 0) out += R"(,"maxContains":1)";
    }
    if (below(8) == 0) {
      out = R"("anyOf":[{)" + out + R"(},{"maxItems":2,"items":)" + item(1) +
            "}]";
    }
    return out;
  }

  std::string item(int depth) {
    if (depth > 0 && below(3) == 0) {
      const char* const of[] = {"anyOf", "oneOf", "allOf", "anyOf"};
      return std::string(R"({")") + of[below(4)] + R"(":[)" + item(depth - 1) +
             "," + item(depth - 1) + "]}";
    }
    switch (below(12)) {
      case 0:
        return R"({"type":"object","required":["a"]})";
      case 1:
        return R"({"type":"object","required":["a","b"]})";
      case 2:
        return R"({"type":"object"})";
      case 3:
        return R"({"type":"object","properties":{"a":{"const":1}}})";
      case 4:
        return R"({"type":"object","properties":{"a":{"const":0}},
                   "required":["a"]})";
      case 5:
        return R"({"type":"array"})";
      case 6:
        return R"({"type":"array","minItems":1,"uniqueItems":true})";
      case 7:
        return R"({"type":"array","items":{"const":1}})";
      case 8:
        return R"({"enum":[{"a":0},{"a":1},{"b":1,"a":0},[1],0]})";
      case 9:
        return R"({"dependentRequired":{"b":["a"]}})";
      case 10:
        return R"({"maxProperties":1,"maxItems":1})";
      default:
        return "true";
    }
  }

  std::mt19937 random_;
};

class Arrays {
 public:
  Arrays(const schema::Document& document, JsonRecogniser* machine)
      : validator_(document), machine_(machine) {}

  void try_all(const std::string& begun, std::size_t items,
               Configuration config) {
    static const std::vector<std::string> values = world();
    const Configuration closed = read(begun, "]", config);
    const std::string text = begun + "]";
    const bool valid = validator_.valid(*json::parse(text));
    const bool accepted = machine_ != nullptr && machine_->can_end(closed);
    valid_ += valid;
    if (accepted != valid && wrong_.empty()) {
      wrong_ = (valid ? "not accepted: " : "not valid: ") + text;
    }
    if (valid) {
      for (std::size_t i = 0; i <= text.size(); ++i) {
        of_valid_.insert(text.substr(0, i));
      }
    }
    if (items == kMostItems) return;
    for (const std::string& value : values) {
      const std::string more = (items > 0 ? "," : "") + value;
      try_all(begun + more, items + 1, read(begun, more, config));
    }
  }

  void judge(bool narrow) {
    if (!wrong_.empty() && !(narrow && wrong_.starts_with("not acc"))) {
      ADD_FAILURE() << wrong_;
    }
    if (narrow) return;
    for (const std::string& alive : alive_) {
      if (of_valid_.contains(alive)) continue;
      ADD_FAILURE() << "leads nowhere: " << alive;
      return;
    }
  }
  std::size_t valid() const { return valid_; }

 private:
  Configuration read(std::string text, const std::string& more,
                     Configuration config) {
    for (const char c : more) {
      if (config.dead()) return config;
      config = machine_->step(config, static_cast<std::uint8_t>(c));
      text += c;
      if (!config.dead()) alive_.insert(text);
    }
    return config;
  }

  schema::Validator validator_;
  JsonRecogniser* machine_;
  std::size_t valid_ = 0;
  std::set<std::string> of_valid_, alive_;
  std::string wrong_;
};

void check(std::uint32_t first, std::uint32_t last) {
  if (const char* one = std::getenv("PARLANCE_SEED")) {
    first = last = static_cast<std::uint32_t>(std::strtoul(one, nullptr, 10));
  }
  std::size_t exact = 0, narrow = 0, unsatisfiable = 0, refused = 0;
  for (std::uint32_t seed = first; seed <= last; ++seed) {
    const std::string schema = RandomSchemas(seed).schema();
    SCOPED_TRACE("PARLANCE_SEED=" + std::to_string(seed) + ", schema " +
                 schema);
    const Result<schema::Document> document =
        schema::load(*json::parse(schema));
    ASSERT_TRUE(document);
    std::optional<Error> error;
    const std::unique_ptr<JsonRecogniser> machine = compiled(schema, &error);
    if (machine == nullptr && error->code != ErrorCode::kUnsatisfiable) {
      ++refused;
      continue;
    }
    Arrays all(*document, machine.get());
    const Configuration start = machine == nullptr
                                    ? Configuration{}
                                    : machine->step(machine->start(), '[');
    all.try_all("[", 0, start);
    if (machine == nullptr) {
      EXPECT_EQ(all.valid(), 0U) << "is not unsatisfiable";
      ++unsatisfiable;
      continue;
    }
    const bool is_narrow = narrowed(*machine);
    all.judge(is_narrow);
    ++(is_narrow ? narrow : exact);
  }
  std::cout << "schemas: exact " << exact << ", narrowed " << narrow
            << ", unsatisfiable " << unsatisfiable << ", refused " << refused
            << "\n";
  if (first == last) return;
  EXPECT_GT(exact, 3 * (narrow + refused));
}

TEST(UniqueItemsLaw, EveryBeginningCanBeCompleted) {
  check(1, static_cast<std::uint32_t>(testing::cases(150)));
}
TEST(UniqueItemsLaw, EveryBeginningCanBeCompletedLongRun) { check(1001, 9000); }

// --- Worlds without end. -----------------------------------------------------

// Items that can be any of infinitely many values, or of more than the small
// world has; with few ways to differ at the end of each.
const std::vector<std::string> kItems = {
    R"({"type":"object"})",
    R"({"type":"array"})",
    "true",
    R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],
        "additionalProperties":false})",
    R"({"type":"object","properties":{"a":{"type":"string","maxLength":1},
        "b":{"type":"integer"}},"required":["a","b"],
        "additionalProperties":false})",
    R"({"type":"object","properties":{"a":{"type":"number"},
        "b":{"enum":["x",1,null,true]}},"required":["a","b"],
        "additionalProperties":false})",
    R"({"type":"object","properties":{"a":{"type":"boolean"},
        "b":{"type":"boolean"},"c":{"type":"boolean"}},
        "additionalProperties":false})",
    R"({"type":"object","patternProperties":{"^x":{"type":"boolean"}},
        "properties":{"a":{"type":"integer","minimum":0,"maximum":3}},
        "additionalProperties":false,"required":["a"]})",
    R"({"type":"array","items":{"type":"boolean"},"maxItems":2})",
    R"({"type":"array","items":{"type":"boolean"},"minItems":1})",
    R"({"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}],
        "items":false,"minItems":2})",
    R"({"type":"array","uniqueItems":true,"items":{"type":"array",
        "uniqueItems":true,"items":{"enum":[0,1]}}})",
    R"({"type":"object","properties":{"a":{"type":"object","properties":{
        "b":{"type":"integer","minimum":0,"maximum":1}},"required":["b"],
        "additionalProperties":false},"c":{"type":"array","items":{
        "type":"null"},"maxItems":2}},"required":["a"],
        "additionalProperties":false})",
    R"({"oneOf":[{"type":"object","properties":{"k":{"const":"A"},
        "v":{"type":"boolean"}},"required":["k","v"],
        "additionalProperties":false},{"type":"object","properties":{
        "k":{"const":"B"},"w":{"type":"string","pattern":"^[ab]$"}},
        "required":["k","w"],"additionalProperties":false}]})",
    R"({"type":"object","properties":{"n":{"type":"number","minimum":0,
        "maximum":1,"multipleOf":0.5}},"required":["n"],"minProperties":1,
        "maxProperties":1})",
    R"({"type":"object","additionalProperties":{"type":"null"},
        "maxProperties":2,"propertyNames":{"pattern":"^[ab]$"}})",
    R"({"type":"object","patternProperties":{"^[abcx]{3}$":{"const":1}},
        "additionalProperties":false,"maxProperties":1})",
    R"({"anyOf":[{"type":"string","pattern":"^[ab]$"},{"type":"object",
        "properties":{"a":{"type":"boolean"}},"additionalProperties":false}]})",
    R"({"enum":[{"a":1,"b":2},{"a":1},[1],[1,2],"x",{"a":{"b":1}}]})",
};

std::string array_of(const std::string& item, const std::string& more = "") {
  return R"({"type":"array","uniqueItems":true,"items":)" + item + more + "}";
}

// Arrays of values that are equal in other spellings and orders.
TEST(UniqueItemsLaw, SpellingsAreOfOneValue) {
  const std::vector<std::vector<std::string>> equal = {
      {R"({"a":1,"b":2})", R"({"b":2,"a":1})", R"({"b":2,"\u0061":1})",
       R"({"a":3,"b":2,"a":1})"},
      {R"({"a":"x"})", R"({"a":"\u0078"})"},
      {R"([1,{"a":[],"b":{}}])", R"([1,{"b":{},"a":[]}])"},
      {"[0.5,1]", "[0.50,1]"},
      {R"({"\u00e9":null})", "{\"\u00e9\":null}"},
      {"{}"},
      {"[]"},
      {"[[]]"},
      {R"([{}])"},
      {R"({"a":{}})"},
      {R"({"a":[]})"},
      {R"({"":""})"},
      {R"({"a":"h"})"},
      {R"([1,0.5])"},
      {R"({"0":1})"},
      {"[[1],2]"},
      {"[1,[2]]"},
      {"[12]"},
      {R"(["1","2"])"},
      {"[null]"},
      {R"(["null"])"},
  };
  JsonSchemaOptions any;
  any.spelling = JsonSpelling::kAny;
  const auto machine =
      compiled(R"({"type":"array","uniqueItems":true})", nullptr, any);
  ASSERT_NE(machine, nullptr);
  const auto accepts = [&](const std::string& text) {
    Configuration config = machine->start();
    for (const char c : text) {
      config = machine->step(config, static_cast<std::uint8_t>(c));
    }
    return machine->can_end(config);
  };
  for (std::size_t i = 0; i < equal.size(); ++i) {
    for (std::size_t j = 0; j < equal.size(); ++j) {
      for (const std::string& one : equal[i]) {
        for (const std::string& two : equal[j]) {
          for (const char* between : {",", R"(,7,"s",{"z":[1,2]},)"}) {
            const std::string text = "[" + one + between + two + "]";
            EXPECT_EQ(accepts(text), i != j) << text;
          }
        }
      }
    }
  }
}

// Random walks, in which each byte that may come is one that leads to an end.
TEST(UniqueItemsLaw, WalksEnd) {
  std::mt19937 random(3);
  for (const std::string& item : kItems) {
    for (const char* more : {"", R"(,"minItems":2)", R"(,"maxItems":4)"}) {
      const std::string schema = array_of(item, more);
      SCOPED_TRACE(schema);
      const auto machine = compiled(schema);
      ASSERT_NE(machine, nullptr);
      const schema::Document document = *schema::load(*json::parse(schema));
      schema::Validator validator(document);
      for (std::size_t walk = 0; walk < testing::cases(60); ++walk) {
        std::string text;
        Configuration config = machine->start();
        const std::size_t long_enough = random() % 200;
        while (!machine->can_end(config)) {
          std::vector<std::uint8_t> bytes;
          for (const char c :
               std::string_view("[]{},:\"abABcxknvw0125.-tfnulrsep")) {
            const auto byte = static_cast<std::uint8_t>(c);
            if (!machine->step(config, byte).dead()) bytes.push_back(byte);
          }
          ASSERT_FALSE(bytes.empty()) << "dead end: " << text;
          std::uint8_t byte = bytes[random() % bytes.size()];
          if (text.size() > long_enough) {
            // What ends something comes first; a quote ends a string.
            const auto may = [&](char c) {
              return std::ranges::find(bytes, static_cast<std::uint8_t>(c)) !=
                     bytes.end();
            };
            const bool in_string = may('x') && may('k');
            for (const char c : std::string_view(in_string ? "\"" : "]}")) {
              if (!may(c)) continue;
              byte = static_cast<std::uint8_t>(c);
              break;
            }
          }
          ASSERT_LT(text.size(), 3000U) << text;
          text += static_cast<char>(byte);
          config = machine->step(config, byte);
        }
        // The validator compares doubles.
        if (text.find("1e") == text.npos && text.find("0e") == text.npos) {
          EXPECT_TRUE(validator.valid(*json::parse(text))) << text;
        }
      }
    }
  }
}

// Objects of many members that can be few values.  All of them in one array, in
// any order and with members in any order, are accepted, whatever orders there
// are to complete an item in; none comes a second time.
TEST(UniqueItemsLaw, WideObjects) {
  std::size_t arrays = 0;
  for (std::uint32_t seed = 0; seed < testing::cases(120); ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return random() % n; };
    // Step 1: the schema, and the values that each key may have.
    const std::size_t size = 6 + below(15);
    const std::size_t optional = below(4);
    std::vector<std::size_t> numbers(size);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::ranges::shuffle(numbers, random);
    std::vector<std::vector<std::string>> members(size);
    std::string properties, patterns, required, dependent;
    for (std::size_t i = 0; i < size; ++i) {
      const std::string key = "\"k" + std::to_string(numbers[i]) + '"';
      const bool needed = i >= optional;
      const std::size_t last = below(size / 2) == 0 ? 1 : 0;
      const std::string rule = R"(:{"type":"integer","minimum":0,"maximum":)" +
                               std::to_string(last) + '}';
      // Keys that only a pattern has are known late.
      if (!needed && below(2) == 0) {
        patterns += (patterns.empty() ? "" : ",") +
                    ("\"^k" + std::to_string(numbers[i]) + "$\"" + rule);
      } else {
        properties += (properties.empty() ? "" : ",") + (key + rule);
      }
      for (std::size_t n = 0; n <= last; ++n) {
        members[i].push_back(key + ':' + std::to_string(n));
      }
      if (needed) {
        required += (required.empty() ? "" : ",") + key;
      } else {
        members[i].emplace_back();
        if (below(2) == 0) {
          dependent += (dependent.empty() ? "" : ",") + key + ":[\"k" +
                       std::to_string(below(size)) + "\"]";
        }
      }
    }
    const std::string item =
        R"({"type":"object","additionalProperties":false,"properties":{)" +
        properties + R"(},"patternProperties":{)" + patterns +
        R"(},"required":[)" + required + R"(],"dependentRequired":{)" +
        dependent + "}}";
    // Step 2: all values.
    std::vector<std::vector<std::string>> values = {{}};
    for (const std::vector<std::string>& choices : members) {
      std::vector<std::vector<std::string>> longer;
      for (const std::vector<std::string>& value : values) {
        for (const std::string& choice : choices) {
          longer.push_back(value);
          if (!choice.empty()) longer.back().push_back(choice);
        }
      }
      values = std::move(longer);
      if (values.size() > 24) break;
    }
    if (values.size() > 24) continue;
    const auto written = [&](std::vector<std::string> value) {
      std::ranges::shuffle(value, random);
      std::string text;
      for (const std::string& member : value) {
        text += (text.empty() ? "" : ",") + member;
      }
      return '{' + text + '}';
    };
    const schema::Document document = *schema::load(*json::parse(item));
    schema::Validator validator(document);
    std::erase_if(values, [&](const std::vector<std::string>& value) {
      return !validator.valid(*json::parse(written(value)));
    });
    std::ranges::shuffle(values, random);
    // Step 3: the array.
    const auto machine = compiled(array_of(item));
    ASSERT_NE(machine, nullptr) << item;
    std::string text = "[";
    Configuration config = machine->step(machine->start(), '[');
    const auto read = [&](const std::string& more) {
      for (const char c : more) {
        config = machine->step(config, static_cast<std::uint8_t>(c));
      }
    };
    for (const std::vector<std::string>& value : values) {
      const std::string more = (text.size() > 1 ? "," : "") + written(value);
      read(more);
      text += more;
      ASSERT_FALSE(config.dead()) << "seed " << seed << "\n"
                                  << array_of(item) << "\n"
                                  << text;
    }
    EXPECT_FALSE(narrowed(*machine)) << "seed " << seed << "\n" << item;
    EXPECT_TRUE(machine->step(config, ',').dead()) << text;
    read("]");
    EXPECT_TRUE(machine->can_end(config)) << text;
    ++arrays;
  }
  EXPECT_GT(arrays, testing::cases(120) / 4);
}

// An array of few values ends when all of them were used, and cannot need more.
TEST(UniqueItemsLaw, ValuesRunOut) {
  const std::string item =
      R"({"type":"object","properties":{"a":{"type":"boolean"},"b":{"enum":
          [1,2,3]}},"required":["b"],"additionalProperties":false})";
  EXPECT_NE(compiled(array_of(item, R"(,"minItems":9)")), nullptr);
  std::optional<Error> error;
  EXPECT_EQ(compiled(array_of(item, R"(,"minItems":10)"), &error), nullptr);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::kUnsatisfiable);
}

}  // namespace
}  // namespace parlance::unique_items_law_test
