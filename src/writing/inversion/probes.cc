#include "inversion/probes.h"

#include "json/writer.h"
#include "rendering/arguments.h"

namespace parlance::inversion {

using json::Value;

namespace {

// "aa", "ab", ... for strings, "bb", "bc", ... for the second type: letters
// only, which most classes of names have.  The names that are tried as names of
// undeclared arguments ("ba", "aba", "ab") are not declared, unless for
// strings.
std::string argument_name(std::size_t type, std::size_t index) {
  const char first = type == 0 ? 'a' : 'b';
  const std::size_t letters = type == 0 ? 26 : 25;
  std::string out(1, static_cast<char>('a' + type));
  do {
    out += static_cast<char>(first + index % letters);
    index /= letters;
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
      {"name", name},
      {"parameters", json::Object{{"type", "object"},
                                  {"properties", std::move(properties)}}}}});
}

}  // namespace

Probes::Probes(const Format& format, const Plan& plan, std::string_view name)
    : format_(format), plan_(plan), name_(name), tools_(probe_tools(name)) {
  const auto& layouts = plan.writing->fields[*plan.calls];
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    using format::ArgumentStyle;
    const format::ArgumentLayout* layout = argument_layout(layouts[i]);
    if (layout == nullptr || i >= plan.first_samples.size()) continue;
    layouts_.push_back({layout, &plan.samples[plan.first_samples[i]]});
    const FieldPlan& field = plan.fields[*plan.calls];
    const bool quoted = layout->style == ArgumentStyle::kJson ||
                        layout->style == ArgumentStyle::kPython;
    const auto texts = quoted ? field.strings : raw_excludes(field, *layout);
    excluded_.insert(excluded_.end(), texts.begin(), texts.end());
  }
}

std::vector<std::string> Probes::marks() const {
  std::vector<std::string> out = excluded_;
  if (elements() != nullptr) out.push_back(elements()->open);
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
                   rendering::element(*layout.arguments->elements(), key,
                                      kTypes[type], text),
                   json::Object{{key, value}});
  });
}

bool Probes::last_counts() {
  const std::string key = argument_name(0, 0);
  const Layout& layout = layouts_.front();
  const bool json =
      elements()->strings == format::ElementLayout::Strings::kJson;
  const auto one = [&](const char* text) {
    return rendering::element(*elements(), key, "string",
                              json ? json::quoted(text) : text);
  };
  const std::string both = one("ab") + elements()->between + one("cd");
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
  return is_excluded(Value(name)) ||
         ends_early(name, *layouts_.front().arguments);
}

bool Probes::reads_arguments(const json::Object& arguments) {
  return std::ranges::all_of(layouts_, [&](const Layout& layout) {
    const Result<std::string> text = rendering::write_arguments(
        arguments, *layout.arguments, {}, rendering::Escapes::kNo);
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
