import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

/** A message of the DevTools protocol. */
export interface DevToolsMessage {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly error?: { readonly message: string };
  readonly result?: {
    readonly data?: string;
    readonly browserContextId?: string;
    readonly targetId?: string;
    readonly sessionId?: string;
    readonly result?: { readonly value?: string | number | boolean };
    readonly exceptionDetails?: object;
  };
  readonly params?: {
    readonly entry?: { readonly level: string; readonly text: string; readonly url?: string };
  };
}

/** Without its background services, the start of a browser takes half of the processor time. */
const withoutServices = [
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-background-networking",
  "--disable-breakpad",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-extensions",
  "--disable-sync",
  "--metrics-recording-only",
  "--mute-audio",
];

/** All pages are shown, whatever window is before them. */
const inForeground = [
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-renderer-backgrounding",
];

const flags = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  ...withoutServices,
  ...inForeground,
  "--remote-debugging-pipe",
];

/**
 * A headless Chromium that all pages of this process share, because its start takes longer than most tests of a page. Each
 * page has cookies and a storage of its own. The browser ends with this process, however that ends: its pipe is closed.
 */
export class SharedBrowser {
  static #browser: SharedBrowser | undefined;
  readonly #orders: Writable;
  readonly #waiting = new Map<number, (message: DevToolsMessage) => void>();
  readonly #listeners = new Map<string, (message: DevToolsMessage) => void>();
  #unread = "";
  #lastId = 0;

  /** The browser of this process, which the first call starts. */
  static of(chromium: string): SharedBrowser {
    return (SharedBrowser.#browser ??= new SharedBrowser(chromium));
  }

  private constructor(chromium: string) {
    const profile = mkdtempSync(join(tmpdir(), "dormouse-browser-"));
    const command = [chromium, ...flags, `--user-data-dir=${profile}`, "about:blank"];
    // The shell survives this process, and removes the profile. A signal for this process's group is not for the browser.
    const browser = spawn("sh", ["-c", `"$@"; rm -rf "$0"`, profile, ...command], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      detached: true,
    });
    const orders: Writable & { unref(): void } = Object(browser.stdio[3]);
    const answers: Readable & { unref(): void } = Object(browser.stdio[4]);
    answers.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    orders.on("error", () => undefined); // The browser has ended; whoever waits for it runs into the test's timeout.
    this.#orders = orders;
    // None of them keeps the process alive.
    for (const each of [browser, orders, answers]) each.unref();
  }

  /**
   * Sends a command of the DevTools protocol.
   *
   * @param sessionId of a page; absent for the browser itself
   */
  async send(method: string, params: object = {}, sessionId?: string): Promise<DevToolsMessage> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<DevToolsMessage>();
    this.#waiting.set(id, resolve);
    this.#orders.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const message = await promise;
    if (message.error !== undefined) throw new Error(`${method}: ${message.error.message}`);
    return message;
  }

  /**
   * Opens an empty page in a window of its own.
   *
   * @param listener gets the page's events
   * @returns the page's session, and a function that closes the page
   */
  async open(listener: (message: DevToolsMessage) => void) {
    const context = await this.send("Target.createBrowserContext");
    const browserContextId = context.result?.browserContextId;
    const own = { url: "about:blank", browserContextId, newWindow: true };
    const targetId = (await this.send("Target.createTarget", own)).result?.targetId;
    const attached = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const session = attached.result?.sessionId ?? "";
    this.#listeners.set(session, listener);
    const close = async () => {
      await this.send("Target.disposeBrowserContext", { browserContextId });
      this.#listeners.delete(session);
    };
    return { session, close };
  }

  #take(text: string): void {
    const lines = `${this.#unread}${text}`.split("\0");
    this.#unread = lines.pop() ?? "";
    for (const line of lines) {
      const message: DevToolsMessage = JSON.parse(line);
      if (message.id === undefined) this.#listeners.get(message.sessionId ?? "")?.(message);
      else {
        this.#waiting.get(message.id)?.(message);
        this.#waiting.delete(message.id);
      }
    }
  }
}
