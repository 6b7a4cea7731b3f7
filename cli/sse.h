#ifndef PARLANCE_CLI_SSE_H_
#define PARLANCE_CLI_SSE_H_

// The text of a response inside the server-sent events of an inference server
// that streams without parsing.

#include <cstddef>
#include <string>
#include <string_view>

namespace parlance::cli {

// Server-sent events (the event stream of the HTML standard) in, text out.
// Known payloads, by their members:
//
//   choices[0].delta.content   chat completions     choices[0].text completions
//   delta                      Responses, an event "response.output_text.delta"
//   delta.text                 Messages             content           llama.cpp
//   response                   Ollama               text, token.text  SGLang,
//   TGI
//
// What cannot be read is reported on standard error with its line, and skipped.
// Memory: one event, at most kLongest bytes.
class SseText {
 public:
  static constexpr std::size_t kLongest = std::size_t{16} << 20;

  explicit SseText(std::string name) : name_(std::move(name)) {}

  // The text of the events that `bytes` completes.
  std::string feed(std::string_view bytes);
  // The text of an event that the end of the input cut off behind its data.
  std::string finish();

  // Events that could not be read.
  std::size_t damaged() const { return damaged_; }

 private:
  void end_line(std::string& out);
  void end_event(std::string& out);
  void report(const std::string& what);

  std::string name_;
  std::string line_;  // that is not complete
  std::string data_;  // of the open event
  bool has_data_ = false;
  bool after_return_ = false;  // the last byte was '\r'
  bool too_long_ = false;      // the open event
  bool reasoning_told_ = false;
  std::size_t lines_ = 0;      // that are complete
  std::size_t data_line_ = 0;  // where the data of the event began
  std::size_t damaged_ = 0;
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_SSE_H_
