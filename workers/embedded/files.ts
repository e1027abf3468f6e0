import { respondText } from "../http/responses.ts";

/** Texts of files that the package's routes serve, by their paths: what `dormouse-realtime/files` exports. */
export type PackageFiles = Readonly<Record<string, string>>;

/**
 * Answers with a file that the Worker has imported, or with what it would have to import.
 *
 * @param files  all that it has imported
 * @param prefix where the app is mounted
 * @param path   as in a server that stands alone
 */
export function fileIn(files: readonly PackageFiles[], prefix: string, path: string): Response {
  const text = files.find((some) => Object.hasOwn(some, path))?.[path];
  if (text === undefined) return respondText(404, missing(path));
  const [, ending = ""] = /\.(\w+)$/.exec(path) ?? [];
  const headers = { "Content-Type": typesByEnding[ending] ?? "text/plain; charset=utf-8" };
  return new Response(path === description ? describedAt(text, prefix) : text, { headers });
}

function missing(path: string): string {
  const set = setsByPath.find(([start]) => path.startsWith(start))?.[1] ?? "clientFiles";
  return `the Worker lacks ${path.slice(1)}: give files: [${set}] to dormouse(), with import { ${set} } from "dormouse-realtime/files"`;
}

/** The exports of `dormouse-realtime/files`, by the beginnings of their paths. */
const setsByPath = [
  ["/console/", "consoleFiles"],
  ["/swagger", "swaggerFiles"],
  ["/openapi", "swaggerFiles"],
] as const;

const description = "/openapi.json";

/** The document names the server's address, which is a path from the root. */
function describedAt(document: string, prefix: string): string {
  return document.replace('"url": "/"', `"url": ${JSON.stringify(prefix)}`);
}

const typesByEnding: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
};
