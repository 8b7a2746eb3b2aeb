// Elements of the page. Data only ever becomes text or an attribute's value, never markup.

import {count} from "./model.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(made, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(3)) if (child !== null && child !== undefined && child !== false) made.append(child);
  return made;
}

export const el = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const svg = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

/// Makes the children of `parent` those of `items`, in order. An item with the same key keeps its element, and with it
/// the focus and the scroll position.
export function sync(parent, items, keyOf, make, update) {
  const old = parent.keyed ?? new Map();
  const now = new Map();
  let place = parent.firstChild;
  for (const item of items) {
    const key = keyOf(item);
    if (now.has(key)) continue;
    const element = old.get(key) ?? make(item);
    now.set(key, element);
    update?.(element, item);
    if (element === place) place = place.nextSibling;
    else parent.insertBefore(element, place);
  }
  for (const [key, element] of old) if (!now.has(key)) element.remove();
  parent.keyed = now;
}

/// A table whose columns can be sorted. Rows do not move while somebody aims at them: while the focus is in the table, and
/// until 5 s after the pointer has moved there. columns: {title, text(row), sort(row), number, wide, className(row)}.
export class DataTable {
  constructor(label, columns, {key, open, sort = 0, descending = true, most = 200, empty = "Nothing here."} = {}) {
    Object.assign(this, {columns, key, open, sort, descending, most, empty, rows: []});
    this.head = el("tr", {}, columns.map((column, index) => {
      if (!column.sort) return el("th", {scope: "col", class: column.number ? "number" : null}, column.title);
      return el("th", {scope: "col", class: column.number ? "number" : null},
                el("button", {type: "button", onclick: () => this.sortBy(index)}, column.title));
    }));
    this.body = el("tbody", {onpointermove: () => { this.aimed = performance.now(); }, onpointerleave: () => { this.aimed = -Infinity; }});
    this.aimed = -Infinity;
    this.order = new Map(); // Places of the rows, by key.
    // Where the head is not shown, on narrow screens.
    this.chooser = el("select", {onchange: event => this.sortBy(Number(event.target.value))}, columns.map((column, index) => column.sort && el("option", {value: index}, column.title)));
    this.none = el("p", {class: "empty", hidden: true});
    this.more = el("button", {type: "button", class: "more", hidden: true, onclick: () => {
      this.most = Infinity;
      this.show(this.rows);
    }});
    this.table = el("table", {"aria-label": label, role: open ? "grid" : null}, el("thead", {}, this.head), this.body);
    this.root = el("div", {class: "table-area"}, el("label", {class: "sort-by"}, "Sort by ", this.chooser), el("div", {class: "scroll"}, this.table), this.none, this.more);
  }

  sortBy(index) {
    if (this.sort === index) this.descending = !this.descending;
    else {
      this.sort = index;
      this.descending = Boolean(this.columns[index].number);
    }
    this.aimed = -Infinity;
    this.order.clear();
    this.show(this.rows);
  }

  get isAimedAt() { return performance.now() - this.aimed < 5000 || this.body.contains(document.activeElement); }

  sorted(rows) {
    const by = this.columns[this.sort]?.sort;
    if (!by) return rows;
    const sorted = [...rows].sort((one, other) => {
      const a = by(one), b = by(other);
      const order = typeof a === "string" ? a.localeCompare(b) : a - b;
      return this.descending ? -order : order;
    });
    if (this.order.size > 0 && this.isAimedAt) { // New rows come last.
      const place = row => this.order.get(this.key(row)) ?? Infinity;
      return sorted.sort((one, other) => place(one) === place(other) ? 0 : place(one) - place(other));
    }
    this.order = new Map(sorted.map((row, index) => [this.key(row), index]));
    return sorted;
  }

  show(rows, empty = this.empty) {
    this.rows = rows;
    const sorted = this.sorted(rows);
    this.chooser.value = this.sort;
    [...this.head.children].forEach((cell, index) => {
      if (this.columns[index].sort)
        cell.setAttribute("aria-sort", index !== this.sort ? "none" : this.descending ? "descending" : "ascending");
    });
    sync(this.body, sorted.slice(0, this.most), this.key, row => this.makeRow(row), (line, row) => this.updateRow(line, row));
    this.table.hidden = rows.length === 0;
    this.none.hidden = rows.length > 0;
    setText(this.none, empty);
    this.more.hidden = rows.length <= this.most;
    setText(this.more, `Show all ${count(rows.length)}`);
  }

  makeRow() {
    const line = el("tr", this.open ? {tabindex: "0", class: "opens", role: "row", onclick: () => this.open(line.row), onkeydown: event => {
      if (event.key === "Enter") this.open(line.row);
      if (event.key === "ArrowDown") line.nextSibling?.focus();
      if (event.key === "ArrowUp") line.previousSibling?.focus();
      if (event.key.startsWith("Arrow")) event.preventDefault();
    }} : {}, this.columns.map(column => el("td", {role: this.open ? "gridcell" : null, class: [column.number && "number", column.wide && "wide"].filter(Boolean).join(" ") || null,
                                                   "data-title": column.title})));
    return line;
  }

  updateRow(line, row) {
    line.row = row;
    this.columns.forEach((column, index) => {
      const cell = line.children[index];
      if (column.fill) return column.fill(cell, row);
      setText(cell, column.text(row));
      if (column.mark) cell.classList.toggle("mark", Boolean(column.mark(row)));
    });
    if (this.isGone) line.classList.toggle("gone", this.isGone(row));
  }
}
