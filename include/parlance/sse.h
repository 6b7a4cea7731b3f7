#ifndef PARLANCE_SSE_H_
#define PARLANCE_SSE_H_

// The text of a response inside the server-sent events of an inference server
// that streams without parsing.
//
//   SseReader reader;
//   for (std::string_view bytes : socket) {
//     show(parser.feed(reader.feed(bytes)));
//   }
//   show(parser.feed(reader.finalize()));
//   show(parser.finalize());
//
// Known payloads, by their members:
//
//   choices[0].delta.content   chat completions
//   choices[0].text            completions
//   delta                      Responses, an event "response.output_text.delta"
//   delta.text                 Messages
//   content                    llama.cpp
//   message.content, response  Ollama, which streams bare lines of JSON
//   text, token.text           SGLang, TGI
//
// An event whose "type" belongs to neither Responses nor Messages is read by
// its other members; without any of the members above it is a fault.
//
// Law: how the stream is cut into chunks changes neither the text nor the
// faults.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parlance {

// An event that was skipped because it could not be read, or one that says that
// its server has parsed the response already.
struct SseFault {
  std::size_t line = 0;  // of the stream, from 1, where its data begins
  std::string message;
};

// Reads one event stream, as the HTML standard defines it.  Movable and
// copyable. One stream, one thread.
class SseReader {
 public:
  // The most bytes that an event may have; a longer one is a fault.
  static constexpr std::size_t kLongest = std::size_t{16} << 20;

  // The text of the events that `bytes` completes.  Complexity:
  // O(bytes.size()), and reading the JSON of these events.  Memory: one event.
  //
  // REQUIRES: !finalized().  After finalize() the call returns no text.
  std::string feed(std::string_view bytes);
  // Ends the stream, and returns the text of the event that is still open.
  std::string finalize();
  bool finalized() const { return finalized_; }

  // Of the last call of feed() or finalize(); valid until the next.
  std::span<const SseFault> faults() const { return faults_; }

 private:
  template <class Read>
  std::string call(bool last, const Read& read);
  void end_line(std::string& out);
  void end_event(std::string& out);
  void report(std::string what);

  std::string line_;  // that is not complete
  std::string data_;  // of the open event
  bool has_data_ = false;
  bool after_return_ = false;  // the last byte was '\r'
  bool too_long_ = false;      // the open event
  bool reasoning_told_ = false;
  bool finalized_ = false;
  std::size_t lines_ = 0;      // that are complete
  std::size_t data_line_ = 0;  // where the data of the event began
  std::vector<SseFault> faults_;
};

}  // namespace parlance

#endif  // PARLANCE_SSE_H_
