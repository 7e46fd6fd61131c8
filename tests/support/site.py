"""The whole site on a free port, in this process and on its test database."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application


class _Handler(WSGIRequestHandler):
    """One request a connection, so that its thread and database connection end with it."""

    protocol_version = "HTTP/1.0"

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


@contextmanager
def served() -> Iterator[str]:
    """Serve it for the length of a block, static files included; yield its address."""
    server = ThreadedWSGIServer(("127.0.0.1", 0), _Handler, ipv6=False)
    server.daemon_threads = False
    server.set_app(get_wsgi_application())
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()
