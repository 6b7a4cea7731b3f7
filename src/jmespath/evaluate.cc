// Walks the tree of an expression over a value.
//
// Most steps only point at a part of what they are given, and a pointer costs
// nothing; only what is new (a list, a number) needs a place.  So every visit
// gets a slot for a new value and answers with a pointer: into the slot, or
// into what it was given.
//
// A chain hands one slot from step to step.  That is sound because of one rule:
// a visit writes its slot last, when it no longer needs its input, which may
// lie in the slot's old content.  Whoever needs its input twice (a || b) gives
// the first visit a slot of its own and keep()s the answer.

#include "jmespath/evaluate.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/python_number.h"
#include "base/utf8.h"
#include "jmespath/functions.h"
#include "jmespath/number.h"

namespace parlance::jmespath {
namespace {

using json::Array;
using json::Kind;
using json::Member;
using json::Object;
using json::Value;

const Value kNullValue;

// Everything but "", [], {}, null and false; 0 is true.
bool is_true(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kString:
    case Kind::kArray:
    case Kind::kObject:
      return value.truthy();
    default:
      return true;
  }
}

std::string_view type_name(const Value& value) {
  return is_number(value) ? "number" : json::to_string(value.kind());
}

Types type_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return kTypeNull;
    case Kind::kBool:
      return kTypeBoolean;
    case Kind::kInt:
    case Kind::kBigInt:
    case Kind::kFloat:
      return kTypeNumber;
    case Kind::kString:
      return kTypeString;
    case Kind::kArray:
      return kTypeArray;
    case Kind::kObject:
      return kTypeObject;
  }
  return kTypeNull;
}

// "string or array of numbers"
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

struct Argument {
  const Value* value = &kNullValue;
  const Node* reference = nullptr;  // of &expression; then there is no value
  Value slot = {};
};

class Evaluator {
 public:
  explicit Evaluator(const Expression& expression) : expression_(expression) {}

  Result<Value> run(const Value& input) {
    Value slot;
    const Value* found = visit(expression_[expression_.root], input, slot);
    if (found == nullptr) return *std::move(error_);
    if (found == &slot) return slot;
    return Value(*found);
  }

 private:
  // ---- Errors.  A null pointer says that error_ is set.

  const Value* fail(ErrorCode code, std::string message, const Node& node) {
    if (!error_) error_ = Error{code, std::move(message), "", node.span};
    return nullptr;
  }

  const Value* wrong_type(const Node& call, std::string_view what,
                          std::string_view found, Types wanted) {
    std::string message = call.name + "(): ";
    message += what;
    message += " must be ";
    message += describe(wanted);
    message += ", got ";
    message += found;
    message += '.';
    return fail(ErrorCode::kInvalidType, std::move(message), call);
  }

  // ---- Answers

  static const Value* put(Value& slot, Value made) {
    slot = std::move(made);
    return &slot;
  }

  // Makes an answer that may lie in `local` one that may lie in `slot`.
  static const Value* keep(const Value* answer, Value& local, Value& slot) {
    if (answer == nullptr) return nullptr;
    if (answer == &local) return put(slot, std::move(local));
    // Never written: the answer lies in the input.
    if (local.is_null()) return answer;
    return put(slot, Value(*answer));
  }

  // ---- Visits

  const Value* visit(const Node& node, const Value& input, Value& slot) {
    switch (node.kind) {
      case NodeKind::kCurrent:
        return &input;
      case NodeKind::kLiteral:
        return &node.literal;
      case NodeKind::kField: {
        const Value* found = input.find(node.name);
        return found != nullptr ? found : &kNullValue;
      }
      case NodeKind::kIndex:
        return element(node.slice.start, input);
      case NodeKind::kSlice:
        return slice(node, input, slot);
      case NodeKind::kChain: {
        const Value* at = &input;
        for (const NodeId child : node.children) {
          at = visit(expression_[child], *at, slot);
          if (at == nullptr) return nullptr;
        }
        return at;
      }
      case NodeKind::kOr:
      case NodeKind::kAnd:
        return either(node, input, slot);
      case NodeKind::kNot: {
        Value local;
        const Value* inner = visit(child(node, 0), input, local);
        if (inner == nullptr) return nullptr;
        return put(slot, Value(!is_true(*inner)));
      }
      case NodeKind::kCompare:
        return compare(node, input, slot);
      case NodeKind::kFlatten:
        return flatten(node, input, slot);
      case NodeKind::kProjection:
      case NodeKind::kFilter:
        return project(node, input, slot);
      case NodeKind::kValueProjection:
        return project_values(node, input, slot);
      case NodeKind::kMultiList:
        return multi_list(node, input, slot);
      case NodeKind::kMultiObject:
        return multi_object(node, input, slot);
      case NodeKind::kCall:
        return call(node, input, slot);
      case NodeKind::kReference:
        // parse() lets references stand only where call() looks for them.
        break;
    }
    return &kNullValue;
  }

  const Node& child(const Node& node, std::size_t i) const {
    return expression_[node.children[i]];
  }

  static const Value* element(std::int64_t index, const Value& input) {
    const Array& items = input.items();
    const auto size = static_cast<std::int64_t>(items.size());
    if (index < 0) index += size;
    if (index < 0 || index >= size) return &kNullValue;
    return &items[static_cast<std::size_t>(index)];
  }

  // Python's slice.indices().
  const Value* slice(const Node& node, const Value& input, Value& slot) {
    if (!input.is_array()) return &kNullValue;
    const Slice& s = node.slice;
    if (s.step == 0) {
      return fail(ErrorCode::kInvalidValue,
                  "the step of a slice must not be 0.", node);
    }
    const Array& items = input.items();
    const auto size = static_cast<std::int64_t>(items.size());
    const std::int64_t lowest = s.step > 0 ? 0 : -1;
    const std::int64_t highest = s.step > 0 ? size : size - 1;
    const auto place = [&](std::int64_t i) {
      return std::clamp(i < 0 ? i + size : i, lowest, highest);
    };
    const std::int64_t start =
        s.has_start ? place(s.start) : (s.step > 0 ? lowest : highest);
    const std::int64_t stop =
        s.has_stop ? place(s.stop) : (s.step > 0 ? highest : lowest);
    // A longer step than the list is as good as one of its length.
    const std::int64_t step = std::clamp(s.step, -size - 1, size + 1);
    Array out;
    for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
      out.push_back(items[static_cast<std::size_t>(i)]);
    }
    return put(slot, std::move(out));
  }

  // The first child that is true (Or) or false (And), else the last.
  const Value* either(const Node& node, const Value& input, Value& slot) {
    const bool wanted = node.kind == NodeKind::kOr;
    for (std::size_t i = 0;; ++i) {
      if (i + 1 == node.children.size()) {
        return visit(child(node, i), input, slot);
      }
      Value local;
      const Value* found = visit(child(node, i), input, local);
      if (found == nullptr || is_true(*found) == wanted) {
        return keep(found, local, slot);
      }
    }
  }

  const Value* compare(const Node& node, const Value& input, Value& slot) {
    Value left_slot;
    Value right_slot;
    const Value* left = visit(child(node, 0), input, left_slot);
    if (left == nullptr) return nullptr;
    const Value* right = visit(child(node, 1), input, right_slot);
    if (right == nullptr) return nullptr;
    if (node.comparison == Comparison::kEqual) {
      return put(slot, Value(equal(*left, *right)));
    }
    if (node.comparison == Comparison::kNotEqual) {
      return put(slot, Value(!equal(*left, *right)));
    }
    std::partial_ordering order = std::partial_ordering::unordered;
    if (is_number(*left) && is_number(*right)) {
      order = compare_numbers(*left, *right);
    } else if (left->is_string() && right->is_string()) {
      // The order of UTF-8 is that of code points.
      order = left->as_string().compare(right->as_string()) <=> 0;
    } else {
      return &kNullValue;
    }
    switch (node.comparison) {
      case Comparison::kLess:
        return put(slot, Value(order < 0));
      case Comparison::kLessOrEqual:
        return put(slot, Value(order <= 0));
      case Comparison::kGreater:
        return put(slot, Value(order > 0));
      default:
        return put(slot, Value(order >= 0));
    }
  }

  const Value* flatten(const Node& node, const Value& input, Value& slot) {
    const Value* base = visit(child(node, 0), input, slot);
    if (base == nullptr) return nullptr;
    if (!base->is_array()) return &kNullValue;
    Array out;
    out.reserve(base->size());
    for (const Value& item : base->items()) {
      if (item.is_array()) {
        out.insert(out.end(), item.items().begin(), item.items().end());
      } else {
        out.push_back(item);
      }
    }
    return put(slot, std::move(out));
  }

  // ---- Projections: what each element gives, without nulls

  // False: error_ is set.
  bool append(const Node& side, const Value& item, Array& out) {
    Value local;
    const Value* found = visit(side, item, local);
    if (found == nullptr) return false;
    if (found->is_null()) return true;
    if (found == &local) {
      out.push_back(std::move(local));
    } else {
      out.push_back(*found);
    }
    return true;
  }

  const Value* project(const Node& node, const Value& input, Value& slot) {
    const Value* base = visit(child(node, 0), input, slot);
    if (base == nullptr) return nullptr;
    if (!base->is_array()) return &kNullValue;
    const Node& side = child(node, 1);
    const bool filters = node.kind == NodeKind::kFilter;
    Array out;
    if (!filters) out.reserve(base->size());
    for (const Value& item : base->items()) {
      if (filters) {
        Value local;
        const Value* verdict = visit(child(node, 2), item, local);
        if (verdict == nullptr) return nullptr;
        if (!is_true(*verdict)) continue;
      }
      if (!append(side, item, out)) return nullptr;
    }
    return put(slot, std::move(out));
  }

  const Value* project_values(const Node& node, const Value& input,
                              Value& slot) {
    const Value* base = visit(child(node, 0), input, slot);
    if (base == nullptr) return nullptr;
    if (!base->is_object()) return &kNullValue;
    Array out;
    out.reserve(base->size());
    for (const Member& member : base->members()) {
      if (!append(child(node, 1), member.value, out)) return nullptr;
    }
    return put(slot, std::move(out));
  }

  const Value* multi_list(const Node& node, const Value& input, Value& slot) {
    if (input.is_null()) return &kNullValue;
    Array out;
    out.reserve(node.children.size());
    for (const NodeId id : node.children) {
      Value local;
      const Value* found = visit(expression_[id], input, local);
      if (found == nullptr) return nullptr;
      if (found != &local) local = *found;
      out.push_back(std::move(local));
    }
    return put(slot, std::move(out));
  }

  const Value* multi_object(const Node& node, const Value& input, Value& slot) {
    if (input.is_null()) return &kNullValue;
    Object out;
    out.reserve(node.children.size());
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      Value local;
      const Value* found = visit(child(node, i), input, local);
      if (found == nullptr) return nullptr;
      if (found != &local) local = *found;
      out[node.keys[i]] = std::move(local);
    }
    return put(slot, std::move(out));
  }

  // ---- Functions

  // Arguments come first: an error in one of them hides an unknown function.
  const Value* call(const Node& node, const Value& input, Value& slot) {
    std::array<Argument, 2> few;
    std::vector<Argument> many;
    const std::size_t count = node.children.size();
    if (count > few.size()) many.resize(count);
    const std::span<Argument> arguments =
        count > few.size() ? std::span(many) : std::span(few).first(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Node& argument = child(node, i);
      if (argument.kind == NodeKind::kReference) {
        arguments[i].reference = &child(argument, 0);
      } else {
        arguments[i].value = visit(argument, input, arguments[i].slot);
        if (arguments[i].value == nullptr) return nullptr;
      }
    }
    if (node.function == Function::kUnknown) {
      return fail(ErrorCode::kUnknownFunction,
                  "there is no function " + node.name + "().", node);
    }
    const Signature& wanted = signature(node.function);
    if (wanted.variadic ? count < wanted.count : count != wanted.count) {
      return fail(ErrorCode::kInvalidArity,
                  node.name + "() takes " +
                      (wanted.variadic ? "at least " : "") +
                      std::to_string(wanted.count) +
                      (wanted.count == 1 ? " argument" : " arguments") +
                      ", got " + std::to_string(count) + ".",
                  node);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Types types =
          wanted.types[std::min<std::size_t>(i, wanted.count - 1u)];
      if (!check(node, arguments[i], i, types)) return nullptr;
    }
    return apply(node, arguments, slot);
  }

  bool check(const Node& call, const Argument& argument, std::size_t position,
             Types wanted) {
    const auto what = [&] {
      return "argument " + std::to_string(position + 1);
    };
    if (argument.reference != nullptr) {
      if ((wanted & kTypeReference) != 0) return true;
      wrong_type(call, what(), "&expression", wanted);
      return false;
    }
    const Value& value = *argument.value;
    if ((type_of(value) & wanted) != 0) return true;
    if (!value.is_array() ||
        (wanted & (kArrayOfNumber | kArrayOfString)) == 0) {
      wrong_type(call, what(), type_name(value), wanted);
      return false;
    }
    // The first element decides which of the two it is.
    Types left = wanted & (kArrayOfNumber | kArrayOfString);
    for (const Value& item : value.items()) {
      left &= is_number(item)    ? kArrayOfNumber
              : item.is_string() ? kArrayOfString
                                 : Types{0};
      if (left == 0) {
        wrong_type(
            call, what(),
            "array with an element of type " + std::string(type_name(item)),
            wanted);
        return false;
      }
    }
    return true;
  }

  const Value* number(const Node& node, std::optional<Value> result,
                      Value& slot) {
    if (result) return put(slot, *std::move(result));
    return fail(ErrorCode::kInvalidValue,
                node.name +
                    "(): the result is not a number that exists: an "
                    "argument is too large, infinite or NaN.",
                node);
  }

  const Value* text(const Node& node, std::string made, Value& slot) {
    if (made.size() > expression_.max_string_bytes) return too_long(node);
    const std::size_t size = made.size();
    return put(slot, Value::adopt(std::move(made), 0, size));
  }

  const Value* too_long(const Node& node) {
    return fail(ErrorCode::kTooLarge,
                node.name + "(): the string would have more than " +
                    std::to_string(expression_.max_string_bytes) +
                    " bytes (limit source_bytes).",
                node);
  }

  // The arguments fit the signature.
  const Value* apply(const Node& node, std::span<Argument> arguments,
                     Value& slot) {
    const Value& first = *arguments[0].value;
    switch (node.function) {
      case Function::kAbs:
        return put(slot, absolute(first));
      case Function::kAvg: {
        if (first.size() == 0) return &kNullValue;
        const std::optional<Value> total = sum(first.items());
        if (!total) return number(node, std::nullopt, slot);
        return number(node, divide(*total, first.size()), slot);
      }
      case Function::kCeil:
        return number(node, ceiling(first), slot);
      case Function::kContains:
        return contains(node, first, *arguments[1].value, slot);
      case Function::kEndsWith:
        return put(slot, Value(first.as_string().ends_with(
                             arguments[1].value->as_string())));
      case Function::kFloor:
        return number(node, floor_of(first), slot);
      case Function::kJoin:
        return join(node, first.as_string(), arguments[1].value->items(), slot);
      case Function::kKeys: {
        Array out;
        out.reserve(first.size());
        for (const Member& member : first.members()) {
          out.push_back(Value(member.key));
        }
        return put(slot, std::move(out));
      }
      case Function::kLength:
        return put(slot, Value(static_cast<std::int64_t>(
                             first.is_string()
                                 ? base::count_code_points(first.as_string())
                                 : first.size())));
      case Function::kMap:
        return map(*arguments[0].reference, arguments[1].value->items(), slot);
      case Function::kMax:
        return extreme(first, true, slot);
      case Function::kMaxBy:
        return extreme_by(node, first, *arguments[1].reference, true, slot);
      case Function::kMerge: {
        Value out = first;
        for (const Argument& argument : arguments.subspan(1)) {
          Object& members = out.mutable_members();
          for (const Member& member : argument.value->members()) {
            members.set(member.key, member.value);
          }
        }
        return put(slot, std::move(out));
      }
      case Function::kMin:
        return extreme(first, false, slot);
      case Function::kMinBy:
        return extreme_by(node, first, *arguments[1].reference, false, slot);
      case Function::kNotNull:
        for (Argument& argument : arguments) {
          if (!argument.value->is_null()) {
            return keep(argument.value, argument.slot, slot);
          }
        }
        return &kNullValue;
      case Function::kReverse:
        return reverse(node, first, slot);
      case Function::kSort: {
        Array out = first.items();
        std::stable_sort(
            out.begin(), out.end(),
            [](const auto& a, const auto& b) { return less(a, b); });
        return put(slot, std::move(out));
      }
      case Function::kSortBy:
        return sort_by(node, first, *arguments[1].reference, slot);
      case Function::kStartsWith:
        return put(slot, Value(first.as_string().starts_with(
                             arguments[1].value->as_string())));
      case Function::kSum:
        return number(node, sum(first.items()), slot);
      case Function::kToArray:
        if (first.is_array()) return keep(&first, arguments[0].slot, slot);
        return put(slot, Array{first});
      case Function::kToNumber:
        return to_number(first, arguments[0], slot);
      case Function::kToString:
        if (first.is_string()) return keep(&first, arguments[0].slot, slot);
        return text(node, json::dump(first, {.compact = true}), slot);
      case Function::kType:
        return put(slot, Value(type_name(first)));
      case Function::kValues: {
        Array out;
        out.reserve(first.size());
        for (const Member& member : first.members()) {
          out.push_back(member.value);
        }
        return put(slot, std::move(out));
      }
      case Function::kUnknown:
        break;
    }
    return &kNullValue;
  }

  const Value* contains(const Node& node, const Value& subject,
                        const Value& search, Value& slot) {
    if (subject.is_string()) {
      if (!search.is_string()) {
        return wrong_type(node, "argument 2", type_name(search), kTypeString);
      }
      return put(slot, Value(subject.as_string().find(search.as_string()) !=
                             std::string_view::npos));
    }
    const Array& items = subject.items();
    return put(slot, Value(std::any_of(items.begin(), items.end(),
                                       [&](const Value& item) {
                                         return python_equal(item, search);
                                       })));
  }

  const Value* join(const Node& node, std::string_view separator,
                    const Array& items, Value& slot) {
    std::string out;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += separator;
      out += items[i].as_string();
      if (out.size() > expression_.max_string_bytes) return too_long(node);
    }
    return text(node, std::move(out), slot);
  }

  const Value* map(const Node& reference, const Array& items, Value& slot) {
    Array out;
    out.reserve(items.size());
    for (const Value& item : items) {
      Value local;
      const Value* found = visit(reference, item, local);
      if (found == nullptr) return nullptr;
      if (found != &local) local = *found;
      out.push_back(std::move(local));
    }
    return put(slot, std::move(out));
  }

  const Value* reverse(const Node& node, const Value& value, Value& slot) {
    if (value.is_array()) {
      return put(slot, Array(value.items().rbegin(), value.items().rend()));
    }
    const std::string_view from = value.as_string();
    std::string out(from.size(), '\0');
    for (std::size_t i = 0; i < from.size();) {
      const std::size_t begin = i;
      base::next_code_point(from, i);
      from.copy(out.data() + (from.size() - i), i - begin, begin);
    }
    return text(node, std::move(out), slot);
  }

  const Value* to_number(const Value& value, Argument& argument, Value& slot) {
    if (is_number(value)) return keep(&value, argument.slot, slot);
    if (!value.is_string()) return &kNullValue;
    std::string digits;
    if (base::python_int(value.as_string(), digits) ==
        base::NumberStatus::kOk) {
      return put(slot, Value::integer(digits));
    }
    double number = 0;
    if (base::python_float(value.as_string(), number)) {
      return put(slot, Value(number));
    }
    return &kNullValue;
  }

  // ---- Order

  // Of two numbers or two strings.  NaN comes last, so that this is an order.
  static bool less(const Value& a, const Value& b) {
    if (a.is_string()) return a.as_string() < b.as_string();
    const std::partial_ordering order = compare_numbers(a, b);
    if (order != std::partial_ordering::unordered) return order < 0;
    return is_ordered(a) && !is_ordered(b);
  }

  static bool is_ordered(const Value& number) {
    return compare_numbers(number, number) == 0;
  }

  // As Python's max() and min() compare: a NaN wins nothing and, once first,
  // loses nothing.
  static bool beats(const Value& a, const Value& b, bool max) {
    if (a.is_string()) {
      const int order = a.as_string().compare(b.as_string());
      return max ? order > 0 : order < 0;
    }
    const std::partial_ordering order = compare_numbers(a, b);
    return max ? order > 0 : order < 0;
  }

  static const Value* extreme(const Value& list, bool max, Value& slot) {
    const Value* best = nullptr;
    for (const Value& item : list.items()) {
      if (best == nullptr || beats(item, *best, max)) best = &item;
    }
    return best != nullptr ? put(slot, Value(*best)) : &kNullValue;
  }

  // The keys by which to order; all strings or all numbers.
  std::optional<Array> keys_of(const Node& call, const Value& list,
                               const Node& reference) {
    Array keys;
    keys.reserve(list.size());
    for (const Value& item : list.items()) {
      Value local;
      const Value* key = visit(reference, item, local);
      if (key == nullptr) return std::nullopt;
      const Types wanted =
          keys.empty() ? kTypeNumber | kTypeString : type_of(keys.front());
      if ((type_of(*key) & wanted) == 0) {
        wrong_type(call, "what the expression gives for each element",
                   type_name(*key), wanted);
        return std::nullopt;
      }
      keys.push_back(*key);
    }
    return keys;
  }

  const Value* extreme_by(const Node& call, const Value& list,
                          const Node& reference, bool max, Value& slot) {
    const std::optional<Array> keys = keys_of(call, list, reference);
    if (!keys) return nullptr;
    if (keys->empty()) return &kNullValue;
    std::size_t best = 0;
    for (std::size_t i = 1; i < keys->size(); ++i) {
      if (beats((*keys)[i], (*keys)[best], max)) best = i;
    }
    return put(slot, Value(list.items()[best]));
  }

  const Value* sort_by(const Node& call, const Value& list,
                       const Node& reference, Value& slot) {
    const std::optional<Array> keys = keys_of(call, list, reference);
    if (!keys) return nullptr;
    std::vector<std::size_t> order(keys->size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) {
                       return less((*keys)[a], (*keys)[b]);
                     });
    Array out;
    out.reserve(order.size());
    for (const std::size_t i : order) out.push_back(list.items()[i]);
    return put(slot, std::move(out));
  }

  const Expression& expression_;
  std::optional<Error> error_;
};

}  // namespace

Result<Value> evaluate(const Expression& expression, const Value& value) {
  return Evaluator(expression).run(value);
}

}  // namespace parlance::jmespath
