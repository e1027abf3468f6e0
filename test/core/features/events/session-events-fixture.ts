import { ConnectionEvents } from "../../../../src/features/events/connection-events.ts";
import type { Outbox } from "../../../../src/features/events/outbox.ts";
import { sessionEvents } from "../../../../src/features/events/session-events.ts";
import { ReportedTable } from "../../../../src/features/events/reported-table.ts";
import type { SessionContext } from "../../../../src/session/ports.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { eventsConfig, openOutbox } from "./outbox-fixture.ts";

const allTypes = new Set(["connected", "disconnected", "subscribed", "unsubscribed"] as const);

/** The part of the setup of one object's sessions whose events are rows in an outbox. */
export function eventsOf(outbox: Outbox): Pick<SessionContext, "observe"> {
  const events = new ConnectionEvents({
    config: eventsConfig({ types: allTypes }),
    outbox,
    table: new ReportedTable(new NodeSql()),
    sessions: () => [],
    namespaceOf: () => "",
    nowMs: () => 1_000_000,
  });
  return { observe: (session) => sessionEvents(session, events) };
}

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
