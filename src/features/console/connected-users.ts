import { compareNames, firstChannels, type ChannelCount } from "../../contract/listing.ts";
import { consoleLimits } from "./limits.ts";

/**
 * The first users of a gateway's connections by their IDs, which the console asks for (rule N20). During a deploy the
 * sides may be one release apart (rule V1): fields are only added, and the absence of an added field has a meaning.
 */
export interface UsersQuery {
  /** Only IDs after this one, by their code points; "" for all. */
  readonly after: string;
  /** How many users are listed at most, the first ones. */
  readonly limit: number;
}

/** A user, and how many connections the user has. */
interface ConnectedUser {
  readonly user: string;
  readonly connections: number;
}

/** The users of one gateway. */
export interface ConnectedUsers {
  readonly users: readonly ConnectedUser[];
  /** Connections without a user, all of them, whatever the query is. */
  readonly anonymous: number;
}

/** A connection, as far as it is counted. */
interface CountedSession {
  readonly user: string;
  readonly hasConnected: boolean;
}

/**
 * Counts the connections of a gateway's first users. A gateway may have 30,000 connections, so it looks at some, and
 * others get their turn in between. Connections that come or go meanwhile may be counted or not.
 */
export class UserListing {
  readonly #query: UsersQuery;
  readonly #sessions: Iterator<CountedSession>;
  #first: readonly ChannelCount[] = [];
  #anonymous = 0;

  constructor(sessions: Iterable<CountedSession>, query: UsersQuery) {
    this.#sessions = sessions[Symbol.iterator]();
    this.#query = query;
  }

  /** Looks at so many more connections. @returns the users of all, or undefined if there are more to look at */
  next(count: number): ConnectedUsers | undefined {
    const { after, limit } = this.#query;
    const found = [...this.#first];
    for (let looked = 0; looked < count; looked++) {
      const { done, value } = this.#sessions.next();
      if (done === true)
        return { users: usersOf(firstChannels(found, limit)), anonymous: this.#anonymous };
      const { user, hasConnected } = value;
      if (!hasConnected) continue;
      if (user === "") this.#anonymous++;
      else if (compareNames(user, after) > 0) found.push({ name: user, subscribers: 1 });
    }
    this.#first = firstChannels(found, limit);
    return undefined;
  }
}

/** The answer to the console: a page of the users of the gateways that were asked. */
export interface UsersPage extends ConnectedUsers {
  /** The last user of the page, if another page follows. */
  readonly cursor?: string;
  /** Whether users are missing: a gateway wasn't asked, or didn't answer. */
  readonly incomplete?: true;
}

/** How many users each gateway has to name, so that the console knows whether another page follows. */
export const usersAsked = consoleLimits.consoleUsersListedMax + 1;

/**
 * Makes a page of what gateways have answered.
 *
 * @param answers undefined for each gateway that didn't answer in time
 * @param isShort whether there are gateways that weren't asked
 */
export function pageOfUsers(
  answers: readonly (ConnectedUsers | undefined)[],
  isShort: boolean,
): UsersPage {
  const known = answers.filter((answer) => answer !== undefined);
  const all = known.flatMap(({ users }) => users.map(countOf));
  const first = usersOf(firstChannels(all, usersAsked));
  const users = first.slice(0, consoleLimits.consoleUsersListedMax);
  const last = users.at(-1);
  return {
    users,
    anonymous: known.reduce((sum, { anonymous }) => sum + anonymous, 0),
    ...(first.length > users.length && last !== undefined && { cursor: last.user }),
    ...((isShort || known.length < answers.length) && { incomplete: true }),
  };
}

function usersOf(counts: readonly ChannelCount[]): readonly ConnectedUser[] {
  return counts.map(({ name, subscribers }) => ({ user: name, connections: subscribers }));
}

function countOf({ user, connections }: ConnectedUser): ChannelCount {
  return { name: user, subscribers: connections };
}
