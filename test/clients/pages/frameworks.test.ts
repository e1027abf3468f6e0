import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { build as bundle, type Plugin } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { codeBlocksOf, codeFolder, configOf, writeCode } from "../../support/documented-code.ts";
import { Inbox } from "../../support/inbox.ts";
import { listen } from "../../support/servers/listen.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";

/** The route handler for Next. */
interface TokenRoute {
  readonly GET: () => Promise<Response>;
}

interface Publisher {
  readonly publish: (channel: string, data: object) => Promise<void>;
}

/** What the page of this test reports: the lists of the three components, or that something has happened. */
interface Report {
  readonly lists?: readonly (readonly string[])[];
  readonly happened?: string;
}

const blocks = codeBlocksOf("frameworks.md");
const folder = codeFolder();

/** The code of a page's section, the one of several that is wanted. */
function codeIn(heading: string, nth = 0): string {
  const block = blocks.filter((one) => one.heading === heading)[nth];
  if (block === undefined) throw new Error(`docs/frameworks.md has no such code of ${heading}`);
  return block.code;
}

/** Mounts the three components beside each other, and takes them away when it is told to. */
const main = `
  import { createElement, StrictMode } from "react";
  import { createRoot } from "react-dom/client";
  import { mount, unmount } from "svelte";
  import { createApp } from "vue";
  import { listenTo, realtime } from "./realtime.js";
  import { App as ReactApp } from "./react/App.jsx";
  import { News as VueNews } from "./vue/News.js";
  import SvelteNews from "./svelte/News.svelte";

  const report = (body) => fetch("/report", { method: "POST", body: JSON.stringify(body) });
  const targets = ["react", "vue", "svelte"].map((id) => document.getElementById(id));
  const linesOf = (target) => Array.from(target.querySelectorAll("li"), (line) => line.textContent);
  const changed = () => report({ lists: targets.map(linesOf) });
  new MutationObserver(changed).observe(document.body, { childList: true, subtree: true });

  const props = { channel: "news:7" };
  const [forReact, forVue, forSvelte] = targets;
  const root = createRoot(forReact);
  root.render(createElement(StrictMode, null, createElement(ReactApp)));
  const app = createApp(VueNews, props);
  app.mount(forVue);
  const component = mount(SvelteNews, { target: forSvelte, props });

  const remove = { react: () => root.unmount(), vue: () => app.unmount(), svelte: () => unmount(component) };
  listenTo("news:control", ({ data }) => {
    for (const name of data.remove) remove[name]();
  });
  const check = setInterval(() => {
    const news = realtime.getSubscription("news:7");
    if (news?.listeners("publication").length !== 2) return;
    clearInterval(check);
    const all = Object.values(realtime.subscriptions());
    news.once("unsubscribed", () => report({ happened: "unsubscribed" }));
    Promise.all(all.map((one) => one.ready())).then(() => report({ happened: "subscribed" }));
  }, 10);
`;

interface SvelteCompiler {
  readonly compile: (
    source: string,
    options: { readonly filename: string },
  ) => { readonly js: { readonly code: string } };
}

/** Compiles the components of Svelte. Its compiler takes long to load, and not every machine has a browser. */
const svelte: Plugin = {
  name: "svelte",
  setup(build) {
    const { compile }: SvelteCompiler = createRequire(import.meta.url)("svelte/compiler");
    build.onLoad({ filter: /\.svelte$/ }, ({ path }) => ({
      contents: compile(readFileSync(path, "utf8"), { filename: path }).js.code,
      loader: "js",
    }));
  },
};

/** The page's script: the code of the document with the address of the test's server. */
async function bundled(websocketUrl: string): Promise<string> {
  const client = codeIn("The client of the page");
  const address = "wss://realtime.example.com/connection/websocket";
  const files = {
    "realtime.js": client.replace(address, websocketUrl),
    "react/App.jsx": codeIn("React").replace(address, websocketUrl),
    "vue/useChannel.js": codeIn("Vue"),
    "vue/News.js": codeIn("Vue", 1),
    "svelte/News.svelte": codeIn("Svelte"),
    "main.js": main,
  };
  for (const [name, code] of Object.entries(files))
    writeCode(folder.path, name, code.replaceAll('"./realtime.js"', '"realtime"'));
  const { outputFiles } = await bundle({
    entryPoints: [join(folder.path, "main.js")],
    alias: { realtime: join(folder.path, "realtime.js"), vue: "@vue/runtime-dom" },
    plugins: [svelte],
    bundle: true,
    format: "esm",
    jsx: "automatic",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

const chromium = findChromium();
let rt: TestDormouse;
let page: Server;
let publisher: Publisher;
let tokens: TokenRoute;
let origin: string;
let script = "";
const reports = new Inbox<Report>();

/** Answers the page: itself, its script, its token by the code for Next, and its reports. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url } = request;
  if (url === "/report") {
    reports.push(JSON.parse(await text(request)));
    response.end();
  } else if (url === "/realtime/token") {
    const answered = await tokens.GET();
    response.writeHead(answered.status).end(await answered.text());
  } else if (url === "/main.js") {
    response.setHeader("Content-Type", "text/javascript").end(script);
  } else {
    const parts = ["react", "vue", "svelte"].map((id) => `<div id="${id}"></div>`);
    const body = `${parts.join("")}<script type="module" src="/main.js"></script>`;
    response.setHeader("Content-Type", "text/html").end(`<!doctype html><body>${body}</body>`);
  }
}

beforeAll(async () => {
  page = createServer((request, response) => void answer(request, response));
  origin = `http://127.0.0.1:${await listen(page)}`;
  const channel = configOf(
    codeIn("React, Next, Vue, Svelte, Django, Laravel, Rails, Go and Python"),
  ).channel;
  rt = await startDormouse({ config: { client: { allowed_origins: [origin] }, channel } });
  vi.stubEnv("DORMOUSE", rt.url);
  vi.stubEnv("API_KEY", rt.apiKey);
  vi.stubEnv("TOKEN_HMAC_SECRET_KEY", rt.tokenSecret);
  const session = "export const userOfSession = async () => process.env.SESSION_USER;";
  writeCode(folder.path, "app/session.js", session);
  writeCode(folder.path, "package.json", '{ "type": "module" }');
  const route = writeCode(folder.path, "app/realtime/token/route.js", codeIn("Next"));
  tokens = await import(route);
  publisher = await import(writeCode(folder.path, "app/publish.js", codeIn("Next", 1)));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  page.close();
  page.closeAllConnections();
  await rt.stop();
  folder.remove();
});

describe("[W1] the code of docs/frameworks.md", () => {
  it("for Next signs a token for who is logged in, and publishes", async () => {
    vi.stubEnv("SESSION_USER", undefined);
    expect((await tokens.GET()).status).toBe(403);
    vi.stubEnv("SESSION_USER", "ann");
    const { token }: { readonly token: string } = JSON.parse(await (await tokens.GET()).text());
    const ann = await rt.client({ options: { token }, subscribe: "news:1" });
    await publisher.publish("news:1", { text: "hello" });
    expect(await ann.received("news:1", 1)).toEqual([{ text: "hello" }]);
    await expect(publisher.publish("absent:1", {})).rejects.toThrow("absent:1: unknown channel");
  });

  it("for Python hears a channel", async (test) => {
    const python = await PythonEnvironment.open();
    const module = writeCode(folder.path, "python/realtime.py", codeIn("Python"));
    const listener = python.run(test, "documented", {
      folder: dirname(module),
      address: rt.websocketUrl,
      token: rt.token("ann"),
      channel: "news:py",
    });
    await listener.next("listening");
    await publisher.publish("news:py", { text: "one" });
    expect(await listener.next("heard")).toMatchObject({ data: { text: "one" } });
    await listener.finish();
  });

  it.runIf(chromium !== undefined)(
    "for React, Vue and Svelte shows each publication once, and ends with its component",
    async (test) => {
      vi.stubEnv("SESSION_USER", "ann");
      script = await bundled(rt.websocketUrl);
      await ControlledPage.open(test, chromium ?? "", origin);

      await happened("subscribed");
      // React's hooks have a connection of their own.
      await expect.poll(subscribers).toBe(2);
      await publisher.publish("news:7", { text: "one" });
      await shown(["one"], ["one"], ["one"]);
      await publisher.publish("news:control", { remove: ["react", "vue"] });
      await shown([], [], ["one"]);
      await publisher.publish("news:7", { text: "two" });
      await shown([], [], ["one", "two"]);
      await publisher.publish("news:control", { remove: ["svelte"] });
      await happened("unsubscribed");
      const twice = reports.all.filter(({ lists }) => lists?.some(isTwice));
      expect(twice).toEqual([]);
    },
  );
});

/** How many connections are subscribed to the channel that the page shows. */
async function subscribers(): Promise<unknown> {
  const { channels } = await rt.api("channels", { pattern: "news:7" });
  return Object(channels)["news:7"]?.num_clients;
}

/** Waits until the page has reported this. */
async function happened(what: string): Promise<void> {
  await reports.first((one) => one.happened === what);
}

/** Waits until the three components show these lines. */
async function shown(...lists: readonly (readonly string[])[]): Promise<void> {
  await reports.first((one) => JSON.stringify(one.lists) === JSON.stringify(lists));
}

function isTwice(list: readonly string[]): boolean {
  return new Set(list).size < list.length;
}
