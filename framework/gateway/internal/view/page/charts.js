// Lines over time, meters against a bound, and histograms of latencies.

import {el, svg, sync, setAttributes, setText} from "./dom.js";
import {count, nanoseconds} from "./model.js";

/// The path of one line. A gap of more than 5 s is not drawn.
export function pathOf(times, values, end, ms, width, height, top) {
  let path = "", last = -Infinity;
  times.forEach((time, index) => {
    const x = width * (1 - (end - time) / ms);
    if (x < 0 || !Number.isFinite(values[index])) return;
    const y = height - (top > 0 ? values[index] / top : 0) * (height - 2) - 1;
    path += `${time - last > 5000 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    last = time;
  });
  return path;
}

/// 1, 2 or 5 times a power of 10, at least `value`.
export function niceTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find(step => step * power >= value * 0.9999) * power;
}

/// Joins latency buckets [end, count] into at most `most` columns of equal width on a logarithmic scale.
export function columnsOf(buckets, most = 36) {
  if (buckets.length === 0) return [];
  const low = Math.log(Math.max(64, buckets[0][0] / 1.2)), high = Math.log(Math.max(buckets.at(-1)[0], 65));
  const columns = Array.from({length: Math.min(most, Math.max(1, Math.ceil((high - low) / 0.118)))}, () => 0);
  for (const [end, many] of buckets) {
    const place = high > low ? Math.ceil((Math.log(Math.max(end, 64)) - low) / (high - low) * columns.length) - 1 : 0;
    columns[Math.min(columns.length - 1, Math.max(0, place))] += many;
  }
  return columns.map((many, index) => ({from: Math.exp(low + (high - low) * index / columns.length), to: Math.exp(low + (high - low) * (index + 1) / columns.length), many}));
}

/// Lines over the last ten minutes.
export class LineChart {
  constructor(title, names, format) {
    Object.assign(this, {names, format});
    this.title = el("figcaption", {}, title);
    this.top = svg("text", {class: "axis", x: 2, y: 10});
    this.lines = names.map((_, index) => svg("path", {class: `line line-${index}`}));
    this.cursor = svg("line", {class: "cursor", y1: 0, visibility: "hidden"});
    this.picture = svg("svg", {class: "chart", role: "img"}, svg("path", {class: "grid"}), ...this.lines, this.top, this.cursor);
    this.values = el("p", {class: "chart-values"});
    this.scale = el("p", {class: "chart-scale", "aria-hidden": "true"}, el("span", {}, "10 min ago"), el("span", {}, "now"));
    this.root = el("figure", {class: "figure"}, this.title, this.values, this.picture, this.scale);
    this.picture.addEventListener("pointermove", event => this.point(event));
    this.picture.addEventListener("pointerleave", () => { this.at = null; this.draw(); });
  }
  show(series, offset = 0) {
    Object.assign(this, {series, offset});
    this.draw();
  }
  point(event) {
    const box = this.picture.getBoundingClientRect();
    this.at = (event.clientX - box.left) / box.width;
    this.draw();
  }
  draw() {
    const {series, offset} = this;
    if (!series) return;
    const width = Math.max(200, Math.round(this.root.clientWidth || 320)), height = 72;
    setAttributes(this.picture, {viewBox: `0 0 ${width} ${height}`, width, height});
    const {end, shownMs} = series;
    setText(this.scale.firstChild, shownMs >= 120000 ? `${Math.round(shownMs / 60000)} min ago` : `${Math.round(shownMs / 1000)} s ago`);
    const columns = this.names.map((_, index) => series.values.map(values => values[offset + index]));
    const top = niceTop(Math.max(0, ...columns.flat().filter(Number.isFinite)));
    this.lines.forEach((line, index) => setAttributes(line, {d: pathOf(series.times, columns[index], end, shownMs, width, height, top)}));
    setAttributes(this.picture.firstChild, {d: `M0 1H${width}M0 ${height / 2}H${width}M0 ${height - 1}H${width}`});
    setText(this.top, this.format(top));
    let place = series.times.length - 1;
    if (this.at !== null && this.at !== undefined && place >= 0) {
      const wanted = end - (1 - this.at) * shownMs;
      place = series.times.reduce((best, time, index) => Math.abs(time - wanted) < Math.abs(series.times[best] - wanted) ? index : best, place);
      const x = width * (1 - (end - series.times[place]) / shownMs);
      setAttributes(this.cursor, {x1: x, x2: x, y2: height, visibility: "visible"});
    } else setAttributes(this.cursor, {visibility: "hidden"});
    const when = this.at === null || this.at === undefined || place < 0 ? "" : `${Math.round((end - series.times[place]) / 1000)} s ago`;
    sync(this.values, [...this.names.map((name, index) => ({name, index})), {name: when, index: -1}], item => item.index,
         ({index}) => index < 0 ? el("span", {class: "minor"}) : el("span", {}, svg("svg", {width: 12, height: 8, "aria-hidden": "true"}, svg("line", {x1: 0, x2: 12, y1: 4, y2: 4, class: `line line-${index}`})), " ", el("span")),
         (element, {name, index}) => setText(index < 0 ? element : element.lastChild, index < 0 ? name : `${name} ${place < 0 ? "-" : this.format(columns[index][place])}`));
    setAttributes(this.picture, {"aria-label": `${this.title.textContent}: ${this.values.textContent}`});
  }
}

/// A small line without axes.
export class Spark {
  constructor() {
    this.line = svg("path", {class: "line line-0"});
    this.root = svg("svg", {class: "spark", viewBox: "0 0 100 22", preserveAspectRatio: "none", "aria-hidden": "true"}, this.line);
  }
  show(series, index) {
    const values = series.values.map(each => each[index]);
    setAttributes(this.line, {d: pathOf(series.times, values, series.end, series.shownMs, 100, 22, Math.max(...values, 1e-9))});
  }
}

/// How much of a bound is used, with the numbers. With `isLeft`, the value is what is left: little of it is bad.
export function meter(name, value, bound, format, isLeft = false) {
  const part = bound > 0 ? Math.min(1, value / bound) : 0;
  return el("div", {class: "meter"}, el("span", {class: "meter-name"}, name),
    el("span", {class: "meter-value"}, bound > 0 ? `${format(value)} of ${format(bound)}` : format(value)),
    bound > 0 ? svg("svg", {class: `meter-bar${(isLeft ? part < 0.1 : part > 0.9) ? " full" : ""}`, viewBox: "0 0 100 6", preserveAspectRatio: "none", role: "img", "aria-label": `${Math.round(part * 100)} %`},
      svg("rect", {class: "track", width: 100, height: 6, rx: 1}), svg("rect", {class: "used", width: Math.max(part * 100, value > 0 ? 1 : 0).toFixed(1), height: 6, rx: 1})) : null);
}

/// The distribution of one kind of latency.
export function histogram(latency) {
  const columns = columnsOf(latency.buckets);
  const width = 320, height = 64, most = Math.max(1, ...columns.map(column => column.many));
  const step = width / Math.max(1, columns.length);
  return el("figure", {class: "figure"}, el("figcaption", {}, latency.kind.replace("_", " ")),
    el("p", {class: "chart-values"}, `${count(latency.count)} times · p50 ${nanoseconds(latency.p50_ns)} · p99 ${nanoseconds(latency.p99_ns)} · max ${nanoseconds(latency.max_ns)}`),
    svg("svg", {class: "chart histogram", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `Histogram of ${latency.kind.replace("_", " ")}`},
      columns.map((column, index) => svg("rect", {x: (index * step + 0.5).toFixed(1), width: Math.max(1, step - 1).toFixed(1), y: (height - column.many / most * (height - 2)).toFixed(1), height: (column.many / most * (height - 2)).toFixed(1)},
        svg("title", {}, `${nanoseconds(column.from)} to ${nanoseconds(column.to)}: ${count(column.many)}`)))),
    el("p", {class: "chart-scale", "aria-hidden": "true"}, el("span", {}, nanoseconds(columns[0]?.from ?? 0)), el("span", {}, nanoseconds(columns.at(-1)?.to ?? 0))));
}
