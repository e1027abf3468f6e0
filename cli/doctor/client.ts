import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { keepaliveTexts } from "../../src/contract/keepalive.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";
import { shown } from "../text/printable.ts";
import { numberOf, objectOf, objectsOf } from "../connection/answer.ts";
import { failureCause } from "../connection/failure-cause.ts";
import { type Deferred, deferred, Lost, within } from "./waiting.ts";
import { doctorLimits } from "./limits.ts";

/** Where and how a client connects. */
export interface Handshake {
  readonly address: string;
  /** Goes with the upgrade, so that the server knows the client before it has a socket. */
  readonly token?: string;
  readonly origin?: string;
  /** Whether the client offers compression, as browsers do. */
  readonly offersCompression?: boolean;
  /** Whether the client sends the texts that keep the connection alive, and the server no pings. */
  readonly keepsAlive?: boolean;
}

/** The outcome of connecting. */
export type Connected =
  | { readonly outcome: "connected"; readonly client: Client }
  /** The upgrade was answered with another status than 101. */
  | { readonly outcome: "status"; readonly status: number; readonly detail: string }
  /** The server closed the connection instead of accepting it, or answered the connect with an error. */
  | { readonly outcome: "refused"; readonly code: number; readonly reason: string }
  | { readonly outcome: "failed"; readonly cause: string };

/** A client that wasn't taken. */
export type Refused = Exclude<Connected, { outcome: "connected" }>;

/** A subscription, as the server has begun it. */
export interface Subscribed {
  readonly recoverable: boolean;
  readonly offset: number;
  readonly epoch: string;
  readonly recovered: boolean;
  /** The publications that came with the answer. */
  readonly publications: readonly JsonObject[];
}

/** The answer to a command. */
export type Answer =
  | { readonly outcome: "result"; readonly result: JsonObject }
  | { readonly outcome: "error"; readonly code: number; readonly message: string };

/** A client in JSON on a WebSocket, which notes when each message comes. It doesn't come back by itself. */
export class Client {
  readonly id: string;
  /** The headers of the answer to the upgrade. */
  readonly headers: IncomingMessage["headers"];
  /** The extensions that were agreed, such as permessage-deflate; "" for none. */
  readonly extensions: string;
  /** The interval of the server's pings in seconds; 0 for none. */
  readonly pingSeconds: number;
  readonly #line: Line;
  readonly #stop: AbortSignal;

  /**
   * Connects a client.
   *
   * @param stop ends all waiting
   */
  static async connect(handshake: Handshake, stop: AbortSignal): Promise<Connected> {
    const line = new Line(handshake);
    try {
      const opened = await within(line.opened, doctorLimits.answerMs, stop);
      if (opened === undefined) return failed(line, "it didn't open in 10 s");
      if (opened.outcome !== "open") {
        line.end();
        return opened;
      }
      const answer = await within(line.command("connect", {}), doctorLimits.answerMs, stop);
      if (answer === undefined) return failed(line, "the connect wasn't answered in 10 s");
      if (answer.outcome === "error") {
        line.end();
        return { outcome: "refused", code: answer.code, reason: answer.message };
      }
      return {
        outcome: "connected",
        client: new Client(line, answer.result, opened.headers, stop),
      };
    } catch (error) {
      line.end();
      if (error instanceof Lost)
        return { outcome: "refused", code: error.code, reason: line.reason };
      throw error;
    }
  }

  private constructor(
    line: Line,
    connected: JsonObject,
    headers: IncomingMessage["headers"],
    stop: AbortSignal,
  ) {
    this.id = shown(connected["client"]);
    this.pingSeconds = numberOf(connected, "ping") ?? 0;
    this.headers = headers;
    this.extensions = line.extensions;
    this.#line = line;
    this.#stop = stop;
  }

  /** Rejects with {@link Lost} when the connection ends, unless {@link end} has ended it. */
  get lost(): Promise<never> {
    return this.#line.lost;
  }

  /** How often the platform has answered the text that keeps the connection alive. */
  get keptAlive(): number {
    return this.#line.keptAlive;
  }

  /** Resolves with the next answer of the platform, and rejects with {@link Lost} when the connection ends. */
  nextKeptAlive(): Promise<true> {
    return this.#line.nextKeptAlive();
  }

  /** Sends a command. @returns undefined if it isn't answered in time */
  command(name: string, request: JsonObject, padding = 0): Promise<Answer | undefined> {
    const answer = this.#line.command(name, request, padding);
    return within(answer, doctorLimits.answerMs, this.#stop);
  }

  /** Subscribes, and recovers if there is a position. */
  async subscribe(
    channel: string,
    since?: { readonly offset: number; readonly epoch: string },
  ): Promise<Subscribed | Exclude<Answer, { outcome: "result" }> | undefined> {
    const from = since === undefined ? {} : { recover: true, ...since };
    const answer = await this.command("subscribe", { channel, recoverable: true, ...from });
    return answer?.outcome === "result" ? subscribedOf(answer.result) : answer;
  }

  /** Waits until the server subscribes this client by itself. @returns undefined if it doesn't in time */
  subscribedByServer(channel: string): Promise<JsonObject | undefined> {
    return within(this.#line.pushed(channel), doctorLimits.answerMs, this.#stop);
  }

  /**
   * Waits for a publication by the number in its data.
   *
   * @returns when it came, by `performance.now()`, and its size; undefined if it doesn't come in time
   * @throws {Lost} if the connection ends
   */
  received(
    number: number,
    ms: number = doctorLimits.receiveMs,
  ): Promise<{ readonly atMs: number; readonly characters: number } | undefined> {
    return within(this.#line.publication(number), ms, this.#stop);
  }

  /** Sends the text that the platform answers. */
  keepAlive(): void {
    this.#line.send(keepaliveTexts.request);
  }

  /** Ends the connection. */
  end(): void {
    this.#line.end();
  }

  /** Cuts the connection without a close frame, as a lost network does. */
  cut(): void {
    this.#line.end(true);
  }
}

function failed(line: Line, cause: string): Connected {
  line.end(true);
  return { outcome: "failed", cause };
}

function subscribedOf(result: JsonObject): Subscribed {
  return {
    recoverable: result["recoverable"] === true,
    offset: numberOf(result, "offset") ?? 0,
    epoch: shown(result["epoch"]),
    recovered: result["recovered"] === true,
    publications: objectsOf(result, "publications"),
  };
}

type LineOpened =
  | { readonly outcome: "open"; readonly headers: IncomingMessage["headers"] }
  | Extract<Connected, { outcome: "status" | "failed" }>;

/** The socket of a client, with what waits for its messages. */
class Line {
  readonly opened: Promise<LineOpened>;
  readonly lost: Promise<never>;
  /** That the server gave for the end. */
  reason = "";
  keptAlive = 0;
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (answer: Answer) => void>();
  readonly #publications = new Expected<number, { atMs: number; characters: number }>();
  readonly #pushes = new Expected<string, JsonObject>();
  #kept = deferred<true>();
  readonly #ended = deferred<never>();
  #openedAtMs = performance.now();
  #isOver = false;
  #commands = 0;

  constructor({ address, token, origin, offersCompression = false, keepsAlive }: Handshake) {
    const query = keepsAlive === true ? "?keepalive=client" : "";
    this.#socket = new WebSocket(`${address}${query}`, {
      perMessageDeflate: offersCompression,
      handshakeTimeout: doctorLimits.answerMs,
      followRedirects: false,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(origin !== undefined && { Origin: origin }),
      },
    });
    this.lost = this.#ended.promise;
    // Somebody may wait for it later, or nobody.
    this.lost.catch(() => undefined);
    this.opened = this.#opening();
    this.#socket.on("message", (data: Buffer) => this.#take(data.toString()));
    this.#socket.on("close", (code, reason) => {
      this.reason = reason.toString();
      if (!this.#isOver) this.#ended.reject(new Lost(code, performance.now() - this.#openedAtMs));
    });
  }

  get extensions(): string {
    return this.#socket.extensions;
  }

  #opening(): Promise<LineOpened> {
    const socket = this.#socket;
    return new Promise((resolve) => {
      let headers: IncomingMessage["headers"] = {};
      socket.once("upgrade", (response) => {
        ({ headers } = response);
      });
      socket.once("open", () => {
        this.#openedAtMs = performance.now();
        resolve({ outcome: "open", headers });
      });
      socket.once("unexpected-response", (request, { statusCode = 0, headers: given }) => {
        const detail = String(given["x-dormouse-error-detail"] ?? "");
        resolve({ outcome: "status", status: statusCode, detail });
        request.destroy();
      });
      socket.on("error", (error) => resolve({ outcome: "failed", cause: failureCause(error) }));
    });
  }

  /** Sends a command, and waits for its answer. */
  command(name: string, request: JsonObject, padding = 0): Promise<Answer> {
    const id = ++this.#commands;
    const answered = new Promise<Answer>((resolve) => {
      this.#answers.set(id, resolve);
    });
    this.send(`${" ".repeat(padding)}${JSON.stringify({ id, [name]: request })}`);
    return Promise.race([answered, this.lost]);
  }

  publication(number: number): Promise<{ atMs: number; characters: number }> {
    return Promise.race([this.#publications.of(number), this.lost]);
  }

  pushed(channel: string): Promise<JsonObject> {
    return Promise.race([this.#pushes.of(channel), this.lost]);
  }

  nextKeptAlive(): Promise<true> {
    this.#kept = deferred<true>();
    return Promise.race([this.#kept.promise, this.lost]);
  }

  send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  /** @param isCut whether there is no close frame */
  end(isCut = false): void {
    this.#isOver = true;
    const { readyState } = this.#socket;
    if (isCut || readyState === WebSocket.CONNECTING) this.#socket.terminate();
    else this.#socket.close(1000);
  }

  #take(frame: string): void {
    const atMs = performance.now();
    if (frame === keepaliveTexts.answer) {
      this.keptAlive++;
      this.#kept.resolve(true);
      return;
    }
    for (const line of frame.split("\n")) this.#takeMessage(line, atMs);
  }

  #takeMessage(line: string, atMs: number): void {
    const message = objectIn(line);
    if (message === undefined) return;
    const { id } = message;
    const push = objectOf(message, "push");
    if (typeof id === "number") {
      const take = this.#answers.get(id);
      this.#answers.delete(id);
      take?.(answerOf(message));
    } else if (push["pub"] !== undefined) {
      const { number } = objectOf(objectOf(push, "pub"), "data");
      if (typeof number === "number")
        this.#publications.come(number, { atMs, characters: line.length });
    } else if (push["subscribe"] !== undefined)
      this.#pushes.come(shown(push["channel"]), objectOf(push, "subscribe"));
    // The server asks if the client is there.
    else if (Object.keys(message).length === 0) this.send("{}");
  }
}

/** What comes once for each key, before or after somebody waits for it. */
class Expected<K, V> {
  readonly #entries = new Map<K, Deferred<V>>();

  of(key: K): Promise<V> {
    return this.#entryOf(key).promise;
  }

  come(key: K, value: V): void {
    this.#entryOf(key).resolve(value);
  }

  #entryOf(key: K): Deferred<V> {
    const entry = this.#entries.get(key) ?? deferred<V>();
    this.#entries.set(key, entry);
    return entry;
  }
}

function answerOf(message: JsonObject): Answer {
  const error = objectOf(message, "error");
  if (message["error"] !== undefined)
    return { outcome: "error", code: Number(error["code"]), message: shown(error["message"]) };
  const name = Object.keys(message).find((key) => key !== "id") ?? "";
  return { outcome: "result", result: objectOf(message, name) };
}

/** The object that a line is; undefined for anything else, such as a page of a proxy. */
function objectIn(line: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // Not the protocol.
  }
}
