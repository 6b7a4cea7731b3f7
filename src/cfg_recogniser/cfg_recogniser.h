#ifndef PARLANCE_SRC_CFG_RECOGNISER_CFG_RECOGNISER_H_
#define PARLANCE_SRC_CFG_RECOGNISER_CFG_RECOGNISER_H_

// Any grammar, byte by byte, at the cost of an array lookup for what was seen.
//
// What can follow a text is a set of items: a place in the network of
// transition_network.h, how far it is inside what is read there, and a
// *context*: what follows the rule the place is in.  A context is a set of
// items as well. Equal contexts have equal numbers, so the contexts form a
// stack whose equal parts are shared, and which may be a loop (a rule that
// begins with itself).
//
//   pairs ::= "(" pairs ")" | ""        after "(("
//     item     ")" of pairs in context 2
//     context  2: ")" of pairs, then 1    1: ")" of pairs, then 0
//
// A set of items without its contexts, numbered by place instead, is a *state*:
//
//   configuration   lex 7: {")" in slot 0}    frame 4: slots (2)
//
// Most bytes change no slot; where they lead is kept in a row of the state, for
// all frames at once.  Other bytes are remembered for state and frame.  So a
// grammar without recursion becomes an automaton, and what was learnt inside
// one bracket is known inside all.
//
// An item of a rule that ends where it first may (lazy, or a budget that is
// used up) is the whole set of items inside one activation of it: to end the
// activation is to drop the item.
//
// Where nothing but the text of a JSON Schema can go on, the configuration is
// that of the schema's own recogniser, with what is around it in `frame`, and
// what it says of its place is passed on.
//
// What can be read at a place depends on the contexts only as far as they are
// read: when a rule ends.  Places whose contexts are alike as far as
// their mask depends on them are equivalents.
//
// Items only ever enter live states of the network, so a configuration that is
// not dead can be continued.
//
// The tables only grow.  A machine has room for half of its limit; a question
// that begins in that room may use all of the limit, past which configurations
// are dead and overflowed() says so.  A place is then taken to a fresh machine
// of the same network (adopt.cc), which costs what its items and contexts
// are: places of the text that were passed leave nothing behind.
//
// Files: closure.cc what follows without reading, subsume.cc which
// contexts make others redundant, scan.cc reading a byte or a token,
// byte_classes.cc which bytes are alike, cfg_recogniser.cc
// configurations and the rest, adopt.cc places of another machine,
// equivalence.cc places with the same mask.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automata/byte_classes.h"
#include "base/intern_table.h"
#include "base/mix.h"
#include "base/reusable_set.h"
#include "cfg_recogniser/equivalence_tree.h"
#include "cfg_recogniser/transition_network.h"
#include "cfg_recogniser/transition_table.h"
#include "recogniser/recogniser.h"
#include "rules/marks.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

// Activations of lazy or limited rules that may stand inside each other.
inline constexpr std::size_t kMaxActivations = 256;

struct CfgRecogniserLimits {
  // Memory of all that is interned, and of the network: of each by itself.
  std::size_t bytes = std::size_t{256} << 20;
  // Items that one place of a text may have.
  std::size_t items = 100'000;
  // Activations of lazy or limited rules inside each other.
  std::size_t depth = kMaxActivations;
};

class CfgRecogniser final : public recogniser::Recogniser {
 public:
  // `schemas[i]` reads texts of rules.schemas[i]; a null one matches nothing.
  // One may stand for several, and in several machines.
  // `marks`: the tokens that markers of the rules are written with; null for
  // none.
  CfgRecogniser(const rules::Rules& rules,
                std::vector<std::shared_ptr<recogniser::Recogniser>> schemas,
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
  void token_marks(recogniser::Configuration config, std::uint32_t size,
                   std::vector<std::uint32_t>& ids) override;
  void token_choices(recogniser::Configuration config,
                     std::vector<std::uint32_t>& ids) override;
  recogniser::Configuration mask_key(recogniser::Configuration config,
                                     std::uint32_t longest) override;
  recogniser::Configuration mask_equivalent(
      recogniser::Configuration config) override;
  void begin_tracking() override;
  void end_tracking(recogniser::Configuration config) override;
  recogniser::StringHint string_hint(recogniser::Configuration config) override;
  bool has_exceptions(recogniser::Configuration config) override;
  std::array<std::uint64_t, 4> exception_bytes(
      recogniser::Configuration config) override;
  std::array<std::uint64_t, 4> first_bytes(
      recogniser::Configuration config) override;
  std::array<std::uint64_t, 4> likely_bytes(
      recogniser::Configuration config) override;
  recogniser::WhitespaceHint whitespace_hint(
      recogniser::Configuration config) override;
  bool by_shapes(recogniser::Configuration config) override {
    return !inside(config);
  }
  std::uint64_t lexeme_fingerprint(recogniser::Configuration config) override;
  bool same_lexeme(recogniser::Configuration from,
                   recogniser::Configuration to) override;
  std::uint32_t chars_left(recogniser::Configuration config) override;
  recogniser::Configuration lexeme_unbounded(
      recogniser::Configuration config) override;
  LexemeSplit split_lexeme(recogniser::Configuration config) override;
  std::uint32_t chars_needed(recogniser::Configuration from,
                             recogniser::Configuration to) override;
  int lexeme_end(recogniser::Configuration config) override;
  bool lexeme_by_state(recogniser::Configuration config) override;
  std::uint32_t lexeme_step(std::uint32_t lex, std::uint8_t byte) override;
  std::uint32_t min_chars_to_accept(std::uint32_t lex) override;
  std::uint32_t max_min_chars(std::uint32_t lex) override;
  bool lexeme_any_escapes(std::uint32_t lex) override;
  recogniser::Configuration value_state(
      recogniser::Configuration config) override;
  bool left_value(recogniser::Configuration config) override;
  bool ended_by_lookahead(recogniser::Configuration config) override;
  recogniser::Configuration resume(recogniser::Configuration config,
                                   recogniser::Configuration escaped) override;
  std::uint64_t value_fingerprint(recogniser::Configuration config) override;
  recogniser::Configuration translate_left_value(
      recogniser::Configuration config,
      recogniser::Configuration escaped) override;
  recogniser::Configuration step_or_value_state(
      recogniser::Configuration config, std::uint8_t byte) override;
  std::string expected(recogniser::Configuration config) override;
  std::span<const std::shared_ptr<recogniser::Recogniser>> parts()
      const override {
    return parts_;
  }
  void release() override {
    if (locked_part_ == nullptr) return;
    part_full_ = part_full_ || (full_with_parts_ && locked_part_->full());
    locked_part_->mutex.unlock();
    locked_part_ = nullptr;
  }
  ActivePart active_part(recogniser::Configuration config) override;
  bool read_past_part() const override { return read_past_part_; }
  std::size_t own_bytes() const override {
    return sizeof(CfgRecogniser) + bytes_;
  }

  bool full() override {
    return bytes_ - base_bytes_ > room_ || overflowed_ ||
           (full_with_parts_ &&
            (part_full_ || (locked_part_ != nullptr && locked_part_->full())));
  }
  bool overflowed() const override { return overflowed_; }
  // Whether a configuration is dead because of the limits of its items.
  bool too_large() const { return too_large_; }
  std::shared_ptr<recogniser::Recogniser> fresh(bool same_parts) override;
  recogniser::Configuration adopt(recogniser::Recogniser& from,
                                  recogniser::Configuration config) override;
  bool adopts() const override { return true; }
  void widen(std::size_t bytes) override { room_ += bytes; }

 private:
  // `of`, with empty tables.
  CfgRecogniser(const CfgRecogniser& of,
                std::vector<std::shared_ptr<recogniser::Recogniser>> schemas);
  void begin();

  using ContextId = std::uint32_t;
  // Contexts that are being made; the rest is an index.
  static constexpr ContextId kLocal = 0x80000000;
  // The context of a text as a whole, or of an activation as a whole.
  static constexpr ContextId kOutermost = 0;

  // `context` is a slot in the items of a State.
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
      std::uint64_t hash = item.state;
      base::mix(hash, std::uint64_t{item.context} << 32 | item.inner);
      base::mix(hash, item.count);
      return static_cast<std::size_t>(hash);
    }
  };
  struct NumberHash {
    std::size_t operator()(std::uint32_t number) const { return number; }
  };

  // What an activation may still take; kMany: no budget.
  struct Budget {
    std::uint32_t chars = rules::kMany;
    std::uint32_t tokens = rules::kMany;
    bool exhausted() const { return chars == 0 || tokens == 0; }
    bool operator==(const Budget&) const = default;
  };

  // Whether something may still come in an activation: always, or as long as
  // something may in one of those that it is in (bit 0: the next one outward).
  struct Reading {
    bool always = false;
    std::uint64_t outward = 0;
    bool any() const { return always || outward != 0; }
  };

  // One activation of a rule that ends by a rule of its own.
  //
  // The item of a call of such a rule has as its `inner`: 0 before it begins;
  // the number of its activation; or kOutward | n, if the activation is the
  // n-th of those that the item is in (1: the innermost).  For one that begins
  // inside another of the same rule, at the same place and with the same
  // budget, is the same: it takes the same texts and ends at the same places.
  // So what calls itself without reading is a loop, and no endless descent.
  struct RuleActivation {
    Budget budget = {};
    Items kernel = {};
    Reading left = {};  // of the kernel: something, or the end, may come
    // What follows from the kernel, once known.
    bool closed = false;
    bool whole = false;     // the rule may end here, with its marker
    bool body_end = false;  // its body may
    // This depends on what it is in, so many activations outward.
    std::uint32_t reach = 0;
    Items items = {};
    Reading reading = {};  // of the items
  };
  static constexpr std::uint32_t kOutward = 0x80000000;
  static constexpr std::uint32_t kMostOutward = 64;
  static bool outward(const Item& item) { return (item.inner & kOutward) != 0; }
  // An activation that is being closed, inside those that are, too.
  struct Enclosing {
    Enclosing* outer = nullptr;
    std::uint32_t id = 0;
    bool complete = false;  // it may end here, as far as is known
    bool asked = false;     // something depends on that
  };

  // A set of items over slots.
  struct State {
    Items items;
    Items kernel;  // kept where tokens are counted
    bool can_end = false;
    std::unique_ptr<std::array<std::uint32_t, 256>> row;
    // Of each byte the least that leads to the same; null: not yet known.
    std::unique_ptr<automata::ByteTable> byte_classes;
    EquivalenceTree::Id equivalence_root =
        EquivalenceTree::kNone;  // the first question, if any
  };
  // In rows: the state of the next configuration in the same frame, or
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
  static constexpr std::uint32_t kDependsOnFrame = 0xFFFFFFFE;

  // An item of a schema between two texts: where the text of the schema stands,
  // and what is known about what follows it.
  struct SchemaSite {
    StateId state = 0;
    ContextId context = 0;
    bool exit_known = false;
    bool ends_numbers = false;  // nothing that follows continues a number
    recogniser::Configuration exit = {};
    std::vector<std::uint32_t> read_sets = {};  // sets of contexts
    std::string forced_text = {};               // must follow the schema's text
  };
  // The content of a context without its contexts, which stand beside.
  struct CanonicalForm {
    std::uint32_t id = 0;
    std::vector<ContextId> contexts = {};
  };
  // `lex` of a configuration inside a site has this bit; the rest is the
  // schema's.  `frame` is a place in site_frames_.
  static constexpr std::uint32_t kInside = 0x80000000;
  struct SiteFrame {
    std::uint32_t site = 0;
    std::uint32_t frame = 0;
  };

  class Closure;
  // Memory of closures, by how deep they are inside each other.
  struct ClosureMemory;

  template <class Key, class Value>
  using Interned = std::unordered_map<Key, Value>;

  // cfg_recogniser.cc
  recogniser::Configuration configuration(
      Items kernel, std::span<const ContextId> slots = {});
  recogniser::Configuration make_configuration(
      Items kernel, std::span<const ContextId> slots);
  recogniser::Configuration learn_step(recogniser::Configuration config,
                                       std::uint8_t byte);
  recogniser::Configuration step_in_frame(recogniser::Configuration config,
                                          std::uint8_t byte);
  recogniser::Configuration remember_step(recogniser::Configuration config,
                                          std::uint8_t byte,
                                          recogniser::Configuration to);
  // The items of a configuration, with contexts; those of its kernel.
  Items items_of(recogniser::Configuration config);
  std::vector<ContextId> slots_of(recogniser::Configuration config) const {
    const std::span<const ContextId> slots = frames_[config.frame];
    return {slots.begin(), slots.end()};
  }
  Items kernel_of(recogniser::Configuration config);
  std::uint32_t intern_frame(std::span<const ContextId> contexts);
  std::uint32_t intern_state(State state);
  std::uint32_t intern_config(recogniser::Configuration config);
  bool within_limits() {
    if (bytes_ - base_bytes_ <= room_ + limits_.bytes / 2) return true;
    overflowed_ = true;
    return false;
  }

  // The schema `index`, held until another is asked for.  So the answer is not
  // to be used behind anything that may ask for one.
  recogniser::Recogniser& schema(std::uint32_t index) {
    return lock_part(*schemas_[index]);
  }
  recogniser::Recogniser& schema_of(const SchemaSite& site) {
    return schema(network_.states[site.state].index);
  }
  recogniser::Recogniser& lock_part(recogniser::Recogniser& part) {
    if (&part != locked_part_) {
      release();
      part.mutex.lock();
      locked_part_ = &part;
    }
    return part;
  }
  static bool inside(recogniser::Configuration config) {
    return (config.lex & kInside) != 0;
  }
  bool only_inside(recogniser::Configuration config);
  const SchemaSite& site_of(recogniser::Configuration config) const {
    return sites_[site_frames_[config.frame].site];
  }
  recogniser::Configuration unwrap(recogniser::Configuration config) const;
  recogniser::Configuration wrap(std::uint32_t site,
                                 recogniser::Configuration inner);
  recogniser::Configuration wrap_like(recogniser::Configuration config,
                                      recogniser::Configuration inner) {
    return wrap(site_frames_[config.frame].site, inner);
  }
  recogniser::Configuration enter_site(const Item& item);
  recogniser::Configuration exit_of(std::uint32_t site);
  std::string forced_from(StateId state) const;
  recogniser::Configuration site_step(recogniser::Configuration config,
                                      std::uint8_t byte);

  // closure.cc
  // Replaces `items` by what follows from it without reading.
  struct Closed {
    bool pure = true;         // did not depend on what is in the contexts
    std::uint32_t reach = 0;  // as in RuleActivation, of the one that is closed
  };
  Closed close(Items& items, Budget budget, std::size_t depth,
               Enclosing* inside);
  Closed close(Items& items) { return close(items, {}, 0, nullptr); }
  // The activation of `rule` with all that follows from it, inside `outer`.
  std::uint32_t closed(std::uint32_t id, const NetworkRule& rule,
                       std::size_t depth, Enclosing* outer);
  static bool is_complete(const RuleActivation& one, const NetworkRule& rule);
  Reading reading_of(const Items& items, Reading RuleActivation::*inside) const;
  void remember_subsumed(std::uint64_t pair, bool holds);
  std::uint32_t intern_activation(Budget budget, Items kernel,
                                  const RuleActivation* closed = nullptr);
  // All that are inside of `items`, also inside each other, each once.
  std::vector<std::uint32_t> activations_in(const Items& items) const;
  // Contexts that name each other: `kLocal | i` in an item is contents[i].
  // Their numbers begin with the answer.
  ContextId intern_loop(std::span<const Items> contents);
  void find_tails();

  // adopt.cc
  class Adoption;

  // equivalence.cc
  // Of a closure: looks into a context; forgets into which it read; the set
  // of them.  track(): a step that is known read that set.
  void record_read(ContextId context);
  // What depends on which context it is, whatever is in it.
  void record_identity(ContextId context);
  void begin_read_set();
  std::uint32_t intern_read_set();
  void track(std::uint32_t read_set);
  // Notes are collected; the sets read_sets since, while those from before go
  // on.
  struct Tracking {
    bool active = false;
    std::vector<std::uint32_t> read_sets = {};
  };
  Tracking push_tracking();
  std::vector<std::uint32_t> pop_tracking(Tracking outer);
  const CanonicalForm& canonical_form(ContextId context);
  recogniser::Configuration find_equivalent(recogniser::Configuration config,
                                            bool add);

  // byte_classes.cc
  // Of each byte the least that leads to the same from the state.
  const automata::ByteTable& byte_classes(std::uint32_t lex);
  const automata::ByteTable& kinds_of_class(std::uint32_t index);
  void split_bytes(const Item& item, automata::ByteClasses& bytes);
  void split_substring(const Item& item, automata::ByteClasses& bytes);
  void split_schema(const Item& item, automata::ByteClasses& bytes);

  // scan.cc
  Items scan(recogniser::Configuration config, std::uint8_t byte);
  Items scan(const Items& items, std::uint8_t byte);
  Items scan_inside(const Items& items, std::uint8_t byte);
  void scan_item(const Item& item, std::uint8_t byte, Items& out);
  void scan_substring(const Item& item, std::uint8_t byte, Items& out);
  void scan_free_text(const Item& item, std::uint8_t byte, Items& out);
  void advance_in_text(const Item& item, const Item& next, Items& out);
  // Whether an item, also inside an activation, is free text.
  bool in_free_text(const Items& items) const;
  recogniser::Configuration read_mark_bytes(const Items& items,
                                            std::string_view bytes);
  Items scan_token(const Items& items, rules::Token token);
  Items scan_token_inside(const Items& items, rules::Token token);
  // Where the call `item` goes on behind a symbol, which takes its activation
  // to what `scan` says.
  template <class Scan>
  void advance_in_activation(const Item& item, Scan scan, Items& out);
  // Takes a token off every budget.
  void spend_token(Items& kernel);
  void spend_token_inside(Items& kernel);
  void mark_tokens(const Items& items, std::uint32_t size,
                   std::vector<std::uint32_t>& ids) const;
  void push(Items& out, const Item& item) const {
    if (network_.states[item.state].live) out.push_back(item);
  }

  const std::vector<std::shared_ptr<recogniser::Recogniser>> schemas_;
  std::vector<std::shared_ptr<recogniser::Recogniser>>
      parts_;  // of these, each once
  recogniser::Recogniser* locked_part_ = nullptr;
  bool read_past_part_ = false;
  // Shared with the machines that are fresh() of each other.
  const std::shared_ptr<const TransitionNetwork> network_of_all_;
  const TransitionNetwork& network_;
  const CfgRecogniserLimits limits_;
  const std::shared_ptr<const rules::Marks> marks_;  // null: none
  bool reads_mark_ = false;     // the byte that is read begins a mark's
  bool counts_tokens_ = false;  // some rule has a budget of tokens
  bool has_marks_ = false;      // some place reads tokens by their ids
  bool overflowed_ = false;
  bool too_large_ = false;
  // Whether the last configuration was made without a look into contexts.
  bool pure_ = false;
  std::vector<bool> tail_;  // by state: nothing but the end of its rule
  std::size_t bytes_ = 0;
  std::size_t base_bytes_ = 0;  // of the network
  std::size_t room_ = 0;        // for what is interned between two questions
  // It is full when a part is; and one was when it was given up.
  bool full_with_parts_ = true;
  bool part_full_ = false;

  std::vector<std::unique_ptr<ClosureMemory>> closures_;
  // Of the configuration that is being made: by context, its slot and whether
  // that is of now.
  struct SlotEntry {
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
  };
  std::vector<SlotEntry> slot_of_context_;
  std::uint32_t slot_round_ = 0;

  base::InternTable<Item, ItemHash> contexts_;
  // Whether the second of two contexts subsumes the first, where it is known.
  Interned<std::uint64_t, bool> subsumed_;
  Interned<std::string, ContextId> loop_of_;  // contexts that name each other
  std::deque<RuleActivation> activations_;
  Interned<std::string, std::uint32_t> activation_of_;
  std::size_t closings_ = 0;  // of activations, for one place
  // Of the symbol that is read: what becomes of each activation; 0: nothing.
  Interned<std::uint32_t, std::uint32_t> advanced_;
  std::deque<State> states_;
  Interned<std::string, std::uint32_t> state_of_;
  base::InternTable<ContextId, NumberHash> frames_;
  std::vector<recogniser::Configuration> configs_;  // of schemas, in items
  Interned<std::string, std::uint32_t> config_of_;
  std::vector<SchemaSite> sites_;
  std::unordered_map<std::uint64_t, std::uint32_t> site_of_item_;
  std::vector<SiteFrame> site_frames_;
  std::unordered_map<std::uint64_t, std::uint32_t> site_frame_of_;
  // Of kernels whose contexts were read, what was made of them: many
  // places and bytes lead to the same few items.
  base::InternTable<Item, ItemHash> kernels_;
  std::vector<TransitionTable::Step> made_of_kernel_;
  TransitionTable steps_;  // and the set that each read

  // By the closure that is made; kLocal is set in those read exactly.
  std::vector<ContextId> reads_;
  std::vector<std::uint32_t> read_rounds_;  // by context: a round
  std::vector<std::uint32_t> identity_rounds_;
  std::uint32_t read_round_ = 1;
  std::uint32_t made_read_set_ = 0;  // by configuration(), as a set
  base::InternTable<ContextId, NumberHash> read_sets_;
  Tracking tracking_;  // sets since it began, some of them twice
  std::vector<std::uint32_t> tracked_rounds_;
  std::uint32_t tracking_round_ = 0;

  EquivalenceTree equivalence_tree_;
  TransitionTable known_equivalents_;  // by configuration, byte 0
  std::deque<CanonicalForm> forms_;
  std::vector<std::uint32_t>
      form_of_context_;  // by context, from 1; 0: none yet
  Interned<std::string, std::uint32_t> form_of_content_;
  // Of the search for a equivalent: contexts by number, and their numbers.
  struct NumberEntry {
    std::uint32_t round = 0;
    std::uint32_t number = 0;
  };
  std::vector<ContextId> contexts_by_number_;
  std::vector<NumberEntry> number_of_context_;
  std::uint32_t number_round_ = 0;
  std::vector<bool> tested_;
  std::vector<std::uint32_t> inside_;

  std::vector<std::unique_ptr<automata::ByteTable>>
      class_kinds_;  // null: not yet
  recogniser::Configuration start_ = {};
  // Of the last place that lexeme_by_state() was true of.
  recogniser::Recogniser* lexeme_schema_ = nullptr;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_CFG_RECOGNISER_H_
