import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { recordedShell } from "./recorded-shell.ts";

const wranglerToml = readFileSync("wrangler.toml", "utf8");

describe("[A8] dormouse check", () => {
  it("accepts the committed wrangler.toml, and names the secrets", async () => {
    const { code, printed } = await recordedShell({ "wrangler.toml": wranglerToml })(["check"]);
    expect([code, printed]).toEqual([
      0,
      "wrangler.toml: the configuration is valid\nThe Worker needs these secrets: API_KEY, TOKEN_HMAC_SECRET_KEY",
    ]);
  });

  it.each([
    ["a.json", '{"client":{"ping_intervall":"4s"}}'],
    ["a.jsonc", '{\n  // comment "x"\n  "client": { "ping_intervall": "4s", /* y */ },\n}'],
    ["a.yaml", "client:\n  ping_intervall: 4s\n"],
    ["a.toml", '[client]\nping_intervall = "4s"\n'],
    ["wrangler.toml", `${wranglerToml}\n[vars.config.client]\nping_intervall = "4s"\n`],
  ])("names a mistake in %s", async (name, text) => {
    const { code, printed } = await recordedShell({ [name]: text })(["check", name, "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(printed)).toMatchObject({
      valid: false,
      problems: ["client.ping_intervall is unknown; did you mean ping_interval?"],
    });
  });

  it("checks the environment that is named, with its bindings", async () => {
    const text = `${wranglerToml}\n[env.staging.vars.config.client]\nchannel_limit = 5\n`;
    const { code, printed } = await recordedShell({ "wrangler.toml": text })([
      "check",
      "--env",
      "staging",
      "--json",
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(printed).problems).toHaveLength(3);
    expect(printed).toContain("binding CHANNELS");
    const metrics = `${text}\n[env.staging.vars.config.prometheus]\nenabled = true\n`;
    const run = recordedShell({ "wrangler.toml": metrics });
    expect((await run(["check", "--env", "staging"])).printed).toContain("binding METRICS");
  });

  it.each([
    [100, ["events.keep_max is 100,", "is told of 50 who"]],
    [99_999, ["events.keep_max is 99999,"]],
    [100_000, []],
  ])(
    "[CU46] says where an audience may be larger than a log of %i events",
    async (keepMax, says) => {
      const told = (cursors: object) => ({
        events: { target: "queue:EVENTS", types: ["unseen"], keep_max: keepMax },
        channel: {
          namespaces: [{ name: "chat", history_size: 10, history_ttl: "5m", cursors }],
        },
      });
      const notesOf = async (cursors: object): Promise<readonly string[]> => {
        const run = recordedShell({ "a.json": JSON.stringify(told(cursors)) });
        const { code, printed } = await run(["check", "a.json", "--json"]);
        expect(code).toBe(0);
        return JSON.parse(printed).notes;
      };
      const audience = { enabled: true, audience: "named" };
      expect(await notesOf(audience)).toEqual([]);
      const notes = await notesOf({ ...audience, notify_after: "30s" });
      expect(notes).toHaveLength(says.length > 0 ? 1 : 0);
      for (const text of says) expect(notes[0]).toContain(text);
    },
  );

  it("[A10] checks secrets without printing them", async () => {
    const run = recordedShell({
      "wrangler.toml": wranglerToml,
      production: "API_KEY=hunter2\n",
    });
    const { code, printed } = await run(["check", "--secrets", "production"]);
    expect(code).toBe(1);
    expect(printed).toContain("secret TOKEN_HMAC_SECRET_KEY is missing");
    expect(printed).toContain("secret API_KEY has fewer than 16 characters");
    expect(printed).not.toContain("hunter2");
  });

  it("[A20] allows insecure_endpoints with --serve", async () => {
    const rpc = { proxy: { endpoint: "http://backend:3000/rpc" } };
    const run = recordedShell({ "a.json": JSON.stringify({ insecure_endpoints: true, rpc }) });
    expect((await run(["check", "a.json", "--serve"])).code).toBe(0);
    const { code, printed } = await run(["check", "a.json"]);
    expect(code).toBe(1);
    expect(printed).toContain("insecure_endpoints is for npm run serve and npm start only");
  });

  it("[A11] allows insecure modes for development only", async () => {
    const run = recordedShell({ "a.json": '{"client":{"insecure":true}}' });
    expect((await run(["check", "a.json"])).code).toBe(1);
    expect((await run(["check", "a.json", "--secrets", "none", "--development"])).code).toBe(2);
    const { code, printed } = await run(["check", "a.json", "--development"]);
    expect(code).toBe(1);
    expect(printed).not.toContain("npm start only");
  });

  it("leads from a configuration of Centrifugo 5 to dormouse migrate", async () => {
    const { printed } = await recordedShell({ "c.json": '{"api_key":"hunter2"}' })([
      "check",
      "c.json",
    ]);
    expect(printed).toContain("dormouse migrate c.json");
    expect(printed).not.toContain("hunter2");
  });

  it.each([
    ["a.json", '{\n"a" 1}', "a.json: not JSON: see line 2, column 5"],
    ["a.yaml", "a: [\nb", "a.yaml: not YAML: see line 2"],
    ["a.toml", "a = hunter2", "a.toml: not TOML: see line 1, column"],
    ["b.yaml", "- 1", "b.yaml isn't an object of sections and keys"],
  ])("[A7] says where %s stops being what it is", async (name, text, problem) => {
    const { code, noted } = await recordedShell({ [name]: text })(["check", name]);
    expect(code).toBe(2);
    expect(noted).toContain(problem);
    expect(noted).not.toContain("hunter2");
  });
});

describe("[OW14] dormouse check of a project whose code has the configuration", () => {
  const settings = { compatibility_date: "2026-11-02", minify: true };
  const bindings = [
    { name: "CHANNELS", class_name: "ChannelObject" },
    { name: "GATEWAYS", class_name: "GatewayObject" },
    { name: "USERS", class_name: "UsersObject" },
  ];
  const file = (more: object): string =>
    JSON.stringify({ ...settings, durable_objects: { bindings }, ...more });

  it.each([
    ["has no main", {}, "wrangler.json has neither main nor [vars.config]"],
    ["has a main that isn't there", { main: "own/a.ts" }, "main of wrangler.json is own/a.ts"],
  ])("never calls it valid where the file %s", async (_, more, says) => {
    const run = recordedShell({ "wrangler.json": file(more) });
    const { code, printed } = await run(["check"]);
    expect([code, printed]).toEqual([1, expect.stringContaining(says)]);
    expect(printed).not.toContain("is valid");
    // A deploy checks the same.
    const deployed = await run(["deploy"]);
    expect([deployed.code, deployed.noted]).toEqual([1, "Nothing was deployed."]);
  });

  it("asks for the wrangler that builds it", async () => {
    const run = recordedShell({ "a.ts": "", "wrangler.json": file({ main: "a.ts" }) });
    const { code, noted } = await run(["check"]);
    expect([code, noted]).toEqual([2, expect.stringContaining("npm install --save-dev wrangler")]);
  });

  it.each([{ DORMOUSE_CHECKS: "1" }, { WRANGLER_COMMAND: "dev" }, { WRANGLER_COMMAND: "types" }])(
    "leaves it to others in wrangler's build with %o",
    async (environment) => {
      const run = recordedShell({ "wrangler.json": file({}) });
      expect(await run(["check"], { environment })).toMatchObject({ code: 0, printed: "" });
      const deploys = { environment: { WRANGLER_COMMAND: "deploy" } };
      expect((await run(["check"], deploys)).code).toBe(1);
    },
  );

  it("takes the environment that wrangler takes", async () => {
    const env = { staging: { compatibility_date: "2024-04-02" } };
    const run = recordedShell({ "wrangler.json": file({ env }) });
    const { printed } = await run(["check"], { environment: { CLOUDFLARE_ENV: "staging" } });
    expect(printed).toContain("without the compatibility flag rpc nobody connects");
    expect((await run(["check"])).printed).not.toContain("compatibility flag");
    const other = recordedShell({ "a.json": "{}" });
    const environment = { CLOUDFLARE_ENV: "staging" };
    expect((await other(["check", "a.json"], { environment })).code).toBe(0);
  });
});
