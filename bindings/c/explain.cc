// Explanations as JSON and as pages.

#include "parlance/explain.h"

#include <utility>

#include "calls.h"

namespace parlance::c {

PARLANCE_C_FUNCTIONS_BEGIN

parlance_status parlance_explain(const parlance_explanation* what,
                                 parlance_bytes* out, parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    need(what, "what");
    static constexpr parlance_explanation kDefaults = PARLANCE_EXPLANATION_INIT;
    const parlance_explanation given = read_options(what, kDefaults, "what");
    the_or_null(given.format, "what.format");
    the_or_null(given.tag, "what.tag");
    the_or_null(given.grammar, "what.grammar");
    ExplainOptions options;
    options.constraint = value_or_null(given.constraint, "what.constraint");
    options.tools = value_or_null(given.tools, "what.tools");
    options.vocabulary = value_or_null(given.vocabulary, "what.vocabulary");
    options.prefix = text_of(given.prefix, given.prefix_size, "what.prefix");
    options.name = text_of(given.name, given.name_size, "what.name");
    options.chunk = given.chunk;
    options.markers = one_of(given.markers, Markers::kText, "what.markers");
    options.recover = one_of(given.recover, Recover::kYes, "what.recover");
    const std::string_view text =
        text_of(given.text, given.text_size, "what.text");
    const auto ids = list_of(given.ids, given.id_count, "what.ids");
    const bool by_ids = given.vocabulary != nullptr;

    const int sources = (given.format != nullptr) + (given.tag != nullptr) +
                        (given.grammar != nullptr);
    if (sources > 1 || (sources == 0 && given.constraint == nullptr)) {
      misuse(PARLANCE_NULL, "one of what.format, tag, grammar and constraint",
             "says what the text is read by");
    }
    const bool reads_ids = sources == 0 || (by_ids && given.grammar == nullptr);
    if (!ids.empty() && !reads_ids) {
      fail({.code = ErrorCode::kUsage,
            .message = "token ids need a vocabulary, and a format, a tag or a "
                       "constraint that reads them"});
    }
    const Explanation made = [&] {
      if (given.format != nullptr) {
        return by_ids ? explain(given.format->value, ids, options)
                      : explain(given.format->value, text, options);
      }
      if (given.tag != nullptr) {
        return by_ids ? explain(given.tag->value, ids, options)
                      : explain(given.tag->value, text, options);
      }
      if (given.grammar != nullptr) {
        return explain(given.grammar->value, text, options);
      }
      return explain(given.constraint->value, ids, options);
    }();
    if (given.html != 0) {
      told.set(to_html(made));
    } else if (given.packed != 0) {
      told.set(to_packed_json(made));
    } else {
      told.set(to_json(made));
    }
  });
}

PARLANCE_C_FUNCTIONS_END

}  // namespace parlance::c
