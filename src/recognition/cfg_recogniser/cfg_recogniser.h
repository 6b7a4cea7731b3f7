#ifndef PARLANCE_SRC_CFG_RECOGNISER_CFG_RECOGNISER_H_
#define PARLANCE_SRC_CFG_RECOGNISER_CFG_RECOGNISER_H_

// The recogniser of a context-free grammar: it reads a text byte by byte, at
// the cost of an array lookup wherever it has been before.
//
// The algorithm is a generalised LL recogniser over a graph-structured stack
// (Tomita, Efficient Parsing for Natural Language, 1985; Scott and Johnstone,
// GLL Parsing, 2010), determinised lazily as a lazy DFA is.
//
// What can follow a text is a set of items.  An item is a state of the
// transition network (transition_network.h), how much of what that state reads
// has been read, and a *context*, the stack: what follows the rule of the
// state.  A context is a set of items as well, namely the return addresses of
// the rule, and so a node of the graph-structured stack.  Contexts are
// hash-consed: equal contexts have equal ids, wherever in the text they arise,
// so equal stacks are shared.  A left-recursive rule makes a cycle.
//
//   pairs ::= "(" pairs ")" | ""        after "(("
//     item     ")" of pairs in context 2
//     context  2: ")" of pairs, then 1    1: ")" of pairs, then 0
//
// A *state* of this recogniser is a set of items in which each context is
// replaced by its index among the contexts of the set, its slot.  A *frame* is
// the list of contexts that fills the slots.  A configuration is a state and a
// frame:
//
//   configuration   lex 7: {")" in slot 0}    frame 4: slots (2)
//
// Most bytes leave the frame as it is.  Their transitions are in the row of the
// state and serve all frames; the other transitions are stored for a state and
// a frame together.  So a grammar without recursion becomes a DFA, and what was
// learnt inside one pair of brackets holds inside all.
//
// A lazy rule, or a rule whose budget is used up, ends at the first position
// where it may.  That is not context-free: the rest of such an activation has
// to be dropped as a whole.  So the items inside an activation are one set,
// which belongs to the one item that called the rule (RuleActivation); to end
// the activation is to drop that item.
//
// Where only the text of a JSON Schema can continue, the configuration is that
// of the schema's recogniser, with the enclosing site in `frame`, and bytes are
// read by that recogniser.  So what that recogniser counts stays a number.
//
// The mask of a configuration depends on the contents of contexts only where a
// token ends the rules that these contexts are the stacks of.  The recogniser
// records which contexts are read; configurations whose contexts agree as far
// as their mask read them are mask-equivalent.
//
// For the same reason a transition that depends on the frame is computed once
// for all frames in which the contexts that its closure compared or read are
// alike (renamings.h): one bracket further in, only the contexts are others.
//
// Invariant: items only enter live states of the network, so a configuration
// that is not dead can be continued to a text of the language.
//
// The tables only grow.  A recogniser is full when half of its limit is used; a
// call that begins before that may use the other half, beyond which
// configurations are dead and the recogniser has overflowed().  A configuration
// is then adopted by a fresh recogniser of the same network (adopt.cc).  That
// costs as much as the configuration's own items and contexts; nothing else is
// copied.
//
// What a transition costs is its closure.  Items that only read add nothing to
// it, so it is computed without them; and a state that has a few literals
// beside another one, as a keyword has beside a name, refers to that one for
// all other bytes (state_bases.h).
//
// The classes, each over those before it; tables.h puts them together:
//
//   NetworkFacts    the network, and what follows from it: immutable, shared
//   TableMemory     what the tables take, and whether limits were exceeded
//   Parts           the recognisers of schemas, and configurations of them
//   Contexts        contexts, loops, canonical forms, which subsumes which
//   ReadSets        which contexts results depend on; tracking
//   Activations     activations of lazy and limited rules
//   Closures        what follows without reading (closure.h, simulation.h)
//   Scanner         what items become when a byte or a token is read
//   States, Sites   configurations outside and inside the texts of schemas
//   Configurations  from a kernel of items to a configuration
//   DecisionTrees   questions about contexts; used by the following two
//   Equivalence     mask-equivalent configurations
//   Renamings       closures up to renaming of contexts
//   StateBases      states that are another one and a few literals
//   StateBytes      byte classes and other facts of a state
//   Transitions     the rows of states, and how they are filled
//
// CfgRecogniser itself is what others see of it.  adopt.cc has configurations
// of another recogniser, temperature.cc temperatures, expected.cc messages.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_set.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/parts.h"
#include "cfg_recogniser/sites.h"
#include "recogniser/language.h"
#include "recogniser/recogniser.h"
#include "rules/marks.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

// Owns its tables, and the position before any text.  It is called by the
// masks, by readers of texts, and by a recogniser of which it is a part.
//
// Invariant: nothing in the tables depends on the texts that were read, but for
// what is there at all: a configuration, an id or a set of bytes that was
// returned stays right.
class CfgRecogniser final : public PartOwner {
 public:
  // `schemas[i]` is the language of rules.schemas[i]; null matches nothing.
  // The same language may serve several schemas, and several CfgRecognisers.
  // `marks`: the special tokens that the markers of the rules are written with;
  // null if there are none.
  CfgRecogniser(const rules::Rules& rules, const Languages& schemas,
                const CfgRecogniserLimits& limits = {},
                std::shared_ptr<const rules::Marks> marks = nullptr);
  ~CfgRecogniser() override;

  recogniser::Configuration start() override;
  recogniser::Configuration step(recogniser::Configuration config,
                                 std::uint8_t byte) override;
  bool can_end(recogniser::Configuration config) override;
  recogniser::Configuration step_token(recogniser::Configuration from,
                                       recogniser::Configuration read,
                                       std::uint32_t id) override;
  recogniser::Configuration step_named(recogniser::Configuration from,
                                       std::uint32_t id) override;
  void token_ids(recogniser::Configuration config, std::uint32_t size,
                 TokenIds& out) override;
  recogniser::Configuration mask_key(recogniser::Configuration config,
                                     std::uint32_t longest) override;
  base::ByteSet first_bytes(recogniser::Configuration config) override;
  std::string expected(recogniser::Configuration config) override;
  std::size_t own_bytes() const override;

  Room room() override;
  // Whether there is no room, whatever room the parts have.
  bool used_up() const;
  // Whether a configuration is dead because of CfgRecogniserLimits::items or
  // ::depth.
  bool too_large() const;
  const CfgRecogniserLimits& limits() const;
  std::shared_ptr<recogniser::Recogniser> fresh() const override;
  recogniser::Configuration adopt(recogniser::Recogniser& from,
                                  recogniser::Configuration config) override;

  PartPosition part_at(recogniser::Configuration config) override;
  recogniser::Hint hint(recogniser::Configuration config) override;
  recogniser::Configuration resume(recogniser::Configuration config,
                                   recogniser::LeftValue left) override;
  recogniser::Configuration step_or_value(recogniser::Configuration config,
                                          std::uint8_t byte) override;
  std::optional<base::ByteSet> exception_bytes(
      recogniser::Configuration config) override;
  bool any_digits(recogniser::Configuration config) override;
  std::optional<std::uint32_t> chars_needed(
      recogniser::Configuration from, recogniser::Configuration to) override;
  const ByteClassTable* byte_classes_at(
      recogniser::Configuration config) override;
  bool has_hints_at(recogniser::Configuration config) override;
  ByteFacts bytes_at(recogniser::Configuration config) override;
  base::ByteSet repeatable_bytes(recogniser::Configuration config) override;
  recogniser::Configuration mask_equivalent(
      recogniser::Configuration config) override;
  // Whether start() is after a prefix.
  bool has_prefix() const;
  std::optional<double> temperature(recogniser::Configuration config) override;
  void begin_tracking() override;
  bool end_tracking(recogniser::Configuration config) override;
  bool track_mask_of(recogniser::Configuration config) override;

 private:
  struct Tables;
  class Adoption;

  // fresh(), of `of`.
  explicit CfgRecogniser(const CfgRecogniser& of);
  // Empty tables, and start_.
  void begin(std::shared_ptr<const NetworkFacts> facts,
             const Languages& languages, PartTables part_tables);
  // Moves start_ to after the prefix.
  void read_prefix();

  // step_token(), or step_named() if `only_named`.
  recogniser::Configuration read_token(recogniser::Configuration from,
                                       recogniser::Configuration read,
                                       std::uint32_t id, bool only_named);
  recogniser::Configuration read_mark_bytes(const Items& items,
                                            std::string_view bytes);
  recogniser::Configuration step_inside(recogniser::Configuration config,
                                        std::uint8_t byte);
  // What follows the text of the schema at a configuration inside it.
  const SchemaSite::Exit& exit_of(recogniser::Configuration config);
  // The largest NetworkRule::temperature of the states that can read something.
  std::uint32_t hottest(recogniser::Configuration config);

  std::unique_ptr<Tables> tables_;
  // Whether a result since begin_tracking() depended on what follows a part.
  bool read_past_part_ = false;
  recogniser::Configuration start_ = {};
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_CFG_RECOGNISER_H_
