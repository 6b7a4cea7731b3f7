// Strings without quotes: free text, listed texts, and the texts of a language.

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arguments/rule_writer.h"

namespace parlance::arguments {

using automata::LanguageId;
using rules::ExprId;
using rules::kNoId;
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
ExprId RuleWriter::limited_text(LanguageId strings, std::uint64_t max_chars,
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
ExprId RuleWriter::raw_text(const Conjunction& all, LanguageId strings,
                            const std::vector<std::string>& excludes,
                            bool line_feeds) {
  // Counting states instead of a budget: a budget ends a text only where the
  // text may end, and a text with a space at its end may not.
  if (layout_.strip) {
    strings = languages_.all_of(
        {strings, languages_.complement(languages_.matching(
                      "\\A[\\s\\x1C-\\x1F\\x85]|[\\s\\x1C-\\x1F\\x85]\\Z"))});
  }
  if (const auto listed = schema_.listed_strings(all, strings)) {
    return listed_text(*listed, excludes, line_feeds);
  }
  if (layout_.strip) return without(strings, excludes, all);
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

  return max <= 0x7FFFFFFF ? limited_lines(strings, max, excludes, all)
                           : lines(strings, excludes, all);
}

// A limited text with the line feeds of the markup.  A budget ends a text only
// where the text may end, so it is exact only for texts that may end anywhere.
// Therefore a string of several lines always has the line feeds of the markup
// here, and they are optional only for a string of a single line.
ExprId RuleWriter::limited_lines(LanguageId strings, std::uint64_t max_chars,
                                 const std::vector<std::string>& excludes,
                                 const Conjunction& all) {
  const ExprId feed = rules_.bytes("\n");
  const ExprId maybe = rules_.repeat(feed, 0, 1);
  const LanguageId line = languages_.all_of(
      {strings, languages_.complement(languages_.matching("\\n"))});
  const ExprId text = limited_text(strings, max_chars, excludes, all);
  const ExprId single = limited_text(line, max_chars, excludes, all);
  return rules_.choice({rules_.sequence({feed, text, feed}),
                        rules_.sequence({maybe, single, maybe})});
}

// A text with the line feeds of the markup.  A reader removes one line feed
// from each side of the text.  So the line feed of the markup may be missing on
// a side only if the string has none of its own on this side.
ExprId RuleWriter::lines(LanguageId strings,
                         const std::vector<std::string>& excludes,
                         const Conjunction& all) {
  const ExprId feed = rules_.bytes("\n");
  const ExprId maybe = rules_.repeat(feed, 0, 1);
  // One side.  `own`: the strings with a line feed of their own on this side.
  // `fed` writes texts with the line feed of the markup, `plain` without.
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
  const LanguageId begins = languages_.matching("\\A\\n");
  const LanguageId ends = languages_.matching("\\n\\Z");
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
ExprId RuleWriter::without(LanguageId strings,
                           const std::vector<std::string>& excludes,
                           const Conjunction& all) {
  if (strings == languages_.everything()) {
    // The excludes are not markers: here an added token is its bytes, and no
    // token may spell an excluded text.
    rules::FreeTextExpr text;
    text.excludes = excludes;
    return rules_.free_text(std::move(text));
  }
  return language(strings, all, excludes);
}

}  // namespace parlance::arguments
