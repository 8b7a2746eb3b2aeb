// Visits the sample kitchen: node visit.mjs URL TOKEN
import {Client, atom, value} from "./troupe_client.mjs";

const kitchen = new Client(process.argv[2], process.argv[3]);
console.log(await kitchen.ask("cup", [atom("stir"), value("kitchen.spoon", {metal: "silver", turns: 3})]));
await kitchen.ask("cup", [atom("stir"), value("kitchen.spoon", {metal: ""})]).catch((refused) => {
  console.log(`${refused.status}: ${refused.code}: ${refused.message}`);
});

if (globalThis.WebSocket) {
  const cup = await kitchen.socket("cup");
  console.log(await cup.ask([atom("stir"), value("kitchen.spoon", {metal: "tin"})]));
  cup.close();
  const heard = [];
  await new Promise(async (done) => {
    const onMessage = (sound) => {
      if (heard.push(sound) === 3) done(bell.close());
    };
    const bell = await kitchen.socket("bell", {onMessage});
    bell.tell([atom("ring")]);
  });
  console.log(heard.join(", "));
  const onRequest = (question) => {
    console.log(question);
    return value("str", "lemon");
  };
  const waiter = await kitchen.socket("waiter", {onRequest});
  console.log(await waiter.ask([atom("tea")]));
  waiter.close();
} else {
  console.log("this Node has no WebSocket: start it with --experimental-websocket, or use version 22");
}

const table = await kitchen.read("degrees");
console.log(new Float64Array(table.buffer.slice(128)).join(" "));
const note = await kitchen.make(new TextEncoder().encode("tea at five"));
console.log(new TextDecoder().decode(await kitchen.read(note, 7)));
await kitchen.delete(note);
