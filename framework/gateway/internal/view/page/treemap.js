// Objects as areas. squarify() and grouped() are pure.

import {el, svg, sync, setAttributes, setText} from "./dom.js";
import {bytes} from "./model.js";

/// Rectangles in a box, with areas in proportion to the values, as square as possible (Bruls, Huizing, van Wijk 2000).
/// Requires: the values fall, and are positive. Returns a rectangle for each value.
export function squarify(values, box) {
  const total = values.reduce((sum, value) => sum + value, 0);
  const made = [];
  if (!(total > 0)) return made;
  let {x, y, width, height} = box;
  const scale = width * height / total;
  const worst = (sum, side, low, high) => Math.max(side * side * high / (sum * sum), sum * sum / (side * side * low));
  for (let first = 0; first < values.length;) {
    const side = Math.min(width, height);
    let last = first, sum = 0, best = Infinity;
    while (last < values.length) {
      const next = sum + values[last] * scale;
      const now = worst(next, side, values[last] * scale, values[first] * scale);
      if (now > best) break;
      best = now;
      sum = next;
      last += 1;
    }
    const thick = sum / (side || 1);
    let along = 0;
    for (let i = first; i < last; ++i) {
      const long = values[i] * scale / (thick || 1);
      made.push(width < height ? {x: x + along, y, width: long, height: thick} : {x, y: y + along, width: thick, height: long});
      along += long;
    }
    if (width < height) { y += thick; height -= thick; }
    else { x += thick; width -= thick; }
    first = last;
  }
  return made;
}

// From the strongest reason on: the first one that an object has decides its color.
const ORDER = ["lost_link", "out_of_band", "being_written", "in_flight", "pinned_view", "pending_message", "queued_message", "fetched", "exported", "handle", "captured"];
const WORDS = {handle: "handle", pinned_view: "pinned view", being_written: "being written", captured: "captured", in_flight: "in flight", exported: "exported", lost_link: "lost link", pending_message: "pending message", queued_message: "queued message", fetched: "fetched", out_of_band: "out of band"};
export const reasonWords = reason => WORDS[reason] ?? reason;
export const mainReason = object => ORDER.find(reason => object.holders.some(holder => holder.reason === reason)) ?? "none";

/// The objects in groups: by store, by the process that made them, or by reason. The largest group first.
export function grouped(objects, by, processes) {
  const name = {
    store: object => object.store ? `store ${object.store}` : "no store",
    process: object => object.creator ? `${processes.get(object.creator) ?? "process"} (${object.creator})` : "unknown process",
    reason: object => reasonWords(mainReason(object))
  }[by];
  const groups = new Map();
  for (const object of objects) {
    const key = name(object);
    if (!groups.has(key)) groups.set(key, {name: key, bytes: 0, objects: []});
    const group = groups.get(key);
    group.bytes += object.size_bytes;
    group.objects.push(object);
  }
  return [...groups.values()].sort((one, other) => other.bytes - one.bytes);
}

const MOST = 240;

export class Treemap {
  constructor(open) {
    this.open = open;
    this.picture = svg("svg", {class: "treemap", role: "group", "aria-label": "Objects by size"});
    this.legend = el("ul", {class: "legend", "aria-label": "Reasons"});
    this.root = el("div", {class: "treemap-area"}, this.picture, this.legend);
  }

  show(objects, by, processes, selected) {
    const width = Math.max(280, Math.round(this.root.clientWidth || 800)), height = Math.round(Math.min(460, Math.max(220, width * 0.45)));
    setAttributes(this.picture, {viewBox: `0 0 ${width} ${height}`, width, height});
    const shown = objects.filter(object => object.size_bytes > 0).slice(0, MOST);
    const tiles = [];
    const groups = grouped(shown, by, processes);
    squarify(groups.map(group => group.bytes), {x: 0, y: 0, width, height}).forEach((box, index) => {
      const group = groups[index];
      const inner = {x: box.x + 1, y: box.y + 16, width: box.width - 2, height: box.height - 17};
      tiles.push({key: `group ${group.name}`, group, box});
      if (inner.width < 4 || inner.height < 4) return;
      squarify(group.objects.map(object => object.size_bytes), inner).forEach((place, nth) =>
        tiles.push({key: `object ${group.objects[nth].store}/${group.objects[nth].object}`, object: group.objects[nth], box: place}));
    });
    sync(this.picture, tiles, tile => tile.key, tile => tile.object
      ? svg("g", {role: "button", tabindex: "0", class: "tile", "data-object": tile.object.object, onclick: () => this.open(tile.object), onkeydown: event => {
          if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.open(tile.object); }
        }}, svg("rect"), svg("text"), svg("title"))
      : svg("g", {class: "tile-group"}, svg("rect"), svg("text")), (element, tile) => {
      const {x, y, width: wide, height: high} = tile.box;
      const [rect, text, title] = element.children;
      setAttributes(rect, {x: (x + 0.5).toFixed(1), y: (y + 0.5).toFixed(1), width: Math.max(0, wide - 1).toFixed(1), height: Math.max(0, high - 1).toFixed(1)});
      setAttributes(text, {x: (x + 4).toFixed(1), y: (y + (tile.object ? 13 : 12)).toFixed(1)});
      if (!tile.object) {
        setText(text, wide > 60 ? fit(`${tile.group.name} · ${bytes(tile.group.bytes)}`, wide - 8) : "");
        return;
      }
      const reason = mainReason(tile.object);
      setAttributes(rect, {class: `reason-${reason}${tile.object.state === "spilled" ? " spilled" : ""}`});
      setText(text, wide > 44 && high > 18 ? fit(`${bytes(tile.object.size_bytes)} ${tile.object.call_site}`, wide - 8) : "");
      const words = `${tile.object.object}, ${bytes(tile.object.size_bytes)}, ${tile.object.state}, ${reasonWords(reason)}`;
      setText(title, words);
      setAttributes(element, {"aria-label": words, "aria-current": selected === tile.object.object});
    });
    const reasons = [...new Set(shown.map(mainReason))].sort().map(reason => ({name: reasonWords(reason), class: `reason-${reason}`}));
    if (shown.some(object => object.state === "spilled")) reasons.push({name: "pale: on disk", class: "reason-none spilled"});
    sync(this.legend, reasons, reason => reason.name, reason => el("li", {}, svg("svg", {width: 12, height: 12, "aria-hidden": "true"}, svg("rect", {width: 12, height: 12, rx: 2, class: reason.class})), reason.name));
    return {left: objects.length - shown.length};
  }
}

const LETTER = 7; // As wide as most letters are.
const fit = (text, width) => text.length * LETTER <= width ? text.trim() : text.slice(0, Math.max(0, Math.floor(width / LETTER) - 1)) + "…";
