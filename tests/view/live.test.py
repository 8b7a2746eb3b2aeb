"""`troupe view` in a real browser, for running programs: live.test.py TROUPE WORDCOUNT WORKERS SHOP SCREENSHOTS. Status 77: no
browser."""
import fcntl
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

from webdriver import DEADLINE, Browser, is_possible

TROUPE = WORDCOUNT = WORKERS = SHOP = SHOTS = ""


def be_alone():
    """Goes on in a network namespace of its own, where no other program of this user has nodes, if the system allows it."""
    if os.environ.get("TROUPE_VIEW_ALONE") == "1":
        interface_up = struct.pack("16sh14x", b"lo", 1)
        with socket.socket() as any_socket:
            fcntl.ioctl(any_socket, 0x8914, interface_up)  # SIOCSIFFLAGS
        return
    for flags in (["-n"], ["-rn"]):
        if shutil.which("unshare") and subprocess.run(["unshare", *flags, "true"], stderr=subprocess.DEVNULL).returncode == 0:
            os.environ["TROUPE_VIEW_ALONE"] = "1"
            os.execvp("unshare", ["unshare", *flags, sys.executable, "-B", *sys.argv])


def until(condition, what):
    deadline = time.monotonic() + DEADLINE
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"after {DEADLINE:.0f} s not yet: {what}")
        time.sleep(0.05)  # Between two looks at the condition.
    return result


def nodes():
    """What `troupe links` says of the nodes that answer, by name."""
    asked = subprocess.run([TROUPE, "links", "--json", "--timeout", "3"], capture_output=True, text=True, timeout=60)
    answered = [each for each in json.loads(asked.stdout) if each["answered"]]
    for each in answered:  # Without the links to the view that is tested.
        each["links"] = [link for link in each["links"] if not link["peer"].startswith("troupe command")]
    return answered


class Program:
    """A process and all processes that it starts. They end with the `with`."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGCONT)
            self.process.terminate()
            self.process.wait(20)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def tell(self, line, pattern):
        """Gives the program a line, and returns what its answer matches."""
        self.text = ""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.says(pattern)

    def says(self, pattern):
        """Waits for a line, and returns what it matches."""
        deadline = time.monotonic() + DEADLINE
        while not (found := re.search(pattern, self.text, re.MULTILINE)):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            line = os.read(self.process.stdout.fileno(), 65536).decode() if ready else ""
            if not line:
                raise AssertionError(f"it does not say {pattern}, but: {self.text}")
            self.text += line
        return found


class InBrowser(unittest.TestCase):
    def setUp(self):
        self.page = self.enterContext(Browser())
        self.page.prefer("light")
        self.page.resize(1280, 900)

    def look(self, *arguments, token=None):
        """Opens the page of a new `troupe view` with the printed token, or with this one."""
        self.view = self.enterContext(Program(TROUPE, "view", *arguments))
        self.page.open(self.view.says(r"^view +(\S+)$").group(1))
        self.page.run("sessionStorage.clear()")
        self.page.open(self.view.says(r"^view +(\S+)$").group(1))
        self.page.type("#token", (token or self.view.says(r"^token +(\S+)$").group(1)) + "\ue007")
        self.page.until(lambda: "live" in self.page.text("#freshness"), "a first state")

    def row(self, title):
        """The cells of the table row that begins with this text, by their titles."""
        return self.page.run("""const row = [...document.querySelectorAll('#panel tbody tr')].find(each => each.firstChild.textContent === arguments[0]);
            return row ? Object.fromEntries([...row.children].map(each => [each.dataset.title, each.textContent])) : null""", title)

    def tearDown(self):
        self.assertEqual([each for each in self.page.problems() if "Security Policy" in each or "Uncaught" in each], [])


class Live(InBrowser):
    def setUp(self):
        super().setUp()
        self.stopped = []
        self.addCleanup(lambda: [self.send(process, signal.SIGCONT) for process in self.stopped])
        self.look()

    @staticmethod
    def send(process, which):
        try:
            os.kill(process, which)
        except ProcessLookupError:
            pass

    def freeze(self, processes):
        for process in processes:
            self.send(process, signal.SIGSTOP)
            self.stopped.append(process)

    def test_shows_what_troupe_links_says_of_a_wordcount_and_leads_to_its_objects(self):
        page = self.page
        # Enough text for the whole test: the workers are stopped while the numbers are compared.
        with self.enterContext(Program(WORDCOUNT, "--workers", "2", "/usr")) as job:
            def running():
                known = nodes()
                mine = [each for each in known if each["process"] == job.process.pid]
                return known if mine and len(mine[0]["links"]) == 2 and all(link["stats"]["messages_sent"] > 3 for link in mine[0]["links"]) else None
            known = until(running, "a wordcount with two workers")
            coordinator = next(each for each in known if each["process"] == job.process.pid)
            # The workers are stopped at once, so that the job does not end before the page has seen it.
            workers = [each["process"] for each in known if each["process"] != job.process.pid and any(link["peer"] == coordinator["name"] for link in each["links"])]
            self.assertEqual(len(workers), 2)
            self.freeze(workers)
            page.run("location.hash = '#/links'")
            title = lambda link: f"{coordinator['name']} {'→' if link['dialed'] else '←'} {link['peer']}"
            page.until(lambda: all(self.row(title(link)) or self.row(f"{link['peer']} → {coordinator['name']}") for link in coordinator["links"]), "the links of the wordcount")
            page.run("location.hash = '#/graph'")
            page.until(lambda: len(page.texts(".graph .link:not(:has(.lost))")) >= 2, "the graph")
            page.screenshot(os.path.join(SHOTS, "wordcount.png"))

            def same():
                now = next((each for each in nodes() if each["process"] == job.process.pid), None)
                self.assertIsNotNone(now, f"the wordcount has ended: {job.process.poll()}, or does not answer")
                numbers = lambda node: [(link["number"], link["stats"]["messages_sent"], link["stats"]["messages_received"]) for link in node["links"]]
                last, self.last = getattr(self, "last", None), now
                return now if last and numbers(last) == numbers(now) else None
            coordinator = until(same, "a coordinator that waits for its workers")
            page.run("location.hash = '#/links'")
            grouped = lambda number: f"{number:,}"
            for link in coordinator["links"]:
                # The workers are silent, so the page shows the coordinator's end.
                wanted = f"{grouped(link['stats']['messages_sent'])} / {grouped(link['stats']['messages_received'])}"
                page.until(lambda: (self.row(title(link)) or {}).get("Messages out / in") == wanted, f"{wanted} messages of {title(link)}")

            page.run("location.hash = '#/store'")
            page.until(lambda: page.texts(".tile"), "objects")
            kept = json.dumps(json.loads(subprocess.run([TROUPE, "memory", "--json", "--timeout", "2"], capture_output=True, text=True, timeout=60).stdout))
            # The page may still show objects of before the workers were stopped.
            shown = lambda: [each for each in page.run("return [...document.querySelectorAll('.tile')].map(each => each.dataset.object)") if each in kept]
            page.until(shown, "an object that the command tells as well")
            chosen = shown()[0]
            page.dispatch_click(f'.tile[data-object="{chosen}"]')
            page.until(lambda: page.text("#detail h2") == chosen, "the object that was clicked")
            page.until(lambda: page.texts("#detail tbody tr"), "what keeps it")
            page.screenshot(os.path.join(SHOTS, "object.png"))

    def test_shows_a_lost_link_of_a_pool_whose_worker_is_killed(self):
        page = self.page
        with self.enterContext(Program(WORKERS, "0")) as pool:
            found = {}
            def all_stopped():
                for each in nodes():  # Each is stopped as soon as it is found, so that the job does not end.
                    if each["name"].startswith("worker-") and each["name"] not in found:
                        found[each["name"]] = each
                        self.freeze([each["process"]])
                return len(found) == 4
            until(all_stopped, "four workers")
            workers = [found[name] for name in sorted(found)]
            page.until(lambda: len(page.texts(".graph .link:not(:has(.lost))")) >= 4, "four links")
            victim = workers[1]
            self.send(victim["process"], signal.SIGKILL)
            page.until(lambda: len(page.texts(".graph .edge.lost")) >= 1, "a lost link")
            page.until(lambda: victim["name"] in page.text(".graph .link:has(.lost)"), "the link of the killed worker")
            page.until(lambda: page.text("#total-links .total-note").endswith("lost"), "the count of lost links")
            page.screenshot(os.path.join(SHOTS, "lost-link.png"))
            page.dispatch_click(".graph .link:has(.lost)")
            page.until(lambda: "Lost" in page.text("#detail .problem"), "its last figures")
            page.run("location.hash = '#/supervisors'")
            page.until(lambda: f"{victim['name']} process" in page.text(".tree"), "the tree")
            page.until(lambda: "1 restart" in page.text(".tree"), "the restart of the killed worker")
            children = page.texts(".tree .tree-line.child")
            for each in workers:  # Each of the others runs as the process that `troupe links` tells, and has not been restarted.
                line = next((child for child in children if child.startswith(each["name"])), "")
                self.assertIn("process", line)
                if each is not victim:
                    self.assertIn("running", line)
                    self.assertIn(f"process {each['process']}", line)
                    self.assertNotIn("restart", line)
            self.assertEqual(len(page.texts(".tree .tree-line.supervisor")), 1)
            page.screenshot(os.path.join(SHOTS, "supervisors.png"))
            page.run("location.hash = '#/actors'")
            page.until(lambda: page.texts("#panel tbody tr"), "the actors of the pool")


class Shop(InBrowser):
    """Two processes with two links between them."""

    def setUp(self):
        super().setUp()
        name = f"view-shop-{os.getpid()}-{self._testMethodName[:40]}"
        # After its programs have ended: one that is stopped leaves its store.
        self.addCleanup(subprocess.run, [TROUPE, "store", "clean", "--store", name], capture_output=True, timeout=60)
        self.stock = self.enterContext(Program(SHOP, "stock", f"unix://@{name}"))
        self.stock.says("^ready$")
        self.front = self.enterContext(Program(SHOP, "front", f"unix://@{name}", name))
        self.front.says("^ready$")

    def go(self, where, css, what):
        self.page.run("location.hash = arguments[0]", f"#/{where}")
        return self.page.until(lambda: self.page.texts(css), what)

    def test_two_links_that_were_made_at_once_are_two_edges_with_their_own_figures(self):
        for number in range(3):
            self.front.tell("ask", "^answer 42$")
        self.look()
        page = self.page
        page.until(lambda: len(page.texts(".graph .link:not(:has(.lost))")) == 2, "two edges")
        self.go("links", "#panel tbody tr", "the links")
        column = lambda title: page.run("return [...document.querySelectorAll('#panel tbody tr')].map(row => [...row.children].find(cell => cell.dataset.title === arguments[0]).textContent)", title)
        self.assertEqual(column("Link"), ["front → stock"] * 2)
        self.assertEqual(sorted(column("Messages out / in")), ["0 / 0", "3 / 3"])
        # The other end of the link with the requests is the one that has received them.
        received = {link["number"]: link["stats"]["messages_received"] for each in nodes() if each["name"] == "stock" for link in each["links"]}
        for carried in (3, 0):
            row = page.run("return [...document.querySelectorAll('#panel tbody tr')].findIndex(row => row.textContent.includes(arguments[0]))", f"{carried} / {carried}")
            page.dispatch_click(f"#panel tbody tr:nth-child({row + 1})")
            page.until(lambda: f"{carried} out, {carried} in" in page.text("#detail"), "its details")
            there = int(re.search(r"Link number\d+, there (\d+)", page.text("#detail")).group(1))
            self.assertEqual(received[there], carried)

    def test_shows_a_request_of_a_running_program_as_a_waterfall_over_two_nodes(self):
        self.look()
        page = self.page
        self.go("traces", "#panel .empty:not([hidden])", "no traces")
        page.until(lambda: "No spans" in page.text("#panel .empty"), "that the nodes were asked")
        self.front.tell("ask", "^answer 42$")
        page.until(lambda: any("Nodes" in row for row in [self.trace()]) and self.trace()["Nodes"] == "2", "a trace of two nodes")
        shown = self.trace()
        self.assertEqual((shown["Request"], shown["Spans"], shown["Errors"]), ("request count", "2", "0"))
        page.dispatch_click("#panel tbody tr")
        page.until(lambda: len(page.texts(".span-row")) == 2, "two spans")
        self.assertEqual([each.replace("\u00a0", ">") for each in page.texts(".span-name")], ["front request count", ">>stock serve count"])
        # The request contains its handling: by the clock of one host.
        bars = page.run("return [...document.querySelectorAll('rect.span')].map(each => [Number(each.getAttribute('x')), Number(each.getAttribute('width'))])")
        (outer, wide), (inner, narrow) = bars
        self.assertLessEqual(outer, inner)
        self.assertLess(narrow, wide)
        parts = page.run("return [...document.querySelectorAll('.waterfall .part title')].map(each => each.textContent.split(' ')[0])")
        self.assertEqual(parts, ["decode", "queue", "handler", "wire", "decode", "queue", "handler"])  # Of the answer, and of the request.
        page.screenshot(os.path.join(SHOTS, "trace.png"))

    def trace(self):
        return self.page.run("""const row = document.querySelector('#panel tbody tr');
            return row ? Object.fromEntries([...row.children].map(each => [each.dataset.title, each.textContent])) : {}""")

    def test_shows_a_message_that_was_lost_as_the_program_itself_tells_it(self):
        self.look()
        page = self.page
        self.go("letters", "#panel .empty:not([hidden])", "no letters")
        page.until(lambda: "No message was lost" in page.text("#panel .empty"), "that the nodes were asked")
        self.front.tell("lose", "^sent$")
        reason, peer, text = self.stock.says(r"^(\w+) from (\w+): (.*)$").groups()
        page.until(lambda: page.texts("#panel tbody tr"), "a letter")
        shown = self.trace()
        self.assertEqual((shown["Node"], shown["Peer"], shown["Reason"], shown["Types"]), ("stock", f"from {peer}", reason, "shop.parcel"))
        self.assertEqual(shown["Text"][:200], text[:200])
        page.screenshot(os.path.join(SHOTS, "letters.png"))

    def open_pinned_object(self):
        self.go("store", ".tile", "objects")
        self.page.until(lambda: "out of band" in self.page.text("#panel"), "the pin")
        pinned = json.loads(subprocess.run([TROUPE, "memory", "--json", "--timeout", "3"], capture_output=True, text=True, timeout=60).stdout)
        name = next(each["object"] for each in pinned["objects"] if any(holder["reason"] == "out of band" for holder in each["holders"]))
        self.page.dispatch_click(f'.tile[data-object="{name}"]')
        self.page.until(lambda: "out of band" in self.page.text("#detail tbody"), "what keeps it")
        return name

    def free_by_hand(self, name):
        """The status of the order, given without the page's button."""
        return self.page.run("""const [object] = arguments, token = sessionStorage.getItem('troupe.token');
            const ask = (path, options) => fetch(new URL(path, new URL('view/', location.href)), {...options, headers: {Authorization: `Bearer ${token}`, 'Content-Type': 'application/json'}});
            return ask('state').then(answer => answer.json()).then(state => ask('act', {method: 'POST', body: JSON.stringify(
              {node: state.nodes.find(node => node.name === 'front').key, order: {what: 'release_out_of_band', object}})})).then(answer => answer.status)""", name)

    def test_frees_an_out_of_band_pin_after_a_confirmation(self):
        self.front.tell("read", "^50000 numbers$")
        self.look("--allow-actions")
        page = self.page
        self.open_pinned_object()
        button = page.until(lambda: page.texts("#detail .controls button"), "a button")
        self.assertEqual(button, [f"Free the pin of process {self.front.process.pid}"])
        page.click("#detail .controls button")
        page.until(lambda: "object_freed" in page.text("#ask"), "a question")
        page.click("#ask button:not(.strong)")  # Cancel.
        self.front.tell("read", "^50000 numbers$")
        page.click("#detail .controls button")
        page.until(lambda: "object_freed" in page.text("#ask"), "a question")
        page.screenshot(os.path.join(SHOTS, "pin.png"))
        page.click("#ask button.strong")
        page.until(lambda: not page.run("return document.querySelector('#ask').open"), "the order carried out")
        self.front.tell("read", "^object_freed$")
        page.until(lambda: "not kept any more" in page.text("#detail"), "that the object is gone")

    def test_a_pin_stays_without_permission_of_the_command_and_without_the_right(self):
        path = os.path.join(self.page.scratch, "tokens")
        viewer, boss = "v" * 40, "b" * 40
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(f"viewer {viewer} view\nboss {boss} view act\n")
        # The right `act` without --allow-actions; --allow-actions without the right; the token that is printed.
        for arguments, token in ((["--token-file", path], boss), (["--token-file", path, "--allow-actions"], viewer), ([], None)):
            self.look(*arguments, token=token)
            name = self.open_pinned_object()
            self.assertEqual(self.page.texts("#detail .controls button"), [], arguments)
            self.assertEqual(self.free_by_hand(name), 403, arguments)
            self.front.tell("read", "^50000 numbers$")


if __name__ == "__main__":
    reason = is_possible()
    if reason:
        print(f"{reason}; run cmake/install-dependencies browser")
        sys.exit(1 if os.environ.get("TROUPE_BROWSER_TESTS") == "1" else 77)
    be_alone()
    TROUPE, WORDCOUNT, WORKERS, SHOP, SHOTS = (os.path.abspath(each) for each in sys.argv[1:6])
    os.makedirs(SHOTS, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[6:], verbosity=2)
