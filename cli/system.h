#ifndef PARLANCE_CLI_SYSTEM_H_
#define PARLANCE_CLI_SYSTEM_H_

// What the command asks of the operating system: POSIX or Windows.  No other
// source of the command differs between them.
//
// Paths and arguments are UTF-8 everywhere, and all input and output is bytes.
// Functions that return a bool, a descriptor below 0 or null for a failure
// leave its reason in errno.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::cli {

// ---- The process

// The exit status when the reader of standard output is gone: as of a process
// that SIGPIPE ends.
constexpr int kOutputClosed = 128 + 13;

// What the command expects of its process, while this exists.  A pipe whose
// reader has gone fails to be written to, or ends the process, as does a file
// that is longer than the system lets it be, and an interrupt, unless the
// parent ignores interrupts; standard input and output are bytes; a console
// obeys escape sequences and shows UTF-8.
//
// Opens on the null device the standard descriptors that are closed, so that no
// file gets their numbers; these stay open.  The destructor restores the rest,
// because the process may not end with the command: an interpreter that runs it
// continues.
class PreparedProcess {
 public:
  PreparedProcess();
  ~PreparedProcess();
  PreparedProcess(const PreparedProcess&) = delete;
  PreparedProcess& operator=(const PreparedProcess&) = delete;

 private:
  struct Before;
  std::unique_ptr<Before> before_;
};
// The arguments of main() in UTF-8.
char** utf8_arguments(int& argc, char** argv);

bool is_terminal(int descriptor);
// Whether a terminal obeys escape sequences.
bool has_colors();
// 0: not known.
std::size_t width_of_terminal(int descriptor);

// ---- Files

enum class FileKind : std::uint8_t { kFile, kFolder, kStream, kOther };

struct FileFacts {
  FileKind kind = FileKind::kOther;
  // Of a device or a socket, which many may use at once, unlike a FIFO.
  bool shared = false;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  // the number of the file on its device
  std::uint64_t bytes = 0;
  std::int64_t modified_seconds = 0;
  std::int64_t modified_ns = 0;
};

// Null if there is no such file, or it cannot be looked at.
std::optional<FileFacts> facts_of(const std::string& path);
std::optional<FileFacts> facts_of(int descriptor);
// Of a symbolic link itself.
std::optional<FileFacts> facts_of_link(const std::string& path);
// What a symbolic link contains.  On Windows no file is taken for one.
std::optional<std::string> link_target(const std::string& path);
// The path up to its last separator, which is included; "" without one.
std::string_view folder_of(std::string_view path);
// Whether the process may read a file, as far as that is known beforehand.
bool is_readable(const std::string& path);
// The paths of what is in a folder; empty if it is none.
std::vector<std::string> paths_in(const std::string& folder);

enum class OpenMode : std::uint8_t {
  kRead,
  kReplace,     // write, to an empty file
  kDevice,      // write to what is there
  kCreate,      // write; EEXIST if there is a file or a link
  kContinue,    // write to a file that is there and no link; never waits
  kJournal,     // the same, for reading and adding at its end
  kNewJournal,  // kCreate, for reading and adding at its end
};

// A descriptor, which no child process inherits.
int open_path(const std::string& path, OpenMode mode);
bool is_open(int descriptor);
int duplicate(int descriptor);
bool close_descriptor(int descriptor);

// Waits until there is something to read, or the end, at most the given time.
// False if the time has passed; a read may wait even after true.
// REQUIRES: milliseconds > 0.
bool wait_readable(int descriptor, int milliseconds);
// The number of bytes; below 0 for a failure, and EPIPE for a pipe whose reader
// is gone.
std::ptrdiff_t read_some(int descriptor, char* bytes, std::size_t capacity);
std::ptrdiff_t write_some(int descriptor, std::string_view bytes);
// From an offset; afterwards the next byte that is read is any.
std::ptrdiff_t read_at(int descriptor, char* bytes, std::size_t capacity,
                       std::uint64_t offset);

// Cuts a file off, and writes at its new end from then on.
bool truncate_to(int descriptor, std::uint64_t bytes);
// Brings what was written to the disk.
bool sync_descriptor(int descriptor);
// A new name is on the disk when its folder is.
void sync_folder_of(const std::string& path);

// Locks a file until it is closed.  False if another process has it locked; a
// file system without locks locks nothing.
bool lock_at_once(int descriptor);
void wait_for_lock(int descriptor);

// A second name for a file.
bool link_path(const std::string& from, const std::string& to);
bool rename_path(const std::string& from, const std::string& to);
void remove_path(const std::string& path);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_SYSTEM_H_
