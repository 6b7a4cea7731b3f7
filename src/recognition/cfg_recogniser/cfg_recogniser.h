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
// alike (renaming.cc): one bracket further in, only the contexts are others.
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
// all other bytes (renaming.cc, StateBase).
//
// Files: closure.cc what follows without reading; subsume.cc which contexts
// make others redundant; scan.cc reading a byte or a token; byte_classes.cc the
// byte classes of a state; equivalence.cc read sets and mask-equivalent
// configurations; renaming.cc transitions up to renaming of contexts; adopt.cc
// configurations of another recogniser; temperature.cc temperatures;
// expected.cc messages; cfg_recogniser.cc interning, transitions and schemas.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automata/byte_classes.h"
#include "base/block_vector.h"
#include "base/hashed_ids.h"
#include "base/intern_table.h"
#include "base/list_store.h"
#include "base/mix.h"
#include "base/reusable_set.h"
#include "cfg_recogniser/configuration_table.h"
#include "cfg_recogniser/equivalence_tree.h"
#include "cfg_recogniser/state_row.h"
#include "cfg_recogniser/transition_network.h"
#include "recogniser/language.h"
#include "recogniser/recogniser.h"
#include "rules/marks.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

// How deep activations of lazy or limited rules may be nested.
inline constexpr std::size_t kMaxActivations = 256;

struct CfgRecogniserLimits {
  // A limit for the tables, and the same again for the network.
  std::size_t bytes = std::size_t{256} << 20;
  // The items of one configuration, before redundant ones are dropped.
  std::size_t items = 100'000;
  // How deep activations of lazy or limited rules may be nested.
  std::size_t depth = kMaxActivations;
};

class CfgRecogniser final : public recogniser::Recogniser {
 public:
  // `schemas[i]` is the language of rules.schemas[i]; null matches nothing.
  // The same language may serve several schemas, and several CfgRecognisers.
  // `marks`: the special tokens that the markers of the rules are written with;
  // null if there are none.
  CfgRecogniser(const rules::Rules& rules,
                std::vector<std::shared_ptr<recogniser::Language>> schemas,
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
  std::size_t own_bytes() const override {
    return sizeof(CfgRecogniser) + bytes_;
  }

  Room room() override {
    if (overflowed_ || spoiled()) return Room::kOverflowed;
    return used_up() || part_full() ? Room::kFull : Room::kLeft;
  }
  // Whether there is no room, whatever room the parts have.
  bool used_up() const { return overflowed_ || bytes_ - base_bytes_ > room_; }
  // Whether a configuration is dead because of CfgRecogniserLimits::items or
  // ::depth.
  bool too_large() const { return too_large_; }
  const CfgRecogniserLimits& limits() const { return limits_; }
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
      recogniser::Configuration config) override {
    if (config.dead()) return nullptr;
    return inside(config) ? classes_inside(config) : &byte_classes(config.lex);
  }
  bool has_hints_at(recogniser::Configuration config) override {
    return schema_of(site_of(config)).traits().has_hints;
  }
  ByteFacts bytes_at(recogniser::Configuration config) override;
  base::ByteSet repeatable_bytes(recogniser::Configuration config) override;
  recogniser::Configuration mask_equivalent(
      recogniser::Configuration config) override;
  // Whether start() is after a prefix.
  bool has_prefix() const { return !prefix_.empty(); }
  std::optional<double> temperature(recogniser::Configuration config) override;
  void begin_tracking() override;
  bool end_tracking(recogniser::Configuration config) override;
  bool track_mask_of(recogniser::Configuration config) override;

 private:
  // fresh(), of `of`.
  explicit CfgRecogniser(const CfgRecogniser& of);
  void begin();
  // Moves start_ to after the prefix.
  void read_prefix();

  using ContextId = std::uint32_t;
  // Marks a context that a closure is still collecting; the other bits are an
  // index into the closure's locals.
  static constexpr ContextId kLocal = 0x80000000;
  // The bottom of the stack: of the whole text, or of an activation.
  static constexpr ContextId kOutermost = 0;

  // A state of the network in a context.  In the items of a State, `context` is
  // a slot.
  struct Item {
    StateId state = 0;
    ContextId context = 0;
    std::uint32_t inner = 0;  // meaning depends on the state's action
    std::uint32_t count = 0;
    bool operator==(const Item&) const = default;
    auto operator<=>(const Item&) const = default;
  };
  using Items = std::vector<Item>;
  struct ItemHash {
    std::size_t operator()(const Item& item) const {
      return static_cast<std::size_t>((*this)(std::span(&item, 1)));
    }
    // One multiplication of an item waits for that of the item before.
    std::uint64_t operator()(std::span<const Item> items) const {
      std::uint64_t hash = items.size();
      for (const Item& item : items) {
        const std::uint64_t place =
            std::uint64_t{item.state} << 32 | item.context;
        const std::uint64_t read = std::uint64_t{item.inner} << 32 | item.count;
        base::mix(hash, place + read * 0xC2B2AE3D27D4EB4F);
      }
      return hash;
    }
  };
  struct NumbersHash {
    std::uint64_t operator()(std::span<const std::uint32_t> numbers) const {
      std::uint64_t hash = numbers.size();
      std::size_t i = 0;
      for (; i + 1 < numbers.size(); i += 2) {
        base::mix(hash, std::uint64_t{numbers[i]} << 32 | numbers[i + 1]);
      }
      if (i < numbers.size()) base::mix(hash, numbers[i]);
      return hash;
    }
  };

  // What an activation may still read; kUnbounded: no budget.
  struct Budget {
    std::uint32_t chars = rules::kUnbounded;
    std::uint32_t tokens = rules::kUnbounded;
    bool exhausted() const { return chars == 0 || tokens == 0; }
    bool operator==(const Budget&) const = default;
  };

  // Whether an activation can still read something or end: always, or only if
  // an enclosing activation can (bit 0 of `outward`: the next enclosing one).
  struct Reading {
    bool always = false;
    std::uint64_t outward = 0;
    bool any() const { return always || outward != 0; }
  };

  // An activation of a lazy or limited rule, interned.
  //
  // The item that calls such a rule has as its `inner`: 0 before the activation
  // begins; the id of the activation; or kOutward | n if the activation is the
  // n-th enclosing one, counted from the innermost, 1 (a de Bruijn index).
  //
  // An activation that begins inside another of the same rule, at the same
  // position and with the same budget, accepts the same texts and ends at the
  // same positions, so it is represented by that one.  Hence a rule that calls
  // itself without reading makes a cycle, not an infinite descent.
  struct RuleActivation {
    Budget budget = {};
    Items kernel = {};
    Reading left = {};  // of the kernel
    // The closure of the kernel; valid once `closed`.
    bool closed = false;
    bool whole = false;     // the rule may end here, its marker included
    bool body_end = false;  // the body of the rule may end here
    // How many enclosing activations the closure depends on.
    std::uint32_t reach = 0;
    Items items = {};
    Reading reading = {};  // of the items
  };
  static constexpr std::uint32_t kOutward = 0x80000000;
  static constexpr std::uint32_t kMostOutward = 64;
  static bool outward(const Item& item) { return (item.inner & kOutward) != 0; }
  // The stack of activations whose closures are being computed.
  struct Enclosing {
    Enclosing* outer = nullptr;
    std::uint32_t id = 0;
    bool complete = false;  // it may end here, as far as is known so far
    bool asked = false;     // the closure has depended on `complete`
  };

  // What a state was made of, if it has a few literals more (close_by_parts()):
  // after any other byte than theirs it is as if they had not been there.
  struct StateBase {
    std::uint32_t lex = 0;
    std::span<const std::uint32_t> slots = {};  // of the state, by base's slot
    std::uint32_t frame_size = 0;               // slots of the state
    base::ByteSet others = {};  // the next bytes of the literals
  };
  // A set of items over slots: a state of the lazily built automaton.
  struct State {
    Items items;
    Items kernel;  // what `items` is the closure of, if tokens are counted
    bool can_end = false;
    const StateBase* base = nullptr;  // null: none
    StateRow row;
    bool row_begun = false;
    bool only_literals = false;  // once the row is begun
    // The representative of each byte's class; null: not yet computed.
    std::unique_ptr<automata::ByteTable> byte_classes;
    // readable_bytes(), once asked for; nothing in an activation.
    bool readable_known = false;
    std::optional<base::ByteSet> readable;
    // repeatable_bytes(), once known.
    bool repeatable_known = false;
    base::ByteSet repeatable = {};
    std::optional<std::uint32_t> temperature;  // hottest(), once known
    EquivalenceTree::Id equivalence_root =
        EquivalenceTree::kNone;  // root of its decision tree, if any
  };
  // An entry of a row is the next state, in the same frame; kUnknown if it is
  // not computed yet; or kByFrame | i if the frame decides, where i is the
  // kernel after the byte (kernels_after_).
  static constexpr std::uint32_t kUnknown = StateRow::kUnknown;
  static constexpr std::uint32_t kByFrame = 0x80000000;

  // A position in a text where the text of a schema begins, identified by an
  // item, and what is known about what follows that text.
  struct SchemaSite {
    StateId state = 0;
    ContextId context = 0;
    bool exit_known = false;
    bool ends_numbers = false;  // nothing that follows continues a number
    recogniser::Configuration exit = {};
    std::vector<std::uint32_t> read_sets = {};  // that `exit` depends on
    std::string forced_text = {};               // must follow the schema's text
  };
  // A context up to renaming: `id` identifies its items with their contexts
  // numbered in order of appearance; `contexts` are those contexts.
  struct CanonicalForm {
    std::uint32_t id = 0;
    std::span<const ContextId> contexts = {};
  };
  // The `lex` of a configuration inside the text of a schema has this bit; its
  // other bits are those of the schema's configuration, and `frame` is an index
  // into site_frames_.
  static constexpr std::uint32_t kInside = recogniser::Configuration::kInPart;
  struct SiteFrame {
    std::uint32_t site = 0;
    std::uint32_t frame = 0;
  };

  // What a closure makes of contexts that it knows by number only.  Where a
  // context is expected, a number stands for that context, and `kLocal | i` for
  // the i-th context that is made.
  struct Renaming {
    struct Made {
      std::span<const Item> content = {};
      std::uint32_t loop = 1;  // this and the following refer to each other
    };
    bool pure = false;
    // The target: a state, or a configuration of the schema of `site`.
    recogniser::Configuration to = {};
    StateId site = 0;
    std::span<const ContextId> frame = {};  // of the state, or of the site
    std::span<const ContextId> reads = {};
    std::span<const Made> made = {};
  };

  // A kernel whose contexts are numbers: its shape, an index in shapes_, and
  // then what each number stands for.
  using NumberedKernel = std::vector<std::uint32_t>;
  // What was made of a kernel.
  struct MadeOfKernel {
    recogniser::Configuration to = {};
    std::uint32_t read_set = 0;  // the contexts that it depends on
    bool pure = false;
  };

  class Closure;
  // Memory that closures reuse, by nesting depth.
  struct ClosureMemory;

  template <class Key, class Value>
  using Interned = std::unordered_map<Key, Value>;
  static std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) {
    return std::uint64_t{a} << 32 | b;
  }

  // cfg_recogniser.cc
  recogniser::Configuration configuration(
      Items kernel, std::span<const ContextId> slots = {});
  recogniser::Configuration make_configuration(
      std::span<const Item> kernel, std::span<const ContextId> slots);
  // The configuration of made_, which has contexts in place of slots.
  // REQUIRES: pure_ is that of the closure.
  recogniser::Configuration intern_configuration(
      std::span<const ContextId> slots);
  recogniser::Configuration reorder(recogniser::Configuration config,
                                    std::span<const ContextId> slots);
  recogniser::Configuration learn_step(recogniser::Configuration config,
                                       std::uint8_t byte);
  recogniser::Configuration learn_kernel(recogniser::Configuration config,
                                         std::uint8_t byte, Items& kernel);
  void begin_row(State& state);
  recogniser::Configuration step_in_frame(std::uint32_t frame,
                                          std::uint32_t kernel);
  // The items of a configuration, with contexts instead of slots; those of its
  // kernel.
  Items items_of(recogniser::Configuration config);
  // Valid as long as the recogniser.
  std::span<const ContextId> slots_of(recogniser::Configuration config) const {
    return frames_[config.frame];
  }
  Items kernel_of(recogniser::Configuration config);
  // Overwrites `out` with items of a state, with the contexts of a frame.
  void put_in_frame(const Items& of_state, std::uint32_t frame,
                    Items& out) const {
    const std::span<const ContextId> contexts = frames_[frame];
    out = of_state;
    for (Item& item : out) item.context = contexts[item.context];
  }
  std::uint32_t intern_frame(std::span<const ContextId> contexts);
  std::uint32_t intern_state(const Items& items, const Items& kernel);
  std::uint32_t intern_config(recogniser::Configuration config);
  bool within_limits() {
    if (bytes_ - base_bytes_ <= room_ + limits_.bytes / 2) return true;
    overflowed_ = true;
    return false;
  }

  // The recogniser of schema `index`, locked: see lock_part().
  recogniser::Recogniser& schema(std::uint32_t index) {
    return lock_part(*schemas_[index]);
  }
  recogniser::Recogniser& schema_of(const SchemaSite& site) {
    return schema(network_.states[site.state].index);
  }
  static bool inside(recogniser::Configuration config) {
    return config.in_part();
  }
  bool only_inside(recogniser::Configuration config);
  const SchemaSite& site_of(recogniser::Configuration config) const {
    return sites_[site_frames_[config.frame].site];
  }
  recogniser::Configuration unwrap(recogniser::Configuration config) const;
  recogniser::Configuration wrap(std::uint32_t site,
                                 recogniser::Configuration inner);
  // wrap() of the site and configuration of `like` with another inner one.
  recogniser::Configuration with_inner(recogniser::Configuration like,
                                       recogniser::Configuration inner);
  recogniser::Configuration enter_site(const Item& item);
  std::uint32_t intern_site(StateId state, ContextId context);
  recogniser::Configuration exit_of(std::uint32_t site);
  std::string forced_from(StateId state) const;
  recogniser::Configuration site_step(recogniser::Configuration config,
                                      std::uint8_t byte);

  // closure.cc
  // Replaces `items` by their closure: what follows without reading.
  struct Closed {
    bool pure = true;         // the closure read no context and made none
    std::uint32_t reach = 0;  // RuleActivation::reach
  };
  Closed close(Items& items, Budget budget, std::size_t depth,
               Enclosing* inside);
  Closed close(Items& items) { return close(items, {}, 0, nullptr); }
  // Computes the closure of activation `id` of `rule`, inside `outer`.  Returns
  // the id of the closed activation.
  std::uint32_t closed(std::uint32_t id, const NetworkRule& rule,
                       std::size_t depth, Enclosing* outer);
  static bool is_complete(const RuleActivation& one, const NetworkRule& rule);
  Reading reading_of(const Items& items, Reading RuleActivation::*inside) const;
  // `compared`: the read set of the contexts on which the answer no depends.
  void remember_subsumed(std::uint64_t pair, bool holds,
                         std::uint32_t compared = 0);
  std::uint32_t intern_activation(Budget budget, Items kernel,
                                  const RuleActivation* closed = nullptr);
  // All activations in `items`, nested ones included, without duplicates.
  std::vector<std::uint32_t> activations_in(const Items& items) const;
  // Interns contexts that refer to each other: in an item, `kLocal | i` stands
  // for contents[i].  Returns the id of contents[0]; the others follow.
  ContextId intern_loop(std::span<const Items> contents);
  void find_tails();

  // adopt.cc
  class Adoption;

  // equivalence.cc
  // The read set of a closure: the contexts whose contents it read
  // (record_read()), and the contexts that it depends on by identity
  // (record_identity()).  Read sets are interned and stored with the
  // transitions that depend on them; track() records that such a transition was
  // taken.
  void record_read(ContextId context);
  void record_identity(ContextId context);
  void begin_read_set();
  std::uint32_t intern_read_set();
  void track(std::uint32_t read_set);
  // The read sets of the transitions taken since tracking began.  Tracking may
  // be nested: push_tracking() returns the enclosing one, which pop_tracking()
  // restores without the sets of the inner one.
  struct Tracking {
    bool active = false;
    std::vector<std::uint32_t> read_sets = {};
  };
  Tracking push_tracking();
  std::vector<std::uint32_t> pop_tracking(Tracking outer);
  const CanonicalForm& canonical_form(ContextId context);
  enum class Asking : std::uint8_t { kFind, kExtend, kRefine };
  std::uint32_t number_of(ContextId context);
  bool add_question(EquivalenceTree::Id at, std::uint32_t& first);
  std::uint32_t answer(EquivalenceTree::Id at, bool fresh);
  EquivalenceTree::Id ask(EquivalenceTree::Id& root,
                          std::span<const ContextId> contexts, Asking how);
  recogniser::Configuration find_equivalent(recogniser::Configuration config,
                                            bool add);

  // renaming.cc
  // Replaces slots or contexts by numbers in the order of the items, which get
  // sorted.  `kernel` gets the shape and, by number, what it replaced.
  void number_kernel(Items& items, NumberedKernel& kernel);
  std::uint32_t intern_shape(std::span<const Item> kernel);
  // Makes kernel_ that of a frame; `by_slots` has slots in place of contexts.
  void set_kernel(std::span<const std::uint32_t> by_slots, std::uint32_t frame);
  std::span<const ContextId> contexts_of_kernel() const {
    return std::span(kernel_).subspan(1);
  }
  ContextId context_of_kernel(const Item& item) const {
    return kernel_[item.context + 1];
  }
  // What was made of kernel_; null if nothing was.
  const MadeOfKernel* find_made() const;
  // Stores what was made of it.  REQUIRES: find_made() returns null.
  void remember_made(recogniser::Configuration to);
  // The configuration of kernel_, in the simplest way: it was made before, or
  // is made by a renaming that is known, by parts, or by a closure.
  // `order`: of the slots, if the closure is pure.
  recogniser::Configuration make_numbered(std::span<const ContextId> order);
  // The same by a renaming; dead if none is known.
  recogniser::Configuration rename();
  // By parts; dead if there are none.
  recogniser::Configuration close_by_parts(std::span<const ContextId> order);
  // By a closure.
  recogniser::Configuration close_numbered(std::span<const ContextId> order);
  recogniser::Configuration make_part(Items& part);
  // Fills made_ with the items of a part and those that only read.  False if
  // one of these is in the place of another item, or if there are too many to
  // look at.
  bool merge_reading(Items& items, Items& reading);
  // What close_by_parts() makes of `part` and literals, if it has done so in
  // other contexts; dead if it has not, or if these contexts are not alike.
  recogniser::Configuration with_literals(recogniser::Configuration part,
                                          std::span<const Item> literals);
  void note_literals(recogniser::Configuration part,
                     std::span<const Item> literals,
                     recogniser::Configuration to);
  // Whether nothing follows from an item but what it reads.
  bool only_reads(const Item& item) const;
  // Learns how close_numbered() has made `to`.
  void learn_renaming(recogniser::Configuration to);
  Renaming number_targets(recogniser::Configuration to);
  recogniser::Configuration apply(const Renaming& renaming);
  void record_compared(std::span<const ContextId> contexts);
  void record_made(ContextId first, std::size_t count);

  // byte_classes.cc
  // For each byte, the least byte of its class: bytes of a class have the same
  // transitions from the state.
  const automata::ByteTable& byte_classes(std::uint32_t lex);
  // byte_classes_at() inside a schema's text; null if the schema knows none.
  const ByteClassTable* classes_inside(recogniser::Configuration config);
  // What is known of a class of characters.
  struct ClassBytes {
    automata::ByteTable kinds = {};  // what a byte does before a character
    base::ByteSet read = {};         // bytes that begin a character
    base::ByteSet complete = {};     // those that are one
    base::ByteSet texts = {};        // every text of these is of the class
  };
  const ClassBytes& bytes_of_class(std::uint32_t index);
  // ByteFacts::readable of a state.
  const base::ByteSet* readable_bytes(std::uint32_t lex);
  // Adds the bytes after which `item` remains.  `same`: byte_classes() of its
  // state.
  void add_readable(const Item& item, const automata::ByteTable& same,
                    base::ByteSet& bytes);
  // Finds Traits::alphabet and embedding_.
  void find_bytes();
  void add_embedding(const Item& item, rules::RuleId& rule,
                     base::ByteSet& bytes) const;
  bool before_class(const Item& item) const;
  const automata::ByteClasses& refined_by_classes(
      std::span<const Item* const> items);
  void split_bytes(const Item& item, automata::ByteClasses& bytes);
  void split_substring(const Item& item, automata::ByteClasses& bytes);
  void split_schema(const Item& item, automata::ByteClasses& bytes);

  // temperature.cc
  // The largest NetworkRule::temperature of the states that can read something.
  std::uint32_t hottest(recogniser::Configuration config);
  bool can_read(const Item& item);

  // scan.cc
  // Overwrites `out`.
  void scan(const Items& items, std::uint8_t byte, Items& out);
  void scan_inside(const Items& items, std::uint8_t byte, Items& out);
  void scan_count_class(const Item& item, std::uint8_t byte, Items& out);
  void scan_call(const Item& item, std::uint8_t byte, Items& out);
  void scan_item(const Item& item, std::uint8_t byte, Items& out);
  void scan_substring(const Item& item, std::uint8_t byte, Items& out);
  void scan_free_text(const Item& item, std::uint8_t byte, Items& out);
  void advance_in_text(const Item& item, const Item& next, Items& out);
  // Whether an item is free text, those inside activations included.
  bool in_free_text(const Items& items) const;
  recogniser::Configuration read_mark_bytes(const Items& items,
                                            std::string_view bytes);
  Items scan_token(const Items& items, rules::Token token);
  Items scan_token_inside(const Items& items, rules::Token token);
  // Advances the call `item` over a symbol; `scan` returns the budget and the
  // kernel of its activation after the symbol.
  template <class Scan>
  void advance_in_activation(const Item& item, Scan scan, Items& out);
  // Subtracts a token from every budget.
  void spend_token(Items& kernel);
  void spend_token_inside(Items& kernel);
  void mark_tokens(const Items& items, std::uint32_t size,
                   std::vector<std::uint32_t>& ids) const;
  void push(Items& out, const Item& item) const {
    if (network_.states[item.state].live) out.push_back(item);
  }

  const std::vector<std::shared_ptr<recogniser::Language>> languages_;
  // By index of languages_: the tables in use.
  const std::vector<std::shared_ptr<recogniser::Recogniser>> schemas_;
  // Whether a result since begin_tracking() depended on what follows a part.
  bool read_past_part_ = false;
  // Shared with the recognisers that are fresh() of each other.
  const std::shared_ptr<const TransitionNetwork> network_of_all_;
  const TransitionNetwork& network_;
  const CfgRecogniserLimits limits_;
  const std::shared_ptr<const rules::Marks> marks_;  // null: none
  const std::string prefix_;                         // rules::Rules::prefix
  bool reads_mark_ = false;     // the byte being read is the first of a mark
  bool reads_named_ = false;    // of tokens, those only that are named
  bool counts_tokens_ = false;  // some rule has a budget of tokens
  bool has_marks_ = false;      // some state reads tokens by their ids
  bool overflowed_ = false;
  bool too_large_ = false;
  // Whether the last configuration was made without reading a context.
  bool pure_ = false;
  std::vector<bool> tail_;  // by state: only the end of its rule follows
  // By rule: the bytes after which the rule may call itself, before it reads
  // anything else.
  std::vector<base::ByteSet> embedding_;
  std::size_t bytes_ = 0;
  std::size_t base_bytes_ = 0;  // of the network

  std::vector<std::unique_ptr<ClosureMemory>> closures_;
  // What is noted of a context.  What has the number of an earlier round is
  // void.
  struct ContextNotes {
    std::uint32_t slot_round = 0;
    std::uint32_t slot = 0;  // in the configuration that is being made
    std::uint32_t number_round = 0;
    std::uint32_t number = 0;  // in the search for an equivalent
    // The last closures that read it, and that compared it, by read_round_.
    std::uint32_t read_round = 0;
    std::uint32_t identity_round = 0;
    std::uint32_t compared_round = 0;
    std::uint32_t form = 0;  // in forms_, from 1; 0: none yet
  };
  base::BlockVector<ContextNotes> notes_;  // by context; never moved
  ContextNotes& notes(ContextId context) {
    if (context >= notes_.size()) notes_.extend(contexts_.size());
    return notes_[context];
  }
  bool numbered(ContextId context) {
    return notes(context).number_round == number_round_;
  }
  std::uint32_t slot_round_ = 0;

  base::InternTable<Item, ItemHash> contexts_;
  // Texts of many readers fill the same tables, so the key of a memo has all
  // that its value reads.  The network, the contents of a context, an
  // activation's kernel and a configuration of a schema never change, and are
  // read by id.
  //
  // By pair of contexts: whether the second subsumes the first, if known.  An
  // answer no depends on the contents of the contexts of a read set; on too
  // many of them, if that is kTooMany.
  struct Subsumption {
    bool holds = false;
    std::uint32_t compared = 0;
  };
  static constexpr std::uint32_t kTooMany = 0xFFFFFFFF;
  Interned<std::uint64_t, Subsumption> subsumed_;
  Interned<std::string, ContextId>
      loop_of_;  // contexts that refer to each other
  std::deque<RuleActivation> activations_;
  // By budget and kernel; of an activation that depends on enclosing ones, by
  // all that was found about it as well (intern_activation()).
  Interned<std::string, std::uint32_t> activation_of_;
  std::size_t closings_ = 0;  // closures of activations, for one closure
  // By activation: its successor after the symbol being read; 0: none.  Cleared
  // before each symbol.
  Interned<std::uint32_t, std::uint32_t> advanced_;
  std::deque<State> states_;
  base::HashedIds<std::uint32_t> state_of_;
  base::InternTable<ContextId, NumbersHash> frames_;
  std::vector<recogniser::Configuration>
      configs_;  // of schemas, by Item::inner
  Interned<std::string, std::uint32_t> config_of_;
  std::vector<SchemaSite> sites_;
  std::unordered_map<std::uint64_t, std::uint32_t> site_of_item_;
  std::vector<SiteFrame> site_frames_;
  std::unordered_map<std::uint64_t, std::uint32_t> site_frame_of_;
  // By site and state of the schema: the byte classes where its text may end.
  std::unordered_map<std::uint64_t, std::unique_ptr<ByteClassTable>>
      site_classes_;
  // The configurations of kernels whose closures read contexts, and so depend
  // on no order of slots.
  base::InternTable<Item, ItemHash> kernels_;
  std::vector<MadeOfKernel> made_of_kernel_;

  // The read set of the closure being made; kLocal marks identity.
  std::vector<ContextId> reads_;
  std::uint32_t read_round_ = 1;
  std::uint32_t made_read_set_ = 0;  // of the last configuration()
  base::InternTable<ContextId, NumbersHash> read_sets_;
  Tracking tracking_;  // may contain duplicates
  std::vector<std::uint32_t> tracked_rounds_;
  std::uint32_t tracking_round_ = 0;

  // Of the closure being made: what a renaming of its result depends on beside
  // reads_, and the contexts that it made.  See renaming.cc.
  struct MadeContexts {
    ContextId first = 0;
    std::uint32_t count = 0;  // several refer to each other
  };
  std::vector<ContextId> compared_;
  bool compared_too_many_ = false;
  std::vector<MadeContexts> made_contexts_;
  base::InternTable<Item, ItemHash> shapes_;  // of kernels
  // By shape and state of the part: the state that was made of them, whose base
  // is the part.  That the contexts are alike is checked (with_literals()).
  Interned<std::uint64_t, std::uint32_t> with_literals_;
  std::vector<EquivalenceTree::Id> renamings_of_shape_;  // roots
  // The kernels after a byte, in any frame: with the slot of each number in the
  // state.
  base::InternTable<std::uint32_t, NumbersHash> kernels_after_;
  base::BlockVector<Renaming> renamings_;
  // The kernel of which a configuration is being made, and those of which one
  // was made: with the context of each number.  If the closure is pure, the
  // order of slots is another's (reorder()).
  NumberedKernel kernel_;
  base::InternTable<std::uint32_t, NumbersHash> numbered_kernels_;
  base::BlockVector<MadeOfKernel> made_of_numbered_;
  // Of learn_renaming(): what the closure read, compared and made, and memory.
  std::vector<ContextId> learnt_reads_;
  std::vector<ContextId> learnt_compared_;
  std::vector<MadeContexts> learnt_made_;
  std::vector<std::pair<ContextId, ContextId>> numbers_of_made_;
  std::vector<Renaming::Made> renaming_made_;
  Items numbered_items_;
  std::vector<ContextId> numbered_contexts_;
  // Lists of renamings, of canonical forms and of bases.
  base::ListStore<ContextId> number_lists_;
  base::ListStore<Item> item_lists_;
  base::ListStore<Renaming::Made> made_lists_;
  base::BlockVector<StateBase> bases_;
  // Of apply(): the contexts that it made, and memory.
  std::vector<ContextId> renamed_;
  std::vector<Items> renamed_contents_;
  std::vector<ContextId> renamed_frame_;

  EquivalenceTree equivalence_tree_;
  ConfigurationTable known_equivalents_;  // by state and frame
  std::deque<CanonicalForm> forms_;
  base::InternTable<Item, ItemHash> contents_of_forms_;
  // Of the search for an equivalent.
  std::vector<ContextId> contexts_by_number_;
  std::uint32_t number_round_ = 0;
  std::vector<bool> asked_by_identity_;      // by number
  std::vector<std::uint32_t> asked_rounds_;  // by number: the last walk that
                                             // asked for the context
  std::vector<std::uint32_t> inside_;
  Items form_items_;
  std::vector<ContextId> form_contexts_;

  // The items of the configuration that is being made; their kernel, if tokens
  // are counted.
  struct {
    Items items;
    Items kernel;
  } made_;
  // Of learn_step(), close_numbered() and close_by_parts(): memory.
  Items scanned_;
  Items kernel_items_;
  Items reading_;
  Items others_;
  Items part_items_;
  // Of learn_kernel() and make_part(): memory.
  NumberedKernel kernel_by_slots_;
  NumberedKernel kernel_of_part_;
  // Of intern_configuration() and byte_classes(): memory.
  std::vector<ContextId> slots_made_;
  std::vector<const Item*> items_to_split_;
  std::vector<std::uint32_t> classes_to_split_;

  std::vector<std::unique_ptr<ClassBytes>> bytes_of_class_;  // null: not yet
  // By classes of characters, which are those of the network:
  // refined_by_classes().
  std::map<std::vector<std::uint32_t>, automata::ByteClasses> refinements_;
  recogniser::Configuration start_ = {};
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_CFG_RECOGNISER_H_
