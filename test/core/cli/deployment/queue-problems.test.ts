import { describe, expect, it } from "vitest";
import { queueProblems } from "../../../../cli/deployment/queue-problems.ts";
import { configOf } from "../../config/parsed.ts";

const { consumers } = configOf({
  consumers: [
    {
      name: "orders",
      type: "cloudflare_queue",
      enabled: true,
      cloudflare_queue: {
        queue: "dormouse-orders",
        methods: ["*"],
        channels: ["*"],
        dead_letter: "queue:REFUSED",
      },
    },
  ],
});
const consumed = { queue: "dormouse-orders", dead_letter_queue: "dormouse-refused" };
const producer = { binding: "REFUSED", queue: "dormouse-refused" };

describe("the queues of wrangler.toml", () => {
  it("[M1] [M5] are those of the consumers, with a place for what is refused", () => {
    expect(queueProblems([], {})).toStrictEqual([]);
    const queues = { consumers: [consumed], producers: [producer] };
    expect(queueProblems(consumers, queues)).toStrictEqual([]);
  });

  it("[M1] have one for each consumer, and no others", () => {
    expect(queueProblems(consumers, {})).toStrictEqual([
      `consumer orders: [[queues.consumers]] of wrangler.toml doesn't have queue = "dormouse-orders"`,
    ]);
    expect(queueProblems([], { consumers: [consumed] })).toStrictEqual([
      `[[queues.consumers]] has queue = "dormouse-orders", which no enabled consumer names`,
    ]);
  });

  it.each([
    [{ queue: "dormouse-orders" }, " has no dead_letter_queue, without which Cloudflare deletes"],
    [{ ...consumed, dead_letter_queue: "dormouse-orders" }, " is its own dead_letter_queue"],
  ])("[M5] never lose a message: %j", (own, problem) => {
    const queues = { consumers: [own], producers: [producer] };
    expect(queueProblems(consumers, queues)).toStrictEqual([expect.stringContaining(problem)]);
  });

  it("[M5] have a queue for refused messages that the Worker doesn't take again", () => {
    const producers = [{ binding: "REFUSED", queue: "dormouse-orders" }];
    expect(queueProblems(consumers, { consumers: [consumed], producers })).toStrictEqual([
      "consumer orders: the Worker itself is the consumer of the queue of dead_letter, REFUSED",
    ]);
  });
});
