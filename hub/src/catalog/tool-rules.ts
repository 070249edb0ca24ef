// What holds for the calls of one tool in one group: whether a person approves them, and how large their results
// may be. Decided once for each snapshot.

import { maxResultBytes, type ApprovalRule, type ResultLimits } from "../config/schema/call-rules.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import type { ToolOverride } from "./tool-settings.ts";

/** How a person approves the calls of a tool. */
export interface ApprovalNeeded {
  readonly timeoutMs: number;
  /** Arguments that the group hides from clients. */
  readonly hidden: ReadonlySet<string>;
}

/** Undefined for nearly all tools, so that their calls cost nothing more. */
export interface ToolRules {
  readonly approval?: ApprovalNeeded | undefined;
  /** Larger results are cut. */
  readonly maxResultBytes?: number | undefined;
}

export interface GroupRules {
  readonly approve: ApprovalRule;
  readonly approvalTimeoutMs: number;
  readonly results: ResultLimits | undefined;
}

const NONE: ReadonlySet<string> = new Set();

interface RuledTool {
  /** As the server sent it; empty if the server has not been up. */
  readonly definition: JsonObject;
  readonly override: ToolOverride | undefined;
  /** The limit of its server. */
  readonly maxResultBytes: number | undefined;
}

export function rulesOf(
  { approve, approvalTimeoutMs: timeoutMs, results }: GroupRules,
  { definition, override, maxResultBytes: ofServer }: RuledTool,
): ToolRules | undefined {
  const isHeld = needsApproval(override?.settings.approve ?? approve, definition);
  const limit = results === undefined ? ofServer : maxResultBytes(results);
  if (!isHeld && limit === undefined) return undefined;
  return {
    approval: isHeld ? { timeoutMs, hidden: override?.hidden ?? NONE } : undefined,
    maxResultBytes: limit,
  };
}

/** What a tool does is known from its own hints only. A tool that is not known yet may do anything. */
export function needsApproval(rule: ApprovalRule, definition: JsonObject): boolean {
  const hints = isObject(definition["annotations"]) ? definition["annotations"] : {};
  const isKnown = Object.keys(definition).length > 0;
  switch (rule) {
    case "never":
      return false;
    case "destructive":
      return hints["destructiveHint"] === true || !isKnown;
    case "writes":
      return hints["readOnlyHint"] !== true;
    case "always":
      return true;
  }
}

/** The approval that some group asks for: for calls in no group. */
export function strictest(rules: readonly (ToolRules | undefined)[]): ApprovalNeeded | undefined {
  return rules.find((each) => each?.approval !== undefined)?.approval;
}
