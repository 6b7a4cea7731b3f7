#ifndef PARLANCE_SRC_ARGUMENTS_ELEMENT_PARTS_H_
#define PARLANCE_SRC_ARGUMENTS_ELEMENT_PARTS_H_

// The parts of an element that is not nested, as far as its text has come.
//
//   <parameter=city>Bern</parameter>
//   [head          ]^value
//
// A value is JSON, which determines its own end, or a string, which ends at the
// first closing marker.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arguments/reader_rules.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::arguments {

// The first marker from a position on, in a text that grows.
class MarkerSearch {
 public:
  // Not before the position `at`.
  void start(std::size_t at) { searched_ = at; }
  // npos: none has come; one may begin at position() or after it.
  std::size_t find(std::string_view text, std::string_view marker);
  std::size_t position() const { return searched_; }

 private:
  std::size_t searched_ = 0;
};

// The position after the white space of the layout at `pos`.
std::size_t skip_layout(const ElementLayout& layout, std::string_view text,
                        std::size_t pos);

// The marker of an element, its name, and the text of its type.
class ElementHead {
 public:
  enum class Found : std::uint8_t { kNo, kMore, kYes };

  // Begins at `at`; `first`: no element comes before it.  `member`: one of
  // ObjectRule::names_with_middle, which is the name; else the first marker
  // after a name ends it.  `rules` and `rule` must outlive the head.
  ElementHead(ArgumentRules& rules, const ObjectRule& rule, std::size_t at,
              bool first, std::uint32_t member = kNone);

  // Reads on.  Complexity: O(what has come since).
  Found read(std::string_view text);

  // After kYes.
  const MemberName& member() const { return member_; }
  // The group of its type, in an exact layout.
  const TypeGroup* group() const { return group_; }
  // Whether the text of the type says that it is a string, in a loose layout.
  bool says_string() const { return says_string_; }
  // Whether nothing but a string is valid.
  bool is_string() const;
  std::size_t value_begin() const { return at_; }
  // Whether `text` ends before the element.
  bool is_missing(std::string_view text) const {
    return step_ == Step::kOpen && at_ == text.size();
  }

 private:
  enum class Step : std::uint8_t { kOpen, kName, kType, kDone };

  Found read_open(std::string_view text);
  Found read_name(std::string_view text);
  Found read_type(std::string_view text);

  ArgumentRules* rules_;
  const ObjectRule* rule_;
  std::uint32_t only_;
  bool first_;
  Step step_ = Step::kOpen;
  std::size_t at_;
  MarkerSearch search_;
  MemberName member_;
  const TypeGroup* group_ = nullptr;
  bool says_string_ = false;
};

// How a string is written.
struct StringText {
  std::size_t begin = 0;
  bool cdata = false;
  // What ends it.  `text` is searched for; before it is white space.
  std::string_view before = {};
  std::string_view text = {};
  std::string_view after = {};
};
StringText string_text(const ElementLayout& layout, std::string_view text,
                       std::size_t begin);

// The value after a head, and where its element ends; nothing if no value fits.
struct ElementValue {
  json::Value value;
  std::size_t end = 0;
};
std::optional<ElementValue> json_value(ArgumentRules& rules,
                                       const ElementHead& head,
                                       std::string_view text,
                                       const Limits& limits);
std::optional<ElementValue> string_value(ArgumentRules& rules,
                                         const ElementHead& head,
                                         std::string_view text);

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_ELEMENT_PARTS_H_
