// A mask in little memory.
//
// Every token is read byte by byte, along the trie.  When the tables of the
// recogniser are full, a fresh one takes over: of all that was met only the
// places on the way down to the node at hand are taken along.  So the memory
// is the recogniser's room and what as many places need as a token has bytes.

#include <algorithm>
#include <array>
#include <vector>

#include "mask/constraint_impl.h"

namespace parlance::mask {
namespace {

using recogniser::Configuration;
using recogniser::Recogniser;

// Places on the way to a node, the first of them where the token begins.
class Scratch {
 public:
  Scratch(Recogniser& from, Configuration config)
      : recogniser_(from.fresh(/*same_parts=*/true)), path_{config} {
    const Recogniser::Lock lock(*recogniser_);
    path_[0] = recogniser_->adopt(from, config);
  }

  // What `question` says, with enough memory.
  template <class Question>
  auto retry(Question question) {
    for (std::size_t room = kRoom;; room *= 2) {
      {
        const Recogniser::Lock lock(*recogniser_);
        auto answer = question(*recogniser_);
        if (!recogniser_->overflowed()) return answer;
      }
      renew(room);
    }
  }
  // Leaves the first `depth` and one where `byte` leads from the last of them;
  // false if it leads nowhere.
  bool step(std::size_t depth, std::uint8_t byte) {
    path_.resize(depth);
    bool full = false;
    const Configuration to = retry([&](Recogniser& used) {
      const Configuration next = used.step(path_.back(), byte);
      full = used.full();
      return next;
    });
    if (to.dead()) return false;
    path_.push_back(to);
    if (full) renew(0);
    return true;
  }
  // From the first place to the last.
  const std::vector<Configuration>& path() const { return path_; }

 private:
  static constexpr std::size_t kRoom = std::size_t{1} << 16;

  void renew(std::size_t room) {
    const std::shared_ptr<Recogniser> full = recogniser_;
    const Recogniser::Lock before(*full);
    recogniser_ = full->fresh(/*same_parts=*/true);
    recogniser_->widen(room);
    const Recogniser::Lock after(*recogniser_);
    for (Configuration& position : path_)
      position = recogniser_->adopt(*full, position);
  }

  std::shared_ptr<Recogniser> recogniser_;
  std::vector<Configuration> path_;
};

}  // namespace

void ConstraintImpl::fill_with_low_memory(const Position& position,
                                          std::span<std::uint32_t> row) {
  std::optional<Scratch> scratch;
  {
    const Recogniser::Lock lock(*position.in->recogniser);
    scratch.emplace(*position.in->recogniser, position.config);
  }
  std::ranges::fill(row, 0);
  const auto put = [&](Id id, bool fits) {
    const std::uint32_t bit = std::uint32_t{1} << (id & 31);
    row[id >> 5] = fits ? row[id >> 5] | bit : row[id >> 5] & ~bit;
  };
  const vocab::TokenTrie& trie = compiler_->tables().trie();
  for (std::uint32_t i = 1; i < trie.node_count();) {
    const vocab::TrieNode node = trie.node(i);
    if (!scratch->step(node.depth(), node.byte())) {
      i = node.subtree_end();
      continue;
    }
    trie.each_token(node, [&](Id id) { put(id, true); });
    ++i;
  }
  // Tokens that are not read by their bytes alone.
  std::vector<std::uint32_t> marks;
  std::vector<std::uint32_t> choices;
  const auto size = static_cast<std::uint32_t>(compiler_->vocabulary().size());
  scratch->retry([&](Recogniser& used) {
    marks.clear();
    choices.clear();
    used.token_marks(scratch->path().front(), size, marks);
    used.token_choices(scratch->path().front(), choices);
    return true;
  });
  for (const Id id : marks) {
    if (compiler_->vocabulary().kind(id) != TokenKind::kUnused) put(id, true);
  }
  for (const Id id : choices) {
    put(id, !scratch
                 ->retry([&](Recogniser& used) {
                   return used.step_token(scratch->path().front(), {}, id);
                 })
                 .dead());
  }
}

}  // namespace parlance::mask
