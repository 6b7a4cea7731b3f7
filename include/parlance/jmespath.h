#ifndef PARLANCE_JMESPATH_H_
#define PARLANCE_JMESPATH_H_

// Asking questions of JSON values, in the language JMESPath.
//
//   Result<Jmespath> names = Jmespath::compile("people[?age > `20`].name");
//   if (!names) return names.error();
//   Result<json::Value> found = names->search(value);
//
// The language is the whole of the published specification, read as the Python
// package `jmespath` reads it where the specification is silent; the reference
// (docs/reference/jmespath.md) lists the few differences.  Objects keep the
// order of their keys, and integers of any size stay exact.
//
// What an expression does is settled when it is compiled, except for what the
// package finds out late as well: unknown functions, wrong numbers and types
// of arguments are errors of search(), and only if the call is reached.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance {

// The parts of a value that an expression can look at.  Who has values of
// another kind need turn no more than these into json::Value:
//
//   people[?age > `20`].name     fields: people ─▶ each ─▶ fields: age, name
//
// Law: a value without the other parts gives the same answer.  Scalars are
// always looked at, and arrays and objects stay arrays and objects.
struct JmespathReach {
  std::string name;       // of what stands in `fields`
  std::size_t index = 0;  // of what stands in `indices`
  bool all = false;       // the whole of it; then nothing below matters
  bool shape = false;     // how many elements it has, which keys
  // Members of an object by name.
  std::vector<JmespathReach> fields;
  // Elements of an array by index from the start, and all elements.
  std::vector<JmespathReach> indices;
  std::unique_ptr<JmespathReach> each;
  // All members of an object.
  std::unique_ptr<JmespathReach> values;
};

// A compiled expression.  Immutable, cheap to copy, safe to share between
// threads.
class Jmespath {
 public:
  // Fails with kBadExpression, kInvalidUtf8, kTooDeep (nesting beyond
  // limits.pattern_depth) or kTooLarge; the span is bytes of `expression`.
  // Complexity: O(expression.size()).
  static Result<Jmespath> compile(std::string_view expression,
                                  const Limits& limits = {});

  // What the expression finds in `value`; null where it finds nothing.  Shares
  // the parts of `value` that it returns.  Fails with kUnknownFunction,
  // kInvalidArity, kInvalidType, kInvalidValue or kTooLarge (a string longer
  // than limits.source_bytes); the span is the call or slice in the expression.
  Result<json::Value> search(const json::Value& value) const;

  // What search() can look at.  Valid as long as a copy of this expression.
  const JmespathReach& reach() const;

  // The text that was compiled.
  std::string_view expression() const;

 private:
  struct Shared;
  explicit Jmespath(std::shared_ptr<const Shared> shared);
  std::shared_ptr<const Shared> shared_;
};

}  // namespace parlance

#endif  // PARLANCE_JMESPATH_H_
