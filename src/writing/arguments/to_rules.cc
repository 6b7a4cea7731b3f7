// The rules of objects, of arrays, and of the values of elements.

#include "arguments/to_rules.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "arguments/member_order.h"
#include "arguments/name_partition.h"
#include "arguments/rule_writer.h"
#include "base/argument_names.h"
#include "base/utf8.h"
#include "json/writer.h"
#include "schema/conjoin.h"

namespace parlance::arguments {

using structural_tag::ArgumentStyle;

using rules::ExprId;
using rules::kNoExpr;
using rules::kNoRule;
using rules::RuleId;
using rules::Rules;
namespace {

using automata::LanguageId;

// The limit of the number of automaton states for all strings of a schema.
constexpr std::size_t kMaxTextStates = 20'000;

}  // namespace

RuleWriter::RuleWriter(const ArgumentOptions& options, Rules& rules,
                       const ArgumentDocument& loaded,
                       const json::Value& source, SharedTexts& shared)
    : options_(options),
      rules_(rules),
      document_(loaded.document),
      layout_(options.layout),
      excludes_in_element_(joined(raw_excludes(layout_))),
      languages_(shared.for_next_schema()),
      schema_(loaded, source, languages_),
      texts_(languages_, rules, shared.dfas(), kMaxTextStates) {
  regex::CharClass space({{' ', ' '}, {'\t', '\t'}, {'\n', '\n'}});
  space_ = layout_.loose ? rules_.repeat(rules_.char_class(std::move(space)), 0,
                                         options_.max_white_space)
                         : rules_.empty();
}

// The whole text: the members of an object or, if the schema is not a schema of
// objects, a value.
ExprId RuleWriter::root() {
  const Conjunction all = {schema_solver::holds(document_.root)};
  if ((schema_.types(all) & schema::kObject) != 0) {
    const bool call = options_.style == ArgumentStyle::kPython;
    return rules_.reference(list_rule(schema::kObject, all, call));
  }
  if (options_.style == ArgumentStyle::kMinimaxM3Xml ||
      options_.style == ArgumentStyle::kPython) {
    fail({ErrorCode::kUnsupported,
          std::string(to_string(options_.style)) +
              " writes objects alone: the schema has to let an object "
              "through."});
    return rules_.empty();
  }
  if (options_.style == ArgumentStyle::kDelimited) return literal(all);
  if (options_.style == ArgumentStyle::kElements) {
    return exact_value(all, {"", schema::kAllTypes},
                       joined(options_.alone_excludes), /*cdata=*/false);
  }
  return value(all, {"", schema::kAllTypes}, joined(options_.alone_excludes),
               false);
}

Result<LoweredArguments> RuleWriter::write() {
  const ExprId out = root();
  while (!waiting_.empty() && !error_) {
    const Waiting next = std::move(waiting_.back());
    waiting_.pop_back();
    const ExprId body = next.list.type == schema::kObject ? object(next.list)
                                                          : array(next.list);
    rules_.rules[next.rule].body = body;
    if (rules_.exprs.size() > options_.max_exprs) {
      fail({ErrorCode::kTooLarge,
            "The schema makes more expressions than the limit allows "
            "(RulesLimits::exprs)."});
    }
  }
  if (languages_.narrowed()) {
    fail({ErrorCode::kTooLarge,
          "The patterns of strings and names need more memory than the "
          "limit allows (LanguageLimits)."});
  }
  if (error_) return *std::move(error_);
  narrowed_.insert(narrowed_.end(), schema_.narrowed().begin(),
                   schema_.narrowed().end());
  return LoweredArguments{out, std::move(narrowed_), texts_.take_texts(), {}};
}

// The rule of all members of an object or items of an array, whose body write()
// makes later if it is new.
RuleId RuleWriter::list_rule(schema::TypeBits type, const Conjunction& all,
                             bool call) {
  const ListKey key{type, call, all};
  const auto [entry, made] = list_rules_.try_emplace(key, kNoRule);
  if (made) {
    entry->second =
        rules_.add_rule("arguments_" + std::to_string(rules_.rules.size()));
    waiting_.push_back({key, entry->second});
  }
  return entry->second;
}

std::vector<std::string> RuleWriter::joined(
    std::vector<std::string> texts) const {
  texts.insert(texts.end(), options_.excludes.begin(), options_.excludes.end());
  return texts;
}

// JSON texts of these types.  `integers`: their numbers are integers.
ExprId RuleWriter::schema_expr(const Conjunction& all, std::uint8_t types,
                               bool integers) {
  rules::SchemaExpr texts = json_texts(
      schema_.schema_of(all, types, integers), types, options_.any_order,
      options_.max_white_space, options_.excludes);
  if (layout_.one_line) {
    texts.options.mutable_members().erase("max_whitespace_cnt");
    texts.options.mutable_members().set("any_whitespace", false);
  }
  return rules_.schema(std::move(texts));
}

ExprId RuleWriter::json(const Conjunction& all, std::uint8_t types) {
  return rules_.sequence({space_, schema_expr(all, types), space_});
}

// The markers are exact, because the text of a list is parsed as a value only
// when it is complete, and by then its token boundaries are lost.
ExprId RuleWriter::marker(std::string_view text) {
  return rules_.marker(text, 0, /*exact=*/true);
}

// Raw text for strings, JSON for everything else: the values of one group of
// types.
ExprId RuleWriter::value(const Conjunction& all, const TypeGroup& group,
                         const std::vector<std::string>& excludes,
                         bool line_feeds) {
  std::uint8_t types = schema_.types(all) & group.types;
  std::vector<ExprId> choices;
  if ((types & schema::kString) != 0) {
    const auto strings = taken(schema_.strings(all));
    if (!strings) return rules_.empty();
    if (!no_strings(*strings)) {
      choices.push_back(raw_text(all, *strings, excludes, line_feeds));
    }
    // Free text includes the spellings of all scalars.
    if (*strings == languages_.everything()) {
      types &= schema::kArray | schema::kObject;
    }
  }
  types &= static_cast<std::uint8_t>(~schema::kString);
  if (options_.style == ArgumentStyle::kMinimaxM3Xml) {
    types &= schema::kNull | schema::kBoolean | schema::kNumber;
  }
  if (types != 0) {
    choices.push_back(rules_.sequence(
        {space_, schema_expr(all, types, group.integers), space_}));
  }
  return rules_.choice(std::move(choices));
}

// The value of an element of exact texts, or a value alone: the values of one
// group of types, without white space around them.  `cdata`: strings may be
// CDATA sections.
ExprId RuleWriter::exact_value(const Conjunction& all, const TypeGroup& group,
                               const std::vector<std::string>& excludes,
                               bool cdata) {
  using Strings = ElementLayout::Strings;
  std::uint8_t types = schema_.types(all) & group.types;
  std::vector<ExprId> choices;
  if ((types & schema::kString) != 0 && layout_.strings != Strings::kJson) {
    types &= static_cast<std::uint8_t>(~schema::kString);
    const auto strings = taken(schema_.strings(all));
    if (!strings) return rules_.empty();
    if (!no_strings(*strings)) {
      std::vector<std::string> raw = excludes;
      if (cdata) {
        raw.insert(raw.end(), {"<", "&"});
        choices.push_back(rules_.sequence(
            {marker(kCdataOpen),
             raw_text(all, *strings, joined({std::string(kCdataClose)}), false),
             marker(kCdataClose)}));
      }
      choices.push_back(raw_text(all, *strings, raw, false));
    }
    // Free text includes the spellings of all scalars, unless it excludes a
    // part of one.
    const bool in_scalars = std::any_of(
        excludes.begin(), excludes.end(), [](const std::string& text) {
          return text.find_first_not_of("0123456789+-.Eaeflnrstu") ==
                 std::string::npos;
        });
    if (!in_scalars && *strings == languages_.everything()) {
      types &= schema::kArray | schema::kObject;
    }
  }
  if (types != 0) choices.push_back(schema_expr(all, types, group.integers));
  return rules_.choice(std::move(choices));
}

ExprId RuleWriter::exact_element(ExprId name, const Conjunction& all) {
  std::vector<ExprId> choices;
  for (const TypeGroup& group : type_groups(layout_)) {
    if ((schema_.types(all) & group.types) == 0) continue;
    const ExprId written =
        exact_value(all, group, excludes_in_element(),
                    layout_.strings == ElementLayout::Strings::kCdata);
    choices.push_back(
        layout_.types.empty()
            ? written
            : rules_.sequence({rules_.bytes(group.text),
                               marker(layout_.after_type), written}));
  }
  return rules_.sequence({marker(layout_.open), name, marker(layout_.middle),
                          rules_.choice(std::move(choices)),
                          marker(layout_.close)});
}

// DeepSeek, Kimi K3: the text of the value's type, and a value of this type. A
// value that can only be a number has the type "number" in Kimi K3, also where
// it is an integer.
ExprId RuleWriter::typed_value(const Conjunction& all) {
  const std::uint8_t types = schema_.types(all);
  std::vector<ExprId> choices;
  for (const TypeGroup& group : type_groups(layout_)) {
    if ((types & group.types) == 0) continue;
    if (group.integers && types == schema::kNumber) continue;
    choices.push_back(rules_.sequence(
        {rules_.bytes(group.text), marker(layout_.after_type),
         value(all, group, excludes_in_element(), layout_.line_feeds)}));
  }
  return rules_.choice(std::move(choices));
}

// Cohere: an attribute gives the kind of the value: raw, json, dict or list.
ExprId RuleWriter::cohere_element(ExprId name, const Conjunction& all) {
  const std::uint8_t types = schema_.types(all);
  std::vector<ExprId> choices;
  const auto alternative = [&](std::string_view kind, ExprId content) {
    choices.push_back(rules_.sequence(
        {marker(" type=\"" + std::string(kind) + layout_.after_type),
         content}));
  };
  if (schema_.unconstrained(all)) {
    alternative("json", json(all, schema::kAllTypes));
  } else {
    if ((types & schema::kString) != 0) {
      const auto strings = taken(schema_.strings(all));
      if (!strings) return rules_.empty();
      if (!no_strings(*strings)) {
        alternative("raw",
                    raw_text(all, *strings, excludes_in_element(), false));
      }
    }
    constexpr std::uint8_t kScalars =
        schema::kNull | schema::kBoolean | schema::kNumber;
    if ((types & kScalars) != 0) {
      alternative("json", json(all, types & kScalars));
    }
    if ((types & schema::kObject) != 0) {
      alternative("dict", rules_.reference(list_rule(schema::kObject, all)));
    }
    if ((types & schema::kArray) != 0) {
      alternative("list", rules_.reference(list_rule(schema::kArray, all)));
    }
  }
  std::vector<ExprId> parts = {marker(layout_.open)};
  if (name != kNoExpr) {
    parts.push_back(rules_.bytes(" name=\""));
    parts.push_back(name);
    parts.push_back(rules_.bytes("\""));
  }
  parts.push_back(rules_.choice(std::move(choices)));
  parts.push_back(marker(layout_.close));
  return rules_.sequence(std::move(parts));
}

// MiniMax M3: an element contains text or elements, without an attribute.
ExprId RuleWriter::minimax_m3_element(ExprId name, const Conjunction& all) {
  if (name == kNoExpr) name = rules_.bytes(kMinimaxM3Item);
  const std::uint8_t types = schema_.types(all);
  constexpr std::uint8_t kLists = schema::kObject | schema::kArray;
  std::vector<ExprId> choices;
  if ((types & ~kLists) != 0) {
    choices.push_back(
        value(all, {"", schema::kAllTypes}, excludes_in_element(), false));
  }
  for (const schema::TypeBits type : {schema::kObject, schema::kArray}) {
    if ((types & type) != 0) {
      choices.push_back(rules_.reference(list_rule(type, all)));
    }
  }
  return rules_.sequence({marker(layout_.open), name, marker(layout_.middle),
                          rules_.choice(std::move(choices)),
                          marker(layout_.close), name, marker(layout_.middle)});
}

// Removes the undeclared names: a style that writes each name twice can enforce
// that both are equal only for a name that the schema spells out.
void RuleWriter::remove_undeclared(ArgumentObject& constraints,
                                   const Conjunction& all) {
  if (constraints.extras.empty()) return;
  constraints.extras.clear();
  const std::string path = pointer(all);
  constexpr std::string_view kNarrowed =
      "names that the schema does not list are left out: minimax_m3_xml writes "
      "each name twice.  List them under 'properties'";
  if (narrowed_.empty() || narrowed_.back().path != path) {
    narrowed_.push_back({GrammarNote::Kind::kNarrowed, "additionalProperties",
                         path, std::string(kNarrowed)});
  }
}

ExprId RuleWriter::element(ExprId name, const Conjunction& all) {
  if (options_.style == ArgumentStyle::kCohereXml) {
    return cohere_element(name, all);
  }
  if (options_.style == ArgumentStyle::kMinimaxM3Xml) {
    return minimax_m3_element(name, all);
  }
  if (options_.style == ArgumentStyle::kElements) {
    return exact_element(name, all);
  }
  std::vector<ExprId> parts = {marker(layout_.open), name,
                               marker(layout_.middle)};
  if (!layout_.types.empty()) {
    parts.push_back(typed_value(all));
  } else {
    if (options_.style == ArgumentStyle::kGlmXml) parts.push_back(space_);
    parts.push_back(marker(layout_.after_type));
    parts.push_back(value(all, {"", schema::kAllTypes}, excludes_in_element(),
                          layout_.line_feeds));
  }
  parts.push_back(marker(layout_.close));
  return rules_.sequence(std::move(parts));
}

std::string RuleWriter::separator() const {
  switch (options_.style) {
    case ArgumentStyle::kElements:
      return layout_.between;
    case ArgumentStyle::kPython:
      return ", ";
    case ArgumentStyle::kDelimited:
      return ",";
    default:
      return "";
  }
}

// One member with an undeclared name, from `part` if it is given, and the
// white space after it.
ExprId RuleWriter::extra_members(const ArgumentObject& constraints,
                                 const ListKey& list,
                                 std::optional<LanguageId> part) {
  std::vector<ExprId> choices;
  for (const ArgumentObject::Extra& one : constraints.extras) {
    LanguageId names = one.names;
    if (part) names = languages_.all_of({names, *part});
    if (languages_.empty(names)) continue;
    choices.push_back(
        is_literal()
            ? rules_.sequence(
                  {literal_names(names, one, list.call), literal(one.value)})
            : element(language(names, one.value, one.excludes, one.declared),
                      one.value));
  }
  return rules_.sequence({rules_.choice(std::move(choices)), space_});
}

// From `least` to `most` members with undeclared names (each is `any`), among
// them at least `least` different names.
// `first`: no member comes before them, and so no separator.
ExprId RuleWriter::extras(const ArgumentObject& constraints,
                          const ListKey& list, ExprId any, std::uint64_t least,
                          std::uint64_t most, bool first) {
  if (most < least) return rules_.choice({});
  if (least > 1) return different(constraints, list, any, least, most, first);
  if (!first || separator().empty()) {
    return rules_.repeat(after_separator(any), repeat_bound(least),
                         repeat_bound(most));
  }
  if (most == 0) return rules_.empty();
  const ExprId more = rules_.repeat(
      after_separator(any), 0,
      repeat_bound(most == ArgumentObject::kUnbounded ? most : most - 1));
  const ExprId some = rules_.sequence({any, more});
  return least == 0 ? rules_.repeat(some, 0, 1) : some;
}

ExprId RuleWriter::after_separator(ExprId one) {
  const std::string parting = separator();
  return parting.empty() ? one : rules_.sequence({marker(parting), one});
}

// extras() with names that must differ: these are from different parts of the
// names, so what may follow depends on the set of parts written.
ExprId RuleWriter::different(const ArgumentObject& constraints,
                             const ListKey& list, ExprId any,
                             std::uint64_t least, std::uint64_t most,
                             bool first) {
  std::vector<LanguageId> names;
  for (const ArgumentObject::Extra& one : constraints.extras) {
    names.push_back(schema_.names_of(one));
  }
  const std::vector<LanguageId> parts = name_parts(
      languages_, languages_.any_of(std::move(names)),
      static_cast<std::size_t>(std::min<std::uint64_t>(least, kMaxNameParts)));
  if (least > parts.size()) return rules_.choice({});
  std::vector<ExprId> elements;
  elements.reserve(parts.size());
  for (const LanguageId part : parts) {
    elements.push_back(
        shared_expr(rules_, extra_members(constraints, list, part)));
  }
  const ExprId last = shared_expr(
      rules_, rules_.repeat(after_separator(any), 0,
                            repeat_bound(most == ArgumentObject::kUnbounded
                                             ? most
                                             : most - least)));
  // after[came] is what may follow the set of parts `came`.  From large sets to
  // small ones: `after` is final for every superset.
  const std::size_t sets = std::size_t{1} << parts.size();
  std::vector<ExprId> after(sets, kNoExpr);
  for (std::size_t came = sets; came-- > 0;) {
    const auto count = static_cast<std::uint64_t>(std::popcount(came));
    if (count > least) continue;
    if (count == least) {
      after[came] = last;
      continue;
    }
    std::vector<ExprId> choices;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t with = came | (std::size_t{1} << i);
      if (with == came) continue;
      const bool begins = came == 0 && first;
      choices.push_back(rules_.sequence(
          {begins ? elements[i] : after_separator(elements[i]), after[with]}));
    }
    after[came] = shared_expr(rules_, rules_.choice(std::move(choices)));
  }
  return after[0];
}

ExprId RuleWriter::members(const ArgumentObject& constraints,
                           const ListKey& list) {
  MemberParts parts;
  parts.min = constraints.min;
  parts.max = constraints.max;
  parts.separator = separator();
  const std::string path = is_literal() ? "" : pointer(list.all);
  for (const ArgumentObject::Member& one : constraints.members) {
    if (is_literal()) {
      parts.members.push_back(rules_.sequence(
          {literal_name(one.name, list.call), literal(one.value)}));
    } else {
      std::string written = written_name(layout_, one.name);
      const ExprId name = rules_.bytes(written);
      rules_.names.push_back({std::move(written), path});
      parts.members.push_back(
          rules_.sequence({element(name, one.value), space_}));
    }
    parts.required.push_back(one.required);
  }
  if (!constraints.extras.empty()) {
    parts.extra = extra_members(constraints, list, std::nullopt);
    if (!parts.separator.empty()) {
      parts.extra = shared_expr(rules_, parts.extra);
    }
  }
  parts.extras = [&](std::uint64_t least, std::uint64_t most, bool first) {
    return extras(constraints, list, parts.extra, least, most, first);
  };
  if (!options_.any_order) {
    return members_in_order(parts, rules_, options_.max_exprs);
  }
  const AnyOrder any = members_in_any_order(parts, rules_, options_.max_exprs);
  if (!any.narrowed.empty()) {
    narrowed_.push_back({GrammarNote::Kind::kNarrowed, "any_order",
                         pointer(list.all), std::string(any.narrowed)});
  }
  return any.list;
}

// Why a name cannot be written in the style; "" if it can.
std::string RuleWriter::why_unwritable(std::string_view name, bool call) const {
  const auto holds = [](std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  if (!base::is_utf8(name)) {
    return "has half of a surrogate pair, which only JSON can write";
  }
  switch (options_.style) {
    case ArgumentStyle::kPython:
      if (!call || base::is_argument_name(name)) return "";
      return std::string("cannot be one of a Python call: such a name ") +
             base::kArgumentNameRule;
    case ArgumentStyle::kDelimited: {
      const std::string_view close = options_.delimited.close;
      return base::is_bare_key(name, options_.delimited.text_keys,
                               options_.delimited.open.front()) ||
                     !holds(name, unambiguous_end("", close))
                 ? ""
                 : "contains " + json::quoted(close) + ", which ends a string";
    }
    case ArgumentStyle::kMinimaxM3Xml:
      return !name.empty() && name.find_first_of("<>") == name.npos &&
                     !name.starts_with('/')
                 ? ""
                 : "cannot be told from a marker in minimax_m3_xml: such a "
                   "name is not empty, has no '<' and '>' in it, and does not "
                   "begin with '/'";
    case ArgumentStyle::kCohereXml:
      return !holds(name, layout_.middle)
                 ? ""
                 : "contains " + json::quoted(layout_.middle) +
                       ", which ends the name in cohere_xml";
    case ArgumentStyle::kElements:
      for (const std::string& text : name_excludes(layout_)) {
        if (holds(written_name(layout_, name), text)) {
          return "contains " + json::quoted(text) + ", which ends the name";
        }
      }
      return "";
    default:
      return "";
  }
}

// Removes the members whose names the style cannot write: an error that lists
// the required ones, and a note for each other one.  Removes such undeclared
// names too.
void RuleWriter::remove_unwritable(ArgumentObject& constraints,
                                   const ListKey& list) {
  std::string required;
  std::erase_if(constraints.members, [&](const ArgumentObject::Member& one) {
    const std::string why = why_unwritable(one.name, list.call);
    if (why.empty()) return false;
    const std::string name = "name " + json::quoted(one.name);
    if (one.required) {
      required += (required.empty() ? "The required " : "  The required ") +
                  name + " " + why + ".";
    } else {
      narrowed_.push_back({GrammarNote::Kind::kNarrowed, "properties",
                           pointer(list.all),
                           "The " + name + " is left out: it " + why + "."});
    }
    return true;
  });
  if (!required.empty()) {
    fail({ErrorCode::kUnsupported, std::move(required), pointer(list.all)});
  }
  if (options_.style == ArgumentStyle::kMinimaxM3Xml) {
    return remove_undeclared(constraints, list.all);
  }
  if (options_.style == ArgumentStyle::kElements) {
    schema_.remove_names(constraints, layout_, name_excludes(layout_));
  } else if (options_.style == ArgumentStyle::kDelimited) {
    schema_.remove_names(
        constraints, layout_,
        {std::string(unambiguous_end("", options_.delimited.close))});
  }
}

ExprId RuleWriter::object(const ListKey& list) {
  auto alternatives =
      taken(schema_.objects(list.all, undeclared_names(list.call)));
  if (!alternatives) return rules_.empty();
  std::vector<ExprId> choices;
  for (ArgumentObject& constraints : *alternatives) {
    remove_unwritable(constraints, list);
    if (!schema_.remove_names(constraints, layout_, options_.excludes)) {
      continue;
    }
    choices.push_back(members(constraints, list));
  }
  const ExprId out = rules_.choice(std::move(choices));
  if (is_literal() && !list.call) {
    return rules_.sequence({rules_.bytes("{"), out, rules_.bytes("}")});
  }
  return rules_.sequence({space_, out});
}

ExprId RuleWriter::array(const ListKey& list) {
  const auto alternatives = taken(schema_.arrays(list.all));
  if (!alternatives) return rules_.empty();
  const std::string parting = separator();
  const auto item = [&](const Conjunction& value, bool first) {
    if (!is_literal()) {
      return rules_.sequence({element(kNoExpr, value), space_});
    }
    if (first) return literal(value);
    return rules_.sequence({rules_.bytes(parting), literal(value)});
  };
  std::vector<ExprId> choices;
  for (const ArgumentArray& constraints : *alternatives) {
    // From the end: the items after the prefix, then each item of the prefix
    // with everything that may follow it.  Both are optional after `min` items.
    const std::uint64_t size = constraints.prefix.size();
    // `n` without the items of the prefix and, if it is empty, the first one,
    // which has no separator.
    const std::uint64_t before = is_literal() && size == 0 ? 1 : size;
    const auto beyond = [&](std::uint64_t n) {
      if (n == ArgumentObject::kUnbounded) return rules::kUnbounded;
      return static_cast<std::uint32_t>(
          std::min<std::uint64_t>(n > before ? n - before : 0, 0x7FFFFFFF));
    };
    ExprId tail =
        constraints.rest
            ? rules_.repeat(item(*constraints.rest, false),
                            beyond(constraints.min), beyond(constraints.max))
            : rules_.empty();
    if (constraints.rest && before > size && constraints.max > 0) {
      tail = rules_.sequence({item(*constraints.rest, true), tail});
      if (constraints.min == 0) tail = rules_.repeat(tail, 0, 1);
    }
    for (std::uint64_t i = size; i-- > 0;) {
      if (i >= constraints.max) {
        tail = rules_.empty();
        continue;
      }
      tail = rules_.sequence({item(constraints.prefix[i], i == 0), tail});
      if (constraints.min <= i) tail = rules_.repeat(tail, 0, 1);
    }
    choices.push_back(tail);
  }
  const ExprId out = rules_.choice(std::move(choices));
  if (is_literal()) {
    return rules_.sequence({rules_.bytes("["), out, rules_.bytes("]")});
  }
  return rules_.sequence({space_, out});
}

rules::SchemaExpr json_texts(json::Value schema, std::uint8_t types,
                             bool any_order, std::uint32_t max_white_space,
                             const std::vector<std::string>& excludes) {
  constexpr std::uint8_t kLists = schema::kArray | schema::kObject;
  if ((types & (schema::kNumber | kLists)) != 0) {
    schema = schema::with_numbers(std::move(schema),
                                  std::numeric_limits<double>::max(),
                                  (types & kLists) != 0);
  }
  json::Object out = {
      {"any_order", any_order},
      {"max_whitespace_cnt", max_white_space == structural_tag::kUnbounded
                                 ? json::Value()
                                 : json::Value(std::int64_t{max_white_space})},
      {"strict_mode", true}};
  if (!excludes.empty()) {
    out.set("excludes", json::Array(excludes.begin(), excludes.end()));
  }
  return {std::move(schema), std::move(out)};
}

Result<LoweredArguments> lower_arguments(const json::Value& schema,
                                         const ArgumentOptions& options,
                                         Rules& rules, SharedTexts* shared) {
  auto loaded = ArgumentDocument::load(schema, options.limits);
  if (!loaded) return std::move(loaded).error();
  SharedTexts own;
  Result<LoweredArguments> made = RuleWriter(options, rules, **loaded, schema,
                                             shared != nullptr ? *shared : own)
                                      .write();
  if (made) made->document = *std::move(loaded);
  return made;
}

}  // namespace parlance::arguments
