import type { ConnectionVerdict, SubscriptionVerdict } from "../../src/access/claims.ts";
import { limits } from "../../src/limits.ts";
import { utf8Fits } from "../../src/protocol/bytes.ts";
import type { Message } from "../../src/protocol/codec.ts";
import { type DisconnectCode, disconnectCodes } from "../../src/protocol/codes.ts";
import type { Command } from "../../src/protocol/command.ts";
import type { Connection, VerifiedTokens } from "../../src/session/ports.ts";
import { subscribeRate, TokenBucket } from "../../src/session/rate-limit.ts";
import type { Session } from "../../src/session/session.ts";

/** One socket and the session on it. */
export class Client {
  readonly session: Session;
  readonly connection: ClientConnection;
  /** Undefined while no frame is carried out. */
  #frames: FrameQueue | undefined;
  /** How many tokens it may have verified. Most connections bring their only token when they open. */
  #verifications: TokenBucket | undefined;

  constructor(session: Session, connection: ClientConnection) {
    this.session = session;
    this.connection = connection;
  }

  backlogBytes(): number {
    return this.session.closed ? 0 : this.connection.backlogBytes();
  }

  disconnect(code: DisconnectCode): void {
    this.session.disconnect(code);
  }

  /** Carries out a frame when those before it are (rule O6), or closes a connection that sends faster than that. */
  async take(message: string | ArrayBuffer | Uint8Array, host: FrameHost): Promise<void> {
    const bytes = typeof message === "string" ? message.length * 2 : message.byteLength;
    const frames = (this.#frames ??= new FrameQueue());
    const carriedOut = frames.take(bytes, () => this.#carryOut(message, host));
    // It sends faster than its own frames can be carried out, and more than we can keep.
    if (carriedOut === undefined) this.session.disconnect(disconnectCodes.tooManyRequests);
    await carriedOut;
    if (frames.idle) this.#frames = undefined;
  }

  async #carryOut(message: string | ArrayBuffer | Uint8Array, host: FrameHost): Promise<void> {
    try {
      await this.#receive(message, host);
    } catch (error) {
      // A bug of ours must not strand the client: this code makes it come back.
      console.error(`A frame failed: ${error instanceof Error ? error.name : "unknown error"}`);
      this.session.disconnect(disconnectCodes.internalServerError);
    }
  }

  async #receive(
    message: string | ArrayBuffer | Uint8Array,
    { verifier, commit }: FrameHost,
  ): Promise<void> {
    const { session } = this;
    if (session.ignoresCommands) return;
    const frame = readFrame(message);
    switch (frame.outcome) {
      case "too-large":
        session.disconnect(disconnectCodes.messageSizeLimit);
        return;
      case "frame":
        break;
    }
    const { commands, malformed } = session.codec.decodeFrame(frame.frame);
    const tokens = await this.#verify(commands, verifier);
    // From here on nothing comes between the commands of a frame.
    const carryOut = (busy: boolean): void => {
      const nowMs = Date.now();
      for (const [index, command] of commands.entries()) {
        session.receive(command, tokens[index] ?? {}, nowMs, busy);
      }
      if (malformed !== undefined) session.disconnect(disconnectCodes.badRequest);
    };
    const publishes = commands.some(({ method }) => method === "publish");
    if (commit === undefined || !publishes) carryOut(false);
    else await commit(frame.frame.length, carryOut);
  }

  /**
   * Verifies the tokens of a frame. That is work, so it is done only for who may ask for something: nothing before a connect
   * that is accepted, and no more tokens than subscribe commands are allowed (rule B7).
   */
  async #verify(
    commands: readonly Command[],
    verifier: TokenVerifier,
  ): Promise<readonly VerifiedTokens[]> {
    const { session } = this;
    const tokens: VerifiedTokens[] = [];
    for (const command of commands) {
      const isFirst = tokens.length === 0;
      if (isFirst && session.awaitsConnect && command.method !== "connect") break;
      if (!carriesToken(command)) {
        tokens.push({});
        continue;
      }
      const nowMs = Date.now();
      this.#verifications ??= new TokenBucket(subscribeRate);
      if (this.#verifications.take(nowMs) !== "granted") {
        session.disconnect(disconnectCodes.tooManyRequests);
        break;
      }
      const verified = await verifyTokens(command, verifier, nowMs);
      tokens.push(verified);
      if (command.method === "connect" && verified.connection?.outcome !== "verified") break;
    }
    return tokens;
  }
}

/** What the frames of all clients of an object need. */
export interface FrameHost {
  readonly verifier: TokenVerifier;
  /**
   * Carries out a frame that publishes; `busy` says that too much waits already. Absent where publications go elsewhere:
   * then frames are carried out at once.
   */
  readonly commit?: (bytes: number, carryOut: (busy: boolean) => void) => Promise<void>;
}

/** A client's socket. */
interface ClientConnection extends Connection {
  /** The client sent a frame. */
  heard(nowMs: number): void;
}

/** Checks signatures and claims of tokens. */
interface TokenVerifier {
  connection(token: string, nowMs: number): Promise<ConnectionVerdict>;
  subscription(token: string, nowMs: number): Promise<SubscriptionVerdict>;
}

/**
 * Lets the frames of one socket be carried out one after the other (rule O6): while one waits for a key or a commit, the
 * runtime hands over the next.
 */
export class FrameQueue {
  #last: Promise<void> | undefined;
  #waitingBytes = 0;

  /** Whether no frame is carried out, and none waits. */
  get idle(): boolean {
    return this.#last === undefined;
  }

  /**
   * Carries out a frame in its turn: at once, if none is before it.
   *
   * @param bytes what the frame holds in memory
   * @param carryOut must not reject
   * @returns undefined when so much waits already that this frame can't; then it isn't carried out
   */
  take(bytes: number, carryOut: () => Promise<void>): Promise<void> | undefined {
    const before = this.#last;
    if (before !== undefined && this.#waitingBytes + bytes > limits.framesWaitingBytesMax) {
      return undefined;
    }
    const turn = this.#carryOut(before, bytes, carryOut);
    this.#last = turn;
    void this.#forget(turn);
    return turn;
  }

  async #carryOut(
    before: Promise<void> | undefined,
    bytes: number,
    carryOut: () => Promise<void>,
  ): Promise<void> {
    if (before !== undefined) {
      this.#waitingBytes += bytes;
      await before;
      this.#waitingBytes -= bytes;
    }
    await carryOut();
  }

  /** When no other frame has come meanwhile, the next one needn't wait. */
  async #forget(turn: Promise<void>): Promise<void> {
    await turn;
    if (this.#last === turn) this.#last = undefined;
  }
}

/** A WebSocket message as a codec wants it. */
type ReadFrame =
  | { readonly outcome: "frame"; readonly frame: Message }
  | { readonly outcome: "too-large" };

/** Takes a message of at most `limits.frameBytesMax` bytes. */
function readFrame(message: string | ArrayBuffer | Uint8Array): ReadFrame {
  if (typeof message === "string") {
    return utf8Fits(message, limits.frameBytesMax)
      ? { outcome: "frame", frame: message }
      : { outcome: "too-large" };
  }
  return message.byteLength > limits.frameBytesMax
    ? { outcome: "too-large" }
    : {
        outcome: "frame",
        frame: message instanceof Uint8Array ? message : new Uint8Array(message),
      };
}

/** Whether a command carries a token: one that doesn't costs nothing to verify. */
function carriesToken(command: Command): boolean {
  switch (command.method) {
    case "connect":
    case "refresh":
    case "subscribe":
    case "sub_refresh":
      return command.request.token !== "";
    case "unsubscribe":
    case "publish":
    case "presence":
    case "presence_stats":
    case "history":
    case "rpc":
    case "send":
    case "ping":
    case "pong":
      return false;
  }
}

/** Verifies the token a command carries, before the session sees the command: that takes time, and a session takes none. */
async function verifyTokens(
  command: Command,
  verifier: TokenVerifier,
  nowMs: number,
): Promise<VerifiedTokens> {
  switch (command.method) {
    case "connect":
    case "refresh":
      return { connection: await verifier.connection(command.request.token, nowMs) };
    case "subscribe":
    case "sub_refresh":
      return { subscription: await verifier.subscription(command.request.token, nowMs) };
    case "unsubscribe":
    case "publish":
    case "presence":
    case "presence_stats":
    case "history":
    case "rpc":
    case "send":
    case "ping":
    case "pong":
      return {};
  }
}
