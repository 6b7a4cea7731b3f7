#ifndef PARLANCE_SRC_INVERSION_PROBES_H_
#define PARLANCE_SRC_INVERSION_PROBES_H_

// Questions to the reader of a format: is this value read back?
//
// Each question is a call with many arguments, in which each is one value.  If
// it is read back, all values are; else the halves are asked.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inversion/plan.h"
#include "inversion/reading.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/tools.h"

namespace parlance::inversion {

using Values = std::vector<json::Value>;

// The types of JSON Schema that a probe is declared with.  Names of arguments
// begin with their index, as a letter.
constexpr std::array<std::string_view, 7> kTypes = {
    "string", "integer", "number", "boolean", "null", "array", "object"};
// Objects look names up one by one.
constexpr std::size_t kMostArguments = 48;

class Probes {
 public:
  Probes(const Format& format, const Plan& plan, std::string_view name);

  bool empty() const { return layouts_.empty(); }
  // The layouts have the same kind of strings.
  const format::ElementLayout* elements() const {
    return layouts_.front().arguments->elements();
  }
  // Whether lists and objects are elements, too.
  bool nests() const {
    const format::ArgumentStyle style = layouts_.front().arguments->style;
    return style == format::ArgumentStyle::kCohereXml ||
           style == format::ArgumentStyle::kMinimaxM3Xml;
  }
  bool raw_strings() const {
    if (elements() == nullptr) {
      return nests() || layouts_.front().arguments->delimited() != nullptr;
    }
    return elements()->strings != format::ElementLayout::Strings::kJson;
  }
  bool strips() const { return elements() != nullptr && elements()->strip; }
  // What stands around values and ends them.
  std::vector<std::string> marks() const;
  const std::string& text() const { return text_; }
  const std::string& fault() const { return fault_; }

  // Which of the values of this type are read back.  A value that the grammar
  // does not have is.
  std::vector<bool> read(std::size_t type, const Values& values);
  // The same for names that are not declared, of arguments with this value.
  std::vector<bool> read_names(const std::vector<std::string>& names,
                               const json::Value& value);
  bool reads(std::size_t type, const json::Value& value) {
    return read(type, {value})[0];
  }
  bool read_all(std::size_t type, const Values& values) {
    const std::vector<bool> found = read(type, values);
    return std::ranges::all_of(found, [](bool one) { return one; });
  }

  // Whether several values of this type are read back from one call.  If not,
  // text() and fault() are about a call with few of the values that is not read
  // back.
  bool read_together(std::size_t type, Values values);

  // Whether a value of this type that is written as `text` is read as `value`.
  // Only in elements.
  bool reads_text(std::size_t type, std::string_view text,
                  const json::Value& value);
  // Whether the last of two arguments of one name counts.
  bool last_counts();

 private:
  struct Layout {
    const format::ArgumentLayout* arguments;
    const Sample* sample;
  };

  // Whether a text of the value holds an excluded one.  Nested no deeper than
  // the values above.
  bool is_excluded(const json::Value& value) const;

  bool is_excluded_name(const std::string& name) const;

  // Asks for all of `which` at once, else for some at once, else one by one.
  template <typename Member>
  void ask(std::span<const std::size_t> which, const Member& member,
           std::vector<bool>& out) {
    constexpr std::size_t kSome = 8;
    if (which.empty()) return;
    const auto ask_each = [&](std::size_t size) {
      for (std::size_t at = 0; at < which.size(); at += size) {
        ask(which.subspan(at, std::min(size, which.size() - at)), member, out);
      }
    };
    if (which.size() > kMostArguments) return ask_each(kMostArguments);
    json::Object arguments;
    for (const std::size_t i : which) {
      auto [name, value] = member(i, arguments.size());
      arguments.set(std::move(name), std::move(value));
    }
    if (which.size() == 1) {
      // Beside another one: `a=\n?(?P<value>.*?)\n` reads "" alone.
      const json::Object alone = arguments;
      auto [name, value] = member(which[0], 1);
      if (arguments.find(name) != nullptr) name += "zz";
      arguments.set(std::move(name), std::move(value));
      if (!reads_arguments(arguments)) {
        out[which[0]] = false;
        reads_arguments(alone);  // a shorter text, if it fails as well
      }
      return;
    }
    if (reads_arguments(arguments)) return;
    ask_each(which.size() > kSome ? kSome : 1);
  }

  bool reads_arguments(const json::Object& arguments);

  bool is_read(const Sample& sample, const std::string& arguments,
               const json::Value& expected);

  const Format& format_;
  const Plan& plan_;
  const std::string_view name_;
  const ToolSet tools_;
  std::vector<Layout> layouts_ = {};
  std::vector<std::string> excluded_ = {};
  std::string text_ = {};
  std::string fault_ = {};
};

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_PROBES_H_
