import { request, type IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { apiKey } from "../systems/dormouse-wire.ts";
import type { Endpoint } from "../systems/server.ts";
import { callersWithTokens } from "./caller-tokens.ts";

/**
 * The 50 connections of one user: 40 WebSockets on gateways, five on each of two channels' own objects, of which one is
 * an HTTP stream. All are subscribed to one of the two channels.
 */
export class UserConnections {
  readonly #endpoint: Endpoint;
  readonly #connections: readonly UserConnection[];

  private constructor(endpoint: Endpoint, connections: readonly UserConnection[]) {
    this.#endpoint = endpoint;
    this.#connections = connections;
  }

  /** Resolves when all connections are subscribed. */
  static async open(endpoint: Endpoint): Promise<UserConnections> {
    const { host, port } = endpoint;
    const address = `${host}:${port}`;
    const [caller] = callersWithTokens("", 1);
    const token = caller?.token ?? "";
    const connections: UserConnection[] = [];
    for (let index = 0; index < gatewaySockets; index++) {
      const channel = channels[index % channels.length] ?? "";
      const path = "/connection/websocket";
      connections.push(await openSocket(`ws://${address}${path}`, token, channel));
    }
    for (const channel of channels) {
      const path = `/channel/${channel}/websocket`;
      for (let index = channel === streamed ? 1 : 0; index < ownSockets; index++)
        connections.push(await openSocket(`ws://${address}${path}`, token, channel));
    }
    connections.push(await openStream(endpoint, token, streamed));
    return new UserConnections(endpoint, connections);
  }

  /** Publishes to both channels by one request. @returns ms until the last connection has received it */
  async publish(): Promise<number> {
    const beganMs = performance.now();
    const commands = channels.map((channel) => ({ publish: { channel, data: mark } }));
    const received = Promise.all(this.#connections.map((one) => one.received));
    await post(this.#endpoint, "batch", { commands, parallel: true });
    const times = await received;
    return Math.max(...times) - beganMs;
  }

  /** Disconnects the user. @returns ms until the order is acknowledged, and until the last connection is closed */
  async disconnect(): Promise<{ readonly answered: number; readonly closed: number }> {
    const beganMs = performance.now();
    const closed = Promise.all(this.#connections.map((one) => one.closed));
    await post(this.#endpoint, "disconnect", { user });
    const answeredMs = performance.now();
    const times = await closed;
    return { answered: answeredMs - beganMs, closed: Math.max(...times) - beganMs };
  }
}

/** One connection, with the times of two events by `performance.now()`. */
interface UserConnection {
  readonly received: Promise<number>;
  readonly closed: Promise<number>;
}

async function openSocket(
  address: string,
  token: string,
  channel: string,
): Promise<UserConnection> {
  const socket = new WebSocket(address, { perMessageDeflate: false });
  const subscribed = Promise.withResolvers<void>();
  const received = Promise.withResolvers<number>();
  const closed = Promise.withResolvers<number>();
  socket.once("open", () => {
    const connect = JSON.stringify({ id: 1, connect: { token } });
    socket.send(`${connect}\n${JSON.stringify({ id: 2, subscribe: { channel } })}`);
  });
  socket.on("message", (frame: Buffer) => {
    const text = frame.toString();
    if (text.includes(`"subscribe":{`)) subscribed.resolve();
    if (text.includes(mark)) received.resolve(performance.now());
  });
  socket.once("error", (error) => subscribed.reject(error));
  socket.once("close", (code) => {
    closed.resolve(performance.now());
    subscribed.reject(new Error(`a socket of the user was closed with ${code}`));
  });
  await subscribed.promise;
  return { received: received.promise, closed: closed.promise };
}

/** A unidirectional HTTP stream on a channel's own object. */
async function openStream(
  { host, port }: Endpoint,
  token: string,
  channel: string,
): Promise<UserConnection> {
  const subscribed = Promise.withResolvers<void>();
  const received = Promise.withResolvers<number>();
  const closed = Promise.withResolvers<number>();
  const path = `/channel/${channel}/uni_http_stream`;
  const asked = request({ host, port, path, method: "POST" }, (response: IncomingMessage) => {
    if (response.statusCode !== 200)
      subscribed.reject(new Error(`a stream was answered ${response.statusCode}`));
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      subscribed.resolve();
      if (text.includes(mark)) received.resolve(performance.now());
    });
    response.once("close", () => closed.resolve(performance.now()));
  });
  asked.once("error", (error) => subscribed.reject(error));
  asked.end(JSON.stringify({ token, subs: { [channel]: {} } }));
  await subscribed.promise;
  return { received: received.promise, closed: closed.promise };
}

async function post({ host, port }: Endpoint, method: string, body: object): Promise<void> {
  const response = await fetch(`http://${host}:${port}/api/${method}`, {
    method: "POST",
    headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok || text.includes(`"error"`))
    throw new Error(`${method} was answered ${response.status}: ${text}`);
}

const gatewaySockets = 40;
const ownSockets = 5;
const channels = ["news", "talk"];
const streamed = "talk";
/** The user of the first caller with a token. */
const user = "user-0";
/** The data of a publication, which nothing else contains. */
const mark = "~";
