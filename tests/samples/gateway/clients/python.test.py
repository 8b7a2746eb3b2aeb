"""Runs the sample's Python client against a gateway that does what each test says: python.test.py SOURCES."""
import os
import select
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

if sys.version_info < (3, 10):
    print("skipped: the client needs Python 3.10")
    sys.exit(77)
sys.path.insert(0, sys.argv.pop(1))
import troupe_client
import troupe_socket
from fake_gateway import TOKEN, FakeGateway
from troupe_client import Client, Refused, atom, value

troupe_client.GRACE = troupe_socket.GRACE = 0.2
TEN = {"type": "i32", "value": 10}


def wait_for_word(stream):
    """Until something, or the end, has come to this stream of a client."""
    assert select.select([stream], [], [], 10)[0], "nothing comes"


def answers_once(peer):
    peer.request()
    peer.answer(TEN)


def takes_a_request_and_ends(peer):
    answers_once(peer)
    peer.request()


def never_answers(peer):
    peer.request()
    peer.wait_for_end()


class Requests(unittest.TestCase):
    def answer_to(self, body, status=200):
        """What asking returns if the gateway answers so."""
        def script(peer):
            peer.request()
            peer.answer(body, status)
        with FakeGateway(script) as gateway, Client(gateway.url, TOKEN) as client:
            return client.ask("cup", atom("stir"))

    def test_a_connection_serves_many_requests(self):
        def script(peer):
            for _ in range(3):
                answers_once(peer)
        with FakeGateway(script) as gateway, Client(gateway.url, TOKEN) as client:
            self.assertEqual([client.ask("cup", atom("stir")) for _ in range(3)], [10, 10, 10])

    def test_the_next_call_dials_again_after_an_idle_connection_was_closed(self):
        def closes_one_side(peer):
            answers_once(peer)
            peer.stream.shutdown(socket.SHUT_WR)
            peer.wait_for_end()
        for first in (answers_once, closes_one_side):
            with FakeGateway(first, answers_once) as gateway, Client(gateway.url, TOKEN) as client:
                client.ask("cup", atom("stir"))
                wait_for_word(client.connection.sock)
                self.assertEqual(client.ask("cup", atom("stir")), 10)

    def test_the_next_call_dials_again_after_a_timeout(self):
        with FakeGateway(never_answers, answers_once) as gateway, Client(gateway.url, TOKEN) as client:
            with self.assertRaises(TimeoutError):
                client.ask("cup", atom("stir"), timeout_ms=1)
            self.assertEqual(client.ask("cup", atom("stir")), 10)

    def test_the_refusal_of_a_late_gateway_comes_before_the_own_timeout(self):
        heard = []
        def script(peer):
            heard.append(peer.request()[1]["troupe-timeout-ms"])
            peer.answer({"error": {"code": "timed_out", "text": "late"}}, 504)
        with FakeGateway(script) as gateway, Client(gateway.url, TOKEN, timeout=0.001) as client:
            with self.assertRaises(Refused) as refused:
                client.ask("cup", atom("stir"), timeout_ms=9000)  # Its own limit is later, whatever `timeout` says.
        self.assertEqual((heard, refused.exception.status), (["9000"], 504))

    def test_an_answer_without_an_end_ends_at_the_deadline(self):
        def script(peer):
            peer.request()
            peer.stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            try:
                while True:
                    peer.stream.sendall(b"x")
            except ConnectionError:
                pass
        with FakeGateway(script) as gateway, Client(gateway.url, TOKEN, timeout=0.1) as client:
            with self.assertRaises(TimeoutError):
                client.schema()

    def test_a_message_that_may_have_arrived_is_not_sent_again(self):
        with FakeGateway(takes_a_request_and_ends, answers_once) as gateway, Client(gateway.url, TOKEN) as client:
            client.ask("cup", atom("stir"))
            with self.assertRaises(ConnectionError):
                client.ask("cup", atom("stir"))
            self.assertEqual(client.ask("cup", atom("stir")), 10)  # Else the second script would have been used up.

    def test_a_get_is_sent_again_if_a_kept_connection_breaks(self):
        def second(peer):
            self.assertEqual(peer.request()[0], "GET /schema HTTP/1.1")
            peer.answer({"paths": {}})
        with FakeGateway(takes_a_request_and_ends, second) as gateway, Client(gateway.url, TOKEN) as client:
            client.ask("cup", atom("stir"))
            self.assertEqual(client.schema(), {"paths": {}})

    def test_a_get_is_not_sent_again_if_a_new_connection_breaks(self):
        with FakeGateway(lambda peer: peer.request()) as gateway, Client(gateway.url, TOKEN) as client:
            with self.assertRaises(ConnectionError):
                client.schema()

    def test_a_refusal_is_heard_although_the_body_was_not_read(self):
        def script(peer):
            peer.request(with_body=False)
            peer.answer({"error": {"code": "too_large", "text": "no room"}}, 413, "Connection: close\r\n")
        with FakeGateway(script) as gateway, Client(gateway.url, TOKEN) as client:
            with self.assertRaises(Refused) as refused:
                client.make(bytes(32 << 20))
        self.assertEqual((refused.exception.status, refused.exception.code), (413, "too_large"))

    def test_a_whole_object_is_read_without_a_range(self):
        heard = []
        def script(peer):
            for _ in range(4):
                heard.append(peer.request()[1].get("range"))
                peer.answer(b"")
        with FakeGateway(script) as gateway, Client(gateway.url, TOKEN) as client:
            self.assertEqual(client.read("note"), b"")
            client.read("note", 3)
            client.read("note", 3, 9)
            client.read("note", last=9)
        self.assertEqual(heard, [None, "bytes=3-", "bytes=3-9", "bytes=0-9"])

    def test_an_error_that_is_no_gateways_is_a_refusal(self):
        for body in (b"<html>Bad Gateway</html>", {"error": None}, {"error": "no"}, {}, None, [], b""):
            with self.assertRaises(Refused) as refused:
                self.answer_to(body, 502)
            self.assertEqual((refused.exception.status, refused.exception.code), (502, ""))
            self.assertIn("502", refused.exception.text)

    def test_an_answer_that_is_no_gateways_is_an_error_of_the_connection(self):
        for body in (b"<html>Hello</html>", {}, None, 7, [7], [{"type": "i32"}], b"[" * 100000):
            with self.assertRaises(ConnectionError):
                self.answer_to(body)

    def test_something_else_than_http_is_an_error_of_the_connection(self):
        def script(peer):
            peer.request()
            peer.stream.sendall(b"220 mail.example.org ready\r\n")
        with FakeGateway(script) as gateway, Client(gateway.url, TOKEN) as client:
            with self.assertRaises(ConnectionError):
                client.schema()

    def test_answers_are_one_value_or_a_list(self):
        self.assertEqual(self.answer_to({"atom": "done"}), "done")
        self.assertEqual(self.answer_to([]), [])
        self.assertEqual(self.answer_to([TEN, {"type": "caf.atom", "value": "done"}]), [10, "done"])


class Sockets(unittest.TestCase):
    def serve(self, *script, **options):
        """A WebSocket whose gateway does this after the upgrade."""
        def upgraded(peer):
            peer.upgrade()
            for step in script:
                step(peer)
            peer.wait_for_end()
        gateway = FakeGateway(upgraded).__enter__()
        self.addCleanup(gateway.__exit__, None)
        return self.open(gateway, **options)

    def open(self, gateway, timeout=10, **options):
        opened = Client(gateway.url, TOKEN, timeout).socket("cup", **options)
        self.addCleanup(opened.close)
        return opened

    def test_answers_come_in_any_order(self):
        def script(peer):
            first, second = peer.receive()[1], peer.receive()[1]
            self.assertEqual(first, {"id": 1, "timeout_ms": 30000, "message": {"atom": "stir"}})
            peer.send({"id": second["id"], "error": {"code": "timed_out", "text": "late"}})
            peer.send({"id": first["id"], "answer": TEN})
        cup = self.serve(script)
        first, second = cup.begin(atom("stir")), cup.begin(atom("stir"))
        self.assertEqual(cup.answer(first), 10)
        with self.assertRaises(Refused) as refused:
            cup.answer(second)
        self.assertEqual(refused.exception.code, "timed_out")

    def test_pings_do_not_move_a_deadline(self):
        def script(peer):
            kind = 10
            while kind == 10:  # Until the client tells something.
                peer.send(b"are you there?", 0x89)
                kind, data = peer.receive()
            peer.send({"message": TEN})
        cup = self.serve(script)
        with self.assertRaises(TimeoutError):
            cup.message(timeout=0.1)
        cup.tell(atom("stir"))
        self.assertEqual(cup.message(), 10)  # The timeout has not ended the socket.

    def test_a_ping_is_answered_before_the_next_text_is_sent(self):
        heard = []
        def script(peer):
            peer.send(b"are you there?", 0x89)
            heard.extend([peer.receive(), peer.receive()])
            peer.send({"message": TEN})
        cup = self.serve(script)
        wait_for_word(cup.stream)
        cup.tell(atom("stir"))
        cup.message()
        self.assertEqual(heard, [(10, b"are you there?"), (1, {"message": {"atom": "stir"}})])

    def test_serve_answers_what_has_come_and_keeps_messages(self):
        heard = []
        def script(peer):
            peer.stream.sendall(peer.frame({"message": TEN}) + peer.frame({"request": 3, "message": TEN}))
            heard.append(peer.receive()[1])
            peer.send({"request": 4, "message": TEN})
            heard.append(peer.receive()[1])
            peer.send({"message": atom("done")})
        def on_request(question, seen=[]):
            seen.append(question)
            return value("i32", question + 1) if len(seen) == 1 else 1 / 0
        cup = self.serve(script, on_request=on_request)
        wait_for_word(cup.stream)
        cup.serve(0)
        self.assertEqual([cup.message(), cup.message()], [10, "done"])
        self.assertEqual(heard, [{"answer": 3, "message": {"type": "i32", "value": 11}},
                                 {"answer": 4, "error": "division by zero"}])

    def test_an_answer_that_comes_too_late_is_dropped(self):
        def script(peer):
            peer.receive()
            peer.receive()
            peer.send({"id": 1, "answer": TEN})
            peer.send({"id": 2, "answer": atom("done")})
        cup = self.serve(script)
        with self.assertRaises(TimeoutError):
            cup.ask(atom("stir"), timeout_ms=1)
        self.assertEqual(cup.ask(atom("stir")), "done")
        self.assertEqual((cup.answers, cup.open), ({}, {}))

    def test_a_timeout_within_a_text_loses_nothing(self):
        goes_on = threading.Event()
        def script(peer):
            whole = peer.frame({"message": TEN})
            peer.stream.sendall(whole[:9])
            goes_on.wait(10)
            peer.stream.sendall(whole[9:])
        cup = self.serve(script)
        with self.assertRaises(TimeoutError):
            cup.message(timeout=0.05)
        goes_on.set()
        self.assertEqual(cup.message(), 10)

    def test_texts_in_several_frames_and_behind_the_upgrade_are_read(self):
        def script(peer):
            peer.upgrade(and_also=peer.frame({"message": TEN}))
            text = b'{"message": [{"atom": "a"}, {"atom": "b"}]}'
            peer.stream.sendall(peer.frame(text[:9], 0x01) + peer.frame(b"", 0x89) + peer.frame(text[9:], 0x80))
            peer.wait_for_end()
        with FakeGateway(script) as gateway:
            cup = self.open(gateway)
            self.assertEqual([cup.message(), cup.message()], [10, ["a", "b"]])
            cup.close()

    def test_what_was_sent_before_the_end_is_read_before_the_end_is_told(self):
        def script(peer):
            peer.stream.sendall(peer.frame({"message": TEN}) + peer.frame(b"\x03\xe9the gateway ends its work", 0x88))
            self.assertEqual(peer.receive()[0], 8)
        cup = self.serve(script)
        self.assertEqual(cup.message(), 10)
        for call in (cup.message, lambda: cup.tell(TEN), lambda: cup.ask(TEN), lambda: cup.serve(1)):
            with self.assertRaisesRegex(ConnectionError, "the gateway ends its work"):
                call()

    def test_a_refused_upgrade_has_the_code_and_text_of_the_gateway(self):
        def script(peer):
            peer.request()
            peer.answer({"error": {"code": "not_allowed", "text": "this token may not"}}, 403)
        with FakeGateway(script) as gateway, self.assertRaises(Refused) as refused:
            self.open(gateway)
        self.assertEqual((refused.exception.status, refused.exception.code, refused.exception.text),
                         (403, "not_allowed", "this token may not"))

    def test_an_upgrade_with_a_wrong_proof_is_refused(self):
        def script(peer):
            peer.upgrade(accept="AAAAAAAAAAAAAAAAAAAAAAAAAAA=")
            peer.wait_for_end()
        with FakeGateway(script) as gateway, self.assertRaisesRegex(ConnectionError, "Accept"):
            self.open(gateway)

    def test_an_upgrade_without_an_end_ends_at_the_deadline(self):
        with FakeGateway(never_answers) as gateway, self.assertRaises(TimeoutError):
            self.open(gateway, timeout=0.05)

    def test_a_text_that_is_too_long_ends_the_socket(self):
        announced = b"\x81\x7f" + (1 << 62).to_bytes(8, "big")
        parts = b"\x01\x7e\x03\xe8" + b"x" * 1000 + b"\x80\x19"
        for sent in (announced, parts):
            cup = self.serve(lambda peer: peer.stream.sendall(sent), text_bytes_max=1024)
            with self.assertRaisesRegex(ConnectionError, "more than 1024 bytes"):
                cup.message()

    def test_a_text_of_the_longest_length_is_read(self):
        text = b'{"message": {"type": "str", "value": "%s"}}'
        text = text % (b"x" * (1024 + 2 - len(text)))
        cup = self.serve(lambda peer: peer.send(text), text_bytes_max=len(text))
        self.assertEqual((len(text), cup.message()[:2]), (1024, "xx"))

    def test_texts_that_are_no_gateways_end_the_socket(self):
        for sent in (b"<html>", b"7", b"{}", b'{"message": 7}', b'{"request": 1}'):
            cup = self.serve(lambda peer: peer.send(sent))
            for _ in range(2):
                with self.assertRaisesRegex(ConnectionError, "no text of a gateway"):
                    cup.message()

    def test_a_refusal_without_an_id_is_raised_and_the_socket_goes_on(self):
        def script(peer):
            peer.receive()
            peer.send({"error": {"code": "malformed", "text": "what?"}})
            peer.send({"message": TEN})
        cup = self.serve(script)
        cup.tell(TEN)
        with self.assertRaises(Refused) as refused:
            cup.message()
        self.assertEqual(refused.exception.code, "malformed")
        self.assertEqual(cup.message(), 10)


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.certificate, key = (os.path.join(cls.folder.name, name) for name in ("certificate.pem", "key.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=kitchen", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", key, "-out", cls.certificate], check=True, capture_output=True)
        cls.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        cls.context.load_cert_chain(cls.certificate, key)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_requests_and_sockets_use_tls(self):
        def socket_script(peer):
            peer.upgrade(and_also=peer.frame({"message": TEN}))
            peer.receive()
            peer.send({"id": 1, "answer": {"type": "str", "value": "x" * 60000}})
            peer.wait_for_end()
        with FakeGateway(answers_once, answers_once, socket_script, tls=self.context) as gateway:
            with Client(gateway.url, TOKEN, ca_file=self.certificate) as client:
                client.ask("cup", atom("stir"))
                wait_for_word(client.connection.sock)
                self.assertEqual(client.ask("cup", atom("stir")), 10)
                with client.socket("cup") as cup:
                    self.assertEqual(cup.message(), 10)
                    self.assertEqual(len(cup.ask(value("str", "x" * 100000))), 60000)
                    with self.assertRaises(TimeoutError):
                        cup.message(timeout=0.02)

    def test_a_gateway_with_an_unknown_certificate_is_not_used(self):
        gateway = FakeGateway(answers_once, tls=self.context)
        with self.assertRaises(ssl.SSLError), Client(gateway.url, TOKEN) as client:
            with gateway:
                client.ask("cup", atom("stir"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
