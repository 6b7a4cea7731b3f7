//! What tests have in common: a reader of JSON, and the recorded cases.
#![allow(dead_code)]

use std::path::PathBuf;

use parlance::{TokenOptions, Vocabulary};

/// A JSON value. Numbers of the recorded cases are whole.
#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    Number(i64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn parse(text: &str) -> Json {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value();
        assert_eq!(reader.at, text.len(), "{text}");
        value
    }

    pub fn get(&self, key: &str) -> &Json {
        let Json::Object(members) = self else { panic!("no object: {self:?}") };
        &members.iter().find(|(name, _)| name == key).unwrap_or_else(|| panic!("no {key}")).1
    }

    pub fn text(&self) -> &str {
        let Json::Text(text) = self else { panic!("no text: {self:?}") };
        text
    }

    pub fn number(&self) -> i64 {
        let Json::Number(number) = self else { panic!("no number: {self:?}") };
        *number
    }

    pub fn list(&self) -> &[Json] {
        let Json::List(list) = self else { panic!("no list: {self:?}") };
        list
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.as_bytes()[self.at]
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    fn value(&mut self) -> Json {
        match self.peek() {
            b'"' => Json::Text(self.string()),
            b'[' => {
                self.at += 1;
                let mut list = Vec::new();
                while !self.skip(b']') {
                    list.push(self.value());
                    self.skip(b',');
                }
                Json::List(list)
            }
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                while !self.skip(b'}') {
                    let key = self.string();
                    assert!(self.skip(b':'));
                    members.push((key, self.value()));
                    self.skip(b',');
                }
                Json::Object(members)
            }
            _ => {
                let rest = &self.text[self.at..];
                let end = rest.find(|c: char| !"-0123456789".contains(c)).unwrap_or(rest.len());
                self.at += end;
                Json::Number(rest[..end].parse().expect("a whole number"))
            }
        }
    }

    fn string(&mut self) -> String {
        assert!(self.skip(b'"'));
        let mut out = String::new();
        while !self.skip(b'"') {
            if self.skip(b'\\') {
                let escape = self.peek();
                self.at += 1;
                out.push(match escape {
                    b'n' => '\n',
                    b't' => '\t',
                    b'r' => '\r',
                    b'b' => '\u{8}',
                    b'f' => '\u{c}',
                    b'u' => {
                        let code = u32::from_str_radix(&self.text[self.at..self.at + 4], 16);
                        self.at += 4;
                        char::from_u32(code.expect("four digits")).expect("no surrogate")
                    }
                    other => other.into(),
                });
            } else {
                let next = self.text[self.at..].chars().next().expect("a closed string");
                out.push(next);
                self.at += next.len_utf8();
            }
        }
        out
    }
}

/// The lines of bindings/testdata/cases.jsonl, whose README says what they mean. The
/// packed crate has a copy.
pub fn cases() -> Vec<Json> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let packed = here.join("tests/cases.jsonl");
    let path = if packed.exists() { packed } else { here.join("../../testdata/cases.jsonl") };
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(Json::parse).collect()
}

/// The vocabulary of the first line.
pub fn vocabulary(setup: &Json) -> Vocabulary {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    tokens.extend(setup.get("pieces").list().iter().map(|piece| piece.text().into()));
    tokens.push(setup.get("stop").text().into());
    let stop = [u32::try_from(tokens.len() - 1).expect("a small number")];
    let options = TokenOptions { control_ids: &stop, stop_ids: Some(&stop), ..Default::default() };
    Vocabulary::from_tokens(tokens, &options).expect("a vocabulary")
}
