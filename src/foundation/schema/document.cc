// Finding the pointer of a node: nodes do not store it, because loading makes
// many nodes and reports name few of them.

#include "schema/document.h"

#include <algorithm>
#include <utility>

#include "json/located.h"
#include "json/writer.h"

namespace parlance::schema {
namespace {

using json::Value;

// A walk over a value and everything inside it.
class Walk {
 public:
  explicit Walk(const Value& root) : at_(&root) {}

  // The present value; null at the end.
  const Value* at() const { return at_; }
  void next();
  // The pointer of the present value.
  std::string pointer() const;

 private:
  // A value on the path to the present one, and its next child to visit.
  struct Step {
    const Value* value;
    std::size_t next;
    std::size_t size;

    const json::Member& member(std::size_t i) const {
      return *(value->members().begin() + static_cast<std::ptrdiff_t>(i));
    }
  };
  const Value* at_;
  std::vector<Step> path_;
};

void Walk::next() {
  if (const std::size_t size = at_->size(); size != 0) {
    path_.push_back({at_, 0, size});
  }
  while (!path_.empty() && path_.back().next == path_.back().size) {
    path_.pop_back();
  }
  if (path_.empty()) {
    at_ = nullptr;
    return;
  }
  Step& top = path_.back();
  const std::size_t i = top.next++;
  at_ = top.value->is_array() ? &top.value->items()[i] : &top.member(i).value;
}

std::string Walk::pointer() const {
  std::string out;
  for (const Step& step : path_) {
    const std::size_t taken = step.next - 1;
    out = step.value->is_array()
              ? json::append_pointer(std::move(out), taken)
              : json::append_pointer(std::move(out), step.member(taken).key);
  }
  return out;
}

}  // namespace

std::optional<base::Decimal> to_decimal(const Value& value) {
  switch (value.kind()) {
    case json::Kind::kInt:
      return base::Decimal::from_int(value.as_int());
    case json::Kind::kBigInt:
      return base::Decimal::from_json(value.as_string());
    case json::Kind::kFloat: {
      if (!value.as_string().empty()) {
        return base::Decimal::from_json(value.as_string());
      }
      // The shortest spelling that reads back to the double: what was written,
      // or what a program prints.
      std::string text;
      json::append_float(text, value.as_float());
      return base::Decimal::from_json(text);
    }
    default:
      return std::nullopt;
  }
}

std::string Document::pointer(NodeId id) const {
  return id < nodes.size() ? pointer(nodes[id].source) : std::string();
}

std::string Document::pointer(const Value* value) const {
  return std::move(pointers({value}).front());
}

// `wanted` has the values that are not found yet, in order of their addresses;
// equal ones stand together.
std::vector<std::string> Document::pointers(
    const std::vector<const Value*>& values) const {
  std::vector<std::string> out(values.size());
  std::vector<std::pair<const Value*, std::size_t>> wanted;
  wanted.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    wanted.emplace_back(values[i], i);
  }
  std::sort(wanted.begin(), wanted.end());
  std::size_t missing = wanted.size();
  for (const auto& source : sources) {
    for (Walk walk(source->value); walk.at() != nullptr && missing > 0;
         walk.next()) {
      auto it = std::lower_bound(wanted.begin(), wanted.end(),
                                 std::pair(walk.at(), std::size_t{0}));
      if (it == wanted.end() || it->first != walk.at()) continue;
      const std::string pointer = source == sources.front()
                                      ? walk.pointer()
                                      : source->url + "#" + walk.pointer();
      for (; it != wanted.end() && it->first == walk.at(); ++it, --missing) {
        out[it->second] = pointer;
      }
    }
  }
  return out;
}

}  // namespace parlance::schema
