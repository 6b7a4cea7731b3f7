#ifndef PARLANCE_SRC_RECOGNISER_CACHE_KEY_H_
#define PARLANCE_SRC_RECOGNISER_CACHE_KEY_H_

// Writes the keys of a PartCache.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/schema_options.h"

namespace parlance::recogniser {

// Serialises everything an entry depends on: two keys are equal only if all
// that was written is equal.
class KeyWriter {
 public:
  explicit KeyWriter(char kind) { key_.push_back(kind); }
  KeyWriter& number(std::uint64_t value);
  KeyWriter& text(std::string_view text);
  KeyWriter& value(const json::Value& value);
  KeyWriter& limits(const GrammarLimits& limits);
  KeyWriter& limits(const Limits& limits);
  KeyWriter& options(const JsonSchemaOptions& options);
  std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_CACHE_KEY_H_
