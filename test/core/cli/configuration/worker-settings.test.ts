import { describe, expect, it } from "vitest";
import { settingsReport, workerSettings } from "../../../../cli/configuration/worker-settings.ts";
import { parseConfig } from "../../../../src/config/parse-config.ts";
import type { JsonObject } from "../../../../src/protocol/wire-value.ts";
import { runtimeFlags } from "../../../../src/contract/runtime-flags.ts";

/** What is said of a Worker with a date and flags. */
function reportOn(date: string, flags: readonly string[], config?: object, file = "wrangler.toml") {
  const parsed = parseConfig(config);
  if (parsed.outcome === "bad") throw new Error(parsed.problems.join("; "));
  const worker = { compatibility_date: date, compatibility_flags: flags, minify: true };
  const known = config === undefined ? undefined : parsed.config;
  return settingsReport(workerSettings(file, worker), known);
}

/** The problems alone, as one text. */
function said(date: string, flags: readonly string[]): string {
  return reportOn(date, flags).problems.join("\n");
}

/** What could be better in a file with these values. */
function notesOf(worker: JsonObject): readonly string[] {
  return settingsReport(workerSettings("wrangler.json", worker), undefined).notes;
}

const uncompressed = "no_web_socket_compression";
const hook = {
  rpc: {
    proxy: { endpoint: "https://backend.example" },
    without_namespace: { proxy_enabled: true },
  },
};

describe("[OW13] the settings of a Worker", () => {
  it("are in order with the date of the example, and with the flags at any date", () => {
    const nothing = { problems: [], notes: [] };
    expect(reportOn("2026-11-02", [uncompressed])).toEqual(nothing);
    expect(reportOn("2025-11-17", [uncompressed], hook)).toEqual(nothing);
    const flags = runtimeFlags.map(({ name }) => name);
    expect(reportOn("2021-11-02", flags, hook)).toEqual(nothing);
  });

  it("lack flags that the line to write adds to those that are there", () => {
    const { problems } = reportOn("2024-09-23", ["nodejs_compat", uncompressed]);
    const line = `Write compatibility_flags = ["nodejs_compat", "no_web_socket_compression", "enable_weak_ref", "enable_ctx_exports"], or a later date`;
    expect(problems).toEqual([
      `without the compatibility flag enable_weak_ref recovery and HTTP streams fail: compatibility_date 2024-09-23 is before 2025-05-05. ${line}`,
      `without the compatibility flag enable_ctx_exports every hook fails: compatibility_date 2024-09-23 is before 2025-11-17. ${line}`,
    ]);
  });

  it("are told in the form of the file", () => {
    const { problems } = reportOn("2025-11-16", [uncompressed], hook, "wrangler.jsonc");
    expect(problems.join()).toContain(
      `Write "compatibility_flags": ["no_web_socket_compression", "enable_ctx_exports"], or`,
    );
  });

  it.each(runtimeFlags)("have no $name before $since, or with $opposite", (flag) => {
    const day = new Date(Date.parse(flag.since) - 86_400_000).toISOString().slice(0, 10);
    const others = runtimeFlags.filter(({ name }) => name !== flag.name).map(({ name }) => name);
    expect(said(flag.since, [...others, uncompressed])).toBe("");
    expect(said(day, [...others, uncompressed])).toContain(`is before ${flag.since}. Write`);
    const off = said("2026-11-02", [flag.opposite, uncompressed]);
    expect(off).toContain(
      `the flag ${flag.opposite} switches it off. Write compatibility_flags = ["${uncompressed}"]`,
    );
  });

  it("are only noted where the configuration doesn't need them", () => {
    const hookless = reportOn("2025-11-16", [uncompressed], {});
    expect(hookless.problems).toEqual([]);
    expect(hookless.notes.join()).toContain("enable_ctx_exports every hook fails");
    const streamless = reportOn("2022-11-29", ["rpc", "enable_weak_ref", "enable_ctx_exports"], {});
    expect(streamless.problems).toEqual([]);
    const streams = reportOn("2022-11-29", ["rpc", "enable_weak_ref", "enable_ctx_exports"], {
      uni_sse: { enabled: true },
    });
    expect(streams.problems.join()).toContain("streams_enable_constructors HTTP streams fail");
  });

  it("take more memory with compression, which came with a date, and a larger bundle without minify", () => {
    const { problems, notes } = reportOn("2026-11-02", ["nodejs_als"]);
    expect([problems, notes]).toEqual([
      [],
      [
        'compression takes 386 KiB of memory for each socket, which has 158 KiB without: write compatibility_flags = ["nodejs_als", "no_web_socket_compression"]',
      ],
    ]);
    const flags = runtimeFlags.map(({ name }) => name);
    expect(reportOn("2023-08-14", flags).notes).toEqual([]);
    expect(notesOf({})).toEqual([
      'the bundle has 441 KiB, and 266 KiB if it is minified: write "minify": true',
    ]);
    expect(notesOf({ minify: true })).toEqual([]);
    // Another program has bundled it.
    expect(notesOf({ no_bundle: true })).toEqual([]);
  });
});
