#ifndef PARLANCE_CLI_LINES_H_
#define PARLANCE_CLI_LINES_H_

// Cutting inputs into blocks of whole lines.

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compression.h"
#include "io.h"

namespace parlance::cli {

// Some whole lines of one file; the last line of a file may lack its newline.
struct Block {
  std::size_t index = 0;     // 0, 1, 2, ...
  std::size_t file = 0;      // of the list
  std::size_t end = 0;       // in the text of the file, after the block
  std::size_t consumed = 0;  // bytes of all files, as they are stored, so far
  std::string text;
};

// Where reading begins: a file, an offset in its text at the begin of a line,
// and the number of lines before it.
struct InputPlace {
  std::size_t file = 0;
  std::size_t offset = 0;
  std::size_t line = 0;
};

// Files one after the other, each of which may be compressed.  Not thread-safe.
//
// Files are read, not mapped: a file that is cut while it is mapped ends the
// process.
class BlockReader {
 public:
  // `paths` must live as long as the reader.
  BlockReader(const std::vector<std::string>& paths, InputPlace begin);

  // The next block, or false at the end.  A pipe's block has what came with
  // one read, so that lines are answered as they are written.
  //
  // Throws Failure, and Stopped after stop().  Of a compressed file that is
  // damaged the blocks before have had every whole line.
  //
  // Complexity: O(n), n the bytes read.
  bool next(Block& block);

  // May be called from any thread: next() stops waiting for a stream.
  void stop() { stopped_ = true; }

  // The size of all files as they are stored, 0 if it is not known; may be
  // called from any thread.
  std::size_t total_bytes() const { return total_bytes_; }

 private:
  void open();
  bool next_of_file(Block& block);
  // Up to `capacity` bytes of the text; 0 at its end.
  std::size_t read(char* bytes, std::size_t capacity);
  std::size_t read_stored(char* bytes, std::size_t capacity);
  void skip(std::size_t bytes);
  [[noreturn]] void fail(const std::string& fault) const;

  const std::vector<std::string>& paths_;
  std::atomic<bool> stopped_ = false;
  std::size_t total_bytes_ = 0;
  std::size_t index_ = 0;
  std::size_t file_index_ = 0;
  std::size_t consumed_ = 0;  // bytes of regular files

  // Of the open file.
  std::optional<InputFile> input_;
  std::size_t offset_ = 0;  // in the text
  std::size_t lines_ = 0;
  std::unique_ptr<Decoder> decoder_;
  std::string raw_;            // as it is stored
  std::string_view raw_left_;  // of raw_
  std::string rest_;           // of a line that is not complete
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_LINES_H_
