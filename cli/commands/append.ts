import { Command } from "commander";
import { ApiClient } from "../connection/api-client.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import { TextAppender } from "../connection/text-appender.ts";
import type { Shell } from "../shell.ts";
import { shown } from "../text/printable.ts";

interface AppendOptions extends ServerOptions {
  readonly field?: string;
  readonly resume?: boolean;
  readonly final: boolean;
  readonly json?: boolean;
}

/** `dormouse append`: lets the value of a key grow by the standard input, as it comes. */
export function appendCommand(shell: Shell): Command {
  const command = new Command("append")
    .description("append the standard input to the value of a key, as it comes")
    .argument("<channel>", "the map")
    .argument("<key>", "the key, whose value is a text")
    .option("--field <name>", "the member of the value that grows, if the value is an object")
    .option("--resume", "the input is the whole text: what is there already isn't sent again")
    .option("--no-final", "more may be appended afterwards");
  return withServer(command)
    .option("--json", "print the last answer as JSON")
    .addHelpText(
      "after",
      `
Subscribers with deltas get each piece at once. A piece whose answer is lost is sent again, and if the server has lost the
newest text in a crash, it is sent again from there. A terminal shows how much was appended, and how fast.

Examples:
  dormouse append answers:7 answer < answer.txt
  tail -f app.log | dormouse append logs:app today --no-final
  dormouse append answers:7 answer --resume < answer.txt`,
    )
    .action(async (channel: string, key: string, options: AppendOptions) => {
      const { field } = options;
      const place = { channel, key, ...(field !== undefined && { field }) };
      const appender = new TextAppender(ApiClient.of(options, shell), place);
      await appendInput(appender, options, shell);
      const { offset, epoch } = appender.last;
      shell.print(
        options.json === true
          ? JSON.stringify({ channel, key, ...appender.last })
          : `${shown(channel)} ${shown(key)} ${appender.length} characters, ${shown(offset)}:${shown(epoch)}`,
      );
    });
}

async function appendInput(
  appender: TextAppender,
  { resume, final }: AppendOptions,
  shell: Shell,
): Promise<void> {
  const beganMs = shell.nowMs();
  await appender.begin();
  const before = appender.length;
  let skipped = resume === true ? before : 0;
  for await (const piece of shell.inputPieces()) {
    const left = piece.slice(skipped);
    skipped -= piece.length - left.length;
    if (left === "") continue;
    await appender.append(left, false);
    shell.progress(rate(appender, appender.length - before, shell.nowMs() - beganMs));
  }
  if (final) await appender.append("", true);
}

function rate({ length, pieces, resumed }: TextAppender, added: number, ms: number): string {
  const perSecond = Math.round((added * 1_000) / Math.max(1, ms));
  const again = resumed === 0 ? "" : `, ${resumed} times sent again`;
  return `${length} characters in ${pieces} pieces, ${perSecond} a second${again}`;
}
