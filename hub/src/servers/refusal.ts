// A remote server that does not let the hub in (HTTP 401, 403): nobody but the user can help, so the error says how.

import type { ServerConfig } from "../config/types.ts";
import { HubError } from "../errors.ts";

/** Only a remote server's answers are of these kinds. */
export function isRefusal({ kind }: HubError): boolean {
  return kind === "Unauthenticated" || kind === "Forbidden";
}

/** The refusal in the user's terms: what was sent, and what to set. */
export function withFix(error: HubError, config: ServerConfig): HubError {
  const { kind, message, detail, delivery } = error;
  if (error.hint !== undefined) return error;
  const { said, hint } = fixFor(config);
  return new HubError(kind, said, {
    detail: detail === undefined ? message : `${message}: ${detail}`,
    hint,
    ...(delivery === undefined ? {} : { delivery }),
    cause: error,
  });
}

function fixFor({ name, env, transport }: ServerConfig): { said: string; hint: string } {
  const secrets = Object.values(env).flatMap(({ secretRef }) => (secretRef === undefined ? [] : [secretRef]));
  if (secrets.length > 0) {
    return { said: NOT_ACCEPTED, hint: secrets.map((secret) => `plugboard secret set ${secret}`).join(", or ") };
  }
  const [header] = transport.type === "stdio" ? [] : Object.keys(transport.headers);
  if (header !== undefined) return { said: NOT_ACCEPTED, hint: setHeader(name, header, "${TOKEN}") };
  return { said: "The server asks for credentials", hint: setHeader(name, "Authorization", "Bearer ${TOKEN}") };
}

/** Two commands that can be run as they stand: the value is asked for, and is on no command line. */
function setHeader(server: string, header: string, value: string): string {
  const secret = `${server}-token`;
  const patch = { headers: { [header]: value }, env: { TOKEN: { secretRef: secret } } };
  return `plugboard secret set ${secret}\nplugboard edit ${server} '${JSON.stringify(patch)}'`;
}

const NOT_ACCEPTED = "The server does not accept the credentials";
