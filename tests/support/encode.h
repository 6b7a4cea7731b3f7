#ifndef PARLANCE_TESTS_SUPPORT_ENCODE_H_
#define PARLANCE_TESTS_SUPPORT_ENCODE_H_

// Values as the recorded vectors write them: what JSON cannot hold becomes
// $float, $int and $utf16.

#include <cmath>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "parlance/json.h"

namespace parlance::testing {

// Text as a JSON string, or as its UTF-16 when a surrogate stands alone.
inline json::Value encode_text(std::string_view text) {
  json::Array units;
  bool alone = false;
  for (std::size_t i = 0; i < text.size();) {
    const char32_t c = base::next_code_point(text, i);
    alone = alone || (c >= 0xD800 && c < 0xE000);
    if (c < 0x10000) {
      units.emplace_back(static_cast<int>(c));
    } else {
      units.emplace_back(static_cast<int>(0xD800 + ((c - 0x10000) >> 10)));
      units.emplace_back(static_cast<int>(0xDC00 + ((c - 0x10000) & 0x3FF)));
    }
  }
  if (!alone) return text;
  return json::Object{{"$utf16", std::move(units)}};
}

// The opposite of testing::decode().
inline json::Value encode(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kFloat: {
      const double number = value.as_float();
      if (std::isfinite(number)) return value;
      return json::Object{{"$float", std::isnan(number) ? "nan"
                                     : number > 0       ? "inf"
                                                        : "-inf"}};
    }
    case json::Kind::kBigInt:
      return json::Object{{"$int", value.as_string()}};
    case json::Kind::kString:
      return encode_text(value.as_string());
    case json::Kind::kArray: {
      json::Array items;
      for (const json::Value& item : value.items()) {
        items.push_back(encode(item));
      }
      return items;
    }
    case json::Kind::kObject: {
      json::Object members;
      for (const auto& [key, member] : value.members()) {
        members.set(key, encode(member));
      }
      return members;
    }
    default:
      return value;
  }
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_ENCODE_H_
