// Closures and the contexts they make: see closure.h.

#include "cfg_recogniser/closure.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "base/work.h"

namespace parlance::cfg_recogniser {

using rules::kUnbounded;

namespace {

// Sorts the items and drops duplicates.  Most lists are sorted already.
template <class Items>
void sort_once(Items& items) {
  if (std::ranges::adjacent_find(items, std::greater_equal()) == items.end()) {
    return;
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace

Closures::Closure::Closure(Closures& closures)
    : closures_(closures),
      facts_(closures.facts_),
      network_(facts_.network),
      contexts_(closures.contexts_),
      activations_(closures.activations_),
      locals_(facts_, contexts_),
      local_of_rule_(network_.rules.size()),
      simulation_(network_, contexts_, activations_, closures.read_sets_,
                  locals_) {}

// --- Items -------------------------------------------------------------------

void Closures::Closure::add(const Item& item) {
  const NetworkState& state = network_.states[item.state];
  if (!state.live) return;
  if (item.count > state.min && state.max != kUnbounded &&
      (state.action == Action::kCount || state.action == Action::kCountClass)) {
    // Above the minimum, the smaller count subsumes the larger: it leaves more
    // repetitions.
    Item place = item;
    place.count = 0;
    const auto [known, added] = least_.try_emplace(place, item.count);
    if (!added && known->second <= item.count) return;
    known->second = item.count;
  }
  if (seen_.insert(item)) left_.push_back(item);
}

void Closures::Closure::add_all(std::span<const Item> items) {
  for (const Item& item : items) add(item);
}

// Adds what follows from `item` without reading.  The item itself is kept if it
// can read something, or if it ends the text or the activation.  A state that
// both reads and may end (a repeat above its minimum, free text) does both.
void Closures::Closure::follow(const Item& item) {
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
      recogniser::Recogniser& part = closures_.parts_.at(state);
      if (part.can_end(closures_.parts_.config_of(item, part))) add(next);
      keep(item);
      break;
    }
    case Action::kCall:
      if (item.inner != 0) {
        continue_activation(item, item.inner);
      } else if (network_.rules[state.index].scoped) {
        begin_activation(item);
      } else {
        call(item, next);
      }
      break;
    case Action::kCount: {
      if (item.count >= state.min) add(next);
      if (item.count >= state.max) break;
      Item again = item;
      ++again.count;
      if (state.max == kUnbounded) {
        again.count = std::min(again.count, state.min);
      }
      call(item, again);
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

// Calls a plain rule.  `after` is the item of the caller after a body that is
// not empty.  The rule is entered at its first call here; if it is known to
// match the empty text, later callers continue at once.
//
// All calls of a rule in a closure stand at one position, so the rule has one
// local context.  Each pair of a caller and "the rule is empty here" is
// continued exactly once: here if emptiness was known when the caller came, in
// end() if it was found afterwards.
void Closures::Closure::call(const Item& item, const Item& after) {
  const rules::RuleId rule = network_.states[item.state].rule_index();
  std::uint32_t& index = local_of_rule_[rule];
  const bool added = index >= locals_.size() || locals_[index].rule != rule;
  if (added) {
    index = static_cast<std::uint32_t>(locals_.size());
    locals_.add(rule);
  }
  LocalContext& local = locals_[index];
  local.callers.push_back(after);
  if (inside_ != nullptr && !local.reads_on &&
      network_.states[after.state].live) {
    if (!only_ends(after)) {
      note_reads_on(index);
    } else if (is_local(after.context)) {
      locals_.of(after.context).called.push_back(index);
    }
  }
  if (local.empty) add_after_empty(after);
  if (added) add({network_.rules[rule].start, local_context(index), 0, 0});
}

// Begins an activation of a lazy or limited rule.  `decided`: the activation is
// known not to end together with the enclosing one.
//
// If it does end together with the enclosing one, under the same budget, the
// rule is entered inside the enclosing activation (enter()).  If that depends
// on callers still to come, the call is deferred.  Otherwise it becomes an
// activation of its own, or a reference to an enclosing activation that is the
// same.
void Closures::Closure::begin_activation(const Item& item, bool decided) {
  const NetworkState& state = network_.states[item.state];
  const NetworkRule& rule = network_.rules[state.index];
  Budget budget = budget_;
  if (rule.options.max_chars) {
    budget.chars = std::min(budget.chars, *rule.options.max_chars);
  }
  if (rule.options.max_tokens) {
    budget.tokens = std::min(budget.tokens, *rule.options.max_tokens);
  }
  if (inside_ != nullptr && !rule.lazy && budget == budget_ && !decided) {
    if (is_local(item.context)) return deferred_.push_back(item);
    if (only_ends({state.next, item.context, 0, 0})) return enter(item);
  }
  const ActivationId id =
      activations_.intern(budget, {{rule.start, kOutermost, 0, 0}});
  std::uint32_t levels = 1;
  for (const Enclosing* one = inside_; one != nullptr; one = one->outer) {
    if (one->id == id) return continue_activation(item, kOutward | levels);
    ++levels;
  }
  continue_activation(item, id);
}

// An activation continues: it has begun, or has read a symbol, and nothing was
// read since.  Adds what follows if it may end here, and keeps the call unless
// it has to end here or cannot read any more.
//
// A reference outward depends on whether that enclosing activation may end,
// which is being computed: Closures::closed() repeats the closure if the
// assumption was wrong.
void Closures::Closure::continue_activation(const Item& item,
                                            std::uint32_t inner) {
  const NetworkState& state = network_.states[item.state];
  const NetworkRule& rule = network_.rules[state.index];
  const Item after{state.next, item.context, 0, 0};
  Item now = item;
  now.inner = inner;
  if (is_outward(now)) {
    std::uint32_t level = inner & ~kOutward;
    closed_.reach = std::max(closed_.reach, level - 1);
    if (level > kMostOutward) {
      closures_.memory_.note_too_large();
      return;
    }
    Enclosing* one = inside_;
    while (--level != 0) one = one->outer;
    one->asked = true;
    if (one->complete) add(after);
    return keep(now);
  }
  now.inner = closures_.closed(ActivationId{inner}, rule, depth_ + 1, inside_);
  const RuleActivation& one = activations_.of(now);
  if (one.reach > 1) closed_.reach = std::max(closed_.reach, one.reach - 1);
  const bool complete = one.is_complete(rule);
  const bool ended =
      (rule.lazy && one.whole) || (complete && one.budget.exhausted());
  if (complete) add(after);
  if (!ended && one.reading.any()) keep(now);
}

// Whether the call that `after` follows is a tail call of the activation, as
// far as is known: nothing but ends of rules follows it, up to the end of the
// activation, on all stacks.
bool Closures::Closure::only_ends(const Item& after) {
  if (!facts_.tails[after.state]) return false;
  if (is_local(after.context)) return !locals_.of(after.context).reads_on;
  if (after.context == kOutermost) return true;
  const std::span<const Item> items = contexts_[after.context];
  return locals_.spend(1 + items.size() / 4) &&
         std::ranges::all_of(items, [&](const Item& one) {
           return facts_.tails[one.state] && one.context == kOutermost;
         });
}

// A caller of `local` has more to read, and so have the local contexts that
// have a caller in `local`, and so on.  For that caller the calls that were
// entered there are activations of their own, so they are deferred again.
void Closures::Closure::note_reads_on(std::uint32_t local) {
  std::vector<std::uint32_t> left = {local};
  while (!left.empty()) {
    LocalContext& one = locals_[left.back()];
    left.pop_back();
    if (std::exchange(one.reads_on, true)) continue;
    left.insert(left.end(), one.called.begin(), one.called.end());
    deferred_.insert(deferred_.end(), one.entered.begin(), one.entered.end());
  }
}

// Calls a rule whose activation ends together with the enclosing one.
void Closures::Closure::enter(const Item& item) {
  const rules::RuleId rule = network_.states[item.state].rule_index();
  call(item, {network_.rules[rule].end, kOutermost, 0, 0});
}

// Continues with a deferred call; false if there is none.  REQUIRES: no other
// item is left, so the callers known now are all callers, unless this call adds
// more.  Each call is deferred at most twice: note_reads_on().
bool Closures::Closure::run_deferred() {
  if (deferred_.empty()) return false;
  const Item item = deferred_.back();
  deferred_.pop_back();
  if (!only_ends({network_.states[item.state].next, item.context, 0, 0})) {
    begin_activation(item, true);
  } else {
    locals_.of(item.context).entered.push_back(item);
    enter(item);
  }
  return true;
}

// The end of a rule: what follows depends on where the rule was entered.
void Closures::Closure::end(const Item& item) {
  if (item.context == kOutermost) return keep(item);
  if (!is_local(item.context)) {
    // Before this position: the context has the return addresses.
    closed_.pure = false;
    record_read(item.context);
    return add_all(contexts_[item.context]);
  }
  // At this position: the rule is empty.  Those who call it from now on are
  // continued by call(); to continue a caller adds no caller to the list.
  LocalContext& one = locals_.of(item.context);
  if (one.empty) return;
  one.empty = true;
  for (const Item& after : one.callers) add_after_empty(after);
}

// Continues a caller after a body that matched the empty text.  A repeat gains
// nothing by an empty body: the network has set the minimum of a nullable body
// to zero.  A body that is empty only because a budget is used up may be
// repeated as often as the minimum still requires, so the repeat is done.
void Closures::Closure::add_after_empty(const Item& after) {
  const NetworkState& state = network_.states[after.state];
  if (state.action != Action::kCount || after.count == 0) return add(after);
  if (network_.rules[state.index].nullable) return;
  add({state.next, after.context, 0, 0});
}

void Closures::Closure::drop_dominated() {
  if (least_.empty()) return;
  std::erase_if(kept_, [&](const Item& item) {
    const NetworkState& state = network_.states[item.state];
    if (state.action != Action::kCountClass || item.count <= state.min ||
        state.max == kUnbounded) {
      return false;
    }
    Item place = item;
    place.count = 0;
    return least_.at(place) < item.count;
  });
}

// Worklist algorithm.  Invariant: every item in seen_ has been followed or is
// in left_; local contexts only gain callers.  Deferred calls run when left_ is
// empty.  Then repeats that a smaller count subsumes are dropped, the local
// contexts that the kept items refer to are interned, and items that others
// make redundant are dropped.
Closures::Closed Closures::Closure::run(Items& items, Budget budget,
                                        std::size_t depth, Enclosing* inside,
                                        Trace* trace) {
  budget_ = budget;
  depth_ = depth;
  inside_ = inside;
  trace_ = trace;
  closed_ = {};
  left_.clear();
  kept_.clear();
  deferred_.clear();
  seen_.clear();
  if (!least_.empty()) least_ = {};
  locals_.clear();
  simulation_.begin(trace);
  tail_calls_.visited = contents_.visited = 0;

  add_all(items);
  while (!left_.empty() || run_deferred()) {
    if (left_.empty()) continue;
    if (closures_.too_many(seen_.size())) {
      closures_.memory_.note_too_large();
      items.clear();
      return {.pure = false};
    }
    if (!locals_.spend(1)) {
      items.clear();
      return {.pure = false};
    }
    const Item item = left_.back();
    left_.pop_back();
    follow(item);
  }
  drop_dominated();
  for (Item& item : kept_) {
    // Only contexts that a kept item refers to are interned, so a rule that was
    // entered and read nothing leaves none.
    if (!is_local(item.context)) continue;
    if (!base::work_left()) {
      items.clear();
      return {.pure = false};
    }
    closed_.pure = false;
    make_contexts(local_index(item.context));
    item.context = locals_[with_content(local_index(item.context))].made;
  }
  std::sort(kept_.begin(), kept_.end());
  kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
  if (simulation_.drop_redundant(kept_)) closed_.pure = false;
  items = kept_;
  return closed_;
}

// --- Contexts ----------------------------------------------------------------

// The content of a local context is its callers, with each caller that is a
// tail call replaced by the content of the context that it is called in.
// Returns the local context that stores this content: where tail calls make a
// cycle (a ::= b c?, b ::= a c?), all of them have the same content, and are
// one context.
//
// A tail call has nothing left to do but to end its rule.  So to return to it,
// and then to its callers, is to return to its callers.
std::uint32_t Closures::Closure::with_content(std::uint32_t local) {
  if (locals_[local].same == kLocal) find_content(local);
  return locals_[local].same;
}

// Computes the content of `root` and of all local contexts that its tail calls
// lead to.  A component of the graph of tail calls comes after those that it
// leads to, so each content is joined from contents that are complete.
void Closures::Closure::find_content(std::uint32_t root) {
  const auto next = [&](std::uint32_t at,
                        std::size_t& i) -> std::optional<std::uint32_t> {
    const Items& callers = locals_[at].callers;
    while (i < callers.size()) {
      const Item& caller = callers[i++];
      if (is_local(caller.context) && facts_.tails[caller.state] &&
          network_.states[caller.state].live) {
        return local_index(caller.context);
      }
    }
    return std::nullopt;
  };
  base::visit_components(
      tail_calls_, root,
      [&](std::uint32_t at) -> base::ComponentVisit& {
        return locals_[at].tails;
      },
      next, [&](std::span<const std::uint32_t> loop) { join_contents(loop); });
}

// Joins the content of local contexts that tail calls connect to a loop.  The
// lists to be joined are sorted but for the callers; `runs_` are their ends,
// and they are merged in pairs.
void Closures::Closure::join_contents(std::span<const std::uint32_t> loop) {
  // The least rule, so that the result does not depend on the order of visits.
  const std::uint32_t first = *std::ranges::min_element(
      loop, {}, [&](std::uint32_t index) { return locals_[index].rule; });
  for (const std::uint32_t index : loop) locals_[index].same = first;
  // First the callers that are no tail calls, of all members.  A tail call of
  // the outermost context stays: there is nothing to replace it by.
  Items& content = locals_[first].content;
  for (const std::uint32_t index : loop) {
    locals_.spend(1 + locals_[index].callers.size() / 4);
    for (const Item& caller : locals_[index].callers) {
      if (!network_.states[caller.state].live) continue;
      if (facts_.tails[caller.state] && caller.context != kOutermost) {
        continue;
      }
      content.push_back(caller);
    }
  }
  std::sort(content.begin(), content.end());
  // Then the contexts in which the tail calls are, each once.  Those of the
  // loop itself have `first` as their content by now, and add nothing.
  joined_.clear();
  for (const std::uint32_t index : loop) {
    for (const Item& caller : locals_[index].callers) {
      if (!facts_.tails[caller.state] || caller.context == kOutermost ||
          !network_.states[caller.state].live) {
        continue;
      }
      if (!is_local(caller.context)) record_read(caller.context);
      const ContextId up = locals_.settled(caller.context);
      if (up != local_context(first)) joined_.push_back(up);
    }
  }
  std::sort(joined_.begin(), joined_.end());
  joined_.erase(std::unique(joined_.begin(), joined_.end()), joined_.end());
  // Their contents are sorted.  Invariant: runs_ has the ends of sorted runs of
  // `content`; each round of the second loop halves their number, so n items of
  // k contexts cost n log k.
  runs_ = {0, content.size()};
  for (const ContextId up : joined_) {
    const std::span<const Item> further = locals_.content_of(up);
    if (!locals_.spend(1 + further.size() / 4)) break;
    content.insert(content.end(), further.begin(), further.end());
    runs_.push_back(content.size());
  }
  while (runs_.size() > 2 && locals_.spend(1 + content.size() / 8)) {
    std::size_t kept = 1;
    for (std::size_t i = 2; i < runs_.size(); i += 2) {
      const auto at = [&](std::size_t run) {
        return content.begin() + static_cast<std::ptrdiff_t>(runs_[run]);
      };
      std::inplace_merge(at(i - 2), at(i - 1), at(i));
      runs_[kept++] = runs_[i];
    }
    if (runs_.size() % 2 == 0) runs_[kept++] = runs_.back();
    runs_.resize(kept);
  }
  content.erase(std::unique(content.begin(), content.end()), content.end());
}

// Interns the local context `root` and all that it refers to.  A component of
// the graph of contents comes after those that it refers to, so all other
// contexts that it needs are interned by then.
void Closures::Closure::make_contexts(std::uint32_t root) {
  root = with_content(root);
  if (locals_[root].made != kLocal) return;
  const auto next = [&](std::uint32_t at,
                        std::size_t& i) -> std::optional<std::uint32_t> {
    const Items& content = locals_[at].content;
    while (i < content.size()) {
      const ContextId context = content[i++].context;
      if (is_local(context)) return with_content(local_index(context));
    }
    return std::nullopt;
  };
  base::visit_components(
      contents_, root,
      [&](std::uint32_t at) -> base::ComponentVisit& {
        return locals_[at].loops;
      },
      next, [&](std::span<const std::uint32_t> loop) { intern_loop(loop); });
}

// Interns a strongly connected component: a cycle of local contexts, or one
// local context by itself.
void Closures::Closure::intern_loop(std::span<const std::uint32_t> loop) {
  std::vector<std::uint32_t>& members = members_;
  members.assign(loop.begin(), loop.end());
  std::sort(members.begin(), members.end(),
            [&](std::uint32_t a, std::uint32_t b) {
              return locals_[a].rule < locals_[b].rule;
            });
  // Normalise the contents: contexts already interned in place of local ones,
  // sorted, without duplicates and without redundant items.  Only then are the
  // members compared: a caller at this position may be redundant beside an
  // earlier one.
  for (const std::uint32_t member : members) {
    Items& content = locals_[member].content;
    locals_.spend(1 + content.size() / 4);
    for (Item& item : content) item.context = locals_.settled(item.context);
    sort_once(content);
  }
  for (const std::uint32_t member : members) {
    simulation_.drop_redundant(locals_[member].content);
  }
  // Members that refer to no other member, or equal an older context, are
  // interned one by one.  Each may free others of their references; what is
  // left in the end is in a cycle.
  for (bool more = true; more;) {
    more = false;
    for (const std::uint32_t member : members) {
      LocalContext& one = locals_[member];
      if (one.made != kLocal) continue;
      locals_.spend(1 + one.content.size() / 4);
      bool open = false;
      for (Item& item : one.content) {
        item.context = locals_.settled(item.context);
        open = open || is_local(item.context);
      }
      if (!std::ranges::is_sorted(one.content)) {
        std::sort(one.content.begin(), one.content.end());
      }
      if (open) {
        one.made = simulation_.older_equal(member);
      } else {
        one.made = intern_context(one.content);
      }
      more = more || one.made != kLocal;
    }
    std::erase_if(members, [&](std::uint32_t member) {
      return locals_[member].made != kLocal;
    });
  }
  if (!members.empty()) intern_members(members);
}

ContextId Closures::Closure::intern_context(const Items& content) {
  locals_.spend(1 + content.size() / 8);
  const ContextId id = contexts_.intern(content);
  record_made(id, 1);
  return id;
}

// Interns contexts that refer to each other.  Their references become indices
// into `members`, so that equal cycles have equal keys at any position.
void Closures::Closure::intern_members(std::span<const std::uint32_t> members) {
  member_of_local_.resize(std::max(member_of_local_.size(), locals_.size()));
  for (std::size_t i = 0; i < members.size(); ++i) {
    member_of_local_[members[i]] = static_cast<std::uint32_t>(i);
  }
  for (const std::uint32_t member : members) {
    Items& content = locals_[member].content;
    for (Item& item : content) {
      if (!is_local(item.context)) continue;
      item.context = local_context(member_of_local_[local_index(item.context)]);
    }
    std::sort(content.begin(), content.end());
  }
  std::vector<Items> contents;
  contents.reserve(members.size());
  for (const std::uint32_t member : members) {
    contents.push_back(locals_[member].content);
  }
  ContextId id = contexts_.intern_loop(contents);
  record_made(id, members.size());
  for (const std::uint32_t member : members) {
    locals_[member].made = id;
    ++id;
  }
}

// --- Closures ----------------------------------------------------------------

Closures::Closures(const NetworkFacts& facts, Contexts& contexts,
                   Activations& activations, Parts& parts, ReadSets& read_sets,
                   TableMemory& memory)
    : facts_(facts),
      contexts_(contexts),
      activations_(activations),
      parts_(parts),
      read_sets_(read_sets),
      memory_(memory) {}

Closures::~Closures() = default;

void Closures::close(Items& items, Trace& trace) {
  trace.clear();
  closings_ = 0;
  trace.pure = close(items, {}, 0, nullptr, &trace).pure;
}

Closures::Closed Closures::close(Items& items, Budget budget, std::size_t depth,
                                 Enclosing* inside, Trace* trace) {
  while (reused_.size() <= depth) {
    reused_.push_back(std::make_unique<Closure>(*this));
    memory_.add(reused_.back()->own_bytes());
  }
  return reused_[depth]->run(items, budget, depth, inside, trace);
}

// --- Activations -------------------------------------------------------------

// Computes the least fixed point of "this activation may end here".  The
// closure of an activation may depend on that through references outward: it is
// first computed as if the activation could not end, and once more if then it
// can.  Being able to end only adds items, so two rounds are enough.
//
// The items at the end of the rule or of its body become flags (`whole`,
// `body_end`); the others are what the activation can read.  A closure that
// depends on enclosing activations is interned with its result.
ActivationId Closures::closed(ActivationId id, const NetworkRule& rule,
                              std::size_t depth, Enclosing* outer) {
  if (activations_[id].closed) return id;
  Enclosing self{.outer = outer, .id = id};
  RuleActivation made;
  for (;;) {
    if (!base::spend_work()) return {};
    if (depth > facts_.limits.depth || too_many(++closings_)) {
      memory_.note_too_large();
      return {};
    }
    made = {.budget = activations_[id].budget,
            .kernel = activations_[id].kernel,
            .left = activations_[id].left,
            .closed = true};
    Items items = made.kernel;
    made.reach = close(items, made.budget, depth, &self, nullptr).reach;
    for (const Item& item : items) {
      const bool outermost = item.context == kOutermost;
      const Action action = facts_.state_of(item).action;
      if (action == Action::kEnd && outermost) {
        made.whole = true;
      } else if (action == Action::kBodyEnd && outermost) {
        made.body_end = true;
      } else {
        made.items.push_back(item);
      }
    }
    if (self.complete || !self.asked || !made.is_complete(rule)) break;
    self.complete = true;
  }
  made.reading = activations_.reading_of(made.items, &RuleActivation::reading);
  if (made.reach != 0) {
    return activations_.intern_closed(made);
  }
  activations_.close(id, std::move(made));
  return id;
}

}  // namespace parlance::cfg_recogniser
