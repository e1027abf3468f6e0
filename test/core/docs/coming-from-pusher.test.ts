import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { estimate } from "../../../cli/cost/estimate.ts";
import { roomsOf, workloadOf } from "../../../cli/price-page/apps.ts";
import { pusherDollars } from "../../../cli/price-page/elsewhere.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { isJsonObject, jsonValue } from "../../../src/protocol/wire-value.ts";
import { codeBlocksOf, configOf } from "../../support/documented-code.ts";

const page = "coming-from-pusher.md";
const text = readFileSync(`docs/${page}`, "utf8");

describe("docs/coming-from-pusher.md", () => {
  it("[A8] has a configuration that the server takes", () => {
    const [, toml = ""] = /```toml\n(.*?)```/s.exec(text) ?? [];
    const config = jsonValue(JSON.stringify(configOf(toml)));
    expect(isJsonObject(config) && parseConfig(config)).toMatchObject({ outcome: "config" });
  });

  it("has code for the backends and pages that its readers have", () => {
    const languages = codeBlocksOf(page).map(({ language }) => language);
    expect(languages).toEqual(expect.arrayContaining(["ini", "js", "ts", "python", "ruby"]));
  });

  it.each([500, 10_000, 100_000])("has the prices of %i connections", (connections) => {
    const app = roomsOf(connections);
    const workload = {
      ...workloadOf(app),
      keepAlive: "client",
      historySize: 10,
      hasHomes: false,
    } as const;
    const { dollars, dollarsIfAnsweredMessagesAreBilled } = estimate(workload);
    const cells = [
      connections.toLocaleString("en"),
      whole(dollars),
      whole(dollars + dollarsIfAnsweredMessagesAreBilled),
      whole(pusherDollars(app)),
    ];
    expect(text).toContain(`| ${cells.join(" | ")} |`);
  });
});

function whole(dollars: number | undefined): string {
  return dollars === undefined ? "a contract" : `$${Math.round(dollars).toLocaleString("en")}`;
}
