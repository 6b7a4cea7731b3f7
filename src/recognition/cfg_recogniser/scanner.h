#ifndef PARLANCE_SRC_CFG_RECOGNISER_SCANNER_H_
#define PARLANCE_SRC_CFG_RECOGNISER_SCANNER_H_

// What items become when a byte or a token is read.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cfg_recogniser/activations.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/parts.h"
#include "cfg_recogniser/symbol_reader.h"
#include "recogniser/recogniser.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

// Reads symbols.  It stores nothing but the activations and the configurations
// of parts that a symbol leads to; the closure of what it returns is not its
// business (closures.h).
class Scanner {
 public:
  Scanner(const NetworkFacts& facts, Parts& parts, Activations& activations)
      : facts_(facts),
        network_(facts.network),
        parts_(parts),
        activations_(activations) {}

  // Overwrites `out` with what the items become after a byte.
  void scan(const Items& items, ByteRead read, Items& out);
  // Adds what one item becomes, other than a call of an activation.
  void scan_item(const Item& item, ByteRead read, Items& out);
  // What the items become that read a token by its id (symbol_reader.h).
  Items scan_token(const Items& items, rules::Token id,
                   bool only_named = false);
  // Subtracts a token from every budget.
  void spend_token(Items& kernel);

  // Whether an item is free text, those inside activations included.
  bool in_free_text(const Items& items) const;
  // Whether the state of `item` itself can read a byte or a token: the items of
  // an activation are asked for themselves.
  bool can_read(const Item& item);
  // The ids below `size` of the tokens that items read by their ids: ascending,
  // without duplicates.
  std::vector<std::uint32_t> token_ids(const Items& items,
                                       std::uint32_t size) const;

 private:
  void scan_inside(const Items& items, ByteRead read, Items& out);
  void scan_call(const Item& item, ByteRead read, Items& out);
  Items scan_token_inside(const Items& items, TokenRead read);
  // Advances the call `item` over a symbol; `scan` returns the budget and the
  // kernel of its activation after the symbol.
  template <class Scan>
  void advance_in_activation(const Item& item, Scan scan, Items& out);
  void spend_token_inside(Items& kernel);

  const NetworkFacts& facts_;
  const TransitionNetwork& network_;
  Parts& parts_;
  Activations& activations_;
  // By activation: its successor after the symbol being read; 0: none.  Cleared
  // before each symbol.
  std::unordered_map<ActivationId, ActivationId> advanced_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_SCANNER_H_
