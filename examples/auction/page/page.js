import { Centrifuge } from "./centrifuge.js";

const element = (id) => document.getElementById(id);
const name = new URLSearchParams(location.search).get("name") ?? "somebody";
element("name").textContent = name;

const channel = "auction:7";
const { address, token } = await (await fetch(`connection?name=${name}`)).json();
const client = new Centrifuge(address, { token });
const auction = client.newMapSubscription(channel);
const keys = new Map();

client.on("connecting", ({ reason }) => (element("status").textContent = `offline, ${reason}`));
auction.on("subscribed", () => (element("status").textContent = "online"));
// The keys that the code sets: all of them at first, and each change afterwards, also what was missed while offline.
auction.on("sync", ({ entries }) => {
  keys.clear();
  for (const { key, data } of entries) keys.set(key, data);
  show();
});
auction.on("update", ({ key, data, removed }) => {
  if (removed) keys.delete(key);
  else keys.set(key, data);
  show();
});

element("bid").addEventListener("submit", async (event) => {
  event.preventDefault();
  const amount = event.target.elements.amount.valueAsNumber;
  element("answer").textContent = "…";
  element("answer").textContent = await answerTo(amount);
});

/** What became of a bid: the code decides, and its reason is what the player reads. */
async function answerTo(amount) {
  // The same key in a second try: a bid whose answer was lost counts once, and is answered again.
  const call = {
    channel,
    procedure: "bid",
    args: { amount },
    idempotency_key: crypto.randomUUID(),
  };
  for (;;) {
    try {
      await client.ready();
      await client.rpc("dormouse.call", call);
      return `Your bid of ${amount} is the best one.`;
    } catch (error) {
      // Codes from 1000 on are the code's own: the bid was judged.
      if (error.code >= 1000) return `Your bid of ${amount} was rejected: ${error.message}.`;
      if (!mayBeLost(error)) return `Your bid of ${amount} wasn't made: ${error.message}.`;
      await new Promise((done) => setTimeout(done, 500));
    }
  }
}

/** Whether a second try may help: the connection was lost (codes of the client), or the server says so. */
function mayBeLost({ code, temporary }) {
  return temporary === true || code < 100;
}

function show() {
  const [lot, best, sold] = ["lot", "best", "sold"].map((key) => keys.get(key));
  element("state").textContent =
    sold !== undefined
      ? sold.by === undefined
        ? "Nobody has bid."
        : `Sold to ${sold.by} for ${sold.amount}.`
      : lot === undefined
        ? "The auction isn't open yet."
        : best === undefined
          ? `Bids begin at ${lot.from}.`
          : `${best.by} bids ${best.amount}.`;
}

setInterval(() => {
  const { endsAtMs } = keys.get("lot") ?? {};
  const isOn = endsAtMs !== undefined && !keys.has("sold");
  const seconds = Math.max(0, Math.round((endsAtMs - Date.now()) / 1_000));
  element("clock").textContent = isOn ? `It ends in ${seconds} s, unless somebody bids.` : "";
}, 500);

auction.subscribe();
client.connect();
