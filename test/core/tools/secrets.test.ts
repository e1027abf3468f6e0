import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { publicSecrets, servedSecrets } from "../../../tools/secrets.ts";
import { WorkerFolder } from "../../support/worker-folder.ts";

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
    const { secrets, source } = servedSecrets({ file: worker.configFile });
    expect(secrets).toEqual({ API_KEY: "of-the-file", TOKEN_HMAC_SECRET_KEY: "file-too" });
    expect(source).toContain(".dev.vars");
  });

  it("[A8] are those of the environment alone as soon as it has one", () => {
    vi.stubEnv("API_KEY", "of-the-environment");
    const { secrets, source } = servedSecrets({ file: worker.configFile });
    expect(secrets).toEqual({ API_KEY: "of-the-environment" });
    expect(source).toBe("the environment");
  });

  it("are named, where everybody knows them, under whatever name they are used", () => {
    const secrets = { API_KEY: "development-token-hmac-secret-key", TOKEN_HMAC_SECRET_KEY: "own" };
    expect(publicSecrets(secrets)).toEqual(["API_KEY"]);
    expect(publicSecrets({ API_KEY: "own" })).toEqual([]);
  });
});
