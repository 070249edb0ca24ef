// The revision of the config in HTTP: an ETag on answers, If-Match on changes.

import { createHash } from "node:crypto";
import type { EditOptions } from "../../config/files/config-store.ts";

export function toEtag(revision: string): string {
  return `"${revision}"`;
}

/** An ETag of the content. It begins with the revision, if there is one, so that it also works in If-Match. */
export function toContentEtag(revision: string | undefined, content: Buffer): string {
  const digest = createHash("sha256").update(content).digest("hex").slice(0, 24);
  return `"${revision === undefined ? "" : `${revision}.`}${digest}"`;
}

/** Whether If-None-Match names this ETag. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag) ?? false;
}

/** The revision that If-Match requires: the current one if the header names it, else the first one named. */
export function parseIfMatch(header: string | undefined, current: string): EditOptions {
  if (header === undefined || header.trim() === "*") return {};
  const revisions = header.split(",").map((tag) => tag.trim().replace(/^(?:W\/)?"([^".]*)(?:\.[^"]*)?"$/, "$1"));
  return { ifRevision: revisions.includes(current) ? current : (revisions[0] ?? "") };
}
