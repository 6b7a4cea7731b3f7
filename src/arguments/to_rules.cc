// Compiles objects, arrays and values to elements.  A worklist of rules whose
// bodies are still to be made replaces recursion, so a schema may be recursive.

#include "arguments/to_rules.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "arguments/language_rules.h"
#include "arguments/markup.h"
#include "arguments/member_order.h"
#include "arguments/name_partition.h"
#include "arguments/schema_view.h"
#include "base/utf8.h"
#include "json/located.h"
#include "regex/pattern.h"

namespace parlance::arguments {

using structural_tag::ArgumentStyle;

using rules::ExprId;
using rules::kNoId;
using rules::RuleId;
using rules::Rules;
namespace {

using automata::LanguageId;

// The limit of the number of automaton states for all strings of a schema.
constexpr std::size_t kMaxTextStates = 20'000;

// `n` as a bound of a repetition.
std::uint32_t bound(std::uint64_t n) {
  return n > 0x7FFFFFFF ? rules::kUnbounded : static_cast<std::uint32_t>(n);
}

class Writer {
 public:
  Writer(const ArgumentOptions& options, Rules& rules,
         const schema::Document& document, const json::Value& source)
      : options_(options),
        rules_(rules),
        document_(document),
        markup_(argument_markup(options.style)),
        schema_(document, source, languages_),
        texts_(languages_, rules, kMaxTextStates) {}

  Result<LoweredArguments> write() {
    regex::CharClass space({{' ', ' '}, {'\t', '\t'}, {'\n', '\n'}});
    space_ = rules_.repeat(rules_.char_class(std::move(space)), 0,
                           options_.max_white_space);
    const Conjunction root = {document_.root};
    const bool objects = (schema_.types(root) & schema::kObject) != 0;
    if (!objects && options_.style == ArgumentStyle::kMinimaxM3Xml) {
      fail({ErrorCode::kUnsupported,
            "minimax_m3_xml writes objects alone: the schema has to let an "
            "object through."});
    }
    const ExprId out =
        objects ? rules_.reference(list_rule(schema::kObject, root))
                : value(root, joined(options_.alone_excludes), false);
    while (!waiting_.empty() && !error_) {
      const auto [type, all, rule] = std::move(waiting_.back());
      waiting_.pop_back();
      const ExprId body = type == schema::kObject ? object(all) : array(all);
      rules_.rules[rule].body = body;
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
    return LoweredArguments{out, std::move(narrowed_)};
  }

 private:
  struct Waiting {
    schema::TypeBits type;
    Conjunction all;
    RuleId rule;
  };

  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }

  // The rule of all elements of an object or list.
  RuleId list_rule(schema::TypeBits type, const Conjunction& all) {
    const auto [entry, made] = list_rules_.try_emplace({type, all}, kNoId);
    if (made) {
      entry->second =
          rules_.add_rule("arguments_" + std::to_string(rules_.rules.size()));
      waiting_.push_back({type, all, entry->second});
    }
    return entry->second;
  }

  ExprId choice_of_texts(const std::vector<std::string_view>& texts) {
    std::vector<ExprId> out;
    out.reserve(texts.size());
    for (std::string_view text : texts) out.push_back(rules_.bytes(text));
    return rules_.choice(std::move(out));
  }

  // `texts` and the texts that every string excludes.
  std::vector<std::string> joined(std::vector<std::string> texts) const {
    texts.insert(texts.end(), options_.excludes.begin(),
                 options_.excludes.end());
    return texts;
  }
  // The texts that a string inside an element must not contain.
  std::vector<std::string> raw_excludes() const {
    std::vector<std::string> out = {std::string(markup_.close)};
    for (const std::string_view end : markup_.ends) {
      if (!end.empty()) out.emplace_back(end);
    }
    return joined(std::move(out));
  }

  ExprId marker(std::string_view text);
  ExprId language(LanguageId id, const Conjunction& all);
  LanguageId matching(std::string_view pattern);
  ExprId raw_text(const Conjunction& all, LanguageId strings,
                  const std::vector<std::string>& excludes, bool line_feeds);
  ExprId listed_text(const std::vector<std::string>& listed,
                     const std::vector<std::string>& excludes, bool line_feeds);
  ExprId limited_text(LanguageId strings, std::uint64_t max_chars,
                      const std::vector<std::string>& excludes,
                      const Conjunction& all);
  ExprId without(LanguageId strings, const std::vector<std::string>& excludes,
                 const Conjunction& all);
  ExprId json(const Conjunction& all, std::uint8_t types) {
    return rules_.sequence(
        {space_,
         rules_.schema(
             {schema_.schema_of(all, types),
              schema_options(options_.any_order, options_.max_white_space,
                             options_.excludes)}),
         space_});
  }

  ExprId value(const Conjunction& all, const std::vector<std::string>& excludes,
               bool line_feeds);
  ExprId element(ExprId name, const Conjunction& all, bool declared);
  ExprId cohere_element(ExprId name, const Conjunction& all);
  ExprId minimax_m3_element(ExprId name, const Conjunction& all);
  bool remove_undeclared(ArgumentObject& constraints, const Conjunction& all);
  ExprId type_attribute(const Conjunction& all, bool declared);

  ExprId object(const Conjunction& all);
  ExprId array(const Conjunction& all);
  ExprId extra_elements(const ArgumentObject& constraints,
                        std::optional<LanguageId> part);
  ExprId extras(const ArgumentObject& constraints, ExprId any,
                std::uint64_t least, std::uint64_t most);
  ExprId members(const ArgumentObject& constraints, const Conjunction& all);

  const ArgumentOptions& options_;
  Rules& rules_;
  const schema::Document& document_;
  const ArgumentMarkup markup_;
  automata::Languages languages_;
  ArgumentSchema schema_;
  LanguageRules texts_;
  ExprId space_ = kNoId;
  std::map<std::pair<schema::TypeBits, Conjunction>, RuleId> list_rules_;
  std::vector<Waiting> waiting_;
  std::vector<std::pair<std::string, std::string>> narrowed_;
  std::optional<Error> error_;
};

// The markers are exact, because the text of a list is parsed as a value only
// when it is complete, and by then its token boundaries are lost.
ExprId Writer::marker(std::string_view text) {
  return rules_.marker(text, 0, /*exact=*/true);
}

ExprId Writer::language(LanguageId id, const Conjunction& all) {
  const std::optional<ExprId> out = texts_.expr(id);
  if (out) return *out;
  fail({ErrorCode::kTooLarge,
        "The patterns of strings and names need more than 20000 states.",
        all.empty() ? "" : document_.pointer(all[0])});
  return rules_.empty();
}

// The texts in which a pattern matches.  REQUIRES: the pattern is valid.
LanguageId Writer::matching(std::string_view pattern) {
  const Result<regex::Pattern> read = regex::parse_pattern(pattern);
  Result<LanguageId> found =
      languages_.from_hir(read->hir, automata::Languages::Mode::kSearch);
  return found ? *found : languages_.nothing();
}

// The listed texts, with the line feeds of the markup before and after them.
ExprId Writer::listed_text(const std::vector<std::string>& listed,
                           const std::vector<std::string>& excludes,
                           bool line_feeds) {
  const ExprId feed = line_feeds ? rules_.bytes("\n") : kNoId;
  // Without the markup's line feed, the string's own would be taken for it.
  const auto feed_beside = [&](bool own) {
    return own ? feed : rules_.repeat(feed, 0, 1);
  };
  std::vector<ExprId> out;
  for (const std::string& text : listed) {
    // A text that contains an excluded text cannot be written.
    const bool closes = std::any_of(
        excludes.begin(), excludes.end(), [&](const std::string& one) {
          return text.find(one) != std::string::npos;
        });
    if (closes) continue;
    ExprId written = rules_.bytes(text);
    if (line_feeds) {
      written = rules_.sequence({feed_beside(text.starts_with('\n')), written,
                                 feed_beside(text.ends_with('\n'))});
    }
    out.push_back(written);
  }
  return rules_.choice(std::move(out));
}

// The strings of a language with at most `max_chars` characters.
ExprId Writer::limited_text(LanguageId strings, std::uint64_t max_chars,
                            const std::vector<std::string>& excludes,
                            const Conjunction& all) {
  const ExprId text = without(strings, excludes, all);
  if (max_chars > 0x7FFFFFFF) return text;
  const RuleId limited =
      rules_.add_rule("text_" + std::to_string(rules_.rules.size()));
  rules_.rules[limited].body = text;
  rules_.rules[limited].options.max_chars =
      static_cast<std::uint32_t>(max_chars);
  return rules_.reference(limited);
}

// Strings without quotes and escapes.  `line_feeds`: with the line feeds of the
// markup before and after them; see markup.h.
ExprId Writer::raw_text(const Conjunction& all, LanguageId strings,
                        const std::vector<std::string>& excludes,
                        bool line_feeds) {
  if (const auto listed = schema_.listed_strings(all, strings)) {
    return listed_text(*listed, excludes, line_feeds);
  }
  // An upper bound becomes a budget of the rule: states that count would be
  // many.
  std::uint64_t max = ArgumentObject::kUnbounded;
  if (const std::optional<Lengths> lengths = schema_.lengths(all)) {
    if (lengths->min > lengths->max) return rules_.choice({});
    max = lengths->max;
    strings =
        languages_.length_between(lengths->min, ArgumentObject::kUnbounded);
  }
  // If any string is valid, any text is, with or without line feeds.
  const bool any = strings == languages_.everything() && max > 0x7FFFFFFF;
  if (!line_feeds || any) return limited_text(strings, max, excludes, all);

  const ExprId feed = rules_.bytes("\n");
  const ExprId maybe = rules_.repeat(feed, 0, 1);
  if (max <= 0x7FFFFFFF) {
    // A budget ends a text only where the text may end, so it is exact only for
    // texts that may end anywhere.  Therefore a string of several lines always
    // has the line feeds of the markup here, and they are optional only for a
    // string of a single line.
    const LanguageId line =
        languages_.all_of({strings, languages_.complement(matching("\\n"))});
    return rules_.choice(
        {rules_.sequence(
             {feed, limited_text(strings, max, excludes, all), feed}),
         rules_.sequence(
             {maybe, limited_text(line, max, excludes, all), maybe})});
  }
  // A reader removes one line feed from each side of the text.  So the line
  // feed of the markup may be missing on a side only if the string has none of
  // its own on this side.  `fed` writes texts with the line feed of the markup,
  // `plain` without.
  const auto beside = [&](LanguageId texts, LanguageId own, const auto& fed,
                          const auto& plain) {
    if (languages_.empty(languages_.all_of({texts, own}))) {
      return fed(texts, maybe);
    }
    const LanguageId others =
        languages_.all_of({texts, languages_.complement(own)});
    const ExprId with = fed(texts, feed);
    if (languages_.empty(others)) return with;
    return rules_.choice({with, plain(others)});
  };
  const auto body = [&](LanguageId texts) {
    return without(texts, excludes, all);
  };
  const LanguageId begins = matching("\\A\\n");
  const LanguageId ends = matching("\\n\\Z");
  const auto with_end = [&](LanguageId texts) {
    return beside(
        texts, ends,
        [&](LanguageId inner, ExprId after) {
          return rules_.sequence({body(inner), after});
        },
        body);
  };
  return beside(
      strings, begins,
      [&](LanguageId inner, ExprId before) {
        return rules_.sequence({before, with_end(inner)});
      },
      with_end);
}

// The strings of a language that contain none of `excludes`.
ExprId Writer::without(LanguageId strings,
                       const std::vector<std::string>& excludes,
                       const Conjunction& all) {
  if (strings == languages_.everything()) {
    // The excludes are not markers: here an added token is its bytes, and no
    // token may spell an excluded text.
    rules::FreeTextExpr text;
    text.excludes = excludes;
    return rules_.free_text(std::move(text));
  }
  return language(schema_.not_containing(strings, excludes), all);
}

// Raw text for strings, JSON for everything else.
ExprId Writer::value(const Conjunction& all,
                     const std::vector<std::string>& excludes,
                     bool line_feeds) {
  std::uint8_t types = schema_.types(all);
  std::vector<ExprId> choices;
  if ((types & schema::kString) != 0) {
    Result<LanguageId> strings = schema_.strings(all);
    if (!strings) {
      fail(std::move(strings).error());
      return rules_.empty();
    }
    if (!languages_.empty(*strings)) {
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
  if (types != 0) choices.push_back(json(all, types));
  return rules_.choice(std::move(choices));
}

// Kimi K3: the type of a declared value if it has exactly one, else any type.
ExprId Writer::type_attribute(const Conjunction& all, bool declared) {
  if (declared && all.size() == 1) {
    const schema::Node& node = document_.node(all[0]);
    if (node.ref == schema::kNoNode && !node.has_any_of && !node.has_one_of) {
      switch (schema_.types(all)) {
        case schema::kNull:
          return rules_.bytes("null");
        case schema::kBoolean:
          return rules_.bytes("boolean");
        case schema::kNumber:
          return rules_.bytes("number");
        case schema::kString:
          return rules_.bytes("string");
        case schema::kArray:
          return rules_.bytes("array");
        case schema::kObject:
          return rules_.bytes("object");
        default:
          break;
      }
    }
  }
  return choice_of_texts(
      {"string", "number", "integer", "boolean", "object", "array", "null"});
}

// Cohere: an attribute gives the kind of the value: raw, json, dict or list.
ExprId Writer::cohere_element(ExprId name, const Conjunction& all) {
  const std::uint8_t types = schema_.types(all);
  std::vector<ExprId> choices;
  const auto alternative = [&](std::string_view kind, ExprId content) {
    choices.push_back(
        rules_.sequence({marker(" type=\"" + std::string(kind) +
                                std::string(markup_.attribute_end)),
                         content}));
  };
  if (schema_.unconstrained(all)) {
    alternative("json", json(all, schema::kAllTypes));
  } else {
    if ((types & schema::kString) != 0) {
      Result<LanguageId> strings = schema_.strings(all);
      if (!strings) {
        fail(std::move(strings).error());
        return rules_.empty();
      }
      if (!languages_.empty(*strings)) {
        alternative("raw", raw_text(all, *strings, raw_excludes(), false));
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
  std::vector<ExprId> parts = {marker(markup_.open)};
  if (name != kNoId) {
    parts.push_back(rules_.bytes(" name=\""));
    parts.push_back(name);
    parts.push_back(rules_.bytes("\""));
  }
  parts.push_back(rules_.choice(std::move(choices)));
  parts.push_back(marker(markup_.close));
  return rules_.sequence(std::move(parts));
}

// MiniMax M3: an element contains text or elements, without an attribute.
ExprId Writer::minimax_m3_element(ExprId name, const Conjunction& all) {
  if (name == kNoId) name = rules_.bytes(kMinimaxM3Item);
  const std::uint8_t types = schema_.types(all);
  constexpr std::uint8_t kLists = schema::kObject | schema::kArray;
  std::vector<ExprId> choices;
  if ((types & ~kLists) != 0) {
    choices.push_back(value(all, raw_excludes(), false));
  }
  for (const schema::TypeBits type : {schema::kObject, schema::kArray}) {
    if ((types & type) != 0) {
      choices.push_back(rules_.reference(list_rule(type, all)));
    }
  }
  return rules_.sequence({marker(markup_.open), name, marker(markup_.middle),
                          rules_.choice(std::move(choices)),
                          marker(markup_.close), name, marker(markup_.middle)});
}

// Removes the undeclared names: a style that writes each name twice can enforce
// that both are equal only for a name that the schema spells out.  Returns
// false after an error.
bool Writer::remove_undeclared(ArgumentObject& constraints,
                               const Conjunction& all) {
  const std::string path = all.empty() ? "" : document_.pointer(all[0]);
  for (const ArgumentObject::Member& one : constraints.members) {
    if (!one.name.empty() &&
        one.name.find_first_of("<>") == std::string::npos &&
        !one.name.starts_with('/')) {
      continue;
    }
    fail(
        {ErrorCode::kUnsupported,
         "A name that is empty, has '<' or '>' in it or begins with '/' cannot "
         "be told from a marker in minimax_m3_xml.",
         path});
    return false;
  }
  if (constraints.extras.empty()) return true;
  for (const ArgumentObject::Extra& one : constraints.extras) {
    if (!one.by_pattern && one.value.empty()) continue;
    fail({ErrorCode::kUnsupported,
          "Names that the schema does not list (additionalProperties, "
          "patternProperties) cannot be enforced in minimax_m3_xml, which "
          "writes each name twice. List them, or say "
          "'additionalProperties': false.",
          path});
    return false;
  }
  constraints.extras.clear();
  constexpr std::string_view kNarrowed =
      "names that the schema does not list are left out: minimax_m3_xml writes "
      "each name twice";
  if (narrowed_.empty() || narrowed_.back().first != path) {
    narrowed_.emplace_back(path, std::string(kNarrowed));
  }
  return true;
}

ExprId Writer::element(ExprId name, const Conjunction& all, bool declared) {
  if (options_.style == ArgumentStyle::kCohereXml) {
    return cohere_element(name, all);
  }
  if (options_.style == ArgumentStyle::kMinimaxM3Xml) {
    return minimax_m3_element(name, all);
  }
  std::vector<ExprId> parts = {marker(markup_.open), name,
                               marker(markup_.middle)};
  switch (options_.style) {
    case ArgumentStyle::kDeepseekXml:
    case ArgumentStyle::kDeepseekV41Xml:
      parts.push_back(choice_of_texts({"true", "false"}));
      break;
    case ArgumentStyle::kGlmXml:
      parts.push_back(space_);
      break;
    case ArgumentStyle::kKimiK3Xml:
      parts.push_back(type_attribute(all, declared));
      break;
    default:
      break;
  }
  parts.push_back(marker(markup_.attribute_end));
  parts.push_back(value(all, raw_excludes(), markup_.line_feeds));
  parts.push_back(marker(markup_.close));
  return rules_.sequence(std::move(parts));
}

// One element with an undeclared name, from `part` if it is given, and the
// white space after it.
ExprId Writer::extra_elements(const ArgumentObject& constraints,
                              std::optional<LanguageId> part) {
  std::vector<ExprId> choices;
  for (const ArgumentObject::Extra& one : constraints.extras) {
    LanguageId names = one.names;
    if (part) names = languages_.all_of({names, *part});
    if (languages_.empty(names)) continue;
    choices.push_back(
        element(language(names, one.value), one.value, one.by_pattern));
  }
  return rules_.sequence({rules_.choice(std::move(choices)), space_});
}

// From `least` to `most` elements with undeclared names (each is `any`), among
// them at least `least` different names.  The elements that must differ are
// from different parts, so what may follow depends on the set of parts written.
ExprId Writer::extras(const ArgumentObject& constraints, ExprId any,
                      std::uint64_t least, std::uint64_t most) {
  if (most < least) return rules_.choice({});
  if (least <= 1) return rules_.repeat(any, bound(least), bound(most));

  std::vector<LanguageId> names;
  for (const ArgumentObject::Extra& one : constraints.extras) {
    names.push_back(one.names);
  }
  const std::vector<LanguageId> parts = name_parts(
      languages_, languages_.any_of(std::move(names)),
      static_cast<std::size_t>(std::min<std::uint64_t>(least, kMaxNameParts)));
  if (least > parts.size()) return rules_.choice({});
  std::vector<ExprId> elements;
  elements.reserve(parts.size());
  for (const LanguageId part : parts) {
    elements.push_back(shared_expr(rules_, extra_elements(constraints, part)));
  }
  const ExprId last = shared_expr(
      rules_,
      rules_.repeat(
          any, 0,
          bound(most == ArgumentObject::kUnbounded ? most : most - least)));
  // after[came] is what may follow the set of parts `came`.  From large sets to
  // small ones: `after` is final for every superset.
  const std::size_t sets = std::size_t{1} << parts.size();
  std::vector<ExprId> after(sets, kNoId);
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
      choices.push_back(rules_.sequence({elements[i], after[with]}));
    }
    after[came] = shared_expr(rules_, rules_.choice(std::move(choices)));
  }
  return after[0];
}

ExprId Writer::members(const ArgumentObject& constraints,
                       const Conjunction& all) {
  MemberParts parts;
  parts.min = constraints.min;
  parts.max = constraints.max;
  for (const ArgumentObject::Member& one : constraints.members) {
    std::string written = written_name(options_.style, one.name);
    const ExprId name = rules_.bytes(written);
    rules_.names.push_back(
        {std::move(written), all.empty() ? "" : document_.pointer(all[0])});
    parts.members.push_back(
        rules_.sequence({element(name, one.value, !one.undeclared), space_}));
    parts.required.push_back(one.required);
  }
  if (!constraints.extras.empty()) {
    parts.extra = extra_elements(constraints, std::nullopt);
  }
  parts.extras = [&](std::uint64_t least, std::uint64_t most) {
    return extras(constraints, parts.extra, least, most);
  };
  if (!options_.any_order) {
    return members_in_order(parts, rules_, options_.max_exprs);
  }
  const AnyOrder any = members_in_any_order(parts, rules_, options_.max_exprs);
  if (!any.narrowed.empty()) {
    narrowed_.push_back({all.empty() ? "" : document_.pointer(all[0]),
                         std::string(any.narrowed)});
  }
  return any.list;
}

ExprId Writer::object(const Conjunction& all) {
  Result<std::vector<ArgumentObject>> alternatives = schema_.objects(all);
  if (!alternatives) {
    fail(std::move(alternatives).error());
    return rules_.empty();
  }
  std::vector<ExprId> choices;
  for (ArgumentObject& constraints : *alternatives) {
    if (!schema_.remove_names(constraints, options_.style, options_.excludes)) {
      continue;
    }
    if (options_.style == ArgumentStyle::kMinimaxM3Xml &&
        !remove_undeclared(constraints, all)) {
      return rules_.empty();
    }
    // Elements in elements are found before it is known which names may come.
    for (const ArgumentObject::Member& one : constraints.members) {
      if (!base::is_utf8(one.name)) {
        fail({ErrorCode::kUnsupported,
              "A name with half of a surrogate pair cannot be written but in "
              "JSON.",
              document_.pointer(all[0])});
      }
      if (options_.style != ArgumentStyle::kCohereXml ||
          one.name.find(markup_.middle) == std::string::npos) {
        continue;
      }
      fail({ErrorCode::kUnsupported,
            "A name with '\" type=\"' in it cannot be told from its element "
            "in cohere_xml.",
            document_.pointer(all[0])});
    }
    choices.push_back(members(constraints, all));
  }
  return rules_.sequence({space_, rules_.choice(std::move(choices))});
}

ExprId Writer::array(const Conjunction& all) {
  Result<std::vector<ArgumentArray>> alternatives = schema_.arrays(all);
  if (!alternatives) {
    fail(std::move(alternatives).error());
    return rules_.empty();
  }
  const auto item = [&](const Conjunction& value) {
    return rules_.sequence({element(kNoId, value, false), space_});
  };
  std::vector<ExprId> choices;
  for (const ArgumentArray& constraints : *alternatives) {
    // From the end: the items after the prefix, then each item of the prefix
    // with everything that may follow it.  Both are optional after `min` items.
    const std::uint64_t size = constraints.prefix.size();
    const auto beyond = [&](std::uint64_t n) {
      if (n == ArgumentObject::kUnbounded) return rules::kUnbounded;
      return static_cast<std::uint32_t>(
          std::min<std::uint64_t>(n > size ? n - size : 0, 0x7FFFFFFF));
    };
    ExprId tail = constraints.rest ? rules_.repeat(item(*constraints.rest),
                                                   beyond(constraints.min),
                                                   beyond(constraints.max))
                                   : rules_.empty();
    for (std::uint64_t i = size; i-- > 0;) {
      if (i >= constraints.max) {
        tail = rules_.empty();
        continue;
      }
      tail = rules_.sequence({item(constraints.prefix[i]), tail});
      if (constraints.min <= i) tail = rules_.repeat(tail, 0, 1);
    }
    choices.push_back(tail);
  }
  return rules_.sequence({space_, rules_.choice(std::move(choices))});
}

}  // namespace

json::Value schema_options(bool any_order, std::uint32_t max_white_space,
                           const std::vector<std::string>& excludes) {
  json::Object out = {
      {"any_order", any_order},
      {"max_whitespace_cnt", max_white_space == structural_tag::kUnbounded
                                 ? json::Value()
                                 : json::Value(std::int64_t{max_white_space})},
      {"strict_mode", true}};
  if (!excludes.empty()) {
    out.set("excludes", json::Array(excludes.begin(), excludes.end()));
  }
  return out;
}

Result<LoweredArguments> lower_arguments(const json::Value& schema,
                                         const ArgumentOptions& options,
                                         Rules& rules) {
  schema::LoadOptions load;
  load.limits = options.limits;
  Result<schema::Document> document = schema::load(schema, load);
  if (!document) return std::move(document).error();
  return Writer(options, rules, *document, schema).write();
}

}  // namespace parlance::arguments
