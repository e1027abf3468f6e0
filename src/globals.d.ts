/**
 * The only names `src` takes from its surroundings: what every JavaScript platform has beyond the language.
 * The other programs don't include this file; their own platform types declare the same.
 */
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(input?: ArrayBuffer | Uint8Array): string;
}
declare class TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>;
}
declare function atob(data: string): string;
declare function btoa(data: string): string;
