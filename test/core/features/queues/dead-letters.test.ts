import { expect, it } from "vitest";
import { configurationOf } from "../../../../workers/platform/configuration.ts";

const orders = {
  name: "orders",
  type: "cloudflare_queue",
  enabled: true,
  cloudflare_queue: {
    queue: "dormouse-orders",
    methods: ["*"],
    channels: ["*"],
    dead_letter: "queue:REFUSED",
  },
};
const settings = {
  API_KEY: "the-api-key-of-the-test",
  TOKEN_HMAC_SECRET_KEY: "the-hmac-secret-of-the-test",
  config: JSON.stringify({ consumers: [orders] }),
};

it.each([[{}], [{ REFUSED: "a text" }], [{ REFUSED: {} }]])(
  "[A8] [M5] a Worker without the queue for refused messages isn't configured: %j",
  (bindings) => {
    expect(configurationOf({ ...settings, ...bindings })).toStrictEqual({
      outcome: "unconfigured",
      problems: [
        "binding REFUSED to the queue that consumers.orders.dead_letter names is missing: add it to [[queues.producers]] in wrangler.toml",
      ],
    });
  },
);

it("[A8] [M5] a Worker that has it is", () => {
  const env = { ...settings, REFUSED: { send: () => Promise.resolve() } };
  const configuration = configurationOf(env);
  if (configuration.outcome === "unconfigured") throw new Error(configuration.problems.join());
  expect(configuration.config.consumers).toHaveLength(1);
});
