import { Centrifuge } from "./centrifuge.js";

const element = (id) => document.getElementById(id);
const name = new URLSearchParams(location.search).get("name") ?? "somebody";
element("name").textContent = name;

const client = new Centrifuge(await (await fetch("address")).json());
client.on("connecting", ({ reason }) => (element("status").textContent = `offline, ${reason}`));

const list = client.newMapSubscription("list:demo", { pageSize: 1_000 });
const entries = keep(list, showList);
list.on("subscribed", ({ recovered }) => {
  element("status").textContent = recovered ? "online, got what was missed" : "online";
});

const cursors = client.newMapSubscription("cursors:demo");
const positions = keep(cursors, showCursors);
let ownKey;
client.on("connected", ({ client: id }) => (ownKey = id));

element("add").addEventListener("submit", (event) => {
  event.preventDefault();
  const { text } = event.target.elements;
  const entry = { text: text.value, by: name, added: Date.now(), done: false };
  void change(list.publish(crypto.randomUUID(), entry));
  event.target.reset();
});

// A pointer moves more often than others can see: at most one position in 50 ms is sent, and the last one always.
let pointer;
document.addEventListener("pointermove", ({ pageX, pageY }) => {
  if (pointer === undefined) setTimeout(sendPointer, 50);
  pointer = { name, x: Math.round(pageX), y: Math.round(pageY) };
});

function sendPointer() {
  // The key is the connection's ID, whatever is named here: see client_key in wrangler.toml. A position that is lost
  // while the page is offline is worth nothing afterwards.
  if (cursors.state === "subscribed") cursors.publish("", pointer).catch(() => undefined);
  pointer = undefined;
}

list.subscribe();
cursors.subscribe();
client.connect();

/** Keeps the keys of a map and their values, and shows them after each change. */
function keep(subscription, show) {
  const values = new Map();
  // The whole map: at first, and if the page was away for too long.
  subscription.on("sync", ({ entries: all }) => {
    values.clear();
    for (const { key, data } of all) values.set(key, data);
    show();
  });
  subscription.on("update", ({ key, data, removed }) => {
    if (removed) values.delete(key);
    else values.set(key, data);
    show();
  });
  return values;
}

function showList() {
  const sorted = [...entries].sort(([, one], [, other]) => one.added - other.added);
  element("list").replaceChildren(...sorted.map(([key, entry]) => listItem(key, entry)));
}

function listItem(key, entry) {
  const item = document.createElement("li");
  const done = document.createElement("input");
  done.type = "checkbox";
  done.checked = entry.done;
  done.addEventListener("change", () =>
    change(list.publish(key, { ...entry, done: done.checked })),
  );
  const text = document.createElement("label");
  text.append(done, ` ${entry.text} (${entry.by}) `);
  const remove = document.createElement("button");
  remove.textContent = "Remove";
  remove.addEventListener("click", () => change(list.remove(key)));
  item.append(text, remove);
  return item;
}

function showCursors() {
  const others = [...positions].filter(([key]) => key !== ownKey);
  element("cursors").replaceChildren(
    ...others.map(([, { name: whose, x, y }]) => {
      const cursor = document.createElement("div");
      cursor.className = "cursor";
      cursor.textContent = `➤ ${whose}`;
      cursor.style.transform = `translate(${x}px, ${y}px)`;
      return cursor;
    }),
  );
}

/** Says if a change wasn't made, and shows the list as it is. */
async function change(made) {
  try {
    await made;
  } catch (error) {
    element("status").textContent = `not changed: ${error.message}`;
    showList();
  }
}
