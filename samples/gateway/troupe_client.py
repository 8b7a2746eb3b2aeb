"""A client of Troupe's gateway. It needs nothing but Python 3.10, and troupe_socket.py beside it for WebSockets. One
thread at a time may use a Client or a Socket.

    with Client("http://127.0.0.1:8080", token) as kitchen:
        print(kitchen.ask("cup", atom("stir"), value("kitchen.spoon", {"metal": "tin"})))

Calls fail with `Refused`, with `TimeoutError`, or with another `OSError` if the connection fails or the other side is
no gateway. All times are deadlines of whole calls, whatever comes meanwhile.
"""
import http.client
import json
import socket
import ssl
import time
import urllib.parse

GRACE = 5  # Seconds more than the gateway has for an answer, so that its own refusal (504) comes first.


class Refused(Exception):
    """The gateway or the actor has refused: `status` (0 on a WebSocket), `code` and `text`."""
    def __init__(self, status, error, otherwise=""):
        error = error if isinstance(error, dict) else {}
        self.status, self.code, self.text = status, error.get("code", ""), error.get("text", otherwise)
        super().__init__(self.text)


def value(type_name, content):
    """A value of a message, by the alias of its type."""
    return {"type": type_name, "value": content}


def atom(text):
    return {"atom": text}


def message(values):
    return values[0] if len(values) == 1 else list(values)


def field(of, *names):
    """The first of these fields that a JSON object has."""
    for name in names:
        if isinstance(of, dict) and name in of:
            return of[name]
    raise ConnectionError("this is no text of a gateway, without %s: %.200r" % (" or ".join(names), of))


def contents(answer):
    """The values of an answer without their types: one, or a list."""
    if isinstance(answer, list):
        return [field(each, "value", "atom") for each in answer]
    return field(answer, "value", "atom")


def parsed(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ConnectionError("this is no text of a gateway: %.200r" % text) from None


def time_left(deadline):
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("nothing came until the deadline")
    return left


def refuse(status, data):
    try:
        error = json.loads(data)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        error = None
    raise Refused(status, error, "status %d: %s" % (status, data[:200].decode(errors="replace")))


def answer_of(connection):
    """The answer of HTTP, and its body."""
    try:
        answer = connection.getresponse()
        return answer, answer.read()
    except OSError:
        raise
    except http.client.HTTPException as problem:
        raise ConnectionError("this is no answer of HTTP: %r" % problem) from None


class Timed:
    """Ends each call of a stream at `deadline`. None: it does not wait at all."""
    deadline, is_silent, buffering = None, True, -1

    def limit(self):
        self.settimeout(0 if self.deadline is None else time_left(self.deadline))

    def makefile(self, mode):
        return super().makefile(mode, self.buffering)

    def recv_into(self, *where):
        self.limit()
        count = super().recv_into(*where)
        self.is_silent = self.is_silent and count == 0
        return count

    def sendall(self, data):
        self.limit()
        super().sendall(data)

    def receive(self, deadline):
        """What has come; empty at the end. None: nothing, of a stream that does not wait."""
        self.deadline, buffer = deadline, bytearray(65536)
        try:
            return buffer[:self.recv_into(buffer)]
        except (BlockingIOError, ssl.SSLWantReadError):
            return None

    def is_quiet(self):
        """False: something has come, or the stream has ended."""
        try:
            return self.receive(None) is None
        except OSError:
            return False


class PlainStream(Timed, socket.socket):
    pass


class TlsStream(Timed, ssl.SSLSocket):
    pass


class Client:
    """Sends one request after the other over one connection. After a failure, and after the gateway has closed the
    connection because it was idle, the next call dials again.

    A call is repeated by itself, once, only if the gateway cannot have handled it, or if that does no harm: the
    connection is an older one that breaks before any byte of an answer comes, and either the request could not be sent
    to its end, or it is a GET. So a message that may have arrived is never sent twice. The caller gets the OSError and
    has to decide.

    `timeout` is for requests that no actor answers, in seconds, and for dialing. `ask` has a time of its own.
    `ca_file` has the certificates (PEM) that an https:// gateway is checked with, instead of the system's.
    """
    def __init__(self, url, token, timeout=30, ca_file=None):
        self.url, self.token, self.timeout, self.tls = urllib.parse.urlsplit(url), token, timeout, None
        if self.url.scheme == "https":
            self.tls = ssl.create_default_context(cafile=ca_file)
            self.tls.sslsocket_class = TlsStream
        self.connection = http.client.HTTPConnection(self.url.hostname, self.url.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def dial(self, deadline):
        port = self.url.port or (443 if self.tls else 80)
        stream = socket.create_connection((self.url.hostname, port), time_left(deadline))
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls:
            return self.tls.wrap_socket(stream, server_hostname=self.url.hostname)
        return PlainStream(fileno=stream.detach())

    def request(self, method, path, body=None, headers=None, timeout=None):
        """Returns the body of the answer."""
        headers = {"Host": self.url.netloc, "Authorization": "Bearer " + self.token, **(headers or {})}
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        try:
            answer, data = self.exchange(deadline, method, path, body, headers)
        except BaseException:
            self.connection.close()  # Else the next request might get the answer to this one.
            raise
        return data if 200 <= answer.status < 300 else refuse(answer.status, data)

    def exchange(self, deadline, method, *rest):
        stream, unsent = self.connection.sock, None
        is_kept = stream is not None and stream.is_quiet()
        if not is_kept:
            self.connection.close()
            stream = self.connection.sock = self.dial(deadline)
        stream.deadline, stream.is_silent = deadline, True
        try:
            self.connection.request(method, *rest)
        except TimeoutError:
            raise
        except OSError as problem:
            unsent = problem  # The gateway may have said why: it does not read a body that it refuses.
        try:
            return answer_of(self.connection)
        except TimeoutError:
            raise
        except OSError as problem:
            if is_kept and stream.is_silent and (unsent or method == "GET"):
                self.connection.close()
                return self.exchange(deadline, method, *rest)
            raise unsent or problem

    def ask(self, actor, *values, timeout_ms=30000):
        """Sends a request to an exposed actor and returns the content of its answer."""
        headers = {"Content-Type": "application/json", "Troupe-Timeout-Ms": str(timeout_ms)}
        return contents(parsed(self.request("POST", "/actors/" + actor, json.dumps(message(values)).encode(), headers,
                                            timeout_ms / 1000 + GRACE)))

    def schema(self):
        return parsed(self.request("GET", "/schema"))

    def read(self, name, first=None, last=None):
        """The bytes of an object, or those from `first` to `last`."""
        is_whole = first is None and last is None
        headers = {} if is_whole else {"Range": "bytes=%d-%s" % (first or 0, "" if last is None else last)}
        return self.request("GET", "/objects/" + name, headers=headers)

    def make(self, data):
        """Makes an object of these bytes and returns its id."""
        return field(parsed(self.request("PUT", "/objects", data)), "id")

    def delete(self, name):
        self.request("DELETE", "/objects/" + name)

    def socket(self, actor, on_request=None, text_bytes_max=1 << 24):
        """Opens a WebSocket to an exposed actor. `on_request` answers the requests of actors, which come while the
        socket waits for something: it gets the content of a request, and returns a value, or a list of values, or
        raises an exception. If the gateway sends a text of more than `text_bytes_max`, the socket ends."""
        from troupe_socket import Socket  # Clients without WebSockets do not need that file.
        return Socket(self, actor, on_request, text_bytes_max)
