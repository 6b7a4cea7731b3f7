// Replaces a file that other processes may be reading: see replace_file.h.

#include "base/replace_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace parlance::base {

namespace {

namespace fs = std::filesystem;

Error error_of(const std::string& path, const std::string& why) {
  return Error{
      .code = ErrorCode::kIo,
      .message = "The file " + path + " cannot be written: " + why + "."};
}

// Writes `bytes` to `path`.  Returns the errno of the failure, or 0.
int write_into(const std::string& path, std::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return errno;
  int failure = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
    failure = errno;
  }
  // Flushing the rest of the buffer can fail too.
  if (std::fclose(file) != 0 && failure == 0) failure = errno;
  return failure;
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
  const std::string target = target_of(path).string();
  const std::string beside = target + ".new";
  int failure = write_into(beside, bytes);
  if (failure == 0 && std::rename(beside.c_str(), target.c_str()) != 0) {
    failure = errno;
  }
  if (failure == 0) return std::nullopt;
  std::remove(beside.c_str());
  return error_of(path, std::strerror(failure));
}

}  // namespace parlance::base
