import { limits } from "../../src/limits.ts";
import { utf8Fits } from "../../src/protocol/bytes.ts";
import type { Message } from "../../src/protocol/codec.ts";
import { type DisconnectCode, disconnectCodes } from "../../src/protocol/codes.ts";
import type { TrackVerdict } from "../../src/access/track-signature.ts";
import type { Command, SubRefreshRequest } from "../../src/protocol/command.ts";
import type { Connection, VerifiedTokens } from "../../src/session/ports.ts";
import { trackType } from "../../src/session/change-tracks.ts";
import { subscribeRate } from "../../src/session/rate-limit.ts";
import { TokenBucket } from "../../src/session/token-bucket.ts";
import type { Session } from "../../src/session/session.ts";
import { askForTokens } from "../../src/session/token-standing.ts";
import type { TokenVerifier } from "../platform/token-verifier.ts";

/**
 * One socket and the session on it. It carries out the client's frames one after the other (rule O6), verifies their
 * tokens before the session sees them, and bounds both kinds of work.
 */
export class Client {
  readonly session: Session;
  readonly connection: ClientConnection;
  readonly #waiting: WaitingFrames;
  /** Undefined while no frame is being carried out. */
  #frames: FrameQueue | undefined;
  /**
   * Bounds how many tokens are verified (rule B7). Undefined until the first: most connections have one in the upgrade.
   */
  #verifications: TokenBucket | undefined;

  /** @param waiting what the object's frames that wait take together */
  constructor(session: Session, connection: ClientConnection, waiting: WaitingFrames) {
    this.session = session;
    this.connection = connection;
    this.#waiting = waiting;
  }

  /** Bytes handed to the socket that the client has not taken yet. */
  backlogBytes(): number {
    return this.session.closed ? 0 : this.connection.backlogBytes();
  }

  disconnect(code: DisconnectCode): void {
    this.session.disconnect(code);
  }

  /** Carries out a frame after those before it; disconnects a client whose waiting frames take too much memory. */
  async take(message: string | ArrayBuffer | Uint8Array, host: FrameHost): Promise<void> {
    const bytes = typeof message === "string" ? message.length * 2 : message.byteLength;
    const frames = (this.#frames ??= new FrameQueue(this.#waiting));
    const carriedOut = frames.take(bytes, () => this.#carryOut(message, host));
    // The client sends faster than its frames can be carried out, and more than can be kept.
    if (carriedOut === undefined) this.session.disconnect(disconnectCodes.tooManyRequests);
    await carriedOut;
    if (frames.idle) this.#frames = undefined;
  }

  async #carryOut(message: string | ArrayBuffer | Uint8Array, host: FrameHost): Promise<void> {
    try {
      await this.#receive(message, host);
    } catch (error) {
      // A bug of the server must not strand the client: this code makes the client reconnect.
      console.error(`A frame failed: ${error instanceof Error ? error.name : "unknown error"}`);
      this.session.disconnect(disconnectCodes.internalServerError);
    }
  }

  async #receive(
    message: string | ArrayBuffer | Uint8Array,
    { verifier, commit, later }: FrameHost,
  ): Promise<void> {
    const { session } = this;
    if (session.ignoresCommands) return;
    const frame = incomingFrame(message);
    switch (frame.outcome) {
      case "too-large":
        session.disconnect(disconnectCodes.messageSizeLimit);
        return;
      case "frame":
        break;
    }
    const { commands, malformed } = session.codec.decodeFrame(frame.frame);
    const tokens = await this.#verify(commands, verifier);
    const carryOut = (from: number, part: readonly Command[], busy: boolean): void => {
      const nowMs = Date.now();
      for (const [index, command] of part.entries()) {
        session.receive(command, tokens[from + index] ?? {}, nowMs, busy);
      }
      if (malformed === undefined || from + part.length < commands.length) return;
      const { code } = disconnectCodes.badRequest;
      session.context.refused?.({
        refused: "frame",
        rule: "C8",
        reason: malformed,
        code,
        user: session.user,
      });
      session.disconnect(disconnectCodes.badRequest);
    };
    // Others get their turns between the parts of a frame (rule B17).
    for (let from = 0; !session.ignoresCommands;) {
      const part = commands.slice(from, from + limits.frameTurnCommands);
      const publishes = part.some(({ method }) => method === "publish");
      if (commit === undefined || !publishes) carryOut(from, part, false);
      else await commit(frame.frame.length, (busy) => carryOut(from, part, busy));
      from += part.length;
      if (from >= commands.length) return;
      await new Promise<void>((resolve) => later(0, resolve));
    }
  }

  /**
   * Verifies the tokens of a frame. That takes processor time, so it is bounded: nothing is verified before an accepted
   * connect, and no more tokens than subscribe commands are allowed (rule B7).
   *
   * @returns for each command what its token came to; shorter than the frame if verifying ended early
   */
  async #verify(
    commands: readonly Command[],
    verifier: FrameHost["verifier"],
  ): Promise<readonly VerifiedTokens[]> {
    const { session } = this;
    const tokens: VerifiedTokens[] = [];
    for (const command of commands) {
      const isFirst = tokens.length === 0;
      if (isFirst && session.awaitsConnect && command.method !== "connect") break;
      if (tracksKeys(command)) {
        const nowMs = Date.now();
        this.#verifications ??= new TokenBucket(subscribeRate);
        if (!takeForSignatures(this.#verifications, command.request.track, nowMs)) {
          session.disconnect(disconnectCodes.tooManyRequests);
          break;
        }
        tokens.push({ tracks: await verifyTracks(session, command.request, verifier, nowMs) });
        continue;
      }
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
    // The homes are asked for all tokens at once. Its connect's own token a session asks for itself.
    // Most frames bring no token.
    if (!tokens.some(({ connection, subscription }) => connection ?? subscription)) return tokens;
    const isConnect = (index: number): boolean => commands[index]?.method === "connect";
    return Promise.all(
      tokens.map(async (one, index) => (isConnect(index) ? one : checked(session, one))),
    );
  }
}

/** The object as its clients see it when they carry out frames. */
export interface FrameHost {
  /** Checks the signatures and claims of tokens. */
  readonly verifier: Pick<TokenVerifier, "connection" | "subscription" | "tracks">;
  /** Does the work after so many ms, and ends the event. Meanwhile the object can't hibernate. */
  readonly later: (waitMs: number, work: () => void) => void;
  /**
   * Carries out the part of a frame that publishes, in the commit queue. Absent on a gateway, which publishes nothing
   * itself.
   *
   * @param bytes    the size of the frame
   * @param carryOut called once; `busy` says that too much waits already, so that publications are refused
   */
  readonly commit?: (bytes: number, carryOut: (busy: boolean) => void) => Promise<void>;
}

/** A client's socket. */
interface ClientConnection extends Connection {
  /** The client sent a frame. */
  heard(nowMs: number): void;
  /** The socket is closed: nothing is sent any more. */
  gone(): void;
}

/**
 * Carries out the frames of one socket one after the other (rule O6). While a frame waits for a token key or a commit,
 * the runtime hands over the next ones.
 */
export class FrameQueue {
  readonly #all: WaitingFrames;
  #last: Promise<void> | undefined;
  #waitingBytes = 0;

  /** @param all those of the object */
  constructor(all: WaitingFrames) {
    this.#all = all;
  }

  /** Whether no frame is being carried out, and none waits. */
  get idle(): boolean {
    return this.#last === undefined;
  }

  /**
   * Carries out a frame after those before it; at once, if there is none.
   *
   * @param bytes what the frame takes in memory
   * @param carryOut must not reject
   * @returns resolves when the frame was carried out; undefined if too much waits: then the frame is not carried out
   */
  take(bytes: number, carryOut: () => Promise<void>): Promise<void> | undefined {
    const before = this.#last;
    if (before !== undefined && !this.#hasRoom(bytes)) return undefined;
    const turn = this.#carryOut(before, bytes, carryOut);
    this.#last = turn;
    void this.#forget(turn);
    return turn;
  }

  #hasRoom(bytes: number): boolean {
    const own = this.#waitingBytes + bytes;
    if (own <= limits.framesWaitingBytesMax) return true;
    return own <= limits.framesBurstBytesMax && this.#all.bytes + bytes <= limits.waitingBytesMax;
  }

  async #carryOut(
    before: Promise<void> | undefined,
    bytes: number,
    carryOut: () => Promise<void>,
  ): Promise<void> {
    if (before !== undefined) {
      this.#waitingBytes += bytes;
      this.#all.bytes += bytes;
      await before;
      this.#waitingBytes -= bytes;
      this.#all.bytes -= bytes;
    }
    await carryOut();
  }

  /** Forgets a turn that has ended, unless another frame has come meanwhile: the next frame needn't wait for it. */
  async #forget(turn: Promise<void>): Promise<void> {
    await turn;
    if (this.#last === turn) this.#last = undefined;
  }
}

/** The bytes of all frames of an object that wait. */
export interface WaitingFrames {
  bytes: number;
}

/** A WebSocket message as codecs take it. */
type IncomingFrame =
  | { readonly outcome: "frame"; readonly frame: Message }
  | { readonly outcome: "too-large" };

/** Takes a WebSocket message of at most `limits.frameBytesMax` bytes. */
function incomingFrame(message: string | ArrayBuffer | Uint8Array): IncomingFrame {
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

/** Whether a command carries a token; the tokens that a client may have verified are counted by this. */
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

/** Whether a command carries signatures of keys to track (docs/protocol.md 3.5). */
function tracksKeys(
  command: Command,
): command is Command & { readonly method: "sub_refresh"; readonly request: SubRefreshRequest } {
  return command.method === "sub_refresh" && command.request.type === trackType;
}

/** Takes as many tokens as the signatures cost; false if the client sends too many. */
function takeForSignatures(
  bucket: TokenBucket,
  { length }: SubRefreshRequest["track"],
  nowMs: number,
): boolean {
  for (let left = length; left > 0; left -= limits.signaturesPerToken)
    if (bucket.take(nowMs) !== "granted") return false;
  return true;
}

/** Verifies signatures for the session's user, who isn't known before the connect is answered. */
async function verifyTracks(
  session: Session,
  { channel, track }: SubRefreshRequest,
  verifier: FrameHost["verifier"],
  nowMs: number,
): Promise<readonly TrackVerdict[]> {
  if (!session.hasConnected || session.connecting)
    return track.map(() => ({ outcome: "unavailable" }));
  return verifier.tracks(track, session.user, channel, nowMs);
}

/** Asks the homes about a command's token, unless that isn't necessary (rules U10, U11). */
function checked(
  session: Session,
  tokens: VerifiedTokens,
): VerifiedTokens | Promise<VerifiedTokens> {
  const { promise, resolve } = Promise.withResolvers<VerifiedTokens>();
  return askForTokens(session, tokens, resolve) ? promise : tokens;
}

/** Verifies the token of a command. This is asynchronous, and so happens before the session, which is not. */
async function verifyTokens(
  command: Command,
  verifier: FrameHost["verifier"],
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
