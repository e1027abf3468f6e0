import { describe, expect, it } from "vitest";
import { readCommandLine, splitWords } from "../../../cli/migrate/compose/command-line.ts";
import { interpolated } from "../../../cli/migrate/compose/interpolation.ts";
import { variablesOfFile } from "../../../cli/migrate/compose/variable-file.ts";

describe("[A21] a text of a compose file", () => {
  it.each([
    ["$A ${A} $$A ${}", "a a $A ${}", []],
    ["${B-b}${B:-b}${E-b}${E:-b}", "bbb", []],
    ["${A:+x}${B:+x}${E:+x}${E+y}", "xy", []],
    ["${B:-${E:-${A}}}", "a", []],
    ["${B}${B:?none}${E:?none}", "", ["B", "B", "E"]],
    ["${A", "${A", []],
  ])("has its variables filled in: %s", (given, text, missing) => {
    expect(interpolated(given, { A: "a", E: "" })).toMatchObject({ text, missing });
  });

  it("is split into words as a shell splits it", () => {
    expect(splitWords(`a "b c" 'd "e' f\\ g --h="i j"`)).toEqual([
      "a",
      "b c",
      'd "e',
      "f g",
      "--h=i j",
    ]);
  });

  it("of a command line is a flag with its value, a switch, or unread", () => {
    const words =
      "-c=/c.json --sse.enabled --client.channel_limit 5 --port=1 --tls --wrong x -e redis";
    expect(readCommandLine(["centrifugo", ...words.split(" ")])).toEqual({
      configPath: "/c.json",
      flags: [
        { flag: "--sse.enabled", path: ["sse", "enabled"], value: "true" },
        { flag: "--client.channel_limit", path: ["client", "channel_limit"], value: "5" },
        { flag: "--port", path: ["port"], value: "1" },
        { flag: "--tls", path: ["tls"], value: "true" },
        { flag: "-e", path: ["engine"], value: "redis" },
      ],
      unread: ["has the flag --wrong, which isn't read"],
    });
    for (const other of ["nginx -c x", "sh -c 'centrifugo; x'", "sh -c 'wait centrifugo:8000'"])
      expect(readCommandLine(splitWords(other))).toBeUndefined();
  });

  it("of a file of variables is filled in, unless it is in single quotes", () => {
    const text = `A=1\nexport B="$A-\${A}"\nC='$A'\n# D=1\nE\nF\nG=$H`;
    const { variables, missing } = variablesOfFile(text, { E: "e" }, false);
    expect(variables).toEqual({ A: "1", B: "1-1", C: "$A", E: "e" });
    expect([...missing]).toEqual([
      ["G", ["H"]],
      ["F", ["F"]],
    ]);
    expect(variablesOfFile(`B="$A"`, {}, true).variables).toEqual({ B: '"$A"' });
  });
});
