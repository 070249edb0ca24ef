// The name of a server in a registry, as people type it.

import { HubError } from "../../errors.ts";

export interface RegistryTarget {
  readonly name: string;
  readonly version: string | undefined;
}

export const REGISTRY_PREFIX = "registry:";

/** @example parseRegistryTarget("io.github.x/y@1.2.0") // the names of Smithery begin with @ */
export function parseRegistryTarget(text: string): RegistryTarget {
  const at = text.lastIndexOf("@");
  const [name, version] = at > 0 ? [text.slice(0, at), text.slice(at + 1)] : [text, undefined];
  if (name !== "" && version !== "") return { name, version };
  throw new HubError("InvalidArgument", `"${REGISTRY_PREFIX}${text}" does not name a server`, {
    field: "target",
    hint: "plugboard search WORDS",
  });
}
