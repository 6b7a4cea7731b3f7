// Token tables from a file: mapped on systems with mmap(), read on others.

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "vocab/token_tables.h"
#include "vocab/token_tables_layout.h"

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

Error io_error(const std::string& path, const std::string& why) {
  return Error{.code = ErrorCode::kIo,
               .message = "The token tables in " + path +
                          " cannot be read: " + why + "."};
}

}  // namespace

#if defined(__unix__) || defined(__APPLE__)

Result<TokenTables> TokenTables::map_file(const std::string& path,
                                          const Vocabulary& vocabulary) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return io_error(path, std::strerror(errno));
  struct stat about;
  if (fstat(file, &about) != 0) {
    Error error = io_error(path, std::strerror(errno));
    close(file);
    return error;
  }
  if (!S_ISREG(about.st_mode)) {
    close(file);
    return io_error(path, "it is not a file");
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size == 0) {  // an empty file cannot be mapped
    close(file);
    return from_bytes({}, vocabulary);
  }
  void* const data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  const int failure = errno;
  close(file);  // the mapping remains valid
  if (data == MAP_FAILED) return io_error(path, std::strerror(failure));
  std::shared_ptr<const void> owner(
      data, [size](const void* p) { munmap(const_cast<void*>(p), size); });
  return TablesReader::read(std::move(owner),
                            {static_cast<const char*>(data), size},
                            key_of(vocabulary));
}

#else

Result<TokenTables> TokenTables::map_file(const std::string& path,
                                          const Vocabulary& vocabulary) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return io_error(path, std::strerror(errno));
  const std::string blob{std::istreambuf_iterator<char>(in), {}};
  return from_bytes(blob, vocabulary);
}

#endif

}  // namespace parlance::vocab
