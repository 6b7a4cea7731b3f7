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

// Values of another kind, such as the objects of another language, for searches
// that go over them in place and give back the very parts that they find.
//
// A Handle is one reference to a value.  Functions that return one return a new
// one, which will be released once; those that take one only look at it, unless
// they say that they keep it.
//
// No function can fail towards the search.  A host that cannot answer (a value
// that is none of JSON's kinds, a lack of memory) remembers why, answers with
// null, 0 or false, and tells its caller after the search.
class JmespathHost {
 public:
  using Handle = void*;

  virtual ~JmespathHost() = default;

  virtual Handle retain(Handle value) = 0;
  virtual void release(Handle value) = 0;

  virtual json::Kind kind(Handle value) = 0;
  // Of any value; one that is none of JSON's kinds is not null.
  virtual bool is_null(Handle value) = 0;
  // Everything but "", [], {}, null and false.
  virtual bool is_true(Handle value) = 0;
  // Elements, members, or the code points of a string; else 0.
  virtual std::size_t size(Handle value) = 0;
  // All of it.
  virtual json::Value to_json(Handle value) = 0;

  // The member called names()[name], null if there is none or `value` is no
  // object.
  virtual Handle find(Handle value, std::size_t name) = 0;
  // Null beyond the end.  REQUIRES: kind(array) is kArray.
  virtual Handle element(Handle array, std::size_t index) = 0;
  // As arrays.  REQUIRES: kind(object) is kObject.
  virtual Handle keys(Handle object) = 0;
  virtual Handle values(Handle object) = 0;

  // New values.
  virtual Handle make(const json::Value& value) = 0;
  virtual Handle make_array() = 0;
  virtual Handle make_object() = 0;
  // `value` is kept and may be null, for null.
  virtual void append(Handle array, Handle value) = 0;
  // Sets the member called names()[name]; `value` likewise.
  virtual void set(Handle object, std::size_t name, Handle value) = 0;
  // Sets all members of `other` in `object`.
  virtual void merge(Handle object, Handle other) = 0;
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

  // The same in a value of `host`.  Parts of it that are found are found as
  // they are, not as copies.  What is found is the caller's to release; it may
  // be a null Handle where the host failed.
  Result<JmespathHost::Handle> search(JmespathHost& host,
                                      JmespathHost::Handle value) const;

  // The names of members that occur in the expression, each once; what the
  // numbers of JmespathHost mean.
  const std::vector<std::string>& names() const;

  // The text that was compiled.
  std::string_view expression() const;

 private:
  struct Shared;
  explicit Jmespath(std::shared_ptr<const Shared> shared);
  std::shared_ptr<const Shared> shared_;
};

}  // namespace parlance

#endif  // PARLANCE_JMESPATH_H_
