// Implements hints_of() of parlance/hints.h.
//
//   message --parts--> stretches of text --openers--> read again from there
//                                        --objects--> calls without markers
//                                        --closers--> calls without openers
//   text --rank_formats()--> other formats
//
// What one of them finds, those after it do not report again.

#include "parlance/hints.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "base/access.h"
#include "base/beginning.h"
#include "base/reasoning_names.h"
#include "base/trimmed.h"
#include "format/description.h"
#include "format/interruption.h"
#include "hints/json_calls.h"
#include "hints/reading.h"
#include "json/writer.h"
#include "parse/delimiter_program.h"
#include "parse/finder.h"

namespace parlance {

// ORDER: HintKind
std::string_view to_string(HintKind kind) {
  static constexpr std::string_view kNames[] = {
      "opener_in_text", "call_in_reasoning", "missing_opener", "json_call",
      "other_format"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace hints {
namespace {

using format::Field;

constexpr std::size_t kOpeners = 16;  // that are read again
constexpr std::size_t kHints = 8;
constexpr std::size_t kShownBytes = 60;

// Text that no reader took for more than text.
struct Stretch {
  Span bytes;
  const Field* field = nullptr;  // null: in no field
  std::size_t index = 0;
};

std::string quoted(std::string_view text) {
  if (text.size() <= kShownBytes) return json::quoted(text);
  return json::quoted(base::beginning(text, kShownBytes)) + "...";
}

class Search {
 public:
  Search(const Format& format, std::string_view text, const Message& message,
         const HintOptions& options)
      : format_(format),
        impl_(*detail::Access::impl(format)),
        program_(parse::DelimiterPrograms::of(impl_).plain()),
        text_(text),
        message_(message),
        options_(options) {
    const json::Value* calls = message.fields.find("tool_calls");
    if (calls != nullptr) {
      has_calls_ = calls->is_array() ? calls->size() > 0 : !calls->is_null();
    }
    find_stretches();
  }

  std::vector<Hint> run() {
    if (!stretches_.empty()) {
      find_openers();
      // Without a call in the message, from the strongest evidence to the
      // weakest.  Delimiters of another format explain JSON inside them;
      // another format without such delimiters would read that JSON, too, so it
      // is a hint only if find_json() has none.
      if (!has_calls_) {
        std::vector<FormatReading> others;
        if (out_.empty()) others = other_formats();
        const bool marked = !others.empty() && others.front().marked;
        if (marked) add_other_format(others);
        find_json();
        if (!marked && out_.empty()) add_other_format(others);
        find_missing_opener();
      }
    }
    std::ranges::stable_sort(out_, {},
                             [](const Hint& hint) { return hint.bytes.begin; });
    if (out_.size() > kHints) out_.resize(kHints);
    return std::move(out_);
  }

 private:
  const std::vector<Field>& fields() const { return impl_.description.fields; }

  bool is_calls(const Field& field) const {
    return program_.calls[static_cast<std::size_t>(&field - fields().data())];
  }
  bool is_reasoning(const Field& field) const {
    return base::is_reasoning_name(field.template_name) ||
           base::is_reasoning_name(field.name);
  }
  const Field* field_of_calls() const {
    for (const Field& field : fields()) {
      if (field.open && is_calls(field)) return &field;
    }
    return nullptr;
  }

  // Everything but the regions that are values, such as calls.
  void find_stretches() {
    const std::size_t size = std::min(text_.size(), kHintBytes);
    std::size_t at = 0;
    const auto add = [&](Span bytes, const Field* field, std::size_t index) {
      bytes.end = std::min(bytes.end, size);
      if (bytes.begin < bytes.end) stretches_.push_back({bytes, field, index});
    };
    for (const Part& part : message_.parts) {
      if (part.field_index >= fields().size()) continue;
      const Field& field = fields()[part.field_index];
      add({at, part.bytes.begin}, nullptr, 0);
      if (part.malformed || (!is_calls(field) && !field.content.dirty())) {
        add({std::max(at, part.bytes.begin), part.bytes.end}, &field,
            part.field_index);
      }
      at = std::max(at, part.bytes.end);
    }
    add({at, size}, nullptr, 0);
  }

  std::string_view text_of(const Stretch& stretch) const {
    return text_.substr(stretch.bytes.begin, stretch.bytes.size());
  }
  // Whether a call in the stretch is a plan, because the message has a call.
  bool is_plan(const Stretch& stretch) const {
    return has_calls_ && stretch.field != nullptr &&
           is_reasoning(*stretch.field);
  }

  bool overlaps(Span bytes) const {
    return std::ranges::any_of(out_, [&](const Hint& hint) {
      return bytes.begin < hint.bytes.end && hint.bytes.begin < bytes.end;
    });
  }

  Hint& add(HintKind kind, Span bytes, const Field* field,
            std::string message) {
    Hint& hint = out_.emplace_back();
    hint.kind = kind;
    hint.bytes = bytes;
    hint.message = std::move(message);
    if (field != nullptr) hint.field = field->name;
    return hint;
  }

  static std::string place_of(const Field* field) {
    return field == nullptr ? "text of no field" : field->name;
  }

  bool begins_line(std::size_t at) const {
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
    return at == 0 || text_[at - 1] == '\n';
  }

  // --- Openers where they open nothing

  void find_openers() {
    for (std::size_t i = 0; i < fields().size(); ++i) {
      const Field& field = fields()[i];
      if (!field.open) continue;
      // If a region of the field was read, an opener elsewhere is a quotation.
      if (!is_calls(field) && is_read(i)) continue;
      const parse::Finder finder =
          parse::compile_group_finder(field.open.pattern, {}, impl_.limits);
      // An opener may begin in one stretch and end in the next.
      for (auto first = stretches_.begin(); first != stretches_.end();) {
        auto last = std::next(first);
        while (last != stretches_.end() &&
               std::prev(last)->bytes.end == last->bytes.begin) {
          ++last;
        }
        find_opener(finder, field, i, {first, last});
        first = last;
      }
    }
  }

  bool is_read(std::size_t field) const {
    return std::ranges::any_of(message_.parts, [&](const Part& part) {
      return part.field_index == field && !part.malformed;
    });
  }

  // In `run`, stretches side by side.
  void find_opener(const parse::Finder& finder, const Field& field,
                   std::size_t index, std::span<const Stretch> run) {
    const std::size_t origin = run.front().bytes.begin;
    parse::FindAll all(finder,
                       text_.substr(origin, run.back().bytes.end - origin));
    parse::Found found;
    std::size_t at = 0;
    while (tries_ > 0 && all.next(found)) {
      const std::size_t begin = origin + found.begin;
      if (found.begin == found.end || overlaps({begin, begin + 1})) continue;
      while (run[at].bytes.end <= begin) ++at;
      const Stretch& stretch = run[at];
      if (stretch.field == &field || is_plan(stretch)) continue;
      --tries_;
      const auto read =
          read_region(format_, text_.substr(begin, kReadBytes), options_.tools);
      if (!read || read->field != index) continue;
      const bool is_call = is_calls(field);
      if (is_call ? read->calls.empty() : !read->closed) continue;
      const Span bytes{begin, begin + read->bytes.end};
      const std::string opener = quoted(base::trimmed(read->opener));
      std::string said;
      const bool in_reasoning =
          is_call && stretch.field != nullptr && is_reasoning(*stretch.field);
      if (in_reasoning) {
        said = "a call of " + quoted(read->calls.front()) + " is inside " +
               place_of(stretch.field) + ": it contains " + opener;
      } else {
        said = place_of(stretch.field) + " contains " + opener;
      }
      said += ", which opens " + field.name;
      said += begins_line(begin) ? ", where nothing may open it"
                                 : ", but not at the start of a line";
      if (!in_reasoning && is_call) {
        said += "; a call of " + quoted(read->calls.front()) + " follows it";
      }
      said += ". ";
      if (options_.by_tokens) {
        said +=
            "If ordinary tokens spell the opener, the model quoted it, or "
            "its tokenizer does not make the special token of it.";
      } else {
        said +=
            "Token ids in place of text tell an opener from a quotation, "
            "wherever it stands.";
      }
      add(in_reasoning ? HintKind::kCallInReasoning : HintKind::kOpenerInText,
          bytes, stretch.field, std::move(said));
    }
  }

  // --- Another format

  // Whether a delimiter has opened a region that could be read.
  bool has_region() const {
    for (std::size_t i = 0; i < fields().size(); ++i) {
      if (fields()[i].open && is_read(i)) return true;
    }
    return false;
  }

  std::vector<FormatReading> other_formats() const {
    std::vector<FormatReading> ranked = rank_formats(text_, options_.tools);
    std::erase_if(ranked, [&](const FormatReading& read) {
      return read.name == format_.name() || (read.calls == 0 && has_region());
    });
    return ranked;
  }

  void add_other_format(std::span<const FormatReading> ranked) {
    if (ranked.empty()) return;
    const FormatReading& best = ranked.front();
    std::string said = "the response reads as " + std::string(best.name) + ": ";
    if (best.calls == 0) {
      said += "reasoning";
    } else if (best.calls == 1) {
      said += "a call of " + quoted(best.call);
    } else {
      said += std::to_string(best.calls) + " calls, the first of " +
              quoted(best.call);
    }
    said += best.marked
                ? " in delimiters that this format does not have. "
                : ", which this format does not read. " + advice() + " ";
    said += "Read the response by that format";
    constexpr std::size_t kOthers = 3;
    std::string others;
    for (std::size_t i = 1; i < ranked.size() && i <= kOthers; ++i) {
      if (ranked[i].calls != best.calls ||
          ranked[i].diagnostics != best.diagnostics) {
        break;
      }
      others += (i == 1 ? "" : ", ") + std::string(ranked[i].name);
    }
    if (!others.empty()) said += ", or by one that reads the same: " + others;
    said += ".";
    Hint& hint = add(HintKind::kOtherFormat, best.bytes,
                     field_at(best.bytes.begin), std::move(said));
    hint.format = best.name;
  }

  const Field* field_at(std::size_t at) const {
    for (const Stretch& stretch : stretches_) {
      if (stretch.bytes.begin <= at && at < stretch.bytes.end) {
        return stretch.field;
      }
    }
    return nullptr;
  }

  // --- Calls without their markers

  // How the calls of the format begin, for people; "" if it has none.
  std::string written_opener() const {
    const Field* calls = field_of_calls();
    if (calls == nullptr) return "";
    const auto markup = format::markup_of(calls->open.pattern.hir);
    return markup.empty() ? "" : markup.front();
  }

  std::string advice() const {
    const Field* calls = field_of_calls();
    if (calls == nullptr) {
      return "This format has no calls: choose the format of the model.";
    }
    const std::string opener = written_opener();
    std::string said = opener.empty()
                           ? "It is not written as calls of this format are. "
                           : "Calls of this format have markers, such as " +
                                 quoted(opener) + ". ";
    return said +
           "If the host leaves out special tokens, let it keep them "
           "(skip_special_tokens=False) or give token ids; else the model "
           "writes another notation than the format.";
  }

  void find_json() {
    JsonCallFinder finder(options_.tools);
    for (const Stretch& stretch : stretches_) {
      for (Span left = stretch.bytes; out_.size() < kHints;) {
        const auto found = finder.next(text_, left);
        if (!found) break;
        left.begin = found->bytes.end;
        if (overlaps(found->bytes)) continue;
        add(HintKind::kJsonCall, found->bytes, stretch.field,
            place_of(stretch.field) + " contains JSON that looks like a call " +
                "of " + quoted(found->name) + ". " + advice());
      }
    }
  }

  void find_missing_opener() {
    const Field* calls = field_of_calls();
    if (calls == nullptr || !out_.empty()) return;
    // The elements of a call.
    const parse::Finder* tags = nullptr;
    const auto known = program_.tags.find(&calls->content);
    if (known != program_.tags.end()) tags = &known->second;
    for (const Stretch& stretch : stretches_) {
      if (tags != nullptr) {
        parse::FindAll all(*tags, text_of(stretch));
        parse::Found found;
        if (all.next(found) && found.begin < found.end) {
          return add_missing({stretch.bytes.begin + found.begin,
                              stretch.bytes.begin + found.end},
                             stretch, "an argument");
        }
      }
    }
    // What closes a call and nothing else, if it is reported as damage or is in
    // no field.
    auto closers = format::markup_of(calls->close.pattern.hir);
    std::erase_if(closers, [&](const std::string& closer) {
      return ends_other(*calls, closer);
    });
    for (const Stretch& stretch : stretches_) {
      for (const std::string& closer : closers) {
        const std::size_t at = text_of(stretch).find(closer);
        if (at == std::string_view::npos) continue;
        const Span bytes{stretch.bytes.begin + at,
                         stretch.bytes.begin + at + closer.size()};
        if (stretch.field != nullptr && !is_reported(bytes)) continue;
        return add_missing(bytes, stretch, "the end of a call");
      }
    }
  }

  bool is_reported(Span bytes) const {
    return std::ranges::any_of(message_.diagnostics,
                               [&](const Diagnostic& diagnostic) {
                                 return diagnostic.bytes.begin < bytes.end &&
                                        bytes.begin < diagnostic.bytes.end;
                               });
  }

  // Whether a text that closes calls closes other fields, or the response.
  bool ends_other(const Field& calls, std::string_view text) const {
    const std::vector<std::string>& ends = impl_.family.reading.turn_end;
    if (std::ranges::find(ends, text) != ends.end()) return true;
    return std::ranges::any_of(fields(), [&](const Field& field) {
      const auto closers = format::markup_of(field.close.pattern.hir);
      return &field != &calls &&
             std::ranges::find(closers, text) != closers.end();
    });
  }

  void add_missing(Span bytes, const Stretch& stretch, std::string_view what) {
    std::string said = place_of(stretch.field) + " contains " +
                       quoted(text_.substr(bytes.begin, bytes.size())) + ", " +
                       std::string(what) +
                       ", and nothing opens the call before it. ";
    add(HintKind::kMissingOpener, bytes, stretch.field, said + advice());
  }

  const Format& format_;
  const format::FormatImpl& impl_;
  const parse::DelimiterProgram& program_;
  std::string_view text_;
  const Message& message_;
  const HintOptions& options_;
  bool has_calls_ = false;
  std::size_t tries_ = kOpeners;
  std::vector<Stretch> stretches_;
  std::vector<Hint> out_;
};

}  // namespace
}  // namespace hints

std::vector<Hint> hints_of(const Format& format, std::string_view text,
                           const Message& message, const HintOptions& options) {
  return hints::Search(format, text, message, options).run();
}

}  // namespace parlance
