import type { WebSocket } from "ws";
import { socketClass } from "./sdk-subscriber.ts";

/** What a client asks for with a subscribe to a map (docs/protocol.md 3.4). */
export interface AskedPage {
  readonly channel: string;
  readonly phase?: number;
  readonly cursor?: string;
  readonly recover?: boolean;
}

/** The reply to it. */
export interface ToldPage {
  readonly phase?: number;
  readonly offset?: number;
  readonly state?: readonly ToldChange[];
  readonly publications?: readonly ToldChange[];
}

/** An entry of a page, or a change. */
export interface ToldChange {
  readonly key?: string;
  readonly data?: string;
  readonly offset?: number;
  readonly removed?: boolean;
}

/**
 * Sockets for an SDK that speaks JSON, which tell what its subscribes are answered. The SDK itself shows a map only when
 * it has put all pages and the changes since together, which hides what was on them.
 *
 * @param noted called for each reply, before the SDK gets it
 */
export function pageSocketClass(
  hostHeader: string | undefined,
  noted: (asked: AskedPage, told: ToldPage) => void,
): ReturnType<typeof socketClass> {
  return class extends socketClass(hostHeader) {
    readonly #asked = new Map<number, AskedPage>();

    constructor(address: string, protocols?: string) {
      super(address, protocols);
      this.addEventListener("message", ({ data }) => {
        if (typeof data === "string") for (const line of data.split("\n")) this.#take(line);
      });
    }

    override send(frame: Parameters<WebSocket["send"]>[0]): void {
      if (typeof frame === "string") for (const line of frame.split("\n")) this.#ask(line);
      super.send(frame);
    }

    #ask(line: string): void {
      if (!line.includes('"subscribe"')) return;
      const { id, subscribe }: { id?: number; subscribe?: AskedPage } = JSON.parse(line);
      if (id !== undefined && subscribe !== undefined) this.#asked.set(id, subscribe);
    }

    #take(line: string): void {
      if (!line.includes('"id"')) return;
      const { id = 0, subscribe }: { id?: number; subscribe?: ToldPage } = JSON.parse(line);
      const asked = this.#asked.get(id);
      this.#asked.delete(id);
      if (asked !== undefined && subscribe !== undefined) noted(asked, subscribe);
    }
  };
}
