// Outlines: places as far as most tokens can tell them apart.
//
// Behind a value a token mostly closes what is open, or goes on with a comma;
// which names are left, or what comes behind a further item, hardly any token
// gets to.  So a frame is drawn as: may something follow, what may the next
// item be, and the same of the frame around it when it is closed.  Members of
// many names and records of many members have one coarse, and one mask but for
// the tokens that go further.
//
//   {"a": {"b": "x▮     in a string, then   } or , and a name
//                                           behind }: } or , and a name
//                                           behind }}: the end

#include <algorithm>

#include "base/mix.h"
#include "json_recogniser/json_recogniser.h"

namespace parlance::json_recogniser {

using schema_solver::ConjunctionId;
using schema_solver::DisjunctId;
using schema_solver::JsonType;

using recogniser::Configuration;
namespace {

// What Frame::count says of an coarse behind a value.
constexpr std::uint32_t kObjectCoarse = 1;
constexpr std::uint32_t kMoreMembers = 2;  // another member may come
constexpr std::uint32_t kCoarseEnd = 4;
constexpr std::uint32_t kAnyKey = 8;  // of that member
// Of an coarse in front of a name, then the set of names that are special.
constexpr std::uint32_t kBeforeKey = 16;
constexpr unsigned kTrieShift = 5;

}  // namespace

// What scalars fit a conjunction, as a number that is equal for conjunctions of
// all grammars only if the same do; 0 if arrays or objects may fit, or for lack
// of one.
std::uint64_t JsonRecogniser::scalar_fingerprint(ConjunctionId conjunction) {
  if (!solver_.disjuncts(conjunction, JsonType::kArray).empty() ||
      !solver_.disjuncts(conjunction, JsonType::kObject).empty()) {
    return 0;
  }
  using base::mix;
  std::uint64_t hash = 0x517CC1B727220A95;
  for (const DisjunctId disjunct :
       solver_.disjuncts(conjunction, JsonType::kNull)) {
    mix(hash, disjunct);
  }
  mix(hash, 2);
  for (const DisjunctId disjunct :
       solver_.disjuncts(conjunction, JsonType::kBoolean)) {
    mix(hash, disjunct);
  }
  mix(hash, 3);
  for (const DisjunctId disjunct :
       solver_.disjuncts(conjunction, JsonType::kNumber)) {
    const std::uint64_t fingerprint =
        solver_.numbers().fingerprint(solver_.numbers().start(disjunct));
    mix(hash, fingerprint);
  }
  mix(hash, 4);
  for (const DisjunctId disjunct :
       solver_.disjuncts(conjunction, JsonType::kString)) {
    const schema_solver::StringConstraints& string = solver_.string(disjunct);
    mix(hash, solver_.languages().fingerprint(
                  solver_.languages().start(string.language)));
    if (spelled_canonically(string)) mix(hash, 5);
    mix(hash, string.min_chars);
    mix(hash, string.max_chars);
  }
  return hash | 1;
}

// The first conjunction that was found to mean the same.
ConjunctionId JsonRecogniser::common_conjunction(ConjunctionId conjunction) {
  const auto [it, is_new] =
      common_conjunctions_.try_emplace(conjunction, conjunction);
  if (!is_new) return it->second;
  const std::uint64_t fingerprint = scalar_fingerprint(conjunction);
  if (fingerprint != 0) {
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

// The place behind a value in a frame and in those around it; 0 if it has no
// coarse.
JsonRecogniser::FrameId JsonRecogniser::coarse_after(FrameId id) {
  std::vector<FrameId> path;
  FrameId around = 0;  // the coarse of what is behind the last of them
  for (FrameId at = id;;) {
    const FrameId known = frames_[at].coarse;
    if (known != kUnknown) {
      if (known == 0) break;
      around = known;
      break;
    }
    path.push_back(at);
    if (frames_[at].kind == FrameKind::kRoot) {
      Frame end;
      end.count = kCoarseEnd;
      around = intern_coarse(std::move(end), {});
      frames_[at].coarse = around;
      path.pop_back();
      break;
    }
    // Which values were used already is no matter of coarse_states.
    if (frames_[at].unique) break;
    const Configuration closed = close(at);
    if (closed.dead()) {
      around = kUnknown;  // nothing: it cannot be closed here
      break;
    }
    if (left_value(closed)) break;
    at = closed.frame;
  }
  bool good = around != 0;
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    FrameId made = 0;
    if (good) {
      Frame coarse;
      coarse.parent = around == kUnknown ? 0 : around;
      if (frames_[*it].kind == FrameKind::kObject) {
        coarse.count = kObjectCoarse;
        if (any_member(*it)) {
          coarse.count |= kMoreMembers;
          if (key_info(*it).open) coarse.count |= kAnyKey;
        }
      } else if (const FrameId next = next_item(*it); next != 0) {
        std::vector<ConjunctionId> conjunctions =
            conjunctions_in(frames_[next]);
        for (ConjunctionId& conjunction : conjunctions) {
          conjunction = common_conjunction(conjunction);
        }
        std::sort(conjunctions.begin(), conjunctions.end());
        conjunctions.erase(
            std::unique(conjunctions.begin(), conjunctions.end()),
            conjunctions.end());
        coarse.used = detached(std::move(conjunctions));
      }
      made = intern_coarse(std::move(coarse), {});
    }
    frames_[*it].coarse = made;
    around = made;
    good = made != 0;
  }
  return frames_[id].coarse;
}

// The same of a frame in which a value comes that has one conjunction.
JsonRecogniser::FrameId JsonRecogniser::coarse_pending(FrameId id) {
  if (frames_[id].coarse != kUnknown) return frames_[id].coarse;
  FrameId made = 0;
  const std::vector<ConjunctionId> conjunctions = conjunctions_in(frames_[id]);
  if (conjunctions.size() == 1) {
    const Configuration behind = after_value(id, conjunctions, nullptr);
    const FrameId around = coarse_after(behind.frame);
    if (around != 0) {
      Frame coarse;
      coarse.pending = true;
      coarse.parent = around;
      made =
          intern_coarse(std::move(coarse),
                        {{0, 0, 0, common_conjunction(conjunctions.front())}});
    }
  }
  frames_[id].coarse = made;
  return made;
}

// The names that the coarse_states of names know: the empty one.
std::uint32_t JsonRecogniser::empty_key_trie() {
  const auto [it, is_new] = key_trie_of_.try_emplace(
      "coarse", static_cast<std::uint32_t>(key_tries_.size()));
  if (is_new) {
    add_key_trie({solver_.key("")}, {});
  }
  return it->second;
}

// A place in a name where any may come.  A name of the schema that ends right
// here stays a name of its own; those that end further on are exceptions to the
// coarse.
Configuration JsonRecogniser::coarse_in_key(Configuration config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  if (!lexeme.open || !lexeme.entries.empty() ||
      (lexeme.node != KeyTrie::kNone &&
       lexeme.body != json::BodyState::kText)) {
    return {};
  }
  const FrameId other = with_member(config.frame, KeyTrie::kNone, 0, nullptr);
  const FrameId others = other == 0 ? 0 : coarse_pending(other);
  if (others == 0) return {};
  std::uint32_t name = KeyTrie::kNone;
  if (lexeme.node != KeyTrie::kNone) {
    name = key_tries_[lexeme.trie].node(lexeme.node).key;
  }
  Frame coarse;
  coarse.parent = others;
  coarse.count = name == KeyTrie::kNone ? 0 : 1;
  if (name != KeyTrie::kNone && !lexeme.noncanonical) {
    const FrameId own = with_member(config.frame, name, 0, nullptr);
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
  same.node = name == KeyTrie::kNone ? KeyTrie::kNone : 0;
  // Told from the coarse_states behind a value by `pending`.
  coarse.pending = true;
  config.frame = intern_coarse(std::move(coarse), {});
  config.lex = intern(std::move(same));
  config.extra = 0;
  if (frames_[config.frame].keys == nullptr) {
    auto info = std::make_unique<KeyInfo>(
        KeyInfo{.trie = trie, .any = true, .open = true});
    if (own != 0) info->allowed = key_tries_[trie].all();
    next_members_.emplace(std::uint64_t{config.frame} << 32, own);
    info->next_extra = {{0, others}};
    frames_[config.frame].keys = std::move(info);
  }
  return config;
}

// Whether the only name that is special is the empty one, here and now.
bool JsonRecogniser::ends_empty_key(Configuration config) const {
  const Frame& frame = frames_[config.frame];
  return frame.kind == FrameKind::kCoarse && (frame.count & kBeforeKey) == 0 &&
         lexemes_[config.lex].node == 0;
}

// In front of a name where any may come.  Whether one that the schema spells
// may come, and what it then is, is for the real place to say.
JsonRecogniser::FrameId JsonRecogniser::coarse_before_key(FrameId id) {
  const FrameId around = coarse_after(id);
  if ((frames_[around].count & kAnyKey) == 0 ||
      lexemes_[key_info(id).start].track) {
    return 0;
  }
  const FrameId other = with_member(id, KeyTrie::kNone, 0, nullptr);
  const FrameId others = other == 0 ? 0 : coarse_pending(other);
  const std::uint32_t trie = key_info(id).trie;
  if (others == 0 || trie >> (32 - kTrieShift) != 0) return 0;
  Frame coarse;
  coarse.parent = around;
  coarse.used = others;
  coarse.count = kBeforeKey | trie << kTrieShift;
  const FrameId made = intern_coarse(std::move(coarse), {});
  if (frames_[made].keys == nullptr) {
    auto info = std::make_unique<KeyInfo>(
        KeyInfo{.trie = trie, .any = true, .open = true});
    info->next_extra = {{0, others}};
    frames_[made].keys = std::move(info);
  }
  return made;
}

// Behind the quote that opens a name in an coarse.
Configuration JsonRecogniser::begin_coarse_key(FrameId id) {
  const Frame& frame = frames_[id];
  Lexeme name;
  name.kind = Kind::kKey;
  name.open = true;
  if ((frame.count & kBeforeKey) != 0) {
    name.trie = frame.keys->trie;
    if (!key_tries_[name.trie].keys().empty()) name.node = 0;
  } else if ((frame.count & kAnyKey) != 0) {
    name.trie = empty_key_trie();
  } else {
    return {static_cast<LexId>(Kind::kEscaped), id, 0, 0};
  }
  return {intern(std::move(name)), id, 0, 0};
}

// Whether the end of that name is for the real place to decide.
bool JsonRecogniser::left_in_coarse_key(FrameId id, std::uint32_t name) const {
  const Frame& frame = frames_[id];
  if (frame.kind != FrameKind::kCoarse) return false;
  return frame.keys == nullptr ||
         ((frame.count & kBeforeKey) != 0 && name != KeyTrie::kNone);
}

Configuration JsonRecogniser::coarse_state(Configuration config) {
  const Frame& frame = frames_[config.frame];
  // Near the greatest depth, and where layout depends on it, depth matters.
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
      // Names of a list are what tells such places apart.
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

// What is behind an coarse's value, and what closes it.
Configuration JsonRecogniser::leave_coarse(FrameId id) const {
  FrameId around = frames_[id].parent;
  if ((frames_[id].count & kBeforeKey) != 0) around = frames_[around].parent;
  if (around == 0) return {};
  const bool end = (frames_[around].count & kCoarseEnd) != 0;
  return {static_cast<LexId>(end ? Kind::kEnd : Kind::kAfter), around, 0, 0};
}

bool JsonRecogniser::is_object(const Frame& frame) {
  return frame.kind == FrameKind::kObject ||
         (frame.kind == FrameKind::kCoarse &&
          (frame.count & kObjectCoarse) != 0);
}

bool JsonRecogniser::coarse_has_member(const Frame& frame) {
  return (frame.count & kMoreMembers) != 0;
}

}  // namespace parlance::json_recogniser
