// Asks the gateway. The token is kept in this tab's session storage, and only ever sent in the header Authorization.

const KEY = "troupe.token";

export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

export class Source {
  constructor(base = new URL(".", import.meta.url)) {
    this.base = base;
    this.mayAct = false;
  }
  get token() { return sessionStorage.getItem(KEY) ?? ""; }
  set token(value) {
    if (value) sessionStorage.setItem(KEY, value);
    else sessionStorage.removeItem(KEY);
  }

  async ask(path, options = {}) {
    let answer;
    try {
      answer = await fetch(new URL(path, this.base), {
        ...options, cache: "no-store", credentials: "omit", redirect: "error", signal: AbortSignal.timeout(8000),
        headers: {...options.headers, Authorization: `Bearer ${this.token}`}
      });
    } catch {
      throw new Refused(0, "The gateway does not answer. Is the program still running?");
    }
    if (path === "state") this.mayAct = answer.headers.get("Troupe-View-Act") === "1";
    const document = await answer.json().catch(() => null);
    if (!answer.ok) throw new Refused(answer.status, document?.error?.text ?? `status ${answer.status}`);
    if (document === null) throw new Refused(0, "The gateway's answer is no JSON");
    return document;
  }
  state() { return this.ask("state"); }
  memory() { return this.ask("memory"); }
  activity() { return this.ask("activity"); }
  link(node, number) { return this.ask(`links/${node}/${number}`); }
  act(order) {
    return this.ask("act", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(order)});
  }
}
