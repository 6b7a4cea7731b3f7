// See text_reader.h.

#include "recogniser/text_reader.h"

#include <utility>

#include "base/unwinding.h"
#include "base/work.h"

namespace parlance::recogniser {

namespace {

Error stopped_error(const base::Work& work, std::size_t offset) {
  std::string message =
      "What may follow after byte " + std::to_string(offset) + " of the text";
  if (!work.place().empty()) message += " (in " + work.place() + ")";
  message += " takes more than GrammarLimits::";
  message += work.why() == base::WorkStop::kSteps ? "steps" : "work";
  message += ", which is " + std::to_string(work.passed()) + ".";
  return Error{.code = ErrorCode::kTooLarge, .message = std::move(message)};
}

}  // namespace

TextReader::TextReader(std::shared_ptr<Language> language, std::uint64_t work)
    : language_(std::move(language)),
      recogniser_(language_->with_room()),
      work_(work),
      config_(recogniser_->start()) {}

template <class Step>
bool TextReader::within_limit(const Step& step) const {
  base::WorkStop why = base::WorkStop::kNone;
  std::uint64_t passed = 0;
  std::string place;
  {
    const base::Work work(work_);
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

template <class Question>
auto TextReader::ask(const Question& question) {
  for (;;) {
    const base::Work work(base::ThreadWork::kUnlimited);
    auto answer = question();
    if (work.stopped()) {
      if (!error_) error_ = stopped_error(work, read_ + asked_);
      return answer;
    }
    {
      const Recogniser::Lock lock(*recogniser_);
      if (!recogniser_->spoiled()) return answer;
    }
    const std::shared_ptr<Recogniser> next = language_->with_room();
    if (next == recogniser_) return answer;  // there are no other tables
    recogniser_ = next;
    config_ = recogniser_->start();
    read_on(std::string_view(text_).substr(0, read_));
  }
}

std::size_t TextReader::read(std::string_view text) {
  text_ += text;
  const base::OnUnwinding undo([&] { text_.resize(read_); });
  // A question that is asked again begins where the last one began.
  const std::size_t done = ask([&] { return asked_ = read_on(text); });
  asked_ = 0;
  read_ += done;
  text_.resize(read_);
  return done;
}

// A byte that exceeds the budget of the tables is read again with a larger
// budget, until it fits.
std::size_t TextReader::read_on(std::string_view text) {
  constexpr std::size_t kRoom = std::size_t{1} << 16;
  std::size_t room = kRoom;
  std::size_t done = 0;
  while (done < text.size()) {
    bool overflowed = false;
    {
      const Recogniser::Lock lock(*recogniser_);
      bool full = false;
      if (recogniser_->spoiled()) return done;
      while (done < text.size() && !full) {
        Configuration next;
        const bool decided = within_limit([&] {
          next =
              recogniser_->step(config_, static_cast<std::uint8_t>(text[done]));
        });
        if (!decided) return done;
        overflowed = recogniser_->overflowed();
        if (overflowed) break;
        if (next.dead()) return done;
        config_ = next;
        ++done;
        room = kRoom;
        full = recogniser_->full();
      }
    }
    if (done == text.size()) break;
    renew(overflowed ? room : 0);
    if (overflowed) room *= 2;
  }
  return done;
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
    return within_limit([&] { yes = lock->can_end(config_); }) && yes;
  });
}

std::string TextReader::expected() {
  return ask([&] {
    const Recogniser::Lock lock(*recogniser_);
    std::string out;
    within_limit([&] { out = lock->expected(config_); });
    return out;
  });
}

}  // namespace parlance::recogniser
