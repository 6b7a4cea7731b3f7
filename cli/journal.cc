#include "journal.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include "io.h"
#include "style.h"
#include "system.h"

namespace parlance::cli {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw Failure("cannot " + std::string(what) + " " + path + ": " +
                std::strerror(errno));
}

// Whether the name is taken, also by a link that leads nowhere.
bool exists(const std::string& path) { return facts_of_link(path).has_value(); }

// Whether there is something that is neither a file nor a folder.
bool is_device(const std::string& path) {
  const auto facts = facts_of(path);
  return facts && facts->kind != FileKind::kFile &&
         facts->kind != FileKind::kFolder;
}

[[noreturn]] void refuse_second(const std::string& path) {
  throw Failure("another run is writing " + path);
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
    const std::ptrdiff_t n =
        read_at(descriptor, buffer.data(), buffer.size(), out.size());
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
    if (made_journal_) remove_path(journal_path_);
    throw;
  }
}

BatchOutput::~BatchOutput() {
  for (const int descriptor :
       {journal_, output_.descriptor, errors_.descriptor}) {
    if (descriptor > 2) close_descriptor(descriptor);
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
  journal_ = open_path(journal_path_, OpenMode::kJournal);
  if (journal_ < 0 && errno == ENOENT) {
    if (exists(output_.path)) {
      complete_ = true;
      return false;
    }
    journal_ = open_path(journal_path_, OpenMode::kNewJournal);
    made_journal_ = journal_ >= 0;
    if (journal_ < 0 && errno == EEXIST) refuse_second(output_.path);
  }
  if (journal_ < 0) fail(journal_path_, "open");
  // Two runs that write one file would mix their rows.
  if (!lock_at_once(journal_)) {
    made_journal_ = false;  // another run has been faster
    refuse_second(output_.path);
  }
  // The run that held the lock may have ended, and removed its journal.
  const auto here = facts_of(journal_);
  const auto there = facts_of_link(journal_path_);
  if (!here || here->kind != FileKind::kFile || !there ||
      here->device != there->device || here->inode != there->inode) {
    made_journal_ = false;
    refuse_second(output_.path);
  }
  if (here->bytes > 0) return true;
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
    if (!truncate_to(file->descriptor, file->bytes)) {
      fail(file->part, "write to");
    }
  }
  if (!truncate_to(journal_, text.size())) {
    fail(journal_path_, "write to");
  }
}

void BatchOutput::check_whole(const File& file) const {
  const std::string& name = exists(file.part) ? file.part : file.path;
  const auto facts = facts_of_link(name);
  if (file.in_place || !facts) return;
  if (facts->kind == FileKind::kFile && facts->bytes == file.bytes) return;
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
    const int held = open_path(file->part, OpenMode::kContinue);
    const bool free = held < 0 || lock_at_once(held);
    if (held >= 0) close_descriptor(held);
    if (!free) refuse_second(file->path);
    throw Failure(file->part +
                  " exists, perhaps from a run that was interrupted and cannot "
                  "be continued; remove it, or name another file");
  }
  if (journal_ >= 0) {
    write_all(journal_, json_text(options_.manifest) + "\n", journal_path_);
    if (!sync_descriptor(journal_)) fail(journal_path_, "write to");
    sync_folder_of(journal_path_);
  }
  create(output_);
  try {
    create(errors_);
  } catch (const Failure&) {
    if (!output_.in_place) remove_path(output_.part);
    throw;
  }
}

void BatchOutput::open_in_place(File& file) {
  if (!file.in_place) return;
  if (file.path.empty()) {
    if (&file == &output_) file.descriptor = 1;
    return;
  }
  const std::optional<int> open_already = descriptor_of(file.path);
  file.descriptor = open_already ? duplicate(*open_already)
                                 : open_path(file.path, OpenMode::kDevice);
  if (file.descriptor < 0) fail(file.path, "open");
}

// Fails where another run, or a name that differs by case only, was faster.
void BatchOutput::create(File& file) {
  if (file.in_place) return;
  file.descriptor = open_path(file.part, OpenMode::kCreate);
  if (file.descriptor < 0) fail(file.part, "create");
  // Waits only for a run that looks whether somebody writes the file.
  wait_for_lock(file.descriptor);
}

// The run may have been interrupted before it created the part.
void BatchOutput::reopen(File& file) {
  if (file.in_place) return open_in_place(file);
  if (file.bytes == 0 && !exists(file.part)) return create(file);
  file.descriptor = open_path(file.part, OpenMode::kContinue);
  if (file.descriptor < 0) fail(file.part, "open");
  if (!lock_at_once(file.descriptor)) refuse_second(file.path);
  const auto facts = facts_of(file.descriptor);
  if (!facts || facts->kind != FileKind::kFile || facts->bytes < file.bytes) {
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
  if (!sync_descriptor(file.descriptor)) fail(file.part, "write to");
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
  if (link_path(file.part, file.path)) {
    remove_path(file.part);
  } else if (errno != EEXIST) {
    // A file system without hard links.
    if (!rename_path(file.part, file.path)) {
      fail(file.part, "rename");
    }
  } else if (file_id(file.part) == file_id(file.path)) {
    remove_path(file.part);  // an interruption came between the two steps
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
  if (journal_ >= 0) remove_path(journal_path_);
}

void BatchOutput::finish() {
  // A compressed file without rows has a member or frame, too.
  for (File* file : {&output_, &errors_}) {
    if (file->descriptor < 0 || file->bytes > 0) continue;
    add(*file, Encoder(compression_of_name(file->path)).encode(""));
  }
  if (journal_ >= 0) {
    save(last_, /*finished=*/true);
    if (!sync_descriptor(journal_)) fail(journal_path_, "write to");
  } else {
    sync(output_);
    sync(errors_);
  }
  publish_all();
}

}  // namespace parlance::cli
