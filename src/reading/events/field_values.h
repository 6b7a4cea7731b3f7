#ifndef PARLANCE_SRC_EVENTS_FIELD_VALUES_H_
#define PARLANCE_SRC_EVENTS_FIELD_VALUES_H_

// The values of the fields of a message, as the regions close that they come
// from: one value, a list of values, or the joined texts of regions.
//
// For a reader of a whole response that makes no message, a value may also be a
// sequence of nodes, or a text of its response.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"

namespace parlance::events {

class FieldValues {
 public:
  explicit FieldValues(std::size_t fields) : slots_(fields) {}

  // The values of `field` are from now on those of `other`.
  // REQUIRES: neither has one, and `other` shares none.
  void share(std::uint32_t field, std::uint32_t other) {
    slots_[field].shared = other;
  }

  std::size_t size() const { return slots_.size(); }
  // Whether the field has neither a default nor the value of a region.
  bool empty(std::uint32_t field) const {
    return slot(field).form == Form::kEmpty;
  }
  // The kind of its value; kNull for an empty field.
  json::Kind kind(std::uint32_t field) const;
  // Its value.  O(size of the value).
  json::Value value(std::uint32_t field) const;

  // The value as it is held.
  struct View {
    const json::Value* value = nullptr;  // null: it is `nodes` or `text`
    std::span<const json::FlatNode> nodes = {};  // empty: it is `text`
    std::string_view text = {};

    // Whether it is null, or has no characters, items or members.
    bool empty() const;
  };
  View view(std::uint32_t field) const;

  // Calls visit(field) for the fields whose first value came from a region, in
  // the order of these.
  template <class Visit>
  void visit_completed(const Visit& visit) const {
    for (std::uint32_t i = first_; i != kNone; i = slots_[i].next) visit(i);
  }

  // A region of the field has been read, and gives it no value here.
  void attempt(std::uint32_t field) { slot(field).attempted = true; }
  bool attempted(std::uint32_t field) const { return slot(field).attempted; }

  void set_default(std::uint32_t field, const json::Value& value);
  // Replaces the value.
  void set(std::uint32_t field, json::Value value);
  // Appends to a list.
  // REQUIRES: the field is empty, or its value a list.
  void append(std::uint32_t field, json::Value value);
  void append_all(std::uint32_t field, const json::Value& list);
  // Appends to a text, with `separator` between two.
  // REQUIRES: kind() is kNull or kString.
  void join(std::uint32_t field, std::string_view separator,
            std::string_view text);

  // Replaces the value by a text that outlives this object.
  void set_view(std::uint32_t field, std::string_view text);
  // The value as nodes, for the caller to write: those that it has, or none.
  // It is the value from set_nodes() on.
  bool has_nodes(std::uint32_t field) const {
    return slot(field).form == Form::kNodes;
  }
  std::vector<json::FlatNode>& nodes(std::uint32_t field);
  void set_nodes(std::uint32_t field) { filled(field).form = Form::kNodes; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  enum class Form : std::uint8_t { kEmpty, kValue, kJoined, kNodes, kView };
  struct Slot {
    Form form = Form::kEmpty;
    bool attempted = false;
    std::uint32_t shared = kNone;  // the field that has the values of this one
    // The field that was completed for the first time after this one.
    std::uint32_t next = kNone;
    json::Value value = {};
    std::string joined = {};
    std::vector<json::FlatNode> nodes = {};
    std::string_view text = {};  // kView
  };

  std::uint32_t slot_of(std::uint32_t field) const {
    const std::uint32_t shared = slots_[field].shared;
    return shared == kNone ? field : shared;
  }
  Slot& slot(std::uint32_t field) { return slots_[slot_of(field)]; }
  const Slot& slot(std::uint32_t field) const { return slots_[slot_of(field)]; }
  // The slot of a field that gets a value.
  Slot& filled(std::uint32_t field);
  // The same; kNodes and kView become kValue and kJoined.
  Slot& owned(std::uint32_t field);

  std::vector<Slot> slots_;  // by field
  std::uint32_t first_ = kNone;
  std::uint32_t last_ = kNone;
};

}  // namespace parlance::events

#endif  // PARLANCE_SRC_EVENTS_FIELD_VALUES_H_
