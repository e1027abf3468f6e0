import { Centrifuge, UnauthorizedError } from "centrifuge";
import { Messages } from "./messages.js";

/**
 * Connects the user who is logged in. The client asks the backend for a token now, and again before each token ends.
 *
 * @param {typeof fetch} ask sends a request to the backend, with the session's cookie
 */
export function connect(ask, address = "ws://localhost:8787/connection/websocket") {
  const client = new Centrifuge(address, { getToken: () => tokenOf(ask, "/token") });
  client.connect();
  return client;
}

/**
 * Enters a room.
 *
 * @param show has three functions: `messages` takes all messages, `present` the names of who is there, and `problem`
 *   the reason why the user isn't let in
 */
export function enterRoom(client, room, ask, show) {
  const subscription = client.newSubscription(`$room:${room}`, {
    getToken: () => tokenOf(ask, `/token/${room}`),
  });
  let messages = new Messages();
  // What comes while the history is read; undefined while it isn't.
  let waiting;

  async function showPresent() {
    const { clients } = await subscription.presence();
    const names = Object.values(clients).map(({ connInfo }) => connInfo.name);
    show.present([...new Set(names)].sort((one, other) => one.localeCompare(other)));
  }

  async function showHistory() {
    waiting = [];
    const { publications } = await subscription.history({ limit: 100, reverse: true });
    messages = new Messages();
    for (const publication of [...publications.toReversed(), ...waiting])
      messages.take(publication);
    waiting = undefined;
    show.messages(messages.all);
  }

  subscription.on("publication", (publication) => {
    if (waiting !== undefined) {
      waiting.push(publication);
      return;
    }
    messages.take(publication);
    show.messages(messages.all);
  });
  subscription.on("join", () => showPresent().catch(warn));
  subscription.on("leave", () => showPresent().catch(warn));
  subscription.on("unsubscribed", ({ reason }) => show.problem(reason));
  subscription.on("subscribed", ({ recovered }) => {
    showPresent().catch(warn);
    // When a lost connection is back, the missed messages come as publications, unless there were too many.
    if (!recovered || waiting !== undefined) showHistory().catch(warn);
  });
  subscription.subscribe();
  return subscription;
}

/** Sends a message to a room, by the connection of the page. */
export async function send(subscription, text) {
  await subscription.publish({ text });
}

/** Gives a message another text. Dormouse lets the user who has written it, and moderators. */
export function edit(client, { channel }, { offset, version }, text) {
  return change(client, "dormouse.update", {
    channel,
    offset,
    if_version: version,
    data: { text },
  });
}

/** Deletes a message likewise. */
export function remove(client, { channel }, { offset, version }) {
  return change(client, "dormouse.delete", { channel, offset, if_version: version });
}

/** A message that was changed since the page has shown it stays as it is, because its version is another one. */
async function change(client, method, request) {
  const { data } = await client.rpc(method, request);
  if (data.suppressed) throw new Error(`Nothing was changed: ${data.suppress_reason}.`);
}

/** Has the backend say something in a room. */
export async function notify(room, text, ask) {
  const body = JSON.stringify({ text });
  const response = await ask(`/notices/${room}`, { method: "POST", body });
  if (!response.ok) throw new Error(`The notice was answered with status ${response.status}.`);
}

/** The headers of a request with JSON. Django and Laravel give the page a token against forged requests in a cookie. */
export function headersFor(cookies) {
  const [, token = ""] = /(?:^|; )XSRF-TOKEN=([^;]*)/.exec(cookies) ?? [];
  return { "Content-Type": "application/json", "X-XSRF-TOKEN": decodeURIComponent(token) };
}

/** If the connection is lost before the answer, the room is "subscribed" again later, and asks again. */
function warn({ message }) {
  console.warn(`Dormouse has not answered: ${message}`);
}

async function tokenOf(ask, path) {
  const response = await ask(path);
  // After this error the client doesn't ask again, as it does after any other.
  if (response.status === 403) throw new UnauthorizedError("the backend gives no token");
  if (!response.ok) throw new Error(`${path} was answered with status ${response.status}`);
  return (await response.json()).token;
}
