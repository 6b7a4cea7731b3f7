// Adopting a configuration of another recogniser of the same document.
//
// A configuration is a lexeme in a frame in its parents, and each of them is
// made of literals, keys, conditions, counts, used values and states of
// automata.  All of these have a content that does not depend on the tables
// (schema_solver/translation.h), so they are interned here again, from the
// outermost frame inwards.  The cost is that of the configuration, not of the
// text that led to it.

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/work.h"
#include "json_recogniser/json_recogniser.h"
#include "schema_solver/translation.h"

namespace parlance::json_recogniser {

using recogniser::Configuration;
using schema_solver::JsonType;

class JsonRecogniser::Adoption {
 public:
  Adoption(JsonRecogniser& from, JsonRecogniser& to)
      : from_(from), to_(to), ids_(from.solver_, to.solver_) {}

  // Dead for a configuration that no text leads to: of a detached frame.
  Configuration take(Configuration config) {
    const Lexeme& lexeme = from_.lexemes_[config];
    if (lexeme.kind == Kind::kLeftValue) return {};
    const FrameId frame = take_frames(frame_of(config));
    if (frame == 0) return {};
    Configuration made = config;
    made.frame = frame;
    if (config.lex < kFirstLexeme) return made;
    made.lex = take_lexeme(lexeme, frame);
    made.extra = lexeme.track ? take_text(config.extra) : config.extra;
    return made.lex == 0 ? Configuration{} : made;
  }

 private:
  // Invariant: `made` is the copy of the parent of the frame that comes next.
  FrameId take_frames(FrameId id) {
    std::vector<FrameId> path = {id};
    while (from_.frames_[path.back()].kind != FrameKind::kRoot) {
      const Frame& frame = from_.frames_[path.back()];
      if (frame.kind != FrameKind::kArray && frame.kind != FrameKind::kObject) {
        return kNoFrame;
      }
      path.push_back(frame.parent);
    }
    FrameId made = kNoFrame;
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      made = take_frame(from_.frames_[*at], made);
    }
    return made;
  }

  FrameId take_frame(const Frame& frame, FrameId parent) {
    Frame made;
    made.kind = frame.kind;
    made.pending = frame.pending;
    made.depth = frame.depth;
    made.parent = parent;
    made.count = frame.count;
    if (frame.partial != 0) made.partial = take_partial(frame.partial);
    made.items = take_items(frame.items);
    if (frame.kind == FrameKind::kObject) {
      made.used = ids_.keys(frame.used);
      made.present = ids_.keys(frame.present);
    } else if (frame.kind == FrameKind::kArray) {
      made.used = take_values(frame.used);
    }
    std::vector<Alternative> alternatives(frame.alternatives.begin(),
                                          frame.alternatives.end());
    for (Alternative& one : alternatives) {
      if (frame.kind == FrameKind::kArray) {
        one.disjunct = ids_.disjunct(one.outer, JsonType::kArray, one.disjunct);
        one.state = to_.frames_.intern_counts(from_.frames_.counts(one.state));
        one.barred = take_values(one.barred);
      } else if (frame.kind == FrameKind::kObject) {
        one.disjunct =
            ids_.disjunct(one.outer, JsonType::kObject, one.disjunct);
        one.state = ids_.condition(one.condition());
      }
      one.outer = ids_.conjunction(one.outer);
      one.pending = ids_.conjunction(one.pending);
    }
    return to_.frames_.intern(made, alternatives);
  }

  // The prints are those of the process.  A value is made after those inside of
  // it, which were made before it, so in the order of their ids.
  std::uint32_t take_partial(std::uint32_t id) {
    std::vector<std::uint32_t> inside = {id};
    for (std::size_t i = 0; i < inside.size(); ++i) {
      each_part(inside[i], [&](const Part& part) {
        if (part.nested != 0 && !partials_.contains(part.nested)) {
          inside.push_back(part.nested);
        }
      });
    }
    std::ranges::sort(inside);
    for (const std::uint32_t one : inside) {
      if (!partials_.contains(one)) partials_.emplace(one, copy_of(one));
    }
    return partials_.at(id);
  }

  template <class Use>
  void each_part(std::uint32_t partial, Use use) {
    for (std::uint32_t at = from_.partials_[partial].parts; at != 0;) {
      base::spend_work();
      const Part part = from_.partials_.part(at);
      use(part);
      at = part.next;
    }
  }

  std::uint32_t copy_of(std::uint32_t id) {
    Partial made = from_.partials_[id];
    std::vector<Part> parts;
    each_part(id, [&](const Part& part) { parts.push_back(part); });
    made.parts = 0;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part->nested != 0) part->nested = partials_.at(part->nested);
      if (part->scalar != 0) part->scalar = take_text(part->scalar);
      part->next = made.parts;
      made.parts = to_.partials_.intern(*part);
    }
    if (made.key != 0) made.key = 1 + take_text(made.key - 1);
    made.extras = take_values(made.extras);
    return to_.partials_.intern(made);
  }

  std::uint32_t take_items(std::uint32_t id) {
    std::vector<std::uint32_t> later;
    while (id != 0 && !items_.contains(id)) {
      later.push_back(id);
      id = from_.partials_.item(id).before;
    }
    std::uint32_t made = id == 0 ? 0 : items_.at(id);
    for (auto at = later.rbegin(); at != later.rend(); ++at) {
      const Item item = from_.partials_.item(*at);
      made = to_.partials_.with_item(made, take_partial(item.value));
      items_.emplace(*at, made);
      if (item.scalars != kUnknown) {
        to_.partials_.set_scalars(made, take_values(item.scalars));
      }
    }
    return made;
  }

  std::uint32_t take_text(std::uint32_t text) {
    return to_.texts_.extend(Texts::kEmpty, from_.texts_[text]);
  }

  UsedValues::Set take_values(UsedValues::Set values) {
    return to_.values_.copy(from_.values_, values, values_);
  }

  LexId take_lexeme(const Lexeme& lexeme, FrameId frame) {
    Lexeme made = lexeme.without_entries();
    made.entries = lexeme.entries;
    switch (lexeme.kind) {
      case Kind::kLiteral:
        break;
      case Kind::kNumber:
        for (LexemeEntry& entry : made.entries) {
          entry.state = ids_.number(entry.state);
          entry.used = take_values(entry.used);
        }
        break;
      case Kind::kString:
        for (LexemeEntry& entry : made.entries) {
          entry.state = ids_.state(entry.language_state());
          entry.used = take_values(entry.used);
        }
        if (made.node != KeyTrie::kNone) made.node = take_values(made.node);
        break;
      case Kind::kKey:
        return take_key(std::move(made), frame);
      default:
        return kDeadLexeme;
    }
    for (LexemeEntry& entry : made.entries) {
      entry.conjunction = ids_.conjunction(entry.conjunction);
    }
    return to_.lexemes_.intern(std::move(made));
  }

  // A key refers to the trie of its frame by nodes, which the texts of the keys
  // determine, and has a state for each pattern of the trie, in the order of
  // the patterns.
  LexId take_key(Lexeme made, FrameId frame) {
    const KeyTrie& trie = from_.keys_.trie(made.trie);
    made.trie = to_.members_.key_info(frame).trie;
    const KeyTrie& there = to_.keys_.trie(made.trie);
    const auto text_before = [&](schema_solver::KeyId key) {
      return std::string_view(from_.solver_.names().text(key));
    };
    const auto text_there = [&](schema_solver::KeyId key) {
      return std::string_view(to_.solver_.names().text(key));
    };
    if (!std::ranges::equal(trie.keys(), there.keys(), {}, text_before,
                            text_there)) {
      return kDeadLexeme;
    }
    made.extras = ids_.state(made.extras);
    std::vector<LexemeEntry> entries(made.entries.size());
    for (std::size_t i = 0; i < made.entries.size(); ++i) {
      const automata::LanguageId language = ids_.language(trie.languages()[i]);
      const auto at = std::ranges::find(there.languages(), language);
      if (at == there.languages().end()) return kDeadLexeme;
      const auto index =
          static_cast<std::size_t>(at - there.languages().begin());
      if (index >= entries.size()) return kDeadLexeme;
      entries[index].state = ids_.state(made.entries[i].language_state());
    }
    made.entries = std::move(entries);
    return to_.lexemes_.intern(std::move(made));
  }

  JsonRecogniser& from_;
  JsonRecogniser& to_;
  schema_solver::Translation ids_;
  std::unordered_map<UsedValues::Set, UsedValues::Set> values_;
  std::unordered_map<std::uint32_t, std::uint32_t> partials_;
  std::unordered_map<std::uint32_t, std::uint32_t> items_;
};

// A multiple of the memory of the configuration is added to the budget, so that
// adopting a large one costs no more, amortised, than what has been read since
// the last time: masks try many values, each of which takes memory, too.
Configuration JsonRecogniser::adopt(Recogniser& from, Configuration config) {
  if (config.dead() || from.broken() || broken()) return {};
  const std::size_t before = own_bytes();
  const Configuration made =
      Adoption(static_cast<JsonRecogniser&>(from), *this).take(config);
  constexpr std::size_t kRoom = 4;
  room_ += kRoom * (own_bytes() - before);
  measured_ = 0;
  return made;
}

}  // namespace parlance::json_recogniser
