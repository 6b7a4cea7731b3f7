// Look-ups in the generated tables.

#include "regex/unicode_properties.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "regex/unicode_tables.h"

namespace parlance::regex {
namespace {

std::span<const tables::NamedValue> category_names() {
  return {tables::kCategoryNames, tables::kCategoryNamesSize};
}
std::span<const tables::NamedValue> script_names() {
  return {tables::kScriptNames, tables::kScriptNamesSize};
}
std::span<const tables::NamedValue> block_names() {
  return {tables::kBlockNames, tables::kBlockNamesSize};
}
std::span<const tables::NamedValue> binary_names() {
  return {tables::kBinaryNames, tables::kBinaryNamesSize};
}

std::optional<std::uint32_t> look_up(std::span<const tables::NamedValue> names,
                                     std::string_view name) {
  auto at =
      std::lower_bound(names.begin(), names.end(), name,
                       [](const tables::NamedValue& a, std::string_view b) {
                         return std::string_view(a.name) < b;
                       });
  if (at == names.end() || at->name != name) return std::nullopt;
  return at->value;
}

// The ranges of all runs whose value `wanted` accepts.
template <class Wanted>
CharClass collect(std::span<const tables::Run> runs, Wanted wanted) {
  std::vector<CharRange> ranges;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!wanted(runs[i].value)) continue;
    char32_t end = i + 1 < runs.size() ? runs[i + 1].first : kMaxCodePoint + 1;
    ranges.push_back({runs[i].first, end - 1});
  }
  return CharClass(std::move(ranges));
}

CharClass script_class(std::uint32_t script) {
  return collect({tables::kScriptRuns, tables::kScriptRunsSize},
                 [script](std::uint8_t value) { return value == script; });
}

CharClass binary_class(std::uint32_t property) {
  const tables::Slice& slice = tables::kBinaryProperties[property];
  const CharRange* begin = tables::kBinaryRanges + slice.begin;
  return CharClass(std::vector<CharRange>(begin, begin + slice.size));
}

CharClass binary_by_name(std::string_view name) {
  return binary_class(*look_up(binary_names(), name));
}

// "Script_Extensions" -> "SCRIPTEXTENSIONS".
std::string standard_name(std::string_view name) {
  std::string result;
  for (char c : name) {
    if (c == '_' || c == '-' || c == ' ') continue;
    result += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return result;
}

bool is_refused(std::string_view name) {
  std::span<const char* const> refused(tables::kRefusedProperties,
                                       tables::kRefusedPropertiesSize);
  return std::binary_search(
      refused.begin(), refused.end(), name,
      [](std::string_view a, std::string_view b) { return a < b; });
}

PropertyAnswer found(CharClass set) {
  return {PropertyAnswer::Kind::kFound, std::move(set)};
}

PropertyAnswer category_answer(std::uint32_t mask) {
  static const std::uint32_t cased = *look_up(category_names(), "LC");
  PropertyAnswer answer = found(category_class(mask));
  if ((mask & cased) == mask) answer.ignoring_case = category_class(cased);
  return answer;
}

PropertyAnswer binary_answer(std::uint32_t index) {
  static const std::uint32_t upper = *look_up(binary_names(), "UPPERCASE");
  static const std::uint32_t lower = *look_up(binary_names(), "LOWERCASE");
  PropertyAnswer answer = found(binary_class(index));
  if (index == upper || index == lower) {
    answer.ignoring_case = binary_by_name("CASED");
  }
  return answer;
}

// \p{property=value}
PropertyAnswer qualified(std::string_view property, std::string_view value) {
  using Kind = PropertyAnswer::Kind;
  if (property == "GC" || property == "GENERALCATEGORY") {
    if (auto mask = look_up(category_names(), value)) {
      return category_answer(*mask);
    }
    return {Kind::kUnknownValue};
  }
  if (property == "SC" || property == "SCRIPT") {
    if (auto script = look_up(script_names(), value)) {
      return found(script_class(*script));
    }
    return {Kind::kUnknownValue};
  }
  if (property == "BLK" || property == "BLOCK") {
    if (auto block = look_up(block_names(), value)) {
      return found(CharClass({tables::kBlocks[*block]}));
    }
    return {Kind::kUnknownValue};
  }
  if (auto index = look_up(binary_names(), property)) {
    PropertyAnswer answer = binary_answer(*index);
    if (value == "YES" || value == "Y" || value == "TRUE" || value == "T") {
      return answer;
    }
    if (value == "NO" || value == "N" || value == "FALSE" || value == "F") {
      answer.char_class = answer.char_class.negated();
      return answer;
    }
    return {Kind::kUnknownValue};
  }
  return {is_refused(property) ? Kind::kRefused : Kind::kUnknownProperty};
}

}  // namespace

bool is_word(char32_t c) {
  static const std::array<bool, 128> ascii = [] {
    std::array<bool, 128> table{};
    for (char32_t a = 0; a < 128; ++a) {
      table[a] = property_class(Property::kWord).contains(a);
    }
    return table;
  }();
  if (c < 128) return ascii[c];
  return property_class(Property::kWord).contains(c);
}

const CharClass& property_class(Property property) {
  static const CharClass word = binary_by_name("WORD");
  static const CharClass space = binary_by_name("WHITESPACE");
  static const CharClass digit =
      category_class(*look_up(category_names(), "ND"));
  static const CharClass alphabetic = binary_by_name("ALPHABETIC");
  switch (property) {
    case Property::kWord:
      return word;
    case Property::kSpace:
      return space;
    case Property::kDigit:
      return digit;
    case Property::kAlphabetic:
      break;
  }
  return alphabetic;
}

const CharClass& word_class(Flavor flavor) {
  // The characters that str.isalnum() accepts, and "_".
  static const CharClass python = [] {
    CharClass set = category_class(*look_up(category_names(), "L") |
                                   *look_up(category_names(), "N"));
    set.add({'_', '_'});
    return set;
  }();
  static const CharClass ecma(
      std::vector<CharRange>{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
  switch (flavor) {
    case Flavor::kRegexModule:
      break;
    case Flavor::kPythonRe:
      return python;
    case Flavor::kEcma:
      return ecma;
  }
  return property_class(Property::kWord);
}

CharClass category_class(unsigned mask) {
  return collect(
      {tables::kCategoryRuns, tables::kCategoryRunsSize},
      [mask](std::uint8_t value) { return ((mask >> value) & 1U) != 0; });
}

PropertyAnswer find_property(std::string_view property_text,
                             std::string_view name_text, bool posix) {
  std::string property = standard_name(property_text);
  std::string name = standard_name(name_text);
  if (!property.empty()) return qualified(property, name);
  if (posix && (name == "ALNUM" || name == "DIGIT" || name == "PUNCT" ||
                name == "XDIGIT")) {
    name = "POSIX" + name;
  }

  if (auto mask = look_up(category_names(), name)) {
    return category_answer(*mask);
  }
  if (auto script = look_up(script_names(), name)) {
    return found(script_class(*script));
  }
  if (auto block = look_up(block_names(), name)) {
    return found(CharClass({tables::kBlocks[*block]}));
  }
  if (auto index = look_up(binary_names(), name)) return binary_answer(*index);

  std::string_view rest =
      std::string_view(name).substr(std::min<std::size_t>(2, name.size()));
  if (name.starts_with("IS")) {
    if (auto index = look_up(binary_names(), rest)) {
      return binary_answer(*index);
    }
    if (auto script = look_up(script_names(), rest)) {
      return found(script_class(*script));
    }
  }
  if (name.starts_with("IN")) {
    if (auto block = look_up(block_names(), rest)) {
      return found(CharClass({tables::kBlocks[*block]}));
    }
  }
  return {is_refused(name) ? PropertyAnswer::Kind::kRefused
                           : PropertyAnswer::Kind::kUnknownProperty};
}

CharClass fold_case(const CharClass& set) {
  std::vector<CharRange> ranges(set.ranges().begin(), set.ranges().end());
  std::size_t before = ranges.size();
  for (std::size_t i = 0; i < tables::kCasePairsSize; ++i) {
    const tables::CasePair& pair = tables::kCasePairs[i];
    if (set.contains(pair.b)) ranges.push_back({pair.a, pair.a});
  }
  if (ranges.size() == before) return set;
  return CharClass(std::move(ranges));
}

const CharClass& newer_characters() {
  static const CharClass newer(std::vector<CharRange>(
      tables::kNewer, tables::kNewer + tables::kNewerSize));
  return newer;
}

}  // namespace parlance::regex
