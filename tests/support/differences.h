#ifndef PARLANCE_TESTS_SUPPORT_DIFFERENCES_H_
#define PARLANCE_TESTS_SUPPORT_DIFFERENCES_H_

// Vectors that we answer differently on purpose: the table under the heading
// "Differences..." of a page of docs/reference, where they are documented.

#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "support/folders.h"

namespace parlance::testing {

// By vector, why.  Empty when the page or its table is not there.
inline std::map<std::string, std::string, std::less<>> documented_differences(
    std::string_view page) {
  std::map<std::string, std::string, std::less<>> out;
  std::ifstream file(testing::formats_folder() + "/../docs/reference/" +
                     std::string(page));
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) {
      inside = line.find(" Differences") != std::string::npos;
    }
    if (!inside || !line.starts_with("| `")) continue;
    const std::size_t end = line.find('`', 3);
    const std::size_t why = line.find("| ", end);
    if (why == std::string::npos) continue;
    out[line.substr(3, end - 3)] = line.substr(why + 2);
  }
  return out;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_DIFFERENCES_H_
