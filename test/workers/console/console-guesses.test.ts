import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { consoleLimits } from "../../../src/features/console/limits.ts";
import { address } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { testConfig, testSecrets } from "../support/test-config.ts";

const password = "the-password-of-the-console-tests";
Object.assign(env, { CONSOLE_PASSWORD: password });
configure({ ...testConfig, console: { enabled: true } });

let nowMs = Date.now();
let lines: string[] = [];
beforeEach(() => {
  nowMs += consoleLimits.consoleGuessesForgottenMs;
  lines = [];
  vi.spyOn(Date, "now").mockImplementation(() => nowMs);
  vi.spyOn(console, "warn").mockImplementation((line: string) => void lines.push(line));
  return () => vi.restoreAllMocks();
});

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await exports.default.fetch(address(path), {
    method: "POST",
    body: JSON.stringify(body),
    headers: { Origin: "https://dormouse.example.com", ...headers },
  });
  await response.body?.cancel();
  return response;
}

const logIn = (offered: string, headers?: Record<string, string>) =>
  post("/console/login", { password: offered }, headers);

/** The cookies that a login sets, by their names. */
async function cookies(): Promise<Readonly<Record<string, string>>> {
  const set = (await logIn(password)).headers.getSetCookie();
  return Object.fromEntries(set.map((one) => (one.split(";")[0] ?? "").split("=")));
}

/** Guesses from an address each, all at once, until guesses have to wait. */
async function attack(headers: Record<string, string> = {}): Promise<readonly Response[]> {
  const guesses = Array.from({ length: consoleLimits.consoleGuessesFree * 2 }, (_, number) =>
    logIn("wrong", { "CF-Connecting-IP": `192.0.2.${number}`, ...headers }),
  );
  return Promise.all(guesses);
}

describe("guesses of the console's password", () => {
  it("[N10] are bounded whatever addresses they come from, also all at once, and the log says so", async () => {
    const answers = await attack();
    const compared = answers.filter(({ status }) => status === 401);
    expect(compared).toHaveLength(consoleLimits.consoleGuessesFree);
    const refused = answers.find(({ status }) => status === 503);
    expect(refused?.headers.get("Retry-After")).toBe("1");
    expect(lines.join("\n")).toContain('"refused":"console login","rule":"N10"');
    expect((await logIn(password)).status).toBe(503);
    nowMs += consoleLimits.consoleGuessWaitMs;
    expect((await logIn(password)).status).toBe(204);
  });

  it("[N22] don't keep out an operator with the API key, one a second for minutes", async () => {
    await attack();
    for (let second = 0; second < 150; second++) {
      nowMs += 1_000;
      await logIn("wrong", { "CF-Connecting-IP": `192.0.2.${second}` });
      const operator = { "CF-Connecting-IP": `198.51.100.${second}` };
      const response = await logIn(testSecrets.API_KEY, operator);
      expect(response.status).toBe(204);
    }
    expect((await logIn(`${testSecrets.API_KEY}x`)).status).toBe(503);
  });

  it("[N22] don't get in with a key that admits only some methods", async () => {
    const keys = [{ name: "SOME", methods: ["publish"], channels: ["*"] }];
    const some = "a-key-that-may-publish-and-no-more-than-that";
    Object.assign(env, { SOME: some });
    configure({ ...testConfig, console: { enabled: true }, http_api: { keys } });
    expect((await logIn(some)).status).toBe(401);
    configure({ ...testConfig, console: { enabled: true } });
  });

  it("[N11] don't keep out an operator who is logged in, or whose browser is known", async () => {
    const { "dormouse-console": login = "", "dormouse-console-known": known = "" } =
      await cookies();
    await attack({ Cookie: "dormouse-console-known=a.b.c" });
    expect((await logIn(password)).status).toBe(503);
    const settings = "/console/api/settings";
    expect((await post(settings, {}, { Cookie: `dormouse-console=${login}` })).status).toBe(200);

    nowMs += (consoleLimits.consoleSessionSeconds + 1) * 1_000;
    await attack();
    expect((await post(settings, {}, { Cookie: `dormouse-console=${login}` })).status).toBe(401);
    const browser = { Cookie: `dormouse-console-known=${known}` };
    expect((await logIn(password, browser)).status).toBe(204);
    // What proves that a browser is known doesn't log it in, nor the other way round.
    expect((await post(settings, {}, browser)).status).toBe(401);
    expect((await post(settings, {}, { Cookie: `dormouse-console=${known}` })).status).toBe(401);
    expect((await logIn(password, { Cookie: `dormouse-console-known=${login}` })).status).toBe(503);

    // Its own guesses are bounded in the same way, and its address isn't.
    await attack(browser);
    expect((await logIn(password, browser)).status).toBe(503);
    nowMs += consoleLimits.consoleKnownSeconds * 1_000;
    await attack();
    expect((await logIn(password, browser)).status).toBe(503);
  });
});
