#ifndef PARLANCE_JMESPATH_H_
#define PARLANCE_JMESPATH_H_

// Queries of JSON values in the language JMESPath.
//
//   Result<Jmespath> names = Jmespath::compile("people[?age > `20`].name");
//   if (!names) return names.error();
//   Result<json::Value> found = names->search(value);
//
// The language is that of the published specification, complete.  Where the
// specification is silent, the Python package `jmespath` decides;
// docs/reference/jmespath.md lists the differences.  Objects preserve the order
// of their keys, and integers of any size are exact.
//
// compile() finds all errors of an expression except those that the package
// finds late as well: unknown functions, and wrong numbers and types of
// arguments, are errors of search(), and only if the call is evaluated.

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
// that read them in place and return the parts that they find without copying
// them.
//
// A Handle is one reference to a value.  A function that returns a Handle
// returns a new reference, which will be released once.  A function that takes
// a Handle does not take over the reference, unless its comment says so.
//
// No function can report an error to the search.  A host that cannot answer
// (for a value that is not JSON, or for lack of memory) records the reason,
// answers with null, 0 or false, and reports to its caller after the search.
class JmespathHost {
 public:
  using Handle = void*;

  virtual ~JmespathHost() = default;

  virtual Handle retain(Handle value) = 0;
  virtual void release(Handle value) = 0;

  virtual json::Kind kind(Handle value) = 0;
  // For any value.  A value that is not JSON is not null.
  virtual bool is_null(Handle value) = 0;
  // Everything but "", [], {}, null and false.
  virtual bool is_true(Handle value) = 0;
  // The number of elements, of members, or of code points of a string; else 0.
  virtual std::size_t size(Handle value) = 0;
  // A copy of the whole value as JSON.
  virtual json::Value to_json(Handle value) = 0;

  // The member called names()[name]; null if there is none, or if `value` is
  // not an object.
  virtual Handle find(Handle value, std::size_t name) = 0;
  // Null beyond the end.  REQUIRES: kind(array) is kArray.
  virtual Handle element(Handle array, std::size_t index) = 0;
  // The keys and the values of an object, as arrays.
  // REQUIRES: kind(object) is kObject.
  virtual Handle keys(Handle object) = 0;
  virtual Handle values(Handle object) = 0;

  // New values.
  virtual Handle make(const json::Value& value) = 0;
  virtual Handle make_array() = 0;
  virtual Handle make_object() = 0;
  // Takes over the reference `value`.  A null pointer means the value null.
  virtual void append(Handle array, Handle value) = 0;
  // Sets the member called names()[name].  Takes over `value`, as append()
  // does.
  virtual void set(Handle object, std::size_t name, Handle value) = 0;
  // Sets in `object` all members of `other`.
  virtual void merge(Handle object, Handle other) = 0;
};

// A compiled expression.  Immutable, cheap to copy, safe to share between
// threads.
class Jmespath {
 public:
  // Errors: kBadExpression, kInvalidUtf8, kTooDeep (nesting beyond
  // limits.pattern_depth), kTooLarge.  The span is bytes of `expression`.
  // Complexity: O(expression.size()).
  static Result<Jmespath> compile(std::string_view expression,
                                  const Limits& limits = {});

  // The result for `value`; null if nothing is found.  The result shares the
  // parts of `value` that it contains.
  // Errors: kUnknownFunction, kInvalidArity, kInvalidType, kInvalidValue,
  // kTooLarge (a string longer than limits.source_bytes).  The span is the call
  // or slice in the expression.
  Result<json::Value> search(const json::Value& value) const;

  // The same for a value of `host`.  Parts of `value` in the result are the
  // parts themselves, not copies.  The caller releases the result, which may be
  // a null Handle if the host failed.
  Result<JmespathHost::Handle> search(JmespathHost& host,
                                      JmespathHost::Handle value) const;

  // The names of members that occur in the expression, each once.  The
  // arguments `name` of JmespathHost are indices of this list.
  const std::vector<std::string>& names() const;

  // The text that was compiled.  Valid as long as any copy of *this.
  std::string_view expression() const;

 private:
  struct Shared;
  explicit Jmespath(std::shared_ptr<const Shared> shared);
  std::shared_ptr<const Shared> shared_;
};

}  // namespace parlance

#endif  // PARLANCE_JMESPATH_H_
