import { Centrifuge } from "./centrifuge.js";
import { edit, enterRoom, remove } from "./room.js";

const element = (id) => document.getElementById(id);
const { user, isModerator, address } = await (await fetch("me")).json();

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
    element("messages").replaceChildren();
    room = enterRoom(client, name, showMessages);
    room.on("subscribed", () => show(`You are in the ${name}.`));
    room.on("unsubscribed", ({ code, reason }) => code !== 0 && show(`${name}: ${reason}`));
  }

  function showMessages(messages) {
    element("messages").replaceChildren(...messages.map(lineOf));
  }

  /** A message, with buttons for its writer and for moderators. */
  function lineOf(message) {
    const { by, text, version, editor } = message;
    const line = document.createElement("li");
    const edited = version === 1 ? "" : ` (edited${editor === by ? "" : ` by ${editor}`})`;
    line.append(`${by}: ${text}${edited} `);
    if (by === user || isModerator) {
      line.append(
        button("Edit", async () => {
          const wanted = prompt("The message", text);
          if (wanted !== null) await edit(client, room, message, wanted);
        }),
        button("Delete", () => remove(client, room, message)),
      );
    }
    return line;
  }

  for (const door of document.querySelectorAll(".room"))
    door.addEventListener("click", () => enter(door.textContent));
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

/** A button that shows what its function throws. */
function button(text, act) {
  const made = document.createElement("button");
  made.textContent = text;
  made.addEventListener("click", async () => {
    try {
      await act();
    } catch (error) {
      show(error.message);
    }
  });
  return made;
}

/** Shows what has happened, as text and not as HTML. */
function show(line) {
  element("status").textContent = line;
}

async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
}
