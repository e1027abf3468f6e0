import { isDeepStrictEqual } from "node:util";
import { type Exchange, type Scene, type SigningApp, signedPath, type Step } from "./exchange.ts";
import { shownFrame } from "./shown-frame.ts";

/** A server of the Pusher protocol. */
export interface PusherServer {
  /** Such as `http://127.0.0.1:6001`. */
  readonly address: string;
  readonly app: SigningApp;
}

/** What came of each step of an exchange: the frames of each client in their order, and the answer to a request. */
export type Transcript = readonly (readonly string[])[];

/** When everything that a step causes has come. @param step its number */
export type Settled = (step: number, got: readonly string[], scene: Stage) => Promise<void>;

/** The clients of a scene, while it is played. */
interface Stage {
  /** Has a client ask its server something, and awaits the answer. */
  readonly sync: (who: string) => Promise<void>;
  /** When something came last, ms since 1970. */
  readonly cameAtMs: number;
  /** Who has done the step; undefined for the application's server. */
  readonly who: string | undefined;
}

/**
 * Plays an exchange at a server.
 *
 * @param room    stands for `ROOM`
 * @param settled waits after each step
 */
export async function play(
  { address, app }: PusherServer,
  { steps }: Exchange,
  room: string,
  settled: Settled,
): Promise<Transcript> {
  const clients = new Map<string, Client>();
  const socketOf = (who: string): string => clients.get(who)?.socketId ?? "0.0";
  const scene: Scene = {
    app,
    fill: (text) =>
      text.replaceAll("ROOM", room).replaceAll(/SOCKET:(\w+)/g, (_, who: string) => socketOf(who)),
  };
  let got: string[] = [];
  let cameAtMs = Date.now();
  const take = (line: string): void => {
    cameAtMs = Date.now();
    got.push(line);
  };
  const hide = (text: string): string => {
    let hidden = text.replaceAll(room, "ROOM").replaceAll(app.key, "KEY");
    for (const [who, { socketId }] of clients)
      if (socketId !== "") hidden = hidden.replaceAll(socketId, `SOCKET:${who}`);
    return hidden;
  };
  const transcript: string[][] = [];
  for (const [number, step] of steps.entries()) {
    got = [];
    await carryOut(step, { address, scene, clients, take, hide });
    const who = step.do === "request" ? undefined : step.who;
    const stage: Stage = {
      sync: (one) => clients.get(one)?.sync() ?? Promise.resolve(),
      get cameAtMs() {
        return cameAtMs;
      },
      who: step.do === "leave" ? undefined : who,
    };
    await settled(number, got, stage);
    transcript.push(byClient(got));
  }
  got = [];
  for (const client of clients.values()) await client.sync();
  if (got.length > 0) transcript.push(byClient(got));
  for (const client of clients.values()) client.close();
  return transcript;
}

/** Between two clients there is no order. */
function byClient(lines: readonly string[]): string[] {
  return lines.toSorted((one, other) =>
    whoIn(one) < whoIn(other) ? -1 : whoIn(one) > whoIn(other) ? 1 : 0,
  );
}

function whoIn(line: string): string {
  return line.split(" ", 1)[0] ?? "";
}

interface Playing {
  readonly address: string;
  readonly scene: Scene;
  readonly clients: Map<string, Client>;
  readonly take: (line: string) => void;
  readonly hide: (text: string) => string;
}

async function carryOut(step: Step, playing: Playing): Promise<void> {
  const { address, scene, clients, take, hide } = playing;
  switch (step.do) {
    case "connect": {
      const key = step.key.replace("KEY", scene.app.key);
      const url = `${address.replace(/^http/, "ws")}/app/${key}${step.query}`;
      const client = new Client(url, (line) => take(`${step.who} < ${hide(line)}`));
      clients.set(step.who, client);
      await client.begun;
      return;
    }
    case "send":
      clients.get(step.who)?.send(step.text(scene));
      return;
    case "leave":
      clients.get(step.who)?.close();
      return;
    case "request": {
      const { request } = step;
      const { method, body } = request;
      const response = await fetch(address + signedPath(scene, request), {
        method,
        ...(body !== undefined && {
          body: scene.fill(body),
          headers: { "Content-Type": "application/json" },
        }),
      });
      const text = await response.text();
      take(`request < ${response.status}${response.ok ? ` ${hide(sorted(text))}` : ""}`);
    }
  }
}

/** JSON with its members in their order, so that two texts of the same value are the same. */
function sorted(text: string): string {
  try {
    return shownFrame(text);
  } catch {
    return text;
  }
}

/** A client, which shows what it gets. */
class Client {
  socketId = "";
  readonly begun: Promise<void>;
  readonly #socket: WebSocket;
  #pongs: (() => void)[] = [];
  #isClosing = false;

  constructor(url: string, take: (line: string) => void) {
    this.#socket = new WebSocket(url);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.begun = promise;
    this.#socket.addEventListener("message", ({ data }) => {
      const text = String(data);
      const [, socketId] = /socket_id\\":\\"([\d.]+)/.exec(text) ?? [];
      if (socketId !== undefined) this.socketId = socketId;
      const waiting = text.startsWith('{"event":"pusher:pong"') ? this.#pongs.shift() : undefined;
      if (waiting === undefined) take(shownFrame(text));
      waiting?.();
      resolve();
    });
    this.#socket.addEventListener("close", ({ code }) => {
      if (!this.#isClosing) take(`closed ${code}`);
      for (const waiting of this.#pongs.splice(0)) waiting();
      resolve();
    });
    this.#socket.addEventListener("error", () => resolve());
  }

  send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  /** Sends a ping that no platform answers in the server's place, and awaits the answer. */
  async sync(): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pongs.push(resolve);
    this.#socket.send('{"event": "pusher:ping"}');
    await promise;
  }

  close(): void {
    this.#isClosing = true;
    this.#socket.close();
  }
}

/** The steps in which two transcripts differ. */
export function differences(one: Transcript, other: Transcript): readonly number[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, step) => step).filter(
    (step) => !isDeepStrictEqual(one[step] ?? [], other[step] ?? []),
  );
}
