#ifndef PARLANCE_SRC_RECOGNISER_TEXT_READER_H_
#define PARLANCE_SRC_RECOGNISER_TEXT_READER_H_

// Reads one text with a shared recogniser, or its successor, and continues with
// tables of its own when those are full.  Where a question of another reader
// has spoiled the tables (recogniser.h), the text is read again with others.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "recogniser/recogniser.h"

namespace parlance::recogniser {

class TextReader {
 public:
  explicit TextReader(std::shared_ptr<Recogniser> recogniser);

  // Reads as much of `text` as fits, and returns how many bytes that is.
  std::size_t read(std::string_view text);
  bool can_end();
  // What may come next, in words for messages.
  std::string expected();

 private:
  std::size_t read_on(std::string_view text);
  void renew(std::size_t room);
  // The answer of `question`, asked again from the beginning of the text for as
  // long as the recogniser turns out to be spoiled.
  template <class Question>
  auto ask(const Question& question);

  std::shared_ptr<Recogniser> recogniser_;
  Configuration config_;
  std::string text_;      // that was read, and that is being read
  std::size_t read_ = 0;  // bytes of it that were read
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_TEXT_READER_H_
