import { exports } from "cloudflare:workers";
import { address } from "./api-request.ts";
import { watchedRelay } from "./watched-relay.ts";
import { token } from "./sign-token.ts";

/** How a socket ended. */
export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** A message from the server, as far as tests look into one. */
export interface Received {
  readonly id?: number;
  readonly error?: { readonly code: number };
  readonly connect?: { readonly client: string; readonly subs?: object };
  readonly subscribe?: { readonly epoch?: string; readonly offset?: number };
  readonly push?: object;
}

/** A command that is answered: its id, and its request under its method's name. */
export interface Asked {
  readonly id: number;
  readonly [method: string]: object | number;
}

/** Asks for a WebSocket on a channel, as a client's handshake does. */
export function upgrade(channel: string, query = "", headers: object = {}): Promise<Response> {
  const path = `/channel/${encodeURIComponent(channel)}/websocket${query}`;
  return exports.default.fetch(address(path), { headers: { Upgrade: "websocket", ...headers } });
}

/** One client's end of a socket, without any SDK around it. Frames wait until they are asked for. */
export class TestSocket {
  readonly #socket: WebSocket;
  readonly #frames: string[] = [];
  #lines: string[] = [];
  #waiting: PromiseWithResolvers<string> | undefined;
  #closing: Closing | undefined;
  /** The connection's ID, once connected. */
  client = "";
  /** Settled when the server has closed, or has taken our close. */
  readonly closed: Promise<Closing>;

  /** Opens a socket; throws when the upgrade is refused. */
  static async open(channel: string, query = "", headers: object = {}): Promise<TestSocket> {
    return TestSocket.on(await upgrade(channel, query, headers));
  }

  /** Takes the socket that an upgrade brought; throws when it was refused. */
  static on({ webSocket, status }: Response): TestSocket {
    if (webSocket === null) throw new Error(`no upgrade: ${status}`);
    return new TestSocket(webSocket);
  }

  /** Opens a socket and connects as a user, with whatever else the token claims. */
  static async connect(channel: string, user: string, claims: object = {}): Promise<TestSocket> {
    const socket = await TestSocket.open(channel);
    await socket.ask({ id: 1, connect: { token: await token({ sub: user, ...claims }) } });
    return socket;
  }

  /** Connects and subscribes, as command 2. Its own join, where there is one, is still to be read. */
  static async subscribe(channel: string, user: string, claims: object = {}): Promise<TestSocket> {
    const socket = await TestSocket.connect(channel, user, claims);
    await socket.ask({ id: 2, subscribe: { channel } });
    return socket;
  }

  constructor(socket: WebSocket) {
    this.#socket = socket;
    const closed = Promise.withResolvers<Closing>();
    this.closed = closed.promise;
    socket.addEventListener("message", ({ data }) => this.#take(String(data)));
    socket.addEventListener("close", ({ code, reason }) => {
      this.#closing = { code, reason };
      this.#waiting?.reject(new Error(`closed with ${code} while a frame was awaited`));
      closed.resolve(this.#closing);
    });
    socket.accept();
  }

  /** Frames that came and weren't read. */
  get received(): number {
    return this.#frames.length;
  }

  /** Sends commands in one frame. */
  send(...commands: readonly object[]): void {
    this.sendFrame(commands.map((command) => JSON.stringify(command)).join("\n"));
  }

  /** Sends a frame as it is. */
  sendFrame(frame: string | ArrayBuffer | Uint8Array): void {
    this.#socket.send(frame);
  }

  /** Sends a command and gives the next message, which must answer it. */
  async ask(command: Asked): Promise<Received> {
    this.send(command);
    const message = await this.next();
    if (message.id !== command.id) {
      throw new Error(`expected the answer to ${command.id}, got ${JSON.stringify(message)}`);
    }
    this.client = message.connect?.client ?? this.client;
    return message;
  }

  /** The next message, parsed. */
  async next(): Promise<Received> {
    const message: Received = JSON.parse(await this.line());
    return message;
  }

  /** The next message, byte for byte. */
  async line(): Promise<string> {
    if (this.#lines.length === 0) this.#lines = (await this.frame()).split("\n");
    return this.#lines.shift() ?? "";
  }

  /** The next message that holds a text; those before it are passed over. */
  async lineWith(text: string): Promise<string> {
    for (;;) {
      const line = await this.line();
      if (line.includes(text)) return line;
    }
  }

  /** The next frame, whole. Rejects when the socket closes instead. */
  async frame(): Promise<string> {
    if (this.#lines.length > 0) throw new Error(`a frame is half read: ${this.#lines.join("\n")}`);
    const frame = this.#frames.shift();
    if (frame !== undefined) return frame;
    if (this.#closing !== undefined) throw new Error(`closed with ${this.#closing.code}`);
    this.#waiting = Promise.withResolvers<string>();
    return this.#waiting.promise;
  }

  /**
   * All unread messages, after the server has carried out everything that was sent and the calls between its objects
   * have ended: so they are all effects of the steps before.
   */
  async unread(): Promise<readonly string[]> {
    const lines = await this.beforeFence();
    await watchedRelay.settled();
    return [...lines, ...(await this.beforeFence())];
  }

  /** The unread messages up to the close of the socket. */
  async rest(): Promise<readonly string[]> {
    await this.closed;
    return [...this.#lines, ...this.#frames.flatMap((frame) => frame.split("\n"))];
  }

  close(code = 1000): void {
    this.#socket.close(code);
  }

  /** The messages before the reply to one more command. Calls between the server's objects may be under way then. */
  async beforeFence(): Promise<readonly string[]> {
    const fence = 4_000_000_000;
    this.send({ id: fence, unsubscribe: { channel: "nothing-here" } });
    const lines: string[] = [];
    for (;;) {
      const line = await this.line();
      if (line === `{"id":${fence},"unsubscribe":{}}`) return lines;
      lines.push(line);
    }
  }

  #take(frame: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#frames.push(frame);
    else waiting.resolve(frame);
  }
}
