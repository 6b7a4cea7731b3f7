// Transitions up to renaming of contexts: see cfg_recogniser.h.
//
// One bracket further in, a state has another frame, and every transition that
// depends on the frame is a new one.  But its closure only asks whether two
// contexts are the same, and what is in some of them.  So the closure is
// computed once for all frames in which these answers are equal:
//
//   kernel     the items after the byte, with contexts as numbers (its shape)
//   questions  the contexts that the closure compared or read: a decision tree
//              (equivalence_tree.h) asks for their forms, and numbers what is
//              in them
//   renaming   the target, and the contexts made on the way, in terms of the
//              numbered contexts
//
// To follow a transition is then to walk a tree, to intern the few contexts
// that are made, and to intern a frame.  Many transitions lead to the same
// kernel in the same contexts: after `;` the statement is over, whatever it
// was.  For these the target is stored (numbered_kernels_).
//
// While a keyword may also be a name, each of its letters makes a kernel of its
// own, and what follows the name is the same in all of them.  So only the items
// from which something follows are a kernel with renamings; those that only
// read are added to what is made of it (close_by_parts()).
//
//   after "wh"     read more of the name, or end it | read "ile"
//   after "whi"    read more of the name, or end it | read "le"
//
// A renaming depends on what was compared in vain, too.  A closure that drops
// nothing for that reason would be right in any frame, but not as small as it
// could be: what ambiguity piles up would no longer be found.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/work.h"
#include "cfg_recogniser/cfg_recogniser.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

namespace {

// A closure that makes more contexts, or contexts with more items, is computed
// in each frame.
constexpr std::size_t kMostMade = 256;
constexpr std::size_t kMostMadeItems = 4096;
// A kernel is not divided if an item that only reads has more neighbours, and a
// state with more literals beside it, or with more slots, has no base.
constexpr std::size_t kMostNeighbours = 8;
constexpr std::size_t kMostLiterals = 8;
constexpr std::size_t kMostSlots = 32;

}  // namespace

void CfgRecogniser::record_compared(std::span<const ContextId> contexts) {
  for (const ContextId context : contexts) {
    std::uint32_t& round = notes(context).compared_round;
    if (round == read_round_) continue;
    round = read_round_;
    compared_.push_back(context);
  }
}

void CfgRecogniser::record_made(ContextId first, std::size_t count) {
  made_contexts_.push_back({first, static_cast<std::uint32_t>(count)});
}

// --- Kernels -----------------------------------------------------------------

void CfgRecogniser::number_kernel(Items& items, NumberedKernel& kernel) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  kernel.assign(1, 0);
  for (Item& item : items) {
    const auto at = std::find(kernel.begin() + 1, kernel.end(), item.context);
    const auto number = static_cast<std::uint32_t>(at - kernel.begin()) - 1;
    if (at == kernel.end()) kernel.push_back(item.context);
    item.context = number;
  }
  kernel.front() = intern_shape(items);
}

std::uint32_t CfgRecogniser::intern_shape(std::span<const Item> kernel) {
  const auto [shape, added] = shapes_.intern(kernel);
  if (added) {
    bytes_ += shapes_.bytes_of(kernel.size());
    renamings_of_shape_.resize(shapes_.size(), EquivalenceTree::kNone);
  }
  return shape;
}

void CfgRecogniser::set_kernel(std::span<const std::uint32_t> by_slots,
                               std::uint32_t frame) {
  kernel_.assign(by_slots.begin(), by_slots.end());
  const std::span<const ContextId> contexts = frames_[frame];
  for (std::size_t i = 1; i < kernel_.size(); ++i) {
    kernel_[i] = contexts[kernel_[i]];
  }
}

// --- Learning ----------------------------------------------------------------

Configuration CfgRecogniser::close_numbered(std::span<const ContextId> order) {
  made_read_set_ = 0;
  if (!within_limits() || !base::spend_work()) return {};
  const std::span<const Item> shape = shapes_[kernel_.front()];
  Items& kernel = kernel_items_;
  kernel.assign(shape.begin(), shape.end());
  for (Item& item : kernel) item.context = context_of_kernel(item);
  begin_read_set();
  const Configuration made = make_configuration(kernel, order);
  made_read_set_ = intern_read_set();
  return made;
}

Configuration CfgRecogniser::make_numbered(std::span<const ContextId> order) {
  if (const MadeOfKernel* const known = find_made()) {
    pure_ = known->pure;
    made_read_set_ = known->read_set;
    return known->to;
  }
  Configuration made = rename();
  if (made.dead()) made = close_by_parts(order);
  const bool closed = made.dead();
  if (closed) made = close_numbered(order);
  remember_made(made);
  if (closed) learn_renaming(made);
  return made;
}

// These are the items that Closure::follow() keeps and adds nothing for.
bool CfgRecogniser::only_reads(const Item& item) const {
  const NetworkState& state = network_.states[item.state];
  switch (state.action) {
    case Action::kBytes:
    case Action::kClass:
    case Action::kTokens:
      return true;
    case Action::kCountClass:  // above the minimum, counts are compared
      return item.count < state.min ||
             (item.count == state.min && item.inner != 0);
    default:
      return false;
  }
}

// The closure of a kernel is that of the items from which something follows,
// and the items that only read.  A closure also drops items that others make
// redundant, which are in the same place of the network; so if one that only
// reads is in the place of another item, the kernel is not divided.
Configuration CfgRecogniser::close_by_parts(std::span<const ContextId> order) {
  const std::span<const Item> kernel = shapes_[kernel_.front()];
  const auto reads = [&](const Item& item) { return only_reads(item); };
  if (std::ranges::none_of(kernel, reads)) return {};
  Items& reading = reading_;
  Items& others = others_;
  Items& items = part_items_;
  reading.clear();
  others.clear();
  items.clear();
  for (const Item& item : kernel) {
    (reads(item) ? reading : others).push_back(item);
  }
  for (Item& item : reading) item.context = context_of_kernel(item);
  Configuration part = {};
  if (others.empty()) {
    pure_ = true;
    made_read_set_ = 0;
  } else {
    part = make_part(others);
    if (part.dead() || inside(part)) return {};
    const Configuration known = with_literals(part, reading);
    if (!known.dead()) return known;
    put_in_frame(states_[part.lex].items, part.frame, items);
  }
  if (!base::spend_work(1 + (items.size() + reading.size()) / 8) ||
      !merge_reading(items, reading)) {
    return {};
  }
  made_.kernel.clear();
  if (counts_tokens_) {
    for (Item item : kernel) {
      item.context = context_of_kernel(item);
      made_.kernel.push_back(item);
    }
  }
  const Configuration made = intern_configuration(order);
  if (!part.dead()) note_literals(part, reading, made);
  return made;
}

// The configuration of a part of the kernel.
Configuration CfgRecogniser::make_part(Items& part) {
  // A part is not divided again, so that nothing else uses kernel_of_part_.
  number_kernel(part, kernel_of_part_);
  for (std::size_t i = 1; i < kernel_of_part_.size(); ++i) {
    kernel_of_part_[i] = contexts_of_kernel()[kernel_of_part_[i]];
  }
  kernel_of_part_.swap(kernel_);
  const Configuration made = make_numbered(contexts_of_kernel());
  kernel_of_part_.swap(kernel_);
  return made;
}

bool CfgRecogniser::merge_reading(Items& items, Items& reading) {
  const auto place = [](const Item& item) {
    return std::pair(item.state, item.inner);
  };
  std::ranges::sort(reading);
  if (!std::ranges::is_sorted(items)) std::ranges::sort(items);
  for (std::size_t i = 0; i < reading.size(); ++i) {
    if (i > 0 && place(reading[i - 1]) == place(reading[i])) return false;
    auto at =
        std::ranges::lower_bound(items, reading[i].state, {}, &Item::state);
    for (std::size_t n = 0; at != items.end() && at->state == reading[i].state;
         ++at) {
      if (++n > kMostNeighbours || place(*at) == place(reading[i])) {
        return false;
      }
    }
  }
  made_.items.resize(items.size() + reading.size());
  std::ranges::merge(items, reading, made_.items.begin());
  return true;
}

// Notes how `to` was made of `part`, if what was added are a few literals.
void CfgRecogniser::note_literals(Configuration part,
                                  std::span<const Item> literals,
                                  Configuration to) {
  const std::span<const ContextId> frame = frames_[to.frame];
  if (counts_tokens_ || literals.size() > kMostLiterals ||
      frame.size() > kMostSlots) {
    return;
  }
  StateBase made{.lex = part.lex};
  for (const Item& item : literals) {
    const NetworkState& at = network_.states[item.state];
    if (at.action != Action::kBytes) return;
    base::add_byte(made.others, static_cast<std::uint8_t>(
                                    network_.texts[at.index][item.inner]));
  }
  const StateBase*& base = states_[to.lex].base;
  if (base == nullptr) {
    numbered_contexts_.clear();
    for (const ContextId context : frames_[part.frame]) {
      const auto at = std::ranges::find(frame, context);
      numbered_contexts_.push_back(
          static_cast<std::uint32_t>(at - frame.begin()));
    }
    made.slots = number_lists_.add(numbered_contexts_);
    made.frame_size = static_cast<std::uint32_t>(frame.size());
    bytes_ += sizeof(StateBase) + made.slots.size() * sizeof(std::uint32_t);
    bases_.push_back(made);
    base = &bases_.back();
  }
  // The order of the slots of a pure closure depends on the frame before.
  if (pure_ || base->lex != part.lex) return;
  if (with_literals_.emplace(pair_key(kernel_.front(), part.lex), to.lex)
          .second) {
    bytes_ += 48;
  }
}

Configuration CfgRecogniser::with_literals(Configuration part,
                                           std::span<const Item> literals) {
  if (pure_) return {};
  const auto known = with_literals_.find(pair_key(kernel_.front(), part.lex));
  if (known == with_literals_.end()) return {};
  const State& to = states_[known->second];
  constexpr ContextId kNone = 0xFFFFFFFF;
  std::vector<ContextId>& frame = renamed_frame_;
  frame.assign(to.base->frame_size, kNone);
  ++slot_round_;
  const auto put = [&](std::uint32_t slot, ContextId context) {
    ContextNotes& of = notes(context);
    if (of.slot_round == slot_round_) return of.slot == slot;
    if (frame[slot] != kNone) return false;
    of.slot_round = slot_round_;
    of.slot = slot;
    frame[slot] = context;
    return true;
  };
  const std::span<const ContextId> contexts = frames_[part.frame];
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    if (!put(to.base->slots[i], contexts[i])) return {};
  }
  for (const Item& item : literals) {
    // In a place of its own, so that there is one item.
    auto at = std::ranges::lower_bound(to.items, item.state, {}, &Item::state);
    while (at != to.items.end() && at->inner != item.inner) ++at;
    if (at == to.items.end() || at->state != item.state ||
        !put(at->context, item.context)) {
      return {};
    }
  }
  return {known->second, intern_frame(frame), 0, 0};
}

recogniser::Recogniser::ByteFacts CfgRecogniser::bytes_at(
    Configuration config) {
  if (config.dead() || inside(config)) return {};
  ByteFacts facts{.readable = readable_bytes(config.lex)};
  if (const StateBase* const base = states_[config.lex].base) {
    const std::span<const ContextId> frame = frames_[config.frame];
    renamed_frame_.clear();
    for (const std::uint32_t slot : base->slots) {
      renamed_frame_.push_back(frame[slot]);
    }
    facts.base = {base->lex, intern_frame(renamed_frame_), 0, 0};
    facts.others = &base->others;
  }
  return facts;
}

// Stores how `to` was made of kernel_, if that is a renaming.
//
// A context that was made may be one that has a number: its content was in the
// table.  That is so wherever the numbered one has the same content, so it is
// asked for, too.
void CfgRecogniser::learn_renaming(Configuration to) {
  const auto by_identity = [](ContextId one) { return (one & kLocal) != 0; };
  if (to.dead() || overflowed_ || too_large_ || spoiled() ||
      compared_too_many_ || !base::work_left() ||
      made_contexts_.size() > kMostMade ||
      std::ranges::any_of(reads_, by_identity)) {
    return;
  }
  learnt_reads_.swap(reads_);
  learnt_compared_.swap(compared_);
  learnt_made_.swap(made_contexts_);
  begin_read_set();
  for (const ContextId context : learnt_reads_) record_read(context);
  for (const ContextId context : learnt_compared_) record_read(context);
  for (const MadeContexts& one : learnt_made_) {
    for (std::uint32_t i = 0; i < one.count; ++i) record_read(one.first + i);
  }
  const EquivalenceTree::Id leaf = ask(renamings_of_shape_[kernel_.front()],
                                       contexts_of_kernel(), Asking::kExtend);
  if (leaf == EquivalenceTree::kNone ||
      !equivalence_tree_.node(leaf).equivalent.dead()) {
    return;
  }
  renamings_.push_back(number_targets(to));
  bytes_ += sizeof(Renaming);
  equivalence_tree_.node(leaf).equivalent.lex =
      static_cast<std::uint32_t>(renamings_.size());
}

// The target `to` and what was learnt of its closure, in terms of the numbers
// that ask() gave and of the contexts that were made.  Without a target if
// there is a context that is neither.
CfgRecogniser::Renaming CfgRecogniser::number_targets(Configuration to) {
  std::vector<std::pair<ContextId, ContextId>>& names = numbers_of_made_;
  names.clear();
  const auto find_name = [&](ContextId context) {
    return std::ranges::find(names, context,
                             &std::pair<ContextId, ContextId>::first);
  };
  bool all = true;
  const auto name = [&](ContextId context) {
    if (numbered(context)) return notes(context).number;
    const auto at = find_name(context);
    if (at != names.end()) return at->second;
    all = false;
    return context;
  };
  const auto named = [&](std::span<const ContextId> contexts) {
    numbered_contexts_.clear();
    for (const ContextId context : contexts) {
      numbered_contexts_.push_back(name(context));
    }
    bytes_ += contexts.size() * sizeof(ContextId);
    return number_lists_.add(numbered_contexts_);
  };
  std::vector<Renaming::Made>& made = renaming_made_;
  made.clear();
  std::size_t items = 0;
  for (const MadeContexts& group : learnt_made_) {
    if (numbered(group.first) || find_name(group.first) != names.end()) {
      continue;
    }
    for (std::uint32_t i = 0; i < group.count; ++i) {
      names.emplace_back(group.first + i,
                         kLocal | static_cast<std::uint32_t>(made.size() + i));
    }
    for (std::uint32_t i = 0; i < group.count; ++i) {
      const std::span<const Item> content = contexts_[group.first + i];
      items += content.size();
      if (items > kMostMadeItems) return {};
      numbered_items_.assign(content.begin(), content.end());
      for (Item& item : numbered_items_) item.context = name(item.context);
      made.push_back({.content = item_lists_.add(numbered_items_),
                      .loop = group.count - i});
      bytes_ += sizeof(Renaming::Made) + content.size() * sizeof(Item);
    }
  }
  Renaming out;
  out.pure = pure_;
  out.to = to;
  if (inside(to)) {
    const SchemaSite& site = site_of(to);
    out.site = site.state;
    out.frame = named({&site.context, 1});
    out.to = unwrap(to);
    out.to.lex |= kInside;
  } else {
    out.frame = named(frames_[to.frame]);
  }
  out.reads = named(learnt_reads_);
  out.made = made_lists_.add(made);
  return all ? out : Renaming{};
}

// --- Following ---------------------------------------------------------------

const CfgRecogniser::MadeOfKernel* CfgRecogniser::find_made() const {
  const std::uint32_t known = numbered_kernels_.find(kernel_);
  return known == numbered_kernels_.kNone ? nullptr : &made_of_numbered_[known];
}

Configuration CfgRecogniser::rename() {
  made_read_set_ = 0;
  EquivalenceTree::Id& root = renamings_of_shape_[kernel_.front()];
  if (root == EquivalenceTree::kNone || !within_limits()) return {};
  const EquivalenceTree::Id leaf =
      ask(root, contexts_of_kernel(), Asking::kFind);
  if (leaf == EquivalenceTree::kNone) return {};
  const Renaming& renaming =
      renamings_[equivalence_tree_.node(leaf).equivalent.lex - 1];
  if (renaming.to.dead()) return {};
  return apply(renaming);
}

void CfgRecogniser::remember_made(Configuration to) {
  if (overflowed_ || spoiled() || !base::work_left()) return;
  numbered_kernels_.intern_new(kernel_);
  made_of_numbered_.push_back(
      {.to = to, .read_set = made_read_set_, .pure = pure_});
  bytes_ += numbered_kernels_.bytes_of(kernel_.size()) + sizeof(MadeOfKernel);
}

// Interns what the renaming makes.  A context that turns out to be a numbered
// one, or one made before, would be two in the target; then the result is dead,
// and the closure is computed.
Configuration CfgRecogniser::apply(const Renaming& renaming) {
  const auto real = [&](ContextId context) {
    return (context & kLocal) != 0 ? renamed_[context & ~kLocal]
                                   : contexts_by_number_[context];
  };
  renamed_.clear();
  for (std::size_t i = 0; i < renaming.made.size();) {
    const std::uint32_t count = renaming.made[i].loop;
    bool loop = count > 1;
    if (renamed_contents_.size() < count) renamed_contents_.resize(count);
    for (std::uint32_t k = 0; k < count; ++k) {
      Items& content = renamed_contents_[k];
      content.assign(renaming.made[i + k].content.begin(),
                     renaming.made[i + k].content.end());
      for (Item& item : content) {
        const ContextId made = item.context & ~kLocal;
        if ((item.context & kLocal) != 0 && made >= i) {
          item.context = kLocal | static_cast<ContextId>(made - i);
          loop = true;
        } else {
          item.context = real(item.context);
        }
      }
      if (!std::ranges::is_sorted(content)) std::ranges::sort(content);
    }
    ContextId id = 0;
    if (loop) {
      id = intern_loop(std::span(renamed_contents_).first(count));
    } else {
      const auto [known, added] = contexts_.intern(renamed_contents_[0]);
      if (added) bytes_ += contexts_.bytes_of(renamed_contents_[0].size());
      id = known;
    }
    for (std::uint32_t k = 0; k < count; ++k, ++id) {
      if (numbered(id)) return {};
      notes(id).number_round = number_round_;
      notes(id).number = 0;
      renamed_.push_back(id);
    }
    i += count;
  }
  pure_ = renaming.pure;
  reads_.clear();
  for (const ContextId context : renaming.reads) {
    reads_.push_back(real(context));
  }
  made_read_set_ = intern_read_set();
  if (inside(renaming.to)) {
    Configuration inner = renaming.to;
    inner.lex &= ~kInside;
    return wrap(intern_site(renaming.site, real(renaming.frame[0])), inner);
  }
  renamed_frame_.clear();
  for (const ContextId context : renaming.frame) {
    renamed_frame_.push_back(real(context));
  }
  return {renaming.to.lex, intern_frame(renamed_frame_), 0, 0};
}

}  // namespace parlance::cfg_recogniser
