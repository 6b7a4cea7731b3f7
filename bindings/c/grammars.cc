// Structural tags and grammars.

#include <utility>
#include <vector>

#include "calls.h"
#include "grammar_requests.h"
#include "parlance/grammar.h"
#include "parlance/structural_tag.h"
#include "requests.h"

namespace parlance::c {

PARLANCE_C_FUNCTIONS_BEGIN

parlance_status parlance_tag_from_json(const char* text, size_t text_size,
                                       parlance_tag** out,
                                       parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    made.set(taken(StructuralTag::from_json(text_of(text, text_size, "text"))));
  });
}

parlance_status parlance_tag_to_json(const parlance_tag* tag,
                                     parlance_bytes* out,
                                     parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(the(tag, "tag").value.to_json());
  });
}

parlance_status parlance_tag_report(const parlance_tag* tag,
                                    parlance_bytes* out,
                                    parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(to_json(the(tag, "tag").value.report()));
  });
}

parlance_tag* parlance_tag_ref(const parlance_tag* tag) {
  return add_reference(tag);
}
void parlance_tag_free(parlance_tag* tag) { drop_reference(tag); }

parlance_status parlance_tag_compile(const parlance_tag* tag,
                                     const parlance_vocabulary* vocabulary,
                                     const parlance_compiler* compiler,
                                     const char* request, size_t request_size,
                                     parlance_compiled_tag** out,
                                     parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const StructuralTag& of = the(tag, "tag").value;
    CompiledTagOptions options;
    options.vocabulary = value_or_null(vocabulary, "vocabulary");
    if (the_or_null(compiler, "compiler") != nullptr) {
      options.cache = &compiler->value.grammar_cache();
    }
    Request asked(request, request_size);
    options.markers = asked.markers();
    options.limits = asked.limits();
    options.max_parses = asked.number("max_parses", options.max_parses);
    options.parse_bytes = asked.number("parse_bytes", options.parse_bytes);
    asked.finish();
    made.set(taken(CompiledTag::compile(of, options)));
  });
}

parlance_compiled_tag* parlance_compiled_tag_ref(
    const parlance_compiled_tag* tag) {
  return add_reference(tag);
}
void parlance_compiled_tag_free(parlance_compiled_tag* tag) {
  drop_reference(tag);
}

parlance_status parlance_grammar_compile(
    int32_t language, const char* text, size_t text_size,
    const parlance_vocabulary* vocabulary, const char* request,
    size_t request_size, parlance_grammar** out, parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const std::string_view source = text_of(text, text_size, "text");
    const Vocabulary* const names = value_or_null(vocabulary, "vocabulary");
    Request asked(request, request_size);
    switch (language) {
      case PARLANCE_JSON_SCHEMA:
        made.set(
            taken(Grammar::from_json_schema(source, schema_options(asked))));
        return;
      case PARLANCE_EBNF:
        made.set(taken(Grammar::from_ebnf(source, ebnf_options(asked))));
        return;
      case PARLANCE_GBNF:
        made.set(taken(Grammar::from_gbnf(source, gbnf_options(asked, names))));
        return;
      case PARLANCE_LARK:
        made.set(taken(Grammar::from_lark(source, lark_options(asked, names))));
        return;
      case PARLANCE_REGEX:
        made.set(taken(Grammar::from_regex(source, limits_alone(asked))));
        return;
      case PARLANCE_STRUCTURAL_TAG:
        made.set(taken(
            Grammar::from_structural_tag(source, tag_options(asked, names))));
        return;
      default:
        misuse(PARLANCE_BAD_ARGUMENT, "language", "is none of its constants");
    }
  });
}

parlance_status parlance_grammar_from_tag(const parlance_tag* tag,
                                          const parlance_vocabulary* vocabulary,
                                          const char* request,
                                          size_t request_size,
                                          parlance_grammar** out,
                                          parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    const StructuralTag& of = the(tag, "tag").value;
    const Vocabulary* const names = value_or_null(vocabulary, "vocabulary");
    Request asked(request, request_size);
    made.set(
        taken(Grammar::from_structural_tag(of, tag_options(asked, names))));
  });
}

parlance_status parlance_grammar_combine(int32_t in_sequence,
                                         const parlance_grammar* const* parts,
                                         size_t count, parlance_grammar** out,
                                         parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    std::vector<Grammar> grammars;
    for (const parlance_grammar* part : list_of(parts, count, "parts")) {
      grammars.push_back(the(part, "a part").value);
    }
    made.set(taken(in_sequence != 0 ? Grammar::concat(grammars)
                                    : Grammar::union_of(grammars)));
  });
}

parlance_status parlance_grammar_from_bytes(const void* data, size_t size,
                                            parlance_grammar** out,
                                            parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    made.set(taken(Grammar::from_bytes(text_of(data, size, "data"))));
  });
}

parlance_grammar* parlance_grammar_ref(const parlance_grammar* grammar) {
  return add_reference(grammar);
}
void parlance_grammar_free(parlance_grammar* grammar) {
  drop_reference(grammar);
}

parlance_status parlance_grammar_accepts(const parlance_grammar* grammar,
                                         const char* text, size_t text_size,
                                         int32_t* accepts, uint64_t* offset,
                                         parlance_bytes* expected,
                                         parlance_error** error) {
  return call(error, [&] {
    store(offset, 0);
    if (expected != nullptr) *expected = {nullptr, 0};
    Out answer(accepts, "accepts");
    GrammarReader reader(the(grammar, "grammar").value);
    const std::string_view given = text_of(text, text_size, "text");
    const bool yes = reader.feed(given) == given.size() && reader.can_end();
    std::string wanted = yes || expected == nullptr ? "" : reader.expected();
    if (const auto stopped = reader.error()) fail(*stopped);
    if (expected != nullptr) Out(expected, "expected").set(wanted);
    answer.set(yes ? 1 : 0);
    store(offset, reader.offset());
  });
}

parlance_status parlance_grammar_report(const parlance_grammar* grammar,
                                        parlance_bytes* out,
                                        parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(to_json(the(grammar, "grammar").value.report()));
  });
}

parlance_status parlance_grammar_captures(const parlance_grammar* grammar,
                                          const char* text, size_t text_size,
                                          parlance_bytes* out,
                                          parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(to_json(taken(captures(the(grammar, "grammar").value,
                                    text_of(text, text_size, "text")))));
  });
}

parlance_status parlance_grammar_to_ebnf(const parlance_grammar* grammar,
                                         parlance_bytes* out,
                                         parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(the(grammar, "grammar").value.to_ebnf());
  });
}

parlance_status parlance_grammar_to_bytes(const parlance_grammar* grammar,
                                          parlance_bytes* out,
                                          parlance_error** error) {
  return call(error, [&] {
    Out told(out, "out");
    told.set(the(grammar, "grammar").value.to_bytes());
  });
}

PARLANCE_C_FUNCTIONS_END

}  // namespace parlance::c
