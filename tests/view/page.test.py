"""The page in a real browser, for a made-up network: page.test.py PAGE-FOLDER SCREENSHOTS. Status 77: no browser."""
import os
import sys
import unittest

import made_up_network as made_up
from webdriver import Browser, is_possible

FOLDER = SHOTS = ""


def names(page):
    return page.texts("#panel tbody tr td:first-child")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.page.close()

    def setUp(self):
        self.network = made_up.MadeUpNetwork(FOLDER)
        self.addCleanup(self.network.__exit__)
        self.page.resize(1280, 900)
        self.page.prefer("light")
        self.page.open(self.network.url + "/view")
        self.page.problems()  # Forgets those of earlier tests.

    def enter(self, token=made_up.TOKEN):
        self.page.type("#token", token + "\ue007")
        return self.page

    def enter_and_wait(self):
        page = self.enter()
        page.until(lambda: len(page.texts(".graph .node")) > 0, "a graph")
        return page

    def go(self, where):
        self.page.run("location.hash = arguments[0]", where)

    def test_asks_for_a_token_and_says_what_is_wrong_with_it(self):
        page = self.enter("wrong" * 8)
        page.until(lambda: "does not know this token" in page.text("#door-problem"), "a refusal")
        self.assertEqual(page.run("return [document.querySelector('#door-problem').getAttribute('role'), getComputedStyle(document.querySelector('#door-problem')).color]"), ["alert", "rgb(179, 38, 30)"])
        self.assertEqual(page.run("return sessionStorage.length"), 0)
        self.enter_and_wait()
        self.assertEqual(page.run("return [location.search, document.cookie, localStorage.getItem('troupe.token')]"), ["", "", None])
        self.assertEqual([each for each in self.network.asked if made_up.TOKEN in each], [])

    def test_shows_the_state_of_the_network_first(self):
        page = self.enter_and_wait()
        self.assertEqual(page.text("#total-nodes .total-value"), "5")
        self.assertEqual(page.text("#total-links .total-value"), "5")
        self.assertEqual(page.text("#total-lost .total-value"), "3")
        self.assertEqual(page.text("#total-store .total-note"), "312 MB of 1.07 GB")
        page.until(lambda: page.text("#total-bytes .total-value").endswith("MB/s"), "a rate of bytes")
        page.until(lambda: not page.text("#total-messages .total-value").startswith("0"), "a rate of messages")

    def test_joins_both_ends_of_a_link_and_colors_it_by_its_family(self):
        page = self.enter_and_wait()
        self.assertEqual(len(page.texts(".graph .link")), 5)
        self.assertEqual(len(page.texts(".graph .node")), 6)  # The ledger was not asked.
        families = page.run("return [...document.querySelectorAll('.graph .edge')].map(each => each.getAttribute('class'))")
        self.assertEqual(sorted(families), ["edge family-cereal", "edge family-json", "edge family-msgpack", "edge family-typed", "edge family-typed"])
        self.assertIn("not asked", page.text(".node.unasked"))

    def test_draws_a_lost_link_dashed_and_keeps_it(self):
        page = self.enter_and_wait()
        self.network.nodes = lambda seconds: made_up.shop(seconds, lost=True)
        page.until(lambda: len(page.texts(".graph .edge.lost")) == 1, "a lost link")
        self.assertNotEqual(page.run("return getComputedStyle(document.querySelector('.edge.lost')).strokeDasharray"), "none")
        self.assertEqual(page.text("#total-links .total-note"), "1 lost")
        page.dispatch_click(".link:has(.edge.lost)")
        page.until(lambda: "Lost" in page.text("#detail .problem"), "the end of the link")
        self.assertIn("worker-3", page.text("#detail h2"))

    def test_shows_windows_types_and_latencies_of_a_link(self):
        page = self.enter_and_wait()
        self.go("#/links/link/n1/2")
        page.until(lambda: "shop.order" in page.text("#detail"), "the types of the link")
        detail = page.text("#detail")
        for words in ("front → worker-2", "1.05 MB of 4.19 MB", "p99", "round trip", "unix, dialed"):
            self.assertIn(words, detail)
        self.assertGreater(len(page.texts("#detail .histogram rect")), 20)

    def test_names_of_peers_are_text_and_nothing_else(self):
        hostile = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
        def nodes(seconds):
            made = made_up.shop(seconds)
            made[0]["name"] = hostile
            made[0]["links"][0]["peer"] = hostile + "'\"&amp;"
            made[0]["links"][0]["families"][0]["family"] = '"><b>family'
            made[1]["name"] = "n" * 10_000
            return made
        self.network.nodes = nodes
        page = self.enter_and_wait()
        for where in ("#/graph", "#/links", "#/links/link/n1/1", "#/graph/node/n1"):
            self.go(where)
            page.until(lambda: hostile in page.text("#app"), f"the name as text in {where}")
        self.assertEqual(page.run("return [document.title, document.querySelectorAll('#app img, #app script, #app b').length]"), ["Troupe view", 0])
        self.assertLessEqual(page.run("return document.documentElement.scrollWidth"), 1280)

    def test_leads_from_the_treemap_to_an_object_and_what_keeps_it(self):
        page = self.enter_and_wait()
        self.go("#/store")
        page.until(lambda: len(page.texts(".tile")) > 50, "a treemap")
        largest = made_up.memory()["summary"]["objects"][0]
        page.dispatch_click(f".tile[data-object='{largest['object']}']")
        page.until(lambda: largest["object"] in page.text("#detail h2"), "the object")
        page.until(lambda: page.texts("#detail tbody tr"), "its holders")
        self.assertIn(largest["holders"][0]["reason"].replace("_", " "), page.text("#detail tbody"))

    def test_orders_are_offered_to_those_who_may_and_wait_for_a_yes(self):
        page = self.enter_and_wait()
        self.go("#/links/link/n1/2")
        page.until(lambda: "Close the link" in page.text("#detail .controls"), "the orders")
        page.run("[...document.querySelectorAll('#detail button')].find(each => each.textContent === 'Close the link…').click()")
        page.until(lambda: page.run("return document.querySelector('#ask').open"), "a question")
        self.assertEqual(self.network.orders, [])
        question = page.text("#ask")
        for words in ("link 2 of front of process 3999", "worker-2 of process 4002"):
            self.assertIn(words, question)
        self.assertEqual(page.run("return document.activeElement.textContent"), "Cancel")
        page.run("document.querySelector('#ask .strong').click()")
        page.until(lambda: self.network.orders, "an order")
        self.assertEqual(self.network.orders, [{"node": "n1", "order": {"number": 2, "what": "close_link"}}])

    def change_families(self):
        page = self.enter_and_wait()
        self.go("#/links/link/n1/2")
        page.until(lambda: "Change families" in page.text("#detail .controls"), "the orders")
        page.run("[...document.querySelectorAll('#detail button')].find(each => each.textContent === 'Change families…').click()")
        page.until(lambda: page.run("return document.querySelector('#ask').open"), "a question")
        return page

    def test_changes_of_a_link_begin_with_what_it_has_and_only_they_are_sent(self):
        def nodes(seconds):
            made = made_up.shop(seconds)
            for each in made[0]["links"]:
                each["compression"] = "automatic"
            return made
        self.network.nodes = nodes
        page = self.change_families()
        self.assertEqual(page.run("return document.querySelector('#ask select').value"), "automatic")
        self.assertEqual(page.run("return [...document.querySelectorAll('#ask option')].map(each => each.value)"), ["automatic", "none", "lz4", "zstd"])
        page.run("document.querySelector('#ask .strong').click()")
        page.until(lambda: "Nothing was changed" in page.text("#ask .problem"), "a refusal")
        self.assertEqual(self.network.orders, [])
        page.run("document.querySelector('#ask select').value = 'zstd'; document.querySelector('#ask .strong').click()")
        page.until(lambda: self.network.orders, "an order")
        self.assertEqual(self.network.orders, [{"node": "n1", "order": {"what": "reconfigure_link", "number": 2, "compression": "zstd"}}])

    def test_starts_anew_if_the_program_was_started_again(self):
        page = self.enter_and_wait()
        page.until(lambda: page.text("#total-messages .total-value").endswith("k"), "a rate of messages")
        self.go("#/links/link/n1/2")
        page.until(lambda: "worker-2" in page.text("#detail h2"), "the link")
        self.network.run = "second"
        self.network.nodes = lambda seconds: made_up.shop(seconds * 1000)
        page.until(lambda: page.run("return document.querySelector('#detail').hidden"), "the details closed")
        self.assertLess(page.run("return Math.max(...[...document.querySelectorAll('#total-bytes .total-note')].map(each => parseFloat(each.textContent.match(/[0-9.]+/)[0])))"), 1)

    def test_is_not_called_live_while_figures_are_old(self):
        page = self.enter_and_wait()
        page.until(lambda: page.text("#freshness").startswith("live"), "all answer")
        def nodes(seconds):
            made = made_up.shop(seconds)
            made[2].update(state="silent", state_ms=3000, report_age_ms=4000, problem="no answer within 1 s")
            return made
        self.network.nodes = nodes
        page.until(lambda: "1 of 5 nodes is silent, for up to 3 s" in page.text("#freshness"), "the silent node")
        self.assertNotIn("live", page.run("return document.querySelector('#freshness').className"))
        self.go("#/graph/node/n3")
        page.until(lambda: "silent for 3 s: no answer within 1 s. Figures are 4 s old" in page.text("#detail"), "the age of its figures")

    def test_tells_nodes_of_the_same_name_apart(self):
        self.network.nodes = made_up.twins
        page = self.enter_and_wait()
        self.assertEqual(sorted(each.split("worker")[0] + "worker" for each in page.texts(".node text:first-of-type") if "worker" in each), ["worker", "worker"])
        self.assertEqual(sorted(page.texts(".node text:first-of-type")), ["front", "worker (4001)", "worker (4002)"])
        self.go("#/links")
        page.until(lambda: sorted(names(page)) == ["front → worker (4001)", "front → worker (4002)"], "two names")

    def test_rows_stay_where_they_are_while_the_pointer_is_among_them(self):
        page = self.enter_and_wait()
        self.go("#/links")
        page.until(lambda: len(names(page)) == 5, "the links")
        page.run("[...document.querySelectorAll('th button')].find(each => each.textContent === 'Messages out / in').click()")
        def nodes(seconds):
            made = made_up.shop(seconds)
            made[0]["links"][0]["stats"]["messages_sent"] += 1_000_000_000
            return made
        page.until(lambda: names(page)[0].endswith("worker-4"), "the busiest link first")
        page.run("document.querySelector('#panel tbody').dispatchEvent(new Event('pointermove'))")
        self.network.nodes = nodes
        page.until(lambda: any("1,000," in each for each in page.texts("#panel tbody tr")), "new figures")
        page.run("document.querySelector('#panel tbody').dispatchEvent(new Event('pointermove'))")
        self.assertTrue(names(page)[0].endswith("worker-4"), names(page))
        page.run("document.querySelector('#panel tbody').dispatchEvent(new Event('pointerleave'))")
        page.until(lambda: names(page)[0].endswith("worker-1"), "the new order")

    def test_draws_a_crowd_with_labels_that_do_not_touch_and_hides_what_has_ended(self):
        self.network.nodes = made_up.crowd
        page = self.enter_and_wait()
        overlaps = """
            const boxes = [...document.querySelectorAll('.node text')].filter(each => each.textContent).map(each => [each.parentNode, each.getBoundingClientRect()]);
            return boxes.flatMap(([node, one], i) => boxes.slice(i + 1).filter(([other, two]) => other !== node && one.left < two.right - 2 && two.left < one.right - 2 && one.top < two.bottom - 4 && two.top < one.bottom - 4)).length"""
        outside = """
            const area = document.querySelector('.graph').getBoundingClientRect();
            return [...document.querySelectorAll('.node text')].filter(each => each.textContent).map(each => each.getBoundingClientRect())
              .filter(box => box.left < area.left - 1 || box.right > area.right + 1).length"""
        for scheme, width in (("light", 1280), ("dark", 1280), ("light", 400)):
            page.prefer(scheme)
            page.resize(width, 900)
            page.until(lambda: abs(page.run("return document.querySelector('.graph').getBoundingClientRect().width") - width) < 80, "the new width")
            self.assertEqual(page.run(overlaps), 0, width)
            self.assertEqual(page.run(outside), 0, width)
            self.assertGreater(len([each for each in page.texts(".node text:first-of-type") if each]), 4 if width == 400 else 20)
            page.screenshot(os.path.join(SHOTS, f"crowd-{scheme}-{width}.png"))
        page.prefer("light")
        page.resize(1280, 900)
        self.assertEqual(len(page.texts(".node.lost")), 6)
        page.run("document.querySelector('#panel .choice input').click()")
        page.until(lambda: not page.texts(".node.lost"), "the ended nodes gone")
        page.run("location.reload()")
        page.until(lambda: len(page.texts(".graph .node")) == 39, "the choice remembered")
        page.run("localStorage.clear()")

    def test_a_link_that_was_closed_in_order_is_not_alarming(self):
        page = self.enter_and_wait()
        self.network.lost_links = [{"number": 3, "peer": "worker-3", "address": "", "at_ms": made_up.now(), "reason": "link_down", "text": "the peer closed the link: its node ends"}]
        self.network.nodes = lambda seconds: made_up.shop(seconds, lost=True)
        page.until(lambda: len(page.texts(".graph .edge.closed")) == 1, "a closed link")
        self.assertEqual(page.texts(".graph .edge.lost"), [])
        self.assertEqual(page.text("#total-links .total-note"), "1 closed")
        self.assertEqual(page.run("return document.querySelector('#total-links').classList.contains('bad')"), False)

    def test_groups_equal_dead_letters(self):
        at = made_up.now()
        self.network.letters = [{"number": 100 + number, "at_ms": at + number, "peer": "worker-4", "link": 4, "has_arrived": True, "is_request": False,
                                 "reason": "no_such_actor", "text": "the actor has ended", "types": ["shop.bill"]} for number in range(1_234)]
        page = self.enter_and_wait()
        self.go("#/letters")
        page.until(lambda: len(page.texts("#panel tbody tr")) == 2, "two groups")
        self.assertIn("1,234", page.text("#panel tbody"))
        page.type("#panel input[type=search]", "shop.bill")
        page.until(lambda: len(page.texts("#panel tbody tr")) == 1, "one group")

    def test_tables_fit_and_narrow_ones_can_be_sorted(self):
        page = self.enter_and_wait()
        self.go("#/links")
        page.until(lambda: len(names(page)) == 5, "the links")
        page.resize(1400, 900)
        self.assertEqual(page.run("const area = document.querySelector('#panel .scroll'); return area.scrollWidth - area.clientWidth"), 0)
        self.assertEqual(page.run("return [document.querySelector('#panel tbody tr').getAttribute('role'), document.querySelector('#panel table').getAttribute('role')]"), ["row", "grid"])
        page.screenshot(os.path.join(SHOTS, "links-light-1400.png"))
        page.resize(400, 900)
        page.until(lambda: page.run("return document.querySelector('#panel .sort-by').getBoundingClientRect().height") > 0, "a choice")
        page.run("const choice = document.querySelector('#panel .sort-by select'); choice.value = 0; choice.dispatchEvent(new Event('change'))")
        page.until(lambda: names(page)[0].endswith("ledger"), "the links by name")

    def test_credit_that_is_left_is_no_alarm(self):
        page = self.enter_and_wait()
        self.go("#/links/link/n1/2")
        page.until(lambda: "Credit left" in page.text("#detail"), "the credit")
        full = "return [...document.querySelectorAll('#detail .meter')].filter(each => each.querySelector('.full')).map(each => each.firstChild.textContent)"
        self.assertEqual(page.run(full), [])
        def nodes(seconds):
            made = made_up.shop(seconds)
            made[0]["links"][1]["stats"].update(credit_bytes=1000, unconsumed_bytes_there=(4 << 20) - 1000)
            return made
        self.network.nodes = nodes
        page.until(lambda: page.run(full) == ["Sent, not consumed there", "Credit left"], "an alarm")

    def test_orders_are_not_offered_to_others(self):
        self.network.may_act = False
        page = self.enter_and_wait()
        self.go("#/links/link/n1/2")
        page.until(lambda: "shop.order" in page.text("#detail"), "the link")
        self.assertNotIn("Close the link", page.text("#detail"))

    def test_draws_a_request_over_the_nodes_as_a_waterfall(self):
        page = self.enter_and_wait()
        self.go("#/traces/trace/a1b2")
        page.until(lambda: len(page.texts(".span-row")) == 4, "four spans")
        self.assertEqual([each.strip().split()[0] for each in page.texts(".span-name")], ["front", "worker-2", "front", "worker-2"])
        self.assertEqual(len(page.texts(".part")), 4 + 8)  # The legend, and two spans that were received.

    def test_shows_supervisors_as_a_tree_and_actors_and_letters(self):
        page = self.enter_and_wait()
        self.go("#/supervisors")
        page.until(lambda: "worker-3" in page.text(".tree"), "a tree")
        self.assertIn("last end: SIGKILL", page.text(".tree"))
        self.assertEqual(page.run("return document.querySelectorAll('.tree ul ul ul').length"), 1)
        self.go("#/actors")
        page.until(lambda: "orders" in names(page), "actors")
        self.go("#/letters")
        page.until(lambda: "link_down" in page.text("#panel"), "a letter")
        self.go("#/cluster")
        page.until(lambda: "cart: 12 shards" in page.text("#panel"), "members")

    def test_can_be_used_by_keyboard_alone(self):
        page = self.enter_and_wait()
        page.run("document.querySelector('#tab-graph').focus()")
        page.press("\ue014")  # Right.
        page.until(lambda: page.run("return document.activeElement.id") == "tab-links", "the next tab with the focus")
        page.until(lambda: len(page.texts("#panel tbody tr")) == 5, "the links")
        page.run("document.querySelector('#panel tbody tr').focus()")
        page.press("\ue007")  # Enter.
        page.until(lambda: page.text("#detail h2"), "the link's details")
        page.until(lambda: page.run("return document.activeElement.id") == "detail", "the focus in the details")
        page.press("\ue00c")  # Escape.
        page.until(lambda: page.run("return document.querySelector('#detail').hidden"), "the details closed")
        page.press("3")
        page.until(lambda: page.texts(".tile"), "the store by its number")
        self.assertTrue(page.run("return [...document.querySelectorAll('button, input, a, [role=button]')].every(each => each.textContent || each.getAttribute('aria-label') || each.labels?.length)"))

    def test_says_what_to_do_if_there_is_nothing_or_nobody_answers(self):
        self.network.nodes = lambda seconds: []
        self.network.cluster = None
        page = self.enter()
        page.until(lambda: "Start a program that opens a node" in page.text(".graph-area"), "a hint")
        self.network.is_down = True
        page.until(lambda: "do not answer" in page.text("#notices"), "a notice")
        self.network.is_down = False
        page.until(lambda: page.text("#notices") == "", "the notice gone")

    def test_is_readable_at_400_pixels_in_dark_and_light(self):
        self.network.nodes = lambda seconds: made_up.shop(seconds, lost=False)
        page = self.enter_and_wait()
        for scheme in ("light", "dark"):
            page.prefer(scheme)
            for width in (1280, 400):
                page.resize(width, 900)
                for where in ("graph", "links", "store", "actors", "letters", "traces", "supervisors", "cluster"):
                    self.go(f"#/{where}")
                    page.until(lambda: page.run("return document.querySelector('[aria-selected=true]').id") == f"tab-{where}", where)
                    self.assertLessEqual(page.run("return document.documentElement.scrollWidth"), width, f"{where} at {width}")
                    page.screenshot(os.path.join(SHOTS, f"{where}-{scheme}-{width}.png"))
        background = page.run("return getComputedStyle(document.documentElement).backgroundColor")
        page.run("document.querySelector('#theme').click()")
        page.until(lambda: page.run("return getComputedStyle(document.documentElement).backgroundColor") != background, "the other theme")
        page.run("localStorage.clear()")

    def test_a_paused_page_asks_nothing(self):
        page = self.enter_and_wait()
        page.run("document.querySelector('#pause').click()")
        page.until(lambda: page.text("#freshness") == "paused", "a pause")
        page.until(lambda: page.run("return performance.getEntriesByType('resource').every(each => each.responseEnd > 0)"), "the last answer")
        asked = len(self.network.asked)
        # Whatever wakes the page, it asks nothing: a file that it gets afterwards comes before any question.
        page.run("document.dispatchEvent(new Event('visibilitychange')); dispatchEvent(new Event('resize'));"
                 "return new Promise(done => setTimeout(() => setTimeout(() => fetch('view/style.css').then(done), 0), 0)).then(() => true)")
        self.assertEqual(len(self.network.asked), asked)
        page.run("document.querySelector('#pause').click()")
        page.until(lambda: len(self.network.asked) > asked, "a question after the pause")

    def test_shows_a_thousand_links(self):
        self.network.nodes = lambda seconds: made_up.many(1000, seconds)
        page = self.enter_and_wait()
        page.until(lambda: page.text("#total-links .total-value") == "1,000", "all links")
        self.go("#/links")
        page.until(lambda: len(page.texts("#panel tbody tr")) == 200, "the first links")
        self.assertEqual(page.text("#panel .more"), "Show all 1,000")
        page.type("input[type=search]", "peer-77")
        page.until(lambda: len(page.texts("#panel tbody tr")) == 11, "peer-77 and peer-770 to peer-779")

    def tearDown(self):
        violations = [each for each in self.page.problems() if "Security Policy" in each or "Uncaught" in each or "TypeError" in each]
        self.assertEqual(violations, [])


if __name__ == "__main__":
    reason = is_possible()
    if reason:
        print(f"{reason}; run cmake/install-dependencies browser")
        sys.exit(1 if os.environ.get("TROUPE_BROWSER_TESTS") == "1" else 77)
    FOLDER, SHOTS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(SHOTS, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
