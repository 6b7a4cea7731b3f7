#ifndef PARLANCE_SRC_PARSE_DELIMITER_PROGRAM_H_
#define PARLANCE_SRC_PARSE_DELIMITER_PROGRAM_H_

// A description compiled for searching: one search for each set of delimiters
// that is watched at the same time.
//
//   at rest              the openers of all explicit fields, and the close of
//                        the implicit one; in a family file instead of an
//                        opener that looks at its close, this close
//   inside field f       the close of f alone
//
// A family file adds, in each state, the texts that end the response, the texts
// to drop, and inside a field the openers that interrupt it.
//
// If the format says what else may come between regions
// (Description::markup), markup and start anchors are watched at rest as well,
// and inside a field, which they interrupt.
//
// The regular delimiters of a set, literals included, share one automaton; each
// of the others runs on PCRE2.  A program is compiled once per format, and once
// more per vocabulary that its parsers read, and shared by all parsers.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/dfa.h"
#include "base/id.h"
#include "base/mutex.h"
#include "call_syntax/json_scanner.h"
#include "format/call_parts.h"
#include "format/description.h"
#include "parlance/vocabulary.h"
#include "parse/element_finder.h"
#include "parse/finder.h"
#include "parse/value_scanner.h"
#include "regex/pcre2.h"
#include "vocab/special_spellings.h"

namespace parlance::parse {

using format::FieldId;

// Identifies a delimiter of a format: the open or the close of a field.
using DelimiterId = base::Id<struct Watched>;
constexpr DelimiterId delimiter_id(FieldId field, bool close) {
  return DelimiterId(2 * field.value() + (close ? 1 : 0));
}

// One delimiter in a set.  ORDER: sets are sorted so that of two matches with
// the same span the earlier delimiter wins: opens before closes, then by the
// name of the field.
struct Watched {
  FieldId field;
  bool close = false;
  // The named groups, parallel to automata::Match::groups.
  std::vector<std::string_view> names = {};
  std::vector<std::uint32_t> groups = {};
  // Position in the order above, over both kinds of engine.
  std::uint32_t rank = 0;

  // Identifies the delimiter within its program.
  DelimiterId id() const { return delimiter_id(field, close); }
};

// Watched::field of markup and start anchors, which open and close nothing.
inline constexpr FieldId kMarkup{0x7FFFFFFFu};
// Watched::field of a text that ends the response, and of a text to drop; with
// `close`, of one that closes some field.
inline constexpr FieldId kTurnEnd{0x7FFFFFFEu};
inline constexpr FieldId kDropped{0x7FFFFFFDu};
// Of what closes reasoning, and with `close` calls, in implicit text: it is
// dropped if the last such region has ended without it.
inline constexpr FieldId kLateClose{0x7FFFFFFCu};
// Of what an opener of calls begins with, in implicit text: it is text.
inline constexpr FieldId kNearMiss{0x7FFFFFFBu};
// Of the opener of an open region of text.
inline constexpr FieldId kRepeated{0x7FFFFFFAu};

struct Backtracker {
  Watched watched;
  regex::Pcre2 code;
};

struct Watch {
  std::shared_ptr<const automata::Automaton> automaton;  // null: none
  std::vector<Watched> patterns;                         // of the automaton
  std::vector<Backtracker> backtrackers;

  bool empty() const { return automaton == nullptr && backtrackers.empty(); }
};

struct DelimiterProgram {
  Watch resting;
  std::vector<Watch> inside;  // by field
  // By field: `inside` without the openers that interrupt the field; empty for
  // a field that none interrupts.
  std::vector<Watch> uninterrupted;
  // `resting` without the openers, for a family file with an implicit field,
  // in whose text not every opener counts; else empty.
  Watch resting_text;
  // By field: whether openers or markup interrupt its regions.
  std::vector<bool> interrupted;
  std::vector<bool> calls;  // by field: its values are calls
  // By field: where the parts of the calls in its values come from.
  std::vector<format::CallParts> call_parts;
  // By field: its close is watched at rest.
  std::vector<bool> looked_at;
  // By field: its text ends where another region begins or the turn ends, so
  // that the end of the response cuts nothing off.
  std::vector<bool> ends_with_turn;
  FieldId first_calls;  // the first such field
  // At rest text is the implicit field's, and the rule of interruption holds
  // (format/interruption.h): not for a bare template.
  bool rests_in_text = false;
  const format::Reading* reading = nullptr;  // of a family file
  Watch ended;  // after the end of the response: further texts that end it
  // By field: what its values look like, if its regions end with them.
  std::vector<std::unique_ptr<const ValueLanguage>> values;
  // By field: the elements that its regions consist of, whose values may
  // contain what looks like the region's close; or null.
  std::vector<const ElementFinder*> regions;
  // By field: parlance.read of a family file, or null.
  std::vector<const format::FieldReading*> readings;
  // By field: its default, or null.
  std::vector<const json::Value*> defaults;
  // Of the defaults of the template, in their order: which field each is of, if
  // it is of any.
  std::vector<std::optional<FieldId>> default_fields;
  // How the arguments of an xml-inline content are read, where a family file
  // says more than the template.
  std::unordered_map<const format::Content*, const format::ArgumentReading*>
      arguments;
  // Whether text after an end of turn does not belong to the response.  Without
  // an implicit field ends of turn are markup.
  bool turn_end_is_last = false;
  // Whether a delimiter or markup ends with an end of turn.
  bool ends_turn(std::string_view delimiter) const {
    return std::ranges::any_of(reading->turn_end, [&](const std::string& text) {
      return delimiter.ends_with(text);
    });
  }
  bool any_backtrackers = false;
  bool filtered = false;  // ReadingFilter::needed()
  // The most bytes before its match that any backtracker may read, plus one
  // character, so that \A cannot match where text was dropped.
  std::size_t context_bytes = 0;

  Finder anchor;
  // A single literal anchor that cannot overlap itself.
  std::optional<std::string> anchor_literal;

  // JSON contents of a family file in a dialect.  (Those of bare templates are
  // rewritten, as upstream does.)
  std::unordered_map<const format::Content*, call_syntax::JsonDialect> dialects;
  const call_syntax::JsonDialect* dialect_of(
      const format::Content& content) const {
    const auto known = dialects.find(&content);
    return known == dialects.end() ? nullptr : &known->second;
  }

  // The tag patterns of xml-inline, and their halves.
  std::unordered_map<const format::Content*, Finder> tags;
  std::unordered_map<const format::Content*, ElementFinder> elements;
  std::deque<ElementFinder> nested;  // of regions of nested elements

  // With a vocabulary: the marks of the format.  First the added and control
  // tokens that its delimiters spell and those that it lists, then those that
  // only its start anchors spell.  Ids with the same spelling are one mark.
  // With Markers::kText there are none, and ids are read as their text.
  std::vector<automata::Mark> marks;
  // The symbol of each id of a mark.  kNoSymbol: the id is read as its text.
  std::unordered_map<TokenId, automata::Symbol> mark_symbols;
  // The same for prompts: the marks of start anchors are included.
  std::unordered_map<TokenId, automata::Symbol> prompt_symbols;
  std::optional<vocab::SpecialSpellings> spelled;
  // The start anchor over bytes and marks.
  Finder marked_anchor;
  // The delimiters of texts that end the response or are dropped.
  std::deque<format::Delimiter> extra;
  // Patterns with listed marks in them.  Watched::names points into them.
  std::deque<regex::Pattern> patched;
  // Whether ordinary tokens may spell a mark; their spelling is then text.
  bool spoofable = false;
};
inline constexpr automata::Symbol kNoSymbol = 0;

// The programs of one format, owned by its format::FormatImpl.
class DelimiterPrograms {
 public:
  explicit DelimiterPrograms(const format::FormatImpl& format);
  const DelimiterProgram& plain() const { return *plain_; }
  // Cached for the last few vocabularies.
  std::shared_ptr<const DelimiterProgram> with(const Vocabulary& vocabulary,
                                               Markers markers) const;

  static const DelimiterPrograms& of(const format::FormatImpl& format);

 private:
  const format::FormatImpl& format_;
  std::shared_ptr<const DelimiterProgram> plain_;
  mutable base::Mutex mutex_;
  struct Kept {
    Vocabulary vocabulary;
    Markers markers;
    std::shared_ptr<const DelimiterProgram> program;
  };
  mutable std::vector<Kept> kept_;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_DELIMITER_PROGRAM_H_
