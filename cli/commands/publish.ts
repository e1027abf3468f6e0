import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { isJsonArray, isJsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";
import { ApiClient, type ApiParams } from "../connection/api-client.ts";
import { readText } from "../configuration/document.ts";
import { type PayloadText, typedJson } from "../text/payload-text.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import { exitCodes, refusal, type Shell, usageFailure } from "../shell.ts";
import { shown } from "../text/printable.ts";
import { pair, wholeNumber } from "../text/values.ts";

interface PublishOptions extends ServerOptions {
  readonly file?: string;
  readonly text?: boolean;
  readonly lines?: boolean;
  readonly tag?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly delta?: boolean;
  readonly skipHistory?: boolean;
  readonly version?: number;
  readonly versionEpoch?: string;
  readonly alsoTo?: readonly string[];
  readonly json?: boolean;
}

/** `dormouse publish`: publishes to one channel or to several, one publication or one for each line. */
export function publishCommand(shell: Shell): Command {
  const command = new Command("publish")
    .description("publish to a channel")
    .argument("<channel>", "the channel")
    .argument("[data]", "the payload as JSON; - reads the standard input")
    .option("--file <file>", "the payload is the content of this file, whatever it is")
    .option("--text", "the payload is a text, and needn't be JSON")
    .option("--lines", "publish each line of the file or of the standard input, in batches of 100")
    .option("--also-to <channels...>", "publish to these channels as well, in the same request")
    .option("--tag <name=value>", "a tag for filters; repeatable", pair)
    .option("--key <key>", "the idempotency key: a repeated publish with it does nothing")
    .option("--delta", "subscribers may get the change from the publication before")
    .option("--skip-history", "send to subscribers without an offset, and keep nothing")
    .option("--version <number>", "publish only if this is newer than the kept one", wholeNumber(1))
    .option("--version-epoch <name>", "what the version counts within");
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText(
      "after",
      `
The key is API_KEY, from the environment or from .dev.vars.

Examples:
  dormouse publish news '{"text":"hello"}'
  dormouse publish news --text hello --key 2026-11-22/1
  dormouse publish news --file picture.png --tag kind=picture
  dormouse publish news '"all"' --also-to sports weather
  dormouse publish news --lines < events.jsonl`,
    )
    .action(async (channel: string, data: string | undefined, options: PublishOptions) => {
      const client = ApiClient.of(options, shell);
      if (options.lines === true) await publishLines(client, channel, data, options, shell);
      else await publishOne(client, channel, await payload(data, options, shell), options, shell);
    });
}

/** `data` or `b64data` of a request. */
type Payload = { readonly data: string | PayloadText } | { readonly b64data: string };

async function payload(
  data: string | undefined,
  options: PublishOptions,
  shell: Shell,
): Promise<Payload> {
  const { file, text } = options;
  if (file !== undefined && data !== undefined)
    throw usageFailure("give the payload as an argument or with --file, and not both");
  if (file !== undefined) {
    const bytes = readFileSync(resolve(shell.folder, file));
    return { b64data: bytes.toString("base64") };
  }
  const given = data === "-" ? await shell.input() : data;
  if (given === undefined) throw usageFailure("the payload is missing: give JSON, or use --file");
  return { data: text === true ? given : jsonOf(given) };
}

function jsonOf(text: string): PayloadText {
  return typedJson(text, "the payload isn't JSON: use --text for a text, or --file for bytes");
}

/** The fields of a publish beside its channel and its payload. */
function fieldsOf(options: PublishOptions): ApiParams<"publish" | "broadcast"> {
  const { tag, key, delta, skipHistory, version, versionEpoch } = options;
  return {
    ...(tag !== undefined && { tags: tag }),
    ...(key !== undefined && { idempotency_key: key }),
    ...(delta === true && { delta }),
    ...(skipHistory === true && { skip_history: true }),
    ...(version !== undefined && { version }),
    ...(versionEpoch !== undefined && { version_epoch: versionEpoch }),
  };
}

async function publishOne(
  client: ApiClient,
  channel: string,
  data: Payload,
  options: PublishOptions,
  shell: Shell,
): Promise<void> {
  const fields = { ...data, ...fieldsOf(options) };
  const { alsoTo = [] } = options;
  if (alsoTo.length === 0) {
    const result = await client.result("publish", { channel, ...fields });
    shell.print(
      options.json === true
        ? JSON.stringify({ channel, ...result })
        : `${shown(channel)} ${sent(result)}`,
    );
    return;
  }
  const channels = [channel, ...alsoTo];
  const { responses = [] } = await client.result("broadcast", { channels, ...fields });
  const all = isJsonArray(responses) ? responses : [];
  for (const [index, response] of all.entries()) {
    const name = channels[index] ?? "";
    if (!isJsonObject(response) || !("result" in response)) process.exitCode = exitCodes.refused;
    shell.print(
      options.json === true
        ? JSON.stringify({ channel: name, response })
        : `${shown(name)} ${answered(response)}`,
    );
  }
}

/** Where a publication is. A channel without history gives no position. */
function sent(result: JsonValue): string {
  const { offset, epoch } = isJsonObject(result) ? result : {};
  return typeof offset === "number" ? `${offset}:${shown(epoch)}` : "published, without an offset";
}

function answered(response: JsonValue): string {
  if (!isJsonObject(response)) return "no answer";
  const { result, error, publish } = response;
  const good = result ?? publish;
  if (good !== undefined) return sent(good);
  return error !== undefined && isJsonObject(error)
    ? `refused: ${shown(error["code"])} ${shown(error["message"])}`
    : "no answer";
}

/** Publishes the lines of an input. After a refusal nothing more is published, because lines have an order. */
async function publishLines(
  client: ApiClient,
  channel: string,
  data: string | undefined,
  options: PublishOptions,
  shell: Shell,
): Promise<void> {
  if (data !== undefined && data !== "-")
    throw usageFailure("--lines reads the payloads from --file or from the standard input");
  if (options.key !== undefined || options.alsoTo !== undefined)
    throw usageFailure("--lines can't be combined with --key and --also-to");
  const { file, text } = options;
  const input =
    file === undefined ? await shell.input() : readText(resolve(shell.folder, file), file);
  const lines = input.split("\n").filter((line) => line.trim() !== "");
  const payloads = lines.map((line) => (text === true ? line : jsonOf(line)));
  let last: JsonValue = {};
  for (let done = 0; done < payloads.length; done += batchMax) {
    const batch = payloads.slice(done, done + batchMax);
    const commands = batch.map((each) => ({
      publish: { channel, data: each, ...fieldsOf(options) },
    }));
    const { replies = [] } = await client.result("batch", { commands });
    const all = isJsonArray(replies) ? replies : [];
    const bad = all.findIndex((reply) => !isJsonObject(reply) || !("publish" in reply));
    if (bad >= 0)
      throw refusal(
        `line ${done + bad + 1} of ${payloads.length}: ${answered(all[bad] ?? null)}; publishing ends with its batch, whose later lines may be published`,
      );
    last = all.at(-1) ?? {};
    const count = Math.min(done + batchMax, payloads.length);
    if (shell.isTerminal || count === payloads.length)
      shell.note(`${count} of ${payloads.length} published`);
  }
  const position = isJsonObject(last) ? (last["publish"] ?? {}) : {};
  shell.print(
    options.json === true
      ? JSON.stringify({ channel, published: payloads.length, last: position })
      : `${shown(channel)} ${sent(position)}`,
  );
}

const batchMax = 100;
