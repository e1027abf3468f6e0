import type { Pools } from "../../../../src/gateway/pool.ts";
import { limits } from "../../../../src/limits.ts";

/** The outcome for a client: its gateway, and how many objects were asked. */
export interface Connected {
  /** Undefined when all of them were full. */
  readonly index: number | undefined;
  readonly asked: number;
}

/** A pool's objects, each for so many connections; only the objects know how many they have. */
export class ModelPool {
  readonly #name: string;
  readonly #connectionsMax: number;
  readonly #connections: number[] = [];

  constructor(name: string, connectionsMax: number) {
    this.#name = name;
    this.#connectionsMax = connectionsMax;
  }

  /** The objects up to the last one that has a connection. */
  get length(): number {
    return this.#connections.findLastIndex((connections) => connections > 0) + 1;
  }

  /** In all objects together. */
  get connections(): number {
    return this.#connections.reduce((sum, connections) => sum + connections, 0);
  }

  connectionsOf(index: number): number {
    return this.#connections[index] ?? 0;
  }

  /** Makes the pool's first objects full. */
  fill(objects: number): void {
    for (let index = 0; index < objects; index++) this.#set(index, this.#connectionsMax);
  }

  leave(index: number, connections = 1): void {
    this.#set(index, this.connectionsOf(index) - connections);
  }

  /** Places one client as the edge does, and tells the isolate's memory the outcome. */
  connect(pools: Pools, nowMs: number): Connected {
    let asked = 0;
    for (const index of pools.candidates(this.#name, nowMs)) {
      asked++;
      if (this.connectionsOf(index) < this.#connectionsMax) {
        this.#set(index, this.connectionsOf(index) + 1);
        pools.took(this.#name, index);
        return { index, asked };
      }
      pools.full(this.#name, index, nowMs + limits.poolFullMs);
    }
    return { index: undefined, asked };
  }

  #set(index: number, connections: number): void {
    while (this.#connections.length <= index) this.#connections.push(0);
    this.#connections[index] = connections;
  }
}
