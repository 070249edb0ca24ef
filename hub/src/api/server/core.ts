// The parts of a hub that the management API works with.

import type { ServerApprovals } from "../../approval/server-approvals.ts";
import type { AccessTokens } from "../../auth/access-tokens.ts";
import type { AuditLog } from "../../auth/audit.ts";
import type { RequestRates } from "../../auth/request-rates.ts";
import type { Users } from "../../auth/users.ts";
import type { Issuer } from "../../auth/issuer/issuer.ts";
import type { Calls } from "../../calls/calls.ts";
import type { CallLog } from "../../call-log/port.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { HubPaths } from "../../config/files/paths.ts";
import type { PlatformContext } from "../../config/files/system-folders.ts";
import type { LiveConfig } from "../../live/config.ts";
import type { LiveHistory } from "../../live/history.ts";
import type { LiveSessions } from "../../live/sessions.ts";
import type { HubEvents } from "../../events.ts";
import type { PersonalSecrets } from "../../secrets/personal.ts";
import type { Registries } from "../../registry/registries.ts";
import type { SecretStore } from "../../secrets/store.ts";
import type { Logins } from "../../servers/login/logins.ts";
import type { Supervisor } from "../../servers/supervisor.ts";

/** Implemented by Hub. */
export interface Core {
  readonly supervisor: Supervisor;
  readonly configuration: LiveConfig;
  readonly calls: Calls;
  readonly serverApprovals: ServerApprovals;
  readonly secrets: SecretStore;
  readonly personalSecrets: PersonalSecrets;
  readonly logins: Logins;
  readonly registries: Registries;
  readonly users: Users;
  readonly accessTokens: AccessTokens;
  readonly audit: AuditLog;
  /** The embedded authorization server, if it is switched on. */
  readonly issuer: Issuer | undefined;
  /** Of what comes before any credentials, and of logins. */
  readonly rates: RequestRates;
  readonly sessions: LiveSessions;
  readonly history: LiveHistory;
  readonly events: HubEvents;
  readonly catalog: Catalog;
  readonly warnings: readonly string[];
  readonly url: string | undefined;
  /** The origin under which clients reach it; undefined if it does not listen. */
  readonly publicUrl: string | undefined;
  /** Undefined if it does not listen. */
  readonly listeners:
    | { readonly problems: readonly string[]; readonly certificateExpiresInMs: number | undefined }
    | undefined;
  readonly tracesUrl: string | undefined;
  /** The database that this hub shares with others; undefined if it keeps everything on this machine. */
  readonly databaseName: string | undefined;
  /** Why the database that replicas share cannot be used. */
  readonly databaseProblem: string | undefined;
  readonly isStopping: boolean;
}

export interface Records {
  readonly callLog: Pick<
    CallLog,
    | "query"
    | "summaries"
    | "count"
    | "neighbours"
    | "series"
    | "deleteBefore"
    | "stats"
    | "usage"
    | "retention"
    | "degraded"
  >;
}

export interface Managed extends Records {
  readonly hub: Core;
  readonly paths: HubPaths;
  /** The environment and home of the user who runs the hub, for the files of other programs. */
  readonly user: PlatformContext;
}
