/**
 * JSON text that is valid and stands on one line, kept as the sender wrote it: number digits, key order and escapes
 * are the sender's (rule W2). Only the json-text module makes one.
 */
export type JsonText = string & { readonly __brand: "JsonText" };
