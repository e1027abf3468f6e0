import { useLayoutEffect, useState } from "preact/hooks";

/** Where the operator is: a page and its parameters. They stand behind the `#`, so no server's log has them. */
export interface Route {
  readonly page: string;
  readonly params: URLSearchParams;
}

/** The address of a page. */
export function href(page: string, params: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(params).toString();
  return query === "" ? `#/${page}` : `#/${page}?${query}`;
}

/** Goes to a page. */
export function go(page: string, params: Readonly<Record<string, string>> = {}): void {
  location.hash = href(page, params);
}

/** The present route; the component is drawn again when it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  // In the task that draws the page: a link that is clicked before an effect of another task would go nowhere.
  useLayoutEffect(() => {
    const changed = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

function routeOf(hash: string): Route {
  const [page = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { page: page === "" ? "overview" : page, params: new URLSearchParams(query) };
}
