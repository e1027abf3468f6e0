import type { Compatibility } from "../../src/contract/runtime-flags.ts";
import type { WorkerdSetup } from "./workerd.ts";

/** The file name of the module that serves the static files. */
export const assetsModule = "assets.js";

/**
 * Writes the configuration of workerd, in the text form of Cap'n Proto. It contains the names of secrets and never
 * their values, which workerd takes from its environment.
 *
 * @param port on the setup's host
 */
export function workerdConfig(
  setup: WorkerdSetup,
  compatibility: Compatibility,
  port: number,
): string {
  const { host = "127.0.0.1", control, assets } = setup;
  const services = [
    `(name = "main", worker = .worker)`,
    `(name = "storage", disk = (path = "storage", writable = true))`,
    // The Worker fetches only the URL of the JWKS in its configuration, and with self-hosting that may be in a private
    // network.
    `(name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true)))`,
  ];
  const sockets = [socket("http", `${bracketed(host)}:${port}`, "main")];
  const workers = [mainWorker(setup, compatibility)];
  if (control !== undefined) {
    services.push(`(name = "control", worker = .control)`);
    sockets.push(socket("control", `127.0.0.1:${control.port}`, "control"));
    workers.push(controlWorker(setup, compatibility));
  }
  if (setup.descriptorsMax !== undefined)
    services.push(`(name = "descriptors", disk = (path = "/proc/self/fd"))`);
  for (const [binding, address] of Object.entries(setup.services ?? {})) {
    const external = `external = (address = ${text(address)}, http = ())`;
    services.push(`(name = ${text(serviceName(binding))}, ${external})`);
  }
  if (assets !== undefined) {
    services.push(
      `(name = "assets", worker = .assets)`,
      `(name = "files", disk = (path = ${text(assets.folder)}))`,
    );
    workers.push(assetsWorker(compatibility));
  }
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = ${list(v8Flags.map(text))},
  services = ${list(services)},
  sockets = ${list(sockets)},
);
${workers.join("")}`;
}

/**
 * Flags for V8. The runtime's objects that requests leave behind are freed when V8 collects the whole heap, all at once,
 * and nobody is served meanwhile. Under load that takes 40 to 100 ms with V8's usual space for new objects, and 20 to 30
 * ms with one of 1 MiB: the collections are more frequent, and each frees less.
 */
const v8Flags = ["--max-semi-space-size=1"];

/** The host as it is written before a port: an IPv6 address in brackets, any other host unchanged. */
export function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function mainWorker(setup: WorkerdSetup, compatibility: Compatibility): string {
  const { modules, classNames, variables, secrets = {}, assets } = setup;
  const namespaces = Object.values(classNames).map(
    (name) => `(className = ${text(name)}, uniqueKey = ${text(name)}, enableSql = true)`,
  );
  const bindings = [
    ...objectBindings(classNames, ""),
    ...Object.entries(variables).map(
      ([name, value]) => `(name = ${text(name)}, text = ${text(value)})`,
    ),
    ...Object.keys(secrets).map(
      (name) => `(name = ${text(name)}, fromEnvironment = ${text(name)})`,
    ),
  ];
  if (setup.descriptorsMax !== undefined) {
    const max = text(String(setup.descriptorsMax));
    bindings.push(
      `(name = "DESCRIPTORS", service = "descriptors")`,
      `(name = "DESCRIPTORS_MAX", text = ${max})`,
    );
  }
  for (const binding of Object.keys(setup.services ?? {}))
    bindings.push(`(name = ${text(binding)}, service = ${text(serviceName(binding))})`);
  if (assets !== undefined) bindings.push(`(name = ${text(assets.binding)}, service = "assets")`);
  return `const worker :Workerd.Worker = (
  modules = ${list(Object.keys(modules).map(embedded))},
  ${runtime(compatibility)}
  durableObjectNamespaces = ${list(namespaces)},
  durableObjectStorage = (localDisk = "storage"),
  bindings = ${list(bindings)},
);
`;
}

/** No other service has such a name. */
function serviceName(binding: string): string {
  return `service:${binding}`;
}

function controlWorker({ classNames }: WorkerdSetup, { date }: Compatibility): string {
  return `const control :Workerd.Worker = (
  modules = [${embedded("control.js")}],
  ${runtime({ date, flags: ["unsafe_module"] })}
  bindings = ${list(objectBindings(classNames, `, serviceName = "main"`))},
);
`;
}

function assetsWorker(compatibility: Compatibility): string {
  return `const assets :Workerd.Worker = (
  modules = [${embedded(assetsModule)}],
  ${runtime(compatibility)}
  bindings = [(name = "FILES", service = "files")],
);
`;
}

/**
 * The source of a Worker that serves the files of a folder, as Cloudflare's assets do. The runtime's own service for a
 * folder sends no media types, and lists the files of the folder to everybody.
 */
export const assetsSource = `const types = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  ts: "text/plain; charset=utf-8",
};

export default {
  async fetch({ url, method }, { FILES }) {
    if (method !== "GET" && method !== "HEAD") return new Response("Method Not Allowed", { status: 405 });
    const { pathname } = new URL(url);
    const type = types[/\\.(\\w+)$/.exec(pathname)?.[1]];
    const file = type === undefined ? undefined : await FILES.fetch("http://files" + pathname, { method });
    if (!file?.ok) return new Response("Not Found", { status: 404 });
    const headers = { "Content-Type": type, "Cache-Control": "public, max-age=0, must-revalidate" };
    return new Response(file.body, { headers });
  },
};
`;

function runtime({ date, flags }: Compatibility): string {
  return `compatibilityDate = ${text(date)},
  compatibilityFlags = [${flags.map(text).join(", ")}],`;
}

function embedded(name: string): string {
  return `(name = ${text(name)}, esModule = embed ${text(name)})`;
}

function socket(name: string, address: string, service: string): string {
  return `(name = ${text(name)}, address = ${text(address)}, http = (), service = ${text(service)})`;
}

function objectBindings(classNames: WorkerdSetup["classNames"], service: string): string[] {
  return Object.entries(classNames).map(
    ([name, className]) =>
      `(name = ${text(name)}, durableObjectNamespace = (className = ${text(className)}${service}))`,
  );
}

function list(items: readonly string[]): string {
  return `[\n    ${items.join(",\n    ")}\n  ]`;
}

/** Writes a text of Cap'n Proto, which is like JSON except for the escapes that JSON writes with four digits. */
function text(value: string): string {
  return JSON.stringify(value).replaceAll(
    /((?:^|[^\\])(?:\\\\)*)\\u00([0-9a-f]{2})/g,
    String.raw`$1\x$2`,
  );
}
