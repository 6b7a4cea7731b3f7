#ifndef PARLANCE_SRC_HARMONY_DIAGNOSTICS_H_
#define PARLANCE_SRC_HARMONY_DIAGNOSTICS_H_

// The diagnostics of one response.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/harmony.h"

namespace parlance::harmony {

// The message of a diagnostic: what was wrong, then `found` in quotes if it is
// not empty.
std::string describe(HarmonyProblem problem, std::string_view found);

class Diagnostics {
 public:
  explicit Diagnostics(std::size_t limit) : limit_(limit) {}

  // Records a problem in `tokens` that the token `at` decided.  Past the limit
  // nothing is recorded.
  void add(HarmonyProblem problem, Span tokens, std::size_t at,
           std::string_view found = {}) {
    if (list_.size() >= limit_) return;
    list_.push_back({problem, describe(problem, found), tokens, at});
  }

  const std::vector<HarmonyDiagnostic>& list() const { return list_; }

 private:
  std::size_t limit_;
  std::vector<HarmonyDiagnostic> list_;
};

}  // namespace parlance::harmony

#endif  // PARLANCE_SRC_HARMONY_DIAGNOSTICS_H_
