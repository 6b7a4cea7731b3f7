#ifndef PARLANCE_SRC_GRAMMAR_CAPTURE_READER_H_
#define PARLANCE_SRC_GRAMMAR_CAPTURE_READER_H_

// Reads a text step by step with Earley's algorithm, and gives the captures of
// the text read so far.  (The recognisers that make masks record no parses.)
//
//   feed("<b"), feed("ob>")     captures(): name: "bob" 1..4
//   truncate(1)                 as after feed("<b")
//
// A reader has recognisers of its own, since those of the grammar may be in use
// by other threads.  To build them takes far longer than to read a token, so
// CaptureReaders keeps readers that are not in use.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "cfg_recogniser/earley.h"
#include "grammar/grammar_impl.h"
#include "parlance/error.h"
#include "parlance/grammar.h"
#include "recogniser/recogniser.h"
#include "rules/marks.h"
#include "rules/rules.h"

namespace parlance::grammar {

// Whether some part of a text of `rules` is captured.
bool has_captures(const rules::Rules& rules);

// What a reader reads: the rules and schemas of a grammar, and the marks of its
// markers, null if they are text.
struct CaptureSource {
  std::shared_ptr<const rules::Rules> rules;  // not null
  std::vector<GrammarImpl::EmbeddedSchema> schemas = {};
  std::shared_ptr<const rules::Marks> marks = nullptr;
};

// Not thread-safe.
class CaptureReader {
 public:
  // Errors: those of the schemas.
  static Result<std::unique_ptr<CaptureReader>> make(
      const CaptureSource& source, std::size_t max_items = kMaxCaptureItems);

  // Reads one step.  The spelling of a mark that is allowed next reads as the
  // mark, if there are marks.  After an error the step is not read.
  //
  // Errors: kInvalidContent with the first byte that does not fit; kTooLarge
  // for too many items, and if the caller cancels.
  std::optional<Error> feed(std::string_view bytes,
                            const Interrupt& interrupt = {});
  // Reads a token by its id, and by `bytes` if they are not empty.  `shown`:
  // what stands for the token in captures, `bytes` unless these are empty.
  std::optional<Error> feed(rules::Token id, std::string_view bytes,
                            std::string_view shown,
                            const Interrupt& interrupt = {});

  std::size_t steps() const { return step_ends_.size() - 1; }
  // Keeps the first `steps` steps.
  void truncate(std::size_t steps);
  // Forgets the text, and everything that was stored for it.  Needs no memory.
  void clear();
  // Begins a text.  REQUIRES: after clear().
  void start();

  // As parlance::captures() of the text read so far.
  std::vector<RuleCapture> captures() const;

  // Whether the recogniser of a schema should not read another text.
  bool schemas_full() const;
  // Whether the reader should be replaced by a new one that reads the text
  // again: it stores much, and most of that belongs to steps that were undone.
  bool worn() const;

 private:
  CaptureReader() = default;
  bool read_mark(std::string_view* bytes);
  std::optional<Error> cancelled(const Interrupt& interrupt);
  void add(std::string_view bytes);
  std::optional<Error> end_step();
  bool schemas_overflowed() const;
  void undo_step();
  std::optional<Error> failed();

  CaptureSource source_;  // outlives the recogniser
  // Null: no text fits.
  std::vector<std::shared_ptr<recogniser::Recogniser>> schemas_;
  std::unique_ptr<cfg_recogniser::EarleyRecogniser> recogniser_;
  cfg_recogniser::EarleyRecogniser::Place place_;
  std::string text_;
  // offsets_[i]: the size of text_ at position i of the place.
  std::vector<std::size_t> offsets_ = {0};
  // The position of the place after each step, and before the first.
  std::vector<std::size_t> step_ends_ = {0};
  std::size_t undone_ = 0;  // positions
  std::size_t asked_ = 0;   // how often the caller could have cancelled
};

// The readers of one grammar that are not in use.  Safe to use from several
// threads.
class CaptureReaders {
 public:
  explicit CaptureReaders(CaptureSource source) : source_(std::move(source)) {
    idle_.reserve(kMostIdle);  // release() needs no memory
  }

  // A reader at the beginning of a text.  Errors: those of the schemas.
  Result<std::unique_ptr<CaptureReader>> acquire();
  // A reader that nothing was read with.
  Result<std::unique_ptr<CaptureReader>> make() const {
    return CaptureReader::make(source_);
  }
  void release(std::unique_ptr<CaptureReader> reader);

 private:
  static constexpr std::size_t kMostIdle = 8;

  const CaptureSource source_;
  base::Mutex mutex_;
  std::vector<std::unique_ptr<CaptureReader>> idle_;
};

// The readers of a grammar, the same ones for all callers; null if it has no
// captures.
std::shared_ptr<CaptureReaders> capture_readers_of(GrammarImpl& grammar);

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_CAPTURE_READER_H_
