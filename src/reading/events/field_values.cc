// Collects the values of fields; see field_values.h.

#include "events/field_values.h"

namespace parlance::events {

json::Value FieldValues::current(std::uint32_t field) const {
  const Slot& slot = slots_[field];
  return slot.kind == Slot::Kind::kJoined ? json::Value(slot.text) : slot.value;
}

FieldValues::Slot& FieldValues::filled(std::uint32_t field, Slot::Kind kind) {
  Slot& slot = slots_[field];
  if (slot.kind == Slot::Kind::kEmpty) order_.push_back(field);
  slot.kind = kind;
  return slot;
}

void FieldValues::set_default(std::uint32_t field, const json::Value& value) {
  slots_[field].kind = Slot::Kind::kValue;
  slots_[field].value = value;
}

void FieldValues::set(std::uint32_t field, const json::Value& value) {
  filled(field, Slot::Kind::kValue).value = value;
}

void FieldValues::append(std::uint32_t field, const json::Value& value) {
  const bool first = empty(field);
  json::Value& list = filled(field, Slot::Kind::kValue).value;
  if (first) list = json::Array();
  list.mutable_items().push_back(value);
}

void FieldValues::append_all(std::uint32_t field, const json::Value& list) {
  if (empty(field)) return set(field, list);
  json::Array& items = slots_[field].value.mutable_items();
  items.insert(items.end(), list.items().begin(), list.items().end());
}

void FieldValues::join(std::uint32_t field, std::string_view separator,
                       std::string_view text) {
  const bool first = !joined(field) && value(field).is_null();
  const bool was_value = !joined(field);
  Slot& slot = filled(field, Slot::Kind::kJoined);
  if (was_value && !first) slot.text.assign(slot.value.as_string());
  if (!first) slot.text.append(separator);
  slot.text.append(text);
}

}  // namespace parlance::events
