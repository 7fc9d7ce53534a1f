"""ClickHouse's own engine (chDB, PyPI) behind ClickHouse's HTTP interface: as much of it as clients need. Prints its port. Ends with its standard input."""

import base64
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

USER, PASSWORD, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])
engine = session.Session(sys.argv[4])
lock = threading.Lock()
OF_THE_TRANSPORT = {"query", "query_id", "database", "default_format", "session_id", "compress", "enable_http_compression", "wait_end_of_query"}


def literal(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(200, b"Ok.\n")

    def do_POST(self):
        body = self.body()
        expected = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") != expected:
            return self.answer(403, b"Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)\n", 516)
        asked = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        statement = asked.get("query", "").encode()
        statement = statement + b"\n" + body if statement else body
        with lock:
            try:
                engine.query(f"USE {asked.get('database', 'default')}")
                settings = [f"{name} = {literal(value)}" for name, value in asked.items() if name not in OF_THE_TRANSPORT]
                if settings:
                    engine.query(f"SET {', '.join(settings)}")
                answer = engine.query(statement.decode(), "TabSeparated").bytes()
            except Exception as error:
                code = re.search(r"Code: (\d+)", str(error))
                return self.answer(500, (str(error) + "\n").encode(), int(code.group(1)) if code else 1000)
        self.answer(200, answer or b"")

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def answer(self, status, body, code=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if code is not None:
            self.send_header("X-ClickHouse-Exception-Code", str(code))
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
os._exit(0)
