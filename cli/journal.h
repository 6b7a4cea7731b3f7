#ifndef PARLANCE_CLI_JOURNAL_H_
#define PARLANCE_CLI_JOURNAL_H_

// The output of a run over stored responses, which survives an interruption.
//
// The output is written to OUT.part, the descriptions of damaged rows to
// ERRORS.part.  When all is written they get their names, so what has its name
// is complete.  OUT.journal says what the output is made from, and then, now
// and again, how far the files had come:
//
//   {"version": ..., "options": {...}, "files": [{"name": ..., "bytes": ...}]}
//   {"file": 0, "offset": 52428907, ..., "output_bytes": 61234567, ...}
//
// A line of the journal is written when what it speaks of is on the disk.  A
// run that continues cuts both files to the lengths in the last whole line, and
// the input is read from there: rows after that line are made again, and no row
// is there twice.  Lengths are between two members or frames of a compressed
// file.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "compression.h"
#include "parlance/json.h"

namespace parlance::cli {

// How far a run has come.
struct Checkpoint {
  std::size_t file = 0;    // the input that is read, of the list
  std::size_t offset = 0;  // in its text
  std::size_t line = 0;    // in it
  std::size_t row = 0;     // in it
  // Of all inputs.
  std::size_t rows = 0;
  std::size_t failed = 0;   // rows without a message
  std::size_t cut = 0;      // responses that were cut off
  std::size_t damaged = 0;  // messages that lack something
};

struct OutputOptions {
  std::string output;  // "": standard output
  std::string errors;  // "": none
  bool resume = false;
  double checkpoint_seconds = 1;
  // What the output is made from.  A run that continues has the same.  Null:
  // the run cannot be continued.
  json::Value manifest;
};

class BatchOutput {
 public:
  // Throws Failure.
  explicit BatchOutput(const OutputOptions& options);
  ~BatchOutput();
  BatchOutput(const BatchOutput&) = delete;
  BatchOutput& operator=(const BatchOutput&) = delete;

  // An earlier run has made the whole output.
  bool complete() const { return complete_; }
  // Where to go on; all 0 for a new run.
  const Checkpoint& begin() const { return begin_; }

  // Writes rows, as they are to be stored, and descriptions of damaged rows.
  void write(std::string_view rows, std::string_view errors);
  // What was written so far ends here.
  void mark(const Checkpoint& checkpoint);
  // Gives the files their names.
  void finish();

 private:
  struct File {
    std::string path;  // "": standard output, or no file
    std::string part;
    int descriptor = -1;
    std::size_t bytes = 0;
    bool in_place = false;  // a device, which is written to as it is
  };

  void open(File& file, bool resumed);
  // Returns whether there is a run to continue.
  bool read_journal();
  void check_manifest(const json::Value& before) const;
  static void put_bytes(int descriptor, const std::string& name,
                        std::string_view bytes);
  static void sync(const File& file);
  void save(const Checkpoint& checkpoint);

  const OutputOptions& options_;
  File output_;
  File errors_;
  std::string journal_path_;
  int journal_ = -1;
  bool complete_ = false;
  Checkpoint begin_;
  Encoder errors_encoder_;
  std::chrono::steady_clock::time_point saved_ =
      std::chrono::steady_clock::now();
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_JOURNAL_H_
