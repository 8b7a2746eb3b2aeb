// A client of Troupe's gateway for browsers and Node. It needs nothing else.
//
//     const kitchen = new Client("http://127.0.0.1:8080", token);
//     console.log(await kitchen.ask("cup", [atom("stir"), value("kitchen.spoon", {metal: "tin"})]));
//
// Each call that fails rejects with a `Refused`. Calls end `graceMs` after the time that the gateway has for an answer,
// so that its own refusal (504) comes first. `fetch` keeps connections and dials again if one has ended. This client
// repeats nothing by itself: if a call fails with `link_down` or `timed_out`, its message may have arrived.

/// The gateway or the actor has refused: `status`, `code`, and the text as the message. The status is 0 on a WebSocket,
/// and if this client has found the failure: `link_down` (no connection), `timed_out` or `malformed` (no gateway).
export class Refused extends Error {
  constructor(status, error, otherwise = "refused") {
    super(error?.text ?? otherwise);
    this.status = status;
    this.code = error?.code ?? "";
  }
}

export const value = (type, content) => ({type, value: content});
export const atom = (text) => ({atom: text});
const message = (values) => (values.length === 1 ? values[0] : values);
const refuse = () => {
  throw new Error("this client answers no requests");
};

const malformed = (what) =>
  new Refused(0, {code: "malformed", text: `this is no text of a gateway: ${String(what).slice(0, 200)}`});

/// The fields that the gateway sends are in an object.
const parsed = (text) => {
  let made;
  try {
    made = JSON.parse(text);
  } catch {
    // Handled below.
  }
  if (typeof made !== "object" || made === null) throw malformed(text);
  return made;
};

const content = (of) => {
  const found = of?.value !== undefined ? of.value : of?.atom;
  if (found === undefined) throw malformed(JSON.stringify(of));
  return found;
};
const contents = (answer) => (Array.isArray(answer) ? answer.map(content) : content(answer));

export class Client {
  /// `timeoutMs` is for requests that no actor answers, and for opening WebSockets.
  constructor(url, token, {timeoutMs = 30000, graceMs = 5000} = {}) {
    this.url = url.replace(/\/$/, "");
    this.token = token;
    this.timeoutMs = timeoutMs;
    this.graceMs = graceMs;
  }

  /// Returns the bytes of the answer.
  async request(method, path, body, headers = {}, timeoutMs = this.timeoutMs) {
    let answer, bytes;
    try {
      answer = await fetch(this.url + path, {
        method,
        body,
        headers: {Authorization: "Bearer " + this.token, ...headers},
        signal: AbortSignal.timeout(timeoutMs),
      });
      bytes = new Uint8Array(await answer.arrayBuffer());
    } catch (problem) {
      const code = problem.name === "TimeoutError" ? "timed_out" : "link_down";
      throw new Refused(0, {code, text: `${problem.message} ${problem.cause?.message ?? ""}`.trim()});
    }
    if (answer.ok) return bytes;
    const text = new TextDecoder().decode(bytes);
    let said = {};
    try {
      said = parsed(text);
    } catch {
      // Something before the gateway has answered.
    }
    throw new Refused(answer.status, said.error, `status ${answer.status}: ${text.slice(0, 200)}`);
  }

  async requestJson(...request) {
    return parsed(new TextDecoder().decode(await this.request(...request)));
  }

  /// Sends a request to an exposed actor and returns the content of its answer.
  async ask(actor, values, {timeoutMs = 30000} = {}) {
    const headers = {"Content-Type": "application/json", "Troupe-Timeout-Ms": String(timeoutMs)};
    const body = JSON.stringify(message(values));
    return contents(await this.requestJson("POST", "/actors/" + actor, body, headers, timeoutMs + this.graceMs));
  }

  async schema() {
    return this.requestJson("GET", "/schema");
  }

  /// The bytes of an object, or those from `first` to `last`.
  async read(id, first, last) {
    const headers = first === undefined && last === undefined ? {} : {Range: `bytes=${first ?? 0}-${last ?? ""}`};
    return this.request("GET", "/objects/" + id, undefined, headers);
  }

  /// Makes an object of these bytes and returns its id.
  async make(bytes) {
    const made = await this.requestJson("PUT", "/objects", bytes);
    if (made.id === undefined) throw malformed(JSON.stringify(made));
    return made.id;
  }

  async delete(id) {
    await this.request("DELETE", "/objects/" + id);
  }

  /// Opens a WebSocket to an exposed actor. `onMessage` gets the content of what actors send to this client. `onRequest`
  /// gets the content of their requests, and returns a value, a list of values, or a promise of them; if it throws, the
  /// actor gets the text. `onRefused` gets the refusals of what was told. The token goes in the subprotocol, because
  /// browsers set no headers, and URLs get into logs. If the gateway refuses the WebSocket, browsers and Node tell
  /// nobody why; `ask` does. They answer the gateway's pings themselves. They have no bound for a text either.
  socket(actor, {onMessage = () => {}, onRequest = refuse, onRefused = console.error, Socket = globalThis.WebSocket} = {}) {
    const url = this.url.replace(/^http/, "ws") + "/actors/" + actor;
    const stream = new Socket(url, ["troupe.1", "troupe.token." + this.token]);
    return new Promise((resolve, reject) => {
      const fail = (code, text) => reject(new Refused(0, {code, text}));
      const limit = setTimeout(() => {
        fail("timed_out", `no WebSocket to ${actor} within ${this.timeoutMs} ms`);
        stream.close();
      }, this.timeoutMs);
      stream.onopen = () => {
        clearTimeout(limit);
        resolve(new Conversation(stream, this.graceMs, {onMessage, onRequest, onRefused}));
      };
      stream.onerror = stream.onclose = () => {
        clearTimeout(limit);
        fail("link_down", "the gateway does not open a WebSocket to " + actor);
      };
    });
  }
}

class Conversation {
  constructor(stream, graceMs, {onMessage, onRequest, onRefused}) {
    this.stream = stream;
    this.graceMs = graceMs;
    this.lastId = 0;
    this.waiting = new Map();
    stream.onmessage = ({data}) => {
      let told;
      try {
        told = this.take(parsed(data), onRequest);
      } catch (problem) {
        this.end(problem);
        stream.close();
        return;
      }
      if (told instanceof Refused) onRefused(told);
      else if (told !== undefined) onMessage(told);
    };
    stream.onerror = () => {};
    stream.onclose = ({reason}) => this.end(new Refused(0, {code: "link_down", text: reason || "the WebSocket is closed"}));
  }

  /// The content of a message for this client, or a refusal of what it has told; else undefined.
  take(word, onRequest) {
    if (word.request !== undefined) {
      this.answer(word.request, contents(word.message), onRequest);
    } else if (word.id !== undefined) {
      const {resolve, reject} = this.waiting.get(word.id) ?? {};
      if (word.error) reject?.(new Refused(0, word.error));
      else resolve?.(contents(word.answer));
    } else if (word.message !== undefined) {
      return contents(word.message);
    } else if (word.error !== undefined) {
      return new Refused(0, word.error);
    } else {
      throw malformed(JSON.stringify(word));
    }
    return undefined;
  }

  async answer(request, question, onRequest) {
    let said;
    try {
      const given = await onRequest(question);
      said = {message: Array.isArray(given) ? message(given) : given};
    } catch (problem) {
      said = {error: String(problem?.message ?? problem)};
    }
    if (this.stream.readyState === 1) this.stream.send(JSON.stringify({answer: request, ...said}));
  }

  end(why) {
    for (const {reject} of this.waiting.values()) reject(why);
  }

  send(word) {
    if (this.stream.readyState !== 1) throw new Refused(0, {code: "link_down", text: "the WebSocket is closed"});
    this.stream.send(JSON.stringify(word));
  }

  async ask(values, {timeoutMs = 30000} = {}) {
    const id = ++this.lastId;
    this.send({id, timeout_ms: timeoutMs, message: message(values)});
    const longest = timeoutMs + this.graceMs;
    let limit;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, {resolve, reject});
      const late = () => reject(new Refused(0, {code: "timed_out", text: `no answer within ${longest} ms`}));
      limit = setTimeout(late, longest);
    }).finally(() => {
      clearTimeout(limit);
      this.waiting.delete(id);
    });
  }

  /// Sends a message without an answer. Throws if the WebSocket is closed.
  tell(values) {
    this.send({message: message(values)});
  }

  close() {
    this.stream.close();
  }
}
