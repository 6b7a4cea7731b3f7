#ifndef PARLANCE_CLI_BATCH_H_
#define PARLANCE_CLI_BATCH_H_

// Stored generations: one JSON text per line in, one message per line out, in
// the order of the lines, on all cores.
//
//             blocks of whole lines            finished blocks
//   reader ------------------------> workers -----------------> writer
//
// A block is about a megabyte, so a lock is taken once in some hundred lines.
// The number of blocks in flight is bounded, so memory does not grow with the
// input.

#include <string>

#include "setup.h"

namespace parlance::cli {

enum class Progress { kAuto, kAlways, kNever };

struct BatchOptions {
  std::string file;
  std::string key = "response";
  std::size_t threads = 0;  // 0: one per core
  bool chat = false;
  bool details = false;  // rows report the text that did not fit
  bool strict = false;   // diagnostics make the status kDamage
  Progress progress = Progress::kAuto;
  Color color = Color::kAuto;
};

// Returns the exit status.
int run_batch(const Reading& reading, const BatchOptions& options);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_BATCH_H_
