#ifndef PARLANCE_SRC_INVERSION_TAG_INPUT_H_
#define PARLANCE_SRC_INVERSION_TAG_INPUT_H_

// What a structural tag is built from, and what all of it says together about
// calls and text.

#include <string_view>
#include <vector>

#include "format/description.h"
#include "format/family.h"
#include "inversion/plan.h"
#include "inversion/request.h"

namespace parlance::inversion {

// Refers to its parts, which must outlive it.
struct TagInput {
  const format::FormatImpl& format;
  const Plan& plan;
  const ReadBack& read_back;
  const Request& request;

  // Whether the tag has calls.
  bool with_calls() const {
    return !request.tools.functions.empty() && plan.calls;
  }
  bool must_call() const { return request.tools.choice != ToolChoice::kAuto; }
  bool one_call() const {
    return !request.parallel || read_back.one_call_only ||
           request.tools.choice == ToolChoice::kForced;
  }
  // Whether text may precede calls that must come, and stand between calls.
  bool text_before_calls() const {
    return request.call_text != CallText::kOptional && !request.document;
  }
  bool wants_text_between() const {
    return request.call_text == CallText::kBetween && !request.document &&
           !one_call() && !plan.writing->messages;
  }
  bool writes_text_between() const {
    return wants_text_between() && read_back.text_between_calls;
  }

  const FieldPlan& plan_of(format::FieldId field) const {
    return plan.fields[field];
  }
  std::string_view name_of(format::FieldId field) const {
    return format.description.fields[field].name;
  }
  const format::FieldReading& reading_of(format::FieldId field) const {
    return format.family.reading.fields[field];
  }
  bool is_required(format::FieldId field) const {
    return !format.description.fields[field].optional;
  }
  const std::vector<format::WriteLayout>& layouts_of(
      format::FieldId field) const {
    return plan.writing->fields[field];
  }
};

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_TAG_INPUT_H_
