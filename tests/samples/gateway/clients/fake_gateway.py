"""A gateway that does what a test says, right or wrong: each connection follows the next script, a function of a Peer."""
import base64
import hashlib
import json
import socket
import threading

TOKEN = "t" * 32


class Peer:
    """The gateway's end of one connection. No call waits for more than ten seconds."""
    def __init__(self, stream):
        self.stream, self.source = stream, stream.makefile("rb")

    def request(self, with_body=True):
        """Reads a request: its first line, its headers with names in small letters, and its body."""
        first, headers = self.source.readline().decode().strip(), {}
        while line := self.source.readline().decode().strip():
            name, _, text = line.partition(":")
            headers[name.lower()] = text.strip()
        return first, headers, self.source.read(int(headers.get("content-length", 0))) if with_body else b""

    def answer(self, body, status=200, more=""):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.stream.sendall(b"HTTP/1.1 %d Said\r\n%sContent-Length: %d\r\n\r\n%s" % (status, more.encode(), len(data), data))

    def upgrade(self, accept=None, and_also=b""):
        headers = self.request()[1]
        key = headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = accept or base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        protocol = "Sec-WebSocket-Protocol: troupe.1\r\n" if "sec-websocket-protocol" in headers else ""
        self.stream.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             "Sec-WebSocket-Accept: %s\r\n%s\r\n" % (accept, protocol)).encode() + and_also)

    @staticmethod
    def frame(data, first=0x81):
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + len(data).to_bytes(2, "big")
        return bytes([first]) + size + data

    def send(self, data, first=0x81):
        self.stream.sendall(self.frame(data, first))

    def receive(self):
        """Reads one frame: its kind and its data, of a text the JSON."""
        first, size = self.source.read(2)
        assert size & 0x80, "clients must mask their frames"
        size &= 0x7F
        if size >= 126:
            size = int.from_bytes(self.source.read(2 if size == 126 else 8), "big")
        mask = self.source.read(4)
        data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(self.source.read(size)))
        return first & 0x0F, json.loads(data) if first & 0x0F == 1 else data

    def take_leave(self):
        """Answers the client's close frame, unless the connection has ended before."""
        try:
            while self.source.peek(1) and self.receive()[0] != 8:
                pass
            self.send(b"\x03\xe8", 0x88)
        except ConnectionError:
            pass

    def wait_for_end(self):
        try:
            while self.source.read1(65536):
                pass
        except ConnectionError:
            pass


class FakeGateway:
    """Serves until the scripts are done. Leaving it fails if one of them failed, or if its connection never came."""
    def __init__(self, *scripts, tls=None):
        self.scripts, self.tls, self.failure = scripts, tls, None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(10)
        self.url = "%s://127.0.0.1:%d" % ("https" if tls else "http", self.listener.getsockname()[1])
        self.thread = threading.Thread(target=self.serve)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.listener.shutdown(socket.SHUT_RDWR)  # The test has failed: nobody connects any more.
        self.thread.join()
        self.listener.close()
        if kind is None and self.failure:
            raise self.failure

    def serve(self):
        try:
            for script in self.scripts:
                self.follow(script, self.listener.accept()[0])
        except Exception as problem:
            self.failure = problem

    def follow(self, script, stream):
        stream.settimeout(10)
        with stream if self.tls is None else self.tls.wrap_socket(stream, server_side=True) as stream:
            peer = Peer(stream)
            script(peer)
            peer.source.close()


class FakeService(FakeGateway):
    """For clients that choose their connections themselves: the steps are functions of a Peer and a request, which it has
    read. They follow one another over all connections. A step that returns True ends its connection."""
    def __init__(self, *steps):
        super().__init__()
        self.steps, self.threads, self.streams = list(steps), [], []

    def serve(self):
        try:
            while True:
                stream = self.listener.accept()[0]
                self.streams.append(stream)
                self.threads.append(threading.Thread(target=self.serve_one, args=[stream]))
                self.threads[-1].start()
        except OSError:
            pass

    def serve_one(self, stream):
        try:
            self.follow(self.take_steps, stream)
        except Exception as problem:
            self.failure = self.failure or problem

    def take_steps(self, peer):
        while (request := peer.request())[0]:
            if self.steps.pop(0)(peer, request):
                break

    def __exit__(self, kind, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        for stream in self.streams:
            try:
                stream.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # It has ended before.
        for thread in self.threads:
            thread.join()
        self.listener.close()
        if kind is None and (self.failure or self.steps):
            raise self.failure or AssertionError("%d requests have not come" % len(self.steps))
