import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { parseJsonText } from "../../../src/protocol/json/text.ts";
import { handoverHeader } from "../../../src/contract/handover.ts";
import { newChannel } from "../support/new-channel.ts";

describe("a call from an edge of the next release", () => {
  it("[V1] with fields that this one doesn't know is carried out", async () => {
    const channel = newChannel("ring");
    const data = parseJsonText('{"n":1.0}');
    if (data === undefined) throw new Error("not JSON");
    const request = {
      data,
      skipHistory: false,
      idempotencyKey: "",
      version: 0n,
      versionEpoch: "",
      delta: false,
      later: { a: 1 },
    };
    const publication = { method: "publish", request, later: true } as const;
    const reading = {
      method: "history",
      request: { limit: -1, reverse: false, later: "x" },
    } as const;
    const removal = { method: "history_remove", later: 1 } as const;
    const answered = await env.CHANNELS.getByName(channel).execute([publication, reading, removal]);
    if (answered.outcome !== "answers") throw new Error(answered.outcome);
    const [published, history, removed] = answered.answers.map((answer) => JSON.stringify(answer));
    expect(published).toContain('offset\\":1');
    expect(history).toContain('{\\"data\\":{\\"n\\":1.0},\\"offset\\":1}');
    expect(removed).toBe('{"result":"{}"}');
  });

  it("[V1] with a socket in a format that this one doesn't know is answered 503 with Retry-After", async () => {
    const handover = { v: 1, keepalive: "server", codec: "later" };
    const headers = {
      Upgrade: "websocket",
      [handoverHeader]: encodeURIComponent(JSON.stringify(handover)),
    };
    const object = env.CHANNELS.getByName(newChannel("ring"));
    const response = await object.fetch("https://object/websocket", { headers });
    expect([response.status, response.webSocket]).toStrictEqual([503, null]);
    expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(0);
  });
});
