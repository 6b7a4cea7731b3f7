// Heads and values of elements; see element_parts.h.

#include "arguments/element_parts.h"

#include <algorithm>
#include <utility>

#include "arguments/elements.h"
#include "arguments/markup.h"

namespace parlance::arguments {

std::size_t MarkerSearch::find(std::string_view text, std::string_view marker) {
  const std::size_t found = text.find(marker, searched_);
  if (found != std::string_view::npos) return found;
  // A marker may have begun at the end of the text.
  const std::size_t most = std::min(marker.size() - 1, text.size() - searched_);
  searched_ = text.size();
  for (std::size_t size = most; size > 0; --size) {
    if (!marker.starts_with(text.substr(text.size() - size))) continue;
    searched_ = text.size() - size;
    break;
  }
  return std::string_view::npos;
}

std::size_t skip_layout(const ElementLayout& layout, std::string_view text,
                        std::size_t pos) {
  return layout.loose ? skip_space(text, pos) : pos;
}

ElementHead::ElementHead(ArgumentRules& rules, const ObjectRule& rule,
                         std::size_t at, bool first, std::uint32_t member)
    : rules_(&rules), rule_(&rule), only_(member), first_(first), at_(at) {}

ElementHead::Found ElementHead::read(std::string_view text) {
  Found found = Found::kYes;
  while (found == Found::kYes && step_ != Step::kDone) {
    found = step_ == Step::kOpen   ? read_open(text)
            : step_ == Step::kName ? read_name(text)
                                   : read_type(text);
  }
  return found;
}

ElementHead::Found ElementHead::read_open(std::string_view text) {
  const ElementLayout& layout = rules_->layout();
  at_ = skip_layout(layout, text, at_);
  const std::string open = first_ ? layout.open : layout.between + layout.open;
  const std::string_view left = text.substr(at_);
  // An element has more than `open`, which may be empty.
  if (left.size() <= open.size()) return Found::kMore;
  if (!left.starts_with(open)) return Found::kNo;
  at_ += open.size();
  search_.start(at_);
  step_ = Step::kName;
  return Found::kYes;
}

ElementHead::Found ElementHead::read_name(std::string_view text) {
  const ElementLayout& layout = rules_->layout();
  std::size_t end = 0;
  if (only_ != kNone) {
    const ObjectRule::Member& member = rule_->members[only_];
    end = at_ + member.written.size();
    // Only a text that has come whole is read by such a name, so it is there
    // or never will be.
    if (!text.substr(at_).starts_with(member.written + layout.middle)) {
      return Found::kNo;
    }
    member_ = {only_, member.name, member.value};
  } else {
    end = search_.find(text, layout.middle);
    if (end == std::string_view::npos) return Found::kMore;
    auto member = rules_->member_of(*rule_, text.substr(at_, end - at_));
    if (!member) return Found::kNo;
    member_ = *std::move(member);
  }
  at_ = end + layout.middle.size();
  search_.start(at_);
  step_ = layout.loose && layout.after_type.empty() ? Step::kDone : Step::kType;
  return Found::kYes;
}

ElementHead::Found ElementHead::read_type(std::string_view text) {
  const ElementLayout& layout = rules_->layout();
  step_ = Step::kDone;
  if (layout.loose) {
    // Without types, white space alone stands before the marker after them.
    if (layout.types.empty()) {
      at_ = skip_space(text, at_);
      search_.start(std::max(search_.position(), at_));
    }
    const std::size_t end = search_.find(text, layout.after_type);
    if (end == std::string_view::npos) {
      step_ = Step::kType;
      return Found::kMore;
    }
    const std::string_view type = text.substr(at_, end - at_);
    if (layout.types.empty() && !type.empty()) return Found::kNo;
    says_string_ =
        !layout.types.empty() && type == rules_->groups().front().text;
    at_ = end + layout.after_type.size();
    return Found::kYes;
  }
  // No text of a type, with the text after it, begins with another one.
  const std::string_view left = text.substr(at_);
  bool wait = false;
  for (const TypeGroup& group : rules_->groups()) {
    const std::string written =
        layout.types.empty() ? "" : group.text + layout.after_type;
    wait = wait || std::string_view(written).starts_with(left);
    if (!left.starts_with(written)) continue;
    group_ = &group;
    at_ += written.size();
    return Found::kYes;
  }
  if (wait) step_ = Step::kType;
  return wait ? Found::kMore : Found::kNo;
}

bool ElementHead::is_string() const {
  const ValueRule& rule = rules_->value(member_.value);
  if (group_ == nullptr) {
    return rule.json_types == 0 ||
           (says_string_ && rule.strings == ValueRule::Strings::kAny);
  }
  return (rule.json_types & group_->types) == 0 ||
         (group_->types == schema::kString &&
          rules_->layout().strings != ElementLayout::Strings::kJson);
}

StringText string_text(const ElementLayout& layout, std::string_view text,
                       std::size_t begin) {
  if (layout.strings == ElementLayout::Strings::kCdata &&
      text.substr(begin).starts_with(kCdataOpen)) {
    return {begin + kCdataOpen.size(), true, "", kCdataClose, layout.close};
  }
  if (layout.loose) return {begin, false, "", layout.close, ""};
  const auto [before, marker] = close_text(layout.close);
  return {begin, false, before, marker,
          std::string_view(layout.close).substr(before.size() + marker.size())};
}

std::optional<ElementValue> json_value(ArgumentRules& rules,
                                       const ElementHead& head,
                                       std::string_view text,
                                       const Limits& limits) {
  const ElementLayout& layout = rules.layout();
  const TypeGroup* const group = head.group();
  // A type whose only values are strings that are not written as JSON.
  const bool strings = layout.strings != ElementLayout::Strings::kJson;
  if (group != nullptr &&
      (group->types & ~(strings ? schema::kString : 0)) == 0) {
    return std::nullopt;
  }
  const std::size_t begin = skip_layout(layout, text, head.value_begin());
  const std::size_t end = rules.json_end(head.member().value, text, begin,
                                         layout.loose ? "" : layout.close);
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t after = skip_layout(layout, text, end);
  if (!text.substr(after).starts_with(layout.close)) return std::nullopt;
  const std::string_view json = text.substr(begin, end - begin);
  std::optional<json::Value> value = parse_json(json, limits);
  if (!value || (group != nullptr && !in_group(*value, *group))) {
    return std::nullopt;
  }
  if (value->kind() == json::Kind::kFloat) {
    value = rules.number_value(rules.parameter_of(head.member().name).get(),
                               json, *std::move(value));
    if (!value) return std::nullopt;
  }
  return ElementValue{*std::move(value), after + layout.close.size()};
}

std::optional<ElementValue> string_value(ArgumentRules& rules,
                                         const ElementHead& head,
                                         std::string_view text) {
  const ElementLayout& layout = rules.layout();
  const MemberName& member = head.member();
  const TypeGroup* const group = head.group();
  if (group != nullptr && (layout.strings == ElementLayout::Strings::kJson ||
                           (group->types & schema::kString) == 0)) {
    return std::nullopt;
  }
  const StringText string = string_text(layout, text, head.value_begin());
  const std::size_t found = text.find(string.text, string.begin);
  if (found == std::string_view::npos) return std::nullopt;
  std::string_view raw = text.substr(string.begin, found - string.begin);
  const std::size_t after = found + string.text.size();
  if (!raw.ends_with(string.before) ||
      !text.substr(after).starts_with(string.after)) {
    return std::nullopt;
  }
  raw.remove_suffix(string.before.size());
  raw = raw_string(layout, raw);
  if (!rules.string_fits(member.value, raw)) return std::nullopt;
  return ElementValue{layout.types.empty()
                          ? rules.raw_value(member.name, member.value, raw)
                          : json::Value(raw),
                      after + string.after.size()};
}

}  // namespace parlance::arguments
