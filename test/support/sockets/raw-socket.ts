import { WebSocket } from "ws";
import { Inbox } from "../inbox.ts";
import { upgradeRequest } from "./upgrade-request.ts";

/** How a socket ended. */
export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** A message from the server, with the fields that tests read. */
export interface Received {
  readonly id?: number;
  readonly error?: { readonly code: number; readonly message: string };
  readonly connect?: { readonly client: string; readonly pong?: boolean };
  readonly subscribe?: { readonly epoch?: string; readonly offset?: number };
  readonly push?: { readonly pub?: { readonly offset: number } };
}

/** A command with a reply: its id, and its request under the method's name. */
export interface Asked {
  readonly id: number;
  readonly [method: string]: object | number;
}

/** A socket without an SDK, for actions that no SDK would take. */
export class RawSocket {
  /** Received messages: the lines of all frames, one by one. */
  readonly lines = new Inbox<string>();
  /** Settled when the socket has closed, whichever end closed it. */
  readonly closed: Promise<Closing>;
  readonly #socket: WebSocket;
  /** Of all frames that came, in UTF-16 units. */
  receivedLength = 0;

  /** Opens a socket; rejects when the upgrade is refused. */
  static open(address: string, headers: Record<string, string> = {}): Promise<RawSocket> {
    const socket = new WebSocket(address, { headers, perMessageDeflate: false });
    const raw = new RawSocket(socket);
    return new Promise((resolve, reject) => {
      socket.once("open", () => resolve(raw));
      socket.once("error", reject);
    });
  }

  /** Opens a socket and connects; rejects when the upgrade or the connect is refused. */
  static async connect(address: string, token: string): Promise<RawSocket> {
    const socket = await RawSocket.open(address);
    const answer = await socket.ask({ id: 1, connect: { token } });
    if (answer.connect === undefined)
      throw new Error(`connect was answered ${String(answer.error?.code)}`);
    return socket;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data: frame }) => {
      if (typeof frame !== "string") throw new Error("a binary frame on a JSON connection");
      this.receivedLength += frame.length;
      for (const line of frame.split("\n")) this.lines.push(line);
    });
    this.closed = new Promise((resolve) => {
      socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  /** Sends commands in one frame. */
  send(...commands: readonly object[]): void {
    this.#socket.send(commands.map((command) => JSON.stringify(command)).join("\n"));
  }

  /** Sends a frame as it is. */
  sendText(text: string): void {
    this.#socket.send(text);
  }

  /** Sends a command and gives its reply. */
  async ask(command: Asked): Promise<Received> {
    this.send(command);
    const answer = await this.lines.first((line) => parse(line).id === command.id);
    return parse(answer);
  }

  /** Stops reading from the network, so that the server's data piles up. */
  stopReading(): void {
    this.#socket.pause();
  }

  readAgain(): void {
    this.#socket.resume();
  }

  close(code = 1000): void {
    this.#socket.close(code);
  }

  /** Ends the connection without a close frame. */
  cut(): void {
    this.#socket.terminate();
  }
}

/** The server's response to a handshake. */
export interface Handshake {
  readonly status: number;
  readonly text: string;
  /** The Retry-After header, in seconds, if there is one. */
  readonly retryAfter?: number;
}

/** Asks for a WebSocket. One that is opened is cut at once. */
export function handshake(
  address: string,
  headers: Record<string, string> = {},
): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    const asked = upgradeRequest(address, headers);
    asked.once("upgrade", (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, text: "" });
    });
    asked.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      const retryAfter = response.headers["retry-after"];
      response.once("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          text,
          ...(retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) }),
        }),
      );
    });
    asked.once("error", reject);
    asked.end();
  });
}

function parse(line: string): Received {
  const received: Received = JSON.parse(line);
  return received;
}
