import { existsSync, readdirSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { secretProblems } from "../../../src/access/secrets.ts";
import { secretUses } from "../../../src/config/secret-uses.ts";
import { wranglerConfigOf } from "../../../cli/deployment/wrangler-config.ts";

const readme = readFileSync("README.md", "utf8");

interface PackageFile {
  readonly version?: string;
  readonly dependencies?: object;
  readonly peerDependencies?: object;
  readonly devDependencies?: object;
  readonly engines?: { readonly node?: string };
  readonly workspaces?: readonly string[];
  readonly repository?: { readonly url: string };
  readonly cloudflare?: {
    readonly bindings: Readonly<Record<string, { readonly description: string }>>;
  };
}

function packageAt(file: string): PackageFile {
  return JSON.parse(readFileSync(file, "utf8"));
}

const own = packageAt("package.json");

describe("the deploy button", () => {
  it("leads to the repository, whose address is a placeholder until package.json has it", () => {
    const [, address = ""] =
      /deploy\.workers\.cloudflare\.com\/\?url=([^)\s]+)\)/.exec(readme) ?? [];
    expect(address).toBe(own.repository?.url ?? "https://github.com/OWNER/dormouse");
    expect(readme.includes("`OWNER` is a placeholder")).toBe(own.repository === undefined);
  });

  it("[A10] asks for the secrets, and none of its values can become one", () => {
    const given = parseEnv(readFileSync(".dev.vars.example", "utf8"));
    expect(Object.keys(given).toSorted()).toEqual([
      "API_KEY",
      "CONSOLE_PASSWORD",
      "TOKEN_HMAC_SECRET_KEY",
    ]);
    const problems = secretProblems(given, secretUses(undefined), false);
    expect(problems).toHaveLength(3);
    for (const problem of problems) expect(problem).toContain("is a placeholder");
  });

  it("has a description of each secret and of each binding", () => {
    const described = own.cloudflare?.bindings ?? {};
    const { durable_objects: objects } = wranglerConfigOf({});
    const names = objects.bindings.map(({ name }: { readonly name: string }) => name);
    const secrets = Object.keys(parseEnv(readFileSync(".dev.vars.example", "utf8")));
    expect(new Set(Object.keys(described))).toEqual(new Set([...secrets, ...names]));
    for (const { description } of Object.values(described))
      expect(description.length).toBeGreaterThan(20);
  });
});

describe("the repository, as its user asked for it,", () => {
  it("has these entries at its top", () => {
    const asked = ["src", "workers", "test", "wrangler.toml", "package.json", "tsconfig.json"];
    const missing = [...asked, "README.md"].filter((name) => !existsSync(name));
    expect(missing).toEqual([]);
  });

  it.each(["hono", "jose", "@msgpack/msgpack"])("has the product import %s", (name) => {
    const needed = { ...own.dependencies, ...own.peerDependencies };
    expect(Object.keys(needed)).toContain(name);
    const importing = importedFrom(["src", "workers"], name);
    expect(importing.length).toBeGreaterThan(0);
  });

  it.each(["wrangler", "@cloudflare/workers-types", "vitest", "miniflare"])(
    "is built and tested with %s",
    (name) => {
      expect(Object.keys(own.devDependencies ?? {})).toContain(name);
    },
  );

  it("has its projects as references of tsconfig.json, so that editors and `tsc -b` find them", () => {
    const { references }: { readonly references: readonly { readonly path: string }[] } =
      JSON.parse(readFileSync("tsconfig.json", "utf8"));
    const projects = ["src", "workers", "cli", "package", "test", "bench"].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((path) => /^(?!.*node_modules).*tsconfig\.json$/.test(path))
        .map((path) => `${folder}/${path}`.slice(0, -"/tsconfig.json".length)),
    );
    expect(references.map(({ path }) => path).sort()).toEqual(projects.sort());
  });
});

/** The files of folders that import a package, or a part of it. */
function importedFrom(folders: readonly string[], name: string): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
      (path) =>
        path.endsWith(".ts") &&
        new RegExp(`from "${name}[/"]`).test(readFileSync(`${folder}/${path}`, "utf8")),
    ),
  );
}

describe("the README", () => {
  it("begins with the line that clones the repository, from where the deploy button leads", () => {
    const [, first = ""] = /^ {4}(.*)$/m.exec(readme) ?? [];
    const address = own.repository?.url ?? "https://github.com/OWNER/dormouse";
    expect(first).toBe(`git clone ${address} && cd dormouse && npm ci && npm start`);
  });

  it("says which version it is of, and that nobody has run it on Cloudflare", () => {
    expect(readme).toContain(`**How mature**: ${own.version}.`);
    expect(readme.replaceAll(/\s+/g, " ")).toContain("nobody has run it on Cloudflare yet");
  });

  it("is one screen: at most 110 lines and 900 words", () => {
    expect(readme.split("\n").length).toBeLessThanOrEqual(110);
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(900);
  });
});

it("npm ci with Node.js 20 warns of no package of our own", () => {
  for (const folder of [".", ...(own.workspaces ?? [])])
    expect(packageAt(`${folder}/package.json`).engines?.node ?? ">=20").toBe(">=20");
});

describe("the forms of issues", () => {
  const folder = ".github/ISSUE_TEMPLATE";
  const forms = readdirSync(folder).filter((name) => name !== "config.yml");

  it.each(forms)("%s is a form as GitHub takes it", (name) => {
    const form: Form = parse(readFileSync(`${folder}/${name}`, "utf8"));
    for (const text of [form.name, form.description]) expect(text.length).toBeGreaterThan(5);
    const asked = form.body.filter(({ type }) => type !== "markdown");
    for (const { type, id, attributes } of asked) {
      expect(["textarea", "input", "dropdown", "checkboxes"]).toContain(type);
      expect(id).toMatch(/^[a-z]+$/);
      expect(attributes.label?.length ?? 0).toBeGreaterThan(3);
      expect(type === "dropdown").toBe(attributes.options !== undefined);
    }
    expect(new Set(asked.map(({ id }) => id)).size).toBe(asked.length);
    expect(asked.some(({ validations }) => validations?.required)).toBe(true);
  });
});

interface Form {
  readonly name: string;
  readonly description: string;
  readonly body: readonly {
    readonly type: string;
    readonly id?: string;
    readonly attributes: { readonly label?: string; readonly options?: readonly string[] };
    readonly validations?: { readonly required: boolean };
  }[];
}
