#include "rendering/marks.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "automata/language.h"

namespace parlance::rendering {
namespace {

// Appends the texts in `text` that look like tokens: <...>, [...], without
// spaces, quotes and what else markup has that is no token.
void add_marks(std::string_view text, std::vector<std::string>& out) {
  constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
      {"<", ">"},
      {"[", "]"},
      {"\xE2\x97\x81", "\xE2\x96\xB7"}};  // U+25C1, 25B7
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const auto& [open, close] : kEnds) {
      if (!text.substr(i).starts_with(open)) continue;
      const std::size_t end = text.find(close, i + open.size());
      if (end == std::string_view::npos || end < i + open.size() + 2) continue;
      const std::string_view mark = text.substr(i, end + close.size() - i);
      if (mark.find_first_of(" \t\r\n\"'{}=\\,") != std::string_view::npos ||
          mark.find(open, open.size()) != std::string_view::npos) {
        continue;
      }
      out.emplace_back(mark);
    }
  }
}

void add_marks(const format::Delimiter& delimiter,
               std::vector<std::string>& out) {
  for (const std::string& text : delimiter.literals) add_marks(text, out);
  for (const regex::HirNode& node : delimiter.pattern.hir.nodes) {
    if (node.kind == regex::HirKind::kLiteral) add_marks(node.text, out);
  }
}

}  // namespace

FormatMarks::FormatMarks(const format::FormatImpl& format,
                         std::span<const std::string> written) {
  const format::Description& description = format.description;
  for (const format::Field& field : description.fields) {
    add_marks(field.open, texts_);
    add_marks(field.close, texts_);
    for (const auto& [open, close] : field.content.string_delims) {
      add_marks(open, texts_);
      add_marks(close, texts_);
    }
    for (const regex::HirNode& node : field.content.tag_pattern.hir.nodes) {
      if (node.kind == regex::HirKind::kLiteral) add_marks(node.text, texts_);
    }
  }
  add_marks(description.markup, texts_);
  add_marks(description.start_anchor, texts_);
  for (const std::string& text : format.family.reading.turn_end) {
    add_marks(text, texts_);
  }
  for (const format::ListedMark& mark : format.marks) {
    add_marks(mark.literal, texts_);
    if (mark.pattern.source.empty()) continue;
    automata::Languages languages;
    const auto spelled =
        languages.from_hir(mark.pattern.hir, automata::Languages::Mode::kWhole);
    std::vector<std::string> candidates;
    for (const std::string& text : written) add_marks(text, candidates);
    for (std::string& text : candidates) {
      if (spelled && languages.contains(*spelled, text)) {
        texts_.push_back(std::move(text));
      }
    }
  }
  std::ranges::sort(texts_, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  texts_.erase(std::unique(texts_.begin(), texts_.end()), texts_.end());
}

// The ids of the bytes come first, then those of texts_, in their order.
const Vocabulary& FormatMarks::vocabulary() {
  if (vocabulary_) return *vocabulary_;
  std::vector<TokenEntry> entries;
  const auto add = [&](std::string_view bytes, TokenKind kind) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = std::string(bytes),
                       .kind = kind});
  };
  for (int byte = 0; byte < 256; ++byte) {
    const char one = static_cast<char>(byte);
    add({&one, 1}, TokenKind::kOrdinary);
  }
  // Control tokens are no text where nothing searches for them.  Most
  // tokenizers have <|...|>, <\uFF5C...\uFF5C> and [...] as such.
  for (const std::string& mark : texts_) {
    const bool control = mark[0] == '[' || mark.starts_with("<|") ||
                         mark.starts_with("<\xEF\xBD\x9C");
    add(mark, control ? TokenKind::kControl : TokenKind::kAdded);
  }
  auto made = Vocabulary::from_table(entries, std::span<const TokenId>());
  vocabulary_ = *std::move(made);
  return *vocabulary_;
}

bool FormatMarks::touch(std::string_view text) const {
  return std::ranges::any_of(texts_, [&](std::string_view mark) {
    if (text.find(mark) != std::string_view::npos) return true;
    for (std::size_t i = 1; i < mark.size(); ++i) {
      if (text.ends_with(mark.substr(0, i)) ||
          text.starts_with(mark.substr(i))) {
        return true;
      }
    }
    return false;
  });
}

std::vector<TokenId> FormatMarks::encode(std::string_view text) const {
  std::vector<TokenId> out;
  while (!text.empty()) {
    std::size_t size = 1;
    auto id = static_cast<TokenId>(static_cast<unsigned char>(text[0]));
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (!text.starts_with(texts_[i])) continue;
      size = texts_[i].size();
      id = static_cast<TokenId>(256 + i);
      break;
    }
    out.push_back(id);
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace parlance::rendering
