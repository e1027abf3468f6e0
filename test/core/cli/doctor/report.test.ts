import { describe, expect, it } from "vitest";
import { good, wrong } from "../../../../cli/doctor/findings.ts";
import {
  dataCentreOf,
  isWrong,
  type Report,
  reportJson,
  reportText,
} from "../../../../cli/doctor/report.ts";
import { paintOf } from "../../../../cli/shell.ts";
import { recordedShell, shellOf } from "../recorded-shell.ts";

const report: Report = {
  url: "https://dormouse.example.com",
  version: "0.1.0 Dormouse",
  dataCentre: "FRA",
  measurements: [
    { name: "connect", samplesMs: [12, 30.26, 14], lost: 0, detail: "" },
    { name: "a publication to 500", samplesMs: [], lost: 2, detail: "to gateway:eu/0" },
  ],
  findings: [
    good("clock", "the clocks agree"),
    wrong("origins", "a page of any origin may connect", 'allowed_origins = ["…"]'),
  ],
};

describe("what dormouse doctor prints", () => {
  it("is a table of times, a table of checks with the lines that mend, and how much is wrong", () => {
    const { shell } = shellOf(".");
    expect(reportText(report, paintOf(shell))).toBe(`\
https://dormouse.example.com  0.1.0 Dormouse, through Cloudflare's data centre FRA

measured               median    worst  times
connect               14.0 ms  30.3 ms      3
a publication to 500        -        -      0  2 didn't come; to gateway:eu/0

checked
good     clock    the clocks agree
wrong    origins  a page of any origin may connect
           mend   allowed_origins = ["…"]

1 thing is wrong`);
  });

  it("is one object of JSON with --json", () => {
    expect(JSON.parse(JSON.stringify(reportJson(report)))).toEqual({
      url: "https://dormouse.example.com",
      version: "0.1.0 Dormouse",
      data_centre: "FRA",
      measured: [
        { name: "connect", median_ms: 14, worst_ms: 30.26, times: 3 },
        { name: "a publication to 500", times: 0, lost: 2, detail: "to gateway:eu/0" },
      ],
      checked: report.findings,
      is_good: false,
    });
  });

  it("tells of a run that ended early", () => {
    const early = { ...report, findings: [], ended: "stopped before its end" };
    expect(isWrong(early)).toBe(true);
    expect(isWrong({ ...report, findings: [] })).toBe(false);
    expect(reportText(early, paintOf(shellOf(".").shell))).toMatch(/stopped before its end$/);
    expect(reportJson(early)).toMatchObject({ error: "stopped before its end", is_good: false });
  });

  it("finds the data centre in Cloudflare's header", () => {
    expect(dataCentreOf({ "cf-ray": "8f1e2d3c4b5a6978-FRA" })).toBe("FRA");
    expect(dataCentreOf({ "cf-ray": "8f1e2d3c4b5a6978" })).toBe("");
    expect(dataCentreOf({})).toBe("");
  });
});

describe("the command line of dormouse doctor", () => {
  it.each([
    [["doctor", "http://localhost:1", "--url", "http://localhost:2"], "both name a server"],
    [["doctor", "localhost"], "takes an address such as"],
    [["doctor", "http://dormouse.example.com"], "without TLS"],
    [["doctor", "--billed", "dormouse"], "CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID"],
    [["doctor", "--subscribers", "many"], "a whole number"],
  ])("refuses %o", async (args, text) => {
    const { code, noted } = await recordedShell()(args, { environment: { API_KEY: "k" } });
    expect(code).toBe(2);
    expect(noted).toContain(text);
  });

  it("needs a key", async () => {
    const { code, noted } = await recordedShell()(["doctor", "http://localhost:1"]);
    expect(code).toBe(2);
    expect(noted).toContain("API_KEY is missing");
  });
});
