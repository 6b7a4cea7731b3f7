// Makes a mask with little memory, when a recogniser overflows while a mask is
// made in the usual way.
//
// Every token is read byte by byte, along the trie.  When the tables of the
// recogniser are full, an empty recogniser takes over, and only the
// configurations on the path to the current node are carried over.  So the
// memory is bounded by the room of one recogniser and the configurations on one
// path.

#include <algorithm>
#include <array>
#include <vector>

#include "base/work.h"
#include "mask/constraint_impl.h"

namespace parlance::mask {
namespace {

using recogniser::Configuration;
using recogniser::Recogniser;

// The configurations on the path to a node, beginning with that before the
// token, and the recogniser that they belong to.
class ReplaceableRecogniser {
 public:
  ReplaceableRecogniser(Recogniser& from, Configuration config)
      : path_{config} {
    move_from(from, 0);
  }

  // The result of `question`, repeated with more memory while the recogniser
  // overflows.
  template <class Question>
  auto retry(Question question) {
    for (std::size_t room = kRoom;; room *= 2) {
      {
        const Recogniser::Lock lock(*recogniser_);
        auto answer = question(*lock);
        if (!recogniser_->overflowed() || !sound()) return answer;
      }
      move_from(*recogniser_, room);
    }
  }
  // Keeps the first `depth` configurations and appends the one after `byte`.
  // Returns false if that is dead.
  bool step(std::size_t depth, std::uint8_t byte) {
    path_.resize(depth);
    bool full = false;
    const Configuration to = retry([&](Recogniser& used) {
      const Configuration next = used.step(path_.back(), byte);
      full = used.full();
      return next;
    });
    if (to.dead() || !sound()) return false;
    path_.push_back(to);
    if (full) move_from(*recogniser_, 0);
    return true;
  }
  // From the start of the token to the current node.
  const std::vector<Configuration>& path() const { return path_; }

  // Whether what was found counts: the question goes on, and no part is
  // spoiled.
  bool sound() const { return base::work_left() && !base::thread_work.spoiled; }

 private:
  static constexpr std::size_t kRoom = std::size_t{1} << 16;

  void move_from(Recogniser& full, std::size_t room) {
    std::vector<Configuration*> path;
    for (Configuration& one : path_) path.push_back(&one);
    const std::uint64_t repeated = base::thread_work.repeated;
    recogniser_ = full.renewed(room, path);
    base::limit_repeated(repeated);
  }

  std::shared_ptr<Recogniser> recogniser_;
  std::vector<Configuration> path_;
};

}  // namespace

void ConstraintImpl::fill_with_low_memory(const Position& position,
                                          std::span<std::uint32_t> row) {
  ReplaceableRecogniser recogniser(*position.in->recogniser, position.config);
  std::ranges::fill(row, 0);
  const auto put = [&](Id id, bool fits) {
    const std::uint32_t bit = std::uint32_t{1} << (id & 31);
    row[id >> 5] = fits ? row[id >> 5] | bit : row[id >> 5] & ~bit;
  };
  const vocab::TokenTrie& trie = compiler_->tables().trie();
  for (std::uint32_t i = 1; i < trie.node_count() && base::spend_work();) {
    const vocab::TrieNode node = trie.node(i);
    if (!recogniser.step(node.depth(), node.byte())) {
      i = node.subtree_end();
      continue;
    }
    trie.each_token(node, [&](Id id) { put(id, true); });
    ++i;
  }
  // Tokens that are read by their ids, or that only step_token() can decide.
  Recogniser::TokenIds ids;
  const auto size = static_cast<std::uint32_t>(compiler_->vocabulary().size());
  recogniser.retry([&](Recogniser& used) {
    used.token_ids(recogniser.path().front(), size, ids);
    return true;
  });
  for (const Id id : ids.accepted) {
    if (compiler_->vocabulary().kind(id) != TokenKind::kUnused) put(id, true);
  }
  for (const Id id : ids.undecided) {
    put(id, !recogniser
                 .retry([&](Recogniser& used) {
                   return used.step_token(recogniser.path().front(), {}, id);
                 })
                 .dead());
  }
}

}  // namespace parlance::mask
