/** Whether a value is in .dev.vars.example, where everybody can read it. */
export function isPublic(value: string): boolean {
  return publicValues.has(value);
}

const publicValues: ReadonlySet<string> = new Set([
  "development-api-key",
  "development-console-password",
  "development-token-hmac-secret-key",
  "whsec_ZGV2ZWxvcG1lbnQtaG9vay1zaWduaW5nLXNlY3JldA==",
]);
