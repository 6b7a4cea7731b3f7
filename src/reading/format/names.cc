// Compares names; see names.h.

#include "format/names.h"

#include <algorithm>
#include <utility>

namespace parlance::format {
namespace {

// Names of keys and formats are short; a much longer one is similar to none.
constexpr std::size_t kMaxComparedBytes = 64;

}  // namespace

std::string normal_name(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (const char c : name) {
    if (c == '-' || c == '_' || c == '.') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // The table of Wagner and Fischer (1974), one row at a time.  Before the
  // inner step for `j`, row[k] is the distance of a[0, i) and b[0, k) for k <
  // j, and of a[0, i - 1) and b[0, k) for k >= j; `diagonal` is what row[j - 1]
  // was.
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

std::string_view closest(std::string_view name,
                         std::span<const std::string_view> candidates) {
  if (name.size() > kMaxComparedBytes) return "";
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    const std::string given = normal_name(name);
    const std::string known = normal_name(candidate);
    std::size_t distance = edit_distance(given, known);
    // At most a third of the shorter name may differ, or the given name is a
    // part of the other: "template" for "response_template".
    const std::size_t shorter = std::min(given.size(), known.size());
    const bool contained =
        given.size() >= 4 && known.find(given) != std::string::npos;
    if (contained) distance = std::min(distance, 1 + shorter / 3);
    // As many edits as the name has bytes replace all of it: "a" for "b".
    if (distance > 1 + shorter / 3 || distance >= known.size()) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name,
                         std::span<const std::string_view> candidates) {
  const std::string_view near = closest(name, candidates);
  return near.empty() ? "." : "; did you mean '" + std::string(near) + "'?";
}

std::string listed(std::span<const std::string_view> names) {
  std::string out;
  std::string_view separator = "";
  for (const std::string_view name : names) {
    out.append(std::exchange(separator, ", ")).append(name);
  }
  return out;
}

}  // namespace parlance::format
