// Writing a file that others may be reading.

#include "mask/replace_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace parlance::mask {

std::optional<Error> replace_file(const std::string& path,
                                  std::string_view bytes) {
  const std::string beside = path + ".new";
  const auto failed = [&] {
    const std::string why = std::strerror(errno);
    std::remove(beside.c_str());
    return Error{
        .code = ErrorCode::kIo,
        .message = "The file " + path + " cannot be written: " + why + "."};
  };
  std::FILE* file = std::fopen(beside.c_str(), "wb");
  if (file == nullptr) return failed();
  const bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !written) return failed();
  if (std::rename(beside.c_str(), path.c_str()) != 0) return failed();
  return std::nullopt;
}

}  // namespace parlance::mask
