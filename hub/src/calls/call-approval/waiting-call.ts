// One call that waits for approval, and how its wait ends.

import { count } from "../../lib/text.ts";
import type { ApprovalNeeded } from "../../catalog/tool-rules.ts";
import { HubError } from "../../errors.ts";
import type { ToolCall } from "../call.ts";

/** JSON without secrets. */
export interface ShownJson {
  readonly json: Buffer | undefined;
  /** Cut off at a size limit. */
  readonly truncated: boolean;
}

export type Redact = (json: Buffer | undefined) => ShownJson;

/** Who decides. The hub's audit log records all that it knows about them. */
export interface Approver {
  readonly principal: string;
}

export interface Decision {
  readonly approved: boolean;
  readonly by: Approver;
  /** Where the person was asked. */
  readonly in: "client" | "hub";
  readonly reason?: string | undefined;
}

/** A call that waits. */
export interface PendingApproval {
  readonly id: string;
  readonly call: ToolCall;
  readonly args: ShownJson;
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly expiresAt: number;
  /** Whether its client asks its user, too. */
  readonly isClientAsked: boolean;
}

type Given = Pick<PendingApproval, "id" | "call" | "args" | "isClientAsked">;

export class WaitingCall implements PendingApproval {
  readonly id: string;
  readonly call: ToolCall;
  readonly args: ShownJson;
  readonly isClientAsked: boolean;
  readonly at = Date.now();
  readonly expiresAt: number;
  /** Resolves when it is approved. */
  readonly approved: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #resolve = () => {};
  #reject: (error: unknown) => void = () => {};
  #deciding: Promise<void> | undefined;

  constructor({ id, call, args, isClientAsked }: Given, { timeoutMs }: ApprovalNeeded) {
    this.id = id;
    this.call = call;
    this.args = args;
    this.isClientAsked = isClientAsked;
    this.expiresAt = this.at + timeoutMs;
    this.approved = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => this.#reject(expired(call, timeoutMs)), timeoutMs);
  }

  /** The first decision counts. It takes effect when it is on record. */
  decide(decision: Decision, record: (approval: PendingApproval, decision: Decision) => Promise<void>): Promise<void> {
    return (this.#deciding ??= this.#decide(decision, record(this, decision)));
  }

  async #decide(decision: Decision, recorded: Promise<void>): Promise<void> {
    try {
      await recorded;
    } catch (error) {
      this.#reject(error);
      throw error;
    }
    if (decision.approved) this.#resolve();
    else this.#reject(denied(this.call, decision));
  }

  cancel(): void {
    this.#reject(new HubError("Cancelled", "The call was cancelled before it was approved"));
  }

  refuse(error: HubError): void {
    this.#reject(error);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

function nameOf({ name, exposed, server }: ToolCall): string {
  return `${exposed ?? name} on "${server}"`;
}

function denied(call: ToolCall, { by, reason }: Decision): HubError {
  const why = reason === undefined ? "" : `: ${reason}`;
  return new HubError("NotApproved", `The call of ${nameOf(call)} was denied by ${by.principal}${why}`, {
    hint: "Do not repeat it unless the user asks for it",
  });
}

function expired(call: ToolCall, timeoutMs: number): HubError {
  const message = `The call of ${nameOf(call)} was not approved within ${count(Math.round(timeoutMs / 1000), "second")}`;
  return new HubError("NotApproved", message, { hint: "A person approves it with: plugboard approvals" });
}

export function stopping(call: ToolCall): HubError {
  return new HubError("NotApproved", `The call of ${nameOf(call)} was not approved before the hub stopped`);
}

export function noApprover(call: ToolCall): HubError {
  return new HubError(
    "NotApproved",
    `The call of ${nameOf(call)} needs the approval of a person, and none can be asked`,
    { hint: "Start the hub with plugboard start, or use a client that supports elicitation" },
  );
}
