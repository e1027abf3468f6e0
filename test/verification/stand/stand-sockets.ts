import type { ObjectHost } from "../../../src/object/object-host.ts";
import type { PlatformSocket, PlatformSockets } from "../../../src/object/platform.ts";
import { textOf } from "../../support/text-of.ts";
import { costsMs } from "./measured-costs.ts";
import type { StandObject } from "./stand-object.ts";

/** The client's end of a socket. */
export interface ClientEnd {
  /** How many clients it stands for. */
  readonly weight: number;
  /** How long a message takes between the client and its gateway, ms. */
  readonly latencyMs: number;
  /** @param atMs when the frame arrives, ms since 1970 */
  receive(frame: string, atMs: number): void;
  closed(): void;
}

/** A socket, which may stand for several: it takes as much of the thread, and counts as often. */
export class StandSocket implements PlatformSocket {
  readonly bufferedAmount = 0;
  readonly client: ClientEnd;
  isOpen = true;
  /** What its client has sent while it waits to be handed over: the platform passes it on after that. */
  early: string[] | undefined = [];
  readonly #object: StandObject;

  constructor(object: StandObject, client: ClientEnd) {
    this.#object = object;
    this.client = client;
  }

  send(message: string | Uint8Array): void {
    if (!this.isOpen) return;
    const { thread, counts } = this.#object;
    const { weight, latencyMs } = this.client;
    thread.spend(costsMs.frame * weight);
    counts.framesSent += weight;
    counts.bytesSent += message.length * weight;
    this.client.receive(textOf(message), thread.leavesAtMs + latencyMs);
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#object.sockets.ended(this);
    this.client.closed();
  }

  serializeAttachment(): void {
    // Nothing is restored here: what loses its memory on the stand loses its sockets, too.
  }

  deserializeAttachment(): undefined {
    return undefined;
  }
}

/** The sockets of one object, as the platform has them. */
export class StandSockets implements PlatformSockets {
  readonly #object: StandObject;
  readonly #open = new Set<StandSocket>();
  #host: (() => ObjectHost) | undefined;
  #opened = 0;

  constructor(object: StandObject) {
    this.#object = object;
  }

  /** Names the host that takes them. */
  serve(host: () => ObjectHost): void {
    this.#host = host;
  }

  all(): readonly PlatformSocket[] {
    return [...this.#open];
  }

  tagsOf(): readonly string[] {
    return [];
  }

  /** The platform answers the pings of all clients that live. */
  answeredAtMs(): number {
    return Math.floor(this.#object.world.moments.nowMs);
  }

  setAnswering(): void {
    // It always does.
  }

  newClient(): string {
    return `${this.#object.name}-${++this.#opened}`;
  }

  /** Opens a socket. The client has made its connection to the object's machine already. */
  open(client: ClientEnd): StandSocket {
    const socket = new StandSocket(this.#object, client);
    this.#object.event((costsMs.comingBack / 2) * client.weight, () => {
      const host = this.#host?.();
      host?.arrive((outcome) => {
        const isIn = outcome === "enters" && socket.isOpen;
        const accepted =
          isIn &&
          host.accept({ v: 1, keepalive: "server" }, undefined, () => {
            this.#open.add(socket);
            return socket;
          }).outcome === "accepted";
        const early = socket.early ?? [];
        socket.early = undefined;
        if (!accepted) socket.close();
        else for (const frame of early) host.message(socket, frame, () => undefined);
      });
    });
    return socket;
  }

  /** A client's frame has arrived. */
  message(socket: StandSocket, frame: string): void {
    const { weight } = socket.client;
    this.#object.counts.messagesTaken += weight;
    this.#object.event((costsMs.comingBack / 4) * weight, () => {
      if (!socket.isOpen) return;
      if (socket.early === undefined) this.#host?.().message(socket, frame, () => undefined);
      else socket.early.push(frame);
    });
  }

  /** The client's end is gone. */
  left(socket: StandSocket): void {
    if (!socket.isOpen) return;
    socket.isOpen = false;
    this.ended(socket);
  }

  ended(socket: StandSocket): void {
    if (!this.#open.delete(socket)) return;
    this.#object.event(costsMs.turn * socket.client.weight, () =>
      this.#host?.().closed(socket, 1006, "", false),
    );
  }

  /** All connections break with the object's memory. */
  cut(): void {
    const open = [...this.#open];
    this.#open.clear();
    for (const socket of open) {
      socket.isOpen = false;
      socket.client.closed();
    }
  }
}
