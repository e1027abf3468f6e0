import { setTimeout as sleep } from "node:timers/promises";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { exchanges } from "./exchanges.ts";
import { explanationOf } from "./explained.ts";
import { differences, play, type PusherServer, type Settled, type Transcript } from "./player.ts";

const usage = `npm run compare-pusher -- NAME=URL,ID,KEY,SECRET NAME=URL,ID,KEY,SECRET [options]

Sends the same frames and requests to two servers of the Pusher protocol, and prints each answer that differs. Exits with 0 if
each difference is explained, with 1 if one isn't, and with 2 if the arguments are wrong.

  --all          prints the differences that are explained, too
  --only TEXT    the exchanges with this text in their names
  --quiet MS     so long nothing comes after a step before the next one (default 300)
  --record FILE  writes all answers to FILE-NAME.json for each of the servers
  --help         prints this text
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    quiet: { type: "string", default: "300" },
    record: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const servers = positionals.map(parseServer);
const [one, other] = servers;
if (values.help) process.stdout.write(usage);
else if (one === undefined || other === undefined || servers.length > 2) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else process.exitCode = await compare(one, other);

interface NamedServer extends PusherServer {
  readonly name: string;
}

function parseServer(text: string): NamedServer | undefined {
  const [, name, address, id, key, secret] =
    /^(\w+)=(https?:\/\/[^,]+),([^,]+),([^,]+),(.+)$/.exec(text) ?? [];
  if (!name || !address || !id || !key || !secret) return undefined;
  return { name, address: address.replace(/\/$/, ""), app: { id, key, secret } };
}

async function compare(left: NamedServer, right: NamedServer): Promise<0 | 1> {
  const chosen = exchanges.filter(({ name }) => name.includes(values.only));
  const [lefts, rights] = await Promise.all([playAll(left), playAll(right)]);
  let explained = 0;
  let unexplained = 0;
  let steps = 0;
  for (const { name, steps: given } of chosen) {
    steps += given.length;
    const [mine = [], theirs = []] = [lefts[name], rights[name]];
    for (const step of differences(mine, theirs)) {
      const why = explanationOf(name);
      if (why === undefined) unexplained++;
      else explained++;
      if (why !== undefined && !values.all) continue;
      process.stdout.write(
        `${name}, step ${step + 1}: ${why ?? "NOT EXPLAINED"}\n  ${left.name}${shown(mine[step])}\n  ${right.name}${shown(theirs[step])}\n`,
      );
    }
  }
  for (const [{ name }, all] of [
    [left, lefts],
    [right, rights],
  ] as const)
    if (values.record !== undefined)
      writeFileSync(`${values.record}-${name}.json`, `${JSON.stringify(all, undefined, 2)}\n`);
  process.stdout.write(
    `${steps} frames and requests in ${chosen.length} exchanges: ${explained} answers differ and are explained, ${unexplained} differ and aren't\n`,
  );
  return unexplained === 0 ? 0 : 1;

  async function playAll(server: NamedServer): Promise<Readonly<Record<string, Transcript>>> {
    const all: Record<string, Transcript> = {};
    const run = Date.now().toString(36);
    const rest = chosen.entries();
    const player = async (): Promise<void> => {
      for (const [number, exchange] of rest)
        all[exchange.name] = await play(server, exchange, `r${run}x${number}x`, quiet);
    };
    await Promise.all(Array.from({ length: 8 }, player));
    return Object.fromEntries(chosen.map(({ name }) => [name, all[name] ?? []]));
  }
}

function shown(lines: readonly string[] = []): string {
  return lines.map((line) => `\n    ${line}`).join("");
}

async function quiet(...[, , stage]: Parameters<Settled>): Promise<void> {
  const quietMs = Number(values.quiet);
  if (stage.who !== undefined) await stage.sync(stage.who);
  const beganAtMs = Date.now();
  do await sleep(quietMs / 4);
  while (Date.now() - Math.max(stage.cameAtMs, beganAtMs) < quietMs);
}
