import { type NoteUnknownFields, unknownFieldText } from "../../src/api/unknown-fields.ts";
import { limits } from "../../src/limits.ts";

/** Warns of the unknown fields of API requests: once for each method and field in an isolate (rule W14). */
export const warnOfUnknownFields: NoteUnknownFields = (method, fields) => {
  for (const field of fields) {
    const line = `api ${method}: ${unknownFieldText(field)}`;
    if (warned.has(line) || warned.size >= limits.unknownFieldLinesMax) continue;
    warned.add(line);
    console.warn(line);
  }
};

const warned = new Set<string>();
