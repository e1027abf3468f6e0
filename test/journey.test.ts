import { beforeAll, describe, expect, it, vi } from "vitest";
import readme from "../src/README.md?raw";
import { callsUp, type Entered, filesOf, recordRun } from "./support/run-recorder.ts";
import { publish } from "./workers/support/api-request.ts";
import { newChannel } from "./workers/support/new-channel.ts";
import { channelPlace, gatewayPlace, type Place } from "./workers/support/place.ts";
import { watchedRelay } from "./workers/support/watched-relay.ts";
import { Variant } from "./workers/support/variant.ts";
import type { TestSocket } from "./workers/support/test-socket.ts";
import { awake } from "./workers/support/object-state.ts";

/**
 * The journey that src/README.md describes is a claim about the code, and these tests publish on workerd to see it: which
 * functions run, in which order, and which calls go back up. The code is instrumented by `instrumented.ts`.
 */

/** Files that a publication runs through to a client on the channel's own object. */
const ownFiles: readonly string[] = [
  "src/api/answers.ts",
  "src/api/calls.ts",
  "src/api/command.ts",
  "src/api/execute.ts",
  "src/api/methods.ts",
  "src/api/operations.ts",
  "src/api/order-methods.ts",
  "src/api/publish.ts",
  "src/api/shape.ts",
  "src/channel/carry-out.ts",
  "src/channel/channel-name.ts",
  "src/channel/channel.ts",
  "src/channel/commit-sharing.ts",
  "src/channel/history-table.ts",
  "src/channel/history.ts",
  "src/channel/idempotency.ts",
  "src/channel/publication-request.ts",
  "src/channel/publication-store.ts",
  "src/channel/relay-log.ts",
  "src/channel/relay.ts",
  "src/config/name-parts.ts",
  "src/contract/channel-call.ts",
  "src/features/why/frame-trail.ts",
  "src/features/why/object-trail.ts",
  "src/features/why/publication-trail.ts",
  "src/features/why/row-ring.ts",
  "src/hub/batch-frames.ts",
  "src/hub/frame-on-its-way.ts",
  "src/hub/hub.ts",
  "src/hub/run-frames.ts",
  "src/hub/small-set.ts",
  "src/moment.ts",
  "src/object/alarm-schedule.ts",
  "src/object/channel-host.ts",
  "src/object/channel-presence.ts",
  "src/object/client-sockets.ts",
  "src/object/commit-queue.ts",
  "src/object/leftovers.ts",
  "src/object/object-host.ts",
  "src/object/part.ts",
  "src/object/socket-connection.ts",
  "src/protocol/bytes.ts",
  "src/protocol/json/codec.ts",
  "src/protocol/json/encode.ts",
  "src/protocol/json/fields.ts",
  "src/protocol/json/scan.ts",
  "src/protocol/json/text.ts",
  "src/protocol/payload.ts",
  "src/protocol/publication-columns.ts",
  "src/protocol/publication.ts",
  "src/protocol/reply-fields.ts",
  "src/session/subscription.ts",
  "workers/edge.ts",
  "workers/features/metrics/metrics.ts",
  "workers/http/api.ts",
  "workers/http/body.ts",
  "workers/http/descriptor-use.ts",
  "workers/http/known-routes.ts",
  "workers/http/middleware.ts",
  "workers/http/responses.ts",
  "workers/objects/channel-object.ts",
  "workers/objects/durable-platform.ts",
  "workers/objects/session-object.ts",
  "workers/platform/configuration.ts",
  "workers/platform/digest.ts",
  "workers/platform/object-call.ts",
  "workers/platform/object-sql.ts",
];

/** Further files that it runs through when a gateway follows the channel. */
const gatewayFiles: readonly string[] = [
  "src/channel/follower-progress.ts",
  "src/channel/gateway-registry.ts",
  "src/contract/attachment.ts",
  "src/contract/relay-batch.ts",
  "src/features/shared-polls/gateway-tracking.ts",
  "src/features/why/batch-trail.ts",
  "src/features/why/call-trail.ts",
  "src/gateway/batch-order.ts",
  "src/gateway/cursor.ts",
  "src/gateway/follower.ts",
  "src/gateway/gateway.ts",
  "src/gateway/local-subscribers.ts",
  "src/gateway/replay-buffer.ts",
  "src/hub/backlog.ts",
  "src/object/arrivals.ts",
  "src/object/client.ts",
  "src/object/gateway-host.ts",
  "src/object/object-call.ts",
  "src/object/session-rows.ts",
  "src/session/session.ts",
  "src/session/subscriptions.ts",
  "workers/objects/durable-calls.ts",
  "workers/objects/gateway-object.ts",
];

/** So many files a subscribe with recovery may run through, on the channel's own object and through a gateway. */
const subscribeFilesMax = { own: 60, gateway: 88 };

/** The rows of the tables under a heading of src/README.md: of each cell the texts in code style. */
function tableUnder(heading: string): readonly string[][][] {
  const [, after = ""] = readme.split(`${heading}\n`);
  const [section = ""] = after.split(/^#/m);
  const rows = section.split("\n").filter((line) => line.startsWith("|") && line.includes("`"));
  return rows.map((row) =>
    row.split("|").map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text)),
  );
}

/** The stops of a table, as `file function`. */
function stopsUnder(heading: string): readonly string[] {
  return tableUnder(heading).map((row) => (row[2] ?? []).join(" "));
}

const ownStops = stopsUnder("## A publication's journey");
const gatewayStops = stopsUnder("### Through a gateway");
const callStop = ownStops.findIndex((stop) => stop.startsWith("workers/objects/durable-calls.ts"));
const listedCallsUp = tableUnder("### Calls back up")
  .flatMap((row) => (row[3] ?? []).map((name) => `${row[1]?.[0]} → ${row[2]?.[0]} ${name}`))
  .toSorted();

const floors = tableUnder("## Floors").map((row) => {
  const folder = row[1]?.[0] ?? "";
  return folder.startsWith("workers/") ? `${folder}/` : `src/${folder}`;
});

/** The floor of a file, 0 for the highest. */
function floorOf(file: string): number {
  if (file === "workers/edge.ts") return 0;
  const floor = floors.findIndex((folder) => file.startsWith(folder));
  return floor === -1 ? floors.length : floor;
}

/** In which order a run first entered these stops; stops that it didn't enter are missing. */
function entriesOf(run: readonly Entered[], stops: readonly string[]): readonly string[] {
  const entered = new Set(run.map(({ file, name }) => `${file} ${name}`));
  return [...entered].filter((stop) => stops.includes(stop));
}

/** Opens a socket at a place, and subscribes. */
function subscriber(place: Place, channel: string): Promise<TestSocket> {
  return new Variant(place, awake).subscribe(channel, "ann");
}

/** Records one publication that each of the sockets gets. */
async function recordPublication(
  channel: string,
  ...sockets: readonly TestSocket[]
): Promise<readonly Entered[]> {
  const carry = async (data: string): Promise<void> => {
    await publish(channel, data, { idempotency_key: data });
    for (const socket of sockets) expect(await socket.frame()).toContain(`"data":"${data}"`);
    await watchedRelay.settled();
  };
  // The first publication finds objects that have just woken, and is no journey like the others.
  await carry("first");
  vi.setSystemTime(Date.now() + 1_000);
  return recordRun(() => carry("second"));
}

describe("a publication's journey", () => {
  let own: readonly Entered[] = [];
  let both: readonly Entered[] = [];

  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const alone = newChannel("");
    own = await recordPublication(alone, await subscriber(channelPlace, alone));
    const followed = newChannel("");
    both = await recordPublication(
      followed,
      await subscriber(channelPlace, followed),
      await subscriber(gatewayPlace(), followed),
    );
    vi.useRealTimers();
  });

  it("[O2] runs through the stops of the table, in their order", () => {
    expect(ownStops.length).toBeGreaterThan(20);
    expect(entriesOf(own, ownStops)).toEqual(ownStops.toSpliced(callStop, 1));
    expect(entriesOf(both, ownStops)).toEqual(ownStops);
  });

  it("[L1] goes on through the gateway's stops, in their order", () => {
    const start = both.findIndex(({ file }) => file === "src/object/gateway-host.ts");
    expect(gatewayStops.length).toBeGreaterThan(10);
    expect(entriesOf(both.slice(start), gatewayStops)).toEqual(gatewayStops);
  });

  it("runs through no file that isn't listed here", () => {
    const files = filesOf(own);
    const added = filesOf(both).filter((file) => !files.includes(file));
    expect(files.toSorted()).toEqual(ownFiles);
    expect(added.toSorted()).toEqual(gatewayFiles);
  });

  it("calls back up only through the ports and callbacks of the table", () => {
    expect(callsUp(both, floorOf)).toEqual(listedCallsUp);
  });
});

describe("a subscribe with recovery", () => {
  it.each([
    ["on the channel's own object", channelPlace, subscribeFilesMax.own],
    ["through a gateway", gatewayPlace(), subscribeFilesMax.gateway],
  ] as const)("%s runs through few files", async (_, place, filesMax) => {
    const channel = newChannel("");
    await subscriber(place, channel);
    const { epoch } = await publish(channel, "first");
    await publish(channel, "second");
    await watchedRelay.settled();
    const socket = await new Variant(place, awake).connect(channel, "ann");
    const run = await recordRun(async () => {
      const subscribe = { channel, recover: true, epoch, offset: 1 };
      const reply = await socket.ask({ id: 2, subscribe });
      expect(reply.subscribe).toMatchObject({ recovered: true });
      await watchedRelay.settled();
    });
    expect(filesOf(run).length).toBeLessThanOrEqual(filesMax);
  });
});
