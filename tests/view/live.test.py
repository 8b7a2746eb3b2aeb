"""`troupe view` in a real browser, for running programs: live.test.py TROUPE WORDCOUNT WORKERS SCREENSHOTS. Status 77: no
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

TROUPE = WORDCOUNT = WORKERS = SHOTS = ""


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
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
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
        self.process.stdout.close()

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


class Live(unittest.TestCase):
    def setUp(self):
        self.stopped = []
        self.view = self.enterContext(Program(TROUPE, "view"))
        url = self.view.says(r"^view +(\S+)$").group(1)
        token = self.view.says(r"^token +(\S+)$").group(1)
        self.page = self.enterContext(Browser())
        self.page.prefer("light")
        self.page.resize(1280, 900)
        self.page.open(url)
        self.page.type("#token", token + "\ue007")
        self.page.until(lambda: "live" in self.page.text("#freshness"), "a first state")
        self.addCleanup(lambda: [self.send(process, signal.SIGCONT) for process in self.stopped])

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

    def row(self, title):
        """The cells of the table row that begins with this text, by their titles."""
        return self.page.run("""const row = [...document.querySelectorAll('#panel tbody tr')].find(each => each.firstChild.textContent === arguments[0]);
            return row ? Object.fromEntries([...row.children].map(each => [each.dataset.title, each.textContent])) : null""", title)

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
            self.assertEqual([each for each in page.problems() if "Security Policy" in each or "Uncaught" in each], [])

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
            page.screenshot(os.path.join(SHOTS, "supervisors.png"))
            page.run("location.hash = '#/actors'")
            page.until(lambda: page.texts("#panel tbody tr"), "the actors of the pool")


if __name__ == "__main__":
    reason = is_possible()
    if reason:
        print(f"{reason}; run cmake/install-dependencies browser")
        sys.exit(1 if os.environ.get("TROUPE_BROWSER_TESTS") == "1" else 77)
    be_alone()
    TROUPE, WORDCOUNT, WORKERS, SHOTS = (os.path.abspath(each) for each in sys.argv[1:5])
    os.makedirs(SHOTS, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
