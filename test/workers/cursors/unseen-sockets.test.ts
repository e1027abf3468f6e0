import { env } from "cloudflare:workers";
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { configureEvents } from "../events/event-receiver.ts";
import { beginAnswerClock, endAnswerClock, passAnswerTime } from "../support/answer-clock.ts";
import { publish } from "../support/api-request.ts";
import { loseCalls } from "../support/lose-calls.ts";
import { newChannel } from "../support/new-channel.ts";
import type { Holder } from "../support/place.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { gatewayVariants, type Variant, variants } from "../support/variant.ts";
import { add, allTaken, pass, read, shownOf, stubOf } from "./unseen-story.ts";

const kept = {
  history_size: 10,
  history_ttl: "5m",
  allow_subscribe_for_client: true,
  allow_publish_for_subscriber: true,
  allow_history_for_subscriber: true,
  force_recovery: true,
};
const cursors = { enabled: true, audience: "named", notify_after: "60s", notify_seen: true };
configureEvents(
  { types: ["unseen", "seen"] },
  {
    channel: {
      ...testConfig.channel,
      namespaces: [
        ...testConfig.channel.namespaces,
        { name: "chat", ...kept, cursors },
        { name: "hasty", ...kept, cursors: { ...cursors, notify_after: "2s" } },
        { name: "patient", ...kept, cursors: { ...cursors, notify_after: "4m" } },
        { name: "strict", ...kept, cursors: { ...cursors, notify_unless: "read" } },
        { name: "open", ...kept, cursors: { ...cursors, audience: "subscribed" } },
      ],
    },
  },
);

beforeEach(() => beginAnswerClock(env.CHANNELS.getByName("clock")));
afterEach(endAnswerClock);

/** How far publications are judged: the newest offset for everybody, or how often somebody was asked in vain. */
function judged(channel: string, column: "up_to" | "asked"): Promise<number> {
  return runInDurableObject(stubOf(channel), ({ sql }) => {
    const has = sql.rows("SELECT 1 FROM sqlite_master WHERE name = 'audience_judged'").length > 0;
    const [row] = has ? sql.rows("SELECT * FROM audience_judged") : [];
    return Number(row?.[column] ?? 0);
  });
}

const dueOf = (object: Holder) =>
  runInDurableObject<DurableObject, number>(
    object,
    async (_, { storage }) => (await storage.getAlarm()) ?? Number.POSITIVE_INFINITY,
  );

/** A member's socket, whose client answers pings or doesn't. */
interface Client {
  readonly socket: TestSocket;
  readonly answers: boolean;
  /** How many pings it has answered. */
  pongs: number;
}

/** Answers a ping, a while later; the platform does it without waking the object. */
async function pong(client: Client): Promise<void> {
  const { socket, answers } = client;
  if (!answers || !(await socket.unread()).includes("{}")) return;
  await passAnswerTime();
  pass(5);
  socket.sendFrame("{}");
  await socket.lineWith('"push":{"channel":""}');
  client.pongs++;
}

/** Lets time pass, with every alarm on its way and every pong, until publications have been judged up to an offset. */
function passUntilJudged(
  variant: Variant,
  channel: string,
  upTo: number,
  ...clients: readonly Client[]
): Promise<void> {
  const isJudged = async () => (await judged(channel, "up_to")) >= upTo;
  return passUntil(variant, channel, isJudged, clients);
}

async function passUntil(
  variant: Variant,
  channel: string,
  isOver: () => Promise<boolean>,
  clients: readonly Client[],
): Promise<void> {
  const [own, holder] = [stubOf(channel), variant.place.holder(channel)];
  const objects: readonly Holder[] = own.id.equals(holder.id) ? [own] : [own, holder];
  for (let alarms = 0; !(await isOver()); alarms++) {
    if (alarms > 40) throw new Error("nothing is judged");
    const dues = await Promise.all(objects.map((object) => dueOf(object)));
    const dueMs = Math.min(...dues);
    if (dueMs === Number.POSITIVE_INFINITY) throw new Error("no alarm is set");
    vi.setSystemTime(Math.max(dueMs, Date.now()));
    for (const [index, object] of objects.entries())
      if ((dues[index] ?? 0) <= Date.now()) await runDurableObjectAlarm(object);
    for (const client of clients) await pong(client);
    await watchedRelay.settled();
  }
}

/** A client that is subscribed. */
async function subscribed(
  variant: Variant,
  channel: string,
  user: string,
  answers = true,
): Promise<Client> {
  const socket = await variant.subscribe(channel, user);
  await socket.unread();
  return { socket, answers, pongs: 0 };
}

describe.each(variants)("what members haven't seen, on $name", (variant) => {
  async function pause(channel: string): Promise<void> {
    await allTaken(channel);
    await variant.betweenSteps(channel);
  }

  it("[CU23] [CU25] is told of those who weren't there, and of nobody who got it in time", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann", "bob", "eve");
    const ann = await subscribed(variant, channel, "ann");
    await pause(channel);
    const eve = await subscribed(variant, channel, "eve", false);
    await publish(channel, 1);
    await publish(channel, 2);
    await pause(channel);
    await passUntilJudged(variant, channel, 2, ann, eve);
    expect(await shownOf(channel)).toEqual(["unseen bob 1-2 (2)", "unseen eve 1-2 (2)"]);
  });

  it("[CU45] is told of what came between the loads of a page, and of nothing that each load got", async () => {
    const channel = newChannel("patient");
    await add(channel, "ann");
    let last = 0;
    for (let loads = 0; loads < 3; loads++) {
      const page = await subscribed(variant, channel, "ann");
      for (let count = 0; count < 2; count++) await publish(channel, ++last);
      await pause(channel);
      await passUntil(variant, channel, async () => page.pongs > 0, [page]);
      await pause(channel);
      page.socket.close();
      await page.socket.closed;
      await pause(channel);
      if (loads < 2) await publish(channel, ++last);
    }
    await passUntilJudged(variant, channel, last);
    expect(await shownOf(channel)).toEqual(["unseen ann 3-3 (1)", "unseen ann 6-6 (1)"]);
  });

  it("[CU25] is told of nobody who got it and had no ping yet", async () => {
    const channel = newChannel("hasty");
    await add(channel, "ann", "bob");
    const ann = await subscribed(variant, channel, "ann");
    await pause(channel);
    const sentMs = Date.now();
    await publish(channel, 1);
    await pause(channel);
    await passUntilJudged(variant, channel, 1, ann);
    expect(await shownOf(channel)).toEqual(["unseen bob 1-1 (1)"]);
    expect(Date.now() - sentMs).toBeLessThan(40_000);
  });

  it("[CU25] is told of a client that doesn't answer, soon after it should have", async () => {
    const channel = newChannel("hasty");
    await add(channel, "ann");
    const ann = await subscribed(variant, channel, "ann", false);
    const sentMs = Date.now();
    await publish(channel, 1);
    await pause(channel);
    await passUntilJudged(variant, channel, 1, ann);
    expect(await shownOf(channel)).toEqual(["unseen ann 1-1 (1)"]);
    expect(Date.now() - sentMs).toBeLessThan(40_000);
  });

  it("[CU23] a client's own mark is enough, and the user's own publications don't count", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann", "bob");
    const ann = await subscribed(variant, channel, "ann", false);
    ann.socket.send({ id: 5, publish: { channel, data: "hello" } });
    await ann.socket.lineWith('"id":5');
    await publish(channel, 2);
    ann.socket.send({ id: 6, publish: { channel, data: "again" } });
    await ann.socket.lineWith('"id":6');
    ann.socket.send({ id: 7, rpc: { method: "dormouse.read", data: { channel, offset: 1 } } });
    await ann.socket.lineWith('"id":7');
    await pause(channel);
    await passUntilJudged(variant, channel, 3, ann);
    expect(await shownOf(channel)).toEqual(["unseen ann 2-2 (1)", "unseen bob 1-3 (3)"]);
  });

  it("[CU23] with notify_unless read only what is read counts", async () => {
    const channel = newChannel("strict");
    await add(channel, "ann", "bob");
    const ann = await subscribed(variant, channel, "ann");
    await publish(channel, 1);
    await publish(channel, 2);
    await read("bob", channel, 2);
    await pause(channel);
    await passUntilJudged(variant, channel, 2, ann);
    expect(await shownOf(channel)).toEqual(["unseen ann 1-2 (2)"]);
  });

  it("[CU23] those who have ever subscribed are told of when they are away", async () => {
    const channel = newChannel("open");
    await publish(channel, "before");
    const ann = await subscribed(variant, channel, "ann");
    await pause(channel);
    ann.socket.close();
    await ann.socket.closed;
    await pause(channel);
    await publish(channel, 2);
    await pause(channel);
    await passUntilJudged(variant, channel, 2);
    expect(await shownOf(channel)).toEqual(["unseen ann 2-2 (1)"]);
  });

  it("[CU26] a user who comes back and recovers has seen it, once the channel's object hears of it", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann");
    const { epoch } = await publish(channel, 1);
    await publish(channel, 2);
    await pause(channel);
    await passUntilJudged(variant, channel, 2);
    await pause(channel);
    const socket = await variant.connect(channel, "ann");
    socket.send({ id: 3, subscribe: { channel, recover: true, epoch, offset: 0 } });
    await socket.lineWith('"id":3');
    await pause(channel);
    let alarms = 0;
    await passUntil(variant, channel, async () => alarms++ > 2, [
      { socket, answers: true, pongs: 0 },
    ]);
    await pause(channel);
    expect(await shownOf(channel)).toEqual(["unseen ann 1-2 (2)"]);
    socket.close();
    await socket.closed;
    await vi.waitUntil(async () => (await shownOf(channel)).length > 1);
    expect(await shownOf(channel)).toEqual(["unseen ann 1-2 (2)", "seen ann 1-2"]);
  });

  it("[CU26] a user who comes back and recovers has seen it, or when it asks for the next publication", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann");
    const { epoch } = await publish(channel, 1);
    await publish(channel, 2);
    await pause(channel);
    await passUntilJudged(variant, channel, 2);
    await pause(channel);
    const socket = await variant.connect(channel, "ann");
    socket.send({ id: 3, subscribe: { channel, recover: true, epoch, offset: 0 } });
    await socket.lineWith('"id":3');
    await pause(channel);
    await publish(channel, 3);
    await passUntilJudged(variant, channel, 3, { socket, answers: true, pongs: 0 });
    expect(await shownOf(channel)).toEqual(["unseen ann 1-2 (2)", "seen ann 1-2"]);
  });
});

describe.each(gatewayVariants)("a gateway that doesn't answer, on $name", (variant) => {
  it("[CU25] is asked again, and what it says then counts", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann", "bob");
    const ann = await subscribed(variant, channel, "ann");
    await publish(channel, 1);
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const answerAgain = loseCalls("arrivedOnGateway");
    await variant.betweenSteps(channel);
    await passUntil(variant, channel, async () => (await judged(channel, "asked")) === 2, [ann]);
    expect(await shownOf(channel)).toEqual([]);
    answerAgain();
    await variant.betweenSteps(channel);
    await passUntilJudged(variant, channel, 1, ann);
    expect(await shownOf(channel)).toEqual(["unseen bob 1-1 (1)"]);
  });

  it("[CU25] is asked again, too, when a ping was waited for", async () => {
    const channel = newChannel("hasty");
    await add(channel, "ann", "bob");
    const ann = await subscribed(variant, channel, "ann");
    await publish(channel, 1);
    await passUntil(variant, channel, async () => (await judged(channel, "asked")) > 0, [ann]);
    const waited = await judged(channel, "asked");
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const answerAgain = loseCalls("arrivedOnGateway");
    await variant.betweenSteps(channel);
    const isAskedInVain = async () => (await judged(channel, "asked")) > waited;
    await passUntil(variant, channel, isAskedInVain, [ann]);
    answerAgain();
    await variant.betweenSteps(channel);
    await passUntilJudged(variant, channel, 1, ann);
    expect(await shownOf(channel)).toEqual(["unseen bob 1-1 (1)"]);
  });

  it("[CU25] is asked a few times, and then what is known counts", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann", "bob");
    const ann = await subscribed(variant, channel, "ann");
    await publish(channel, 1);
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const answerAgain = loseCalls("arrivedOnGateway");
    await variant.betweenSteps(channel);
    await passUntilJudged(variant, channel, 1, ann);
    answerAgain();
    expect(await shownOf(channel)).toEqual(["unseen ann 1-1 (1)", "unseen bob 1-1 (1)"]);
  });
});
