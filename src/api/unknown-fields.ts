import { nearestName, printableName } from "../config/section.ts";
import { limits } from "../limits.ts";

/** A field of a request that its method doesn't have. */
export interface UnknownField {
  /** As it stands in a text. */
  readonly name: string;
  /** The field that was probably meant; undefined if none is near. */
  readonly meant: string | undefined;
}

/** Takes the unknown fields of a request (rule W14). */
export type NoteUnknownFields = (method: string, fields: readonly UnknownField[]) => void;

/**
 * Finds the fields of a request that its method doesn't have: some of them, if there are many.
 *
 * @param request valid JSON
 * @param known the fields of the method
 */
export function unknownFields(request: string, known: readonly string[]): readonly UnknownField[] {
  const parsed: object | null = JSON.parse(request);
  return Object.keys(parsed ?? {})
    .filter((name) => !known.includes(name))
    .slice(0, limits.unknownFieldsMax)
    .map((name) => ({ name: printableName(name), meant: meantField(name, known) }));
}

/** The field that was probably meant by a name, such as idempotency_key by idempotencyKey. */
function meantField(name: string, known: readonly string[]): string | undefined {
  const form = bareForm(name);
  return known.find((one) => bareForm(one) === form) ?? nearestName(name, known);
}

function bareForm(name: string): string {
  return name.replaceAll(/[-_]/g, "").toLowerCase();
}

/** An unknown field in words. */
export function unknownFieldText({ name, meant }: UnknownField): string {
  return `unknown field ${name}${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

/** The detail of a refusal, with the misspelt field if it says that a field is missing. */
export function detailOfMissing(detail: string, request: string, known: readonly string[]): string {
  const [, missing] = /^(\w+) is required$/.exec(detail) ?? [];
  if (missing === undefined) return detail;
  const misspelt = unknownFields(request, known).find(({ meant }) => meant === missing);
  return misspelt === undefined ? detail : `${detail}; ${unknownFieldText(misspelt)}`;
}
