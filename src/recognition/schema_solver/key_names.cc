// The table of keys: see key_names.h.

#include "schema_solver/key_names.h"

#include <algorithm>

namespace parlance::schema_solver {

KeyNames::KeyNames(const schema::Document& document) : document_(document) {
  std::vector<std::string_view> names;
  for (const schema::Node& node : document_.nodes) {
    const schema::ObjectRules& rules = node.objects();
    for (const auto& [name, child] : rules.properties) names.push_back(name);
    names.insert(names.end(), rules.required.begin(), rules.required.end());
    for (const auto& [name, others] : rules.dependent_required) {
      names.push_back(name);
      names.insert(names.end(), others.begin(), others.end());
    }
    for (const auto& [name, child] : rules.dependent_schemas) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  ids_.reserve(names.size());
  for (const std::string_view name : names) {
    texts_.emplace_back(name);
    ids_.emplace(texts_.back(), static_cast<KeyId>(texts_.size() - 1));
  }
  in_order_ = static_cast<KeyId>(texts_.size());
}

KeyId KeyNames::id(std::string_view name) {
  const auto it = ids_.find(name);
  if (it != ids_.end()) return it->second;
  const auto id = static_cast<KeyId>(texts_.size());
  texts_.emplace_back(name);
  ids_.emplace(texts_.back(), id);
  return id;
}

const KeyNames::OfNode& KeyNames::of_node(NodeId node) {
  const auto [it, is_new] = of_node_.try_emplace(node);
  OfNode& keys = it->second;
  if (is_new) {
    const auto& properties = document_.node(node).objects().properties;
    keys.declared.reserve(properties.size());
    keys.sorted.reserve(properties.size());
    for (const auto& [name, child] : properties) {
      const KeyId key = id(name);
      keys.declared.push_back(key);
      keys.sorted.emplace_back(key, child);
    }
    std::sort(keys.sorted.begin(), keys.sorted.end());
  }
  return keys;
}

NodeId KeyNames::declared(NodeId node, KeyId key) {
  const auto& names = of_node(node).sorted;
  const auto it =
      std::lower_bound(names.begin(), names.end(), std::pair(key, NodeId()));
  return it != names.end() && it->first == key ? it->second : schema::kNoNode;
}

}  // namespace parlance::schema_solver
