#ifndef PARLANCE_TESTS_SUPPORT_CONFORMANCE_H_
#define PARLANCE_TESTS_SUPPORT_CONFORMANCE_H_

// Where the conformance vectors are, and what is in them:
// conformance/README.md. tests/support/conformance.py is the same for Python.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json.h"
#include "support/folders.h"
#include "support/vectors.h"

namespace parlance::testing {

inline std::filesystem::path repository() {
  return std::filesystem::path(test_data()).parent_path().parent_path();
}

// The folders that PARLANCE_VECTORS adds to conformance/.
inline std::vector<std::filesystem::path> added_vector_folders() {
  const char* list = std::getenv("PARLANCE_VECTORS");
  std::istringstream names(list == nullptr ? "" : list);
  std::vector<std::filesystem::path> out;
  for (std::string name; std::getline(names, name, ':');) {
    if (name.empty()) continue;
    EXPECT_TRUE(std::filesystem::is_directory(name))
        << "PARLANCE_VECTORS names " << name << ", which is not a folder";
    out.emplace_back(name);
  }
  return out;
}

inline std::vector<std::filesystem::path> vector_folders() {
  std::vector<std::filesystem::path> out = added_vector_folders();
  out.insert(out.begin(), repository() / "conformance");
  return out;
}

// The names of the JSON files in one folder of vectors, such as "formats", in
// order and without ".json".
inline std::set<std::string> vector_files(std::string_view folder) {
  std::set<std::string> out;
  for (const std::filesystem::path& root : vector_folders()) {
    if (!std::filesystem::is_directory(root / folder)) continue;
    for (const auto& entry :
         std::filesystem::directory_iterator(root / folder)) {
      if (entry.path().extension() == ".json") {
        out.insert(entry.path().stem().string());
      }
    }
  }
  EXPECT_FALSE(out.empty()) << "no vectors in conformance/" << folder;
  return out;
}

// The vectors in one file, such as "grammar/ebnf.json".  An array has the rows
// of all folders without repetitions, an object the members of all.  A file
// that is in no folder is a failure, and the result is null.
inline json::Value vectors(std::string_view file) {
  json::Value out;
  std::set<std::string> rows;
  bool found = false;
  for (const std::filesystem::path& root : vector_folders()) {
    if (!std::filesystem::exists(root / file)) continue;
    Result<json::Value> read = json::parse(read_file(root / file));
    EXPECT_TRUE(read) << root / file << " is not JSON";
    if (!read) continue;
    if (!std::exchange(found, true)) {
      out = *std::move(read);
    } else if (out.is_array() && read->is_array()) {
      json::Array all = out.items();
      if (rows.empty()) {
        for (const json::Value& row : all) rows.insert(json::dump(row));
      }
      for (const json::Value& row : read->items()) {
        if (rows.insert(json::dump(row)).second) all.push_back(row);
      }
      out = json::Value(std::move(all));
    } else if (out.is_object() && read->is_object()) {
      for (const auto& [key, member] : read->members()) {
        out.mutable_members().set(key, member);
      }
    }
  }
  EXPECT_TRUE(found) << "no vectors conformance/" << file;
  return out;
}

// A suite that is not in the repository, because it has no licence.
inline std::optional<std::filesystem::path> suite_outside(
    std::string_view name) {
  std::vector<std::filesystem::path> places;
  for (const std::filesystem::path& folder : added_vector_folders()) {
    places.push_back(folder / name);
    places.push_back(folder / ".." / name);
  }
  places.push_back(repository() / ".." / "shared" / name);
  const auto place =
      std::ranges::find_if(places, [](const std::filesystem::path& path) {
        return std::filesystem::is_directory(path);
      });
  return place == places.end() ? std::nullopt : std::optional(*place);
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_CONFORMANCE_H_
