// parse_response: whole responses, one or many.  A batch is parsed without the
// GIL, on as many threads as there are cores.  The results are the same as if
// the responses were parsed one after the other, including which error is
// raised.

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "events.h"
#include "interruptible.h"
#include "shortcut.h"

namespace parlance::python {

namespace {

struct Job {
  Input response;
  Input prefix;
  nb::object read_error;  // the exception of reading these, with `details`
  Fed fed;                // the response, if it is a str that outlives the job
  Message message;
  std::optional<Error> failure;
};

struct Shared {
  const Format& format;
  const ToolSet* tools;
  const Vocabulary* vocabulary;
  Recover recover;
  Markers markers;
  bool attempts;
};

// So much is read at once; Ctrl-C takes effect between two pieces.
constexpr std::size_t kPiece = std::size_t{1} << 18;

// Calls `feed` for consecutive pieces of a response until `stopped` returns
// true.
template <class Range, class Feed>
void feed_until(Range all, const Stop& stopped, const Feed& feed) {
  for (std::size_t at = 0; at < all.size() && !stopped();) {
    const std::size_t count = std::min(kPiece, all.size() - at);
    if constexpr (std::is_same_v<Range, std::string_view>) {
      feed(all.substr(at, count));
    } else {
      feed(all.subspan(at, count));
    }
    at += count;
  }
}

void work(Job& job, const Shared& shared, const Stop& stopped) {
  if (job.read_error.is_valid()) return;
  const Vocabulary* vocabulary =
      job.response.is_text ? nullptr : shared.vocabulary;
  ResponseParser parser(shared.format,
                        {.prefix = job.prefix.text,
                         .prefix_ids = job.prefix.ids,
                         .tools = shared.tools,
                         .vocabulary = vocabulary,
                         .markers = shared.markers,
                         .recover = shared.recover,
                         .attempts = shared.attempts,
                         .allow_surrogates = vocabulary == nullptr});
  if (job.response.is_text) {
    feed_until(job.response.text, stopped,
               [&](std::string_view piece) { parser.feed(piece); });
  } else {
    feed_until(std::span<const TokenId>(job.response.ids), stopped,
               [&](std::span<const TokenId> ids) { parser.feed_tokens(ids); });
  }
  if (stopped()) return;
  parser.finalize();
  if (parser.failure() != nullptr) job.failure = *parser.failure();
  job.message = std::move(parser).take_message();
}

std::size_t bytes(const Job& job) {
  return job.response.text.size() + 4 * job.response.ids.size() +
         job.prefix.text.size();
}

void work_all(std::vector<Job>& jobs, const Shared& shared) {
  std::size_t total = 0;
  for (const Job& job : jobs) total += bytes(job);
  on_threads(jobs.size(), total, [&](std::size_t i, const Stop& stopped) {
    work(jobs[i], shared, stopped);
  });
}

void read_response(nb::handle value, const Vocabulary* vocabulary, Input& in) {
  if (value.is_none()) return;  // upstream reads it as an empty text
  read_input(value, "response", in);
  if (!in.is_text && vocabulary == nullptr) {
    raise_usage(
        "a response of token ids needs vocabulary=, which says what "
        "text they are");
  }
}

// For a response of text, a prefix of ids is converted to text.
void read_prefix_for(Input& response, nb::handle prefix,
                     const Vocabulary* vocabulary, Input& in) {
  if (response.is_text) {
    read_prefix(prefix, vocabulary, in);
    in.ids.clear();
    continue_text(in.text, response);
  } else {
    read_marked_prefix(prefix, vocabulary, in);
  }
}

// The message, or with `details` the tuple of Details.
nb::object result_of(Job& job, bool details, std::optional<std::size_t> item) {
  const ErrorContext context = {.item = item};
  if (!details) {
    if (job.failure) raise(Domain::kResponse, *job.failure, context);
    return to_object(job.message.fields, job.fed);
  }
  if (job.read_error.is_valid()) {
    return to_tuple({.error = job.read_error});
  }
  Details out = {.diagnostics = to_list(job.message.diagnostics),
                 .turn_ended = job.message.turn_ended,
                 .attempted_calls = to_list(job.message.attempts),
                 .prefix_bytes = job.message.prefix_bytes};
  if (job.failure) {
    out.error = exception_of(Domain::kResponse, *job.failure, context);
  } else {
    out.message = to_object(job.message.fields, job.fed);
    out.complete = job.message.complete;
  }
  return to_tuple(std::move(out));
}

// Parses one response.
nb::object parse_one(const FormatObject& format, nb::handle response,
                     nb::handle prefix, const ToolSet* tools,
                     const Vocabulary* vocabulary, nb::handle recover,
                     nb::handle markers, bool details) {
  Job job;
  const auto read = [&] {
    read_response(response, vocabulary, job.response);
    read_prefix_for(job.response, prefix, vocabulary, job.prefix);
  };
  if (details) {
    job.read_error = caught(read);
  } else {
    read();
  }
  if (PyUnicode_CheckExact(response.ptr())) {
    job.fed = {response.ptr(), job.response.text};
  }
  Shared shared{format.format(),     tools,  vocabulary, to_recover(recover),
                to_markers(markers), details};
  if (bytes(job) > kThreadBytes) {
    on_threads(1, bytes(job), [&](std::size_t, const Stop& stopped) {
      work(job, shared, stopped);
    });
  } else {
    work(job, shared, [] { return false; });
  }
  return result_of(job, details, std::nullopt);
}

// The message of a response of one piece, or an invalid object if the arguments
// are not the usual ones: a Format and two texts, of type str.
nb::object parse_text(nb::handle spec, nb::handle response, nb::handle prefix) {
  const FormatObject* format = nullptr;
  if (!PyUnicode_CheckExact(response.ptr()) ||
      !PyUnicode_CheckExact(prefix.ptr()) || !nb::try_cast(spec, format) ||
      format == nullptr) {
    return {};
  }
  const auto text = utf8_of(response);
  const auto before = utf8_of(prefix);
  if (!text || !before || text->size() > kPiece) return {};
  std::unique_ptr<ResponseFields> fields = format->take_reader();
  const auto read = [&] {
    fields->read(format->format(), *text, {.prefix = *before},
                 /*well_formed=*/true);
  };
  if (text->size() + before->size() > kThreadBytes) {
    const WithoutGil released;
    read();
  } else {
    read();
  }
  if (fields->failure() != nullptr) {
    raise(Domain::kResponse, *fields->failure());
  }
  nb::object dict = nb::steal(PyDict_New());
  if (!dict.is_valid()) throw nb::python_error();
  for (const ResponseFields::Field& field : fields->fields()) {
    const nb::object key = to_key(field.name);
    const bool whole = field.value == nullptr && field.nodes.empty() &&
                       !text->empty() && field.text.data() == text->data() &&
                       field.text.size() == text->size();
    set(dict, key.ptr(),
        whole                    ? nb::borrow(response)
        : field.value != nullptr ? to_object(*field.value)
        : field.fixed            ? to_key(field.text)
        : field.nodes.empty()    ? to_str(field.text)
                                 : to_object(field.nodes));
  }
  format->leave_reader(std::move(fields));
  return dict;
}

struct ParseKeys {
  PyObject* prefix = interned("prefix");
};

// The cache of what was made of specs that are dicts.  Never destroyed.
PyObject* specs_of_dicts = nullptr;

// The shortcut of parse_response(response, format, prefix=prefix) and of
// parse_response(response, schema), also for dicts that were used before.
nb::object parse_usual(PyObject* const* args, std::size_t count,
                       PyObject* names) {
  const bool with_prefix =
      names != nullptr && NB_TUPLE_GET_SIZE(names) == 1 &&
      NB_TUPLE_GET_ITEM(names, 0) == made_at_import<ParseKeys>->prefix;
  if (count != 2 || (names != nullptr && !with_prefix)) return {};
  nb::object spec = nb::borrow(args[1]);
  if (PyDict_CheckExact(args[1])) {
    spec = find_cached(specs_of_dicts, args[1]);
    if (!spec.is_valid()) return {};
  }
  return with_prefix ? parse_text(spec, args[0], args[2])
                     : parse_text_by_schema(spec, args[0]);
}

// Parses a list of responses, with one prefix for all or one for each.
nb::object parse_many(const FormatObject& format, nb::list responses,
                      nb::list prefixes, const ToolSet* tools,
                      const Vocabulary* vocabulary, nb::handle recover,
                      nb::handle markers, bool details) {
  std::vector<Job> jobs(nb::len(responses));
  bool one = nb::len(prefixes) == 1;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto read = [&] {
      read_response(responses[i], vocabulary, jobs[i].response);
      read_prefix_for(jobs[i].response, prefixes[one ? 0 : i], vocabulary,
                      jobs[i].prefix);
    };
    if (details) {
      jobs[i].read_error = caught(read);
    } else {
      read();
    }
    check_signals();
  }
  Shared shared{format.format(),     tools,  vocabulary, to_recover(recover),
                to_markers(markers), details};
  work_all(jobs, shared);
  nb::list results;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    results.append(result_of(jobs[i], details, i));
  }
  return results;
}

}  // namespace

nb::object to_tuple(Details details) {
  return nb::make_tuple(details.message, details.complete, details.diagnostics,
                        details.error, details.turn_ended,
                        details.attempted_calls, details.prefix_bytes);
}

nb::object caught(const std::function<void()>& read) {
  try {
    read();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
    return nb::borrow(error.value());
  }
  return {};
}

void on_threads(std::size_t count, std::size_t bytes, const Work& work) {
  // glibc counts the cores by reading a file, which takes as long as parsing
  // 20 KB, so they are counted only where a second thread can help.
  std::size_t wanted = std::min(count, 1 + bytes / kThreadBytes);
  if (wanted > 1) {
    wanted = std::min<std::size_t>(
        wanted, std::max(1u, std::thread::hardware_concurrency()));
  }
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> ended = false;
  std::mutex mutex;
  std::exception_ptr failure;  // the first; guarded by the mutex
  const Stop stopped = [&] { return ended.load(std::memory_order_relaxed); };
  // Work that runs out of memory ends all, and the caller gets the exception.
  const auto run = [&](const Stop& stop) {
    try {
      for (std::size_t i = next++; i < count && !stop(); i = next++) {
        work(i, stop);
      }
    } catch (const std::exception&) {
      const std::lock_guard lock(mutex);
      if (failure == nullptr) failure = std::current_exception();
      ended = true;
    }
  };
  {
    const WithoutGil released;
    std::vector<std::thread> threads;
    // If the system refuses a thread, or has no memory for it, the work is done
    // by fewer.
    try {
      threads.reserve(wanted);
      while (threads.size() + 1 < wanted) {
        threads.emplace_back([&] { run(stopped); });
      }
    } catch (const std::exception&) {
    }
    // This thread works as well, and handles the signals.
    Signals signals;
    run([&] {
      if (!stopped() && signals.came()) ended = true;
      return stopped();
    });
    for (std::thread& thread : threads) thread.join();
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  if (failure != nullptr) std::rethrow_exception(failure);
}

void define_parse(nb::module_& m) {
  make_at_import<ParseKeys>();
  m.def(
      "parse_text",
      [](nb::handle spec, nb::handle response, nb::handle prefix) {
        nb::object parsed = parse_text(spec, response, prefix);
        return parsed.is_valid() ? parsed : nb::borrow(Py_NotImplemented);
      },
      nb::arg("spec").none(), nb::arg("response"), nb::arg("prefix"));
  m.def("with_text_shortcut", [](nb::handle cache, nb::handle parse_response) {
    specs_of_dicts = Py_NewRef(cache.ptr());
    return with_shortcut(parse_response, &parse_usual);
  });
  m.def("parse_one", &parse_one, nb::arg("format"), nb::arg("response").none(),
        nb::arg("prefix"), nb::arg("tools").none(),
        nb::arg("vocabulary").none(), nb::arg("recover").none(),
        nb::arg("markers"), nb::arg("details"));
  m.def("parse_many", &parse_many, nb::arg("format"), nb::arg("responses"),
        nb::arg("prefixes"), nb::arg("tools").none(),
        nb::arg("vocabulary").none(), nb::arg("recover").none(),
        nb::arg("markers"), nb::arg("details"));
}

}  // namespace parlance::python
