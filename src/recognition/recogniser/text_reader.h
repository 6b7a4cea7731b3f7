#ifndef PARLANCE_SRC_RECOGNISER_TEXT_READER_H_
#define PARLANCE_SRC_RECOGNISER_TEXT_READER_H_

// Reads one text with the newest tables of a language, and continues with
// tables of its own when those are full.  Where a question of another reader
// has spoiled the tables (recogniser.h), the configuration is moved to others.
// Only if it is lost, in tables that are broken, the text is read again.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/work.h"
#include "parlance/error.h"
#include "recogniser/language.h"
#include "recogniser/recogniser.h"

namespace parlance::recogniser {

// The error of a question that `work` stopped, about what may follow after
// `offset` bytes of a text.
Error stopped_error(const base::Work& work, std::size_t offset);

class TextReader {
 public:
  // Each byte, and each other question, may take `work` steps.
  TextReader(std::shared_ptr<Language> language, std::uint64_t work);

  // Reads as much of `text` as fits, and returns how many bytes that is.
  std::size_t read(std::string_view text);
  bool can_end();
  // What may come next, in words for messages.
  std::string expected();
  // Set once a question took more steps than it may, or met spoiled tables too
  // often: its answer, and those of the questions after it, mean nothing.
  const std::optional<Error>& error() const { return error_; }

 private:
  // Reads the text up to `end`, each byte within `limit` steps, as far as it
  // fits.
  void read_on(std::size_t end, std::uint64_t limit);
  void renew(std::size_t room);
  bool spoiled() const;
  // Moves to the newest tables of the language.  False if there are no others.
  bool change_tables();
  // Calls `step`, as one question of `limit` steps.  False if it was stopped;
  // so is the question of ask() then, that what it uses is spoiled.
  template <class Step>
  bool within(std::uint64_t limit, const Step& step) const;
  // The answer of `question`, asked again with other tables if the recogniser
  // turns out to be spoiled.  Where that happens again and again, there is an
  // error.
  template <class Question>
  auto ask(const Question& question) -> decltype(question());

  const std::shared_ptr<Language> language_;
  std::shared_ptr<Recogniser> recogniser_;
  const std::uint64_t work_;
  std::optional<Error> error_;
  Configuration config_;
  std::string text_;      // that was read, and that is being read
  std::size_t read_ = 0;  // bytes of it that lead to `config_`
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_TEXT_READER_H_
