// What may come next, in words for messages.

#include <algorithm>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "cfg_recogniser/tables.h"
#include "json/writer.h"

namespace parlance::cfg_recogniser {
namespace {

// The most alternatives listed.
constexpr std::size_t kMostListed = 8;

std::string described(const regex::CharClass& set) {
  const auto ranges = set.ranges();
  if (ranges.empty() || ranges.size() > 4) return "a character";
  std::string out = "[";
  for (const regex::CharRange& range : ranges) {
    for (const char32_t c : {range.first, range.last}) {
      if (c <= ' ' || c > '~') return "a character";
    }
    out += static_cast<char>(range.first);
    if (range.last == range.first) continue;
    out += '-';
    out += static_cast<char>(range.last);
  }
  return out + "]";
}

// The rest of `text` from the character that contains byte `from`.
std::string quoted_rest(const std::string& text, std::size_t from) {
  while (from > 0 && (static_cast<std::uint8_t>(text[from]) & 0xC0) == 0x80) {
    --from;
  }
  const std::string_view rest = std::string_view(text).substr(from);
  return base::is_utf8(rest) ? json::quoted(rest) : "a character";
}

}  // namespace

// What the items of the configuration read, and those of the activations that
// are open in it: each once, in the order of the items.
std::string CfgRecogniser::expected(recogniser::Configuration config) {
  if (config.dead()) return "nothing";
  std::vector<std::string> all;
  const auto list = [&](std::string what) {
    if (std::find(all.begin(), all.end(), what) == all.end()) {
      all.push_back(std::move(what));
    }
  };
  const TransitionNetwork& network = tables_->facts->network;
  std::vector<Items> parts = {tables_->configurations.items_of(config)};
  for (const ActivationId id : tables_->activations.nested_in(parts[0])) {
    parts.push_back(tables_->activations[id].items);
  }
  for (const Items& items : parts) {
    for (const Item& item : items) {
      if (all.size() > kMostListed) break;
      const NetworkState& state = network.states[item.state];
      switch (state.action) {
        case Action::kBytes:
          list(quoted_rest(network.texts[state.index], item.inner));
          break;
        case Action::kClass:
        case Action::kCountClass:
          list(described(network.classes[state.index]));
          break;
        case Action::kSubstring:
        case Action::kFreeText:
          list("text");
          break;
        case Action::kTokens:
        case Action::kTokenText:
          list("a token");
          break;
        case Action::kSchema: {
          recogniser::Recogniser& part = tables_->parts.at(state);
          list(part.expected(tables_->parts.config_of(item, part)));
          break;
        }
        case Action::kPass:
          list("the end");
          break;
        default:
          break;
      }
    }
  }
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != 0) out += ", ";
    if (i == kMostListed) return out + "...";
    out += all[i];
  }
  return out;
}

}  // namespace parlance::cfg_recogniser
