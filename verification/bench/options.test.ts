import { describe, expect, it } from "vitest";
import { commandOf, parseOptions, usage } from "./options.ts";

const scenarios = ["fan-out", "latency"];
const options = (...given: readonly string[]) => {
  const parsed = parseOptions(given, scenarios);
  if (parsed.outcome !== "options") throw new Error(JSON.stringify(parsed));
  return parsed.options;
};

describe("the command line of the bench", () => {
  it("runs all scenarios with all systems three times by default", () => {
    expect(options()).toEqual({
      quick: false,
      rounds: 3,
      systems: [
        "channel",
        "channel-no-history",
        "gateway",
        "gateway-no-history",
        "limit",
        "durable-limit",
        "ws",
        "socket.io",
        "partyserver",
      ],
      json: false,
      out: "bench-report",
      docs: false,
    });
  });

  it("takes one scenario, some systems, rounds and a folder", () => {
    expect(
      options("--only", "latency", "--systems", "ws,channel", "--rounds=5", "--out", "x", "--json"),
    ).toMatchObject({
      only: "latency",
      systems: ["channel", "ws"],
      rounds: 5,
      out: "x",
      json: true,
    });
  });

  it("takes each figure once with --quick, unless --rounds says otherwise", () => {
    expect(options("--quick")).toMatchObject({ quick: true, rounds: 1 });
    expect(options("--quick", "--rounds", "2").rounds).toBe(2);
  });

  it("shows an earlier run", () => {
    expect(options("--docs", "--from", "a.json")).toMatchObject({ docs: true, from: "a.json" });
  });

  it.each([
    {
      given: ["--only", "luck"],
      problem: '--only doesn\'t know "luck"; there are fan-out, latency',
    },
    { given: ["--systems", "ws,nats"], problem: /doesn't know "nats"; there are channel, .*ws/ },
    { given: ["--systems", "null"], problem: /doesn't know "null"/ },
    { given: ["--systems", ""], problem: /--systems doesn't know ""/ },
    { given: ["--rounds", "0"], problem: '--rounds takes a whole number from 1 to 99, not "0"' },
    { given: ["--rounds", "1.5"], problem: /--rounds/ },
    { given: ["--rounds", "many"], problem: /--rounds/ },
    { given: ["--from", "a.json", "--quick"], problem: /so --quick has no effect/ },
    { given: ["--from", "a.json", "--rounds", "3"], problem: /so --rounds has no effect/ },
    { given: ["--fast"], problem: /--fast/ },
    { given: ["fan-out"], problem: /fan-out/ },
  ])("refuses $given and says why", ({ given, problem }) => {
    const parsed = parseOptions(given, scenarios);
    expect(parsed.outcome === "refused" ? parsed.problem : "").toMatch(problem);
  });

  it("is repeated without the folders of one machine", () => {
    expect(commandOf(options("--out", "/home/me", "--json", "--docs"))).toBe("npm run bench");
    const given = ["--only", "latency", "--quick", "--rounds", "2", "--systems", "channel,ws"];
    expect(commandOf(options(...given))).toBe(`npm run bench -- ${given.join(" ")}`);
  });

  it("has a help text with all options", () => {
    expect(parseOptions(["--help"], scenarios)).toEqual({ outcome: "help" });
    expect(usage(scenarios)).toContain("fan-out latency");
  });
});
