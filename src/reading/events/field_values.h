#ifndef PARLANCE_SRC_EVENTS_FIELD_VALUES_H_
#define PARLANCE_SRC_EVENTS_FIELD_VALUES_H_

// The values of the fields of a message, as the regions close that they come
// from: one value, a list of values, or the joined texts of regions.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"

namespace parlance::events {

class FieldValues {
 public:
  explicit FieldValues(std::size_t fields) : slots_(fields) {}

  // Whether the field has neither a default nor the value of a region.
  bool empty(std::uint32_t field) const {
    return slots_[field].kind == Slot::Kind::kEmpty;
  }
  // Whether it is the joined text of regions.
  bool joined(std::uint32_t field) const {
    return slots_[field].kind == Slot::Kind::kJoined;
  }
  // Null for an empty field.  REQUIRES: !joined(field).
  const json::Value& value(std::uint32_t field) const {
    return slots_[field].value;
  }
  // The value of the field, also if it is joined.  O(size of the value).
  json::Value current(std::uint32_t field) const;

  // The fields whose first value came from a region, in the order of these.
  const std::vector<std::uint32_t>& order() const { return order_; }

  void set_default(std::uint32_t field, const json::Value& value);
  // Replaces the value.
  void set(std::uint32_t field, const json::Value& value);
  // Appends to a list.  REQUIRES: the field is empty, or its value a list.
  void append(std::uint32_t field, const json::Value& value);
  void append_all(std::uint32_t field, const json::Value& list);
  // Appends to a text, with `separator` between two.
  // REQUIRES: the field is empty, or its value null or a string.
  void join(std::uint32_t field, std::string_view separator,
            std::string_view text);

 private:
  struct Slot {
    enum class Kind : std::uint8_t { kEmpty, kValue, kJoined };
    Kind kind = Kind::kEmpty;
    json::Value value = {};
    std::string text = {};  // kJoined
  };

  // The slot of a field that gets a value.
  Slot& filled(std::uint32_t field, Slot::Kind kind);

  std::vector<Slot> slots_;  // by field
  std::vector<std::uint32_t> order_;
};

}  // namespace parlance::events

#endif  // PARLANCE_SRC_EVENTS_FIELD_VALUES_H_
