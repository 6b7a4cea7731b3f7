//! Events, messages and masks are those that the C++ library gave.

mod support;

use parlance::{
    Compiler, Constraint, Event, Format, Grammar, Language, Markers, Parser, ParserOptions, Result,
    Tools,
};
use support::Json;

fn flat(event: &Event<'_>) -> Json {
    let number = |number: u64| Json::Number(number.try_into().expect("a small number"));
    let text = |text: &str| Json::Text(text.into());
    Json::List(vec![
        Json::Number(event.kind().as_raw().into()),
        number(event.flags().as_raw().into()),
        number(event.field_index().into()),
        number(event.call().into()),
        number(event.bytes().start),
        number(event.bytes().end),
        number(event.tokens().start),
        number(event.tokens().end),
        text(event.field()),
        text(event.text()),
        text(event.call_id()),
        Json::Number(event.code().map_or(0, |code| code.as_raw().into())),
    ])
}

/// Feeds pieces, and compares the events of each call and the message.
fn compare<'a, P>(
    case: &Json,
    parser: &mut Parser,
    pieces: impl Iterator<Item = P>,
    feed: impl for<'p> Fn(&'p mut Parser, P) -> Result<parlance::Events<'p>>,
) -> Result<()>
where
    P: 'a,
{
    let mut calls = Vec::new();
    calls.push(Json::List(parser.initial()?.map(|event| flat(&event)).collect()));
    for piece in pieces {
        calls.push(Json::List(feed(parser, piece)?.map(|event| flat(&event)).collect()));
    }
    calls.push(Json::List(parser.finalize()?.map(|event| flat(&event)).collect()));
    assert_eq!(calls, case.get("calls").list(), "{}", case.get("format").text());
    assert_eq!(parser.chat_message()?, case.get("message").text());
    Ok(())
}

/// FNV-1a.
fn sum(words: &[i32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let sum =
        bytes.fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{sum:08x}")
}

fn ids(case: &Json) -> Vec<u32> {
    case.get("ids").list().iter().map(|id| id.number().try_into().expect("an id")).collect()
}

fn compare_masks(case: &Json, compiler: &Compiler, constraint: &Constraint) -> Result<()> {
    let mut matcher = constraint.matcher()?;
    let mut mask = vec![0; compiler.mask_words()];
    for (id, wanted) in ids(case).into_iter().zip(case.get("masks").list()) {
        matcher.fill(&mut mask)?;
        assert_eq!(sum(&mask), wanted.text(), "{case:?}");
        assert!(parlance::allowed(&mask).any(|allowed| allowed == id));
        assert!(matcher.accept(id)?);
    }
    Ok(())
}

#[test]
fn answers_are_the_recorded_ones() -> Result<()> {
    let cases = support::cases();
    let (setup, cases) = cases.split_first().expect("a first line");
    let vocabulary = support::vocabulary(setup);
    let compiler = Compiler::new(&vocabulary, "")?;
    let tools = Tools::from_json(setup.get("tools").text())?;
    let by_text = r#"{"markers": "text"}"#;
    let options = ParserOptions {
        tools: Some(&tools),
        stream_calls: true,
        attempts: true,
        ..Default::default()
    };
    let mut families = std::collections::BTreeSet::new();
    for case in cases {
        match case.get("kind").text() {
            "grammar" => {
                let language = case.get("language").number().try_into().expect("a language");
                let grammar = Grammar::compile(
                    Language::from_raw(language),
                    case.get("text").text(),
                    None,
                    "",
                )?;
                compare_masks(case, &compiler, &compiler.compile_grammar(&grammar, by_text)?)?;
            }
            "text" => {
                let format = Format::built_in(case.get("format").text())?;
                families.insert(case.get("format").text());
                let options =
                    ParserOptions { prefix: case.get("prefix").text().as_bytes(), ..options };
                let text = case.get("text").text().as_bytes();
                let mut cuts: Vec<usize> = vec![0];
                cuts.extend(case.get("cuts").list().iter().map(|cut| cut.number() as usize));
                cuts.push(text.len());
                let pieces = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]);
                compare(case, &mut format.parser(&options)?, pieces, Parser::feed)?;
            }
            "ids" => {
                let format = Format::built_in(case.get("format").text())?;
                let request = &setup.get("requests").list()[case.get("request").number() as usize];
                let tag = format.tag(request.text(), Some(&vocabulary))?;
                compare_masks(case, &compiler, &compiler.compile_tag(&tag, by_text)?)?;
                let options = ParserOptions {
                    vocabulary: Some(&vocabulary),
                    markers: Markers::TEXT,
                    ..options
                };
                let ids = ids(case);
                let mut parser = format.parser(&options)?;
                compare(case, &mut parser, ids.chunks(12), Parser::feed_tokens)?;
            }
            other => panic!("no such kind: {other}"),
        }
    }
    assert!(families.into_iter().eq(parlance::formats()), "a family has no case");
    Ok(())
}
