#include "vocab/flat_arrays.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#else
#include <fstream>
#include <iterator>
#endif

namespace parlance::vocab {
namespace {

Error io_error(std::string_view what, const std::string& path,
               const std::string& why) {
  return Error{.code = ErrorCode::kIo,
               .message = std::string(what) + " in " + path +
                          " cannot be read: " + why + "."};
}

}  // namespace

OwnedBytes copy_bytes(std::string_view bytes) {
  std::shared_ptr<std::uint64_t[]> copy(
      new std::uint64_t[(bytes.size() + 7) / 8]);
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  const std::string_view view(reinterpret_cast<const char*>(copy.get()),
                              bytes.size());
  return {std::move(copy), view};
}

#if defined(__unix__) || defined(__APPLE__)

Result<OwnedBytes> map_file(std::string_view what, const std::string& path) {
  // Without O_NONBLOCK a FIFO would wait for a writer.
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return io_error(what, path, std::strerror(errno));
  struct stat about;
  if (fstat(file, &about) != 0) {
    Error error = io_error(what, path, std::strerror(errno));
    close(file);
    return error;
  }
  if (!S_ISREG(about.st_mode)) {
    close(file);
    return io_error(what, path, "it is not a file");
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size == 0) {  // an empty file cannot be mapped
    close(file);
    return copy_bytes({});
  }
  void* const data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  const int failure = errno;
  close(file);  // the mapping remains valid
  if (data == MAP_FAILED) return io_error(what, path, std::strerror(failure));
  std::shared_ptr<const void> owner(
      data, [size](const void* p) { munmap(const_cast<void*>(p), size); });
  return OwnedBytes{std::move(owner), {static_cast<const char*>(data), size}};
}

#else

Result<OwnedBytes> map_file(std::string_view what, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return io_error(what, path, std::strerror(errno));
  const std::string blob{std::istreambuf_iterator<char>(in), {}};
  return copy_bytes(blob);
}

#endif

}  // namespace parlance::vocab
