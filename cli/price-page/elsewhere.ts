/**
 * What applications cost elsewhere, by the published prices that docs/performance/cost.md cites. A bill is undefined where
 * no price is published, but a contract is made.
 */
import { type App, openHours } from "./apps.ts";

/** Pusher's plans, by what a month costs. */
const pusherPlans = [
  { dollars: 0, connections: 100, messagesPerDay: 200_000 },
  { dollars: 49, connections: 500, messagesPerDay: 1_000_000 },
  { dollars: 99, connections: 2_000, messagesPerDay: 4_000_000 },
  { dollars: 299, connections: 5_000, messagesPerDay: 10_000_000 },
  { dollars: 499, connections: 10_000, messagesPerDay: 20_000_000 },
  { dollars: 699, connections: 15_000, messagesPerDay: 40_000_000 },
  { dollars: 899, connections: 20_000, messagesPerDay: 60_000_000 },
  { dollars: 1_199, connections: 30_000, messagesPerDay: 90_000_000 },
] as const;

/** The cheapest plan of Pusher that has room for the application's busiest day. */
export function pusherDollars(app: App): number | undefined {
  const messages = app.publicationsPerOpenDay * messagesPerPublication(app);
  return pusherPlans.find(
    (plan) => plan.connections >= app.users && plan.messagesPerDay >= messages,
  )?.dollars;
}

/** Ably's packages, with the limits of accounts that pay by use. */
const ablyPackages = [
  { dollars: 29, connections: 10_000, channels: 10_000, messagesPerSecond: 2_500 },
  { dollars: 399, connections: 50_000, channels: 50_000, messagesPerSecond: 10_000 },
] as const;

const ablyPrices = {
  message: 2.5 / 1_000_000,
  connectionMinute: 1 / 1_000_000,
  channelMinute: 1 / 1_000_000,
  user: 0.05,
  /** What a user's price includes, in the version of the documentation that names the price. */
  messagesPerUser: 20_000,
  connectionMinutesPerUser: 2_000,
} as const;

/** Ably's bill by messages, connection minutes and channel minutes, without discounts for volume. */
export function ablyByUse(app: App): number | undefined {
  const base = ablyPackage(app);
  if (base === undefined) return undefined;
  const minutes = openHours(app) * 60;
  return (
    base +
    ablyMessages(app) * ablyPrices.message +
    app.users * minutes * ablyPrices.connectionMinute +
    app.channels * minutes * ablyPrices.channelMinute
  );
}

/** Ably's bill by users of the month, without discounts for volume. */
export function ablyByUser(app: App): number | undefined {
  const base = ablyPackage(app);
  return base === undefined ? undefined : base + app.users * ablyPrices.user;
}

/** {@link ablyByUser}, and what is beyond the messages and minutes that an earlier version says are included. */
export function ablyByUserAndUse(app: App): number | undefined {
  const base = ablyByUser(app);
  if (base === undefined) return undefined;
  const { users } = app;
  const messages = ablyMessages(app) - users * ablyPrices.messagesPerUser;
  const minutes = users * (openHours(app) * 60 - ablyPrices.connectionMinutesPerUser);
  return (
    base +
    Math.max(0, messages) * ablyPrices.message +
    Math.max(0, minutes) * ablyPrices.connectionMinute
  );
}

function ablyPackage(app: App): number | undefined {
  const messages = deliveriesPerSecond(app) * (1 + 1 / app.subscribersPerChannel);
  return ablyPackages.find(
    ({ connections, channels, messagesPerSecond }) =>
      connections >= app.users && channels >= app.channels && messagesPerSecond >= messages,
  )?.dollars;
}

function ablyMessages(app: App): number {
  return app.publicationsPerOpenDay * app.openDaysPerMonth * messagesPerPublication(app);
}

/** At both services a publication is a message, and so is each delivery. */
function messagesPerPublication({ subscribersPerChannel }: App): number {
  return 1 + subscribersPerChannel;
}

/** DigitalOcean's Basic Droplets. */
const droplets = [
  { dollars: 6, gigabytes: 1, processors: 1 },
  { dollars: 12, gigabytes: 2, processors: 1 },
  { dollars: 18, gigabytes: 2, processors: 2 },
  { dollars: 24, gigabytes: 4, processors: 2 },
  { dollars: 48, gigabytes: 8, processors: 4 },
  { dollars: 96, gigabytes: 16, processors: 8 },
] as const;

/** What Centrifugo measured with a million connections. */
const centrifugo = {
  gigabytesPerConnection: 27 / 1_000_000,
  idleProcessorsPerConnection: 10 / 1_000_000,
  /** 40 processors at 500,000 deliveries a second, of which 10 are for the connections. */
  processorsPerDelivery: 30 / 500_000,
} as const;

/** For the system and Redis, assumed. */
const otherGigabytes = 1;

/** A machine of three, of which any two have room for the application, with Redis on each. */
export interface Machine {
  readonly dollars: number;
  readonly gigabytes: number;
  readonly processors: number;
}

export function machineFor(app: App): Machine | undefined {
  const { users } = app;
  const gigabytes = otherGigabytes + (users * centrifugo.gigabytesPerConnection) / 2;
  const processors =
    (users * centrifugo.idleProcessorsPerConnection +
      deliveriesPerSecond(app) * centrifugo.processorsPerDelivery) /
    2;
  return droplets.find(
    (droplet) => droplet.gigabytes >= gigabytes && droplet.processors >= processors,
  );
}

function deliveriesPerSecond(app: App): number {
  const deliveries = app.publicationsPerOpenDay * app.subscribersPerChannel;
  return deliveries / (app.openHoursPerDay * 3_600);
}
