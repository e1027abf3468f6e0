import type { Handover } from "../../../src/contract/handover.ts";
import { keepaliveTexts } from "../../../src/contract/keepalive.ts";
import { hashOf } from "../../../src/contract/object-names.ts";
import type { CarriedOut, NumberedOrder } from "../../../src/contract/user-order.ts";
import type { Thrown } from "../../../src/object/commit-queue.ts";
import type { ObjectHost } from "../../../src/object/object-host.ts";
import type { PlatformSockets } from "../../../src/object/platform.ts";
import { SimulatedObject } from "./simulated-object.ts";
import { type ClientEnd, Socket } from "./socket.ts";
import type { Done } from "./world-context.ts";

/** An object that holds clients' sockets, which outlive its memory. */
export abstract class SimulatedHolder<Host extends ObjectHost> extends SimulatedObject<Host> {
  readonly #sockets = new Set<Socket>();
  /** The sockets that wait to be handed over, with what their clients have sent: the platform passes it on after that. */
  readonly #arriving = new Map<Socket, string[]>();
  #opened = 0;
  /** The connection's ID of the socket that is being accepted. */
  #newest = "";

  /** The sockets, as the platform has them for the host. */
  readonly sockets: PlatformSockets = {
    all: () => [...this.#sockets],
    tagsOf: () => [],
    // The platform answers the pings of those clients that ping at all times.
    answeredAtMs: (socket) =>
      socket instanceof Socket && socket.isPinged ? socket.answeredAtMs : this.nowMs,
    setAnswering: () => undefined,
  };

  /** A client connects. @param more what else the edge says of it */
  open(
    client: ClientEnd,
    keepalive: "client" | "server" = "client",
    more: Partial<Handover> = {},
  ): Socket {
    const count = ++this.#opened;
    // The Pusher protocol makes two numbers of a connection's ID.
    const id =
      more.dialect === undefined
        ? `${this.name}/${count}`
        : `${digits(hashOf(this.name), 8)}-0000-4000-8000-${digits(count, 12)}`;
    const socket = new Socket(id, this, client, this.context.timeline, this.context.latency(id));
    socket.isPinged = keepalive === "server";
    this.#arriving.set(socket, []);
    this.reach(({ host }) => {
      host.arrive((outcome) => {
        const frames = this.#arriving.get(socket) ?? [];
        this.#arriving.delete(socket);
        if (socket.isCut) return;
        if (outcome !== "enters" || !socket.isOpen) {
          socket.die();
          return;
        }
        this.#newest = id;
        const accepted = host.accept({ v: 1, keepalive, ...more }, undefined, () => {
          this.#sockets.add(socket);
          return socket;
        });
        if (accepted.outcome !== "accepted") socket.die();
        for (const frame of frames) this.message(socket, frame);
      });
    });
    return socket;
  }

  /** Carries out a home's orders. */
  carryOut(user: string, orders: readonly NumberedOrder[], answer: Done<CarriedOut>): void {
    this.call<CarriedOut>(
      (host, done) => host.carryOut(user, orders, done),
      (carriedOut) => {
        if (carriedOut !== undefined && carriedOut.failed !== true)
          this.context.users?.rules.carriedOut(this.name, user, orders);
        answer(carriedOut);
      },
    );
  }

  /** As {@link call}, for what objects of both kinds do. */
  callHolder<Answer>(
    work: (host: ObjectHost, done: (answer: Answer | Thrown) => void) => void,
    answer: Done<Answer>,
  ): void {
    this.call(work, answer);
  }

  override crash(): void {
    super.crash();
    for (const socket of [...this.#sockets, ...this.#arriving.keys()]) socket.die();
    this.#sockets.clear();
    this.#arriving.clear();
  }

  /** The connections of all sockets break; the object lives on. */
  close(): void {
    for (const socket of this.#sockets) socket.break();
  }

  /** The object's clock jumps. */
  turnClock(byMs: number): void {
    this.skewMs += byMs;
  }

  newClient(): string {
    return this.#newest;
  }

  /** A client's frame has arrived. */
  message(socket: Socket, frame: string): void {
    const early = this.#arriving.get(socket);
    if (early !== undefined) {
      early.push(frame);
      return;
    }
    if (frame === keepaliveTexts.request) {
      socket.answeredAtMs = Math.floor(this.nowMs);
      socket.send(keepaliveTexts.answer);
      return;
    }
    this.reach(({ incarnation, host }) => {
      const over = incarnation.busy();
      host.message(socket, frame, over);
    });
  }

  /** A socket has ended. The platform doesn't list it any more to the object that this wakes. */
  ended(socket: Socket, code: number, wasClean: boolean): void {
    if (!this.#sockets.delete(socket)) return;
    this.reach(({ host }) => host.closed(socket, code, "", wasClean));
  }
}

function digits(number: number, count: number): string {
  return number.toString(16).padStart(count, "0");
}
