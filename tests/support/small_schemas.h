#ifndef PARLANCE_TESTS_SUPPORT_SMALL_SCHEMAS_H_
#define PARLANCE_TESTS_SUPPORT_SMALL_SCHEMAS_H_

// Random schemas of few words, and values that they may be about.
//
// Names, strings and numbers come from a handful each, so that rules meet:
// what one keyword asks for another forbids, patterns overlap, branches of
// oneOf hold together.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"

namespace parlance::testing {

class SmallSchemas {
 public:
  explicit SmallSchemas(std::uint32_t seed) : random_(seed) {}

  // Which keywords a schema may have.
  struct Kinds {
    bool logic = true;        // allOf, anyOf, oneOf, not, if
    bool unevaluated = true;  // unevaluatedProperties, unevaluatedItems
    bool references = true;   // $ref to "#" and "#/$defs/..."
  };

  // A whole schema, with what its references mean.
  json::Value schema(const Kinds& kinds) {
    kinds_ = kinds;
    json::Value root = subschema(1 + below(3));
    if (kinds.references && root.is_object()) {
      // As many as are referred to.
      json::Object defs;
      defs.set("x", subschema(1));
      defs.set("y", subschema(2));
      root.mutable_members().set("$defs", defs);
    }
    return root;
  }

  // A value of few words.
  json::Value value(std::size_t depth) {
    const std::size_t kind = below(depth == 0 ? 4 : 10);
    if (kind < 4) return scalar();
    if (kind < 6) {
      json::Array items;
      for (std::size_t n = below(5); n > 0; --n) {
        items.push_back(value(depth - 1));
      }
      return items;
    }
    json::Object members;
    for (std::size_t n = below(5); n > 0; --n) {
      members.set(name(), value(depth - 1));
    }
    return members;
  }

  json::Value scalar() {
    switch (below(9)) {
      case 0:
        return nullptr;
      case 1:
        return true;
      case 2:
        return false;
      case 3:
      case 4:
      case 5:
        return number();
      default:
        return pick({"", "a", "b", "ab", "ba", "aab", "c"});
    }
  }

  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(random_() % n);
  }
  std::mt19937& random() { return random_; }

 private:
  bool chance(std::size_t percent) { return below(100) < percent; }

  std::string pick(std::initializer_list<const char*> list) {
    return list.begin()[below(list.size())];
  }
  std::string name() { return pick({"a", "b", "c", "ab", "ba"}); }
  std::string pattern() {
    return pick({"^a", "b$", "a", "^.$", "^[ab]+$", "c", "^$", "^(a|ba)$"});
  }
  json::Value number() {
    if (chance(20)) return static_cast<double>(below(7)) / 2 - 1;
    return static_cast<int>(below(6)) - 1;
  }
  int few(std::size_t n = 4) { return static_cast<int>(below(n)); }
  json::Value type() {
    return pick({"null", "boolean", "integer", "number", "string", "array",
                 "object", "object", "object", "array"});
  }

  json::Array schemas(std::size_t least, std::size_t most, std::size_t depth) {
    json::Array list;
    for (std::size_t n = least + below(most - least + 1); n > 0; --n) {
      list.push_back(subschema(depth));
    }
    return list;
  }
  json::Object schemas_by_name(bool patterns, std::size_t depth) {
    json::Object list;
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      list.set(patterns ? pattern() : name(), subschema(depth));
    }
    return list;
  }
  json::Array names(std::size_t most) {
    json::Array list;
    for (std::size_t n = 1 + below(most); n > 0; --n) {
      const json::Value one = name();
      bool is_new = true;
      for (const json::Value& other : list) is_new = is_new && other != one;
      if (is_new) list.push_back(one);
    }
    return list;
  }

  json::Value subschema(std::size_t depth) {
    if (chance(8)) return chance(60);
    json::Object node;
    if (kinds_.references && chance(6)) {
      node.set("$ref", pick({"#", "#/$defs/x", "#/$defs/y"}));
      if (chance(70)) return node;
    }
    if (chance(45)) {
      if (chance(80)) {
        node.set("type", type());
      } else {
        json::Array types = {type()};
        const json::Value other = type();
        if (other != types[0]) types.push_back(other);
        node.set("type", types);
      }
    }
    for (std::size_t n = depth == 0 ? 1 : 1 + below(3); n > 0; --n) {
      switch (below(kinds_.logic ? 6 : 4)) {
        case 0:
          scalar_rule(node);
          break;
        case 1:
        case 2:
          if (depth > 0) object_rule(node, depth - 1);
          break;
        case 3:
          if (depth > 0) array_rule(node, depth - 1);
          break;
        default:
          if (depth > 0) logic_rule(node, depth - 1);
      }
    }
    return node;
  }

  void scalar_rule(json::Object& node) {
    switch (below(9)) {
      case 0:
        node.set("const", value(chance(30) ? 1 : 0));
        break;
      case 1: {
        json::Array list;
        for (std::size_t n = 1 + below(4); n > 0; --n) {
          list.push_back(value(chance(25) ? 2 : 0));
        }
        node.set("enum", list);
        break;
      }
      case 2:
        node.set("minimum", number());
        break;
      case 3:
        node.set("maximum", number());
        break;
      case 4:
        node.set(pick({"exclusiveMinimum", "exclusiveMaximum"}), number());
        break;
      case 5:
        node.set("multipleOf",
                 chance(70) ? json::Value(1 + few(3)) : json::Value(0.5));
        break;
      case 6:
        node.set("minLength", few());
        break;
      case 7:
        node.set("maxLength", few());
        break;
      default:
        node.set("pattern", pattern());
    }
  }

  void object_rule(json::Object& node, std::size_t depth) {
    switch (below(kinds_.unevaluated ? 13 : 12)) {
      case 0:
      case 1:
      case 2:
        node.set("properties", schemas_by_name(false, depth));
        break;
      case 3:
      case 4:
        node.set("required", names(2));
        break;
      case 5:
        node.set("additionalProperties", subschema(depth));
        break;
      case 6:
        node.set("patternProperties", schemas_by_name(true, depth));
        break;
      case 7:
        node.set("propertyNames", subschema(0));
        break;
      case 8:
        node.set("minProperties", few());
        break;
      case 9:
        node.set("maxProperties", few());
        break;
      case 10:
        node.set("dependentRequired", json::Object{{name(), names(2)}});
        break;
      case 11:
        node.set("dependentSchemas", schemas_by_name(false, depth));
        break;
      default:
        node.set("unevaluatedProperties",
                 chance(60) ? json::Value(false) : subschema(depth));
    }
  }

  void array_rule(json::Object& node, std::size_t depth) {
    switch (below(kinds_.unevaluated ? 9 : 8)) {
      case 0:
      case 1:
        node.set("items", subschema(depth));
        break;
      case 2:
        node.set("prefixItems", schemas(1, 2, depth));
        break;
      case 3:
      case 4:
        node.set("contains", subschema(depth));
        if (chance(40)) node.set("minContains", few(3));
        if (chance(40)) node.set("maxContains", few(3));
        break;
      case 5:
        node.set("minItems", few());
        break;
      case 6:
        node.set("maxItems", few());
        break;
      case 7:
        node.set("uniqueItems", chance(90));
        // Only distinguished if they are scalars.
        if (chance(80)) {
          node.set("items", json::Object{{"type", pick({"boolean", "integer",
                                                        "string", "null"})}});
        }
        break;
      default:
        node.set("unevaluatedItems",
                 chance(60) ? json::Value(false) : subschema(depth));
    }
  }

  void logic_rule(json::Object& node, std::size_t depth) {
    switch (below(6)) {
      case 0:
        node.set("allOf", schemas(1, 2, depth));
        break;
      case 1:
        node.set("anyOf", schemas(1, 3, depth));
        break;
      case 2:
        node.set("oneOf", schemas(1, 3, depth));
        break;
      case 3:
      case 4:
        node.set("not", subschema(depth));
        break;
      default:
        node.set("if", subschema(depth));
        if (chance(70)) node.set("then", subschema(depth));
        if (chance(70)) node.set("else", subschema(depth));
    }
  }

  std::mt19937 random_;
  Kinds kinds_;
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_SMALL_SCHEMAS_H_
