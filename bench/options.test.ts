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
      without: [],
      peers: [],
      json: false,
      out: "bench-report",
      docs: false,
    });
  });

  it("takes one scenario, some systems, rounds and a folder", () => {
    expect(
      options("--only", "latency", "--systems", "ws,channel", "--rounds=5", "--out", "x", "--json"),
    ).toMatchObject({
      only: ["latency"],
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

  it("takes rules to leave out, whose systems are measured besides the whole ones", () => {
    const all = [...scenarios, "churn", "storm"];
    const given = ["--systems", "gateway,limit", "--without", "F13,F12"];
    const parsed = parseOptions(given, all);
    if (parsed.outcome !== "options") throw new Error(JSON.stringify(parsed));
    expect(parsed.options).toMatchObject({
      only: ["churn", "storm"],
      systems: ["gateway", "limit", "gateway-without-F12", "gateway-without-F13"],
      without: ["F12", "F13"],
    });
    expect(commandOf(parsed.options)).toBe(
      "npm run bench -- --only churn,storm --systems gateway,limit --without F12,F13",
    );
    expect(options("--without", "F13", "--only", "latency").only).toEqual(["latency"]);
  });

  it("takes peers, which are measured besides the chosen systems", () => {
    const centrifugo =
      "centrifugo=ws://127.0.0.1:8000/connection/websocket,api=http://127.0.0.1:8000/api,key=a,b=c";
    const earlier = "0.9=ws://other/channel/{channel}/websocket,api=http://other:81/,key=k";
    const given = ["--systems", "gateway", "--peer", centrifugo, "--peer", earlier];
    expect(options(...given)).toMatchObject({
      systems: ["gateway", "peer:centrifugo", "peer:0.9"],
      peers: [
        {
          name: "peer:centrifugo",
          sockets: { host: "127.0.0.1", port: 8_000, path: "/connection/websocket" },
          api: { host: "127.0.0.1", port: 8_000, path: "/api" },
          key: "a,b=c",
          protocol: "centrifugo",
        },
        {
          name: "peer:0.9",
          sockets: { host: "other", port: 80, path: "/channel/%7Bchannel%7D/websocket" },
          api: { host: "other", port: 81, path: "" },
          key: "k",
          protocol: "centrifugo",
        },
      ],
    });
    expect(commandOf(options(...given))).toBe(
      "npm run bench -- --systems gateway" +
        " --peer centrifugo=ws://127.0.0.1:8000/connection/websocket,api=http://127.0.0.1:8000/api,key=…" +
        " --peer 0.9=ws://other:80/channel/{channel}/websocket,api=http://other:81,key=…",
    );
  });

  it.each([
    { peer: "centrifugo", problem: "takes NAME=URL,api=URL,key=KEY" },
    { peer: "centrifugo=ws://h/,key=secret", problem: "takes NAME=URL,api=URL,key=KEY" },
    {
      peer: "a=ws://h/connection,api=http://h/apps/1,sign=secret",
      problem: "of a signs, but has a URL that doesn't end with /app/KEY",
    },
    { peer: "a b=ws://h/,api=http://h/,key=secret", problem: "takes a name of up to 30 letters" },
    { peer: "a=ws://h/,api=http://h/,key=", problem: "of a has a key that is empty" },
    { peer: "a=ws://h/,api=http://h/,key=secret\r\nX: y", problem: "of a has a key that is" },
    { peer: "a=h:8000,api=http://h/,key=secret", problem: "of a has a URL that doesn't begin" },
    { peer: "a=//h,api=http://h/,key=secret", problem: "of a has a URL that is no URL" },
    {
      peer: "a=wss://h/,api=http://h/,key=secret",
      problem: "of a has a URL that doesn't begin with ws:// (TLS isn't measured)",
    },
    {
      peer: "a=ws://h/,api=https://h/,key=secret",
      problem: "of a has an api that doesn't begin with http://",
    },
    {
      peer: "a=ws://u:secret@h/,api=http://h/,key=k",
      problem: "of a has a URL that holds a user name",
    },
    { peer: "a=ws://h/?secret,api=http://h/,key=k", problem: "of a has a URL that holds a query" },
    {
      peer: "a=ws://[::1]/,api=http://h/,key=k",
      problem: "of a has a URL that names its host by an IPv6",
    },
  ])("refuses the peer $peer without telling its key", ({ peer, problem }) => {
    const parsed = parseOptions(["--peer", peer], scenarios);
    if (parsed.outcome !== "refused") throw new Error(JSON.stringify(parsed));
    expect(parsed.problem).toContain(`--peer ${problem}`);
    expect(parsed.problem).not.toContain("secret");
  });

  it("doesn't tell the words of a key that isn't quoted", () => {
    const parsed = parseOptions(["--peer=a=ws://h/,api=http://h/,key=one", "secret"], scenarios);
    expect(parsed).toEqual({
      outcome: "refused",
      problem: "an unexpected word: the value of --peer must be quoted if it holds spaces",
    });
  });

  it("refuses two peers of the same name, and peers of an earlier run", () => {
    const peer = ["--peer", "a=ws://h/,api=http://h/,key=k"];
    expect(parseOptions([...peer, ...peer], scenarios)).toEqual({
      outcome: "refused",
      problem: "--peer is given twice for a",
    });
    expect(parseOptions([...peer, "--from", "a.json"], scenarios)).toMatchObject({
      outcome: "refused",
      problem: expect.stringContaining("so --peer has no effect"),
    });
  });

  it.each([
    {
      given: ["--only", "luck"],
      problem: '--only doesn\'t know "luck"; there are fan-out, latency',
    },
    { given: ["--systems", "ws,nats"], problem: /doesn't know "nats"; there are channel, .*ws/ },
    { given: ["--systems", "null"], problem: /doesn't know "null"/ },
    { given: ["--systems", ""], problem: /--systems doesn't know ""/ },
    { given: ["--without", "F1"], problem: /doesn't know "F1"; there are F12, F13/ },
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
