import { Centrifuge } from "./centrifuge.js";

const element = (id) => document.getElementById(id);
const { user, address } = await (await fetch("me")).json();

if (user === undefined) {
  element("login").hidden = false;
  onSubmit("login", async ({ name }) => {
    await post("login", { name });
    location.reload();
  });
} else {
  element("chat").hidden = false;
  element("user").textContent = user;
  chat();
}

function chat() {
  // The browser sends the cookie with the handshake, because both servers are on the same site.
  const client = new Centrifuge(address);
  client.on("disconnected", ({ reason }) => show(`disconnected: ${reason}`));

  const people = client.newSubscription("people:online");
  people.on("publication", ({ data }) => (element("online").textContent = data.users.join(", ")));
  people.subscribe();

  let room;
  function enter(name) {
    if (room !== undefined) client.removeSubscription(room);
    element("log").replaceChildren();
    room = client.newSubscription(`room:${name}`);
    room.on("subscribed", () => show(`You are in the ${name}.`));
    room.on("publication", ({ data }) => show(`${data.by}: ${data.text}`));
    room.on("unsubscribed", ({ code, reason }) => code !== 0 && show(`${name}: ${reason}`));
    room.subscribe();
  }
  for (const button of document.querySelectorAll(".room"))
    button.addEventListener("click", () => enter(button.textContent));
  enter("lobby");

  onSubmit("message", ({ text }) => client.publish(room.channel, { text }));
  onSubmit("invite", async ({ user: guest }) => {
    const data = { user: guest, room: room.channel.slice("room:".length) };
    const reply = await client.rpc("invite", data);
    show(`${reply.data.invited} is invited.`);
  });
  element("logout").addEventListener("click", async () => {
    await post("logout", {});
    location.reload();
  });
  client.connect();
}

/** Calls the function with the fields of a form, and shows what it throws. */
function onSubmit(id, submit) {
  const form = element(id);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await submit(Object.fromEntries(new FormData(form)));
      form.reset();
    } catch (error) {
      show(error.message);
    }
  });
}

/** Adds a line to the log, as text and not as HTML. */
function show(line) {
  const paragraph = document.createElement("p");
  paragraph.textContent = line;
  element("log").append(paragraph);
}

async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
}
