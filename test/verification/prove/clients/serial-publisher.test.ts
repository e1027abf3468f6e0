import { createServer, type Server, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { HistoryEvent } from "../../checker/history-event.ts";
import { Random } from "../../../support/random.ts";
import { recordedHistory } from "../history/recorded-history.ts";
import { BackendCalls } from "./backend-call.ts";
import { SerialPublisher } from "./serial-publisher.ts";

const history = recordedHistory();
let server: Server | undefined;
afterEach(() => {
  server?.close();
  server = undefined;
});

describe("a publish", () => {
  it("with a lost answer is repeated with its key until it is answered", async () => {
    const { told: outcomes, commands } = await publish([
      cut,
      answer(503, { error: { code: 100 } }),
      done,
    ]);

    expect(outcomes).toEqual(["invoke", "ok 7 e"]);
    expect(new Set(commands)).toEqual(
      new Set(['{"channel":"keep:a","data":"p1-1....","idempotency_key":"p1-1"}']),
    );
    expect(commands).toHaveLength(3);
  });

  it("that is always refused has certainly failed", async () => {
    const { told: outcomes } = await publish([answer(503, { error: { code: 111 } })], {
      giveUpAfterMs: 0,
    });

    expect(outcomes).toEqual(["invoke", "fail"]);
  });

  it("that was lost once and then refused has an unknown outcome", async () => {
    const refuse = answer(200, { error: { code: 111 } });
    const { told: outcomes } = await publish([cut, refuse, refuse, refuse], { giveUpAfterMs: 60 });

    expect(outcomes).toEqual(["invoke", "info"]);
  });

  it("without a key isn't repeated, and has an unknown outcome if its answer is lost", async () => {
    const { told: outcomes, commands } = await publish([cut], { unkeyedShare: 1 });

    expect(outcomes).toEqual(["invoke", "info"]);
    expect(commands).toEqual(['{"channel":"keep:a","data":"p1-1...."}']);
  });

  it("without a listening backend has certainly failed", async () => {
    const { told: outcomes } = await publish([], { giveUpAfterMs: 0 });

    expect(outcomes).toEqual(["invoke", "fail"]);
  });

  it("that can't succeed is an error with a reason", async () => {
    await expect(publish([answer(200, { error: { code: 102 } })])).rejects.toThrow("error 102");
  });
});

type Reaction = (response: ServerResponse) => void;

const cut: Reaction = (response) => response.destroy();
const done = answer(200, { result: { offset: 7, epoch: "e" } });

function answer(status: number, body: object): Reaction {
  return (response) => response.writeHead(status).end(JSON.stringify(body));
}

/**
 * Publishes once to a backend with these reactions in order, of which the last one stays; without reactions no backend
 * listens.
 */
async function publish(reactions: Reaction[], traits: Partial<typeof longTimeout> = {}) {
  const commands: string[] = [];
  const serving = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      commands.push(body);
      const [next] = reactions.length > 1 ? reactions.splice(0, 1) : reactions;
      next?.(response);
    });
  });
  await new Promise<void>((resolve) => serving.listen(0, "127.0.0.1", resolve));
  const bound = serving.address();
  if (bound === null || typeof bound === "string") throw new Error("not a TCP server");
  if (reactions.length > 0) server = serving;
  else await new Promise((resolve) => serving.close(resolve));

  const calls = new BackendCalls({ address: `http://127.0.0.1:${bound.port}`, apiKey: "key" });
  const publisher = new SerialPublisher(
    "p1",
    { ...longTimeout, ...traits },
    calls,
    history().recorder,
    new Random(1),
  );
  try {
    await publisher.publish("keep:a");
  } finally {
    calls.close();
  }
  const outcomes = (await history().events()).map(setOutcome);
  return { told: outcomes, commands };
}

const longTimeout = { payloadBytes: 8, unkeyedShare: 0, giveUpAfterMs: 60_000 };

function setOutcome(event: HistoryEvent): string {
  const { type, offset, epoch }: { type: string; offset?: number; epoch?: string } = event;
  return [type, offset, epoch].filter((word) => word !== undefined).join(" ");
}
