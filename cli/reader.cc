#include "reader.h"

namespace parlance::cli {

Reader::Reader(const Format& format, const StreamOptions& options)
    : parser_(std::in_place_type<ResponseParser>, format, options) {}

Reader::Reader(const CompiledTag& compiled, const StreamOptions& options)
    : parser_(std::in_place_type<TagParser>, compiled, options) {}

std::span<const Event> Reader::initial_events() const {
  return std::visit([](const auto& p) { return p.initial_events(); }, parser_);
}

std::span<const Event> Reader::feed(std::string_view chunk) {
  return std::visit([&](auto& p) { return p.feed(chunk); }, parser_);
}

std::span<const Event> Reader::feed_tokens(std::span<const TokenId> ids) {
  return std::visit([&](auto& p) { return p.feed_tokens(ids); }, parser_);
}

std::span<const Event> Reader::finalize() {
  return std::visit([](auto& p) { return p.finalize(); }, parser_);
}

const Message& Reader::message() const {
  return std::visit([](const auto& p) -> const Message& { return p.message(); },
                    parser_);
}

const Error* Reader::failure() const {
  const auto* parser = std::get_if<ResponseParser>(&parser_);
  return parser == nullptr ? nullptr : parser->failure();
}

std::size_t Reader::prefix_bytes() const {
  return std::visit([](const auto& p) { return p.prefix_bytes(); }, parser_);
}

std::string_view Reader::held() const {
  return std::visit([](const auto& p) { return p.held(); }, parser_);
}

json::Value Reader::tree() const {
  return std::get_if<TagParser>(&parser_)->tree();
}

}  // namespace parlance::cli
