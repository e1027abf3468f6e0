import type { V4MiniflareOptions, V4WorkerOptions } from "miniflare";
import { stripVTControlCharacters } from "node:util";
import {
  channelsListener,
  type CheckedPlace,
  type CodedConfiguration,
  codeListener,
} from "../../src/contract/coded-configuration.ts";
import type { JsonValue } from "../../src/protocol/wire-value.ts";
import { miniflareModule } from "../../package/test/packages.ts";
import type { Upload } from "./upload.ts";

/** What a Worker's module says of itself. */
export interface AskedWorker {
  /** What was given to `dormouse()`; undefined if the module doesn't call it. */
  readonly configuration: CodedConfiguration | undefined;
  /** The problems of the code that was given to `useChannels()`, under the configuration of the file. */
  readonly channelProblems: readonly string[];
  /** The names that the module exports. */
  readonly exports: readonly string[];
}

/**
 * Runs a Worker's module in the runtime of the project's wrangler, as far as its top level, and asks what it configured. It
 * gets its variables; what else it is bound to is there, and does nothing.
 *
 * @param secrets texts that its environment has beside its variables
 * @param input the configuration of the file; undefined without one
 * @returns what it says, or the error with which it can't be loaded
 */
export async function askWorker(
  upload: Upload & { readonly main: string },
  secrets: Readonly<NodeJS.Dict<string>>,
  place: CheckedPlace,
  input: JsonValue | undefined,
): Promise<
  | { readonly outcome: "asked"; readonly worker: AskedWorker }
  | { readonly outcome: "bad"; readonly says: string }
> {
  const { Miniflare, convertV4MiniflareOptions } = miniflareModule();
  const said: string[] = [];
  const options: V4MiniflareOptions = {
    host: "127.0.0.1",
    port: 0,
    cf: false,
    logRequests: false,
    handleStructuredLogs: ({ message }) => void said.push(message),
    workers: [askedWorker(upload, secrets), nothing],
  };
  const miniflare = new Miniflare(convertV4MiniflareOptions(options));
  try {
    const response = await miniflare.dispatchFetch("http://check.invalid/", {
      method: "POST",
      body: JSON.stringify({ place, input }),
    });
    const worker: AskedWorker = JSON.parse(await response.text());
    return { outcome: "asked", worker };
  } catch (error) {
    const output = stripVTControlCharacters(said.join("\n"));
    return { outcome: "bad", says: thrownIn(output) ?? String(error) };
  } finally {
    // It tells once more of a start that has failed.
    await miniflare.dispose().catch(() => undefined);
  }
}

/** The error that the runtime names, with the lines of its stack. */
function thrownIn(output: string): string | undefined {
  const [, thrown] = /Uncaught ((?:.*)(?:\n\s+at .*)*)/.exec(output) ?? [];
  return thrown?.replace(/\n\s+at /g, "\n    at ").trim();
}

const listenerName = "dormouse-check-listens.js";
const askedName = "dormouse-check.js";

/** Keeps what the Worker's module tells. It is loaded before that module. */
const listenerCode = `
const told = { configurations: [], channels: [] };
globalThis[${JSON.stringify(codeListener)}] = (tell) => void told.configurations.push(tell);
globalThis[${JSON.stringify(channelsListener)}] = (tell) => void told.channels.push(tell);
export default told;
`;

function askedCode(main: string): string {
  const path = JSON.stringify(`./${main}`);
  return `
import told from ${JSON.stringify(`./${listenerName}`)};
import * as worker from ${path};
export * from ${path};
export default {
  async fetch(request) {
    const { place, input } = await request.json();
    const configuration = told.configurations[0]?.(place);
    const channelProblems = told.channels.flatMap((tell) => tell(input, place));
    return Response.json({ configuration, channelProblems, exports: Object.keys(worker) });
  },
};
`;
}

/** What a binding leads to that the module can't use before it is asked anything. */
const nothing: V4WorkerOptions = {
  name: "nothing",
  compatibilityDate: "2026-11-02",
  modules: [
    {
      type: "ESModule",
      path: "nothing.js",
      contents: "export default { fetch: () => new Response(null, { status: 501 }) };",
    },
  ],
};

function askedWorker(
  { main, modules, bindings, compatibility }: Upload & { readonly main: string },
  secrets: Readonly<NodeJS.Dict<string>>,
): V4WorkerOptions {
  const variables = Object.fromEntries(
    bindings.flatMap(({ name, text, json }) => {
      const value = text ?? json;
      return typeof name === "string" && value !== undefined ? [[name, value] as const] : [];
    }),
  );
  const environment = { ...variables, ...secrets };
  const others = bindings.flatMap(({ name }) =>
    typeof name === "string" && !Object.hasOwn(environment, name) ? [name] : [],
  );
  const code = [
    { type: "ESModule" as const, path: `/${askedName}`, contents: askedCode(main) },
    { type: "ESModule" as const, path: `/${listenerName}`, contents: listenerCode },
  ];
  return {
    name: "asked",
    compatibilityDate: compatibility.date,
    compatibilityFlags: [...compatibility.flags],
    modulesRoot: "/",
    modules: [
      ...code,
      ...modules.flatMap(({ name, type, contents }) => {
        const kind = moduleKinds.get(type);
        return kind === undefined ? [] : [{ type: kind, path: `/${name}`, contents }];
      }),
    ],
    bindings: JSON.parse(JSON.stringify(environment)),
    serviceBindings: Object.fromEntries(others.map((name) => [name, "nothing"])),
  };
}

/** The types of modules in an upload, as miniflare names them. Maps of sources aren't modules. */
const moduleKinds: ReadonlyMap<string, ModuleKind> = new Map([
  ["application/javascript+module", "ESModule"],
  ["application/javascript", "CommonJS"],
  ["text/plain", "Text"],
  ["application/octet-stream", "Data"],
  ["application/wasm", "CompiledWasm"],
]);

type ModuleKind = "ESModule" | "CommonJS" | "Text" | "Data" | "CompiledWasm";
