// Reading a byte or a token: see scanner.h.

#include "cfg_recogniser/scanner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/byte_set.h"
#include "base/work.h"

namespace parlance::cfg_recogniser {

using rules::kUnbounded;

using recogniser::Configuration;

void Scanner::scan(const Items& items, ByteRead read, Items& out) {
  // Not clear(), which visits all buckets, for each byte that is read.
  if (!advanced_.empty()) advanced_ = {};
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

void Scanner::scan_item(const Item& item, ByteRead read, Items& out) {
  const NetworkState& state = network_.states[item.state];
  switch (state.action) {
    case Action::kSchema: {
      recogniser::Recogniser& part = parts_.at(state);
      const Configuration config =
          part.step(parts_.config_of(item, part), read.byte);
      if (config.dead()) break;
      Item next = item;
      next.inner = parts_.intern(config);
      out.push_back(next);
      break;
    }
    case Action::kCall:
      scan_call(item, read, out);
      break;
    default:
      SymbolReader(network_, out).read(item, read);
      break;
  }
}

// The first byte of a character counts against the budget of an activation.
void Scanner::scan_call(const Item& item, ByteRead read, Items& out) {
  const auto after = [&](const RuleActivation& one) {
    Budget budget = one.budget;
    const bool begins = (read.byte & 0xC0) != 0x80;
    // A budget of 0 stays: the activation continues up to where it may end.
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
  // It refers to an enclosing activation by its distance (activations.h), and
  // the enclosing call advances it.
  if (is_outward(item)) return out.push_back(item);
  const ActivationId before{item.inner};
  ActivationId after;
  const auto known = advanced_.find(before);
  if (known != advanced_.end()) {
    after = known->second;
  } else {
    // Recursive, once for each level of activations, of which there are at most
    // CfgRecogniserLimits::depth.
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

// --- Tokens ------------------------------------------------------------------

Items Scanner::scan_token(const Items& items, rules::Token id,
                          bool only_named) {
  advanced_.clear();
  return scan_token_inside(items, {id, facts_.marks.get(), only_named});
}

Items Scanner::scan_token_inside(const Items& items, TokenRead read) {
  Items out;
  const auto after = [&](const RuleActivation& one) {
    return std::pair(one.budget, scan_token_inside(one.items, read));
  };
  for (const Item& item : items) {
    if (network_.states[item.state].action == Action::kCall) {
      advance_in_activation(item, after, out);
    } else {
      SymbolReader(network_, out).read(item, read);
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
    // The kernel, not the closure, which depends on the budget: the new
    // activation gets a closure of its own.
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
      // What these read depends on their automata, so each symbol is tried:
      // first bytes, then marks.
      for (std::uint32_t byte = 0; byte < 256 && out.empty(); ++byte) {
        scan_item(item, {static_cast<std::uint8_t>(byte)}, out);
      }
      if (!out.empty() || facts_.marks == nullptr) return !out.empty();
      return std::ranges::any_of(
          facts_.marks->marks(), [&](const rules::Mark& mark) {
            return !scan_token({item}, mark.ids.front()).empty();
          });
    }
    default:
      return false;
  }
}

// The tokens of each item are a few ranges, or all but a few.  So the ranges
// are collected, and merged at the end.
std::vector<std::uint32_t> Scanner::token_ids(const Items& items,
                                              std::uint32_t size) const {
  using Range = rules::TokenSetExpr::Range;
  std::vector<Range> accepted;
  const auto accept_all_but = [&](std::vector<Range> ranges) {
    std::ranges::sort(ranges, {}, &Range::first);
    ranges.push_back({size, size});
    rules::Token next = 0;  // all before it is done
    for (const Range& range : ranges) {
      if (next >= size) break;
      if (range.first > next) accepted.push_back({next, range.first - 1});
      if (range.last >= next) next = std::min(range.last, size - 1) + 1;
    }
  };
  const auto add = [&](const Item& item) {
    const NetworkState& state = network_.states[item.state];
    if (state.action == Action::kTokens) {
      const rules::TokenSetExpr& set = network_.token_sets[state.index];
      if (set.negated) return accept_all_but(set.ranges);
      accepted.insert(accepted.end(), set.ranges.begin(), set.ranges.end());
    } else if (state.action == Action::kTokenText) {
      const TokenTriggers& text = network_.token_texts[state.index];
      std::vector<Range> refused;
      for (const rules::Token id : text.excludes) refused.push_back({id, id});
      // A trigger is accepted only if a rule of it can match something.
      for (auto at = text.calls.begin(); at != text.calls.end();) {
        const rules::Token id = at->first;
        bool live = false;
        for (; at != text.calls.end() && at->first == id; ++at) {
          live = live || network_.states[at->second].live;
        }
        if (!live) refused.push_back({id, id});
      }
      accept_all_but(std::move(refused));
    }
  };
  std::ranges::for_each(items, add);
  for (const ActivationId id : activations_.nested_in(items)) {
    std::ranges::for_each(activations_[id].items, add);
  }
  std::ranges::sort(accepted, {}, &Range::first);
  std::vector<std::uint32_t> ids;
  std::uint32_t next = 0;  // all before it is done
  for (const Range& range : accepted) {
    for (next = std::max(next, range.first); next < size && next <= range.last;
         ++next) {
      ids.push_back(next);
    }
  }
  return ids;
}

}  // namespace parlance::cfg_recogniser
