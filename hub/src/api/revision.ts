// The config's revision as HTTP has it: an ETag on what is read, If-Match on what is changed.

import { createHash } from "node:crypto";
import type { EditOptions } from "../config/store.ts";

export function toEtag(revision: string): string {
  return `"${revision}"`;
}

/** Of what is read: of its content, behind the revision where it has one, so that it can be given back as If-Match too. */
export function toContentEtag(revision: string | undefined, content: Buffer): string {
  const digest = createHash("sha256").update(content).digest("hex").slice(0, 24);
  return `"${revision === undefined ? "" : `${revision}.`}${digest}"`;
}

/** Whether the client has this content already. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag) ?? false;
}

/** What an If-Match header demands of an edit. One that names the current revision among others is content with it. */
export function parseIfMatch(header: string | undefined, current: string): EditOptions {
  if (header === undefined || header.trim() === "*") return {};
  const revisions = header.split(",").map((tag) => tag.trim().replace(/^(?:W\/)?"([^".]*)(?:\.[^"]*)?"$/, "$1"));
  return { ifRevision: revisions.includes(current) ? current : (revisions[0] ?? "") };
}
