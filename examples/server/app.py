"""The HTTP side: from a request to a job, and from a job to a response.

    app = create_app(Served("smollm2", model, parlance.Format("hermes"), prompt))

A request becomes the structural tag of exactly the responses that answer it:
tools, ``tool_choice``, ``parallel_tool_calls``, ``response_format`` and
reasoning in one grammar.  It is compiled in a pool of threads, with limits on
steps, memory and time, and until the client goes away.  The same format then
reads what the model writes, and ``ChatStream`` shapes the events for the API.
"""

import asyncio
import concurrent.futures
import contextlib
import json
import time
from typing import NamedTuple

import api
import parlance
from engine import Busy, Engine, Job, sampler
from parlance.chat import ChatStream
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from stops import StoppingParser

LIMITS = {"steps": 2_000_000, "bytes": 64 << 20, "depth": 256}


class Served(NamedTuple):
    """What the server serves."""

    name: str
    model: object  # see engine.FunctionModel
    format: parlance.Format
    prompt: object  # a function from api.Request to prompt.Prompt


def create_app(
    served,
    *,
    rows=8,
    waiting=256,
    max_body_bytes=32 << 20,
    compile_seconds=5.0,
):
    """Returns an ASGI application.

    Args:
        served: a ``Served``.
        rows: as of ``Engine``.
        waiting: how many requests may wait for a row, and how many for their
            grammar; others are answered with 503.
        max_body_bytes: the largest request.
        compile_seconds: the most time for the grammar of one request.
    """
    server = _Server(served, waiting, max_body_bytes, compile_seconds)

    @contextlib.asynccontextmanager
    async def lifespan(app):
        loop = asyncio.get_running_loop()
        app.state.engine = server.engine = Engine(
            served.model, loop, rows=rows, waiting=waiting
        )
        with concurrent.futures.ThreadPoolExecutor(2) as server.pool:
            yield
        server.engine.close()

    return Starlette(
        routes=[
            Route("/v1/models", server.models),
            Route("/v1/models/{name}", server.models),
            Route("/v1/chat/completions", server.chat_completions, methods=["POST"]),
            Route("/v1/responses", server.responses, methods=["POST"]),
            Route("/v1/messages", server.messages, methods=["POST"]),
        ],
        lifespan=lifespan,
        exception_handlers={api.Refused: _refusal},
    )


class _Server:
    def __init__(self, served, waiting, max_body_bytes, compile_seconds):
        self.served = served
        self.max_compiling = waiting
        self.compiling = 0  # requests whose grammar is not made yet
        self.compiler = parlance.Compiler(served.model.vocabulary)
        self.max_body_bytes = max_body_bytes
        self.compile_seconds = compile_seconds
        self.created = int(time.time())

    async def models(self, http):
        entry = {
            "id": self.served.name,
            "object": "model",
            "created": self.created,
            "owned_by": "parlance",
        }
        if "name" not in http.path_params:
            return JSONResponse({"object": "list", "data": [entry]})
        self._check_model(http.path_params["name"])
        return JSONResponse(entry)

    async def chat_completions(self, http):
        return await self._answer(http, api.chat_completion)

    async def responses(self, http):
        return await self._answer(http, api.response)

    async def messages(self, http):
        return await self._answer(http, api.message)

    async def _body(self, http):
        """The bytes of a body.

        As much again as a body may have is read and dropped: a client that is still
        sending would not see the refusal.
        """
        parts, size = [], 0
        try:
            async for part in http.stream():
                size += len(part)
                if size <= self.max_body_bytes:
                    parts.append(part)
                elif size > 2 * self.max_body_bytes:
                    break
        except ClientDisconnect:  # nobody reads the answer
            raise api.Refused("The body is not whole.", code="bad_json") from None
        if size > self.max_body_bytes:
            raise api.Refused(
                f"The body has more than {self.max_body_bytes} bytes.",
                code="too_large",
                status=413,
            )
        return b"".join(parts)

    def _check_model(self, name):
        if name != self.served.name:
            raise api.Refused(
                f"There is no model {name!r}; this server has {self.served.name!r}.",
                "/model",
                code="model_not_found",
                status=404,
            )

    async def _answer(self, http, read):
        body = await self._body(http)
        # Not on the loop, on which the other responses are sent.
        request = await asyncio.to_thread(lambda: read(api.parse_json(body)))
        self._check_model(request.model)
        gone = asyncio.create_task(_until_gone(http))
        started = False
        try:
            if self.compiling >= self.max_compiling:
                raise _busy()
            self.compiling += 1
            try:
                job, prompt_tokens = await self._job(request, gone)
            finally:
                self.compiling -= 1
            try:
                self.engine.submit(job)
            except Busy:
                raise _busy() from None
            gone.add_done_callback(lambda _: job.cancel())
            stream = ChatStream(
                self.served.format,
                api=request.api,
                model=self.served.name,
                created=int(time.time()),
            )
            bodies = _bodies(job, stream, request, prompt_tokens)
            if request.stream:
                started = True
                return StreamingResponse(
                    _server_sent(bodies, stream, request, gone),
                    media_type="text/event-stream",
                    headers={"Cache-Control": "no-cache"},
                )
            async for _ in bodies:
                pass
            return JSONResponse(_with_echo(stream.response, request, stream))
        finally:
            if not started:
                gone.cancel()

    async def _job(self, request, gone):
        """Compiles a request into a job.  Also returns the prompt's length."""
        deadline = time.monotonic() + self.compile_seconds
        loop = asyncio.get_running_loop()
        prompt, constraint = await loop.run_in_executor(
            self.pool,
            self._compile,
            request,
            lambda: gone.done() or time.monotonic() > deadline,
        )
        model = self.served.model
        left = model.context - len(prompt.ids)
        if left < 1:
            raise api.Refused(
                f"The prompt has {len(prompt.ids)} tokens, and the model reads at "
                f"most {model.context}.",
                "/input" if request.api == "responses" else "/messages",
                code="context_length_exceeded",
            )
        parser = self.served.format.parser(
            prompt.prefix,
            tools=request.tools,
            vocabulary=model.vocabulary,
            stream_calls=True,
        )
        parser = StoppingParser(parser, request.stop)
        choose = sampler(request.temperature, request.top_p, request.seed)
        limit = left if request.max_tokens is None else min(left, request.max_tokens)
        job = Job(prompt.ids, constraint, parser, choose, limit)
        return job, len(prompt.ids)

    def _compile(self, request, cancelled):
        """The prompt and the constraint of a request; in a thread of the pool."""
        try:
            prompt = self.served.prompt(request)
            tag = self.served.format.structural_tag(
                request.tools,
                tool_choice=request.tool_choice,
                parallel_tool_calls=request.parallel_tool_calls,
                reasoning=request.reasoning,
                response_format=request.response_format,
                prefix=prompt.prefix,
                max_white_space=16,
                max_reasoning_tokens=request.max_reasoning_tokens,
            )
        except parlance.Error as error:
            raise api.Refused(
                error.message, request.pointer(error.path or ""), code=error.code
            ) from error
        try:
            constraint = self.compiler.compile_structural_tag(
                tag, limits=LIMITS, cancelled=cancelled
            )
        except parlance.Error as error:
            raise self._explained(request, error, cancelled) from error
        return prompt, constraint

    def _explained(self, request, error, cancelled):
        """The refusal of a request whose tag does not compile.

        The error points into the tag.  The client knows only its schemas, so
        that each is compiled alone to find the one that is at fault.
        """
        if cancelled():
            return api.Refused(
                "The grammar of the request takes more than "
                f"{self.compile_seconds:g} seconds to compile.",
                code="too_large",
            )
        for pointer, schema in _schemas(request):
            try:
                parlance.Grammar.from_json_schema(
                    schema, limits=LIMITS, cancelled=cancelled
                )
            except parlance.Error as found:
                return api.Refused(
                    found.message,
                    request.pointer(pointer) + (found.path or ""),
                    code=found.code,
                )
        return api.Refused(error.message, code=error.code)


def _busy():
    return api.Refused("Too many requests are waiting.", code="busy", status=503)


def _schemas(request):
    """Pairs of a pointer and the schema there; the tools are well-formed."""
    for i, tool in enumerate(request.tools or ()):
        inside = f"/tools/{i}"
        if "function" in tool:
            tool, inside = tool["function"], inside + "/function"
        if isinstance(tool.get("parameters"), dict):
            yield inside + "/parameters", tool["parameters"]
    wanted, inside = request.response_format or {}, "/response_format"
    if isinstance(wanted.get("json_schema"), dict):
        wanted, inside = wanted["json_schema"], inside + "/json_schema"
    if isinstance(wanted.get("schema"), dict):
        yield inside + "/schema", wanted["schema"]
    elif wanted.get("type") not in ("text", "json_object", "json_schema"):
        yield inside, wanted  # a schema itself


async def _bodies(job, stream, request, prompt_tokens):
    """The objects of a streamed response; afterwards ``stream`` has it whole."""
    for chunk in stream.begin():
        if chunk.body.get("type") == "message_start":
            chunk.body["message"]["usage"]["input_tokens"] = prompt_tokens
        yield chunk.body
    async for update in job.updates():
        for chunk in stream.feed(update.events):
            yield chunk.body
        if update.end in ("stop", "length"):
            found = job.parser.found
            if found is not None and request.api == "messages":
                request.echo = {"stop_reason": "stop_sequence", "stop_sequence": found}
            for chunk in stream.end(
                update.end,
                prompt_tokens=prompt_tokens,
                completion_tokens=job.length,
            ):
                # The chunk of chat completions with the usage has no choice.
                if request.include_usage or chunk.body.get("choices") != []:
                    yield chunk.body
        elif isinstance(update.error, parlance.Error):  # of the request's grammar
            error = update.error
            raise api.Refused(error.message, code=error.code)
        elif update.end:
            raise api.Refused(
                "The response was cancelled."
                if update.end == "cancelled"
                else "The model failed.",
                code=update.end,
                status=500,
            )


async def _server_sent(bodies, stream, request, gone):
    """The lines of server-sent events."""
    try:
        async for body in bodies:
            name = f"event: {body['type']}\n" if "type" in body else ""
            for whole in ("response", "message"):
                if whole in body:
                    body[whole] = _with_echo(body[whole], request, stream)
            if body.get("type") == "message_delta":
                body["delta"] |= request.echo
            elif body.get("usage"):
                body["usage"] = _by_part(body["usage"], stream)
            yield f"{name}data: {_dumps(body)}\n\n"
        if request.api == "chat_completions":
            yield "data: [DONE]\n\n"
    except api.Refused as error:
        # The status has been sent already.
        name = "" if request.api == "chat_completions" else "event: error\n"
        body = {"type": "error", **error.body(request.api)}
        yield f"{name}data: {_dumps(body)}\n\n"
    finally:
        gone.cancel()  # which cancels the job


async def _until_gone(http):
    while (await http.receive())["type"] != "http.disconnect":
        pass


def _with_echo(response, request, stream):
    response = response | request.echo
    if response.get("usage"):
        response["usage"] = _by_part(response["usage"], stream)
    return response


def _by_part(usage, stream):
    """A usage in which OpenAI's details of the output have the other parts, too."""
    usage = dict(usage)
    for name in ("completion_tokens_details", "output_tokens_details"):
        if name in usage:
            parts = {f"{part}_tokens": n for part, n in stream.tokens.items()}
            usage[name] = parts | usage[name]
    return usage


def _dumps(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


async def _refusal(http, error):
    name = "messages" if http.url.path.endswith("/messages") else None
    return JSONResponse(error.body(name), status_code=error.status)
