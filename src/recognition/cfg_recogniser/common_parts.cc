// Finds equal parts of sequences by a key: their expressions in preorder, with
// everything that decides which texts they match.

#include "cfg_recogniser/common_parts.h"

#include <cstring>
#include <string_view>
#include <type_traits>

namespace parlance::cfg_recogniser {

using rules::Expr;
using rules::ExprId;
using rules::ExprKind;

namespace {

// Every field has a fixed size, or its size before it, so different
// expressions have different keys.
template <class T>
void write(std::string& key, const T& value) {
  static_assert(std::is_trivially_copyable_v<T> &&
                std::has_unique_object_representations_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  key.append(bytes, sizeof(T));
}

void write_text(std::string& key, std::string_view text) {
  write(key, text.size());
  key += text;
}

}  // namespace

CommonParts::CommonParts(const rules::Rules& rules,
                         std::span<recogniser::Recogniser* const> schemas)
    : rules_(rules), schemas_(schemas) {
  for (ExprId id; id < rules.exprs.size(); ++id) {
    if (rules.exprs[id].kind == ExprKind::kSequence) find_part(id);
  }
}

const CommonParts::Part* CommonParts::of(ExprId id) const {
  const auto found = part_of_.find(id);
  if (found == part_of_.end() || count_[found->second.number] < 2) {
    return nullptr;
  }
  return &found->second;
}

// The first value of the sequence that stands between two literals, together
// with the literal after it.
void CommonParts::find_part(ExprId sequence) {
  const std::vector<ExprId>& children = rules_.exprs[sequence].children;
  const auto is_literal = [&](std::size_t i) {
    return rules_.exprs[children[i]].kind == ExprKind::kBytes;
  };
  for (std::size_t i = 1; i + 1 < children.size(); ++i) {
    if (is_literal(i) || !is_literal(i - 1) || !is_literal(i + 1)) continue;
    std::string key;
    if (!write_value(children[i], key)) continue;
    write_literal(rules_.exprs[children[i + 1]], key);
    const auto [entry, is_new] = number_of_.try_emplace(
        std::move(key), static_cast<std::uint32_t>(count_.size()));
    if (is_new) count_.push_back(0);
    ++count_[entry->second];
    part_of_.emplace(sequence,
                     Part{static_cast<std::uint32_t>(i), entry->second});
    return;
  }
}

void CommonParts::write_literal(const Expr& literal, std::string& key) const {
  write_text(key, rules_.texts[literal.index]);
  write(key, literal.marker == Expr::kNoMarker);
  if (literal.marker == Expr::kNoMarker) return;
  const rules::MarkerText& marker = rules_.markers[literal.marker];
  write_text(key, marker.text);
  write(key, marker.from);
  write(key, marker.exact);
}

// Writes the expressions of a value.  Returns false if it is too large, has
// expressions that are not compared, or reads nothing that is worth a rule: no
// free text, no schema and no other rule.
bool CommonParts::write_value(ExprId value, std::string& key) const {
  std::vector<ExprId> left = {value};
  std::size_t count = 0;
  bool worth = false;
  while (!left.empty()) {
    const Expr& expr = rules_.exprs[left.back()];
    left.pop_back();
    if (++count > kMostExprs) return false;
    write(key, expr.kind);
    switch (expr.kind) {
      case ExprKind::kEmpty:
      case ExprKind::kSequence:
      case ExprKind::kChoice:
        break;
      case ExprKind::kBytes:
        write_literal(expr, key);
        break;
      case ExprKind::kClass:
        write(key, rules_.classes[expr.index].ranges().size());
        for (const regex::CharRange& range :
             rules_.classes[expr.index].ranges()) {
          write(key, range.first);
          write(key, range.last);
        }
        break;
      case ExprKind::kRepeat:
        write(key, expr.min);
        write(key, expr.max);
        break;
      case ExprKind::kRule:
        write(key, expr.rule());
        worth = true;
        break;
      case ExprKind::kSchema:
        if (expr.index >= schemas_.size()) return false;
        write(key, schemas_[expr.index]);
        worth = true;
        break;
      case ExprKind::kFreeText: {
        const rules::FreeTextExpr& text = rules_.free_texts[expr.index];
        if (!text.triggers.empty()) return false;
        write(key, text.exclude_dfa.get());
        write(key, text.markers);
        write(key, text.excludes.size());
        for (const std::string& one : text.excludes) write_text(key, one);
        worth = true;
        break;
      }
      default:
        return false;
    }
    write(key, expr.children.size());
    left.insert(left.end(), expr.children.rbegin(), expr.children.rend());
    if (left.size() > kMostExprs) return false;
  }
  return worth;
}

}  // namespace parlance::cfg_recogniser
