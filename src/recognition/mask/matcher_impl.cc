// The configurations of one text: see matcher_impl.h.

#include "mask/matcher_impl.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/unwinding.h"
#include "base/utf8.h"
#include "mask/draft_tree.h"
#include "recogniser/text_reader.h"

namespace parlance::mask {

namespace {

// The words of the mask in `row`.  Clears the words after them.
std::span<std::uint32_t> mask_of(std::span<std::int32_t> row,
                                 std::size_t words) {
  std::ranges::fill(row.subspan(words), 0);
  // Signed and unsigned integers may alias each other.
  return {reinterpret_cast<std::uint32_t*>(row.data()), words};
}

// Compares owners, without locking the weak pointer.
bool is_of(const std::weak_ptr<Generation>& generation,
           const Position& position) {
  return !generation.owner_before(position.in) &&
         !position.in.owner_before(generation);
}

}  // namespace

MatcherImpl::MatcherImpl(std::shared_ptr<ConstraintImpl> constraint,
                         std::shared_ptr<const StopSet> stops)
    : constraint_(std::move(constraint)), stops_(std::move(stops)) {
  if (stops_ == nullptr) stops_ = constraint_->compiler().stops();
  reset();
}

// --- Limits ------------------------------------------------------------------

template <class Question>
auto MatcherImpl::ask(const Question& question)
    -> std::optional<decltype(question())> {
  // Tables that are never full stay spoiled.
  constexpr int kMostRounds = 8;
  const std::size_t size = history_.size();
  const bool terminated = terminated_;
  for (int round = 0;; ++round) {
    const base::Work work(constraint_->work_limit());
    auto answer = question();
    if (work.stopped()) {
      truncate(size);
      terminated_ = terminated;
      error_ = recogniser::stopped_error(work, bytes_read(steps()));
      error_at_ = steps();
      return std::nullopt;
    }
    if (!work.spoiled() || round == kMostRounds) return answer;
  }
}

std::size_t MatcherImpl::bytes_read(std::size_t steps) const {
  std::size_t bytes = 0;
  const CompilerImpl& compiler = constraint_->compiler();
  for (std::size_t i = 0; i < steps && i < input_.size(); ++i) {
    bytes += input_.is_token(i)
                 ? compiler.vocabulary().bytes(input_.token(i)).size()
                 : input_.bytes(i).size();
  }
  return bytes;
}

void MatcherImpl::truncate(std::size_t size) {
  history_.resize(size);
  input_.truncate(size - 1);
  captured_.truncate(size - 1);
  if (size > generation_begin_) return;
  const bool known = size > previous_begin_;
  generation_ = known ? previous_ : std::weak_ptr<Generation>();
  generation_begin_ = known ? previous_begin_ : size - 1;
  previous_.reset();
  previous_begin_ = generation_begin_;
}

bool MatcherImpl::is_over(const Position& position) {
  return stops_->ids().empty() && constraint_->can_end(position) &&
         constraint_->nothing_follows(position);
}

// --- Positions ---------------------------------------------------------------

Position MatcherImpl::here() {
  Position position{generation_.lock(), history_.back()};
  if (position.in == nullptr || position.in->full()) {
    return renew(position);
  }
  return position;
}

// The returned position keeps its generation alive, in case other threads leave
// that generation.
Position MatcherImpl::renew(const Position& last) {
  Position position = constraint_->move_to_newest(last, input_);
  const bool found = base::work_left() && !base::thread_work.spoiled;
  if (found && !position.dead()) move_to(position);
  return position;
}

void MatcherImpl::move_to(const Position& position) {
  history_.back() = position.config;
  if (is_of(generation_, position)) return;
  if (generation_begin_ + 1 < history_.size()) {
    previous_ = std::exchange(generation_, position.in);
    previous_begin_ = generation_begin_;
  } else {
    generation_ = position.in;
  }
  generation_begin_ = history_.size() - 1;
}

void MatcherImpl::push(const Position& position) {
  history_.push_back(position.config);
  if (!is_of(generation_, position)) renew(position);
  find_over();
}

// Without memory to find that out, the last step is undone.
void MatcherImpl::find_over() {
  over_ = 0;
  if (!stops_->ids().empty()) return;
  const base::OnUnwinding undo([&] { truncate(history_.size() - 1); });
  if (is_over(here())) over_ = history_.size();
}

// --- Masks -------------------------------------------------------------------

// Whether the mask excludes some token.
bool MatcherImpl::constrains(std::span<const std::int32_t> row) const {
  const std::span<const std::uint32_t> all =
      constraint_->compiler().all_tokens();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((static_cast<std::uint32_t>(row[i]) & all[i]) != all[i]) return true;
  }
  return false;
}

bool MatcherImpl::fill_bitmask(std::span<std::int32_t> row) {
  if (row.size() < constraint_->compiler().mask_words()) return false;
  if (is_terminated()) {
    std::ranges::fill(row, -1);
    return false;
  }
  if (!error_) {
    const auto some = ask([&] { return fill_node({.position = here()}, row); });
    if (some && !*some) {
      const auto why = ask([&] {
        return constraint_->no_token_error(here(), bytes_read(steps()));
      });
      if (why) error_ = *why;
      error_at_ = steps();
    }
  }
  if (error_) fill_stops(row);
  // After an error without stop tokens, which terminates the matcher.
  if (is_terminated()) std::ranges::fill(row, -1);
  return !is_terminated() && constrains(row);
}

void MatcherImpl::fill_stops(std::span<std::int32_t> row) const {
  const std::size_t words = constraint_->compiler().mask_words();
  std::ranges::fill(row, 0);
  const std::span<std::uint32_t> mask = mask_of(row, words);
  for (const Id id : stops_->ids()) {
    mask[id >> 5] |= std::uint32_t{1} << (id & 31);
  }
}

bool MatcherImpl::fill_if_known(std::span<std::int32_t> row) {
  const std::size_t words = constraint_->compiler().mask_words();
  if (is_terminated() || row.size() < words) {
    fill_bitmask(row);
    return true;
  }
  if (error_) {
    fill_stops(row);
    return true;
  }
  const std::optional<bool> filled = ask([&] {
    return constraint_->fill_if_known(here(), *stops_, mask_of(row, words));
  });
  if (!filled) fill_bitmask(row);
  return filled.value_or(true);
}

std::optional<KnownMask> MatcherImpl::known_mask() {
  if (error_) return std::nullopt;
  const auto find = [&] { return constraint_->known_mask(here(), *stops_); };
  return ask(find).value_or(std::nullopt);
}

bool MatcherImpl::can_end() {
  if (terminated_ || error_) return false;
  return ask([&] { return constraint_->can_end(here()); }).value_or(false);
}

std::optional<double> MatcherImpl::temperature() {
  if (terminated_ || error_ || !constraint_->has_temperatures()) {
    return default_;
  }
  const auto find = [&] { return temperature_at({.position = here()}); };
  return ask(find).value_or(default_);
}

// Null where the tokens before the node do not fit.
std::optional<double> MatcherImpl::temperature_at(const Node& node) {
  if (node.terminated) return default_;
  if (node.position.dead()) return std::nullopt;
  std::optional<double> own;
  if (constraint_->has_temperatures()) {
    own = constraint_->temperature(node.position);
  }
  return own ? own : default_;
}

bool MatcherImpl::fill_node(const Node& node, std::span<std::int32_t> row) {
  if (node.terminated) {
    std::ranges::fill(row, -1);
    return true;
  }
  if (node.position.dead()) {
    std::ranges::fill(row, 0);
    return true;
  }
  const std::span<std::uint32_t> mask =
      mask_of(row, constraint_->compiler().mask_words());
  return constraint_->fill(node.position, *stops_, mask);
}

// --- Steps -------------------------------------------------------------------

bool MatcherImpl::accept_token(Id id) {
  if (is_terminated()) return false;
  const std::size_t size = history_.size();
  std::optional<bool> accepted = false;
  if (!error_) {
    accepted = ask([&] {
      truncate(size);
      terminated_ = false;
      return accept_step(id);
    });
    if (!accepted) error_at_ = steps() + 1;
  }
  if (accepted.value_or(false) || !stops_->contains(id)) {
    return accepted.value_or(false);
  }
  // A stop token that does not fit ends a text that has an error.
  if (!error_ && !fails_here()) return false;
  terminated_ = true;
  stop_ = id;
  return true;
}

bool MatcherImpl::fails_here() {
  if (!tree_failed_) return false;
  std::vector<std::int32_t> row(constraint_->compiler().mask_words());
  fill_bitmask(row);
  return error_.has_value();
}

bool MatcherImpl::accept_step(Id id) {
  const Node from{.position = here()};
  if (id < constraint_->compiler().vocabulary().size() &&
      !stops_->contains(id) && !stops_->never_comes(id)) {
    if (const auto to = constraint_->read_token_here(from.position, id)) {
      if (to->dead()) return false;
      input_.reserve_step();
      history_.push_back(*to);
      input_.add(id);
      find_over();
      return true;
    }
  }
  const Node next = follow(from, id);
  if (next.position.dead()) return false;
  if (stops_->contains(id)) {
    terminated_ = true;
    stop_ = id;
  } else {
    const std::size_t size = history_.size();
    const base::OnUnwinding undo([&] { truncate(size); });
    input_.add(id);
    push(next.position);
  }
  return true;
}

std::size_t MatcherImpl::accept_tokens(std::span<const Id> ids) {
  std::size_t accepted = 0;
  while (accepted < ids.size() && accept_token(ids[accepted])) ++accepted;
  return accepted;
}

bool MatcherImpl::accept_bytes(std::string_view bytes) {
  if (terminated_ || error_) return false;
  const std::size_t size = history_.size();
  const base::OnUnwinding undo([&] { truncate(size); });
  const std::optional<bool> accepted = ask([&] {
    truncate(size);
    const Position next = constraint_->read(here(), bytes);
    if (next.dead()) return false;
    input_.add(bytes);
    push(next);
    return true;
  });
  if (!accepted) error_at_ = steps() + 1;
  return accepted.value_or(false);
}

bool MatcherImpl::rollback(std::size_t steps) {
  if (steps > this->steps()) return false;
  const std::size_t left = this->steps() - steps;
  // Before a step that read something the text was not over.
  bool over = over_ == history_.size();
  for (std::size_t i = left; over && i < input_.size(); ++i) {
    over = !input_.is_token(i) && input_.bytes(i).empty();
  }
  if (steps != 0) {
    terminated_ = false;
    truncate(left + 1);
  }
  if (left < error_at_) error_.reset();
  over_ = over ? left + 1 : 0;
  return true;
}

void MatcherImpl::reset() {
  const std::shared_ptr<Generation> now = constraint_->newest_generation();
  history_.assign(1, now->start);
  input_.truncate(0);
  captured_.truncate(0);
  generation_ = now;
  previous_.reset();
  generation_begin_ = previous_begin_ = 0;
  terminated_ = tree_failed_ = false;
  error_.reset();
  over_ = 0;
  if (!stops_->ids().empty()) return;
  const auto over = ask([&] { return is_over(here()); });
  if (over.value_or(false)) over_ = 1;
}

// --- Captures ----------------------------------------------------------------

// A stop token belongs to the text only if it is a mark with which the text
// ends.
Result<std::vector<RuleCapture>> MatcherImpl::captures(
    const Interrupt& interrupt) {
  if (constraint_->captures() == nullptr) return std::vector<RuleCapture>();
  std::optional<Id> end;
  if (terminated_ && !error_) {
    const auto before = ask([&] { return constraint_->can_end(here()); });
    if (!before.value_or(true)) end = stop_;
  }
  return captured_.read(*constraint_, input_, end, interrupt);
}

Result<std::vector<RuleCapture>> CaptureProgress::read(
    ConstraintImpl& constraint, const InputLog& input, std::optional<Id> end,
    const Interrupt& interrupt) {
  const base::OnUnwinding drop([&] {
    reader_.reset();
    steps_ = 0;
  });
  if (reader_ == nullptr || reader_->worn()) {
    if (readers_ == nullptr) readers_ = constraint.captures();
    auto reader = reader_ == nullptr ? readers_->acquire() : readers_->make();
    if (!reader) return std::move(reader).error();
    reader_ = *std::move(reader);
    steps_ = 0;
  }
  if (auto error = catch_up(constraint, input, end, interrupt)) {
    return *std::move(error);
  }
  auto found = reader_->captures();
  reader_->truncate(steps_);
  return found;
}

std::optional<Error> CaptureProgress::catch_up(ConstraintImpl& constraint,
                                               const InputLog& input,
                                               std::optional<Id> end,
                                               const Interrupt& interrupt) {
  const CompilerImpl& compiler = constraint.compiler();
  const auto read_token = [&](Id id) {
    return reader_->feed(id, compiler.text(id), compiler.vocabulary().bytes(id),
                         interrupt);
  };
  reader_->truncate(steps_);
  while (steps_ < input.size()) {
    auto error = input.is_token(steps_)
                     ? read_token(input.token(steps_))
                     : reader_->feed(input.bytes(steps_), interrupt);
    if (error) return error;
    ++steps_;
  }
  return end ? read_token(*end) : std::nullopt;
}

// --- Forced tokens -----------------------------------------------------------

std::string MatcherImpl::forced_bytes(std::size_t limit) {
  std::string bytes;
  if (terminated_ || error_) return bytes;
  Position end;
  const auto pieces =
      ask([&] { return constraint_->forced(here(), limit, &end); });
  if (!pieces) return bytes;
  for (const ConstraintImpl::Forced& piece : *pieces) bytes += piece.text;
  return bytes;
}

// Tokenizes the forced pieces (ConstraintImpl::forced).  Only tokens that are
// certain are returned: at the end of the last piece, a token is dropped if a
// longer token could replace it together with what comes next.
std::vector<Id> MatcherImpl::forced_tokens() {
  if (terminated_ || error_) return {};
  return ask([&] { return find_forced_tokens(); }).value_or(std::vector<Id>());
}

std::vector<Id> MatcherImpl::find_forced_tokens() {
  constexpr std::size_t kLimit = 4096;
  std::vector<Id> tokens;
  Position end;
  Position at = here();
  const std::vector<ConstraintImpl::Forced> pieces =
      constraint_->forced(at, kLimit, &end);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const ConstraintImpl::Forced& piece = pieces[i];
    std::vector<Id> ids;
    if (piece.mark) {
      ids.push_back(*piece.mark);
    } else {
      ids = tokens_of(piece.text, i + 1 == pieces.size(), end);
    }
    std::size_t size = 0;
    for (const Id id : ids) {
      if (stops_->contains(id) || stops_->never_comes(id)) return tokens;
      at = constraint_->read_token(at, id);
      if (at.dead()) return tokens;
      tokens.push_back(id);
      size += constraint_->compiler().vocabulary().bytes(id).size();
    }
    if (!piece.mark && size != piece.text.size()) break;
  }
  return tokens;
}

// The tokens of `text`, up to where they are certain.  `last`: what follows
// `text` at `end` is not forced.
//
// With an encoder, the tokens are those that the encoder returns.  An encoder
// reads text, and the rest of a character after a token that ends inside it is
// not text. There, and without an encoder, a token is certain if it is the only
// token that is a prefix of the rest.
std::vector<Id> MatcherImpl::tokens_of(std::string_view text, bool last,
                                       const Position& end) {
  const bool encodes = !!constraint_->compiler().vocabulary().encoder();
  const vocab::TokenTrie& trie = constraint_->compiler().tables().trie();
  std::vector<Id> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (encodes && base::is_utf8(text.substr(at))) {
      const std::vector<Id> rest = encoded(text.substr(at), last, end);
      tokens.insert(tokens.end(), rest.begin(), rest.end());
      break;
    }
    std::uint32_t node = 0;
    std::size_t i = at;
    Id only = vocab::kNoToken;
    std::size_t only_end = at;
    std::size_t found = 0;
    while (i < text.size() && found < 2) {
      const std::uint32_t child =
          trie.child(node, static_cast<std::uint8_t>(text[i]));
      if (child == 0) break;
      node = child;
      ++i;
      trie.each_token(trie.node(node), [&](Id id) {
        only = id;
        only_end = i;
        ++found;
      });
    }
    // A longer token may contain the end of the text.
    const bool beyond = last && i == text.size() && found < 2 &&
                        constraint_->any_below(node, end);
    if (found != 1 || beyond) break;
    tokens.push_back(only);
    at = only_end;
  }
  return tokens;
}

std::vector<Id> MatcherImpl::encoded(std::string_view text, bool last,
                                     const Position& end) {
  const Vocabulary& vocabulary = constraint_->compiler().vocabulary();
  std::vector<Id> tokens = vocabulary.encoder()(text);
  std::size_t size = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view bytes = vocabulary.bytes(tokens[i]);
    if (bytes.empty() || text.substr(size, bytes.size()) != bytes) {
      // The encoder changed the text.  Nothing after this is certain.
      tokens.resize(i);
      return tokens;
    }
    size += bytes.size();
  }
  if (!last) return tokens;
  // What follows may be merged with the end of the text to one longer token,
  // which begins where some token `i` begins.  The smallest such `i` ends what
  // is certain.
  const vocab::TokenTrie& trie = constraint_->compiler().tables().trie();
  std::size_t certain = tokens.size();
  std::size_t begin = size;
  for (std::size_t i = tokens.size(); i-- > 0;) {
    begin -= vocabulary.bytes(tokens[i]).size();
    const std::string_view rest = text.substr(begin);
    if (rest.size() >= vocab::kMaxTokenBytes) break;
    std::uint32_t node = 0;
    for (const char byte : rest) {
      node = trie.child(node, static_cast<std::uint8_t>(byte));
      if (node == 0) break;
    }
    if (node != 0 && constraint_->any_below(node, end)) certain = i;
  }
  tokens.resize(certain);
  return tokens;
}

// --- Draft trees -------------------------------------------------------------

MatcherImpl::Node MatcherImpl::follow(const Node& from, std::int64_t token) {
  const CompilerImpl& compiler = constraint_->compiler();
  if (from.terminated || from.position.dead() || token < 0 ||
      static_cast<std::uint64_t>(token) >= compiler.vocabulary().size()) {
    return {};
  }
  const Id id = static_cast<Id>(token);
  if (stops_->contains(id)) {
    if (!constraint_->can_stop(from.position, id)) return {};
    return {.position = from.position, .terminated = true};
  }
  if (stops_->never_comes(id)) return {};
  const Position to = constraint_->read_token(from.position, id);
  return {.position = to, .terminated = !to.dead() && is_over(to)};
}

// A walk over a draft tree in preorder, on a stack.
//
// Invariant: `left_` has the first of the siblings that are not visited yet at
// each depth, with the state before its token.
class MatcherImpl::TreeWalk {
 public:
  TreeWalk(MatcherImpl& matcher, const DraftTree& tree)
      : matcher_(matcher), tree_(tree), parent_(tree.tokens.size()) {
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      for (auto child = tree.first_child[i]; child >= 0;
           child = tree.next_sibling[static_cast<std::size_t>(child)]) {
        parent_[static_cast<std::size_t>(child)] = i;
      }
    }
  }

  // The number of nodes that were visited before `limit`; 0: no limit.
  std::size_t run(std::chrono::nanoseconds limit);

 private:
  Node root() const {
    return {.position = matcher_.here(),
            .terminated = matcher_.is_terminated()};
  }
  Node read_again(std::size_t node) const;
  // Returns false if no token fits.
  bool visit(std::size_t node, const Node& position);
  template <class Find>
  void visit_within(std::size_t node, const Find& find);
  std::span<std::int32_t> row(std::size_t node) const {
    return tree_.buffer.subspan(node * tree_.stride, tree_.stride);
  }

  MatcherImpl& matcher_;
  const DraftTree& tree_;
  std::vector<std::size_t> parent_;
  std::vector<std::pair<std::size_t, Node>> left_;
  std::size_t visited_ = 0;
};

// The state after a node, read again from the root.
MatcherImpl::Node MatcherImpl::TreeWalk::read_again(std::size_t node) const {
  std::vector<std::size_t> path;
  for (; node != 0; node = parent_[node]) path.push_back(node);
  Node at = root();
  for (; !path.empty(); path.pop_back()) {
    at = matcher_.follow(at, tree_.tokens[path.back()]);
  }
  return at;
}

bool MatcherImpl::TreeWalk::visit(std::size_t node, const Node& position) {
  if (!matcher_.fill_node(position, row(node))) return false;
  if (position.terminated && tree_.clear_ended) {
    std::ranges::fill(row(node), 0);
  }
  if (!tree_.temperatures.empty()) {
    tree_.temperatures[node] = static_cast<float>(
        matcher_.temperature_at(position).value_or(std::nan("")));
  }
  return true;
}

// Visits the node that `find` leads to.  An error is one of the node, not of
// the matcher: a matcher that reads the same tokens meets it there.
template <class Find>
void MatcherImpl::TreeWalk::visit_within(std::size_t node, const Find& find) {
  ++visited_;
  Node position;
  bool found = false;
  const auto filled = matcher_.ask([&] {
    found = false;
    position = find();
    found = !base::thread_work.spoiled && base::work_left();
    return visit(node, position);
  });
  if (!filled.value_or(false)) {
    matcher_.error_.reset();  // the temperature is NaN
    matcher_.tree_failed_ = true;
    // Where the token itself could not be read, it is not allowed.
    if (found) {
      matcher_.fill_stops(row(node));
    } else {
      std::ranges::fill(row(node), 0);
    }
    position = {};  // no token is allowed after it
  }
  if (tree_.first_child[node] < 0) return;
  left_.emplace_back(static_cast<std::size_t>(tree_.first_child[node]),
                     position);
}

std::size_t MatcherImpl::TreeWalk::run(std::chrono::nanoseconds limit) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kNodesPerLook = 4;  // at the clock
  const bool limited = limit > std::chrono::nanoseconds(0);
  const Clock::time_point begin =
      limited ? Clock::now() : Clock::time_point::min();
  // A tree may take as much as a few masks.
  constexpr std::uint64_t kMostMasks = 8;
  const base::Work work_of_all(kMostMasks * matcher_.constraint_->work_limit());
  visit_within(0, [this] { return root(); });
  while (!left_.empty()) {
    if (limited && visited_ % kNodesPerLook == 1 &&
        Clock::now() - begin >= limit) {
      break;
    }
    const auto [node, before] = left_.back();
    left_.pop_back();
    if (tree_.next_sibling[node] >= 0) {
      left_.emplace_back(static_cast<std::size_t>(tree_.next_sibling[node]),
                         before);
    }
    // A node that failed has spoiled the recogniser of the nodes before it.
    visit_within(node, [&, node = node, &before = before] {
      return before.position.in != nullptr && before.position.in->overflowed()
                 ? read_again(node)
                 : matcher_.follow(before, tree_.tokens[node]);
    });
  }
  return visited_;
}

// After an error only the first node has a mask, that of the matcher.
void MatcherImpl::fill_failed_tree(const DraftTree& tree) {
  for (std::size_t i = 0; i < tree.tokens.size(); ++i) {
    std::ranges::fill(tree.buffer.subspan(i * tree.stride, tree.stride), 0);
  }
  fill_bitmask(tree.buffer.first(tree.stride));
  if (!tree.temperatures.empty() && default_) {
    tree.temperatures[0] = static_cast<float>(*default_);
  }
}

std::size_t MatcherImpl::fill_tree(std::span<const std::int64_t> first_child,
                                   std::span<const std::int64_t> next_sibling,
                                   std::span<const std::int64_t> tokens,
                                   std::span<std::int32_t> buffer,
                                   std::size_t stride,
                                   std::chrono::nanoseconds limit,
                                   std::span<float> temperatures,
                                   bool clear_ended) {
  const std::size_t words = constraint_->compiler().mask_words();
  const std::size_t count = tokens.size();
  if (stride == 0) stride = words;
  if (stride < words ||
      buffer.size() / std::max<std::size_t>(stride, 1) < count ||
      (!temperatures.empty() && temperatures.size() < count) ||
      check_draft_tree(first_child, next_sibling, tokens)) {
    return 0;
  }
  std::ranges::fill(temperatures, std::nanf(""));
  const DraftTree tree{.first_child = first_child,
                       .next_sibling = next_sibling,
                       .tokens = tokens,
                       .buffer = buffer,
                       .stride = stride,
                       .temperatures = temperatures,
                       .clear_ended = clear_ended};
  if (error_) {
    fill_failed_tree(tree);
    return count;
  }
  return TreeWalk(*this, tree).run(limit);
}

}  // namespace parlance::mask
