// The page: asks once a second while it is looked at, and shows the section that the address names.

import {el, setText, sync} from "./dom.js";
import {Source} from "./data.js";
import {Model, age, byteRate, bytes, count, sentence, short} from "./model.js";
import {Spark} from "./charts.js";
import {ActorsPanel, ClusterPanel, GraphPanel, LettersPanel, LinkDetail, LinksPanel, NodeDetail, ObjectDetail, StorePanel, SupervisorsPanel, TraceDetail, TracesPanel} from "./panels.js";

const SECTIONS = [
  {id: "graph", name: "Graph", make: GraphPanel},
  {id: "links", name: "Links", make: LinksPanel},
  {id: "store", name: "Store", make: StorePanel, asks: "memory"},
  {id: "actors", name: "Actors", make: ActorsPanel, asks: "activity"},
  {id: "letters", name: "Dead letters", make: LettersPanel, asks: "activity"},
  {id: "traces", name: "Traces", make: TracesPanel, asks: "activity"},
  {id: "supervisors", name: "Supervisors", make: SupervisorsPanel, asks: "activity"},
  {id: "cluster", name: "Cluster", make: ClusterPanel}
];
const by = id => document.getElementById(id);

class Page {
  constructor() {
    this.source = new Source();
    this.model = new Model();
    this.memory = null;
    this.activity = null;
    this.selected = {edge: null, object: null};
    this.panels = new Map();
    this.detail = null;
    this.paused = false;
    this.asked = {memory: 0, activity: 0};
    this.tiles = null;
    this.failures = 0;
    this.timer = null;
    this.arrived = 0; // When the last new state came, by this page's own clock.
    this.hidesEnded = localStorage.getItem("troupe.ended") === "hidden";
  }
  get mayAct() { return this.source.mayAct && this.model.state?.takes_orders === true; }
  get sections() {
    const {state} = this.model;
    return SECTIONS.filter(section => section.id !== "cluster" || state?.cluster);
  }

  begin() {
    this.setUpTheme();
    by("door").addEventListener("submit", event => {
      event.preventDefault();
      this.source.token = by("token").value.trim();
      by("token").value = "";
      this.enter();
    });
    by("leave").addEventListener("click", () => {
      this.source.token = "";
      location.reload();
    });
    by("pause").addEventListener("click", () => this.pause(!this.paused));
    addEventListener("hashchange", () => this.route(true));
    addEventListener("resize", () => this.show());
    addEventListener("keydown", event => this.key(event));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.soon(0);
    });
    setInterval(() => this.showFreshness(), 1000); // Also while an answer is awaited.
    if (this.source.token) this.enter();
    else this.lockOut("");
  }

  lockOut(problem) {
    clearTimeout(this.timer);
    this.timer = null;
    by("app").hidden = true;
    by("leave").hidden = true;
    by("door").hidden = false;
    setText(by("door-problem"), problem);
    by("token").focus();
  }
  enter() {
    by("door").hidden = true;
    by("app").hidden = false;
    by("leave").hidden = false;
    this.soon(0);
  }

  // Asking.

  soon(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.turn(), ms);
  }
  async turn() {
    if (this.paused || document.hidden) return; // Nobody looks: the nodes are left alone.
    const begun = performance.now();
    try {
      const state = await this.source.state();
      if (this.model.state && state.run !== this.model.state.run) this.forget();
      if (this.model.update(state)) this.arrived = performance.now();
      await this.askMore();
      this.failures = 0;
      this.problem = "";
    } catch (problem) {
      if (problem.status === 401 || problem.status === 403) {
        this.source.token = "";
        return this.lockOut(problem.status === 403 ? "This token may not look: it needs the right \"view\"." : "The gateway does not know this token.");
      }
      if (problem.status === undefined) console.error(problem);
      this.failures += 1;
      this.problem = problem.message;
    }
    this.show();
    if (this.paused) return;
    this.soon(this.failures > 0 ? Math.min(10000, 1000 * this.failures) : Math.max(200, 1000 - (performance.now() - begun)));
  }
  /// The program was started again: what the page knows is of another run.
  forget() {
    this.memory = this.activity = null;
    this.asked = {memory: 0, activity: 0};
    by("ask").close();
    if (this.detail) this.closeDetail();
  }
  async askMore() {
    const now = performance.now();
    const {asks} = this.section ?? {};
    const wanted = {memory: asks === "memory" || this.detail instanceof ObjectDetail, activity: asks === "activity" || this.detail instanceof TraceDetail || (this.detail instanceof LinkDetail && this.detail.edge.lostAt !== null) || (this.model.wondersWhy && now - this.asked.activity > 1900)};
    if (wanted.memory && now - this.asked.memory > 1900) {
      this.memory = await this.source.memory();
      this.asked.memory = now;
    }
    if (wanted.activity) {
      this.activity = await this.source.activity();
      this.asked.activity = now;
      this.model.explain(this.activity);
    }
    if (this.detail instanceof LinkDetail) await this.detail.refresh();
  }

  // The address: #/SECTION, #/SECTION/link/ID, #/SECTION/node/KEY, #/SECTION/object/ID, #/SECTION/trace/ID.

  route(by_user) {
    const [, id, kind, ...rest] = location.hash.split("/");
    this.section = this.sections.find(section => section.id === id) ?? SECTIONS[0];
    const what = rest.map(decodeURIComponent).join("/");
    const name = kind && what ? `${kind}/${what}` : "";
    if (name === this.detailName && this.shownSection === this.section) return;
    if (this.shownSection !== this.section) {
      this.shownSection = this.section;
      if (!this.panels.has(this.section.id)) this.panels.set(this.section.id, new this.section.make(this));
      by("panel").replaceChildren(this.panels.get(this.section.id).root);
      by("panel").setAttribute("aria-labelledby", `tab-${this.section.id}`);
      this.asked.memory = 0;
    }
    this.openDetail(kind, what, name);
    if (by_user) this.soon(0);
    this.show();
  }
  openDetail(kind, what, name) {
    const aside = by("detail");
    const edge = kind === "link" ? this.model.edges.get(what) : null;
    this.selected = {edge: kind === "link" ? what : null, object: kind === "object" ? what : null};
    if (name === this.detailName && this.detail) return;
    this.detail = kind === "link" && edge ? new LinkDetail(this, edge) : kind === "node" ? new NodeDetail(this, what)
      : kind === "object" ? new ObjectDetail(this, what) : kind === "trace" ? new TraceDetail(this, what) : null;
    this.detailName = this.detail ? name : "";
    aside.hidden = this.detail === null;
    by("content").classList.toggle("with-detail", this.detail !== null);
    if (!this.detail) return aside.replaceChildren();
    aside.replaceChildren(el("button", {type: "button", class: "close", title: "Close (Escape)", "aria-label": "Close the details", onclick: () => this.closeDetail()}, "×"), this.detail.root);
    aside.scrollTop = 0;
    aside.focus({preventScroll: false});
  }
  go(kind, what) {
    const section = this.section?.id ?? "graph";
    location.hash = kind ? `#/${section}/${kind}/${what.split("/").map(encodeURIComponent).join("/")}` : `#/${section}`;
  }
  openEdge(id) { this.go("link", id); }
  openNode(key) { this.go("node", key); }
  openObject(id) { this.go("object", id); }
  openTrace(id) { this.go("trace", id); }
  closeDetail() {
    const back = this.selected.edge ? document.querySelector(`[data-edge="${CSS.escape(this.selected.edge)}"]`) : null;
    this.go();
    (back ?? by("panel")).focus();
  }

  // Showing.

  show() {
    this.showFreshness();
    if (!this.model.state) {
      by("notices").replaceChildren(el("p", {class: "notice"}, this.problem || "Asking the nodes."));
      return;
    }
    if (!this.section || (this.problem === "" && !this.shownSection)) this.route(false);
    const notices = this.model.state.problems.map(sentence);
    if (this.problem) notices.unshift(`${sentence(this.problem)} What is shown is old; the page goes on asking.`);
    sync(by("notices"), notices, text => text, text => el("p", {class: "notice"}, text));
    this.showTotals();
    this.showTabs();
    if (this.detail === null && /^#\/[a-z]+\/link\//.test(location.hash)) this.route(false); // Its link has become known.
    this.panels.get(this.section.id).show(this.model, this.selected);
    this.detail?.show();
  }
  showFreshness() {
    const {state} = this.model;
    const old = state ? performance.now() - this.arrived : 0;
    const nodes = state ? state.nodes.filter(node => node.state !== "lost") : [], silent = nodes.filter(node => node.state === "silent");
    const longest = Math.max(0, ...silent.map(node => node.state_ms)) + old;
    const [kind, text] = this.paused ? ["paused", "paused"] : !state ? ["", ""]
      : this.problem || old > 3000 ? ["stale", `no answer for ${age(old)}`]
      : silent.length === 0 ? ["live", `live · ${new Date(state.at_ms).toLocaleTimeString()}`]
      : [silent.length === nodes.length ? "stale" : "part", `${silent.length === nodes.length ? (nodes.length === 1 ? "the node is" : "all nodes are") : `${count(silent.length)} of ${count(nodes.length)} nodes ${silent.length === 1 ? "is" : "are"}`} silent, for up to ${age(longest)}`];
    setText(by("freshness"), text);
    by("freshness").className = `freshness ${kind}`;
  }
  hideEnded(hides) {
    this.hidesEnded = hides;
    localStorage.setItem("troupe.ended", hides ? "hidden" : "shown");
    this.show();
  }
  showTotals() {
    const {now, totals} = this.model;
    const most = index => totals.values.reduce((best, values) => Math.max(best, values[index]), 0);
    const rows = [
      {id: "nodes", name: "Nodes", value: count(now.nodes), note: [now.ended > 0 ? `${count(now.ended)} ended` : "", now.silent > 0 ? `${count(now.silent)} silent` : ""].filter(Boolean).join(", ") || "all answer", bad: now.silent > 0, series: 5},
      {id: "links", name: "Links", value: count(now.openLinks), note: [now.lostLinks > 0 ? `${count(now.lostLinks)} lost` : "", now.closedLinks > 0 ? `${count(now.closedLinks)} closed` : ""].filter(Boolean).join(", ") || "none lost", bad: now.lostLinks > 0, series: 4},
      {id: "messages", name: "Messages/s", value: short(now.messages), note: `most ${short(most(0))}`, series: 0},
      {id: "bytes", name: "Bytes/s", value: byteRate(now.bytes), note: `most ${byteRate(most(1))}`, series: 1},
      {id: "lost", name: "Not delivered", value: count(now.undelivered), note: now.undelivered === 0 ? "messages so far" : `in the last ${age(now.undeliveredFor)}`, series: 2},
      {id: "store", name: "Store", value: now.capacity > 0 ? `${(100 * now.used / now.capacity).toFixed(now.used / now.capacity < 0.1 ? 1 : 0)} %` : "-", note: now.capacity > 0 ? `${bytes(now.used)} of ${bytes(now.capacity)}` : "no store", series: 3}
    ];
    this.sparks ??= new Map(rows.map(row => [row.id, new Spark()]));
    sync(by("totals"), rows, row => row.id, row => el("div", {class: "total", id: `total-${row.id}`}, el("span", {class: "total-name"}, row.name), el("span", {class: "total-value"}), el("span", {class: "total-note"}), this.sparks.get(row.id).root), (tile, row) => {
      setText(tile.children[1], row.value);
      setText(tile.children[2], row.note ?? "");
      tile.classList.toggle("bad", Boolean(row.bad));
      this.sparks.get(row.id).show(totals, row.series);
    });
  }
  showTabs() {
    sync(by("tabs"), this.sections, section => section.id, section => el("button", {type: "button", role: "tab", id: `tab-${section.id}`, "aria-controls": "panel", onclick: () => { location.hash = `#/${section.id}`; }}, section.name), (tab, section) => {
      const active = section === this.section;
      tab.setAttribute("aria-selected", active);
      tab.tabIndex = active ? 0 : -1;
    });
  }

  // Keys.

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || by("ask").open) return;
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key === "Escape" && this.detail) return this.closeDetail();
    if (typing) return;
    const tab = event.target.closest?.("[role=tab]");
    const place = this.sections.indexOf(this.section);
    const next = tab && {ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: this.sections.length - 1}[event.key];
    if (next !== undefined && next !== null && this.sections[next]) {
      event.preventDefault();
      location.hash = `#/${this.sections[next].id}`;
      requestAnimationFrame(() => by(`tab-${this.sections[next].id}`).focus());
    } else if (/^[1-8]$/.test(event.key) && this.sections[Number(event.key) - 1]) location.hash = `#/${this.sections[Number(event.key) - 1].id}`;
    else if (event.key === "t") by("theme").click();
    else if (event.key === " " && event.target === document.body) {
      event.preventDefault();
      this.pause(!this.paused);
    } else if (event.key === "/") {
      event.preventDefault();
      location.hash = "#/links";
      requestAnimationFrame(() => document.querySelector("input[type=search]")?.focus());
    }
  }
  pause(on) {
    this.paused = on;
    by("pause").setAttribute("aria-pressed", on);
    setText(by("pause"), on ? "Go on" : "Pause");
    this.showFreshness();
    if (!on) this.soon(0);
  }
  setUpTheme() {
    const apply = theme => {
      if (theme) document.documentElement.dataset.theme = theme;
      else delete document.documentElement.dataset.theme;
    };
    apply(localStorage.getItem("troupe.theme"));
    by("theme").addEventListener("click", () => {
      const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      localStorage.setItem("troupe.theme", dark ? "light" : "dark");
      apply(dark ? "light" : "dark");
    });
  }

  // Orders.

  /// `order` may throw an Error with the reason why there is nothing to order. The focus is not on what cannot be undone.
  confirm(title, text, verb, fields, order) {
    const dialog = by("ask");
    const problem = el("p", {class: "problem", role: "alert"});
    const go = el("button", {type: "button", class: "strong", onclick: async () => {
      go.disabled = true;
      setText(problem, "");
      try {
        await this.source.act(order());
        dialog.close();
        this.asked.memory = 0;
        this.soon(0);
      } catch (failure) {
        setText(problem, failure.message);
      }
      go.disabled = false;
    }}, verb);
    const cancel = el("button", {type: "button", class: "cancel", autofocus: fields.length === 0, onclick: () => dialog.close()}, "Cancel");
    dialog.replaceChildren(el("h2", {id: "ask-title"}, title), el("p", {}, text), el("div", {class: "fields"}, fields), problem,
      el("div", {class: "controls"}, cancel, go));
    dialog.showModal();
  }
}

new Page().begin();
