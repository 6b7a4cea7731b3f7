// See text_reader.h.

#include "recogniser/text_reader.h"

#include <utility>

#include "base/unwinding.h"

namespace parlance::recogniser {

TextReader::TextReader(std::shared_ptr<Recogniser> recogniser)
    : recogniser_(Recogniser::with_room(std::move(recogniser))),
      config_(recogniser_->start()) {}

template <class Question>
auto TextReader::ask(const Question& question) {
  for (;;) {
    auto answer = question();
    {
      const Recogniser::Lock lock(*recogniser_);
      if (!recogniser_->spoiled()) return answer;
    }
    const std::shared_ptr<Recogniser> next = Recogniser::with_room(recogniser_);
    if (next == recogniser_) return answer;  // it has no successor
    recogniser_ = next;
    config_ = recogniser_->start();
    read_on(std::string_view(text_).substr(0, read_));
  }
}

std::size_t TextReader::read(std::string_view text) {
  text_ += text;
  const base::OnUnwinding undo([&] { text_.resize(read_); });
  // A question that is asked again begins where the last one began.
  const std::size_t done = ask([&] { return read_on(text); });
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
        const Configuration next =
            recogniser_->step(config_, static_cast<std::uint8_t>(text[done]));
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
  const std::shared_ptr<Recogniser> before = recogniser_;
  const Recogniser::Lock lock(*before);
  std::shared_ptr<Recogniser> next = before->fresh();
  if (next == nullptr) return;  // it is never full
  recogniser_ = std::move(next);
  recogniser_->widen(room);
  const Recogniser::Lock mine(*recogniser_);
  config_ = recogniser_->adopt(*before, config_);
}

bool TextReader::can_end() {
  return ask([&] {
    const Recogniser::Lock lock(*recogniser_);
    return lock->can_end(config_);
  });
}

std::string TextReader::expected() {
  return ask([&] {
    const Recogniser::Lock lock(*recogniser_);
    return lock->expected(config_);
  });
}

}  // namespace parlance::recogniser
