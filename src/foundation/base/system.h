#ifndef PARLANCE_SRC_BASE_SYSTEM_H_
#define PARLANCE_SRC_BASE_SYSTEM_H_

// What the library asks of the operating system: POSIX, Windows, WASI.  No
// other source of the library differs between them.
//
// Paths are UTF-8 on every system.  Functions that return an int return the
// errno of their failure, or 0.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace parlance::base {

enum class FileKind : std::uint8_t {
  kNone,  // there is none, or it cannot be looked at
  kFile,  // a regular file
  kFolder,
  kStream,  // a FIFO or a character device
  kOther,   // a block device, a socket
  kCircle,  // symbolic links that lead to each other
};

// Follows symbolic links.
FileKind file_kind(const std::string& path);

// What the symbolic link at `path` contains, if it is one.  On Windows, where
// they are rare, none is.
std::optional<std::string> link_target(const std::string& path);

// The path of a file in a folder.
std::string in_folder(const std::string& folder, std::string_view name);
// The path up to its last separator, which is included; "" without one.
std::string_view folder_of(std::string_view path);

// Opens a file for reading bytes; null, with errno, on failure.
std::FILE* open_file(const std::string& path);

// The bytes of a whole file, mapped where the system can: then processes share
// them, and they are read when they are used.
struct MappedFile {
  std::shared_ptr<const void> owner;  // may be null if `bytes` is empty
  std::string_view bytes;             // begins at a multiple of 8
};
// EINVAL: it is no regular file.
int map_file(const std::string& path, MappedFile& out);

// ---- Writing, by descriptors, which close_file() closes

// A new file for writing; EEXIST if there is one, or a link.
int create_file(const std::string& path, int& file);
// What exists, for writing.
int open_existing(const std::string& path, int& file);
int write_all(int file, std::string_view bytes);
// Gives a new file the owner, as far as the process may, and the permissions of
// another, if that exists and the system has them.
int copy_mode(int file, const std::string& from);
// Brings what was written to the disk.
int sync_file(int file);
int close_file(int file);
// Gives a file another name, and replaces the file that has it.  On Windows
// this fails with EACCES while a process has that file mapped.
int rename_over(const std::string& from, const std::string& to);
void remove_file(const std::string& path);
// A new name is on the disk when its folder is.
void sync_folder_of(const std::string& path);

// A number that no other process has; 0 where there is one process.  It differs
// in a child made by fork(), which has the memory of its parent but none of its
// other threads.
long process_id();

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_SYSTEM_H_
