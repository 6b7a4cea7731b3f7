// Conditions about which string a member is, against their meaning: every value
// of the member, every set of other members, in both orders.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parlance/grammar.h"

namespace parlance::constant_conditions_test {
namespace {

// {"t": value, keys...}, or with "t" at the end.
std::string object_of(const std::string& value, unsigned keys, bool first) {
  std::vector<std::string> members;
  for (unsigned i = 0; i < 4; ++i) {
    if ((keys >> i & 1) != 0)
      members.push_back("\"k" + std::to_string(i) + "\":1");
  }
  members.insert(first ? members.begin() : members.end(),
                 "\"t\":\"" + value + "\"");
  std::string out = "{";
  for (const std::string& member : members) {
    if (out.size() > 1) out += ',';
    out += member;
  }
  return out + "}";
}

// If t is `value`, then key `needed` is required, and `denied` forbidden.
struct Rule {
  std::string value;
  unsigned needed = 0;
  unsigned denied = 0;
};

void compare(const std::vector<Rule>& rules, const std::string& of_t,
             const std::string& is_value) {
  std::string text = R"({"type":"object","required":["t"],"properties":{"t":)" +
                     of_t + R"(},"allOf":[)";
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = rules[i];
    std::string is = is_value;
    is.replace(is.find('?'), 1, rule.value);
    if (i != 0) text += ',';
    text += R"({"if":{"properties":{"t":)" + is +
            R"(}},"then":{"required":["k)" + std::to_string(rule.needed) +
            R"("],"not":{"required":["k)" + std::to_string(rule.denied) +
            "\"]}}}";
  }
  text += "]}";
  SCOPED_TRACE(text);
  const auto grammar = Grammar::from_json_schema(text);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  for (const std::string value : {"a", "b", "c", "ab", ""}) {
    const bool allowed = of_t.find("enum") == of_t.npos ||
                         of_t.find('"' + value + '"') != of_t.npos;
    for (unsigned keys = 0; keys < 16; ++keys) {
      bool valid = allowed;
      for (const Rule& rule : rules) {
        if (rule.value != value) continue;
        valid = valid && (keys >> rule.needed & 1) != 0 &&
                (keys >> rule.denied & 1) == 0;
      }
      for (const bool first : {true, false}) {
        const std::string object = object_of(value, keys, first);
        EXPECT_EQ(grammar->accepts(object), valid) << object;
      }
    }
  }
}

TEST(ConstantConditions, EveryObject) {
  const std::vector<std::vector<Rule>> all = {
      {{"a", 0, 1}},
      {{"a", 0, 1}, {"b", 1, 2}, {"c", 2, 3}},
      {{"a", 0, 1}, {"a", 2, 3}, {"b", 1, 0}},
      {{"a", 0, 1}, {"a", 1, 0}, {"ab", 3, 0}},
  };
  for (const auto& rules : all) {
    // The last one says something about lists, too, and has no exact negation.
    for (const std::string is_value : {R"({"const":"?"})", R"({"enum":["?"]})",
                                       R"({"const":"?","minItems":1})"}) {
      compare(rules, R"({"type":"string"})", is_value);
      compare(rules, R"({"enum":["a","b","c"]})", is_value);
    }
  }
}

}  // namespace
}  // namespace parlance::constant_conditions_test
