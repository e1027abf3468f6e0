import { join } from "node:path";
import { build as bundle } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { codeBlocksOf, codeFolder, writeCode } from "../../support/documented-code.ts";
import { Inbox } from "../../support/inbox.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { cookieSocket, cookiesOf } from "../../support/sockets/cookie-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";

/** The Worker of the document, which serves its page as well: its assets, so to speak. */
const main = `
  import own from "./worker.ts";
  import script from "./page.txt";
  export * from "./worker.ts";
  const html = '<!doctype html><body><script type="module" src="/page.js"></script></body>';
  export default {
    ...own,
    fetch(request, env, context) {
      const { pathname } = new URL(request.url);
      const asset = { "/": [html, "text/html"], "/page.js": [script, "text/javascript"] }[pathname];
      if (asset === undefined) return own.fetch(request, env, context);
      return new Response(asset[0], { headers: { "Content-Type": asset[1] } });
    },
  };
`;
const pageScript = `
  import { createElement } from "react";
  import { createRoot } from "react-dom/client";
  import { Poll } from "./Poll.tsx";
  const id = location.hash.slice(1);
  await fetch("/polls/" + id);
  createRoot(document.body).render(createElement(Poll, { id }));
`;

const chromium = findChromium();
const folder = codeFolder();
let rt: TestDormouse;

/** The code of the page in a language. */
function code(language: string): string {
  const block = codeBlocksOf("coming-from-partykit.md").find((one) => one.language === language);
  return block?.code ?? "";
}

/** Bundles a module of the folder. */
async function bundled(file: string): Promise<string> {
  const { outputFiles } = await bundle({
    entryPoints: [file],
    bundle: true,
    format: "esm",
    jsx: "automatic",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

beforeAll(async () => {
  writeCode(folder.path, "Poll.tsx", code("tsx"));
  const page = await bundled(writeCode(folder.path, "page.ts", pageScript));
  writeCode(folder.path, "page.ts", `export default ${JSON.stringify(page)};`);
  const own = JSON.stringify(join(packageRoot, "package", "index.ts"));
  writeCode(folder.path, "worker.ts", code("ts").replaceAll('"dormouse-realtime"', own));
  const worker = writeCode(folder.path, "main.js", main.replace("./page.txt", "./page.ts"));
  rt = await startDormouse({ worker, prefix: "/realtime" });
});
afterAll(async () => {
  await rt.stop();
  folder.remove();
});

const address = (path: string) => rt.url.replace("/realtime", path);

/** Creates a poll, and gives its ID. */
async function create(): Promise<string> {
  const body = JSON.stringify({ title: "Tea?", options: ["yes", "no"] });
  const created = await fetch(address("/polls"), { method: "POST", body });
  const { id }: { readonly id: string } = await created.json();
  return id;
}

/** Somebody who votes without the page. */
async function voter(test: TestContext, id: string) {
  const websocket = cookieSocket(cookiesOf(await fetch(address(`/polls/${id}`))));
  const { client } = new SdkClient(rt.websocketUrl, { websocket });
  test.onTestFinished(() => client.disconnect());
  const votes = new Inbox<unknown>();
  const map = client.newMapSubscription(`poll:${id}`);
  map.on("update", ({ key, data }) => key.startsWith("voter:") && votes.push(data));
  map.subscribe();
  await map.ready();
  return { map, votes };
}

describe("the code of docs/coming-from-partykit.md", () => {
  it("counts one vote of each voter, and keeps it", async (test) => {
    const id = await create();
    const [ann, bob] = [await voter(test, id), await voter(test, id)];
    await ann.map.publish("mine", 0);
    await bob.map.publish("poll", 1); // This isn't the poll's own key.
    await ann.map.publish("mine", 1);
    expect(await bob.votes.count(3)).toEqual([0, 1, 1]);
    await rt.evict(`poll:${id}`);
    const state: Readonly<Record<string, { readonly data: unknown }>> = await (
      await fetch(address(`/polls/${id}`))
    ).json();
    expect(Object.values(state).map(({ data }) => data)).toEqual([
      { title: "Tea?", options: ["yes", "no"] },
      1,
      1,
    ]);
  });

  it.runIf(chromium !== undefined)("shows the votes of all, also after a reload", async (test) => {
    const id = await create();
    const page = await ControlledPage.open(test, chromium ?? "", address(`/#${id}`));
    await page.sees("yes: 0", "button");
    await page.click("yes: 0");
    await page.sees("yes: 1", "button");
    const bob = await voter(test, id);
    await bob.map.publish("mine", 1);
    await page.sees("no: 1", "button");
    await page.send("Page.reload");
    await page.sees("yes: 1", "button");
    await page.click("no: 1");
    await page.sees("no: 2", "button");
    expect(await page.evaluate("document.body.innerText")).toContain("yes: 0");
  });
});
