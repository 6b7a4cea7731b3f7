#ifndef PARLANCE_SRC_TAGS_TELLER_H_
#define PARLANCE_SRC_TAGS_TELLER_H_

// What is certain of a reading, told in order: to the tree, and as regions.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/message.h"
#include "tags/program.h"
#include "tags/told_events.h"
#include "tags/trace.h"
#include "tags/tree.h"
#include "vocab/token_log.h"

namespace parlance::tags {

class Teller {
 public:
  Teller(const TagProgram::Code& code, const vocab::TokenLog& tokens, bool keep,
         std::size_t diagnostics)
      : code_(code),
        tree_(code, tokens, keep),
        events_(code.regions, keep, diagnostics) {}

  // What was told so far is what is in front of this byte.
  std::uint64_t position() const { return position_; }

  // The next text, which belongs to the innermost format.
  void text(std::string_view text);
  // REQUIRES: step.position == position().
  void step(const Step& step);
  // Nothing follows; `why` says what is missing.
  void cut_off(const Diagnostic& why);
  // Text that fits nothing.  REQUIRES: no format is open.
  void rest(std::string_view text);
  void end_rest() { events_.close_open(at(), false); }

  ToldEvents& events() { return events_; }
  const Tree& tree() const { return tree_; }

 private:
  struct Open {
    FormatId format;
    std::uint64_t begin = 0;
    std::uint64_t content_end = 0;
  };

  void enter(FormatId id);
  void leave();
  json::Value plain_value(const Region& region, std::size_t depth,
                          bool cut) const;
  std::size_t at() const { return static_cast<std::size_t>(position_); }

  const TagProgram::Code& code_;
  Tree tree_;
  ToldEvents events_;
  std::uint64_t position_ = 0;
  std::vector<Open> open_;
  // Of the json_schema that the open region stands for.
  json::Value value_;
  bool value_whole_ = false;
};

}  // namespace parlance::tags

#endif  // PARLANCE_SRC_TAGS_TELLER_H_
