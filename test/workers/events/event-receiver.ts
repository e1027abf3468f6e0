import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { userKey } from "../../../src/contract/identity-key.ts";
import { homeName, homeObject } from "../../../src/contract/object-names.ts";
import { eventLimits } from "../../../src/features/events/limits.ts";
import { configure } from "../support/configure.ts";
import { testConfig } from "../support/test-config.ts";

/**
 * Configures the Worker of one test file so that it tells the receiver of events. See {@link configure}.
 *
 * @param others sections that take the place of the tests' own
 */
export function configureEvents(events: object, others: object = {}): void {
  configure({ ...testConfig, ...others, events: { target: "service:RECEIVER", ...events } });
  Object.assign(env, { HOOK_SIGNING_SECRET: "signs-the-events-of-worker-tests" });
  // Evictions wait for an object's timers, so with the real pauses each step of a test would take a second.
  Object.assign(eventLimits, { eventsFirstWaitMs: 20, eventsPauseMs: 50, eventsRetryMs: 50 });
}

/** An event as the receiver has taken it. */
export interface TakenEvent {
  readonly object: string;
  readonly number: number;
  readonly time: number;
  readonly type: string;
  readonly first?: true;
  readonly channel?: string;
  readonly user?: string;
  readonly client?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly data?: number | string | object;
  readonly traceparent?: string;
  readonly published_at?: number;
  readonly committed_at?: number;
}

/** The types of the events about a user that the user's home has told of, once there are so many. */
export async function toldOfUser(user: string, count: number): Promise<readonly string[]> {
  const typesIn = (events: readonly TakenEvent[]): readonly string[] =>
    withoutRepeats(events)
      .filter((event) => event.user === user)
      .map(({ type }) => type);
  const object = homeObject(homeName(userKey(user)));
  return typesIn(await takenWhen(object, (events) => typesIn(events).length >= count));
}

/** What the receiver has taken of an object, in order, also what was repeated. */
export async function takenOf(object: string): Promise<readonly TakenEvent[]> {
  const { taken } = await state();
  return taken.filter((event) => event.object === object);
}

/** The same, once it has taken an event for which this holds. */
export function takenUntil(
  object: string,
  isLast: (event: TakenEvent) => boolean,
): Promise<readonly TakenEvent[]> {
  return takenWhen(object, (events) => events.some(isLast));
}

/** The same, once it has taken enough. */
export function takenWhen(
  object: string,
  isEnough: (events: readonly TakenEvent[]) => boolean,
): Promise<readonly TakenEvent[]> {
  return vi.waitUntil(
    async () => {
      const events = await takenOf(object);
      return isEnough(events) && events;
    },
    { timeout: 20_000, interval: 20 },
  );
}

/** How many requests the receiver has had. */
export async function requestCount(): Promise<number> {
  return (await state()).requests;
}

/** Has the receiver answer with this status from now on, after so many ms. */
export async function answerWith(status: number, waitMs = 0): Promise<void> {
  const body = JSON.stringify({ status, waitMs });
  await env.RECEIVER.fetch("https://receiver/answer", { method: "POST", body });
}

/** Drops repetitions, as a receiver is to do. */
export function withoutRepeats(events: readonly TakenEvent[]): readonly TakenEvent[] {
  let last = 0;
  return events.filter(({ number }) => {
    const isNew = number > last;
    last = Math.max(last, number);
    return isNew;
  });
}

async function state(): Promise<{
  readonly taken: readonly TakenEvent[];
  readonly requests: number;
}> {
  return (await env.RECEIVER.fetch("https://receiver/taken")).json();
}
