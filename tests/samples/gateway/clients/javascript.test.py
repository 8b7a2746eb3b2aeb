"""Runs the sample's JavaScript client against a gateway that does what each test says: javascript.test.py SOURCES NODE."""
import json
import pathlib
import select
import socket
import subprocess
import sys
import threading
import unittest

if sys.version_info < (3, 10):
    print("skipped: the tests need Python 3.10")
    sys.exit(77)
from fake_gateway import TOKEN, FakeGateway, FakeService

sources, node = pathlib.Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1)
TEN = {"type": "i32", "value": 10}


def runs(*command):
    try:
        return subprocess.run(command, capture_output=True, timeout=30).returncode == 0
    except OSError:
        return False


HAS_SOCKET = 'process.exit(typeof WebSocket === "function" ? 0 : 1)'
if not runs(node, "-e", 'process.exit(typeof fetch === "function" ? 0 : 1)'):
    print("skipped: node is not installed, or has no fetch")
    sys.exit(77)
with_socket = next((each for each in ([node], [node, "--experimental-websocket"]) if runs(*each, "-e", HAS_SOCKET)), None)


# One node for all tests. It takes a program in each line, and answers with a line of what the program shows.
DRIVER = """
    import {createInterface} from "node:readline";
    import * as troupe from "%s";
    const AsyncFunction = (async () => {}).constructor;
    for await (const line of createInterface({input: process.stdin})) {
      const {url, token, options, steps} = JSON.parse(line);
      const shown = [];
      const show = (...what) => shown.push(JSON.stringify(what).slice(1, -1));
      const failure = (of) => of.then((got) => show("no failure", got), ({status, code}) => show(status, code));
      const known = {...troupe, client: new troupe.Client(url, token, options), show, failure};
      await new AsyncFunction(...Object.keys(known), steps)(...Object.values(known)).catch((problem) => show(String(problem)));
      console.log(JSON.stringify(shown));
    }
    process.exit();""" % (sources / "troupe_client.mjs").as_uri()
driver = None


def setUpModule():
    global driver
    driver = subprocess.Popen([*(with_socket or [node]), "--no-warnings", "--input-type=module", "-e", DRIVER],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


def tearDownModule():
    driver.stdin.close()
    try:
        driver.wait(10)
    finally:
        driver.kill()
        driver.wait()
        driver.stdout.close()


def visit(gateway, steps, **options):
    """What these steps show, in which `client` is a client of the gateway."""
    print(json.dumps({"url": gateway.url, "token": TOKEN, "options": options, "steps": steps}), file=driver.stdin)
    if not select.select([driver.stdout], [], [], 20)[0]:
        driver.kill()
        raise AssertionError("the steps do not end: " + steps)
    return json.loads(driver.stdout.readline())


def answers(peer, _):
    peer.answer(TEN)


def only_ends(*_):
    return True


def never_answers(peer, _):
    peer.wait_for_end()
    return True


class Requests(unittest.TestCase):
    def test_the_next_call_dials_again_after_an_idle_connection_was_closed(self):
        has_ended = threading.Event()
        def answers_and_ends(peer, _):
            peer.answer(TEN)
            peer.stream.shutdown(socket.SHUT_RDWR)
            has_ended.set()
            return True
        def answers_then(peer, _):
            has_ended.wait(10)
            peer.answer(TEN)
        with FakeService(answers_and_ends, answers) as gateway, FakeService(answers_then) as other:
            seen = visit(gateway, """
                show(await client.ask("cup", [atom("stir")]));
                show(await new Client("%s", client.token).ask("cup", [atom("stir")]));
                show(await client.ask("cup", [atom("stir")]));""" % other.url)
        self.assertEqual(seen, ["10", "10", "10"])

    def test_the_next_call_dials_again_after_a_timeout(self):
        with FakeService(never_answers, answers) as gateway:
            seen = visit(gateway, """
                await failure(client.ask("cup", [atom("stir")], {timeoutMs: 1}));
                show(await client.ask("cup", [atom("stir")], {timeoutMs: 9000}));""", graceMs=200)
        self.assertEqual(seen, ['0,"timed_out"', "10"])

    def test_a_message_that_may_have_arrived_is_not_sent_again(self):
        with FakeService(answers, only_ends, answers) as gateway:
            seen = visit(gateway, """
                show(await client.ask("cup", [atom("stir")]));
                await failure(client.ask("cup", [atom("stir")]));
                show(await client.ask("cup", [atom("stir")]));""")
        self.assertEqual(seen, ["10", '0,"link_down"', "10"])

    def test_a_whole_object_is_read_without_a_range(self):
        heard = []
        def step(peer, request):
            heard.append(request[1].get("range"))
            peer.answer(b"ab")
        with FakeService(step, step, step, step) as gateway:
            seen = visit(gateway, """
                show((await client.read("note")).length);
                await client.read("note", 3);
                await client.read("note", 3, 9);
                await client.read("note", undefined, 9);""")
        self.assertEqual((seen, heard), (["2"], [None, "bytes=3-", "bytes=3-9", "bytes=0-9"]))

    def failures(self, bodies, status):
        steps = [lambda peer, _, body=body: peer.answer(body, status) for body in bodies]
        with FakeService(*steps) as gateway:
            return visit(gateway, """
                for (let i = 0; i < %d; ++i) await failure(client.ask("cup", [atom("stir")]));""" % len(bodies))

    def test_an_error_that_is_no_gateways_is_a_refusal(self):
        bodies = (b"<html>Bad Gateway</html>", {"error": None}, {"error": "no"}, {}, None, [], b"")
        self.assertEqual(self.failures(bodies, 502), ['502,""'] * len(bodies))
        self.assertEqual(self.failures([{"error": {"code": "timed_out", "text": "late"}}], 504), ['504,"timed_out"'])

    def test_an_answer_that_is_no_gateways_is_malformed(self):
        bodies = (b"<html>Hello</html>", {}, None, 7, [7], [{"type": "i32"}])
        self.assertEqual(self.failures(bodies, 200), ['0,"malformed"'] * len(bodies))

    def test_answers_are_one_value_or_a_list(self):
        bodies = ({"atom": "done"}, [], [TEN, {"type": "caf.atom", "value": None}])
        self.assertEqual(self.failures(bodies, 200),
                         ['"no failure","done"', '"no failure",[]', '"no failure",[10,null]'])


@unittest.skipUnless(with_socket, "this node has no WebSocket")
class Sockets(unittest.TestCase):
    def visit(self, script, steps, **options):
        def upgraded(peer):
            peer.upgrade()
            script(peer) or peer.take_leave()
        with FakeGateway(upgraded) as gateway:
            return visit(gateway, steps, **options)

    def test_answers_come_in_any_order_and_late_ones_are_dropped(self):
        def script(peer):
            asked = [peer.receive()[1] for _ in range(3)]
            self.assertEqual(asked[0], {"id": 1, "timeout_ms": 1, "message": {"atom": "stir"}})
            peer.receive()  # Comes after the first has timed out.
            for each in reversed(asked):
                peer.send({"id": each["id"], "answer": {"type": "i32", "value": each["id"]}})
            peer.send({"id": 4, "error": {"code": "timed_out", "text": "late"}})
        seen = self.visit(script, """
            const cup = await client.socket("cup");
            const first = cup.ask([atom("stir")], {timeoutMs: 1});
            const others = [cup.ask([atom("stir")]), cup.ask([atom("stir")])];
            await failure(first);
            const last = cup.ask([atom("stir")]);
            show(await Promise.all(others));
            await failure(last);
            show(cup.waiting.size);
            cup.close();""", graceMs=50)
        self.assertEqual(seen, ['0,"timed_out"', "[2,3]", '0,"timed_out"', "0"])

    def test_the_end_of_a_socket_ends_its_requests_and_later_calls(self):
        def script(peer):
            peer.receive()
            peer.send(b"\x03\xe9the gateway ends its work", 0x88)
            self.assertEqual(peer.receive()[0], 8)
            return True  # Both have taken their leave.
        seen = self.visit(script, """
            const cup = await client.socket("cup");
            await failure(cup.ask([atom("stir")]));
            await failure(cup.ask([atom("stir")]));
            try { cup.tell([atom("stir")]); } catch ({code}) { show(code); }""")
        self.assertEqual(seen, ['0,"link_down"', '0,"link_down"', '"link_down"'])

    def test_texts_that_are_no_gateways_end_the_socket(self):
        for sent in (b"<html>", b"7", b"null", b"{}", b'{"message": 7}', b'{"request": 1}', b'{"id": 1, "answer": {}}'):
            def script(peer):
                peer.receive()
                peer.send(sent)
            seen = self.visit(script, """await failure((await client.socket("cup")).ask([atom("stir")]));""")
            self.assertEqual(seen, ['0,"malformed"'])

    def test_requests_and_refusals_reach_their_functions(self):
        heard = []
        def script(peer):
            for sent in ({"request": 3, "message": TEN}, {"request": 4, "message": {"atom": "no"}}):
                peer.send(sent)
                heard.append(peer.receive()[1])
            peer.send({"error": {"code": "malformed", "text": "what?"}})
            peer.send({"message": atom_done})
        atom_done = {"atom": "done"}
        seen = self.visit(script, """
            const onRequest = async (question) => {
              if (question === "no") throw new Error("no milk");
              return value("i32", question + 1);
            };
            const onRefused = ({code}) => show("refused", code);
            await new Promise(async (done) => {
              const onMessage = (content) => done(cup.close(show(content)));
              const cup = await client.socket("cup", {onRequest, onRefused, onMessage});
            });
           """)
        self.assertEqual(seen, ['"refused","malformed"', '"done"'])
        self.assertEqual(heard, [{"answer": 3, "message": {"type": "i32", "value": 11}},
                                 {"answer": 4, "error": "no milk"}])

    def test_a_refused_upgrade_and_a_wrong_proof_reject(self):
        def refuses(peer):
            peer.request()
            peer.answer({"error": {"code": "not_allowed", "text": "this token may not"}}, 403)
        def lies(peer):
            peer.upgrade(accept="AAAAAAAAAAAAAAAAAAAAAAAAAAA=")
            peer.wait_for_end()
        for script in (refuses, lies):
            with FakeGateway(script) as gateway:
                self.assertEqual(visit(gateway, """await failure(client.socket("cup"));"""), ['0,"link_down"'])

    def test_an_upgrade_without_an_end_ends_at_the_deadline(self):
        def never_upgrades(peer):
            peer.request()
            peer.wait_for_end()
        with FakeGateway(never_upgrades) as gateway:
            seen = visit(gateway, """await failure(client.socket("cup"));""", timeoutMs=200)
        self.assertEqual(seen, ['0,"timed_out"'])


if __name__ == "__main__":
    unittest.main(verbosity=2)
