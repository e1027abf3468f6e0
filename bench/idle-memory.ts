import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Prints how much memory an idle connection takes in a process that runs already, by its resident memory before and after:
 * `node bench/idle-memory.ts PID URL [COUNT]`. A URL with `/app/` speaks the Pusher protocol, any other the Centrifugo protocol.
 */
const [pid = "", url = "", count = "4000"] = process.argv.slice(2);
const isPusher = url.includes("/app/");
const channel = "bench";
const subscribe = isPusher
  ? [JSON.stringify({ event: "pusher:subscribe", data: { channel } })]
  : [JSON.stringify({ id: 1, connect: {} }), JSON.stringify({ id: 2, subscribe: { channel } })];
const answer = isPusher ? "subscription_succeeded" : '"id":2';

/** Opens a connection, and awaits its subscription. */
async function open(): Promise<WebSocket> {
  const socket = new WebSocket(isPusher ? `${url}?protocol=7` : url);
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  socket.addEventListener("open", () => {
    for (const frame of subscribe) socket.send(frame);
  });
  socket.addEventListener("message", ({ data }) => {
    const text = String(data);
    if (text.includes(answer) && !text.includes('"error"')) resolve(socket);
  });
  socket.addEventListener("close", ({ code }) => reject(new Error(`closed with ${code}`)));
  return promise;
}

async function openAll(sockets: number): Promise<readonly WebSocket[]> {
  const all: WebSocket[] = [];
  while (all.length < sockets)
    all.push(...(await Promise.all(Array.from({ length: 50 }, () => open()))));
  return all;
}

function residentBytes(): number {
  const [, pages = "0"] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
  return Number(pages) * 4_096;
}

// By then most code is compiled, and tables seldom double their size.
const first = await openAll(Number(count) / 4);
await sleep(5_000);
const before = residentBytes();
const measured = await openAll(Number(count));
await sleep(5_000);
const bytes = Math.round((residentBytes() - before) / measured.length);
console.log(`${bytes} bytes for each of ${measured.length} connections`);
for (const socket of [...first, ...measured]) socket.close();
process.exit();
