"""As much of a W&B server as its own client needs to stream runs and to continue them; what it was sent is kept."""

import json
import re
import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VIEWER = {"id": "VXNlcjox", "name": "me", "username": "me", "email": "me@example.org", "admin": False, "flags": "{}"}


class WandbServer(ThreadingHTTPServer):
    """Listens on a free port; ``runs`` and ``views`` hold what is known of each run and view, by id."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.runs, self.views = {}, {}
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.environment = {"WANDB_API_KEY": "0" * 40, "WANDB_BASE_URL": self.url}

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def handle_error(self, request, client_address):
        """A client that ends drops its connections."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_PUT(self):
        self._body()
        self._answer({})

    def do_POST(self):
        body = self._body()
        if self.path.endswith("/graphql"):
            query = json.loads(body)
            name = re.search(r"(?:query|mutation)\s+(\w+)", query["query"]).group(1)
            answer = getattr(self, f"_{name}", lambda variables: {})
            self._answer({"data": answer(query.get("variables") or {})})
        elif self.path.endswith("/file_stream"):
            self._stream(self.path.split("/")[-2], json.loads(body))
            self._answer({"exitcode": None, "limits": {}})
        else:
            self._answer({})

    def _body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, content):
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, run, content):
        known = self.server.runs[run]
        for name, chunk in (content.get("files") or {}).items():
            rows = [json.loads(line) for line in chunk["content"]]
            if name == "wandb-history.jsonl":
                known["history"] += rows
            elif name == "wandb-summary.json":
                known["summary"] = rows[-1]
        if content.get("complete"):
            known["exit"] = content["exitcode"]

    def _UpsertBucket(self, asked):  # noqa: N802
        run = self.server.runs.setdefault(asked["name"], {"history": [], "summary": {}, "config": {}})
        names = {"groupName": "group", "jobType": "job_type", "sweep": "sweep", "project": "project", "tags": "tags"}
        run.update({own: asked[name] for name, own in names.items() if asked.get(name)})
        run["config"].update({key: item["value"] for key, item in json.loads(asked.get("config") or "{}").items()})
        project = {"id": "p", "name": run["project"], "entity": {"id": "e", "name": "me"}}
        bucket = {"id": asked["name"], "name": asked["name"], "displayName": asked["name"], "config": "{}"}
        bucket |= {"project": project, "sweepName": run.get("sweep"), "historyLineCount": len(run["history"])}
        return {"upsertBucket": {"bucket": bucket, "inserted": not run["history"]}}

    def _RunResumeStatus(self, asked):  # noqa: N802
        run = self.server.runs.get(asked["name"])
        bucket = run and {
            "id": asked["name"],
            "name": asked["name"],
            "summaryMetrics": json.dumps(run["summary"]),
            "historyLineCount": len(run["history"]),
            "logLineCount": 0,
            "eventsLineCount": 0,
            "historyTail": json.dumps([json.dumps(row) for row in run["history"][-1:]]),
            "eventsTail": "[]",
            "config": json.dumps({key: {"value": value} for key, value in run["config"].items()}),
            "wandbConfig": '{"t": 1}',
            "tags": [],
        }
        return {"model": {"id": "m", "name": "p", "entity": {"id": "e", "name": "me"}, "bucket": bucket}}

    def _Viewer(self, asked):  # noqa: N802
        return {"viewer": {**VIEWER, "entity": "me", "apiKeys": {"edges": []}, "teams": {"edges": []}}}

    def _ArtifactType(self, asked):  # noqa: N802
        return {"project": None}

    def _CreateArtifact(self, asked):  # noqa: N802
        sequence = {"id": "s", "latestArtifact": {"id": "QQ==", "versionIndex": 0}}
        return {"createArtifact": {"artifact": {"id": "QQ==", "state": "COMMITTED", "artifactSequence": sequence}}}

    def _CreateRunFiles(self, asked):  # noqa: N802
        files = [{"name": name, "uploadUrl": f"{self.server.url}/files"} for name in asked["files"]]
        return {"createRunFiles": {"runID": "r", "uploadHeaders": [], "files": files}}

    def _GetDefaultEntity(self, asked):  # noqa: N802
        return {"viewer": {"id": "u", "entity": "me"}}

    def _GetProjects(self, asked):  # noqa: N802
        return {"models": {"edges": [], "pageInfo": {"endCursor": None, "hasNextPage": False}}}

    def _UpsertView2(self, asked):  # noqa: N802
        key = asked.get("id") or b64encode(f"View:{len(self.server.views)}".encode()).decode()
        inserted = key not in self.server.views
        view = self.server.views.setdefault(key, {"id": key, "name": asked["name"]})
        view.update({name: asked[name] for name in ("type", "displayName", "description", "spec")})
        view["project"] = {"id": "p", "name": asked["projectName"], "entityName": asked["entityName"]}
        now = "2026-01-01T00:00:00Z"
        view.update({"createdAt": now, "updatedAt": now})
        return {"upsertView": {"view": view, "inserted": inserted}}

    _upsertView = _UpsertView2  # noqa: N815

    def _View(self, asked):  # noqa: N802
        found = [view for view in self.server.views.values() if view["name"] == asked["viewName"]]
        return {"project": {"allViews": {"edges": [{"node": view} for view in found]}}}

    def _SpecificReport(self, asked):  # noqa: N802
        return {"view": self.server.views.get(asked["reportId"])}
