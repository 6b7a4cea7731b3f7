#include "journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>

#include "io.h"

namespace parlance::cli {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw Failure("cannot " + std::string(what) + " " + path + ": " +
                std::strerror(errno));
}

bool exists(const std::string& path) {
  struct stat facts = {};
  return ::stat(path.c_str(), &facts) == 0;
}

// Whether there is something that is neither a file nor a folder.
bool is_device(const std::string& path) {
  struct stat facts = {};
  return ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) &&
         !S_ISDIR(facts.st_mode);
}

constexpr struct {
  const char* name;
  std::size_t Checkpoint::*member;
} kMembers[] = {{"file", &Checkpoint::file}, {"offset", &Checkpoint::offset},
                {"line", &Checkpoint::line}, {"row", &Checkpoint::row},
                {"rows", &Checkpoint::rows}, {"failed", &Checkpoint::failed},
                {"cut", &Checkpoint::cut},   {"damaged", &Checkpoint::damaged}};

std::optional<std::size_t> number(const json::Value& value, const char* name) {
  const json::Value* member = value.find(name);
  if (member == nullptr || member->kind() != json::Kind::kInt) return {};
  return static_cast<std::size_t>(member->as_int());
}

}  // namespace

BatchOutput::BatchOutput(const OutputOptions& options)
    : options_(options), errors_encoder_([&] {
        const Compression kind = compression_of_name(options.errors);
        need_compression(kind, options.errors);
        return kind;
      }()) {
  output_.path = options.output;
  output_.part = options.output + ".part";
  output_.in_place = is_device(options.output);
  errors_.path = options.errors;
  errors_.part = options.errors + ".part";
  errors_.in_place = is_device(options.errors);
  need_compression(compression_of_name(options.output), options.output);
  bool resumed = false;
  if (!output_.path.empty() && !output_.in_place) {
    journal_path_ = output_.path + ".journal";
    if (exists(output_.path)) {
      if (!options.resume) {
        throw Failure(output_.path +
                      " exists; remove it, or name another file");
      }
      complete_ = true;
      // An earlier run may have ended before it did this.
      ::unlink(journal_path_.c_str());
      return;
    }
    if (!options.manifest.is_null()) resumed = read_journal();
  }
  open(output_, resumed);
  open(errors_, resumed);
  if (journal_ >= 0 && !resumed) {
    const std::string line =
        json::dump(options.manifest, {.ascii = false}) + "\n";
    if (::ftruncate(journal_, 0) != 0) fail(journal_path_, "write to");
    put_bytes(journal_, journal_path_, line);
  }
}

BatchOutput::~BatchOutput() {
  for (const int descriptor :
       {journal_, output_.descriptor, errors_.descriptor}) {
    if (descriptor > 2) ::close(descriptor);
  }
}

bool BatchOutput::read_journal() {
  journal_ = ::open(journal_path_.c_str(),
                    O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (journal_ < 0) fail(journal_path_, "open");
  if (::flock(journal_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Failure("another run is writing " + output_.path);
  }
  std::string text = read_all(journal_path_);
  // A line that is not whole says nothing.
  text.resize(text.rfind('\n') + 1);
  if (text.empty()) return false;
  const std::size_t first = text.find('\n') + 1;
  const Result<json::Value> manifest = json::parse(text.substr(0, first));
  if (!manifest) {
    throw Failure(journal_path_ + " is not the journal of a run; remove it");
  }
  if (!options_.resume) {
    throw Failure(output_.part +
                  " is the output of a run that was interrupted; continue it "
                  "with --resume, or remove " +
                  journal_path_);
  }
  check_manifest(*manifest);
  if (::ftruncate(journal_, static_cast<off_t>(text.size())) != 0) {
    fail(journal_path_, "write to");
  }
  if (first < text.size()) {
    const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
    const Result<json::Value> line = json::parse(text.substr(last));
    bool whole = static_cast<bool>(line);
    for (const auto& [name, member] : kMembers) {
      const std::optional<std::size_t> n =
          whole ? number(*line, name) : std::nullopt;
      whole = n.has_value();
      if (n) begin_.*member = *n;
    }
    const auto output = whole ? number(*line, "output_bytes") : std::nullopt;
    const auto errors = whole ? number(*line, "errors_bytes") : std::nullopt;
    if (!output || !errors) {
      throw Failure(journal_path_ + " is not the journal of a run; remove it");
    }
    output_.bytes = *output;
    errors_.bytes = *errors;
  }
  return true;
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
                changed + "); only the same run can be continued");
}

void BatchOutput::open(File& file, bool resumed) {
  if (file.path.empty()) {
    if (&file == &output_) file.descriptor = STDOUT_FILENO;
    return;
  }
  if (file.in_place) {
    file.descriptor = ::open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.descriptor < 0) fail(file.path, "open");
    return;
  }
  // The run may have ended between the two renamings.
  if (resumed && !exists(file.part) && exists(file.path)) {
    if (std::rename(file.path.c_str(), file.part.c_str()) != 0) {
      fail(file.path, "rename");
    }
  }
  file.descriptor =
      ::open(file.part.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file.descriptor < 0) fail(file.part, "open");
  struct stat facts = {};
  const auto length = static_cast<off_t>(file.bytes);
  if (::fstat(file.descriptor, &facts) != 0 || facts.st_size < length) {
    throw Failure(file.part + " is shorter than " + journal_path_ +
                  " says; remove both");
  }
  if (::ftruncate(file.descriptor, length) != 0 ||
      ::lseek(file.descriptor, length, SEEK_SET) != length) {
    fail(file.part, "write to");
  }
}

void BatchOutput::put_bytes(int descriptor, const std::string& name,
                            std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) throw OutputClosed{};
      fail(name, "write to");
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void BatchOutput::write(std::string_view rows, std::string_view errors) {
  const auto add = [](File& file, std::string_view bytes) {
    put_bytes(file.descriptor,
              file.path.empty() ? "standard output" : file.path, bytes);
    file.bytes += bytes.size();
  };
  // A row that is there has its description.
  if (errors_.descriptor >= 0 && !errors.empty()) {
    add(errors_, errors_encoder_.encode(errors));
  }
  add(output_, rows);
}

void BatchOutput::sync(const File& file) {
  if (file.path.empty() || file.in_place) return;
  if (::fdatasync(file.descriptor) != 0) fail(file.part, "write to");
}

void BatchOutput::mark(const Checkpoint& checkpoint) {
  if (journal_ < 0) return;
  const auto now = std::chrono::steady_clock::now();
  const double spent = std::chrono::duration<double>(now - saved_).count();
  if (spent < options_.checkpoint_seconds) return;
  save(checkpoint);
  saved_ = std::chrono::steady_clock::now();
}

void BatchOutput::save(const Checkpoint& checkpoint) {
  sync(output_);
  sync(errors_);
  json::Object line;
  for (const auto& [name, member] : kMembers) {
    line[name] = static_cast<std::int64_t>(checkpoint.*member);
  }
  line["output_bytes"] = static_cast<std::int64_t>(output_.bytes);
  line["errors_bytes"] = static_cast<std::int64_t>(errors_.bytes);
  put_bytes(journal_, journal_path_,
            json::dump(json::Value(std::move(line))) + "\n");
}

void BatchOutput::finish() {
  for (File* file : {&errors_, &output_}) {
    if (file->path.empty() || file->in_place) continue;
    sync(*file);
    if (std::rename(file->part.c_str(), file->path.c_str()) != 0) {
      fail(file->part, "rename");
    }
  }
  if (journal_ >= 0) ::unlink(journal_path_.c_str());
}

}  // namespace parlance::cli
