"""The review as a page on this machine: Starlette behind uvicorn, on 127.0.0.1 alone, behind a secret address.

Only requests for this host, with the secret in their path and, where they change something, from this page itself are
answered. Everything a person typed into the data leaves as JSON and becomes text nodes.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.resources import files
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tielink.faults import Fault, InputError
from tielink.report.content import short
from tielink.report.tables import value_of
from tielink.review.session import AUDIT, REVIEW, STEPS, Asked, Session

__all__ = ["Server", "application"]

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
SAFE = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
ASSETS = {"": ("review", "review.html", "text/html"), "page.css": ("report", "page.css", "text/css"),
          "review.css": ("review", "review.css", "text/css"),
          "review.js": ("review", "review.js", "text/javascript")}  # fmt: skip
MOST_NEIGHBOURS = 8
MOST_FOUND = 8
LARGEST = 100_000
"""Bytes of a request."""


def application(session: Session, token: str, hosts: tuple[str, ...]) -> Starlette:
    """Return the web application; `hosts` are the names by which this machine may be asked for."""

    def guarded(handle: Callable[[Any], Any], method: str) -> Route:
        async def answer(request: Request) -> Response:
            if not _is_ours(request, token, hosts):
                return PlainTextResponse("There is nothing here.", 404, SAFE)
            origins = {f"http://{host}" for host in hosts}
            if method == "POST" and request.headers.get("origin") not in origins:
                return PlainTextResponse("Not from this page.", 403, SAFE)
            if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
                return PlainTextResponse("Not from this page.", 403, SAFE)
            return await handle_safely(request, handle, method)

        return Route("/{token}/" + handle.__name__, answer, methods=[method])

    def question(given: Any) -> Any:
        return _question(session, session.next(_tab(given), _about(given)))

    def status(given: Any) -> Any:
        return _status(session)

    def answer(given: Any) -> Any:
        chosen = given["chosen"]
        if isinstance(chosen, bool) or not isinstance(chosen, int | str):
            raise ValueError("no such answer")
        return session.answer(_tab(given), _asked(given), chosen) | _status(session)

    def undo(given: Any) -> Any:
        session.undo(_tab(given), _about(given))
        return _status(session)

    def change(given: Any) -> Any:
        session.change(_tab(given), _asked(given))
        return {}

    def past(given: Any) -> Any:
        return _past(session)

    def search(given: Any) -> Any:
        return _search(session, str(given["text"]), int(given["record"]))

    reads, writes = (question, status, past, search), (answer, undo, change)
    routes = [Route("/{token}/" + name, _asset(token, hosts, name), methods=["GET"]) for name in ASSETS]
    routes += [guarded(handle, "GET") for handle in reads] + [guarded(handle, "POST") for handle in writes]
    return Starlette(routes=routes)


async def handle_safely(request: Request, handle: Callable[..., Any], method: str) -> Response:
    """Read what is given, do the work in a thread, and answer in JSON; what makes no sense is refused."""
    try:
        if method == "POST":
            if int(request.headers.get("content-length") or 0) > LARGEST:
                raise ValueError("too long")
            given = await request.json()
        else:
            given = dict(request.query_params)
        return JSONResponse(await run_in_threadpool(handle, given), headers=SAFE)
    except (InputError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        return JSONResponse({"error": f"This cannot be answered: {error}"}, 400, SAFE)
    except OSError as error:
        return JSONResponse({"error": f"The answer could not be kept: {error.strerror or error}"}, 507, SAFE)


def _asset(token: str, hosts: tuple[str, ...], name: str) -> Callable[[Request], Awaitable[Response]]:
    package, file, kind = ASSETS[name]

    async def send(request: Request) -> Response:
        if not _is_ours(request, token, hosts):
            return PlainTextResponse("There is nothing here.", 404, SAFE)
        content = (files(f"tielink.{package}") / "assets" / file).read_text(encoding="utf-8")
        return Response(content, media_type=kind, headers=SAFE)

    return send


def _is_ours(request: Request, token: str, hosts: tuple[str, ...]) -> bool:
    """Whether a request is for this host and knows the secret."""
    known = secrets.compare_digest(request.path_params["token"].encode(), token.encode())
    return known and request.headers.get("host") in hosts


def _tab(given: Any) -> str:
    return str(given["tab"])[:40]


def _about(given: Any) -> str:
    if given["about"] not in (REVIEW, AUDIT):
        raise ValueError("no such question")
    return str(given["about"])


def _asked(given: Any) -> Asked:
    record, *shown = given["asked"]
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in (record, *shown)):
        raise ValueError("no such records")
    return _about(given), record, tuple(shown)


def _card(session: Session, record: int) -> dict[str, Any]:
    data = session.dataset
    file, key = data.records[record]
    values = [value_of(data, name, record) for name in data.columns]
    cut = [None if value is None else short(value) for value in values]
    return {"number": record, "file": file, "id": short(str(key)), "values": cut}


def _name(session: Session, record: int) -> str:
    """Return what a record is called in a picture: its first value, or its id."""
    data = session.dataset
    values = (value_of(data, name, record) for name in data.columns)
    return short(next((value for value in values if value), None) or str(data.records[record][1]))[:40]


def _neighbours(session: Session, record: int) -> set[int]:
    data = session.dataset
    file = int(data.records.file_of[record])
    ties = data.ties[data.files[file]]
    if ties is None:
        return set()
    own = record - data.records.offsets[file]
    rows = ties[(ties == own).any(axis=1)]
    return {int(a + b - own) + data.records.offsets[file] for a, b in rows}


def _question(session: Session, asked: Asked | None) -> dict[str, Any]:
    """Return a question with everything that the page shows of it."""
    if asked is None:
        return {"asked": None}
    about, record, shown = asked
    partners: dict[int, set[int]] = {}
    for a, b in session.linked().tolist():
        partners.setdefault(a, set()).add(b)
        partners.setdefault(b, set()).add(a)
    mine, options = _neighbours(session, record), []
    for other, chance in zip(shown, session.probabilities(asked), strict=True):
        theirs = _neighbours(session, other)
        common = [(n, m) for n in sorted(mine) for m in sorted((partners.get(n, set()) | {n}) & theirs)]
        names = [[_name(session, n), _name(session, m)] for n, m in common[:MOST_NEIGHBOURS]]
        more = {"common": names, "commons": len(common), "ties": len(theirs), "probability": round(chance, 3)}
        options.append(_card(session, other) | more)
    return {
        "asked": [record, *shown], "about": about, "fields": list(session.dataset.columns),
        "record": _card(session, record) | {"ties": len(mine)}, "options": options,
        "networks": any(ties is not None for ties in session.dataset.ties.values()),
    }  # fmt: skip


def _status(session: Session) -> dict[str, Any]:
    with session.lock:
        agreement, audit = session.now.agreement, session.audit()
        mine = [answer for answer in session.answers if answer.who == session.who]
        following = next((step for step in STEPS if step > audit.questions), None)
        return {
            "who": session.who, "answered": len(mine), "everybody": len(session.answers),
            "doubtful": session.doubtful(), "sampling": session.sampling is not None, "trouble": session.trouble,
            "agreement": "" if agreement is None or agreement.enough else str(agreement),
            "contradictions": [str(each) for each in session.settled.contradictions],
            "audit": str(audit), "asked": audit.questions, "following": following,
        }  # fmt: skip


def _past(session: Session) -> dict[str, Any]:
    with session.lock:
        latest = sorted(session.answers, key=lambda answer: answer.when, reverse=True)[:200]
        rows = []
        for answer in latest:
            about, record, shown = session.asked(answer)
            chosen = (
                answer.choice if isinstance(answer.chosen, str) else short(f"{answer.chosen[0]}: {answer.chosen[1]}")
            )
            rows.append(
                {"asked": [record, *shown], "about": about, "record": short(f"{answer.record[0]}: {answer.record[1]}"),
                 "chosen": chosen, "who": answer.who, "when": answer.when, "mine": answer.who == session.who}
            )  # fmt: skip
        return {"answers": rows}


def _search(session: Session, text: str, record: int) -> dict[str, Any]:
    """Find records of other files (of any, where files hold duplicates) by their ids and values."""
    data, found = session.dataset, []
    wanted = text.casefold().strip()
    if not wanted or not 0 <= record < len(data.records):
        return {"found": []}
    for other in range(len(data.records)):
        same_file = data.records.file_of[other] == data.records.file_of[record]
        if other == record or (same_file and session.first.allowed != "free"):
            continue
        card = _card(session, other)
        if any(wanted in str(value).casefold() for value in (card["id"], *card["values"]) if value is not None):
            found.append(card)
        if len(found) == MOST_FOUND:
            break
    return {"found": found}


class Server:
    """A server on a free port of 127.0.0.1; `address` is secret."""

    def __init__(self, session: Session, port: int = 0) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self.socket.bind(("127.0.0.1", port))
        except OSError as error:
            self.socket.close()
            what = f"{port} cannot be used: {error.strerror}."
            raise InputError([Fault("--port", what, "Name another, or none for one that is free.")]) from None
        self.port = int(self.socket.getsockname()[1])
        token = secrets.token_urlsafe(24)
        self.address = f"http://127.0.0.1:{self.port}/{token}/"
        hosts = (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        made = application(session, token, hosts)
        settings = uvicorn.Config(made, log_level="warning", access_log=False, lifespan="off", ws="none")
        self.server = uvicorn.Server(settings)

    def run(self) -> None:
        """Answer until Ctrl-C."""
        with suppress(KeyboardInterrupt):
            self.server.run(sockets=[self.socket])
