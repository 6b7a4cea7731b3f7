#ifndef PARLANCE_CLI_LINES_H_
#define PARLANCE_CLI_LINES_H_

// Cutting an input into blocks of whole lines.

#include <cstddef>
#include <string>
#include <string_view>

#include "io.h"

namespace parlance::cli {

// Some whole lines; the last line of the input may lack its newline.
struct Block {
  std::size_t index = 0;  // 0, 1, 2, ...
  std::string owned;      // holds the text unless the input is mapped
  std::string_view text;  // valid while the BlockReader and `owned` are
};

// Not thread-safe.
class BlockReader {
 public:
  explicit BlockReader(const std::string& path);

  // The next block, or false at the end.  A pipe's block has what came with
  // one read, so that lines are answered as they are written.
  bool next(Block& block);

  // The size of the whole input in bytes, 0 if it is not known.
  std::size_t total_bytes() const { return mapped_.size(); }

 private:
  bool next_mapped(Block& block);
  bool next_read(Block& block);

  InputFile file_;
  std::string_view mapped_;
  std::size_t at_ = 0;  // in mapped_
  std::string rest_;    // of a line that is not complete
  std::size_t index_ = 0;
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_LINES_H_
