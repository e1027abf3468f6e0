/**
 * `npm run openapi`: writes the description of the HTTP API, `public/openapi.json`, and the page that shows it, and
 * docs/http-api.md and the types of the package's methods. All are kept in the repository, and a test compares them with what
 * this would write. Another folder may be given.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { writeFiles } from "../configuration/write-files.ts";
import { packageRoot } from "../package-root.ts";
import { apiTypes } from "./api-types.ts";
import { openApiDocument } from "./document.ts";
import { httpApiPage } from "./http-api-page.ts";
import { openApiPage } from "./page.ts";

const own = join(packageRoot, "public");
const [folder = own] = process.argv.slice(2);
const document = openApiDocument();
const texts = {
  [join(folder, "openapi.json")]: `${JSON.stringify(document, null, 2)}\n`,
  [join(folder, "swagger.html")]: openApiPage(document),
  ...(folder === own && { [join(packageRoot, "docs", "http-api.md")]: httpApiPage() }),
};
writeFiles(
  Object.entries(texts).map(([path, contents]) => ({
    path,
    shown: path,
    contents,
    replaces: true,
  })),
);
if (folder === own) {
  const files = Array.from(apiTypes(), ([name, contents]) => {
    const shown = `workers/embedded/${name}`;
    return { path: join(packageRoot, shown), shown, contents, replaces: true };
  });
  writeFiles(files);
  const shown = files.map((file) => file.shown);
  execFileSync("npx", ["oxfmt", ...shown], { cwd: packageRoot, stdio: "inherit" });
}
