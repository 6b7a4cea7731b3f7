#ifndef PARLANCE_TESTS_SUPPORT_JSON_HOST_H_
#define PARLANCE_TESTS_SUPPORT_JSON_HOST_H_

// A JmespathHost whose values are pointers to JSON values: the search over
// a host must find what the search over JSON finds.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "parlance/jmespath.h"
#include "parlance/json.h"

namespace parlance::testing {

class JsonHost final : public JmespathHost {
 public:
  explicit JsonHost(const std::vector<std::string>& names) : names_(names) {}

  // References that were not released.
  long alive() const { return alive_; }

  Handle wrap(json::Value value) {
    ++alive_;
    return new json::Value(std::move(value));
  }

  Handle retain(Handle value) override { return wrap(of(value)); }
  void release(Handle value) override {
    --alive_;
    delete static_cast<json::Value*>(value);
  }

  json::Kind kind(Handle value) override { return of(value).kind(); }
  bool is_null(Handle value) override { return of(value).is_null(); }
  bool is_true(Handle value) override {
    switch (of(value).kind()) {
      case json::Kind::kInt:
      case json::Kind::kBigInt:
      case json::Kind::kFloat:
        return true;
      default:
        return of(value).truthy();
    }
  }
  std::size_t size(Handle value) override {
    if (!of(value).is_string()) return of(value).size();
    std::size_t characters = 0;
    for (const char c : of(value).as_string()) {
      if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++characters;
    }
    return characters;
  }
  json::Value to_json(Handle value) override { return of(value); }

  Handle find(Handle value, std::size_t name) override {
    const json::Value* found = of(value).find(names_[name]);
    return found != nullptr ? wrap(*found) : nullptr;
  }
  Handle element(Handle array, std::size_t index) override {
    const json::Array& items = of(array).items();
    return index < items.size() ? wrap(items[index]) : nullptr;
  }
  Handle keys(Handle object) override {
    json::Array out;
    for (const json::Member& member : of(object).members()) {
      out.push_back(json::Value(member.key));
    }
    return wrap(std::move(out));
  }
  Handle values(Handle object) override {
    json::Array out;
    for (const json::Member& member : of(object).members()) {
      out.push_back(member.value);
    }
    return wrap(std::move(out));
  }

  Handle make(const json::Value& value) override { return wrap(value); }
  Handle make_array() override { return wrap(json::Array()); }
  Handle make_object() override { return wrap(json::Object()); }
  void append(Handle array, Handle value) override {
    of(array).mutable_items().push_back(take(value));
  }
  void set(Handle object, std::size_t name, Handle value) override {
    of(object).mutable_members()[names_[name]] = take(value);
  }
  void merge(Handle object, Handle other) override {
    for (const json::Member& member : of(other).members()) {
      of(object).mutable_members().set(member.key, member.value);
    }
  }

  json::Value take(Handle value) {
    if (value == nullptr) return json::Value();
    json::Value out = of(value);
    release(value);
    return out;
  }

 private:
  static json::Value& of(Handle value) {
    return *static_cast<json::Value*>(value);
  }

  const std::vector<std::string>& names_;
  long alive_ = 0;
};

// What `expression` finds in `value` as a value of a host.
inline Result<json::Value> search_host(const Jmespath& expression,
                                       const json::Value& value, long* leaked) {
  JsonHost host(expression.names());
  const JmespathHost::Handle given = host.wrap(value);
  Result<JmespathHost::Handle> found = expression.search(host, given);
  host.release(given);
  if (!found) {
    *leaked = host.alive();
    return std::move(found).error();
  }
  json::Value out = host.take(*found);
  *leaked = host.alive();
  return out;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_JSON_HOST_H_
