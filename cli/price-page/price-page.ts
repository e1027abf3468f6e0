/**
 * `npm run prices`: writes the beginning of docs/performance/cost.md, which is for people: what three applications cost
 * here and elsewhere. The bench writes the same beginning before the tables of its counts. A test compares it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFiles } from "../configuration/write-files.ts";
import { estimate } from "../cost/estimate.ts";
import { packageRoot } from "../package-root.ts";
import { type App, apps, costArguments, workloadOf } from "./apps.ts";
import {
  ablyByUse,
  ablyByUser,
  ablyByUserAndUse,
  type Machine,
  machineFor,
  pusherDollars,
} from "./elsewhere.ts";

/** The heading behind the beginning. */
export const tablesHeading = "## The counts behind it";

/** The beginning of the page, up to {@link tablesHeading}. */
export function priceBeginning(): string {
  const rows = apps.map((app) => `| ${rowOf(app).join(" | ")} |`);
  const assumed = apps.map(
    (app) =>
      `* **${app.name}**: ${app.assumed} (\`dormouse cost ${costArguments(app).join(" ")}\`).`,
  );
  return `# Cost on Cloudflare

Three applications, in whole dollars a month, and what each would cost elsewhere:

| | here, if answered messages are free | here, if they are billed | Pusher | Ably, by user | Ably, by use | three machines with Centrifugo and Redis |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.join("\n")}

So a small application is cheap everywhere. Machines of your own are the cheapest where messages never stop, if the work of
running them is free. A million idle connections are the cheapest here if Cloudflare doesn't bill the messages that it
answers itself, and cost more than on machines if it does.

**What is assumed.** Each user has one connection, and payloads have 200 bytes.

${assumed.join("\n")}

**Here** is what these commands print: the $5 of Workers Paid, and what it doesn't include, by [Cloudflare's
prices](https://developers.cloudflare.com/durable-objects/platform/pricing/) of 2026-11-20. JSON clients on gateways are
pinged every 25 s. Cloudflare answers what they send back itself, while the object sleeps, and doesn't say whether it bills
these messages, 20 of them as a request: hence two columns. Which one is right nobody knows until somebody is billed.
[keepalive.md](../keepalive.md) shows clients that send none. Each publication is stored, and calls as many gateways as it
can have subscribers on, which is the worst case.

**Elsewhere**: the sources were read on 2026-11-28, in stored copies that may be older. A publication is a message there, and
so is each delivery. "A contract" means that the published plans end below it.

${sources().join("\n")}

${tablesHeading}`;
}

function rowOf(app: App): readonly string[] {
  const { dollars, dollarsIfAnsweredMessagesAreBilled } = estimate(workloadOf(app));
  const machine = machineFor(app);
  return [
    app.name,
    whole(dollars),
    whole(dollars + dollarsIfAnsweredMessagesAreBilled),
    whole(pusherDollars(app)),
    whole(ablyByUser(app)),
    whole(ablyByUse(app)),
    machine === undefined
      ? whole(undefined)
      : `${whole(3 * machine.dollars)} (3 × ${sizeOf(machine)})`,
  ];
}

function sources(): readonly string[] {
  const [small, busy] = apps.map((app) => whole(ablyByUserAndUse(app)));
  return [
    `* **Pusher**: [a message is each request of the API and each delivery](https://pusher.com/legal/quotas/). The plans of
  [pusher.com](https://pusher.com/channels/pricing), from $49 for 500 connections and a million messages a day to $1,199 for
  30,000 and 90 million, are as [API
  Evangelist](https://raw.githubusercontent.com/api-evangelist/pusher/refs/heads/main/plans/pusher-plans-pricing.yml) wrote
  them down on 2026-05-08; the table of [a comparison of April
  2026](https://tako.sh/blog/self-hosted-pusher-alternative/) has three of them, with the same prices.`,
    `* **Ably** has two ways. Accounts from before pay [by
  use](https://ably.com/docs/platform/pricing/resource-based): $29 (10,000 connections, 2,500 messages a second) or $399
  (50,000 and 10,000), and on top $2.50 a million messages and $1.00 a million minutes of connections and of channels
  ([2026-05-08](https://raw.githubusercontent.com/api-evangelist/ably/refs/heads/main/plans/ably-plans-pricing.yml)). New
  accounts pay [by user of the month](https://ably.com/docs/pub-sub/pricing?source=using-ably), whatever a user sends. We
  found no current price of a user, and no current limits. The column takes $0.05 on the same two packages, from [an earlier
  version of the documentation](https://github.com/ably/docs/blob/8b283970668673452cab6d1f9c46cb929003ad27/src/pages/docs/platform/pricing/index.mdx),
  which bills messages beyond 20,000 a user and minutes beyond 2,000 as well: that would be ${small} and ${busy} for the first two
  applications. Discounts for volume, whose steps aren't published, aren't counted.`,
    `* **Three machines**, of which any two carry everything: Centrifugo needed [27 GB and 10 processors for a million
  connections, and 40 processors with 500,000 deliveries a
  second](https://centrifugal.dev/blog/2020/02/10/million-connections-with-centrifugo) (2020-02-10), to which we add 1 GB for
  the system and Redis. The prices are DigitalOcean's for Basic Droplets, from [a list without a
  date](https://github.com/sergeykuzmich/terraform-digitalocean-variables/blob/0c6d2e071e85c1f183960a15462b82c87b815b89/do_sizes.tf)
  that is made from its API. It begins at $4, as [DigitalOcean's own page of
  2026-09-20](https://raw.githubusercontent.com/api-evangelist/digital-ocean/refs/heads/main/plans/digital-ocean-plans-pricing.yml)
  does. Nobody measured these applications on them. A load balancer, backups, and the hours of who updates, watches and
  repairs them aren't in it.`,
  ];
}

function sizeOf({ gigabytes, processors }: Machine): string {
  return `${gigabytes} GB, ${processors} ${processors === 1 ? "processor" : "processors"}`;
}

/** In whole dollars; a bill that nobody publishes is a contract. */
function whole(dollars: number | undefined): string {
  return dollars === undefined ? "a contract" : `$${Math.round(dollars).toLocaleString("en-US")}`;
}

if (import.meta.main) {
  const path = join(packageRoot, "docs", "performance", "cost.md");
  const [before = "", after = ""] = readFileSync(path, "utf8").split(tablesHeading);
  const [comment = ""] = before.split("\n\n# ");
  const contents = `${comment}\n\n${priceBeginning()}${after}`;
  writeFiles([{ path, shown: path, contents, replaces: true }]);
}
