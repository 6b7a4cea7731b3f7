// What follows without reading: see rules_closure.h.

#include "grammar/rules_closure.h"

#include <algorithm>
#include <string>
#include <utility>

namespace parlance::grammar {
namespace {

template <class T>
void append_bytes(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

RulesMachine::Closure::Closure(RulesMachine& machine, ClosureMemory& memory,
                               Budget budget, std::size_t depth)
    : machine_(machine),
      network_(machine.network_),
      memory_(memory),
      budget_(budget),
      depth_(depth),
      left_(memory.left),
      kept_(memory.kept),
      seen_(memory.seen),
      locals_(memory.locals) {
  left_.clear();
  kept_.clear();
  seen_.clear();
  locals_.clear();
  memory_.local_of_rule.resize(network_.rules.size());
  ++memory_.round;
}

// --- Items -------------------------------------------------------------------

void RulesMachine::Closure::add(const Item& item) {
  const NetworkState& state = network_.states[item.state];
  if (!state.live) return;
  if (item.count > state.min && state.max != kMany &&
      (state.action == Action::kCount || state.action == Action::kCountClass)) {
    // Of two counts that are enough the smaller can do all the other can.
    Item place = item;
    place.count = 0;
    const auto [known, added] = least_.try_emplace(place, item.count);
    if (!added && known->second <= item.count) return;
    known->second = item.count;
  }
  if (seen_.insert(item)) left_.push_back(item);
}

void RulesMachine::Closure::add_all(std::span<const Item> items) {
  for (const Item& item : items) add(item);
}

void RulesMachine::Closure::follow(const Item& item) {
  const NetworkState& state = network_.states[item.state];
  const Item next{state.next, item.context, 0, 0};
  switch (state.action) {
    case Action::kPass:
      if (item.state == network_.accept) keep(item);
      break;
    case Action::kBytes:
    case Action::kClass:
    case Action::kTokens:
      keep(item);
      break;
    case Action::kCountClass:
      if (item.inner == 0 && item.count >= state.min) add(next);
      if (item.inner != 0 || item.count < state.max) keep(item);
      break;
    case Action::kSubstring:
      if (item.count == 0) add(next);
      keep(item);
      break;
    case Action::kFreeText:
      if (item.count == 0 &&
          network_.free_texts[state.index].may_end(item.inner)) {
        add(next);
      }
      keep(item);
      break;
    case Action::kTokenText:
      add(next);
      keep(item);
      break;
    case Action::kSchema: {
      Recogniser& reader = machine_.schema(state.index);
      if (reader.can_end(item.inner == 0 ? reader.start()
                                         : machine_.configs_[item.inner])) {
        add(next);
      }
      keep(item);
      break;
    }
    case Action::kCall:
      if (network_.rules[state.index].scoped) {
        occur(item);
      } else {
        call(item, next, false);
      }
      break;
    case Action::kCount: {
      if (item.count >= state.min) add(next);
      if (item.count >= state.max) break;
      Item again = item;
      ++again.count;
      if (state.max == kMany) again.count = std::min(again.count, state.min);
      call(item, again, true);
      break;
    }
    case Action::kBodyEnd:
      keep(item);
      break;
    case Action::kEnd:
      end(item);
      break;
  }
  for (const StateId target : state.epsilon) add({target, item.context, 0, 0});
}

// `behind`: where the caller goes on behind a body that is not empty.
void RulesMachine::Closure::call(const Item& item, const Item& behind,
                                 bool repeat) {
  const RuleId rule = network_.states[item.state].index;
  ClosureMemory::Place& place = memory_.local_of_rule[rule];
  const bool added = place.round != memory_.round;
  if (added) {
    place = {memory_.round, static_cast<std::uint32_t>(locals_.size())};
    locals_.push_back({.rule = rule});
  }
  const std::uint32_t index = place.local;
  Local& local = locals_[index];
  local.callers.push_back(behind);
  // A repeat gains nothing by a body that is empty.
  if (local.empty && !repeat) add(behind);
  if (added) add({network_.rules[rule].start, kLocal | index, 0, 0});
}

// An occurrence of a rule that ends by a rule of its own begins or goes on.
void RulesMachine::Closure::occur(const Item& item) {
  const NetworkState& state = network_.states[item.state];
  const NetworkRule& rule = network_.rules[state.index];
  Item now = item;
  if (item.inner == 0) {
    Budget budget = budget_;
    if (rule.options.max_chars) {
      budget.chars = std::min(budget.chars, *rule.options.max_chars);
    }
    if (rule.options.max_tokens) {
      budget.tokens = std::min(budget.tokens, *rule.options.max_tokens);
    }
    now.inner = machine_.intern_occurrence(budget, {{rule.start, 0, 0, 0}});
  }
  const Occurrence& one = machine_.closed(now.inner, depth_ + 1);
  const bool exhausted = one.budget.exhausted();
  const bool complete =
      one.whole ||
      (one.body_end && (rule.options.marker_optional || exhausted));
  const bool ended = (rule.lazy && one.whole) || (complete && exhausted);
  if (complete) add({state.next, item.context, 0, 0});
  if (!ended && one.readable) keep(now);
}

void RulesMachine::Closure::end(const Item& item) {
  if (item.context == kOutermost) return keep(item);
  if (!local(item.context)) {
    pure_ = false;
    look(item.context);
    return add_all(machine_.contexts_[item.context]);
  }
  Local& one = local_of(item.context);
  if (one.empty) return;
  one.empty = true;
  for (const Item& behind : one.callers) {
    // A repeat gains nothing by a body that is empty.
    if (network_.states[behind.state].action != Action::kCount ||
        behind.count == 0) {
      add(behind);
    }
  }
}

void RulesMachine::Closure::drop_dominated() {
  if (least_.empty()) return;
  std::erase_if(kept_, [&](const Item& item) {
    const NetworkState& state = network_.states[item.state];
    if (state.action != Action::kCountClass || item.count <= state.min ||
        state.max == kMany) {
      return false;
    }
    Item place = item;
    place.count = 0;
    return least_.at(place) < item.count;
  });
}

bool RulesMachine::Closure::run(Items& items) {
  add_all(items);
  while (!left_.empty()) {
    if (seen_.size() > machine_.limits_.items) {
      machine_.overflowed_ = true;
      items.clear();
      return false;
    }
    const Item item = left_.back();
    left_.pop_back();
    follow(item);
  }
  drop_dominated();
  for (Item& item : kept_) {
    if (!local(item.context)) continue;
    pure_ = false;
    make_contexts(item.context & ~kLocal);
    item.context = local_of(item.context).made;
  }
  std::sort(kept_.begin(), kept_.end());
  kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
  items = kept_;
  return pure_;
}

// --- Contexts ----------------------------------------------------------------

// The callers of a local context, and those that they end for.
void RulesMachine::Closure::find_content(std::uint32_t root) {
  Items content;
  std::vector<std::uint32_t> left = {root};
  std::vector<std::uint32_t> seen = {root};
  while (!left.empty()) {
    const Local& one = locals_[left.back()];
    left.pop_back();
    for (const Item& caller : one.callers) {
      if (!network_.states[caller.state].live) continue;
      if (!machine_.tail_[caller.state] || caller.context == kOutermost) {
        content.push_back(caller);
      } else if (local(caller.context)) {
        const std::uint32_t up = caller.context & ~kLocal;
        if (std::find(seen.begin(), seen.end(), up) != seen.end()) continue;
        seen.push_back(up);
        left.push_back(up);
      } else {
        look(caller.context);
        const std::span<const Item> around = machine_.contexts_[caller.context];
        content.insert(content.end(), around.begin(), around.end());
      }
    }
  }
  std::sort(content.begin(), content.end());
  content.erase(std::unique(content.begin(), content.end()), content.end());
  locals_[root].content = std::move(content);
}

// Tarjan's search (1972) for what refers to each other, without recursion.
void RulesMachine::Closure::make_contexts(std::uint32_t root) {
  if (locals_[root].made != kLocal) return;
  struct Visit {
    std::uint32_t local;
    std::size_t next;
  };
  std::vector<Visit> path;
  const auto enter = [&](std::uint32_t index) {
    find_content(index);
    Local& one = locals_[index];
    one.order = one.low = ++visited_;
    one.open = true;
    stack_.push_back(index);
    path.push_back({index, 0});
  };
  enter(root);
  while (!path.empty()) {
    Visit& visit = path.back();
    Local& one = locals_[visit.local];
    if (visit.next < one.content.size()) {
      const ContextId context = one.content[visit.next++].context;
      if (!local(context)) continue;
      Local& other = local_of(context);
      if (other.order == 0) {
        enter(context & ~kLocal);
      } else if (other.open) {
        one.low = std::min(one.low, other.order);
      }
      continue;
    }
    const std::uint32_t done = visit.local;
    path.pop_back();
    if (!path.empty()) {
      Local& below = locals_[path.back().local];
      below.low = std::min(below.low, one.low);
    }
    if (one.low != one.order) continue;
    std::vector<std::uint32_t> members;
    do {
      members.push_back(stack_.back());
      locals_[stack_.back()].open = false;
      stack_.pop_back();
    } while (members.back() != done);
    intern_loop(std::move(members));
  }
}

// Makes contexts of the members of a loop, or of a single local context.
void RulesMachine::Closure::intern_loop(std::vector<std::uint32_t> members) {
  std::sort(members.begin(), members.end(),
            [&](std::uint32_t a, std::uint32_t b) {
              return locals_[a].rule < locals_[b].rule;
            });
  const auto place = [&](ContextId context) {
    const auto at =
        std::find(members.begin(), members.end(), context & ~kLocal);
    return static_cast<std::uint32_t>(std::distance(members.begin(), at));
  };
  bool loop = members.size() > 1;
  for (const std::uint32_t member : members) {
    Items& content = locals_[member].content;
    for (Item& item : content) {
      if (!local(item.context)) continue;
      const std::uint32_t inside = place(item.context);
      loop = loop || inside != members.size();
      item.context = inside == members.size() ? local_of(item.context).made
                                              : kLocal | inside;
    }
    std::sort(content.begin(), content.end());
    content.erase(std::unique(content.begin(), content.end()), content.end());
  }
  ListTable<Item, ItemHash>& contexts = machine_.contexts_;
  if (!loop) {
    Local& one = locals_[members[0]];
    const auto [id, added] = contexts.intern(one.content);
    if (added) machine_.bytes_ += contexts.bytes_of(one.content.size());
    one.made = id;
    return;
  }
  std::string key;
  for (const std::uint32_t member : members) {
    const Items& content = locals_[member].content;
    append_bytes(key, content.size());
    key.append(reinterpret_cast<const char*>(content.data()),
               content.size() * sizeof(Item));
  }
  const auto [known, added] = machine_.loop_of_.try_emplace(
      std::move(key), static_cast<ContextId>(contexts.size()));
  const ContextId first = known->second;
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    Local& one = locals_[members[i]];
    one.made = first + i;
    if (!added) continue;
    Items content = one.content;
    for (Item& item : content) {
      if (local(item.context)) item.context = first + (item.context & ~kLocal);
    }
    machine_.bytes_ += 2 * content.size() * sizeof(Item) + 128;
    contexts.add(content);
  }
}

// --- Occurrences -------------------------------------------------------------

bool RulesMachine::close(Items& items, Budget budget, std::size_t depth) {
  while (closures_.size() <= depth) {
    closures_.push_back(std::make_unique<ClosureMemory>());
  }
  return Closure(*this, *closures_[depth], budget, depth).run(items);
}

std::uint32_t RulesMachine::intern_occurrence(Budget budget, Items kernel) {
  std::sort(kernel.begin(), kernel.end());
  kernel.erase(std::unique(kernel.begin(), kernel.end()), kernel.end());
  std::string key;
  append_bytes(key, budget);
  key.append(reinterpret_cast<const char*>(kernel.data()),
             kernel.size() * sizeof(Item));
  const auto [known, added] = occurrence_of_.try_emplace(
      std::move(key), static_cast<std::uint32_t>(occurrences_.size()));
  if (added) {
    bytes_ += 3 * kernel.size() * sizeof(Item) + sizeof(Occurrence) + 64;
    occurrences_.push_back({.budget = budget, .kernel = std::move(kernel)});
  }
  return known->second;
}

const RulesMachine::Occurrence& RulesMachine::closed(std::uint32_t id,
                                                     std::size_t depth) {
  if (occurrences_[id].closed) return occurrences_[id];
  if (depth > limits_.depth) {
    overflowed_ = true;
    return occurrences_[id];
  }
  Items items = occurrences_[id].kernel;
  close(items, occurrences_[id].budget, depth);
  Occurrence& one = occurrences_[id];
  // A rule that begins with itself is closed inside, as far as the depth goes.
  if (one.closed) return one;
  one.closed = true;
  for (const Item& item : items) {
    const bool outermost = item.context == kOutermost;
    const Action action = network_.states[item.state].action;
    if (action == Action::kEnd && outermost) {
      one.whole = true;
    } else if (action == Action::kBodyEnd && outermost) {
      one.body_end = true;
    } else {
      one.readable = true;
      one.items.push_back(item);
    }
  }
  bytes_ += one.items.size() * sizeof(Item);
  return one;
}

// --- Tails -------------------------------------------------------------------

// A state is no tail if it does anything but end its rule, or leads to one.
void RulesMachine::find_tails() {
  const std::vector<NetworkState>& states = network_.states;
  tail_.assign(states.size(), true);
  std::vector<std::vector<StateId>> from(states.size());
  std::vector<StateId> left;
  for (StateId id = 0; id < states.size(); ++id) {
    const NetworkState& state = states[id];
    if (!state.live) continue;
    for (const StateId target : state.epsilon) from[target].push_back(id);
    const bool passes =
        state.action == Action::kPass || state.action == Action::kEnd;
    if (passes && id != network_.accept) continue;
    tail_[id] = false;
    left.push_back(id);
  }
  while (!left.empty()) {
    const StateId id = left.back();
    left.pop_back();
    for (const StateId before : from[id]) {
      if (!tail_[before]) continue;
      tail_[before] = false;
      left.push_back(before);
    }
  }
}

}  // namespace parlance::grammar
