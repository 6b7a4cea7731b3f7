#include "outline.h"

#include <algorithm>
#include <string_view>

#include "parlance/format.h"

namespace parlance::cli {
namespace {

// The words of the validator that offering() has named.
std::vector<std::string> words_of(CLI::Option& option) {
  std::string joined;
  try {
    joined = option.get_validator(0)->get_name();
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
  std::vector<std::string> words;
  std::string_view rest = joined;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

OptionOutline outline_of(CLI::Option& option, const std::string& command) {
  OptionOutline out;
  for (const std::string& name : option.get_snames()) {
    out.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    out.names.push_back("--" + name);
  }
  if (out.names.empty()) out.positional = option.get_name();
  if (option.get_type_size() != 0) out.value = option.get_type_name();
  out.description = option.get_description();
  out.required = option.get_required();
  out.repeats = option.get_expected_max() > 1;
  out.formats = std::ranges::count(out.names, "--format") != 0 ||
                (command == "formats" && !out.positional.empty());
  out.words = words_of(option);
  return out;
}

CommandOutline outline_of_one(CLI::App& app, const std::string& name) {
  CommandOutline out{name, app.get_description(), app.get_footer(), {}};
  for (CLI::Option* option : app.get_options()) {
    out.options.push_back(outline_of(*option, name));
  }
  // Positional ones first, as --help has them.
  std::stable_partition(
      out.options.begin(), out.options.end(),
      [](const OptionOutline& option) { return option.names.empty(); });
  return out;
}

}  // namespace

std::vector<CommandOutline> outline_of(CLI::App& app) {
  std::vector<CommandOutline> out = {outline_of_one(app, "")};
  for (CLI::App* command :
       app.get_subcommands([](CLI::App*) { return true; })) {
    // Not what is left out of --help.
    if (!command->get_group().empty()) {
      out.push_back(outline_of_one(*command, command->get_name()));
    }
  }
  return out;
}

std::vector<std::string> format_names() {
  std::vector<std::string> out;
  const auto add = [&out](const Format& format) {
    out.emplace_back(format.name());
    out.insert(out.end(), format.aliases().begin(), format.aliases().end());
  };
  for (const std::string_view name : Format::built_in_names()) {
    const auto family = Format::built_in(name);
    if (!family) continue;
    add(*family);
    for (const std::string& variant : family->variants()) {
      if (const auto format = Format::built_in(variant)) add(*format);
    }
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace parlance::cli
