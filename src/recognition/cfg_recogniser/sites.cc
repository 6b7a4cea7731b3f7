// Configurations inside the texts of schemas: see sites.h.

#include "cfg_recogniser/sites.h"

#include <utility>

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

SiteId Sites::intern(StateId state, ContextId context) {
  const auto [known, added] =
      id_of_item_.try_emplace(pair_key(state, context), sites_.size());
  if (added) {
    std::string forced = facts_.forced_from(facts_.network.states[state].next);
    memory_.add(64 + sizeof(SchemaSite) + forced.capacity());
    sites_.push_back(
        {.state = state, .context = context, .forced_text = std::move(forced)});
  }
  return known->second;
}

Configuration Sites::enter(const Item& item) {
  return wrap(intern(item.state, item.context), parts_.config_of(item));
}

Configuration Sites::wrap(SiteId site, Configuration inner) {
  if (inner.dead()) return {};
  const auto [known, added] = id_of_frame_.try_emplace(
      pair_key(site, inner.frame), static_cast<std::uint32_t>(frames_.size()));
  if (added) {
    frames_.push_back({site, inner.frame});
    memory_.add(64);
  }
  return {inner.lex | kInside, known->second, inner.count, inner.extra};
}

Configuration Sites::with_inner(Configuration like, Configuration inner) {
  const SiteFrame in = frames_[like.frame];
  if (inner.frame != in.frame || inner.dead()) return wrap(in.site, inner);
  return {inner.lex | kInside, like.frame, inner.count, inner.extra};
}

const Sites::ByteClassTable* Sites::find_classes(Configuration config) const {
  const auto known = classes_.find(classes_key(config));
  return known == classes_.end() ? nullptr : known->second.get();
}

const Sites::ByteClassTable* Sites::set_classes(Configuration config,
                                                const ByteClassTable& classes) {
  memory_.add(sizeof(ByteClassTable) + 64);
  return classes_
      .emplace(classes_key(config), std::make_unique<ByteClassTable>(classes))
      .first->second.get();
}

}  // namespace parlance::cfg_recogniser
