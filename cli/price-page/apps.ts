import type { Workload } from "../cost/estimate.ts";
import { secondsPerMonth } from "../cost/prices.ts";

/** An application whose bill is compared: so many users, each with one connection while it is open. */
export interface App {
  readonly name: string;
  /** Users in the month, each of whom is connected as long as it is open. */
  readonly users: number;
  readonly openHoursPerDay: number;
  readonly openDaysPerMonth: number;
  readonly connectsPerUserAndOpenDay: number;
  readonly channels: number;
  readonly subscribersPerChannel: number;
  readonly publicationsPerOpenDay: number;
  /** What the name doesn't say. */
  readonly assumed: string;
}

export const apps: readonly App[] = [
  {
    name: "500 users in office hours",
    users: 500,
    openHoursPerDay: 9,
    openDaysPerMonth: 20,
    connectsPerUserAndOpenDay: 3,
    channels: 25,
    subscribersPerChannel: 20,
    publicationsPerOpenDay: 15_000,
    assumed:
      "9 hours on 20 days, 25 teams of 20, 30 messages a user and day to the user's team, 3 connects a user and day",
  },
  {
    name: "20,000 online, 20 messages a second",
    users: 20_000,
    openHoursPerDay: 24,
    openDaysPerMonth: 30,
    connectsPerUserAndOpenDay: 4,
    channels: 200,
    subscribersPerChannel: 100,
    publicationsPerOpenDay: 20 * 86_400,
    assumed:
      "day and night, 200 rooms of 100, each message to one room, so 2,000 deliveries a second; 4 connects a user and day",
  },
  {
    name: "a million idle, a thousand rooms",
    users: 1_000_000,
    openHoursPerDay: 24,
    openDaysPerMonth: 30,
    connectsPerUserAndOpenDay: 1,
    channels: 1_000,
    subscribersPerChannel: 1_000,
    publicationsPerOpenDay: 24_000,
    assumed:
      "day and night, 1,000 users a room, a message an hour to each room, a connect a user and day",
  },
];

/** The application as `dormouse cost` takes it, with that command's defaults. */
export function workloadOf(app: App): Workload {
  const { users, channels, subscribersPerChannel, openDaysPerMonth } = app;
  const openDaysPerDay = openDaysPerMonth / 30;
  return {
    users,
    online: (users * openHours(app)) / hoursPerMonth,
    messagesPerDay: app.publicationsPerOpenDay * openDaysPerDay,
    subscribers: subscribersPerChannel,
    connectsPerUserAndDay: app.connectsPerUserAndOpenDay * openDaysPerDay,
    messagesPerRequest: 1,
    sockets: "gateway",
    channels,
    keepAlive: "json",
    historySize: 100,
    payloadBytes: 200,
    hasHomes: true,
  };
}

/** The arguments of `dormouse cost` for the application. */
export function costArguments(app: App): readonly string[] {
  const { users, online, messagesPerDay, subscribers, connectsPerUserAndDay, channels } =
    workloadOf(app);
  const options = {
    users,
    online,
    messages: messagesPerDay,
    subscribers,
    connects: connectsPerUserAndDay,
    channels,
  };
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** The hours of a month in which it is open. */
export function openHours({ openHoursPerDay, openDaysPerMonth }: App): number {
  return openHoursPerDay * openDaysPerMonth;
}

const hoursPerMonth = secondsPerMonth / 3_600;

/** Rooms of 20 in which each connection gets 20 messages an hour, day and night, as docs/coming-from-pusher.md compares them. */
export function roomsOf(connections: number): App {
  const channels = connections / 20;
  return {
    name: "",
    users: connections,
    openHoursPerDay: 24,
    openDaysPerMonth: 30,
    connectsPerUserAndOpenDay: 3,
    channels,
    subscribersPerChannel: 20,
    publicationsPerOpenDay: channels * 20 * 24,
    assumed: "",
  };
}
