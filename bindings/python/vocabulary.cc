// Vocabulary: which bytes each token contributes.  What a tokenizer's object
// has to say is found out in parlance/_tokenizers.py.

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "binding.h"
#include "slowly.h"

namespace parlance::python {

namespace {

std::string_view bytes_of(nb::handle value, std::string_view what) {
  if (!PyBytes_Check(value.ptr())) raise_type(what, "bytes", value);
  char* begin = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(value.ptr(), &begin, &size) != 0) {
    throw nb::python_error();
  }
  return {begin, static_cast<std::size_t>(size)};
}

// Python's own error where there is nothing at `path`.
void check_exists(nb::handle path) {
  nb::module_::import_("os").attr("stat")(path);
}

Vocabulary checked(Result<Vocabulary> vocabulary) {
  if (!vocabulary) raise(Domain::kOther, vocabulary.error());
  return *std::move(vocabulary);
}

// Makes one without the GIL: a large one takes a second.
Vocabulary made_by(const std::function<Result<Vocabulary>()>& make) {
  Vocabulary made = checked([&] {
    nb::gil_scoped_release release;
    return make();
  }());
  check_signals();
  return made;
}

void set_kind(std::vector<TokenEntry>& entries, nb::handle ids,
              std::string_view what, TokenKind kind) {
  for (TokenId id : read_ids(ids, what)) {
    if (id >= entries.size()) {
      raise_usage(std::string(what) + " contains " + std::to_string(id) +
                  ", and tokens has only " + std::to_string(entries.size()) +
                  " entries");
    }
    if (entries[id].kind != TokenKind::kUnused) entries[id].kind = kind;
  }
}

std::optional<std::vector<TokenId>> optional_ids(nb::handle ids,
                                                 std::string_view what) {
  if (ids.is_none()) return std::nullopt;
  return read_ids(ids, what);
}

// Calls `use` with each item of a list or a tuple, as it is and not as a class
// made of it iterates.
template <class Use>
void for_items(nb::handle items, const Use& use) {
  const bool list = PyList_Check(items.ptr());
  // The size is asked each time: another thread may change a list.
  for (Py_ssize_t i = 0;
       i < (list ? PyList_Size(items.ptr()) : PyTuple_Size(items.ptr())); ++i) {
    use(nb::borrow(list ? PyList_GetItem(items.ptr(), i)
                        : PyTuple_GetItem(items.ptr(), i)));
  }
}

Vocabulary from_table(nb::handle tokens, nb::handle added_ids,
                      nb::handle control_ids, nb::handle special_ids,
                      nb::handle stop_ids) {
  if (!PyList_Check(tokens.ptr()) && !PyTuple_Check(tokens.ptr())) {
    raise_type("tokens", "a list with the bytes of each token", tokens);
  }
  std::vector<TokenEntry> entries;
  TokenId id = 0;
  for_items(tokens, [&](nb::handle token) {
    if (token.is_none()) {
      entries.push_back({id++, "", TokenKind::kUnused});
    } else {
      entries.push_back({id++, std::string(bytes_of(token, "a token")),
                         TokenKind::kOrdinary});
    }
  });
  set_kind(entries, added_ids, "added_ids", TokenKind::kAdded);
  set_kind(entries, control_ids, "control_ids", TokenKind::kControl);
  set_kind(entries, special_ids, "special_ids", TokenKind::kControl);
  const auto stops = optional_ids(stop_ids, "stop_ids");
  return made_by([&] { return Vocabulary::from_table(entries, stops); });
}

Vocabulary from_tiktoken(nb::handle ranks, nb::handle special) {
  std::vector<TokenEntry> entries;
  if (!PyDict_Check(special.ptr())) {
    raise_type("special", "a dict of spellings and ids", special);
  }
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(special.ptr(), &position, &key, &value)) {
    // Held: a number may be an object whose __index__ changes the dict.
    const nb::object name = nb::borrow(key);
    const nb::object one = nb::make_tuple(nb::borrow(value));
    entries.push_back({read_ids(one, "special")[0],
                       std::string(text_of(name, "a key of special")),
                       TokenKind::kControl});
  }
  const std::string_view text = text_of(ranks, "ranks");
  return made_by([&] { return Vocabulary::from_tiktoken(text, entries); });
}

TokenSpelling spelling_of(nb::handle name) {
  const std::string_view text = text_of(name, "vocab_type");
  if (text == "raw") return TokenSpelling::kRaw;
  if (text == "byte_fallback") return TokenSpelling::kByteFallback;
  if (text == "byte_level") return TokenSpelling::kByteLevel;
  raise_usage(
      "vocab_type must be \"raw\", \"byte_fallback\" or "
      "\"byte_level\", not \"" +
      std::string(text) + "\"");
}

Vocabulary from_tokens(nb::handle tokens, nb::handle vocab_type,
                       nb::handle vocab_size, nb::handle added_ids,
                       nb::handle control_ids, nb::handle stop_ids) {
  if (!PyList_Check(tokens.ptr()) && !PyTuple_Check(tokens.ptr())) {
    raise_type("tokens", "a list of str or bytes", tokens);
  }
  std::vector<std::string> texts;
  for_items(tokens, [&](nb::handle token) {
    texts.emplace_back(token.is_none() ? std::string_view()
                                       : text_of(token, "a token"));
  });
  const auto added = read_ids(added_ids, "added_ids");
  const auto control = read_ids(control_ids, "control_ids");
  const auto stops = optional_ids(stop_ids, "stop_ids");
  TokenList list{.tokens = texts,
                 .spelling = spelling_of(vocab_type),
                 .added_ids = added,
                 .control_ids = control};
  if (stops) list.stop_ids = *stops;
  if (!vocab_size.is_none()) {
    nb::object one = nb::make_tuple(nb::borrow(vocab_size));
    list.model_size = read_ids(one, "vocab_size")[0];
  }
  return made_by([&] { return Vocabulary::from_tokens(list); });
}

// A function of Python as an encoder.  It may be called and destroyed on any
// thread.  What it raises is reported, not raised: the ids that it owes are
// then not known.
class PythonEncoder {
 public:
  explicit PythonEncoder(nb::handle function)
      : function_(nb::borrow(function).release().ptr(), &drop) {}

  std::vector<TokenId> operator()(std::string_view text) const {
    nb::gil_scoped_acquire acquire;
    try {
      return read_ids(nb::handle(function_.get())(to_str(text)),
                      "what the encoder returns");
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("the encoder of a parlance.Vocabulary");
    }
    return {};
  }

 private:
  static void drop(PyObject* function) {
    if (Py_IsInitialized() == 0) return;
    nb::gil_scoped_acquire acquire;
    Py_DECREF(function);
  }

  std::shared_ptr<PyObject> function_;
};

Vocabulary with_encoder(const Vocabulary& self, nb::handle encoder) {
  if (encoder.is_none()) return self.with_encoder({});
  if (PyCallable_Check(encoder.ptr()) == 0) {
    raise_type("encoder", "a function of a str", encoder);
  }
  return self.with_encoder(PythonEncoder(encoder));
}

Vocabulary from_pretrained(nb::handle folder) {
  const std::string path = path_of(folder);
  check_exists(folder);
  return made_by([&] { return Vocabulary::from_pretrained(path); });
}

Vocabulary from_file(nb::handle file) {
  const std::string path = path_of(file);
  check_exists(file);
  return made_by([&] { return Vocabulary::from_file(path); });
}

Vocabulary from_model_files(nb::handle tokenizer_json,
                            nb::handle tokenizer_config,
                            nb::handle generation_config, nb::handle config) {
  const ModelFiles files = {
      .tokenizer_json = text_of(tokenizer_json, "tokenizer_json"),
      .tokenizer_config = text_of(tokenizer_config, "tokenizer_config"),
      .generation_config = text_of(generation_config, "generation_config"),
      .config = text_of(config, "config")};
  return made_by([&] { return Vocabulary::from_pretrained(files); });
}

nb::object to_list(std::span<const TokenId> ids) {
  nb::list out;
  for (TokenId id : ids) out.append(to_int(id));
  return out;
}

}  // namespace

void define_vocabulary(nb::module_& m) {
  // Python keeps the vocabulary's compiler with it.
  nb::class_<Vocabulary>(m, "Vocabulary", nb::dynamic_attr())
      .def(
          "__init__",
          [](Vocabulary* self, nb::handle tokens, nb::handle added_ids,
             nb::handle control_ids, nb::handle stop_ids,
             nb::handle special_ids) {
            new (self) Vocabulary(from_table(tokens, added_ids, control_ids,
                                             special_ids, stop_ids));
          },
          nb::arg("tokens"), nb::kw_only(),
          nb::arg("added_ids") = nb::make_tuple(),
          nb::arg("control_ids") = nb::make_tuple(),
          nb::arg("stop_ids") = nb::none(),
          // The older name of control_ids.
          nb::arg("special_ids") = nb::make_tuple())
      .def_static(
          "from_text",
          [](nb::handle text) {
            const std::string_view read = text_of(text, "text");
            return made_by([&] { return Vocabulary::from_text(read); });
          },
          nb::arg("text"))
      .def_static(
          "from_tokenizer_json",
          [](nb::handle text) {
            const std::string_view read = text_of(text, "text");
            return made_by(
                [&] { return Vocabulary::from_tokenizer_json(read); });
          },
          nb::arg("text"))
      .def_static("from_tiktoken", &from_tiktoken, nb::arg("ranks"),
                  nb::arg("special") = nb::dict())
      .def_static("from_file", &from_file, nb::arg("path").none())
      .def_static("from_pretrained", &from_pretrained, nb::arg("folder").none())
      .def_static("from_model_files", &from_model_files,
                  nb::arg("tokenizer_json"), nb::kw_only(),
                  nb::arg("tokenizer_config") = "",
                  nb::arg("generation_config") = "", nb::arg("config") = "")
      .def_static("from_tokens", &from_tokens, nb::arg("tokens"),
                  nb::arg("vocab_type") = "raw", nb::kw_only(),
                  nb::arg("vocab_size") = nb::none(),
                  nb::arg("added_ids") = nb::make_tuple(),
                  nb::arg("control_ids") = nb::make_tuple(),
                  nb::arg("stop_ids") = nb::none())
      .def_static(
          "from_tokenizer",
          [](nb::handle tokenizer, nb::handle stop_ids) {
            return nb::cast<Vocabulary>(
                nb::module_::import_("parlance._tokenizers")
                    .attr("vocabulary_of")(tokenizer, stop_ids));
          },
          nb::arg("tokenizer").none(), nb::kw_only(),
          nb::arg("stop_ids") = nb::none())
      .def(
          "with_stop_ids",
          [](const Vocabulary& self, nb::handle ids) {
            return checked(self.with_stop_ids(read_ids(ids, "ids")));
          },
          nb::arg("ids"))
      .def("with_encoder", &with_encoder, nb::arg("encoder").none())
      .def("with_space_after_marks", &Vocabulary::with_space_after_marks,
           nb::arg("space"))
      .def(
          "encode",
          [](const Vocabulary& self, nb::handle text) -> nb::object {
            if (!self.encoder()) {
              raise_usage(
                  "the vocabulary has no encoder; from_tokenizer and "
                  "with_encoder give it one");
            }
            return to_list(self.encoder()(text_of(text, "text")));
          },
          nb::arg("text"))
      .def("__len__", &Vocabulary::size)
      .def(
          "bytes",
          [](const Vocabulary& self, TokenId id) {
            return to_bytes(self.bytes(id));
          },
          nb::arg("id"))
      .def(
          "spelling",
          [](const Vocabulary& self, TokenId id) {
            return to_bytes(self.spelling(id));
          },
          nb::arg("id"))
      .def(
          "kind",
          [](const Vocabulary& self, TokenId id) {
            // ORDER: TokenKind
            constexpr const char* kNames[] = {"ordinary", "added", "control",
                                              "unused"};
            return kNames[static_cast<std::size_t>(self.kind(id))];
          },
          nb::arg("id"))
      .def(
          "special",
          [](const Vocabulary& self, nb::handle text) -> nb::object {
            std::optional<TokenId> id = self.special(text_of(text, "text"));
            if (!id) return nb::none();
            return to_int(*id);
          },
          nb::arg("text"))
      .def(
          "decode",
          [](const Vocabulary& self, nb::handle ids) {
            return to_str(self.decode(read_ids(ids, "ids")));
          },
          nb::arg("ids"))
      .def_prop_ro(
          "special_ids",
          [](const Vocabulary& self) { return to_list(self.special_ids()); })
      .def_prop_ro(
          "stop_ids",
          [](const Vocabulary& self) { return to_list(self.stop_ids()); })
      .def_prop_ro("has_stop_ids", &Vocabulary::has_stop_ids)
      .def_prop_ro("strip_leading_space", &Vocabulary::strip_leading_space)
      .def_prop_ro("space_after_marks", &Vocabulary::space_after_marks)
      .def_prop_ro("has_encoder", [](const Vocabulary& self) {
        return static_cast<bool>(self.encoder());
      });
}

}  // namespace parlance::python
