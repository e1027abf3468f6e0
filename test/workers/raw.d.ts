/** A file's text, as Vite imports it. */
declare module "*?raw" {
  const text: string;
  export default text;
}

interface ImportMeta {
  /** The modules whose paths match, as Vite finds them. */
  glob(pattern: string): Readonly<Record<string, unknown>>;
}
