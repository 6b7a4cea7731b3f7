// Derives the rules of all values from a schema.
//
// A rule of a value refers to rules of lists, and the rules of lists refer to
// those of their values.  Rules are shared by the conjunction of subschemas
// that they come from, and make_all() describes the lists one by one, as a work
// list.  So a schema may refer to itself, and nothing is recursive.

#include "arguments/reader_rules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "arguments/elements.h"
#include "base/utf8.h"
#include "schema/cast_calls.h"
#include "schema/close.h"
#include "schema/validate.h"
#include "schema_solver/excludes.h"

namespace parlance::arguments {

using arguments::Conjunction;
using structural_tag::ArgumentStyle;

namespace {

// A text that is JSON throughout, or that has its type beside it, is not cast.
ToolSet cast_tool(const structural_tag::JsonSchemaBody& format,
                  const ElementLayout& layout) {
  if (layout.strings == ElementLayout::Strings::kJson ||
      !layout.types.empty() || format.style == ArgumentStyle::kCohereXml) {
    return {};
  }
  return ToolSet::from_value(
      json::Array{json::Object{{"name", ""}, {"parameters", format.schema}}});
}

}  // namespace

ArgumentRules::ArgumentRules(const structural_tag::JsonSchemaBody& format,
                             const Limits& limits,
                             std::shared_ptr<const ArgumentDocument> loaded)
    : format_(format),
      layout_(element_layout(format)),
      groups_(type_groups(layout_)),
      limits_(limits),
      loaded_(std::move(loaded)),
      tool_(cast_tool(format_, layout_)),
      schema_(*loaded_, format_.schema, languages_) {}

Result<std::unique_ptr<ArgumentRules>> ArgumentRules::make(
    const structural_tag::JsonSchemaBody& format, const Limits& limits,
    std::shared_ptr<const ArgumentDocument> loaded) {
  if (loaded == nullptr) {
    auto made = ArgumentDocument::load(format.schema, limits);
    if (!made) return std::move(made).error();
    loaded = *std::move(made);
  }
  std::unique_ptr<ArgumentRules> rules(
      new ArgumentRules(format, limits, std::move(loaded)));
  if (auto error = rules->make_all()) return *std::move(error);
  return rules;
}

std::optional<Error> ArgumentRules::make_all() {
  const Conjunction root = {schema_solver::holds(loaded_->document.root)};
  if ((schema_.types(root) & schema::kObject) != 0) {
    root_list_ = list_of(schema::kObject, root);
  } else {
    Result<ValueId> value = value_of(root);
    if (!value) return std::move(value).error();
    root_value_ = *value;
  }
  // Invariant: the lists before `i` have all their alternatives.  Describing a
  // list may append further lists.
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    const Conjunction all = lists_[i].all;
    if (lists_[i].type == schema::kObject) {
      Result<std::vector<arguments::ArgumentObject>> alternatives =
          schema_.objects(all);
      if (!alternatives) return std::move(alternatives).error();
      for (arguments::ArgumentObject& constraints : *alternatives) {
        // The grammar has no alternative that requires an excluded name, so
        // there is none to read.
        if (!schema_.remove_names(constraints, layout_, format_.excludes)) {
          continue;
        }
        if (format_.style == ArgumentStyle::kElements &&
            !schema_.remove_names(constraints, layout_,
                                  name_excludes(layout_))) {
          continue;
        }
        Result<ObjectRule> rule = object_rule(constraints);
        if (!rule) return std::move(rule).error();
        lists_[i].objects.push_back(std::move(*rule));
      }
    } else {
      Result<std::vector<arguments::ArgumentArray>> alternatives =
          schema_.arrays(all);
      if (!alternatives) return std::move(alternatives).error();
      for (const arguments::ArgumentArray& constraints : *alternatives) {
        Result<ArrayRule> rule = array_rule(constraints);
        if (!rule) return std::move(rule).error();
        lists_[i].arrays.push_back(std::move(*rule));
      }
    }
  }
  return std::nullopt;
}

// The rule of a list, which make_all() describes later if it is new.
ListId ArgumentRules::list_of(schema::TypeBits type, const Conjunction& all) {
  const auto [entry, made] =
      list_ids_.try_emplace({type, all}, static_cast<ListId>(lists_.size()));
  if (made) lists_.push_back({.type = type, .all = all});
  return entry->second;
}

// The rule of a value, which is described at once if it is new.  That ends,
// although schemas may be recursive: what is inside a value is a list, and
// list_of() only numbers lists.
Result<ValueId> ArgumentRules::value_of(const Conjunction& all) {
  const auto [entry, made] =
      value_ids_.try_emplace(all, static_cast<ValueId>(values_.size()));
  if (!made) return entry->second;
  ValueRule rule;
  rule.all = all;
  if (auto error = describe(rule)) return *std::move(error);
  values_.push_back(std::move(rule));
  return entry->second;
}

// Determines which strings, JSON texts and lists of elements are values of the
// conjunction `rule.all`.  Of the descriptions of the strings, the first that
// applies is used: a list, lengths, or the language in general.
std::optional<Error> ArgumentRules::describe(ValueRule& rule) {
  using Strings = ValueRule::Strings;
  const bool cohere = format_.style == ArgumentStyle::kCohereXml;
  // cohere_xml writes an unconstrained value as JSON, strings included.
  if (cohere && schema_.unconstrained(rule.all) && root_list_ != kNoList) {
    rule.json_types = schema::kAllTypes;
    return std::nullopt;
  }
  const std::uint8_t types = schema_.types(rule.all);
  rule.json_types = types & static_cast<std::uint8_t>(~schema::kString);
  if (nests() && root_list_ != kNoList) {
    if ((types & schema::kObject) != 0) {
      rule.object = list_of(schema::kObject, rule.all);
    }
    if ((types & schema::kArray) != 0) {
      rule.array = list_of(schema::kArray, rule.all);
    }
    rule.json_types &=
        static_cast<std::uint8_t>(~(schema::kObject | schema::kArray));
  }
  if ((types & schema::kString) == 0) return std::nullopt;
  if (layout_.strings == ElementLayout::Strings::kJson) {
    rule.json_types |= schema::kString;
    return std::nullopt;
  }
  Result<automata::LanguageId> strings = schema_.strings(rule.all);
  if (!strings) return std::move(strings).error();
  rule.language = *strings;
  if (languages_.empty(*strings)) {
    rule.strings = Strings::kNoString;
  } else if (auto listed = schema_.listed_strings(rule.all, *strings)) {
    rule.strings = Strings::kListed;
    rule.listed = std::move(*listed);
  } else if (auto lengths = schema_.lengths(rule.all)) {
    rule.strings = Strings::kLengths;
    rule.lengths = *lengths;
  } else {
    rule.strings = *strings == languages_.everything() ? Strings::kAny
                                                       : Strings::kLanguage;
  }
  return std::nullopt;
}

// Copies the constraints of an object, and adds what the reader looks up: the
// members by their written names, and the next required member from each member
// on.
Result<ObjectRule> ArgumentRules::object_rule(
    const arguments::ArgumentObject& constraints) {
  ObjectRule out;
  out.min = constraints.min;
  out.max = constraints.max;
  for (const arguments::ArgumentObject::Member& one : constraints.members) {
    Result<ValueId> value = value_of(one.value);
    if (!value) return std::move(value).error();
    std::string written = written_name(layout_, one.name);
    const auto index = static_cast<std::uint32_t>(out.members.size());
    if (written.find(layout_.middle) != std::string::npos) {
      out.names_with_middle.push_back(index);
    } else {
      out.by_written.emplace(written, index);
    }
    if (one.required) out.required.push_back(index);
    out.members.push_back({one.name, std::move(written), *value});
  }
  out.next_required.resize(constraints.members.size() + 1);
  out.next_required.back() =
      static_cast<std::uint32_t>(constraints.members.size());
  for (std::size_t i = constraints.members.size(); i-- > 0;) {
    out.next_required[i] = constraints.members[i].required
                               ? static_cast<std::uint32_t>(i)
                               : out.next_required[i + 1];
  }
  // minimax_m3_xml has no undeclared members.
  const bool others = format_.style != ArgumentStyle::kMinimaxM3Xml;
  for (const arguments::ArgumentObject::Extra& one : constraints.extras) {
    if (!others) break;
    Result<ValueId> value = value_of(one.value);
    if (!value) return std::move(value).error();
    out.extras.push_back({schema_.names_of(one), *value});
  }
  return out;
}

Result<ArrayRule> ArgumentRules::array_rule(
    const arguments::ArgumentArray& constraints) {
  ArrayRule out;
  out.min = constraints.min;
  out.max = constraints.max;
  for (const Conjunction& item : constraints.prefix) {
    Result<ValueId> value = value_of(item);
    if (!value) return std::move(value).error();
    out.prefix.push_back(*value);
  }
  if (constraints.rest) {
    Result<ValueId> value = value_of(*constraints.rest);
    if (!value) return std::move(value).error();
    out.rest = *value;
  }
  return out;
}

bool ArgumentRules::string_fits(ValueId id, std::string_view text) {
  const ValueRule& rule = values_[id];
  switch (rule.strings) {
    case ValueRule::Strings::kNoString:
      return false;
    case ValueRule::Strings::kAny:
      return true;
    case ValueRule::Strings::kListed:
      return std::find(rule.listed.begin(), rule.listed.end(), text) !=
             rule.listed.end();
    case ValueRule::Strings::kLengths: {
      const std::size_t size = base::count_code_points(text);
      return size >= rule.lengths.min && size <= rule.lengths.max;
    }
    case ValueRule::Strings::kLanguage:
      return schema_.accepts(rule.language, text);
  }
  return false;
}

std::optional<MemberName> ArgumentRules::member_of(const ObjectRule& rule,
                                                   std::string_view written) {
  const auto declared = rule.by_written.find(written);
  if (declared != rule.by_written.end()) {
    const ObjectRule::Member& member = rule.members[declared->second];
    return MemberName{declared->second, member.name, member.value};
  }
  for (const ObjectRule::Extra& extra : rule.extras) {
    if (!schema_.accepts(extra.names, written)) continue;
    return MemberName{kNone, std::string(written), extra.value};
  }
  return std::nullopt;
}

json_recogniser::JsonRecogniser* ArgumentRules::recogniser_of(
    const ValueRule& rule, ValueRule::JsonTexts& texts, bool only_closed,
    const std::vector<std::string>& excludes) {
  if (texts.known) return texts.recogniser.get();
  texts.known = true;
  // The recogniser accepts every valid value, in any layout, order and
  // spelling.
  JsonSchemaOptions options;
  options.spelling = JsonSpelling::kAny;
  options.layout.max_white_space = JsonLayout::kUnlimited;
  schema::LoadOptions load;
  load.limits = limits_;
  const json::Value schema = schema_.schema_of(rule.all, rule.json_types);
  // A schema that cannot be enforced for open objects and arrays may be
  // enforceable for closed ones, which the grammar of the node has.
  for (const bool closed : {false, true}) {
    if (only_closed && !closed) continue;
    Result<schema::Document> document = schema::load(schema, load);
    if (!document) break;
    if (closed) schema::close(*document);
    schema_solver::exclude_texts(*document, excludes);
    auto impl =
        json_recogniser::JsonRecogniser::create(std::move(*document), options);
    if (!impl) continue;
    texts.recogniser = std::move(*impl);
    break;
  }
  return texts.recogniser.get();
}

std::size_t ArgumentRules::json_end(ValueId id, std::string_view text,
                                    std::size_t begin,
                                    std::string_view follow) {
  constexpr std::size_t kNowhere = std::string_view::npos;
  ValueRule& rule = values_[id];
  if (rule.json_types == 0) return kNowhere;
  // The longest text that is valid and followed by `follow`.
  const auto longest = [&](json_recogniser::JsonRecogniser* impl) {
    std::size_t end = kNowhere;
    if (impl == nullptr) return end;
    recogniser::Configuration config = impl->start();
    for (std::size_t i = begin; i < text.size(); ++i) {
      config = impl->step(config, static_cast<std::uint8_t>(text[i]));
      if (config.dead()) break;
      if (impl->can_end(config) && text.substr(i + 1).starts_with(follow)) {
        end = i + 1;
      }
    }
    return end;
  };
  std::size_t end = longest(recogniser_of(rule, rule.valid, false, {}));
  const bool nests =
      begin < text.size() && (text[begin] == '{' || text[begin] == '[');
  if (end == kNowhere && nests) {
    end = longest(recogniser_of(rule, rule.closed, true, {}));
  }
  if (end != kNowhere || format_.excludes.empty()) return end;
  return longest(
      recogniser_of(rule, rule.without_excluded, false, format_.excludes));
}

std::shared_ptr<const schema::Parameter> ArgumentRules::parameter_of(
    std::string_view name) const {
  return schema::parameter_of(tool_, "", name, schema::Strings::kWritten);
}

json::Value ArgumentRules::raw_value(std::string_view name, ValueId id,
                                     std::string_view text) {
  if (values_[id].json_types == 0) return text;
  const auto parameter = parameter_of(name);
  return parameter != nullptr ? cast_string(*parameter, id, text)
                              : json_in(id, text).value_or(json::Value(text));
}

json::Value ArgumentRules::cast_string(const schema::Parameter& parameter,
                                       ValueId id,
                                       std::string_view text) const {
  const json::Value string(text);
  const ValueRule& rule = values_[id];
  const std::uint8_t types = static_cast<std::uint8_t>(
      rule.json_types | (rule.object == kNoList ? 0 : schema::kObject) |
      (rule.array == kNoList ? 0 : schema::kArray));
  auto cast =
      schema::cast_argument(string, parameter, schema::Strings::kWritten);
  // Another alternative of the object may take another type.
  return cast && (types & schema::type_bit(*cast)) != 0 ? *std::move(cast)
                                                        : string;
}

std::optional<json::Value> ArgumentRules::number_value(
    const schema::Parameter* parameter, std::string_view text,
    json::Value number) {
  if (parameter == nullptr) return number;
  auto cast = schema::cast_argument(json::Value(text), *parameter,
                                    schema::Strings::kWritten);
  if (!cast && std::isfinite(number.as_float())) return number;
  return cast;
}

std::optional<json::Value> ArgumentRules::json_in(ValueId id,
                                                  std::string_view text) {
  if (values_[id].json_types == 0) return std::nullopt;
  const std::size_t begin = skip_space(text, 0);
  const std::size_t end = json_end(id, text, begin, {});
  if (end == std::string_view::npos || skip_space(text, end) != text.size()) {
    return std::nullopt;
  }
  return parse_json(text.substr(begin, end - begin), limits_);
}

}  // namespace parlance::arguments
