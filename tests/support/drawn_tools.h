#ifndef PARLANCE_TESTS_SUPPORT_DRAWN_TOOLS_H_
#define PARLANCE_TESTS_SUPPORT_DRAWN_TOOLS_H_

// Tools of requests, drawn by seed: of schemas that people have written, and of
// random ones whose names are hostile to the markup of a family.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json.h"
#include "support/small_schemas.h"

namespace parlance::testing {

// The schemas of objects in files of MaskBench (FOLDER/NAME.jsonl.gz, one JSON
// object with "schema" a line), each at most `most` bytes long.  gzip unpacks.
inline std::vector<json::Value> maskbench_schemas(
    const std::filesystem::path& folder, const std::vector<std::string>& names,
    std::size_t most) {
  std::vector<json::Value> out;
  for (const std::string& name : names) {
    const std::filesystem::path file = folder / (name + ".jsonl.gz");
    if (!std::filesystem::exists(file)) continue;
    const std::string command = "gzip -dc '" + file.string() + "'";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
        popen(command.c_str(), "r"), &pclose);
    if (!pipe) continue;
    char* buffer = nullptr;
    std::size_t capacity = 0;
    for (ssize_t n = 0; (n = getline(&buffer, &capacity, pipe.get())) > 0;) {
      const Result<json::Value> line =
          json::parse({buffer, static_cast<std::size_t>(n)});
      const json::Value* schema = line ? line->find("schema") : nullptr;
      if (schema == nullptr || !schema->is_object()) continue;
      const json::Value* type = schema->find("type");
      if (type == nullptr || !type->is_string() ||
          type->as_string() != "object" || json::dump(*schema).size() > most) {
        continue;
      }
      out.push_back(*schema);
    }
    std::free(buffer);
  }
  return out;
}

// Draws tools.  The same seed gives the same tools.
class DrawnTools {
 public:
  // `marks`: texts that are also names.  `written`: schemas that people have
  // written.
  DrawnTools(std::uint32_t seed, const std::set<std::string>& marks,
             const std::vector<json::Value>& written)
      : random_(seed),
        schemas_(seed),
        marks_(marks.begin(), marks.end()),
        written_(written) {}

  // A tool; some have "strict": false.
  json::Value tool(std::string_view name) {
    json::Object function = {{"name", name}, {"parameters", parameters()}};
    if (chance(20)) function.set("strict", false);
    return json::Object{{"type", "function"},
                        {"function", std::move(function)}};
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  std::string pick(std::initializer_list<const char*> list) {
    return list.begin()[below(list.size())];
  }

  json::Value parameters() {
    if (!written_.empty() && chance(40)) {
      return written_[below(written_.size())];
    }
    return object(2, chance(40));
  }

  // No line feeds: the readers of most elements take none in a name.
  std::string name(bool hostile) {
    if (!hostile || chance(40)) {
      return pick({"a", "city", "max_days", "b2", "items", "type"});
    }
    if (!marks_.empty() && chance(30)) return marks_[below(marks_.size())];
    return pick({"",
                 "\"",
                 "a\"b",
                 "<",
                 "a<b",
                 ":",
                 "a:b",
                 " ",
                 "a b",
                 "\xD0\xBA\xD0\xBB\xD1\x8E\xD1\x87",
                 "\xE6\x9D\xB1",
                 "\xF0\x9F\x8C\xA6",
                 "</parameter>",
                 "a>b",
                 "=",
                 "'",
                 "\\",
                 "&amp;",
                 "a.b",
                 "class",
                 "None",
                 "x\ty",
                 "{",
                 "],",
                 "$ref",
                 "-",
                 "a/b",
                 "0",
                 "true"});
  }

  // An object with named members, most of them closed.
  json::Value object(std::size_t depth, bool hostile) {
    json::Object properties;
    json::Array required;
    for (std::size_t n = below(5); n > 0; --n) {
      const std::string key = name(hostile);
      if (properties.find(key) != nullptr) continue;
      properties.set(key, value(depth, hostile));
      if (chance(40)) required.emplace_back(key);
    }
    json::Object out = {{"type", "object"},
                        {"properties", std::move(properties)}};
    if (!required.empty()) out.set("required", std::move(required));
    if (chance(70)) {
      out.set("additionalProperties", false);
    } else if (chance(30)) {
      out.set("additionalProperties", value(0, hostile));
    }
    if (chance(20)) add_logic(out);
    return out;
  }

  // What no list of members says alone.
  void add_logic(json::Object& object) {
    const json::Object& properties = object.find("properties")->members();
    if (properties.size() < 2) return;
    const auto some = [&] {
      return properties.begin()[below(properties.size())].key;
    };
    const auto required = [&] {
      return json::Object{{"required", json::Array{some()}}};
    };
    const auto fixed = [&] {
      return json::Object{
          {"properties",
           json::Object{{some(), json::Object{{"const", schemas_.scalar()}}}}}};
    };
    switch (below(5)) {
      case 0:
        object.set("not", chance(50) ? required() : fixed());
        break;
      case 1:
        object.set("if", chance(50) ? required() : fixed());
        object.set("then", required());
        if (chance(50)) object.set("else", required());
        break;
      case 2:
        object.set("oneOf", json::Array{required(), required()});
        break;
      case 3:
        object.set("dependentRequired",
                   json::Object{{some(), json::Array{some()}}});
        break;
      default:
        object.set("dependentSchemas",
                   json::Object{{some(), chance(50) ? required() : fixed()}});
    }
  }

  json::Value value(std::size_t depth, bool hostile) {
    switch (below(depth == 0 ? 8 : 12)) {
      case 0:
      case 1:
        return string();
      case 2:
        return chance(50)
                   ? json::Object{{"type", "integer"}}
                   : json::Object{
                         {"type", "integer"}, {"minimum", -3}, {"maximum", 40}};
      case 3:
        return json::Object{{"type", "number"}};
      case 4:
        return json::Object{{"type", pick({"boolean", "null"})}};
      case 5:
        return json::Object{
            {"type",
             json::Array{pick({"string", "integer", "boolean"}), "null"}}};
      case 6: {
        json::Array list;
        for (std::size_t n = 1 + below(3); n > 0; --n) {
          list.push_back(chance(70) ? json::Value(text()) : schemas_.scalar());
        }
        return json::Object{{"enum", std::move(list)}};
      }
      case 7:
        if (chance(50)) return json::Object();
        return schemas_.schema({.references = false});
      case 8:
        return json::Object{{"type", "array"},
                            {"items", value(depth - 1, hostile)}};
      case 9:
        return json::Object{{"anyOf", json::Array{value(depth - 1, hostile),
                                                  value(depth - 1, hostile)}}};
      default:
        return object(depth - 1, hostile);
    }
  }

  json::Value string() {
    switch (below(5)) {
      case 0:
        return json::Object{
            {"type", "string"},
            {"pattern", pick({"^[a-z]+$", "^<?[a-z ]*$", "^.{0,5}$",
                              "^[0-2][0-9]:[0-5][0-9]$"})}};
      case 1:
        return json::Object{
            {"type", "string"},
            {"minLength", static_cast<std::int64_t>(below(4))},
            {"maxLength", static_cast<std::int64_t>(4 + below(9))}};
      case 2:
        return json::Object{{"type", "string"}, {"format", "date"}};
      default:
        return json::Object{{"type", "string"}};
    }
  }

  std::string text() {
    if (!marks_.empty() && chance(20)) return marks_[below(marks_.size())];
    return pick({"celsius", "3", "true", "null", "a b", " x", "x\n", "<b>",
                 "\"", "\\", "{}", "[1]", "\xC3\xA9", "", "1e3", "'"});
  }

  std::mt19937 random_;
  SmallSchemas schemas_;
  const std::vector<std::string> marks_;
  const std::vector<json::Value>& written_;
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_DRAWN_TOOLS_H_
