import { Command, Option } from "commander";
import { type Estimate, estimate, type Workload } from "./estimate.ts";
import { paintOf, type Shell, usageFailure } from "../shell.ts";
import { table } from "../text/table.ts";
import { wholeNumber } from "../text/values.ts";

interface CostOptions {
  readonly users?: number;
  readonly messages?: number;
  readonly online?: number;
  readonly subscribers?: number;
  readonly connects: number;
  readonly batch: number;
  readonly sockets: Workload["sockets"];
  readonly channels: number;
  readonly keepAlive: Workload["keepAlive"];
  readonly historySize: number;
  readonly bytes: number;
  readonly homes: boolean;
  readonly json?: boolean;
}

/** `dormouse cost`: estimates what an application costs on Cloudflare in a month, line by line of the bill. */
export function costCommand(shell: Shell): Command {
  return new Command("cost")
    .description("estimate a month's bill on Cloudflare")
    .option("--users <number>", "users in the month (required)", wholeNumber(0))
    .option("--messages <number>", "messages published a day (required)", wholeNumber(0))
    .option(
      "--online <number>",
      "open connections on average (default: a tenth of the users)",
      wholeNumber(0),
    )
    .option(
      "--subscribers <number>",
      "subscribers of a message on average (default: all who are online)",
      wholeNumber(0),
    )
    .option("--connects <number>", "connects of a user a day", wholeNumber(0), 4)
    .option("--batch <number>", "messages in one request of the backend", wholeNumber(1, 1_000), 1)
    .addOption(
      new Option("--sockets <where>", "on gateways, or on the channels' own objects")
        .choices(["gateway", "channel"])
        .default("gateway"),
    )
    .option("--channels <number>", "channels", wholeNumber(1), 1)
    .addOption(
      new Option(
        "--keep-alive <who>",
        "clients ping; or the server, and JSON clients, binary clients or none answer",
      )
        .choices(["client", "json", "binary", "unanswered"])
        .default("json"),
    )
    .option(
      "--history-size <number>",
      "publications that a channel keeps; 0 for no history",
      wholeNumber(0),
      100,
    )
    .option("--bytes <number>", "the size of a payload", wholeNumber(0), 200)
    .option("--no-homes", "with client.users.enabled off")
    .option("--json", "print the estimate as JSON")
    .addHelpText(
      "after",
      `
The counts are measured and the prices are public; a commit and a call between objects are assumed to take 10 ms, and
messages to be spread evenly over the day and the channels: a channel that rests for 8 s sets two alarms for its next one.
docs/performance.md has the formula. Messages to clients and traffic cost nothing.

Examples:
  dormouse cost --users 10000 --messages 100000
  dormouse cost --users 1000000 --online 100000 --messages 5000 --keep-alive client
  dormouse cost --users 500 --messages 1000000 --subscribers 20 --channels 1000 --batch 100`,
    )
    .action((options: CostOptions) => {
      const workload = workloadOf(options);
      const result = estimate(workload);
      if (options.json === true) shell.print(JSON.stringify({ workload, ...result }));
      else print(workload, result, shell);
    });
}

/** @throws {Failure} that names all options that are missing, so that nobody finds them one by one */
function workloadOf(options: CostOptions): Workload {
  const { users, messages } = options;
  if (users === undefined || messages === undefined) {
    const missing = [
      ...(users === undefined ? ["--users (in the month)"] : []),
      ...(messages === undefined ? ["--messages (published a day)"] : []),
    ];
    throw usageFailure(
      `missing: ${missing.join(" and ")}, for example dormouse cost --users 10000 --messages 100000`,
    );
  }
  const online = options.online ?? Math.ceil(users / 10);
  return {
    users,
    online,
    messagesPerDay: messages,
    subscribers: options.subscribers ?? online,
    connectsPerUserAndDay: options.connects,
    messagesPerRequest: options.batch,
    sockets: options.sockets,
    channels: options.channels,
    keepAlive: options.keepAlive,
    historySize: options.historySize,
    payloadBytes: options.bytes,
    hasHomes: options.homes,
  };
}

function print(workload: Workload, result: Estimate, shell: Shell): void {
  const { title, faint } = paintOf(shell);
  const { users, online, messagesPerDay, subscribers } = workload;
  shell.print(
    `${counted(users)} users, ${counted(online)} of them online, ${counted(messagesPerDay)} messages a day to ${counted(subscribers)} subscribers each\n`,
  );
  const rows = result.lines.map(({ item, quantity, unit, included, dollars }) => [
    item,
    `${counted(quantity)} ${unit}`.trim(),
    `${counted(included)} ${unit}`.trim(),
    money(dollars),
  ]);
  const head = ["a month", "quantity", "included", "beyond it"].map(title);
  const base = ["Workers Paid", "", "", money(5)];
  const total = [title("total"), "", "", title(money(result.dollars))];
  shell.print(table([head, ...rows, base, total], [1, 2, 3]));
  const more = result.dollarsIfAnsweredMessagesAreBilled;
  if (more >= 0.005)
    shell.print(
      faint(
        `\nIf Cloudflare billed the keep-alive messages that it answers itself: ${money(more)} more.`,
      ),
    );
}

function counted(quantity: number): string {
  if (quantity >= 1e9) return `${(quantity / 1e9).toFixed(2)} G`;
  if (quantity >= 1e6) return `${(quantity / 1e6).toFixed(2)} M`;
  return quantity.toLocaleString("en", { maximumFractionDigits: quantity < 100 ? 2 : 0 });
}

function money(dollars: number): string {
  return `$${dollars.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
