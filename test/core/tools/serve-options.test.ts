import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parseServeOptions, usage } from "../../../tools/serve-options.ts";

describe("the command line of npm run serve", () => {
  it("has a default for everything, and this machine alone as its host", () => {
    expect(parseServeOptions([])).toMatchObject({
      outcome: "options",
      options: { port: 8787, host: "127.0.0.1", target: {} },
    });
  });

  it("takes all of its options, with a state folder that is relative to where it is started", () => {
    const port = ["--port=9000", "--host", "::", "--state", "kept"];
    const parsed = parseServeOptions([...port, "-c", "a.toml", "-e", "b", "--var", "config:{}"]);
    expect(parsed).toEqual({
      outcome: "options",
      options: {
        port: 9000,
        host: "::",
        state: resolve("kept"),
        target: { file: "a.toml", environment: "b", config: "{}" },
      },
    });
  });

  it("has a help text that names all options", () => {
    expect(parseServeOptions(["--help"])).toEqual({ outcome: "help" });
    for (const name of ["port", "host", "state", "config", "env", "var"])
      expect(usage).toContain(`  --${name} `);
  });

  it.each<[readonly string[], string]>([
    [["--persist-to", "secret"], "unknown option --persist-to"],
    [["-p", "secret"], "unknown option -p"],
    [["--state"], "--state requires a value"],
    [["--state="], "--state requires a value"],
    [["--state", "--port", "secret"], "--state requires a value"],
    [["secret"], "unexpected argument"],
    [["--var", "API_KEY:secret"], "--var takes config:… only"],
    [["--port", "secret"], "--port must be"],
    [["--port", "0"], "--port must be"],
    [["--port", "65536"], "--port must be"],
    [["--port", "80.5"], "--port must be"],
  ])("[A7] refuses %j and says why, without repeating a value", (args, problem) => {
    const parsed = parseServeOptions(args);
    expect(parsed).toMatchObject({ outcome: "bad", problem: expect.stringContaining(problem) });
    const said = parsed.outcome === "bad" ? parsed.problem : "";
    expect(said.replace("pass secrets", "")).not.toContain("secret");
  });
});
