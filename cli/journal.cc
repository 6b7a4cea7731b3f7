#include "journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "io.h"
#include "style.h"

namespace parlance::cli {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw Failure("cannot " + std::string(what) + " " + path + ": " +
                std::strerror(errno));
}

// Whether the name is taken, also by a link that leads nowhere.
bool exists(const std::string& path) {
  struct stat facts = {};
  return ::lstat(path.c_str(), &facts) == 0;
}

// Whether there is something that is neither a file nor a folder.
bool is_device(const std::string& path) {
  struct stat facts = {};
  return ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) &&
         !S_ISDIR(facts.st_mode);
}

// Two runs that write one file would mix their rows.
bool lock(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

[[noreturn]] void refuse_second(const std::string& path) {
  throw Failure("another run is writing " + path);
}

// A new name is on the disk when its folder is.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(),
                                O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // it may be written to but not read
  ::fsync(descriptor);
  ::close(descriptor);
}

constexpr struct {
  const char* name;
  std::size_t Checkpoint::*member;
} kMembers[] = {{"file", &Checkpoint::file},  {"offset", &Checkpoint::offset},
                {"line", &Checkpoint::line},  {"row", &Checkpoint::row},
                {"rows", &Checkpoint::rows},  {"failed", &Checkpoint::failed},
                {"cut", &Checkpoint::cut},    {"damaged", &Checkpoint::damaged},
                {"ended", &Checkpoint::ended}};

std::optional<std::size_t> number(const json::Value& value, const char* name) {
  const json::Value* member = value.find(name);
  if (member == nullptr || member->kind() != json::Kind::kInt ||
      member->as_int() < 0) {
    return {};
  }
  return static_cast<std::size_t>(member->as_int());
}

// Numbers that no run writes would make one read or write anywhere.
bool fits(const Checkpoint& c, std::size_t files) {
  return c.file < files && c.line <= c.offset && c.row <= c.line &&
         c.row <= c.rows && c.failed <= c.rows && c.cut <= c.rows &&
         c.damaged <= c.rows && c.ended <= c.rows;
}

constexpr std::string_view kCheck = ",\"check\":\"";

std::string read_descriptor(int descriptor, const std::string& path) {
  std::string out;
  std::string buffer(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t n = ::pread(descriptor, buffer.data(), buffer.size(),
                              static_cast<off_t>(out.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "read");
    if (n == 0) return out;
    out.append(buffer, 0, static_cast<std::size_t>(n));
  }
}

}  // namespace

std::vector<NamedFile> files_written(const OutputOptions& options) {
  std::vector<NamedFile> out;
  const auto add = [&](const std::string& path, const std::string& role) {
    out.push_back({path, role, file_id(path), true});
  };
  const auto add_output = [&](const std::string& path,
                              const std::string& option) {
    if (const auto descriptor = descriptor_of(path)) {
      out.push_back({path == "-" ? "standard output" : path, option,
                     file_id(*descriptor), true});
      return;
    }
    add(path, option);
    if (is_device(path)) return;
    // An interruption may come while the part gets its name by a second link.
    if (file_id(path + ".part") != file_id(path)) {
      add(path + ".part", "where " + option + " is written first");
    }
    if (option == "-o") add(path + ".journal", "the journal of -o");
  };
  add_output(options.output.empty() ? "-" : options.output, "-o");
  if (!options.errors.empty()) add_output(options.errors, "--errors");
  return out;
}

BatchOutput::File BatchOutput::file_of(const std::string& path) {
  need_compression(compression_of_name(path), display_name(path));
  return {.path = path,
          .part = path + ".part",
          .in_place = path.empty() || descriptor_of(path).has_value() ||
                      is_device(path)};
}

BatchOutput::BatchOutput(const OutputOptions& options)
    : options_(options),
      output_(file_of(options.output)),
      errors_(file_of(options.errors)),
      errors_encoder_(compression_of_name(options.errors)) {
  try {
    if (!output_.in_place && !options.manifest.is_null()) {
      journal_path_ = output_.path + ".journal";
      if (!options.resume) refuse_existing(output_);
      if (open_journal()) {
        continue_run();
        return;
      }
      if (complete_) return;
    }
    begin_run();
  } catch (const Failure&) {
    if (made_journal_) ::unlink(journal_path_.c_str());
    throw;
  }
}

BatchOutput::~BatchOutput() {
  for (const int descriptor :
       {journal_, output_.descriptor, errors_.descriptor}) {
    if (descriptor > 2) ::close(descriptor);
  }
}

void BatchOutput::refuse_existing(const File& file) const {
  if (file.in_place) return;
  if (exists(file.path)) {
    throw Failure(file.path + " exists; remove it, or name another file");
  }
}

std::string BatchOutput::remains() const {
  if (output_.in_place) return {};
  return "what was written is in " + output_.part +
         (journal_ < 0 ? "; move it away before the next run"
                       : "; --resume continues the run");
}

// ---- The journal

bool BatchOutput::open_journal() {
  constexpr int kFlags =
      O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  journal_ = ::open(journal_path_.c_str(), kFlags);
  if (journal_ < 0 && errno == ENOENT) {
    if (exists(output_.path)) {
      complete_ = true;
      return false;
    }
    journal_ = ::open(journal_path_.c_str(), kFlags | O_CREAT | O_EXCL, 0666);
    made_journal_ = journal_ >= 0;
    if (journal_ < 0 && errno == EEXIST) refuse_second(output_.path);
  }
  if (journal_ < 0) fail(journal_path_, "open");
  if (!lock(journal_)) {
    made_journal_ = false;  // another run has been faster
    refuse_second(output_.path);
  }
  // The run that held the lock may have ended, and removed its journal.
  struct stat here = {};
  struct stat there = {};
  if (::fstat(journal_, &here) != 0 || !S_ISREG(here.st_mode) ||
      ::lstat(journal_path_.c_str(), &there) != 0 ||
      here.st_dev != there.st_dev || here.st_ino != there.st_ino) {
    made_journal_ = false;
    refuse_second(output_.path);
  }
  if (here.st_size > 0) return true;
  // Of a run that came no further.
  if (exists(output_.path)) complete_ = true;
  return false;
}

void BatchOutput::continue_run() {
  std::string text = read_descriptor(journal_, journal_path_);
  // A line that is not whole says nothing.
  text.resize(text.rfind('\n') + 1);
  const std::size_t first = text.find('\n') + 1;
  const Result<json::Value> manifest = json::parse(text.substr(0, first));
  if (!manifest || manifest->find("options") == nullptr) {
    throw Failure(journal_path_ +
                  " is not the journal of a run, or is damaged; move it away, "
                  "and " +
                  output_.part + " as well");
  }
  if (!options_.resume) {
    throw Failure(output_.part +
                  " is the output of a run that was interrupted; continue it "
                  "with --resume, or remove it and " +
                  journal_path_);
  }
  check_manifest(*manifest);
  if (first < text.size()) {
    const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
    if (read_checkpoint(std::string_view(text).substr(last))) {
      check_whole(errors_);
      check_whole(output_);
      publish_all();
      complete_ = true;
      return;
    }
  }
  refuse_existing(output_);
  refuse_existing(errors_);
  reopen(output_);
  reopen(errors_);
  // Only now, since all that is damaged must stay as it is.
  for (const File* file : {&output_, &errors_}) {
    if (file->in_place) continue;
    const auto length = static_cast<off_t>(file->bytes);
    if (::ftruncate(file->descriptor, length) != 0 ||
        ::lseek(file->descriptor, length, SEEK_SET) != length) {
      fail(file->part, "write to");
    }
  }
  if (::ftruncate(journal_, static_cast<off_t>(text.size())) != 0) {
    fail(journal_path_, "write to");
  }
}

void BatchOutput::check_whole(const File& file) const {
  const std::string& name = exists(file.part) ? file.part : file.path;
  struct stat facts = {};
  if (file.in_place || ::lstat(name.c_str(), &facts) != 0) return;
  if (S_ISREG(facts.st_mode) &&
      static_cast<std::size_t>(facts.st_size) == file.bytes) {
    return;
  }
  throw Failure(name + " is not what the run wrote whose end " + journal_path_ +
                " tells; move both away");
}

bool BatchOutput::read_checkpoint(std::string_view line) {
  const auto damaged = [&]() {
    return Failure(journal_path_ +
                   " is damaged: its last line is none that a run writes; the "
                   "run cannot be continued.  Nothing was changed; move " +
                   journal_path_ + " and " + output_.part + " away");
  };
  const std::size_t check = line.rfind(kCheck);
  if (check == std::string_view::npos ||
      line.substr(check) !=
          std::string(kCheck) + digest_of(line.substr(0, check)) + "\"}\n") {
    throw damaged();
  }
  const Result<json::Value> value = json::parse(line);
  if (!value) throw damaged();
  for (const auto& [name, member] : kMembers) {
    const std::optional<std::size_t> n = number(*value, name);
    if (!n) throw damaged();
    begin_.*member = *n;
  }
  for (std::size_t i = 0; i < begin_.calls.size(); ++i) {
    const auto n = number(*value, call_count_name(i).c_str());
    if (!n) throw damaged();
    begin_.calls[i] = *n;
  }
  const auto output = number(*value, "output_bytes");
  const auto errors = number(*value, "errors_bytes");
  const std::size_t files = options_.manifest.find("files")->size();
  if (!output || !errors || !fits(begin_, files)) throw damaged();
  last_ = begin_;
  output_.bytes = *output;
  errors_.bytes = *errors;
  return value->find("finished") != nullptr;
}

void BatchOutput::check_manifest(const json::Value& before) const {
  const json::Value& now = options_.manifest;
  if (before == now) return;
  std::string changed;
  const json::Value* options_before = before.find("options");
  for (const json::Member& option : now.find("options")->members()) {
    const json::Value* old =
        options_before == nullptr ? nullptr : options_before->find(option.key);
    if (old != nullptr && *old == option.value) continue;
    changed += (changed.empty() ? "" : ", ") + option.key;
  }
  if (changed.empty()) {
    const json::Value* version = before.find("version");
    changed = version != nullptr && *version == *now.find("version")
                  ? "the input files"
                  : "the version of parlance";
  }
  throw Failure(output_.part + " was begun with other options or inputs (" +
                changed + "); only the same run can be continued.  To begin " +
                "anew, remove it and " + journal_path_);
}

// ---- The files

void BatchOutput::begin_run() {
  refuse_existing(output_);
  refuse_existing(errors_);
  open_in_place(output_);
  open_in_place(errors_);
  for (const File* file : {&output_, &errors_}) {
    if (file->in_place || !exists(file->part)) continue;
    const int held = ::open(file->part.c_str(),
                            O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool free = held < 0 || lock(held);
    if (held >= 0) ::close(held);
    if (!free) refuse_second(file->path);
    throw Failure(file->part +
                  " exists, perhaps from a run that was interrupted and cannot "
                  "be continued; remove it, or name another file");
  }
  if (journal_ >= 0) {
    write_all(journal_, json_text(options_.manifest) + "\n", journal_path_);
    if (::fsync(journal_) != 0) fail(journal_path_, "write to");
    sync_folder_of(journal_path_);
  }
  create(output_);
  try {
    create(errors_);
  } catch (const Failure&) {
    if (!output_.in_place) ::unlink(output_.part.c_str());
    throw;
  }
}

void BatchOutput::open_in_place(File& file) {
  if (!file.in_place) return;
  if (file.path.empty()) {
    if (&file == &output_) file.descriptor = STDOUT_FILENO;
    return;
  }
  const std::optional<int> open_already = descriptor_of(file.path);
  file.descriptor = open_already
                        ? ::dup(*open_already)
                        : ::open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file.descriptor < 0) fail(file.path, "open");
}

// Fails where another run, or a name that differs by case only, was faster.
void BatchOutput::create(File& file) {
  if (file.in_place) return;
  file.descriptor =
      ::open(file.part.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file.descriptor < 0) fail(file.part, "create");
  // Waits only for a run that looks whether somebody writes the file.
  (void)::flock(file.descriptor, LOCK_EX);
}

// The run may have been interrupted before it created the part.
void BatchOutput::reopen(File& file) {
  if (file.in_place) return open_in_place(file);
  if (file.bytes == 0 && !exists(file.part)) return create(file);
  file.descriptor =
      ::open(file.part.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file.descriptor < 0) fail(file.part, "open");
  if (!lock(file.descriptor)) refuse_second(file.path);
  struct stat facts = {};
  if (::fstat(file.descriptor, &facts) != 0 || !S_ISREG(facts.st_mode) ||
      static_cast<std::size_t>(facts.st_size) < file.bytes) {
    throw Failure(file.part + " is shorter than " + journal_path_ +
                  " says; remove both");
  }
}

void BatchOutput::add(File& file, std::string_view bytes) {
  write_all(file.descriptor, bytes,
            file.path.empty() ? "standard output" : file.path);
  file.bytes += bytes.size();
}

void BatchOutput::write(std::string_view rows, std::string_view errors) {
  // A row that is there has its description.
  if (errors_.descriptor >= 0 && !errors.empty()) {
    add(errors_, errors_encoder_.encode(errors));
  }
  add(output_, rows);
}

void BatchOutput::sync(const File& file) {
  if (file.in_place) return;
  if (::fsync(file.descriptor) != 0) fail(file.part, "write to");
}

void BatchOutput::mark(const Checkpoint& checkpoint) {
  last_ = checkpoint;
  if (journal_ < 0) return;
  const auto now = std::chrono::steady_clock::now();
  const double spent = std::chrono::duration<double>(now - saved_).count();
  if (spent < options_.checkpoint_seconds) return;
  save(checkpoint, /*finished=*/false);
  saved_ = std::chrono::steady_clock::now();
}

void BatchOutput::save(const Checkpoint& checkpoint, bool finished) {
  sync(output_);
  sync(errors_);
  json::Object line;
  for (const auto& [name, member] : kMembers) {
    line[name] = static_cast<std::int64_t>(checkpoint.*member);
  }
  for (std::size_t i = 0; i < checkpoint.calls.size(); ++i) {
    line[call_count_name(i)] = static_cast<std::int64_t>(checkpoint.calls[i]);
  }
  line["output_bytes"] = static_cast<std::int64_t>(output_.bytes);
  line["errors_bytes"] = static_cast<std::int64_t>(errors_.bytes);
  if (finished) line["finished"] = true;
  std::string text = json_text(json::Value(std::move(line)));
  text.pop_back();
  write_all(journal_, text + std::string(kCheck) + digest_of(text) + "\"}\n",
            journal_path_);
}

// By a second name, which unlike rename() takes nobody's place.
void BatchOutput::publish(const File& file) {
  if (file.in_place) return;
  if (!exists(file.part)) {
    if (exists(file.path)) return;
    throw Failure(file.part + " is gone");
  }
  if (::link(file.part.c_str(), file.path.c_str()) == 0) {
    ::unlink(file.part.c_str());
  } else if (errno != EEXIST) {
    // A file system without hard links.
    if (std::rename(file.part.c_str(), file.path.c_str()) != 0) {
      fail(file.part, "rename");
    }
  } else if (file_id(file.part) == file_id(file.path)) {
    ::unlink(file.part.c_str());  // an interruption came between the two steps
  } else {
    throw Failure(file.path + " was made by another while " + file.part +
                  " was written, which is complete; rename it");
  }
  sync_folder_of(file.path);
}

// The output last, so that where it has its name all is there.
void BatchOutput::publish_all() {
  publish(errors_);
  publish(output_);
  if (journal_ >= 0) ::unlink(journal_path_.c_str());
}

void BatchOutput::finish() {
  // A compressed file without rows has a member or frame, too.
  for (File* file : {&output_, &errors_}) {
    if (file->descriptor < 0 || file->bytes > 0) continue;
    add(*file, Encoder(compression_of_name(file->path)).encode(""));
  }
  if (journal_ >= 0) {
    save(last_, /*finished=*/true);
    if (::fsync(journal_) != 0) fail(journal_path_, "write to");
  } else {
    sync(output_);
    sync(errors_);
  }
  publish_all();
}

}  // namespace parlance::cli
