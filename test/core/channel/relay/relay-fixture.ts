import { Relay, type RelaySetup } from "../../../../src/channel/relay.ts";
import type { Delivery } from "../../../../src/channel/follower-progress.ts";
import type { RelayEntry } from "../../../../src/contract/relay-batch.ts";
import { GatewayRegistry } from "../../../../src/channel/gateway-registry.ts";
import type { JsonText } from "../../../../src/protocol/json/text.ts";
import type { Sql } from "../../../../src/sql.ts";
import { publishing } from "../../../contract/open-channel.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

/** A day: how long a gateway is believed to follow in these tests. */
export const checkIntervalMs = 86_400_000;

/** A relay over the storage of an earlier one. */
export function openRelay(
  sql: Sql = new NodeSql(),
  { instance = 1, hasHistory = true, calls }: Partial<RelaySetup> = {},
): Relay {
  const registry = new GatewayRegistry(sql, {
    intervalMs: checkIntervalMs,
    history: { unused: false },
  });
  return new Relay({ channel: "room", instance, registry, hasHistory, ...(calls && { calls }) });
}

/** A publication of so many characters at an offset. */
export function publication(offset: number, characters = 3): RelayEntry & { type: "publication" } {
  const data = texts.get(characters) ?? publishing(JSON.stringify("x".repeat(characters - 2))).data;
  texts.set(characters, data);
  return { type: "publication", publication: { data, offset } };
}

/** Checking a megabyte of JSON for each publication would take longer than all the rest. */
const texts = new Map<number, JsonText>();

/** Adds publications with these offsets; the last one is the top. */
export function addPublications(relay: Relay, first: number, last: number): void {
  for (let offset = first; offset <= last; offset++) relay.append(publication(offset), at(offset));
}

export function at(offset: number): { offset: number; epoch: string } {
  return { offset, epoch: "e" };
}

/** The one call that is to be made now; throws when there is none, or another. */
export function onlyDelivery(relay: Relay, nowMs = 0, top = at(0)): Delivery {
  const [delivery, ...others] = relay.deliveries(top, nowMs);
  if (delivery === undefined || others.length > 0) throw new Error("not one call");
  return delivery;
}

/** The numbers of a call's first and last entry; the last is one less when there is none. */
export function span({ batch }: Delivery): [number, number] {
  return [batch.first, batch.first + batch.entries.length - 1];
}
