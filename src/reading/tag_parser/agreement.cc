// Compares the events of the parses that are open; see agreement.h.

#include "tag_parser/agreement.h"

#include <algorithm>
#include <utility>

namespace parlance::tag_parser {

using structural_tag::kNoTagNode;

namespace {

constexpr std::size_t kMaxSteps = 64;

// Replays the steps of one parse as the walker will do, and notes the events.
class Replay {
 public:
  Replay(const CompiledTagImpl& code, const TreeWalker& walker)
      : code_(code), position_(walker.position()) {
    open_.reserve(walker.depth() + kMaxSteps);
    for (std::size_t depth = 0; depth < walker.depth(); ++depth) {
      open_.push_back({walker.format(depth), walker.begin(depth)});
    }
    ahead_ = walker.opened_ahead();
    if (!ahead_) region_ = walker.open_region();
  }

  // Returns false where the agreement ends.
  bool step(const ParseStep& step) {
    if (step.position > position_ && !text(step.position)) return false;
    switch (step.kind) {
      case ParseStep::Kind::kEnter:
        return enter(TagNodeId{step.format});
      case ParseStep::Kind::kLeave:
        if (code_.regions.is_region(open_.back().format)) return false;
        open_.pop_back();
        return true;
      case ParseStep::Kind::kRule:
        return false;
    }
    return false;
  }

  // The text up to `end` belongs to the innermost format.
  bool text(std::uint64_t end) {
    const std::uint64_t begin = std::exchange(position_, end);
    const TagNodeId innermost = open_.back().format;
    const TagNodeId owner = code_.regions.own(innermost);
    if (owner == kNoTagNode) return true;
    if ((*code_.tag)[innermost].call_id) return false;
    if (code_.regions.representative(owner) != region_) return false;
    const bool is_value = code_.regions.region(owner).value == innermost;
    out_.texts.push_back({is_value, begin, end});
    return true;
  }

  // The parse has no more steps.
  void finish(std::uint64_t end) {
    if (end <= position_ || open_.empty()) return;
    const std::size_t texts = out_.texts.size();
    out_.goes_on = text(end) && out_.texts.size() > texts;
  }

  Agreement take() && { return std::move(out_); }

 private:
  struct Open {
    TagNodeId format;
    std::uint64_t begin = 0;
  };

  bool enter(TagNodeId id) {
    if (!open_.empty()) {
      const Open& around = open_.back();
      const Regions& regions = code_.regions;
      if (regions.is_region(around.format) &&
          regions.region(around.format).by_markers) {
        if (!open(around)) return false;
      } else if (has_triggers((*code_.tag)[around.format]) &&
                 region_ == regions.representative(around.format)) {
        return false;
      }
    }
    open_.push_back({id, position_});
    return true;
  }

  // The region of a tag opens.  If a region has been opened ahead, it is this
  // region.
  bool open(const Open& tag) {
    if (region_ != kNoTagNode) return false;
    const Span delimiter{static_cast<std::size_t>(tag.begin),
                         static_cast<std::size_t>(position_)};
    region_ = code_.regions.representative(tag.format);
    if (ahead_ && (ahead_->region != region_ || ahead_->at != position_)) {
      return false;
    }
    ahead_.reset();
    out_.opening = {tag.format, delimiter};
    return true;
  }

  const CompiledTagImpl& code_;
  std::uint64_t position_;
  std::vector<Open> open_;
  // The region that is open for the events.
  TagNodeId region_ = kNoTagNode;
  // A region that the events have opened, and these steps have not.
  std::optional<TreeWalker::OpenedAhead> ahead_;
  Agreement out_;
};

// The part of `a` that `b` has as well.
void intersect(const Regions& regions, Agreement& a, const Agreement& b) {
  const auto opening = [&](const Agreement& of) {
    return of.opening
               ? std::pair(regions.representative(of.opening->format),
                           std::pair(of.opening->delimiter.begin,
                                     of.opening->delimiter.end))
               : std::pair(kNoTagNode, std::pair<std::size_t, std::size_t>());
  };
  if (opening(a) != opening(b)) {
    a = {};
    return;
  }
  a.goes_on = a.goes_on && b.goes_on && a.texts.size() == b.texts.size();
  // Invariant: the texts before `i` are the same.
  for (std::size_t i = 0; i < a.texts.size(); ++i) {
    Agreement::Text& mine = a.texts[i];
    if (i == b.texts.size() || mine.is_value != b.texts[i].is_value ||
        mine.begin != b.texts[i].begin) {
      a.texts.resize(i);
      a.goes_on = false;
      return;
    }
    if (mine.end == b.texts[i].end) continue;
    mine.end = std::min(mine.end, b.texts[i].end);
    a.goes_on = a.goes_on && i + 1 == a.texts.size();
    a.texts.resize(i + 1);
    return;
  }
}

}  // namespace

Agreement find_agreement(const CompiledTagImpl& code, const History& history,
                         const TreeWalker& walker, HistoryId emitted,
                         std::span<const OpenParse> parses) {
  Agreement out;
  if (walker.in_rule()) return out;
  std::vector<HistoryId> steps;
  for (std::size_t i = 0; i < parses.size(); ++i) {
    const OpenParse& parse = parses[i];
    steps.clear();
    for (HistoryId at = parse.step; at != emitted; at = history.parent(at)) {
      if (steps.size() == kMaxSteps) return {};
      steps.push_back(at);
    }
    Replay replay(code, walker);
    bool agrees = true;
    while (agrees && !steps.empty()) {
      agrees = replay.step(history[steps.back()]);
      steps.pop_back();
    }
    if (agrees) replay.finish(parse.end);
    Agreement one = std::move(replay).take();
    if (i == 0) {
      out = std::move(one);
    } else {
      intersect(code.regions, out, one);
    }
    if (!out.opening && out.texts.empty()) return out;
  }
  return out;
}

}  // namespace parlance::tag_parser
