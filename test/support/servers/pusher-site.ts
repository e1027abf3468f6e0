import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import PusherServer from "pusher";
import { listen } from "./listen.ts";
import { shopApp, shopSecrets } from "./pusher-app.ts";

const { resolve } = createRequire(import.meta.url);
/** What the pages of a site load, as they come from npm. */
const scripts = {
  "/pusher.js": join(dirname(resolve("pusher-js")), "../web/pusher-with-encryption.js"),
  "/echo.js": join(dirname(resolve("laravel-echo")), "echo.iife.js"),
} as const;

/**
 * A site whose pages have `Pusher` and `Echo`, and whose server signs for them as Laravel's does: it knows its visitor by a
 * cookie, which the page's address `/?user=NAME` sets, and demands the page's CSRF token.
 */
export class PusherSite {
  readonly #server: Server = createServer();
  #port = 0;
  #backend: PusherServer | undefined;

  static async start(): Promise<PusherSite> {
    const site = new PusherSite();
    site.#port = await listen(site.#server);
    return site;
  }

  private constructor() {
    this.#server.on("request", async (request: IncomingMessage, response) => {
      const [status, type, body] = await this.#answer(request);
      const { searchParams } = new URL(request.url ?? "", this.origin);
      const user = searchParams.get("user");
      if (user !== null) response.setHeader("Set-Cookie", `user=${user}; Path=/`);
      response.writeHead(status, { "Content-Type": type }).end(body);
    });
  }

  /** Such as `http://127.0.0.1:8787`. */
  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** What the site's server publishes with. */
  get backend(): PusherServer {
    if (this.#backend === undefined) throw new Error("the site has no messaging server yet");
    return this.#backend;
  }

  /** Has the site use a messaging server. @param address such as `http://127.0.0.1:8787` */
  use(address: string): void {
    const { hostname: host, port } = new URL(address);
    this.#backend = new PusherServer({
      appId: shopApp.id,
      key: shopApp.key,
      secret: shopSecrets.PUSHER_SECRET_SHOP,
      host,
      port,
      useTLS: false,
      encryptionMasterKeyBase64: Buffer.alloc(32, "k").toString("base64"),
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage): Promise<readonly [number, string, string]> {
    const { pathname } = new URL(request.url ?? "", this.origin);
    const script = Object.entries(scripts).find(([path]) => path === pathname)?.[1];
    if (script !== undefined) return [200, "text/javascript", readFileSync(script, "utf8")];
    if (pathname === "/") return [200, "text/html", page];
    if (request.method !== "POST") return [404, "text/plain", "not found"];
    const user = /user=(\w+)/.exec(request.headers.cookie ?? "")?.[1];
    if (user === undefined || request.headers["x-csrf-token"] !== csrfToken)
      return [403, "text/plain", "forbidden"];
    const fields = new URLSearchParams(await text(request));
    const [socket, channel] = [fields.get("socket_id") ?? "", fields.get("channel_name") ?? ""];
    const member = { user_id: user, user_info: { name: user } };
    const signed =
      pathname === "/broadcasting/user-auth"
        ? this.backend.authenticateUser(socket, { id: user, name: user })
        : channel.startsWith("presence-")
          ? this.backend.authorizeChannel(socket, channel, member)
          : this.backend.authorizeChannel(socket, channel);
    return [200, "application/json", JSON.stringify(signed)];
  }
}

const csrfToken = "the page's own";
const page = `<!doctype html><title>shop</title>
  <meta name="csrf-token" content="${csrfToken}">
  <script src="/pusher.js"></script><script src="/echo.js"></script>`;
