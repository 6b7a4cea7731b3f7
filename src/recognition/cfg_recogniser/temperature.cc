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

#include "base/byte_set.h"
#include "cfg_recogniser/cfg_recogniser.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;
using recogniser::Recogniser;

namespace {

// Whether some byte continues the text of a schema.
bool can_continue(Recogniser& schema, Configuration config) {
  if (!schema.can_end(config)) return !config.dead();
  const base::ByteSet first = schema.first_bytes(config);
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    if (base::has_byte(first, static_cast<std::uint8_t>(byte)) &&
        !schema.step(config, static_cast<std::uint8_t>(byte)).dead()) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<double> CfgRecogniser::temperature(Configuration config) {
  if (!traits_.has_temperatures) return std::nullopt;
  const std::uint32_t number = hottest(config);
  if (number == 0) return std::nullopt;
  return network_.temperatures[number - 1];
}

std::uint32_t CfgRecogniser::hottest(Configuration config) {
  if (config.dead()) return 0;
  if (inside(config)) {
    const std::uint32_t id = site_frames_[config.frame].site;
    const std::uint32_t own =
        network_.temperature_of(network_.states[sites_[id].state]);
    Recogniser& part = schema_of(sites_[id]);
    const Configuration inner = unwrap(config);
    if (!part.can_end(inner)) return own;
    const bool continues = own != 0 && can_continue(part, inner);
    return std::max(continues ? own : 0, hottest(exit_of(id)));
  }
  State& state = states_[config.lex];
  if (state.temperature) return *state.temperature;
  std::uint32_t most = 0;
  const auto add = [&](const Items& items) {
    for (const Item& item : items) {
      const std::uint32_t own =
          network_.temperature_of(network_.states[item.state]);
      if (own > most && can_read(item)) most = own;
    }
  };
  add(state.items);
  for (const std::uint32_t id : activations_in(state.items)) {
    add(activations_[id].items);
  }
  state.temperature = most;
  return most;
}

// Whether the state of `item` itself can read a byte or a token: the items of
// an activation are asked for themselves.
bool CfgRecogniser::can_read(const Item& item) {
  const NetworkState& state = network_.states[item.state];
  switch (state.action) {
    case Action::kBytes:
    case Action::kClass:
    case Action::kTokens:
    case Action::kTokenText:
      return true;
    case Action::kCountClass:
      return item.inner != 0 || item.count < state.max;
    case Action::kSchema: {
      Recogniser& part = schema(state.index);
      return can_continue(
          part, item.inner == 0 ? part.start() : configs_[item.inner]);
    }
    case Action::kSubstring:
    case Action::kFreeText: {
      Items out;
      for (std::uint32_t byte = 0; byte < 256 && out.empty(); ++byte) {
        scan_item(item, static_cast<std::uint8_t>(byte), out);
      }
      if (!out.empty() || marks_ == nullptr) return !out.empty();
      return std::ranges::any_of(marks_->marks(), [&](const rules::Mark& mark) {
        return !scan_token_inside({item}, mark.ids.front()).empty();
      });
    }
    default:
      return false;
  }
}

}  // namespace parlance::cfg_recogniser
