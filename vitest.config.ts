import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { ClosingLineReporter } from "./test/support/closing-line-reporter.ts";
import { LongestFirst } from "./test/support/longest-first.ts";
import { instrumented } from "./test/support/instrumented.ts";
import { unsetSecrets } from "./test/support/servers/unset-secrets.ts";
import { testConfig, testSecrets } from "./test/workers/support/test-config.ts";

const workerd = () =>
  cloudflareTest({
    wrangler: { configPath: "./wrangler.toml" },
    // These win over .dev.vars and over [vars], so that the tests know what they test.
    miniflare: {
      bindings: { ...unsetSecrets, ...testSecrets, config: testConfig },
      // Other Workers of the account: one that hooks ask, one that takes events, and one that takes refused messages.
      serviceBindings: {
        BACKEND: "hook-backend",
        RECEIVER: "receiver",
        DEAD_LETTERS: "dead-letters",
      },
      // The queue of events, the one whose messages the Worker under test carries out, and the one for those it refuses.
      queueProducers: { EVENTS: "events", ORDERS: "orders", REFUSED: "refused-orders" },
      queueConsumers: {
        orders: { maxBatchTimeout: 0.1, maxRetries: 3, deadLetterQueue: "refused-orders" },
      },
      workers: [
        {
          name: "hook-backend",
          modules: true,
          scriptPath: "./test/workers/support/programs/hook-backend.js",
          compatibilityDate: "2026-11-02",
        },
        {
          name: "receiver",
          modules: true,
          scriptPath: "./test/workers/support/programs/receiver-worker.mjs",
          compatibilityDate: "2026-11-02",
          queueConsumers: { events: { maxBatchTimeout: 0.1 } },
        },
        {
          name: "dead-letters",
          modules: true,
          scriptPath: "./test/workers/support/programs/dead-letters.js",
          compatibilityDate: "2026-11-02",
          queueConsumers: { "refused-orders": { maxBatchTimeout: 0.1 } },
        },
      ],
    },
  });

/** How long a test may take. A timeout is to tell of a test that hangs, and never of a machine that is busy. */
const patience = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } },
};

/** What `npm test` shows of the official JavaScript client: each transport, at both addresses, and recovery. */
const official = [
  "test/clients/connection/every-wire.test.ts",
  "test/clients/connection/journey.test.ts",
  "test/clients/recovery/recovery.test.ts",
];

/** Tests whose files start servers of their own. A process for each file would load the clients and the runtime's starter anew. */
const withServers = {
  benchmark: { include: [] },
  environment: "node",
  isolate: false,
  globalSetup: ["test/support/environments/run-folder.ts"],
  // Otherwise wrangler stores a trace of every request, frame and alarm, which `npm start` doesn't do either.
  // npm's own patience with a silent registry, 5 minutes, is longer than that of a test.
  env: { X_LOCAL_OBSERVABILITY: "false", npm_config_fetch_timeout: "30000" },
  ...patience,
};

export default defineConfig({
  test: {
    reporters: ["default", new ClosingLineReporter()],
    // Most of the time is spent waiting for pings, expiries and processes: also where there are two processors.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "core",
          include: [
            "test/core/**/*.test.ts",
            "test/verification/**/*.test.ts",
            "test/contract/**/*.test.ts",
            "bench/**/*.test.ts",
          ],
          benchmark: { include: [] },
          environment: "node",
          // These tests share no state, and a process for each file would take longer than the file's tests.
          isolate: false,
          ...patience,
        },
      },
      {
        plugins: [workerd()],
        test: {
          name: "workers",
          include: ["test/workers/**/*.test.ts"],
          // The files share a runtime for each worker, and have state of their own in it.
          isolate: false,
          setupFiles: ["test/workers/state-of-its-own.ts"],
          benchmark: { include: [] },
          ...patience,
        },
      },
      {
        // What runs for one publication, in which order. See src/README.md.
        plugins: [instrumented(import.meta.dirname), workerd()],
        test: { name: "journey", include: ["test/journey.test.ts"], benchmark: { include: [] } },
      },
      {
        test: { name: "official", include: official, ...withServers },
      },
      {
        test: {
          name: "clients",
          include: ["test/clients/**/*.test.ts"],
          exclude: official,
          ...withServers,
        },
      },
    ],
  },
});
