/**
 * The files that a server which stands alone has in `public`, for the option `files` of `dormouse()`. The build writes the
 * module. A bundler leaves out those that nobody imports.
 */
import type { PackageFiles } from "../workers/embedded/files.ts";

export type { PackageFiles } from "../workers/embedded/files.ts";

/** The operator's console, at `/console/` below the prefix: 370 KB, 115 KB of them gzipped. */
export declare const consoleFiles: PackageFiles;

/** The description of the HTTP API, at `/swagger` and `/openapi.json`: 390 KB, 45 KB of them gzipped. */
export declare const swaggerFiles: PackageFiles;

/** The classes for clients, such as `/keepalive-websocket.js`: 6 KB. */
export declare const clientFiles: PackageFiles;
