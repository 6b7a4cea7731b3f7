// See system.h.  First what POSIX and WASI have, then Windows, then what is the
// same everywhere.

#include "base/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <io.h>
#include <process.h>
#include <windows.h>
#else
#include <unistd.h>
#if !defined(__wasi__)
#include <sys/mman.h>
#endif
#endif

namespace parlance::base {

namespace {

// Reads a whole file, into words so that its beginning is aligned.
[[maybe_unused]] int read_whole(std::FILE* file, std::size_t size,
                                MappedFile& out) {
  std::shared_ptr<std::uint64_t[]> words(new std::uint64_t[size / 8 + 1]);
  char* const bytes = reinterpret_cast<char*>(words.get());
  const std::size_t read = std::fread(bytes, 1, size, file);
  if (std::ferror(file) != 0) return errno == 0 ? EIO : errno;
  out = {std::move(words), {bytes, read}};
  return 0;
}

}  // namespace

#if !defined(_WIN32)

FileKind file_kind(const std::string& path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0) {
    return errno == ELOOP ? FileKind::kCircle : FileKind::kNone;
  }
  if (S_ISREG(facts.st_mode)) return FileKind::kFile;
  if (S_ISDIR(facts.st_mode)) return FileKind::kFolder;
  return S_ISFIFO(facts.st_mode) || S_ISCHR(facts.st_mode) ? FileKind::kStream
                                                           : FileKind::kOther;
}

std::optional<std::string> link_target(const std::string& path) {
  std::string out(std::size_t{1} << 12, '\0');
  const ssize_t n = readlink(path.c_str(), out.data(), out.size());
  if (n < 0) return std::nullopt;
  out.resize(static_cast<std::size_t>(n));
  return out;
}

std::FILE* open_file(const std::string& path) {
  return std::fopen(path.c_str(), "rb");
}

int map_file(const std::string& path, MappedFile& out) {
  // Without O_NONBLOCK a FIFO would wait for a writer.
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return errno;
  struct stat facts = {};
  int failure = 0;
  if (fstat(file, &facts) != 0) failure = errno;
  if (failure == 0 && !S_ISREG(facts.st_mode)) failure = EINVAL;
  const auto size = static_cast<std::size_t>(facts.st_size);
  // An empty file cannot be mapped.
  if (failure != 0 || size == 0) {
    out = {};
    close(file);
    return failure;
  }
#if defined(__wasi__)
  std::FILE* const stream = fdopen(file, "rb");
  if (stream == nullptr) {
    failure = errno;
    close(file);
    return failure;
  }
  failure = read_whole(stream, size, out);
  (void)std::fclose(stream);
  return failure;
#else
  void* const data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  failure = data == MAP_FAILED ? errno : 0;
  close(file);  // the mapping remains valid
  if (failure != 0) return failure;
  out.owner = std::shared_ptr<const void>(
      data, [size](const void* p) { munmap(const_cast<void*>(p), size); });
  out.bytes = {static_cast<const char*>(data), size};
  return 0;
#endif
}

int create_file(const std::string& path, int& file) {
  file = open(path.c_str(),
              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  return file < 0 ? errno : 0;
}

int open_existing(const std::string& path, int& file) {
  file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  return file < 0 ? errno : 0;
}

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

#if defined(__wasi__)
int copy_mode(int /*file*/, const std::string& /*from*/) { return 0; }
#else
int copy_mode(int file, const std::string& from) {
  struct stat old = {};
  if (stat(from.c_str(), &old) != 0) return errno == ENOENT ? 0 : errno;
  // Only a privileged process can do this, and only then there is need.
  if (fchown(file, old.st_uid, old.st_gid) != 0) errno = 0;
  return fchmod(file, old.st_mode & 07777) == 0 ? 0 : errno;
}
#endif

int sync_file(int file) { return fsync(file) == 0 ? 0 : errno; }

int close_file(int file) { return close(file) == 0 ? 0 : errno; }

int rename_over(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

void remove_file(const std::string& path) { unlink(path.c_str()); }

void sync_folder_of(const std::string& path) {
  const std::string folder(folder_of(path));
  const int file = open(folder.empty() ? "." : folder.c_str(),
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;  // it may be written to but not read
  (void)fsync(file);
  close(file);
}

long process_id() {
#if defined(__wasi__)
  return 0;
#else
  return getpid();
#endif
}

#else  // Windows

namespace {

std::wstring wide(const std::string& path) {
  const int size = static_cast<int>(path.size());
  std::wstring out(path.size(), L'\0');  // never more units than bytes
  const int units =
      MultiByteToWideChar(CP_UTF8, 0, path.data(), size, out.data(), size);
  out.resize(static_cast<std::size_t>(units));
  return out;
}

int errno_of(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
      return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_USER_MAPPED_FILE:
      return EACCES;
    case ERROR_NOT_ENOUGH_MEMORY:
      return ENOMEM;
    case ERROR_DISK_FULL:
      return ENOSPC;
    default:
      return EIO;
  }
}

struct CloseHandles {
  HANDLE file;
  HANDLE mapping = nullptr;
  ~CloseHandles() {
    if (mapping != nullptr) CloseHandle(mapping);
    CloseHandle(file);
  }
};

}  // namespace

FileKind file_kind(const std::string& path) {
  struct _stat64 facts = {};
  if (_wstat64(wide(path).c_str(), &facts) != 0) return FileKind::kNone;
  switch (facts.st_mode & _S_IFMT) {
    case _S_IFREG:
      return FileKind::kFile;
    case _S_IFDIR:
      return FileKind::kFolder;
    case _S_IFCHR:
    case _S_IFIFO:
      return FileKind::kStream;
    default:
      return FileKind::kOther;
  }
}

std::optional<std::string> link_target(const std::string& /*path*/) {
  return std::nullopt;
}

std::FILE* open_file(const std::string& path) {
  return _wfopen(wide(path).c_str(), L"rb");
}

int map_file(const std::string& path, MappedFile& out) {
  // Others may write to the file, replace or remove it, as they may elsewhere.
  const HANDLE file =
      CreateFileW(wide(path).c_str(), GENERIC_READ,
                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                  nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    const int failure = errno_of(GetLastError());
    return file_kind(path) == FileKind::kFolder ? EINVAL : failure;
  }
  CloseHandles handles{.file = file};
  LARGE_INTEGER size = {};
  if (GetFileType(file) != FILE_TYPE_DISK) return EINVAL;
  if (GetFileSizeEx(file, &size) == 0) return errno_of(GetLastError());
  out = {};
  if (size.QuadPart == 0) return 0;  // an empty file cannot be mapped
  handles.mapping =
      CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (handles.mapping == nullptr) return errno_of(GetLastError());
  // The view remains valid when the handles are closed.
  const void* const data =
      MapViewOfFile(handles.mapping, FILE_MAP_READ, 0, 0, 0);
  if (data == nullptr) return errno_of(GetLastError());
  out.owner = std::shared_ptr<const void>(
      data, [](const void* p) { UnmapViewOfFile(p); });
  out.bytes = {static_cast<const char*>(data),
               static_cast<std::size_t>(size.QuadPart)};
  return 0;
}

int create_file(const std::string& path, int& file) {
  file = _wopen(wide(path).c_str(),
                _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT,
                _S_IREAD | _S_IWRITE);
  return file < 0 ? errno : 0;
}

int open_existing(const std::string& path, int& file) {
  file = _wopen(wide(path).c_str(), _O_WRONLY | _O_BINARY | _O_NOINHERIT);
  return file < 0 ? errno : 0;
}

int write_all(int file, std::string_view bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const std::size_t part = bytes.size() < kMost ? bytes.size() : kMost;
    const int n = _write(file, bytes.data(), static_cast<unsigned>(part));
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

int copy_mode(int /*file*/, const std::string& /*from*/) { return 0; }

int sync_file(int file) { return _commit(file) == 0 ? 0 : errno; }

int close_file(int file) { return _close(file) == 0 ? 0 : errno; }

int rename_over(const std::string& from, const std::string& to) {
  const BOOL renamed =
      MoveFileExW(wide(from).c_str(), wide(to).c_str(),
                  MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
  return renamed != 0 ? 0 : errno_of(GetLastError());
}

void remove_file(const std::string& path) { _wunlink(wide(path).c_str()); }

// rename_over() has done it.
void sync_folder_of(const std::string& /*path*/) {}

long process_id() { return _getpid(); }

#endif

std::string_view folder_of(std::string_view path) {
#if defined(_WIN32)
  return path.substr(0, path.find_last_of("/\\") + 1);
#else
  return path.substr(0, path.rfind('/') + 1);
#endif
}

std::string in_folder(const std::string& folder, std::string_view name) {
  std::string out = folder;
  if (folder_of(folder).size() < folder.size()) out += '/';
  return out += name;
}

}  // namespace parlance::base
