import type { Socket } from "node:net";
import { Direction } from "./direction.ts";
import type { NetworkDelay } from "./network-delay.ts";
import type { LostReplies } from "./lost-replies.ts";
import { SocketEnd } from "./socket-end.ts";

/** The state that all connections of a network share. */
export interface Surroundings {
  readonly target: URL;
  readonly delay: NetworkDelay;
  readonly lostReplies: LostReplies;
}

/**
 * The state of a connection:
 * - `opening` the proxy's socket towards the server isn't connected yet
 * - `healthy` carried, with both ends connected
 * - `lost` one direction or both are silent, and neither end is told
 * - `ending` one end or both have ended, or were told so
 */
export type Standing = "opening" | "healthy" | "lost" | "ending";

/** A client's connection, carried to the server over a connection of the proxy. */
export class CarriedConnection {
  /** Settled when both sockets of the proxy have closed. */
  readonly released: Promise<void>;
  readonly #client: SocketEnd;
  readonly #server: SocketEnd;
  readonly #up: Direction;
  readonly #down: Direction;
  #standing: Standing = "opening";
  /** The number of losses ordered when the client last sent something. */
  #lossesWhenAsked = 0;

  constructor(client: Socket, { target, delay, lostReplies }: Surroundings) {
    this.#client = new SocketEnd(client);
    this.#server = SocketEnd.towards(target);
    const ready = target.protocol.match(/^(https|wss):$/) ? "secureConnect" : "connect";
    this.#server.socket.once(ready, () => {
      if (this.#standing === "opening") this.#standing = "healthy";
    });
    this.#up = new Direction({
      from: this.#client,
      to: this.#server,
      delay,
      takes: () => {
        this.#lossesWhenAsked = lostReplies.ordered;
        return false;
      },
    });
    this.#down = new Direction({
      from: this.#server,
      to: this.#client,
      delay,
      takes: () => {
        const taken = lostReplies.takes(this.#lossesWhenAsked);
        if (taken) this.reset();
        return taken;
      },
    });
    for (const end of [this.#client, this.#server]) {
      end.socket.once("end", () => this.#peerEnded(end));
      end.socket.once("close", () => this.#peerEnded(end));
    }
    this.released = this.#release();
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** Ends both ends in order; bytes in transit are lost. An end that goes on sending isn't read any more. */
  finish(): void {
    this.#silenceBoth("ending");
    this.#client.finish();
    this.#server.finish();
  }

  /** Ends both ends with RST. */
  reset(): void {
    this.#silenceBoth("ending");
    this.#client.reset();
    this.#server.reset();
  }

  /** Carries nothing any more, and tells neither end. */
  vanish(): void {
    this.#silenceBoth("lost");
  }

  /** Carries nothing to the client any more. */
  silenceDown(): void {
    this.#standing = "lost";
    this.#down.silence();
  }

  /** Carries nothing from the client any more. */
  silenceUp(): void {
    this.#standing = "lost";
    this.#up.silence();
  }

  /** Doesn't read from the server for so long, and then goes on. */
  stall(ms: number): void {
    this.#down.stall(ms);
  }

  #silenceBoth(standing: "lost" | "ending"): void {
    this.#standing = standing;
    this.#up.silence();
    this.#down.silence();
  }

  #peerEnded(end: SocketEnd): void {
    if (this.#standing === "opening" || this.#standing === "healthy") this.#standing = "ending";
    // Nothing will be sent to this end any more, so its socket is closed. The other end isn't told.
    if (this.#up.silent && this.#down.silent) end.socket.destroySoon();
  }

  async #release(): Promise<void> {
    await Promise.all([this.#client.closed, this.#server.closed]);
    this.#silenceBoth("ending");
  }
}
