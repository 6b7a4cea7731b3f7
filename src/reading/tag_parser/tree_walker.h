#ifndef PARLANCE_SRC_TAG_PARSER_TREE_WALKER_H_
#define PARLANCE_SRC_TAG_PARSER_TREE_WALKER_H_

// Emits the steps and the text of a parse, in order, to the parse tree and, as
// regions, to the events and the message.
//
// The caller emits what is certain: text() up to the position of the next step
// that all parses have in common, and then step().  After a mismatch, cut_off()
// leaves formats, and rest() takes the text that fits no format.
//
// Events that all parses agree on may be emitted ahead of their steps
// (agreement.h).  When the steps become certain, they go to the parse tree, and
// the events are not emitted again.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/message.h"
#include "tag_parser/event_builder.h"
#include "tag_parser/history.h"
#include "tag_parser/parse_tree_log.h"
#include "tag_parser/program.h"
#include "vocab/token_log.h"

namespace parlance::tag_parser {

class TreeWalker {
 public:
  TreeWalker(const CompiledTagImpl& code, const vocab::TokenLog& tokens,
             events::Output& out, CallOptions options)
      : code_(code),
        tree_(code, tokens, out.keeps_message),
        events_(code.regions, out, options) {}

  // The text before this position has been emitted.
  std::uint64_t position() const { return position_; }

  // The text before this position has been emitted, or its events have.
  std::uint64_t emitted_end() const {
    return ahead_ && ahead_->written > position_ ? ahead_->written : position_;
  }

  // Opens the region of `format` ahead of the steps that enter it.
  // REQUIRES: no region is open.
  void open_ahead(TagNodeId format, Span delimiter);
  // Emits text of the open region from emitted_end() on, ahead of the steps.
  // `is_value`: it is text of the format that gives the value of the region.
  void text_ahead(std::string_view text, std::uint64_t begin, bool is_value);
  // The region that is open ahead of the steps, and where its text begins.
  struct OpenedAhead {
    TagNodeId region;  // a representative
    std::uint64_t at = 0;
  };
  std::optional<OpenedAhead> opened_ahead() const {
    if (!ahead_ || !ahead_->region) return std::nullopt;
    return ahead_->region;
  }

  // Where the call that is open begins, with attempts; else position().
  std::uint64_t attempt_begin() const {
    return attempt_ ? attempt_->begin : position_;
  }

  // Emits text that belongs to the innermost format.
  void text(std::string_view text);
  // Enters or leaves a format, or begins the pattern of a rule.
  // REQUIRES: step.position == position().
  void step(const ParseStep& step);
  // Leaves, as incomplete, all open formats except the outermost `kept`.  If
  // `kept` is not 0, the innermost format that stays open has triggers, and may
  // continue after a rest.  `why` says what is missing; `status` is the status
  // of an attempted call among the formats that are left.
  void cut_off(const Diagnostic& why, CallStatus status, std::size_t kept = 0);
  // Emits text that fits no format.
  void rest(std::string_view text);
  // The rest ends, and the innermost format continues, if one is open.
  void end_rest();

  // The formats that are open, the outermost first.
  std::size_t depth() const { return open_.size(); }
  TagNodeId format(std::size_t depth) const { return open_[depth].format; }
  std::uint64_t begin(std::size_t depth) const { return open_[depth].begin; }
  // Whether the innermost format is inside one of its rules.
  bool in_rule() const { return !open_.empty() && tree_.now().in_rule(); }
  // The representative of the region that is open; kNoTagNode: none is.
  TagNodeId open_region() const { return events_.open_region(); }

  const EventBuilder& events() const { return events_; }
  const ParseTreeLog& tree() const { return tree_; }

 private:
  struct Open {
    TagNodeId format;
    std::uint64_t begin = 0;
    std::uint64_t content_end = 0;  // the end of its last child so far
  };

  // Events that have been emitted ahead of their steps.
  struct Ahead {
    std::optional<OpenedAhead> region;  // until its tag is entered
    std::uint64_t written = 0;          // text has been emitted up to here
  };

  // Where text of the innermost format goes.  It changes with every step.
  struct Target {
    TagNodeId region = structural_tag::kNoTagNode;  // kNoTagNode: markup
    bool is_value = false;
    bool is_id = false;
    bool known = false;
  };
  void find_target();

  void enter(TagNodeId id);
  void write(const Target& target, std::string_view text, std::uint64_t begin);
  void open_region(TagNodeId id, Span delimiter);
  void close(TagNodeId id);
  void open_call(const Region& region);
  void announce_call();
  std::unique_ptr<call_stream::CallReader> reader_of(
      const Region& region) const;
  // The attempt that is open ends; `why` not, if it is null.
  void end_attempt(const Diagnostic* why = nullptr,
                   CallStatus status = CallStatus::kMalformed);
  void leave();
  json::Value plain_value(const Region& region, std::size_t depth,
                          bool cut) const;
  std::size_t at() const { return static_cast<std::size_t>(position_); }

  const CompiledTagImpl& code_;
  ParseTreeLog tree_;
  EventBuilder events_;
  std::uint64_t position_ = 0;
  std::optional<Ahead> ahead_;
  Target target_;
  std::vector<Open> open_;
  // Where the rest began, as long as open formats may continue after it.
  std::optional<std::uint64_t> rest_begin_;
  // The value of the json_schema that gives the open region its value, and
  // whether it was read from a complete text.
  json::Value value_;
  bool value_whole_ = false;
  // The id of the call that is open, as far as it has been read; and the call's
  // region, until the call is announced, which may have to wait for the id.
  std::string id_;
  const Region* unannounced_ = nullptr;
  // With attempts: the tag of a call that is open, and its text so far.
  struct OpenAttempt {
    TagNodeId tag;
    std::uint64_t begin = 0;
    std::string text;
  };
  std::optional<OpenAttempt> attempt_;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_TREE_WALKER_H_
