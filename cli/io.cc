#include "io.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <system_error>
#include <vector>

#include "style.h"
#include "system.h"

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

void write_all(int descriptor, std::string_view bytes,
               const std::string& name) {
  while (!bytes.empty()) {
    const std::ptrdiff_t n = write_some(descriptor, bytes);
    if (n < 0) {
      // Without standard error there is nowhere to report to.
      if (errno == EPIPE || descriptor == 2) throw OutputClosed{};
      fail(name, "write to");
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void put_bytes(std::string_view bytes) {
  put(is_terminal(1) ? safe_text(bytes) : std::string(bytes));
}

std::optional<int> descriptor_of(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") return 1;
  if (path == "/dev/stderr") return 2;
  constexpr std::string_view kFolder = "/dev/fd/";
  if (!path.starts_with(kFolder)) return std::nullopt;
  int number = 0;
  const char* const end = path.data() + path.size();
  const auto [at, error] =
      std::from_chars(path.data() + kFolder.size(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  if (!is_open(number)) fail(std::string(path), "write to");
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
  const int descriptor = open_path(path, OpenMode::kReplace);
  if (descriptor < 0) fail(name, "write");
  write_all(descriptor, bytes, name);
  if (!close_descriptor(descriptor)) fail(name, "write");
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
  for (const std::string& name : paths_in(path)) {
    all.files.push_back({name, file_id(name), {}});
  }
}

void forget_files() {
  OpenedFiles& all = opened();
  const std::lock_guard lock(all.mutex);
  all.files.clear();
}

InputFile::InputFile(const std::string& path) : name_(display_name(path)) {
  if (!is_stdin(path)) {
    descriptor_ = open_path(path, OpenMode::kRead);
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
    if (close_) close_descriptor(descriptor_);
    throw Failure(name_ + " has changed since it was read first");
  }
  all.files.push_back({path, file_id(descriptor_), stamp_});
}

InputFile::~InputFile() {
  if (close_) close_descriptor(descriptor_);
}

std::optional<FileStamp> InputFile::stamp() const {
  const std::optional<FileFacts> facts = facts_of(descriptor_);
  if (!facts || facts->kind != FileKind::kFile) return {};
  return FileStamp::of(*facts);
}

void InputFile::check() const {
  if (stamp_ && stamp() != stamp_) {
    throw Failure(name_ + " has changed while it was read");
  }
}

std::size_t InputFile::read(char* bytes, std::size_t capacity) {
  const std::ptrdiff_t n = read_some(descriptor_, bytes, capacity);
  if (n < 0) fail(name_, "read");
  if (n == 0) check();
  return static_cast<std::size_t>(n);
}

std::size_t InputFile::read(char* bytes, std::size_t capacity,
                            const std::atomic<bool>& stopped) {
  constexpr int kOftenEnough = 50;  // milliseconds
  while (!is_regular() && !wait_readable(descriptor_, kOftenEnough)) {
    if (stopped) throw Stopped{};
  }
  return read(bytes, capacity);
}

}  // namespace parlance::cli
