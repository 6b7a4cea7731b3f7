#ifndef PARLANCE_SRC_CFG_RECOGNISER_STATE_BYTES_H_
#define PARLANCE_SRC_CFG_RECOGNISER_STATE_BYTES_H_

// What states do with bytes, without a step.
//
// What an item does with a byte depends on its state of the network and not on
// its context, so what is known of a state here holds in all frames.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "automata/byte_classes.h"
#include "base/byte_set.h"
#include "cfg_recogniser/activations.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/parts.h"
#include "cfg_recogniser/scanner.h"
#include "cfg_recogniser/states.h"
#include "cfg_recogniser/table_memory.h"

namespace parlance::cfg_recogniser {

// Computes the facts, each once, and stores them in the State.  Owns what is
// known of classes of characters.
class StateBytes {
 public:
  StateBytes(const NetworkFacts& facts, Parts& parts, Activations& activations,
             Scanner& scanner, States& states, TableMemory& memory)
      : facts_(facts),
        network_(facts.network),
        parts_(parts),
        activations_(activations),
        scanner_(scanner),
        states_(states),
        memory_(memory) {}

  // All results are valid as long as the recogniser.
  //
  // For each byte, the least byte of its class: bytes of a class have the same
  // transitions from the state.
  const automata::ByteTable& byte_classes(LexId lex);
  // ByteFacts::readable of a state; null: not known.
  const base::ByteSet* readable(LexId lex);
  // Recogniser::repeatable_bytes() of a state.
  const base::ByteSet& repeatable(LexId lex);

 private:
  // What is known of a class of characters.
  struct ClassBytes {
    automata::ByteTable kinds = {};  // what a byte does before a character
    base::ByteSet read = {};         // bytes that begin a character
    base::ByteSet complete = {};     // those that are one
    base::ByteSet texts = {};        // every text of these is of the class
  };
  const ClassBytes& bytes_of_class(std::uint32_t index);
  // Adds the bytes after which `item` remains.  `same`: byte_classes() of its
  // state.
  void add_readable(const Item& item, const automata::ByteTable& same,
                    base::ByteSet& bytes);
  bool before_class(const Item& item) const;
  const automata::ByteClasses& refined_by_classes(
      std::span<const Item* const> items);
  void split_bytes(const Item& item, automata::ByteClasses& bytes);
  void split_substring(const Item& item, automata::ByteClasses& bytes);
  void split_schema(const Item& item, automata::ByteClasses& bytes);

  const NetworkFacts& facts_;
  const TransitionNetwork& network_;
  Parts& parts_;
  Activations& activations_;
  Scanner& scanner_;
  States& states_;
  TableMemory& memory_;
  std::vector<std::unique_ptr<ClassBytes>> bytes_of_class_;  // null: not yet
  // By classes of characters, which are those of the network:
  // refined_by_classes().
  std::map<std::vector<std::uint32_t>, automata::ByteClasses> refinements_;
  // Memory of byte_classes().
  std::vector<const Item*> items_;
  std::vector<std::uint32_t> classes_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_STATE_BYTES_H_
