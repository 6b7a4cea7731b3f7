// Reading a byte or a token: see scanner.h.

#include "cfg_recogniser/scanner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "automata/char_step.h"
#include "base/byte_set.h"
#include "base/work.h"

namespace parlance::cfg_recogniser {

using rules::kUnbounded;

using recogniser::Configuration;

using automata::AhoCorasick;
using automata::CharStep;

void Scanner::scan(const Items& items, ByteRead read, Items& out) {
  advanced_.clear();
  scan_inside(items, read, out);
}

void Scanner::scan_inside(const Items& items, ByteRead read, Items& out) {
  out.clear();
  if (!base::spend_work(items.size())) return;
  for (const Item& item : items) {
    // Most items are literals that begin with other bytes.
    const NetworkState& state = network_.states[item.state];
    if (state.action == Action::kBytes &&
        static_cast<std::uint8_t>(network_.texts[state.index][item.inner]) !=
            read.byte) {
      continue;
    }
    scan_item(item, read, out);
  }
}

// Adds the successors of `item` after `byte`: the same state with more read
// (`inner`, `count`), or the next state once all is read.  Partial characters
// are canonicalised, so that equal remainders give equal items.
void Scanner::scan_item(const Item& item, ByteRead read, Items& out) {
  const std::uint8_t byte = read.byte;
  const NetworkState& state = network_.states[item.state];
  const Item done{state.next, item.context, 0, 0};
  Item next = item;
  switch (state.action) {
    case Action::kBytes: {
      const std::string& text = network_.texts[state.index];
      if (static_cast<std::uint8_t>(text[item.inner]) != byte) break;
      ++next.inner;
      push(out, next.inner == text.size() ? done : next);
      break;
    }
    case Action::kClass:
      switch (automata::read_char(network_.classes[state.index], byte,
                                  next.inner)) {
        case CharStep::kInside:
          next.inner =
              automata::canonicalize(network_.classes[state.index], next.inner);
          push(out, next);
          break;
        case CharStep::kDone:
          push(out, done);
          break;
        case CharStep::kNo:
          break;
      }
      break;
    case Action::kCountClass:
      scan_count_class(item, byte, out);
      break;
    case Action::kSubstring:
      scan_substring(item, byte, out);
      break;
    case Action::kFreeText:
      if (!read.begins_mark ||
          network_.free_texts[state.index].marks_are_bytes) {
        scan_free_text(item, byte, out);
      }
      break;
    case Action::kSchema: {
      recogniser::Recogniser& part = parts_.at(state);
      const Configuration config =
          part.step(parts_.config_of(item, part), byte);
      if (config.dead()) break;
      next.inner = parts_.intern(config);
      push(out, next);
      break;
    }
    case Action::kCall:
      scan_call(item, read, out);
      break;
    default:
      break;
  }
}

void Scanner::scan_count_class(const Item& item, std::uint8_t byte,
                               Items& out) {
  const NetworkState& state = network_.states[item.state];
  if (item.count >= state.max) return;
  Item next = item;
  const CharStep step =
      automata::read_char(network_.classes[state.index], byte, next.inner);
  if (step == CharStep::kNo) return;
  if (step == CharStep::kDone) {
    ++next.count;
    if (state.max == kUnbounded) next.count = std::min(next.count, state.min);
  }
  next.inner =
      automata::canonicalize(network_.classes[state.index], next.inner);
  push(out, next);
}

// The first byte of a character counts against the budget of an activation.
void Scanner::scan_call(const Item& item, ByteRead read, Items& out) {
  const auto after = [&](const RuleActivation& one) {
    Budget budget = one.budget;
    const bool begins = (read.byte & 0xC0) != 0x80;
    if (begins && budget.chars != kUnbounded && budget.chars != 0) {
      --budget.chars;
    }
    Items kernel;
    scan_inside(one.items, read, kernel);
    return std::pair(budget, std::move(kernel));
  };
  advance_in_activation(item, after, out);
}

// An activation is advanced once for each symbol, however many items call it:
// advanced_ holds the result.  An activation that can neither read nor end any
// more is dropped, with its call.
template <class Scan>
void Scanner::advance_in_activation(const Item& item, Scan scan, Items& out) {
  if (is_outward(item)) return out.push_back(item);
  const ActivationId before{item.inner};
  ActivationId after;
  const auto known = advanced_.find(before);
  if (known != advanced_.end()) {
    after = known->second;
  } else {
    auto [budget, kernel] = scan(activations_[before]);
    if (activations_.reading_of(kernel, &RuleActivation::left).any()) {
      after = activations_.intern(budget, std::move(kernel));
    }
    advanced_[before] = after;
  }
  if (after == ActivationId{}) return;
  Item next = item;
  next.inner = after;
  out.push_back(next);
}

// `inner` is 0 before the first chunk; else it is one more than the index of
// the next chunk, or of the chunk being read if `count` is not 0.  `count` is
// the number of bytes read of that chunk.
void Scanner::scan_substring(const Item& item, std::uint8_t byte, Items& out) {
  const std::vector<std::string>& chunks =
      network_.substrings[network_.states[item.state].index].chunks;
  const auto read = [&](std::size_t chunk, std::size_t offset) {
    while (chunk < chunks.size() && chunks[chunk].empty()) ++chunk;
    if (chunk == chunks.size() ||
        static_cast<std::uint8_t>(chunks[chunk][offset]) != byte) {
      return;
    }
    Item next = item;
    const bool last = offset + 1 == chunks[chunk].size();
    next.inner = static_cast<std::uint32_t>(last ? chunk + 2 : chunk + 1);
    next.count = static_cast<std::uint32_t>(last ? 0 : offset + 1);
    push(out, next);
  };
  if (item.inner != 0) return read(item.inner - 1, item.count);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (!chunks[i].empty()) read(i, 0);
  }
}

// The text continues, or a trigger is complete.  `inner` is the state of the
// Aho-Corasick automaton (1975) of the triggers, `count` the state inside a
// UTF-8 sequence.
void Scanner::scan_free_text(const Item& item, std::uint8_t byte, Items& out) {
  const NetworkState& state = network_.states[item.state];
  Item next = item;
  if (automata::read_char(automata::any_character(), byte, next.count) ==
      CharStep::kNo) {
    return;
  }
  next.count = automata::canonicalize(automata::any_character(), next.count);
  const AhoCorasick& automaton = network_.free_texts[state.index];
  next.inner = automaton.step(item.inner, byte);
  advance_in_text(item, next, out);
}

// Adds `next`, which is `item` after a symbol.  If a trigger is complete there,
// the calls of its rules take the place of the text.
void Scanner::advance_in_text(const Item& item, const Item& next, Items& out) {
  if (next.inner == AhoCorasick::kRefused) return;
  const AhoCorasick& automaton =
      network_.free_texts[network_.states[item.state].index];
  const AhoCorasick::Node& node = automaton.at(next.inner);
  if (node.excluded) return;
  if (node.calls.empty()) return push(out, next);
  for (const std::uint32_t call : node.calls) {
    push(out, {StateId{call}, item.context, 0, 0});
  }
}

// --- Tokens ------------------------------------------------------------------

Items Scanner::scan_token(const Items& items, TokenRead read) {
  advanced_.clear();
  return scan_token_inside(items, read);
}

Items Scanner::scan_token_inside(const Items& items, TokenRead read) {
  const rules::Token token = read.id;
  Items out;
  const std::optional<std::uint32_t> mark =
      facts_.marks == nullptr ? std::nullopt : facts_.marks->mark_of(token);
  for (const Item& item : items) {
    const NetworkState& state = network_.states[item.state];
    switch (state.action) {
      case Action::kFreeText: {
        if (!mark || item.count != 0 ||
            network_.free_texts[state.index].marks_are_bytes) {
          break;
        }
        Item next = item;
        next.inner = network_.free_texts[state.index].step(
            item.inner, automata::mark_symbol(*mark));
        advance_in_text(item, next, out);
        break;
      }
      case Action::kTokens:
        if (network_.token_sets[state.index].contains(token) &&
            !(read.only_named && network_.token_sets[state.index].negated)) {
          push(out, {state.next, item.context, 0, 0});
        }
        break;
      case Action::kTokenText: {
        const TokenTriggers& triggers = network_.token_texts[state.index];
        if (std::binary_search(triggers.excludes.begin(),
                               triggers.excludes.end(), token)) {
          break;
        }
        const auto [first, last] = triggers.calls.equal_range(token);
        if (first == last && !read.only_named) push(out, item);
        for (auto at = first; at != last; ++at) {
          push(out, {at->second, item.context, 0, 0});
        }
        break;
      }
      case Action::kCall: {
        const auto after = [&](const RuleActivation& one) {
          return std::pair(one.budget, scan_token_inside(one.items, read));
        };
        advance_in_activation(item, after, out);
        break;
      }
      default:
        break;
    }
  }
  return out;
}

bool Scanner::in_free_text(const Items& items) const {
  const auto here = [&](const Item& item) {
    const NetworkState& state = network_.states[item.state];
    return state.action == Action::kFreeText &&
           !network_.free_texts[state.index].marks_are_bytes;
  };
  return std::ranges::any_of(items, here) ||
         std::ranges::any_of(
             activations_.nested_in(items), [&](ActivationId id) {
               return std::ranges::any_of(activations_[id].items, here);
             });
}

// Every activation in `kernel`, nested ones included, is replaced by one whose
// budget is a token smaller.
void Scanner::spend_token(Items& kernel) {
  advanced_.clear();
  spend_token_inside(kernel);
}

void Scanner::spend_token_inside(Items& kernel) {
  for (Item& item : kernel) {
    if (!activations_.begun(item)) continue;
    const ActivationId before{item.inner};
    const auto known = advanced_.find(before);
    if (known != advanced_.end()) {
      item.inner = known->second;
      continue;
    }
    Budget budget = activations_[before].budget;
    if (budget.tokens != kUnbounded && budget.tokens != 0) --budget.tokens;
    Items inside = activations_[before].kernel;
    spend_token_inside(inside);
    const ActivationId after = activations_.intern(budget, std::move(inside));
    advanced_[before] = after;
    item.inner = after;
  }
}

bool Scanner::can_read(const Item& item) {
  const NetworkState& state = network_.states[item.state];
  switch (state.action) {
    case Action::kBytes:
    case Action::kClass:
    case Action::kTokens:
    case Action::kTokenText:
      return true;
    case Action::kCountClass:
      return item.inner != 0 || item.count < state.max;
    case Action::kSchema: {
      recogniser::Recogniser& part = parts_.at(state);
      return can_continue(part, parts_.config_of(item, part));
    }
    case Action::kSubstring:
    case Action::kFreeText: {
      Items out;
      for (std::uint32_t byte = 0; byte < 256 && out.empty(); ++byte) {
        scan_item(item, {static_cast<std::uint8_t>(byte)}, out);
      }
      if (!out.empty() || facts_.marks == nullptr) return !out.empty();
      return std::ranges::any_of(
          facts_.marks->marks(), [&](const rules::Mark& mark) {
            return !scan_token_inside({item}, {mark.ids.front()}).empty();
          });
    }
    default:
      return false;
  }
}

void Scanner::add_token_ids(const Items& items, std::uint32_t size,
                            std::vector<std::uint32_t>& ids) const {
  const auto mark_if = [&](auto wanted) {
    for (std::uint32_t id = 0; id < size; ++id) {
      if (wanted(id)) ids.push_back(id);
    }
  };
  const auto mark = [&](const Item& item) {
    const NetworkState& state = network_.states[item.state];
    switch (state.action) {
      case Action::kTokens: {
        const rules::TokenSetExpr& set = network_.token_sets[state.index];
        mark_if([&](std::uint32_t id) { return set.contains(id); });
        break;
      }
      case Action::kTokenText: {
        const TokenTriggers& triggers = network_.token_texts[state.index];
        mark_if([&](std::uint32_t id) {
          if (std::binary_search(triggers.excludes.begin(),
                                 triggers.excludes.end(), id)) {
            return false;
          }
          // A trigger is accepted only if its rule can match something.
          const auto [first, last] = triggers.calls.equal_range(id);
          return first == last ||
                 std::any_of(first, last, [&](const auto& call) {
                   return network_.states[call.second].live;
                 });
        });
        break;
      }
      default:
        break;
    }
  };
  std::ranges::for_each(items, mark);
  for (const ActivationId id : activations_.nested_in(items)) {
    std::ranges::for_each(activations_[id].items, mark);
  }
}

}  // namespace parlance::cfg_recogniser
