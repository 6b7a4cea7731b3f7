#include "inversion/probes.h"

#include "base/access.h"
#include "base/trimmed.h"
#include "json/writer.h"

namespace parlance::inversion {

using json::Value;

namespace {

// "sa", "sb", ..., "sab": letters only, which most classes of names have.
std::string argument_name(std::size_t type, std::size_t index) {
  std::string out(1, static_cast<char>('a' + type));
  do {
    out += static_cast<char>('a' + index % 26);
    index /= 26;
  } while (index > 0);
  return out;
}

ToolSet probe_tools(std::string_view name) {
  json::Object properties;
  for (std::size_t type = 0; type < kTypes.size(); ++type) {
    const std::size_t count = type == 0 ? kMostArguments : 8;
    for (std::size_t i = 0; i < count; ++i) {
      properties.set(argument_name(type, i),
                     json::Object{{"type", kTypes[type]}});
    }
  }
  return ToolSet::from_value(json::Array{json::Object{
      {"type", "function"},
      {"function",
       json::Object{{"name", name},
                    {"parameters",
                     json::Object{{"type", "object"},
                                  {"properties", std::move(properties)}}}}}}});
}

// What a string cannot contain already.
std::vector<std::string> excluded_texts(const FieldPlan& plan,
                                        const Value& style) {
  const std::string_view name = member_text(style, "style");
  if (name == "json" || name == "python") return plan.strings;
  std::vector<std::string> out = plan.raw_values;
  const Value* elements = style.find("elements");
  if (elements != nullptr && member_text(*elements, "strings") != "json") {
    out.emplace_back(base::trimmed(member_text(*elements, "close")));
    if (const Value* ends = elements->find("ends")) {
      for (const Value& end : ends->items()) out.emplace_back(end.as_string());
    }
  }
  if (const Value* delimited = style.find("delimited")) {
    const Value* string = delimited->find("string");
    if (string != nullptr && string->size() == 2) {
      out.emplace_back(string->items()[1].as_string());
    }
  }
  std::erase(out, "");
  return out;
}

}  // namespace

Probes::Probes(const Format& format, const Plan& plan, std::string_view name)
    : format_(format), plan_(plan), name_(name), tools_(probe_tools(name)) {
  const auto& layouts = plan.writing->fields[*plan.calls];
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const Value* style = argument_style(layouts[i]);
    if (style == nullptr || i >= plan.first_samples.size()) continue;
    layouts_.push_back({style, &plan.samples[plan.first_samples[i]]});
    const auto texts = excluded_texts(plan.fields[*plan.calls], *style);
    excluded_.insert(excluded_.end(), texts.begin(), texts.end());
  }
}

std::vector<std::string> Probes::marks() const {
  std::vector<std::string> out = excluded_;
  if (elements() != nullptr) {
    out.emplace_back(member_text(*elements(), "open"));
  }
  return out;
}

std::vector<bool> Probes::read(std::size_t type, const Values& values) {
  std::vector<bool> out(values.size(), true);
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_excluded(values[i])) which.push_back(i);
  }
  ask(
      which,
      [&](std::size_t i, std::size_t place) {
        return std::pair(argument_name(type, place), values[i]);
      },
      out);
  return out;
}

std::vector<bool> Probes::read_names(const std::vector<std::string>& names,
                                     const Value& value) {
  std::vector<bool> out(names.size(), true);
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_excluded_name(names[i])) which.push_back(i);
  }
  ask(
      which,
      [&](std::size_t i, std::size_t) { return std::pair(names[i], value); },
      out);
  return out;
}

bool Probes::read_together(std::size_t type, Values values) {
  std::erase_if(values, [&](const Value& one) { return is_excluded(one); });
  if (values.empty()) return true;
  const auto reads_these = [&](std::span<const Value> some) {
    json::Object arguments;
    for (const Value& value : some) {
      if (arguments.size() == kMostArguments) break;
      arguments.set(argument_name(type, arguments.size()), value);
    }
    text_.clear();
    return reads_arguments(arguments);
  };
  const std::string text = text_;
  const std::string fault = fault_;
  std::span<const Value> left = values;
  for (std::size_t at = 0; at < values.size(); at += kMostArguments) {
    left = std::span<const Value>(values).subspan(at);
    if (!reads_these(left)) break;
    left = {};
  }
  while (left.size() > 2) {
    const std::size_t half = left.size() / 2;
    if (!reads_these(left.first(half))) {
      left = left.first(half);
    } else if (!reads_these(left.subspan(half))) {
      left = left.subspan(half);
    } else {
      break;
    }
  }
  if (!left.empty() && !reads_these(left)) return false;
  text_ = text;
  fault_ = fault;
  return true;
}

bool Probes::reads_text(std::size_t type, std::string_view text,
                        const Value& value) {
  const std::string key = argument_name(type, 0);
  return std::ranges::all_of(layouts_, [&](const Layout& layout) {
    return is_read(*layout.sample,
                   element_text(*layout.style, key, kTypes[type], text),
                   json::Object{{key, value}});
  });
}

bool Probes::last_counts() {
  const std::string key = argument_name(0, 0);
  const Layout& layout = layouts_.front();
  const bool json = member_text(*elements(), "strings") == "json";
  const std::string both =
      element_text(*layout.style, key, "string", json ? "\"ab\"" : "ab") +
      std::string(member_text(*elements(), "between")) +
      element_text(*layout.style, key, "string", json ? "\"cd\"" : "cd");
  return is_read(*layout.sample, both, json::Object{{key, "cd"}});
}

bool Probes::is_excluded(const Value& value) const {
  if (excluded_.empty()) return false;
  if (raw_strings() && (value.is_array() || value.is_object()) &&
      elements() == nullptr) {
    return std::ranges::any_of(
               value.items(),
               [&](const Value& item) { return is_excluded(item); }) ||
           std::ranges::any_of(
               value.members(), [&](const json::Member& member) {
                 return is_excluded(member.key) || is_excluded(member.value);
               });
  }
  const std::string text = value.is_string() && raw_strings()
                               ? std::string(value.as_string())
                               : json::dump(value, {.ascii = false});
  // What ends a raw string may stand in the JSON of another value.
  const bool raw = value.is_string() || elements() == nullptr;
  const auto& excluded =
      raw ? excluded_ : plan_.fields[*plan_.calls].raw_values;
  return std::ranges::any_of(excluded, [&](const std::string& one) {
    return text.find(one) != std::string::npos;
  });
}

bool Probes::is_excluded_name(const std::string& name) const {
  if (is_excluded(Value(name))) return true;
  if (elements() == nullptr || member_text(*elements(), "key") == "xml") {
    return false;
  }
  return name.find(member_text(*elements(), "middle")) != std::string::npos ||
         (member_text(*elements(), "open").ends_with('"') &&
          name.find('"') != std::string::npos);
}

bool Probes::reads_arguments(const json::Object& arguments) {
  return std::ranges::all_of(layouts_, [&](const Layout& layout) {
    const Result<std::string> text = arguments_text(*layout.style, arguments);
    return !text || is_read(*layout.sample, *text, arguments);
  });
}

bool Probes::is_read(const Sample& sample, const std::string& arguments,
                     const Value& expected) {
  std::string text = call_text(plan_, sample, name_, arguments);
  std::string fault = call_fault(format_, plan_, text, name_, expected,
                                 {.strict = true, .tools = &tools_});
  if (fault.empty()) return true;
  // The shortest text is shown.
  if (text_.empty() || text.size() < text_.size()) {
    text_ = std::move(text);
    fault_ = std::move(fault);
  }
  return false;
}

}  // namespace parlance::inversion
