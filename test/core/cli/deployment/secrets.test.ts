import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { secretPair } from "../../../../src/access/secrets.ts";
import { secretUses } from "../../../../src/config/secret-uses.ts";
import { deployedSecrets, servedSecrets } from "../../../../cli/deployment/secrets.ts";
import { WorkerFolder } from "../../../support/servers/worker-folder.ts";

const uses = secretUses(undefined);

let worker: WorkerFolder;

beforeEach(() => {
  worker = new WorkerFolder("", { API_KEY: "of-the-file", TOKEN_HMAC_SECRET_KEY: "file-too" });
  for (const name of ["API_KEY", "TOKEN_HMAC_SECRET_KEY"]) vi.stubEnv(name, "");
});
afterEach(() => {
  vi.unstubAllEnvs();
  worker.remove();
});

describe("the secrets of npm run serve", () => {
  it("[A8] are those of the file where the environment has none", () => {
    const { secrets, source } = servedSecrets({ file: worker.configFile }, uses);
    expect(secrets).toEqual({ API_KEY: "of-the-file", TOKEN_HMAC_SECRET_KEY: "file-too" });
    expect(source).toContain(".dev.vars");
  });

  it("[A8] are those of the environment alone as soon as it has one", () => {
    vi.stubEnv("API_KEY", "of-the-environment");
    const { secrets, source } = servedSecrets({ file: worker.configFile }, uses);
    expect(secrets).toEqual({ API_KEY: "of-the-environment" });
    expect(source).toBe("the environment");
  });
});

/** A secret that the configuration names. */
const billing = secretPair("API_KEY_BILLING", "api");

it("[A14] the secrets of npm run serve have those that the configuration names", () => {
  vi.stubEnv("API_KEY_BILLING", "billing");
  vi.stubEnv("API_KEY_BILLING_PREVIOUS", "before");
  vi.stubEnv("API_KEY_SHOP", "shop");
  const { secrets } = servedSecrets({ file: worker.configFile }, billing);
  expect(secrets).toEqual({ API_KEY_BILLING: "billing", API_KEY_BILLING_PREVIOUS: "before" });
});

describe("the secrets of npm run deploy", () => {
  const vars = { API_KEY: "of-the-variables", TOKEN_HMAC_SECRET_KEY: "plain", config: {} };

  it("[A10] are those among the variables, then the command line's, then the file's", () => {
    expect(deployedSecrets([], vars, uses)).toEqual({
      API_KEY: "of-the-variables",
      TOKEN_HMAC_SECRET_KEY: "plain",
    });
    const named = ["--var", "API_KEY_BILLING:billing", "API_KEY_SHOP:shop"];
    expect(deployedSecrets(named, {}, billing)).toEqual({ API_KEY_BILLING: "billing" });
    const command = ["--var", "API_KEY:of:the-line", "OTHER:1"];
    expect(deployedSecrets(command, {}, uses)).toEqual({ API_KEY: "of:the-line" });
    const file = join(worker.path, ".dev.vars");
    expect(deployedSecrets([...command, "--secrets-file", file], vars, uses)).toEqual({
      API_KEY: "of-the-file",
      TOKEN_HMAC_SECRET_KEY: "file-too",
    });
  });

  it("[A10] may be in a file of JSON, of which only texts count", () => {
    const file = join(worker.path, "secrets.json");
    writeFileSync(file, JSON.stringify({ API_KEY: "json", TOKEN_HMAC_SECRET_KEY: 1, OTHER: 1 }));
    const options = [`--secrets-file=${file}`];
    expect(deployedSecrets(options, {}, uses)).toEqual({ API_KEY: "json" });
    const given = { API_KEY: { of: "another kind" }, TOKEN_HMAC_SECRET_KEY: "plain" };
    expect(deployedSecrets(options, given, uses)).toEqual({
      API_KEY: "json",
      TOKEN_HMAC_SECRET_KEY: "plain",
    });
  });
});
