// Nodes and links as a graph. layout() is pure.

import {el, svg, sync, setAttributes, setText} from "./dom.js";
import {age, byteRate, count, short, Model} from "./model.js";

/// The nodes and edges to be drawn. Peers that were not asked become nodes of their own, one for each name. `hidesEnded`:
/// without nodes and links that have ended.
export function graphOf(model, hidesEnded = false) {
  const nodes = new Map();
  for (const node of model.nodes.values())
    if (!hidesEnded || node.state !== "lost") nodes.set(node.key, {id: node.key, name: model.labelOf(node), state: node.state, process: node.process, degree: 0, node});
  const edges = [];
  for (const edge of model.edges.values()) {
    if (hidesEnded && edge.lostAt !== null) continue;
    const {node, link} = edge.first;
    let target = edge.ends[1]?.node.key;
    if (!target) {
      target = `peer:${link.peer}`;
      if (!nodes.has(target)) nodes.set(target, {id: target, name: link.peer, state: "unasked", process: 0, degree: 0, node: null});
    }
    // The nodes of a lost link stay until it goes.
    for (const end of edge.ends)
      if (!nodes.has(end.node.key))
        nodes.set(end.node.key, {id: end.node.key, name: model.labelOf(end.node), state: "lost", process: end.node.process, degree: 0, node: null});
    nodes.get(node.key).degree += 1;
    nodes.get(target).degree += 1;
    edges.push({id: edge.id, from: node.key, to: target, edge});
  }
  return {nodes: [...nodes.values()], edges};
}

/// Places in a box of this size. Nodes that had a place start there, so that the picture does not jump. The same input
/// gives the same places.
export function layout(nodes, edges, width, height, before = new Map()) {
  const places = new Map();
  const count = nodes.length;
  if (count === 0) return places;
  const hubs = [...nodes].sort((one, other) => other.degree - one.degree || (one.id < other.id ? -1 : 1));
  if (count > 120) { // A sunflower: the nodes with most links in the middle.
    const spread = Math.min(width, height) / 2 - 24;
    hubs.forEach((node, index) => {
      const far = spread * Math.sqrt(index / count), turn = index * 2.399963;
      places.set(node.id, {x: width / 2 + far * Math.cos(turn) * Math.max(1, width / height * 0.9), y: height / 2 + far * Math.sin(turn)});
    });
    return places;
  }
  const area = {left: 56, top: 36, right: width - 56, bottom: height - 44};
  hubs.forEach((node, index) => {
    const old = before.get(node.id);
    const far = index === 0 ? 0 : 0.38 * Math.min(width, height), turn = index * 2 * Math.PI / Math.max(1, count - 1);
    places.set(node.id, old ? {...old} : {x: width / 2 + far * Math.cos(turn) * Math.max(1, width / height), y: height / 2 + far * Math.sin(turn)});
  });
  const wanted = Math.min(180, 0.75 * Math.sqrt(width * height / count));
  const rounds = 220;
  for (let round = 0; round < rounds; ++round) {
    const heat = 12 * (1 - round / rounds) + 0.2;
    const forces = new Map(nodes.map(node => [node.id, {x: 0, y: 0}]));
    for (let i = 0; i < count; ++i)
      for (let j = i + 1; j < count; ++j) {
        const a = places.get(nodes[i].id), b = places.get(nodes[j].id);
        let dx = a.x - b.x, dy = a.y - b.y;
        if (dx === 0 && dy === 0) [dx, dy] = [0.1 * (i + 1), 0.1 * (j - i)];
        const square = Math.max(dx * dx + dy * dy, 1);
        if (square > 6 * wanted * wanted) continue; // Parts without links between them stay near each other.
        const push = wanted * wanted / square;
        const fa = forces.get(nodes[i].id), fb = forces.get(nodes[j].id);
        fa.x += dx * push / 10; fa.y += dy * push / 10;
        fb.x -= dx * push / 10; fb.y -= dy * push / 10;
      }
    for (const {from, to} of edges) {
      if (from === to) continue;
      const a = places.get(from), b = places.get(to);
      const dx = b.x - a.x, dy = b.y - a.y, far = Math.sqrt(dx * dx + dy * dy) || 1, pull = (far - wanted) / far / 4;
      const fa = forces.get(from), fb = forces.get(to);
      fa.x += dx * pull; fa.y += dy * pull;
      fb.x -= dx * pull; fb.y -= dy * pull;
    }
    for (const node of nodes) {
      const place = places.get(node.id), force = forces.get(node.id);
      force.x += (width / 2 - place.x) / 30;
      force.y += (height / 2 - place.y) / 30;
      const size = Math.sqrt(force.x * force.x + force.y * force.y) || 1, step = Math.min(size, heat) / size;
      place.x = Math.min(area.right, Math.max(area.left, place.x + force.x * step));
      place.y = Math.min(area.bottom, Math.max(area.top, place.y + force.y * step));
    }
  }
  return places;
}

/// The width of a line: 1.5 without traffic, and 1.5 more for each factor of 10 from 1 kB/s on.
export function widthOf(bytesPerSecond, edges = 1) {
  const width = bytesPerSecond < 100 ? 1.5 : Math.min(12, 1.5 + 1.5 * Math.log10(bytesPerSecond / 100));
  return edges <= 60 ? width : Math.max(0.8, width / Math.min(4, edges / 60));
}

/// Which of the labels {x, y, width, weight, dot} can be shown without touching another one, or the dot of another node,
/// the heaviest first. A label is 28 px high, two lines below (dot, y), of a dot with this radius. Returns a set of
/// indexes.
export function labelsThatFit(labels, radius) {
  const shown = new Set(), cell = 160, cells = new Map(), dots = new Map();
  for (const label of labels) {
    const key = `${Math.floor(label.dot / cell)}|${Math.floor(label.y / cell)}`;
    if (!dots.has(key)) dots.set(key, []);
    dots.get(key).push(label);
  }
  const near = ({x, y}, cells, visit) => {
    const column = Math.floor(x / cell), row = Math.floor(y / cell);
    for (let i = column - 2; i <= column + 2; ++i)
      for (let j = row - 1; j <= row + 1; ++j) if ((cells.get(`${i}|${j}`) ?? []).some(visit)) return true;
    return false;
  };
  for (const index of labels.map((_, index) => index).sort((one, other) => labels[other].weight - labels[one].weight || one - other)) {
    const label = labels[index];
    if (near(label, dots, other => other !== label && Math.abs(other.dot - label.x) < label.width / 2 + radius && other.y > label.y + 10 - radius && other.y < label.y + 40 + radius)) continue;
    if (near(label, cells, other => Math.abs(other.x - label.x) < (other.width + label.width) / 2 + 4 && Math.abs(other.y - label.y) < 28)) continue;
    shown.add(index);
    const key = `${Math.floor(label.x / cell)}|${Math.floor(label.y / cell)}`;
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(label);
  }
  return shown;
}

const shortened = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;

export class Graph {
  constructor(open, openNode) {
    this.open = open;
    this.openNode = openNode;
    this.places = new Map();
    this.signature = "";
    this.lines = svg("g", {class: "edges"});
    this.dots = svg("g", {class: "nodes"});
    this.picture = svg("svg", {class: "graph", role: "group", "aria-label": "Nodes and their links"}, this.lines, this.dots);
    this.legend = el("ul", {class: "legend", "aria-label": "Families"});
    this.empty = el("p", {class: "empty"});
    this.root = el("div", {class: "graph-area"}, this.picture, this.empty, this.legend);
  }

  show(model, selected, hidesEnded) {
    const {nodes, edges} = graphOf(model, hidesEnded);
    const box = this.root.getBoundingClientRect();
    const width = Math.max(280, Math.round(box.width || 800));
    const height = Math.round(Math.min(640, Math.max(280, nodes.length > 40 ? Math.max(width * 0.75, 480) : nodes.length > 8 ? width * 0.55 : width * 0.42)));
    const signature = JSON.stringify([width, height, nodes.map(node => node.id).sort(), edges.map(edge => edge.id).sort()]);
    if (signature !== this.signature) {
      this.signature = signature;
      this.places = layout(nodes, edges, width, height, this.places);
      setAttributes(this.picture, {viewBox: `0 0 ${width} ${height}`, width, height});
    }
    this.picture.toggleAttribute("hidden", nodes.length === 0);
    setText(this.empty, nodes.length === 0 ? "No node of this user runs here. Start a program that opens a node with node_options::local_queries, which is on by default, and it appears by itself."
      : edges.length === 0 ? "No links. A link appears here as soon as one of the nodes connects." : "");
    this.empty.hidden = edges.length > 0;
    this.drawLines(edges, selected, width * height / Math.max(1, nodes.length) < 6000 ? 0.5 : 1);
    this.drawDots(nodes, width, height);
    const families = [...new Set(edges.filter(({edge}) => edge.lostAt === null).map(({edge}) => edge.family))].sort();
    const entries = families.map(family => ({key: family, family}));
    if (edges.some(({edge}) => edge.isLost)) entries.push({key: "lost", family: ""});
    if (edges.some(({edge}) => edge.isClosed)) entries.push({key: "closed", family: ""});
    sync(this.legend, entries, entry => entry.key, entry => el("li", {},
      svg("svg", {width: 22, height: 10, "aria-hidden": "true"}, svg("line", {x1: 1, x2: 21, y1: 5, y2: 5, class: entry.family ? `edge family-${known(entry.family)}` : `edge ${entry.key}`, "stroke-width": 3})),
      entry.family === "none" ? "no payloads yet" : entry.family || (entry.key === "closed" ? "closed in order" : "lost")));
  }

  drawLines(edges, selected, scale) {
    const few = edges.length <= 60;
    setAttributes(this.lines, {"stroke-opacity": few ? 1 : 0.7});
    const parallel = new Map();
    sync(this.lines, edges, edge => edge.id, ({id}) => {
      const group = svg("g", {class: "link", role: "button", "data-edge": id, onclick: () => this.open(id), onkeydown: event => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.open(id); }
      }}, svg("path", {class: "hit"}), svg("path", {class: "edge"}), svg("title"));
      return group;
    }, (group, {from, to, edge}) => {
      const a = this.places.get(from), b = this.places.get(to);
      if (!a || !b) return;
      const between = [from, to].sort().join("|"), nth = parallel.get(between) ?? 0;
      parallel.set(between, nth + 1);
      const path = curve(a, b, nth, from > to);
      const [hit, line, title] = group.children;
      setAttributes(hit, {d: path});
      setAttributes(line, {d: path, class: edge.lostAt !== null ? `edge ${edge.isLost ? "lost" : "closed"}` : `edge family-${known(edge.family)}${edge.first.node.state === "open" ? "" : " old"}`, "stroke-width": Math.max(0.8, scale * widthOf(edge.bytesPerSecond, edges.length)).toFixed(1)});
      const words = edge.lostAt === null
        ? `${Model.titleOf(edge)}: ${byteRate(edge.bytesPerSecond)}, ${short(edge.messagesPerSecond)} messages/s, ${edge.family}`
        : `${Model.titleOf(edge)}: ${edge.isLost ? "lost" : "closed"}`;
      setText(title, words);
      setAttributes(group, {"aria-label": words, tabindex: few ? 0 : -1, "aria-current": selected === edge.id});
    });
  }

  drawDots(nodes, width, height) {
    const radius = nodes.length > 60 ? 4 : width * height / nodes.length < 6000 ? 5 : 9;
    const few = nodes.length <= 60, most = Math.max(8, Math.min(26, Math.floor(width / 14)));
    const labels = nodes.map(node => {
      const place = this.places.get(node.id) ?? {x: 0, y: 0}, name = shortened(node.name, most), wide = 7.4 * name.length;
      // Inside of the picture, also beside its edge.
      const x = Math.min(Math.max(place.x, wide / 2 + 4), Math.max(width - wide / 2 - 4, wide / 2 + 4));
      return {x, y: place.y, width: Math.max(wide, 44), dot: place.x, offset: x - place.x, name, weight: node.degree + (node.state === "lost" ? -1e6 : node.state === "open" ? 0.5 : 0.25)};
    });
    const shown = labelsThatFit(labels, radius);
    sync(this.dots, nodes, node => node.id, node => svg("g", {class: "node", role: "button", "data-node": node.id, onclick: () => this.openNode(node.id), onkeydown: event => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.openNode(node.id); }
    }}, svg("circle", {r: 9}), svg("text", {y: 24}), svg("text", {y: 37, class: "minor"}), svg("title")), (group, node) => {
      const place = this.places.get(node.id);
      if (!place) return;
      const index = nodes.indexOf(node), {name: words, offset} = labels[index], isShown = shown.has(index);
      const [dot, name, minor, title] = group.children;
      setAttributes(group, {transform: `translate(${place.x.toFixed(1)} ${place.y.toFixed(1)})`, class: `node ${node.state}`, tabindex: few ? 0 : -1});
      setAttributes(dot, {r: node.state === "lost" ? Math.min(6, radius) : radius});
      for (const text of [name, minor]) setAttributes(text, {x: offset.toFixed(1)});
      setText(name, isShown ? words : "");
      setText(minor, !isShown ? "" : node.state === "lost" ? "ended" : node.state === "silent" ? `silent ${age(node.node.state_ms)}` : node.state === "unasked" ? "not asked" : node.process && !words.includes(String(node.process)) ? String(node.process) : "");
      const full = `${node.name}, ${node.state === "open" ? `process ${node.process}, up ${age(node.node.age_ms)}` : node.state === "unasked" ? "a peer that was not asked" : node.state === "silent" ? `process ${node.process}, silent for ${age(node.node.state_ms)}` : "ended"}, ${count(node.degree)} ${node.degree === 1 ? "link" : "links"}`;
      setText(title, full);
      setAttributes(group, {"aria-label": full});
    });
  }
}

function curve(a, b, nth, swapped) {
  if (a === b) return `M${a.x} ${a.y} c -40 -50 40 -50 0 0`;
  const bend = (nth % 2 === 0 ? 1 : -1) * Math.ceil(nth / 2) * 16 * (swapped ? -1 : 1);
  const dx = b.x - a.x, dy = b.y - a.y, far = Math.sqrt(dx * dx + dy * dy) || 1;
  const x = (a.x + b.x) / 2 - dy / far * bend, y = (a.y + b.y) / 2 + dx / far * bend;
  return `M${a.x.toFixed(1)} ${a.y.toFixed(1)} Q${x.toFixed(1)} ${y.toFixed(1)} ${b.x.toFixed(1)} ${b.y.toFixed(1)}`;
}

const FAMILIES = new Set(["typed", "msgpack", "json", "cereal", "caf", "protobuf", "none"]);
/// The class of a family's color; families of users share one.
export const known = family => FAMILIES.has(family) ? family : "own";
