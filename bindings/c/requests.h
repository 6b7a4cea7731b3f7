#ifndef PARLANCE_BINDINGS_C_REQUESTS_H_
#define PARLANCE_BINDINGS_C_REQUESTS_H_

// Requests: JSON objects whose members are options.
//
//   Request request(text, size);
//   options.any_order = request.flag("any_order", false);
//   request.finish();   // a key that no one has asked for is an error

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/json.h"

namespace parlance::c {

// A function that asks for a member throws Failed if it has another type; null
// is as if it were absent.
class Request {
 public:
  // "" is {}.
  Request(const char* text, std::size_t size);
  // An object inside another, whose pointers begin with `path`.
  Request(const json::Value& object, std::string path);

  // The member, or null.
  const json::Value* find(std::string_view key);
  // The member, which is a list or an object, or null.
  const json::Value* list(std::string_view key);
  const json::Value* object(std::string_view key);
  bool flag(std::string_view key, bool otherwise);
  std::uint64_t number(std::string_view key, std::uint64_t otherwise,
                       std::uint64_t most = UINT64_MAX / 2);
  std::optional<std::uint64_t> maybe_number(std::string_view key,
                                            std::uint64_t most = UINT64_MAX /
                                                                 2);
  std::string text(std::string_view key, std::string_view otherwise = {});
  std::optional<std::vector<TokenId>> ids(std::string_view key);
  // The place of a text in `names`.
  std::size_t choice(std::string_view key,
                     std::initializer_list<std::string_view> names,
                     std::size_t otherwise = 0);
  Markers markers();
  GrammarLimits limits();

  // Throws if there is a key that was not asked for.
  void finish() const;

  std::string path_of(std::string_view key) const;

 private:
  [[noreturn]] void wrong_type(std::string_view key,
                               std::string_view wanted) const;

  json::Value object_;
  std::string path_;
  std::vector<std::string_view> asked_;  // literals
};

}  // namespace parlance::c

#endif  // PARLANCE_BINDINGS_C_REQUESTS_H_
