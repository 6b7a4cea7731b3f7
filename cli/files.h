#ifndef PARLANCE_CLI_FILES_H_
#define PARLANCE_CLI_FILES_H_

// Which file a name leads to, and what the files that were read contained.
//
// Files are told apart by device and inode, so that "x", "./x", a link to it
// and a second hard link are one file.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "system.h"

namespace parlance::cli {

// A file, or a name in a folder where there is none yet.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  // of the folder, if there is no file
  std::string name;         // in the folder; "" if there is a file
  friend bool operator==(const FileId&, const FileId&) = default;
};

// Null if even the folder does not exist, and for character devices and
// sockets, which many may read from and write to.  Follows symbolic links.
std::optional<FileId> file_id(const std::string& path);
// Of an open descriptor.
std::optional<FileId> file_id(int descriptor);

// A name that a run reads from or writes to.
struct NamedFile {
  std::string path;
  std::string role;  // for messages, such as "an input"
  std::optional<FileId> id;
  bool written = false;
};

// Throws Failure if a file that is written is another file of the list too.
// REQUIRES: nothing is written yet.
void refuse_overlaps(std::span<const NamedFile> files);

// The files that InputFile has opened so far, as files of such a list.
std::vector<NamedFile> files_read();

// Detects that a file changed while it is read: what a change of its content
// changes.
struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t modified_seconds = 0;
  std::int64_t modified_ns = 0;
  static FileStamp of(const FileFacts& facts) {
    return {facts.bytes, facts.modified_seconds, facts.modified_ns};
  }
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// A number for a text: different for texts that differ by accident.
class Digest {
 public:
  void add(std::string_view bytes);
  // 32 hexadecimal digits.  Ends the text.
  std::string finish();

 private:
  void add_block(const char* block);
  static constexpr std::size_t kBlock = 32;
  std::uint64_t sums_[4] = {0, 1, 2, 3};
  std::uint64_t bytes_ = 0;
  char rest_[kBlock] = {};  // of a block that is not complete
};

std::string digest_of(std::string_view text);
// Of a file that is read for this.  Throws Failure.
std::string digest_of_file(const std::string& path);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_FILES_H_
