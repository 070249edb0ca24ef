// Calls that wait until a person approves them: in the client that called, or through the management API. Never by the model: who
// may decide is a question of auth/policy.ts.

import { randomBytes } from "node:crypto";
import type { ApprovalNeeded } from "../../catalog/tool-rules.ts";
import { HubError } from "../../errors.ts";
import type { HubEvents } from "../../events.ts";
import { Cancellable } from "../../lib/cancellation.ts";
import { valueOf } from "../../lib/json/json.ts";
import type { Call, ToolCall } from "../call.ts";
import { announce } from "./announce.ts";
import { ApprovedRounds } from "./approved-rounds.ts";
import { answerOf, questionFor } from "./question.ts";
import {
  noApprover,
  stopping,
  WaitingCall,
  type Approver,
  type Decision,
  type PendingApproval,
  type Redact,
} from "./waiting-call.ts";

export interface ApprovalsOptions {
  readonly events: HubEvents;
  readonly redact: Redact;
  /** Records a decision before it takes effect. The call is not made if that fails. */
  readonly record: (approval: PendingApproval, decision: Decision) => Promise<void>;
  /** Whether anybody but the client can be asked: the hub listens. */
  readonly isReachable: () => boolean;
  readonly maxPending?: number;
}

const MAX_PENDING = 256;
/** Someone who calls without credentials of the hub. */
const LOCAL: Approver = { principal: "local" };

export class Approvals {
  /** Rounds of calls that were approved: they are not asked for again. */
  readonly rounds = new ApprovedRounds();
  readonly #options: ApprovalsOptions;
  readonly #waiting = new Map<string, WaitingCall>();
  #isClosed = false;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** Oldest first. */
  list(): readonly PendingApproval[] {
    return [...this.#waiting.values()];
  }

  /** Resolves when the decision is on record. */
  async decide(id: string, decision: Decision): Promise<void> {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) return waiting.decide(decision, this.#options.record);
    throw new HubError("CallNotFound", `No call with the id ${JSON.stringify(id)} waits for approval`, {
      field: "id",
      hint: "It was decided, timed out or was cancelled. plugboard approvals",
    });
  }

  /** Refuses all calls that wait, and every further one. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting.values()) waiting.refuse(stopping(waiting.call));
  }

  /** Resolves when the call is approved. Rejects if it is denied, times out, or is cancelled. */
  async wait({ request }: Call, call: ToolCall, needed: ApprovalNeeded): Promise<void> {
    const { events, redact, isReachable, maxPending = MAX_PENDING } = this.#options;
    if (this.#isClosed) throw stopping(call);
    if (this.#waiting.size >= maxPending) {
      throw new HubError("Overloaded", "Too many calls already wait for approval", { hint: "plugboard approvals" });
    }
    const { signal } = request;
    const ended = new AbortController();
    const asking = call.responder?.confirm?.(questionFor(call, needed.hidden, redact), {
      signal: ended.signal,
      cancelOwner: () => (signal instanceof Cancellable ? signal.abort() : undefined),
    });
    const isClientAsked = asking !== undefined;
    if (!isClientAsked && !isReachable()) throw noApprover(call);
    const args = redact(call.params && valueOf(call.params.bytes, call.params.members, "arguments"));
    const id = randomBytes(5).toString("hex");
    const waiting = new WaitingCall({ id, call, args, isClientAsked }, needed);
    const onAbort = () => waiting.cancel();
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    const stopAnnouncing = announce(request, isClientAsked);
    this.#waiting.set(id, waiting);
    if (asking !== undefined) void this.#askClient(waiting, asking);
    events.emit("approval.pending", waiting);
    try {
      await waiting.approved;
    } finally {
      waiting.end();
      stopAnnouncing();
      signal?.removeEventListener("abort", onAbort);
      this.#waiting.delete(id);
      ended.abort();
      events.emit("approval.ended", { id });
    }
  }

  async #askClient(waiting: WaitingCall, asking: Promise<Parameters<typeof answerOf>[0]>): Promise<void> {
    const { call } = waiting;
    const approved = await asking.then(answerOf, () => undefined); // the client could not ask, or somebody else has decided
    if (approved !== undefined) {
      const by = call.arrival?.requester ?? LOCAL;
      await waiting.decide({ approved, by, in: "client" }, this.#options.record).catch(() => undefined); // the call fails with it
    } else if (!this.#options.isReachable()) waiting.refuse(noApprover(call));
  }
}
