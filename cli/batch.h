#ifndef PARLANCE_CLI_BATCH_H_
#define PARLANCE_CLI_BATCH_H_

// Stored generations: one JSON text per line in, one message per line out, in
// the order of the lines, on all cores.  Files may be compressed; an output is
// compressed block by block, in the workers.
//
//             blocks of whole lines            finished blocks
//   reader ------------------------> workers -----------------> writer
//
// A block is about half a megabyte, so a lock is taken once in some hundred
// lines. The number of blocks in flight is bounded, so memory does not grow
// with the input.

#include <string>
#include <vector>

#include "journal.h"
#include "setup.h"

namespace parlance::cli {

enum class Progress { kAuto, kAlways, kNever };

struct BatchOptions {
  std::vector<std::string> files;  // at least one; "-" is standard input
  // The names of members of an input row.
  std::string key = "response";
  std::string prefix_key = "prefix";
  std::string tools_key = "tools";
  // Of the member with the format of a row: the name of a built-in format, or a
  // format file as JSON text.  "": the rows name none.
  std::string format_key;
  std::string id;                 // "": none
  std::vector<std::string> keep;  // to be copied; { "*" } is all
  // A row of the output is the message, or with any of `id`, `keep`, `details`
  // and a `message_key` an object with the message as a member.
  std::string message_key;
  std::size_t threads = 0;  // 0: one per core
  bool chat = false;
  bool details = false;  // rows report the text that did not fit
  bool strict = false;   // diagnostics make the status kDamage
  Progress progress = Progress::kAuto;
  Color color = Color::kAuto;
  OutputOptions output;
};

// Returns the exit status.
int run_batch(const Reading& reading, const BatchOptions& options);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_BATCH_H_
