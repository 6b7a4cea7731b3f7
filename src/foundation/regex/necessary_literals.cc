// A node has an exact set, all texts that it matches, if there are few of them,
// and a best set, one of whose texts each match contains.  A concatenation
// multiplies the exact sets of its children as long as it can; each product
// that ends before a child without an exact set is a candidate for the best
// set.  This is the prefilter of Cox, "Regular Expression Matching with a
// Trigram Index" (2012), with texts in place of trigrams.

#include "regex/necessary_literals.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/utf8.h"

namespace parlance::regex {
namespace {

using Texts = std::vector<std::string>;

// Exact sets beyond these sizes are given up.
constexpr std::size_t kMostTexts = 16;
constexpr std::size_t kMostBytes = 512;

struct Info {
  std::optional<Texts> exact = std::nullopt;
  std::optional<NecessaryLiterals> best = std::nullopt;
};

void sort_unique(Texts& texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
}

// `texts` without those that contain another one; nothing if one is empty.
std::optional<NecessaryLiterals> candidate(Texts texts, bool ahead) {
  sort_unique(texts);
  Texts kept;
  for (const std::string& text : texts) {
    if (text.empty()) return std::nullopt;
    const bool redundant =
        std::any_of(texts.begin(), texts.end(), [&](const std::string& other) {
          return other.size() < text.size() &&
                 text.find(other) != std::string::npos;
        });
    if (!redundant) kept.push_back(text);
  }
  return NecessaryLiterals{std::move(kept), ahead};
}

// Replaces `best` by `next`, which comes after it in the pattern, if `next` is
// better.
void improve(std::optional<NecessaryLiterals>& best,
             std::optional<NecessaryLiterals> next) {
  if (!next) return;
  if (best && (best->shortest() >= kLongLiteral ||
               best->shortest() >= next->shortest())) {
    return;
  }
  best = std::move(next);
}

std::optional<Texts> product(const Texts& left, const Texts& right) {
  if (left.size() * right.size() > kMostTexts) return std::nullopt;
  Texts out;
  std::size_t bytes = 0;
  for (const std::string& a : left) {
    for (const std::string& b : right) {
      out.push_back(a + b);
      bytes += out.back().size();
    }
  }
  if (bytes > kMostBytes) return std::nullopt;
  sort_unique(out);
  return out;
}

class Walk {
 public:
  Walk(const Hir& hir, bool inside) : inside_(inside) {
    of_.reserve(hir.nodes.size());
    for (const HirNode& node : hir.nodes) of_.push_back(info(node));
  }

  // Invariant of the loop: `run` has all texts that the children since the
  // last one without an exact set match.
  Info concat(std::span<const HirId> children) const {
    Info out;
    Texts run = {""};
    bool exact = true;
    const auto cut = [&](bool ahead) {
      improve(out.best, candidate(run, ahead));
      run = {""};
    };
    for (const HirId child : children) {
      const Info& part = of_[child];
      if (part.exact && part.exact->empty()) {
        return Info{Texts{}, NecessaryLiterals{}};  // matches nothing
      }
      if (part.exact) {
        if (auto longer = product(run, *part.exact)) {
          run = std::move(*longer);
          continue;
        }
      }
      exact = false;
      cut(false);
      improve(out.best, part.best);
      if (part.exact) run = *part.exact;
    }
    if (exact) out.exact = run;
    cut(false);
    return out;
  }

  const Info& root() const { return of_.back(); }

 private:
  Info info(const HirNode& node) const {
    switch (node.kind) {
      case HirKind::kEmpty:
        return exactly({""});
      case HirKind::kNothing:
        return exactly({});
      case HirKind::kLiteral:
        return exactly({node.text});
      case HirKind::kClass:
        return of_class(node.char_class);
      case HirKind::kConcat:
        return concat(node.children);
      case HirKind::kAlternation:
      case HirKind::kConditional:
        return alternation(node);
      case HirKind::kRepeat:
        return repeat(node);
      case HirKind::kCapture:
      case HirKind::kAtomic:
        return of_[node.children[0]];
      case HirKind::kAssert: {
        const bool at_end = node.assertion == Assertion::kTextEnd ||
                            node.assertion == Assertion::kTextEndNewline;
        return inside_ && at_end ? exactly({}) : exactly({""});
      }
      case HirKind::kLook:
        return look(node);
      case HirKind::kBackref:
        return Info{};
    }
    return Info{};
  }

  static Info exactly(Texts texts) {
    return Info{texts, candidate(texts, false)};
  }

  static Info of_class(const CharClass& set) {
    Texts texts;
    for (const CharRange& range : set.ranges()) {
      for (char32_t c = range.first; c <= range.last; ++c) {
        if (texts.size() == 4) return Info{};
        std::string text;
        base::append_utf8(text, c);
        texts.push_back(std::move(text));
      }
    }
    return exactly(std::move(texts));
  }

  // An alternative that matches nothing counts for nothing.
  Info alternation(const HirNode& node) const {
    Info out;
    out.exact = Texts{};
    out.best = NecessaryLiterals{};
    Texts all;
    bool ahead = false;
    for (const HirId child : node.children) {
      const Info& part = of_[child];
      if (out.exact && part.exact &&
          out.exact->size() + part.exact->size() <= kMostTexts) {
        out.exact->insert(out.exact->end(), part.exact->begin(),
                          part.exact->end());
      } else {
        out.exact = std::nullopt;
      }
      if (out.best && part.best) {
        all.insert(all.end(), part.best->texts.begin(), part.best->texts.end());
        ahead = ahead || part.best->ahead;
      } else {
        out.best = std::nullopt;
      }
    }
    // Without an alternative for the case that the group did not match.
    if (node.kind == HirKind::kConditional && node.children.size() < 2) {
      out.best = std::nullopt;
      if (out.exact) out.exact->push_back("");
    }
    if (out.best) out.best = candidate(std::move(all), ahead);
    if (out.exact) sort_unique(*out.exact);
    return out;
  }

  Info repeat(const HirNode& node) const {
    const Info& part = of_[node.children[0]];
    if (node.max == 0) return exactly({""});
    if (node.min == 1 && node.max == 1) return part;
    if (node.min == 0 && node.max == 1 && part.exact &&
        part.exact->size() < kMostTexts) {
      Texts texts = *part.exact;
      texts.push_back("");
      sort_unique(texts);
      return Info{std::move(texts), std::nullopt};
    }
    if (node.min == 0) return Info{};
    return Info{std::nullopt, part.best};
  }

  // The text ahead is not a part of the match: what follows the look-ahead in
  // the pattern does not follow its text.  So it has no exact set, unless it
  // matches nothing.
  Info look(const HirNode& node) const {
    const Info& part = of_[node.children[0]];
    if (node.negative) return exactly({""});
    if (part.exact && part.exact->empty()) return exactly({});
    Info out{std::nullopt, part.best};
    if (out.best) out.best->ahead = true;
    return out;
  }

  bool inside_;
  std::vector<Info> of_;  // by node
};

// Whether the node may match the empty text without regard to where.
bool optional_part(const HirNode& node) {
  return node.kind == HirKind::kEmpty || node.kind == HirKind::kAssert ||
         (node.kind == HirKind::kRepeat && node.min == 0) ||
         (node.kind == HirKind::kLook && node.negative);
}

}  // namespace

std::size_t NecessaryLiterals::shortest() const {
  std::size_t size = std::numeric_limits<std::size_t>::max();
  for (const std::string& text : texts) size = std::min(size, text.size());
  return size;
}

std::optional<NecessaryLiterals> necessary_literals(const Hir& hir,
                                                    bool inside) {
  return Walk(hir, inside).root().best;
}

std::optional<NecessaryLiterals> necessary_literals(
    const Hir& hir, std::span<const HirId> concatenation, bool inside) {
  return Walk(hir, inside).concat(concatenation).best;
}

std::vector<std::string> optional_first_literals(const Hir& hir) {
  std::vector<std::string> out;
  std::vector<HirId> left = {static_cast<HirId>(hir.nodes.size() - 1)};
  while (!left.empty()) {
    const HirNode& node = hir.nodes[left.back()];
    left.pop_back();
    if (node.kind == HirKind::kAlternation || node.kind == HirKind::kCapture) {
      left.insert(left.end(), node.children.begin(), node.children.end());
    }
    if (node.kind != HirKind::kConcat) continue;
    // The parts up to the first one that is not optional.
    for (const HirId child : node.children) {
      const HirNode& part = hir.nodes[child];
      if (!optional_part(part)) break;
      if (part.kind != HirKind::kRepeat) continue;
      const auto found = necessary_literals(hir, std::span(part.children));
      if (!found) continue;
      for (const std::string& text : found->texts) {
        if (text.size() >= 4) out.push_back(text);
      }
    }
  }
  return out;
}

}  // namespace parlance::regex
