#include "vocab/flat_arrays.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/system.h"

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

Result<OwnedBytes> map_file(std::string_view what, const std::string& path) {
  base::MappedFile file;
  const int failure = base::map_file(path, file);
  if (failure == EINVAL) return io_error(what, path, "it is not a file");
  if (failure != 0) return io_error(what, path, std::strerror(failure));
  if (file.bytes.empty()) return copy_bytes({});
  return OwnedBytes{std::move(file.owner), file.bytes};
}

}  // namespace parlance::vocab
