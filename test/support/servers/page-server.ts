import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Inbox } from "../inbox.ts";
import { listen } from "./listen.ts";
import { packageRoot } from "../../../cli/package-root.ts";

/** A report of the page. */
export interface PageEvent {
  readonly event: string;
  readonly transport?: string;
  readonly data?: unknown;
  readonly push?: { readonly connect?: object; readonly pub?: object };
}

/** Serves the page of test/clients/browser, and collects its reports. */
export class PageServer {
  readonly port: number;
  readonly reports = new Inbox<PageEvent>();
  readonly #server: Server;

  static async start(): Promise<PageServer> {
    const server = createServer();
    return new PageServer(server, await listen(server));
  }

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
    server.on("request", (request, response) => {
      if (request.url === "/report") {
        let body = "";
        request.on("data", (chunk: Buffer) => (body += chunk.toString()));
        request.on("end", () => {
          const report: PageEvent = JSON.parse(body);
          this.reports.push(report);
          response.end();
        });
      } else if (request.url === "/centrifuge.js") {
        response.setHeader("Content-Type", "text/javascript");
        response.end(readFileSync(sdkFile));
      } else {
        response.setHeader("Content-Type", "text/html");
        response.end(readFileSync(pageFile));
      }
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
const pageFile = join(packageRoot, "test", "clients", "browser", "page.html");
/** The build that pages load with a script tag. */
const sdkFile = join(
  dirname(createRequire(import.meta.url).resolve("centrifuge")),
  "../dist/centrifuge.js",
);
