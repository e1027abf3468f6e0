import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import type * as Features from "../../../src/features/index.ts";
import { configOf } from "../config/parsed.ts";

const files = {
  MAPS: "src/features/maps/channel-map.ts",
  SHARED_POLLS: "src/features/shared-polls/shared-poll.ts",
  EVENTS: "src/features/events/event-delivery.ts",
  CHANGES: "src/features/changes/channel-changes.ts",
  PROCEDURES: "src/features/procedures/channel-procedures.ts",
  CURSORS: "src/features/cursors/channel-cursors.ts",
};

type Built = Pick<typeof Features, "leftOutProblems">;

/** Bundles the Worker's features as a deployment does. */
async function bundled(define: Record<string, string>) {
  const { metafile, outputFiles } = await build({
    entryPoints: ["src/features/index.ts"],
    bundle: true,
    format: "esm",
    target: "es2024",
    write: false,
    metafile: true,
    define,
  });
  const [output] = Object.values(metafile.outputs);
  return { inputs: output?.inputs ?? {}, code: outputFiles[0]?.text ?? "" };
}

const define = Object.fromEntries(
  Object.keys(files).map((name) => [`DORMOUSE_WITHOUT_${name}`, "true"]),
);
const history = { history_size: 1, history_ttl: "1m" };

describe("[OW9] features that a build leaves out", () => {
  let [bare, whole]: Awaited<ReturnType<typeof bundled>>[] = [];
  beforeAll(async () => {
    [bare, whole] = await Promise.all([bundled(define), bundled({})]);
  });

  it.each(Object.entries(files))(
    "%s: are in a bundle, and not in one that defines it",
    (_, file) => {
      expect(whole?.inputs[file]?.bytesInOutput).toBeGreaterThan(1_000);
      expect(bare?.inputs[file]?.bytesInOutput ?? 0).toBe(0);
    },
  );

  it("are refused where a configuration asks for them, and nothing else is", async () => {
    const address = `data:text/javascript,${encodeURIComponent(bare?.code ?? "")}`;
    const built: Built = await import(address);
    const { leftOutProblems } = built;
    const config = configOf({
      events: { target: "queue:EVENTS", types: ["publication"] },
      channel: {
        proxy: { shared_poll_refresh: { endpoint: "https://example.com/refresh" } },
        namespaces: [
          { name: "board", subscription_type: "map", map: { mode: "persistent" } },
          { name: "votes", subscription_type: "shared_poll" },
          { name: "notes", ...history, allow_change: true },
          { name: "auction", ...history, allow_call_for_client: true },
          { name: "room", ...history, cursors: { enabled: true } },
        ],
      },
    });
    const names = Object.keys(define);
    const problems = leftOutProblems(config);
    expect(problems).toHaveLength(names.length);
    for (const [index, name] of names.entries())
      expect(problems[index]).toMatch(new RegExp(`left out of this build, which defines ${name}$`));
    expect(leftOutProblems(configOf({}))).toStrictEqual([]);
  });
});
