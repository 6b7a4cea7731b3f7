//! As bench/bindings/cost.cc, whose cost bench/bench_bindings.py compares this with.

use parlance::{Compiler, Format, Language, ParserOptions, Result, TokenOptions, Vocabulary};

const PIECE: usize = 4;
const RESPONSE: &str = "Let me think about what was asked, and look it up. \
    The weather of several cities is wanted, for the days of next week.\n\
    <tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \
    \"Bern\", \"unit\": \"celsius\", \"days\": [1, 2, 3, 5, 8]}}\n\
    </tool_call>\n";
const SCHEMA: &str = "{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}, \
    \"days\": {\"type\": \"integer\", \"maximum\": 14}}, \"required\": [\"city\", \"days\"]}";
const TEXT: &str = "{\"city\": \"Bern and its lakes\", \"days\": 12}";

fn feed(rounds: u32) -> Result<u64> {
    let format = Format::built_in("hermes_qwen2_5")?;
    let text = RESPONSE.repeat(8);
    let options = ParserOptions { stream_calls: true, ..Default::default() };
    let mut sum = 0;
    for _ in 0..rounds {
        let mut parser = format.parser(&options)?;
        for piece in text.as_bytes().chunks(PIECE) {
            for event in parser.feed(piece)? {
                sum += event.kind().as_raw() as u64 + event.text().len() as u64;
            }
        }
        for event in parser.finalize()? {
            sum += event.kind().as_raw() as u64 + event.text().len() as u64;
        }
    }
    Ok(sum)
}

fn fill(rounds: u32, times: u32) -> Result<u64> {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let letters = b'a'..=b'z';
    for a in letters.clone() {
        tokens.extend(letters.clone().map(|b| vec![a, b]));
    }
    for a in letters.clone() {
        for b in letters.clone() {
            tokens.extend(letters.clone().map(|c| vec![a, b, c]));
        }
    }
    tokens.push(b"<end>".to_vec());
    let stop = [tokens.len() as u32 - 1];
    let options = TokenOptions { stop_ids: Some(&stop), ..Default::default() };
    let compiler = Compiler::new(&Vocabulary::from_tokens(tokens, &options)?, "")?;
    let constraint = compiler.compile(Language::JSON_SCHEMA, SCHEMA, "")?;
    let mut mask = vec![0; compiler.mask_words()];
    let mut sum = 0;
    for _ in 0..rounds {
        let mut matcher = constraint.matcher()?;
        for byte in TEXT.bytes() {
            for _ in 0..times {
                sum += u64::from(matcher.fill(&mut mask)?);
            }
            sum += u64::from(mask[1] as u32);
            sum += u64::from(matcher.accept(byte.into())?);
        }
    }
    Ok(sum)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let number =
        |index: usize| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(1);
    let feeds = arguments.get(1).is_some_and(|what| what == "feed");
    println!("{}", if feeds { feed(number(2))? } else { fill(number(2), number(3))? });
    Ok(())
}
