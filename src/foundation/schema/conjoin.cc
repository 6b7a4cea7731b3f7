#include "schema/conjoin.h"

#include <string>
#include <utility>

namespace parlance::schema {
namespace {

// A draft before 2019-09: a reference has no siblings there, and definitions
// have another name.
bool is_old(const json::Value& schema) {
  const json::Value* draft = schema.find("$schema");
  return draft != nullptr &&
         draft->as_string().find("/draft-0") != std::string_view::npos;
}

}  // namespace

// As {"not": {"not": more}}: the schemas in a negation declare nothing.
//
// In old drafts keywords beside a reference are ignored.  So the reference
// moves into an allOf, and of its siblings only the definitions are retained.
json::Value conjoined(json::Value schema, json::Value more) {
  json::Object refused = {{"not", std::move(more)}};
  json::Object& members = schema.mutable_members();
  const json::Value* reference = members.find("$ref");
  if (reference != nullptr && is_old(schema)) {
    json::Object out;
    for (const char* key : {"$schema", "definitions", "$defs"}) {
      if (const json::Value* value = members.find(key)) out.set(key, *value);
    }
    out.set("allOf", json::Array{json::Object{{"$ref", *reference}}});
    out.set("not", std::move(refused));
    return out;
  }
  if (const json::Value* before = members.find("not")) {
    json::Array both;
    both.push_back(*before);
    both.emplace_back(std::move(refused));
    members.set("not", json::Object{{"anyOf", std::move(both)}});
  } else {
    members.set("not", std::move(refused));
  }
  return schema;
}

namespace {

// Makes an object of a schema that is a boolean.  False for the schema false.
bool make_object(json::Value& schema) {
  if (schema.is_object()) return true;
  if (schema.kind() == json::Kind::kBool && !schema.as_bool()) return false;
  schema = json::Object();
  return true;
}

// Adds a definition that is its own for items, and requires it.
// `rules(definition)` are its other rules, where it is its own for members.
template <class Rules>
json::Value with_everywhere(json::Value schema, std::string_view name,
                            const Rules& rules) {
  if (!make_object(schema)) return schema;
  const std::string place = is_old(schema) ? "definitions" : "$defs";
  const json::Value named =
      json::Object{{"$ref", "#/" + place + "/" + std::string(name)}};
  json::Object definition = rules(named);
  definition.set("items", named);
  json::Value out = conjoined(std::move(schema), named);
  const json::Value* before = out.find(place);
  json::Value all =
      before != nullptr && before->is_object() ? *before : json::Object();
  all.mutable_members().set(std::string(name), std::move(definition));
  out.mutable_members().set(place, std::move(all));
  return out;
}

}  // namespace

json::Value with_names(json::Value schema, std::string_view pattern) {
  return with_everywhere(
      std::move(schema), "parlance:names", [&](const json::Value& named) {
        return json::Object{
            {"patternProperties", json::Object{{std::string(pattern), named}}},
            {"additionalProperties", false}};
      });
}

json::Value with_numbers(json::Value schema, double largest, bool nested) {
  const json::Object range = {{"minimum", -largest}, {"maximum", largest}};
  if (!nested) {
    return make_object(schema) ? conjoined(std::move(schema), range) : schema;
  }
  return with_everywhere(std::move(schema), "parlance:numbers",
                         [&](const json::Value& named) {
                           json::Object rules = range;
                           rules.set("additionalProperties", named);
                           return rules;
                         });
}

// patternProperties refuses the names: not every draft has propertyNames.
json::Value without(json::Value schema, json::Value refused,
                    const std::vector<std::string>& names) {
  return with_everywhere(
      std::move(schema), "parlance:refused", [&](const json::Value& named) {
        json::Object none;
        for (const std::string& pattern : names) {
          none.set(pattern, json::Object{{"not", json::Object()}});
        }
        return json::Object{{"not", std::move(refused)},
                            {"patternProperties", std::move(none)},
                            {"additionalProperties", named}};
      });
}

}  // namespace parlance::schema
