/**
 * How long `vi.waitFor` and `vi.waitUntil` wait. Their own is a second, which a busy machine sometimes needs for nothing.
 */
export const patience = { timeout: 30_000 } as const;
