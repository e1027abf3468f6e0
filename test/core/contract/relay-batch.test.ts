import { expect, it } from "vitest";
import { type RelayEntry, entryBytes } from "../../../src/contract/relay-batch.ts";
import { json } from "../api/channel-config.ts";

const info = { user: "42", client: "c1", connInfo: json('"conn"'), chanInfo: json('"channel"') };
const publication = { data: json("1"), offset: 1 };

it.each<[string, RelayEntry, number]>([
  ["a publication", { type: "publication", publication }, 1],
  ["its publisher", { type: "publication", publication: { ...publication, info } }, 1 + 19],
  ["its tags", { type: "publication", publication: { ...publication, tags: { ab: "cde" } } }, 6],
  ["a join", { type: "join", info }, 19],
  ["a leave", { type: "leave", info: { user: "42", client: "c1" } }, 4],
  ["a user's only connection", { type: "sole", user: "42", client: "c1" }, 4],
  ["a removal", { type: "removed" }, 0],
])(
  "[B1] counts the text of %s that clients or backends chose, and a fixed size for the rest",
  (_what, entry, bytes) => {
    expect(entryBytes(entry)).toBe(128 + bytes);
  },
);
