import type { ConnectionClaims } from "../../../src/access/claims.ts";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { trackVerdict } from "../../../src/access/track-signature.ts";
import type { Command } from "../../../src/protocol/command.ts";
import type { SessionContext, VerifiedTokens } from "../../../src/session/ports.ts";
import { Session } from "../../../src/session/session.ts";
import type { Holder } from "./holder.ts";
import type { WorldContext } from "./world-context.ts";
import { type ClientEnd, type ServerEnd, Socket } from "./socket.ts";
import { StorageFailure } from "./storage.ts";

/** The part of an object's memory that belongs to its sockets. */
export interface SocketMemory {
  readonly sessions: Map<Socket, Session>;
  /** Frames that wait for an earlier one of their socket, which waits for a commit. */
  readonly turns: Map<Socket, string[]>;
  readonly context: SessionContext;
  /** The users of the sessions; absent where users have no homes. */
  readonly holder?: Holder;
}

/** The object that owns the sockets. */
export interface SocketsOwner {
  readonly name: string;
  readonly nowMs: number;
  reach(work: (memory: SocketMemory) => void): void;
  gate(work: () => void): void;
  /** Executes a frame with a publish in its turn, and calls `after` when the other frames of that turn are done too. */
  commit(memory: SocketMemory, carryOut: () => void, after: () => void): void;
  /** After some work: sends what the work caused and sets alarms. */
  acted(): void;
}

/** The sockets of one object, which outlive its memory. Carries their frames to their sessions. */
export class ObjectSockets implements ServerEnd {
  readonly #context: WorldContext;
  readonly #owner: SocketsOwner;
  readonly #sockets = new Set<Socket>();
  readonly #claims = new Map<Socket, ConnectionClaims>();
  readonly #rows = new Map<string, string>();
  #opened = 0;

  constructor(context: WorldContext, owner: SocketsOwner) {
    this.#context = context;
    this.#owner = owner;
  }

  /** A client connects. `claims` are those of the token that the client will connect with. */
  open(client: ClientEnd, claims: ConnectionClaims): Socket {
    const { timeline } = this.#context;
    const id = `${this.#owner.name}/${++this.#opened}`;
    const openedAtMs = this.#owner.nowMs;
    const fresh = { phase: "new", client: id, openedAtMs, keepalive: "client" } as const;
    const snapshot = { ...fresh, subscriptions: [] };
    const latencyMs = this.#context.latency(id);
    const socket = new Socket(snapshot, this, client, this.#rows, timeline, latencyMs);
    this.#claims.set(socket, claims);
    this.#sockets.add(socket);
    this.#owner.reach((memory) => {
      if (this.#sockets.has(socket)) this.#add(memory, socket);
      this.#owner.acted();
    });
    return socket;
  }

  /** Restores the sessions of hibernated sockets in a new memory. */
  restore(memory: SocketMemory): void {
    for (const socket of this.#sockets) this.#add(memory, socket);
  }

  /** When the first of the sessions is due, ms since 1970; Infinity for never. */
  dueAtMs({ sessions }: SocketMemory): number {
    let dueMs = Number.POSITIVE_INFINITY;
    for (const session of sessions.values())
      dueMs = Math.min(dueMs, session.dueAtMs(this.#owner.nowMs));
    return dueMs;
  }

  tick({ sessions }: SocketMemory): void {
    for (const session of sessions.values()) session.tick(false, this.#owner.nowMs);
  }

  gate(work: () => void): void {
    this.#owner.gate(work);
  }

  message(socket: Socket, frame: string): void {
    this.#owner.reach((memory) => {
      this.#take(memory, socket, frame);
      this.#owner.acted();
    });
  }

  ended(socket: Socket): void {
    if (!this.#sockets.delete(socket)) return;
    this.#owner.reach((memory) => {
      // The platform doesn't list a closed socket to the object that the close woke.
      if (!memory.sessions.has(socket)) this.#add(memory, socket);
      const session = memory.sessions.get(socket);
      memory.sessions.delete(socket);
      session?.ended();
      this.#owner.acted();
    });
  }

  /** All sockets end with their object. */
  die(): void {
    for (const socket of this.#sockets) socket.die();
    this.#sockets.clear();
  }

  /** All connections break; the object lives on. */
  break(): void {
    for (const socket of this.#sockets) socket.break();
  }

  #take(memory: SocketMemory, socket: Socket, frame: string): void {
    const before = memory.turns.get(socket);
    if (before === undefined) this.#carryOut(memory, socket, frame);
    else before.push(frame);
  }

  #carryOut(memory: SocketMemory, socket: Socket, frame: string): void {
    const { commands } = jsonCodec.decodeFrame(frame);
    const claims = this.#claims.get(socket);
    const work = (): void => {
      const session = memory.sessions.get(socket);
      if (session === undefined) return;
      try {
        for (const command of commands) {
          const { nowMs } = this.#owner;
          session.receive(command, verifiedOf(command, claims, nowMs), nowMs);
        }
      } catch (error) {
        if (!(error instanceof StorageFailure)) throw error;
        session.disconnect(disconnectCodes.internalServerError);
      }
    };
    if (!commands.some(({ method }) => method === "publish")) {
      work();
      return;
    }
    memory.turns.set(socket, []);
    this.#owner.commit(memory, work, () => {
      const waiting = memory.turns.get(socket) ?? [];
      memory.turns.delete(socket);
      for (const next of waiting) this.#take(memory, socket, next);
      this.#owner.acted();
    });
  }

  #add({ sessions, context }: SocketMemory, socket: Socket): void {
    if (!sessions.has(socket)) sessions.set(socket, new Session(socket.saved, socket, context));
  }
}

/** All tokens are valid, and so are all signatures of keys, whose text is the time at which they expire. */
function verifiedOf(
  command: Command,
  claims: ConnectionClaims | undefined,
  nowMs: number,
): VerifiedTokens {
  if (command.method === "connect" && claims !== undefined)
    return { connection: { outcome: "verified", claims } };
  if (command.method !== "sub_refresh") return {};
  const tracks = command.request.track.map(({ signature }) =>
    trackVerdict(
      {
        issuedAt: "0",
        expireAt: signature,
        expireAtSeconds: Number(signature),
        hmac: new Uint8Array(),
      },
      nowMs,
    ),
  );
  return { tracks };
}
