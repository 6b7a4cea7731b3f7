#ifndef PARLANCE_SRC_TAG_PARSER_PLACE_SET_H_
#define PARLANCE_SRC_TAG_PARSER_PLACE_SET_H_

// Places of a program, and sets of them that are made and thrown away with
// every byte.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/mix.h"
#include "recogniser/recogniser.h"

namespace parlance::tag_parser {

// An instruction, and how far it is.  `inside`: it has been reached and set up,
// and `at` means what its Op says:
//
//   kLiteral         lex: bytes read
//   kText...         lex: node of the automaton, frame: inside a character,
//                    count, extra: characters and tokens left
//   kMachine         the configuration
//   kTokens          count: tokens left
struct Place {
  std::uint32_t pc = 0;
  std::uint32_t counts = 0;  // of the repeats around it
  bool inside = false;
  recogniser::Configuration at;

  bool operator==(const Place&) const = default;
};

// Empties in O(1).  Few places are compared one by one.
class PlaceSet {
 public:
  void clear() {
    places_.clear();
    ++round_;
  }

  // Whether the place was not in the set.
  bool insert(const Place& place) {
    if (places_.size() < kFew) {
      for (const Place& other : places_) {
        if (other == place) return false;
      }
      places_.push_back(place);
      if (places_.size() == kFew) index_all();
      return true;
    }
    if (!index(place, places_.size())) return false;
    places_.push_back(place);
    if (places_.size() * 2 > slots_.size()) index_all();
    return true;
  }

 private:
  static constexpr std::size_t kFew = 12;
  struct Slot {
    std::uint64_t round = 0;
    std::uint32_t place = 0;
  };

  static std::size_t hash(const Place& place) {
    const auto pair = [](std::uint32_t a, std::uint32_t b) {
      return std::uint64_t{a} << 32 | b;
    };
    std::uint64_t out =
        pair(place.counts, place.pc * 2U + (place.inside ? 1 : 0));
    base::mix(out, pair(place.at.lex, place.at.frame));
    base::mix(out, pair(place.at.count, place.at.extra));
    return static_cast<std::size_t>(out);
  }

  // Takes a slot for `place`, the one with that number.
  bool index(const Place& place, std::size_t number) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash(place) & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.round != round_) {
        slot = {round_, static_cast<std::uint32_t>(number)};
        return true;
      }
      if (places_[slot.place] == place) return false;
    }
  }
  void index_all() {
    if (slots_.size() < 4 * places_.size()) {
      slots_.assign(std::bit_ceil(4 * places_.size()), {});
    }
    ++round_;
    for (std::size_t i = 0; i < places_.size(); ++i) index(places_[i], i);
  }

  std::vector<Place> places_;
  std::vector<Slot> slots_;
  std::uint64_t round_ = 1;
};

using CountTable = std::unordered_map<std::uint64_t, std::uint32_t>;

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_PLACE_SET_H_
