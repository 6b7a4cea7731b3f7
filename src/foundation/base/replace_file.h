#ifndef PARLANCE_SRC_BASE_REPLACE_FILE_H_
#define PARLANCE_SRC_BASE_REPLACE_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"

namespace parlance::base {

// Makes `path` a file of `bytes`.  A process that has mapped the old file keeps
// it: the new file is written next to it, brought to the disk, and then takes
// over its name, its permissions and, as far as the process may, its owner.
// Whenever the process or the machine stops, `path` is the old file or the
// whole new one.  Any number of threads and processes may do this at the same
// time.
//
//   a new file beside it       "<path>.new-<process>-<number>"; one that exists
//                              or is a link is left alone.  Only a process that
//                              is killed leaves it behind
//   a symbolic link            stays a link; the file it leads to is replaced
//   FIFO, character device     receives the bytes and is not replaced
//   folder, block device, ...  an error
//
// Error: kIo.
std::optional<Error> replace_file(const std::string& path,
                                  std::string_view bytes);

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_REPLACE_FILE_H_
