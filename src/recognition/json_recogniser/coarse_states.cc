// Coarse states: configurations as far as most tokens can distinguish them.
//
// After a value, most tokens close what is open or continue with a comma.
// Hardly any token depends on which keys are left, or on what follows the next
// item.  A coarse frame keeps of a frame only whether a member may follow, what
// the next item may be, and the coarse frame of the parent after closing.  So
// members of many keys and records of many members share a coarse frame, and a
// mask except for a few tokens.
//
//   {"a": {"b": "x_     in a string, then   } or , and a key
//                                           after }: } or , and a key
//                                           after }}: the end
//
// A token is accepted from both configurations or from neither, except for two
// kinds, which the caller must recheck: tokens that continue past left_value(),
// and tokens that complete an exceptional key after their first byte.
//
// The frames, and their uses of Frame::parent, used and count:
//
//   after a value or item  parent: after closing; used: a detached frame for
//                          the next item, or 0; bits: whether a member may
//                          follow
//   for a value            parent: the coarse frame after the value
//   in a key (open)        parent: for the value of another key; used: for the
//                          value of the schema's key that ends here, or 0
//   before a key           parent: after a member of the same object; used: for
//                          the value of another key; bits: kBeforeKey, and the
//                          trie of the exceptions

#include <algorithm>

#include "json_recogniser/json_recogniser.h"

namespace parlance::json_recogniser {

using schema_solver::ConjunctionId;
using schema_solver::DisjunctId;
using schema_solver::JsonType;

using recogniser::Configuration;

namespace {

// What the fingerprint of a conjunction is of.
constexpr std::uint64_t kOfAnyValue = 0;
constexpr std::uint64_t kOfScalars = 1;

}  // namespace

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
        .add(std::uint64_t{spelled_canonically(string)})
        .add(std::uint64_t{string.min_chars})
        .add(std::uint64_t{string.max_chars});
  }
  return print.take();
}

// The first conjunction that was found to be equivalent.
ConjunctionId JsonRecogniser::common_conjunction(ConjunctionId conjunction) {
  const auto [it, is_new] =
      common_conjunctions_.try_emplace(conjunction, conjunction);
  if (!is_new) return it->second;
  const base::Fingerprint fingerprint = conjunction_fingerprint(conjunction);
  if (fingerprint) {
    const ConjunctionId first =
        conjunction_of_fingerprint_.try_emplace(fingerprint, conjunction)
            .first->second;
    common_conjunctions_[conjunction] = first;
    return first;
  }
  return conjunction;
}

JsonRecogniser::FrameId JsonRecogniser::intern_coarse(
    Frame coarse, std::vector<Alternative> alternatives) {
  coarse.kind = FrameKind::kCoarse;
  const FrameId id = intern(std::move(coarse), std::move(alternatives));
  frames_[id].canonical = id;
  return id;
}

// The coarse frame after a value in frame `id`; 0 if there is none.
//
// Walks outwards through the frames that closing leads to, until one with a
// known answer, then builds the coarse frames from the outermost inwards.
// Invariant: `outer` is the coarse frame of what follows when the last frame
// of `path` closes; 0: there is none; kUnknown: the frame cannot be closed
// here.
JsonRecogniser::FrameId JsonRecogniser::coarse_after(FrameId id) {
  std::vector<FrameId> path;
  FrameId outer = 0;
  for (FrameId at = id;;) {
    const FrameId known = frames_[at].coarse;
    if (known != kUnknown) {
      if (known == 0) break;
      outer = known;
      break;
    }
    path.push_back(at);
    if (frames_[at].kind == FrameKind::kRoot) {
      Frame end;
      end.count = kCoarseEnd;
      outer = intern_coarse(std::move(end), {});
      frames_[at].coarse = outer;
      path.pop_back();
      break;
    }
    // Coarse frames do not know which values uniqueItems excludes.
    if (frames_[at].unique) break;
    const Configuration closed = close(at);
    if (closed.dead()) {
      outer = kUnknown;
      break;
    }
    if (left_value(closed)) break;
    at = closed.frame;
  }
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    if (outer != 0) outer = coarse_within(*it, outer == kUnknown ? 0 : outer);
    frames_[*it].coarse = outer;
  }
  return frames_[id].coarse;
}

// The coarse frame after a value in frame `id`, given that of what follows when
// the frame closes; 0: it cannot be closed here.
JsonRecogniser::FrameId JsonRecogniser::coarse_within(FrameId id,
                                                      FrameId outer) {
  Frame coarse;
  coarse.parent = outer;
  if (frames_[id].kind == FrameKind::kObject) {
    coarse.count = kCoarseObject;
    if (any_other_key(id)) {
      coarse.count |= kMoreMembers | kAnyKey;
    } else if (any_member(id)) {
      coarse.count |= kMoreMembers;
    }
  } else if (const FrameId next = next_item(id); next != 0) {
    std::vector<ConjunctionId> conjunctions = conjunctions_in(frames_[next]);
    for (ConjunctionId& conjunction : conjunctions) {
      conjunction = common_conjunction(conjunction);
    }
    std::sort(conjunctions.begin(), conjunctions.end());
    conjunctions.erase(std::unique(conjunctions.begin(), conjunctions.end()),
                       conjunctions.end());
    coarse.used = detached(std::move(conjunctions));
  }
  return intern_coarse(std::move(coarse), {});
}

// The coarse frame of a frame that expects a value; 0 if there is none.  The
// value must have one conjunction: then all alternatives survive it, and what
// follows it is known.
JsonRecogniser::FrameId JsonRecogniser::coarse_pending(FrameId id) {
  if (frames_[id].coarse != kUnknown) return frames_[id].coarse;
  FrameId made = 0;
  const std::vector<ConjunctionId> conjunctions = conjunctions_in(frames_[id]);
  if (conjunctions.size() == 1) {
    const Configuration after = after_value(id, conjunctions, nullptr);
    const FrameId outer = coarse_after(after.frame);
    if (outer != 0) {
      Frame coarse;
      coarse.pending = true;
      coarse.parent = outer;
      made = intern_coarse(std::move(coarse),
                           {{schema_solver::kAnything, 0, 0,
                             common_conjunction(conjunctions.front())}});
    }
  }
  frames_[id].coarse = made;
  return made;
}

// The trie of the coarse frames in a key: it contains the empty key alone, for
// a key of the schema whose last byte has been read.
std::uint32_t JsonRecogniser::empty_key_trie() {
  if (!empty_key_trie_) {
    empty_key_trie_ = static_cast<std::uint32_t>(key_tries_.size());
    add_key_trie({solver_.key("")}, {});
  }
  return *empty_key_trie_;
}

// The coarse state of a configuration in an open key.  The rest of a key of the
// schema that ends here is the empty key of the coarse frame.  Keys of the
// schema that end later are exceptions, which the coarse state ignores.
//
// Step 1 finds the coarse frame for the value of another key, step 2 that for
// the value of the schema's key that ends here, step 3 the frame of both.
Configuration JsonRecogniser::coarse_in_key(Configuration config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  if (!lexeme.open || !lexeme.entries.empty() ||
      (lexeme.node != KeyTrie::kNone &&
       lexeme.body != json::BodyState::kText)) {
    return {};
  }
  const FrameId other = with_member(config.frame, KeyTrie::kNone, {}, nullptr);
  const FrameId others = other == 0 ? 0 : coarse_pending(other);
  if (others == 0) return {};
  std::uint32_t index = KeyTrie::kNone;
  if (lexeme.node != KeyTrie::kNone) {
    index = key_tries_[lexeme.trie].node(lexeme.node).key;
  }
  Frame coarse;
  coarse.parent = others;
  coarse.count = index == KeyTrie::kNone ? 0U : kKeyEnds;
  if (index != KeyTrie::kNone && !lexeme.noncanonical) {
    const FrameId own = with_member(config.frame, index, {}, nullptr);
    if (own != 0) {
      coarse.used = coarse_pending(own);
      if (coarse.used == 0) return {};
    }
  }
  const FrameId own = coarse.used;
  const std::uint32_t trie = empty_key_trie();
  Lexeme same;
  same.kind = Kind::kKey;
  same.body = lexeme.body;
  same.open = true;
  same.trie = trie;
  same.node = index == KeyTrie::kNone ? KeyTrie::kNone : 0;
  // `pending` distinguishes the frame from coarse frames after a value.
  coarse.pending = true;
  config.frame = intern_coarse(std::move(coarse), {});
  config.lex = intern(std::move(same));
  config.extra = 0;
  if (frames_[config.frame].keys == nullptr) {
    auto info = std::make_unique<KeyInfo>(
        KeyInfo{.trie = trie, .any = true, .open = true});
    if (own != 0) info->allowed = key_tries_[trie].all();
    next_members_.emplace(std::uint64_t{config.frame} << 32, own);
    info->next_extra = {{{}, others}};
    frames_[config.frame].keys = std::move(info);
  }
  return config;
}

// Whether the only exceptional key is the empty one of empty_key_trie(), and no
// byte of it remains.
bool JsonRecogniser::ends_empty_key(Configuration config) const {
  const Frame& frame = frames_[config.frame];
  return frame.kind == FrameKind::kCoarse && !frame.has(kBeforeKey) &&
         lexemes_[config.lex].node == 0;
}

// The coarse frame before an open key; 0 if there is none.  It leaves keys of
// the schema to the real frame: whether they may come, and with which values.
JsonRecogniser::FrameId JsonRecogniser::coarse_before_key(FrameId id) {
  const FrameId outer = coarse_after(id);
  if (outer == 0 || !frames_[outer].has(kAnyKey) ||
      lexemes_[key_info(id).start].track) {
    return 0;
  }
  const FrameId other = with_member(id, KeyTrie::kNone, {}, nullptr);
  const FrameId others = other == 0 ? 0 : coarse_pending(other);
  const std::uint32_t trie = key_info(id).trie;
  if (others == 0 || trie >> (32 - kTrieShift) != 0) return 0;
  Frame coarse;
  coarse.parent = outer;
  coarse.used = others;
  coarse.count = kBeforeKey | trie << kTrieShift;
  const FrameId made = intern_coarse(std::move(coarse), {});
  if (frames_[made].keys == nullptr) {
    auto info = std::make_unique<KeyInfo>(
        KeyInfo{.trie = trie, .any = true, .open = true});
    info->next_extra = {{{}, others}};
    frames_[made].keys = std::move(info);
  }
  return made;
}

// The configuration after the quote that opens a key in a coarse frame.
Configuration JsonRecogniser::begin_coarse_key(FrameId id) {
  const Frame& frame = frames_[id];
  Lexeme key;
  key.kind = Kind::kKey;
  key.open = true;
  if (frame.has(kBeforeKey)) {
    key.trie = frame.keys->trie;
    if (!key_tries_[key.trie].keys().empty()) key.node = 0;
  } else if (frame.has(kAnyKey)) {
    key.trie = empty_key_trie();
  } else {
    return LeftValue{}.in(id);
  }
  return {intern(std::move(key)), id, 0, 0};
}

// Whether the quote that closes a key leaves the coarse state, so that the real
// frame decides.  `index`: the index of the key in its trie, or KeyTrie::kNone.
bool JsonRecogniser::left_in_coarse_key(FrameId id, std::uint32_t index) const {
  const Frame& frame = frames_[id];
  if (frame.kind != FrameKind::kCoarse) return false;
  return frame.keys == nullptr ||
         (frame.has(kBeforeKey) && index != KeyTrie::kNone);
}

// The coarse configuration of `config`, by the kind of its lexeme: between
// lexemes, in a key, or in a value, whose entries become those of the coarse
// conjunction.  Dead if there is none.
Configuration JsonRecogniser::coarse_state(Configuration config) {
  const Frame& frame = frames_[config.frame];
  // Near the depth limit, and in exact layout, the configuration depends on its
  // depth.
  if (frame.unique || options_.layout.exact ||
      frame.depth + kDepthReach > options_.limits.depth ||
      frame.kind == FrameKind::kDetached || frame.kind == FrameKind::kCoarse) {
    return {};
  }
  const Lexeme& lexeme = lexemes_[config.lex];
  if (lexeme.track) return {};
  switch (lexeme.kind) {
    case Kind::kAfter:
    case Kind::kItemFirst:
      config.frame = coarse_after(config.frame);
      return config.frame == 0 ? Configuration{} : config;
    case Kind::kKeyFirst:
    case Kind::kKeyNext:
      // The keys left are what distinguishes such configurations.
      config.frame = coarse_before_key(config.frame);
      return config.frame == 0 ? Configuration{} : config;
    case Kind::kKey:
      return coarse_in_key(config);
    case Kind::kColon:
    case Kind::kValue:
    case Kind::kLiteral:
    case Kind::kNumber:
    case Kind::kString:
      break;
    default:
      return {};
  }
  config.frame = coarse_pending(config.frame);
  if (config.frame == 0) return {};
  if (lexeme.entries.empty()) return config;
  const ConjunctionId conjunction =
      alternatives(frames_[config.frame])->pending;
  if (lexeme.entries.front().conjunction == conjunction) return config;
  Lexeme same = lexeme.without_entries();
  same.entries = lexeme.entries;
  for (Entry& entry : same.entries) entry.conjunction = conjunction;
  config.lex = intern(std::move(same));
  return config;
}

// The configuration after the value in a coarse frame, or after closing it.
Configuration JsonRecogniser::leave_coarse(FrameId id) const {
  FrameId outer = frames_[id].parent;
  if (frames_[id].has(kBeforeKey)) outer = frames_[outer].parent;
  if (outer == 0) return {};
  const bool end = frames_[outer].has(kCoarseEnd);
  return {static_cast<LexId>(end ? Kind::kEnd : Kind::kAfter), outer, 0, 0};
}

bool JsonRecogniser::is_object(const Frame& frame) {
  return frame.kind == FrameKind::kObject ||
         (frame.kind == FrameKind::kCoarse && frame.has(kCoarseObject));
}

bool JsonRecogniser::coarse_has_member(const Frame& frame) {
  return frame.has(kMoreMembers);
}

}  // namespace parlance::json_recogniser
