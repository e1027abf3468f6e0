import { Command } from "commander";
import type { JsonObject } from "../../src/protocol/wire-value.ts";
import { ApiClient } from "../connection/api-client.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import { exitCodes, type Shell, usageFailure } from "../shell.ts";
import { typedJson } from "../text/payload-text.ts";
import { shown } from "../text/printable.ts";
import { pair, wholeNumber } from "../text/values.ts";

interface ChangeOptions extends ServerOptions {
  readonly epoch?: string;
  readonly ifVersion?: number;
  readonly key?: string;
  readonly json?: boolean;
}

interface EditOptions extends ChangeOptions {
  readonly text?: boolean;
  readonly tag?: Readonly<Record<string, string>>;
}

/** `dormouse edit`: gives a publication other data. */
export function editCommand(shell: Shell): Command {
  const command = changing(new Command("edit").description("give a publication other data"))
    .argument("<data>", "the new payload as JSON; - reads the standard input")
    .option("--text", "the payload is a text, and needn't be JSON")
    .option("--tag <name=value>", "a tag in place of all there were; repeatable", pair);
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText(
      "after",
      `
Subscribers get the edit, and who comes late finds the new data in the old place. The namespace needs allow_change.

Examples:
  dormouse edit room:7 12 '{"text":"hello, all"}'
  dormouse edit room:7 12 --text hello --if-version 1`,
    )
    .action(async (channel: string, offset: number, data: string, options: EditOptions) => {
      const given = data === "-" ? await shell.input() : data;
      const payload =
        options.text === true
          ? given
          : typedJson(given, "the payload isn't JSON: use --text for a text");
      const { tag: tags } = options;
      const params = { ...fieldsOf(channel, offset, options), data: payload };
      const fields = tags === undefined ? params : { ...params, tags };
      const result = await ApiClient.of(options, shell).result("update_publication", fields);
      printChange("is edited", offset, result, options, shell);
    });
}

/** `dormouse delete`: takes the data of a publication away. */
export function deleteCommand(shell: Shell): Command {
  const command = changing(
    new Command("delete").description("take the data of a publication away"),
  ).option("--reason <text>", "why, for everybody");
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText(
      "after",
      `
Nobody is given the text any more, but its bytes may stay in the database's file: dormouse erase overwrites them.

Examples:
  dormouse delete room:7 12 --reason spam`,
    )
    .action(
      async (
        channel: string,
        offset: number,
        options: ChangeOptions & { readonly reason?: string },
      ) => {
        const { reason } = options;
        const params = { ...fieldsOf(channel, offset, options), ...(reason && { reason }) };
        const result = await ApiClient.of(options, shell).result("delete_publication", params);
        printChange("is deleted", offset, result, options, shell);
      },
    );
}

interface EraseOptions extends ServerOptions {
  readonly user?: string;
  readonly epoch?: string;
  readonly json?: boolean;
}

/** `dormouse erase`: overwrites publications. */
export function eraseCommand(shell: Shell): Command {
  const command = new Command("erase")
    .description("overwrite a publication, or all of a user in a channel, everywhere")
    .argument("<channel>", "the channel")
    .argument("[offset]", "of the publication, or of a change of it", wholeNumber(1))
    .option("--user <id>", "all that clients of this user have published in the channel")
    .option("--epoch <name>", "of the offset");
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText(
      "after",
      `
The command ends when no row and no memory has the text any more. If an object can't be reached it says so: run it again.

Examples:
  dormouse erase room:7 12
  dormouse erase room:7 --user ada`,
    )
    .action(async (channel: string, offset: number | undefined, options: EraseOptions) => {
      const { user, epoch, json } = options;
      if (offset === undefined && user === undefined)
        throw usageFailure("name the offset of a publication, or a user with --user");
      const result = await ApiClient.of(options, shell).result("erase", {
        channel,
        ...(offset !== undefined && { offset }),
        ...(user !== undefined && { user }),
        ...(epoch !== undefined && { epoch }),
      });
      const count = shown(result["erased"] ?? 0);
      shell.print(json === true ? JSON.stringify(result) : `${shown(channel)}: ${count} erased`);
    });
}

interface ForgetOptions extends ServerOptions {
  readonly publications?: boolean;
  readonly json?: boolean;
}

/** `dormouse forget`: deletes what channels keep of a user. */
export function forgetCommand(shell: Shell): Command {
  const command = new Command("forget")
    .description("delete what all channels keep of a user")
    .argument("<user>", "the user's ID")
    .option("--publications", "erase what the user has published, too");
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText(
      "after",
      `
With --publications it searches the channels of namespaces with erasable_by_user, and names the other ones.

Examples:
  dormouse forget ada
  dormouse forget ada --publications`,
    )
    .action(async (user: string, options: ForgetOptions) => {
      const publications = options.publications === true;
      const params = { user, ...(publications && { publications }) };
      const result = await ApiClient.of(options, shell).result("forget_user", params);
      if (options.json === true) {
        shell.print(JSON.stringify(result));
        return;
      }
      const { unsearched, incomplete } = result;
      shell.print(`${shown(user)} is forgotten`);
      if (Array.isArray(unsearched)) {
        const names = unsearched.map((name) =>
          name === "" ? "channels without one" : shown(name),
        );
        shell.print(`namespaces that weren't searched: ${names.join(", ")}`);
      }
      if (incomplete === true)
        shell.print("the user has published to more channels than are known");
    });
}

/** The arguments and options of edits and deletions. */
function changing(command: Command): Command {
  return command
    .argument("<channel>", "the channel")
    .argument("<offset>", "of the publication", wholeNumber(1))
    .option("--epoch <name>", "of the offset")
    .option("--if-version <number>", "only if it has this version", wholeNumber(1))
    .option("--key <key>", "the idempotency key: a repeated change with it does nothing");
}

function fieldsOf(channel: string, offset: number, { epoch, ifVersion, key }: ChangeOptions) {
  return {
    channel,
    offset,
    ...(epoch !== undefined && { epoch }),
    ...(ifVersion !== undefined && { if_version: ifVersion }),
    ...(key !== undefined && { idempotency_key: key }),
  };
}

function printChange(
  done: string,
  changed: number,
  result: JsonObject,
  { json }: ChangeOptions,
  shell: Shell,
): void {
  const { offset, epoch, version, suppressed, suppress_reason: reason } = result;
  if (suppressed === true) process.exitCode = exitCodes.refused;
  if (json === true) shell.print(JSON.stringify(result));
  else if (suppressed === true) {
    const is = version === undefined ? "" : `, its version is ${shown(version)}`;
    shell.print(`${changed} is not changed: ${shown(reason)}${is}`);
  } else
    shell.print(`${changed} ${done}, version ${shown(version)}: ${shown(offset)}:${shown(epoch)}`);
}
