#ifndef PARLANCE_SRC_PARSE_VALUE_SCANNER_H_
#define PARLANCE_SRC_PARSE_VALUE_SCANNER_H_

// Follows the values in a region while they arrive: where strings are, where
// the last value ends, and where the text stops being values.
//
//   {"a": "x</f>y"}; {"b": 1} and so on
//          ^^^^^^^           ^ value_end()
//          Phase::kInside     ^ other(): Phase::kOther
//
// It decides where a region ends (read.FIELD.ends "value"); the value of the
// region is read later, by the same scanners.

#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include "call_syntax/json_scanner.h"
#include "call_syntax/python_scanner.h"
#include "call_syntax/token.h"

namespace parlance::parse {

using call_syntax::Input;
using call_syntax::Phase;

using ValueLanguage =
    std::variant<call_syntax::JsonDialect, call_syntax::PythonLanguage>;

// Scans one region.  Positions count from the beginning of the stream.
//
// Law: the phase and the positions depend on the bytes scanned so far, not on
// how they were cut.
class ValueScanner {
  // What the scanner has; nothing before start().
  template <class Get>
  auto get(Get read) const {
    using Type = std::invoke_result_t<Get, const call_syntax::JsonScanner&>;
    return scanner_ ? std::visit(read, *scanner_) : Type();
  }

 public:
  // `language` must outlive the scanner.
  void start(const ValueLanguage* language, std::uint64_t position) {
    if (const auto* json = std::get_if<call_syntax::JsonDialect>(language)) {
      scanner_.emplace(call_syntax::JsonScanner(*json, position));
    } else if (const auto* python =
                   std::get_if<call_syntax::PythonLanguage>(language)) {
      scanner_.emplace(call_syntax::PythonScanner(*python, position));
    }
  }

  // Scans the text from position() to its end or to the next change of phase.
  // In kOther and kBroken reads nothing.  Complexity: O(bytes read).
  // REQUIRES: start() was called.
  void scan(const Input& input) {
    std::visit([&](auto& one) { one.follow(input); }, *scanner_);
  }

  Phase phase() const {
    return get([](const auto& one) { return one.phase(); });
  }
  std::uint64_t position() const {
    return get([](const auto& one) { return one.position(); });
  }
  // The end of the last complete value.  REQUIRES: a value was complete.
  std::uint64_t value_end() const {
    return get([](const auto& one) { return one.value_end(); });
  }
  // The end of the last string, after its closing quote.
  std::uint64_t string_end() const {
    return get([](const auto& one) { return one.string_end(); });
  }
  std::uint64_t other() const {
    return get([](const auto& one) { return one.other(); });
  }
  bool has_value() const {
    return get([](const auto& one) { return one.has_value(); });
  }
  call_syntax::State state() const {
    return get([](const auto& one) { return one.state(); });
  }

 private:
  std::optional<
      std::variant<call_syntax::JsonScanner, call_syntax::PythonScanner>>
      scanner_;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_VALUE_SCANNER_H_
