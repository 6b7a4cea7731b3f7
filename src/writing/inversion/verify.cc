#include "inversion/verify.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/access.h"
#include "base/argument_names.h"
#include "base/in_quotes.h"
#include "inversion/read_texts.h"
#include "inversion/reading.h"
#include "json/writer.h"
#include "parlance/tools.h"
#include "rendering/arguments.h"

namespace parlance::inversion {
namespace {

using format::WriteLayout;
using format::WritePart;
using format::WriteParts;

// A response with every field in the order of the steps is read as these
// fields.
//
// Sets ReadBack::no_turn_end if a text that ends the turn is not read after it.
std::optional<Error> verify_order(const Format& format, const Plan& plan,
                                  std::string_view name, ReadBack& out) {
  std::string text;
  std::vector<std::size_t> expected;
  for (const format::WriteStep& step : plan.writing->steps) {
    const WriteLayout& layout = plan.writing->fields[step.field].front();
    if (step.field == plan.calls) {
      if (!expected.empty()) text += text_in(layout.before);
      text += text_in(layout.section_begin);
      text += spelled(plan.samples.front(), name);
      text += text_in(layout.section_end);
      continue;
    }
    expected.push_back(step.field);
    for (const WritePart& part : layout.parts) {
      text += part.kind == WritePart::Kind::kPayload ? kFieldText : part.text;
    }
  }
  const auto is_read = [&](const Reading& reading) {
    if (!reading.fault.empty() || reading.fields != expected) return false;
    if (!plan.calls) return reading.calls.empty();
    return reading.calls.size() == 1 && is_call(reading.calls[0], name);
  };
  const Reading reading = read_response(format, plan, text, {.sample = true});
  if (is_read(reading)) {
    if (plan.is_derived()) {
      for (const std::string& end : plan.turn_end) {
        if (!is_read(
                read_response(format, plan, text + end, {.sample = true}))) {
          out.no_turn_end = true;
        }
      }
    }
    return std::nullopt;
  }
  return Error{
      ErrorCode::kUnsupported,
      "the fields of the format are not read back one after the other: of " +
          json::quoted(text) + ", " +
          (!reading.fault.empty()       ? reading.fault
           : reading.fields != expected ? "another field is read"
                                        : "the call is not read") +
          ".",
      format.name().empty() ? "/fields" : "/response_template/fields"};
}

// Sets ReadBack::text_between_calls if calls have no section, and two of them
// with text between are read as such.
void verify_text_between(const Format& format, const Plan& plan,
                         std::string_view name, ReadBack& out) {
  const WriteLayout& layout = plan.writing->fields[*plan.calls].front();
  if (out.one_call_only || !plan.content || !layout.section_begin.empty() ||
      !layout.section_end.empty() ||
      plan.writing->fields[*plan.content].empty()) {
    return;
  }
  const std::string call = spelled(plan.samples.front(), name);
  std::string text = call;
  for (const WritePart& part :
       plan.writing->fields[*plan.content].front().parts) {
    text += part.kind == WritePart::Kind::kPayload ? kFieldText : part.text;
  }
  text += text_in(layout.before) + call;
  const Reading reading = read_response(format, plan, text, {.sample = true});
  out.text_between_calls =
      reading.fault.empty() && reading.calls.size() == 2 &&
      is_call(reading.calls[0], name) && is_call(reading.calls[1], name) &&
      reading.fields == std::vector<std::size_t>{plan.content->value()} &&
      reading.text == kFieldText;
}

// A call whose arguments have a string with the call's opener in it is read as
// these arguments: the opener does not read on into them.
std::optional<Error> verify_string(const Format& format, const Plan& plan,
                                   std::string_view name) {
  const WriteLayout& layout = plan.writing->fields[*plan.calls].front();
  const Sample& sample = plan.samples.front();
  std::string opener;
  for (const SamplePiece& piece : sample) {
    if (piece.kind == SamplePiece::Kind::kArguments) {
      if (piece.text != "{}") return std::nullopt;
      break;
    }
    opener += spelled({piece}, name);
  }
  const auto& excluded = plan.fields[*plan.calls].strings;
  for (const std::string& text : excluded) {
    if (opener.find(text) != std::string::npos) return std::nullopt;
  }
  const format::ArgumentLayout* arguments = argument_layout(layout);
  if (arguments == nullptr ||
      arguments->style != format::ArgumentStyle::kJson) {
    return std::nullopt;
  }
  const json::Value expected = json::Object{{"a", opener}};
  const std::string text =
      call_text(plan, sample, name, json::dump(expected, {.ascii = false}));
  if (call_fault(format, plan, text, name, expected).empty()) {
    return std::nullopt;
  }
  return Error{ErrorCode::kUnsupported,
               "field '" + std::string(format.field_name(*plan.calls)) +
                   "': the opener of a call reads on into its arguments: " +
                   json::quoted(text) + " is not read back.",
               field_pointer(*detail::Access::impl(format), *plan.calls) +
                   "/open_pattern"};
}

// A call whose arguments are two elements is read as these arguments.
std::optional<Error> verify_elements(const Format& format, const Plan& plan,
                                     std::string_view name, ReadBack& out) {
  const format::ArgumentLayout* layout =
      argument_layout(plan.writing->fields[*plan.calls].front());
  if (layout == nullptr || layout->elements() == nullptr) return std::nullopt;
  const json::Value expected = json::Object{{"a", "x a"}, {"bc", "x bc"}};
  const std::string text =
      call_text(plan, plan.samples.front(), name,
                *rendering::write_arguments(expected, *layout, {},
                                            rendering::Escapes::kNo));
  const std::string fault = call_fault(format, plan, text, name, expected);
  if (fault.empty()) {
    for (const std::string& end : plan.turn_end) {
      out.no_turn_end =
          out.no_turn_end ||
          !call_fault(format, plan, text + end, name, expected).empty();
    }
    return std::nullopt;
  }
  return Error{ErrorCode::kUnsupported,
               "field '" + std::string(format.field_name(*plan.calls)) +
                   "': the arguments of the call " + json::quoted(text) +
                   " are not read back: " + fault + ".",
               field_pointer(*detail::Access::impl(format), *plan.calls) +
                   "/content_args/tag_pattern"};
}

// Whether the tag may write several calls in one response.
bool has_several_calls(const Plan& plan) {
  bool out = plan.writing->messages.has_value();
  for (const format::WriteStep& step : plan.writing->steps) {
    if (step.field == *plan.calls) out = step.repeats;
  }
  return out;
}

// Whether the message has all regions of the field of calls.
bool keeps_calls(const Format& format, const Plan& plan) {
  const format::Field& field =
      detail::Access::impl(format)->description.fields[*plan.calls];
  return field.repeats || field.transform_each;
}

// Whether the calls of all names are read back from one response, as the tag
// writes them.
bool are_read_together(const Format& format, const Plan& plan,
                       const std::vector<std::string_view>& names) {
  const WriteLayout& layout = plan.writing->fields[*plan.calls].front();
  const std::string between =
      text_in(plan.writing->messages ? plan.writing->messages->between
                                     : layout.between);
  std::string text = text_in(layout.section_begin);
  std::vector<std::string_view> expected;
  for (const std::string_view name : names) {
    for (const Sample& sample : plan.samples) {
      if (!expected.empty()) text += between;
      text += spelled(sample, name);
      expected.push_back(name);
    }
  }
  text += text_in(layout.section_end);
  const Reading reading = read_response(format, plan, text);
  return reading.fault.empty() &&
         std::equal(reading.calls.begin(), reading.calls.end(),
                    expected.begin(), expected.end(),
                    [](const json::Value& call, std::string_view name) {
                      return is_call(call, name);
                    });
}

// An error for the first call that is not read back from a response of its own.
std::optional<Error> verify_each(const Format& format, const Plan& plan,
                                 const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    for (const Sample& sample : plan.samples) {
      const std::string text = call_text(plan, sample, name);
      const std::string fault = call_fault(format, plan, text, name);
      if (fault.empty()) continue;
      return Error{ErrorCode::kConflict,
                   "tools: the tool " + base::in_quotes(name.substr(0, 200)) +
                       " cannot be called in field '" +
                       std::string(format.field_name(*plan.calls)) +
                       "': of the call " + json::quoted(text) + ", " + fault +
                       ".",
                   "/tools"};
    }
  }
  return std::nullopt;
}

// The order of the fields, text between calls, and the arguments of a derived
// writing, by a call of one tool.
std::optional<Error> verify_layout(const Format& format, const Plan& plan,
                                   std::string_view name, ReadBack& out) {
  verify_text_between(format, plan, name, out);
  if (auto error = verify_order(format, plan, name, out)) return error;
  if (!plan.is_derived()) return std::nullopt;
  if (auto error = verify_elements(format, plan, name, out)) return error;
  return verify_string(format, plan, name);
}

// What stands between the beginning of the id that the format reads and the
// id that is written: "functions.", a name and ":" in functions.get:0.
std::optional<Sample> find_id(const Format& format, const Plan& plan,
                              std::string_view name) {
  for (const Sample& sample : plan.samples) {
    const auto id =
        std::ranges::find(sample, SamplePiece::Kind::kId, &SamplePiece::kind);
    if (id == sample.end()) continue;
    const Reading reading =
        read_response(format, plan, call_text(plan, sample, name));
    if (reading.calls.size() != 1) continue;
    const json::Value* read = reading.calls[0].find("id");
    if (read == nullptr || !read->is_string()) continue;
    std::string_view left = read->as_string();
    if (!left.ends_with(id->text)) continue;
    left.remove_suffix(id->text.size());
    Sample out;
    for (auto piece = id; piece != sample.begin() && !left.empty();) {
      --piece;
      const std::string text = spelled({*piece}, name);
      if (left.ends_with(text)) {
        left.remove_suffix(text.size());
        out.insert(out.begin(), *piece);
      } else if (piece->kind == SamplePiece::Kind::kText &&
                 text.ends_with(left)) {
        out.insert(out.begin(), {piece->kind, std::string(left)});
        left = {};
      } else {
        break;
      }
    }
    if (left.empty()) return out;
  }
  return std::nullopt;
}

// verify_names() without the memo.
Result<ReadBack> read_names(const Format& format, const Plan& plan,
                            const std::vector<std::string_view>& names) {
  ReadBack out;
  if (!plan.calls) {
    if (!plan.is_derived()) return out;
    // The empty name stands for the fields without calls.
    if (auto error = verify_order(format, plan, "", out)) {
      return *std::move(error);
    }
    return out;
  }
  if (names.empty()) return out;
  out.id_before = find_id(format, plan, names.front());
  // If one of the calls in a response is not read back, each is read by itself,
  // to find it.
  const bool several = has_several_calls(plan);
  if (!several || !keeps_calls(format, plan) ||
      !are_read_together(format, plan, names)) {
    if (auto error = verify_each(format, plan, names)) {
      return *std::move(error);
    }
    // What ends the first call swallows the next one, or there is no end.
    out.one_call_only = several;
  }
  if (!plan.writing->messages) {
    if (auto error = verify_layout(format, plan, names.front(), out)) {
      return *std::move(error);
    }
  }
  return out;
}

}  // namespace

Result<ReadBack> verify_names(const Format& format, const Plan& plan,
                              const std::vector<std::string_view>& names,
                              bool other_names) {
  std::vector<std::string> key(names.begin(), names.end());
  if (other_names) key.emplace_back();
  {
    const std::lock_guard lock(plan.read_back_mutex);
    const auto known = plan.read_back.find(key);
    if (known != plan.read_back.end()) return known->second;
  }
  Result<ReadBack> out = read_names(format, plan, names);
  if (!out) return out;
  if (plan.calls && !names.empty() && !detail::Access::impl(format)->built_in) {
    Result<ReadTexts> texts =
        find_read_texts(format, plan, names.front(), other_names);
    if (!texts) return std::move(texts).error();
    out->texts = *std::move(texts);
  }
  const std::lock_guard lock(plan.read_back_mutex);
  if (plan.names + key.size() >= Plan::kMostNames) {
    plan.read_back.clear();
    plan.names = 0;
  }
  plan.names += 1 + key.size();
  plan.read_back.emplace(key, *out);
  return out;
}

namespace {

// Why a call with the argument is not read back, "" if it is.  `call` gets the
// text of the call; "" if it cannot be written.
std::string argument_fault(const Format& format, const Plan& plan,
                           const Tool& tool, const std::string& name,
                           const json::Value& value,
                           const format::ArgumentLayout& layout,
                           std::string& call) {
  const json::Value arguments = json::Object{{name, value}};
  const json::Object type = {{"type", json::to_string(value.kind())}};
  const json::Object schema = {{"type", "object"},
                               {"properties", json::Object{{name, type}}}};
  const ToolSet tools = ToolSet::from_value(
      json::Array{json::Object{{"name", tool.name}, {"parameters", schema}}});
  const Result<std::string> written =
      rendering::write_arguments(arguments, layout);
  if (!written) return written.error().message;
  std::string fault;
  for (const Sample& sample : plan.samples) {
    call = call_text(plan, sample, tool.name, *written);
    fault =
        call_fault(format, plan, call, tool.name, arguments, {.tools = &tools});
    if (!fault.empty()) break;
  }
  return fault;
}

// The schema of these properties becomes `false`.
void leave_out(Tool& tool, std::vector<std::string> names) {
  if (names.empty()) return;
  json::Value properties = *tool.schema.find("properties");
  for (std::string& name : names) {
    properties.mutable_members().set(std::move(name), false);
  }
  tool.schema.mutable_members().set("properties", std::move(properties));
}

// Whether a name with the markup beside it spells a text that no raw value may
// have: "think" between "<" and ">".
bool spells_marker(const Plan& plan, std::string_view name,
                   const format::ArgumentLayout& layout) {
  if (layout.elements() == nullptr) return false;
  const format::ElementLayout& elements = *layout.elements();
  std::string written = rendering::element(elements, name, "string", "");
  written.resize(written.size() - elements.close.size());
  return std::ranges::any_of(plan.fields[*plan.calls].raw_values,
                             [&](const std::string& text) {
                               const std::size_t at = written.find(text);
                               return at != std::string::npos &&
                                      at + text.size() > elements.open.size();
                             });
}

// Of all tools: the required arguments that cannot be written, each with its
// pointer and why.
using Faults = std::vector<std::pair<std::string, std::string>>;

// verify_arguments() for one tool whose arguments have this style.
void verify_properties(const Format& format, const Plan& plan,
                       const ReadTexts& read,
                       const format::ArgumentLayout& layout, Tool& tool,
                       std::vector<GrammarNote>& notes, Faults& faults) {
  const json::Value* declared = tool.schema.find("properties");
  if (declared == nullptr || !declared->is_object()) return;
  std::vector<std::string> left_out;
  for (const json::Member& member : declared->members()) {
    if (detail::Access::impl(format)->built_in &&
        base::is_argument_name(member.key) &&
        !spells_marker(plan, member.key, layout)) {
      continue;
    }
    std::string call;
    const std::string fault = argument_fault(format, plan, tool, member.key,
                                             some_value(read), layout, call);
    if (fault.empty()) continue;
    const bool required = requires_argument(tool, member.key);
    const bool by_grammar = call.empty() || ends_early(member.key, layout);
    if (by_grammar && !required) continue;
    const std::string what =
        argument_called(tool, member.key) + " cannot be written in field '" +
        std::string(format.field_name(*plan.calls)) + "': " +
        (call.empty()
             ? fault
             : "of the call " + json::quoted(call) + ", " + fault + ".");
    const std::string pointer = argument_pointer(tool, member.key);
    if (required) {
      faults.emplace_back(pointer, what);
      continue;
    }
    notes.push_back({GrammarNote::Kind::kNarrowed, "properties", pointer,
                     what + "  It is optional, so it is left out."});
    left_out.push_back(member.key);
  }
  leave_out(tool, std::move(left_out));
}

// An error that lists the faults, up to a bound.
Error error_of(const Faults& faults) {
  constexpr std::size_t kMostListed = 100;
  std::string message = "tools: " + faults.front().second;
  for (std::size_t i = 1; i < std::min(faults.size(), kMostListed); ++i) {
    message += "\n" + faults[i].first + ": " + faults[i].second;
  }
  if (faults.size() > kMostListed) {
    message += "\n(" + std::to_string(faults.size() - kMostListed) +
               " more arguments)";
  }
  return {ErrorCode::kConflict, std::move(message), faults.front().first};
}

}  // namespace

std::optional<Error> verify_arguments(const Format& format, const Plan& plan,
                                      const ReadTexts& read,
                                      std::vector<Tool>& tools,
                                      std::vector<GrammarNote>& notes) {
  if (!plan.calls) return std::nullopt;
  const format::ArgumentLayout* layout =
      argument_layout(plan.writing->fields[*plan.calls].front());
  if (layout == nullptr || layout->style == format::ArgumentStyle::kJson) {
    return std::nullopt;
  }
  Faults faults;
  for (Tool& tool : tools) {
    verify_properties(format, plan, read, *layout, tool, notes, faults);
  }
  if (faults.empty()) return std::nullopt;
  return error_of(faults);
}

}  // namespace parlance::inversion
