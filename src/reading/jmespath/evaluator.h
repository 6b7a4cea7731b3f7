#ifndef PARLANCE_SRC_JMESPATH_EVALUATOR_H_
#define PARLANCE_SRC_JMESPATH_EVALUATOR_H_

// Walks the tree of an expression over a value.
//
// The result of most steps is a part of their input, and a pointer to it is
// cheap; only a new value (a list, a number) has to be stored.  So every visit
// receives a slot for a new value and returns a pointer, either into the slot
// or into its input.
//
// A chain hands one slot from step to step.  That is sound because of one rule:
// a visit writes its slot last, when it no longer needs its input, which may
// lie in the slot's old content.  A visit that needs its input twice (a || b)
// gives the first visit a local slot and passes its result to keep().
//
// A Model defines the values: JSON values, or the values of a host.  It has
//
//   V                   a value; default-made null, copied at little cost,
//                       made from json::Value
//   is_untouched(v)     never written since it was made
//   kind(v), is_null(v), is_true(v)
//   size(v), length(v)  of arrays and objects; of strings as well
//   json(v)             all of it as a json::Value (or a reference to one)
//   scalars(v)          the elements of an array of scalars, the same way
//   find(v, field, slot), element(v, i, slot), literal(node, slot)
//                       a pointer to a part, or null where there is none
//   each(v, f), each_member(v, f)
//                       f of each element or member until f is false
//   keys(v), values(v)
//   List, Members       for making arrays and objects

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/python_number.h"
#include "base/utf8.h"
#include "jmespath/ast.h"
#include "jmespath/functions.h"
#include "jmespath/number.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::jmespath {

using json::Array;
using json::Kind;
using json::Value;

constexpr Types type_of(Kind kind) {
  switch (kind) {
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

inline std::string_view type_name(Kind kind) {
  return type_of(kind) == kTypeNumber ? "number" : json::to_string(kind);
}

// "string or array of numbers"
std::string describe(Types types);

template <class Model>
class Evaluator {
 public:
  using V = typename Model::V;

  Evaluator(const Expression& expression, Model model)
      : expression_(expression), model_(std::move(model)) {}

  Result<V> run(const V& input) {
    V slot;
    const V* found = visit(expression_[expression_.root], input, slot);
    if (found == nullptr) return *std::move(error_);
    if (found == &slot) return slot;
    return V(*found);
  }

 private:
  using List = typename Model::List;
  using Members = typename Model::Members;

  struct Argument {
    const V* value = nullptr;
    const Node* reference = nullptr;  // of &expression; then there is no value
    V slot = {};
  };

  // ---- Errors.  A visit returns a null pointer after it has set error_.

  const V* fail(ErrorCode code, std::string message, const Node& node) {
    if (!error_) error_ = Error{code, std::move(message), "", node.span};
    return nullptr;
  }

  const V* wrong_type(const Node& call, std::string_view what,
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

  static const V* put(V& slot, V made) {
    slot = std::move(made);
    return &slot;
  }

  // Makes an answer that may lie in `local` one that may lie in `slot`.
  static const V* keep(const V* answer, V& local, V& slot) {
    if (answer == nullptr) return nullptr;
    if (answer == &local) return put(slot, std::move(local));
    // Never written: the answer lies in the input.
    if (Model::is_untouched(local)) return answer;
    return put(slot, V(*answer));
  }

  // ---- Visits

  const V* visit(const Node& node, const V& input, V& slot) {
    switch (node.kind) {
      case NodeKind::kCurrent:
        return &input;
      case NodeKind::kLiteral:
        return model_.literal(node, slot);
      case NodeKind::kField:
        return or_null(model_.find(input, node, slot));
      case NodeKind::kIndex:
        return element(node.slice.start, input, slot);
      case NodeKind::kSlice:
        return slice(node, input, slot);
      case NodeKind::kChain: {
        const V* at = &input;
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
        V local;
        const V* inner = visit(child(node, 0), input, local);
        if (inner == nullptr) return nullptr;
        return put(slot, Value(!model_.is_true(*inner)));
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
        // parse() accepts references only as arguments, which call() handles.
        break;
    }
    return &null_;
  }

  const Node& child(const Node& node, std::size_t i) const {
    return expression_[node.children[i]];
  }

  const V* or_null(const V* found) const {
    return found != nullptr ? found : &null_;
  }

  bool is_array(const V& value) { return model_.kind(value) == Kind::kArray; }

  const V* element(std::int64_t index, const V& input, V& slot) {
    if (!is_array(input)) return &null_;
    if (index < 0) index += static_cast<std::int64_t>(model_.size(input));
    if (index < 0) return &null_;
    return or_null(
        model_.element(input, static_cast<std::size_t>(index), slot));
  }

  // Python's slice.indices().
  const V* slice(const Node& node, const V& input, V& slot) {
    if (!is_array(input)) return &null_;
    const Slice& s = node.slice;
    if (s.step == 0) {
      return fail(ErrorCode::kInvalidValue,
                  "the step of a slice must not be 0.", node);
    }
    const auto size = static_cast<std::int64_t>(model_.size(input));
    const std::int64_t lowest = s.step > 0 ? 0 : -1;
    const std::int64_t highest = s.step > 0 ? size : size - 1;
    const auto place = [&](std::int64_t i) {
      return std::clamp(i < 0 ? i + size : i, lowest, highest);
    };
    const std::int64_t start =
        s.has_start ? place(s.start) : (s.step > 0 ? lowest : highest);
    const std::int64_t stop =
        s.has_stop ? place(s.stop) : (s.step > 0 ? highest : lowest);
    // A step longer than the list selects at most one element; clamping avoids
    // overflow.
    const std::int64_t step = std::clamp(s.step, -size - 1, size + 1);
    List out(model_, 0);
    for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
      push_element(input, static_cast<std::size_t>(i), out);
    }
    return put(slot, out.take());
  }

  // The first child that is true (Or) or false (And), else the last.
  const V* either(const Node& node, const V& input, V& slot) {
    const bool wanted = node.kind == NodeKind::kOr;
    for (std::size_t i = 0;; ++i) {
      if (i + 1 == node.children.size()) {
        return visit(child(node, i), input, slot);
      }
      V local;
      const V* found = visit(child(node, i), input, local);
      if (found == nullptr || model_.is_true(*found) == wanted) {
        return keep(found, local, slot);
      }
    }
  }

  static bool is_container(Kind kind) {
    return kind == Kind::kArray || kind == Kind::kObject;
  }

  bool same(const V& a, const V& b) {
    return is_container(model_.kind(a)) == is_container(model_.kind(b)) &&
           equal(model_.json(a), model_.json(b));
  }

  const V* compare(const Node& node, const V& input, V& slot) {
    V left_slot;
    V right_slot;
    const V* left = visit(child(node, 0), input, left_slot);
    if (left == nullptr) return nullptr;
    const V* right = visit(child(node, 1), input, right_slot);
    if (right == nullptr) return nullptr;
    if (node.comparison == Comparison::kEqual) {
      return put(slot, Value(same(*left, *right)));
    }
    if (node.comparison == Comparison::kNotEqual) {
      return put(slot, Value(!same(*left, *right)));
    }
    const Types left_type = type_of(model_.kind(*left));
    const Types right_type = type_of(model_.kind(*right));
    if (left_type != right_type ||
        (left_type != kTypeNumber && left_type != kTypeString)) {
      return &null_;
    }
    std::partial_ordering order = std::partial_ordering::unordered;
    const auto& a = model_.json(*left);
    const auto& b = model_.json(*right);
    if (is_number(a) && is_number(b)) {
      order = compare_numbers(a, b);
    } else if (a.is_string() && b.is_string()) {
      // The order of UTF-8 is that of code points.
      order = a.as_string().compare(b.as_string()) <=> 0;
    } else {
      return &null_;
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

  const V* flatten(const Node& node, const V& input, V& slot) {
    const V* base = visit(child(node, 0), input, slot);
    if (base == nullptr) return nullptr;
    if (!is_array(*base)) return &null_;
    List out(model_, model_.size(*base));
    model_.each(*base, [&](const V& item) {
      if (is_array(item)) {
        model_.each(item, [&](const V& inner) {
          out.push(inner);
          return true;
        });
      } else {
        out.push(item);
      }
      return true;
    });
    return put(slot, out.take());
  }

  // ---- Projections: the results for the elements, without nulls

  // Appends the result of `side` for `item`.  Returns false after an error.
  bool append(const Node& side, const V& item, List& out, bool nulls) {
    V local;
    const V* found = visit(side, item, local);
    if (found == nullptr) return false;
    if (!nulls && model_.is_null(*found)) return true;
    if (found == &local) {
      out.push(std::move(local));
    } else {
      out.push(*found);
    }
    return true;
  }

  const V* project(const Node& node, const V& input, V& slot) {
    const V* base = visit(child(node, 0), input, slot);
    if (base == nullptr) return nullptr;
    if (!is_array(*base)) return &null_;
    const Node& side = child(node, 1);
    const bool filters = node.kind == NodeKind::kFilter;
    List out(model_, filters ? 0 : model_.size(*base));
    const bool sound = model_.each(*base, [&](const V& item) {
      if (filters) {
        V local;
        const V* verdict = visit(child(node, 2), item, local);
        if (verdict == nullptr) return false;
        if (!model_.is_true(*verdict)) return true;
      }
      return append(side, item, out, false);
    });
    if (!sound) return nullptr;
    return put(slot, out.take());
  }

  const V* project_values(const Node& node, const V& input, V& slot) {
    const V* base = visit(child(node, 0), input, slot);
    if (base == nullptr) return nullptr;
    if (model_.kind(*base) != Kind::kObject) return &null_;
    List out(model_, model_.size(*base));
    const bool sound = model_.each_member(*base, [&](const V& item) {
      return append(child(node, 1), item, out, false);
    });
    if (!sound) return nullptr;
    return put(slot, out.take());
  }

  const V* multi_list(const Node& node, const V& input, V& slot) {
    if (model_.is_null(input)) return &null_;
    List out(model_, node.children.size());
    for (const NodeId id : node.children) {
      if (!append(expression_[id], input, out, true)) return nullptr;
    }
    return put(slot, out.take());
  }

  const V* multi_object(const Node& node, const V& input, V& slot) {
    if (model_.is_null(input)) return &null_;
    Members out(model_, node.children.size());
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      V local;
      const V* found = visit(child(node, i), input, local);
      if (found == nullptr) return nullptr;
      if (found != &local) local = *found;
      out.set(node, i, std::move(local));
    }
    return put(slot, out.take());
  }

  // ---- Functions

  // The steps: evaluate the arguments; check the name of the function, the
  // number of arguments and their types; apply it.  An error in an argument is
  // therefore reported before an unknown function.
  const V* call(const Node& node, const V& input, V& slot) {
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
    const V& value = *argument.value;
    const Kind kind = model_.kind(value);
    if ((type_of(kind) & wanted) != 0) return true;
    if (kind != Kind::kArray ||
        (wanted & (kArrayOfNumber | kArrayOfString)) == 0) {
      wrong_type(call, what(), type_name(kind), wanted);
      return false;
    }
    // The first element decides which of the two it is.
    Types left = wanted & (kArrayOfNumber | kArrayOfString);
    return model_.each(value, [&](const V& item) {
      const Kind found = model_.kind(item);
      const Types type = type_of(found);
      left &= type == kTypeNumber   ? kArrayOfNumber
              : type == kTypeString ? kArrayOfString
                                    : Types{0};
      if (left != 0) return true;
      wrong_type(
          call, what(),
          "array with an element of type " + std::string(type_name(found)),
          wanted);
      return false;
    });
  }

  const V* number(const Node& node, std::optional<Value> result, V& slot) {
    if (result) return put(slot, *std::move(result));
    return fail(ErrorCode::kInvalidValue,
                node.name +
                    "(): the result is not a number that exists: an "
                    "argument is too large, infinite or NaN.",
                node);
  }

  const V* text(const Node& node, std::string made, V& slot) {
    if (made.size() > expression_.max_string_bytes) return too_long(node);
    const std::size_t size = made.size();
    return put(slot, Value::adopt(std::move(made), 0, size));
  }

  const V* too_long(const Node& node) {
    return fail(ErrorCode::kTooLarge,
                node.name + "(): the string would have more than " +
                    std::to_string(expression_.max_string_bytes) +
                    " bytes (limit source_bytes).",
                node);
  }

  // Calls a function.  The result is in `slot`, or a value that lives longer.
  // Null: fail() was called.  REQUIRES: the arguments match the signature of
  // node.function.
  const V* apply(const Node& node, std::span<Argument> arguments, V& slot) {
    const V* const given = arguments[0].value;
    // A function whose first argument is an &expression does not use `first`.
    const V& first = given != nullptr ? *given : null_;
    switch (node.function) {
      case Function::kAbs:
        return put(slot, absolute(model_.json(first)));
      case Function::kAvg: {
        const auto& items = model_.scalars(first);
        if (items.empty()) return &null_;
        const std::optional<Value> total = sum(items);
        if (!total) return number(node, std::nullopt, slot);
        return number(node, divide(*total, items.size()), slot);
      }
      case Function::kCeil:
        return number(node, ceiling(model_.json(first)), slot);
      case Function::kContains:
        return contains(node, first, *arguments[1].value, slot);
      case Function::kEndsWith:
        return put(slot, Value(ends_with(model_.json(first),
                                         model_.json(*arguments[1].value))));
      case Function::kFloor:
        return number(node, floor_of(model_.json(first)), slot);
      case Function::kJoin:
        return join(node, first, *arguments[1].value, slot);
      case Function::kKeys:
        return put(slot, model_.keys(first));
      case Function::kLength:
        return put(slot,
                   Value(static_cast<std::int64_t>(model_.length(first))));
      case Function::kMap:
        return map(*arguments[0].reference, *arguments[1].value, slot);
      case Function::kMax:
        return extreme(first, model_.scalars(first), true, slot);
      case Function::kMaxBy:
        return extreme_by(node, first, *arguments[1].reference, true, slot);
      case Function::kMerge: {
        Members out(model_, model_.size(first));
        for (const Argument& argument : arguments) {
          out.merge(*argument.value);
        }
        return put(slot, out.take());
      }
      case Function::kMin:
        return extreme(first, model_.scalars(first), false, slot);
      case Function::kMinBy:
        return extreme_by(node, first, *arguments[1].reference, false, slot);
      case Function::kNotNull:
        for (Argument& argument : arguments) {
          if (!model_.is_null(*argument.value)) {
            return keep(argument.value, argument.slot, slot);
          }
        }
        return &null_;
      case Function::kReverse:
        return reverse(node, first, slot);
      case Function::kSort:
        return sort(first, model_.scalars(first), slot);
      case Function::kSortBy:
        return sort_by(node, first, *arguments[1].reference, slot);
      case Function::kStartsWith:
        return put(slot, Value(starts_with(model_.json(first),
                                           model_.json(*arguments[1].value))));
      case Function::kSum:
        return number(node, sum(model_.scalars(first)), slot);
      case Function::kToArray:
        if (is_array(first)) return keep(&first, arguments[0].slot, slot);
        return put(slot, list_of(first));
      case Function::kToNumber:
        return to_number(first, arguments[0], slot);
      case Function::kToString:
        if (model_.kind(first) == Kind::kString) {
          return keep(&first, arguments[0].slot, slot);
        }
        return text(node, json::dump(model_.json(first), {.compact = true}),
                    slot);
      case Function::kType:
        return put(slot, Value(type_name(model_.kind(first))));
      case Function::kValues:
        return put(slot, model_.values(first));
      case Function::kUnknown:
        break;
    }
    return &null_;
  }

  static bool starts_with(const Value& text, const Value& part) {
    return text.as_string().starts_with(part.as_string());
  }
  static bool ends_with(const Value& text, const Value& part) {
    return text.as_string().ends_with(part.as_string());
  }

  const V* contains(const Node& node, const V& subject, const V& search,
                    V& slot) {
    const auto& wanted = model_.json(search);
    if (model_.kind(subject) == Kind::kString) {
      if (!wanted.is_string()) {
        return wrong_type(node, "argument 2", type_name(wanted.kind()),
                          kTypeString);
      }
      const auto& text = model_.json(subject);
      return put(slot, Value(text.as_string().find(wanted.as_string()) !=
                             std::string_view::npos));
    }
    const bool absent = model_.each(subject, [&](const V& item) {
      return !python_equal(model_.json(item), wanted);
    });
    return put(slot, Value(!absent));
  }

  const V* join(const Node& node, const V& separator, const V& list, V& slot) {
    const auto& between = model_.json(separator);
    const auto& items = model_.scalars(list);
    std::string out;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += between.as_string();
      out += items[i].as_string();
      if (out.size() > expression_.max_string_bytes) return too_long(node);
    }
    return text(node, std::move(out), slot);
  }

  const V* map(const Node& reference, const V& list, V& slot) {
    List out(model_, model_.size(list));
    const bool sound = model_.each(list, [&](const V& item) {
      return append(reference, item, out, true);
    });
    if (!sound) return nullptr;
    return put(slot, out.take());
  }

  void push_element(const V& list, std::size_t i, List& out) {
    V local;
    const V* found = model_.element(list, i, local);
    if (found != nullptr) out.push(*found);
  }

  V list_of(const V& value) {
    List out(model_, 1);
    out.push(value);
    return out.take();
  }

  const V* reverse(const Node& node, const V& value, V& slot) {
    if (is_array(value)) {
      std::size_t i = model_.size(value);
      List out(model_, i);
      while (i-- > 0) push_element(value, i, out);
      return put(slot, out.take());
    }
    const auto& whole = model_.json(value);
    const std::string_view from = whole.as_string();
    std::string out(from.size(), '\0');
    for (std::size_t i = 0; i < from.size();) {
      const std::size_t begin = i;
      base::next_code_point(from, i);
      from.copy(out.data() + (from.size() - i), i - begin, begin);
    }
    return text(node, std::move(out), slot);
  }

  const V* to_number(const V& given, Argument& argument, V& slot) {
    const Types type = type_of(model_.kind(given));
    if (type == kTypeNumber) return keep(&given, argument.slot, slot);
    if (type != kTypeString) return &null_;
    const auto& value = model_.json(given);
    std::string digits;
    if (base::python_int(value.as_string(), digits) ==
        base::NumberStatus::kOk) {
      return put(slot, Value::integer(digits));
    }
    double number = 0;
    if (base::python_float(value.as_string(), number)) {
      return put(slot, Value(number));
    }
    return &null_;
  }

  // ---- Order

  // The order of two numbers or two strings.  NaN sorts after all other
  // numbers, so that this is a strict weak order.
  static bool less(const Value& a, const Value& b) {
    if (a.is_string()) return a.as_string() < b.as_string();
    const std::partial_ordering order = compare_numbers(a, b);
    if (order != std::partial_ordering::unordered) return order < 0;
    return is_ordered(a) && !is_ordered(b);
  }

  static bool is_ordered(const Value& number) {
    return compare_numbers(number, number) == 0;
  }

  // The comparison of Python's max() and min(): any comparison with NaN is
  // false. So a NaN never replaces the best element, and is never replaced.
  static bool beats(const Value& a, const Value& b, bool max) {
    if (a.is_string()) {
      const int order = a.as_string().compare(b.as_string());
      return max ? order > 0 : order < 0;
    }
    const std::partial_ordering order = compare_numbers(a, b);
    return max ? order > 0 : order < 0;
  }

  const V* extreme(const V& list, const Array& keys, bool max, V& slot) {
    if (keys.empty()) return &null_;
    std::size_t best = 0;
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (beats(keys[i], keys[best], max)) best = i;
    }
    V local;
    const V* found = model_.element(list, best, local);
    return found != nullptr ? put(slot, V(*found)) : &null_;
  }

  const V* sort(const V& list, const Array& keys, V& slot) {
    std::vector<std::size_t> order(keys.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(
        order.begin(), order.end(),
        [&](std::size_t a, std::size_t b) { return less(keys[a], keys[b]); });
    List out(model_, order.size());
    for (const std::size_t i : order) push_element(list, i, out);
    return put(slot, out.take());
  }

  // The value of `reference` for each element of `list`: all strings or all
  // numbers.  Nothing if fail() was called.
  std::optional<Array> keys_of(const Node& call, const V& list,
                               const Node& reference) {
    Array keys;
    keys.reserve(model_.size(list));
    const bool sound = model_.each(list, [&](const V& item) {
      V local;
      const V* key = visit(reference, item, local);
      if (key == nullptr) return false;
      const Kind kind = model_.kind(*key);
      const Types wanted = keys.empty() ? kTypeNumber | kTypeString
                                        : type_of(keys.front().kind());
      if ((type_of(kind) & wanted) == 0) {
        wrong_type(call, "what the expression gives for each element",
                   type_name(kind), wanted);
        return false;
      }
      keys.push_back(model_.json(*key));
      return true;
    });
    if (!sound) return std::nullopt;
    return keys;
  }

  const V* extreme_by(const Node& call, const V& list, const Node& reference,
                      bool max, V& slot) {
    const std::optional<Array> keys = keys_of(call, list, reference);
    return keys ? extreme(list, *keys, max, slot) : nullptr;
  }

  const V* sort_by(const Node& call, const V& list, const Node& reference,
                   V& slot) {
    const std::optional<Array> keys = keys_of(call, list, reference);
    return keys ? sort(list, *keys, slot) : nullptr;
  }

  const Expression& expression_;
  Model model_;
  const V null_ = {};
  std::optional<Error> error_;
};

}  // namespace parlance::jmespath

#endif  // PARLANCE_SRC_JMESPATH_EVALUATOR_H_
