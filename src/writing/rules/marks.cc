#include "rules/marks.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/white_space.h"

namespace parlance::rules {

using automata::WordSymbol;

std::vector<WordSymbol> byte_symbols(std::string_view text) {
  std::vector<WordSymbol> out;
  out.reserve(text.size());
  for (const char c : text) out.push_back(static_cast<std::uint8_t>(c));
  return out;
}

Marks::Marks(const Vocabulary& vocabulary, Markers markers)
    : vocabulary_(vocabulary), markers_(markers), splitter_(vocabulary) {}

void Marks::add(std::string_view marker, std::size_t from) {
  for (vocab::MarkerPiece& piece : splitter_.split_rest(marker, from)) {
    if (!piece.is_mark()) continue;
    const auto number = static_cast<std::uint32_t>(marks_.size());
    if (!by_spelling_.emplace(piece.text, number).second) continue;
    for (const Token id : piece.ids) by_id_.emplace(id, number);
    const auto place = std::ranges::lower_bound(lengths_, piece.text.size(),
                                                std::ranges::greater());
    if (place == lengths_.end() || *place != piece.text.size()) {
      lengths_.insert(place, piece.text.size());
    }
    marks_.push_back({std::move(piece.text), std::move(piece.ids)});
  }
}

void Marks::add(const Rules& rules) {
  // The arguments of all tools have the same markers.
  std::set<std::pair<std::string_view, std::size_t>> added;
  for (const MarkerText& marker : rules.markers) {
    if (added.emplace(marker.text, marker.from).second) {
      add(marker.text, marker.from);
    }
  }
  for (const FreeTextExpr& text : rules.free_texts) {
    if (!text.markers) continue;
    for (const auto& trigger : text.triggers) add(trigger.text);
    for (const std::string& word : text.excludes) add(word);
    if (text.exclude_dfa == nullptr) continue;
    for (const std::string& word : text.exclude_dfa->literals()) add(word);
  }
}

std::optional<Error> Marks::check_names(const Rules& rules) const {
  std::unordered_set<std::string_view> checked;
  for (const NameText& name : rules.names) {
    if (!checked.insert(name.text).second) continue;
    for (const vocab::MarkerPiece& piece : splitter_.split(name.text)) {
      if (!piece.is_mark()) continue;
      const bool control =
          vocabulary_.kind(piece.ids.front()) == TokenKind::kControl;
      if (!control && !by_spelling_.contains(piece.text)) continue;
      return Error{
          ErrorCode::kConflict,
          "The name \"" + name.text + "\" contains \"" + piece.text +
              "\", which the vocabulary has as " +
              (control ? "a control token" : "a marker of the format") +
              ", so it cannot be written as text. Choose another "
              "name, or compile with markers=\"text\".",
          name.path};
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Marks::mark_of(Token id) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return std::nullopt;
  return found->second;
}

const Mark* Marks::spelled_at(
    std::string_view text,
    const std::function<bool(const Mark&)>& possible) const {
  for (const std::size_t length : lengths_) {
    if (length > text.size()) continue;
    const auto found = by_spelling_.find(std::string(text.substr(0, length)));
    if (found != by_spelling_.end() && possible(marks_[found->second])) {
      return &marks_[found->second];
    }
  }
  return nullptr;
}

std::vector<std::string> Marks::spellings() const {
  std::vector<std::string> out;
  for (const Mark& mark : marks_) out.push_back(mark.spelling);
  return out;
}

bool Marks::has_bytes(Token id) const {
  return vocabulary_.kind(id) != TokenKind::kControl;
}

std::vector<MarkedPiece> Marks::pieces(std::string_view marker,
                                       std::size_t from) const {
  std::vector<vocab::MarkerPiece> split = splitter_.split_rest(marker, from);
  // The mark at the end of a trigger includes white space as any other mark.
  std::vector<Token> before;
  if (from > 0) before = splitter_.split(marker.substr(0, from)).back().ids;
  std::vector<MarkedPiece> out;
  for (std::size_t i = 0; i < split.size(); ++i) {
    if (split[i].is_mark()) {
      out.push_back({split[i].text, by_spelling_.at(split[i].text)});
      const bool at_space = i + 1 < split.size() && split[i + 1].text[0] == ' ';
      if (vocabulary_.space_after_marks() && !at_space) {
        out.push_back({" ", std::nullopt, true, true});
      }
      continue;
    }
    std::string_view text = split[i].text;
    const std::vector<Token>& left = i > 0 ? split[i - 1].ids : before;
    if (std::ranges::any_of(
            left, [&](Token id) { return vocabulary_.strips_right(id); })) {
      const std::size_t end =
          std::min(text.find_first_not_of(base::kAsciiSpace), text.size());
      if (end > 0) {
        out.push_back({std::string(text.substr(0, end)), std::nullopt, true});
      }
      text.remove_prefix(end);
    }
    std::string_view after;
    if (i + 1 < split.size() &&
        std::ranges::any_of(split[i + 1].ids, [&](Token id) {
          return vocabulary_.strips_left(id);
        })) {
      const std::size_t last = text.find_last_not_of(base::kAsciiSpace);
      const std::size_t begin = last == std::string_view::npos ? 0 : last + 1;
      after = text.substr(begin);
      text = text.substr(0, begin);
    }
    if (!text.empty()) out.push_back({std::string(text), std::nullopt});
    if (!after.empty()) {
      out.push_back({std::string(after), std::nullopt, true});
    }
  }
  return out;
}

std::vector<std::vector<WordSymbol>> Marks::spellings(
    std::string_view marker) const {
  std::vector<std::vector<WordSymbol>> spellings(1);
  const auto append = [](std::vector<WordSymbol>& spelling,
                         std::string_view text) {
    for (const WordSymbol byte : byte_symbols(text)) spelling.push_back(byte);
  };
  for (const vocab::MarkerPiece& piece : splitter_.split(marker)) {
    if (!piece.is_mark()) {
      for (std::vector<WordSymbol>& spelling : spellings) {
        append(spelling, piece.text);
      }
      continue;
    }
    std::vector<std::vector<WordSymbol>> in_bytes;
    if (either() && 2 * spellings.size() <= kMaxSpellings) in_bytes = spellings;
    const WordSymbol mark = automata::mark_symbol(by_spelling_.at(piece.text));
    for (std::vector<WordSymbol>& spelling : spellings) {
      spelling.push_back(mark);
    }
    for (std::vector<WordSymbol>& spelling : in_bytes) {
      append(spelling, piece.text);
      spellings.push_back(std::move(spelling));
    }
  }
  return spellings;
}

Result<std::shared_ptr<const Marks>> marks_of(const Rules& rules,
                                              const MarkedFor& marked) {
  std::shared_ptr<const Marks> out;
  if (marked.markers == Markers::kText || !has_markers(rules)) return out;
  auto marks = std::make_shared<Marks>(marked.vocabulary, marked.markers);
  marks->add(rules);
  if (auto error = marks->check_names(rules)) return *std::move(error);
  if (!marks->empty()) out = std::move(marks);
  return out;
}

}  // namespace parlance::rules
