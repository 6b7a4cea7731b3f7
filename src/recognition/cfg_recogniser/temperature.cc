// The temperature of the next symbol: see Recogniser::temperature().
//
// The rules of the network are copied by the temperature that they inherit
// (rules/temperatures.h), so a state determines the temperature, whatever its
// context.  The items that subsumption and the end of a tail call drop have
// their temperature in an item that stays: an item is dropped for one of the
// same state.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cfg_recogniser/tables.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;
using recogniser::Recogniser;

std::optional<double> CfgRecogniser::temperature(Configuration config) {
  if (!traits_.has_temperatures) return std::nullopt;
  const std::uint32_t number = hottest(config);
  if (number == 0) return std::nullopt;
  return tables_->facts->network.temperatures[number - 1];
}

std::uint32_t CfgRecogniser::hottest(Configuration config) {
  if (config.dead()) return 0;
  const TransitionNetwork& network = tables_->facts->network;
  if (is_inside(config)) {
    Sites& sites = tables_->sites;
    const std::uint32_t own =
        network.temperature_of(network.states[sites.of(config).state]);
    Recogniser& part = sites.part_of(config);
    const Configuration inner = sites.unwrap(config);
    if (!part.can_end(inner)) return own;
    const bool continues = own != 0 && can_continue(part, inner);
    return std::max(continues ? own : 0, hottest(exit_of(config).config));
  }
  State& state = tables_->states[config.lex];
  if (state.temperature) return *state.temperature;
  std::uint32_t most = 0;
  const auto add = [&](const Items& items) {
    for (const Item& item : items) {
      const std::uint32_t own =
          network.temperature_of(network.states[item.state]);
      if (own > most && tables_->scanner.can_read(item)) most = own;
    }
  };
  add(state.items);
  for (const ActivationId id : tables_->activations.nested_in(state.items)) {
    add(tables_->activations[id].items);
  }
  state.temperature = most;
  return most;
}

}  // namespace parlance::cfg_recogniser
