#include "io.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace parlance::cli {
namespace {

bool is_stdin(const std::string& path) { return path.empty() || path == "-"; }

[[noreturn]] void fail(const std::string& name, const char* what) {
  throw Failure("cannot " + std::string(what) + " " + name + ": " +
                std::strerror(errno));
}

}  // namespace

std::string display_name(const std::string& path) {
  return is_stdin(path) ? "<stdin>" : path;
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
  return out;
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      // Without standard error there is nowhere to report to.
      if (errno == EPIPE || descriptor == 2) throw OutputClosed{};
      fail("standard output", "write to");
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

InputFile::InputFile(const std::string& path) : name_(display_name(path)) {
  if (is_stdin(path)) return;
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(name_, "open");
  close_ = true;
}

InputFile::~InputFile() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
  if (close_) ::close(descriptor_);
}

std::size_t InputFile::read(char* bytes, std::size_t capacity) {
  for (;;) {
    ssize_t n = ::read(descriptor_, bytes, capacity);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) fail(name_, "read");
  }
}

std::string_view InputFile::map() {
  struct stat facts = {};
  if (::fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  // Standard input may be positioned in the middle of a file.
  off_t at = ::lseek(descriptor_, 0, SEEK_CUR);
  if (at < 0 || facts.st_size <= at) return {};
  mapped_bytes_ = static_cast<std::size_t>(facts.st_size);
  void* address =
      ::mmap(nullptr, mapped_bytes_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (address == MAP_FAILED) return {};
  mapped_ = address;
  ::madvise(mapped_, mapped_bytes_, MADV_SEQUENTIAL);
  std::string_view all(static_cast<const char*>(mapped_), mapped_bytes_);
  return all.substr(static_cast<std::size_t>(at));
}

}  // namespace parlance::cli
