#ifndef PARLANCE_CLI_LINES_H_
#define PARLANCE_CLI_LINES_H_

// Cutting inputs into blocks of whole lines.

#include <cstddef>
#include <memory>
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
  std::size_t end = 0;       // in the text of the file, behind the block
  std::size_t consumed = 0;  // bytes of all files, as they are stored, so far
  std::string owned;         // holds the text unless the input is mapped
  std::shared_ptr<InputFile> mapped;  // holds it then
  std::string_view text;
};

// Where reading begins: a file, and an offset in its text at a line's begin.
struct InputPlace {
  std::size_t file = 0;
  std::size_t offset = 0;
};

// Files one after the other, each of which may be compressed.  Not thread-safe.
class BlockReader {
 public:
  // `paths` must live as long as the reader.
  BlockReader(const std::vector<std::string>& paths, InputPlace begin);

  // The next block, or false at the end.  A pipe's block has what came with
  // one read, so that lines are answered as they are written.  Throws Failure.
  bool next(Block& block);

  // The size of all files as they are stored, 0 if it is not known; may be
  // called from any thread.
  std::size_t total_bytes() const { return total_bytes_; }

 private:
  void open();
  bool next_mapped(Block& block);
  bool next_read(Block& block);
  // Up to `capacity` bytes of the text; 0 at its end.  Of a file, all that
  // there is room for.
  std::size_t read(char* bytes, std::size_t capacity);
  void skip(std::size_t bytes);

  const std::vector<std::string>& paths_;
  std::size_t total_bytes_ = 0;
  std::size_t index_ = 0;
  std::size_t file_index_ = 0;
  std::size_t consumed_before_ = 0;  // bytes of the files before

  // Of the open file.  A mapped file that is not compressed is cut in place.
  std::shared_ptr<InputFile> input_;
  std::string_view mapped_;
  std::size_t at_ = 0;      // in mapped_, or bytes that were read
  std::size_t offset_ = 0;  // in the text
  std::unique_ptr<Decoder> decoder_;
  std::string raw_;            // of a pipe, as it is stored
  std::string_view raw_left_;  // of raw_ or mapped_
  std::string rest_;           // of a line that is not complete
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_LINES_H_
