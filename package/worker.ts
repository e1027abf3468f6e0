/** The server that stands alone: what `dormouse init` writes as `main`. */
export * from "../workers/edge.ts";
export { default } from "../workers/edge.ts";
