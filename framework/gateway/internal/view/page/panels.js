// The sections of the page. Each has a root, and shows a model.

import {el, DataTable, setText, sync} from "./dom.js";
import {Graph, known} from "./graph.js";
import {Treemap, mainReason, reasonWords} from "./treemap.js";
import {partLegend, tracesOf, waterfall} from "./waterfall.js";
import {LineChart, histogram, meter} from "./charts.js";
import {Model, age, byteRate, bytes, count, nameOf, nanoseconds, notDelivered, sentence, short, withEnd} from "./model.js";

const p50of = (edge, kind) => edge.first.link.latencies.find(each => each.kind === kind)?.p50_ns ?? -1;
const familyCell = (cell, edge) => {
  if (!cell.firstChild) cell.append(el("span", {}, el("span", {class: "swatch"}), el("span")));
  const [swatch, words] = cell.firstChild.children;
  swatch.className = `swatch family-${known(edge.family)}`;
  const {serializers, deserializers} = edge.first.link;
  setText(words, `${serializers.join(",")} / ${deserializers.join(",")}`);
};
const nodeState = node => node.state === "open" ? "running" : node.state === "silent" ? `silent for ${age(node.state_ms)}: ${node.problem || "no answer yet"}${node.name ? `. Figures are ${age(node.report_age_ms ?? 0)} old` : ""}` : `ended ${age(node.state_ms)} ago`;

/// Whether nodes and links that have ended are shown; the same in all sections, and remembered.
function endedChoice(page) {
  const box = el("input", {type: "checkbox", onchange: () => page.hideEnded(!box.checked)}), words = el("span");
  return {root: el("label", {class: "choice"}, box, words), show() {
    const {now} = page.model, all = now.ended + now.lostLinks + now.closedLinks;
    box.checked = !page.hidesEnded;
    setText(words, `Ended nodes and links${all > 0 ? ` (${count(all)})` : ""}`);
  }};
}

export class GraphPanel {
  constructor(page) {
    this.page = page;
    this.graph = new Graph(id => page.openEdge(id), id => page.openNode(id));
    this.nodes = new DataTable("Nodes", [
      {title: "Node", text: node => page.model.labelOf(node), sort: node => page.model.labelOf(node), wide: true},
      {title: "State", text: nodeState, sort: node => node.state, mark: node => node.state === "silent"},
      {title: "Process", text: node => String(node.process), sort: node => node.process, number: true},
      {title: "Up", text: node => age(node.age_ms), sort: node => node.age_ms, number: true},
      {title: "Links", text: node => count(node.links.length + node.links_left_off), sort: node => node.links.length, number: true},
      {title: "Messages out / in", text: node => `${count(node.totals.messages_sent)} / ${count(node.totals.messages_received)}`, sort: node => node.totals.messages_sent, number: true},
      {title: "Not delivered", text: node => count(notDelivered(node.totals)), sort: node => notDelivered(node.totals), number: true, mark: node => notDelivered(node.totals) > 0},
      {title: "Refused peers", text: node => count(node.peers_refused), sort: node => node.peers_refused, number: true},
      {title: "Version", text: node => node.version, sort: node => node.version}
    ], {key: node => node.key, open: node => page.openNode(node.key), empty: "No nodes.", descending: false});
    this.nodes.isGone = node => node.state === "lost";
    this.ended = endedChoice(page);
    this.root = el("div", {}, el("div", {class: "controls"}, this.ended.root), this.graph.root, el("h2", {}, "Nodes"), this.nodes.root);
  }
  show(model, selected) {
    this.ended.show();
    this.graph.show(model, selected.edge, this.page.hidesEnded);
    this.nodes.show([...model.nodes.values()].filter(node => !this.page.hidesEnded || node.state !== "lost"));
  }
}

export class LinksPanel {
  constructor(page) {
    this.filter = el("input", {type: "search", placeholder: "Filter by node, peer, family, transport (/)", "aria-label": "Filter links", oninput: () => this.draw()});
    this.table = new DataTable("Links", [
      {title: "Link", text: edge => Model.titleOf(edge), sort: edge => Model.titleOf(edge), wide: true},
      {title: "Over", text: edge => edge.lostAt === null ? edge.first.link.transport : edge.isLost ? "lost" : "closed", sort: edge => edge.first.link.transport, mark: edge => edge.isLost},
      {title: "Sends / accepts", text: () => "", fill: familyCell, sort: edge => edge.family},
      {title: "Bytes/s", text: edge => byteRate(edge.bytesPerSecond), sort: edge => edge.bytesPerSecond, number: true},
      {title: "Messages/s", text: edge => short(edge.messagesPerSecond), sort: edge => edge.messagesPerSecond, number: true},
      {title: "Messages out / in", text: edge => `${count(edge.first.link.stats.messages_sent)} / ${count(edge.first.link.stats.messages_received)}`, sort: edge => edge.first.link.stats.messages_sent, number: true},
      {title: "Socket out / in", text: edge => `${bytes(edge.first.link.stats.socket_bytes_sent)} / ${bytes(edge.first.link.stats.socket_bytes_received)}`, sort: edge => edge.first.link.stats.socket_bytes_sent, number: true},
      {title: "Handles out / in", text: edge => `${bytes(edge.first.link.stats.handle_bytes_sent)} / ${bytes(edge.first.link.stats.handle_bytes_received)}`, sort: edge => edge.first.link.stats.handle_bytes_sent, number: true},
      {title: "Window used", text: edge => edge.first.link.stats.window_bytes > 0 ? `${Math.round(100 * edge.first.link.stats.unconsumed_bytes_there / edge.first.link.stats.window_bytes)} %` : "-", sort: edge => edge.first.link.stats.unconsumed_bytes_there / (edge.first.link.stats.window_bytes || 1), number: true},
      {title: "Waiting", text: edge => bytes(edge.first.link.stats.waiting_bytes), sort: edge => edge.first.link.stats.waiting_bytes, number: true, mark: edge => edge.first.link.stats.waiting_bytes > 0},
      {title: "Trip p50", text: edge => nanoseconds(p50of(edge, "round_trip")), sort: edge => p50of(edge, "round_trip"), number: true},
      {title: "Not delivered", text: edge => count(notDelivered(edge.first.link.stats)), sort: edge => notDelivered(edge.first.link.stats), number: true, mark: edge => notDelivered(edge.first.link.stats) > 0}
    ], {key: edge => edge.id, open: edge => page.openEdge(edge.id), sort: 3});
    this.table.isGone = edge => edge.lostAt !== null;
    this.ended = endedChoice(page);
    this.page = page;
    this.root = el("div", {class: "links"}, el("div", {class: "controls"}, this.filter, this.ended.root), this.table.root);
  }
  show(model) {
    this.model = model;
    this.ended.show();
    this.draw();
  }
  draw() {
    const wanted = this.filter.value.trim().toLowerCase();
    const edges = [...this.model.edges.values()].filter(edge => !this.page.hidesEnded || edge.lostAt === null).filter(edge => !wanted
      || [Model.titleOf(edge), edge.family, edge.first.link.transport, ...edge.first.link.serializers].join(" ").toLowerCase().includes(wanted));
    this.table.show(edges, wanted ? "No link matches the filter." : "No links. A link appears here as soon as one of the nodes connects.");
  }
}

export class StorePanel {
  constructor(page) {
    this.page = page;
    this.by = "process";
    this.stores = el("div", {class: "meters"});
    this.map = new Treemap(object => page.openObject(object.object));
    this.choice = el("select", {id: "group-by", onchange: event => { this.by = event.target.value; this.draw(); }},
      el("option", {value: "process"}, "process that made it"), el("option", {value: "reason"}, "reason that keeps it"), el("option", {value: "store"}, "store"));
    this.note = el("p", {class: "minor"});
    this.hints = el("ul", {class: "hints"});
    this.table = new DataTable("Objects", [
      {title: "Object", text: object => object.object, sort: object => object.object, wide: true},
      {title: "Size", text: object => bytes(object.size_bytes), sort: object => object.size_bytes, number: true},
      {title: "State", text: object => object.state, sort: object => object.state},
      {title: "Kept by", text: object => reasonWords(mainReason(object)), sort: mainReason},
      {title: "Holders", text: object => count(object.holders.length), sort: object => object.holders.length, number: true},
      {title: "Made by", text: object => object.creator ? String(object.creator) : "-", sort: object => object.creator, number: true},
      {title: "Age", text: object => object.age_ms < 0 ? "-" : age(object.age_ms), sort: object => object.age_ms, number: true},
      {title: "Call site", text: object => object.call_site || "-", sort: object => object.call_site}
    ], {key: object => `${object.store}/${object.object}`, open: object => page.openObject(object.object), sort: 1,
        empty: "The stores are empty. Objects appear here while something holds them."});
    this.root = el("div", {}, this.stores, el("div", {class: "controls"}, el("label", {for: "group-by"}, "Group by "), this.choice), this.map.root, this.note, this.hints, el("h2", {}, "Objects"), this.table.root);
  }
  show(model, selected) {
    Object.assign(this, {model, selected});
    this.draw();
  }
  draw() {
    const {memory} = this.page;
    sync(this.stores, this.model.stores, store => store.name, () => el("div"), (element, store) => element.replaceChildren(
      meter(`Store ${store.name}: ${count(store.objects)} objects`, store.bytes_in_use, store.capacity_bytes, bytes),
      el("p", {class: "minor"}, `${count(store.spilled_objects)} on disk (${bytes(store.spilled_bytes)}), ${count(store.waiting)} callers wait for room`)));
    if (!memory) return setText(this.note, "Asking which objects there are.");
    const {summary, hints} = memory;
    const processes = new Map(summary.processes.map(process => [process.process, process.node || "process"]));
    this.map.show(summary.objects, this.by, processes, this.selected.object);
    const kept = {spilled: 0, in_flight: 0, out_of_band: 0};
    for (const object of summary.objects) {
      if (object.state === "spilled") kept.spilled += object.size_bytes;
      for (const reason of ["in_flight", "out_of_band"]) if (object.holders.some(holder => holder.reason === reason)) kept[reason] += object.size_bytes;
    }
    const problems = summary.processes.filter(process => process.problem).map(process => withEnd(`${process.node || `Process ${process.process}`}: ${process.problem}`));
    setText(this.note, [`On disk ${bytes(kept.spilled)}, in flight ${bytes(kept.in_flight)}, out of band ${bytes(kept.out_of_band)}.`,
      problems.length > 3 ? `${problems.slice(0, 3).join(" ")} And ${count(problems.length - 3)} more.` : problems.join(" "),
      summary.objects_left_off > 0 ? `${count(summary.objects_left_off)} smaller objects (${bytes(summary.bytes_left_off)}) are left out.` : ""].filter(Boolean).join(" "));
    sync(this.hints, hints, hint => hint.object + hint.text, hint => el("li", {}, el("button", {type: "button", class: "link", onclick: () => this.page.openObject(hint.object)}, hint.object), `: ${hint.text}`));
    this.table.show(summary.objects);
  }
}

const activityRows = (page, list) => (page.activity?.nodes ?? []).flatMap(node => (node[list] ?? []).map(row => ({...row, node: page.model.labels.get(node.key) ?? nameOf(node), node_key: node.key})));

/// A table of something that nodes tell only when they are asked for it.
class ActivityPanel {
  constructor(page, list, label, columns, options) {
    Object.assign(this, {page, list});
    this.table = new DataTable(label, columns, options);
    this.problems = el("p", {class: "minor"});
    this.root = el("div", {}, this.table.root, this.problems);
  }
  rows() { return activityRows(this.page, this.list); }
  show() {
    this.table.show(this.rows(), this.page.activity ? this.empty : "Asking the nodes.");
    const omitted = (this.page.activity?.nodes ?? []).reduce((sum, node) => sum + (node[`${this.list}_omitted`] ?? 0), 0);
    setText(this.problems, [omitted > 0 ? `${count(omitted)} further ${this.list} are left out: those with the fewest bytes waiting.` : "",
      ...(this.page.activity?.nodes ?? []).filter(node => node.problem).map(node => withEnd(`${nameOf(node)}: ${node.problem}`))].filter(Boolean).join(" "));
  }
}

export class ActorsPanel extends ActivityPanel {
  constructor(page) {
    super(page, "actors", "Actors", [
      {title: "Actor", text: row => row.name || `actor ${row.actor}`, sort: row => row.name, wide: true},
      {title: "Node", text: row => row.node, sort: row => row.node},
      {title: "Kind", text: row => row.kind || "-", sort: row => row.kind},
      {title: "Id", text: row => String(row.actor), sort: row => row.actor, number: true},
      {title: "Waiting messages", text: row => count(row.waiting_messages), sort: row => row.waiting_messages, number: true, mark: row => row.waiting_messages > 100},
      {title: "Waiting bytes", text: row => bytes(row.waiting_bytes), sort: row => row.waiting_bytes, number: true},
      {title: "Known to links", text: row => count(row.links.length), sort: row => row.links.length, number: true}
    ], {key: row => `${row.node_key}/${row.actor}`, sort: 4, empty: "No actor is published, or known to another node. node.publish() makes one known."});
  }
}

/// One row for letters of the same node, peer, reason, types and text, with their number and the newest time.
export function groupedLetters(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.node_key, row.peer, row.has_arrived, row.reason, row.types, row.text]);
    const known = groups.get(key);
    if (!known) groups.set(key, {...row, key, times: 1});
    else {
      known.times += 1;
      if (row.at_ms >= known.at_ms) [known.at_ms, known.link] = [row.at_ms, row.link];
    }
  }
  return [...groups.values()];
}

export class LettersPanel extends ActivityPanel {
  constructor(page) {
    super(page, "letters", "Dead letters", [
      {title: "Last", text: row => new Date(row.at_ms).toLocaleTimeString(), sort: row => row.at_ms},
      {title: "Times", text: row => count(row.times), sort: row => row.times, number: true},
      {title: "Node", text: row => row.node, sort: row => row.node},
      {title: "Peer", text: row => row.has_arrived ? `from ${row.peer}` : `to ${row.peer}`, sort: row => row.peer},
      {title: "Link", text: row => String(row.link), sort: row => row.link, number: true},
      {title: "Reason", text: row => row.reason, sort: row => row.reason, mark: () => true},
      {title: "Types", text: row => row.types.join(", ") || "-", sort: row => row.types.join()},
      {title: "Text", text: row => row.text, wide: true}
    ], {key: row => row.key, sort: 0});
    this.filter = el("input", {type: "search", placeholder: "Filter by node, peer, reason, type, text (/)", "aria-label": "Filter dead letters", oninput: () => this.show()});
    this.root.prepend(el("div", {class: "controls"}, this.filter));
  }
  rows() {
    const wanted = this.filter.value.trim().toLowerCase();
    return groupedLetters(super.rows()).filter(row => !wanted || [row.node, row.peer, row.reason, row.text, ...row.types].join(" ").toLowerCase().includes(wanted));
  }
  get empty() {
    return this.filter.value.trim() ? "No dead letter matches the filter." : "No message was lost since this section was opened. Nodes keep dead letters only while somebody looks.";
  }
}

export class TracesPanel {
  constructor(page) {
    this.page = page;
    this.table = new DataTable("Traces", [
      {title: "Began", text: trace => new Date(trace.start_us / 1000).toLocaleTimeString(), sort: trace => trace.start_us},
      {title: "Request", text: trace => trace.name, sort: trace => trace.name, wide: true},
      {title: "Took", text: trace => nanoseconds(trace.duration_us * 1000), sort: trace => trace.duration_us, number: true},
      {title: "Spans", text: trace => count(trace.spans.length), sort: trace => trace.spans.length, number: true},
      {title: "Nodes", text: trace => count(trace.nodes), sort: trace => trace.nodes, number: true},
      {title: "Errors", text: trace => count(trace.errors), sort: trace => trace.errors, number: true, mark: trace => trace.errors > 0}
    ], {key: trace => trace.id, open: trace => page.openTrace(trace.id), sort: 0, most: 100,
        empty: "No spans. Nodes keep spans only while somebody looks, and only of messages that the program samples: begin a trace in the program, or record a share of all messages (guides/tracing.md)."});
    this.root = el("div", {}, this.table.root);
  }
  show() {
    this.table.show(tracesOf(this.page.activity?.nodes ?? []), this.page.activity ? undefined : "Asking the nodes.");
  }
}

export class SupervisorsPanel {
  constructor(page) {
    this.page = page;
    this.tree = el("ul", {class: "tree", role: "tree", "aria-label": "Supervisors"});
    this.empty = el("p", {class: "empty"});
    this.root = el("div", {}, this.tree, this.empty);
  }
  show() {
    const all = activityRows(this.page, "supervisors");
    this.empty.hidden = all.length > 0;
    setText(this.empty, this.page.activity ? "No supervisors run. troupe::supervise starts one (guides/supervision.md)." : "Asking the nodes.");
    const nodes = [...new Set(all.map(each => each.node_key))];
    const focused = this.tree.contains(document.activeElement);
    this.tree.replaceChildren(...nodes.map(key => {
      const mine = all.filter(each => each.node_key === key);
      const ids = new Set(mine.map(each => each.actor));
      return item(mine[0].node, "node", [], mine.filter(each => !ids.has(each.parent) || each.parent === each.actor).map(each => supervisorItem(each, mine, new Set())));
    }));
    if (focused) this.tree.querySelector("[tabindex]")?.focus();
    const first = this.tree.querySelector(".tree-line");
    if (first) first.tabIndex = 0;
  }
}

function item(name, kind, facts, children) {
  const line = el("div", {class: `tree-line ${kind}`, tabindex: "-1", onkeydown: event => {
    const lines = [...line.closest(".tree").querySelectorAll(".tree-line")];
    const next = lines[lines.indexOf(line) + (event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0)];
    if (next && next !== line) { event.preventDefault(); next.focus(); }
  }}, el("b", {}, name), " ", facts.filter(Boolean).map(fact => el("span", {class: fact.bad ? "fact bad" : "fact"}, fact.text ?? fact)));
  return el("li", {role: "treeitem"}, line, children.length > 0 ? el("ul", {role: "group"}, children) : null);
}

function supervisorItem(of, all, above) {
  above = new Set([...above, of.actor]);
  const below = new Map(all.filter(each => each.parent === of.actor && !above.has(each.actor)).map(each => [each.actor, each]));
  const children = of.children.map(child => {
    const nested = child.kind === "supervisor" ? below.get(child.actor) : undefined; // Other processes count their actors anew.
    if (nested) below.delete(child.actor);
    return nested ? supervisorItem({...nested, name: nested.name || child.name}, all, above)
      : item(child.name, "child", [child.kind, {text: child.state, bad: child.state !== "running"}, child.process ? `process ${child.process}` : "", child.restarts > 0 ? {text: `${count(child.restarts)} ${child.restarts === 1 ? "restart" : "restarts"}`, bad: true} : "", child.reason ? {text: `last end: ${child.reason}`} : ""], []);
  });
  return item(of.name || `supervisor ${of.actor}`, "supervisor", [of.strategy, `${count(of.restarts)} ${of.restarts === 1 ? "restart" : "restarts"} so far, at most ${count(of.restarts_max)} within ${age(of.within_ms)}`], [...children, ...[...below.values()].map(each => supervisorItem(each, all, above))]);
}

export class ClusterPanel {
  constructor(page) {
    this.page = page;
    this.where = el("p", {class: "minor"});
    this.table = new DataTable("Members", [
      {title: "Member", text: member => member.name, sort: member => member.name, wide: true},
      {title: "State", text: member => member.state, sort: member => member.state, mark: member => member.state !== "up"},
      {title: "Asked", text: member => member.problem ? `no answer: ${member.problem}` : "answers", sort: member => member.problem, mark: member => Boolean(member.problem), wide: true},
      {title: "Host", text: member => member.host || "-", sort: member => member.host},
      {title: "Addresses", text: member => member.addresses.join(", "), sort: member => member.addresses.join()},
      {title: "Names", text: member => member.names.join(", ") || "-", sort: member => member.names.length},
      {title: "Singletons", text: member => member.singletons.join(", ") || "-", sort: member => member.singletons.length},
      {title: "Entities", text: member => member.entities.join(", ") || "-", sort: member => member.entities.length}
    ], {key: member => member.name, descending: false, empty: "The directory has no members. A node becomes one by cluster::join."});
    this.faults = el("ul", {class: "hints"});
    this.root = el("div", {}, this.where, this.table.root, this.faults);
  }
  show(model) {
    const {cluster} = model.state;
    if (!cluster) return;
    setText(this.where, `Directory ${cluster.directory}${cluster.problem ? `: ${cluster.problem}. What is shown may be old.` : ""}`);
    this.table.show(cluster.members);
    sync(this.faults, cluster.faults, fault => fault, fault => el("li", {}, fault));
  }
}

// Details.

/// "worker of process 123", or what is known instead.
const processOf = node => node.process ? `${node.name || "the node"} of process ${node.process}` : nameOf(node);

const facts = pairs => el("dl", {class: "facts"}, pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));

/// What is known of one link.
export class LinkDetail {
  constructor(page, edge) {
    Object.assign(this, {page, edge});
    this.title = el("h2");
    this.facts = el("div");
    this.bytesChart = new LineChart("Bytes a second", ["out", "in"], byteRate);
    this.messagesChart = new LineChart("Messages a second", ["out", "in"], value => short(value));
    this.meters = el("div", {class: "meters"});
    this.losses = el("p", {class: "minor"});
    this.histograms = el("div", {class: "figures"});
    this.types = new DataTable("Families and types", [
      {title: "Family", text: row => row.family, sort: row => row.family, fill: (cell, row) => {
        if (!cell.firstChild) cell.append(el("span", {}, el("span", {class: `swatch family-${known(row.family)}`}), row.family));
      }},
      {title: "Type", text: row => row.type, sort: row => row.type, wide: true},
      {title: "Out", text: row => `${count(row.payloads_sent)} · ${bytes(row.bytes_sent)}`, sort: row => row.bytes_sent, number: true},
      {title: "In", text: row => `${count(row.payloads_received)} · ${bytes(row.bytes_received)}`, sort: row => row.bytes_received, number: true},
      {title: "Encoding", text: row => nanoseconds(row.time_sent_ns), sort: row => row.time_sent_ns, number: true},
      {title: "Decoding", text: row => nanoseconds(row.time_received_ns), sort: row => row.time_received_ns, number: true}
    ], {key: row => `${row.family}/${row.type}`, sort: 2, empty: "No payloads yet, or node_options::detailed_stats is off."});
    this.actions = el("div", {class: "controls"});
    this.root = el("div", {}, this.title, this.facts, this.actions, this.bytesChart.root, this.messagesChart.root, el("h3", {}, "Windows and queues"), this.meters, this.losses,
      el("h3", {}, "Families and types"), this.types.root, el("h3", {}, "Latencies"), this.histograms);
    this.makeActions();
  }

  makeActions() {
    const {page, edge} = this;
    if (!page.mayAct) return;
    const order = rest => ({node: edge.first.node.key, order: {number: edge.first.link.number, ...rest}});
    this.actions.append(
      el("button", {type: "button", onclick: () => page.confirm(`Close the link ${Model.titleOf(edge)}?`, `This is link ${edge.first.link.number} of ${processOf(edge.first.node)} to ${edge.ends[1] ? processOf(edge.ends[1].node) : edge.first.link.peer}${edge.first.link.address ? ` at ${edge.first.link.address}` : ""}. Messages that wait are written first. Actors of both ends see the link go down.`, "Close the link", [], () => order({what: "close_link"}))}, "Close the link…"),
      el("button", {type: "button", onclick: () => {
        const {link} = edge.first;
        const field = (name, value) => el("label", {}, `${name} `, el("input", {type: "text", name, value, spellcheck: "false"}));
        const before = {serializers: link.serializers.join(","), deserializers: link.deserializers.join(","), compression: link.compression};
        const sends = field("sends", before.serializers), accepts = field("accepts", before.deserializers);
        const choices = [...new Set(["automatic", "none", "lz4", "zstd", before.compression])].filter(Boolean);
        const compression = el("label", {}, "compression ", el("select", {name: "compression"}, choices.map(each => el("option", {value: each, selected: each === before.compression}, each))));
        const list = label => label.lastChild.value.split(",").map(word => word.trim()).filter(Boolean);
        page.confirm(`Change the link ${Model.titleOf(edge)}`, `What ${processOf(edge.first.node)} sends and accepts, in order of preference. No message is lost.`, "Change", [sends, accepts, compression], () => {
          const changes = {}; // Only what was changed here: somebody else may change the rest meanwhile.
          if (list(sends).join() !== before.serializers) changes.serializers = list(sends);
          if (list(accepts).join() !== before.deserializers) changes.deserializers = list(accepts);
          if (compression.lastChild.value !== before.compression) changes.compression = compression.lastChild.value;
          if (changes.serializers?.length === 0 || changes.deserializers?.length === 0) throw new Error("A list must have at least one family.");
          if (Object.keys(changes).length === 0) throw new Error("Nothing was changed.");
          return order({what: "reconfigure_link", ...changes});
        });
      }}, "Change families…"));
  }

  show() {
    const {edge} = this;
    const {node, link} = edge.first;
    setText(this.title, Model.titleOf(edge));
    this.actions.hidden = edge.lostAt !== null || !this.page.mayAct;
    const other = edge.ends[1];
    this.facts.replaceChildren(edge.lostAt !== null ? el("p", {class: edge.isLost ? "problem" : "minor end", role: "status"}, `${edge.isLost ? "Lost" : "Closed in order"} ${age(this.page.model.state.at_ms - edge.lostAt)} ago. ${this.reason()}These are its last figures.`) : "", facts([
      ["Over", `${link.transport}${link.dialed ? ", dialed" : ""}`], ["Link number", `${link.number}${other ? `, there ${other.link.number}` : ""}`], ["Peer", `${link.peer}${link.address ? ` at ${link.address}` : ""}${link.role ? ` as ${link.role}` : ""}`],
      ["Sends", link.serializers.join(", ")], ["Accepts", link.deserializers.join(", ")], ["Compression", link.compression], ["Store", link.shares_store ? "shared" : "not shared"],
      ["Open for", age(link.age_ms)], ["Peer's version", link.version],
      ["Messages", `${count(link.stats.messages_sent)} out, ${count(link.stats.messages_received)} in`],
      ["Through the socket", `${bytes(link.stats.socket_bytes_sent)} out, ${bytes(link.stats.socket_bytes_received)} in`],
      ["By handle", `${bytes(link.stats.handle_bytes_sent)} out, ${bytes(link.stats.handle_bytes_received)} in`],
      ["Actors", `${count(link.stats.actors_exported)} exported, ${count(link.stats.actors_imported)} imported`],
      ["Asked", processOf(node)], ["Figures", node.state === "silent" ? `${age(node.report_age_ms ?? 0)} old: the node is silent` : ""], ["Features", (link.features ?? []).filter(each => each.in_use).map(each => each.name).join(", ")]]));
    this.bytesChart.show(edge.history, 0);
    this.messagesChart.show(edge.history, 2);
    const {stats} = link;
    this.meters.replaceChildren(
      meter("Sent, not consumed there", stats.unconsumed_bytes_there, stats.window_bytes, bytes),
      other ? meter("Received, not consumed here", stats.unconsumed_bytes_here, other.link.stats.window_bytes, bytes) : meter("Received, not consumed here", stats.unconsumed_bytes_here, 0, bytes),
      meter("Waiting here for room", stats.waiting_bytes, 0, bytes), meter("Credit left", stats.credit_bytes, stats.window_bytes, bytes, true), meter("Not taken by the system yet", stats.unread_bytes, 0, bytes),
      meter("Behind handles: not consumed there", stats.unconsumed_handle_bytes_there, 0, bytes), meter("Behind handles: not consumed here", stats.unconsumed_handle_bytes_here, 0, bytes), meter("Behind handles: waiting", stats.waiting_handle_bytes, 0, bytes),
      meter("Large frames here", stats.large_frame_bytes_here ?? 0, 0, bytes));
    const losses = [["unserializable", "cannot be encoded"], ["refused_by_policy", "of these refused by a policy"], ["undecodable", "cannot be decoded"], ["undelivered", "not delivered"], ["refused_at_bound", "refused at the bound"], ["dropped", "dropped for newer ones"], ["expired", "too late"], ["store_fallbacks", "frames for which the store had no room"]]
      .filter(([name]) => stats[name] > 0).map(([name, words]) => `${count(stats[name])} ${words}`);
    setText(this.losses, losses.length > 0 ? `Messages: ${losses.join(", ")}.` : "No message was lost, refused or late.");
    this.types.show(this.more?.families ?? [], this.more ? undefined : edge.lostAt !== null ? "Not known any more." : "Asking.");
    sync(this.histograms, this.more?.latencies ?? [], latency => `${latency.kind} ${latency.count}`, histogram);
  }

  reason() {
    const {end} = this.edge;
    return end ? `${sentence(end.text || end.reason)} ` : "";
  }

  /// Asks for what only details show.
  async refresh() {
    if (this.edge.lostAt !== null) return;
    const {node, link} = this.edge.first;
    try {
      this.more = await this.page.source.link(node.key, link.number);
    } catch (problem) {
      if (problem.status !== 404) throw problem; // Else it has just ended.
    }
    this.show();
  }
}

export class NodeDetail {
  constructor(page, key) {
    Object.assign(this, {page, key});
    this.title = el("h2");
    this.facts = el("div");
    this.links = new DataTable("Links of the node", [
      {title: "To", text: edge => edge.peerOf(this.key), sort: edge => edge.peerOf(this.key), wide: true},
      {title: "Bytes/s", text: edge => byteRate(edge.edge.bytesPerSecond), sort: edge => edge.edge.bytesPerSecond, number: true},
      {title: "Messages/s", text: edge => short(edge.edge.messagesPerSecond), sort: edge => edge.edge.messagesPerSecond, number: true}
    ], {key: row => row.edge.id, open: row => page.openEdge(row.edge.id), sort: 1, most: 50, empty: "No links."});
    this.links.isGone = row => row.edge.lostAt !== null;
    this.root = el("div", {}, this.title, this.facts, el("h3", {}, "Links"), this.links.root);
  }
  show() {
    const {model} = this.page;
    const node = model.nodes.get(this.key);
    const isPeer = this.key.startsWith("peer:");
    setText(this.title, node ? model.labelOf(node) : isPeer ? this.key.slice(5) : "A node that has ended");
    this.facts.replaceChildren(node ? facts([["State", nodeState(node)], ["Process", String(node.process)], ["Version", node.version], ["Up", age(node.age_ms)], ["Listens at", node.addresses.join(", ") || "nowhere"],
      ["Asked at", node.address || "itself"], ["Families", node.families.join(", ")], ["Published names", count(node.names_published)], ["Links so far", count(node.links_opened)], ["Peers refused", count(node.peers_refused)], ["Links left out here", node.links_left_off ? count(node.links_left_off) : ""]])
      : el("p", {class: "minor"}, isPeer ? "This peer was not asked: it belongs to another user or host, or it does not allow local queries. The figures are those of the other end." : "It has ended more than a minute ago."));
    const rows = [...model.edges.values()].filter(edge => edge.ends.some(end => end.node.key === this.key) || (isPeer && edge.ends.length === 1 && `peer:${edge.first.link.peer}` === this.key))
      .map(edge => ({edge, peerOf: key => edge.first.node.key !== key ? model.labelOf(edge.first.node) : edge.ends[1] ? model.labelOf(edge.ends[1].node) : edge.first.link.peer}));
    this.links.show(rows);
  }
}

export class ObjectDetail {
  constructor(page, id) {
    Object.assign(this, {page, id});
    this.title = el("h2");
    this.facts = el("div");
    this.holders = new DataTable("Holders", [
      {title: "Reason", text: holder => reasonWords(holder.reason), sort: holder => holder.reason},
      {title: "Process", text: holder => holder.process ? `${this.processes?.get(holder.process) ?? ""} ${holder.process}`.trim() : "-", sort: holder => holder.process, number: true},
      {title: "Times", text: holder => holder.count > 0 ? count(holder.count) : "?", sort: holder => holder.count, number: true},
      {title: "Where", text: holder => [holder.link ? `link ${holder.link}` : "", holder.peer, holder.object ? `in ${holder.object}` : "", holder.to ? `to process ${holder.to}` : "", holder.where].filter(Boolean).join(", ") || "-", wide: true},
      {title: "For", text: holder => holder.age_ms < 0 ? "-" : age(holder.age_ms), sort: holder => holder.age_ms, number: true}
    ], {key: holder => JSON.stringify([holder.reason, holder.process, holder.link, holder.object, holder.to, holder.where]), descending: false, empty: "Nothing is known to keep it."});
    this.hint = el("p", {class: "hint"});
    this.actions = el("div", {class: "controls"});
    this.root = el("div", {}, this.title, this.facts, this.actions, this.hint, el("h3", {}, "Kept by"), this.holders.root);
  }
  show() {
    const {memory} = this.page;
    const object = memory?.summary.objects.find(each => each.object === this.id) ?? null;
    setText(this.title, this.id);
    if (!object) {
      this.facts.replaceChildren(el("p", {class: "minor"}, memory ? "This object is not kept any more." : "Asking."));
      this.holders.show([]);
      this.actions.replaceChildren();
      return;
    }
    this.processes = new Map(memory.summary.processes.map(process => [process.process, process.node]));
    this.facts.replaceChildren(facts([["Size", `${bytes(object.size_bytes)} (${count(object.size_bytes)} B)`], ["State", object.state], ["Store", object.store || "none of this host"],
      ["Made by", object.creator ? `process ${object.creator}` : "unknown"], ["Age", object.age_ms < 0 ? "unknown" : age(object.age_ms)], ["Call site", object.call_site || "unknown; run the program with TROUPE_RECORD_CALL_SITES=1"]]));
    setText(this.hint, memory.hints.filter(hint => hint.object === this.id).map(hint => hint.text).join(" "));
    this.holders.show(object.holders);
    const pins = this.page.mayAct ? object.holders.filter(holder => holder.reason === "out_of_band" && holder.process) : [];
    sync(this.actions, pins, pin => pin.process, pin => el("button", {type: "button", onclick: () => {
      const candidates = [...this.page.model.nodes.values()].filter(each => each.process === pin.process && each.state === "open");
      const node = candidates.find(each => each.store.name === object.store) ?? candidates[0]; // A process may have several nodes.
      if (node) this.page.confirm("Give up the out-of-band pin?", "References that were serialized outside of messages then fail with object_freed, once nothing else keeps the object.", "Give up the pin", [], () => ({node: node.key, order: {what: "release_out_of_band", object: this.id}}));
    }}, `Free the pin of process ${pin.process}`));
  }
}

export class TraceDetail {
  constructor(page, id) {
    Object.assign(this, {page, id});
    this.title = el("h2", {}, "Trace");
    this.area = el("div");
    this.root = el("div", {}, this.title, this.area);
  }
  show() {
    const trace = tracesOf(this.page.activity?.nodes ?? []).find(each => each.id === this.id);
    const signature = trace ? `${trace.spans.length} ${trace.duration_us}` : this.signature;
    if (signature === this.signature) return;
    this.signature = signature;
    setText(this.title, trace.name);
    this.area.replaceChildren(facts([["Trace", trace.id], ["Took", nanoseconds(trace.duration_us * 1000)], ["Spans", `${count(trace.spans.length)} on ${count(trace.nodes)} nodes`]]), partLegend(), waterfall(trace),
      el("p", {class: "minor"}, "Starts are the clocks of the nodes, which differ between hosts."));
  }
}
