// Replaces a file that other processes may be reading: see replace_file.h.

#include "base/replace_file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace parlance::base {

namespace {

namespace fs = std::filesystem;

Error error_of(const std::string& path, const std::string& why) {
  return Error{
      .code = ErrorCode::kIo,
      .message = "The file " + path + " cannot be written: " + why + "."};
}

// A name beside `target` that no other call of this process gives, nor one of
// another process that runs.  Of a process that ended there may be a file.
std::string name_beside(const std::string& target) {
  static std::atomic<unsigned> calls = 0;
  std::string out = target + ".new-";
#if defined(__unix__) || defined(__APPLE__)
  out += std::to_string(getpid()) + "-";
#endif
  return out + std::to_string(calls++);
}

// Follows symbolic links from `path` to the file to be replaced, which need not
// exist yet.
fs::path target_of(fs::path path) {
  constexpr int kMostLinks = 40;  // the limit of Linux
  std::error_code error;
  for (int links = 0; links < kMostLinks; ++links) {
    if (!fs::is_symlink(path, error)) break;
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;  // `next` itself when it is absolute
  }
  return path;
}

// The functions below return the errno of the failure, or 0.

#if defined(__unix__) || defined(__APPLE__)

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

int write_into(const std::string& path, std::string_view bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  int failure = write_all(file, bytes);
  if (close(file) != 0 && failure == 0) failure = errno;
  return failure;
}

// The new file has the owner and the permissions of the old one, from before it
// has its bytes.
int keep_mode(int file, const std::string& target) {
  struct stat old;
  if (stat(target.c_str(), &old) != 0) return errno == ENOENT ? 0 : errno;
  // Only a privileged process can do this, and only then there is need.
  if (fchown(file, old.st_uid, old.st_gid) != 0) errno = 0;
  return fchmod(file, old.st_mode & 07777) == 0 ? 0 : errno;
}

// A new name is on the disk when its folder is.
void sync_folder_of(const std::string& target) {
  const std::string folder = fs::path(target).parent_path().string();
  const int file = open(folder.empty() ? "." : folder.c_str(),
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;  // it may be written to but not read
  (void)fsync(file);
  close(file);
}

int replace(const std::string& target, std::string_view bytes) {
  std::string beside;
  int file = -1;
  do {
    beside = name_beside(target);
    file = open(beside.c_str(),
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) return errno;
  int failure = keep_mode(file, target);
  if (failure == 0) failure = write_all(file, bytes);
  if (failure == 0 && fsync(file) != 0) failure = errno;
  if (close(file) != 0 && failure == 0) failure = errno;
  if (failure == 0 && rename(beside.c_str(), target.c_str()) != 0) {
    failure = errno;
  }
  if (failure == 0) {
    sync_folder_of(target);
  } else {
    unlink(beside.c_str());
  }
  return failure;
}

#else

int write_with(const std::string& path, const char* mode,
               std::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), mode);
  if (file == nullptr) return errno;
  int failure = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
    failure = errno;
  }
  // Flushing the rest of the buffer can fail too.
  if (std::fclose(file) != 0 && failure == 0) failure = errno;
  return failure;
}

int write_into(const std::string& path, std::string_view bytes) {
  return write_with(path, "wb", bytes);
}

int replace(const std::string& target, std::string_view bytes) {
  const std::string beside = name_beside(target);
  int failure = write_with(beside, "wbx", bytes);
  if (failure == EEXIST) return failure;
  if (failure == 0 && std::rename(beside.c_str(), target.c_str()) != 0) {
    failure = errno;
  }
  if (failure != 0) std::remove(beside.c_str());
  return failure;
}

#endif

}  // namespace

std::optional<Error> replace_file(const std::string& path,
                                  std::string_view bytes) {
  std::error_code ignored;
  switch (fs::status(path, ignored).type()) {
    case fs::file_type::fifo:
    case fs::file_type::character: {
      // Replacing it would remove it for every other process.
      const int failure = write_into(path, bytes);
      if (failure == 0) return std::nullopt;
      return error_of(path, std::strerror(failure));
    }
    case fs::file_type::directory:
      return error_of(path, "it is a folder");
    case fs::file_type::block:
    case fs::file_type::socket:
      return error_of(path, "it is no regular file");
    default:
      break;
  }
  if (ignored == std::errc::too_many_symbolic_link_levels) {
    return error_of(path, "its symbolic links lead in a circle");
  }
  const int failure = replace(target_of(path).string(), bytes);
  if (failure == 0) return std::nullopt;
  return error_of(path, std::strerror(failure));
}

}  // namespace parlance::base
