// What states do with bytes: see state_bytes.h and automata/byte_classes.h.

#include "cfg_recogniser/state_bytes.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "automata/char_step.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

using automata::ByteClasses;
using automata::ByteTable;
using automata::CharStep;

namespace {

// The bytes whose valid texts consist of characters of the set.
base::ByteSet bytes_of_texts(const regex::CharClass& set) {
  base::ByteSet bytes = ascii_bytes(set);
  bool beyond[2] = {false, false};  // before and after the surrogates
  for (const auto& range : set.ranges()) {
    beyond[0] = beyond[0] || (range.first <= 0x80 && range.last >= 0xD7FF);
    beyond[1] = beyond[1] || (range.first <= 0xE000 && range.last >= 0x10FFFF);
  }
  if (beyond[0] && beyond[1]) bytes[2] = bytes[3] = ~std::uint64_t{0};
  return bytes;
}

// Numbers the states inside a character in order of appearance, from 2 on; 0
// and 1 stand for "no" and "done".
class Places {
 public:
  std::uint8_t of(std::uint32_t place) {
    const auto at = static_cast<std::size_t>(
        std::distance(contexts_by_number_.begin(),
                      std::find(contexts_by_number_.begin(),
                                contexts_by_number_.end(), place)));
    if (at == contexts_by_number_.size()) contexts_by_number_.push_back(place);
    return static_cast<std::uint8_t>(2 + at);
  }

 private:
  std::vector<std::uint32_t> contexts_by_number_;
};

ByteTable char_kinds(const regex::CharClass& set, std::uint32_t partial) {
  ByteTable kinds{};
  Places places;
  // The bytes that are valid here: at the beginning of a character any lead
  // byte, inside a character any continuation byte.
  const unsigned first = partial == 0 ? 0 : 0x80;
  const unsigned last = partial == 0 ? 0xF4 : 0xBF;
  for (unsigned byte = first; byte <= last; ++byte) {
    std::uint32_t next = partial;
    switch (automata::read_char(set, static_cast<std::uint8_t>(byte), next)) {
      case CharStep::kNo:
        break;
      case CharStep::kDone:
        kinds[byte] = 1;
        break;
      case CharStep::kInside:
        kinds[byte] = places.of(automata::canonicalize(set, next));
        break;
    }
  }
  return kinds;
}

const ByteTable& kinds_of_all() {
  static const ByteTable kinds = char_kinds(automata::any_character(), 0);
  return kinds;
}

}  // namespace

// Two kinds of items remain after each of some bytes.  One repeats a class
// without a bound, and is between two characters.  The other is at the start of
// a rule that calls itself after one byte, as a palindrome does: it remains at
// the start, one level further in, whatever the contexts are.  Of several such
// items, or rules, the one with the most bytes decides: what one of them reads
// need not be read by another.
const base::ByteSet& StateBytes::repeatable(LexId lex) {
  State& state = states_[lex];
  if (state.repeatable_known) return state.repeatable;
  state.repeatable_known = true;
  int most = 0;
  for (const Item& item : state.items) {
    const NetworkState& at = network_.states[item.state];
    if (at.action != Action::kCountClass || at.max != rules::kUnbounded ||
        item.inner != 0) {
      continue;
    }
    const base::ByteSet& set = bytes_of_class(at.index).texts;
    if (base::count_bytes(set) <= most) continue;
    most = base::count_bytes(set);
    state.repeatable = set;
  }
  std::vector<std::pair<rules::RuleId, base::ByteSet>> embedded;
  for (const Item& item : state.items) {
    const StateId next = network_.states[item.state].next;
    if (network_.states[next].action != Action::kCall ||
        facts_.embedding[network_.states[next].index] == base::ByteSet{}) {
      continue;
    }
    rules::RuleId rule = rules::kNoRule;
    base::ByteSet bytes = {};
    facts_.add_embedding(item, rule, bytes);
    if (bytes == base::ByteSet{}) continue;
    const auto known = std::ranges::find(
        embedded, rule, &std::pair<rules::RuleId, base::ByteSet>::first);
    if (known == embedded.end()) {
      embedded.emplace_back(rule, bytes);
    } else {
      base::add_bytes(known->second, bytes);
    }
  }
  for (auto& [rule, bytes] : embedded) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] &= facts_.embedding[rule][i];
    }
    if (base::count_bytes(bytes) <= most) continue;
    most = base::count_bytes(bytes);
    state.repeatable = bytes;
  }
  return state.repeatable;
}

const StateBytes::ClassBytes& StateBytes::bytes_of_class(std::uint32_t index) {
  if (bytes_of_class_.empty()) bytes_of_class_.resize(network_.classes.size());
  std::unique_ptr<ClassBytes>& known = bytes_of_class_[index];
  if (known == nullptr) {
    known = std::make_unique<ClassBytes>();
    known->kinds = char_kinds(network_.classes[index], 0);
    known->texts = bytes_of_texts(network_.classes[index]);
    for (std::size_t i = 0; i < known->kinds.size(); ++i) {
      const auto byte = static_cast<std::uint8_t>(i);
      if (known->kinds[i] != 0) base::add_byte(known->read, byte);
      if (known->kinds[i] == 1) base::add_byte(known->complete, byte);
    }
    memory_.add(sizeof(ClassBytes));
  }
  return *known;
}

// Splits the classes where two bytes may lead the item to different items, or
// one of them to none.  What refined_by_classes() does is done.
void StateBytes::split_bytes(const Item& item, ByteClasses& bytes) {
  const NetworkState& state = network_.states[item.state];
  switch (state.action) {
    case Action::kBytes:
      bytes.split(
          static_cast<std::uint8_t>(network_.texts[state.index][item.inner]));
      break;
    case Action::kCountClass:
    case Action::kClass:
      if (!before_class(item)) {
        bytes.refine(char_kinds(network_.classes[state.index], item.inner));
      }
      break;
    case Action::kFreeText: {
      // The bytes of a character, split by every byte on which the node of the
      // automaton, or a node on its failure path, has an edge, and by what the
      // automaton of the patterns does with them.
      bytes.refine(item.count == 0
                       ? kinds_of_all()
                       : char_kinds(automata::any_character(), item.count));
      const automata::AhoCorasick& automaton = network_.free_texts[state.index];
      if (automaton.patterns != nullptr) {
        bytes.refine(
            automaton.patterns->kinds(automaton.pattern_state_of(item.inner)));
      }
      for (std::uint32_t node = automaton.node_of(item.inner);;
           node = automaton.nodes[node].fail) {
        for (const auto& [symbol, next] : automaton.nodes[node].next) {
          if (!automata::is_mark(symbol)) {
            bytes.split(static_cast<std::uint8_t>(symbol));
          }
        }
        if (node == 0) break;
      }
      break;
    }
    case Action::kSubstring:
      split_substring(item, bytes);
      break;
    case Action::kSchema:
      split_schema(item, bytes);
      break;
    default:
      break;
  }
}

void StateBytes::split_substring(const Item& item, ByteClasses& bytes) {
  const std::vector<std::string>& chunks =
      network_.substrings[network_.states[item.state].index].chunks;
  if (item.inner != 0 && item.count != 0) {
    bytes.split(static_cast<std::uint8_t>(chunks[item.inner - 1][item.count]));
    return;
  }
  // Before the first chunk any chunk may begin; later, the next one that is not
  // empty.
  for (std::size_t i = item.inner == 0 ? 0 : item.inner - 1; i < chunks.size();
       ++i) {
    if (chunks[i].empty()) continue;
    bytes.split(static_cast<std::uint8_t>(chunks[i][0]));
    if (item.inner != 0) break;
  }
}

// Two bytes are in one class if the schema's configurations after them are
// equal.
void StateBytes::split_schema(const Item& item, ByteClasses& bytes) {
  recogniser::Recogniser& part = parts_.at(item.state);
  const Configuration from = parts_.config_of(item, part);
  if (const auto* const known = part.byte_classes_at(from)) {
    return bytes.refine(*known);
  }
  ByteTable kinds{};
  std::vector<Configuration> targets;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const Configuration to = part.step(from, static_cast<std::uint8_t>(byte));
    if (to.dead()) continue;
    auto at = std::find(targets.rbegin(), targets.rend(), to);
    if (at == targets.rend()) {
      targets.push_back(to);
      at = targets.rbegin();
    }
    kinds[byte] = static_cast<std::uint8_t>(std::distance(at, targets.rend()));
  }
  bytes.refine(kinds);
}

// Whether the item is before a character of a class.
bool StateBytes::before_class(const Item& item) const {
  const Action action = network_.states[item.state].action;
  return (action == Action::kClass || action == Action::kCountClass) &&
         item.inner == 0;
}

// The partition by the classes before which the items are.  Most states have
// the same few classes, and other literals and contexts.
const ByteClasses& StateBytes::refined_by_classes(
    std::span<const Item* const> items) {
  std::vector<std::uint32_t>& classes = classes_;
  classes.clear();
  for (const Item* item : items) {
    if (!before_class(*item)) continue;
    classes.push_back(network_.states[item->state].index);
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  const auto known = refinements_.find(classes);
  if (known != refinements_.end()) return known->second;
  ByteClasses bytes;
  for (const std::uint32_t index : classes) {
    bytes.refine(bytes_of_class(index).kinds);
  }
  memory_.add(sizeof(bytes) + classes.size() * sizeof(classes[0]) + 64);
  return refinements_.emplace(classes, bytes).first->second;
}

const ByteTable& StateBytes::byte_classes(LexId lex) {
  if (states_[lex].byte_classes == nullptr) {
    std::vector<const Item*>& all = items_;
    all.clear();
    for (const Item& item : states_[lex].items) all.push_back(&item);
    bool counts_chars = false;
    for (const ActivationId id : activations_.nested_in(states_[lex].items)) {
      const RuleActivation& one = activations_[id];
      for (const Item& item : one.items) all.push_back(&item);
      counts_chars = counts_chars || one.budget.chars != rules::kUnbounded;
    }
    ByteClasses bytes = refined_by_classes(all);
    for (const Item* item : all) split_bytes(*item, bytes);
    if (counts_chars) {
      ByteTable begins{};
      std::fill(begins.begin() + 0x80, begins.begin() + 0xC0, 1);
      bytes.refine(begins);
    }
    states_[lex].byte_classes =
        std::make_unique<ByteTable>(bytes.representative());
    memory_.add(sizeof(ByteTable) + 16);
  }
  return *states_[lex].byte_classes;
}

// A byte is accepted if some item remains after it: items only enter live
// states, so that their closure is not empty.  An activation may have to end
// where it remains, which its closure finds.
const base::ByteSet* StateBytes::readable(LexId lex) {
  State& state = states_[lex];
  if (!state.readable_known && state.base != nullptr) {
    if (const base::ByteSet* const bytes = readable(state.base->lex)) {
      state.readable = *bytes;
      base::add_bytes(*state.readable, state.base->others);
      state.readable_known = true;
    }
  }
  if (!state.readable_known) {
    state.readable_known = true;
    const bool calls = std::ranges::any_of(state.items, [&](const Item& item) {
      return network_.states[item.state].action == Action::kCall;
    });
    if (!calls) {
      base::ByteSet bytes = {};
      const ByteTable& same = byte_classes(lex);
      for (const Item& item : state.items) add_readable(item, same, bytes);
      state.readable = bytes;
    }
  }
  return state.readable ? &*state.readable : nullptr;
}

void StateBytes::add_readable(const Item& item, const ByteTable& same,
                              base::ByteSet& bytes) {
  const NetworkState& state = network_.states[item.state];
  const bool next_live = network_.states[state.next].live;
  switch (state.action) {
    case Action::kBytes: {
      const std::string& text = network_.texts[state.index];
      if (item.inner + 1 < text.size() || next_live) {
        base::add_byte(bytes, static_cast<std::uint8_t>(text[item.inner]));
      }
      break;
    }
    case Action::kClass:
    case Action::kCountClass:
      if (item.inner == 0) {
        const bool counts = state.action == Action::kCountClass;
        if (counts && item.count >= state.max) break;
        const ClassBytes& known = bytes_of_class(state.index);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
          bytes[i] |= counts || next_live ? known.read[i]
                                          : known.read[i] & ~known.complete[i];
        }
        break;
      }
      [[fallthrough]];
    default: {
      std::array<bool, 256> remains;  // by representative of a class
      for (std::size_t i = 0; i < same.size(); ++i) {
        const auto byte = static_cast<std::uint8_t>(i);
        if (same[byte] == byte) {
          Items out;
          scanner_.scan_item(item, {byte}, out);
          remains[byte] = !out.empty();
        }
        if (remains[same[byte]]) base::add_byte(bytes, byte);
      }
    }
  }
}

}  // namespace parlance::cfg_recogniser
