import { join } from "node:path";
import { homeName } from "../../../src/contract/object-names.ts";
import { dialectName } from "../../../src/features/pusher/names.ts";
import { packageRoot } from "../../../cli/package-root.ts";
import { productionBundle } from "../../../cli/build/production-bundle.ts";
import { Random } from "../../support/random.ts";
import { testSecrets } from "../../support/test-tokens.ts";
import { provedAppSecret } from "./clients/pusher-subscriber.ts";
import type { ProveOptions, RemoteOptions } from "./options.ts";
import { EventReceiver } from "./backends/event-receiver.ts";
import { HookBackend } from "./backends/hook-backend.ts";
import {
  connectionLimit,
  localScenario,
  pingIntervalMs,
  provedConfig,
  remoteScenario,
  type Scenario,
} from "./scenario.ts";
import { LocalServer } from "./server/local-server.ts";
import { bundled, withChangedCopy } from "../weakened/changed-copy.ts";

/** Signs what the server sends to backends. */
const hookSecret = "hook-signing-secret-of-the-proof";

/** The server under proof, and the facts that the run needs. */
export interface Target {
  /** Its name in the report. */
  readonly subject: string;
  readonly url: URL;
  readonly apiKey: string;
  readonly tokenSecret: string;
  readonly pingIntervalMs: number;
  readonly scenario: Scenario;
  /** Gateways that the scenario uses, by name; none for a deployed server, which can't be broken from inside. */
  readonly gateways: readonly string[];
  /** Homes of the users for whom orders are given, by name; none for a deployed server. */
  readonly homes: readonly string[];
  /** Present for a local server, which can be broken from inside. */
  readonly server?: LocalServer;
  /** The backend that a local server asks. */
  readonly hooks?: HookBackend;
  /** The backend that a local server tells what happens. */
  readonly events?: EventReceiver;
  close(): Promise<void>;
}

/** Starts a local server, or takes the deployed one that was given. */
export function openTarget(options: ProveOptions): Promise<Target> {
  const random = new Random(options.seed);
  return options.remote === undefined
    ? openLocalTarget(options, random)
    : Promise.resolve(remoteTarget(options.remote, random));
}

async function openLocalTarget({ without, seed }: ProveOptions, random: Random): Promise<Target> {
  const bundle =
    without === undefined
      ? bundleOf(packageRoot)
      : withChangedCopy(without, [...bundled, ...codeOfBanks], bundleOf);
  const hooks = await HookBackend.start(hookSecret, seed + 7);
  const events = await EventReceiver.start(hookSecret, seed + 8);
  const config = provedConfig(hooks.config, events.target);
  const secrets = {
    ...testSecrets,
    HOOK_SIGNING_SECRET: hookSecret,
    PUSHER_SECRET_PROOF: provedAppSecret,
  };
  const server = await LocalServer.start({ bundle, config, secrets });
  const scenario = localScenario(random);
  return {
    subject: `Dormouse${without === undefined ? "" : ` without ${without.name}`}`,
    url: new URL(server.address),
    apiKey: testSecrets.API_KEY,
    tokenSecret: testSecrets.TOKEN_HMAC_SECRET_KEY,
    pingIntervalMs,
    scenario,
    gateways: gatewaysOf(scenario),
    homes: [...new Set(scenario.users.map(({ name }) => homeName(name)))],
    server,
    hooks,
    events,
    close: async () => {
      await server.close();
      await Promise.all([hooks.close(), events.close()]);
    },
  };
}

/** The production bundle of the sources in a folder, with the code of banks beside it. */
function bundleOf(folder: string): string {
  return productionBundle(folder, [join(folder, entry)]);
}

/** What the entry of the bundle is made from, beside the server. */
const codeOfBanks = ["test/verification/bank", "test/verification/prove/bank/edge.js"];
const entry = "test/verification/prove/bank/edge.js";

function remoteTarget({ url, apiKey, tokenSecret }: RemoteOptions, random: Random): Target {
  return {
    subject: url.host,
    url,
    apiKey,
    tokenSecret,
    pingIntervalMs: 25_000,
    // Names of this run alone: channels and keys of an earlier run may still exist.
    scenario: remoteScenario(Date.now().toString(36), random),
    gateways: [],
    homes: [],
    close: () => Promise.resolve(),
  };
}

/**
 * The pool fills from its first gateway, and a channel with more sockets than its object takes has gateways of its own.
 */
function gatewaysOf({ channels, subscribers }: Scenario): readonly string[] {
  const limit = connectionLimit;
  const names = (prefix: string, count: number): readonly string[] =>
    Array.from({ length: Math.ceil(count / limit) }, (_, index) => `${prefix}/${index}`);
  const pooled = subscribers.filter(({ endpoint }) => endpoint === "gateway");
  const pushers = pooled.filter(({ kind }) => kind === "pusher").length;
  return [
    ...names("any", pooled.length - pushers),
    ...names(`${dialectName}~any`, pushers),
    ...channels.flatMap(({ name, own }) => names(`channel/${name}`, Math.max(0, own - limit))),
  ];
}
