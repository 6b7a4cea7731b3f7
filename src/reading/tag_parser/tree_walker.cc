// Turns steps into nodes and regions; see tree_walker.h.
//
// Regions (regions.h) assigns the text of every format to the region of a
// format, or to markup.  A region that markers delimit opens when the content
// of its tag is entered, and closes when the tag is left.  Any other region
// opens with its first text.  The events know a region by its representative.

#include "tag_parser/tree_walker.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/utf8.h"

namespace parlance::tag_parser {

using structural_tag::kNoTagNode;

// The pattern of a rule belongs to its format, but is not free text.
void TreeWalker::find_target() {
  const TagNodeId innermost = tree_.now().innermost();
  const TagNodeId owner = code_.regions.own(innermost);
  target_ = {.known = true};
  if (owner == kNoTagNode || (owner == innermost && tree_.now().in_rule())) {
    return;
  }
  target_.region = code_.regions.representative(owner);
  target_.is_value = code_.regions.region(owner).value == innermost;
  target_.is_id = (*code_.tag)[innermost].call_id.has_value();
}

void TreeWalker::text(std::string_view text) {
  if (text.empty()) return;
  if (!target_.known) find_target();
  if (target_.is_id) id_ += text;
  if (attempt_) attempt_->text += text;
  if (target_.region != kNoTagNode) {
    if (!ahead_) {
      write(target_, text, position_);
    } else if (position_ + text.size() > ahead_->written) {
      const std::uint64_t begin = std::max(position_, ahead_->written);
      write(target_, text.substr(begin - position_), begin);
    }
  }
  tree_.text(text);
  position_ += text.size();
  if (ahead_ && !ahead_->region && ahead_->written <= position_) ahead_.reset();
}

void TreeWalker::write(const Target& target, std::string_view text,
                       std::uint64_t begin) {
  const auto from = static_cast<std::size_t>(begin);
  const Span bytes{from, from + text.size()};
  events_.write(target.region, text, bytes);
  if (!target.is_value) return;
  announce_call();
  events_.write_call(text, bytes);
}

// --- Ahead of the steps ------------------------------------------------------

void TreeWalker::open_ahead(TagNodeId format, Span delimiter) {
  open_region(format, delimiter);
  ahead_ = {OpenedAhead{code_.regions.representative(format), delimiter.end},
            delimiter.end};
}

void TreeWalker::text_ahead(std::string_view text, std::uint64_t begin,
                            bool is_value) {
  write({.region = events_.open_region(), .is_value = is_value}, text, begin);
  const std::uint64_t written = begin + text.size();
  if (ahead_) {
    ahead_->written = written;
  } else {
    ahead_ = {std::nullopt, written};
  }
}

// --- Steps -------------------------------------------------------------------

void TreeWalker::step(const ParseStep& step) {
  target_.known = false;
  switch (step.kind) {
    case ParseStep::Kind::kEnter:
      return enter(TagNodeId{step.format});
    case ParseStep::Kind::kLeave:
      return leave();
    case ParseStep::Kind::kRule:
      close(tree_.now().innermost());
      return tree_.rule(position_);
  }
}

void TreeWalker::enter(TagNodeId id) {
  // The enclosing format decides: in a tag, the content begins after the begin
  // marker; in a format with triggers, the free text ends.
  if (!open_.empty()) {
    const TagNodeId around = open_.back().format;
    const Regions& regions = code_.regions;
    if (regions.is_region(around) && regions.region(around).by_markers) {
      const auto begin = static_cast<std::size_t>(open_.back().begin);
      if (ahead_ && ahead_->region) {
        ahead_->region.reset();
      } else {
        open_region(around, {begin, at()});
      }
      value_ = nullptr;
      value_whole_ = false;
    } else if (has_triggers((*code_.tag)[around])) {
      close(around);
    }
  }
  if (const auto& before = (*code_.tag)[id].call_id) id_ = *before;
  open_.push_back({id, position_, position_});
  if (events_.tells_attempts() && code_.regions.is_region(id) &&
      code_.regions.region(id).kind == RegionKind::kCall) {
    attempt_ = {id, position_, {}};
  }
  tree_.enter(id, position_);
}

void TreeWalker::open_region(TagNodeId id, Span delimiter) {
  events_.open(code_.regions.representative(id), delimiter);
  open_call(code_.regions.region(id));
}

// Closes the region of a format, if it is open; its text is the value.
void TreeWalker::close(TagNodeId id) {
  events_.close(code_.regions.representative(id), {at(), at()});
}

void TreeWalker::open_call(const Region& region) {
  if (region.kind != RegionKind::kCall) return;
  id_.clear();
  if (!events_.streams_calls()) return;
  unannounced_ = &region;
  if (!code_.regions.have_ids()) announce_call();
}

// With stream_calls: announces the call whose region has opened.
void TreeWalker::announce_call() {
  const Region* const region = std::exchange(unannounced_, nullptr);
  if (region == nullptr) return;
  events_.open_call(reader_of(*region), id_);
}

std::unique_ptr<call_stream::CallReader> TreeWalker::reader_of(
    const Region& region) const {
  const std::string_view name = region.capture.text;
  if (region.value == kNoTagNode) {
    return std::make_unique<call_stream::NamedCallReader>(name, "");
  }
  return code_.arguments.at(region.value).call_reader(name);
}

void TreeWalker::end_attempt(const Diagnostic* why, CallStatus status) {
  if (!attempt_) return;
  OpenAttempt call = *std::exchange(attempt_, std::nullopt);
  EventBuilder::EndingCall ending = {
      .text = std::move(call.text),
      .bytes = {static_cast<std::size_t>(call.begin), at()}};
  if (why != nullptr) {
    ending.status = status;
    ending.why = why->message;
    const TagNodeId region = code_.regions.representative(call.tag);
    if (events_.is_open(region)) {
      ending.id = id_;
      ending.reader = reader_of(code_.regions.region(call.tag));
    } else if (ending.text.empty()) {
      return;
    } else {
      // Before the content of its tag, the call may be one of another tool.
      events_.open(region, ending.bytes, /*whole=*/false);
    }
  }
  events_.end_attempt(std::move(ending));
}

// {"begin", "content", "end"} of the tag at a depth.  `cut`: its end marker is
// missing.  REQUIRES: its region is open.
json::Value TreeWalker::plain_value(const Region& region, std::size_t depth,
                                    bool cut) const {
  json::Object out;
  out.reserve(3);
  out.set("begin", base::to_utf8(tree_.now().begin_text(depth)));
  out.set("content",
          region.value == kNoTagNode ? json::Value(events_.text()) : value_);
  out.set("end",
          cut ? json::Value() : base::to_utf8(tree_.now().end_text(depth)));
  return out;
}

// The innermost format ends, and so does its region, if it has one.
//
// The value of the region is built before the tree leaves the format, since the
// markers of a tag are known only until then.
void TreeWalker::leave() {
  const Open left = open_.back();
  const Regions& regions = code_.regions;
  if (!regions.is_region(left.format)) {
    tree_.leave(position_, true);
  } else if (!regions.region(left.format).by_markers) {
    tree_.leave(position_, true);
    close(left.format);
  } else {
    const Region& region = regions.region(left.format);
    const Span delimiter{static_cast<std::size_t>(left.content_end), at()};
    json::Value value;
    if (region.kind == RegionKind::kPlain) {
      events_.end_text(delimiter.begin);
      value = plain_value(region, open_.size() - 1, false);
    } else if (region.kind == RegionKind::kCall) {
      announce_call();
      json::Object call = {{"type", "function"}};
      if (!id_.empty()) call.set("id", id_);
      call.set("function",
               json::Object{{"name", std::string(region.capture.text)},
                            {"arguments", value_}});
      value = std::move(call);
    }
    tree_.leave(position_, true);
    const bool unread = region.value != kNoTagNode && !value_whole_;
    if (!unread) end_attempt();
    // The text fits the format, but could not be read as a value.
    if (unread) {
      const Diagnostic why{ErrorCode::kInvalidContent,
                           "the arguments cannot be read as a value",
                           "",
                           {static_cast<std::size_t>(left.begin), at()}};
      events_.diagnose(why);
      end_attempt(&why);
      events_.close_malformed(at(), why);
    } else {
      const bool text = region.kind == RegionKind::kText;
      events_.close(regions.representative(left.format), delimiter,
                    text ? nullptr : &value);
    }
  }
  // The enclosing format continues after its child.  If the child is the
  // json_schema that the open region takes its value from, the tree has just
  // read the value.
  open_.pop_back();
  if (!open_.empty()) open_.back().content_end = position_;
  const TagNodeId owner = regions.own(left.format);
  if (owner != kNoTagNode && regions.region(owner).value == left.format &&
      events_.is_open(regions.representative(owner))) {
    value_ = tree_.now().last_value();
    value_whole_ = tree_.now().last_value_whole();
  }
}

void TreeWalker::cut_off(const Diagnostic& why, CallStatus status,
                         std::size_t kept) {
  target_.known = false;
  announce_call();
  end_attempt(&why, status);
  // Closes the open region if it belongs to a format that is left.  A region
  // that needs a value is malformed; any other one is cut.
  const TagNodeId id = events_.open_region();
  const bool inside =
      std::any_of(open_.begin() + static_cast<std::ptrdiff_t>(kept),
                  open_.end(), [&](const Open& one) {
                    return code_.regions.representative(one.format) == id;
                  });
  if (inside) {
    const Region& region = code_.regions.region(id);
    if (region.value != kNoTagNode || region.kind == RegionKind::kCall) {
      events_.close_malformed(at(), why);
    } else if (region.kind == RegionKind::kPlain) {
      std::size_t depth = open_.size() - 1;
      while (open_[depth].format != id) --depth;
      events_.end_text(at());
      const json::Value value = plain_value(region, depth, true);
      events_.close(id, {at(), at()}, &value, true);
    } else {
      events_.close(id, {at(), at()}, nullptr, true);
    }
  }
  events_.tell_attempt();
  // Leaves the formats.  If they did not continue after a rest, they end where
  // the rest began.
  while (open_.size() > kept) {
    tree_.leave(rest_begin_.value_or(position_), false);
    open_.pop_back();
  }
  if (kept == 0) return;
  tree_.pause(position_);
  rest_begin_ = position_;
}

void TreeWalker::rest(std::string_view text) {
  if (text.empty()) return;
  events_.write_rest(text, {at(), at() + text.size()});
  position_ += text.size();
}

void TreeWalker::end_rest() {
  events_.close_open(at(), false);
  rest_begin_.reset();
  if (open_.empty()) return;
  open_.back().content_end = position_;
  tree_.resume(position_);
}

}  // namespace parlance::tag_parser
