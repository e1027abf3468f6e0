import { Command } from "commander";
import type { JsonObject } from "../../src/protocol/wire-value.ts";
import { eventLimits } from "../../src/features/events/limits.ts";
import { numberOf, objectsOf } from "../connection/answer.ts";
import { ApiClient } from "../connection/api-client.ts";
import { momentOf } from "../text/moment.ts";
import { printable, shown } from "../text/printable.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import { paintOf, type Shell } from "../shell.ts";
import { table } from "../text/table.ts";
import { wholeNumber } from "../text/values.ts";

interface EventsOptions extends ServerOptions {
  readonly since?: number;
  readonly limit: number;
  readonly json?: boolean;
}

/** `dormouse events`: prints the events that an object keeps for the backend. */
export function eventsCommand(shell: Shell): Command {
  const command = new Command("events")
    .description("print the events that an object keeps for the backend")
    .argument("<object>", "the object: channel/NAME, gateway/REGION/NUMBER or home/NUMBER")
    .option("--since <number>", "those after the event of this number", wholeNumber(0))
    .option(
      "--limit <count>",
      "at most so many",
      wholeNumber(1, eventLimits.eventsAnswerMax),
      eventLimits.eventsAnswerDefault,
    );
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText(
      "after",
      `
Each line is an event: its number, its time, its type, whom it is about, and the rest as JSON, payloads included.

Examples:
  dormouse events channel/news
  dormouse events channel/news --since 1795300000123
  dormouse events home/7 --limit 1000 --json`,
    )
    .action(async (object: string, options: EventsOptions) => {
      const { since, limit, json } = options;
      const range = { ...(since !== undefined && { since }), limit };
      const result = await ApiClient.of(options, shell).result("events", { object, ...range });
      if (json === true) shell.print(printable(JSON.stringify(result)));
      else printEvents(objectsOf(result, "events"), limit, shell);
    });
}

function printEvents(events: readonly JsonObject[], limit: number, shell: Shell): void {
  if (events.length === 0) {
    shell.print("no events");
    return;
  }
  const { title, faint } = paintOf(shell);
  const head = ["number", "time", "type", "channel", "user", "more"].map(title);
  shell.print(table([head, ...events.map(rowOf)]));
  const last = shown(events.at(-1)?.["number"]);
  if (events.length >= limit) shell.note(faint(`there may be more: --since ${last}`));
}

function rowOf(event: JsonObject): readonly string[] {
  const { object: _, number, time: __, type, channel, user, ...rest } = event;
  return [
    shown(number),
    momentOf(numberOf(event, "time")),
    shown(type),
    shown(channel),
    user === "" ? "(anonymous)" : shown(user),
    Object.keys(rest).length === 0 ? "" : shown(rest),
  ];
}
