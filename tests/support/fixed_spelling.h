#ifndef PARLANCE_TESTS_SUPPORT_FIXED_SPELLING_H_
#define PARLANCE_TESTS_SUPPORT_FIXED_SPELLING_H_

// Texts of values in random spellings, and whether what a schema fixes is
// spelled in them as json.dumps would: written rule by rule from
// docs/reference/json-schema.md, for schemas without logic and references.
//
// A value is written together with the subschemas that it is under:
//
//   {"properties": {"a": {"const": "x"}}}
//   {"a": "x", "b": "y"}      fixed: the name "a", its value "x"

#include <algorithm>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json.h"
#include "schema/validate.h"
#include "support/small_schemas.h"

namespace parlance::testing {

// Writes values compactly, with escapes and zeros after the point at random.
class RandomSpelling {
 public:
  // Percentages: how often a character is escaped, a number spelled otherwise.
  RandomSpelling(SmallSchemas& small, std::size_t escapes, std::size_t numbers)
      : small_(small), escapes_(escapes), numbers_(numbers) {}

  std::string string(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      constexpr std::string_view kHex = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      if (chance(escapes_)) {
        out += "\\u00";
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
      } else {
        out += c;
      }
    }
    return out + '"';
  }

  std::string number(const json::Value& value) {
    std::string out = json::dump(value);
    if (!chance(numbers_) || out.find('e') != std::string::npos) return out;
    if (out.find('.') == std::string::npos) return out + ".0";
    if (out.ends_with(".0")) return out.substr(0, out.size() - 2);
    return out + "0";
  }

 private:
  bool chance(std::size_t percent) { return small_.below(100) < percent; }

  SmallSchemas& small_;
  std::size_t escapes_;
  std::size_t numbers_;
};

class FixedSpelling {
 public:
  using Node = json::Value;

  explicit FixedSpelling(RandomSpelling spelling) : spelling_(spelling) {}

  // Whether it speaks about the schema: without keywords that leave open which
  // rules a value is under.
  static bool covers(const json::Value& schema) {
    if (schema.is_array()) {
      return std::all_of(schema.items().begin(), schema.items().end(), covers);
    }
    if (!schema.is_object()) return true;
    return std::all_of(schema.members().begin(), schema.members().end(),
                       [](const json::Member& member) {
                         for (const std::string_view key :
                              {"$ref", "allOf", "anyOf", "oneOf", "not", "if",
                               "contains", "dependentSchemas",
                               "unevaluatedProperties", "unevaluatedItems"}) {
                           if (member.key == key) return false;
                         }
                         return covers(member.value);
                       });
  }

  // A text of `value`, which is valid under all of `nodes`.
  std::string write(const json::Value& value, const std::vector<Node>& nodes) {
    if (value.is_string()) {
      const std::string text(value.as_string());
      return checked(spelling_.string(text), text,
                     any_of(nodes, [](const Node& node) {
                       return has(node, "const") || has(node, "enum") ||
                              has(node, "pattern");
                     }));
    }
    if (value.is_array()) return write_array(value, nodes);
    if (value.is_object()) return write_object(value, nodes);
    if (value.kind() != json::Kind::kInt &&
        value.kind() != json::Kind::kFloat) {
      return json::dump(value);
    }
    const std::string text = spelling_.number(value);
    const std::vector<json::Value> listed = listed_as(value, nodes);
    if (!listed.empty()) {
      canonical_ = canonical_ && any_of(listed, [&](const json::Value& one) {
                     return json::dump(one) == text;
                   });
    } else if (any_of(nodes, asks_for_integers)) {
      canonical_ = canonical_ && text.find('.') == std::string::npos;
    }
    return text;
  }

  // Of all that was written.
  bool canonical() const { return canonical_; }

 private:
  template <class List, class Test>
  static bool any_of(const List& list, Test test) {
    return std::any_of(list.begin(), list.end(), test);
  }
  static bool has(const Node& node, std::string_view key) {
    return node.is_object() && node.find(key) != nullptr;
  }

  // Whether numbers under the node are integers, which are digits.
  static bool asks_for_integers(const Node& node) {
    if (!has(node, "type")) return false;
    const json::Value& type = *node.find("type");
    if (type.is_string()) return type == "integer";
    const auto lists = [&](std::string_view name) {
      return any_of(type.items(),
                    [&](const json::Value& one) { return one == name; });
    };
    return lists("integer") && !lists("number");
  }

  std::string checked(std::string spelled, const std::string& text,
                      bool fixed) {
    if (fixed && spelled != json::dump(text, {.ascii = false})) {
      canonical_ = false;
    }
    return spelled;
  }

  // The values of const and enum that are equal to `value`.
  static std::vector<json::Value> listed_as(const json::Value& value,
                                            const std::vector<Node>& nodes) {
    std::vector<json::Value> out;
    const auto add = [&](const json::Value& one) {
      if (schema::equal_values(one, value)) out.push_back(one);
    };
    for (const Node& node : nodes) {
      if (has(node, "const")) add(*node.find("const"));
      if (!has(node, "enum")) continue;
      for (const json::Value& one : node.find("enum")->items()) add(one);
    }
    return out;
  }

  static Node constant(const json::Value& value) {
    return json::Object{{"const", value}};
  }

  std::string write_array(const json::Value& value,
                          const std::vector<Node>& nodes) {
    std::string out = "[";
    const bool unique = any_of(nodes, [](const Node& node) {
      return has(node, "uniqueItems") && node.find("uniqueItems")->as_bool();
    });
    unique_ += unique;
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::vector<Node> under;
      for (const json::Value& one : listed_as(value, nodes)) {
        under.push_back(constant(one.items()[i]));
      }
      for (const Node& node : nodes) {
        const std::size_t prefix =
            has(node, "prefixItems") ? node.find("prefixItems")->size() : 0;
        if (i < prefix) {
          under.push_back(node.find("prefixItems")->items()[i]);
        } else if (has(node, "items")) {
          under.push_back(*node.find("items"));
        }
      }
      if (i > 0) out += ',';
      out += write(value.items()[i], under);
    }
    unique_ -= unique;
    return out + ']';
  }

  static bool matches(const std::string& pattern, const std::string& name) {
    return std::regex_search(name, std::regex(pattern));
  }

  static bool spells(const Node& node, const std::string& name) {
    const auto lists = [&](const json::Value& names) {
      return any_of(names.items(),
                    [&](const json::Value& one) { return one == name; });
    };
    if (has(node, "properties") && has(*node.find("properties"), name)) {
      return true;
    }
    if (has(node, "required") && lists(*node.find("required"))) return true;
    if (!has(node, "dependentRequired")) return false;
    return any_of(node.find("dependentRequired")->members(),
                  [&](const json::Member& member) {
                    return member.key == name || lists(member.value);
                  });
  }

  std::string write_object(const json::Value& value,
                           const std::vector<Node>& nodes) {
    const std::vector<json::Value> listed = listed_as(value, nodes);
    std::string out = "{";
    for (const json::Member& member : value.members()) {
      const std::string name(member.key);
      bool fixed = !listed.empty() || unique_ > 0;
      std::vector<Node> under;
      for (const json::Value& one : listed) {
        under.push_back(constant(*one.find(name)));
      }
      for (const Node& node : nodes) {
        if (!node.is_object()) continue;
        fixed = fixed || spells(node, name) || has(node, "patternProperties") ||
                has(node, "propertyNames");
        bool known = false;
        if (has(node, "properties") && has(*node.find("properties"), name)) {
          known = true;
          under.push_back(*node.find("properties")->find(name));
        }
        if (has(node, "patternProperties")) {
          for (const json::Member& rule :
               node.find("patternProperties")->members()) {
            if (!matches(std::string(rule.key), name)) continue;
            known = true;
            under.push_back(rule.value);
          }
        }
        if (!known && has(node, "additionalProperties")) {
          under.push_back(*node.find("additionalProperties"));
        }
      }
      if (out.size() > 1) out += ',';
      out += checked(spelling_.string(name), name, fixed) + ':' +
             write(member.value, under);
    }
    return out + '}';
  }

  RandomSpelling spelling_;
  bool canonical_ = true;
  std::size_t unique_ = 0;  // arrays with uniqueItems around
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_FIXED_SPELLING_H_
