// The evaluator over JSON values, which are their own parts.

#include "jmespath/evaluate.h"

#include <string>
#include <utility>

#include "jmespath/evaluator.h"

namespace parlance::jmespath {
namespace {

using json::Member;
using json::Object;

struct JsonModel {
  using V = Value;

  static bool is_untouched(const V& v) { return v.is_null(); }
  static Kind kind(const V& v) { return v.kind(); }
  static bool is_null(const V& v) { return v.is_null(); }
  // Everything but "", [], {}, null and false; 0 is true.
  static bool is_true(const V& v) { return is_number(v) || v.truthy(); }
  static std::size_t size(const V& v) { return v.size(); }
  static std::size_t length(const V& v) {
    return v.is_string() ? base::count_code_points(v.as_string()) : v.size();
  }
  static const Value& json(const V& v) { return v; }
  static const Array& scalars(const V& v) { return v.items(); }

  static const V* find(const V& v, const Node& field, V&) {
    return v.find(field.name);
  }
  static const V* element(const V& v, std::size_t i, V&) {
    return i < v.items().size() ? &v.items()[i] : nullptr;
  }
  static const V* literal(const Node& node, V&) { return &node.literal; }

  template <class F>
  static bool each(const V& v, F f) {
    for (const Value& item : v.items()) {
      if (!f(item)) return false;
    }
    return true;
  }
  template <class F>
  static bool each_member(const V& v, F f) {
    for (const Member& member : v.members()) {
      if (!f(member.value)) return false;
    }
    return true;
  }

  static V keys(const V& v) {
    Array out;
    out.reserve(v.size());
    for (const Member& member : v.members()) out.push_back(Value(member.key));
    return out;
  }
  static V values(const V& v) {
    Array out;
    out.reserve(v.size());
    for (const Member& member : v.members()) out.push_back(member.value);
    return out;
  }

  class List {
   public:
    List(const JsonModel&, std::size_t size) { items_.reserve(size); }
    void push(V v) { items_.push_back(std::move(v)); }
    V take() { return std::move(items_); }

   private:
    Array items_;
  };

  class Members {
   public:
    Members(const JsonModel&, std::size_t size) { members_.reserve(size); }
    void set(const Node& node, std::size_t i, V v) {
      members_[node.keys[i]] = std::move(v);
    }
    void merge(const V& v) {
      for (const Member& member : v.members()) {
        members_.set(member.key, member.value);
      }
    }
    V take() { return std::move(members_); }

   private:
    Object members_;
  };
};

}  // namespace

std::string describe(Types types) {
  constexpr std::pair<Types, std::string_view> kNames[] = {
      {kTypeNull, "null"},
      {kTypeBoolean, "boolean"},
      {kTypeNumber, "number"},
      {kTypeString, "string"},
      {kTypeArray, "array"},
      {kTypeObject, "object"},
      {kTypeReference, "&expression"},
      {kArrayOfNumber, "array of numbers"},
      {kArrayOfString, "array of strings"},
  };
  if (types == kTypeAny) return "any value";
  std::string out;
  for (const auto& [bit, name] : kNames) {
    if ((types & bit) == 0) continue;
    if (!out.empty()) out += " or ";
    out += name;
  }
  return out;
}

Result<Value> evaluate(const Expression& expression, const Value& value) {
  return Evaluator<JsonModel>(expression, {}).run(value);
}

}  // namespace parlance::jmespath
