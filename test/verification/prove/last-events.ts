import {
  channelNode,
  eventObject,
  gatewayNode,
  homeObject,
} from "../../../src/contract/object-names.ts";
import { eventLimits } from "../../../src/features/events/limits.ts";
import { limits } from "../../../src/limits.ts";
import type { EventsTold } from "../checker/history-event.ts";
import type { EventReceiver } from "./backends/event-receiver.ts";
import { BackendCalls } from "./clients/backend-call.ts";
import type { LocalServer, ObjectKind } from "./server/local-server.ts";
import type { Target } from "./target.ts";

/**
 * What the server tells after all connections have ended: at once, and when as much time has passed as it may take to find
 * connections, users and channels that ended with their objects (rules E9 to E11). Nobody waits for that: the clock of the
 * objects is set ahead, and the alarms that are set for then ring.
 */
export class LastEvents {
  readonly #server: LocalServer;
  readonly #receiver: EventReceiver;
  readonly #calls: BackendCalls;
  readonly #objects: readonly NamedObject[];

  constructor(server: LocalServer, receiver: EventReceiver, target: Target) {
    this.#server = server;
    this.#receiver = receiver;
    this.#calls = new BackendCalls({ address: target.url.origin, apiKey: target.apiKey });
    this.#objects = objectsOf(target);
  }

  /** @param told called when so much must have been told */
  async await(told: (what: EventsTold["what"]) => void): Promise<void> {
    this.#receiver.settle();
    await this.#allTaken();
    this.#receiver.ignoreTimes();
    await this.#ring(eventLimits.eventsConnectionsCheckMs + marginMs);
    await this.#allTaken();
    told("connections");
    const hourMs = Math.max(limits.eventsHoldersCheckMs, eventLimits.eventsFollowersCheckMs);
    // What one alarm begins, the next ones go on with.
    for (let rings = 1; rings <= 3; rings++) await this.#ring(hourMs + rings * marginMs);
    await this.#allTaken();
    told("everything");
    this.#calls.close();
  }

  /** Sets the clock so far ahead of the right time, and rings the alarms that are due then. */
  async #ring(aheadMs: number): Promise<void> {
    await Promise.all(
      this.#objects.map(({ kind, name }) => this.#server.ring(kind, name, aheadMs)),
    );
  }

  /** Resolves when no object has an event that the receiver lacks, or after a minute: the checker names what is missing. */
  async #allTaken(): Promise<void> {
    const endMs = performance.now() + patienceMs;
    do {
      await this.#receiver.quiet();
      if (await this.#hasAll()) return;
    } while (performance.now() < endMs);
  }

  async #hasAll(): Promise<boolean> {
    for (const { object } of this.#objects) {
      const since = this.#receiver.last.get(object) ?? 0;
      const called = await this.#calls.call("events", { object, since, limit: 1 });
      if (called.outcome !== "result") return false;
      const { events = [] }: { readonly events?: readonly object[] } = called.result;
      if (events.length > 0) return false;
    }
    return true;
  }
}

/** An object that has events. */
interface NamedObject {
  readonly kind: ObjectKind;
  readonly name: string;
  /** Its name in its events. */
  readonly object: string;
}

function objectsOf({ scenario, gateways }: Target): readonly NamedObject[] {
  const channels = scenario.channels.map(({ name }): NamedObject => {
    return { kind: "CHANNELS", name, object: eventObject(channelNode(name)) };
  });
  const others = gateways.map((name): NamedObject => {
    return { kind: "GATEWAYS", name, object: eventObject(gatewayNode(name)) };
  });
  const homes = Array.from({ length: limits.homes }, (_, index): NamedObject => {
    return { kind: "USERS", name: String(index), object: homeObject(String(index)) };
  });
  return [...channels, ...others, ...homes];
}

/** An alarm that is set for up to a minute later counts, too. */
const marginMs = 60_000;
const patienceMs = 60_000;
