import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { estimate } from "../../../cli/cost/estimate.ts";
import { type App, apps, costArguments, workloadOf } from "../../../cli/price-page/apps.ts";
import {
  ablyByUse,
  ablyByUser,
  ablyByUserAndUse,
  machineFor,
  pusherDollars,
} from "../../../cli/price-page/elsewhere.ts";
import { priceBeginning } from "../../../cli/price-page/price-page.ts";
import { recordedShell } from "../cli/recorded-shell.ts";

const page = readFileSync("docs/performance/cost.md", "utf8");
const readme = readFileSync("README.md", "utf8").replaceAll(/\s+/g, " ");

describe("docs/performance/cost.md", () => {
  it("begins as npm run prices writes it", () => {
    const [, body = ""] = page.split("-->\n\n");
    const beginning = priceBeginning();
    expect(body.slice(0, beginning.length)).toBe(beginning);
  });

  it("has the commands that print what its three applications cost", async () => {
    for (const app of apps) {
      const { printed } = await recordedShell()(["cost", ...costArguments(app), "--json"]);
      const { workload, dollars, dollarsIfAnsweredMessagesAreBilled } = JSON.parse(printed);
      expect(workload).toEqual(workloadOf(app));
      const ours = estimate(workloadOf(app));
      expect({ dollars, dollarsIfAnsweredMessagesAreBilled }).toEqual({
        dollars: ours.dollars,
        dollarsIfAnsweredMessagesAreBilled: ours.dollarsIfAnsweredMessagesAreBilled,
      });
    }
  });
});

/** The cells of the page's row that begins with these. */
function row(...first: readonly string[]): readonly string[] {
  const start = `| ${first.join(" | ")} | `;
  const line = page.split("\n").find((each) => each.startsWith(start)) ?? "";
  return line.slice(start.length, -2).split(" | ");
}

/** An amount in dollars, with two digits that count. */
function rounded(cell = ""): number {
  return Number(Number(cell.replaceAll(/[$,]/g, "")).toPrecision(2));
}

describe("the README's price", () => {
  it("of a million idle connections is the page's, in both readings", () => {
    const [free, billed] = row("JSON clients, gateways with 5,000 each").slice(-2).map(rounded);
    expect(readme).toContain(`about $${free} a month`);
    expect(readme).toContain(`about $${billed} if it does`);
  });

  it("of a million deliveries is the page's", () => {
    const [one, hundred] = ["1", "100"].map((subscribers) =>
      rounded(row("gateway, 1 publisher", subscribers).at(-1)),
    );
    expect(readme).toContain(`$${one?.toFixed(2)} if each`);
    expect(readme).toContain(`${(hundred ?? 0) * 100} cents`);
  });
});

describe("prices elsewhere", () => {
  const app: App = {
    name: "",
    users: 500,
    openHoursPerDay: 24,
    openDaysPerMonth: 30,
    connectsPerUserAndOpenDay: 1,
    channels: 10,
    subscribersPerChannel: 9,
    publicationsPerOpenDay: 100_000,
    assumed: "",
  };

  it("are those of Pusher's plan that has room for connections and messages, or a contract's", () => {
    expect(pusherDollars(app)).toBe(49);
    expect(pusherDollars({ ...app, users: 501 })).toBe(99);
    expect(pusherDollars({ ...app, publicationsPerOpenDay: 100_001 })).toBe(99);
    expect(pusherDollars({ ...app, users: 30_001 })).toBeUndefined();
    expect(pusherDollars({ ...app, publicationsPerOpenDay: 9_000_001 })).toBeUndefined();
  });

  it("are Ably's by use, by user, or by both", () => {
    // 30 M messages, 21.6 M minutes of connections, and 432,000 of channels.
    expect(ablyByUse(app)).toBeCloseTo(29 + 75 + 21.6 + 0.432);
    expect(ablyByUser(app)).toBeCloseTo(29 + 25);
    expect(ablyByUserAndUse(app)).toBeCloseTo(29 + 25 + 50 + 20.6);
    expect(ablyByUser({ ...app, users: 10_001 })).toBeCloseTo(399 + 500.05);
    expect(ablyByUse({ ...app, users: 50_001 })).toBeUndefined();
  });

  it("are those of the smallest machine, of which two have room", () => {
    expect(machineFor({ ...app, publicationsPerOpenDay: 0 })).toMatchObject({ gigabytes: 2 });
    // 100,000 connections: 1 GB and half of 2.7 GB.
    expect(machineFor({ ...app, users: 100_000 })).toMatchObject({ gigabytes: 4, processors: 2 });
    // 50,000 deliveries a second: half of 3 processors.
    const busy = { ...app, publicationsPerOpenDay: (86_400 * 50_000) / 9 };
    expect(machineFor(busy)).toMatchObject({ gigabytes: 2, processors: 2 });
    expect(machineFor({ ...app, users: 1_200_000 })).toBeUndefined();
  });
});
