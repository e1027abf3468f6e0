import { randomBytes } from "node:crypto";

/**
 * Who is logged in. The cookie `session` names the session, and Dormouse passes it on with its question about a
 * connect, so that pages and hooks are served by the same lookup.
 */
export class Sessions {
  #database;

  /** @param {import("node:sqlite").DatabaseSync} database */
  constructor(database) {
    this.#database = database;
  }

  /** Begins a session of a user, and gives the response the cookie. */
  begin(user, response) {
    const id = randomBytes(32).toString("base64url");
    this.#database.prepare("INSERT INTO sessions VALUES (?, ?)").run(id, user);
    // With https, add `secure: true`. If Dormouse has a host of its own, such as rt.example.com beside www.example.com,
    // add `domain: "example.com"`, so that browsers send the cookie to both.
    response.cookie("session", id, { httpOnly: true, sameSite: "lax" });
  }

  /** Ends the session of a request. */
  end(request, response) {
    this.#database.prepare("DELETE FROM sessions WHERE id = ?").run(sessionId(request));
    response.clearCookie("session");
  }

  /** The user of a request's session; undefined if there is none. */
  userOf(request) {
    return this.#database.prepare("SELECT user FROM sessions WHERE id = ?").get(sessionId(request))
      ?.user;
  }
}

function sessionId(request) {
  return /(?:^|; *)session=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1] ?? "";
}
