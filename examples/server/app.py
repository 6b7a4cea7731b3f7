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
    max_body_bytes=1 << 20,
    compile_seconds=5.0,
):
    """Returns an ASGI application.

    Args:
        served: a ``Served``.
        rows, waiting: as of ``Engine``.
        max_body_bytes: the largest request.
        compile_seconds: the most time for the grammar of one request.
    """
    server = _Server(served, max_body_bytes, compile_seconds)

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
        ],
        lifespan=lifespan,
        exception_handlers={api.Refused: _refusal},
    )


class _Server:
    def __init__(self, served, max_body_bytes, compile_seconds):
        self.served = served
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
        body = await self._body(http)
        return await self._answer(http, api.chat_completion(body))

    async def responses(self, http):
        body = await self._body(http)
        return await self._answer(http, api.response(body))

    async def _body(self, http):
        parts, size = [], 0
        try:
            async for part in http.stream():
                parts.append(part)
                size += len(part)
                if size > self.max_body_bytes:
                    raise api.Refused(
                        f"The body has more than {self.max_body_bytes} bytes.",
                        code="too_large",
                        status=413,
                    )
        except ClientDisconnect:  # nobody reads the answer
            raise api.Refused("The body is not whole.", code="bad_json") from None
        return api.parse_json(b"".join(parts))

    def _check_model(self, name):
        if name != self.served.name:
            raise api.Refused(
                f"There is no model {name!r}; this server has {self.served.name!r}.",
                "/model",
                code="model_not_found",
                status=404,
            )

    async def _answer(self, http, request):
        self._check_model(request.model)
        gone = asyncio.create_task(_until_gone(http))
        started = False
        try:
            job, prompt_tokens = await self._job(request, gone)
            try:
                self.engine.submit(job)
            except Busy:
                raise api.Refused(
                    "Too many requests are waiting.", code="busy", status=503
                ) from None
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
                    _server_sent(bodies, request, gone),
                    media_type="text/event-stream",
                    headers={"Cache-Control": "no-cache"},
                )
            async for _ in bodies:
                pass
            return JSONResponse(_with_echo(stream.response, request))
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
                "/messages" if request.api == "chat_completions" else "/input",
                code="context_length_exceeded",
            )
        parser = self.served.format.parser(
            prompt.prefix,
            tools=request.tools,
            vocabulary=model.vocabulary,
            stream_calls=True,
        )
        choose = sampler(request.temperature, request.top_p, request.seed)
        limit = left if request.max_tokens is None else min(left, request.max_tokens)
        job = Job(prompt.ids, constraint, parser, choose, max(1, limit))
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
        yield chunk.body
    async for update in job.updates():
        for chunk in stream.feed(update.events):
            yield chunk.body
        if update.end in ("stop", "length"):
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


async def _server_sent(bodies, request, gone):
    """The lines of server-sent events."""
    try:
        async for body in bodies:
            name = ""
            if request.api == "responses":
                name = f"event: {body['type']}\n"
                if "response" in body:
                    body["response"] = _with_echo(body["response"], request)
            yield f"{name}data: {_dumps(body)}\n\n"
        if request.api == "chat_completions":
            yield "data: [DONE]\n\n"
    except api.Refused as error:
        # The status has been sent already.
        name = "event: error\n" if request.api == "responses" else ""
        yield f"{name}data: {_dumps({'type': 'error', **error.body()})}\n\n"
    finally:
        gone.cancel()  # which cancels the job


async def _until_gone(http):
    while (await http.receive())["type"] != "http.disconnect":
        pass


def _with_echo(response, request):
    return response | request.echo


def _dumps(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


async def _refusal(http, error):
    return JSONResponse(error.body(), status_code=error.status)
