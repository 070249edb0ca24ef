// The audit log, as it is shown.

import { auditActionOf } from "../../../auth/audit.ts";
import type { AuditRow } from "../../../auth/audit-store.ts";
import { labelOf } from "../../../auth/users.ts";
import type { AuditCheck, AuditNote, AuditPage, AuditRowView, AuditSearch } from "../../schemas/audit.ts";
import type { Managed } from "../core.ts";

export class AuditCommands {
  readonly #hub: Managed["hub"];

  constructor({ hub }: Pick<Managed, "hub">) {
    this.#hub = hub;
  }

  async search({ who, what, since, before, limit = 50 }: Partial<AuditSearch>): Promise<AuditPage> {
    const { audit, users } = this.#hub;
    await users.reload();
    const principal = who === undefined ? undefined : (users.find(who)?.principal ?? who);
    const action = what === undefined ? undefined : auditActionOf(what);
    const rows = await audit.query({ principal, action, since, before, limit: limit + 1 });
    const shown = rows.slice(0, limit);
    return {
      rows: shown.map((row) => this.#toView(row)),
      next: rows.length > limit ? (shown.at(-1)?.n ?? null) : null,
      head: await audit.head(),
    };
  }

  async verify({ head: wanted }: AuditNote = {}): Promise<AuditCheck> {
    const { rows, head, fault, noted } = await this.#hub.audit.verify(wanted);
    return { rows, head, fault: fault ?? null, noted: wanted === undefined ? null : { n: noted ?? null } };
  }

  #toView({ at, principal, role, token, client, address, object, detail, requestId, ...row }: AuditRow): AuditRowView {
    const { users } = this.#hub;
    const user = principal.startsWith("user:") ? users.find(principal) : undefined;
    const target = object !== undefined && row.action.startsWith("user.") ? users.byId(object) : undefined;
    return {
      ...row,
      at: new Date(at).toISOString(),
      principal,
      who: user === undefined ? principal : labelOf(user),
      role: role ?? null,
      token: token ?? null,
      client: client ?? null,
      address: address ?? null,
      object: target === undefined ? (object ?? null) : labelOf(target),
      detail: detail ?? null,
      request_id: requestId ?? null,
    };
  }
}
