// Walks under masks, and how a vocabulary writes text.

#include "verification/walker.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "parlance/json.h"

namespace parlance::verification {

PhraseWriter::PhraseWriter(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary), splitter_(vocabulary) {
  for (TokenId id = 0; id < vocabulary_.size(); ++id) {
    const std::string_view bytes = vocabulary_.bytes(id);
    if (vocabulary_.kind(id) != TokenKind::kOrdinary || bytes.empty() ||
        bytes.size() > kLongest) {
      continue;
    }
    by_bytes_.emplace(bytes, id);
  }
}

bool PhraseWriter::write_plain(std::string_view text,
                               std::vector<TokenId>& out) const {
  while (!text.empty()) {
    std::size_t size = std::min(text.size(), kLongest);
    auto token = by_bytes_.find(text.substr(0, size));
    while (token == by_bytes_.end() && size > 1) {
      token = by_bytes_.find(text.substr(0, --size));
    }
    if (token == by_bytes_.end()) return false;
    out.push_back(token->second);
    text.remove_prefix(size);
  }
  return true;
}

std::vector<TokenId> PhraseWriter::write(std::string_view phrase) const {
  std::vector<TokenId> out;
  for (const vocab::MarkerPiece& piece : splitter_.split(phrase)) {
    if (piece.is_mark()) {
      out.push_back(piece.ids.front());
    } else if (!write_plain(piece.text, out)) {
      return {};
    }
  }
  return out;
}

WalkPhrases phrases_of(const StructuralTag& tag, const PhraseWriter& writer) {
  WalkPhrases out;
  const json::Value root = tag.to_json();
  std::vector<const json::Value*> left = {&root};
  while (!left.empty()) {
    const json::Value& node = *left.back();
    left.pop_back();
    for (const json::Value& item : node.items()) left.push_back(&item);
    for (const json::Member& member : node.members()) {
      if (member.key == "json_schema") continue;
      left.push_back(&member.value);
      // What ends a string whose end is no quote.
      if (member.key == "string" && member.value.size() == 2) {
        const json::Value& end = member.value.items()[1];
        out.value_ends.push_back(writer.write(end.as_string()));
      }
      Phrases* list = member.key == "begin" ? &out.begins
                      : member.key == "end" || member.key == "value" ? &out.ends
                      : member.key == "close" ? &out.value_ends
                                              : nullptr;
      if (list == nullptr) continue;
      if (member.value.is_string()) {
        list->push_back(writer.write(member.value.as_string()));
      }
      for (const json::Value& item : member.value.items()) {
        if (item.is_string()) list->push_back(writer.write(item.as_string()));
      }
    }
  }
  for (const std::string_view text : {"\"", "}", "]", "\"}"}) {
    out.closers.push_back(writer.write(text));
  }
  return out;
}

Walk Walker::walk(Matcher& matcher, std::uint32_t seed, std::size_t steps) {
  random_.seed(seed);
  row_.assign((vocabulary_.size() + 31) / 32, 0);
  Walk out;
  const std::size_t most = steps + 8000;
  while (!matcher.is_terminated()) {
    if (out.ids.size() > most) {
      out.unfinished = true;
      return out;
    }
    const bool constrained =
        matcher.fill_bitmask(row_) == MaskFill::kConstrains;
    if (!constrained) {
      out.failure = "a mask that constrains nothing before the end";
      return out;
    }
    if (!check_row(matcher, out)) return out;
    if (!step(matcher, out, out.ids.size() >= steps)) return out;
  }
  return out;
}

bool Walker::bit(TokenId id) const {
  return (static_cast<std::uint32_t>(row_[id / 32]) >> (id % 32) & 1U) != 0;
}

bool Walker::check_row(Matcher& matcher, Walk& out) {
  if (std::all_of(row_.begin(), row_.end(),
                  [](std::int32_t word) { return word == 0; })) {
    out.failure = "an empty row";
    return false;
  }
  // Marks and random tokens.
  const std::span<const TokenId> special = vocabulary_.special_ids();
  for (int i = 0; i < 4; ++i) {
    const TokenId id = i % 2 == 0 && !special.empty()
                           ? special[below(special.size())]
                           : static_cast<TokenId>(below(vocabulary_.size()));
    const bool accepted = matcher.accept_token(id);
    if (accepted) matcher.rollback(1);
    if (accepted != bit(id)) {
      out.failure = "token " + std::to_string(id) +
                    (accepted ? " is accepted, its bit is not set"
                              : " is not accepted, its bit is set");
      return false;
    }
  }
  return true;
}

bool Walker::step(Matcher& matcher, Walk& out, bool ending) {
  const std::size_t first = stops_.empty() ? 0 : below(stops_.size());
  for (std::size_t i = 0; i < stops_.size(); ++i) {
    const TokenId stop = stops_[(first + i) % stops_.size()];
    if (stop >= vocabulary_.size() || !bit(stop)) continue;
    if (!ending && !chance(15)) continue;
    // A stop token of the matcher ends it; a marker among them does so only
    // where the text may end after it.
    if (!take(matcher, out, stop)) return false;
    if (!matcher.is_terminated()) {
      out.failure = "token " + std::to_string(stop) + " stops no text";
      return false;
    }
    return true;
  }
  if (ending || chance(20)) {
    const std::vector<TokenId> forced = matcher.forced_tokens();
    if (!forced.empty()) {
      for (const TokenId id : forced) {
        if (!take(matcher, out, id)) {
          out.failure += " (forced)";
          return false;
        }
      }
      return true;
    }
  }
  if (ending) return step_to_end(matcher, out);
  // Most phrases fit in free text and in strings as well, so no list goes
  // first, and no phrase of a list.
  const std::size_t list = below(60);
  if (list < 3) {
    if (take_phrase(matcher, out, phrases_.ends)) return true;
  } else if (list < 5) {
    if (take_phrase(matcher, out, phrases_.begins)) return true;
  } else if (list < 8) {
    if (take_phrase(matcher, out, phrases_.value_ends)) return true;
  }
  return take(matcher, out, choose());
}

// What closes something is preferred, but what closes a value may need a token
// that no list has (the Z of a time), or a name that is required, so each way
// on has its share.
bool Walker::step_to_end(Matcher& matcher, Walk& out) {
  const std::size_t list = below(100);
  const Phrases& preferred = list < 15   ? phrases_.ends
                             : list < 35 ? phrases_.begins
                             : list < 45 ? phrases_.value_ends
                             : list < 55 ? phrases_.names
                                         : phrases_.brackets;
  if (list < 78 && take_phrase(matcher, out, preferred)) return true;
  if (list < 90 && take_phrase(matcher, out, phrases_.closers)) return true;
  return take(matcher, out, choose());
}

bool Walker::take_phrase(Matcher& matcher, Walk& out, const Phrases& list) {
  const std::size_t first = below(list.size() + 1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::vector<TokenId>& phrase = list[(first + i) % list.size()];
    if (phrase.empty() || !bit(phrase.front())) continue;
    const std::size_t fitted = matcher.accept_tokens(phrase);
    if (fitted == phrase.size()) {
      out.ids.insert(out.ids.end(), phrase.begin(), phrase.end());
      if (matcher.is_terminated()) {
        out.ids.pop_back();
        out.stop = phrase.back();
        out.stopped = true;
      }
      return true;
    }
    matcher.rollback(fitted);
  }
  return false;
}

TokenId Walker::choose() {
  const std::span<const TokenId> special = vocabulary_.special_ids();
  if (chance(10)) {
    std::vector<TokenId> marks;
    for (const TokenId id : special) {
      if (bit(id)) marks.push_back(id);
    }
    if (!marks.empty()) return marks[below(marks.size())];
  }
  // Low ids are bytes and short pieces of words.
  const std::size_t first =
      below(chance(50) ? std::min<std::size_t>(512, vocabulary_.size())
                       : vocabulary_.size());
  const std::size_t words = row_.size();
  for (std::size_t i = 0; i < words; ++i) {
    const std::size_t word = (first / 32 + i) % words;
    auto bits = static_cast<std::uint32_t>(row_[word]);
    if (bits == 0) continue;
    // Any of the word, or else the lowest would hide its neighbours.
    for (std::size_t skip =
             below(static_cast<std::size_t>(std::popcount(bits)));
         skip > 0; --skip) {
      bits &= bits - 1;
    }
    return static_cast<TokenId>(
        word * 32 + static_cast<std::size_t>(std::countr_zero(bits)));
  }
  return 0;  // No row is empty here.
}

bool Walker::take(Matcher& matcher, Walk& out, TokenId id) {
  if (!matcher.accept_token(id)) {
    out.failure = "token " + std::to_string(id) + " is not accepted";
    return false;
  }
  if (matcher.is_terminated()) {
    out.stop = id;
    out.stopped = true;
  } else {
    out.ids.push_back(id);
  }
  return true;
}

}  // namespace parlance::verification
