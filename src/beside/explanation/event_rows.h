#ifndef PARLANCE_SRC_EXPLANATION_EVENT_ROWS_H_
#define PARLANCE_SRC_EXPLANATION_EVENT_ROWS_H_

// The rows of an explanation by the events of a parser.

#include <cstddef>
#include <string>
#include <string_view>

#include "parlance/explain.h"
#include "parlance/message.h"

namespace parlance::explanation {

// Appends rows to an explanation whose text, prefix and tokens are set.
// Events come in the order of their bytes, and omit only text between regions.
class EventRows {
 public:
  // `between`: ExplanationRow::what of text between regions.  `join`: chunk
  // events of a region that follow one another are one row.
  EventRows(Explanation& out, std::string_view between, bool join)
      : out_(out), between_(between), join_(join) {}

  void add(const Event& event);

  // What is held back after `fed` bytes or tokens, which are the first `end`
  // bytes of the text: the last `size` of them.  All text before is decided.
  void held(std::size_t fed, std::size_t end, std::size_t size);

  // The rest of the text, after the last event.
  void end(bool turn_ended);

 private:
  // Text up to `end` that no event stands for.
  void gap(std::size_t end, std::string_view what);
  ExplanationRow& row(ExplanationKind kind, Span bytes, Span tokens,
                      std::string what);
  ExplanationRow& remark(ExplanationKind kind, Span place, std::string what);

  // The row, which now names the field of the event.
  static ExplanationRow& of_field(const Event& event, ExplanationRow& added);
  // A row for the bytes of the event: `what` and its field.
  void field_row(ExplanationKind kind, const Event& event,
                 std::string_view what);

  bool join_row(const Event& event);
  void open(const Event& event);
  void malformed(const Event& event);

  Explanation& out_;
  std::string_view between_;
  bool join_;
  bool last_is_text_ = false;  // the last event had a row of text
  std::size_t at_ = 0;         // events stand for the bytes before it
  std::size_t owned_ = 0;      // rows own the bytes before it
};

// The tokens that contain `bytes` of the text; {0, 0} in the prefix.
// Complexity: O(log tokens).
Span tokens_of(const Explanation& explanation, Span bytes);

}  // namespace parlance::explanation

#endif  // PARLANCE_SRC_EXPLANATION_EVENT_ROWS_H_
