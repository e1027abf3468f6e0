import { entryBytes } from "./entry-bytes.ts";
import type { Question } from "./relay-request.ts";

/** What a question holds in memory, roughly. */
export function questionBytes(question: Question): number {
  switch (question.method) {
    case "publish":
      return entryBytes({
        type: "publication",
        publication: { data: question.data, offset: 0, info: question.info },
      });
    case "announce":
      return question.entries.reduce((sum, entry) => sum + entryBytes(entry), plainBytes);
    case "follow":
    case "recover":
    case "newest":
    case "history":
      return plainBytes;
  }
}

const plainBytes = 256;
