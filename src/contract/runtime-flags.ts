/**
 * The compatibility flags of the runtime on which Dormouse depends. `dormouse init` and `check` read them from wrangler's
 * file, and the first request of a Worker of one's own from the runtime: all three speak from this table (rule OW13). Each
 * flag and its date were tried on workerd.
 */
export interface RuntimeFlag {
  readonly name: string;
  /** The flag that switches it off. */
  readonly opposite: string;
  /** The compatibility date from which it is on. */
  readonly since: string;
  /** A clause about the part of the server that doesn't work without the flag. */
  readonly without: string;
  /** The part of the server that needs the flag. Where connections need it, everything does. */
  readonly neededBy: "connections" | "recovery" | "streams" | "hooks";
}

export const runtimeFlags: readonly RuntimeFlag[] = [
  {
    name: "streams_enable_constructors",
    opposite: "streams_disable_constructors",
    since: "2022-11-30",
    without: "HTTP streams fail",
    neededBy: "streams",
  },
  {
    name: "rpc",
    opposite: "no_rpc",
    since: "2024-04-03",
    without: "nobody connects",
    neededBy: "connections",
  },
  {
    name: "enable_weak_ref",
    opposite: "disable_weak_ref",
    since: "2025-05-05",
    without: "recovery and HTTP streams fail",
    neededBy: "recovery",
  },
  {
    // Without it workerd has the exports of `cloudflare:workers`, but Cloudflare connects none of them.
    name: "enable_ctx_exports",
    opposite: "disable_ctx_exports",
    since: "2025-11-17",
    without: "every hook fails",
    neededBy: "hooks",
  },
];

/** The compression of WebSockets, which no Worker needs, and what it costs: measured with the official client on workerd. */
export const compression = {
  name: "web_socket_compression",
  opposite: "no_web_socket_compression",
  since: "2023-08-15",
  advice: "compression takes 386 KiB of memory for each socket, which has 158 KiB without",
} as const;

/** The compatibility date and the flags of a Worker, as wrangler's file has them. */
export interface Compatibility {
  readonly date: string;
  readonly flags: readonly string[];
}

/** Whether a flag is on. */
export function isOn(
  { name, opposite, since }: Pick<RuntimeFlag, "name" | "opposite" | "since">,
  { date, flags }: Compatibility,
): boolean {
  if (flags.includes(opposite)) return false;
  return date >= since || flags.includes(name);
}

/** The sentence about a flag that is off: its consequence, and how the operator switches it on. */
export function flagProblem({ name, since, without }: RuntimeFlag): string {
  return `without the compatibility flag ${name} ${without}: add "${name}" to compatibility_flags in wrangler's file, or set a compatibility_date from ${since} on`;
}
