// Collects the values of fields; see field_values.h.

#include "events/field_values.h"

#include <utility>

#include "json/flat.h"

namespace parlance::events {

json::Kind FieldValues::kind(std::uint32_t field) const {
  const Slot& slot = this->slot(field);
  switch (slot.form) {
    case Form::kEmpty:
    case Form::kValue:
      return slot.value.kind();
    case Form::kNodes:
      return slot.nodes[0].kind;
    case Form::kJoined:
    case Form::kView:
      break;
  }
  return json::Kind::kString;
}

json::Value FieldValues::value(std::uint32_t field) const {
  const View one = view(field);
  return one.value != nullptr ? *one.value
         : !one.nodes.empty() ? json::value_of(one.nodes)
                              : json::Value(one.text);
}

FieldValues::View FieldValues::view(std::uint32_t field) const {
  const Slot& slot = this->slot(field);
  switch (slot.form) {
    case Form::kEmpty:
    case Form::kValue:
      break;
    case Form::kJoined:
      return {.text = slot.joined};
    case Form::kNodes:
      return {.nodes = slot.nodes};
    case Form::kView:
      return {.text = slot.text};
  }
  return {.value = &slot.value};
}

bool FieldValues::View::empty() const {
  const auto is_empty = [](json::Kind kind, std::size_t size) {
    return kind == json::Kind::kNull ||
           ((kind == json::Kind::kString || kind == json::Kind::kArray ||
             kind == json::Kind::kObject) &&
            size == 0);
  };
  if (!nodes.empty()) return is_empty(nodes[0].kind, nodes[0].size);
  if (value == nullptr) return text.empty();
  return is_empty(value->kind(), value->is_string() ? value->as_string().size()
                                                    : value->size());
}

FieldValues::Slot& FieldValues::filled(std::uint32_t field) {
  Slot& slot = this->slot(field);
  // A field is appended to the list of visit_completed() with its first value.
  // A field with a default is not: upstream has defaults before all others.
  if (slot.form == Form::kEmpty) {
    const std::uint32_t own = slot_of(field);
    (last_ == kNone ? first_ : slots_[last_].next) = own;
    last_ = own;
  }
  return slot;
}

FieldValues::Slot& FieldValues::owned(std::uint32_t field) {
  Slot& slot = filled(field);
  if (slot.form == Form::kNodes) {
    slot.value = json::value_of(slot.nodes);
    slot.form = Form::kValue;
  } else if (slot.form == Form::kView) {
    slot.joined = slot.text;
    slot.form = Form::kJoined;
  }
  return slot;
}

void FieldValues::set_default(std::uint32_t field, const json::Value& value) {
  slot(field).form = Form::kValue;
  slot(field).value = value;
}

void FieldValues::set(std::uint32_t field, json::Value value) {
  Slot& slot = filled(field);
  slot.form = Form::kValue;
  slot.value = std::move(value);
}

void FieldValues::append(std::uint32_t field, json::Value value) {
  Slot& slot = owned(field);
  if (slot.form == Form::kEmpty) slot.value = json::Value(json::Array());
  slot.form = Form::kValue;
  slot.value.mutable_items().push_back(std::move(value));
}

void FieldValues::append_all(std::uint32_t field, const json::Value& list) {
  if (empty(field)) return set(field, list);
  json::Array& items = owned(field).value.mutable_items();
  items.insert(items.end(), list.items().begin(), list.items().end());
}

void FieldValues::join(std::uint32_t field, std::string_view separator,
                       std::string_view text) {
  Slot& slot = owned(field);
  // An empty text gets its separator like any other; only the first value has
  // none before it.
  if (slot.form == Form::kJoined) {
    slot.joined.append(separator);
  } else if (!slot.value.is_null()) {
    slot.joined.assign(slot.value.as_string()).append(separator);
  }
  slot.joined.append(text);
  slot.form = Form::kJoined;
}

void FieldValues::set_view(std::uint32_t field, std::string_view text) {
  Slot& slot = filled(field);
  slot.form = Form::kView;
  slot.text = text;
}

std::vector<json::FlatNode>& FieldValues::nodes(std::uint32_t field) {
  Slot& slot = this->slot(field);
  // Nodes of an earlier value that was replaced are still there.
  if (slot.form != Form::kNodes) slot.nodes.clear();
  return slot.nodes;
}

}  // namespace parlance::events
