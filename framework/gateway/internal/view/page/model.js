// What the page knows: the nodes, their links joined to edges, rates, and ten minutes of history. Pure: no document, no
// network, no clock of its own.

export const HISTORY_SECONDS = 600;
export const LOST_SECONDS = 60;

// Numbers and times as text.

export function count(value) {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

function scaled(value, units, base = 1000) {
  let unit = 0;
  while (Math.abs(value) >= base - 0.5 && unit + 1 < units.length) {
    value /= base;
    unit += 1;
  }
  const digits = unit === 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`.trim();
}

/// "1.20 MB": three digits and a unit, in powers of 1,000, as `troupe links` writes it.
export const bytes = value => scaled(value, ["B", "kB", "MB", "GB", "TB"]);
export const byteRate = value => `${bytes(value)}/s`;
/// "12.3 k": three digits.
export const short = value => value < 10 && value % 1 !== 0 ? value.toFixed(1) : scaled(value, ["", "k", "M", "G"]);

export function nanoseconds(value) {
  if (value < 0) return "-";
  return scaled(value, ["ns", "us", "ms", "s"]);
}

export function age(ms) {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const parts = seconds < 3600 ? [[60, "min"], [1, "s"]] : seconds < 86400 ? [[3600, "h"], [60, "min"]] : [[86400, "d"], [3600, "h"]];
  const most = Math.floor(seconds / parts[0][0]), rest = Math.floor(seconds % parts[0][0] / parts[1][0]);
  return `${most} ${parts[0][1]}${rest > 0 ? ` ${rest} ${parts[1][1]}` : ""}`;
}

// Links.

/// A name for a node, also if it never answered.
export const nameOf = node => node.name || (node.process ? `process ${node.process}` : node.address || node.key);

/// A name for each node, by key. Of nodes that have the same name, it has the process, and if that does not tell them
/// apart, the address.
export function labelsOf(nodes) {
  const labels = new Map(nodes.map(node => [node.key, nameOf(node)]));
  const told = [node => `${nameOf(node)} (${node.process})`, node => `${nameOf(node)} (${node.process} at ${node.address || node.key})`];
  for (const better of told) {
    const many = new Map();
    for (const label of labels.values()) many.set(label, (many.get(label) ?? 0) + 1);
    for (const node of nodes) if (many.get(labels.get(node.key)) > 1 && node.process) labels.set(node.key, better(node));
  }
  return labels;
}

/// Whether a link has ended in order: closed by a program or an order, or with its node. Else it was lost.
export const isPlanned = ({reason, text}) => reason === "link_down" && /(this end|the peer) closed the link/.test(text);

/// The text as a sentence. A text that begins with a name keeps its first letter: withEnd().
export const withEnd = text => /[.!?]$/.test(text) ? text : `${text}.`;
export const sentence = text => withEnd(text.charAt(0).toUpperCase() + text.slice(1));

export const endKey = (node, number) => `${node}/${number}`;
export const wireBytes = stats => stats.socket_bytes_sent + stats.handle_bytes_sent;
export const wireBytesBack = stats => stats.socket_bytes_received + stats.handle_bytes_received;
/// As `troupe links` counts "not delivered".
export const notDelivered = stats =>
  stats.unserializable + stats.undecodable + stats.undelivered + stats.refused_at_bound + stats.dropped;

/// For how long the link has been open now; the figures of a silent node are old.
const ageOf = end => end.link.age_ms + (end.node.report_age_ms || (end.node.state === "silent" ? end.node.state_ms : 0));
/// Links of `troupe links` and of other views come and go.
const isOfCommand = edge => edge.first.link.peer.startsWith("troupe command ");

/// Both ends have said the same names, and one of them has dialed, so that a node which lies about a link's identity can
/// only hide its own links.
const namesOf = (dialer, acceptor, link) => [dialer, acceptor, link.transport === "shm" ? "unix" : link.transport];
const keyOf = ({node, link}, ...more) =>
  JSON.stringify([...(link.dialed ? namesOf(node.name, link.peer, link) : namesOf(link.peer, node.name, link)), ...more]);

/// Joins the two ends of each link: by the identity of the link, or, if an end is of a version that tells none, by the
/// names of both nodes and the time for which the link is open. Returns pairs of ends {node, link}; the second is null
/// if the peer is not among the nodes.
export function pairEnds(nodes) {
  const ends = nodes.filter(node => node.state !== "lost").flatMap(node => node.links.map(link => ({node, link})));
  const unpaired = new Set(ends);
  const pairs = [];
  const join = (dialed, accepted) => {
    unpaired.delete(dialed);
    unpaired.delete(accepted);
    pairs.push([dialed, accepted]);
  };
  const named = new Map(ends.filter(({link}) => link.link_id && !link.dialed).map(end => [keyOf(end, end.link.link_id), end]));
  for (const end of ends) {
    const other = end.link.link_id && end.link.dialed ? named.get(keyOf(end, end.link.link_id)) : null;
    if (other && unpaired.has(other)) join(end, other);
  }
  pairByAge(unpaired, join);
  for (const end of unpaired) pairs.push([end, null]);
  return pairs;
}

/// Joins ends of which at least one has no identity. Of several candidates, the end that has been open for the most
/// similar time is taken.
function pairByAge(unpaired, join) {
  const accepted = new Map(); // By the names of both nodes.
  for (const end of unpaired)
    if (!end.link.dialed) {
      const key = keyOf(end);
      if (!accepted.has(key)) accepted.set(key, []);
      accepted.get(key).push(end);
    }
  const candidates = [];
  for (const end of unpaired)
    for (const other of end.link.dialed ? accepted.get(keyOf(end)) ?? [] : [])
      if (!(end.link.link_id && other.link.link_id)) candidates.push({end, other, difference: Math.abs(ageOf(end) - ageOf(other))});
  candidates.sort((one, other) => one.difference - other.difference);
  for (const {end, other, difference} of candidates)
    if (difference < 5000 && unpaired.has(end) && unpaired.has(other)) join(end, other);
}

/// The family with the most bytes, of payloads in both directions; "none" if nothing has traveled.
export function mainFamily(shares) {
  let best = "none", most = 0;
  for (const share of shares) {
    const size = share.bytes_sent + share.bytes_received + share.payloads_sent + share.payloads_received;
    if (size > most) [best, most] = [share.family, size];
  }
  return best;
}

/// Times with values, for ten minutes. A value may be NaN: unknown at that time.
export class Series {
  constructor(seconds = HISTORY_SECONDS) {
    this.ms = seconds * 1000;
    this.times = [];
    this.values = [];
  }
  add(time, ...values) {
    this.times.push(time);
    this.values.push(values);
    let old = 0;
    while (this.times[old] < time - this.ms) old += 1;
    if (old > 32 || this.times.length > 2048) { // Not one by one, which would move everything each time.
      this.times.splice(0, old);
      this.values.splice(0, old);
    }
  }
  get end() { return this.times.at(-1) ?? 0; }
  /// The time that a chart shows: what there is, at least a minute.
  get shownMs() { return Math.min(this.ms, Math.max(60000, this.end - (this.times[0] ?? 0))); }
}

const perSecond = (now, before, seconds) => seconds > 0 && now >= before ? (now - before) / seconds : 0;

/// One link as the page shows it: what joins both ends, what it carries, and whether it is lost.
class Edge {
  constructor(id) {
    this.id = id;
    this.ends = [];
    this.title = "";
    this.lostAt = null;
    this.end = null; // Why it has ended, as one of its nodes remembers: {reason, text}.
    this.rate = {messages: 0, back: 0, bytes: 0, bytesBack: 0};
    this.history = new Series();
    this.family = "none";
  }
  get first() { return this.ends[0]; }
  get isClosed() { return this.lostAt !== null && this.end !== null && isPlanned(this.end); }
  get isLost() { return this.lostAt !== null && !this.isClosed; }
  get bytesPerSecond() { return this.rate.bytes + this.rate.bytesBack; }
  get messagesPerSecond() { return this.rate.messages + this.rate.back; }
}

/// What came of all states so far.
export class Model {
  constructor() { this.forget(); }

  forget() {
    this.state = null;
    this.nodes = new Map();
    this.labels = new Map(); // labelsOf()
    this.edges = new Map();
    this.byEnd = new Map(); // endKey -> Edge
    this.totals = new Series();
    this.stores = [];
    this.previous = new Map(); // endKey -> {stats, at}
  }

  /// Returns false if this is the state that was shown last. A state of another run of the program is compared with
  /// nothing that was known before.
  update(state) {
    if (this.state && state.run !== this.state.run) this.forget();
    if (this.state && state.at_ms === this.state.at_ms) return false;
    const isFirst = this.state === null;
    this.state = state;
    this.nodes = new Map(state.nodes.map(node => [node.key, node]));
    this.labels = labelsOf(state.nodes);
    this.updateEdges(state);
    this.updateTotals(state, !isFirst);
    return true;
  }
  labelOf(node) { return this.labels.get(node.key) ?? nameOf(node); }

  /// Notes why links have ended.
  explain(activity) {
    for (const edge of this.edges.values())
      for (const end of edge.lostAt !== null && edge.end === null ? edge.ends : [])
        edge.end ??= activity.nodes.find(node => node.key === end.node.key)?.lost_links.find(each => each.number === end.link.number) ?? null;
    this.countEnded();
  }
  /// Whether a link has ended a short time ago, and nobody has said why.
  get wondersWhy() {
    return [...this.edges.values()].some(edge => edge.lostAt !== null && edge.end === null && this.state.at_ms - edge.lostAt < 4000);
  }
  countEnded() {
    const ended = [...this.edges.values()].filter(edge => edge.lostAt !== null);
    this.now.lostLinks = ended.filter(edge => edge.isLost).length;
    this.now.closedLinks = ended.length - this.now.lostLinks;
  }

  updateEdges(state) {
    const seen = new Set();
    const previous = new Map();
    for (const pair of pairEnds(state.nodes)) {
      // The end that has dialed comes first, unless its figures are old.
      const ends = pair.filter(Boolean).sort((one, other) => (one.node.state === "open" ? 0 : 1) - (other.node.state === "open" ? 0 : 1));
      const keys = ends.map(end => endKey(end.node.key, end.link.number));
      let edge = keys.map(key => this.byEnd.get(key)).find(each => each && !seen.has(each));
      if (!edge) {
        edge = new Edge(keys[0]);
        this.edges.set(edge.id, edge);
      }
      seen.add(edge);
      edge.lostAt = null;
      edge.end = null;
      edge.ends = ends;
      edge.title = this.makeTitle(ends);
      for (const key of keys) this.byEnd.set(key, edge);
      const {stats, families} = ends[0].link;
      const before = this.previous.get(keys[0]);
      // Figures are as old as the node says. The same ones twice are no standstill, unless the node is silent.
      const at = state.at_ms - (ends[0].node.report_age_ms ?? 0), seconds = before ? (at - before.at) / 1000 : 0;
      const isRepeated = before && seconds < 0.1;
      if (!isRepeated || ends[0].node.state !== "open") edge.rate = before && !isRepeated ? {
        messages: perSecond(stats.messages_sent, before.stats.messages_sent, seconds),
        back: perSecond(stats.messages_received, before.stats.messages_received, seconds),
        bytes: perSecond(wireBytes(stats), wireBytes(before.stats), seconds),
        bytesBack: perSecond(wireBytesBack(stats), wireBytesBack(before.stats), seconds)
      } : {messages: 0, back: 0, bytes: 0, bytesBack: 0};
      edge.family = mainFamily(families);
      if (before && ends[0].node.state !== "open") edge.history.add(state.at_ms, NaN, NaN, NaN, NaN);
      else if (before && !isRepeated) edge.history.add(state.at_ms, edge.rate.bytes, edge.rate.bytesBack, edge.rate.messages, edge.rate.back);
      for (const end of ends) {
        const key = endKey(end.node.key, end.link.number), when = state.at_ms - (end.node.report_age_ms ?? 0), old = this.previous.get(key);
        previous.set(key, old && when - old.at < 100 ? old : {stats: end.link.stats, at: when});
      }
    }
    // A node that is silent keeps its last report, so that its links stay; those of an ended node are lost.
    this.previous = previous;
    for (const [id, edge] of this.edges) {
      if (seen.has(edge)) continue;
      if (edge.lostAt === null) {
        edge.lostAt = state.at_ms;
        edge.rate = {messages: 0, back: 0, bytes: 0, bytesBack: 0};
      }
      if (state.at_ms - edge.lostAt > LOST_SECONDS * 1000 || isOfCommand(edge)) {
        this.edges.delete(id);
        for (const [key, other] of this.byEnd) if (other === edge) this.byEnd.delete(key);
      }
    }
  }

  updateTotals(state, hasRates) {
    const open = state.nodes.filter(node => node.state !== "lost");
    let messages = 0, rate = 0, openLinks = 0;
    for (const edge of this.edges.values()) {
      if (edge.lostAt === null) openLinks += 1;
      messages += edge.messagesPerSecond;
      rate += edge.bytesPerSecond;
    }
    const stores = new Map();
    for (const node of open)
      if (node.store.name) {
        const known = stores.get(node.store.name);
        if (!known || known.bytes_in_use < node.store.bytes_in_use) stores.set(node.store.name, node.store);
      }
    this.stores = [...stores.values()];
    const used = this.stores.reduce((sum, store) => sum + store.bytes_in_use, 0);
    const capacity = this.stores.reduce((sum, store) => sum + store.capacity_bytes, 0);
    const undelivered = state.nodes.reduce((sum, node) => sum + notDelivered(node.totals), 0);
    const silent = state.nodes.filter(node => node.state === "silent").length;
    this.now = {nodes: open.length, silent, ended: state.nodes.length - open.length, openLinks, messages, bytes: rate, undelivered, used, capacity};
    // Since the first of the nodes that have counted began.
    this.now.undeliveredFor = Math.max(0, ...state.nodes.filter(node => notDelivered(node.totals) > 0).map(node => node.age_ms ?? 0));
    this.countEnded();
    if (hasRates) this.totals.add(state.at_ms, messages, rate, undelivered, capacity > 0 ? used / capacity : 0, openLinks, open.length);
  }

  /// Both ends by their labels, if the other one is known.
  makeTitle([{node, link}, other]) {
    const peer = other ? this.labelOf(other.node) : link.peer;
    return `${this.labelOf(node)} ${link.dialed ? "→" : "←"} ${peer}`;
  }
  static titleOf(edge) { return edge.title; }
}
