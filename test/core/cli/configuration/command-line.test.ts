import { describe, expect, it } from "vitest";
import {
  optionValue,
  targetOf,
  withoutOption,
} from "../../../../cli/configuration/command-line.ts";

describe("which configuration a command line means", () => {
  it.each<[readonly string[], object]>([
    [[], {}],
    [["--dry-run", "worker.js"], {}],
    [["--config", "other.toml"], { file: "other.toml" }],
    [["--config=other.toml"], { file: "other.toml" }],
    [["-c", "other.toml"], { file: "other.toml" }],
    [["-c=other.toml"], { file: "other.toml" }],
    [["-c", "first.toml", "--config", "last.toml"], { file: "last.toml" }],
    [["--config", "first.toml", "-c=last.toml"], { file: "last.toml" }],
    [["--env", "staging"], { environment: "staging" }],
    [["-e", "staging", "--minify"], { environment: "staging" }],
    [["--env=staging"], { environment: "staging" }],
    [["--env="], { environment: "" }],
    [["--env-file", "staging"], {}],
    [["--var", "config:{}"], { config: "{}" }],
    [['--var=config:{"a":"b:c"}'], { config: '{"a":"b:c"}' }],
    [["--var", "config:1", "--var", "config:2"], { config: "2" }],
    [["--var", "A:1", "config:{}", "B:2"], { config: "{}" }],
    [["--var=A:1", "config:{}"], { config: "{}" }],
    [["--var", "A:1", "--minify", "config:{}"], {}],
    [["--var", "configured:1"], {}],
    [["--define", "config:{}"], {}],
    [
      ["-c", "other.toml", "--var", "config:{}", "-e", "staging"],
      { file: "other.toml", environment: "staging", config: "{}" },
    ],
  ])("[A8] %j", (options, target) => {
    expect(targetOf(options)).toStrictEqual(target);
  });
});

describe("an option of a command line", () => {
  it("has the value that was given last", () => {
    expect(optionValue(["--port", "1", "--port=2"], "--port")).toBe("2");
    expect(optionValue(["--port=2", "--port", "1"], "--port")).toBe("1");
    expect(optionValue(["--porto", "1"], "--port")).toBeUndefined();
    expect(optionValue(["--port"], "--port")).toBeUndefined();
  });

  it("is removed with its value, wherever it is", () => {
    const options = ["a", "--port", "1", "b", "--port=2", "--ports", "c"];
    expect(withoutOption(options, "--port")).toStrictEqual(["a", "b", "--ports", "c"]);
  });
});
