// What a tool says about itself: the flags of the tool index and the annotations of a definition, as the same marks.

import { memberOf } from "../text/json.ts";

export type Mark = "reads only" | "destructive" | "idempotent" | "open world";

const FLAGS: readonly [number, Mark][] = [
  [1, "reads only"],
  [2, "destructive"],
  [4, "idempotent"],
  [8, "open world"],
];

/** @example marksOfFlags(5) // ["reads only", "idempotent"] */
export function marksOfFlags(flags: number): Mark[] {
  return FLAGS.filter(([bit]) => (flags & bit) !== 0).map(([, mark]) => mark);
}

/** Only what the server states. A tool without annotations has no marks. */
export function marksOfAnnotations(annotations: unknown): Mark[] {
  const isSet = (name: string) => memberOf(annotations, name) === true;
  const marks: Mark[] = [];
  if (isSet("readOnlyHint")) marks.push("reads only");
  if (isSet("destructiveHint") && !isSet("readOnlyHint")) marks.push("destructive");
  if (isSet("idempotentHint")) marks.push("idempotent");
  if (isSet("openWorldHint")) marks.push("open world");
  return marks;
}

/**
 * Whether running the tool needs a confirmation. The protocol's default is that a tool may destroy data unless it says otherwise; a
 * tool without any annotation says nothing at all, and asking for each of these would teach people to confirm unread.
 */
export function mayDestroy(annotations: unknown): boolean {
  if (memberOf(annotations, "readOnlyHint") === true) return false;
  const hint = memberOf(annotations, "destructiveHint");
  if (hint !== undefined) return hint !== false;
  return memberOf(annotations, "readOnlyHint") === false;
}
