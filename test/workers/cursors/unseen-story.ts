import { env } from "cloudflare:workers";
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect, vi } from "vitest";
import { call } from "../support/api-request.ts";

/** What tests of notices do, and what they ask. */

/** An event about what a member has seen, or hasn't. */
export interface Told {
  readonly type: string;
  readonly user: string;
  readonly from: number;
  readonly to: number;
  readonly count?: number;
  readonly since_ms?: number;
}

/** The object of a channel. */
export const stubOf = (channel: string) => env.CHANNELS.getByName(channel);
/** Lets time pass. */
export const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

/** Asks for a change; fails if it is refused. */
export async function request(method: string, fields: object): Promise<void> {
  const { body } = await call(method, fields);
  if (!body.startsWith('{"result":')) throw new Error(`${method}: ${body}`);
}

/** Makes users members of the audience. */
export const add = (channel: string, ...users: readonly string[]) =>
  request("add_audience", { channel, users });
/** Marks for a backend. */
export const read = (user: string, channel: string, offset: number) =>
  request("mark_read", { user, channel, offset });

/** What the channel has told of, in order. */
export async function toldOf(channel: string): Promise<readonly Told[]> {
  const { body } = await call("events", { object: `channel/${channel}`, limit: 1_000 });
  const { result }: { result?: { events?: Told[] } } = JSON.parse(body);
  return result?.events ?? [];
}

/** Lets time pass until the receiver has taken everything: meanwhile the object can't be evicted. */
export async function allTaken(channel: string): Promise<void> {
  await vi.waitUntil(async () => {
    const waits = await runInDurableObject(stubOf(channel), ({ sql }) => {
      if (sql.rows("SELECT 1 FROM sqlite_master WHERE name = 'outbox'").length === 0) return false;
      const [outbox] = sql.rows("SELECT delivered FROM outbox");
      const [newest] = sql.rows("SELECT max(number) AS number FROM event");
      return outbox?.["delivered"] !== newest?.["number"];
    });
    if (waits) pass(200);
    return !waits;
  });
}

const shown = ({ type, user, from, to, count }: Told): string =>
  `${type} ${user} ${from}-${to}${count === undefined ? "" : ` (${count})`}`;

/** The same, each in a few words. */
export async function shownOf(channel: string): Promise<readonly string[]> {
  return (await toldOf(channel)).map((each) => shown(each));
}

/** When the alarm of the object is set for, ms since 1970. */
export function alarmOf(channel: string): Promise<number | null> {
  return runInDurableObject(stubOf(channel), (_, { storage }) => storage.getAlarm());
}

/** Lets time pass until the object's alarm is due, and has it ring. */
export async function ring(channel: string): Promise<void> {
  const dueMs = await alarmOf(channel);
  if (dueMs === null) throw new Error("no alarm is set");
  vi.setSystemTime(Math.max(dueMs, Date.now()));
  expect(await runDurableObjectAlarm(stubOf(channel))).toBe(true);
}
