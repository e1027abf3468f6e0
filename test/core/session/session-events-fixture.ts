import { ConnectionEvents } from "../../../src/features/events/connection-events.ts";
import type { Outbox } from "../../../src/features/events/outbox.ts";
import { ToldTable } from "../../../src/features/events/told-table.ts";
import { NodeSql } from "../../support/node-sql.ts";
import { eventsConfig, openOutbox } from "../events/outbox-fixture.ts";

const allTypes = new Set(["connected", "disconnected", "subscribed", "unsubscribed"] as const);

/** The events of one object's sessions, whose rows go to an outbox. */
export function eventsOf(outbox: Outbox): ConnectionEvents {
  return new ConnectionEvents({
    config: eventsConfig({ types: allTypes }),
    outbox,
    table: new ToldTable(new NodeSql()),
    sessions: () => [],
    namespaceOf: () => "",
    nowMs: () => 1_000_000,
  });
}

/** The types of all events so far, and the channels that they are about. */
/** The events in an outbox, in words. */
export function typesIn(outbox: Outbox): readonly string[] {
  return outbox.stored(0, [...allTypes]).map(({ body }) => {
    const { type, channel }: { type: string; channel?: string } = JSON.parse(`{${body}}`);
    return channel === undefined ? type : `${type} ${channel}`;
  });
}

/** An outbox that takes all events of connections. */
export function openedOutbox(): Outbox {
  return openOutbox(new NodeSql(), { types: allTypes });
}
