//! Handles are freed, shared and exchanged with C; misuse is an error.

mod support;

use std::thread;

use parlance::{
    Batch, Chat, Compiler, Constraint, DraftTree, Error, Format, Grammar, Language, MaskId, Masks,
    Matcher, MatcherOptions, Parser, ParserOptions, Result, Status, Step, Table, Tag, TokenKind,
    TokenOptions, Tools, Vocabulary,
};

fn letters() -> Vocabulary {
    let options = TokenOptions { stop_ids: Some(&[2]), ..Default::default() };
    Vocabulary::from_tokens(["a", "b", "<end>"], &options).expect("a vocabulary")
}

fn status<T>(result: Result<T>) -> Status {
    result.err().map_or(Status::OK, |error| error.status())
}

/// Kilobytes of this process; 0 where nobody says it.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4
}

/// Makes many of everything: memory stays as it is after the first ones.
#[test]
fn a_hundred_thousand_objects_leave_nothing() -> Result<()> {
    let vocabulary = letters();
    let compiler = Compiler::new(&vocabulary, "")?;
    let format = Format::built_in("qwen3")?;
    let constraint = compiler.compile(Language::REGEX, "ab*", "")?;
    let mut before = 0;
    let rounds = 10_000;
    for round in 0..rounds {
        if round == rounds / 10 {
            before = memory();
        }
        // Ten objects.
        let mut parser = format.clone().parser(&ParserOptions::default())?;
        parser.feed("<think>Bern.</think>Hi")?;
        let mut chat = Chat::new(&format, "")?;
        chat.feed(&parser)?;
        let mut matcher = constraint.matcher()?;
        matcher.accept(0)?;
        let other = matcher.try_clone()?;
        let tools = Tools::from_json("[]")?;
        let with_encoder = vocabulary.with_encoder(|text| vec![0; text.len()])?;
        let mut batch = Batch::new(1)?;
        batch.add(Some(other), None)?;
        let error = Format::built_in("qwen_4711").unwrap_err();
        assert_eq!(error.status(), Status::UNKNOWN_FORMAT);
        drop((tools, with_encoder, batch, chat));
    }
    let grown = memory().saturating_sub(before);
    assert!(grown < 4096, "memory grew by {grown} kB");
    Ok(())
}

#[test]
fn immutable_handles_are_shared() -> Result<()> {
    fn shared<T: Send + Sync + Clone>() {}
    fn sent<T: Send>() {}
    shared::<Format>();
    shared::<Tools>();
    shared::<Vocabulary>();
    shared::<Tag>();
    shared::<parlance::CompiledTag>();
    shared::<Grammar>();
    shared::<Compiler>();
    shared::<Constraint>();
    sent::<Parser>();
    sent::<Matcher>();
    sent::<Chat>();
    sent::<parlance::Sse>();
    sent::<Batch>();
    fn table<T: Send + Sync>() {}
    table::<Table>();
    table::<Error>();

    let format = Format::built_in("qwen3")?;
    let compiler = Compiler::new(&letters(), "")?;
    let table = Table::new(&compiler, 16)?;
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for text in ["ab", "a*", "(a|b)*"] {
                    let mut parser = format.parser(&ParserOptions::default()).unwrap();
                    parser.feed(text).unwrap();
                    parser.finalize().unwrap();
                    assert!(parser.chat_message().unwrap().contains(text));
                    let constraint = compiler.compile(Language::REGEX, text, "").unwrap();
                    let mut matcher = constraint.matcher().unwrap();
                    table.id_of(&mut matcher).unwrap();
                    assert!(matcher.accept(0).unwrap());
                }
            });
        }
    });
    assert!(!table.is_empty());
    // A parser moves to another thread with what it has read.
    let mut parser = format.parser(&ParserOptions::default())?;
    parser.feed("Hel")?;
    let message = thread::spawn(move || {
        parser.feed("lo").unwrap();
        parser.finalize().unwrap();
        parser.chat_message().unwrap()
    });
    assert!(message.join().unwrap().contains("Hello"));
    Ok(())
}

#[test]
fn handles_are_exchanged_with_c() -> Result<()> {
    let format = Format::built_in("qwen3")?;
    let raw = format.clone().into_raw();
    // SAFETY: the reference is the clone's.
    let again = unsafe { Format::from_raw(raw) };
    drop(format);
    assert!(again.describe()?.contains("qwen3"));
    let mut parser = again.parser(&ParserOptions::default())?;
    parser.feed("Hi")?;
    // SAFETY: as above.
    let parser = unsafe { Parser::from_raw(parser.into_raw()) };
    assert_eq!(parser.prefix_bytes(), 0);
    Ok(())
}

#[test]
fn misuse_is_an_error() -> Result<()> {
    let vocabulary = letters();
    let compiler = Compiler::new(&vocabulary, "")?;
    let constraint = compiler.compile(Language::REGEX, "ab", "")?;
    let mut matcher = constraint.matcher()?;
    assert_eq!(status(matcher.fill(&mut [])), Status::BAD_SIZE);
    let other = &mut constraint.matcher()?;
    let both = &mut [&mut matcher, other];
    assert!(Matcher::fill_many(both, None, &mut [0], 1, 1).is_err());
    assert!(Matcher::fill_many(both, Some(&[0]), &mut [0; 2], 1, 1).is_err());
    assert!(Matcher::fill_many(both, Some(&[0, usize::MAX]), &mut [0; 2], 1, 1).is_err());
    assert!(Matcher::fill_many(both, None, &mut [0; 2], usize::MAX, 1).is_err());
    for (first_child, tokens) in [(&[7_i64, -1][..], &[0_i64, 1][..]), (&[-1], &[0, 1])] {
        let tree = DraftTree { first_child, next_sibling: &[-1, -1], tokens };
        assert!(matcher.fill_tree(&tree, &mut [0; 2], 1, 0, None).is_err());
    }
    let tree = DraftTree { first_child: &[1, -1], next_sibling: &[-1, -1], tokens: &[0, 1] };
    assert!(matcher.fill_tree(&tree, &mut [0], 1, 0, None).is_err());
    assert!(matcher.fill_tree(&tree, &mut [0; 2], 1, 0, Some(&mut [0.0])).is_err());
    assert_eq!(matcher.fill_tree(&tree, &mut [0; 2], 1, 0, Some(&mut [0.0; 2]))?, 2);
    let unknown = Language::from_raw(99);
    assert_eq!(status(Grammar::compile(unknown, "", None, "")), Status::BAD_ARGUMENT);
    assert_eq!(format!("{unknown:?} {:?}", Language::GBNF), "Language(99) GBNF");
    assert_eq!(status(Table::new(&compiler, 0)), Status::BAD_ARGUMENT);
    let table = Table::new(&compiler, 4)?;
    assert_eq!(status(table.rows(0..1)), Status::BAD_ARGUMENT);
    assert_eq!(table.rows(0..0)?, [0; 0]);
    assert_eq!(vocabulary.token(99), (&b""[..], TokenKind::UNUSED));
    assert_eq!(vocabulary.special("<nothing>")?, None);

    let format = Format::built_in("qwen3")?;
    let mut parser = format.parser(&ParserOptions::default())?;
    assert_eq!(status(parser.feed_tokens(&[0])), Status::USAGE);
    assert_eq!(status(parser.tree()), Status::USAGE);
    parser.finalize()?;
    assert!(parser.is_finalized());
    assert_eq!(status(parser.feed("more")), Status::FINALIZED);

    let other = Format::from_json(
        r#"{"start_anchor": ">", "fields": {"content": {}, "more": {"open": "<"}}}"#,
        "",
    )?;
    let mut parser = other.parser(&ParserOptions::default())?;
    parser.feed("a<b")?;
    let small = Format::from_json(r#"{"start_anchor": ">", "fields": {"content": {}}}"#, "")?;
    assert_eq!(status(Chat::new(&small, "")?.feed(&parser)), Status::BAD_ARGUMENT);

    let mut batch = Batch::new(1)?;
    assert_eq!(status(batch.add(None, Some(parser))), Status::USAGE);
    assert_eq!(status(batch.remove(7)), Status::BAD_ARGUMENT);
    let step = Step { row: 7, ..Default::default() };
    assert!(batch.step(&[step], Masks::new(&mut [], 0)).is_err());
    Ok(())
}

#[test]
fn a_batch_steps_and_gives_its_rows_back() -> Result<()> {
    let vocabulary = letters();
    let compiler = Compiler::new(&vocabulary, "")?;
    let constraint = compiler.compile(Language::REGEX, "a+b", "")?;
    let format = Format::from_json(r#"{"start_anchor": ">", "fields": {"content": {}}}"#, "")?;
    let options = ParserOptions { vocabulary: Some(&vocabulary), ..Default::default() };
    let table = Table::new(&compiler, 4)?;
    let mut batch = Batch::new(2)?;
    let rows = [0, 1].map(|_| {
        batch.add(Some(constraint.matcher().unwrap()), Some(format.parser(&options).unwrap()))
    });
    let [first, second] = [rows[0].clone()?, rows[1].clone()?];
    let mut words = [0; 2];
    for tokens in [&[0_u32, 0][..], &[1]] {
        let steps = [first, second].map(|row| Step {
            row,
            tokens,
            mask_row: Some(row as usize),
            ..Default::default()
        });
        let masks = Masks { table: Some(&table), ..Masks::new(&mut words, 1) };
        let made = batch.step(&steps, masks)?;
        assert_eq!(made.len(), 2);
        for result in made.iter() {
            assert_eq!(result.accepted(), tokens.len() as u64);
            assert!(matches!(result.mask_id(), MaskId::Row(_)), "{result:?}");
            let text: String = result.events().map(|event| event.text()).collect();
            assert_eq!(text, if tokens.len() == 2 { "aa" } else { "b" });
        }
    }
    assert!(batch.matcher(first).is_some_and(|matcher| matcher.can_end()));
    assert!(batch.parser(second).is_some_and(|parser| !parser.is_finalized()));
    let (_, parser) = batch.remove(first)?;
    let mut parser = parser.expect("the parser");
    parser.finalize()?;
    assert!(parser.result()?.contains("aab"));
    Ok(())
}

#[test]
fn a_matcher_goes_back() -> Result<()> {
    let compiler = Compiler::new(&letters(), "")?;
    let constraint = compiler.compile(Language::REGEX, "ab|ba", "")?;
    let mut matcher = constraint
        .matcher_with(&MatcherOptions { stop_ids: Some(&[1]), default_temperature: Some(0.5) })?;
    assert_eq!(matcher.temperature()?, Some(0.5));
    assert_eq!(matcher.accept_tokens(&[0])?, 1);
    assert_eq!(matcher.forced_text(9)?, b"b");
    assert_eq!(matcher.steps(), 1);
    assert!(matcher.rollback(1)? && !matcher.rollback(1)?);
    assert!(matcher.accept_bytes("ba")?);
    assert!(matcher.can_end() && !matcher.is_terminated());
    matcher.reset()?;
    assert!(matcher.failure()?.is_none());
    let saved = compiler.constraint_from_bytes(&constraint.to_bytes()?)?;
    assert!(saved.matcher()?.accept(0)?);
    Ok(())
}

#[test]
fn versions_are_those_of_the_library() {
    assert_eq!(parlance::abi(), {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(parlance::version(), version);
        (parlance_sys::PARLANCE_ABI as u32, parlance_sys::PARLANCE_ABI_MINOR as u32)
    });
}
