// From items to configurations, and back: see configurations.h.

#include "cfg_recogniser/configurations.h"

#include <algorithm>
#include <utility>

#include "base/work.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

Configuration Configurations::make(std::span<const Item> kernel,
                                   std::span<const ContextId> slots,
                                   Trace& trace) {
  trace.clear();
  if (sites_.is_entered_by(kernel)) return sites_.enter(kernel[0]);
  contents_.items.assign(kernel.begin(), kernel.end());
  contents_.kernel.clear();
  if (facts_.counts_tokens) contents_.kernel = contents_.items;
  closures_.close(contents_.items, trace);
  if (contents_.items.empty()) return {};
  if (sites_.is_entered_by(contents_.items)) {
    return sites_.enter(contents_.items[0]);
  }
  return states_.intern(contents_, trace.pure, slots);
}

// If the closure is not pure, the result depends on the kernel alone, and is
// stored with its read set; otherwise it depends on `slots` as well.
MadeOfKernel Configurations::find_or_make(Items kernel,
                                          std::span<const ContextId> slots) {
  if (kernel.empty() || !memory_.within_limits() || !base::spend_work()) {
    return {};
  }
  std::sort(kernel.begin(), kernel.end());
  kernel.erase(std::unique(kernel.begin(), kernel.end()), kernel.end());
  const std::uint32_t known = kernels_.find(kernel);
  if (known != kernels_.kNone) return made_of_[known];
  MadeOfKernel made;
  made.to = make(kernel, slots, trace_);
  made.read_set = read_sets_.intern(trace_.reads);
  made.pure = trace_.pure;
  if (!made.pure && !memory_.overflowed()) {
    made_of_.push_back(made);
    kernels_.intern_new(kernel);
    memory_.add(kernels_.bytes_of(kernel.size()) + sizeof(MadeOfKernel));
  }
  return made;
}

Configuration Configurations::follow(Items kernel) {
  const MadeOfKernel made = find_or_make(std::move(kernel));
  read_sets_.track(made.read_set);
  return made.to;
}

Items Configurations::items_of(Configuration config) {
  if (config.dead()) return {};
  Items items;
  if (is_inside(config)) {
    items = kernel_of(config);
    closures_.close(items, trace_);
    read_sets_.track(read_sets_.intern(trace_.reads));
    return items;
  }
  states_.put_in_frame(states_[config.lex].items, config.frame, items);
  return items;
}

Items Configurations::kernel_of(Configuration config) {
  if (config.dead()) return {};
  if (is_inside(config)) {
    const SchemaSite& site = sites_.of(config);
    return {
        {site.state, site.context, parts_.intern(sites_.unwrap(config)), 0}};
  }
  if (!facts_.counts_tokens) return items_of(config);
  Items items;
  states_.put_in_frame(states_[config.lex].kernel, config.frame, items);
  return items;
}

}  // namespace parlance::cfg_recogniser
