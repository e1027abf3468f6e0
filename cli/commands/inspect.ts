import { Command } from "commander";
import { limits } from "../../src/limits.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";
import { numberOf, objectOf, objectsOf, warnIncomplete } from "../connection/answer.ts";
import { ApiClient } from "../connection/api-client.ts";
import { ageOf, momentOf } from "../text/moment.ts";
import { printGateways } from "./gateways.ts";
import { printable, shown } from "../text/printable.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import { paintOf, type Shell, usageFailure } from "../shell.ts";
import { table } from "../text/table.ts";
import { wholeNumber } from "../text/values.ts";

interface InspectOptions extends ServerOptions {
  readonly object?: string;
  readonly refusals?: number;
  readonly json?: boolean;
}

/** `dormouse inspect`: shows the live state of a channel with its gateways, or of an object. */
export function inspectCommand(shell: Shell): Command {
  const command = new Command("inspect")
    .description(
      "show the live state of a channel or of an object; of neither, an overview of the server",
    )
    .argument("[channel]", "the channel, whose own object and gateways tell")
    .option("--object <name>", "an object instead, such as gateway:eu/0")
    .option(
      "--refusals <count>",
      "its last refusals as well, at most so many",
      wholeNumber(1, limits.trailRefusalsMax),
    );
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText(
      "after",
      `
An object that hibernates wakes for the question.

Examples:
  dormouse inspect
  dormouse inspect news
  dormouse inspect news --refusals 20
  dormouse inspect --object gateway:eu/0 --json`,
    )
    .action(async (channel: string | undefined, options: InspectOptions) => {
      const { object, refusals, json } = options;
      if (channel !== undefined && object !== undefined)
        throw usageFailure("name either a channel or, with --object, an object");
      const api = ApiClient.of(options, shell);
      const isOverview = channel === undefined && object === undefined;
      if (isOverview) await printGateways(api, options, shell);
      const asked = isOverview
        ? { object: "edge" }
        : channel === undefined
          ? { object }
          : { channel };
      const asksRefusals = refusals ?? (isOverview ? overviewRefusals : undefined);
      const more = asksRefusals === undefined ? {} : { refusals: asksRefusals };
      const result = await api.result("inspect", { ...asked, ...more });
      if (isOverview && json !== true) shell.print("");
      if (json === true) shell.print(printable(JSON.stringify(result)));
      else printState(result, shell);
    });
}

/** How many of the Worker's own last refusals an overview shows. */
const overviewRefusals = 5;

type Row = readonly string[];

function printState(state: JsonObject, shell: Shell): void {
  const { title } = paintOf(shell);
  shell.print(title(shown(state["object"])));
  shell.print(table(aboutObject(state, shell.nowMs())));
  const printSection = (
    name: string,
    head: readonly string[],
    rows: readonly Row[],
    rights: readonly number[],
  ) => {
    if (rows.length === 0) return;
    shell.print(`\n${title(name)}\n${table([head.map(title), ...rows], rights)}`);
  };
  printSection(
    "gateways",
    ["gateway", "subscribers", "offset", "lag", "failures", "backlog"],
    objectsOf(objectOf(state, "channel"), "gateways").map(gatewayRow),
    [1, 2, 3, 4, 5],
  );
  const code = objectOf(objectOf(state, "channel"), "code");
  printSection(
    "procedures",
    ["procedure", "done", "repeated", "rejected", "refused", "threw", "slow"],
    Object.keys(objectOf(code, "procedures")).map((name) => procedureRow(name, code)),
    [1, 2, 3, 4, 5, 6],
  );
  printSection("timers", ["timer", "calls", "at"], objectsOf(code, "timers").map(timerRow), []);
  printSection(
    "last calls",
    ["procedure", "by", "outcome", "at", "error"],
    objectsOf(code, "last_calls").map(callRow),
    [],
  );
  printSection(
    "furthest behind",
    ["connection", "user", "bytes"],
    objectsOf(state, "behind").map(behindRow),
    [2],
  );
  printSection(
    "last closes",
    ["connection", "user", "code", "by", "closed"],
    objectsOf(state, "closes").map(closeRow),
    [2],
  );
  printSection(
    "last refusals",
    ["refused", "times", "last", "rule", "user", "channel", "reason"],
    objectsOf(state, "refusals").map(refusalRow),
    [1],
  );
  warnIncomplete(state, shell);
}

/** The state of the object, and of the channel whose own object it is: names and values. */
function aboutObject(state: JsonObject, nowMs: number): readonly Row[] {
  const sinceMs = numberOf(state, "awake_since_ms");
  // The edge has no state but its refusals.
  if (sinceMs === undefined) return [["release", shown(state["version"])]];
  const awake = `for ${ageOf(nowMs - sinceMs)}, since ${momentOf(sinceMs)}`;
  const alarmAtMs = numberOf(state, "alarm_at_ms");
  const connections = objectOf(state, "connections");
  const gateway = objectOf(state, "gateway");
  const subscribers = objectOf(state, "subscribers");
  const behind = shown(state["backlog_bytes"]);
  return [
    ["release", shown(state["version"])],
    ["awake", `${awake}, woken by ${shown(state["woken_by"])}`],
    ["events", eventsText(objectOf(state, "events"))],
    ...(alarmAtMs === undefined ? [] : [["alarm", momentOf(alarmAtMs)]]),
    ...placementRows(objectOf(state, "placement")),
    ["storage", `${shown(state["stored_bytes"])} bytes`],
    ...channelRows(objectOf(state, "channel")),
    ...(gateway["channels"] === undefined ? [] : [["follows", followedText(gateway)]]),
    ["connections", connectionsText(connections)],
    ...(subscribers["count"] === undefined
      ? []
      : [["subscribers", `${shown(subscribers["count"])} on its own sockets`]]),
    ["backlog", `${behind} bytes that clients haven't taken`],
  ];
}

/** Where the object is kept, if the configuration says so. */
function placementRows({ jurisdiction, location }: JsonObject): readonly Row[] {
  if (jurisdiction === undefined) return [];
  const near = location === undefined ? "" : `, created near ${shown(location)}`;
  return [["jurisdiction", `${shown(jurisdiction)}${near}`]];
}

/** The state of a channel, as its own object tells it. */
function channelRows(channel: JsonObject): readonly Row[] {
  if (channel["name"] === undefined) return [];
  const { offset, epoch, committing, waiting_bytes: waiting } = channel;
  const { publications, size } = objectOf(channel, "history");
  const newest = momentOf(numberOf(channel, "newest_ms"));
  return [
    ...(offset === undefined ? [] : [["top", `${shown(offset)}:${shown(epoch)}, ${newest}`]]),
    ["history", `${shown(publications)} of at most ${shown(size)} publications`],
    ...codeRows(objectOf(channel, "code")),
    ["commit", committing === true ? `under way, ${shown(waiting)} bytes wait` : "none under way"],
  ];
}

/** The size of the stored keys of a channel's code. */
function codeRows({ keys, bytes, version }: JsonObject): readonly Row[] {
  if (keys === undefined) return [];
  const size = bytes === undefined ? "" : `, ${shown(bytes)} bytes`;
  const form = version === undefined ? "" : `, of version ${shown(version)}`;
  return [["code", `${shown(keys)} keys${size}${form}`]];
}

function gatewayRow(gateway: JsonObject): Row {
  const { object, state, lag, failures, backlog_bytes: backlog } = gateway;
  const { count, offset } = objectOf(gateway, "subscribers");
  // A gateway that wasn't asked, or didn't answer, has only what the channel's object knows of it.
  const subscribers = state === undefined ? count : state;
  return [object, subscribers, offset, lag, failures, backlog].map(shown);
}

function procedureRow(name: string, code: JsonObject): Row {
  const { done, repeated, rejected, refused, threw, slow } = objectOf(
    objectOf(code, "procedures"),
    name,
  );
  return [name, ...[done, repeated, rejected, refused, threw, slow].map(shown)];
}

function timerRow(timer: JsonObject): Row {
  return [shown(timer["name"]), shown(timer["procedure"]), momentOf(numberOf(timer, "at_ms"))];
}

function callRow(call: JsonObject): Row {
  const { procedure, by, outcome, code, message } = call;
  const error = code === undefined ? "" : `${shown(code)} ${shown(message)}`;
  return [shown(procedure), shown(by), shown(outcome), momentOf(numberOf(call, "at_ms")), error];
}

function behindRow({ client, user, bytes }: JsonObject): Row {
  return [shown(client), nameOf(user), shown(bytes)];
}

function closeRow(close: JsonObject): Row {
  const { client, user, code, by } = close;
  const closed = momentOf(numberOf(close, "closed_at_ms"));
  return [shown(client), nameOf(user), shown(code), shown(by), closed];
}

function refusalRow(refusal: JsonObject): Row {
  const { refused, count, rule, user, channel, reason } = refusal;
  const last = momentOf(numberOf(refusal, "at_ms"));
  return [shown(refused), shown(count), last, ...[rule, user, channel, reason].map(shown)];
}

function nameOf(user: JsonValue | undefined): string {
  return user === "" ? "(anonymous)" : shown(user);
}

/** The channels that a gateway follows, and the memory that they take. */
function followedText({ channels, held_bytes: bytes }: JsonObject): string {
  return `${shown(channels)} channel${channels === 1 ? "" : "s"}, ${shown(bytes)} bytes`;
}

/** The connections by transport and protocol. */
function connectionsText(connections: JsonObject): string {
  const { connected, connecting } = connections;
  const kinds = ["by_transport", "by_protocol"].flatMap((key) =>
    Object.entries(objectOf(connections, key)).map(
      ([kind, count]) => `${shown(kind)} ${shown(count)}`,
    ),
  );
  const opening =
    connecting === undefined || connecting === 0 ? [] : [`connecting ${shown(connecting)}`];
  const parts = [...kinds, ...opening];
  return `${shown(connected)}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
}

/** How often events came in the last hour, by their kind. */
function eventsText(events: JsonObject): string {
  const kinds = Object.entries(events).map(
    ([kind, count]: [string, JsonValue]) =>
      `${shown(kind)} ${isJsonObject(count) ? shown(count["last_hour"]) : ""}`,
  );
  return kinds.length === 0 ? "none" : `${kinds.join(", ")} in the last hour`;
}
