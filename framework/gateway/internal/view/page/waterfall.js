// Traces: spans of several nodes, joined by request. tracesOf() and rowsOf() are pure.

import {el, svg, setAttributes} from "./dom.js";
import {nameOf, nanoseconds, bytes} from "./model.js";

/// The traces of all nodes, the newest first. spans: {node, ...span}.
export function tracesOf(nodes) {
  const traces = new Map();
  for (const node of nodes)
    for (const span of node.spans ?? []) {
      if (!traces.has(span.trace)) traces.set(span.trace, new Map());
      traces.get(span.trace).set(`${node.key} ${span.id}`, {...span, node: nameOf(node)});
    }
  return [...traces].map(([id, byId]) => {
    const spans = [...byId.values()].sort((one, other) => one.start_us - other.start_us);
    const start = spans[0].start_us;
    const end = spans.reduce((most, span) => Math.max(most, span.start_us + span.duration_us), start);
    return {id, spans, start_us: start, duration_us: end - start, name: spans[0].name || spans[0].kind, nodes: new Set(spans.map(span => span.node)).size, errors: spans.filter(span => span.error).length};
  }).sort((one, other) => other.start_us - one.start_us);
}

/// The spans of a trace as a tree in lines: each after its parent, with its depth. A span whose parent is missing, or
/// would be its own ancestor, is a root.
export function rowsOf(spans) {
  const children = new Map();
  const ids = new Set(spans.map(span => span.id));
  const roots = [];
  for (const span of spans) {
    if (!span.parent || !ids.has(span.parent) || span.parent === span.id) roots.push(span);
    else children.set(span.parent, [...children.get(span.parent) ?? [], span]);
  }
  const rows = [], seen = new Set();
  const walk = start => {
    const waiting = [[start, 0]];
    while (waiting.length > 0) {
      const [span, depth] = waiting.pop();
      if (seen.has(span)) continue;
      seen.add(span);
      rows.push({span, depth});
      for (const child of [...children.get(span.id) ?? []].reverse()) waiting.push([child, depth + 1]);
    }
  };
  roots.forEach(walk);
  spans.forEach(walk); // Circles.
  return rows;
}

/// The parts of a span that was received: on the wire, decoding, in the mailbox, in the handler. In microseconds.
export function partsOf(span) {
  let at = span.start_us;
  const parts = [];
  for (const kind of ["wire", "decode", "queue", "handler"]) {
    const time = span[`${kind}_ns`];
    if (!(time >= 0)) continue;
    parts.push({kind, start_us: at, duration_us: time / 1000});
    at += time / 1000;
  }
  return parts;
}

export function waterfall(trace) {
  const rows = rowsOf(trace.spans).slice(0, 200);
  const scale = Math.max(trace.duration_us, 1);
  return el("div", {class: "waterfall", role: "table", "aria-label": `Trace ${trace.id}`}, rows.map(({span, depth}) => {
    const left = (span.start_us - trace.start_us) / scale * 100, wide = Math.max(span.duration_us / scale * 100, 0.4);
    const words = [span.node, span.name || span.kind, nanoseconds(span.duration_us * 1000), span.bytes ? bytes(span.bytes) : "", span.family, span.error].filter(Boolean).join(" · ");
    const bar = svg("svg", {viewBox: "0 0 100 14", preserveAspectRatio: "none", role: "img", "aria-label": words},
      svg("rect", {class: span.error ? "span failed" : "span", x: Math.min(left, 99.6), y: 2, width: wide, height: 10}),
      partsOf(span).map(part => svg("rect", {class: `part part-${part.kind}`, x: (part.start_us - trace.start_us) / scale * 100, y: 2, width: part.duration_us / scale * 100, height: 10}, svg("title", {}, `${part.kind} ${nanoseconds(part.duration_us * 1000)}`))),
      svg("title", {}, words));
    const label = el("span", {class: "span-name", title: words}, "\u00a0".repeat(2 * Math.min(depth, 12)), el("b", {}, span.node), ` ${span.name || span.kind}`);
    return el("div", {class: "span-row", role: "row"}, el("span", {role: "cell"}, label), el("span", {role: "cell", class: "span-bar"}, bar),
      el("span", {role: "cell", class: "number"}, nanoseconds(span.duration_us * 1000)));
  }));
}

export const partLegend = () => el("ul", {class: "legend"}, ["wire", "decode", "queue", "handler"].map(kind =>
  el("li", {}, setUp(svg("svg", {width: 12, height: 12, "aria-hidden": "true"}, svg("rect", {width: 12, height: 12, class: `part part-${kind}`}))), {wire: "on the wire", decode: "decoding", queue: "in the mailbox", handler: "in the handler"}[kind])));

function setUp(element) {
  setAttributes(element, {focusable: "false"});
  return element;
}
