#ifndef PARLANCE_BINDINGS_C_GRAMMAR_REQUESTS_H_
#define PARLANCE_BINDINGS_C_GRAMMAR_REQUESTS_H_

// Requests of grammars.  Each function ends its request, so a key of another
// language is an error.

#include "parlance/grammar.h"
#include "parlance/schema_options.h"
#include "parlance/vocabulary.h"
#include "requests.h"

namespace parlance::c {

JsonSchemaOptions schema_options(Request& request);
EbnfOptions ebnf_options(Request& request);
// `names`, in which tokens are looked up, may be null.
GbnfOptions gbnf_options(Request& request, const Vocabulary* names);
LarkGrammarOptions lark_options(Request& request, const Vocabulary* names);
StructuralTagGrammarOptions tag_options(Request& request,
                                        const Vocabulary* names);
GrammarLimits limits_alone(Request& request);

}  // namespace parlance::c

#endif  // PARLANCE_BINDINGS_C_GRAMMAR_REQUESTS_H_
