#ifndef PARLANCE_BENCH_MASKBENCH_CORPUS_H_
#define PARLANCE_BENCH_MASKBENCH_CORPUS_H_

// MaskBench's schemas with their instances, and the instances' tokens.
//
// The corpus is a folder of files DATASET.jsonl or DATASET.jsonl.gz, one schema
// a line, read one after the other so that the whole never lies in memory.
// Tokens come from a file of lines `schema TAB index TAB 1|0 TAB ids`, in which
// the lines of one schema stand together.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"

namespace parlance::maskbench {

struct Instance {
  bool valid = false;
  std::string text;
  std::vector<std::uint32_t> tokens;
};

struct Problem {
  std::string name;
  json::Value schema;
  std::vector<Instance> instances;
};

class Corpus {
 public:
  struct Selection {
    std::optional<std::set<std::string, std::less<>>> names = std::nullopt;
    std::size_t limit = ~std::size_t{0};
  };

  // Without a file of `tokens` instances have none.
  // False: a file cannot be read; error() names it.
  bool open(const std::filesystem::path& folder,
            const std::filesystem::path& tokens, Selection selection);
  const std::string& error() const { return error_; }

  // Calls `visit` for the selected schemas from number `first` on, until it
  // returns false.  False: something could not be read.
  bool each(std::size_t first,
            const std::function<bool(std::size_t, Problem)>& visit);

 private:
  // Calls `line` for each until it returns false.
  bool each_line(const std::filesystem::path& file,
                 const std::function<bool(std::string_view)>& line);
  bool read_tokens(Problem& problem);
  bool fail(std::string what);

  std::vector<std::filesystem::path> files_;
  std::filesystem::path token_file_;
  std::map<std::string, std::uint64_t, std::less<>> offsets_;
  std::ifstream tokens_;
  Selection selection_;
  std::string error_;
};

}  // namespace parlance::maskbench

#endif  // PARLANCE_BENCH_MASKBENCH_CORPUS_H_
