// Goal: the page's pure functions: node --test model.test.mjs, with the folder of the page in PAGE_FOLDER.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";

const page = process.env.PAGE_FOLDER;
// The page's files end with .js, and node reads them as modules only if it is told so.
const module = async name => {
  const source = readFileSync(`${page}/${name}`, "utf8").replaceAll(/from "\.\/(\w+\.js)"/g, (_, file) => `from "${urls.get(file)}"`);
  const url = `data:text/javascript;base64,${Buffer.from(source).toString("base64")}`;
  urls.set(name, url);
  return import(url);
};
const urls = new Map();
const model = await module("model.js");
await module("dom.js");
const charts = await module("charts.js");
const graph = await module("graph.js");
const treemap = await module("treemap.js");
const waterfall = await module("waterfall.js");

const stats = more => ({messages_sent: 0, messages_received: 0, socket_bytes_sent: 0, socket_bytes_received: 0, handle_bytes_sent: 0, handle_bytes_received: 0, unserializable: 0, undecodable: 0, undelivered: 0, refused_at_bound: 0, dropped: 0, ...more});
const link = (number, peer, dialed, age_ms = 1000, more = {}, named = {}) => ({...named, number, peer, dialed, age_ms, transport: "unix", families: [], latencies: [], serializers: [], stats: stats(more)});
const node = (key, name, links, state = "open") => ({key, name, links, state, links_left_off: 0, totals: stats(), store: {name: ""}});
const state = (at_ms, ...nodes) => ({at_ms, nodes});

test("numbers have three digits and a unit, as in `troupe links`", () => {
  assert.equal(model.bytes(0), "0 B");
  assert.equal(model.bytes(999), "999 B");
  assert.equal(model.bytes(1_200_000), "1.20 MB");
  assert.equal(model.bytes(99_960), "100 kB");
  assert.equal(model.nanoseconds(85_000), "85.0 us");
  assert.equal(model.nanoseconds(-1), "-");
  assert.equal(model.count(1234567), "1,234,567");
  assert.equal(model.age(61_000), "1 min 1 s");
  assert.equal(model.age(3_600_000), "1 h");
});

test("both ends of a link become one edge, and ends of equal names are told apart by their ages", () => {
  const pairs = model.pairEnds([
    node("a", "front", [link(1, "worker", true, 5000), link(2, "worker", true, 900)]),
    node("b", "worker", [link(1, "front", false, 910)]),
    node("c", "worker", [link(1, "front", false, 5010)]),
    node("d", "alone", [link(4, "somewhere", true)])]);
  const joined = pairs.filter(pair => pair[1]).map(([one, other]) => `${one.node.key}${one.link.number}-${other.node.key}${other.link.number}`).sort();
  assert.deepEqual(joined, ["a1-c1", "a2-b1"]);
  assert.equal(pairs.filter(pair => !pair[1]).length, 1);
});

test("two links between the same nodes, made at once, are two edges with the ends that belong together", () => {
  const ends = (dialed, ids) => ids.map(([number, link_id, sent]) => link(number, dialed ? "worker" : "front", dialed, 1000, {messages_sent: sent}, {link_id}));
  // By number, age and order, the other ends would fit as well.
  const seen = new model.Model();
  seen.update(state(1000, node("a", "front", ends(true, [[1, "x", 10], [2, "y", 20]])), node("b", "worker", ends(false, [[1, "y", 2], [2, "x", 1]]))));
  assert.equal(seen.edges.size, 2);
  for (const edge of seen.edges.values()) {
    const [here, there] = edge.ends;
    assert.equal(here.link.link_id, there.link.link_id);
    assert.equal(here.link.stats.messages_sent, 10 * there.link.stats.messages_sent);
  }
});

test("an end whose link has another identity is never joined, however similar its age", () => {
  const pairs = model.pairEnds([node("a", "front", [link(1, "worker", true, 1000, {}, {link_id: "x"})]), node("b", "worker", [link(1, "front", false, 1000, {}, {link_id: "z"})])]);
  assert.deepEqual(pairs.map(pair => pair[1]), [null, null]);
});

test("an end of a version without identities is joined by age, also with one that has an identity", () => {
  const pairs = model.pairEnds([node("a", "front", [link(1, "worker", true, 5000, {}, {link_id: "x"}), link(2, "worker", true, 900, {}, {link_id: "y"})]),
    node("b", "worker", [link(1, "front", false, 910), link(2, "front", false, 5000, {}, {link_id: "x"})])]);
  assert.deepEqual(pairs.map(([one, other]) => `${one.link.number}-${other.link.number}`).sort(), ["1-2", "2-1"]);
});

test("a node cannot take the end of a link between two others by lying about the identity", () => {
  const pairs = model.pairEnds([node("liar", "liar", [link(1, "front", false, 1000, {}, {link_id: "x"}), link(2, "front", true, 1000, {}, {link_id: "x"})]),
    node("a", "front", [link(1, "worker", true, 1000, {}, {link_id: "x"})]), node("b", "worker", [link(1, "front", false, 1000, {}, {link_id: "x"})])]);
  assert.deepEqual(pairs.filter(pair => pair[1]).map(pair => pair.map(end => end.node.key)), [["a", "b"]]);
});

test("the old figures of a silent node still belong to its link", () => {
  const silent = node("b", "worker", [link(1, "front", false, 1000)], "silent");
  silent.state_ms = 30_000;
  const pairs = model.pairEnds([node("a", "front", [link(1, "worker", true, 31_000)]), silent]);
  assert.equal(pairs.length, 1);
});

test("a link of a command that has ended is not lost", () => {
  const seen = new model.Model();
  seen.update(state(1000, node("a", "front", [link(1, "troupe command 77", false)])));
  assert.equal(seen.edges.size, 1);
  seen.update(state(2000, node("a", "front", [])));
  assert.equal(seen.edges.size, 0);
  assert.equal(seen.now.lostLinks, 0);
});

test("rates come from two states, and a state that was shown counts once", () => {
  const seen = new model.Model();
  const at = (ms, sent) => state(ms, node("a", "front", [link(1, "worker", true, ms, {messages_sent: sent, socket_bytes_sent: 10 * sent})]));
  assert.ok(seen.update(at(1000, 100)));
  assert.equal(seen.now.messages, 0);
  assert.ok(seen.update(at(3000, 700)));
  assert.equal(seen.now.messages, 300);
  assert.equal(seen.now.bytes, 3000);
  assert.ok(!seen.update(at(3000, 700)));
  assert.equal(seen.now.messages, 300);
});

test("a link that is gone is lost for a minute and then forgotten", () => {
  const seen = new model.Model();
  seen.update(state(1000, node("a", "front", [link(1, "w", true)]), node("b", "w", [link(1, "front", false)])));
  assert.equal(seen.edges.size, 1);
  seen.update(state(2000, node("a", "front", []), node("b", "w", [link(1, "front", false)], "lost")));
  assert.equal(seen.now.lostLinks, 1);
  assert.equal(seen.now.openLinks, 0);
  seen.update(state(60_000, node("a", "front", [])));
  assert.equal(seen.now.lostLinks, 1);
  seen.update(state(63_000, node("a", "front", [])));
  assert.equal(seen.edges.size, 0);
  assert.equal(seen.byEnd.size, 0);
});

test("figures of another run of the program are compared with nothing", () => {
  const seen = new model.Model();
  const at = (run, ms, sent) => ({...state(ms, node("n1", "front", [link(1, "worker", true, ms, {messages_sent: sent})])), run});
  seen.update(at("one", 1000, 100));
  seen.update(at("one", 2000, 200));
  assert.equal(seen.now.messages, 100);
  assert.ok(seen.update(at("two", 2000, 100_000)));
  assert.equal(seen.now.messages, 0);
  assert.equal(seen.totals.times.length, 0);
  assert.equal(seen.edges.get("n1/1").history.times.length, 0);
  seen.update(at("two", 3000, 100_007));
  assert.equal(seen.now.messages, 7);
});

test("a late answer makes no peak, and the figures of a silent node make no rate", () => {
  const seen = new model.Model();
  const at = (ms, sent, age, how = "open") => {
    const one = node("a", "front", [link(1, "worker", true, ms, {messages_sent: sent})], how);
    one.report_age_ms = age;
    return state(ms, one);
  };
  seen.update(at(1000, 100, 0));
  seen.update(at(2000, 200, 0));
  assert.equal(seen.now.messages, 100);
  seen.update(at(3000, 200, 1000)); // The same answer again.
  assert.equal(seen.now.messages, 100);
  seen.update(at(4000, 400, 0));
  assert.equal(seen.now.messages, 100);
  seen.update(at(5000, 400, 1000, "silent"));
  assert.equal(seen.now.messages, 0);
  assert.ok(Number.isNaN(seen.edges.get("a/1").history.values.at(-1)[0]));
});

test("nodes of the same name have their processes in their names, and the others have not", () => {
  const process = (key, name, process, address = "") => ({...node(key, name, []), process, address});
  const labels = model.labelsOf([process("a", "worker", 11), process("b", "worker", 12), process("c", "front", 13),
    process("d", "twin", 1, "tcp://10.0.0.1:4"), process("e", "twin", 1, "tcp://10.0.0.2:4")]);
  assert.deepEqual([...labels.values()], ["worker (11)", "worker (12)", "front", "twin (1 at tcp://10.0.0.1:4)", "twin (1 at tcp://10.0.0.2:4)"]);
});

test("a link that was closed in order is not lost", () => {
  const seen = new model.Model();
  seen.update(state(1000, node("a", "front", [link(1, "w", true), link(2, "w", true), link(3, "w", true)])));
  seen.update(state(2000, node("a", "front", [])));
  assert.equal(seen.now.lostLinks, 3);
  assert.ok(seen.wondersWhy);
  seen.explain({nodes: [{key: "a", lost_links: [{number: 1, reason: "link_down", text: "the peer closed the link: closed by the program"}, {number: 2, reason: "timed_out", text: "no sign of life"}]}]});
  assert.equal(seen.now.lostLinks, 2);
  assert.equal(seen.now.closedLinks, 1);
  assert.ok(seen.edges.get("a/1").isClosed && seen.edges.get("a/2").isLost && seen.edges.get("a/3").isLost);
});

test("the history has ten minutes and no more", () => {
  const series = new model.Series();
  for (let second = 0; second < 5000; ++second) series.add(second * 1000, second);
  assert.ok(series.times.length >= 600 && series.times.length < 700);
  assert.equal(series.shownMs, 600_000);
});

test("places are inside of the box, and the same for the same nodes", () => {
  for (const size of [1, 2, 9, 120, 1001]) {
    const nodes = Array.from({length: size}, (_, index) => ({id: `n${index}`, degree: index === 0 ? size : 1}));
    const edges = nodes.slice(1).map(each => ({from: "n0", to: each.id}));
    const places = graph.layout(nodes, edges, 800, 400);
    assert.equal(places.size, size);
    for (const {x, y} of places.values()) assert.ok(x >= 0 && x <= 800 && y >= 0 && y <= 400, `${x} ${y} of ${size}`);
    assert.deepEqual([...graph.layout(nodes, edges, 800, 400)], [...places]);
  }
});

test("labels do not touch each other or another node's dot, and the heaviest one is shown", () => {
  const label = (x, y, weight) => ({x, y, dot: x, width: 80, weight});
  assert.deepEqual([...graph.labelsThatFit([label(100, 100, 1), label(150, 110, 2), label(300, 100, 1)], 5)].sort(), [1, 2]);
  assert.deepEqual([...graph.labelsThatFit([label(100, 100, 2), label(110, 130, 1)], 5)], [1]); // The lower dot lies in the upper label.
  assert.deepEqual([...graph.labelsThatFit([label(159, 159, 2), label(161, 163, 1)], 1)], [0]); // In different cells.
});

test("areas of the treemap are in proportion to the sizes, and fill the box", () => {
  const values = [600, 300, 200, 50, 50, 1];
  const boxes = treemap.squarify(values, {x: 10, y: 20, width: 300, height: 200});
  const area = boxes.map(box => box.width * box.height);
  assert.ok(Math.abs(area.reduce((sum, each) => sum + each, 0) - 60_000) < 1e-6);
  values.forEach((value, index) => assert.ok(Math.abs(area[index] / 60_000 - value / 1201) < 1e-9));
  for (const box of boxes) assert.ok(box.x >= 10 - 1e-9 && box.y >= 20 - 1e-9 && box.x + box.width <= 310 + 1e-6 && box.y + box.height <= 220 + 1e-6);
  assert.deepEqual(treemap.squarify([], {x: 0, y: 0, width: 1, height: 1}), []);
});

test("the strongest reason decides the color of an object", () => {
  assert.equal(treemap.mainReason({holders: [{reason: "handle"}, {reason: "out_of_band"}]}), "out_of_band");
  assert.equal(treemap.mainReason({holders: []}), "none");
});

test("latency buckets are joined without losing a count", () => {
  const buckets = Array.from({length: 100}, (_, index) => [Math.round(100 * 1.125 ** index), index + 1]);
  const columns = charts.columnsOf(buckets);
  assert.ok(columns.length <= 36);
  assert.equal(columns.reduce((sum, column) => sum + column.many, 0), 5050);
  assert.deepEqual(charts.columnsOf([]), []);
  assert.equal(charts.columnsOf([[72, 9]]).length, 1);
  assert.equal(charts.niceTop(0), 1);
  assert.equal(charts.niceTop(2.1e6), 5e6);
});

test("a line has a gap where the page was not looked at", () => {
  assert.equal(charts.pathOf([0, 1000, 2000, 60_000], [1, 1, 1, 1], 60_000, 60_000, 100, 20, 1).match(/M/g).length, 2);
});

test("spans stand below their parents, and circles and orphans do not hang the page", () => {
  const span = (id, parent, start_us) => ({id, parent, start_us, duration_us: 1});
  const rows = waterfall.rowsOf([span("1", "", 0), span("3", "1", 5), span("2", "1", 3), span("4", "2", 4), span("9", "gone", 6), span("x", "y", 7), span("y", "x", 8), span("z", "z", 9)]);
  assert.deepEqual(rows.map(row => `${row.depth}${row.span.id}`), ["01", "13", "12", "24", "09", "0z", "0x", "1y"]);
});

test("the parts of a span follow each other", () => {
  const parts = waterfall.partsOf({start_us: 100, wire_ns: 2000, decode_ns: -1, queue_ns: 3000, handler_ns: 4000});
  assert.deepEqual(parts, [{kind: "wire", start_us: 100, duration_us: 2}, {kind: "queue", start_us: 102, duration_us: 3}, {kind: "handler", start_us: 105, duration_us: 4}]);
});

test("a trace joins the spans of several nodes", () => {
  const [first] = waterfall.tracesOf([{key: "a", name: "front", spans: [{trace: "t", id: "1", parent: "", name: "order", start_us: 10, duration_us: 50, error: ""}]},
    {key: "b", name: "worker", spans: [{trace: "t", id: "2", parent: "1", name: "order", start_us: 20, duration_us: 60, error: "x"}]}]);
  assert.equal(first.name, "order");
  assert.equal(first.duration_us, 70);
  assert.equal(first.nodes, 2);
  assert.equal(first.errors, 1);
});
