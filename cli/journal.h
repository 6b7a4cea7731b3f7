#ifndef PARLANCE_CLI_JOURNAL_H_
#define PARLANCE_CLI_JOURNAL_H_

// The output of a run over stored responses, which survives an interruption.
//
// The output is written to OUT.part, the descriptions of damaged rows to
// ERRORS.part.  When all is written they get their names, so what has its name
// is complete.  OUT.journal says what the output is made from, and then, now
// and again, how far the files had come:
//
//   {"version": ..., "options": {...}, "files": [{"name": ..., "digest": ...}]}
//   {"file": 0, "offset": 52428907, ..., "output_bytes": 61234567, "check":
//   ...}
//   {"file": 2, ..., "finished": true, "check": ...}
//
// A line of the journal is written when what it speaks of is on the disk.  A
// run that continues cuts both files to the lengths in the last whole line, and
// the input is read from there: rows after that line are made again, and no row
// is there twice.  Lengths are between two members or frames of a compressed
// file.  After a finished run only names are missing.
//
// Nothing that exists is written over.  OUT.part and ERRORS.part are created,
// and locked while a run writes them; a run that can be continued locks its
// journal first.  An interruption may leave, in this order: an empty journal;
// one with its first line; that and the parts; the parts and places in them; a
// finished journal and one or both files under their names.

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compression.h"
#include "files.h"
#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance::cli {

// Attempted calls by their status.
using CallCounts =
    std::array<std::size_t, static_cast<std::size_t>(CallStatus::kCutOff) + 1>;
// The name of a count in the journal.
inline std::string call_count_name(std::size_t status) {
  return std::string(to_string(static_cast<CallStatus>(status))) + "_calls";
}

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
  std::size_t ended = 0;    // responses whose end of turn was seen
  CallCounts calls = {};
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

// The files that a run writes or may replace, for refuse_overlaps().
std::vector<NamedFile> files_written(const OutputOptions& options);

class BatchOutput {
 public:
  // Throws Failure, and then has changed no file.
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
  // What was written so far ends here.  Called for each write().
  void mark(const Checkpoint& checkpoint);
  // Gives the files their names.
  void finish();
  // What a run that fails leaves, and what to do about it; "" for nothing.
  std::string remains() const;

 private:
  struct File {
    std::string path;  // "": none
    std::string part;
    int descriptor = -1;
    std::size_t bytes = 0;
    bool in_place = false;  // an open descriptor or a device, written as it is
  };

  static File file_of(const std::string& path);
  // Throws Failure where something would be written over.
  void refuse_existing(const File& file) const;
  void begin_run();
  void continue_run();
  void create(File& file);
  void reopen(File& file);
  void open_in_place(File& file);
  static void add(File& file, std::string_view bytes);
  // Opens and locks the journal.  Returns whether there is one.
  bool open_journal();
  void check_manifest(const json::Value& before) const;
  // Returns whether the run that wrote it had finished.
  bool read_checkpoint(std::string_view line);
  // Of a run that had finished: throws Failure if a file is there, as a part or
  // under its name, that is not whole.
  void check_whole(const File& file) const;
  static void sync(const File& file);
  void save(const Checkpoint& checkpoint, bool finished);
  // Gives a part its name.
  static void publish(const File& file);
  void publish_all();

  const OutputOptions& options_;
  File output_;
  File errors_;
  std::string journal_path_;
  int journal_ = -1;
  bool complete_ = false;
  bool made_journal_ = false;  // it is new, so a failure removes it
  Checkpoint begin_;
  Checkpoint last_;
  Encoder errors_encoder_;
  std::chrono::steady_clock::time_point saved_ =
      std::chrono::steady_clock::now();
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_JOURNAL_H_
