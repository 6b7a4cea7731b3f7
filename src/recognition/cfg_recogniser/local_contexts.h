#ifndef PARLANCE_SRC_CFG_RECOGNISER_LOCAL_CONTEXTS_H_
#define PARLANCE_SRC_CFG_RECOGNISER_LOCAL_CONTEXTS_H_

// The contexts of the rules that one closure enters, until they are interned:
// see closure.h.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/components.h"
#include "base/work.h"
#include "cfg_recogniser/contexts.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

struct LocalContext {
  rules::RuleId rule = {};
  bool empty = false;  // the rule matched the empty text here
  Items callers = {};  // where each continues; a repeat at its own state
  Items content = {};  // of the context: `callers` without tail calls

  // Inside an activation: whether more than ends of rules can follow, up to the
  // end of the activation.  If not, who depends on that: the local contexts
  // that have a caller in this one, and calls here that Closure has entered.
  bool reads_on = false;
  std::vector<std::uint32_t> called = {};
  Items entered = {};

  base::ComponentVisit tails = {};  // by tail calls: Closure::find_content()
  base::ComponentVisit loops = {};  // by contents: Closure::make_contexts()
  // The local context that has the content of this one; kLocal: not found
  // yet.
  std::uint32_t same = kLocal;
  ContextId made{kLocal};  // the interned context; kLocal: none yet

  // Another rule, with the memory of this one.
  void reuse(rules::RuleId next) {
    callers.clear();
    content.clear();
    called.clear();
    entered.clear();
    *this = {.rule = next,
             .callers = std::move(callers),
             .content = std::move(content),
             .called = std::move(called),
             .entered = std::move(entered)};
  }
};

// Owns the local contexts.  Closure fills them; Simulation compares them with
// each other and with contexts.
class LocalContexts {
 public:
  LocalContexts(const NetworkFacts& facts, const Contexts& contexts)
      : facts_(facts), contexts_(contexts) {}

  LocalContext& operator[](std::size_t i) { return all_[i]; }
  const LocalContext& operator[](std::size_t i) const { return all_[i]; }
  LocalContext& of(ContextId local) { return all_[local_index(local)]; }
  std::size_t size() const { return size_; }
  void add(rules::RuleId rule) {
    if (size_ == all_.size()) all_.emplace_back();
    all_[size_++].reuse(rule);
  }
  // Keeps the lists for the next closure, up to a limit.
  void clear() {
    constexpr std::size_t kMostKept = std::size_t{1} << 17;
    for (std::size_t i = 0; i < size_; ++i) {
      kept_ += all_[i].callers.capacity() + all_[i].content.capacity();
    }
    // Lists that were used several times count several times.
    if (kept_ > kMostKept) {
      all_.clear();
      kept_ = 0;
    }
    size_ = 0;
  }

  // What is known to be the same context: the interned one, or the local one
  // that has the content of `context`.
  ContextId settled(ContextId context) const {
    if (!is_local(context)) return context;
    const std::uint32_t same = all_[local_index(context)].same;
    if (same == kLocal) return context;
    const ContextId made = all_[same].made;
    return made == kLocal ? local_context(same) : made;
  }
  // REQUIRES: `context` is settled.  Valid until the content changes.
  std::span<const Item> content_of(ContextId context) const {
    if (is_local(context)) return all_[local_index(context)].content;
    return contexts_[context];
  }

  // Spends work; when there is none left, notes the rule that is being read,
  // and returns false.
  bool spend(std::uint64_t steps) const {
    if (base::spend_work(steps)) return true;
    base::note_place([&] {
      for (std::size_t i = size_; i-- > 0;) {
        const std::string& name = facts_.network.rules[all_[i].rule].name;
        if (!name.empty()) return "the rule \"" + name + '"';
      }
      return std::string();
    });
    return false;
  }

 private:
  const NetworkFacts& facts_;
  const Contexts& contexts_;
  std::vector<LocalContext> all_;
  std::size_t size_ = 0;
  std::size_t kept_ = 0;  // items that the lists have room for, at most
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_LOCAL_CONTEXTS_H_
