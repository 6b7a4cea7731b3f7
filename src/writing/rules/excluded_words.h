#ifndef PARLANCE_SRC_RULES_EXCLUDED_WORDS_H_
#define PARLANCE_SRC_RULES_EXCLUDED_WORDS_H_

// What free text must not contain, for whatever reads it: masks, and the parser
// of a tag.
//
// An exclude is a text, and forbidden however a text comes to contain it.  With
// marks, its end may be the spelling of a mark, or lie inside of one:
//
//   exclude e<t>    trigger <t>, a mark    excluded: e<t> in bytes, and e[<t>]
//   exclude e<      the same               excluded: e< in bytes, and e[<t>]
//
// So is a trigger that is completed inside of a mark, which a text would read
// as that trigger:
//
//   triggers ba, abb, the latter of the mark ab and b    excluded: b[ab]
//
// A mark comes only as a part of a trigger, so what may precede a trigger is
// bytes, and the excluded words with marks are finitely many: the bytes of the
// exclude before the trigger, then the beginning of the trigger that spells
// the rest.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "automata/aho_corasick.h"
#include "rules/marks.h"

namespace parlance::rules {

// The node of a word of bytes that spells a marker which must be written with
// its marks.
struct SpelledMarker {
  std::uint32_t node = 0;
  std::string marker;
};

// Inserts the excluded words of a free text: the excludes, and the triggers in
// bytes where they must be written with marks, since a parser that knows no
// tokens would take these for the triggers.
// `marks`: null if markers are text.  `spelled`, if given, gets the markers
// that must be written with marks. REQUIRES: the automaton contains the words
// of the triggers only, and is not linked.
void insert_excluded(automata::AhoCorasick& automaton,
                     std::span<const std::string> excludes,
                     std::span<const std::string> triggers, const Marks* marks,
                     std::vector<SpelledMarker>* spelled = nullptr);

}  // namespace parlance::rules

#endif  // PARLANCE_SRC_RULES_EXCLUDED_WORDS_H_
