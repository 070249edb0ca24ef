// The interface for credentials that change while a connection is open, such as OAuth tokens.

import { HttpStatusError } from "./http-failure.ts";

/** How a server refused a request. */
export interface Refusal {
  readonly error: HttpStatusError;
  /** The generation of the credentials that the refused request carried. */
  readonly generation: number;
  /** How often this request was refused before. */
  readonly attempt: number;
}

export interface Authorization {
  /** Increases whenever `headersFor` would give something else: what was built from it is outdated then. */
  readonly generation: number;
  /** Whether each request needs separate headers (DPoP). */
  readonly isPerRequest: boolean;
  /** A promise if credentials have to be loaded or renewed before the next request. Rejects with the reason why they cannot. */
  ready(): Promise<void> | undefined;
  headersFor(method: string, url: URL): Readonly<Record<string, string>>;
  /** Reports the nonce that a response carries for the next DPoP proof. */
  onNonce(nonce: string): void;
  /** Resolves if the request may be sent again with new credentials. Rejects with the error for the caller. */
  refused(refusal: Refusal): Promise<void>;
}

/** A request is sent at most this often: again with a nonce, with a renewed token, and with more scopes. */
export const MAX_ATTEMPTS = 4;

/** Whether the server refused the credentials of a request, so that it has not processed it. */
export function isRefusal(error: unknown): error is HttpStatusError {
  return error instanceof HttpStatusError && (error.status === 401 || error.status === 403);
}

/** Opens a connection whose first request may be refused. */
export async function openAuthorized<T>(
  authorization: Authorization | undefined,
  open: (headers: Readonly<Record<string, string>>) => Promise<T>,
  { method, url }: { readonly method: string; readonly url: URL },
): Promise<T> {
  if (authorization === undefined) return open({});
  for (let attempt = 0; ; attempt++) {
    await authorization.ready();
    const { generation } = authorization;
    try {
      return await open(authorization.headersFor(method, url));
    } catch (error) {
      if (!isRefusal(error) || attempt + 1 === MAX_ATTEMPTS) throw error;
      await authorization.refused({ error, generation, attempt });
    }
  }
}
