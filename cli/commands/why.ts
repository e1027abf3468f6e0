import { Command } from "commander";
import type { JsonObject } from "../../src/protocol/wire-value.ts";
import { numberOf, objectOf, objectsOf, warnIncomplete } from "../connection/answer.ts";
import { ApiClient } from "../connection/api-client.ts";
import { ageOf, momentOf } from "../text/moment.ts";
import { printable, shown } from "../text/printable.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import { paintOf, refusal, type Shell, usageFailure } from "../shell.ts";
import { table } from "../text/table.ts";
import { wholeNumber } from "../text/values.ts";

interface WhyOptions extends ServerOptions {
  readonly user?: string;
  readonly client?: string;
  readonly json?: boolean;
}

/** `dormouse why`: tells what became of a publication on its way to the connections of a user. */
export function whyCommand(shell: Shell): Command {
  const command = new Command("why")
    .description("tell what became of a publication on its way to a user")
    .argument("<channel>", "the channel")
    .argument(
      "[offset]",
      "the publication's offset, which publish and history print; the newest one without it",
      wholeNumber(1),
    )
    .option("--user <id>", "tell of all connections of this user")
    .option("--client <id>", "tell of the connection with this ID");
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText(
      "after",
      `
The table shows each object on the way: when the channel's object told it, when it took the publication, and when and
to how many subscribers it began to send it, each as a delay after the publication.

Examples:
  dormouse why news --user ada
  dormouse why news 42 --user ada
  dormouse why news 42 --client 7c9e… --json`,
    )
    .action(async (channel: string, given: number | undefined, options: WhyOptions) => {
      const { user = "", client = "", json } = options;
      if (user === "" && client === "") throw usageFailure("name whose: --user or --client");
      const named = { ...(user !== "" && { user }), ...(client !== "" && { client }) };
      const api = ApiClient.of(options, shell);
      const offset = given ?? (await newestOf(channel, api));
      const result = await api.result("why", { channel, offset, ...named });
      if (json === true) shell.print(printable(JSON.stringify(result)));
      else printWhy(result, shell);
    });
}

/** The offset of the newest publication of a channel. */
async function newestOf(channel: string, api: ApiClient): Promise<number> {
  const { offset } = await api.result("history", { channel, limit: 0 });
  // An offset of 0 is left out of the answer.
  if (typeof offset !== "number" || offset === 0)
    throw refusal("nothing has been published to the channel yet");
  return offset;
}

function printWhy(result: JsonObject, shell: Shell): void {
  const { title, faint } = paintOf(shell);
  const publication = objectOf(result, "publication");
  const publishedAtMs = numberOf(publication, "published_at_ms");
  shell.print(title(shown(result["summary"])));
  if (publishedAtMs !== undefined)
    shell.print(faint(publicationLine(publication, publishedAtMs, shell.nowMs())));
  const rows = objectsOf(result, "objects").map((object) => objectRow(object, publishedAtMs));
  const head = ["object", "subscribers", "told", "taken", "sent"].map(title);
  shell.print(`\n${table([head, ...rows], [1])}`);
  for (const { client, user, object, outcome, summary } of objectsOf(result, "connections")) {
    const who = user === "" ? "(anonymous)" : shown(user);
    shell.print(
      `\n${title(shown(outcome))}  ${who}  ${faint(`${shown(client)} on ${shown(object)}`)}`,
    );
    shell.print(`  ${shown(summary)}`);
  }
  for (const { object, note } of objectsOf(result, "objects")) {
    if (note === undefined) continue;
    shell.print(`\n${title("no connection")}  ${faint(`on ${shown(object)}`)}`);
    shell.print(`  ${shown(note)}`);
  }
  warnIncomplete(result, shell);
}

/** When the publication came, who published it, and how long its commit took. */
function publicationLine(publication: JsonObject, publishedAtMs: number, nowMs: number): string {
  const { key, client, user } = objectOf(publication, "by");
  const by =
    key === undefined
      ? client === undefined
        ? ""
        : ` by ${shown(user)}, client ${shown(client)}`
      : ` with the key ${shown(key)}`;
  const committedAtMs = numberOf(publication, "committed_at_ms");
  const commit =
    committedAtMs === undefined
      ? ""
      : `, committed ${delayOf(committedAtMs - publishedAtMs)} later`;
  const age = `${ageOf(nowMs - publishedAtMs)} ago`;
  return `published ${age}, at ${momentOf(publishedAtMs)}${by}${commit}`;
}

function objectRow(object: JsonObject, publishedAtMs: number | undefined): readonly string[] {
  if (object["state"] !== undefined) return [shown(object["object"]), "", "no answer", "", ""];
  const { attempts, outcome = "no answer yet", begun_at_ms: begun } = objectOf(object, "told");
  const tried = Number(attempts ?? 1) > 1 ? `, ${shown(attempts)} calls` : "";
  const told =
    begun === undefined ? "" : `${after(Number(begun), publishedAtMs)}, ${shown(outcome)}${tried}`;
  const read = object["was_read"] === true ? ", read from the history" : "";
  const takenAtMs = numberOf(object, "taken_at_ms");
  return [
    shown(object["object"]),
    shown(object["subscribers"]),
    told,
    takenAtMs === undefined ? "" : `${after(takenAtMs, publishedAtMs)}${read}`,
    sentText(objectOf(object, "frame"), publishedAtMs),
  ];
}

/** When and to how many subscribers a frame was sent, and how many didn't get it; "" without a frame. */
function sentText(frame: JsonObject, publishedAtMs: number | undefined): string {
  const begunAtMs = numberOf(frame, "begun_at_ms");
  if (begunAtMs === undefined) return "";
  const { subscribers, filtered, left_out: leftOut, slow } = frame;
  const count = Number(subscribers ?? 0) + Number(filtered ?? 0);
  const others = [
    ...(Number(leftOut ?? 0) > 0 ? [`${shown(leftOut)} left out by a filter`] : []),
    ...(Number(slow ?? 0) > 0 ? [`${shown(slow)} too slow`] : []),
    ...(frame["sent_at_ms"] === undefined ? ["not ended"] : []),
  ];
  return [`${after(begunAtMs, publishedAtMs)} to ${count}`, ...others].join(", ");
}

/** A time in ms after the publication, or the time itself if it isn't known when the publication came. */
function after(atMs: number, publishedAtMs: number | undefined): string {
  if (publishedAtMs === undefined) return momentOf(atMs);
  const ms = atMs - publishedAtMs;
  return `${ms < 0 ? "-" : "+"}${delayOf(Math.abs(ms))}`;
}

/** A delay: in ms while it is short, and like an age afterwards. */
function delayOf(ms: number): string {
  return ms < 10_000 ? `${ms} ms` : ageOf(ms);
}
