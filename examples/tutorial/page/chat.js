import { Centrifuge, UnauthorizedError } from "centrifuge";

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
  const messages = new Map();

  function add(publications) {
    // The offset is the number of a message in its room, so a message that comes twice is still one.
    for (const { offset, data } of publications) messages.set(offset, data);
    const inOrder = [...messages].sort(([one], [other]) => one - other);
    show.messages(inOrder.map(([, message]) => message));
  }

  async function showPresent() {
    const { clients } = await subscription.presence();
    const names = Object.values(clients).map(({ connInfo }) => connInfo.name);
    show.present([...new Set(names)].sort((one, other) => one.localeCompare(other)));
  }

  async function showHistory() {
    messages.clear();
    const { publications } = await subscription.history({ limit: 50, reverse: true });
    add(publications);
  }

  subscription.on("publication", (publication) => add([publication]));
  subscription.on("join", () => showPresent().catch(warn));
  subscription.on("leave", () => showPresent().catch(warn));
  subscription.on("unsubscribed", ({ reason }) => show.problem(reason));
  subscription.on("subscribed", ({ recovered }) => {
    showPresent().catch(warn);
    // When a lost connection is back, the missed messages come as publications, unless there were too many.
    if (!recovered) showHistory().catch(warn);
  });
  subscription.subscribe();
  return subscription;
}

/** Sends a message by the backend, which decides who may write. */
export async function send(room, text, ask) {
  const response = await ask(`/messages/${room}`, {
    method: "POST",
    body: JSON.stringify({ text }),
  });
  if (!response.ok) throw new Error(`The message was answered with status ${response.status}.`);
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
