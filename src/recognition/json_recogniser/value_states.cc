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
using schema_solver::DisjunctId;
using schema_solver::JsonType;
using schema_solver::kAlways;
using schema_solver::KeyId;

namespace {

// What the fingerprint of a conjunction is of.
constexpr std::uint64_t kOfAnyValue = 0;
constexpr std::uint64_t kOfScalars = 1;

}  // namespace

FrameId JsonRecogniser::detached(std::vector<ConjunctionId> conjunctions) {
  std::sort(conjunctions.begin(), conjunctions.end());
  Frame frame;
  frame.kind = FrameKind::kDetached;
  frame.pending = true;
  std::vector<Alternative> made;
  made.reserve(conjunctions.size());
  for (const ConjunctionId conjunction : conjunctions) {
    made.push_back({.pending = conjunction});
  }
  return frames_.intern(frame, made);
}

Configuration JsonRecogniser::value_state(Configuration config) {
  const Frame& frame = frames_[config];
  // Near the depth limit, and with indentation, the value depends on its depth.
  if (!frame.pending || frame.unique || options_.layout.indent ||
      frame.depth + kDepthReach > options_.limits.depth ||
      frame.kind == FrameKind::kDetached) {
    return {};
  }
  config.frame = value_frame(frame_of(config));
  return config;
}

// The detached frame with the conjunctions of the value expected next.
FrameId JsonRecogniser::value_frame(FrameId id) {
  if (frames_.memo(id).detached == kUnknown) {
    const FrameId made = detached(frames_.conjunctions_in(id));
    frames_.memo(id).detached = made;
  }
  return frames_.memo(id).detached;
}

Configuration JsonRecogniser::resume(Configuration config, LeftValue left) {
  const Configuration real = steps_.after_value(
      frame_of(config),
      left.fulfilled == LeftValue::kAll
          ? frames_.conjunctions_in(value_frame(frame_of(config)))
          : fulfilled(left.fulfilled),
      nullptr);
  return left.by_lookahead()
             ? step(real, static_cast<std::uint8_t>(left.lookahead - 1))
             : real;
}

// Of the values that a conjunction accepts.  Conjunctions, also of different
// grammars, have equal fingerprints only if they accept the same values.  None
// if arrays or objects may fit, unless every value does: nothing in such a
// value depends on the schema, but for the texts that no string may contain.
base::Fingerprint JsonRecogniser::conjunction_fingerprint(
    ConjunctionId conjunction) {
  if (conjunction == schema_solver::kAnything) {
    if (!options_.excludes.empty()) return {};
    return base::Fingerprinter(kOfAnyValue).take();
  }
  const auto [it, is_new] =
      fingerprints_.try_emplace(conjunction, base::Fingerprint{});
  if (is_new) it->second = scalar_fingerprint(conjunction);
  return it->second;
}

// conjunction_fingerprint() of a conjunction that visibly accepts scalars only,
// else none.  Whether arrays and objects are satisfiable is not asked: it is a
// large question, and this one is put about each key that may come.
base::Fingerprint JsonRecogniser::scalar_fingerprint(
    ConjunctionId conjunction) {
  if (solver_.has_alternatives(conjunction, JsonType::kArray) ||
      solver_.has_alternatives(conjunction, JsonType::kObject)) {
    return {};
  }
  base::Fingerprinter print(kOfScalars);
  const auto disjuncts = [&](JsonType type) -> const std::vector<DisjunctId>& {
    const auto& list = solver_.disjuncts(conjunction, type);
    print.add(std::uint64_t{list.size()});
    return list;
  };
  // null, true and false are bits, the same in every grammar.
  for (const JsonType type : {JsonType::kNull, JsonType::kBoolean}) {
    for (const DisjunctId disjunct : disjuncts(type)) {
      print.add(std::uint64_t{disjunct});
    }
  }
  for (const DisjunctId disjunct : disjuncts(JsonType::kNumber)) {
    print.add(solver_.numbers().fingerprint(solver_.numbers().start(disjunct)));
  }
  for (const DisjunctId disjunct : disjuncts(JsonType::kString)) {
    const schema_solver::StringConstraints& string = solver_.string(disjunct);
    print
        .add(solver_.languages().fingerprint(
            solver_.languages().start(string.language)))
        .add(std::uint64_t{strings_.spelled_canonically(string)})
        .add(std::uint64_t{string.min_chars})
        .add(std::uint64_t{string.max_chars});
  }
  return print.take();
}

// Only values in which nothing but a lexeme depends on the schema have
// fingerprints: scalars, and the value about which the schema says nothing.
// Besides the value, its mask reads the layout.  It does not read the limit on
// depth: near that there is no value state.
base::Fingerprint JsonRecogniser::value_fingerprint(Configuration config) {
  const Frame& frame = frames_[config];
  if (frame.kind != FrameKind::kDetached || frame.alternatives.size() != 1 ||
      (config.lex != lex_of(Kind::kColon) &&
       config.lex != lex_of(Kind::kValue))) {
    return {};
  }
  const ConjunctionId conjunction = frame.alternatives[0].pending;
  const base::Fingerprint fingerprint = conjunction_fingerprint(conjunction);
  if (!fingerprint) return {};
  const JsonLayout& layout = options_.layout;
  base::Fingerprinter print(config.lex);
  print.add(fingerprint).add(std::uint64_t{config.count});
  print.add(std::uint64_t{layout.exact});
  if (layout.exact) {
    print.add(language_->item_separator).add(layout.key_separator);
  } else {
    print.add(std::uint64_t{layout.max_white_space});
  }
  return own_if_narrowed(print.take());
}

// After the quote that closes a key, the value's conjunction may depend on the
// disjunct and the key alone.  Then the result is a detached frame with that
// conjunction, found in one table look-up.
Configuration JsonRecogniser::step_or_value(Configuration config,
                                            std::uint8_t byte) {
  const Lexeme& lexeme = lexemes_[config];
  if (byte != '"' || lexeme.kind != Kind::kKey ||
      lexeme.body != json::BodyState::kText) {
    return step(config, byte);
  }
  const Frame& frame = frames_[config];
  const std::uint32_t index =
      lexeme.node == KeyTrie::kNone
          ? KeyTrie::kNone
          : keys_.trie(lexeme.trie).node(lexeme.node).key;
  if (index == KeyTrie::kNone || lexeme.noncanonical ||
      frame.alternatives.size() != 1 || frame.unique ||
      options_.layout.indent ||
      frame.depth + kDepthReach > options_.limits.depth) {
    return step(config, byte);
  }
  const KeyId key = keys_.trie(lexeme.trie).keys()[index];
  if (!solver_.key_sets().contains(members_.key_info(frame_of(config)).allowed,
                                   key)) {
    return {};
  }
  const Alternative alternative = frame.alternatives[0];
  const auto [it, is_new] = member_frames_.try_emplace(
      std::uint64_t{alternative.disjunct} << 32 | key, kNoFrame);
  if (is_new && solver_.object(alternative.disjunct).condition == kAlways) {
    const ConjunctionId conjunction =
        solver_.member_conjunction(alternative.disjunct, {.key = key});
    it->second = detached({conjunction});
  }
  if (it->second == 0) return step(config, byte);
  return {lex_of(Kind::kColon), it->second, 0, 0};
}

}  // namespace parlance::json_recogniser
