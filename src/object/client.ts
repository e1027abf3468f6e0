import { limits } from "../limits.ts";
import { utf8Fits } from "../protocol/bytes.ts";
import type { Message } from "../protocol/codec.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";
import { type Command, type SubRefreshRequest, subRefreshTypes } from "../protocol/command.ts";
import { publishes } from "../session/command-queue.ts";
import type { Connection, VerifiedTokens } from "../session/ports.ts";
import { subscribeRate } from "../session/rate-limit.ts";
import { dialectOf } from "../session/dialect/dialect.ts";
import { toldClose } from "../access/told-reason.ts";
import { TokenBucket } from "../session/token-bucket.ts";
import type { Session } from "../session/session.ts";
import type { Arrivals } from "./arrivals.ts";
import { elapsed } from "../moment.ts";
import { FrameQueue, type WaitingFrames } from "./frame-queue.ts";
import { takeForSignatures, verifyTracks } from "./key-signatures.ts";
import type { Platform, Verifier } from "./platform.ts";

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

  /** Whether the connection is open, and no connect was accepted or is under way. */
  get silent(): boolean {
    const { hasConnected, closed, connecting, held } = this.session;
    return !(hasConnected || closed || connecting || held);
  }

  disconnect(code: DisconnectCode): void {
    this.session.disconnect(code);
  }

  /**
   * Carries out a frame after those before it; disconnects a client whose waiting frames take too much memory.
   *
   * @param done called once, when the frame has been carried out
   */
  receive(message: string | ArrayBuffer | Uint8Array, host: FrameHost, done: () => void): void {
    const bytes = typeof message === "string" ? message.length * 2 : message.byteLength;
    const frames = (this.#frames ??= new FrameQueue(this.#waiting));
    const isTaken = frames.enqueue(bytes, (over) => {
      this.#carryOut(message, host, () => {
        done();
        over();
        if (frames.idle) this.#frames = undefined;
      });
    });
    if (frames.idle) this.#frames = undefined;
    if (isTaken) return;
    // The client sends faster than its frames can be carried out, and more than can be kept.
    this.session.disconnect(disconnectCodes.tooManyRequests);
    done();
  }

  #carryOut(message: string | ArrayBuffer | Uint8Array, host: FrameHost, done: () => void): void {
    let isOver = false;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      done();
    };
    const attempt = (work: () => void): void => {
      if (isOver) return;
      try {
        work();
      } catch (error) {
        // A bug of the server must not strand the client: this code makes the client reconnect.
        const name = error instanceof Error ? error.name : "unknown error";
        host.platform.log("error", `A frame failed: ${name}`);
        this.session.disconnect(disconnectCodes.internalServerError);
        over();
      }
    };
    const receive = (): void => attempt(() => this.#receive(message, host, attempt, over));
    if (!this.#isArriving(host.platform)) {
      receive();
      return;
    }
    host.arrivals.arrive({
      bytes: typeof message === "string" ? message.length : message.byteLength,
      isInside: true,
      enter: receive,
      refuse: () => {
        this.session.disconnect(disconnectCodes.tooManyRequests);
        over();
      },
    });
  }

  /** Whether the client hasn't finished connecting and subscribing (rule F12). */
  #isArriving(platform: Pick<Platform, "nowMs">): boolean {
    const { hasConnected, identity, subscriptions } = this.session;
    if (!hasConnected) return true;
    // Most frames come from those who are subscribed, for whom the clock isn't read.
    if (subscriptions.size > 0) return false;
    return !elapsed(identity.openedAtMs, limits.arrivingMs, platform.nowMs());
  }

  #receive(
    message: string | ArrayBuffer | Uint8Array,
    host: FrameHost,
    attempt: (work: () => void) => void,
    done: () => void,
  ): void {
    const { session } = this;
    if (session.ignoresCommands) {
      done();
      return;
    }
    const frame = incomingFrame(message);
    switch (frame.outcome) {
      case "too-large":
        session.disconnect(disconnectCodes.messageSizeLimit);
        done();
        return;
      case "frame":
        break;
    }
    const { commands, malformed } = session.codec.decodeFrame(frame.frame);
    const decoded = { commands, malformed, bytes: frame.frame.length };
    this.#verify(commands, host, attempt, (tokens) => {
      attempt(() => this.#carryOutParts(decoded, tokens, 0, { host, attempt, done }));
    });
  }

  /** Carries out the commands from an index on, in parts: others get their turns between them (rule B17). */
  #carryOutParts(
    frame: FrameCommands,
    tokens: readonly VerifiedTokens[],
    from: number,
    turn: FrameTurn,
  ): void {
    const { session } = this;
    const { host, attempt, done } = turn;
    const { platform, commit, later } = host;
    if (session.ignoresCommands) {
      done();
      return;
    }
    const { commands, malformed, bytes } = frame;
    const part = commands.slice(from, from + limits.frameTurnCommands);
    const to = from + part.length;
    const carryOut = (isBusy: boolean): void =>
      attempt(() => {
        for (const [index, command] of part.entries())
          session.receive(command, tokens[from + index] ?? {}, platform.nowMs(), isBusy);
        if (malformed !== undefined && to >= commands.length) this.#refuse(malformed);
      });
    const carriedOut = (): void => {
      if (to >= commands.length) done();
      else later(0, () => attempt(() => this.#carryOutParts(frame, tokens, to, turn)));
    };
    const kind = commit && this.#kindOf(part);
    if (commit !== undefined && kind !== undefined) {
      commit(kind, bytes, carryOut, carriedOut);
      return;
    }
    carryOut(false);
    carriedOut();
  }

  /** What the commands write, which shares a commit with others' writes: publications, or what a method keeps. */
  #kindOf(commands: readonly Command[]): "publish" | "other" | undefined {
    const { clientMethods } = this.session.context;
    if (commands.some((command) => publishes(command, clientMethods))) return "publish";
    if (clientMethods === undefined) return undefined;
    const writes = commands.some((command) => {
      if (command.method === "rpc") return clientMethods.has(command.request.method);
      return command.method === "send";
    });
    return writes ? "other" : undefined;
  }

  #refuse(malformed: string): void {
    const { session } = this;
    const { code } = disconnectCodes.badRequest;
    session.context.refused?.({
      refused: "frame",
      rule: "C8",
      reason: malformed,
      code,
      user: session.user,
    });
    const { client } = session.context.config;
    session.disconnect(toldClose(disconnectCodes.badRequest, malformed, client));
  }

  /**
   * Verifies the tokens of a frame. That takes processor time, so it is bounded: nothing is verified before an accepted
   * connect, and no more tokens than subscribe commands are allowed (rule B7).
   *
   * @param done takes for each command what its token came to; shorter than the frame if verifying ended early
   */
  #verify(
    commands: readonly Command[],
    host: FrameHost,
    attempt: (work: () => void) => void,
    done: (tokens: readonly VerifiedTokens[]) => void,
  ): void {
    const tokens: VerifiedTokens[] = [];
    // An onlooker brings no token (rule N19). A dialect judges its subscriptions all the same.
    const onlooks = this.session.identity.onlooker === true;
    if (onlooks && dialectOf(this.session) === undefined) return done(tokens);
    const next = (): void => {
      for (;;) {
        const command = commands[tokens.length];
        const isFirst = tokens.length === 0;
        if (
          command === undefined ||
          (isFirst && this.session.awaitsConnect && command.method !== "connect")
        ) {
          this.#check(commands, tokens, done);
          return;
        }
        const isDecided = command.method === "publish" && dialectOf(this.session) !== undefined;
        const isLooking = onlooks && command.method !== "subscribe";
        if (isLooking || (!tracksKeys(command) && !carriesToken(command) && !isDecided)) {
          tokens.push({});
          continue;
        }
        const verified = (one: VerifiedTokens): void =>
          attempt(() => {
            tokens.push(one);
            const isRefused =
              command.method === "connect" && one.connection?.outcome !== "verified";
            if (isRefused) this.#check(commands, tokens, done);
            else next();
          });
        if (!this.#verifyOne(command, host, verified)) this.#check(commands, tokens, done);
        return;
      }
    };
    next();
  }

  /** Verifies what a command brings; false if the client brings too much, which ends its connection. */
  #verifyOne(
    command: Command,
    { platform }: FrameHost,
    done: (tokens: VerifiedTokens) => void,
  ): boolean {
    const { session } = this;
    const { verifier } = platform;
    const nowMs = platform.nowMs();
    const dialect = dialectOf(session);
    // Nothing is verified for a publication.
    if (dialect !== undefined && command.method === "publish") {
      dialect.verify(session, command, done);
      return true;
    }
    this.#verifications ??= new TokenBucket(subscribeRate);
    const isAllowed = tracksKeys(command)
      ? takeForSignatures(this.#verifications, command.request.track, nowMs)
      : this.#verifications.spend(nowMs) === "granted";
    if (!isAllowed) session.disconnect(disconnectCodes.tooManyRequests);
    else if (dialect !== undefined) dialect.verify(session, command, done);
    else if (tracksKeys(command)) verifyTracks(session, command.request, verifier, nowMs, done);
    else verifyTokens(command, verifier, nowMs, done);
    return isAllowed;
  }

  /** Asks the homes about all tokens at once; its connect's own token a session asks about itself. */
  #check(
    commands: readonly Command[],
    tokens: readonly VerifiedTokens[],
    done: (tokens: readonly VerifiedTokens[]) => void,
  ): void {
    // Most frames bring no token.
    if (!tokens.some(({ connection, subscription }) => connection ?? subscription)) {
      done(tokens);
      return;
    }
    const all = [...tokens];
    let missing = all.length;
    for (const [index, one] of tokens.entries()) {
      const checked = (verified: VerifiedTokens): void => {
        all[index] = verified;
        missing--;
        if (missing === 0) done(all);
      };
      const { registrar } = this.session.context;
      const isAsked =
        commands[index]?.method !== "connect" &&
        registrar?.askForTokens(this.session, one, checked) === true;
      if (!isAsked) checked(one);
    }
  }
}

/** A frame whose commands are carried out. */
interface FrameCommands {
  readonly commands: readonly Command[];
  readonly malformed: string | undefined;
  /** The size of the frame. */
  readonly bytes: number;
}

/** The object, and what ends the frame. */
interface FrameTurn {
  readonly host: FrameHost;
  /** Does a part of the work; what it throws ends the frame and the connection. */
  readonly attempt: (work: () => void) => void;
  readonly done: () => void;
}

/** The object as its clients see it when they carry out frames. */
export interface FrameHost {
  readonly arrivals: Pick<Arrivals, "arrive">;
  readonly platform: Pick<Platform, "verifier" | "nowMs" | "log">;
  /** Does the work after so many ms, and ends the event. Meanwhile the object can't hibernate. */
  readonly later: (waitMs: number, work: () => void) => void;
  /**
   * Carries out the part of a frame that writes, in the commit queue. Absent on a gateway, which writes no rows of a
   * channel.
   *
   * @param kind     publish: the part has a publication, and waits as publications do
   * @param bytes    the size of the frame
   * @param carryOut called once, and throws nothing. If `isBusy` is true, too much waits already, and publications are
   *                 refused
   * @param done     called after it
   */
  readonly commit?: (
    kind: "publish" | "other",
    bytes: number,
    carryOut: (isBusy: boolean) => void,
    done: () => void,
  ) => void;
}

/** A client's socket. */
interface ClientConnection extends Connection {
  /** The client sent a frame. */
  heard(nowMs: number): void;
  /** The socket is closed: nothing is sent any more. */
  gone(): void;
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
  return command.method === "sub_refresh" && command.request.type === subRefreshTypes.track;
}

/** Verifies the token of a command. It takes time, and so happens before the session, which takes none. */
function verifyTokens(
  command: Command,
  verifier: Verifier,
  nowMs: number,
  done: (tokens: VerifiedTokens) => void,
): void {
  switch (command.method) {
    case "connect":
    case "refresh":
      verifier.connection(command.request.token, nowMs, (connection) => done({ connection }));
      return;
    case "subscribe":
    case "sub_refresh":
      verifier.subscription(command.request.token, nowMs, (subscription) => done({ subscription }));
      return;
    case "unsubscribe":
    case "publish":
    case "presence":
    case "presence_stats":
    case "history":
    case "rpc":
    case "send":
    case "ping":
    case "pong":
      done({});
  }
}
