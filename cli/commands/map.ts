import { Command } from "commander";
import type { JsonObject, JsonValue } from "../../src/protocol/wire-value.ts";
import { objectsOf } from "../connection/answer.ts";
import { ApiClient } from "../connection/api-client.ts";
import { type ClientOptions, withClient } from "../connection/client-connection.ts";
import { MapWatch } from "./map-watch.ts";
import { typedJson } from "../text/payload-text.ts";
import { printable, shown } from "../text/printable.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import { exitCodes, paintOf, refusal, type Shell, usageFailure } from "../shell.ts";
import { pair, wholeNumber } from "../text/values.ts";

/** `dormouse map`: reads and changes the keys of a map, and follows its changes. */
export function mapCommand(shell: Shell): Command {
  const command = new Command("map")
    .description("read, change and watch the keys of a map")
    .helpCommand(false)
    .addHelpText(
      "after",
      `
The key is API_KEY, from the environment or from .dev.vars; watch connects as a client, as listen does.

Examples:
  dormouse map read board:7
  dormouse map set board:7 note-1 '{"text":"hello"}' --if-new
  dormouse map remove board:7 note-1
  dormouse map watch board:7`,
    );
  const actions = [
    read(shell),
    set(shell),
    remove(shell),
    clear(shell),
    stats(shell),
    watch(shell),
  ];
  for (const action of actions) command.addCommand(action);
  return command;
}

interface ReadOptions extends ServerOptions {
  readonly key?: string;
  readonly json?: boolean;
}

function read(shell: Shell): Command {
  const command = new Command("read")
    .description("print the keys of a map")
    .argument("<channel>", "the map")
    .option("--key <key>", "this key only; exits with 1 if the map doesn't have it");
  return withServer(command)
    .option("--json", "print the answers as JSON, one line for each page")
    .addHelpText(
      "after",
      `
Each line is the offset of the key's last change, the key, its value as JSON, and its tags. The last line is the position
of the map. A map of several pages may be changed while it is read: each key is as it was when its page was read.

Examples:
  dormouse map read board:7
  dormouse map read board:7 --key note-1
  dormouse map read board:7 --json`,
    )
    .action(async (channel: string, options: ReadOptions) => {
      await printState(ApiClient.of(options, shell), channel, options, shell);
    });
}

/** Prints all pages of the state, or one key. */
async function printState(
  client: ApiClient,
  channel: string,
  { key, json }: ReadOptions,
  shell: Shell,
): Promise<void> {
  const which = key === undefined ? { limit: pageEntries } : { key };
  let [cursor, firstEpoch, keys]: [string, JsonValue | undefined, number] = ["", undefined, 0];
  for (;;) {
    const next = cursor === "" ? {} : { cursor };
    const page = await client.result("map_read_state", { channel, ...which, ...next });
    const { offset = 0, epoch = "", cursor: after } = page;
    const entries = objectsOf(page, "entries");
    if (key !== undefined && entries.length === 0) throw refusal("the map doesn't have the key");
    firstEpoch ??= epoch;
    if (epoch !== firstEpoch)
      throw refusal("the map was cleared or lost its state while it was read: read it again");
    keys += entries.length;
    if (json === true) shell.print(printable(JSON.stringify(page)));
    else for (const entry of entries) shell.print(line(entry));
    cursor = typeof after === "string" ? after : "";
    if (cursor !== "") continue;
    const count = key === undefined ? `, ${counted(keys)}` : "";
    const { faint } = paintOf(shell);
    if (json !== true) shell.print(faint(`top ${shown(offset)}:${shown(epoch)}${count}`));
    return;
  }
}

function line({ offset, key, data, b64data, tags }: JsonObject): string {
  const value = data === undefined ? `base64 ${shown(b64data)}` : printable(JSON.stringify(data));
  return [shown(offset), shown(key), value, ...(tags === undefined ? [] : [shown(tags)])].join(" ");
}

function counted(keys: number): string {
  return `${keys} key${keys === 1 ? "" : "s"}`;
}

interface ChangeOptions extends ServerOptions {
  readonly ifOffset?: number;
  readonly json?: boolean;
}

interface SetOptions extends ChangeOptions {
  readonly ifNew?: boolean;
  readonly ifExists?: boolean;
  readonly tag?: Readonly<Record<string, string>>;
}

function set(shell: Shell): Command {
  const command = new Command("set")
    .description("set the value of a key")
    .argument("<channel>", "the map")
    .argument("<key>", "the key")
    .argument("<value>", "the value as JSON; - reads the standard input")
    .option("--if-new", "only if the map doesn't have the key")
    .option("--if-exists", "only if the map has the key")
    .option("--tag <name=value>", "a tag for filters; repeatable", pair);
  return withChange(command)
    .addHelpText(
      "after",
      `
Prints the position of the change. If a condition doesn't hold, nothing is changed and the exit code is 1.

Examples:
  dormouse map set board:7 note-1 '{"text":"hello"}'
  dormouse map set board:7 note-1 '{"text":"mine"}' --if-new --tag kind=note
  dormouse map set board:7 note-1 '{"text":"hello again"}' --if-offset 3`,
    )
    .action(async (channel: string, key: string, value: string, options: SetOptions) => {
      const { ifNew, ifExists, tag } = options;
      if (ifNew === true && ifExists === true)
        throw usageFailure("--if-new and --if-exists exclude each other");
      const given = value === "-" ? await shell.input() : value;
      const data = typedJson(
        given,
        "the value isn't JSON: texts need double quotes within single ones",
      );
      const mode = ifNew === true ? "if_new" : ifExists === true ? "if_exists" : "";
      const fields = {
        data,
        ...(mode !== "" && { key_mode: mode }),
        ...(tag !== undefined && { tags: tag }),
      };
      await change("map_publish", { channel, key, ...fields }, options, shell);
    });
}

function remove(shell: Shell): Command {
  const command = new Command("remove")
    .description("remove a key")
    .argument("<channel>", "the map")
    .argument("<key>", "the key");
  return withChange(command)
    .addHelpText(
      "after",
      `
Prints the position of the change. If the map doesn't have the key, nothing is changed and the exit code is 1.

Examples:
  dormouse map remove board:7 note-1
  dormouse map remove board:7 note-1 --if-offset 3`,
    )
    .action(async (channel: string, key: string, options: ChangeOptions) => {
      await change("map_remove", { channel, key }, options, shell);
    });
}

function withChange(command: Command): Command {
  command.option(
    "--if-offset <offset>",
    "only if the key's last change has this offset, as read prints it; 0: if the map doesn't have the key",
    wholeNumber(0),
  );
  return withServer(command).option("--json", "print the answer as JSON");
}

/** Makes a change; a condition that doesn't hold is a refusal. */
async function change(
  method: "map_publish" | "map_remove",
  request: { readonly channel: string; readonly key: string },
  options: ChangeOptions,
  shell: Shell,
): Promise<void> {
  const { ifOffset, json } = options;
  const condition = ifOffset === undefined ? {} : { if_offset: ifOffset };
  const client = ApiClient.of(options, shell);
  const result = await client.result(method, { ...request, ...condition });
  const { channel } = request;
  if (json === true) {
    if (result["suppressed"] === true) process.exitCode = exitCodes.refused;
    shell.print(JSON.stringify({ channel, ...result }));
    return;
  }
  if (result["suppressed"] === true) throw refusal(`nothing was changed: ${reasonOf(result)}`);
  const { offset, epoch } = result;
  shell.print(`${shown(channel)} ${shown(offset)}:${shown(epoch)}`);
}

/** Why a change did nothing (rule Z7), as a sentence. */
function reasonOf({ suppress_reason: reason, current_offset: offset = 0 }: JsonObject): string {
  if (reason === "key_exists") return `the map has the key, last changed at ${shown(offset)}`;
  const absent = reason === "key_not_found" || (reason === "position_mismatch" && offset === 0);
  if (absent) return "the map doesn't have the key";
  return reason === "position_mismatch"
    ? `the key's last change is at ${shown(offset)}`
    : shown(reason);
}

interface ClearOptions extends ServerOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

function clear(shell: Shell): Command {
  const command = new Command("clear")
    .description("remove all keys of a map at once")
    .argument("<channel>", "the map")
    .option("--yes", "don't ask");
  return withServer(command)
    .option("--json", "print what was done as JSON")
    .addHelpText(
      "after",
      `
The map begins anew: its subscribers read it again, and no version of a key is remembered.

Examples:
  dormouse map clear board:7
  dormouse map clear board:7 --yes`,
    )
    .action(async (channel: string, options: ClearOptions) => {
      const client = ApiClient.of(options, shell);
      if (options.yes !== true) await confirm(client, channel, shell);
      await client.result("map_clear", { channel });
      const done =
        options.json === true ? JSON.stringify({ channel }) : `${shown(channel)} is empty`;
      shell.print(done);
    });
}

/** @throws {Failure} unless the person at the terminal says yes */
async function confirm(client: ApiClient, channel: string, shell: Shell): Promise<void> {
  const keys = Number((await client.result("map_stats", { channel }))["num_keys"] ?? 0);
  const answer = await shell.ask(printable(`Remove ${counted(keys)} of ${channel}? [y/N] `));
  if (answer === undefined) throw usageFailure("there is no terminal to ask at: add --yes");
  if (!/^y(?:es)?$/i.test(answer.trim())) throw refusal("nothing was removed");
}

interface StatsOptions extends ServerOptions {
  readonly json?: boolean;
}

function stats(shell: Shell): Command {
  const command = new Command("stats")
    .description("print how many keys a map has")
    .argument("<channel>", "the map");
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText(
      "after",
      `
Examples:
  dormouse map stats board:7
  dormouse map stats board:7 --json`,
    )
    .action(async (channel: string, options: StatsOptions) => {
      const result = await ApiClient.of(options, shell).result("map_stats", { channel });
      const keys = Number(result["num_keys"] ?? 0);
      shell.print(options.json === true ? JSON.stringify(result) : counted(keys));
    });
}

interface WatchOptions extends ClientOptions {
  readonly pageSize?: number;
  readonly count?: number;
  readonly json?: boolean;
}

function watch(shell: Shell): Command {
  const command = new Command("watch")
    .description("print the keys of a map, and then each change")
    .argument("<channel>", "the map")
    .option("--page-size <count>", "read pages of so many keys", wholeNumber(1))
    .option("--count <number>", "end after so many changes", wholeNumber(1));
  return withClient(command)
    .option("--json", "print each event as a line of JSON")
    .addHelpText(
      "after",
      `
A line is the offset, the key, and its value as JSON or the word removed. Ephemeral maps have no offsets. It uses the
official client, so it synchronises and comes back as an application does.

Examples:
  dormouse map watch board:7
  dormouse map watch board:7 --url https://dormouse.example.com --token "$(dormouse token ada)"
  dormouse map watch board:7 --count 1 --json`,
    )
    .action(async (channel: string, options: WatchOptions) => {
      await new MapWatch(channel, options, shell).watch();
    });
}

/** How many entries of the state are asked for at once. */
const pageEntries = 1_000;
