import { describe, expect, it } from "vitest";
import { queueLimits } from "../../../../src/features/queues/limits.ts";
import { configOf, problemsOf } from "../../config/parsed.ts";

const queue = { queue: "dormouse-orders", methods: ["publish", "disconnect"], channels: ["*"] };
const orders = { name: "orders", type: "cloudflare_queue", enabled: true, cloudflare_queue: queue };

function changed(changes: object, queueChanges: object = {}): object {
  return { ...orders, ...changes, cloudflare_queue: { ...queue, ...queueChanges } };
}

/** So many consumers, each of a queue of its own. */
function many(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) =>
    changed({ name: `c${index}_` }, { queue: `queue-${index}` }),
  );
}

describe("[A8] the section consumers", () => {
  it("[M1] is empty by default, and takes queues with what their messages may do", () => {
    expect(configOf({}).consumers).toStrictEqual([]);
    const second = changed(
      { name: "news" },
      {
        queue: "news",
        methods: undefined,
        channels: ["news:*"],
        dead_letter: "queue:REFUSED",
        publication_data_mode: { enabled: true },
      },
    );
    expect(configOf({ consumers: [orders, second] }).consumers).toStrictEqual([
      {
        name: "orders",
        queue: "dormouse-orders",
        rights: { methods: ["publish", "disconnect"], channels: ["*"] },
        publicationDataMode: false,
      },
      {
        name: "news",
        queue: "news",
        rights: { methods: ["broadcast"], channels: ["news:*"] },
        publicationDataMode: true,
        deadLetter: { kind: "queue", binding: "REFUSED" },
      },
    ]);
  });

  it("[M1] leaves out what isn't enabled, and checks it all the same", () => {
    const off = changed({ name: "off", enabled: undefined });
    expect(configOf({ consumers: [off, orders] }).consumers).toMatchObject([{ name: "orders" }]);
    expect(problemsOf({ consumers: [changed({ enabled: false }, { queue: "-" })] })).toStrictEqual([
      `consumers[0] ("orders").cloudflare_queue.queue: "-" is not the name of a queue`,
    ]);
  });

  it("[M1] takes a consumer of another type if it is switched off", () => {
    const kafka = { name: "kafka", type: "kafka", kafka: { brokers: ["localhost:9092"] } };
    expect(configOf({ consumers: [kafka] }).consumers).toStrictEqual([]);
    expect(problemsOf({ consumers: [{ ...kafka, enabled: true }] })).toStrictEqual([
      `consumers[0] ("kafka").type: "kafka" is not supported by Dormouse: write "cloudflare_queue"`,
    ]);
    expect(problemsOf({ consumers: [{ ...kafka, enabeld: true }] })).toStrictEqual([
      `consumers[0] ("kafka").enabeld is unknown; did you mean enabled?`,
    ]);
  });

  it("names what does the work of a consumer of PostgreSQL", () => {
    const table = { name: "table", type: "postgresql", enabled: true, postgresql: { dsn: "" } };
    expect(problemsOf({ consumers: [table] })).toStrictEqual([
      `consumers[0] ("table").type: "postgresql" is not supported by Dormouse: run dormouse outbox`,
    ]);
  });

  it.each([
    ["name", undefined, " is missing"],
    ["name", "a", `: "a" is not 2 to 64 of A-Z, a-z, 0-9 and _`],
    ["name", "or-ders", `: "or-ders" is not 2 to 64 of A-Z, a-z, 0-9 and _`],
    ["type", undefined, " is missing"],
  ])("refuses %s: %j", (key, value, predicate) => {
    const [problem, ...more] = problemsOf({ consumers: [{ ...orders, [key]: value }] });
    expect(problem).toMatch(/^consumers\[0\]/);
    expect(problem).toContain(`.${key}${predicate}`);
    expect(more).toEqual([]);
  });

  it.each([
    ["queue", undefined, " is missing"],
    ["queue", "dormouse orders", `: "dormouse orders" is not the name of a queue`],
    ["queue", "x".repeat(64), " is not the name of a queue"],
    ["methods", undefined, " is missing"],
    ["methods", [], " is missing"],
    ["methods", ["history"], `"history" is not "*" or one of publish, broadcast, history_remove`],
    ["channels", undefined, " is missing"],
    ["channels", [""], " is not a channel's name or a pattern of names"],
    ["channels", ["[a"], " is not a channel's name or a pattern of names"],
    ["dead_letter", "REFUSED", ` is not "queue:" and the name of a binding`],
    ["publication_data_mode", { enabled: true }, ""],
  ])("[M1] refuses %s: %j of a queue", (key, value, predicate) => {
    const [problem, ...more] = problemsOf({ consumers: [changed({}, { [key]: value })] });
    expect(problem).toMatch(/^consumers\[0\] \("orders"\)\.cloudflare_queue\./);
    expect(problem).toContain(predicate);
    expect(more).toEqual([]);
  });

  it("[M1] refuses methods where messages only publish", () => {
    const mode = { publication_data_mode: { enabled: true } };
    expect(problemsOf({ consumers: [changed({}, mode)] })).toStrictEqual([
      `consumers[0] ("orders").cloudflare_queue.methods can't be set with publication_data_mode: messages only publish`,
    ]);
  });

  it("refuses a name of another consumer, and a queue that another one takes from", () => {
    expect(problemsOf({ consumers: [orders, changed({}, { queue: "other" })] })).toStrictEqual([
      `consumers[1] ("orders").name is already the name of consumers[0] ("orders")`,
    ]);
    expect(problemsOf({ consumers: [orders, changed({ name: "more" })] })).toStrictEqual([
      `consumers[1] ("more").cloudflare_queue.queue is already the queue of consumers[0] ("orders").cloudflare_queue`,
    ]);
    const off = changed({ name: "more", enabled: false });
    expect(problemsOf({ consumers: [orders, off] })).toStrictEqual([]);
  });

  it("[B1] refuses more consumers than limits.consumersMax", () => {
    expect(problemsOf({ consumers: many(queueLimits.consumersMax) })).toStrictEqual([]);
    expect(problemsOf({ consumers: many(queueLimits.consumersMax + 1) })).toStrictEqual([
      `consumers has more than ${queueLimits.consumersMax} entries`,
    ]);
  });
});
