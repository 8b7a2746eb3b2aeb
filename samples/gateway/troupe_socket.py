"""The WebSockets of troupe_client.py, which opens them: `Client.socket`."""
import base64
import hashlib
import http.client
import json
import os
import time

from troupe_client import GRACE, Refused, answer_of, contents, field, message, parsed, refuse


class Socket:
    """A WebSocket: requests with answers in any order, and what actors send to this client or ask it.

    The gateway sends a ping to a client that has sent nothing for half of its `idle_timeout` (60 s), and ends the socket
    if the other half passes without a sign of life. The pings are answered in each call, so call something in time;
    `serve` if there is nothing else to do. A call that times out while it waits leaves the socket usable.
    """
    def __init__(self, client, actor, on_request, text_bytes_max):
        self.on_request, self.timeout, self.text_bytes_max = on_request, client.timeout, text_bytes_max
        self.last_id, self.open, self.answers, self.messages = 0, {}, {}, []
        self.buffer, self.text, self.texts, self.why_ended = bytearray(), b"", [], ""
        key = base64.b64encode(os.urandom(16)).decode()
        accept = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        deadline = time.monotonic() + client.timeout
        self.stream = client.dial(deadline)
        try:
            self.stream.deadline, self.stream.buffering = deadline, 1  # Texts of the gateway may follow its answer.
            connection = http.client.HTTPConnection(client.url.hostname)
            connection.sock = self.stream
            connection.request("GET", "/actors/" + actor, headers={
                "Host": client.url.netloc, "Authorization": "Bearer " + client.token, "Upgrade": "websocket",
                "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key})
            answer, data = answer_of(connection)
            if answer.status != 101:
                refuse(answer.status, data)
            if answer.headers.get("Sec-WebSocket-Accept") != base64.b64encode(accept).decode():
                raise ConnectionError("this is no gateway: its Sec-WebSocket-Accept is wrong")
        except BaseException:
            self.stream.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self, code=1000, why="this client has closed the WebSocket"):
        if not self.why_ended:
            try:
                self.send_frame(code.to_bytes(2, "big"), 8, time.monotonic() + 1)
            except OSError:
                pass
            self.why_ended = why
            self.stream.close()

    def send_frame(self, data, opcode, deadline):
        size, mask = len(data), os.urandom(4)
        length = (bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big") if size < 65536 else
                  b"\xff" + size.to_bytes(8, "big"))
        keys = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(keys, "big")).to_bytes(size, "big")
        try:
            self.stream.deadline = deadline
            self.stream.sendall(bytes([0x80 | opcode]) + length + mask + masked)
        except OSError as problem:
            self.end("the WebSocket is broken: %s" % problem)  # Perhaps after half a frame.
            raise

    def send(self, text):
        """Sends a text. Takes in first what has come: pings, and texts until `text_bytes_max` of them wait here."""
        deadline = time.monotonic() + self.timeout
        while sum(map(len, self.texts)) < self.text_bytes_max and self.fill(None) and time.monotonic() < deadline:
            pass
        if self.why_ended:
            raise ConnectionError(self.why_ended)
        self.send_frame(text.encode(), 1, deadline)

    def end(self, why):
        self.why_ended = self.why_ended or why
        self.stream.close()

    def fill(self, deadline):
        """Takes in what has come, or comes until the deadline. False: nothing has, or the socket has ended."""
        if self.why_ended:
            return False
        try:
            data = self.stream.receive(deadline)
        except TimeoutError:
            raise
        except OSError as problem:
            return self.end("the WebSocket is broken: %s" % problem)
        if data == b"":
            return self.end("the gateway has closed the connection")
        self.buffer += data or b""
        pong_deadline = max(deadline or 0, time.monotonic()) + 1
        while data and not self.why_ended and self.take_frame(pong_deadline):
            pass
        return bool(data)

    def take_frame(self, pong_deadline):
        """Takes one whole frame from the buffer. False: none is there."""
        start = {126: 4, 127: 10}.get(self.buffer[1] & 0x7F, 2) if len(self.buffer) > 1 else 2
        if len(self.buffer) < start:
            return False
        size = self.buffer[1] & 0x7F if start == 2 else int.from_bytes(self.buffer[2:start], "big")
        if len(self.text) + size > self.text_bytes_max:
            self.close(1009, "the gateway sends a text of more than %d bytes" % self.text_bytes_max)
        if self.why_ended or len(self.buffer) < start + size:
            return False
        opcode, is_last, data = self.buffer[0] & 0x0F, self.buffer[0] & 0x80, bytes(self.buffer[start:start + size])
        del self.buffer[:start + size]
        if opcode == 8:
            self.close(1000, "the gateway has closed the WebSocket: " + data[2:].decode(errors="replace"))
        elif opcode == 9:
            self.send_frame(data, 10, pong_deadline)
        elif opcode in (0, 1):
            self.text += data
            if is_last:
                self.texts.append(self.text)
                self.text = b""
        elif opcode != 10:
            self.close(1003, "this is no gateway: it sends frames of the kind %d" % opcode)
        return True

    def receive(self, deadline):
        """Handles one text of the gateway, which has come or comes until the deadline."""
        self.fill(None)
        while not self.texts:
            if self.why_ended:
                raise ConnectionError(self.why_ended)
            self.fill(deadline)
        try:
            word = parsed(self.texts.pop(0))
            field(word, "id", "request", "message", "error")
            if "id" in word:
                self.answers.update({word["id"]: word} if word["id"] in list(self.open) else {})
            elif "request" in word:
                self.send(self.answer_to(word["request"], contents(field(word, "message"))))
            elif "message" in word:
                self.messages.append(contents(word["message"]))
        except ConnectionError as problem:
            self.close(1003, str(problem))
            raise
        if "id" not in word and "error" in word:
            raise Refused(0, word["error"])

    def answer_to(self, number, question):
        try:
            if self.on_request is None:
                raise Exception("this client answers no requests")
            given = self.on_request(question)
            given = message(given) if isinstance(given, (list, tuple)) else given
            return json.dumps({"answer": number, "message": given})
        except Exception as problem:
            return json.dumps({"answer": number, "error": str(problem)})

    def tell(self, *values):
        """Sends a message without an answer."""
        self.send(json.dumps({"message": message(values)}))

    def begin(self, *values, timeout_ms=30000):
        """Sends a request and returns its id, for `answer`."""
        self.last_id += 1
        self.send(json.dumps({"id": self.last_id, "timeout_ms": timeout_ms, "message": message(values)}))
        self.open[self.last_id] = time.monotonic() + timeout_ms / 1000 + GRACE
        return self.last_id

    def answer(self, request):
        try:
            while request not in self.answers:
                self.receive(self.open[request])
        except TimeoutError:
            del self.open[request]  # An answer that comes later is dropped.
            raise
        del self.open[request]
        word = self.answers.pop(request)
        if "error" in word:
            raise Refused(0, word["error"])
        return contents(field(word, "answer"))

    def ask(self, *values, timeout_ms=30000):
        return self.answer(self.begin(*values, timeout_ms=timeout_ms))

    def message(self, timeout=None):
        """The next message that an actor has sent to this client. It waits for `timeout` seconds, else the client's."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while not self.messages:
            self.receive(deadline)
        return self.messages.pop(0)

    def serve(self, seconds):
        """Answers pings and requests of actors for so long. 0: those that have come. Messages wait for `message`."""
        deadline = time.monotonic() + seconds
        try:
            while True:
                self.receive(deadline)
        except TimeoutError:
            pass
