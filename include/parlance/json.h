#ifndef PARLANCE_JSON_H_
#define PARLANCE_JSON_H_

// JSON values, and reading and writing them as Python does.
//
//   Result<json::Value> v = json::parse(R"({"city": "Bern", "days": 3})");
//   if (v) std::cout << v->find("city")->as_string();
//
// The model is Python's: integers of any size are exact and differ from
// floats, NaN and the infinities exist, objects preserve the order in which
// their keys first came, and the last of several equal keys gives the value.
//
// Strings are UTF-8, except that a surrogate without its partner, which JSON
// can spell as "\ud800", is stored in the three bytes that UTF-8 would give it
// (WTF-8).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/limits.h"

namespace parlance::json {

class Value;
class Object;
using Array = std::vector<Value>;

// ORDER: Kind
enum class Kind : std::uint8_t {
  kNull,
  kBool,
  kInt,     // fits int64
  kBigInt,  // does not fit int64; stored as decimal digits
  kFloat,   // includes NaN and the infinities; may keep its text
  kString,
  kArray,
  kObject,
};

// "null", "boolean", "integer", "integer", "number", "string", "array",
// "object": the names that JSON Schema and the messages of errors use.
std::string_view to_string(Kind kind);

// One JSON value, 16 bytes.  Strings of up to 14 bytes are stored inline.
// Longer strings, arrays and objects are reference counted and copied on write,
// so copying a Value is cheap.  Safe to share between threads as long as no
// thread writes to the same Value object.
//
// Accessors never fail: for a value of another kind they return the neutral
// value that their comment names.
class Value {
 public:
  static constexpr std::size_t kInlineBytes = 14;

  Value() noexcept;  // null
  Value(std::nullptr_t) noexcept : Value() {}
  Value(bool b) noexcept;
  Value(int i) noexcept : Value(static_cast<std::int64_t>(i)) {}
  Value(std::int64_t i) noexcept;
  Value(double d) noexcept;
  Value(std::string_view s);
  Value(const char* s) : Value(std::string_view(s)) {}
  Value(const std::string& s) : Value(std::string_view(s)) {}
  Value(Array items);
  Value(Object members);
  // A string made of `size` bytes of `text` from `begin` on.  A long string is
  // not copied: `text` is moved from, and pointers into its heap buffer stay
  // valid as long as the value.  REQUIRES: begin + size <= text.size().
  static Value adopt(std::string&& text, std::size_t begin, std::size_t size);
  // `digits` is an optional '-' and decimal digits.  Leading zeros are removed;
  // a number that fits int64 becomes kInt.
  static Value integer(std::string_view digits);
  // The float that the JSON number `text` denotes.  Where a double loses a part
  // of it (1e400, 9007199254740993.0), the value keeps the text.
  static Value exact_float(std::string_view text);

  Value(const Value& other) noexcept;
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other) noexcept;
  Value& operator=(Value&& other) noexcept;
  ~Value();

  Kind kind() const noexcept { return kKinds[bytes_[15]]; }
  bool is_null() const noexcept { return kind() == Kind::kNull; }
  bool is_string() const noexcept { return kind() == Kind::kString; }
  bool is_array() const noexcept { return kind() == Kind::kArray; }
  bool is_object() const noexcept { return kind() == Kind::kObject; }

  bool as_bool() const noexcept;         // else false
  std::int64_t as_int() const noexcept;  // kInt, else 0
  double as_float() const noexcept;      // kFloat, kInt, kBigInt, else 0
  // The text of a string, the digits of a kBigInt, or the number that a kFloat
  // keeps beside its double (see exact_float()), else "".  Points into
  // this Value (short) or into memory that it shares (long).  Valid until this
  // Value is moved, assigned or destroyed.
  std::string_view as_string() const noexcept;
  const Array& items() const noexcept;     // else an empty array
  const Object& members() const noexcept;  // else an empty object

  // The member called `key` of an object, else null.
  // Complexity: O(1) expected.
  const Value* find(std::string_view key) const noexcept;
  // Elements of an array, members of an object, else 0.
  std::size_t size() const noexcept;

  // The array or object, to be changed; it is copied first if it is shared.
  // REQUIRES: is_array() (is_object()).  Otherwise the value becomes an empty
  // array (object).
  Array& mutable_items();
  Object& mutable_members();

  // What Python's bool() returns: false for null, false, zeros, "", [] and {}.
  bool truthy() const noexcept;

  // Same kind and same content.  kInt and kFloat are never equal, NaN equals
  // NaN, objects also compare the order of their keys.
  bool operator==(const Value& other) const noexcept;

  // Whether this is a copy of `other` that has not been changed since, or a
  // short value like it.  Complexity: O(1).  False says nothing.
  bool is_copy_of(const Value& other) const noexcept {
    return std::memcmp(bytes_, other.bytes_, sizeof bytes_) == 0;
  }

  // Bytes held by this value, shared parts counted in full.
  std::size_t memory_bytes() const noexcept;

 private:
  struct Node;
  struct StringNode;
  struct AdoptedNode;
  struct ArrayNode;
  struct ObjectNode;
  void release() noexcept;  // REQUIRES: is_shared()
  static void destroy(Node* node) noexcept;
  bool is_shared() const noexcept { return bytes_[15] >= kFirstShared; }
  // Becomes null without releasing anything.  Eight bytes and not the tag
  // alone: processors stall where a byte was written and more is read at once.
  void forget() noexcept { std::memset(bytes_ + 8, 0, 8); }

  // Layout: bytes_[15] is the tag.  Strings have an inline and a shared form;
  // the inline form keeps its length in bytes_[14].  Every other kind keeps
  // its payload in the first eight bytes, which from kFirstShared on is a
  // pointer to a counted node.  All bytes zero is null.
  static constexpr unsigned char kFirstShared = 5;
  static constexpr Kind kKinds[] = {
      // ORDER: Tag in value.cc
      Kind::kNull,   Kind::kBool,   Kind::kInt,    Kind::kFloat,
      Kind::kString, Kind::kString, Kind::kBigInt, Kind::kFloat,
      Kind::kString, Kind::kArray,  Kind::kObject,
  };
  alignas(8) unsigned char bytes_[16];
};

struct Member {
  std::string key;
  Value value;
};

// The members of an object in order of first appearance.  Lookup scans an
// object with few members and uses a hash index for one with many.
class Object {
 public:
  Object() noexcept;
  Object(std::initializer_list<Member> members);
  Object(const Object& other);
  Object(Object&& other) noexcept;
  Object& operator=(const Object& other);
  Object& operator=(Object&& other) noexcept;
  ~Object();

  std::size_t size() const noexcept { return members_.size(); }
  bool empty() const noexcept { return members_.empty(); }
  auto begin() const noexcept { return members_.begin(); }
  auto end() const noexcept { return members_.end(); }
  auto begin() noexcept { return members_.begin(); }
  auto end() noexcept { return members_.end(); }

  const Value* find(std::string_view key) const noexcept;
  Value* find(std::string_view key) noexcept;
  // The value of `key`; an absent key is added at the end, with the value null.
  Value& operator[](std::string_view key);
  // Sets `key`, at its old position if it is present, else at the end.
  void set(std::string key, Value value);
  // Removes `key`; returns false if it is absent.  Complexity: O(size()).
  bool erase(std::string_view key);
  void reserve(std::size_t n) { members_.reserve(n); }

 private:
  struct Index;
  std::size_t position(std::string_view key) const noexcept;  // npos: absent
  std::vector<Member> members_;
  mutable std::unique_ptr<Index> index_;
};

// The option in which Python's json.loads and a strict reader differ, and
// limits.
struct ParseOptions {
  // Accept NaN, Infinity and -Infinity.  Default: yes, as Python does.
  bool allow_nonfinite = true;
  // Keep the numbers that a double cannot hold as they are written, see
  // Value::exact_float(): schemas are read so.  Default: no, as in Python.
  bool exact_floats = false;
  Limits limits = {};
};

// Reads one JSON text as Python's json.loads does: white space is space, tab,
// LF, CR; a leading byte order mark is an error; `text` must be UTF-8.  The
// error's span is the byte at which reading stopped.
Result<Value> parse(std::string_view text, const ParseOptions& options = {});

// How a value is written.
struct DumpOptions {
  // Write characters beyond ASCII as \u escapes; false writes UTF-8.  Default:
  // yes, as Python's json.dumps does.
  bool ascii = true;
  // Spaces per level, as json.dumps(indent=).  0: one line.
  int indent = 0;
  // No space after ',' and ':'.
  bool compact = false;
};

// Writes `value` as Python's json.dumps does: ", " and ": " between parts,
// shortest floats that read back the same (1e+16 as 1e+16, 1.0 as 1.0), NaN
// and Infinity by name.  A lone surrogate is written as its \u escape in
// either mode.
std::string dump(const Value& value, const DumpOptions& options = {});

// A JSON value as one sequence of nodes, for hosts that turn it into values of
// their own.
//
//   {"city": "Bern", "days": [1, 2]}
//
//   kObject 2 members, 7 nodes | "city" | "Bern" | "days" |
//   kArray 2 items, 3 nodes | 1 | 2
//
// Nothing is allocated for a node: texts are views of the text that was read.

struct FlatNode {
  // kBigInt does not occur.
  Kind kind = Kind::kNull;
  // kString: the text belongs to the format and is the same in every response.
  bool fixed = false;
  // kString: bytes.  kArray: items.  kObject: members, each of which is a
  // kString and a value.  Of equal keys the first gives the place and the last
  // the value.
  std::uint32_t size = 0;
  union {
    const char* text;      // kString
    std::uint64_t nodes;   // kArray, kObject: of the value, this one included
    bool boolean;          // kBool
    std::int64_t integer;  // kInt
    double number;         // kFloat
  };

  FlatNode() : nodes(1) {}

  std::string_view as_string() const { return {text, size}; }
  bool is_container() const {
    return kind == Kind::kArray || kind == Kind::kObject;
  }
};

// What follows the value at `node`.
inline const FlatNode* after(const FlatNode* node) {
  return node + (node->is_container() ? node->nodes : 1);
}

inline Value::Value() noexcept : bytes_{} {}

inline Value::Value(Value&& other) noexcept {
  std::memcpy(bytes_, other.bytes_, sizeof bytes_);
  other.forget();
}

inline Value::~Value() {
  if (is_shared()) release();
}

}  // namespace parlance::json

#endif  // PARLANCE_JSON_H_
