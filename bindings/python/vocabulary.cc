// Vocabulary: which bytes each token contributes.

#include "binding.h"

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

// Text of a file: a str, or the bytes as they were read.
std::string_view text_of(nb::handle value, std::string_view what) {
  if (!PyUnicode_Check(value.ptr())) {
    if (PyBytes_Check(value.ptr())) return bytes_of(value, what);
    raise_type(what, "str or bytes", value);
  }
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

Vocabulary checked(Result<Vocabulary> vocabulary) {
  if (!vocabulary) raise(Domain::kOther, vocabulary.error());
  return *std::move(vocabulary);
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

Vocabulary from_table(nb::handle tokens, nb::handle added_ids,
                      nb::handle control_ids, nb::handle special_ids,
                      nb::handle stop_ids) {
  if (!PyList_Check(tokens.ptr()) && !PyTuple_Check(tokens.ptr())) {
    raise_type("tokens", "a list with the bytes of each token", tokens);
  }
  std::vector<TokenEntry> entries;
  TokenId id = 0;
  for (nb::handle token : tokens) {
    if (token.is_none()) {
      entries.push_back({id++, "", TokenKind::kUnused});
    } else {
      entries.push_back({id++, std::string(bytes_of(token, "a token")),
                         TokenKind::kOrdinary});
    }
  }
  set_kind(entries, added_ids, "added_ids", TokenKind::kAdded);
  set_kind(entries, control_ids, "control_ids", TokenKind::kControl);
  set_kind(entries, special_ids, "special_ids", TokenKind::kControl);
  if (stop_ids.is_none()) return checked(Vocabulary::from_table(entries));
  return checked(
      Vocabulary::from_table(entries, read_ids(stop_ids, "stop_ids")));
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
    nb::object one = nb::make_tuple(nb::borrow(value));
    entries.push_back({read_ids(one, "special")[0],
                       std::string(text_of(key, "a key of special")),
                       TokenKind::kControl});
  }
  return checked(Vocabulary::from_tiktoken(text_of(ranks, "ranks"), entries));
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
            return checked(Vocabulary::from_text(text_of(text, "text")));
          },
          nb::arg("text"))
      .def_static(
          "from_tokenizer_json",
          [](nb::handle text) {
            return checked(
                Vocabulary::from_tokenizer_json(text_of(text, "text")));
          },
          nb::arg("text"))
      .def_static("from_tiktoken", &from_tiktoken, nb::arg("ranks"),
                  nb::arg("special") = nb::dict())
      .def_static(
          "from_file",
          [](nb::handle path) {
            // Python's open knows paths of all kinds and names the file when
            // it cannot be read.
            nb::object file =
                nb::module_::import_("builtins").attr("open")(path, "rb");
            nb::object content = file.attr("read")();
            file.attr("close")();
            return checked(Vocabulary::from_text(bytes_of(content, "file")));
          },
          nb::arg("path"))
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
      .def_prop_ro("has_stop_ids", &Vocabulary::has_stop_ids);
}

}  // namespace parlance::python
