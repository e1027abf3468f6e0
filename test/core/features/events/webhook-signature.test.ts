import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { WebhookSigner } from "../../../../workers/platform/webhook-signature.ts";

const body = '{"a":"é"}';
const nowMs = 1_700_000_000_999;

function signature(key: string | Buffer): string {
  const hmac = createHmac("sha256", key).update(`id-1.1700000000.${body}`).digest("base64");
  return `v1,${hmac}`;
}

describe("a question to a backend", () => {
  it("[Q8] is signed as Standard Webhooks says", async () => {
    const headers = await new WebhookSigner(["a-secret-of-enough-length"]).headers(
      "id-1",
      body,
      nowMs,
    );
    expect(headers).toStrictEqual({
      "webhook-id": "id-1",
      "webhook-timestamp": "1700000000",
      "webhook-signature": signature("a-secret-of-enough-length"),
    });
  });

  it("[Q8] takes the key from base64 after the prefix of Standard Webhooks", async () => {
    const key = Buffer.from("0123456789abcdef0123456789abcdef");
    const signer = new WebhookSigner([`whsec_${key.toString("base64")}`]);
    const headers = await signer.headers("id-1", body, nowMs);
    expect(headers["webhook-signature"]).toBe(signature(key));
  });

  it("[Q8] takes a secret with that prefix and no base64 after it as it is", async () => {
    const headers = await new WebhookSigner(["whsec_*not base64*"]).headers("id-1", body, nowMs);
    expect(headers["webhook-signature"]).toBe(signature("whsec_*not base64*"));
  });

  it("[Q8] signs with both secrets while they are rotated", async () => {
    const headers = await new WebhookSigner(["new-secret", "old-secret"]).headers(
      "id-1",
      body,
      nowMs,
    );
    expect(headers["webhook-signature"]).toBe(
      `${signature("new-secret")} ${signature("old-secret")}`,
    );
  });
});
