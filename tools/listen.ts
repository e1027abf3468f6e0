/**
 * `npm run listen -- news`: subscribes to channels of a server and prints each publication on a line, until it is ended.
 * Without other options it connects to `npm start` on this machine, with a token that it signs itself.
 */
import { existsSync, readFileSync } from "node:fs";
import { parseArgs, parseEnv } from "node:util";
import { Centrifuge } from "centrifuge";
import { secretsFileOf } from "./secrets.ts";
import { trialToken } from "./trial-token.ts";

const usage = `npm run listen -- CHANNEL… [options]

Subscribes to channels of a server and prints each publication on a line.

  --port N      connects to npm start on this port (default 8787)
  --url URL     connects to this address, such as wss://dormouse.example.com/connection/websocket
  --token TEXT  connects with this token (default: one that is signed with the secret in .dev.vars)
  --help        prints this text
`;

async function listen(args: readonly string[]): Promise<void> {
  const { values, positionals: channels } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      port: { type: "string", default: "8787" },
      url: { type: "string" },
      token: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help || channels.length === 0) {
    console.log(usage);
    if (!values.help) process.exitCode = 1;
    return;
  }
  const address = values.url ?? `ws://localhost:${values.port}/connection/websocket`;
  const token = values.token ?? (await ownToken());
  const client = new Centrifuge(address, token === undefined ? {} : { token });
  client.on("connected", () => console.log(`connected to ${address}`));
  client.on("error", ({ error }) => console.error(`can't connect: ${error.message}`));
  client.on("disconnected", ({ code, reason }) => {
    console.error(`disconnected: ${code} ${reason}`);
    process.exitCode = 1;
  });
  for (const channel of channels) subscribe(client, channel);
  client.connect();
}

function subscribe(client: Centrifuge, channel: string): void {
  const subscription = client.newSubscription(channel);
  subscription.on("subscribed", ({ recovered }) =>
    console.log(`subscribed to ${channel}${recovered ? ", and recovered" : ""}`),
  );
  subscription.on("unsubscribed", ({ code, reason }) => {
    console.error(`not subscribed to ${channel}: ${code} ${reason}`);
    process.exitCode = 1;
    client.disconnect();
  });
  subscription.on("publication", ({ offset, data }) =>
    console.log(
      [channel, ...(offset === undefined ? [] : [offset]), JSON.stringify(data)].join(" "),
    ),
  );
  subscription.subscribe();
}

/** A token for a server that has the secret in `.dev.vars`; undefined if there is none. */
async function ownToken(): Promise<string | undefined> {
  const file = secretsFileOf({});
  if (!existsSync(file)) return undefined;
  const { TOKEN_HMAC_SECRET_KEY: secret = "" } = parseEnv(readFileSync(file, "utf8"));
  return trialToken(secret, "sub");
}

try {
  await listen(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
