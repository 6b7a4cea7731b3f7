// Persistent tries of texts: see used_values.h.  Texts may be long, so all
// walks are loops.

#include "json_recogniser/used_values.h"

#include <algorithm>

#include "base/decimal.h"
#include "base/work.h"
#include "schema/document.h"

namespace parlance::json_recogniser {

UsedValues::Set UsedValues::after(Set set, std::uint8_t byte) const {
  const std::span<const Edge> edges = nodes_[set];
  const auto at = std::ranges::lower_bound(edges, edge(byte, 0));
  return at != edges.end() && byte_of(*at) == byte ? set_of(*at) : kNone;
}

// Walks down along the text, then makes the nodes of the path anew from its end
// upwards.
UsedValues::Set UsedValues::with(Set set, std::string_view text) {
  std::vector<Set> path = {set};
  for (const char byte : text) {
    path.push_back(after(path.back(), static_cast<std::uint8_t>(byte)));
  }
  std::vector<Edge> edges;
  const auto load = [&](Set node) {
    const std::span<const Edge> before = nodes_[node];
    edges.assign(before.begin(), before.end());
  };
  load(path.back());
  if (!ends(path.back())) edges.insert(edges.begin(), kEnd);
  Set made = intern(edges);
  for (std::size_t i = text.size(); i-- > 0;) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    load(path[i]);
    const auto at = std::ranges::lower_bound(edges, edge(byte, 0));
    if (at != edges.end() && byte_of(*at) == byte) {
      *at = edge(byte, made);
    } else {
      edges.insert(at, edge(byte, made));
    }
    made = intern(edges);
  }
  return made;
}

// A depth-first walk.  Invariant: `text` spells the path to the node on top of
// `path`, whose edges before `next` have been walked.
std::vector<std::string> UsedValues::texts(Set set) const {
  struct Visit {
    Set set = kNone;
    std::size_t next = 0;
  };
  std::vector<std::string> out;
  std::string text;
  std::vector<Visit> path = {{set}};
  while (!path.empty()) {
    Visit& at = path.back();
    const std::span<const Edge> edges = nodes_[at.set];
    if (at.next == edges.size()) {
      path.pop_back();
      if (!path.empty()) text.pop_back();
      continue;
    }
    const Edge one = edges[at.next++];
    if (one == kEnd) {
      out.push_back(text);
      continue;
    }
    text.push_back(static_cast<char>(byte_of(one)));
    path.push_back({set_of(one)});
  }
  return out;
}

// A node is made once all nodes after it are.  Making one takes about as long
// as reading the byte that led to it did, which is no step by itself.
UsedValues::Set UsedValues::copy(const UsedValues& from, Set set,
                                 std::unordered_map<Set, Set>& known) {
  known.try_emplace(kNone, kNone);
  std::vector<Set> pending = {set};
  constexpr std::size_t kNodesPerStep = 16;
  std::vector<Edge> edges;
  while (!pending.empty()) {
    const Set at = pending.back();
    bool ready = true;
    edges.clear();
    for (const Edge one : from.nodes_[at]) {
      if (one == kEnd) {
        edges.push_back(one);
        continue;
      }
      const auto made = known.find(set_of(one));
      if (made == known.end()) {
        pending.push_back(set_of(one));
        ready = false;
      } else {
        edges.push_back(edge(byte_of(one), made->second));
      }
    }
    if (!ready) continue;
    pending.pop_back();
    if (known.size() % kNodesPerStep == 0) base::spend_work();
    known.try_emplace(at, intern(edges));
  }
  return known.at(set);
}

UsedValues::Set UsedValues::with_value(Set set, const std::string& value) {
  const Set made = with(set, value);
  if (made != set && origins_.try_emplace(made, Origin{set, value}).second) {
    bytes_ += 96 + value.size();
  }
  return made;
}

UsedValues::Set UsedValues::with_spellings(Set set, const std::string& value) {
  for (const std::string& one : spellings(value)) set = with_value(set, one);
  return set;
}

std::vector<std::string> spellings(const std::string& value) {
  constexpr std::int64_t kMostZeros = schema::kMaxNumberDigits;
  std::vector<std::string> texts = {value};
  const bool number = value[0] == '-' || (value[0] >= '0' && value[0] <= '9');
  if (!number || value.find('e') == std::string::npos) return texts;
  const auto decimal = base::Decimal::from_json(value);
  if (!decimal || decimal->exponent > kMostZeros ||
      decimal->exponent < -kMostZeros) {
    return texts;
  }
  std::string plain = decimal->digits;
  if (decimal->exponent >= 0) {
    plain.append(static_cast<std::size_t>(decimal->exponent), '0');
  } else {
    const auto places = static_cast<std::size_t>(-decimal->exponent);
    if (plain.size() <= places) {
      plain.insert(0, places + 1 - plain.size(), '0');
    }
    plain.insert(plain.size() - places, ".");
  }
  texts.push_back((decimal->negative ? "-" : "") + plain);
  return texts;
}

}  // namespace parlance::json_recogniser
