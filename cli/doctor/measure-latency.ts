/** How long connects, publications and recoveries take for single clients. */
import { numberOf, objectOf, objectsOf } from "../connection/answer.ts";
import { shown } from "../text/printable.ts";
import type { Client, Subscribed } from "./client.ts";
import { judgeDeliveries, judgeRecovery } from "./judge-run.ts";
import { doctorLimits } from "./limits.ts";
import { payloadOf, type Place, type Run } from "./run.ts";

/** How long a client takes from opening its socket to the answer of its connect. */
export async function measureConnects(run: Run): Promise<void> {
  const samplesMs: number[] = [];
  for (let done = 0; done < run.options.samples; done++) {
    const begunAtMs = performance.now();
    const client = await run.client({ kind: "gateway" });
    samplesMs.push(performance.now() - begunAtMs);
    run.end(client);
  }
  run.measured("connect", samplesMs);
}

/** How long a publication takes from the call of the API to its subscriber, at both addresses, and over the relay. */
export async function measureLatency(run: Run): Promise<void> {
  const onGateway = run.channel("gateway");
  const client = await run.subscriber({ kind: "gateway" }, onGateway);
  const offsets = await measurePublishes(run, client, onGateway, "publish to receive, gateway");
  await measureHop(run, client, onGateway, offsets);
  run.end(client);
  const own = run.channel("own");
  const subscriber = await run.subscriber(ownAddress(own), own);
  await measurePublishes(run, subscriber, own, "publish to receive, own address");
  run.end(subscriber);
}

function ownAddress(channel: string): Place {
  return { kind: "channel", channel };
}

async function measurePublishes(
  run: Run,
  client: Client,
  channel: string,
  name: string,
): Promise<readonly number[]> {
  const [samplesMs, offsets]: [number[], number[]] = [[], []];
  for (let done = 0; done < run.options.samples; done++) {
    const { number, sentAtMs, offset } = await run.publish(channel);
    const received = await client.received(number);
    if (received !== undefined) samplesMs.push(received.atMs - sentAtMs);
    offsets.push(offset);
  }
  const lost = offsets.length - samplesMs.length;
  run.measured(name, samplesMs, lost);
  if (lost > 0) run.found(judgeDeliveries(offsets.length, samplesMs.length));
  return offsets;
}

/**
 * How long the channel's object waits for the gateway's answer, by the clock of the channel's object alone. Only a channel
 * with history has offsets, by which it can be asked.
 */
async function measureHop(
  run: Run,
  client: Client,
  channel: string,
  offsets: readonly number[],
): Promise<void> {
  const samplesMs: number[] = [];
  let gateway = "";
  for (const offset of offsets.slice(-doctorLimits.hops)) {
    if (offset === 0) continue;
    const answer = await run.call("why", { channel, offset, client: client.id });
    if (answer.outcome !== "result") continue;
    for (const object of objectsOf(answer.result, "objects")) {
      const told = objectOf(object, "told");
      const [begun, ended] = [numberOf(told, "begun_at_ms"), numberOf(told, "ended_at_ms")];
      if (begun === undefined || ended === undefined) continue;
      samplesMs.push(ended - begun);
      gateway = shown(object["object"]);
    }
  }
  if (samplesMs.length === 0) return;
  run.measured("relay, there and back", samplesMs, 0, await placesText(run, channel, gateway));
}

/** Where the objects are, as far as the platform and the configuration say it. */
async function placesText(run: Run, channel: string, gateway: string): Promise<string> {
  const answer = await run.call("inspect", { channel });
  const { jurisdiction, location } =
    answer.outcome === "result" ? objectOf(answer.result, "placement") : {};
  const near = location === undefined ? "" : `, created near ${shown(location)}`;
  const kept = jurisdiction === undefined ? "" : ` in ${shown(jurisdiction)}`;
  return `from the channel's object${kept}${near} to ${gateway}`;
}

/** How long a client that has missed publications takes from opening its socket until it has them. */
export async function measureRecovery(run: Run): Promise<void> {
  const channel = run.channel("recovery");
  const { missed } = doctorLimits;
  const first = await run.client({ kind: "gateway" });
  const { recoverable, offset, epoch } = await run.subscribe(first, channel);
  run.end(first);
  const historySize = await historySizeOf(run, channel);
  const { namespace } = run.options;
  if (!recoverable) {
    run.found(
      judgeRecovery({ missed, got: undefined, isRecovered: false, historySize }, namespace),
    );
    return;
  }
  await publishMissed(run, channel);
  const samplesMs: number[] = [];
  let back: Subscribed | undefined;
  for (let done = 0; done < doctorLimits.recoveries; done++) {
    const begunAtMs = performance.now();
    const client = await run.client({ kind: "gateway" });
    back = await run.subscribe(client, channel, { offset, epoch });
    if (back.recovered) samplesMs.push(performance.now() - begunAtMs);
    run.end(client);
  }
  const got = back?.publications.length ?? 0;
  const isRecovered = samplesMs.length === doctorLimits.recoveries;
  if (isRecovered) run.measured(`recovery of ${got} missed`, samplesMs);
  run.found(judgeRecovery({ missed, got, isRecovered, historySize }, namespace));
}

async function publishMissed(run: Run, channel: string): Promise<void> {
  const commands = Array.from({ length: doctorLimits.missed }, () => ({
    publish: { channel, data: payloadOf({ number: run.nextNumber() }) },
  }));
  const answer = await run.call("batch", { commands });
  if (answer.outcome !== "result") throw run.api.failure(answer);
}

/** How many publications a channel keeps at most; undefined if the key doesn't admit the question. */
async function historySizeOf(run: Run, channel: string): Promise<number | undefined> {
  const answer = await run.call("inspect", { channel });
  if (answer.outcome !== "result") return undefined;
  return numberOf(objectOf(objectOf(answer.result, "channel"), "history"), "size");
}
