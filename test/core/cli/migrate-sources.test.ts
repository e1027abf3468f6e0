import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { convert } from "../../../cli/migrate/conversion.ts";
import type { JsonObject } from "../../../src/protocol/wire-value.ts";
import { recordedShell, temporaryFolder } from "./recorded-shell.ts";

const placeholders = [
  "${SECRET}",
  "{{ .Values.secret }}",
  "<your secret, at least 32>",
  "%SECRET_OF_PRODUCTION%",
];

function converted(document: JsonObject) {
  return convert(document, () => "a-fresh-secret-of-the-conversion");
}

function compose(...services: readonly string[]): string {
  return `services:\n  app: { image: nginx, environment: { CENTRIFUGO_API_KEY: of-the-app } }\n${services.join("")}`;
}

const centrifugo = `  realtime:
    image: registry.example.com/centrifugo/centrifugo:v6
    environment:
      - CENTRIFUGO_HTTP_API_KEY=an-api-key-of-the-compose-file
      - CENTRIFUGO_CLIENT_ALLOWED_ORIGINS=https://a.example.com https://b.example.com
`;

describe("[A8] dormouse migrate", () => {
  it.each(placeholders)("[A10] takes no placeholder for a secret: %s", (placeholder) => {
    const { secrets, rows, todo } = converted({ http_api: { key: placeholder } });
    expect(secrets).toEqual({});
    expect(rows).toContainEqual({
      key: "http_api.key",
      outcome: "absent",
      becomes: "",
      reason: "is a placeholder, and no secret: give the value that it stands for",
    });
    expect(todo).toContain("add the secret API_KEY, which the source doesn't have");
  });

  it("reads the variables of a compose file's service of Centrifugo", async () => {
    const folder = temporaryFolder();
    const run = recordedShell({ "compose.yaml": compose(centrifugo) }, folder);
    const { code, printed } = await run(["migrate", "compose.yaml"]);
    expect(code).toBe(0);
    expect(readFileSync(join(folder, ".dev.vars.migrated"), "utf8")).toBe(
      "API_KEY='an-api-key-of-the-compose-file'\n",
    );
    expect(readFileSync(join(folder, "wrangler.jsonc"), "utf8")).toContain("https://b.example.com");
    expect(printed).toContain("add the secret TOKEN_HMAC_SECRET_KEY");
    expect(printed).not.toContain("an-api-key");
  });

  it.each([
    ["compose.yaml", compose(), "compose.yaml has no service with an image of Centrifugo"],
    [
      "compose.yaml",
      compose(centrifugo, centrifugo.replace("realtime", "second")),
      "compose.yaml has several services of Centrifugo, name one with --service: realtime, second",
    ],
    [
      "compose.yaml",
      compose("  realtime: { image: centrifugo/centrifugo }\n"),
      "compose.yaml gives Centrifugo no configuration: neither variables of CENTRIFUGO_, nor flags, nor a mounted file",
    ],
    [
      "package.json",
      '{"name":"app","scripts":{"start":"x"},"private":false}',
      "nothing in package.json is an option of Centrifugo 4, 5 or 6; it has private, scripts",
    ],
    ["empty.json", "{}", "nothing in empty.json is an option of Centrifugo 4, 5 or 6"],
  ])("refuses a file without anything of Centrifugo's: %s", async (name, text, problem) => {
    const { code, noted } = await recordedShell({ [name]: text })(["migrate", name]);
    expect([code, noted]).toEqual([2, expect.stringContaining(problem.split(";")[0] ?? "")]);
  });

  it("says that --out takes a folder", async () => {
    const folder = temporaryFolder();
    const run = recordedShell({ "config.json": '{"history_size":1}' }, folder);
    writeFileSync(join(folder, "file"), "");
    for (const out of ["file", "new/wrangler.jsonc"])
      expect(await run(["migrate", "config.json", "--out", out])).toMatchObject({
        code: 2,
        noted: `--out takes a folder, in which wrangler.jsonc is written; ${out} is a file`,
      });
  });

  it("prints what needs a person last, and what is kept on one line", async () => {
    const source = {
      client: {
        allowed_origins: ["https://a.example.com"],
        proxy: { connect: { enabled: true, endpoint: "http://app:3000" } },
      },
      channel: { namespaces: [{ name: "chat", presence: true }] },
    };
    const run = recordedShell({ "config.json": JSON.stringify(source) });
    const { code, printed } = await run(["migrate", "config.json", "--dry-run"]);
    expect(code).toBe(1);
    const [first, ...others] = printed.split("\n\n");
    expect(first).toBe("Kept: 3 options, which --json lists");
    expect(others.at(-1)).toMatch(/^To be decided[^]+client\.proxy\.connect\.endpoint/);
    expect(printed).toContain("a tunnel such as cloudflared; under npm run serve");
  });

  it("[A21] lets rpc and refresh hooks over plain http be decided about, like the others", () => {
    const endpoint = "http://app:3000/hook";
    const { rows, config } = converted({
      client: { proxy: { refresh: { enabled: true, endpoint } } },
      rpc: { proxy: { endpoint }, without_namespace: { proxy_enabled: true } },
    });
    const undecided = rows.filter(({ outcome }) => outcome === "decide").map(({ key }) => key);
    expect(undecided.toSorted()).toEqual([
      "client.proxy.refresh.enabled",
      "client.proxy.refresh.endpoint",
      "rpc.proxy.endpoint",
      "rpc.without_namespace.proxy_enabled",
    ]);
    expect(config).toHaveProperty("rpc.proxy.endpoint", endpoint);
  });

  it("asks for no secret of tokens that are verified with public keys, wherever those are", () => {
    for (const address of ["https://id.example.com/jwks", "http://keycloak:8080/jwks"]) {
      const { todo } = converted({ token_jwks_public_endpoint: address });
      expect(todo.join()).not.toContain("TOKEN_HMAC_SECRET_KEY");
      expect(todo.join()).toContain("add the secret API_KEY");
    }
  });

  it("answers admin with the console, and names options of version 3", () => {
    const { rows, todo } = converted({
      admin: { enabled: true, password: "hunter2" },
      client_anonymous: true,
      namespaces: [{ name: "chat", publish: true, recover: true, no_such_option: 1 }],
    });
    const reasons = Object.fromEntries(rows.map(({ key, reason }) => [key, reason]));
    expect(reasons).toMatchObject({
      admin: "is the console here, at /console/, see docs/console.md",
      client_anonymous:
        "is an option of Centrifugo 3 or older: write client.allow_anonymous_connect_without_token",
      "namespaces[0].publish":
        "is an option of Centrifugo 3 or older: write allow_publish_for_client",
      "namespaces[0].recover": "is an option of Centrifugo 3 or older: write force_recovery",
      "namespaces[0].no_such_option": "is unknown",
    });
    expect(todo).toContain("set the secret CONSOLE_PASSWORD, with which the console lets you in");
    expect(converted({ admin: { enabled: false, password: "hunter2" } }).todo.join()).not.toContain(
      "CONSOLE_PASSWORD",
    );
  });
});
