#ifndef PARLANCE_SRC_CFG_RECOGNISER_EARLEY_H_
#define PARLANCE_SRC_CFG_RECOGNISER_EARLEY_H_

// Membership in any grammar, the obvious way.
//
//   EarleyRecogniser recogniser(rules);
//   recogniser.accepts("abc");
//   EarleyRecogniser::Place place = recogniser.start();
//   recogniser.feed(place, 'a') && recogniser.can_end(place);
//
// Earley's algorithm (1970) over the network of transition_network.h.  A place
// in a text has one set of items for each byte read so far; an item is a state
// of the network, the place where its rule was entered, and how far it is
// inside what its state reads.  Left recursion, rules that match nothing and
// any ambiguity need no care: a set holds an item once.
//
// Lazy rules and budgets are not context-free: an activation ends where its
// body *first* may end (once its budget is used up).  Items inside such an
// activation carry its name, a activation; when it has to end, all items of the
// activation go, and those that continue behind it stay.  An activation that
// begins inside another of the same rule, at the same place and with the same
// budget, takes the same texts and ends at the same places: it has the same
// activation.
//
// As items only ever enter live states, a place that is alive can be continued
// to a text of the language.
//
// Meant as the judge of everything faster.  O(n^3) for ambiguous grammars,
// O(n^2) for most, O(n) for many.  Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cfg_recogniser/transition_network.h"
#include "recogniser/recogniser.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

class EarleyRecogniser {
 private:
  struct Item {
    StateId state = 0;
    std::uint32_t origin = 0;
    std::uint32_t activation = 0;
    std::uint32_t inner = 0;  // meaning depends on the state's action
    std::uint32_t count = 0;
    bool operator==(const Item&) const = default;
  };
  struct ItemHash {
    std::size_t operator()(const Item& item) const;
  };
  struct Back;
  struct Kernel;
  struct StateSet;

 public:
  // The items of one place, over all bytes read so far, may not outnumber
  // `max_items`, and while recording all that is compared is bounded with it:
  // past that the place is dead and overflowed().
  //
  // `schemas[i]` reads texts of rules.schemas[i].  Without one, such a text
  // matches nothing.  They must outlive the recogniser, as must `marks`.
  explicit EarleyRecogniser(
      const rules::Rules& rules,
      std::span<recogniser::Recogniser* const> schemas = {},
      std::size_t max_items = 5'000'000, const rules::Marks* marks = nullptr);
  ~EarleyRecogniser();

  // Copyable: forks and rollbacks are copies.  O(bytes read).
  class Place {
   private:
    friend class EarleyRecogniser;
    std::vector<std::shared_ptr<const StateSet>> columns_;
  };

  // The place before the first byte.  Dead when the grammar has no text.
  Place start();
  bool alive(const Place& place) const;
  bool can_end(const Place& place) const;

  // Reads a byte, or several.  Returns alive().
  bool feed(Place& place, std::uint8_t byte);
  bool feed(Place& place, std::string_view bytes);
  // Reads a token, by its bytes and by its id, and counts it against budgets.
  bool feed_token(Place& place, rules::Token token, std::string_view bytes);

  bool accepts(std::string_view bytes);

  // From the next start() on, places remember what captures() needs.
  void record() { recording_ = true; }

  // An activation of a rule with a capture, or the marker behind one.  Places
  // are counted in what was fed: bytes, and tokens without bytes.
  struct Captured {
    std::string name;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    // Markers inside that are left out; sorted, apart.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> hidden = {};
  };

  // What is captured on one way to read what `place` has read: if it can end,
  // the best way to the end, as parlance/captures.h says it; else on the ways
  // that are open, and of captures with one name that begin at one place the
  // longest.  In the order of their ends, inner ones first.  Complexity:
  // O(items). REQUIRES: record() was called before the place's start().
  std::vector<Captured> captures(const Place& place) const;

  // Whether some place had too many items since the recogniser was made.
  bool overflowed() const { return overflowed_; }

 private:
  class Closure;
  class Tracer;

  // An activation of a rule that ends by a rule of its own.
  struct RuleActivation {
    std::uint32_t parent = 0;
    rules::RuleId rule = rules::kNoId;
    std::uint32_t origin = 0;
    // Used up when so many characters, tokens are in the whole text.
    std::uint64_t chars_limit = ~std::uint64_t{0};
    std::uint64_t tokens_limit = ~std::uint64_t{0};
    bool lazy = false;
  };

  std::shared_ptr<const StateSet> close(const Place& place, Kernel kernel,
                                        std::uint64_t chars,
                                        std::uint64_t tokens);
  Kernel scan(const StateSet& column, std::uint8_t byte);
  Kernel scan_token(const StateSet& column, rules::Token token) const;
  void note_backs(const StateSet& column, std::size_t item,
                  Kernel& kernel) const;
  void scan_free_text(const Item& item, std::uint8_t byte,
                      std::vector<Item>& out) const;
  void advance_in_text(const Item& item, const Item& next,
                       std::vector<Item>& out) const;
  void push(std::vector<Item>& out, const Item& item) const;
  std::uint32_t activation_for(rules::RuleId rule, std::uint32_t parent,
                               std::uint32_t origin, const StateSet& column);
  bool exhausted(std::uint32_t activation, const StateSet& column) const;
  std::uint32_t intern(recogniser::Configuration config);

  TransitionNetwork network_;
  const rules::Marks* marks_;
  bool reads_mark_ = false;  // the byte that is read begins a mark's
  std::size_t max_items_;
  bool overflowed_ = false;
  bool recording_ = false;
  std::size_t steps_ = 0;  // of the search for the best way

  std::vector<RuleActivation> activations_;  // 0: none
  std::map<std::tuple<std::uint32_t, rules::RuleId, std::uint32_t,
                      std::uint64_t, std::uint64_t>,
           std::uint32_t>
      activation_ids_;
  // Configurations of schema recognisers; 0 stands for their start.
  std::vector<recogniser::Configuration> configs_{recogniser::Configuration{}};
  std::map<
      std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>,
      std::uint32_t>
      config_ids_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_EARLEY_H_
