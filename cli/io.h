#ifndef PARLANCE_CLI_IO_H_
#define PARLANCE_CLI_IO_H_

// Input and output of bytes, and the one exception for mistakes of the user.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace parlance::cli {

// Exit statuses of every command.
constexpr int kOk = 0;
constexpr int kDamage = 1;  // what was read does not fit, or has errors
constexpr int kUsage = 2;   // the arguments or a template cannot be used

// Ends the command.  The text is written to standard error after "parlance: ".
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& text, int status = kUsage)
      : std::runtime_error(text), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

// The reader of standard output is gone, so there is nothing left to do.
struct OutputClosed {};

// Reads a whole file; "-" and "" are standard input.
std::string read_all(const std::string& path);

// "-" and "" become "<stdin>".
std::string display_name(const std::string& path);

// Writes everything, or throws OutputClosed or Failure.
void write_all(int descriptor, std::string_view bytes);
inline void put(std::string_view bytes) { write_all(1, bytes); }
inline void put_error(std::string_view bytes) { write_all(2, bytes); }

// An open file for reading; "-" and "" are standard input.  Movable, not
// copyable.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Up to `capacity` bytes as soon as there are some; 0 at the end.
  std::size_t read(char* bytes, std::size_t capacity);

  // The whole file in memory when it can be mapped, else empty (a pipe, a
  // terminal, an empty file).  Valid as long as this object.
  std::string_view map();

 private:
  std::string name_;
  int descriptor_ = 0;
  bool close_ = false;
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_IO_H_
