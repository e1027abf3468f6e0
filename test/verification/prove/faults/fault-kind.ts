/** A kind of fault, and its default rate. */
export interface FaultKindTraits {
  readonly kind: FaultKind;
  readonly perMinute: number;
  /**
   * outside: in the network between clients and server. inside: in the server, or in the backends that it asks and tells,
   * which only a local server allows.
   */
  readonly from: "inside" | "outside";
  /** A description for the report. */
  readonly meaning: string;
}

export type FaultKind = (typeof kinds)[number]["kind"];

/** Faults during which no client is served for a moment. */
const outages: ReadonlySet<FaultKind> = new Set(["drop", "kill", "deploy"]);

/** Whether a fault ends all connections. */
export function isOutage(kind: FaultKind): boolean {
  return outages.has(kind);
}

/** All kinds, in the order in which reports name them. */
const kinds = [
  outside("cut", 13, "connections end in an orderly way (FIN), which neither end asked for"),
  outside("reset", 13, "connections are reset"),
  outside("vanish", 13, "nothing arrives any more in either direction, and neither end is told"),
  outside("deafen", 13, "nothing reaches the clients any more, but the server hears them"),
  outside("mute", 13, "nothing reaches the server any more, but the clients hear it"),
  outside("drop", 13, "all connections are cut and none is let in for 2 s"),
  outside("stall", 15, "readers stop reading for some seconds"),
  outside("delay", 13, "everything is late, by a time that varies"),
  outside("lose-answer", 16, "a publish is carried out and its answer is lost"),
  outside("wave", 6, "many clients connect and subscribe at once, and are cut a moment later"),
  inside("evict", 16, "an object's memory is thrown away, its sockets stay"),
  inside("evict-close", 13, "an object's memory is thrown away, its sockets are closed"),
  inside("crash-channel", 13, "a channel's object ends in the middle of its work"),
  inside("crash-gateway", 13, "a gateway ends in the middle of its work"),
  inside("crash-home", 13, "a home of users ends in the middle of its work"),
  inside(
    "crash-map",
    6,
    "the object of an ephemeral map ends between two times at which it is written down",
  ),
  inside(
    "crash-growing",
    12,
    "the object of a map with texts that grow ends, mostly before it has stored all that it has told",
  ),
  inside("late-calls", 20, "calls between objects are late, and more waits behind them"),
  inside("lost-calls", 18, "calls between objects, or their answers, get lost"),
  inside("doubled-calls", 20, "a gateway hears each call of a channel twice"),
  inside("kill", 12, "the whole runtime is ended with kill -9 and starts again on the same disk"),
  inside("deploy", 12, "a changed bundle replaces the one that runs"),
  inside("break-backend", 10, "the backend of the hooks fails, hangs or is gone, up to 3 s"),
  inside("break-receiver", 12, "the receiver of events fails, hangs or is gone, up to 3 s"),
] as const;

/** See {@link kinds}. */
export const faultKinds: readonly FaultKindTraits[] = kinds;

function outside<Kind extends string>(kind: Kind, perMinute: number, meaning: string) {
  return { kind, perMinute, from: "outside", meaning } as const;
}

function inside<Kind extends string>(kind: Kind, perMinute: number, meaning: string) {
  return { kind, perMinute, from: "inside", meaning } as const;
}
