// Value states: values without what encloses them.
//
// Inside a value, what may come depends on the conjunctions of the value alone.
// A detached frame has these conjunctions and no parent, so one mask of the
// value serves all objects and arrays in which it occurs.  Where the value
// ends, a LeftValue configuration says which conjunctions it fulfilled;
// resume() maps it back to a frame with a parent.

#include <algorithm>

#include "json_recogniser/json_recogniser.h"

namespace parlance::json_recogniser {

using recogniser::Configuration;
using schema_solver::ConjunctionId;
using schema_solver::kAlways;
using schema_solver::KeyId;

JsonRecogniser::FrameId JsonRecogniser::detached(
    std::vector<ConjunctionId> conjunctions) {
  std::sort(conjunctions.begin(), conjunctions.end());
  Frame frame;
  frame.kind = FrameKind::kDetached;
  frame.pending = true;
  std::vector<Alternative> made;
  made.reserve(conjunctions.size());
  for (const ConjunctionId conjunction : conjunctions) {
    made.push_back({schema_solver::kAnything, 0, 0, conjunction});
  }
  return intern(std::move(frame), std::move(made));
}

Configuration JsonRecogniser::value_state(Configuration config) {
  const Frame& frame = frames_[config.frame];
  // Near the depth limit, and with indentation, the value depends on its depth.
  if (!frame.pending || frame.unique || options_.layout.indent ||
      frame.depth + kDepthReach > options_.limits.depth ||
      frame.kind == FrameKind::kDetached) {
    return {};
  }
  if (frame.detached == kUnknown) {
    const FrameId made = detached(conjunctions_in(frame));
    frames_[config.frame].detached = made;
  }
  config.frame = frames_[config.frame].detached;
  return config;
}

Configuration JsonRecogniser::resume(Configuration config, Configuration left) {
  const auto [survivors, lookahead] = LeftValue::of(left);
  const Configuration real =
      after_value(config.frame, survivors_[survivors], nullptr);
  return lookahead ? step(real, *lookahead) : real;
}

// Only values in which nothing but a lexeme depends on the schema have
// fingerprints: scalars, and the value about which the schema says nothing.
// Besides the value, its mask reads the layout.  It does not read the limit on
// depth: near that there is no value state.
base::Fingerprint JsonRecogniser::value_fingerprint(Configuration config) {
  const Frame& frame = frames_[config.frame];
  if (frame.kind != FrameKind::kDetached || frame.size != 1 ||
      (config.lex != static_cast<LexId>(Kind::kColon) &&
       config.lex != static_cast<LexId>(Kind::kValue))) {
    return {};
  }
  const ConjunctionId conjunction = alternatives(frame)[0].pending;
  const base::Fingerprint fingerprint = conjunction_fingerprint(conjunction);
  if (!fingerprint) return {};
  const JsonLayout& layout = options_.layout;
  base::Fingerprinter print(config.lex);
  print.add(fingerprint).add(std::uint64_t{config.count});
  print.add(std::uint64_t{layout.exact});
  if (layout.exact) {
    print.add(item_separator_).add(layout.key_separator);
  } else {
    print.add(std::uint64_t{layout.max_white_space});
  }
  return own_if_narrowed(print.take());
}

Configuration JsonRecogniser::translate_left_value(Configuration config,
                                                   Configuration left) {
  Frame& frame = frames_[config.frame];
  if (frame.after_all == kUnknown) {
    const Configuration all =
        after_value(config.frame, conjunctions_in(frame), nullptr);
    frame.after_all = LeftValue::of(all).survivors;
  }
  return LeftValue{.survivors = frame.after_all,
                   .lookahead = LeftValue::of(left).lookahead}
      .in(config.frame);
}

// After the quote that closes a key, the value's conjunction may depend on the
// disjunct and the key alone.  Then the result is a detached frame with that
// conjunction, found in one table look-up.
Configuration JsonRecogniser::step_or_value_state(Configuration config,
                                                  std::uint8_t byte) {
  const Lexeme& lexeme = lexemes_[config.lex];
  if (byte != '"' || lexeme.kind != Kind::kKey ||
      lexeme.body != json::BodyState::kText) {
    return step(config, byte);
  }
  const Frame& frame = frames_[config.frame];
  const std::uint32_t index =
      lexeme.node == KeyTrie::kNone
          ? KeyTrie::kNone
          : key_tries_[lexeme.trie].node(lexeme.node).key;
  if (index == KeyTrie::kNone || lexeme.noncanonical || frame.size != 1 ||
      options_.layout.indent ||
      frame.depth + kDepthReach > options_.limits.depth) {
    return step(config, byte);
  }
  const KeyId key = key_tries_[lexeme.trie].keys()[index];
  if (!solver_.key_sets().contains(key_info(config.frame).allowed, key)) {
    return {};
  }
  const Alternative alternative = alternatives(frame)[0];
  const auto [it, is_new] = member_frames_.try_emplace(
      std::uint64_t{alternative.disjunct} << 32 | key, FrameId{0});
  if (is_new && solver_.object(alternative.disjunct).condition == kAlways) {
    const ConjunctionId conjunction =
        solver_.member_conjunction(alternative.disjunct, {.key = key});
    it->second = detached({conjunction});
  }
  if (it->second == 0) return step(config, byte);
  return {static_cast<LexId>(Kind::kColon), it->second, 0, 0};
}

}  // namespace parlance::json_recogniser
