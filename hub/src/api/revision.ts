// The config's revision as HTTP has it: an ETag on what is read, If-Match on what is changed.

import type { EditOptions } from "../config/store.ts";

export function toEtag(revision: string): string {
  return `"${revision}"`;
}

/** What an If-Match header demands of an edit. One that names the current revision among others is content with it. */
export function parseIfMatch(header: string | undefined, current: string): EditOptions {
  if (header === undefined || header.trim() === "*") return {};
  const revisions = header.split(",").map((tag) => tag.trim().replace(/^(?:W\/)?"(.*)"$/, "$1"));
  return { ifRevision: revisions.includes(current) ? current : (revisions[0] ?? "") };
}
