// What repairs a server that does not work: the button beside its error.

import type { Server } from "$api/server.ts";

export type Fix =
  | { readonly kind: "secret"; readonly variable: string }
  | { readonly kind: "login"; readonly url: string | undefined }
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

type Broken = Pick<Server, "status" | "error" | "login">;

export function fixOf({ status, error, login }: Broken): Fix {
  if (status === "unauthenticated") return { kind: "login", url: login?.login_url ?? error?.login_url };
  const variable = /^env\.(.+)$/.exec(error?.field ?? "")?.[1];
  if (variable !== undefined) return { kind: "secret", variable };
  return { kind: EDITED.has(error?.kind ?? "") ? "edit" : "retry" };
}
