import type { SystemName } from "../systems/wire.ts";
import type { Figures, Measured } from "./figures.ts";
import {
  dataBytes,
  type MeasuredRun,
  measuredRun,
  subscribersOf,
  wantedOf,
} from "./measured-run.ts";
import type { Bench } from "./scenario.ts";

/** One object holds all sockets: distributed over several objects, the sockets would not load any of them fully. */
const options = { socketsPerObject: 16_000 };

/** The systems that recover missed publications. */
const rememberingSystems: readonly SystemName[] = ["channel", "gateway"];

/**
 * Cuts all clients at once, publishes meanwhile, lets all of them reconnect, and adds the time of the last one: with
 * recovery, without it under otherwise equal conditions, and the ratio of the two.
 */
export async function addMassReconnect(
  bench: Bench,
  during: string,
  figures: Figures,
): Promise<void> {
  const clients = bench.quick ? 300 : 8_000;
  const point = `${clients.toLocaleString("en-US")} clients`;
  const reconnect = async (
    system: SystemName,
    comeback: "recovering" | "anew",
  ): Promise<Measured> => {
    const how = comeback === "recovering" ? `recover ${missed} each` : "connect anew";
    bench.print(`${during}: ${system}, ${clients} clients are cut and ${how}`);
    const measured = await measuredRun(bench, system, options, (each) =>
      reconnectAll(each, clients, comeback),
    );
    figures.add(
      {
        measure: "last one back after a cut",
        unit: "ms",
        better: "lower",
        system,
        point: `${point} ${how}`,
      },
      measured,
    );
    return measured;
  };
  for (const system of wantedOf(bench, rememberingSystems)) {
    const recovering = await reconnect(system, "recovering");
    const anew = await reconnect(system, "anew");
    figures.add(
      {
        measure: "recovering by connecting alone",
        unit: "ratio",
        better: "lower",
        system,
        point,
      },
      { value: recovering.value / anew.value, busy: Math.max(recovering.busy, anew.busy) },
    );
  }
  for (const system of wantedOf(bench, ["durable-limit"])) await reconnect(system, "anew");
}

/** From the first reconnect until the last client is subscribed, ms. */
async function reconnectAll(
  { system, server, load }: MeasuredRun,
  clients: number,
  comeback: "recovering" | "anew",
): Promise<Measured> {
  const callers = subscribersOf(channel, clients);
  const order = { order: "connect", server } as const;
  const { epoch, offset } = await load.carryOut({ ...order, callers, concurrency: 64, missed: 0 });
  await load.carryOut({ order: "cut" });
  await load.carryOut({
    order: "fill",
    server,
    channel,
    publications: missed,
    publishers: 1,
    dataBytes,
  });
  const isRecovering = comeback === "recovering";
  if (isRecovering && epoch === "") throw new Error(`${system} didn't say where its stream stands`);
  const since = { offset, epoch };
  const { seconds, busy } = await load.carryOut({
    ...order,
    callers: isRecovering ? callers.map((caller) => ({ ...caller, since })) : callers,
    concurrency: 256,
    missed: isRecovering ? missed : 0,
  });
  return { value: seconds * 1_000, busy };
}

const channel = "news";
/** Publications during the outage. */
const missed = 20;
