// What other replicas change in the secrets and logins: servers that failed for want of credentials are started again.

import type { SecretStore } from "../secrets/store.ts";
import { isWaitingForCredentials } from "../servers/status.ts";
import type { Supervisor } from "../servers/supervisor.ts";

/** Returns how to stop that; undefined if nobody else can change them. */
export function watchSecrets(secrets: SecretStore, supervisor: Supervisor): (() => void) | undefined {
  return secrets.watch?.(() => {
    for (const server of supervisor.servers) {
      // The outcome is in the server's status.
      if (isWaitingForCredentials(server.status)) void server.start().catch(() => undefined);
    }
  });
}
