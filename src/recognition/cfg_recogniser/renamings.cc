// Closures up to renaming of contexts: see renamings.h.

#include "cfg_recogniser/renamings.h"

#include <algorithm>
#include <cstddef>

#include "base/work.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

namespace {

// A closure that makes more contexts, or contexts with more items, is computed
// in each frame.
constexpr std::size_t kMostMade = 256;
constexpr std::size_t kMostMadeItems = 4096;

}  // namespace

// --- Kernels -----------------------------------------------------------------

void NumberedKernel::number(Items& items, ContextSet& met) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  met.clear();
  for (Item& item : items) item.context = ContextId{met.add(item.context)};
  list_.assign(1, ContextId{});
  list_.insert(list_.end(), met.list().begin(), met.list().end());
}

ShapeId Renamings::intern_shape(std::span<const Item> items) {
  const auto [shape, added] = shapes_.intern(items);
  if (added) {
    memory_.add(shapes_.bytes_of(items.size()));
    roots_.resize(shapes_.size(), DecisionTrees::kNone);
  }
  return shape;
}

// --- Learning ----------------------------------------------------------------

// A context that was made may be one that has a number: its content was in the
// table.  That is so wherever the numbered one has the same content, so it is
// asked for, too.
void Renamings::learn(const NumberedKernel& kernel, Configuration to,
                      Trace& trace) {
  if (to.dead() || memory_.too_large() || !memory_.may_store() ||
      trace.compared_too_many || trace.made.size() > kMostMade ||
      trace.reads.any_by_identity()) {
    return;
  }
  // What the result depends on: the contexts that were read, that were compared
  // (in vain, too), and that were made and may have been there.
  asked_.clear();
  asked_.add_all(trace.reads.list());
  asked_.add_all(trace.compared.list());
  for (const Trace::Made& one : trace.made) {
    for (std::uint32_t i = 0; i < one.count; ++i) {
      asked_.add(ContextId{one.first + i});
    }
  }
  DecisionTrees::Walk& walk =
      trees_.extend(roots_[kernel.shape()], kernel.contexts(), asked_);
  if (walk.leaf == DecisionTrees::kNone || !trees_.at(walk.leaf).dead()) return;
  all_.push_back(number_targets(to, trace, walk));
  memory_.add(sizeof(Renaming));
  trees_.at(walk.leaf).lex = static_cast<std::uint32_t>(all_.size());
}

// The target `to` and what was learnt of its closure, in terms of the numbers
// of the walk and of the contexts that were made.  Without a target if there is
// a context that is neither: then the closure is computed in each frame that
// reaches the leaf.
Renamings::Renaming Renamings::number_targets(Configuration to,
                                              const Trace& trace,
                                              DecisionTrees::Walk& walk) {
  names_.clear();
  const auto find_name = [&](ContextId context) {
    return std::ranges::find(names_, context,
                             &std::pair<ContextId, ContextId>::first);
  };
  bool all = true;
  const auto name = [&](ContextId context) {
    if (walk.numbers.has(context)) {
      return ContextId{walk.numbers.add(context)};
    }
    const auto at = find_name(context);
    if (at != names_.end()) return at->second;
    all = false;
    return context;
  };
  const auto named = [&](std::span<const ContextId> contexts) {
    numbers_.clear();
    for (const ContextId context : contexts) numbers_.push_back(name(context));
    memory_.add(contexts.size() * sizeof(ContextId));
    return number_lists_.add(numbers_);
  };
  std::vector<Renaming::Made>& made = renaming_made_;
  made.clear();
  std::size_t items = 0;
  for (const Trace::Made& group : trace.made) {
    if (walk.numbers.has(group.first) ||
        find_name(group.first) != names_.end()) {
      continue;
    }
    for (std::uint32_t i = 0; i < group.count; ++i) {
      names_.emplace_back(group.first + i, local_context(made.size() + i));
    }
    for (std::uint32_t i = 0; i < group.count; ++i) {
      const std::span<const Item> content =
          contexts_[ContextId{group.first + i}];
      items += content.size();
      if (items > kMostMadeItems) return {};
      items_.assign(content.begin(), content.end());
      for (Item& item : items_) item.context = name(item.context);
      made.push_back(
          {.content = item_lists_.add(items_), .loop = group.count - i});
      memory_.add(sizeof(Renaming::Made) + content.size() * sizeof(Item));
    }
  }
  Renaming out;
  out.pure = trace.pure;
  out.to = to;
  if (is_inside(to)) {
    const SchemaSite& site = sites_.of(to);
    out.site = site.state;
    out.frame = named({&site.context, 1});
    out.to = sites_.unwrap(to);
    out.to.lex |= kInside;
  } else {
    out.frame = named(states_.frame(to.frame));
  }
  out.reads = named(trace.reads.list());
  out.made = made_lists_.add(made);
  return all ? out : Renaming{};
}

// --- Following ---------------------------------------------------------------

std::optional<MadeOfKernel> Renamings::rename(const NumberedKernel& kernel) {
  DecisionTrees::Node& root = roots_[kernel.shape()];
  if (root == DecisionTrees::kNone || !memory_.within_limits()) {
    return std::nullopt;
  }
  DecisionTrees::Walk& walk = trees_.find(root, kernel.contexts());
  if (walk.leaf == DecisionTrees::kNone) return std::nullopt;
  const Renaming& renaming = all_[trees_.at(walk.leaf).lex - 1];
  if (renaming.to.dead()) return std::nullopt;
  return apply(renaming, walk);
}

// Interns what the renaming makes.  A context that turns out to be a numbered
// one, or one made before, would be two in the target; then there is no result,
// and the closure is computed.
//
// Invariant of the loop: made_ has the contexts that stand for the first i of
// renaming.made, and no numbered context.  Each round interns one context, or
// the members of a loop at once.
std::optional<MadeOfKernel> Renamings::apply(const Renaming& renaming,
                                             DecisionTrees::Walk& walk) {
  const auto real = [&](ContextId context) {
    return is_local(context) ? made_.list()[local_index(context)]
                             : walk.numbers[context];
  };
  made_.clear();
  for (std::size_t i = 0; i < renaming.made.size();) {
    const std::uint32_t count = renaming.made[i].loop;
    bool loop = count > 1;
    if (contents_.size() < count) contents_.resize(count);
    for (std::uint32_t k = 0; k < count; ++k) {
      Items& content = contents_[k];
      content.assign(renaming.made[i + k].content.begin(),
                     renaming.made[i + k].content.end());
      for (Item& item : content) {
        if (is_local(item.context) && local_index(item.context) >= i) {
          item.context = local_context(local_index(item.context) - i);
          loop = true;
        } else {
          item.context = real(item.context);
        }
      }
      if (!std::ranges::is_sorted(content)) std::ranges::sort(content);
    }
    ContextId id =
        loop ? contexts_.intern_loop(std::span(contents_).first(count))
             : contexts_.intern(contents_[0]);
    for (std::uint32_t k = 0; k < count; ++k, ++id) {
      if (walk.numbers.has(id) || made_.has(id)) return std::nullopt;
      made_.add(id);
    }
    i += count;
  }
  const auto all_real = [&](std::span<const ContextId> contexts) {
    numbers_.clear();
    for (const ContextId context : contexts) numbers_.push_back(real(context));
    return std::span<const ContextId>(numbers_);
  };
  MadeOfKernel out;
  out.pure = renaming.pure;
  out.read_set = read_sets_.intern(all_real(renaming.reads));
  if (is_inside(renaming.to)) {
    Configuration inner = renaming.to;
    inner.lex &= ~kInside;
    out.to = sites_.wrap(sites_.intern(renaming.site, real(renaming.frame[0])),
                         inner);
    return out;
  }
  out.to = {renaming.to.lex, states_.intern_frame(all_real(renaming.frame)), 0,
            0};
  return out;
}

}  // namespace parlance::cfg_recogniser
