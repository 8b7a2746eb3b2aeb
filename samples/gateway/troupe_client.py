"""A client of Troupe's gateway. It needs nothing but Python 3.8.

    with Client("http://127.0.0.1:8080", token) as kitchen:
        print(kitchen.ask("cup", atom("stir"), value("kitchen.spoon", {"metal": "tin"})))
"""
import base64
import http.client
import json
import os
import socket
import ssl
import struct
import urllib.parse


class Refused(Exception):
    """The gateway or the actor has refused: `status` (0 on a WebSocket), `code` and `text`."""
    def __init__(self, status, error):
        self.status, self.code, self.text = status, error.get("code", ""), error.get("text", "")
        super().__init__(self.text)


def value(type_name, content):
    """A value of a message, by the alias of its type."""
    return {"type": type_name, "value": content}


def atom(text):
    return {"atom": text}


def message(values):
    return values[0] if len(values) == 1 else list(values)


def contents(answer):
    """The values of an answer without their types: one, or a list."""
    return [each["value"] for each in answer] if isinstance(answer, list) else answer["value"]


class Client:
    """Sends one request after the other over one connection."""
    def __init__(self, url, token, timeout=30):
        self.url, self.token, self.timeout = urllib.parse.urlsplit(url), token, timeout
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        self.connection = kind(self.url.hostname, self.url.port, timeout=timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def request(self, method, path, body=None, **headers):
        self.connection.request(method, path, body, {"Authorization": "Bearer " + self.token, **headers})
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status >= 400:
            raise Refused(answer.status, json.loads(data or b'{"error": {}}')["error"])
        return data

    def ask(self, actor, *values, timeout_ms=30000):
        """Sends a request to an exposed actor and returns the content of its answer."""
        headers = {"Content-Type": "application/json", "Troupe-Timeout-Ms": str(timeout_ms)}
        return contents(json.loads(self.request("POST", "/actors/" + actor, json.dumps(message(values)), **headers)))

    def schema(self):
        return json.loads(self.request("GET", "/schema"))

    def read(self, name, first=0, last=""):
        """The bytes of an object from `first` to `last`."""
        return self.request("GET", "/objects/" + name, Range="bytes=%s-%s" % (first, last))

    def make(self, data):
        """Makes an object of these bytes and returns its id."""
        return json.loads(self.request("PUT", "/objects", data))["id"]

    def delete(self, name):
        self.request("DELETE", "/objects/" + name)

    def socket(self, actor, on_request=None):
        """Opens a WebSocket to an exposed actor. `on_request` answers the requests of actors, which come while `receive`
        reads: it gets the content of a request, and returns a value, or a list of values, or raises an exception."""
        return Socket(self.url, self.token, actor, self.timeout, on_request)


class Socket:
    """A WebSocket: requests with answers in any order, and what actors send to this client or ask it."""
    def __init__(self, url, token, actor, timeout, on_request=None):
        self.on_request = on_request
        self.stream = socket.create_connection((url.hostname, url.port), timeout)
        if url.scheme == "https":
            self.stream = ssl.create_default_context().wrap_socket(self.stream, server_hostname=url.hostname)
        self.last_id, self.answers, self.messages, self.buffer = 0, {}, [], b""
        self.stream.sendall(("GET /actors/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nUpgrade: websocket\r\n"
                             "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n" % (
                                 actor, url.netloc, token, base64.b64encode(os.urandom(16)).decode())).encode())
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if head.split()[1] != b"101":
            raise Refused(int(head.split()[1]), {"text": "the gateway opens no WebSocket to " + actor})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()

    def fill(self):
        data = self.stream.recv(65536)
        if not data:
            raise ConnectionError("the gateway has closed the connection")
        self.buffer += data

    def take(self, count):
        while len(self.buffer) < count:
            self.fill()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def send(self, word, opcode=1):
        data = word if opcode == 10 else json.dumps(word).encode()
        size, mask = len(data), os.urandom(4)
        length = (struct.pack("!B", 0x80 | size) if size < 126 else
                  struct.pack("!BH", 0xFE, size) if size < 65536 else struct.pack("!BQ", 0xFF, size))
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.stream.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def receive(self):
        """Reads one text of the gateway, which may come in several frames."""
        text, first = b"", 0
        while not (first & 0x80 and first & 0x0F in (0, 1)):
            first, size = self.take(2)
            if size >= 126:
                size, = struct.unpack("!H", self.take(2)) if size == 126 else struct.unpack("!Q", self.take(8))
            data = self.take(size)
            if first & 0x0F == 8:
                raise ConnectionError("the gateway has closed the WebSocket: " + data[2:].decode())
            if first & 0x0F == 9:
                self.send(data, opcode=10)
            text += data if first & 0x0F in (0, 1) else b""
        word = json.loads(text)
        if "id" in word:
            self.answers[word["id"]] = word
        elif "request" in word:
            self.send({"answer": word["request"], **self.answer_to(word["message"])})
        elif "message" in word:
            self.messages.append(contents(word["message"]))
        else:
            raise Refused(0, word["error"])

    def answer_to(self, question):
        if self.on_request is None:
            return {"error": "this client answers no requests"}
        try:
            given = self.on_request(contents(question))
        except Exception as problem:
            return {"error": str(problem)}
        return {"message": message(given) if isinstance(given, (list, tuple)) else given}

    def tell(self, *values):
        """Sends a message without an answer."""
        self.send({"message": message(values)})

    def begin(self, *values):
        """Sends a request and returns its id, for `answer`."""
        self.last_id += 1
        self.send({"id": self.last_id, "message": message(values)})
        return self.last_id

    def answer(self, request):
        while request not in self.answers:
            self.receive()
        word = self.answers.pop(request)
        if "error" in word:
            raise Refused(0, word["error"])
        return contents(word["answer"])

    def ask(self, *values):
        return self.answer(self.begin(*values))

    def message(self):
        """The next message that an actor has sent to this client."""
        while not self.messages:
            self.receive()
        return self.messages.pop(0)
