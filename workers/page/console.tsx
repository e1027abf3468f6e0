/** The operator's console: the login, the navigation and the pages. */
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Settings } from "./answers.ts";
import { href, useRoute } from "./hash-route.ts";
import { forgetFeed } from "./feed.ts";
import { fieldOf, Message } from "./parts.tsx";
import { ApiPage } from "./pages/api-page.tsx";
import { BillPage } from "./pages/bill-page.tsx";
import { ChannelPage } from "./pages/channel-page.tsx";
import { ChannelsPage } from "./pages/channels-page.tsx";
import { ConnectPage } from "./pages/connect-page.tsx";
import { NamespacesPage } from "./pages/namespaces-page.tsx";
import { OverviewPage } from "./pages/overview-page.tsx";
import { RefusalsPage } from "./pages/refusals-page.tsx";
import { RulePage } from "./pages/rule-page.tsx";
import { UsersPage } from "./pages/users-page.tsx";
import { WhyPage } from "./pages/why-page.tsx";
import { addressAt, logIn, logOut, read } from "./server.ts";

/** The pages of the navigation, in its order. */
const pages = [
  ["overview", "Overview"],
  ["channels", "Channels"],
  ["users", "Users"],
  ["namespaces", "Namespaces"],
  ["connect", "Connect as"],
  ["refusals", "Refusals"],
  ["why", "Why?"],
  ["bill", "Bill"],
  ["api", "API"],
] as const;

/** The pages to which others lead, by the names of these. */
const upperPages: Readonly<Record<string, string>> = { channel: "channels", rule: "refusals" };

type Login =
  | { readonly state: "unknown"; readonly problem: string }
  | { readonly state: "out" }
  | { readonly state: "in"; readonly settings: Settings };

function Console() {
  const [login, setLogin] = useState<Login>({ state: "unknown", problem: "" });
  const check = async () => {
    const answer = await read<Settings>("settings");
    switch (answer.outcome) {
      case "logged-out":
        setLogin({ state: "out" });
        break;
      case "failed":
        setLogin({ state: "unknown", problem: answer.message });
        break;
      case "result":
        setLogin({ state: "in", settings: answer.result });
        break;
    }
  };
  // The configuration may have been changed since the page was loaded. If the server can't be reached, the page says so.
  const renew = async () => {
    const answer = await read<Settings>("settings");
    if (answer.outcome !== "result") return;
    const { result: settings } = answer;
    // Drawing a page anew sets its fields back, in which the operator may be typing.
    setLogin((before) =>
      before.state === "in" && JSON.stringify(before.settings) !== JSON.stringify(settings)
        ? { state: "in", settings }
        : before,
    );
  };
  useEffect(() => void check(), []);
  switch (login.state) {
    case "unknown":
      return login.problem === "" ? null : <Unreachable problem={login.problem} />;
    case "out":
      return kind === "password" ? <LoginForm loggedIn={check} /> : <NotLetIn />;
    case "in":
      return (
        <Pages
          settings={login.settings}
          renew={renew}
          loggedOut={() => setLogin({ state: "out" })}
        />
      );
  }
}

function Unreachable({ problem }: { readonly problem: string }) {
  return (
    <main class="login">
      <h1>Dormouse</h1>
      <Message text={`No console: ${problem}.`} isProblem />
    </main>
  );
}

/** Somebody else decides who gets in, and whoever asked has let this page in before. */
function NotLetIn() {
  return (
    <main class="login">
      <h1>Dormouse console</h1>
      <Message text={outside[kind] ?? ""} isProblem />
      <p>
        <a href="">Load the page again</a>
      </p>
    </main>
  );
}

function LoginForm({ loggedIn }: { readonly loggedIn: () => Promise<void> }) {
  const [problem, setProblem] = useState("");
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const why = await logIn(fieldOf(event, "password"));
    setProblem(why ?? "");
    if (why !== undefined) return;
    await loggedIn();
    // This form is still there only if the next request came without the cookie.
    setProblem("The browser didn't keep the login. Open the console over HTTPS, or on localhost.");
  };
  return (
    <main class="login">
      <img src={icon} alt="" width="56" height="56" />
      <h1>Dormouse console</h1>
      <form onSubmit={(event) => void submit(event)}>
        <label for="password">Password</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          autoFocus
          required
        />
        <button class="main-button">Log in</button>
      </form>
      <Message text={problem} isProblem />
      <p class="quiet">The password is the server's secret CONSOLE_PASSWORD.</p>
    </main>
  );
}

function Pages({
  settings,
  renew,
  loggedOut,
}: {
  readonly settings: Settings;
  /** Reads the settings again. */
  readonly renew: () => Promise<void>;
  readonly loggedOut: () => void;
}) {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const current = upperPages[route.page] ?? route.page;
  const address = `${route.page}?${route.params.toString()}`;
  const title = pages.find(([page]) => page === current)?.[1] ?? "Console";
  useEffect(() => {
    document.title = `${title} – Dormouse`;
    // A user of the keyboard or of a screen reader goes on in the new page, and not behind the link.
    if (!isFirst.current) {
      main.current?.focus();
      void renew();
    }
    isFirst.current = false;
  }, [address, title]);
  const leave = () => {
    forgetFeed();
    void logOut().then(loggedOut);
  };
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => skip(event, main.current)}>
        Skip to the content
      </a>
      <header>
        <span class="brand">
          <img src={icon} alt="" width="24" height="24" /> Dormouse
        </span>
        <nav aria-label="Pages">
          {pages.map(([page, name]) => (
            <a href={href(page)} key={page} aria-current={page === current ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        {settings.login === "password" && <button onClick={leave}>Log out</button>}
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        <Page key={address} {...route} settings={settings} loggedOut={loggedOut} />
      </main>
      <footer class="quiet">{settings.version}</footer>
    </>
  );
}

/** A plain link would change the route. */
function skip(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}

function Page({
  page,
  params,
  settings,
  loggedOut,
}: {
  readonly page: string;
  readonly params: URLSearchParams;
  readonly settings: Settings;
  readonly loggedOut: () => void;
}) {
  const props = { params, loggedOut };
  switch (page) {
    case "overview":
      return <OverviewPage {...props} settings={settings} />;
    case "channels":
      return <ChannelsPage {...props} settings={settings} />;
    case "channel":
      return <ChannelPage {...props} settings={settings} />;
    case "namespaces":
      return <NamespacesPage settings={settings} />;
    case "api":
      return <ApiPage {...props} />;
    case "connect":
      return <ConnectPage {...props} settings={settings} />;
    case "users":
      return <UsersPage {...props} settings={settings} />;
    case "refusals":
      return <RefusalsPage {...props} settings={settings} />;
    case "rule":
      return <RulePage {...props} />;
    case "why":
      return <WhyPage {...props} settings={settings} />;
    case "bill":
      return <BillPage {...props} />;
    default:
      return <h1>There is no such page</h1>;
  }
}

const icon = addressAt("icon.svg").href;
const place = document.querySelector<HTMLElement>("#console");
/** How operators get in, which the server writes into the page. */
const kind = place?.dataset["login"] ?? "password";
const outside: Readonly<Record<string, string>> = {
  access: "Cloudflare Access doesn't let this request in.",
  worker: "The Worker doesn't let you in any more.",
};
if (place !== null) render(<Console />, place);
