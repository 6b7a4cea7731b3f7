#ifndef PARLANCE_BENCH_MASKBENCH_REPORT_H_
#define PARLANCE_BENCH_MASKBENCH_REPORT_H_

// Sums of the measurements, schema by schema, and the table.

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"

namespace parlance::maskbench {

// Numbers of which percentiles are wanted.  As MaskBench takes them: the one
// at index int(n * p / 100) of the sorted list.
class Samples {
 public:
  void add(std::int64_t ns) { ns_.push_back(ns); }
  std::size_t count() const { return ns_.size(); }
  void sort();
  // Microseconds.  REQUIRES: sort().
  double at(double percent) const;
  double mean() const;

 private:
  std::vector<std::int64_t> ns_;
};

// What became of the schemas.  One JSON object for each:
//   name, error {code, path, message} | compile_ns, first_ns, tbm_ns [..],
//   invalid_accepted [{test}], valid_refused [{test, offset, expected, how}],
//   open_ended (invalid ones refused only at their end), notes {kind: n},
//   narrowed or ignored, verdict "passing" | "validation" | "invalidation",
//   laws [message]
class Report {
 public:
  void add(const json::Value& result);
  void add_crash(std::string name, std::string how);
  void print(std::ostream& out);
  // Lines `name code pointer message`, tabs between them.
  void print_errors(std::ostream& out) const;

 private:
  struct CompileError {
    std::string name, code, path, message;
  };
  struct Slow {
    std::int64_t ns = 0;
    std::string where;
  };
  // The few that took longest.
  static void keep_slow(std::vector<Slow>& list, Slow one);
  static void print_slow(std::ostream& out, std::string_view title,
                         const std::vector<Slow>& list);
  void print_times(std::ostream& out);
  void print_lists(std::ostream& out) const;

  std::size_t schemas_ = 0;
  std::uint64_t masks_hash_ = 0;  // a sum, so that their order does not matter
  std::size_t instances_ = 0;
  std::size_t open_ended_ = 0;
  std::map<std::string, std::size_t, std::less<>> verdicts_;
  std::map<std::string, std::size_t, std::less<>> notes_;
  Samples tbm_, compile_, first_mask_;
  std::vector<Slow> slow_masks_, slow_compiles_, slow_first_masks_;
  std::vector<CompileError> errors_;
  std::vector<std::string> crashes_, accepted_, refused_, laws_;
};

}  // namespace parlance::maskbench

#endif  // PARLANCE_BENCH_MASKBENCH_REPORT_H_
