import { describe, expect, it } from "vitest";
import { parseOptions } from "./options.ts";

const options = (...given: readonly string[]) => {
  const parsed = parseOptions(given, {}, 17);
  if (parsed.outcome !== "options") throw new Error(JSON.stringify(parsed));
  return parsed.options;
};

describe("the command line of the proof", () => {
  it("injects all faults for a minute, with a random seed", () => {
    const { seed, seconds, deliveries, faults, remote } = options();
    expect({ seed, seconds, deliveries, remote }).toEqual({
      seed: 17,
      seconds: 60,
      deliveries: 0,
      remote: undefined,
    });
    expect(faults.get("kill")).toBeGreaterThan(0);
    expect(faults.size).toBe(24);
  });

  it("takes kinds of faults with and without rates", () => {
    expect([...options("--faults", "kill=12.5,cut").faults]).toEqual([
      ["kill", 12.5],
      ["cut", 13],
    ]);
    expect(options("--faults", "none").faults.size).toBe(0);
  });

  it("takes numbers, a folder and a protection", () => {
    expect(
      options("--seed=5", "--seconds", "90", "--deliveries", "1000000", "--folder", "x", "--edn"),
    ).toMatchObject({ seed: 5, seconds: 90, deliveries: 1_000_000, folder: "x", edn: true });
    expect(options("--without", "gap-repair")).toMatchObject({ without: { name: "gap-repair" } });
    expect(options("--pace", "2.5").pace).toBe(2.5);
    expect(options("--again", "prove-report").again).toBe("prove-report");
  });

  it.each([
    { given: ["--seed", "soon"], problem: '--seed takes a whole number, not "soon"' },
    { given: ["--seconds", "-1"], problem: /--seconds/ },
    { given: ["--faults", "kill,flood"], problem: /doesn't know "flood"; there are cut, reset/ },
    { given: ["--faults", "kill=0"], problem: /rate per minute above 0 after "kill="/ },
    { given: ["--pace", "0"], problem: '--pace takes a number above 0, not "0"' },
    { given: ["--url", "dormouse"], problem: /--url takes an address/ },
    { given: ["--url", "https://example.com"], problem: "--url needs API_KEY in the environment" },
    { given: ["--without", "luck"], problem: /--without doesn't know "luck"/ },
    { given: ["--what"], problem: /--what/ },
  ])("refuses $given and says why", ({ given, problem }) => {
    const parsed = parseOptions(given, {}, 1);
    expect(parsed.outcome === "refused" ? parsed.problem : "").toMatch(problem);
  });

  it("injects the faults that reveal a missing protection by default", () => {
    const rates = options("--without", "crash-alarm").faults;
    expect([...rates.keys()]).toEqual(["crash-channel"]);
    expect([...options("--without", "crash-alarm", "--faults", "kill").faults.keys()]).toEqual([
      "kill",
    ]);
  });

  it("injects only network faults with a deployed server", () => {
    const secrets = { API_KEY: "key", TOKEN_HMAC_SECRET_KEY: "secret" };
    const parsed = parseOptions(["--url", "https://example.com"], secrets, 1);
    if (parsed.outcome !== "options") throw new Error("refused");
    expect(parsed.options.remote?.url.href).toBe("https://example.com/");
    expect(parsed.options.faults.has("kill")).toBe(false);
    expect(parsed.options.faults.has("lose-answer")).toBe(true);
    expect(parseOptions(["--url", "https://a.b", "--faults", "kill"], secrets, 1)).toMatchObject({
      outcome: "refused",
    });
  });

  it("has a help text with all options", () => {
    expect(parseOptions(["--help"], {}, 1)).toEqual({ outcome: "help" });
  });
});
