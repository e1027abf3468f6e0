import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import {
  type Mock,
  afterEach,
  beforeAll,
  describe,
  expect,
  it,
  vi,
  beforeEach,
  afterAll,
} from "vitest";

/** Where the specs find the server, and the backend that signs and triggers for them. */
export interface SpecPlace {
  /** Makes a client of pusher-js, with the options that the specs give. */
  readonly open: (key: string, options: object) => object;
  /** The backend's address; set before the first spec runs. */
  readonly backend: () => string;
}

/** The folder of npm's pusher-js, whose package has its specs. */
const sources = join(dirname(createRequire(import.meta.url).resolve("pusher-js")), "../..");
const specs = join(sources, "spec/javascripts/integration/core/pusher_spec/test_builder.js");

/** What the specs take from elsewhere: the client, its runtime, and their surroundings, which {@link SpecPlace} gives. */
const others: Readonly<Record<string, string>> = {
  pusher_integration: `module.exports = function (key, options) { return pusherSpecs.open(key, options); };`,
  runtime: `exports.default = { Transports: { ws: { isSupported: () => true } } };`,
  integration: `
    const encoded = (text) => Buffer.from(text).toString("base64");
    let last = 0;
    exports.getRandomName = (prefix) => prefix + "_" + ++last;
    exports.API_URL = "";
    exports.sendAPIMessage = ({ url, channel, event, data }) => {
      const fields = { channel: encoded(channel), event: encoded(event), data: encoded(JSON.stringify(data)) };
      return fetch(pusherSpecs.backend() + url + "/2?" + new URLSearchParams(fields));
    };`,
};

/** Describes pusher-js's own integration specs of a WebSocket without TLS. Jasmine's words are those of vitest here. */
export async function describePusherSpecs(place: SpecPlace): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-specs-"));
  const file = join(folder, "specs.mjs");
  await build({
    stdin: { contents: `export { build } from ${JSON.stringify(specs)};`, resolveDir: sources },
    outfile: file,
    bundle: true,
    format: "esm",
    platform: "node",
    plugins: [
      {
        name: "surroundings",
        setup: (bundler) => {
          bundler.onResolve(
            { filter: /^(?:pusher_integration|runtime|integration)$/ },
            ({ path }) => ({
              path,
              namespace: "surroundings",
            }),
          );
          bundler.onLoad({ filter: /.*/, namespace: "surroundings" }, ({ path }) => ({
            contents: others[path] ?? "",
          }));
          bundler.onResolve({ filter: /^core\// }, ({ path }) => ({
            path: join(sources, "src", `${path}.ts`),
          }));
        },
      },
    ],
  });
  const jasmine = { createSpy: () => spied(vi.fn()), DEFAULT_TIMEOUT_INTERVAL: 0 };
  const words = { describe, it, expect, beforeAll, afterAll, beforeEach, jasmine, spyOn };
  Object.assign(globalThis, words, { pusherSpecs: place });
  const built: { build(config: object): void } = await import(file);
  rmSync(folder, { recursive: true });
  built.build({ transport: "ws", forceTLS: false });
  afterEach(() => void vi.restoreAllMocks());
}

function spyOn(object: Record<string, () => unknown>, name: string): Mock {
  return spied(vi.spyOn(object, name));
}

/** A mock with the words that Jasmine has for it. */
function spied(mock: Mock): Mock {
  const and = { returnValue: (value: unknown) => mock.mockReturnValue(value) };
  return Object.assign(mock, { and, calls: { count: () => mock.mock.calls.length } });
}
