#include "io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <vector>

#include "style.h"

namespace parlance::cli {
namespace {

bool is_stdin(const std::string& path) { return path.empty() || path == "-"; }

[[noreturn]] void fail(const std::string& name, const char* what) {
  throw Failure("cannot " + std::string(what) + " " + name + ": " +
                std::strerror(errno));
}

// What has been opened, for files_read().  The readers of several threads share
// it.
struct OpenedFiles {
  struct File {
    std::string path;
    std::optional<FileId> id;
    std::optional<FileStamp> stamp;
    std::string digest = {};  // if read_all() has read it
  };
  std::mutex mutex;
  std::vector<File> files;
};

OpenedFiles& opened() {
  static OpenedFiles all;
  return all;
}

}  // namespace

Failure::Failure(const std::string& text, int status)
    : Failure(safe_text(text), status, Safe{}) {}

Failure Failure::painted(const std::string& text) {
  return {text, kUsage, Safe{}};
}

std::string display_name(const std::string& path) {
  return is_stdin(path) ? "<stdin>" : one_line(path);
}

std::string read_all(const std::string& path) {
  InputFile file(path);
  std::string out;
  std::size_t used = 0;
  for (;;) {
    if (out.size() - used < (std::size_t{1} << 16)) {
      out.resize(out.size() * 2 + (std::size_t{1} << 16));
    }
    std::size_t n = file.read(out.data() + used, out.size() - used);
    if (n == 0) break;
    used += n;
  }
  out.resize(used);
  OpenedFiles& all = opened();
  const std::lock_guard lock(all.mutex);
  for (auto& known : all.files) {
    if (known.path == path) known.digest = digest_of(out);
  }
  return out;
}

std::string digest_read(const std::string& path) {
  OpenedFiles& all = opened();
  const std::lock_guard lock(all.mutex);
  for (const auto& file : all.files) {
    if (file.path == path) return file.digest;
  }
  return {};
}

// The lowest free number is the one that is missing.
void open_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    if (::open("/dev/null", descriptor == 1 ? O_RDONLY : O_WRONLY) < 0) return;
  }
}

void write_all(int descriptor, std::string_view bytes,
               const std::string& name) {
  while (!bytes.empty()) {
    ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      // Without standard error there is nowhere to report to.
      if (errno == EPIPE || descriptor == 2) throw OutputClosed{};
      fail(name, "write to");
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void put_bytes(std::string_view bytes) {
  put(::isatty(STDOUT_FILENO) == 1 ? safe_text(bytes) : std::string(bytes));
}

std::optional<int> descriptor_of(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  constexpr std::string_view kFolder = "/dev/fd/";
  if (!path.starts_with(kFolder)) return std::nullopt;
  int number = 0;
  const char* const end = path.data() + path.size();
  const auto [at, error] =
      std::from_chars(path.data() + kFolder.size(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  if (::fcntl(number, F_GETFD) < 0) fail(std::string(path), "write to");
  return number;
}

void write_file(const std::string& path, std::string_view bytes) {
  std::vector<NamedFile> files = files_read();
  files.push_back({path, "the output", file_id(path), true});
  refuse_overlaps(files);
  const std::string name = display_name(path);
  if (const auto open_already = descriptor_of(path)) {
    return write_all(*open_already, bytes, name);
  }
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(name, "write");
  write_all(descriptor, bytes, name);
  if (::close(descriptor) != 0) fail(name, "write");
}

std::vector<NamedFile> files_read() {
  OpenedFiles& all = opened();
  const std::lock_guard lock(all.mutex);
  std::vector<NamedFile> out;
  for (const auto& file : all.files) {
    out.push_back({file.path, "an input", file.id, false});
  }
  return out;
}

void note_read(const std::string& path) {
  OpenedFiles& all = opened();
  const std::lock_guard lock(all.mutex);
  all.files.push_back({path, file_id(path), {}});
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    const std::string name = entry.path().string();
    all.files.push_back({name, file_id(name), {}});
  }
}

InputFile::InputFile(const std::string& path) : name_(display_name(path)) {
  if (!is_stdin(path)) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(name_, "open");
    close_ = true;
  }
  stamp_ = stamp();
  OpenedFiles& all = opened();
  const std::lock_guard lock(all.mutex);
  for (const auto& file : all.files) {
    if (!close_ && is_stdin(file.path)) {
      throw Failure("standard input is named twice, and can be read once only");
    }
    if (file.path != path || !file.stamp) continue;
    if (file.stamp == stamp_ && file.id == file_id(descriptor_)) return;
    if (close_) ::close(descriptor_);
    throw Failure(name_ + " has changed since it was read first");
  }
  all.files.push_back({path, file_id(descriptor_), stamp_});
}

InputFile::~InputFile() {
  if (close_) ::close(descriptor_);
}

std::optional<FileStamp> InputFile::stamp() const {
  struct stat facts = {};
  if (::fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  return FileStamp::of(facts);
}

void InputFile::check() const {
  if (stamp_ && stamp() != stamp_) {
    throw Failure(name_ + " has changed while it was read");
  }
}

std::size_t InputFile::read(char* bytes, std::size_t capacity) {
  for (;;) {
    ssize_t n = ::read(descriptor_, bytes, capacity);
    if (n == 0) check();
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) fail(name_, "read");
  }
}

}  // namespace parlance::cli
