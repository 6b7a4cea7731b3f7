#ifndef PARLANCE_CLI_IO_H_
#define PARLANCE_CLI_IO_H_

// Input and output of bytes, and the one exception for mistakes of the user.

#include <atomic>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "files.h"

namespace parlance::cli {

// Exit statuses of every command.
constexpr int kOk = 0;
constexpr int kDamage = 1;  // what was read does not fit, or has errors
constexpr int kUsage = 2;   // the arguments or a template cannot be used

// Ends the command.  The text is written to standard error after "parlance: ".
class Failure : public std::runtime_error {
 public:
  // `text` may hold anything, such as the name of a file: see safe_text().
  explicit Failure(const std::string& text, int status = kUsage);
  // Text with colours, all of whose parts are safe.
  static Failure painted(const std::string& text);
  int status() const { return status_; }

 private:
  struct Safe {};
  Failure(const std::string& text, int status, Safe /*made safe*/)
      : std::runtime_error(text), status_(status) {}
  int status_;
};

// The reader of standard output is gone, so there is nothing left to do.
struct OutputClosed {};

// Thrown where a thread waits for input that is not needed any more, because
// the command has failed elsewhere.
struct Stopped {};

// Reads a whole file; "-" and "" are standard input.
std::string read_all(const std::string& path);
// The digest of what read_all() has read from this path, "" if it has not.
std::string digest_read(const std::string& path);

// Adds a file, or the files of a folder, that the library reads to
// files_read().
void note_read(const std::string& path);
// Empties files_read() and what digest_read() knows, for another run.
void forget_files();

// A path for messages, see one_line(); "-" and "" become "<stdin>".
std::string display_name(const std::string& path);

// Writes everything, or throws OutputClosed or Failure.  `name` is for the
// message.
void write_all(int descriptor, std::string_view bytes,
               const std::string& name = "standard output");
inline void put(std::string_view bytes) { write_all(1, bytes); }
inline void put_error(std::string_view bytes) { write_all(2, bytes); }
// Text whose bytes are the purpose, such as a rendered message: as it is, and
// on a terminal by safe_text().
void put_bytes(std::string_view bytes);

// The open descriptor that a name stands for.  To open its name again would
// begin at the start of a file that others write to as well.  Throws Failure if
// it is not open.  REQUIRES: nothing that stays open is opened yet, since that
// could get the number.
std::optional<int> descriptor_of(std::string_view path);

// Writes `bytes` to a file that the user names.  Throws Failure, and then
// before anything is written if the file is one that was read.
void write_file(const std::string& path, std::string_view bytes);

// An open file for reading; "-" and "", once, are standard input.  Throws
// Failure for a regular file that changes while it is read, or since before.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Up to `capacity` bytes as soon as there are some; 0 at the end.
  std::size_t read(char* bytes, std::size_t capacity);
  // The same, but throws Stopped when `stopped` becomes true meanwhile.
  std::size_t read(char* bytes, std::size_t capacity,
                   const std::atomic<bool>& stopped);

  // Whether it is a regular file, which has its end from the beginning.
  bool is_regular() const { return stamp_.has_value(); }

 private:
  std::optional<FileStamp> stamp() const;
  // Throws Failure if the file is not as it was when it was opened.
  void check() const;

  std::string name_;
  int descriptor_ = 0;
  bool close_ = false;
  std::optional<FileStamp> stamp_;  // of a regular file
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_IO_H_
