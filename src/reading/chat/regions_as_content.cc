// RegionsAsContent: regions of some fields as content, with their delimiters.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "parlance/chat.h"

namespace parlance {

// Invariant between two events: `bytes` from `begin` on is the response from
// offset `end` of the stream on, as far as it was read, and everything before
// `end` was passed on or belongs to no replaced region.
//
// The text of a replaced event extends from `end` to its own end, so it has the
// delimiters and the markup before it.  Markup between a replaced event and one
// that is passed on unchanged is content as well: the region that stands for
// others is open up to there.
struct RegionsAsContent::Impl {
  std::vector<bool> as_content;  // by field
  std::uint32_t content = 0;     // the index of the field "content"
  std::string content_name;
  std::string bytes;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool open = false;              // a region of content that stands for others
  std::deque<std::string> texts;  // of `out`
  std::vector<Event> out;

  // Removes the bytes before offset `to`.  What is gone is compacted once it is
  // more than half, so each byte is moved at most once on average.
  void drop(std::size_t to) {
    if (to <= end) return;
    begin = std::min(bytes.size(), begin + (to - end));
    end = to;
    if (2 * begin > bytes.size()) {
      bytes.erase(0, begin);
      begin = 0;
    }
  }

  Event made(EventKind kind, const Event& cause) const {
    Event event;
    event.kind = kind;
    event.field = content_name;
    event.field_index = content;
    event.bytes = cause.bytes;
    event.tokens = cause.tokens;
    return event;
  }

  // The text up to offset `to`, as content.  One region of content stands for
  // all replaced regions up to the next event that is not replaced.
  void pass_on(const Event& cause, std::size_t to) {
    if (to <= end) return;
    texts.push_back(
        base::to_utf8(std::string_view(bytes).substr(begin, to - end), true));
    drop(to);
    if (!open) out.push_back(made(EventKind::kRegionOpen, cause));
    open = true;
    out.push_back(made(EventKind::kRegionChunk, cause));
    out.back().text = texts.back();
  }

  // Readers of content take its text from the chunks, so the value is empty.
  void close(const Event& cause) {
    static const json::Value empty = std::string();
    open = false;
    out.push_back(made(EventKind::kRegionClose, cause));
    out.back().value = &empty;
  }

  bool replaces(const Event& event) const {
    return event.field_index < as_content.size() &&
           as_content[event.field_index];
  }
};

RegionsAsContent::RegionsAsContent(std::span<const ChatField> fields,
                                   std::vector<std::string> names,
                                   std::size_t begin)
    : impl_(std::make_unique<Impl>()) {
  impl_->end = begin;
  impl_->content_name = "content";
  impl_->content = static_cast<std::uint32_t>(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& name = fields[i].name;
    impl_->as_content.push_back(std::ranges::find(names, name) != names.end());
    if (name == impl_->content_name) {
      impl_->content = static_cast<std::uint32_t>(i);
    }
  }
  assert(impl_->content < fields.size());
}

RegionsAsContent::~RegionsAsContent() = default;
RegionsAsContent::RegionsAsContent(RegionsAsContent&&) noexcept = default;
RegionsAsContent& RegionsAsContent::operator=(RegionsAsContent&&) noexcept =
    default;

void RegionsAsContent::read(std::string_view bytes) {
  impl_->bytes.append(bytes);
}

std::span<const Event> RegionsAsContent::route(std::span<const Event> events) {
  Impl& s = *impl_;
  s.out.clear();
  s.texts.clear();
  for (const Event& event : events) {
    if (s.replaces(event)) {
      // The events of a call cover what the chunks of its region cover.
      if (event.kind >= EventKind::kCallOpen) continue;
      s.pass_on(event, event.bytes.end);
    } else {
      if (s.open) {
        s.pass_on(event, event.bytes.begin);
        s.close(event);
      }
      s.out.push_back(event);
    }
    s.drop(event.bytes.end);
  }
  return s.out;
}

}  // namespace parlance
