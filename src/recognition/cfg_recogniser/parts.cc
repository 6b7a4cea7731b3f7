// The recognisers of the schemas inside a grammar: see parts.h.

#include "cfg_recogniser/parts.h"

#include <map>
#include <utility>

#include "base/append_bytes.h"
#include "base/byte_set.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;
using recogniser::Language;

PartTables tables_of(const Languages& languages) {
  std::map<Language*, std::shared_ptr<recogniser::Recogniser>> known = {
      {nullptr, nullptr}};
  PartTables out;
  out.reserve(languages.size());
  for (const std::shared_ptr<Language>& one : languages) {
    const auto [at, added] = known.try_emplace(one.get());
    if (added) at->second = one->with_room();
    out.push_back(at->second);
  }
  return out;
}

Parts::Parts(PartOwner& owner, const NetworkFacts& facts,
             const Languages& languages, PartTables tables, TableMemory& memory)
    : owner_(owner),
      facts_(facts),
      memory_(memory),
      languages_(languages),
      tables_(std::move(tables)) {
  configs_.emplace_back();  // id 0
}

PartConfigId Parts::intern(Configuration config) {
  std::string key;
  base::append_bytes(key, config);
  const auto [known, added] =
      config_of_.try_emplace(std::move(key), configs_.size());
  if (added) {
    configs_.push_back(config);
    memory_.add(96);
  }
  return known->second;
}

bool can_continue(recogniser::Recogniser& part, Configuration config) {
  if (!part.can_end(config)) return !config.dead();
  const base::ByteSet first = part.first_bytes(config);
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    if (base::has_byte(first, static_cast<std::uint8_t>(byte)) &&
        !part.step(config, static_cast<std::uint8_t>(byte)).dead()) {
      return true;
    }
  }
  return false;
}

}  // namespace parlance::cfg_recogniser
