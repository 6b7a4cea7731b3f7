#ifndef PARLANCE_SRC_MASK_REPLACE_FILE_H_
#define PARLANCE_SRC_MASK_REPLACE_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"

namespace parlance::mask {

// Makes `path` a file of `bytes`.  Whoever has an older file mapped keeps it:
// the new one is written beside it and takes its name.  A symbolic link stays
// one, and the file that it leads to is replaced.  What is no regular file is
// not replaced: a FIFO or a character device takes the bytes, anything else is
// an error.  Error: kIo.
std::optional<Error> replace_file(const std::string& path,
                                  std::string_view bytes);

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_REPLACE_FILE_H_
