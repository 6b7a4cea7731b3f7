#include "batch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "compression.h"
#include "io.h"
#include "journal.h"
#include "lines.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "parlance/message_json.h"
#include "report.h"
#include "system.h"

namespace parlance::cli {
namespace {

// A message about a line, for standard error.
struct LineNote {
  std::size_t line = 0;  // in its block, from 0
  std::string text;
};

// A line of --errors.  Its beginning, which says where the row is, is known to
// the writer only.
struct ErrorLine {
  std::size_t line = 0;  // in its block, from 0
  std::size_t row = 0;   // likewise
  std::string rest;      // "id": ...}
};

// The result of a block.
struct Answer {
  std::string text;
  std::vector<LineNote> notes;
  std::vector<ErrorLine> errors;
  std::size_t file = 0;  // as in Block
  std::size_t end = 0;
  std::size_t consumed = 0;
  std::size_t lines = 0;
  std::size_t rows = 0;     // lines that are not blank
  std::size_t failed = 0;   // rows without a message
  std::size_t cut = 0;      // responses that were cut off
  std::size_t damaged = 0;  // rows whose message lacks something
  std::size_t ended = 0;    // responses whose end of turn was seen
  CallCounts calls = {};
};

std::string line_of(const json::Value& value) {
  return json_text(value, 0, /*compact=*/true);
}

// As a line of --errors has it: the names are those of the Arrow columns.
json::Value row_of(const Diagnostic& diagnostic) {
  json::Object out;
  out["offset"] = static_cast<std::int64_t>(diagnostic.bytes.begin);
  out["end"] = static_cast<std::int64_t>(diagnostic.bytes.end);
  out["code"] = to_string(diagnostic.code);
  out["field"] =
      diagnostic.field.empty() ? json::Value() : json::Value(diagnostic.field);
  out["message"] = diagnostic.message;
  return out;
}

// Turns lines into messages; one per thread.
class LineParser {
 public:
  LineParser(const Reading& reading, const BatchOptions& options)
      : reading_(reading),
        options_(options),
        encoder_(compression_of_name(options.output.output)),
        encodes_(compression_of_name(options.output.output) !=
                 Compression::kNone),
        nested_(options.details || !options.keep.empty() ||
                !options.id.empty() || !options.message_key.empty()),
        message_key_(options.message_key.empty() ? "message"
                                                 : options.message_key) {}

  // `room` is memory to write into; its content is dropped.
  Answer parse(const Block& from, std::string room) {
    std::string_view block = from.text;
    Answer answer;
    answer.file = from.file;
    answer.end = from.end;
    answer.consumed = from.consumed;
    answer.text = encodes_ ? std::move(plain_) : std::move(room);
    answer.text.clear();
    answer.text.reserve(block.size() + block.size() / 4);
    while (!block.empty()) {
      const void* newline = std::memchr(block.data(), '\n', block.size());
      std::size_t length =
          newline == nullptr
              ? block.size()
              : static_cast<std::size_t>(static_cast<const char*>(newline) -
                                         block.data());
      parse_line(block.substr(0, length), answer);
      ++answer.lines;
      block.remove_prefix(std::min(length + 1, block.size()));
    }
    if (encodes_) {
      plain_ = std::move(answer.text);
      answer.text = plain_.empty() ? std::string() : encoder_.encode(plain_);
    }
    return answer;
  }

 private:
  void parse_line(std::string_view line, Answer& answer) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    ++answer.rows;
    const Result<json::Value> value = json::parse(line);
    if (!value) return refuse(answer, {}, value.error());
    if (value->is_null()) return add_null_row(answer, {});
    if (value->is_string()) {
      return parse_response({}, value->as_string(), reading_.options(), nullptr,
                            answer);
    }
    if (!value->is_object()) {
      return refuse(answer, {},
                    "a line must be a JSON string, or an object with one as a "
                    "member; this is " +
                        with_article(value->kind()));
    }
    const json::Value* response = value->find(options_.key);
    // As in a column: a response that is null is a message that is null.
    if (response != nullptr && response->is_null()) {
      return add_null_row(answer, *value);
    }
    if (response == nullptr || !response->is_string()) {
      return refuse(answer, *value,
                    "the object has no string called '" + options_.key +
                        "'; --key names the member with the response");
    }
    StreamOptions options = reading_.options();
    if (const json::Value* prefix = value->find(options_.prefix_key)) {
      if (!prefix->is_null()) {
        if (!prefix->is_string()) {
          return refuse(answer, *value,
                        "'" + options_.prefix_key + "' is " +
                            with_article(prefix->kind()) +
                            " where a string is needed");
        }
        options.prefix = prefix->as_string();
      }
    }
    if (const json::Value* tools = value->find(options_.tools_key)) {
      if (!tools->is_null()) {
        if (!tools->is_array()) {
          return refuse(answer, *value,
                        "'" + options_.tools_key + "' is " +
                            with_article(tools->kind()) +
                            " where a list is needed");
        }
        options.tools = &tools_of(*tools);
      }
    }
    const RowFormat* format = nullptr;
    if (!options_.format_key.empty()) {
      const json::Value* name = value->find(options_.format_key);
      if (name != nullptr && !name->is_null()) {
        if (!name->is_string()) {
          return refuse(answer, *value,
                        "'" + options_.format_key + "' is " +
                            with_article(name->kind()) +
                            " where a string is needed");
        }
        const Result<RowFormat>& found = format_of(name->as_string());
        if (!found) {
          Error error = found.error();
          error.span.reset();  // of the format, and not of the line
          error.message = "'" + options_.format_key + "': " + error.message;
          return refuse(answer, *value, error);
        }
        format = &*found;
      }
    }
    parse_response(*value, response->as_string(), options, format, answer);
  }

  // The format of a row that names one.
  struct RowFormat {
    explicit RowFormat(Format made) : format(std::move(made)) {
      for (std::size_t i = 0; i < format.field_count(); ++i) {
        fields.push_back(format.field_name(i));
      }
    }
    Format format;
    std::vector<std::string_view> fields;
  };

  // `text`: the name of a built-in format, or a format file.
  const Result<RowFormat>& format_of(std::string_view text) {
    const auto known = formats_.find(text);
    if (known != formats_.end()) return known->second;
    if (formats_.size() == kMostFormats) formats_.clear();
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    const bool is_file = begin != text.npos && text[begin] == '{';
    Result<Format> made =
        is_file ? Format::from_json(text) : Format::built_in(text);
    Result<RowFormat> row = made
                                ? Result<RowFormat>(RowFormat(*std::move(made)))
                                : Result<RowFormat>(std::move(made).error());
    return formats_.emplace(std::string(text), std::move(row)).first->second;
  }

  // Neighbouring lines often have the same tools.
  const ToolSet& tools_of(const json::Value& tools) {
    if (!(tools == last_tools_)) {
      last_tool_set_ = ToolSet::from_value(tools);
      last_tools_ = tools;
    }
    return last_tool_set_;
  }

  // `input` is the row that the response is in, null if it is a string.
  // `own` is the format of the row, null for that of all rows.
  void parse_response(const json::Value& input, std::string_view response,
                      StreamOptions options, const RowFormat* own,
                      Answer& answer) {
    if (own == nullptr && !reading_.is_complete()) {
      return refuse(answer, input,
                    "the row names no format as '" + options_.format_key +
                        "'; --format is that of such rows");
    }
    options.attempts = true;
    Reader parser = own != nullptr ? Reader(own->format, options)
                                   : reading_.reader(options);
    parser.feed(response);
    parser.finalize();
    if (const Error* failure = parser.failure()) {
      return refuse(answer, input, *failure);
    }
    const Message& message = parser.message();
    if (!message.complete) ++answer.cut;
    if (message.turn_ended) ++answer.ended;
    bool sound = message.complete && message.diagnostics.empty();
    for (const Attempt& attempt : message.attempts) {
      ++answer.calls[static_cast<std::size_t>(attempt.status)];
      sound = sound && attempt.status == CallStatus::kOk;
    }
    if (!message.diagnostics.empty()) tell_damage(answer, message.diagnostics);
    if (!sound) add_error_line(answer, input, message, {});
    json::Value value;
    if (options_.chat) {
      value = chat_message(
          message, own != nullptr ? std::span(own->fields) : reading_.fields());
    }
    if (!nested_) {
      answer.text += line_of(options_.chat ? value : message.fields) + '\n';
      return;
    }
    json::Object row = kept(input);
    if (options_.chat) {
      row[message_key_] = std::move(value);
    } else {
      row[message_key_] = message.fields;
    }
    add_details(row, message, nullptr);
    answer.text += line_of(json::Value(std::move(row))) + '\n';
  }

  // What --details adds to a row, and the error of a row that has one.
  void add_details(json::Object& row, const Message& message,
                   json::Value error) const {
    if (!options_.details) {
      if (!error.is_null()) row["error"] = std::move(error);
      return;
    }
    row["complete"] = message.complete;
    json::Array diagnostics;
    for (const Diagnostic& diagnostic : message.diagnostics) {
      diagnostics.push_back(to_json(diagnostic));
    }
    row["diagnostics"] = std::move(diagnostics);
    row["error"] = std::move(error);
    row["turn_ended"] = message.turn_ended;
    row["attempted_calls"] = attempts_of(message);
    row["prefix_bytes"] = static_cast<std::int64_t>(message.prefix_bytes);
  }

  void add_null_row(Answer& answer, const json::Value& input) const {
    if (!nested_) {
      answer.text += "null\n";
      return;
    }
    json::Object row = kept(input);
    row[message_key_] = nullptr;
    Message none;
    none.complete = true;
    add_details(row, none, nullptr);
    answer.text += line_of(json::Value(std::move(row))) + '\n';
  }

  // The members of an input row that its output row has, too.
  json::Object kept(const json::Value& input) const {
    json::Object out;
    const auto add = [&](const std::string& name) {
      const json::Value* value = input.find(name);
      out[name] = value == nullptr ? json::Value() : *value;
    };
    if (!options_.id.empty()) add(options_.id);
    if (options_.keep.size() == 1 && options_.keep.front() == "*") {
      for (const json::Member& member : input.members()) {
        out[member.key] = member.value;
      }
      return out;
    }
    for (const std::string& name : options_.keep) add(name);
    return out;
  }

  static json::Array attempts_of(const Message& message) {
    json::Array out;
    for (const Attempt& attempt : message.attempts) {
      out.push_back(to_json(attempt));
    }
    return out;
  }

  void add_error_line(Answer& answer, const json::Value& input,
                      const Message& message, json::Value error) const {
    if (options_.output.errors.empty()) return;
    json::Object row;
    if (!options_.id.empty()) {
      const json::Value* id = input.find(options_.id);
      row["id"] = id == nullptr ? json::Value() : *id;
    }
    row["complete"] = message.complete;
    json::Array list;
    list.reserve(message.diagnostics.size());
    for (const Diagnostic& diagnostic : message.diagnostics) {
      list.push_back(row_of(diagnostic));
    }
    row["diagnostics"] = std::move(list);
    row["error"] = std::move(error);
    row["turn_ended"] = message.turn_ended;
    row["attempted_calls"] = attempts_of(message);
    row["prefix_bytes"] = static_cast<std::int64_t>(message.prefix_bytes);
    answer.errors.push_back({answer.lines, answer.rows - 1,
                             line_of(json::Value(std::move(row))).substr(1)});
  }

  // The first diagnostic; a row with details has all of them.
  void tell_damage(Answer& answer,
                   const std::vector<Diagnostic>& diagnostics) const {
    ++answer.damaged;
    // A file tells all of it.
    if (!options_.output.errors.empty()) return;
    const Diagnostic& first = diagnostics.front();
    std::string text = "warning: ";
    if (!first.field.empty()) text += "field '" + first.field + "': ";
    text += first.message + " (" + std::string(to_string(first.code)) + ")";
    if (diagnostics.size() > 1) {
      text += ", and " + std::to_string(diagnostics.size() - 1) + " more";
    }
    answer.notes.push_back({answer.lines, std::move(text)});
  }

  static std::string with_article(json::Kind kind) {
    std::string name(to_string(kind));
    if (kind == json::Kind::kNull) return name;
    bool vowel =
        std::string_view("aeiou").find(name[0]) != std::string_view::npos;
    return (vowel ? "an " : "a ") + name;
  }

  // A line that is no response or cannot be read has a row too.
  void refuse(Answer& answer, const json::Value& input,
              const std::string& text) const {
    add_error_row(answer, input, ErrorCode::kWrongType, text, std::nullopt);
    if (!options_.output.errors.empty()) return;
    answer.notes.push_back({answer.lines, text});
  }
  void refuse(Answer& answer, const json::Value& input,
              const Error& error) const {
    add_error_row(answer, input, error.code, error.message, error.span);
    if (!options_.output.errors.empty()) return;
    std::string text;
    if (error.span) {
      text = "column " + std::to_string(error.span->begin + 1) + ": ";
    }
    text += error.message + " (" + std::string(to_string(error.code)) + ")";
    answer.notes.push_back({answer.lines, std::move(text)});
  }

  void add_error_row(Answer& answer, const json::Value& input, ErrorCode code,
                     std::string_view message,
                     const std::optional<Span>& span) const {
    ++answer.failed;
    json::Object error;
    error["code"] = to_string(code);
    error["message"] = message;
    json::Object row = kept(input);
    if (nested_) row[message_key_] = nullptr;
    add_details(row, {}, error);
    answer.text += line_of(json::Value(std::move(row))) + '\n';
    if (span) {
      error["offset"] = static_cast<std::int64_t>(span->begin);
      error["end"] = static_cast<std::int64_t>(span->end);
    }
    add_error_line(answer, input, {}, std::move(error));
  }

  const Reading& reading_;
  const BatchOptions& options_;
  Encoder encoder_;
  const bool encodes_;
  const bool nested_;
  const std::string message_key_;
  static constexpr std::size_t kMostFormats = 64;
  std::map<std::string, Result<RowFormat>, std::less<>> formats_;
  std::string plain_;  // memory for rows that are then compressed
  json::Value last_tools_;
  ToolSet last_tool_set_;
};

// 1234567 as 1,234,567.
std::string grouped(std::size_t n) {
  std::string out = std::to_string(n);
  for (std::size_t at = out.size(); at > 3;) {
    at -= 3;
    out.insert(at, ",");
  }
  return out;
}

std::string duration(double seconds) {
  char text[32];
  if (seconds < 10) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  } else if (seconds < 90) {
    std::snprintf(text, sizeof text, "%.0f s", seconds);
  } else {
    auto whole = static_cast<long>(seconds);
    std::snprintf(text, sizeof text, "%ld min %02ld s", whole / 60, whole % 60);
  }
  return text;
}

// A line on standard error that shows the progress.
class ProgressLine {
 public:
  ProgressLine(Progress progress, Color color, std::size_t total_bytes)
      : shown_(
            progress == Progress::kAlways ||
            (progress == Progress::kAuto && is_terminal(2) && !is_terminal(1))),
        style_(color, 2),
        total_bytes_(total_bytes) {}

  // What an interrupted run has done does not count in rates.
  void begin(std::size_t rows) { rows_before_ = rows; }

  void update(std::size_t rows, std::size_t bytes) {
    if (first_bytes_ == kNothing) first_bytes_ = bytes;
    if (!shown_) return;
    double now = seconds();
    if (now - last_ < 0.1) return;
    last_ = now;
    std::string text = "\r";
    if (total_bytes_ > 0) {
      double part =
          static_cast<double>(bytes) / static_cast<double>(total_bytes_);
      text += bar(part) + percent(part);
    }
    text += "  " + grouped(rows) + " rows  " + rate(rows, now);
    const std::size_t done = bytes - std::min(bytes, first_bytes_);
    if (total_bytes_ > bytes && done > 0) {
      double left = now * static_cast<double>(total_bytes_ - bytes) /
                    static_cast<double>(done);
      text += "  " + duration(left) + " left";
    }
    put_error(text + "\x1b[K");
    drawn_ = true;
  }

  // Makes room for other lines on standard error.
  void clear() {
    if (drawn_) put_error("\r\x1b[K");
    drawn_ = false;
  }

  // `always`: also where the progress is not shown.
  void finish(const Checkpoint& done, bool always) {
    if (!shown_ && !always) return;
    clear();
    double now = seconds();
    std::string text = grouped(done.rows) + (done.rows == 1 ? " row" : " rows");
    if (rows_before_ > 0) text += " (" + grouped(rows_before_) + " were there)";
    text += " in " + duration(now) + ", " + rate(done.rows, now);
    if (done.failed > 0) {
      text +=
          ", " + style_.paint(Style::kError, grouped(done.failed) + " failed");
    }
    for (std::size_t i = 1; i < done.calls.size(); ++i) {
      if (done.calls[i] == 0) continue;
      std::string what(to_string(static_cast<CallStatus>(i)));
      std::ranges::replace(what, '_', ' ');
      text += ", calls " + what + ": " +
              style_.paint(Style::kWarning, grouped(done.calls[i]));
    }
    if (done.cut > 0) {
      text +=
          ", " + style_.paint(Style::kWarning, grouped(done.cut) + " cut off");
    }
    if (done.damaged > 0) {
      text += ", " +
              style_.paint(Style::kWarning, grouped(done.damaged) + " damaged");
    }
    // Where none has an end of turn, it was removed from all of them.
    if (const std::size_t read = done.rows - done.failed;
        done.ended > 0 && done.ended < read) {
      text += ", " + style_.paint(Style::kWarning, grouped(read - done.ended) +
                                                       " without end of turn");
    }
    put_error(text + "\n");
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         began_)
        .count();
  }

  std::string rate(std::size_t rows, double seconds) const {
    double per_second =
        seconds > 0 ? static_cast<double>(rows - rows_before_) / seconds : 0;
    return grouped(static_cast<std::size_t>(per_second)) + "/s";
  }

  std::string bar(double part) const {
    constexpr std::size_t kWidth = 24;
    auto full = static_cast<std::size_t>(part * kWidth);
    std::string done, left;
    for (std::size_t i = 0; i < kWidth; ++i) (i < full ? done : left) += "━";
    return style_.paint(Style::kString, done) + style_.paint(Style::kDim, left);
  }

  static std::string percent(double part) {
    return pad_left(std::to_string(static_cast<int>(part * 100)), 4) + "%";
  }

  static constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

  bool shown_;
  bool drawn_ = false;
  std::size_t rows_before_ = 0;
  std::size_t first_bytes_ = kNothing;  // read when the first block was done
  Style style_;
  std::size_t total_bytes_;
  std::chrono::steady_clock::time_point began_ =
      std::chrono::steady_clock::now();
  double last_ = 0;
};

// The threads and the queues between them.  `mutex_` guards all members that
// are declared after it.
//
// A thread that the system refuses is done without.  Without any, next() does
// all the work itself.
class Pipeline {
 public:
  Pipeline(const Reading& reading, const BatchOptions& options,
           InputPlace begin, std::size_t threads)
      : reading_(reading),
        options_(options),
        blocks_(options.files, begin),
        max_in_flight_(threads * 4) {
    // Not reallocated below, where that would leave a thread without its owner.
    threads_.reserve(threads + 1);
    if (!start([this] { work(); })) return;
    if (!start([this] { read(); })) {
      stop();
      return;
    }
    for (std::size_t i = 1; i < threads; ++i) {
      if (!start([this] { work(); })) break;
    }
  }

  ~Pipeline() { stop(); }

  std::size_t total_bytes() const { return blocks_.total_bytes(); }

  // The answer to the next block in order, or false at the end.  The memory of
  // the one before is used again: fresh pages for every block would cost as
  // much as a fifth of the parsing.  Throws what a thread has thrown, after all
  // blocks that the reader had read before it.
  bool next(Answer& answer) {
    if (threads_.empty()) return next_alone(answer);
    std::unique_lock lock(mutex_);
    if (answer.text.capacity() > 0) rooms_.push_back(std::move(answer.text));
    answered_.wait(lock, [this] {
      return answers_.count(written_) > 0 || (ended_ && written_ == read_) ||
             worker_failed_;
    });
    auto at = answers_.find(written_);
    if (at == answers_.end()) {
      if (failure_) std::rethrow_exception(failure_);
      return false;
    }
    answer = std::move(at->second);
    answers_.erase(at);
    ++written_;
    room_.notify_one();
    return true;
  }

 private:
  template <class Function>
  bool start(const Function& function) {
    try {
      threads_.emplace_back(function);
    } catch (const std::exception&) {  // no thread, or no memory for one
      return false;
    }
    return true;
  }

  void stop() {
    blocks_.stop();
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      waiting_.clear();
      ready_.notify_all();
      room_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  bool next_alone(Answer& answer) {
    if (!alone_) alone_.emplace(reading_, options_);
    Block block;
    if (!blocks_.next(block)) return false;
    answer = alone_->parse(block, std::move(answer.text));
    return true;
  }

  void read() {
    try {
      Block block;
      while (blocks_.next(block)) {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [this] {
          return read_ - written_ < max_in_flight_ || ended_;
        });
        if (ended_) return;
        waiting_.push_back(std::move(block));
        ++read_;
        ready_.notify_one();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    ready_.notify_all();
    answered_.notify_one();
  }

  void work() {
    try {
      answer_blocks();
    } catch (...) {  // no memory
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      worker_failed_ = true;
      answered_.notify_one();
    }
  }

  void answer_blocks() {
    LineParser parser(reading_, options_);
    for (;;) {
      Block block;
      std::string room;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return !waiting_.empty() || ended_; });
        if (waiting_.empty()) return;
        block = std::move(waiting_.front());
        waiting_.pop_front();
        if (!rooms_.empty()) {
          room = std::move(rooms_.back());
          rooms_.pop_back();
        }
      }
      Answer answer = parser.parse(block, std::move(room));
      const std::lock_guard lock(mutex_);
      answers_.emplace(block.index, std::move(answer));
      answered_.notify_one();
    }
  }

  const Reading& reading_;
  const BatchOptions& options_;
  BlockReader blocks_;
  const std::size_t max_in_flight_;
  std::vector<std::thread> threads_;
  std::optional<LineParser> alone_;

  std::mutex mutex_;
  std::condition_variable room_;      // for the reader
  std::condition_variable ready_;     // for the workers
  std::condition_variable answered_;  // for the writer
  std::deque<Block> waiting_;
  std::map<std::size_t, Answer> answers_;
  std::vector<std::string> rooms_;  // memory of answers that are written
  std::size_t read_ = 0;            // blocks handed to the workers
  std::size_t written_ = 0;         // blocks handed to the writer
  bool ended_ = false;
  bool worker_failed_ = false;
  std::exception_ptr failure_;
};

// {"file": ..., "line": ..., "row": ..., and what the worker has written.
void append_error(std::string& out, const std::string& file,
                  const Checkpoint& begin, const ErrorLine& error) {
  json::Object place;
  place["file"] = file;
  place["line"] = static_cast<std::int64_t>(begin.line + error.line + 1);
  place["row"] = static_cast<std::int64_t>(begin.row + error.row);
  out += line_of(json::Value(std::move(place)));
  out.back() = ',';
  out += error.rest;
  out += '\n';
}

int write_answers(Pipeline& pipeline, const BatchOptions& options,
                  BatchOutput& output, ProgressLine& progress) {
  Checkpoint done = output.begin();
  progress.begin(done.rows);
  Answer answer;
  std::string errors;
  while (pipeline.next(answer)) {
    if (answer.file != done.file) {
      done.file = answer.file;
      done.line = 0;
      done.row = 0;
    }
    const std::string& path = options.files[done.file];
    const std::string file = display_name(path);
    errors.clear();
    for (const ErrorLine& error : answer.errors) {
      append_error(errors, path == "-" ? file : path, done, error);
    }
    output.write(answer.text, errors);
    if (!answer.notes.empty()) progress.clear();
    for (const LineNote& note : answer.notes) {
      put_error("parlance: " + (options.files.size() > 1 ? file + ": " : "") +
                "line " + std::to_string(done.line + note.line + 1) + ": " +
                safe_text(note.text) + "\n");
    }
    done.offset = answer.end;
    done.line += answer.lines;
    done.row += answer.rows;
    done.rows += answer.rows;
    done.failed += answer.failed;
    done.cut += answer.cut;
    done.damaged += answer.damaged;
    done.ended += answer.ended;
    for (std::size_t i = 0; i < done.calls.size(); ++i) {
      done.calls[i] += answer.calls[i];
    }
    output.mark(done);
    progress.update(done.rows, answer.consumed);
  }
  output.finish();
  progress.finish(done, !options.output.output.empty());
  return done.failed > 0 || (done.damaged > 0 && options.strict) ? kDamage
                                                                 : kOk;
}

}  // namespace

int run_batch(const Reading& reading, const BatchOptions& options) {
  std::size_t threads = options.threads;
  if (threads == 0) {
    threads = std::max(1u, std::thread::hardware_concurrency());
  }
  BatchOutput output(options.output);
  if (output.complete()) {
    note(options.output.output + " is complete");
    return kOk;
  }
  const InputPlace begin = {.file = output.begin().file,
                            .offset = output.begin().offset,
                            .line = output.begin().line};
  Pipeline pipeline(reading, options, begin, threads);
  ProgressLine progress(options.progress, options.color,
                        pipeline.total_bytes());
  try {
    return write_answers(pipeline, options, output, progress);
  } catch (const Failure& failure) {
    progress.clear();
    put_error("parlance: " + std::string(failure.what()) + "\n");
    if (!output.remains().empty()) note(output.remains());
    return failure.status();
  }
}

}  // namespace parlance::cli
