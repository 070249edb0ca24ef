// Calls that wait for approval: who may see them, and who may decide.

import type { Decision, PendingApproval } from "../../../calls/call-approval/waiting-call.ts";
import { OWNER, type Grant } from "../../../auth/grant.ts";
import { may } from "../../../auth/policy.ts";
import { HubError } from "../../../errors.ts";
import type { CallApproval } from "../../schemas/approval.ts";
import type { Managed } from "../core.ts";

export class ApprovalCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  /** Oldest first: without the role operator, those of the caller's own. */
  list(grant: Grant): CallApproval[] {
    return this.#managed.hub.calls.approvals
      .list()
      .filter((approval) => may(grant, { to: "handle", owner: ownerOf(approval), as: "operator" }))
      .map((approval) => toView(approval, grant));
  }

  async decide(id: string, grant: Grant, { approved, reason }: Pick<Decision, "approved" | "reason">): Promise<void> {
    const { approvals } = this.#managed.hub.calls;
    if (!may(grant, { to: "approve", owner: grant.principal })) {
      throw new HubError(
        "Forbidden",
        "Calls are approved by people: with the management token, or signed in to the web interface",
        {
          hint: "An access token cannot do it, whatever its role",
        },
      );
    }
    const approval = approvals.list().find((each) => each.id === id);
    // Whether others have such a call is not said.
    const isTheirs = approval === undefined || may(grant, { to: "approve", owner: ownerOf(approval) });
    await approvals.decide(isTheirs ? id : "", { approved, by: grant, in: "hub", reason });
  }
}

function ownerOf({ call }: PendingApproval): string {
  return call.arrival?.requester?.principal ?? OWNER;
}

function toView(approval: PendingApproval, grant: Grant): CallApproval {
  const { id, call, args, at, expiresAt, isClientAsked } = approval;
  return {
    id,
    server: call.server,
    tool: call.name,
    exposed_name: call.exposed ?? null,
    group: call.group,
    client: call.client ?? null,
    principal: call.arrival?.requester?.principal ?? null,
    arguments: args.json === undefined ? null : JSON.parse(args.json.toString()),
    truncated: args.truncated,
    since: new Date(at).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    asks_client: isClientAsked,
    may_decide: may(grant, { to: "approve", owner: ownerOf(approval) }),
  };
}
