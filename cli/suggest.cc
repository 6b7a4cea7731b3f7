#include "suggest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace parlance::cli {
namespace {

// The Levenshtein distance, with one row of the table at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j - 1] + 1, above + 1,
                         diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string meant(const std::string& near) {
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

}  // namespace

std::string closest(std::string_view given,
                    std::span<const std::string> candidates) {
  std::string best;
  std::size_t least = 0;
  if (given.size() > 64) return best;
  for (const std::string& candidate : candidates) {
    const std::size_t differs = distance(given, candidate);
    // Two letters that are swapped count as two changes.
    if (differs > 2 || differs >= candidate.size()) continue;
    if (best.empty() || differs < least) {
      best = candidate;
      least = differs;
    }
  }
  return best;
}

std::string describe_extra(std::span<const std::string> commands,
                           std::span<const std::string> options,
                           std::span<const std::string> extras) {
  if (!commands.empty()) {
    // The unknown command may stand after options and their values.
    std::string unknown;
    for (const std::string& word : extras) {
      if (word.starts_with('-')) continue;
      if (const std::string near = closest(word, commands); !near.empty()) {
        return "unknown command '" + word + "'" + meant(near);
      }
      if (unknown.empty()) unknown = word;
    }
    if (!unknown.empty()) return "unknown command '" + unknown + "'";
  }
  std::string first = extras.empty() ? "" : extras.front();
  if (!first.starts_with('-')) return "unexpected argument '" + first + "'";
  // An option with a value, as in --format=qwen3, is known by its name.
  if (first.starts_with("--")) first = first.substr(0, first.find('='));
  return "unknown option '" + first + "'" + meant(closest(first, options));
}

}  // namespace parlance::cli
