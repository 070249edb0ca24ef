// Errors of a remote server that refuses the hub's credentials (HTTP 401, 403): the error has a hint what to set.

import { personalSecretsOf } from "../../config/parse/per-user.ts";
import type { ServerConfig } from "../../config/schema/types.ts";
import { HubError, type ErrorBody } from "../../errors.ts";
import { quoted } from "../../lib/quoted.ts";
import { isLoginError, needsPerson } from "../login/login-errors.ts";

/** Only answers of remote servers are of these kinds. */
export function isAuthError({ kind }: HubError): boolean {
  return kind === "Unauthenticated" || kind === "Forbidden" || needsPerson({ kind });
}

/** Call it after redaction: the commands in the hint must stay as they are. They contain names only. */
export function explainAuthError(error: HubError, config: ServerConfig): HubError {
  return isAuthError(error) ? withFix(error, config) : error;
}

/** The error with a hint how to set the credentials. */
export function withFix(error: HubError, config: ServerConfig): HubError {
  const { kind, message, detail, delivery } = error;
  if (error.hint !== undefined || needsPerson(error)) return error;
  const { message: summary, hint } = fixFor(config);
  return new HubError(kind, summary, {
    detail: detail === undefined ? message : `${message}: ${detail}`,
    hint,
    ...(delivery === undefined ? {} : { delivery }),
    cause: error,
  });
}

/** The same for an entry that is not saved, which no other command knows. `url` and `name`: as its user wrote them. */
export function withFixForUnsaved(
  error: ErrorBody,
  { transport, env }: ServerConfig,
  { url, name }: { readonly url?: unknown; readonly name?: unknown },
): ErrorBody {
  if (transport.type === "stdio" || typeof url !== "string") return error;
  const words = [url, ...(typeof name === "string" ? [name] : [])].map(quoted).join(" ");
  if (isLoginError(error)) {
    return { ...error, message: "The server needs a login", hint: `Save it and log in: plugboard add ${words}` };
  }
  const hasCredentials = Object.keys(transport.headers).length > 0 || Object.keys(env).length > 0;
  if (error.kind !== "Unauthenticated" || hasCredentials) return error;
  const secret = typeof name === "string" ? `${name}-token` : "token";
  const options = `-s TOKEN=${secret} -H 'Authorization: Bearer \${TOKEN}'`;
  return { ...error, hint: `plugboard secret set ${secret}\nplugboard add ${words} ${options}` };
}

function fixFor({ name, env, transport }: ServerConfig): { message: string; hint: string } {
  const personal = personalSecretsOf({ env, transport });
  if (personal.length > 0) {
    const hint = personal.map((secret) => `plugboard secret set ${secret} --for me`).join(", or ");
    return { message: "The server does not accept your credentials", hint };
  }
  const secrets = Object.values(env).flatMap(({ secretRef }) => (secretRef === undefined ? [] : [secretRef]));
  if (secrets.length > 0) {
    return { message: NOT_ACCEPTED, hint: secrets.map((secret) => `plugboard secret set ${secret}`).join(", or ") };
  }
  const [header] = transport.type === "stdio" ? [] : Object.keys(transport.headers);
  if (header !== undefined) return { message: NOT_ACCEPTED, hint: setHeader(name, header, "${TOKEN}") };
  return { message: "The server asks for credentials", hint: setHeader(name, "Authorization", "Bearer ${TOKEN}") };
}

/** Two commands to copy. The first prompts for the value, so that it is on no command line. */
function setHeader(server: string, header: string, value: string): string {
  const secret = `${server}-token`;
  const patch = { headers: { [header]: value }, env: { TOKEN: { secretRef: secret } } };
  return `plugboard secret set ${secret}\nplugboard edit ${server} '${JSON.stringify(patch)}'`;
}

const NOT_ACCEPTED = "The server does not accept the credentials";
