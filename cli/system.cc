// See system.h.  First POSIX, then Windows, then what is the same.

#include "system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <io.h>
#include <windows.h>
// After that, which it needs.
#include <shellapi.h>
#else
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace parlance::cli {

#if !defined(_WIN32)

namespace {

FileFacts facts_from(const struct stat& facts) {
  FileFacts out;
  out.kind = S_ISREG(facts.st_mode)    ? FileKind::kFile
             : S_ISDIR(facts.st_mode)  ? FileKind::kFolder
             : S_ISFIFO(facts.st_mode) ? FileKind::kStream
                                       : FileKind::kOther;
  out.shared = S_ISCHR(facts.st_mode) || S_ISSOCK(facts.st_mode);
  out.device = static_cast<std::uint64_t>(facts.st_dev);
  out.inode = static_cast<std::uint64_t>(facts.st_ino);
  out.bytes = static_cast<std::uint64_t>(facts.st_size);
#if defined(__APPLE__)
  const timespec& modified = facts.st_mtimespec;
#else
  const timespec& modified = facts.st_mtim;
#endif
  out.modified_seconds = modified.tv_sec;
  out.modified_ns = modified.tv_nsec;
  return out;
}

}  // namespace

struct PreparedProcess::Before {
  struct sigaction pipe = {};
  struct sigaction file_size = {};
  struct sigaction interrupt = {};
};

PreparedProcess::PreparedProcess() : before_(std::make_unique<Before>()) {
  struct sigaction ends_process = {};
  ends_process.sa_handler = SIG_DFL;
  // These signals end the command as they end others, also where a parent has
  // chosen to ignore them.
  ::sigaction(SIGPIPE, &ends_process, &before_->pipe);
  ::sigaction(SIGXFSZ, &ends_process, &before_->file_size);
  ::sigaction(SIGINT, nullptr, &before_->interrupt);
  if (before_->interrupt.sa_handler != SIG_IGN) {
    ::sigaction(SIGINT, &ends_process, nullptr);
  }
  // The lowest free number is the one that is missing.  Reading standard input
  // and writing standard output fail then, and what is written to standard
  // error is lost.
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (is_open(descriptor)) continue;
    if (::open("/dev/null", descriptor == 1 ? O_RDONLY : O_WRONLY) < 0) return;
  }
}

PreparedProcess::~PreparedProcess() {
  ::sigaction(SIGPIPE, &before_->pipe, nullptr);
  ::sigaction(SIGXFSZ, &before_->file_size, nullptr);
  ::sigaction(SIGINT, &before_->interrupt, nullptr);
}

char** utf8_arguments(int& /*argc*/, char** argv) { return argv; }

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

bool has_colors() {
  const char* const term = std::getenv("TERM");
  return term != nullptr && std::string_view(term) != "dumb";
}

std::size_t width_of_terminal(int descriptor) {
  winsize size = {};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::optional<FileFacts> facts_of(const std::string& path) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return facts_from(facts);
}

std::optional<FileFacts> facts_of(int descriptor) {
  struct stat facts = {};
  if (::fstat(descriptor, &facts) != 0) return std::nullopt;
  return facts_from(facts);
}

std::optional<FileFacts> facts_of_link(const std::string& path) {
  struct stat facts = {};
  if (::lstat(path.c_str(), &facts) != 0) return std::nullopt;
  return facts_from(facts);
}

std::optional<std::string> link_target(const std::string& path) {
  std::string out(std::size_t{1} << 12, '\0');
  const ssize_t n = ::readlink(path.c_str(), out.data(), out.size());
  if (n < 0) return std::nullopt;
  out.resize(static_cast<std::size_t>(n));
  return out;
}

std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);
}

bool is_readable(const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0;
}

int open_path(const std::string& path, OpenMode mode) {
  constexpr int kNoWait = O_NOFOLLOW | O_NONBLOCK;
  constexpr int kNew = O_CREAT | O_EXCL | O_NOFOLLOW;
  int flags = O_CLOEXEC;
  switch (mode) {
    case OpenMode::kRead:
      flags |= O_RDONLY;
      break;
    case OpenMode::kReplace:
      flags |= O_WRONLY | O_CREAT | O_TRUNC;
      break;
    case OpenMode::kDevice:
      flags |= O_WRONLY;
      break;
    case OpenMode::kCreate:
      flags |= O_WRONLY | kNew;
      break;
    case OpenMode::kContinue:
      flags |= O_WRONLY | kNoWait;
      break;
    case OpenMode::kJournal:
      flags |= O_RDWR | O_APPEND | kNoWait;
      break;
    case OpenMode::kNewJournal:
      flags |= O_RDWR | O_APPEND | kNoWait | kNew;
      break;
  }
  return ::open(path.c_str(), flags, 0666);
}

bool is_open(int descriptor) {
  return ::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF;
}

int duplicate(int descriptor) { return ::dup(descriptor); }

bool close_descriptor(int descriptor) { return ::close(descriptor) == 0; }

bool wait_readable(int descriptor, int milliseconds) {
  pollfd wanted = {};
  wanted.fd = descriptor;
  wanted.events = POLLIN;
  // What cannot be waited for is read.
  return ::poll(&wanted, 1, milliseconds) != 0;
}

std::ptrdiff_t read_some(int descriptor, char* bytes, std::size_t capacity) {
  for (;;) {
    const ssize_t n = ::read(descriptor, bytes, capacity);
    if (n >= 0 || errno != EINTR) return n;
  }
}

std::ptrdiff_t write_some(int descriptor, std::string_view bytes) {
  for (;;) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n >= 0 || errno != EINTR) return n;
  }
}

std::ptrdiff_t read_at(int descriptor, char* bytes, std::size_t capacity,
                       std::uint64_t offset) {
  for (;;) {
    const ssize_t n =
        ::pread(descriptor, bytes, capacity, static_cast<off_t>(offset));
    if (n >= 0 || errno != EINTR) return n;
  }
}

bool truncate_to(int descriptor, std::uint64_t bytes) {
  const auto end = static_cast<off_t>(bytes);
  return ::ftruncate(descriptor, end) == 0 &&
         ::lseek(descriptor, end, SEEK_SET) == end;
}

bool sync_descriptor(int descriptor) { return ::fsync(descriptor) == 0; }

void sync_folder_of(const std::string& path) {
  const std::string folder(folder_of(path));
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(),
                                O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // it may be written to but not read
  ::fsync(descriptor);
  ::close(descriptor);
}

bool lock_at_once(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void wait_for_lock(int descriptor) { (void)::flock(descriptor, LOCK_EX); }

bool link_path(const std::string& from, const std::string& to) {
  return ::link(from.c_str(), to.c_str()) == 0;
}

bool rename_path(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str()) == 0;
}

void remove_path(const std::string& path) { ::unlink(path.c_str()); }

#else  // Windows

namespace {

std::wstring wide(std::string_view path) {
  const int size = static_cast<int>(path.size());
  std::wstring out(path.size(), L'\0');  // never more units than bytes
  const int units =
      MultiByteToWideChar(CP_UTF8, 0, path.data(), size, out.data(), size);
  out.resize(static_cast<std::size_t>(units));
  return out;
}

std::string narrow(std::wstring_view text) {
  const int size = static_cast<int>(text.size());
  std::string out(text.size() * 3, '\0');  // never more bytes of a unit
  const int bytes =
      WideCharToMultiByte(CP_UTF8, 0, text.data(), size, out.data(),
                          static_cast<int>(out.size()), nullptr, nullptr);
  out.resize(static_cast<std::size_t>(bytes));
  return out;
}

// Sets errno.  Returns false, for the caller to return.
bool failed() {
  switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
      errno = ENOENT;
      break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
      errno = EEXIST;
      break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
      errno = EACCES;
      break;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
      errno = EPIPE;
      break;
    case ERROR_DISK_FULL:
      errno = ENOSPC;
      break;
    default:
      errno = EIO;
  }
  return false;
}

HANDLE handle_of(int descriptor) {
  return reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
}

std::optional<FileFacts> facts_of_handle(HANDLE handle) {
  FileFacts out;
  const DWORD type = GetFileType(handle);
  if (type == FILE_TYPE_PIPE) {
    out.kind = FileKind::kStream;
    out.shared = true;  // a pipe has no number
    return out;
  }
  if (type == FILE_TYPE_CHAR) {
    out.shared = true;
    return out;
  }
  BY_HANDLE_FILE_INFORMATION facts = {};
  if (GetFileInformationByHandle(handle, &facts) == 0) return std::nullopt;
  const auto joined = [](DWORD high, DWORD low) {
    return std::uint64_t{high} << 32 | low;
  };
  const bool folder = (facts.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  out.kind = folder ? FileKind::kFolder : FileKind::kFile;
  out.device = facts.dwVolumeSerialNumber;
  out.inode = joined(facts.nFileIndexHigh, facts.nFileIndexLow);
  out.bytes = joined(facts.nFileSizeHigh, facts.nFileSizeLow);
  // Steps of 100 ns.
  const std::uint64_t steps = joined(facts.ftLastWriteTime.dwHighDateTime,
                                     facts.ftLastWriteTime.dwLowDateTime);
  out.modified_seconds = static_cast<std::int64_t>(steps / 10'000'000);
  out.modified_ns = static_cast<std::int64_t>(steps % 10'000'000 * 100);
  return out;
}

constexpr DWORD kShareAll =
    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

// The byte that a lock is for, which no file has: others may be read and
// written meanwhile.
OVERLAPPED locked_byte() {
  OVERLAPPED out = {};
  out.OffsetHigh = 0x40000000;
  return out;
}

}  // namespace

struct PreparedProcess::Before {
  void (*interrupt)(int) = SIG_DFL;
  std::array<int, 3> modes = {};
  std::array<std::optional<DWORD>, 3> consoles;
  UINT code_page = 0;
};

PreparedProcess::PreparedProcess() : before_(std::make_unique<Before>()) {
  before_->interrupt = std::signal(SIGINT, SIG_DFL);
  if (before_->interrupt == SIG_IGN) std::signal(SIGINT, SIG_IGN);
  before_->code_page = GetConsoleOutputCP();
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    const auto at = static_cast<std::size_t>(descriptor);
    before_->modes[at] = _setmode(descriptor, _O_BINARY);
    if (descriptor == 0) continue;
    DWORD mode = 0;
    if (GetConsoleMode(handle_of(descriptor), &mode) != 0) {
      before_->consoles[at] = mode;
      SetConsoleMode(handle_of(descriptor),
                     mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
      SetConsoleOutputCP(CP_UTF8);
    }
  }
}

PreparedProcess::~PreparedProcess() {
  if (before_->interrupt != SIG_ERR) std::signal(SIGINT, before_->interrupt);
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    const auto at = static_cast<std::size_t>(descriptor);
    if (before_->modes[at] != -1) _setmode(descriptor, before_->modes[at]);
    if (!before_->consoles[at]) continue;
    SetConsoleMode(handle_of(descriptor), *before_->consoles[at]);
    SetConsoleOutputCP(before_->code_page);
  }
}

char** utf8_arguments(int& argc, char** argv) {
  int count = 0;
  wchar_t** const given = CommandLineToArgvW(GetCommandLineW(), &count);
  if (given == nullptr) return argv;
  static std::vector<std::string> texts;
  static std::vector<char*> pointers;
  for (int i = 0; i < count; ++i) texts.push_back(narrow(given[i]));
  LocalFree(given);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  argc = count;
  return pointers.data();
}

bool is_terminal(int descriptor) {
  DWORD mode = 0;
  return GetConsoleMode(handle_of(descriptor), &mode) != 0;
}

// The console was asked for it.
bool has_colors() { return true; }

std::size_t width_of_terminal(int descriptor) {
  CONSOLE_SCREEN_BUFFER_INFO facts = {};
  if (GetConsoleScreenBufferInfo(handle_of(descriptor), &facts) == 0) return 0;
  return static_cast<std::size_t>(facts.srWindow.Right - facts.srWindow.Left +
                                  1);
}

std::optional<FileFacts> facts_of(const std::string& path) {
  // A folder is opened only with this flag.
  const HANDLE handle =
      CreateFileW(wide(path).c_str(), FILE_READ_ATTRIBUTES, kShareAll, nullptr,
                  OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    failed();
    return std::nullopt;
  }
  const std::optional<FileFacts> out = facts_of_handle(handle);
  CloseHandle(handle);
  return out;
}

std::optional<FileFacts> facts_of(int descriptor) {
  return facts_of_handle(handle_of(descriptor));
}

std::optional<FileFacts> facts_of_link(const std::string& path) {
  return facts_of(path);
}

std::optional<std::string> link_target(const std::string& /*path*/) {
  return std::nullopt;
}

std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.find_last_of("/\\") + 1);
}

bool is_readable(const std::string& path) { return facts_of(path).has_value(); }

// Files that are open may be renamed and removed, as elsewhere.
int open_path(const std::string& path, OpenMode mode) {
  const bool journal =
      mode == OpenMode::kJournal || mode == OpenMode::kNewJournal;
  DWORD access = GENERIC_WRITE;
  if (mode == OpenMode::kRead) access = GENERIC_READ;
  if (journal) access |= GENERIC_READ;
  DWORD creation = OPEN_EXISTING;
  if (mode == OpenMode::kReplace) creation = CREATE_ALWAYS;
  if (mode == OpenMode::kCreate || mode == OpenMode::kNewJournal) {
    creation = CREATE_NEW;
  }
  const HANDLE handle =
      CreateFileW(wide(path).c_str(), access, kShareAll, nullptr, creation,
                  FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    failed();
    return -1;
  }
  int flags = _O_BINARY | _O_NOINHERIT;
  if (mode == OpenMode::kRead) flags |= _O_RDONLY;
  if (journal) flags |= _O_APPEND;
  const int descriptor =
      _open_osfhandle(reinterpret_cast<std::intptr_t>(handle), flags);
  if (descriptor < 0) CloseHandle(handle);
  return descriptor;
}

bool is_open(int descriptor) {
  return descriptor >= 0 && descriptor <= 2 &&
         handle_of(descriptor) != INVALID_HANDLE_VALUE;
}

int duplicate(int descriptor) { return _dup(descriptor); }

bool close_descriptor(int descriptor) { return _close(descriptor) == 0; }

namespace {

// The C library counts in int.
unsigned part_of(std::size_t size) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  return static_cast<unsigned>(size < kMost ? size : kMost);
}

}  // namespace

bool wait_readable(int descriptor, int milliseconds) {
  const HANDLE handle = handle_of(descriptor);
  if (GetFileType(handle) != FILE_TYPE_PIPE) {
    return GetFileType(handle) != FILE_TYPE_CHAR ||
           WaitForSingleObject(handle, static_cast<DWORD>(milliseconds)) !=
               WAIT_TIMEOUT;
  }
  // Nothing waits for a pipe but a read.
  constexpr int kStep = 5;
  for (int waited = 0; waited < milliseconds; waited += kStep) {
    DWORD bytes = 0;
    if (PeekNamedPipe(handle, nullptr, 0, nullptr, &bytes, nullptr) == 0 ||
        bytes > 0) {
      return true;
    }
    Sleep(kStep);
  }
  return false;
}

std::ptrdiff_t read_some(int descriptor, char* bytes, std::size_t capacity) {
  return _read(descriptor, bytes, part_of(capacity));
}

std::ptrdiff_t write_some(int descriptor, std::string_view bytes) {
  const int n = _write(descriptor, bytes.data(), part_of(bytes.size()));
  // The C library has EINVAL for a pipe without a reader, and Wine has EBADF.
  if (n < 0 && GetFileType(handle_of(descriptor)) == FILE_TYPE_PIPE) {
    errno = EPIPE;
  }
  return n;
}

std::ptrdiff_t read_at(int descriptor, char* bytes, std::size_t capacity,
                       std::uint64_t offset) {
  if (_lseeki64(descriptor, static_cast<std::int64_t>(offset), SEEK_SET) < 0) {
    return -1;
  }
  return _read(descriptor, bytes, part_of(capacity));
}

bool truncate_to(int descriptor, std::uint64_t bytes) {
  const auto end = static_cast<std::int64_t>(bytes);
  return _chsize_s(descriptor, end) == 0 &&
         _lseeki64(descriptor, end, SEEK_SET) == end;
}

bool sync_descriptor(int descriptor) { return _commit(descriptor) == 0; }

// A folder cannot be brought to the disk by itself.
void sync_folder_of(const std::string& /*path*/) {}

bool lock_at_once(int descriptor) {
  OVERLAPPED byte = locked_byte();
  return LockFileEx(handle_of(descriptor),
                    LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1,
                    0, &byte) != 0 ||
         (GetLastError() != ERROR_LOCK_VIOLATION &&
          GetLastError() != ERROR_IO_PENDING);
}

void wait_for_lock(int descriptor) {
  OVERLAPPED byte = locked_byte();
  (void)LockFileEx(handle_of(descriptor), LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0,
                   &byte);
}

bool link_path(const std::string& from, const std::string& to) {
  return CreateHardLinkW(wide(to).c_str(), wide(from).c_str(), nullptr) != 0 ||
         failed();
}

bool rename_path(const std::string& from, const std::string& to) {
  return MoveFileExW(wide(from).c_str(), wide(to).c_str(),
                     MOVEFILE_REPLACE_EXISTING) != 0 ||
         failed();
}

void remove_path(const std::string& path) {
  (void)DeleteFileW(wide(path).c_str());
}

#endif

std::vector<std::string> paths_in(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  std::error_code ignored;
  const fs::path path(std::u8string(folder.begin(), folder.end()));
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    const std::u8string text = entry.path().u8string();
    out.emplace_back(text.begin(), text.end());
  }
  return out;
}

}  // namespace parlance::cli
