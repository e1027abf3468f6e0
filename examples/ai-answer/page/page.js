import { Centrifuge } from "./centrifuge.js";

const element = (id) => document.getElementById(id);

// The chat's ID is random: whoever has this page's address has the chat.
const address = new URL(location.href);
const chat = address.searchParams.get("chat") ?? crypto.randomUUID();
address.searchParams.set("chat", chat);
history.replaceState(null, "", address);

const client = new Centrifuge(await (await fetch("address")).json());
client.on("connecting", ({ reason }) => (element("status").textContent = `offline, ${reason}`));

// With deltas each piece of an answer comes as soon as it is written; without them the whole answer comes anew, a few
// times a second.
const turns = client.newMapSubscription(`chat:${chat}`, { delta: "fossil", pageSize: 1_000 });
const values = new Map();
turns.on("subscribed", () => (element("status").textContent = "online"));
turns.on("sync", ({ entries }) => {
  values.clear();
  for (const { key, data } of entries) values.set(key, data);
  show();
});
turns.on("update", ({ key, data, removed }) => {
  if (removed) values.delete(key);
  else values.set(key, data);
  show();
});
turns.subscribe();
client.connect();

element("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const question = element("ask").elements.question.value;
  if (await call("ask", { id: crypto.randomUUID(), question })) element("ask").reset();
});
element("ask").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  element("ask").requestSubmit();
});

/** Calls a method of the application. The same call may be repeated: the ID sees to it that it is done once. */
async function call(method, data) {
  element("problem").textContent = "";
  for (let tries = 1; ; tries++) {
    try {
      await client.rpc(method, { chat, ...data });
      return true;
    } catch (error) {
      // Codes below 100 are the client's own: the connection was lost, or no reply came in time.
      const isTemporary = error.temporary || error.code < 100;
      if (isTemporary && tries < 5) {
        await new Promise((resolve) => setTimeout(resolve, tries * 500));
        continue;
      }
      element("problem").textContent = error.message;
      return false;
    }
  }
}

/** Shows the questions and their answers, and keeps what is shown of one as it changes. */
function show() {
  const sorted = [...values].filter(([key]) => !key.endsWith("/text"));
  sorted.sort(([, one], [, other]) => one.asked - other.asked);
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
  const shown = sorted.map(([id, { question, status }]) => {
    const article = element(id) ?? newTurn(id);
    article.className = status;
    setText(article, "h2", question);
    setText(article, ".answer", values.get(`${id}/text`) ?? "");
    setText(article, ".status", notes[status] ?? status);
    article.querySelector("button").hidden = status !== "writing";
    return article;
  });
  if (element("turns").children.length !== shown.length || shown.some((one) => !one.isConnected))
    element("turns").replaceChildren(...shown);
  if (isAtEnd) scrollTo({ top: document.documentElement.scrollHeight });
}

const notes = {
  writing: "The answer is being written.",
  complete: "",
  cancelled: "It was stopped here.",
  failed: "The model has failed here.",
};

function newTurn(id) {
  const article = document.createElement("article");
  article.id = id;
  const footer = `<footer><span class="status"></span><button>Stop</button></footer>`;
  article.innerHTML = `<h2></h2><p class="answer"></p>${footer}`;
  article.querySelector("button").addEventListener("click", () => void call("cancel", { id }));
  return article;
}

/** As text and not as HTML. */
function setText(article, selector, text) {
  const node = article.querySelector(selector);
  if (node.textContent !== text) node.textContent = text;
}
