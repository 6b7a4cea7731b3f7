// The states are those of a complement (language.h): the texts that contain no
// match.  A text that leaves this language contains one.  explore() builds all
// states, complete() and merge() join states that do the same, and the table
// has a column for each class of bytes.

#include "automata/pattern_dfa.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "automata/char_step.h"
#include "automata/language.h"

namespace parlance::automata {
namespace {

using Row = std::array<std::uint32_t, 256>;

// In rows: a byte that is not UTF-8 there.
constexpr std::uint32_t kInvalid = PatternDfa::kFound - 1;

// The text so far has led to `state`; `partial` is the character that has begun
// (char_step.h; 0: none).
struct Place {
  StateId state = kDeadState;
  std::uint32_t partial = 0;
  auto operator<=>(const Place&) const = default;

  // The bytes that the character still lacks.
  std::uint32_t due() const { return partial >> 21 & 3; }
};

struct Explored {
  std::vector<Place> places;
  std::vector<Row> rows;  // by place; a transition is the index of a place
};

Error too_large() {
  return {ErrorCode::kTooLarge,
          "The automaton of the patterns is too large: it has more states "
          "than Limits::pattern_states, or needs more memory than "
          "Limits::automaton_bytes. Large counts after a part that matches "
          "many characters, as in \"a.{50}b\", need the most."};
}

// A breadth-first search of all states of `language`, the complement.
//
// Invariant: rows[i] is the row of places[i] for all places that the loop has
// passed.
Result<Explored> explore(Languages& languages, LanguageId language,
                         const Limits& limits) {
  const StateId start = languages.start(language);
  if (languages.narrowed()) return too_large();
  if (start == kDeadState || !languages.accepting(start)) {
    return Error{ErrorCode::kConflict,
                 "The pattern matches the empty text, which every text "
                 "contains; it must match at least one character."};
  }
  Explored out;
  out.places = {{start, 0}};
  std::map<Place, std::uint32_t> number = {{out.places[0], 0}};
  for (std::size_t i = 0; i < out.places.size(); ++i) {
    if (out.places.size() > limits.pattern_states || languages.narrowed()) {
      return too_large();
    }
    const Place place = out.places[i];
    Row& row = out.rows.emplace_back();
    for (std::size_t byte = 0; byte < row.size(); ++byte) {
      std::uint32_t partial = place.partial;
      const CharStep read =
          read_char(any_character(), static_cast<std::uint8_t>(byte), partial);
      if (read == CharStep::kNo) {
        row[byte] = kInvalid;
        continue;
      }
      const StateId to =
          languages.step(place.state, static_cast<std::uint8_t>(byte));
      if (to == kDeadState) {
        row[byte] = PatternDfa::kFound;
        continue;
      }
      if (read == CharStep::kDone && !languages.accepting(to)) {
        if (languages.narrowed()) return too_large();
        return Error{ErrorCode::kUnsupportedPattern,
                     "What follows a match of the pattern can undo the match "
                     "(by \"(?!\"), so a match is not known when it is "
                     "complete; write what must follow, as in "
                     "\"a(?=[^b])\"."};
      }
      const Place next = {to, canonicalize(any_character(), partial)};
      const auto [known, added] =
          number.emplace(next, static_cast<std::uint32_t>(out.places.size()));
      if (added) out.places.push_back(next);
      row[byte] = known->second;
    }
  }
  if (languages.narrowed()) return too_large();
  return out;
}

// Defines the transitions on bytes that are not UTF-8.  No reader of free text
// lets them through, so they may lead anywhere:
//
//   between characters   to the same state
//   inside a character   if all ways of completing the character lead to one
//                        state, as from that state, so both become one;
//                        else as from state 0
//
// Most characters beyond ASCII are in no pattern, and so are read in one state.
void complete(Explored& explored) {
  const std::size_t size = explored.rows.size();
  // By place: the place with which it is merged, or itself.
  std::vector<std::uint32_t> becomes(size);
  for (std::size_t i = 0; i < size; ++i) {
    becomes[i] = static_cast<std::uint32_t>(i);
  }
  // Invariant: `becomes` is final for the places with fewer bytes due.
  for (std::uint32_t due = 1; due <= 3; ++due) {
    for (std::size_t i = 0; i < size; ++i) {
      if (explored.places[i].due() != due) continue;
      std::uint32_t only = kInvalid;
      bool one = true;
      for (const std::uint32_t to : explored.rows[i]) {
        if (to == kInvalid) continue;
        const std::uint32_t target =
            to == PatternDfa::kFound ? to : becomes[to];
        one = one && (only == kInvalid || only == target);
        only = target;
      }
      if (one) becomes[i] = only;
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    const bool inside = explored.places[i].due() != 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      std::uint32_t& to = explored.rows[i][byte];
      if (to == kInvalid) {
        to = inside ? explored.rows[0][byte] : static_cast<std::uint32_t>(i);
      } else if (to != PatternDfa::kFound) {
        to = becomes[to];
      }
    }
  }
}

// Removes the states that state 0 does not reach; state 0 stays state 0.
// Invariant: the rows of `out` before i have new numbers, and every number in
// them is that of a row of `out`.
void remove_unreached(std::vector<Row>& rows) {
  constexpr std::uint32_t kUnknown = kInvalid;
  std::vector<std::uint32_t> new_number(rows.size(), kUnknown);
  new_number[0] = 0;
  std::vector<Row> out = {rows[0]};
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t to = out[i][byte];
      if (to == PatternDfa::kFound) continue;
      if (new_number[to] == kUnknown) {
        new_number[to] = static_cast<std::uint32_t>(out.size());
        out.push_back(rows[to]);
      }
      out[i][byte] = new_number[to];
    }
  }
  rows = std::move(out);
}

// Joins states with equal rows, until there are none or after kRounds.  State 0
// stays state 0.
//
// What is joined does the same, because its transitions lead to the same
// states. States that differ only in which state of a cycle they lead to stay
// apart; Hopcroft's refinement would join them, too, for a few states more.
void merge(std::vector<Row>& rows) {
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    std::unordered_map<std::string_view, std::uint32_t> known;
    std::vector<std::uint32_t> new_number(rows.size());
    std::vector<std::size_t> stay;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string_view bytes(
          reinterpret_cast<const char*>(rows[i].data()), sizeof(Row));
      const auto [place, added] =
          known.emplace(bytes, static_cast<std::uint32_t>(stay.size()));
      if (added) stay.push_back(i);
      new_number[i] = place->second;
    }
    if (stay.size() == rows.size()) return;
    std::vector<Row> out;
    out.reserve(stay.size());
    for (const std::size_t i : stay) {
      Row& row = out.emplace_back(rows[i]);
      for (std::uint32_t& to : row) {
        if (to != PatternDfa::kFound) to = new_number[to];
      }
    }
    rows = std::move(out);
  }
}

// The literals that a walk from the root finds; a Hir may have nodes beside its
// tree.
void add_literals(const regex::Hir& hir, std::vector<std::string>& out) {
  std::vector<std::size_t> open = {hir.nodes.size() - 1};
  while (!open.empty()) {
    const regex::HirNode& node = hir.nodes[open.back()];
    open.pop_back();
    if (node.kind == regex::HirKind::kLiteral) out.push_back(node.text);
    if (node.kind == regex::HirKind::kLook && node.negative) continue;
    open.insert(open.end(), node.children.rbegin(), node.children.rend());
  }
}

}  // namespace

Result<PatternDfa> PatternDfa::compile(std::span<const regex::Hir> patterns,
                                       const Limits& limits) {
  LanguageLimits language_limits;
  language_limits.bytes = limits.automaton_bytes;
  Languages languages(language_limits);
  PatternDfa out;
  std::vector<LanguageId> containing;
  for (const regex::Hir& hir : patterns) {
    Result<LanguageId> one = languages.from_hir(hir, Languages::Mode::kSearch);
    if (!one) return std::move(one).error();
    containing.push_back(*one);
    add_literals(hir, out.literals_);
  }
  Result<Explored> explored = explore(
      languages, languages.complement(languages.any_of(std::move(containing))),
      limits);
  if (!explored) return std::move(explored).error();
  out.visited_ = explored->places.size();
  complete(*explored);
  std::vector<Row>& rows = explored->rows;
  remove_unreached(rows);
  merge(rows);
  // The classes: bytes with equal columns.
  std::map<std::vector<std::uint32_t>, std::uint8_t> classes;
  std::vector<std::size_t> representative;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::vector<std::uint32_t> column;
    column.reserve(rows.size());
    for (const Row& row : rows) column.push_back(row[byte]);
    const auto [place, added] = classes.emplace(
        std::move(column), static_cast<std::uint8_t>(representative.size()));
    if (added) representative.push_back(byte);
    out.class_of_[byte] = place->second;
  }
  out.classes_ = representative.size();
  out.next_.reserve(rows.size() * out.classes_);
  for (const Row& row : rows) {
    for (const std::size_t byte : representative) {
      out.next_.push_back(row[byte]);
    }
  }
  return out;
}

std::uint32_t PatternDfa::step(std::uint32_t state,
                               std::string_view text) const {
  for (const char c : text) {
    if (state == kFound) break;
    state = step(state, static_cast<std::uint8_t>(c));
  }
  return state;
}

ByteTable PatternDfa::kinds(std::uint32_t state) const {
  const std::uint32_t* row = next_.data() + state * classes_;
  std::array<std::uint8_t, 256> first{};
  for (std::size_t one = 0; one < classes_; ++one) {
    first[one] = static_cast<std::uint8_t>(
        std::distance(row, std::find(row, row + one, row[one])));
  }
  ByteTable out;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    out[byte] = first[class_of_[byte]];
  }
  return out;
}

bool PatternDfa::always_finds(std::string_view text) const {
  for (std::uint32_t state = 0; state < size(); ++state) {
    if (step(state, text) != kFound) return false;
  }
  return true;
}

std::size_t PatternDfa::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + next_.capacity() * sizeof(next_[0]);
  for (const std::string& literal : literals_) {
    bytes += sizeof(std::string) + literal.capacity();
  }
  return bytes;
}

}  // namespace parlance::automata
