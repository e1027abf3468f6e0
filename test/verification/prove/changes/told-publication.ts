import type { ChangedTold } from "../../checker/changes/change-event.ts";

/** A publication as clients and backends get it. */
export interface ChangedPublication {
  readonly offset?: number;
  readonly data: unknown;
  readonly tags?: Readonly<Record<string, string>>;
}

/** What the history of a run says of it. */
export function toldOf({ offset = 0, data, tags = {} }: ChangedPublication): ChangedTold {
  const isChange = changes.some((tag) => tag in tags);
  return {
    offset,
    ...(typeof data === "string" && { value: data }),
    // What is erased has no version any more.
    ...(!isChange &&
      !("dormouse.erased" in tags) && { version: Number(tags["dormouse.version"] ?? 1) }),
  };
}

const changes = ["dormouse.update", "dormouse.delete", "dormouse.replaced", "dormouse.erase"];
