import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { type Place, places, spillPlace } from "./place.ts";
import { TestSocket } from "./test-socket.ts";
import { token } from "./sign-token.ts";
import { awake, evicted, type ObjectState } from "./object-state.ts";

/** A variant of a scenario: the place of the socket, and the state of the objects between two steps. */
export class Variant {
  readonly name: string;
  readonly place: Place;
  readonly #objectState: ObjectState;

  constructor(place: Place, { name, betweenSteps: pause }: ObjectState) {
    this.name = `${place.name}, objects ${name}`;
    this.place = place;
    this.#objectState = { name, betweenSteps: pause };
  }

  /** Opens a socket; throws when the upgrade is refused. */
  async open(channel: string, query = "", headers: object = {}): Promise<TestSocket> {
    return TestSocket.on(await this.place.upgrade(channel, query, headers));
  }

  /** Opens a socket and connects as a user, with whatever else the token claims. */
  async connect(
    channel: string,
    user: string,
    claims: object = {},
    query = "",
  ): Promise<TestSocket> {
    const socket = await this.open(channel, query);
    await socket.ask({ id: 1, connect: { token: await token({ sub: user, ...claims }) } });
    return socket;
  }

  /** Connects and subscribes, as command 2. Its own join, where there is one, is still to be read. */
  async subscribe(channel: string, user: string, claims: object = {}): Promise<TestSocket> {
    const socket = await this.connect(channel, user, claims);
    await socket.ask({ id: 2, subscribe: { channel } });
    return socket;
  }

  /**
   * Between two steps: lets the objects stay, or throws them away; checks that at the last call it came to that.
   *
   * @param channel whose object it is, and that of its sockets
   * @param others  more channels on the same sockets
   */
  async betweenSteps(channel: string, ...others: readonly string[]): Promise<void> {
    const own = [channel, ...others].map((name) => env.CHANNELS.getByName(name));
    const holder = this.place.holder(channel);
    const isOwn = own.some(({ id }) => id.equals(holder.id));
    await this.#objectState.betweenSteps(isOwn ? own : [holder, ...own]);
  }

  /** Has the alarm ring of the object that holds the sockets, at a time of the test's clock, ms since 1970. */
  async runAlarmAt(channel: string, nowMs: number): Promise<void> {
    vi.setSystemTime(nowMs);
    const ran = await runDurableObjectAlarm(this.place.holder(channel));
    if (!ran) throw new Error("no alarm is set");
  }

  /** Lets time pass until that alarm is due, and has it ring; gives the time. */
  async runAlarmWhenDue(channel: string): Promise<number> {
    const dueMs = await runInDurableObject<DurableObject, number | null>(
      this.place.holder(channel),
      (_, { storage }) => storage.getAlarm(),
    );
    await this.runAlarmAt(channel, Math.max(dueMs ?? 0, Date.now()));
    return Date.now();
  }
}

/** For `describe.each`: every place, awake and evicted. */
export const everyVariant: readonly Variant[] = places.flatMap((place) =>
  [awake, evicted].map((one) => new Variant(place, one)),
);

/** The same, but of gateways only one for many channels: a spill gateway is the same object, with sockets for one channel. */
export const variants: readonly Variant[] = everyVariant.filter(
  ({ place }) => place !== spillPlace,
);

/** The same, but only awake: for tests that see to the objects themselves. */
export const awakeVariants: readonly Variant[] = places.map((place) => new Variant(place, awake));

/** The variants with many channels for each socket. */
export const gatewayVariants: readonly Variant[] = variants.filter(
  ({ place }) => !place.oneChannel,
);
