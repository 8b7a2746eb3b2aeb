// A client of Troupe's gateway for browsers and Node. It needs nothing else.
//
//     const kitchen = new Client("http://127.0.0.1:8080", token);
//     console.log(await kitchen.ask("cup", [atom("stir"), value("kitchen.spoon", {metal: "tin"})]));

/// The gateway or the actor has refused: `status` (0 on a WebSocket), `code`, and the text as the message.
export class Refused extends Error {
  constructor(status, error) {
    super(error?.text ?? "refused");
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
const contents = (answer) => (Array.isArray(answer) ? answer.map((each) => each.value) : answer.value);

export class Client {
  constructor(url, token) {
    this.url = url.replace(/\/$/, "");
    this.token = token;
  }

  async request(method, path, body, headers = {}) {
    const answer = await fetch(this.url + path, {
      method,
      body,
      headers: {Authorization: "Bearer " + this.token, ...headers},
    });
    if (answer.ok) return answer;
    throw new Refused(answer.status, (await answer.json().catch(() => ({}))).error);
  }

  /// Sends a request to an exposed actor and returns the content of its answer.
  async ask(actor, values, {timeoutMs} = {}) {
    const headers = {"Content-Type": "application/json"};
    if (timeoutMs !== undefined) headers["Troupe-Timeout-Ms"] = String(timeoutMs);
    const answer = await this.request("POST", "/actors/" + actor, JSON.stringify(message(values)), headers);
    return contents(await answer.json());
  }

  async schema() {
    return (await this.request("GET", "/schema")).json();
  }

  /// The bytes of an object, or those from `first` to `last`.
  async read(id, first, last) {
    const headers = first === undefined ? {} : {Range: `bytes=${first}-${last ?? ""}`};
    return new Uint8Array(await (await this.request("GET", "/objects/" + id, undefined, headers)).arrayBuffer());
  }

  /// Makes an object of these bytes and returns its id.
  async make(bytes) {
    return (await (await this.request("PUT", "/objects", bytes)).json()).id;
  }

  async delete(id) {
    await this.request("DELETE", "/objects/" + id);
  }

  /// Opens a WebSocket to an exposed actor. `onMessage` gets the content of what actors send to this client. `onRequest`
  /// gets the content of their requests, and returns a value, a list of values, or a promise of them; if it throws, the
  /// actor gets the text. The token goes in the subprotocol, because browsers set no headers, and URLs get into logs.
  socket(actor, {onMessage = () => {}, onRequest = refuse, Socket = globalThis.WebSocket} = {}) {
    const url = this.url.replace(/^http/, "ws") + "/actors/" + actor;
    const stream = new Socket(url, ["troupe.1", "troupe.token." + this.token]);
    return new Promise((resolve, reject) => {
      stream.onopen = () => resolve(new Conversation(stream, onMessage, onRequest));
      stream.onerror = () => reject(new Refused(0, {text: "the gateway does not open a WebSocket to " + actor}));
    });
  }
}

class Conversation {
  constructor(stream, onMessage, onRequest) {
    this.stream = stream;
    this.lastId = 0;
    this.waiting = new Map();
    stream.onmessage = ({data}) => {
      const word = JSON.parse(data);
      if (word.request !== undefined) {
        this.answer(word, onRequest);
        return;
      }
      if (word.id === undefined) {
        if (word.message !== undefined) onMessage(contents(word.message));
        return;
      }
      const {resolve, reject} = this.waiting.get(word.id) ?? {};
      this.waiting.delete(word.id);
      if (word.error) reject?.(new Refused(0, word.error));
      else resolve?.(contents(word.answer));
    };
    stream.onclose = ({reason}) => {
      for (const {reject} of this.waiting.values()) reject(new Refused(0, {code: "link_down", text: reason}));
      this.waiting.clear();
    };
  }

  async answer({request, message: question}, onRequest) {
    let said;
    try {
      const given = await onRequest(contents(question));
      said = {message: Array.isArray(given) ? message(given) : given};
    } catch (problem) {
      said = {error: String(problem?.message ?? problem)};
    }
    if (this.stream.readyState === 1) this.stream.send(JSON.stringify({answer: request, ...said}));
  }

  ask(values, {timeoutMs} = {}) {
    const id = ++this.lastId;
    this.stream.send(JSON.stringify({id, timeout_ms: timeoutMs, message: message(values)}));
    return new Promise((resolve, reject) => this.waiting.set(id, {resolve, reject}));
  }

  tell(values) {
    this.stream.send(JSON.stringify({message: message(values)}));
  }

  close() {
    this.stream.close();
  }
}
