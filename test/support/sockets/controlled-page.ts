import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import axe from "axe-core";
import { type DevToolsMessage, SharedBrowser } from "./shared-browser.ts";

/** A page in a headless Chromium, which a test drives over the DevTools protocol. */
export class ControlledPage {
  /** The errors that the page has logged, and the requests that its Content-Security-Policy has blocked. */
  readonly problems: string[] = [];
  readonly #browser: SharedBrowser;
  #session = "";

  /** Opens a page. It is closed with the test. */
  static async open(test: Lifetime, chromium: string, address: string): Promise<ControlledPage> {
    const page = new ControlledPage(SharedBrowser.of(chromium));
    const { session, close } = await page.#browser.open((message) => page.#take(message));
    test.onTestFinished(close);
    page.#session = session;
    for (const domain of ["Page", "Runtime", "Log"]) await page.send(`${domain}.enable`);
    // Each page has the focus, as if it were alone.
    await page.send("Emulation.setFocusEmulationEnabled", { enabled: true });
    await page.send("Page.navigate", { url: address });
    return page;
  }

  /** The same, for a page that {@link network} cuts off. */
  static async openCuttable(
    test: Lifetime,
    chromium: string,
    address: string,
  ): Promise<ControlledPage> {
    const page = await ControlledPage.open(test, chromium, "about:blank");
    await page.send("Page.addScriptToEvaluateOnNewDocument", { source: reallyOffline });
    await page.send("Page.navigate", { url: address });
    return page;
  }

  private constructor(browser: SharedBrowser) {
    this.#browser = browser;
  }

  /** Sends a command of the DevTools protocol. */
  send(method: string, params: object = {}): Promise<DevToolsMessage> {
    return this.#browser.send(method, params, this.#session);
  }

  /** Evaluates an expression in the page. */
  async evaluate(expression: string): Promise<string> {
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result } = await this.send("Runtime.evaluate", params);
    if (result?.exceptionDetails !== undefined)
      throw new Error(`${expression}: ${JSON.stringify(result.exceptionDetails)}`);
    return String(result?.result?.value);
  }

  /** Waits until an element that the selector finds has a text that contains this one. */
  async sees(text: string, selector = "body"): Promise<void> {
    const texts = `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.textContent).join("\\n")`;
    let seen = "";
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += stepMs) {
      seen = await this.evaluate(texts);
      if (seen.includes(text)) return;
      await pause(stepMs);
    }
    throw new Error(`${selector} never had the text ${JSON.stringify(text)}, but: ${seen}`);
  }

  /** Waits until an expression is true, looking at it often. A look at each frame would have the browser draw all of them. */
  async until(expression: string): Promise<void> {
    const isTrue = await this.evaluate(`new Promise((resolve) => {
      const look = () => {
        if (${expression}) resolve(true);
        else if (performance.now() - begun > ${untilMs}) resolve(false);
        else setTimeout(look, ${lookMs});
      };
      const begun = performance.now();
      look();
    })`);
    if (isTrue !== "true") throw new Error(`this never became true: ${expression}`);
  }

  /** Cuts the page off, or lets it back, as the developer tools do. */
  async network(state: { readonly offline: boolean }): Promise<void> {
    const unlimited = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    await this.send("Network.emulateNetworkConditions", { ...unlimited, ...state });
  }

  /** Waits until the element that the selector finds has the focus. */
  async focuses(selector: string): Promise<void> {
    const isFocused = `document.activeElement === document.querySelector(${JSON.stringify(selector)})`;
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += stepMs) {
      if ((await this.evaluate(isFocused)) === "true") return;
      await pause(stepMs);
    }
    throw new Error(`${selector} never had the focus`);
  }

  /** Fills a field as somebody who types. */
  async fill(selector: string, value: string): Promise<void> {
    await this.evaluate(
      `(() => { const field = document.querySelector(${JSON.stringify(selector)}); field.focus(); field.select(); })()`,
    );
    await this.send("Input.insertText", { text: value });
  }

  /** Presses a key. */
  async press(key: "Enter" | "Tab"): Promise<void> {
    const code = key === "Enter" ? 13 : 9;
    const text = key === "Enter" ? { text: "\r" } : {};
    const params = { key, code: key, windowsVirtualKeyCode: code };
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...params, ...text });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...params });
  }

  /** Presses Tab until the button or link with this text has the focus. */
  async tabTo(text: string): Promise<void> {
    for (let pressed = 0; pressed < tabsMax; pressed++) {
      await this.press("Tab");
      if ((await this.evaluate("document.activeElement.textContent.trim()")) === text) return;
    }
    throw new Error(`Tab never leads to ${text}`);
  }

  /** Clicks the first button or link with this text. */
  async click(text: string): Promise<void> {
    await this.evaluate(
      `[...document.querySelectorAll("button, a")].find((one) => one.textContent.trim() === ${JSON.stringify(text)}).click()`,
    );
  }

  /** Shows the page in a color scheme and a size, as a phone or a desk would. */
  async show(scheme: "light" | "dark", width: number, height: number): Promise<void> {
    const features = [{ name: "prefers-color-scheme", value: scheme }];
    await this.send("Emulation.setEmulatedMedia", { features });
    const size = { width, height, deviceScaleFactor: 1, mobile: false };
    await this.send("Emulation.setDeviceMetricsOverride", size);
  }

  /**
   * The faults of the page that axe finds: a line for each rule and element.
   *
   * @param rules those that are looked at, where others have been before; absent for all
   */
  async accessibilityProblems(rules?: readonly string[]): Promise<string> {
    if ((await this.evaluate("typeof axe")) === "undefined") await this.evaluate(axe.source);
    const lines =
      "violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))";
    const only = rules === undefined ? {} : { runOnly: rules };
    return this.evaluate(
      `axe.run(document, ${JSON.stringify(only)}).then(({ violations }) => ${lines}.join("\\n"))`,
    );
  }

  /** Writes what the page looks like into a file. */
  async picture(file: string): Promise<void> {
    const { result } = await this.send("Page.captureScreenshot", { format: "png" });
    writeFileSync(file, Buffer.from(result?.data ?? "", "base64"));
  }

  #take(message: DevToolsMessage): void {
    if (message.method === "Log.entryAdded" && message.params?.entry?.level === "error") {
      this.problems.push(`${message.params.entry.text} ${message.params.entry.url ?? ""}`);
    } else if (message.method === "Runtime.exceptionThrown") {
      this.problems.push(JSON.stringify(message.params));
    }
  }
}

/** How long a page lives: as long as a test, whose context this is, or as a program that ends the page itself. */
interface Lifetime {
  onTestFinished(end: () => Promise<void>): void;
}

/** Chromium opens WebSockets also while it pretends to be offline: these go to a port where nobody listens. */
const reallyOffline = `globalThis.WebSocket = class extends WebSocket {
  constructor(address, ...others) {
    super(navigator.onLine ? address : "ws://127.0.0.1:1/", ...others);
  }
};`;

const patienceMs = 30_000;
/** Official clients wait up to 20 s before they connect anew. */
const untilMs = 2 * patienceMs;
const stepMs = 50;
const lookMs = 20;
const tabsMax = 50;
