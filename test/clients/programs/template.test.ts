import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { wranglerScript } from "../../../cli/configuration/wrangler.ts";
import { compilerOutput } from "../../support/compiler-output.ts";
import { installExample } from "../../support/environments/installed-example.ts";
import { packageRoot } from "../../../cli/package-root.ts";
import { llmsFullText } from "../../../cli/llms/llms.ts";
import { packageName } from "../../../src/version.ts";
import { freePort } from "../../support/servers/listen.ts";
import { endGroup } from "../../support/servers/process-group.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";

const execute = promisify(execFile);
const template = join(packageRoot, "examples", "template");
const chromium = findChromium();

let folder: string;
let running: ChildProcess | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  await installExample(folder, "template");
}, 300_000);
afterAll(async () => {
  await endGroup(running);
  rmSync(folder, { recursive: true });
});

const inProject = () => ({
  cwd: folder,
  env: {
    ...process.env,
    CI: "1",
    WRANGLER_SEND_METRICS: "false",
    PATH: `${join(folder, "node_modules", ".bin")}:${process.env["PATH"] ?? ""}`,
  },
});

/** Starts the Worker, as a developer does, and gives its address. */
async function develop(): Promise<string> {
  const port = await freePort();
  const args = [wranglerScript, "dev", "--port", String(port)];
  running = spawn(process.execPath, args, { ...inProject(), detached: true, stdio: "ignore" });
  const address = `http://localhost:${port}`;
  while (!(await fetch(`${address}/realtime/health`).catch(() => undefined))?.ok) {
    if (running.exitCode !== null) throw new Error("wrangler dev has ended");
    await pause(100);
  }
  return address;
}

/** Lines that somebody writes who starts from it: without blank lines, comments, imports and the names of the objects. */
function ownLines(): number {
  const files = [
    ["src", "index.ts"],
    ["client", "index.tsx"],
    ["public", "index.html"],
  ];
  const texts = files.map((file) =>
    readFileSync(join(template, ...file), "utf8").replaceAll(/^(?:import|export \{)[^;]*;\n/gm, ""),
  );
  const lines = texts.flatMap((text) => text.split("\n").map((line) => line.trim()));
  return lines.filter((line) => line !== "" && !line.startsWith("//") && !line.startsWith("/**"))
    .length;
}

describe("examples/template", () => {
  it("[N18] has what Cloudflare's list of templates shows, and the button", () => {
    const content: unknown = JSON.parse(readFileSync(join(template, "package.json"), "utf8"));
    expect(content).toMatchObject({
      cloudflare: {
        label: expect.any(String),
        products: ["Workers", "Durable Objects"],
        categories: expect.any(Array),
        publish: true,
      },
      scripts: { dev: "wrangler dev", deploy: "wrangler deploy" },
    });
    const readme = readFileSync(join(template, "README.md"), "utf8");
    expect(readme).toContain("https://deploy.workers.cloudflare.com/button");
    expect(readme).toMatch(/<!-- dash-content-start -->[\s\S]+<!-- dash-content-end -->/);
  });

  it("[N18] passes the compiler, and would be deployed", async () => {
    // What is packed has the pages for an assistant.
    const pages = join(folder, "node_modules", packageName, "llms-full.txt");
    expect(readFileSync(pages, "utf8")).toBe(llmsFullText());
    const compiler = join(folder, "node_modules", ".bin", "tsc");
    for (const project of [".", "client"])
      expect(await compilerOutput(compiler, ["--project", project], { cwd: folder })).toBe("");
    const deploy = [wranglerScript, "deploy", "--dry-run", "--outdir", "built"];
    const { stdout } = await execute(process.execPath, deploy, inProject());
    expect(stdout).toContain("ChannelObject");
  }, 120_000);

  it("[N18] is less than 200 lines, beside its style", () => {
    expect(ownLines()).toBeLessThan(200);
  });

  it.runIf(chromium !== undefined)(
    "[N18] shows others who type and what is unread, and loses nothing over a reload",
    async (test) => {
      const address = await develop();
      const [ann, bob] = [await open(test, address), await open(test, address)];
      for (const page of [ann, bob]) await page.sees("2 online", "h2");
      await bob.fill("input", "hel");
      await ann.sees("typing …", "form p");
      await say(bob, "hello");
      await ann.sees("hello", "li p");
      await ann.until('document.querySelector("form p").textContent === ""');
      // What is said elsewhere is counted, and what is read isn't.
      await ann.evaluate('location.hash = "#ideas"');
      await ann.sees("# ideas", "h1");
      await say(bob, "are you there?");
      await say(bob, "hello?");
      await ann.sees("2", 'nav a[href="#lobby"] b');
      await ann.sees("(2) Chat", "title");
      // A reload keeps the room, the counts, and what is being written; what comes meanwhile isn't lost.
      await say(ann, "an idea");
      await ann.fill("input", "another ide");
      await ann.send("Page.navigate", { url: "about:blank" });
      await bob.sees("1 online", "h2");
      await say(bob, "gone?");
      await ann.send("Page.navigate", { url: `${address}/#ideas` });
      await ann.sees("an idea", "li.mine p");
      await ann.sees("3", 'nav a[href="#lobby"] b');
      expect(await ann.evaluate('document.querySelector("input").value')).toBe("another ide");
      await ann.evaluate('location.hash = "#lobby"');
      await ann.sees("gone?", "li p");
      expect(await ann.evaluate(linesOf)).toBe("hello,are you there?,hello?,gone?");
      await ann.until('document.querySelector("nav b") === null && document.title === "Chat"');
      for (const scheme of ["light", "dark"] as const) {
        await ann.show(scheme, 390, 780);
        expect(await ann.accessibilityProblems()).toBe("");
      }
      expect([...ann.problems, ...bob.problems]).toEqual([]);
    },
    120_000,
  );
});

/** The texts of all messages. */
const linesOf = '[...document.querySelectorAll("li p")].map((line) => line.textContent).join()';

/** A guest, with a browser of their own. */
function open(test: TestContext, address: string): Promise<ControlledPage> {
  return ControlledPage.open(test, chromium ?? "", address);
}

async function say(page: ControlledPage, text: string): Promise<void> {
  await page.fill("input", text);
  await page.press("Enter");
  await page.sees(text, "li.mine p");
}
