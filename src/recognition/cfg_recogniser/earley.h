#ifndef PARLANCE_SRC_CFG_RECOGNISER_EARLEY_H_
#define PARLANCE_SRC_CFG_RECOGNISER_EARLEY_H_

// Earley's algorithm for any grammar: membership, and the captures of a parse.
//
//   EarleyRecogniser recogniser(rules);
//   recogniser.accepts("abc");
//   EarleyRecogniser::Place place = recogniser.start();
//   recogniser.feed(place, 'a') && recogniser.can_end(place);
//
// Earley (1970) over the network of transition_network.h.  A Place, a position
// in a text, has one set of items for each byte read so far.  An item is a
// state of the network, the position where its rule was entered (its origin),
// and how much of what its state reads has been read.  Left recursion, nullable
// rules and ambiguity need no special care: a set contains an item once.
//
// Lazy rules and budgets are not context-free: an activation of such a rule
// ends where its body *first* may end (once its budget is used up).  The items
// inside an activation carry its id.  When the activation has to end, all items
// with its id are dropped, and only the items that continue after it stay.  An
// activation that begins inside another of the same rule, at the same position
// and with the same budget, accepts the same texts and ends at the same
// positions, so it gets the same id.  A token that is read by its id and by its
// bytes is read in two ways, each of which ends its activations for itself:
// from there on the items that its id leads to carry copies of their
// activations.
//
// Items only enter live states of the network, so a position that is alive can
// be continued to a text of the language.
//
// It computes captures, which CfgRecogniser cannot, and the tests use it to
// check CfgRecogniser, its temperatures included.  Complexity: O(n^3) for
// ambiguous grammars, O(n^2) for most, O(n) for many.  Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cfg_recogniser/symbol_reader.h"
#include "cfg_recogniser/transition_network.h"
#include "recogniser/recogniser.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

class EarleyRecogniser {
 private:
  struct Item {
    StateId state = {};
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
  // `max_items` limits the items that are made for a Place, over all bytes read
  // so far, the activations that are copied, the work of following these and,
  // while recording, that of comparing derivations.  Beyond the limit the place
  // is dead and overflowed() is true.
  //
  // `schemas[i]` recognises the texts of rules.schemas[i]; a schema without a
  // recogniser matches nothing.  The schemas and `marks` must outlive this
  // recogniser.
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
  bool feed(Place& place, std::uint8_t byte) {
    return feed(place, ByteRead{byte});
  }
  bool feed(Place& place, std::string_view bytes);
  // Reads a token, by its bytes and by its id, and subtracts it from budgets.
  bool feed_token(Place& place, rules::Token token, std::string_view bytes);

  // Returns to the place before everything but the first `size` symbols was
  // fed: bytes, and tokens without bytes.  O(symbols undone).
  void truncate(Place& place, std::size_t size);

  bool accepts(std::string_view bytes);

  // The temperature of the next symbol, as Recogniser::temperature() defines
  // it.  It follows the callers of every item.  O(items).
  std::optional<double> temperature(const Place& place);

  // From the next start() on, places store the derivations that captures()
  // needs.
  void record() { recording_ = true; }

  // The text of a rule with a capture, or of the marker after such a rule.
  // `begin` and `end` count what was fed: bytes, and tokens without bytes.
  struct Captured {
    std::string name;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    // The hidden markers inside; sorted, disjoint.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> hidden = {};
  };

  // The captures of one derivation of the text read so far.  If the text may
  // end here, that is the preferred derivation, as parlance/grammar.h defines
  // it.  Otherwise the captures of all derivations still open are joined: among
  // captures with the same name and the same begin, the longest.  Sorted by
  // end, inner captures first.
  // Complexity: O(items of the sets that no call has followed yet + captures).
  // REQUIRES: record() was called before the place's start().
  std::vector<Captured> captures(const Place& place) const;

  // Whether some place has exceeded the limit since the recogniser was made;
  // whether this one has.
  bool overflowed() const { return overflowed_; }
  bool overflowed(const Place& place) const;

  // How much is stored for all places so far, beside what they contain.
  std::size_t interned() const { return activations_.size() + configs_.size(); }
  // Frees what is stored for the places so far, which become invalid.
  void forget();

 private:
  class Closure;
  class Tracer;

  // An activation of a lazy or limited rule.
  struct RuleActivation {
    std::uint32_t parent = 0;
    rules::RuleId rule = rules::kNoRule;
    std::uint32_t origin = 0;
    // The budgets, as numbers of characters and tokens of the whole text.
    std::uint64_t chars_limit = ~std::uint64_t{0};
    std::uint64_t tokens_limit = ~std::uint64_t{0};
    bool lazy = false;
    // For a copy: the activation that it copies, the token after which it was
    // made, and the characters of that token's bytes.
    std::uint32_t of = 0;
    std::uint32_t copied = 0;
    std::uint64_t chars = 0;
  };

  std::shared_ptr<const StateSet> close(const Place& place, Kernel kernel,
                                        std::uint64_t chars,
                                        std::uint64_t tokens);
  bool feed(Place& place, ByteRead read);
  Kernel scan(const StateSet& column, ByteRead read);
  Kernel scan_token(const StateSet& column, rules::Token token) const;
  void add_backs(const StateSet& column, std::size_t item,
                 Kernel& kernel) const;
  std::uint32_t activation_for(rules::RuleId rule, std::uint32_t parent,
                               std::uint32_t origin, const StateSet& column);
  bool exhausted(std::uint32_t activation, const StateSet& column) const;
  // The copy of an activation for what the id of a token leads to, at
  // `position`; `chars`: the characters of its bytes, which the id has not.
  std::uint32_t copy_of(std::uint32_t activation, std::uint32_t position,
                        std::uint64_t chars);
  // What `activation` was at `origin`, before tokens that copied it.
  std::uint32_t at_origin(std::uint32_t activation, std::uint32_t origin);
  // The activation `caller` of that time, copied as `activation` was since.
  std::uint32_t carried(std::uint32_t caller, std::uint32_t activation,
                        std::uint32_t origin);
  std::uint32_t intern(recogniser::Configuration config);

  TransitionNetwork network_;
  const rules::Marks* marks_;
  std::size_t max_items_;
  bool overflowed_ = false;
  bool recording_ = false;
  // Of the place that is being fed: steps spent on comparing derivations and on
  // following activations, and the activations that were copied since its last
  // state set.
  std::size_t steps_ = 0;
  std::size_t copied_ = 0;

  std::vector<RuleActivation> activations_;  // 0: none
  std::map<std::tuple<std::uint32_t, rules::RuleId, std::uint32_t,
                      std::uint64_t, std::uint64_t>,
           std::uint32_t>
      activation_ids_;
  // By activation, position and characters, its copy.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>,
           std::uint32_t>
      copies_;
  // Configurations of schema recognisers; 0 stands for their start.
  std::vector<recogniser::Configuration> configs_{recogniser::Configuration{}};
  std::map<
      std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>,
      std::uint32_t>
      config_ids_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_EARLEY_H_
