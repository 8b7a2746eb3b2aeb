"""A gateway that serves the page for a made-up network, for states that real programs reach only by chance."""
import http.server
import json
import os
import random
import threading
import time

TOKEN = "made-up-0123456789abcdef0123456789abcdef"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:"
STATS = ("messages_sent messages_received socket_bytes_sent socket_bytes_received handle_bytes_sent handle_bytes_received "
         "pulled_bytes_sent pulled_bytes_received spilled_bytes unserializable refused_by_policy undecodable undelivered store_fallbacks "
         "refused_at_bound dropped expired forwarded unconsumed_bytes_there unconsumed_bytes_here waiting_bytes "
         "unconsumed_handle_bytes_there unconsumed_handle_bytes_here waiting_handle_bytes unread_bytes large_frame_bytes_here "
         "window_bytes credit_bytes actors_exported actors_imported").split()


def stats(**values):
    return {**{name: 0 for name in STATS}, **values}


def latency(kind, middle, buckets=()):
    return {"kind": kind, "count": 9000, "sum_ns": 9000 * middle, "p50_ns": middle, "p90_ns": 2 * middle, "p99_ns": 5 * middle,
            "max_ns": 40 * middle, "buckets": list(buckets)}


def link(number, peer, dialed, family="typed", rate=1e6, seconds=0.0, transport="unix", **more):
    sent = rate * seconds
    return {"number": number, "peer": peer, "address": f"unix://@{peer}" if dialed else "", "role": "", "transport": transport,
            "dialed": dialed, "shares_store": transport in ("unix", "shm"), "age_ms": int(100_000 + 1000 * seconds),
            "version": "0.1.0", "features": [], "serializers": [family, "msgpack"], "deserializers": [family, "msgpack"], "compression": "none",
            "stats": stats(messages_sent=int(sent / 900), messages_received=int(sent / 1000), socket_bytes_sent=int(sent / 10),
                           socket_bytes_received=int(sent / 12), handle_bytes_sent=int(sent), handle_bytes_received=int(sent / 5),
                           window_bytes=4 << 20, credit_bytes=3 << 20, unconsumed_bytes_there=1 << 20,
                           unconsumed_bytes_here=300_000, actors_exported=3, actors_imported=4, **more),
            "families": [{"family": family, "type": "", "payloads_sent": int(sent / 900), "bytes_sent": int(sent), "time_sent_ns": int(sent),
                          "payloads_received": int(sent / 1000), "bytes_received": int(sent / 5), "time_received_ns": int(sent)}],
            "latencies": [latency("round_trip", 85_000), latency("handler", 30_000)]}


def node(key, name, links, process, state="open", **more):
    totals = stats()
    for each in links:
        for counter in STATS:
            totals[counter] += each["stats"][counter]
    return {"key": key, "address": f"unix://@troupe-{process}", "state": state, "state_ms": 0 if state == "open" else 7000,
            "problem": "" if state == "open" else "the process has ended", "report_age_ms": 0 if state == "open" else 7000, "name": name, "version": "0.1.0", "process": process,
            "age_ms": 3_723_000, "addresses": ["unix://@shop"], "families": ["typed", "msgpack", "json"], "names_published": 3,
            "links_opened": len(links) + 2, "peers_refused": 0, "totals": totals, "links": links, "links_left_off": 0,
            "store": {"name": "shop", "capacity_bytes": 1 << 30, "bytes_in_use": 312_000_000, "objects": 214, "spilled_objects": 12,
                      "spilled_bytes": 48_000_000, "waiting": 0}, **more}


def shop(seconds, lost=False):
    """Six nodes; `lost`: one of them has ended."""
    families = ["typed", "typed", "msgpack", "json"]
    links = [link(number, f"worker-{number}", True, families[number - 1], 4e6 * number, seconds) for number in range(1, 5)]
    gone = []
    workers = []
    for number in range(1, 5):
        one = node(f"n{number + 1}", f"worker-{number}", [link(1, "front", False, families[number - 1], 1e6 * number, seconds, undelivered=3 if number == 2 else 0)], 4000 + number)
        if lost and number == 3:
            one["state"], one["state_ms"], one["problem"] = "lost", 7000, "the process has ended"
            gone = [3]
        workers.append(one)
    front = node("n1", "front", [each for each in links if each["number"] not in gone] + [link(9, "ledger", True, "cereal", 2e5, seconds, transport="tls")], 3999)
    return [front, *workers]


def twins(seconds):
    """A front and two workers of the same name."""
    workers = [node(f"w{number}", "worker", [link(1, "front", False, "typed", 1e6, seconds)], 4000 + number) for number in (1, 2)]
    front = node("n1", "front", [link(number, "worker", True, "typed", 1e6, seconds) for number in (1, 2)], 3999)
    for number in (1, 2):  # Their ages say which end belongs to which.
        workers[number - 1]["links"][0]["age_ms"] += 100_000 * number
        front["links"][number - 1]["age_ms"] += 100_000 * number
    return [front, *workers]


def crowd(seconds, ended=6):
    """45 nodes around three hubs, of which some have ended."""
    hubs = [[], [], []]
    made = []
    for number in range(42):
        hub, family = number % 3, ("typed", "msgpack", "json")[number % 3]
        state = "lost" if number < ended else "silent" if number == 41 else "open"
        if state != "lost":
            hubs[hub].append(link(10 + number, f"order-worker-{number}", True, family, 1e5 * number, seconds))
        one = node(f"w{number}", f"order-worker-{number}", [link(1, f"desk-{hub}", False, family, 1e5, seconds)], 5000 + number, state)
        if state == "silent":
            one["problem"] = "no answer within 1 s"
            one["links"][0]["age_ms"] -= 7000  # As old as its figures.
        made.append(one)
    desks = [node(f"d{hub}", f"desk-{hub}", hubs[hub], 4900 + hub) for hub in range(3)]
    desks[0]["links"] += [link(1 + other, f"desk-{other}", True, "typed", 1e6, seconds) for other in (1, 2)]
    for other in (1, 2):
        desks[other]["links"].append(link(1, "desk-0", False, "typed", 1e6, seconds))
    return desks + made


def many(count, seconds):
    links = [link(number, f"peer-{number}", True, random.Random(number).choice(["typed", "msgpack", "json", "caf"]), 1000 * number, seconds) for number in range(1, count + 1)]
    return [node("n1", "hub", links, 77)]


def memory():
    rng = random.Random(7)
    reasons = ["handle", "handle", "pinned_view", "exported", "in_flight", "captured", "out_of_band"]
    objects = []
    for number in range(90):
        reason = rng.choice(reasons)
        creator = 3999 + rng.randrange(5)
        objects.append({"object": f"shop/{number:04x}-{rng.randrange(1 << 32):08x}", "store": "shop", "state": "spilled" if number % 11 == 0 else "sealed",
                        "call_site": f"orders.cpp:{40 + number}" if number % 3 else "", "creator": creator, "size_bytes": int(10 ** rng.uniform(4.5, 7.6)),
                        "age_ms": rng.randrange(900_000), "holders": [
                            {"reason": reason, "process": creator, "count": 1 + number % 4, "link": 3 if reason == "exported" else 0,
                             "peer": "worker-3" if reason == "exported" else "", "object": "", "to": 4001 if reason == "in_flight" else 0,
                             "where": "save.cpp:12" if reason == "out_of_band" else "", "age_ms": 5000}]})
    objects.sort(key=lambda each: -each["size_bytes"])
    hint = next(each["object"] for each in objects if each["holders"][0]["reason"] == "out_of_band")
    return {"format": 1, "at_ms": now(), "summary": {"processes": [{"process": 3999 + number, "node": "front" if number == 0 else f"worker-{number}", "store": "shop", "problem": ""} for number in range(5)],
            "objects": objects, "objects_left_off": 0, "bytes_left_off": 0},
            "hints": [{"object": hint, "text": "a reference was serialized outside of a message at save.cpp:12, so it stays until the node ends"}]}


def activity():
    base = int(time.time() * 1e6) - 5_000_000
    def span(number, trace, id, parent, kind, name, start, took, **more):
        return {"number": number, "trace": trace, "id": id, "parent": parent, "kind": kind, "name": name, "types": "shop.order", "start_us": base + start,
                "duration_us": took, "wire_ns": -1, "decode_ns": -1, "queue_ns": -1, "handler_ns": -1, "peer": "", "link": 1, "actor": 7, "bytes": 912,
                "family": "typed", "error": "", **more}
    front = [span(1, "a1b2", "01", "", "request", "place order", 0, 9000), span(2, "a1b2", "03", "02", "request", "charge", 4200, 3000),
             span(3, "c3d4", "11", "", "request", "list orders", 90_000, 1500, error="")]
    worker = [span(1, "a1b2", "02", "01", "message", "place order", 400, 8000, wire_ns=400_000, decode_ns=200_000, queue_ns=1_900_000, handler_ns=5_000_000),
              span(2, "a1b2", "04", "03", "message", "charge", 4600, 2200, wire_ns=300_000, decode_ns=100_000, queue_ns=700_000, handler_ns=1_000_000, error="link_busy: the ledger has not consumed 7 bytes")]
    children = [{"name": f"worker-{number}", "actor": 20 + number, "kind": "process", "state": "restarting" if number == 3 else "running", "restarts": 2 if number == 3 else 0,
                 "process": 0 if number == 3 else 4000 + number, "reason": "SIGKILL" if number == 3 else ""} for number in range(1, 5)]
    children.append({"name": "mail", "actor": 30, "kind": "supervisor", "state": "running", "restarts": 0, "process": 0, "reason": ""})
    mail = [{"name": "sender", "actor": 31, "kind": "actor", "state": "running", "restarts": 0, "process": 0, "reason": ""}]
    return {"format": 1, "at_ms": now(), "nodes": [
        {"key": "n1", "problem": "", "name": "front", "process": 3999, "actors": [
            {"name": "orders", "actor": 7, "kind": "scala.order_desk", "waiting_messages": 240, "waiting_bytes": 91_000, "links": [1, 2, 3], "links_omitted": 0},
            {"name": "", "actor": 9, "kind": "user.scoped_actor", "waiting_messages": 0, "waiting_bytes": 0, "links": [1], "links_omitted": 0}], "actors_omitted": 0,
         "supervisors": [{"actor": 12, "name": "", "strategy": "one_for_one", "parent": 0, "restarts": 2, "restarts_max": 100, "within_ms": 60_000, "children": children, "children_omitted": 0},
                         {"actor": 30, "name": "mail", "strategy": "one_for_all", "parent": 12, "restarts": 0, "restarts_max": 3, "within_ms": 5000, "children": mail, "children_omitted": 0}], "supervisors_omitted": 0,
         "letters": [{"number": 4, "at_ms": now() - 9000, "peer": "worker-2", "link": 2, "has_arrived": False, "is_request": True, "reason": "link_down", "text": "the link to worker-2 went down before the message was written", "types": ["shop.order"]}],
         "letters_lost": 0, "spans": front, "spans_lost": 0, "lost_links": []},
        {"key": "n3", "problem": "", "name": "worker-2", "process": 4002, "actors": [], "actors_omitted": 0, "supervisors": [], "supervisors_omitted": 0, "letters": [],
         "letters_lost": 0, "spans": worker, "spans_lost": 0, "lost_links": []}]}


CLUSTER = {"directory": "host://shop", "problem": "", "members": [
    {"name": "front", "state": "up", "host": "a1", "addresses": ["tcp://10.0.0.5:4000"], "names": ["orders"], "singletons": ["ledger"], "entities": ["cart: 12 shards"]},
    {"name": "worker-1", "state": "draining", "host": "a1", "addresses": ["tcp://10.0.0.6:4000"], "names": [], "singletons": [], "entities": ["cart: 11 shards"]}], "faults": []}


def now():
    return int(time.time() * 1000)


class MadeUpNetwork:
    """Serves the page of `folder`. Tests replace `nodes`, a function of the seconds since the begin that returns nodes."""

    def __init__(self, folder):
        self.folder = folder
        self.begun = time.monotonic()
        self.nodes = shop
        self.problems = []
        self.cluster = CLUSTER
        self.may_act = True
        self.run = "first"
        self.letters = []
        self.lost_links = []
        self.is_down = False
        self.orders = []
        self.asked = []
        network = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                network.answer(self)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                network.orders.append(json.loads(body))
                network.send(self, 200, {"done": True})

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def send(self, to, status, document, head=()):
        body = json.dumps(document).encode()
        to.send_response(status)
        for name, value in [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *head]:
            to.send_header(name, value)
        to.end_headers()
        to.wfile.write(body)

    def answer(self, to):
        path = to.path.removeprefix("/view").strip("/")
        if path in ("state", "memory", "activity") or path.startswith("links/"):
            self.asked.append(path)
            if to.headers.get("Authorization") != f"Bearer {TOKEN}":
                return self.send(to, 401, {"error": {"code": "no_token", "text": "the token is not known"}})
            if self.is_down:
                return self.send(to, 504, {"error": {"code": "timed_out", "text": "the nodes do not answer"}})
            seconds = time.monotonic() - self.begun
            if path == "state":
                return self.send(to, 200, {"format": 1, "run": self.run, "at_ms": now(), "takes_orders": self.may_act, "nodes": self.nodes(seconds),
                                           "cluster": self.cluster, "problems": self.problems}, [("Troupe-View-Act", "1")] if self.may_act else [])
            if path == "memory":
                return self.send(to, 200, memory())
            if path == "activity":
                told = activity()
                told["nodes"][0]["letters"] += self.letters
                told["nodes"][0]["lost_links"] += self.lost_links
                return self.send(to, 200, told)
            _, key, number = path.split("/")
            for each in self.nodes(seconds):
                for one in each["links"]:
                    if each["key"] == key and str(one["number"]) == number:
                        one["families"][0]["type"] = "shop.order"
                        one["latencies"] = [latency(kind, middle, [[int(20_000 * 1.125 ** step), max(1, int(900 * 2.7 ** (-((step - 14) / 6) ** 2)))] for step in range(40)])
                                            for kind, middle in (("round_trip", 85_000), ("handler", 30_000))]
                        return self.send(to, 200, one)
            return self.send(to, 404, {"error": {"code": "not_found", "text": "there is no such link now"}})
        file = os.path.join(self.folder, path or "index.html")
        if os.path.dirname(file) != self.folder.rstrip("/") or not os.path.isfile(file):
            return self.send(to, 404, {"error": {"code": "not_found", "text": "the view has no such file"}})
        with open(file, "rb") as content:
            body = content.read()
        to.send_response(200)
        for name, value in (("Content-Type", TYPES[os.path.splitext(file)[1]]), ("Content-Length", str(len(body))), ("Content-Security-Policy", POLICY), ("Cache-Control", "no-store")):
            to.send_header(name, value)
        to.end_headers()
        to.wfile.write(body)
        return None
