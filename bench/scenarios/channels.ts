import { wireOf } from "../systems/wires.ts";
import { comparedSystems } from "./compared-systems.ts";
import { descriptorLimit } from "./descriptor-limit.ts";
import { type Figure, Figures } from "./figures.ts";
import { connect, measureEach, type MeasuredRun, publishClosedLoop } from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** Many channels with one subscriber each, as for notifications: no frame is shared. */
export const channels: Scenario = {
  name: "channels",
  question: "How many publications a second reach many channels with one subscriber each?",
  run,
};

interface Extent {
  readonly channels: number;
  readonly seconds: number;
}

const fullExtent: Extent = { channels: 500, seconds: 2 };
const quickExtent: Extent = { channels: 100, seconds: 0.1 };

/** The number of publications in one request, and of publishers. */
interface Manner {
  readonly point: string;
  readonly batch: number;
  readonly publishers: number;
}

const single: Manner = { point: "single", batch: 1, publishers: 16 };
/** Fewer publishers, because each of their requests carries so many publications. */
const batched: Manner = { point: "batches of 100", batch: 100, publishers: 8 };

async function run(bench: Bench): Promise<readonly Finding[]> {
  const wished = bench.quick ? quickExtent : fullExtent;
  const extent = { ...wished, channels: Math.min(wished.channels, bearableChannels()) };
  if (extent.channels < wished.channels)
    bench.print(`channels: ${extent.channels} only; more need more descriptors (ulimit -n)`);
  const figures = new Figures();
  // One gateway holds all sockets; how the edge distributes sockets is another question.
  const options = { socketsPerObject: 8_000 };
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `channels, round ${round} of ${bench.rounds}`;
    const detail = `${extent.channels} channels`;
    await measureEach(bench, comparedSystems(bench), { during, detail, options }, (measured) =>
      publish(measured, extent, figures),
    );
  }
  return figures.findings;
}

/** A channel object takes about three descriptors for its storage, and its subscriber's socket two. */
function bearableChannels(): number {
  return Math.floor(descriptorLimit() / 6);
}

async function publish(measured: MeasuredRun, extent: Extent, figures: Figures): Promise<void> {
  const { system, server } = measured;
  const names = Array.from({ length: extent.channels }, (_, index) => `user-${index}`);
  await connect(
    measured,
    names.map((channel) => ({ channel, token: "" })),
  );
  const takesBatches = wireOf(server).publishBatch !== undefined;
  await publishToEach(measured, names, takesBatches ? batched : single);
  const rates: number[] = [];
  let busiest = 0;
  for (const manner of takesBatches ? [single, batched] : [single]) {
    const { publications, seconds, busy } = await publishClosedLoop(measured, {
      seconds: extent.seconds,
      channels: names,
      publishers: manner.publishers,
      batch: manner.batch,
    });
    const value = publications / seconds;
    figures.add(
      {
        measure: "publications a second",
        unit: "per second",
        ...higher,
        system,
        point: manner.point,
      },
      { value, busy },
    );
    rates.push(value);
    busiest = Math.max(busiest, busy);
  }
  const [alone, together] = rates;
  if (alone === undefined || together === undefined) return;
  figures.add(
    { measure: "batched by single", unit: "ratio", ...higher, system, point: batched.point },
    { value: together / alone, busy: busiest },
  );
}

/**
 * Publishes to each channel at least once, unmeasured: the first publication of a channel creates its tables, and
 * objects may have hibernated while the other sockets connected.
 */
async function publishToEach(
  measured: MeasuredRun,
  names: readonly string[],
  { publishers, batch }: Manner,
): Promise<void> {
  let seconds = 0.1;
  for (let tries = 0; tries < 4; tries++) {
    const order = { publishers, batch, seconds, channels: names };
    const { publications } = await publishClosedLoop(measured, order);
    if (publications >= names.length) return;
    // Each order begins with the first channel again, so one order must reach the last channel.
    seconds *= (names.length / publications) * 1.2;
  }
}

const higher: Pick<Figure, "better"> = { better: "higher" };
