// What the schemas of tools lose to what is read back (read_texts.h).

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inversion/read_texts.h"
#include "inversion/reading.h"
#include "json/located.h"
#include "json/writer.h"
#include "regex/literal_pattern.h"
#include "schema/declared.h"

namespace parlance::inversion {
namespace {

using json::Value;

// Whether the arguments may have names that are not declared at the top.
bool allows_other_names(const Value& schema) {
  const Value* others = schema.find("additionalProperties");
  return others == nullptr || others->kind() != json::Kind::kBool ||
         others->as_bool() || schema.find("patternProperties") != nullptr;
}

// What every argument must be.
Value limits_of(const ReadTexts& read) {
  json::Object out;
  constexpr std::size_t kEvery = 6;
  if (read.types.size() < kEvery || read.integers_only()) {
    out.set("type", json::Array(read.types.begin(), read.types.end()));
  }
  if (!read.strings.empty()) out.set("pattern", read.strings);
  if (read.longest) {
    out.set("maxLength", static_cast<std::int64_t>(*read.longest));
  }
  if (read.countable) {
    constexpr std::int64_t kCountable = std::int64_t{1} << 53;
    out.set("minimum", -kCountable);
    out.set("maximum", kCountable);
  }
  if (!read.without.empty()) {
    json::Array without;
    for (const std::string& text : read.without) {
      without.push_back(json::Object{
          {"type", "string"}, {"pattern", regex::literal_pattern(text)}});
    }
    out.set("not", json::Object{{"anyOf", std::move(without)}});
  }
  return out;
}

std::uint8_t bits_of(const std::vector<std::string>& types) {
  constexpr std::pair<std::string_view, std::uint8_t> kBits[] = {
      {"null", schema::kNull},      {"boolean", schema::kBoolean},
      {"integer", schema::kNumber}, {"number", schema::kNumber},
      {"string", schema::kString},  {"array", schema::kArray},
      {"object", schema::kObject}};
  std::uint8_t out = 0;
  for (const auto& [name, bit] : kBits) {
    if (std::ranges::find(types, name) != types.end()) out |= bit;
  }
  return out;
}

// An error for a required argument all of whose types are lost.
std::optional<Error> check_required(const format::FormatImpl& format,
                                    const Plan& plan, const ReadTexts& read,
                                    const Tool& tool) {
  const Value* properties = tool.schema.find("properties");
  if (properties == nullptr) return std::nullopt;
  const auto root = schema::Declared::root(
      std::make_shared<const schema::ToolSchema>(tool.schema));
  for (const json::Member& member : properties->members()) {
    if (!requires_argument(tool, member.key)) continue;
    const schema::Declared declared = root.member(member.key);
    if (!declared.restricts() || declared.types() == 0 ||
        (declared.types() & bits_of(read.types)) != 0) {
      continue;
    }
    return Error{ErrorCode::kConflict,
                 "tools: " + argument_called(tool, member.key) +
                     " cannot be written in field '" +
                     format.description.fields[*plan.calls].name +
                     "', whose reader reads back no value of its type (" +
                     calls_pointer(format, plan) + "): of the call " +
                     json::quoted(read.text) + ", " + read.fault + ".",
                 argument_pointer(tool, member.key)};
  }
  return std::nullopt;
}

// A pattern of the strings that are a value of one of the types: the reader
// finds types in the schema, and takes them as such.
std::string spelling_of(std::uint8_t types) {
  constexpr std::pair<std::uint8_t, std::string_view> kSpellings[] = {
      {schema::kNull, "(?:null|None)\\s*$"},
      {schema::kBoolean, "(?:[Tt]rue|[Ff]alse)\\s*$"},
      {schema::kNumber, "[-+.0-9][-+.0-9eE_]*\\s*$"},
      {schema::kArray, "[\\[(]"},
      {schema::kObject, "\\{"}};
  std::string out;
  for (const auto& [bit, pattern] : kSpellings) {
    if ((types & bit) == 0) continue;
    out.append(out.empty() ? "" : "|").append(pattern);
  }
  return "^\\s*(?:" + out + ")";
}

// What declared arguments must be that may be strings, or values of types that
// are not read back.
json::Object spelled_types(const ReadTexts& read, const Value& limits,
                           const Tool& tool, std::vector<GrammarNote>& notes) {
  json::Object out;
  const std::uint8_t types = bits_of(read.types);
  const Value* properties = tool.schema.find("properties");
  if (properties == nullptr || types == schema::kAllTypes) return out;
  const auto root = schema::Declared::root(
      std::make_shared<const schema::ToolSchema>(tool.schema));
  for (const json::Member& member : properties->members()) {
    const schema::Declared declared = root.member(member.key);
    const auto lost = static_cast<std::uint8_t>(
        (declared.restricts() ? declared.types()
                              : std::uint8_t{schema::kAllTypes}) &
        ~types);
    if (lost == 0 ||
        (declared.restricts() && (declared.types() & schema::kString) == 0)) {
      continue;
    }
    json::Object spelled = {{"type", "string"}, {"pattern", spelling_of(lost)}};
    json::Array all;
    all.push_back(limits);
    all.emplace_back(json::Object{{"not", std::move(spelled)}});
    out.set(member.key, json::Object{{"allOf", std::move(all)}});
    notes.push_back(
        {GrammarNote::Kind::kNarrowed, "type",
         argument_pointer(tool, member.key),
         argument_called(tool, member.key) +
             ": strings that are read as a value of another type are left "
             "out."});
  }
  return out;
}

}  // namespace

bool may_have_other_names(const std::vector<Tool>& tools) {
  return std::ranges::any_of(
      tools, [](const Tool& tool) { return allows_other_names(tool.schema); });
}

std::optional<Error> narrow_to_read_texts(const format::FormatImpl& format,
                                          const Plan& plan,
                                          const ReadTexts& read,
                                          std::vector<Tool>& tools,
                                          std::vector<GrammarNote>& notes) {
  const Value limits = limits_of(read);
  for (Tool& tool : tools) {
    if (auto error = check_required(format, plan, read, tool)) return error;
    json::Object more;
    if (limits.size() > 0) more.set("additionalProperties", limits);
    if ((bits_of(read.types) & schema::kString) != 0) {
      json::Object spelled = spelled_types(read, limits, tool, notes);
      if (!spelled.empty()) more.set("properties", std::move(spelled));
    }
    if ((!read.names.empty() || !read.names_without.empty()) &&
        allows_other_names(tool.schema)) {
      json::Array names;
      if (const Value* declared = tool.schema.find("properties")) {
        for (const json::Member& member : declared->members()) {
          names.emplace_back(member.key);
        }
      }
      json::Array choices;
      if (!names.empty()) {
        choices.push_back(json::Object{{"enum", std::move(names)}});
      }
      if (read.names != kNoName) {
        json::Object others;
        if (!read.names.empty()) others.set("pattern", read.names);
        if (!read.names_without.empty()) {
          json::Array without;
          for (const std::string& pattern : read.names_without) {
            without.push_back(json::Object{{"pattern", pattern}});
          }
          others.set("not", json::Object{{"anyOf", std::move(without)}});
        }
        choices.emplace_back(std::move(others));
      }
      more.set("propertyNames",
               choices.empty()
                   ? Value(false)
                   : Value(json::Object{{"anyOf", std::move(choices)}}));
    }
    narrow_schema(tool, std::move(more));
  }
  const std::string pointer = field_pointer(format, *plan.calls);
  for (const std::string& what : read.notes) {
    notes.push_back({GrammarNote::Kind::kNarrowed, "content", pointer,
                     "field '" + format.description.fields[*plan.calls].name +
                         "': " + what});
  }
  return std::nullopt;
}

}  // namespace parlance::inversion
