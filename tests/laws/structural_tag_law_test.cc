// Laws of structural tags, in small worlds that are enumerated in full:
//
//   free text   what the slow recogniser reads of triggered text is what the
//               words of the description say, read off one by one
//   parameters  a list of parameters is accepted if and only if an object it
//               can be the writing of is valid under the schema

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json.h"
#include "schema/validate.h"
#include "support/tag_reader.h"

namespace parlance::structural_tag_law_test {
namespace {

json::Value envelope(json::Value format) {
  return json::Object{{"type", "structural_tag"},
                      {"format", std::move(format)}};
}

// --- Free text ------------------------------------------------------------

struct Rule {
  std::string pattern;
  std::string content;
};

struct Triggered {
  std::vector<Rule> rules;
  std::vector<std::string> excludes;
  bool loop = true;
  std::string exclude_pattern = {};  // "": none
};

bool ends_with_one_of(std::string_view text,
                      const std::vector<std::string>& list) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& one) {
    return text.ends_with(one);
  });
}

// Whether text[start..] is a region of free text and what it leads to.
bool reads(const Triggered& definition, std::string_view text,
           std::size_t start, bool first) {
  if (!definition.loop && !first) return start == text.size();
  for (std::size_t end = start;; ++end) {
    const std::string_view region = text.substr(start, end - start);
    if (ends_with_one_of(region, definition.excludes)) return false;
    if (!definition.exclude_pattern.empty() &&
        std::regex_search(region.begin(), region.end(),
                          std::regex(definition.exclude_pattern))) {
      return false;
    }
    bool fired = false;
    for (const Rule& rule : definition.rules) {
      if (!region.ends_with(rule.pattern)) continue;
      fired = true;
      // On to the content, or to a longer trigger that begins so.
      for (const Rule& next : definition.rules) {
        if (!next.pattern.starts_with(rule.pattern)) continue;
        const std::string rest =
            next.pattern.substr(rule.pattern.size()) + next.content;
        if (text.substr(end).starts_with(rest) &&
            reads(definition, text, end + rest.size(), false)) {
          return true;
        }
      }
    }
    if (fired) return false;
    if (end == text.size()) return true;
  }
}

json::Value format_of(const Triggered& definition) {
  json::Array rules;
  for (const Rule& rule : definition.rules) {
    rules.push_back(
        json::Array{rule.pattern, json::Object{{"value", rule.content}}});
  }
  json::Array excludes;
  for (const std::string& text : definition.excludes) {
    excludes.emplace_back(text);
  }
  json::Object out = {{"type", "dispatch"},
                      {"rules", std::move(rules)},
                      {"loop", definition.loop},
                      {"excludes", std::move(excludes)}};
  if (!definition.exclude_pattern.empty()) {
    out.set("exclude_patterns", json::Array{definition.exclude_pattern});
  }
  return out;
}

std::vector<std::string> all_texts(std::string_view letters,
                                   std::size_t longest) {
  std::vector<std::string> out = {""};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].size() == longest) break;
    for (const char letter : letters) out.push_back(out[i] + letter);
  }
  return out;
}

TEST(StructuralTagLaw, FreeText) {
  const std::vector<std::string> texts = all_texts("ab", 8);
  const std::vector<std::string> patterns = {"a",  "b",   "ab",
                                             "ba", "aab", "abb"};
  const std::vector<std::vector<std::string>> excludes = {
      {}, {"bb"}, {"aba"}, {"bbb", "aaa"}};
  std::size_t definitions = 0;
  for (const std::string& first : patterns) {
    for (const std::string& second : patterns) {
      for (const auto& excluded : excludes) {
        for (const bool loop : {true, false}) {
          const Triggered definition{
              {{first, "b"}, {second, "a"}}, excluded, loop};
          const json::Value spec = envelope(format_of(definition));
          const auto reader = testing::make_tag_reader(spec);
          if (!reader) {
            EXPECT_EQ(reader.error().code, ErrorCode::kConflict);
            continue;
          }
          ++definitions;
          for (const std::string& text : texts) {
            ASSERT_EQ(reader->accepts(text), reads(definition, text, 0, true))
                << json::dump(spec) << " " << text;
          }
        }
      }
    }
  }
  EXPECT_GT(definitions, 150u);
}

TEST(StructuralTagLaw, FreeTextWithPatterns) {
  const std::vector<std::string> texts = all_texts("ab", 7);
  const std::vector<std::string> triggers = {"a", "ab", "ba", "abb"};
  const std::vector<std::string> patterns = {"ba+b", "b(?=b)", "^b", "(ab){2}",
                                             "a{3}|bab"};
  std::size_t definitions = 0;
  for (const std::string& first : triggers) {
    for (const std::string& second : triggers) {
      for (const std::string& pattern : patterns) {
        const Triggered definition{
            {{first, "b"}, {second, "a"}}, {}, true, pattern};
        const json::Value spec = envelope(format_of(definition));
        const auto reader = testing::make_tag_reader(spec);
        if (!reader) {
          EXPECT_EQ(reader.error().code, ErrorCode::kConflict);
          continue;
        }
        ++definitions;
        for (const std::string& text : texts) {
          ASSERT_EQ(reader->accepts(text), reads(definition, text, 0, true))
              << json::dump(spec) << " " << text;
        }
      }
    }
  }
  EXPECT_GT(definitions, 60u);
}

// --- Parameters -----------------------------------------------------------

struct Parameter {
  std::string name;
  std::string text;
};
using Parameters = std::vector<Parameter>;

std::string write(const Parameters& parameters, std::string_view style) {
  std::string out;
  for (const auto& [name, text] : parameters) {
    if (style == "qwen_xml") {
      out += "<parameter=" + name + ">" + text + "</parameter>";
    } else if (style == "minimax_xml") {
      out += "<parameter name=\"" + name + "\">" + text + "</parameter>\n";
    } else if (style == "deepseek_xml") {
      out += " <｜DSML｜parameter name=\"" + name + "\" string=\"true\">" +
             text + "</｜DSML｜parameter>";
    } else {
      out += "<arg_key>" + name + "</arg_key>\n<arg_value>" + text +
             "</arg_value>";
    }
  }
  return out;
}

// The values that a raw text may stand for.  In qwen_xml a line feed on each
// side is markup; in deepseek_xml it is written as a string, and is one.
std::vector<json::Value> meanings(const std::string& text,
                                  std::string_view style) {
  std::string_view string = text;
  if (style == "qwen_xml" && string.starts_with('\n')) string.remove_prefix(1);
  if (style == "qwen_xml" && string.ends_with('\n')) string.remove_suffix(1);
  std::vector<json::Value> out = {string};
  const Result<json::Value> value = json::parse(text);
  if (style != "deepseek_xml" && value && !value->is_string()) {
    out.push_back(*value);
  }
  return out;
}

// Whether one of the objects is valid.
bool some_valid(const Parameters& parameters, std::string_view style,
                schema::Validator& validator) {
  std::vector<json::Object> objects(1);
  for (const auto& [name, text] : parameters) {
    std::vector<json::Object> more;
    for (const json::Object& object : objects) {
      for (const json::Value& value : meanings(text, style)) {
        more.push_back(object);
        more.back().set(name, value);
      }
    }
    objects = std::move(more);
  }
  return std::any_of(objects.begin(), objects.end(),
                     [&](const json::Object& object) {
                       return validator.valid(json::Value(object));
                     });
}

// Declared names stand in their order before others, and none comes twice.
bool in_order(const Parameters& parameters) {
  const std::string_view order = "abc";
  std::size_t last = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::size_t place = order.find(parameters[i].name);
    if (i > 0 && place <= last) return false;
    last = place;
  }
  return true;
}

// What the rules leave open, see arguments/to_rules.h.
bool repeats_extra(const Parameters& list) {
  return list.size() == 2 && list[0].name == "c" && list[1].name == "c";
}

std::vector<Parameters> all_parameters(const std::vector<std::string>& texts) {
  std::vector<Parameters> out = {{}};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].size() == 2) break;
    for (const char* name : {"a", "b", "c"}) {
      for (const std::string& text : texts) {
        Parameters longer = out[i];
        longer.push_back({name, text});
        out.push_back(std::move(longer));
      }
    }
  }
  return out;
}

TEST(StructuralTagLaw, Parameters) {
  const std::vector<const char*> values = {
      "true",
      R"({"type": "string"})",
      R"({"type": "string", "minLength": 2})",
      R"({"type": "string", "pattern": "^x"})",
      R"({"type": "string", "pattern": "y$", "maxLength": 2})",
      R"({"enum": ["x", 1, null]})",
      R"({"type": "integer"})",
      R"({"type": ["string", "null"], "maxLength": 1})",
      R"({"anyOf": [{"const": "xy"}, {"type": "integer", "minimum": 2}]})",
      R"({"oneOf": [{"type": "string", "pattern": "x"},
                    {"type": "string", "pattern": "y"}]})",
      R"({"not": {"type": "string"}})",
      R"({"if": {"const": "x"}, "then": false, "else": {"type": "string"}})",
      R"({"allOf": [{"type": ["array", "object", "string"]},
                    {"maxItems": 1, "maxProperties": 0, "maxLength": 0}]})",
      R"({"$ref": "#/$defs/d"})",
  };
  const std::vector<const char*> rests = {
      R"("additionalProperties": false)",
      R"("additionalProperties": true, "maxProperties": 1)",
      R"("required": ["b"], "additionalProperties": {"type": "integer"})",
      R"("required": ["a", "c"], "additionalProperties": true)",
      R"("minProperties": 2, "additionalProperties": {"const": "x"})",
      R"("patternProperties": {"^[bc]$": {"type": ["integer", "string"]}},
         "additionalProperties": false)",
      R"("propertyNames": {"enum": ["a", "c"]}, "additionalProperties": true)",
      R"("anyOf": [{"required": ["a"]}, {"required": ["b"]}],
         "additionalProperties": false)",
  };
  const std::vector<std::string> texts = {
      "", "x", "xy", "1", "null", "[1]", "{}", "\"x\"", "\nx\n", "\n\nx"};
  const std::vector<Parameters> lists = all_parameters(texts);
  const std::vector<std::string_view> styles = {"qwen_xml", "minimax_xml",
                                                "deepseek_xml", "glm_xml"};
  std::size_t turn = 0;
  std::size_t valid = 0;
  for (const char* value : values) {
    for (const char* rest : rests) {
      const std::string text = R"({"type": "object", "properties": {"a": )" +
                               std::string(value) +
                               R"(, "b": {"type": ["integer", "string"]}}, )" +
                               rest + R"(, "$defs": {"d": {"maxLength": 1}}})";
      const Result<json::Value> schema = json::parse(text);
      ASSERT_TRUE(schema) << text;
      const Result<schema::Document> document = schema::load(*schema);
      ASSERT_TRUE(document) << document.error().to_string() << text;
      schema::Validator validator(*document);
      const std::string_view style = styles[turn++ % styles.size()];
      const auto reader = testing::make_tag_reader(
          envelope(json::Object{{"type", "json_schema"},
                                {"json_schema", *schema},
                                {"style", style}}));
      ASSERT_TRUE(reader) << reader.error().to_string() << "\n" << text;
      for (const Parameters& list : lists) {
        if (repeats_extra(list)) continue;
        const bool expected =
            in_order(list) && some_valid(list, style, validator);
        valid += expected;
        const std::string written = write(list, style);
        ASSERT_EQ(reader->accepts(written), expected) << text << "\n"
                                                      << style << "\n"
                                                      << written;
      }
    }
  }
  EXPECT_GT(valid, 2000u);
}

}  // namespace
}  // namespace parlance::structural_tag_law_test
