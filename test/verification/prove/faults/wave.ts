import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Random } from "../../../support/random.ts";
import { signToken } from "../../../support/test-tokens.ts";
import { socketOptions } from "../clients/endpoint.ts";
import type { ProvedChannel } from "../scenario.ts";

/** The server at which waves arrive. */
export interface WaveTarget {
  /** The address of the network before the server, such as `http://127.0.0.1:8787`. */
  readonly address: string;
  readonly hostHeader?: string;
  readonly tokenSecret: string;
  readonly channels: readonly string[];
}

/** The channels at which clients may arrive that no history has: a backend isn't told of them, and isn't asked. */
export function wavedChannels(channels: readonly ProvedChannel[]): readonly string[] {
  return channels
    .filter(({ load, recovery }) => load !== "wide" && load !== "clients" && recovery !== "none")
    .map(({ name }) => name)
    .filter((name) => !apartNamespaces.some((apart) => name.startsWith(`${apart}:`)));
}

/**
 * Many clients connect at once, each with a token and most with a user that nobody has seen, subscribe to the same
 * channel, and are cut after a random time. Nothing that they receive is recorded: they are there for the others to
 * suffer from (rules F12 and F13).
 *
 * @returns how many of them were let in, when all are gone
 */
export async function makeWave(target: WaveTarget, random: Random): Promise<number> {
  const channel = random.pick(target.channels);
  const wave = random.between(1, 1_000_000_000);
  const arrivals = Array.from({ length: random.between(20, arrivalsMax) }, (_, index) => ({
    isOwn: random.chance(0.5),
    token: signToken({ sub: `wave-${wave}-${index}` }, target.tokenSecret),
    staysMs: random.between(200, 3_000),
  }));
  const came = await Promise.all(arrivals.map((each) => arrive(target, channel, each)));
  return came.filter(Boolean).length;
}

interface Arrival {
  /** Whether it comes to the channel's own address. */
  readonly isOwn: boolean;
  readonly token: string;
  /** From the beginning of the wave. */
  readonly staysMs: number;
}

/** @returns whether the client's socket was opened before it was cut */
async function arrive(
  { address, hostHeader }: WaveTarget,
  channel: string,
  { isOwn, token, staysMs }: Arrival,
): Promise<boolean> {
  const path = isOwn
    ? `/channel/${encodeURIComponent(channel)}/websocket`
    : "/connection/websocket";
  const socket = new WebSocket(
    `${address.replace(/^http/, "ws")}${path}`,
    socketOptions(hostHeader),
  );
  let isLetIn = false;
  socket.once("open", () => {
    isLetIn = true;
    const connect = { id: 1, connect: { token } };
    const subscribe = { id: 2, subscribe: { channel } };
    socket.send(`${JSON.stringify(connect)}\n${JSON.stringify(subscribe)}`);
  });
  // Connections of waves fail like others, which is nobody's failure.
  socket.on("error", () => undefined);
  await pause(staysMs);
  socket.terminate();
  return isLetIn;
}

/** Namespaces that a backend is told of or asked about, or whose publishing depends on being quiet. */
const apartNamespaces = ["own", "asked", "burst", "read", "named"];

/** More would be a test of the machine. */
const arrivalsMax = 120;
