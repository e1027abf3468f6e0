import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parseServeOptions, usage } from "../../../../cli/serve/serve-options.ts";

describe("the command line of npm run serve", () => {
  it("has a default for everything, and this machine alone as its host", () => {
    expect(parseServeOptions([])).toMatchObject({
      outcome: "options",
      options: { port: 8787, host: "127.0.0.1", target: {} },
    });
  });

  it("takes all of its options, with a state folder that is relative to where it is started", () => {
    const port = ["--port=9000", "--host", "::", "--state", "kept"];
    const services = ["--service", "A=backend.local:80", "--service=B=[::1]:8788"];
    const target = ["-c", "a.toml", "-e", "b", "--var", "config:{}"];
    const parsed = parseServeOptions([...port, ...services, ...target]);
    expect(parsed).toEqual({
      outcome: "options",
      options: {
        port: 9000,
        host: "::",
        state: resolve("kept"),
        target: { file: "a.toml", environment: "b", config: "{}" },
        services: { A: "backend.local:80", B: "[::1]:8788" },
      },
    });
  });

  it("has a help text that names all options", () => {
    expect(parseServeOptions(["--help"])).toEqual({ outcome: "help" });
    for (const name of ["port", "host", "state", "config", "env", "service", "var"])
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
    [["--service", "secret"], "--service takes NAME=HOST:PORT"],
    [["--service", "A=http://secret:80"], "--service takes NAME=HOST:PORT"],
    [["--service", "A=secret"], "--service takes NAME=HOST:PORT"],
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
