// What holds for the calls of one tool in one group: whether a person approves them. Decided once for each snapshot.

import type { ApprovalRule } from "../config/schema/call-rules.ts";
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
  readonly approval?: ApprovalNeeded;
}

export interface GroupRules {
  readonly approve: ApprovalRule;
  readonly approvalTimeoutMs: number;
}

const NONE: ReadonlySet<string> = new Set();

/** `definition`: as the server sent it; empty if the server has not been up. */
export function rulesOf(
  { approve, approvalTimeoutMs: timeoutMs }: GroupRules,
  definition: JsonObject,
  override: ToolOverride | undefined,
): ToolRules | undefined {
  const rule = override?.settings.approve ?? approve;
  if (!needsApproval(rule, definition)) return undefined;
  return { approval: { timeoutMs, hidden: override?.hidden ?? NONE } };
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

/** The most careful of the rules that groups have for a tool: for calls in no group. */
export function strictest(rules: readonly (ToolRules | undefined)[]): ToolRules | undefined {
  return rules.find((each) => each?.approval !== undefined);
}
