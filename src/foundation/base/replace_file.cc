// Replaces a file that other processes may be reading: see replace_file.h.

#include "base/replace_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/system.h"

namespace parlance::base {

namespace {

Error error_of(const std::string& path, const std::string& why) {
  return Error{
      .code = ErrorCode::kIo,
      .message = "The file " + path + " cannot be written: " + why + "."};
}

// A name beside `target` that no other call of this process gives, nor one of
// another process that runs.  Of a process that ended there may be a file.
std::string name_beside(const std::string& target) {
  static std::atomic<unsigned> calls = 0;
  return target + ".new-" + std::to_string(process_id()) + "-" +
         std::to_string(calls++);
}

// Follows symbolic links from `path` to the file to be replaced, which need not
// exist yet.
std::string target_of(std::string path) {
  constexpr int kMostLinks = 40;  // the limit of Linux
  for (int links = 0; links < kMostLinks; ++links) {
    const std::optional<std::string> next = link_target(path);
    if (!next) break;
    path =
        next->starts_with('/') ? *next : std::string(folder_of(path)) + *next;
  }
  return path;
}

// These functions return the errno of the failure, or 0.

int write_into(const std::string& path, std::string_view bytes) {
  int file = -1;
  if (const int failure = open_existing(path, file); failure != 0) {
    return failure;
  }
  const int failure = write_all(file, bytes);
  const int late = close_file(file);
  return failure != 0 ? failure : late;
}

// The new file has the owner and the permissions of the old one, from before it
// has its bytes.
int replace(const std::string& target, std::string_view bytes) {
  std::string beside;
  int file = -1;
  int failure = 0;
  do {
    beside = name_beside(target);
    failure = create_file(beside, file);
  } while (failure == EEXIST);
  if (failure != 0) return failure;
  failure = copy_mode(file, target);
  if (failure == 0) failure = write_all(file, bytes);
  if (failure == 0) failure = sync_file(file);
  const int late = close_file(file);
  if (failure == 0) failure = late;
  if (failure == 0) failure = rename_over(beside, target);
  if (failure == 0) {
    sync_folder_of(target);
  } else {
    remove_file(beside);
  }
  return failure;
}

}  // namespace

std::optional<Error> replace_file(const std::string& path,
                                  std::string_view bytes) {
  int failure = 0;
  switch (file_kind(path)) {
    case FileKind::kStream:
      // Replacing it would remove it for every other process.
      failure = write_into(path, bytes);
      break;
    case FileKind::kFolder:
      return error_of(path, "it is a folder");
    case FileKind::kOther:
      return error_of(path, "it is no regular file");
    case FileKind::kCircle:
      return error_of(path, "its symbolic links lead in a circle");
    case FileKind::kNone:
    case FileKind::kFile:
      failure = replace(target_of(path), bytes);
      break;
  }
  if (failure == 0) return std::nullopt;
  return error_of(path, std::strerror(failure));
}

}  // namespace parlance::base
