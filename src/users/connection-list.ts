import {
  connectionCharacters,
  type ConnectionState,
  type UserConnections,
} from "../contract/connection-state.ts";
import { limits } from "../limits.ts";

/**
 * Collects the connections of a user for one answer, as many as the answer may hold (rules U20 and B1). An object
 * collects the connections on its own sockets, and a home collects those that the objects have reported.
 */
export class ConnectionList {
  readonly #connections: ConnectionState[] = [];
  #characters = 0;
  #incomplete = false;

  /** Adds connections; without room for one, it is left out and the list is incomplete. */
  append(connections: Iterable<ConnectionState>): void {
    for (const connection of connections) {
      const characters = connectionCharacters(connection);
      const fits =
        this.#connections.length < limits.connectionsListedMax &&
        this.#characters + characters <= limits.answerBytesMax;
      if (!fits) {
        this.#incomplete = true;
        return;
      }
      this.#characters += characters;
      this.#connections.push(connection);
    }
  }

  /** Notes that connections are missing, because an object hasn't reported its own. */
  miss(): void {
    this.#incomplete = true;
  }

  /** The list, as far as it goes. */
  get result(): UserConnections {
    const connections = this.#connections;
    return this.#incomplete ? { connections, incomplete: true } : { connections };
  }
}
