// Values: sixteen bytes, and the counted nodes that the long ones point to.
//
//   inline string   | t e x t . . . . . . . . . . |len|tag|
//   integer, float  | eight bytes   |             |   |tag|
//   shared          | Node* ────────┼─▶ refs, tag, next, content
//
// A tree may be deeper than the call stack allows, so nothing here recurses:
// freeing links the nodes to free through `next`, comparing and measuring keep
// a stack of their own.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <new>
#include <utility>

#include "base/decimal.h"
#include "base/python_number.h"
#include "json/writer.h"
#include "parlance/json.h"

namespace parlance::json {
namespace {

// ORDER: Tag, kinds in parlance/json.h.  Values of bytes_[15].  Zero must be
// null, the shared ones must come last.
enum Tag : unsigned char {
  kTagNull,
  kTagBool,
  kTagInt,
  kTagFloat,
  kTagShortString,
  kTagLongString,
  kTagBigInt,
  kTagExactFloat,
  kTagAdoptedString,
  kTagArray,
  kTagObject,
};

template <class T>
T load(const unsigned char* bytes) {
  T out;
  std::memcpy(&out, bytes, sizeof out);
  return out;
}

template <class T>
void store(unsigned char* bytes, T value) {
  std::memcpy(bytes, &value, sizeof value);
}

bool same_number(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

struct Value::Node {
  explicit Node(Tag t) : tag(t) {}
  // Gives one reference back.  Returns whether it was the last.  Nobody else
  // can change the count of an only reference, and a load is faster than an
  // atomic change.
  bool give_back() {
    return refs.load(std::memory_order_acquire) == 1 ||
           refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  std::atomic<std::uint32_t> refs{1};
  const Tag tag;
  Node* next = nullptr;  // in the list of nodes to free
};

// Followed in memory by `size` characters.
struct Value::StringNode : Value::Node {
  StringNode(Tag t, std::size_t n) : Node(t), size(n) {}
  const char* text() const { return reinterpret_cast<const char*>(this + 1); }
  std::size_t size;

  static StringNode* make(Tag tag, std::string_view s) {
    void* memory = ::operator new(sizeof(StringNode) + s.size());
    StringNode* node = new (memory) StringNode(tag, s.size());
    std::memcpy(static_cast<void*>(node + 1), s.data(), s.size());
    return node;
  }
};

// A string that was moved in rather than copied; a stretch of it counts.
struct Value::AdoptedNode : Value::Node {
  AdoptedNode(std::string text, std::size_t b, std::size_t n)
      : Node(kTagAdoptedString), storage(std::move(text)), begin(b), size(n) {}
  std::string storage;
  std::size_t begin;
  std::size_t size;
};

struct Value::ArrayNode : Value::Node {
  explicit ArrayNode(Array a) : Node(kTagArray), items(std::move(a)) {}
  Array items;
};

struct Value::ObjectNode : Value::Node {
  explicit ObjectNode(Object o) : Node(kTagObject), members(std::move(o)) {}
  Object members;
};

std::string_view to_string(Kind kind) {
  // ORDER: Kind
  static constexpr std::string_view kNames[] = {
      "null",   "boolean", "integer", "integer",
      "number", "string",  "array",   "object",
  };
  return kNames[static_cast<std::size_t>(kind)];
}

static_assert(sizeof(Value) == 16);

Value::Value(bool b) noexcept : Value() {
  bytes_[0] = b;
  bytes_[15] = kTagBool;
}

Value::Value(std::int64_t i) noexcept : Value() {
  store(bytes_, i);
  bytes_[15] = kTagInt;
}

Value::Value(double d) noexcept : Value() {
  store(bytes_, d);
  bytes_[15] = kTagFloat;
}

Value::Value(std::string_view s) : Value() {
  if (s.size() <= kInlineBytes) {
    if (!s.empty()) std::memcpy(bytes_, s.data(), s.size());
    bytes_[14] = static_cast<unsigned char>(s.size());
    bytes_[15] = kTagShortString;
  } else {
    store<Node*>(bytes_, StringNode::make(kTagLongString, s));
    bytes_[15] = kTagLongString;
  }
}

Value Value::adopt(std::string&& text, std::size_t begin, std::size_t size) {
  if (size <= kInlineBytes) {
    return Value(std::string_view(text).substr(begin, size));
  }
  Value out;
  store<Node*>(out.bytes_, new AdoptedNode(std::move(text), begin, size));
  out.bytes_[15] = kTagAdoptedString;
  return out;
}

Value::Value(Array items) : Value() {
  store<Node*>(bytes_, new ArrayNode(std::move(items)));
  bytes_[15] = kTagArray;
}

Value::Value(Object members) : Value() {
  store<Node*>(bytes_, new ObjectNode(std::move(members)));
  bytes_[15] = kTagObject;
}

Value Value::integer(std::string_view digits) {
  const bool negative = !digits.empty() && digits.front() == '-';
  if (negative) digits.remove_prefix(1);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  // Nineteen digits fit uint64; whether they fit int64 the sign decides.
  if (digits.size() <= 19) {
    std::uint64_t magnitude = 0;
    for (const char c : digits) {
      magnitude = magnitude * 10 + static_cast<std::uint64_t>(c - '0');
    }
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    if (magnitude <= kMax + negative) {
      return Value(
          static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude));
    }
  }
  Value out;
  std::string text(negative ? "-" : "");
  text += digits;
  store<Node*>(out.bytes_, StringNode::make(kTagBigInt, text));
  out.bytes_[15] = kTagBigInt;
  return out;
}

Value Value::exact_float(std::string_view text) {
  const double number = base::decimal_to_double(text);
  std::string read;
  append_float(read, number);
  const auto written = base::Decimal::from_json(text);
  if (written && base::Decimal::from_json(read) == written) return number;
  Value out;
  store<Node*>(out.bytes_, StringNode::make(kTagExactFloat, text));
  out.bytes_[15] = kTagExactFloat;
  return out;
}

Value::Value(const Value& other) noexcept {
  std::memcpy(bytes_, other.bytes_, sizeof bytes_);
  if (is_shared()) {
    load<Node*>(bytes_)->refs.fetch_add(1, std::memory_order_relaxed);
  }
}

Value& Value::operator=(const Value& other) noexcept {
  Value copy(other);
  return *this = std::move(copy);
}

Value& Value::operator=(Value&& other) noexcept {
  // The old content goes last: `other` may live inside it.
  Value old(std::move(*this));
  std::memcpy(bytes_, other.bytes_, sizeof bytes_);
  other.forget();
  return *this;
}

void Value::release() noexcept {
  Node* node = load<Node*>(bytes_);
  if (node->give_back()) destroy(node);
}

void Value::destroy(Node* node) noexcept {
  Node* pending = node;
  // Takes containers out of their parents, so that a parent's destructor finds
  // only leaves.
  const auto take = [&pending](Value& child) {
    if (child.bytes_[15] < kTagArray) return;
    child.bytes_[15] = kTagNull;
    Node* inner = load<Node*>(child.bytes_);
    if (inner->give_back()) {
      inner->next = pending;
      pending = inner;
    }
  };
  while (pending != nullptr) {
    Node* const current = pending;
    pending = current->next;
    if (current->tag == kTagArray) {
      auto* array = static_cast<ArrayNode*>(current);
      for (Value& child : array->items) take(child);
      delete array;
    } else if (current->tag == kTagObject) {
      auto* object = static_cast<ObjectNode*>(current);
      for (Member& member : object->members) take(member.value);
      delete object;
    } else if (current->tag == kTagAdoptedString) {
      delete static_cast<AdoptedNode*>(current);
    } else {
      auto* string = static_cast<StringNode*>(current);
      string->~StringNode();
      ::operator delete(string);
    }
  }
}

bool Value::as_bool() const noexcept {
  return bytes_[15] == kTagBool && bytes_[0] != 0;
}

std::int64_t Value::as_int() const noexcept {
  return bytes_[15] == kTagInt ? load<std::int64_t>(bytes_) : 0;
}

double Value::as_float() const noexcept {
  switch (bytes_[15]) {
    case kTagFloat:
      return load<double>(bytes_);
    case kTagInt:
      return static_cast<double>(load<std::int64_t>(bytes_));
    case kTagBigInt:
    case kTagExactFloat:
      return base::decimal_to_double(as_string());
    default:
      return 0;
  }
}

std::string_view Value::as_string() const noexcept {
  switch (bytes_[15]) {
    case kTagShortString:
      return {reinterpret_cast<const char*>(bytes_), bytes_[14]};
    case kTagLongString:
    case kTagBigInt:
    case kTagExactFloat: {
      const auto* node = static_cast<const StringNode*>(load<Node*>(bytes_));
      return {node->text(), node->size};
    }
    case kTagAdoptedString: {
      const auto* node = static_cast<const AdoptedNode*>(load<Node*>(bytes_));
      return std::string_view(node->storage).substr(node->begin, node->size);
    }
    default:
      return {};
  }
}

const Array& Value::items() const noexcept {
  static const Array empty;
  if (bytes_[15] != kTagArray) return empty;
  return static_cast<const ArrayNode*>(load<Node*>(bytes_))->items;
}

const Object& Value::members() const noexcept {
  static const Object empty;
  if (bytes_[15] != kTagObject) return empty;
  return static_cast<const ObjectNode*>(load<Node*>(bytes_))->members;
}

const Value* Value::find(std::string_view key) const noexcept {
  return is_object() ? members().find(key) : nullptr;
}

std::size_t Value::size() const noexcept {
  if (is_array()) return items().size();
  return is_object() ? members().size() : 0;
}

Array& Value::mutable_items() {
  if (!is_array()) {
    *this = Value(Array());
  } else if (load<Node*>(bytes_)->refs.load(std::memory_order_acquire) != 1) {
    *this = Value(Array(items()));
  }
  return static_cast<ArrayNode*>(load<Node*>(bytes_))->items;
}

Object& Value::mutable_members() {
  if (!is_object()) {
    *this = Value(Object());
  } else if (load<Node*>(bytes_)->refs.load(std::memory_order_acquire) != 1) {
    *this = Value(Object(members()));
  }
  return static_cast<ObjectNode*>(load<Node*>(bytes_))->members;
}

bool Value::truthy() const noexcept {
  switch (kind()) {
    case Kind::kNull:
      return false;
    case Kind::kBool:
      return as_bool();
    case Kind::kInt:
      return as_int() != 0;
    case Kind::kBigInt:
      return true;
    case Kind::kFloat:
      return as_float() != 0;
    case Kind::kString:
      return !as_string().empty();
    case Kind::kArray:
    case Kind::kObject:
      return size() != 0;
  }
  return false;
}

namespace {

// The containers that are open while a value is walked, one for each level.
// Needs memory for values of many levels only.
template <class Level>
class Levels {
 public:
  bool empty() const { return size_ == 0; }
  Level& back() { return size_ <= kFew ? few_[size_ - 1] : more_.back(); }
  void push(Level level) {
    if (size_ < kFew) {
      few_[size_] = level;
    } else {
      more_.push_back(level);
    }
    ++size_;
  }
  void pop() {
    if (size_ > kFew) more_.pop_back();
    --size_;
  }

 private:
  static constexpr std::size_t kFew = 64;
  std::size_t size_ = 0;
  std::array<Level, kFew> few_;
  std::vector<Level> more_;
};

const Value& child_of(const Value& container, std::size_t i) {
  return container.is_array()
             ? container.items()[i]
             : (container.members().begin() + static_cast<std::ptrdiff_t>(i))
                   ->value;
}

const std::string& key_of(const Value& object, std::size_t i) {
  return (object.members().begin() + static_cast<std::ptrdiff_t>(i))->key;
}

// Whether the values are equal, apart from what is in containers.
bool equal_outside(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return a.as_bool() == b.as_bool();
    case Kind::kInt:
      return a.as_int() == b.as_int();
    case Kind::kFloat:
      return same_number(a.as_float(), b.as_float()) &&
             a.as_string() == b.as_string();
    case Kind::kBigInt:
    case Kind::kString:
      return a.as_string() == b.as_string();
    case Kind::kArray:
    case Kind::kObject:
      return a.size() == b.size();
  }
  return false;
}

}  // namespace

bool Value::operator==(const Value& other) const noexcept {
  struct Level {
    const Value* a;
    const Value* b;
    std::size_t next;
  };
  Levels<Level> open;
  const auto same_node = [](const Value& a, const Value& b) {
    return a.bytes_[15] >= kTagArray &&
           load<Node*>(a.bytes_) == load<Node*>(b.bytes_);
  };
  if (!equal_outside(*this, other)) return false;
  if (size() == 0 || same_node(*this, other)) return true;
  open.push({this, &other, 0});
  while (!open.empty()) {
    Level& level = open.back();
    if (level.next == level.a->size()) {
      open.pop();
      continue;
    }
    const std::size_t i = level.next++;
    if (level.a->is_object() && key_of(*level.a, i) != key_of(*level.b, i)) {
      return false;
    }
    const Value& a = child_of(*level.a, i);
    const Value& b = child_of(*level.b, i);
    if (!equal_outside(a, b)) return false;
    if (a.size() != 0 && !same_node(a, b)) open.push({&a, &b, 0});
  }
  return true;
}

std::size_t Value::memory_bytes() const noexcept {
  struct Level {
    const Value* container;
    std::size_t next;
  };
  Levels<Level> open;
  // Counts a value without what it contains, which comes next.
  const auto count = [&open](const Value& value) -> std::size_t {
    if (value.size() != 0) open.push({&value, 0});
    switch (value.bytes_[15]) {
      case kTagLongString:
      case kTagBigInt:
      case kTagExactFloat:
        return sizeof(Value) + sizeof(StringNode) + value.as_string().size();
      case kTagAdoptedString:
        return sizeof(Value) + sizeof(AdoptedNode) +
               static_cast<const AdoptedNode*>(load<Node*>(value.bytes_))
                   ->storage.capacity();
      case kTagArray:
        return sizeof(Value) + sizeof(ArrayNode);
      case kTagObject:
        return sizeof(Value) + sizeof(ObjectNode);
      default:
        return sizeof(Value);
    }
  };
  std::size_t total = count(*this);
  while (!open.empty()) {
    Level& level = open.back();
    if (level.next == level.container->size()) {
      open.pop();
      continue;
    }
    const std::size_t i = level.next++;
    const Value& container = *level.container;
    if (container.is_object()) {
      total += sizeof(std::string) + key_of(container, i).size();
    }
    total += count(child_of(container, i));
  }
  return total;
}

namespace {
constexpr std::size_t kNowhere = std::string_view::npos;
// Up to here a scan that compares sizes first is faster than hashing.
constexpr std::size_t kScanned = 8;
}  // namespace

// Open addressing over positions in members_: 0 is a free slot, n means member
// n - 1.  At most half full, so a probe ends.
struct Object::Index {
  std::vector<std::uint32_t> slots;

  static std::size_t hash(std::string_view key) {
    return std::hash<std::string_view>()(key);
  }

  void insert(std::string_view key, std::size_t position) {
    std::size_t i = hash(key) & (slots.size() - 1);
    while (slots[i] != 0) i = (i + 1) & (slots.size() - 1);
    slots[i] = static_cast<std::uint32_t>(position + 1);
  }

  // Accounts for the last of `members`, which is new.
  static void add_last(const std::vector<Member>& members,
                       std::unique_ptr<Index>& index) {
    if (index != nullptr && members.size() * 2 <= index->slots.size()) {
      index->insert(members.back().key, members.size() - 1);
    } else if (members.size() > kScanned) {
      if (index == nullptr) index = std::make_unique<Index>();
      index->rebuild(members);
    }
  }

  void rebuild(const std::vector<Member>& members) {
    std::size_t size = 32;
    while (size < members.size() * 4) size *= 2;
    slots.assign(size, 0);
    for (std::size_t i = 0; i < members.size(); ++i) insert(members[i].key, i);
  }
};

Object::Object() noexcept = default;

Object::Object(std::initializer_list<Member> members) {
  reserve(members.size());
  for (const Member& member : members) set(member.key, member.value);
}

Object::Object(const Object& other)
    : members_(other.members_),
      index_(other.index_ ? std::make_unique<Index>(*other.index_) : nullptr) {}

Object::Object(Object&& other) noexcept
    : members_(std::move(other.members_)), index_(std::move(other.index_)) {
  other.members_.clear();
}

Object& Object::operator=(const Object& other) {
  Object copy(other);
  return *this = std::move(copy);
}

Object& Object::operator=(Object&& other) noexcept {
  // A temporary object is needed because `other` may be a part of this object.
  Object taken(std::move(other));
  members_.swap(taken.members_);
  index_.swap(taken.index_);
  return *this;
}

Object::~Object() = default;

std::size_t Object::position(std::string_view key) const noexcept {
  if (index_ == nullptr) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].key == key) return i;
    }
    return kNowhere;
  }
  const std::vector<std::uint32_t>& slots = index_->slots;
  std::size_t i = Index::hash(key) & (slots.size() - 1);
  for (; slots[i] != 0; i = (i + 1) & (slots.size() - 1)) {
    if (members_[slots[i] - 1].key == key) return slots[i] - 1;
  }
  return kNowhere;
}

const Value* Object::find(std::string_view key) const noexcept {
  const std::size_t i = position(key);
  return i == kNowhere ? nullptr : &members_[i].value;
}

Value* Object::find(std::string_view key) noexcept {
  const std::size_t i = position(key);
  return i == kNowhere ? nullptr : &members_[i].value;
}

Value& Object::operator[](std::string_view key) {
  const std::size_t i = position(key);
  if (i != kNowhere) return members_[i].value;
  // One allocation for the usual few members instead of three.
  if (members_.capacity() == 0) members_.reserve(4);
  members_.emplace_back().key.assign(key);
  Index::add_last(members_, index_);
  return members_.back().value;
}

void Object::set(std::string key, Value value) {
  const std::size_t i = position(key);
  if (i != kNowhere) {
    members_[i].value = std::move(value);
    return;
  }
  if (members_.capacity() == 0) members_.reserve(4);
  members_.push_back({std::move(key), std::move(value)});
  Index::add_last(members_, index_);
}

bool Object::erase(std::string_view key) {
  const std::size_t i = position(key);
  if (i == kNowhere) return false;
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
  if (index_ != nullptr) index_->rebuild(members_);
  return true;
}

}  // namespace parlance::json
