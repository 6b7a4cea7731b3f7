// Response schemas, the older kind of description: whole responses only.

#include "binding.h"
#include "docstrings.h"
#include "interruptible.h"
#include "parlance/response_schema.h"

namespace parlance::python {

namespace {

// The content of Python's ResponseSchema objects.
struct SchemaObject {
  ResponseSchema schema;
  std::string source;
};

SchemaObject from_json(std::string_view text) {
  Result<ResponseSchema> schema = ResponseSchema::from_json(text);
  if (!schema) raise(Domain::kSchema, schema.error(), {.source = text});
  return {*std::move(schema), std::string(text)};
}

nb::object lint(const SchemaObject& self) {
  nb::list out;
  for (const Lint& lint : self.schema.lint()) {
    nb::dict entry;
    set(entry, to_key("code").ptr(), to_str(to_string(lint.code)));
    set(entry, to_key("message").ptr(), to_str(lint.message));
    set(entry, to_key("path").ptr(), to_str(lint.path));
    out.append(entry);
  }
  return out;
}

struct Job {
  Input response;
  nb::object read_error;  // the exception of reading it, with `details`
  bool nothing = false;   // None, which upstream reads as no text
  Result<json::Value> message = json::Value();
};

void work(Job& job, const ResponseSchema& schema) {
  if (job.read_error.is_valid()) return;
  if (job.nothing) {
    job.message = schema.parse_nothing();
  } else {
    job.message = schema.parse(job.response.text, {.allow_surrogates = true});
  }
}

// Reads a response as text: ids become the bytes of their tokens.
void read(nb::handle response, const Vocabulary* vocabulary, Job& job) {
  job.nothing = response.is_none();
  if (!job.nothing) read_text(response, "response", vocabulary, job.response);
}

// As for a response template; a schema gives no diagnostics.
nb::object result_of(const Job& job, bool details,
                     std::optional<std::size_t> item) {
  const ErrorContext context = {.item = item};
  if (!details) {
    if (!job.message) raise(Domain::kResponse, job.message.error(), context);
    return to_object(*job.message);
  }
  if (job.read_error.is_valid()) {
    return to_tuple({.error = job.read_error});
  }
  if (!job.message) {
    return to_tuple({.error = exception_of(Domain::kResponse,
                                           job.message.error(), context)});
  }
  return to_tuple({.message = to_object(*job.message), .complete = true});
}

void read_row(nb::handle response, const Vocabulary* vocabulary, bool details,
              Job& job) {
  if (details) {
    job.read_error = caught([&] { read(response, vocabulary, job); });
  } else {
    read(response, vocabulary, job);
  }
}

nb::object parse_one(const SchemaObject& schema, nb::handle response,
                     const Vocabulary* vocabulary, bool details) {
  Job job;
  read_row(response, vocabulary, details, job);
  if (job.response.text.size() > kThreadBytes) {
    on_threads(1, job.response.text.size(),
               [&](std::size_t, const Stop&) { work(job, schema.schema); });
  } else {
    work(job, schema.schema);
  }
  return result_of(job, details, std::nullopt);
}

nb::object parse_many(const SchemaObject& schema, nb::list responses,
                      const Vocabulary* vocabulary, bool details) {
  std::vector<Job> jobs(nb::len(responses));
  std::size_t total = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    read_row(responses[i], vocabulary, details, jobs[i]);
    check_signals();
    total += jobs[i].response.text.size();
  }
  on_threads(jobs.size(), total,
             [&](std::size_t i, const Stop&) { work(jobs[i], schema.schema); });
  nb::list results;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    results.append(result_of(jobs[i], details, i));
  }
  return results;
}

}  // namespace

nb::object parse_text_by_schema(nb::handle schema, nb::handle response) {
  const SchemaObject* object = nullptr;
  if (!PyUnicode_CheckExact(response.ptr()) || !nb::try_cast(schema, object) ||
      object == nullptr) {
    return {};
  }
  const auto text = utf8_of(response);
  if (!text || text->size() > kThreadBytes) return {};
  const Result<json::Value> message = object->schema.parse(
      *text, {.allow_surrogates = true, .well_formed = true});
  if (!message) raise(Domain::kResponse, message.error());
  return to_object(*message);
}

void define_schema(nb::module_& m) {
  nb::class_<SchemaObject>(m, "ResponseSchema")
      .def(
          "__init__",
          [](SchemaObject* self, std::string_view text) {
            new (self) SchemaObject(from_json(text));
          },
          nb::arg("text"))
      .def_prop_ro(
          "source",
          [](const SchemaObject& self) { return to_str(self.source); },
          doc::response_schema::kSource)
      .def("lint", &lint, nb::sig("def lint(self) -> list[dict[str, str]]"),
           doc::response_schema::kLint);
  m.def(
      "is_schema",
      [](std::string_view text) {
        Result<json::Value> spec = json::parse(text);
        // A format file has a key of its own.
        return spec && ResponseSchema::is_schema(*spec) &&
               spec->find("response_template") == nullptr;
      },
      nb::arg("text"));
  m.def("parse_schema_one", &parse_one, nb::arg("schema"),
        nb::arg("response").none(), nb::arg("vocabulary").none(),
        nb::arg("details"));
  m.def("parse_schema_many", &parse_many, nb::arg("schema"),
        nb::arg("responses"), nb::arg("vocabulary").none(), nb::arg("details"));
}

}  // namespace parlance::python
