/** A refusal that an object remembers (docs/logs.md). Its texts are bounded as in the log. */
export interface KeptRefusal {
  /** When it last happened, ms since 1970, and how often in a row. */
  readonly atMs: number;
  readonly count: number;
  readonly refused: string;
  readonly rule: string;
  readonly reason: string;
  readonly code?: number;
  readonly user?: string;
  readonly channel?: string;
  /** The name of the backend's key, which only the edge knows. */
  readonly key?: string;
}
