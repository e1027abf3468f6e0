import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { secretUses } from "../../../../src/config/secret-uses.ts";
import { checkConfiguration } from "../../../../cli/deployment/configuration-problems.ts";
import { deploy } from "../../../../cli/build/deploy.ts";
import { deployedSecrets, servedSecrets } from "../../../../cli/deployment/secrets.ts";
import { textFault, textOf } from "../../../../cli/configuration/text-file.ts";
import { WorkerFolder } from "../../../support/servers/worker-folder.ts";
import { recordedShell, temporaryFolder } from "../recorded-shell.ts";

const secrets =
  "API_KEY='an-api-key-of-the-file'\nTOKEN_HMAC_SECRET_KEY='a-token-secret-of-the-file'\n";
const uses = secretUses(undefined);
let folder: string;
let errors: string[];

beforeEach(() => {
  folder = temporaryFolder();
  errors = [];
  vi.spyOn(console, "error").mockImplementation((line: string) => void errors.push(line));
  for (const name of ["API_KEY", "TOKEN_HMAC_SECRET_KEY"]) vi.stubEnv(name, "");
  return () => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  };
});

function written(name: string, content: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** As Notepad and PowerShell write it; without the mark if the text begins with something else. */
const utf16 = (text: string) => Buffer.from(text, "utf16le");
const bigEndian = (text: string) => utf16(text).swap16();

describe("[N14] the encoding of a file", () => {
  it("is UTF-8, with a byte order mark or without one", () => {
    for (const text of ["A=é", "\uFEFFA=é", ""]) {
      const file = written("a", text);
      expect([textFault(file), textOf(file)]).toEqual([undefined, text.replace("\uFEFF", "")]);
    }
  });

  it.each([
    ["UTF-16", utf16("\uFEFFA=1")],
    ["UTF-16 without a mark", utf16("A=1")],
    ["UTF-16, big-endian", bigEndian("\uFEFFA=1")],
    ["Latin-1", Buffer.from("A=é", "latin1")],
  ])("isn't %s", (_, bytes) => {
    const file = written("a", bytes);
    expect(textFault(file, "the file")).toMatch(/^the file isn't text in UTF-8.+save it as UTF-8$/);
  });
});

describe("[N14] secrets after a byte order mark", () => {
  it("are those of npm run serve and npm run deploy", () => {
    const worker = new WorkerFolder("", {});
    try {
      const file = join(worker.configFile, "..", ".dev.vars");
      writeFileSync(file, `\uFEFF${secrets}`);
      const served = servedSecrets({ file: worker.configFile }, uses);
      expect(Object.keys(served.secrets)).toEqual(["API_KEY", "TOKEN_HMAC_SECRET_KEY"]);
      for (const text of [secrets, '{"API_KEY":"an-api-key-of-the-file"}']) {
        writeFileSync(file, `\uFEFF${text}`);
        const deployed = deployedSecrets(["--secrets-file", file], {}, uses);
        expect(deployed).toHaveProperty("API_KEY", "an-api-key-of-the-file");
      }
      writeFileSync(file, utf16(`\uFEFF${secrets}`));
      expect(servedSecrets({ file: worker.configFile }, uses)).toMatchObject({
        secrets: {},
        fault: `${file} isn't text in UTF-8 but looks like UTF-16: save it as UTF-8`,
      });
    } finally {
      worker.remove();
    }
  });

  it("are those of the command line", async () => {
    const run = recordedShell({ ".dev.vars": `\uFEFFTOKEN_HMAC_SECRET_KEY='x'\n` }, folder);
    expect((await run(["token", "ada"])).code).toBe(0);
    written("centrifugo.env", "\uFEFFCENTRIFUGO_API_KEY=0123456789abcdef\n");
    const migrated = await run(["migrate", "--env-file", "centrifugo.env", "--dry-run"]);
    expect(migrated.printed).toContain("→ API_KEY");
    written(".dev.vars", utf16(`\uFEFF${secrets}`));
    const refused = await run(["token", "ada"]);
    expect(refused.noted).toContain(".dev.vars isn't text in UTF-8 but looks like UTF-16");
    written("c.json", utf16('\uFEFF{"client":{}}'));
    for (const args of [
      ["check", "c.json"],
      ["migrate", "c.json"],
    ]) {
      const { code, noted } = await run(args);
      expect([code, noted]).toEqual([2, expect.stringContaining("c.json isn't text in UTF-8")]);
    }
  });
});

describe("[N14] wrangler's file", () => {
  it("is refused in UTF-16, and where it can't be parsed, without a line of it", async () => {
    for (const [content, problem] of [
      [utf16('\uFEFFname = "hunter2"'), "looks like UTF-16"],
      ['name = "hunter2', "can't be read: "],
    ] as const) {
      const file = written("wrangler.toml", content);
      expect(checkConfiguration(["--config", file], "deployment")).toBeUndefined();
      expect(errors.join("\n")).toContain(problem);
      expect(errors.join("\n")).not.toContain("hunter2");
    }
  });

  it("isn't deployed with secrets in UTF-16", async () => {
    const worker = new WorkerFolder("", {});
    const file = written("secrets", utf16(`\uFEFF${secrets}`));
    try {
      const options = ["--config", worker.configFile, "--secrets-file", file];
      expect(await deploy(options, () => 0)).toBe(1);
      expect(errors.join("\n")).toContain("looks like UTF-16");
    } finally {
      worker.remove();
    }
  });
});
