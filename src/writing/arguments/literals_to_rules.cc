// The styles that write the whole object as literals of a language:
//
//   python      city="Bern", tags=["a", True], opts={"x": None}
//   delimited   {city:<|"|>Bern<|"|>,tags:[<|"|>a<|"|>,true],opts:{x:null}}
//
// A literal shows its type, so each value has one spelling and is read without
// the schema (literals.h).  Objects and arrays come from the worklist of
// to_rules.cc; here are names and scalars.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments/rule_writer.h"
#include "base/argument_names.h"
#include "json/writer.h"
#include "regex/char_class.h"

namespace parlance::arguments {

using automata::LanguageId;
using rules::ExprId;
using rules::RuleId;
using structural_tag::ArgumentStyle;
namespace {

// Names as patterns.  In a string of Python: what needs no escape.
constexpr std::string_view kIdentifiers =
    "[^\\x00-@\\[-^`{-\\x7f][^\\x00-/:-@\\[-^`{-\\x7f]*"
    "(?:[.\\-][^\\x00-/:-@\\[-^`{-\\x7f]+)*";
constexpr std::string_view kPlainInQuotes = "[^\"\\\\\\x00-\\x1f]*";
constexpr std::string_view kAnyName = "[\\s\\S]*";

bool is_bare_key(std::string_view name,
                 const structural_tag::DelimitedLayout& layout) {
  return base::is_bare_key(name, layout.text_keys, layout.open.front());
}

std::string bare_keys(const structural_tag::DelimitedLayout& layout) {
  if (!layout.text_keys) return "[^\\x00-,/:-@\\[-^`{-\\x7f]+";
  const std::string others =
      std::string("\"\\[\\]{},:\\") + layout.open.front() + "]";
  return "[^\\x00- '" + others + "(?:[^\\x00-\\x1f" + others + "*[^\\x00- " +
         others + ")?";
}

}  // namespace

UndeclaredNames RuleWriter::undeclared_names(bool call) const {
  if (options_.style == ArgumentStyle::kDelimited) return {kAnyName, kAnyName};
  if (options_.style != ArgumentStyle::kPython) return {};
  if (!call) return {kPlainInQuotes, kPlainInQuotes};
  UndeclaredNames out;
  out.writable = kIdentifiers;
  return out;
}

// A declared name and the punctuation after it.
ExprId RuleWriter::literal_name(std::string_view name, bool call) {
  if (options_.style == ArgumentStyle::kPython) {
    return rules_.bytes(call ? std::string(name) + "="
                             : json::quoted(name) + ": ");
  }
  if (is_bare_key(name, options_.delimited)) {
    return rules_.bytes(std::string(name) + ":");
  }
  return rules_.sequence({marker(options_.delimited.open), rules_.bytes(name),
                          marker(options_.delimited.close), rules_.bytes(":")});
}

// The undeclared names of `extra`, which undeclared_names() bounds, as far as
// they are in `names`.
ExprId RuleWriter::literal_names(LanguageId names,
                                 const ArgumentObject::Extra& extra,
                                 bool call) {
  const auto written = [&](LanguageId some) {
    return language(some, extra.value, extra.excludes, extra.declared);
  };
  if (options_.style == ArgumentStyle::kPython) {
    if (call) return rules_.sequence({written(names), rules_.bytes("=")});
    return rules_.sequence(
        {rules_.bytes("\""), written(names), rules_.bytes("\": ")});
  }
  const LanguageId words = languages_.whole(bare_keys(options_.delimited));
  const LanguageId bare = languages_.all_of({names, words});
  const LanguageId others =
      languages_.all_of({names, languages_.complement(words)});
  std::vector<ExprId> choices;
  if (!languages_.empty(bare)) choices.push_back(written(bare));
  if (!languages_.empty(others)) {
    choices.push_back(
        rules_.sequence({marker(options_.delimited.open), written(others),
                         marker(options_.delimited.close)}));
  }
  return rules_.sequence(
      {rules_.choice(std::move(choices)), rules_.bytes(":")});
}

// A value.  Values of the same constraints share a rule.
ExprId RuleWriter::literal(const Conjunction& all) {
  const auto [entry, made] = literal_rules_.try_emplace(all, rules::kNoRule);
  if (!made) return rules_.reference(entry->second);
  const RuleId rule =
      rules_.add_rule("value_" + std::to_string(rules_.rules.size()));
  entry->second = rule;
  const std::uint8_t types = schema_.types(all);
  std::vector<ExprId> choices;
  if (options_.style == ArgumentStyle::kPython) {
    python_scalars(all, types, choices);
  } else {
    delimited_scalars(all, types, choices);
  }
  for (const schema::TypeBits type : {schema::kObject, schema::kArray}) {
    if ((types & type) != 0) {
      choices.push_back(rules_.reference(list_rule(type, all)));
    }
  }
  rules_.rules[rule].body = rules_.choice(std::move(choices));
  return rules_.reference(rule);
}

void RuleWriter::python_scalars(const Conjunction& all, std::uint8_t types,
                                std::vector<ExprId>& choices) {
  if ((types & schema::kNull) != 0 && schema_.allows_null(all)) {
    choices.push_back(rules_.bytes("None"));
  }
  if ((types & schema::kBoolean) != 0) {
    for (const bool value : schema_.booleans(all)) {
      choices.push_back(rules_.bytes(value ? "True" : "False"));
    }
  }
  if ((types & schema::kNumber) != 0) {
    choices.push_back(schema_expr(all, schema::kNumber));
  }
  if ((types & schema::kString) != 0) choices.push_back(python_string(all));
}

// A string in double quotes, with the escapes that json.dumps writes, which
// Python reads as JSON does.
ExprId RuleWriter::python_string(const Conjunction& all) {
  const auto strings = taken(schema_.strings(all));
  if (!strings) return rules_.empty();
  const std::optional<Lengths> lengths = schema_.lengths(all);
  if (options_.excludes.empty() &&
      (lengths || *strings == languages_.everything())) {
    const Lengths size = lengths.value_or(Lengths());
    if (size.min > size.max) return rules_.choice({});
    return rules_.sequence(
        {rules_.bytes("\""),
         rules_.repeat(quoted_character(), repeat_bound(size.min),
                       repeat_bound(size.max)),
         rules_.bytes("\"")});
  }
  // Strings of a constrained language are spelled as json.dumps does.  The
  // exclude, which is no character, makes sure that the language is one.
  std::vector<std::string> excludes = options_.excludes;
  excludes.emplace_back("\xEF\xBF\xBF");  // U+FFFF
  return rules_.schema(json_texts(schema_.schema_of(all, schema::kString),
                                  schema::kString, options_.any_order,
                                  options_.max_white_space, excludes));
}

ExprId RuleWriter::quoted_character() {
  if (quoted_character_ == rules::kNoRule) {
    const auto one_of = [&](std::vector<regex::CharRange> ranges) {
      return rules_.char_class(regex::CharClass(std::move(ranges)));
    };
    const ExprId plain = one_of({{0x20, '!'}, {'#', '['}, {']', 0x10FFFF}});
    const ExprId letter =
        rules_.sequence({rules_.bytes("\\"), one_of({{'"', '"'},
                                                     {'\\', '\\'},
                                                     {'b', 'b'},
                                                     {'f', 'f'},
                                                     {'n', 'n'},
                                                     {'r', 'r'},
                                                     {'t', 't'}})});
    const ExprId first = rules_.sequence(
        {rules_.bytes("\\u000"), one_of({{'0', '7'}, {'b', 'b'}, {'e', 'f'}})});
    const ExprId second = rules_.sequence(
        {rules_.bytes("\\u001"), one_of({{'0', '9'}, {'a', 'f'}})});
    quoted_character_ =
        rules_.add_rule("character_" + std::to_string(rules_.rules.size()));
    rules_.rules[quoted_character_].body =
        rules_.choice({plain, letter, first, second});
  }
  return rules_.reference(quoted_character_);
}

void RuleWriter::delimited_scalars(const Conjunction& all, std::uint8_t types,
                                   std::vector<ExprId>& choices) {
  constexpr std::uint8_t kScalars =
      schema::kNull | schema::kBoolean | schema::kNumber;
  if ((types & kScalars) != 0) {
    choices.push_back(schema_expr(all, types & kScalars));
  }
  if ((types & schema::kString) == 0) return;
  const auto strings = taken(schema_.strings(all));
  if (!strings) return;
  if (no_strings(*strings)) return;
  const std::string_view close = options_.delimited.close;
  choices.push_back(rules_.sequence(
      {marker(options_.delimited.open),
       raw_text(all, *strings,
                joined({std::string(unambiguous_end("", close))}), false),
       marker(close)}));
}

}  // namespace parlance::arguments
