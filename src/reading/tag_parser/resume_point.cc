// Builds resume points (resume_point.h), and searches for them in a text that
// does not fit.

#include "tag_parser/resume_point.h"

#include <algorithm>

#include "base/ascii.h"
#include "tag_parser/pike_vm.h"
#include "tag_parser/program.h"

namespace parlance::tag_parser {

// --- Building ----------------------------------------------------------------

std::string_view distinctive_end(std::string_view marker) {
  const bool word = std::any_of(marker.begin(), marker.end(), [](char c) {
    return base::is_letter(c) || base::is_digit(c);
  });
  if (!word) return "";
  return marker.substr(marker.find_first_not_of(" \t\r\n\"')]}"));
}

std::vector<std::uint32_t> spelled_depths(
    const automata::AhoCorasick& automaton, const rules::Marks* marks) {
  std::vector<std::uint32_t> out(automaton.nodes.size(), 0);
  // A node of a trie that is not linked comes after its parent.
  for (std::size_t node = 0; node < out.size(); ++node) {
    for (const auto& [symbol, next] : automaton.nodes[node].next) {
      out[next] = out[node] +
                  static_cast<std::uint32_t>(spelling(marks, symbol).size());
    }
  }
  return out;
}

void finish_resume_point(
    ResumePoint& point, std::span<const std::vector<automata::WordSymbol>> ends,
    const rules::Marks* marks) {
  automata::AhoCorasick& automaton = point.automaton;
  point.ends = static_cast<std::uint32_t>(point.targets.size());
  for (const std::vector<automata::WordSymbol>& word : ends) {
    auto& calls = automaton.nodes[automaton.insert(word)].calls;
    if (calls.empty()) calls.push_back(point.ends);
  }
  std::sort(point.token_ends.begin(), point.token_ends.end());
  point.matched_bytes = spelled_depths(automaton, marks);
  point.trigger_bytes.resize(point.ends);
  for (std::size_t node = 0; node < automaton.nodes.size(); ++node) {
    for (const std::uint32_t call : automaton.nodes[node].calls) {
      if (call < point.ends) {
        point.trigger_bytes[call] = point.matched_bytes[node];
      }
    }
  }
  automaton.link();
}

// A depth-first search of the instructions.  The number of enclosing counts is
// the same on every path to an instruction, because a repeat is entered by its
// kCountFrom and left by its kCountEnd alone; so each instruction is visited
// once.
void find_count_depths(TagProgram& program) {
  constexpr std::uint32_t kUnknown = kUnbounded;
  std::vector<std::uint32_t> depth(program.code.size(), kUnknown);
  std::vector<Pc> left = {program.start};
  depth[program.start] = 0;
  const auto lead = [&](Pc to, std::uint32_t there) {
    if (to == kNoPc || depth[to] != kUnknown) return;
    depth[to] = there;
    left.push_back(to);
  };
  while (!left.empty()) {
    const Pc pc = left.back();
    left.pop_back();
    const Instruction& at = program.code[pc];
    std::uint32_t there = depth[pc];
    switch (at.op) {
      case Op::kFork:
      case Op::kCountTest:
        for (const Pc way : program.forks[at.index]) lead(way, there);
        continue;
      case Op::kTextToTrigger:
        for (const auto& targets : program.free_texts[at.index].targets) {
          for (const Pc target : targets) lead(target, there);
        }
        continue;
      case Op::kTokensToTrigger:
        for (const auto& [id, targets] :
             program.token_texts[at.index].targets) {
          for (const Pc target : targets) lead(target, there);
        }
        continue;
      case Op::kAccept:
        continue;
      case Op::kCountFrom:
        ++there;
        break;
      case Op::kCountEnd:
        --there;
        break;
      default:
        break;
    }
    lead(at.next, there);
    lead(at.other, there);
  }
  std::erase_if(program.resume_points, [&](const ResumePoint& point) {
    return depth[point.free_text] == kUnknown;
  });
  for (ResumePoint& point : program.resume_points) {
    point.count_depth = depth[point.free_text];
  }
}

// --- Searching ---------------------------------------------------------------

std::optional<ResumeSearch::Match> ResumeSearch::scan_symbol(
    automata::WordSymbol symbol, std::size_t bytes) {
  const automata::AhoCorasick& words = point_->automaton;
  position_ += bytes;
  std::uint32_t node = words.step(node_, symbol);
  // Refused: the symbol is a mark of no word, or the word that has begun
  // contains a mark and does not continue so.  The search starts again.
  if (node == automata::AhoCorasick::kRefused) node = words.step(0, symbol);
  if (node == automata::AhoCorasick::kRefused) node = 0;
  node_ = node;
  if (words.nodes[node].calls.empty()) return std::nullopt;
  const std::uint32_t call = words.nodes[node].calls.front();
  if (call >= point_->ends) return Match{{&point_->free_text, 1}, position_};
  return Match{point_->targets[call], position_ - point_->trigger_bytes[call]};
}

std::optional<ResumeSearch::Match> ResumeSearch::scan_bytes(
    std::string_view bytes) {
  for (const char c : bytes) {
    if (auto match = scan_symbol(static_cast<std::uint8_t>(c), 1)) return match;
  }
  return std::nullopt;
}

ResumeSearch::TokenResult ResumeSearch::scan_token(const Token& token) {
  const std::size_t size = token.text.size();
  const auto target = point_->token_targets.find(token.id);
  if (target != point_->token_targets.end()) {
    const std::uint64_t begin = position_;
    position_ += size;
    return {true, Match{target->second, begin, size}};
  }
  if (std::ranges::binary_search(point_->token_ends, token.id)) {
    position_ += size;
    return {true, Match{{&point_->free_text, 1}, position_, size}};
  }
  if (token.mark != kNoMark) {
    return {true, scan_symbol(automata::mark_symbol(token.mark), size)};
  }
  if (token.is_text) return {};
  // A control token is no text, and interrupts any word.
  position_ += size;
  node_ = 0;
  return {true};
}

}  // namespace parlance::tag_parser
