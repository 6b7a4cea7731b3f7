// Writes the records of the log, and replays them into a tree.  The format of
// a record is in parse_tree_log.h.

#include "tag_parser/parse_tree_log.h"

namespace parlance::tag_parser {
namespace {

constexpr unsigned kKindBits = 3;

// Zigzag coding: 0, -1, 1, -2, ... become 0, 1, 2, 3, ..., so that a small
// negative number is a small unsigned one.
constexpr std::uint64_t folded(std::int64_t number) {
  return (static_cast<std::uint64_t>(number) << 1) ^
         static_cast<std::uint64_t>(number >> 63);
}
constexpr std::int64_t unfolded(std::uint64_t number) {
  return static_cast<std::int64_t>(number >> 1) ^
         -static_cast<std::int64_t>(number & 1);
}

}  // namespace

void ParseTreeLog::put(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) {
    records_.push_back(static_cast<char>((number & 0x7F) | 0x80));
  }
  records_.push_back(static_cast<char>(number));
}

std::uint64_t ParseTreeLog::take(std::size_t& at) const {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(records_[at++]);
    number |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return number;
  }
}

void ParseTreeLog::record(Kind kind, std::uint64_t position,
                          std::uint32_t format) {
  if (!keep_) return;
  const std::uint64_t text = text_.size() - recorded_text_;
  const auto moved = static_cast<std::int64_t>(position - (position_ + text));
  put(text);
  put((std::uint64_t{format} << kKindBits | static_cast<std::uint64_t>(kind))
          << 1 |
      (moved != 0 ? 1 : 0));
  if (moved != 0) put(folded(moved));
  recorded_text_ = text_.size();
  position_ = position;
}

void ParseTreeLog::enter(TagNodeId id, std::uint64_t position) {
  record(Kind::kEnter, position, index_of(id));
  now_.enter(id, position);
}

void ParseTreeLog::text(std::string_view text) {
  if (keep_) text_.append(text);
  now_.text(text);
}

void ParseTreeLog::rule(std::uint64_t position) {
  record(Kind::kRule, position);
  now_.rule(position);
}

void ParseTreeLog::leave(std::uint64_t position, bool complete) {
  record(complete ? Kind::kLeave : Kind::kLeaveIncomplete, position);
  now_.leave(position, complete);
}

void ParseTreeLog::pause(std::uint64_t position) {
  record(Kind::kPause, position);
  now_.pause(position);
}

void ParseTreeLog::resume(std::uint64_t position) {
  record(Kind::kResume, position);
  now_.resume(position);
}

// Replays the records.  Invariant: the records before `at` and the first `text`
// bytes of the text have been replayed, and `here` is the position of the tree.
json::Value ParseTreeLog::root(std::uint64_t position) const {
  ParseTree tree(code_, tokens_, true);
  const std::string_view all = text_;
  std::size_t text = 0;
  std::uint64_t here = 0;
  const auto read = [&](std::uint64_t size) {
    if (size > 0) tree.text(all.substr(text, size));
    text += size;
    here += size;
  };
  for (std::size_t at = 0; at < records_.size();) {
    read(take(at));
    const std::uint64_t head = take(at);
    if ((head & 1) != 0) {
      here += static_cast<std::uint64_t>(unfolded(take(at)));
    }
    switch (static_cast<Kind>(head >> 1 & ((1U << kKindBits) - 1))) {
      case Kind::kEnter:
        tree.enter(
            TagNodeId{static_cast<std::uint32_t>(head >> (kKindBits + 1))},
            here);
        break;
      case Kind::kRule:
        tree.rule(here);
        break;
      case Kind::kLeave:
        tree.leave(here, true);
        break;
      case Kind::kLeaveIncomplete:
        tree.leave(here, false);
        break;
      case Kind::kPause:
        tree.pause(here);
        break;
      case Kind::kResume:
        tree.resume(here);
        break;
    }
  }
  // The text after the last record belongs to the innermost open format.
  read(all.size() - text);
  return std::move(tree).root(position);
}

}  // namespace parlance::tag_parser
