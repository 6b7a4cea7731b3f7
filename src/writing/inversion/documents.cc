#include "inversion/documents.h"

#include <algorithm>
#include <utility>

#include "automata/language.h"
#include "base/in_quotes.h"
#include "format/call_parts.h"
#include "inversion/shortest.h"
#include "regex/pattern.h"
#include "schema/conjoin.h"

namespace parlance::inversion {
namespace {

using automata::LanguageId;
using automata::Languages;
using format::CallPart;
using format::FieldId;

// Where a pattern may match in a JSON text.
struct Matches {
  bool in_strings = false;
  bool across = false;   // from inside a string to outside, or back
  bool in_list = false;  // each match begins with the bracket of a list
  bool unclear = true;   // elsewhere, or it could not be found out
};

// Answers for the shortest matches: each match contains one, and a longer one
// may read on across the end of its string.
Matches matches_in_json(const std::string& pattern) {
  Languages languages;
  bool known = true;
  const auto whole = [&](const std::string& text) {
    const auto parsed = regex::parse_pattern(text);
    const auto language =
        parsed ? languages.from_hir(parsed->hir, Languages::Mode::kWhole)
               : Result<LanguageId>(parsed.error());
    known = known && language;
    return language ? *language : languages.nothing();
  };
  const std::string one = "(?:" + pattern + ")";
  const LanguageId longer =
      languages.any_of({whole(one + "[\\s\\S]+"), whole("[\\s\\S]+" + one)});
  const LanguageId shortest =
      languages.all_of({whole(one), languages.complement(longer)});
  const auto meets = [&](const std::string& text) {
    return !languages.empty(languages.all_of({shortest, whole(text)}));
  };
  Matches out;
  out.in_strings = meets(R"([^"\\\x00-\x1F]*)");
  out.across = meets(R"([\s\S]*"[\s\S]*)");
  out.in_list = !meets(R"([^\[][\s\S]*)");
  // Characters of numbers, words and brackets, and escapes in strings, whose
  // text is not the text of the string.
  out.unclear = meets(R"([ \t\r\n{}\[\]:,0-9+\-.Eaeflnrstu]*)") ||
                meets(R"([^"\x00-\x1F]*\\[^"\x00-\x1F]*)");
  if (!known || languages.narrowed()) out.unclear = true;
  return out;
}

// The keys of an item that may have this part; nothing if it is elsewhere.
std::vector<std::string> keys_of(const CallPart& part) {
  std::vector<std::string> out;
  if (part.from != CallPart::From::kItem) return out;
  for (const format::Path& path : part.paths) {
    if (path.size() != 1) return {};
    out.push_back(path.front());
  }
  return out;
}

json::Value with_one_of(const std::vector<std::string>& keys,
                        const json::Object& value) {
  json::Array choices;
  for (const std::string& key : keys) {
    choices.push_back(json::Object{{"required", json::Array{key}},
                                   {"properties", json::Object{{key, value}}}});
  }
  return json::Object{{"anyOf", std::move(choices)}};
}

// Adds that no part of a document is a call.  False if what a call is depends
// on more than two members.
bool refuse_calls(const format::FormatImpl& format, FieldId calls, bool in_list,
                  DocumentRule& rule) {
  const format::FieldReading& reading = format.family.reading.fields[calls];
  const format::Field& field = format.description.fields[calls];
  if (!reading.otherwise_content || reading.members.only_key ||
      field.content.kind != format::ContentKind::kJson) {
    return false;
  }
  const format::CallParts parts = format::call_parts(field, &reading);
  const std::vector<std::string> names = keys_of(parts.name);
  const std::vector<std::string> arguments = keys_of(parts.arguments);
  if (names.empty() || arguments.empty()) return false;
  json::Array types = {"object"};
  if (reading.members.as_text) types.emplace_back("string");
  json::Value call = json::Object{
      {"type", "object"},
      {"allOf",
       json::Array{with_one_of(names, {{"type", "string"}}),
                   with_one_of(arguments, {{"type", std::move(types)}})}}};
  if (in_list) {
    // A list with a call, in the words of every draft.
    json::Value none = json::Object{{"items", json::Object{{"not", call}}}};
    call = json::Object{{"type", "array"}, {"not", std::move(none)}};
  }
  rule.refused.push_back(std::move(call));
  rule.call_keys = arguments;
  rule.notes.push_back(
      std::string(in_list ? "no object in a list" : "no object") +
      " of the document has " + base::in_quotes(names.front()) + " and " +
      base::in_quotes(arguments.front()) +
      " as a call has them, because it would be one.");
  return true;
}

}  // namespace

DocumentRule document_rule(const format::FormatImpl& format,
                           const std::vector<std::string>& patterns,
                           std::optional<FieldId> calls) {
  DocumentRule rule;
  std::optional<std::string> opener;
  if (calls) {
    const format::Delimiter& open = format.description.fields[*calls].open;
    if (open.kind == format::Delimiter::Kind::kPattern) {
      opener = text_with_match(open.pattern.hir);
    }
  }
  json::Array strings;
  for (const std::string& pattern : patterns) {
    const Matches matches = matches_in_json(pattern);
    if (matches.unclear ||
        (matches.across &&
         (pattern != opener ||
          !refuse_calls(format, *calls, matches.in_list, rule)))) {
      rule.impossible = true;
      return rule;
    }
    if (!matches.in_strings) continue;
    strings.push_back(json::Object{{"pattern", pattern}});
    rule.names.push_back(pattern);
  }
  if (!strings.empty()) {
    rule.refused.push_back(
        json::Object{{"type", "string"}, {"anyOf", std::move(strings)}});
    rule.notes.push_back(
        "a string of the document contains nothing that the reader would take "
        "for the opener of another field.");
  }
  return rule;
}

json::Value with_rule(json::Value schema, const DocumentRule& rule) {
  if (rule.refused.empty()) return schema;
  return schema::without(std::move(schema),
                         json::Object{{"anyOf", rule.refused}}, rule.names);
}

}  // namespace parlance::inversion
