import type { PresenceAnswer } from "../../../../src/protocol/reply.ts";
import type { GatheredPresence } from "../../../../src/channel/presence.ts";
import { type PresenceQuestion, SharedPresence } from "../../../../src/channel/shared-presence.ts";
import type { Codec } from "../../../../src/protocol/codec.ts";
import type { ErrorCode } from "../../../../src/protocol/codes.ts";
import { RecordingSubscriber } from "../../hub/recording-subscriber.ts";

type Gathered = GatheredPresence | { readonly error: ErrorCode };

/** A shared presence whose turns of the event loop, and whose gateways' answers, come when a test says so. */
export class HeldPresence {
  /** The subscribers of the object's own sockets. */
  subscribers: readonly RecordingSubscriber[] = [];
  /** Answers that gateways owe, oldest first. */
  readonly gathering: ((gathered: Gathered) => void)[] = [];
  /** What the gateways say at once; undefined if they are to answer later. */
  gathered: Gathered | undefined = { clients: [], complete: true };
  /** What waits for longer than a turn. */
  readonly timers: { readonly waitMs: number; readonly work: () => void }[] = [];
  /** How often the clients were listed. */
  censuses = 0;
  readonly presence: SharedPresence;
  #turns: (() => void)[] = [];

  constructor() {
    this.presence = new SharedPresence({
      later: (waitMs, work) => {
        if (waitMs === 0) this.#turns.push(work);
        else this.timers.push({ waitMs, work });
      },
      gather: (done) => {
        if (this.gathered === undefined) this.gathering.push(done);
        else done(this.gathered);
      },
      subscribers: () => {
        this.censuses++;
        return this.subscribers;
      },
    });
  }

  /** How many pieces of work wait for the next turn. */
  get waiting(): number {
    return this.#turns.length;
  }

  /** Gives the event loop a turn. */
  turn(): void {
    const turns = this.#turns;
    this.#turns = [];
    for (const work of turns) work();
  }

  /** Gives it as many turns as it takes until nothing waits for one, and says how many. */
  turnAll(): number {
    let count = 0;
    for (; this.waiting > 0; count++) this.turn();
    return count;
  }

  /** Asks, as a client of its own unless another is given, and gives the answers so far. */
  ask(codec?: Codec, client: object = {}): readonly PresenceAnswer[] {
    return this.#ask({ client, codec });
  }

  /** Asks as the edge or a gateway. */
  call(codec?: Codec): readonly PresenceAnswer[] {
    return this.#ask({ codec });
  }

  #ask(asker: Omit<PresenceQuestion, "done">): readonly PresenceAnswer[] {
    const answers: PresenceAnswer[] = [];
    this.presence.ask({ ...asker, done: (answer) => answers.push(answer) });
    return answers;
  }
}

/** So many subscribers of different users. */
export function members(count: number): RecordingSubscriber[] {
  return Array.from({ length: count }, (_, index) => new RecordingSubscriber(`user${index}`));
}
