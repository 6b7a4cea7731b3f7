// Any bytes as an expression over any value: whatever compiles can be searched,
// with the same answer in what it can reach of the value, and the answer can be
// written.
//
// The input is an expression, a zero byte, and JSON.  Without JSON the value
// is a fixed one.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "parlance/jmespath.h"
#include "parlance/json.h"

namespace {

using namespace parlance;

void require(bool condition) {
  if (!condition) std::abort();
}

const json::Value& fixed_value() {
  static const json::Value value =
      *json::parse(R"({"a": [1, [2.5, {"b": "x"}], null], "b": {"a": "é"}})");
  return value;
}

// What `reach` leaves of a value.  Recursion is bounded by the reach, whose
// depth is bounded.
json::Value prune(const json::Value& value, const JmespathReach& reach) {
  if (reach.all) return value;
  if (value.is_object()) {
    json::Object out;
    for (const json::Member& member : value.members()) {
      if (reach.values) {
        out[member.key] = prune(member.value, *reach.values);
      } else if (reach.shape) {
        out[member.key];
      }
    }
    for (const JmespathReach& below : reach.fields) {
      const json::Value* found = value.find(below.name);
      if (found != nullptr) out[below.name] = prune(*found, below);
    }
    return out;
  }
  if (value.is_array()) {
    json::Array out;
    if (reach.each) {
      for (const json::Value& item : value.items()) {
        out.push_back(prune(item, *reach.each));
      }
      return out;
    }
    if (reach.shape) out.resize(value.size());
    for (const JmespathReach& below : reach.indices) {
      const std::size_t i = below.index;
      if (i >= value.size()) continue;
      if (i >= out.size()) out.resize(i + 1);
      out[i] = prune(value.items()[i], below);
    }
    return out;
  }
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = bytes.find('\0');
  const std::string_view text = bytes.substr(0, end);
  Limits limits;
  limits.source_bytes = 1 << 16;
  const Result<Jmespath> expression = Jmespath::compile(text, limits);
  if (!expression) {
    require(!expression.error().message.empty());
    if (expression.error().span) {
      const Span span = *expression.error().span;
      require(span.begin <= span.end && span.end <= text.size());
    }
    return 0;
  }
  require(expression->expression() == text);

  json::Value value = fixed_value();
  if (end != std::string_view::npos) {
    Result<json::Value> read = json::parse(bytes.substr(end + 1));
    if (read) value = *std::move(read);
  }
  const json::Value before = value;
  const Result<json::Value> found = expression->search(value);
  // Law: what is out of reach does not matter.
  const Result<json::Value> again =
      expression->search(prune(value, expression->reach()));
  require(value == before);
  require(found.has_value() == again.has_value());
  if (!found) {
    require(found.error().code == again.error().code);
    require(found.error().span && found.error().span->end <= text.size());
  } else if (found->memory_bytes() < std::size_t{1} << 20) {
    require(*found == *again);
    require(!json::dump(*found).empty());
  }
  return 0;
}
