import { Centrifuge } from "./centrifuge.js";
import { Room } from "./room.js";

const element = (id) => document.getElementById(id);
const user = new URLSearchParams(location.search).get("name") ?? "ann";
element("user").textContent = user;

/** What the backend says of the user: the token, the rooms, and Dormouse's address. */
async function session() {
  const response = await fetch(`session/${encodeURIComponent(user)}`);
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

try {
  const { address, rooms, token } = await session();
  const getToken = async () => (await session()).token;
  const client = new Centrifuge(address, { token, getToken });
  client.on("connected", () => (element("state").textContent = "online"));
  client.on("connecting", () => (element("state").textContent = "offline"));
  show(client, rooms);
  client.connect();
} catch (error) {
  element("state").textContent = error.message;
}

function show(client, names) {
  let open;
  const rooms = new Map();
  for (const name of names) {
    const button = element("room").content.cloneNode(true).firstElementChild;
    element("rooms").append(button);
    const room = new Room(client, name, user, () => showRoom(room, button));
    rooms.set(name, room);
    button.addEventListener("click", () => {
      if (open === room) return;
      open?.close();
      open = room;
      room.open();
    });
    showRoom(room, button);
  }
  element("message").addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = event.target;
    try {
      await open?.send(new FormData(form).get("text"));
      form.reset();
    } catch (error) {
      element("state").textContent = error.message;
    }
  });
  // What others have got isn't pushed: the open room asks for it.
  setInterval(() => open?.askForTicks(), 2_000);
}

/** Shows the badge of a room and, if it is open, its messages: as text and not as HTML. */
function showRoom(room, button) {
  button.dataset.room = room.name;
  button.ariaCurrent = String(room.isOpen);
  button.querySelector(".name").textContent = room.name;
  const badge = button.querySelector(".badge");
  badge.textContent = room.unread;
  badge.hidden = room.unread === 0;
  if (!room.isOpen) return;
  element("log").replaceChildren(...room.messages.map((message) => line(room, message)));
  element("message").hidden = false;
}

function line(room, message) {
  const paragraph = document.createElement("p");
  paragraph.textContent = `${message.by}: ${message.text} `;
  const tick = room.tickOf(message);
  if (tick === "") return paragraph;
  const ticks = document.createElement("span");
  ticks.className = `ticks ${tick}`;
  const readers = tick === "read" ? [] : room.readersOf(message);
  const seen = readers.length === 0 ? "" : `, seen by ${readers.toSorted().join(" and ")}`;
  ticks.textContent = `${tick === "sent" ? "✓" : "✓✓"} ${tick}${seen}`;
  paragraph.append(ticks);
  return paragraph;
}
