#ifndef PARLANCE_CLI_READER_H_
#define PARLANCE_CLI_READER_H_

// A parser of one response, by a format or by a structural tag.

#include <span>
#include <string_view>
#include <variant>

#include "parlance/response_parser.h"
#include "parlance/tag_parser.h"

namespace parlance::cli {

class Reader {
 public:
  Reader(const Format& format, const StreamOptions& options);
  Reader(const CompiledTag& compiled, const StreamOptions& options);

  std::span<const Event> initial_events() const;
  std::span<const Event> feed(std::string_view chunk);
  std::span<const Event> feed_tokens(std::span<const TokenId> ids);
  std::span<const Event> finalize();

  const Message& message() const;
  // Why a strict reading ended; null for a tag.
  const Error* failure() const;
  std::size_t prefix_bytes() const;
  // The bytes at the end of the input that are held back now.
  std::string_view held() const;
  // REQUIRES: this is a reader by structural tag.
  json::Value tree() const;

 private:
  std::variant<ResponseParser, TagParser> parser_;
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_READER_H_
