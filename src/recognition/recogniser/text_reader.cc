// See text_reader.h.

#include "recogniser/text_reader.h"

#include <utility>

#include "base/unwinding.h"

namespace parlance::recogniser {

namespace {

Error spoiled_error(std::size_t offset) {
  return Error{.code = ErrorCode::kTooLarge,
               .message = "What may follow after byte " +
                          std::to_string(offset) +
                          " of the text was asked again and again, because "
                          "other questions about the grammar were stopped by "
                          "GrammarLimits::work meanwhile."};
}

}  // namespace

Error stopped_error(const base::Work& work, std::size_t offset) {
  std::string message =
      "What may follow after byte " + std::to_string(offset) + " of the text";
  if (!work.place().empty()) message += " (in " + work.place() + ")";
  message += " takes more than GrammarLimits::";
  message += work.why() == base::WorkStop::kSteps ? "steps" : "work";
  message += ", which is " + std::to_string(work.passed()) + ".";
  return Error{.code = ErrorCode::kTooLarge, .message = std::move(message)};
}

TextReader::TextReader(std::shared_ptr<Language> language, std::uint64_t work)
    : language_(std::move(language)),
      recogniser_(language_->with_room()),
      work_(work),
      config_(recogniser_->start()) {}

template <class Step>
bool TextReader::within(std::uint64_t limit, const Step& step) const {
  base::WorkStop why = base::WorkStop::kNone;
  std::uint64_t passed = 0;
  std::string place;
  {
    const base::Work work(limit);
    step();
    if (!work.stopped()) return true;
    why = work.why();
    passed = work.passed();
    place = work.place();
  }
  base::note_place([&] { return place; });
  base::stop_work(why, passed);
  return false;
}

// A round that reads more of the text is not counted, so there are at most
// kMostRounds per byte, and each costs what the move of a configuration does.
template <class Question>
auto TextReader::ask(const Question& question) -> decltype(question()) {
  constexpr int kMostRounds = 8;
  const std::size_t known = read_;
  std::size_t furthest = read_;
  for (int round = 0; round < kMostRounds; ++round) {
    const base::Work work(base::ThreadWork::kUnlimited);
    // What was read within the limit before is not limited again.
    if (read_ < known) read_on(known, base::ThreadWork::kUnlimited);
    auto answer = question();
    if (work.stopped()) {
      if (!error_) error_ = stopped_error(work, read_);
      return answer;
    }
    if (read_ >= known && !spoiled()) return answer;
    if (read_ > furthest) {
      furthest = read_;
      round = 0;
    }
    if (!change_tables()) break;
  }
  if (!error_) error_ = spoiled_error(read_);
  return {};
}

bool TextReader::spoiled() const {
  const Recogniser::Lock lock(*recogniser_);
  return recogniser_->spoiled();
}

// The configurations of spoiled tables are right, and are moved.  Those of
// broken tables are lost: the text is read again.
bool TextReader::change_tables() {
  std::shared_ptr<Recogniser> next = language_->with_room();
  if (next == recogniser_) return false;
  Configuration config = config_;
  Configuration* const moved = &config;
  Recogniser::move(*recogniser_, *next, {&moved, 1});
  if (config.dead()) {
    config = next->start();
    read_ = 0;
  }
  recogniser_ = std::move(next);
  config_ = config;
  return true;
}

std::size_t TextReader::read(std::string_view text) {
  const std::size_t begin = read_;
  const base::OnUnwinding undo(
      [this, begin, recogniser = recogniser_, config = config_]() mutable {
        recogniser_ = std::move(recogniser);
        config_ = config;
        read_ = begin;
        text_.resize(begin);
      });
  text_ += text;
  ask([&] {
    read_on(text_.size(), work_);
    return true;
  });
  text_.resize(read_);
  return read_ > begin ? read_ - begin : 0;
}

// A byte that exceeds the budget of the tables is read again with a larger
// budget, until it fits.
//
// Invariant: `config_` is the configuration after `read_` bytes of the text.
void TextReader::read_on(std::size_t end, std::uint64_t limit) {
  constexpr std::size_t kRoom = std::size_t{1} << 16;
  std::size_t room = kRoom;
  while (read_ < end) {
    bool overflowed = false;
    {
      const Recogniser::Lock lock(*recogniser_);
      bool full = false;
      if (recogniser_->spoiled()) return;
      while (read_ < end && !full) {
        Configuration next;
        const bool decided = within(limit, [&] {
          next = recogniser_->step(config_,
                                   static_cast<std::uint8_t>(text_[read_]));
        });
        // Spoiled: by a part that another question has spoiled.
        if (!decided || recogniser_->spoiled()) return;
        overflowed = recogniser_->overflowed();
        if (overflowed) break;
        if (next.dead()) return;
        config_ = next;
        ++read_;
        room = kRoom;
        full = recogniser_->full();
      }
    }
    if (read_ == end) break;
    renew(overflowed ? room : 0);
    if (overflowed) room *= 2;
  }
}

void TextReader::renew(std::size_t room) {
  Configuration* const config = &config_;
  if (auto next = recogniser_->renewed(room, {&config, 1})) {
    recogniser_ = std::move(next);
  }
}

bool TextReader::can_end() {
  return ask([&] {
    const Recogniser::Lock lock(*recogniser_);
    bool yes = false;
    return within(work_, [&] { yes = lock->can_end(config_); }) && yes;
  });
}

std::string TextReader::expected() {
  return ask([&] {
    const Recogniser::Lock lock(*recogniser_);
    std::string out;
    within(work_, [&] { out = lock->expected(config_); });
    return out;
  });
}

}  // namespace parlance::recogniser
