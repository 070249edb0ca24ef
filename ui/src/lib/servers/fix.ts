// What repairs a server that does not work: the button beside its error.

import type { Server } from "$api/server.ts";

export type Fix =
  | { readonly kind: "secret"; readonly variable: string }
  | { readonly kind: "login"; readonly url: string | undefined }
  | { readonly kind: "approve" }
  | { readonly kind: "edit" }
  | { readonly kind: "retry" };

/** Kinds of errors that another try does not change. */
const EDITED: ReadonlySet<string> = new Set([
  "PackageNotFound",
  "LauncherNotInstalled",
  "InvalidConfig",
  "InvalidArgument",
  "UnsafeAddress",
]);

type Broken = Pick<Server, "status" | "error" | "login"> & { readonly approval?: Pick<Server["approval"], "withheld"> };

export function fixOf({ status, error, login, approval }: Broken): Fix {
  if (error?.kind === "ApprovalRequired") return { kind: "approve" };
  if (status === "running" && (approval?.withheld ?? 0) > 0) return { kind: "approve" };
  if (status === "unauthenticated") return { kind: "login", url: login?.login_url ?? error?.login_url };
  const variable = /^env\.(.+)$/.exec(error?.field ?? "")?.[1];
  if (variable !== undefined) return { kind: "secret", variable };
  return { kind: EDITED.has(error?.kind ?? "") ? "edit" : "retry" };
}
