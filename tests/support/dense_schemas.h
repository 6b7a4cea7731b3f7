#ifndef PARLANCE_TESTS_SUPPORT_DENSE_SCHEMAS_H_
#define PARLANCE_TESTS_SUPPORT_DENSE_SCHEMAS_H_

// Random schemas in which three to eight keywords meet in one place, and values
// of the same small world.
//
// small_schemas.h has many shallow rules in random places.  Here most keywords
// of a schema are about the same value: closed names beside counts,
// dependencies, conditions and unions over the same four members, several
// patterns on one string, counts beside distinct items.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "parlance/json.h"

namespace parlance::testing {

class DenseSchemas {
 public:
  explicit DenseSchemas(std::uint32_t seed) : random_(seed) {}

  json::Value schema() {
    references_ = chance(25);
    unevaluated_ = chance(15);
    json::Object root = node(pick_type(), 2);
    if (references_) {
      root.set("$defs", json::Object{{"x", subschema(1)}, {"y", subschema(0)}});
    }
    return root;
  }

  // Values for a schema whose values are mostly of `type`.
  json::Value value(std::string_view type) {
    if (chance(6)) return scalar();
    if (type == "object") return object(2);
    if (type == "array") return array(2);
    if (type == "string") return text();
    if (type == "integer" || type == "number") return number();
    return any_value(2);
  }

  std::string_view main_type() const { return main_type_; }

  json::Value any_value(std::size_t depth) {
    if (depth == 0 || chance(60)) return scalar();
    return chance(50) ? array(depth - 1) : object(depth - 1);
  }

  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(random_() % n);
  }

 private:
  using Strings = std::initializer_list<const char*>;

  bool chance(std::size_t percent) { return below(100) < percent; }
  std::string pick(Strings list) { return list.begin()[below(list.size())]; }
  std::string name() { return pick({"a", "b", "c", "d"}); }
  std::string text() {
    return pick({"", "a", "b", "ab", "ba", "abc", "cab", "bca", "d"});
  }
  json::Value number() {
    if (chance(15)) return static_cast<double>(below(9)) / 2 - 1;
    return static_cast<int>(below(7)) - 1;
  }
  json::Value scalar() {
    switch (below(6)) {
      case 0:
        return nullptr;
      case 1:
        return chance(50);
      case 2:
      case 3:
        return number();
      default:
        return text();
    }
  }
  json::Value object(std::size_t depth) {
    json::Object members;
    for (std::size_t n = below(5); n > 0; --n) {
      members.set(chance(94) ? name() : text(),
                  depth > 0 && chance(15) ? any_value(depth - 1) : scalar());
    }
    return members;
  }
  json::Value array(std::size_t depth) {
    json::Array items;
    for (std::size_t n = below(5); n > 0; --n) {
      items.push_back(depth > 0 && chance(10) ? any_value(depth - 1)
                                              : scalar());
    }
    return items;
  }

  std::string pick_type() {
    main_type_ = pick({"object", "object", "object", "object", "object",
                       "array", "array", "string", "number"});
    return std::string(main_type_);
  }

  json::Array names(std::size_t least, std::size_t most) {
    json::Array list;
    for (std::size_t n = least + below(most - least + 1); n > 0; --n) {
      const json::Value one = name();
      bool is_new = true;
      for (const json::Value& other : list) is_new = is_new && other != one;
      if (is_new) list.push_back(one);
    }
    return list;
  }

  // What a member or an item may be: mostly little.
  json::Value subschema(std::size_t depth) {
    if (chance(12)) return chance(65);
    if (references_ && chance(12)) {
      json::Object node;
      node.set("$ref", pick({"#", "#/$defs/x", "#/$defs/y"}));
      return node;
    }
    switch (below(depth == 0 ? 5 : 7)) {
      case 0:
        return json::Object{{"const", scalar()}};
      case 1: {
        json::Array list;
        for (std::size_t n = 1 + below(3); n > 0; --n) list.push_back(scalar());
        return json::Object{{"enum", std::move(list)}};
      }
      case 2:
        return json::Object{{"type", pick({"integer", "string", "null",
                                           "boolean", "object", "array"})}};
      case 3:
        return few(chance(50) ? "string" : "number", 0, 1 + below(2));
      case 4:
        return json::Object{{"not", json::Object{{"const", scalar()}}}};
      default:
        return few(pick({"object", "object", "array", "string"}), depth - 1,
                   1 + below(3));
    }
  }

  json::Object node(const std::string& type, std::size_t depth) {
    return few(type, depth, 3 + below(6));
  }

  // `count` keywords about values of `type`.
  json::Object few(const std::string& type, std::size_t depth,
                   std::size_t count) {
    json::Object node;
    if (chance(70)) node.set("type", type);
    for (; count > 0; --count) {
      if (depth > 0 && chance(30)) {
        logic(node, type, depth);
      } else if (type == "object") {
        object_rule(node, depth == 0 ? 0 : depth - 1);
      } else if (type == "array") {
        array_rule(node, depth == 0 ? 0 : depth - 1);
      } else if (type == "string") {
        string_rule(node);
      } else {
        number_rule(node);
      }
    }
    return node;
  }

  json::Value branch(const std::string& type, std::size_t depth) {
    return chance(80) ? json::Value(few(type, depth - 1, 1 + below(2)))
                      : subschema(depth - 1);
  }
  json::Array branches(const std::string& type, std::size_t depth) {
    json::Array list;
    for (std::size_t n = 1 + below(4); n > 0; --n) {
      list.push_back(branch(type, depth));
    }
    return list;
  }

  void logic(json::Object& node, const std::string& type, std::size_t depth) {
    switch (below(8)) {
      case 0:
      case 1:
        node.set("anyOf", branches(type, depth));
        break;
      case 2:
        node.set("oneOf", branches(type, depth));
        break;
      case 3:
        node.set("allOf", branches(type, depth));
        break;
      case 4:
        node.set("not", branch(type, depth));
        break;
      case 5:
        conditions(node, type, depth);
        break;
      default:
        node.set("if", branch(type, depth));
        if (chance(75)) node.set("then", branch(type, depth));
        if (chance(60)) node.set("else", branch(type, depth));
    }
  }

  // A list of conditions, each with alternatives of its own.
  void conditions(json::Object& node, const std::string& type,
                  std::size_t depth) {
    json::Array list;
    for (std::size_t n = 2 + below(3); n > 0; --n) {
      json::Object one;
      if (chance(70)) {
        one.set("if",
                type == "object"
                    ? json::Value(json::Object{
                          {"properties",
                           json::Object{
                               {name(), json::Object{{"const", scalar()}}}}}})
                    : branch(type, depth));
        one.set(chance(80) ? "then" : "else",
                json::Object{{"anyOf", branches(type, depth)}});
      } else {
        one.set("anyOf", branches(type, depth));
      }
      list.push_back(std::move(one));
    }
    node.set("allOf", std::move(list));
  }

  json::Object by_name(bool patterns, std::size_t depth) {
    json::Object list;
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      list.set(
          patterns ? pick({"^a", "b$", "[ab]", "^.$", "^[cd]$", "^$"}) : name(),
          subschema(depth));
    }
    return list;
  }

  void object_rule(json::Object& node, std::size_t depth) {
    switch (below(unevaluated_ ? 15 : 14)) {
      case 0:
      case 1:
      case 2:
        node.set("properties", by_name(false, depth));
        break;
      case 3:
      case 4:
        node.set("required", names(1, 2));
        break;
      case 5:
        node.set("additionalProperties",
                 chance(70) ? json::Value(false) : subschema(depth));
        break;
      case 6:
        node.set("patternProperties", by_name(true, depth));
        break;
      case 7:
        node.set("propertyNames", name_rule());
        break;
      case 8:
        node.set("minProperties", static_cast<int>(below(5)));
        break;
      case 9:
        node.set("maxProperties", static_cast<int>(below(5)));
        break;
      case 10:
      case 11: {
        json::Object list;
        for (std::size_t n = 1 + below(2); n > 0; --n) {
          list.set(name(), names(0, 2));
        }
        node.set("dependentRequired", std::move(list));
        break;
      }
      case 12:
        node.set("dependentSchemas", dependent(depth));
        break;
      case 13:
        node.set("const", object(1));
        if (chance(70)) node.erase("const");
        break;
      default:
        node.set("unevaluatedProperties",
                 chance(70) ? json::Value(false) : subschema(depth));
    }
  }

  json::Object dependent(std::size_t depth) {
    json::Object list;
    for (std::size_t n = 1 + below(2); n > 0; --n) {
      list.set(name(), few("object", depth, 1 + below(2)));
    }
    return list;
  }

  json::Value name_rule() {
    switch (below(4)) {
      case 0: {
        return json::Object{{"enum", names(1, 4)}};
      }
      case 1:
        return json::Object{
            {"pattern", pick({"^[abc]", "b", "^.$", "^[^d]*$"})}};
      case 2:
        return json::Object{{"maxLength", static_cast<int>(below(3))}};
      default:
        return json::Object{{"not", json::Object{{"const", name()}}}};
    }
  }

  void array_rule(json::Object& node, std::size_t depth) {
    switch (below(unevaluated_ ? 10 : 9)) {
      case 0:
        node.set("items", subschema(depth));
        break;
      case 1: {
        json::Array list;
        for (std::size_t n = 1 + below(2); n > 0; --n) {
          list.push_back(subschema(depth));
        }
        node.set("prefixItems", std::move(list));
        break;
      }
      case 2:
      case 3:
        node.set("contains", subschema(depth));
        break;
      case 4:
        node.set("minContains", static_cast<int>(below(3)));
        break;
      case 5:
        node.set("maxContains", static_cast<int>(below(3)));
        break;
      case 6:
        node.set("minItems", static_cast<int>(below(4)));
        break;
      case 7:
        node.set("maxItems", static_cast<int>(below(5)));
        break;
      case 8:
        node.set("uniqueItems", true);
        node.set(
            "items",
            chance(50)
                ? json::Value(json::Object{
                      {"type", pick({"boolean", "integer", "string", "null"})}})
                : json::Value(
                      json::Object{{"enum", json::Array{1, 2, "a", true}}}));
        break;
      default:
        node.set("unevaluatedItems",
                 chance(70) ? json::Value(false) : subschema(depth));
    }
  }

  void string_rule(json::Object& node) {
    const auto pattern = [&] {
      return pick(
          {"a", "b", "c", "^a", "c$", "a.*b", "^[abc]*$", "(?=.*a)", "^(?!a)"});
    };
    switch (below(6)) {
      case 0:
        node.set("minLength", static_cast<int>(below(4)));
        break;
      case 1:
        node.set("maxLength", static_cast<int>(below(5)));
        break;
      case 2: {
        json::Array list;
        for (std::size_t n = 2 + below(4); n > 0; --n) {
          const json::Object one{{"pattern", pattern()}};
          list.push_back(chance(75) ? json::Value(one)
                                    : json::Value(json::Object{{"not", one}}));
        }
        node.set("allOf", std::move(list));
        break;
      }
      case 3: {
        json::Array list;
        for (std::size_t n = 1 + below(4); n > 0; --n) {
          list.push_back(chance(85) ? json::Value(text()) : scalar());
        }
        node.set("enum", std::move(list));
        break;
      }
      default:
        node.set("pattern", pattern());
    }
  }

  void number_rule(json::Object& node) {
    switch (below(6)) {
      case 0:
        node.set("minimum", number());
        break;
      case 1:
        node.set("maximum", number());
        break;
      case 2:
        node.set(pick({"exclusiveMinimum", "exclusiveMaximum"}), number());
        break;
      case 3:
        node.set("multipleOf", chance(70)
                                   ? json::Value(1 + static_cast<int>(below(3)))
                                   : json::Value(0.5));
        break;
      case 4:
        node.set("not",
                 json::Object{{"multipleOf", 1 + static_cast<int>(below(3))}});
        break;
      default: {
        json::Array list;
        for (std::size_t n = 1 + below(4); n > 0; --n) list.push_back(number());
        node.set("enum", std::move(list));
      }
    }
  }

  std::mt19937 random_;
  std::string main_type_;
  bool references_ = false;
  bool unevaluated_ = false;
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_DENSE_SCHEMAS_H_
