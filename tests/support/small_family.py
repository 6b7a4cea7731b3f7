"""The file of a small family: reasoning and content."""

FAMILY = {
    "name": "mine",
    "response_template": {
        "start_anchor": "A:",
        "fields": {
            "thinking": {"open": "<think>", "close": "</think>"},
            "content": {
                "content": "text",
                "content_args": {"strip": False},
                "repeats": True,
                "join": "",
            },
        },
    },
    "parlance": {
        "write": {
            "order": ["thinking?", "content?"],
            "thinking": {"parts": ["<think>", {"text": True}, "</think>"]},
            "content": {"parts": [{"text": True}]},
        }
    },
}
