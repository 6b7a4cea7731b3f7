// Strings without quotes: free text, listed texts, and the texts of a language.

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arguments/rule_writer.h"
#include "schema/conjoin.h"

namespace parlance::arguments {

using automata::LanguageId;
using rules::ExprId;
using rules::kNoExpr;
using rules::kNoRule;
using rules::RuleId;

ExprId RuleWriter::language(LanguageId id, const Conjunction& all,
                            const std::vector<std::string>& excludes,
                            std::span<const std::string> without) {
  const std::optional<ExprId> out = texts_.expr(id, excludes, without);
  if (out) return *out;
  fail({ErrorCode::kTooLarge,
        "The patterns of strings and names need more than 20000 states.",
        pointer(all)});
  return rules_.empty();
}

// The listed texts, with the line feeds of the markup before and after them.
ExprId RuleWriter::listed_text(const std::vector<std::string>& listed,
                               const std::vector<std::string>& excludes,
                               bool line_feeds) {
  const ExprId feed = line_feeds ? rules_.bytes("\n") : kNoExpr;
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

// Whether the language has no string, or none within its bounds on the length.
bool RuleWriter::no_strings(LanguageId language) {
  const automata::Languages::Counted counted =
      languages_.without_bounds(language);
  return counted.min_chars > counted.max_chars ||
         languages_.empty(counted.language);
}

LanguageId RuleWriter::language_of(const StringSet& strings) {
  const auto& [language, min_chars, max_chars] = strings.counted;
  if (min_chars == 0 && max_chars == ArgumentObject::kUnbounded) {
    return language;
  }
  return languages_.all_of(
      {language, languages_.length_between(min_chars, max_chars)});
}

RuleWriter::StringSet RuleWriter::matching(StringSet strings,
                                           std::string_view pattern) {
  strings.counted.language = languages_.all_of(
      {strings.counted.language, languages_.matching(pattern)});
  strings.rules.emplace_back(json::Object{{"pattern", std::string(pattern)}});
  return strings;
}

RuleWriter::StringSet RuleWriter::not_matching(StringSet strings,
                                               std::string_view pattern) {
  strings.counted.language =
      languages_.all_of({strings.counted.language,
                         languages_.complement(languages_.matching(pattern))});
  strings.rules.emplace_back(
      json::Object{{"not", json::Object{{"pattern", std::string(pattern)}}}});
  return strings;
}

// Strings without quotes and escapes.  `line_feeds`: with the line feeds of the
// markup before and after them; see markup.h.
ExprId RuleWriter::raw_text(const Conjunction& all, LanguageId language,
                            const std::vector<std::string>& excludes,
                            bool line_feeds) {
  StringSet strings{languages_.without_bounds(language)};
  if (layout_.strip) {
    strings = not_matching(std::move(strings),
                           "\\A[\\s\\x1C-\\x1F\\x85]|[\\s\\x1C-\\x1F\\x85]\\Z");
  }
  if (const auto listed = schema_.listed_strings(all, language_of(strings))) {
    return listed_text(*listed, excludes, line_feeds);
  }
  // If any string is valid, any text is, with or without line feeds.
  if (!line_feeds || language == languages_.everything()) {
    return written(all, strings, excludes);
  }
  return lines(all, strings, excludes);
}

// A text with the line feeds of the markup.  A reader removes one line feed
// from each side of the text.  So the line feed of the markup may be missing on
// a side only if the string has none of its own on this side.
ExprId RuleWriter::lines(const Conjunction& all, const StringSet& strings,
                         const std::vector<std::string>& excludes) {
  const ExprId feed = rules_.bytes("\n");
  const ExprId maybe = rules_.repeat(feed, 0, 1);
  // One side.  `own`: matches strings with a line feed of their own there.
  // `fed` writes texts with the line feed of the markup, `plain` without.
  const auto beside = [&](const StringSet& texts, std::string_view own,
                          const auto& fed, const auto& plain) {
    if (languages_.empty(matching(texts, own).counted.language)) {
      return fed(texts, maybe);
    }
    const StringSet others = not_matching(texts, own);
    const ExprId with = fed(texts, feed);
    if (languages_.empty(others.counted.language)) return with;
    return rules_.choice({with, plain(others)});
  };
  const auto body = [&](const StringSet& texts) {
    return written(all, texts, excludes);
  };
  const auto with_end = [&](const StringSet& texts) {
    return beside(
        texts, "\\n\\Z",
        [&](const StringSet& inner, ExprId after) {
          return rules_.sequence({body(inner), after});
        },
        body);
  };
  return beside(
      strings, "\\A\\n",
      [&](const StringSet& inner, ExprId before) {
        return rules_.sequence({before, with_end(inner)});
      },
      with_end);
}

// The strings that contain none of `excludes`.  A language of few states is
// written as rules, by its automaton.  States would count where a length is
// bounded, so there, and where they are many, a recogniser reads the strings.
ExprId RuleWriter::written(const Conjunction& all, const StringSet& strings,
                           const std::vector<std::string>& excludes) {
  constexpr std::uint64_t kFewChars = 16;
  constexpr std::size_t kFewStates = 1000;
  const automata::Languages::Counted& counted = strings.counted;
  if (counted.min_chars <= kFewChars &&
      counted.max_chars == ArgumentObject::kUnbounded) {
    const LanguageId language = language_of(strings);
    if (language == languages_.everything()) {
      // The excludes are not markers: here an added token is its bytes, and no
      // token may spell an excluded text.
      rules::FreeTextExpr text;
      text.excludes = excludes;
      return rules_.free_text(std::move(text));
    }
    const std::optional<ExprId> out =
        texts_.expr(language, excludes, {}, kFewStates);
    if (out) return *out;
  }
  return counted_text(all, strings, excludes);
}

// Strings of the same language share a rule.
ExprId RuleWriter::counted_text(const Conjunction& all,
                                const StringSet& strings,
                                const std::vector<std::string>& excludes) {
  const auto [entry, made] =
      counted_texts_.try_emplace({language_of(strings), excludes}, kNoRule);
  if (!made) return rules_.reference(entry->second);
  const RuleId rule =
      rules_.add_rule("text_" + std::to_string(rules_.rules.size()));
  entry->second = rule;
  json::Value schema;
  if (const std::optional<Lengths> lengths = schema_.lengths(all)) {
    // Without what else the schema says, so that equal bounds are equal
    // schemas.
    json::Object bounds = {{"type", "string"}};
    constexpr auto kMost = std::uint64_t{0x7FFFFFFFFFFFFFFF};
    bounds.set("minLength",
               static_cast<std::int64_t>(std::min(lengths->min, kMost)));
    if (lengths->max <= kMost) {
      bounds.set("maxLength", static_cast<std::int64_t>(lengths->max));
    }
    schema = std::move(bounds);
  } else {
    schema = schema_.schema_of(all, schema::kString);
  }
  for (const json::Value& one : strings.rules) {
    schema = schema::conjoined(std::move(schema), one);
  }
  rules_.rules[rule].body = rules_.schema(
      {std::move(schema),
       json::Object{
           {"spelling", "raw"},
           {"strict_mode", true},
           {"excludes", json::Array(excludes.begin(), excludes.end())}}});
  return rules_.reference(rule);
}

}  // namespace parlance::arguments
