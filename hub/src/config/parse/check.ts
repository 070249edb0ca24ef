// Collects all errors and warnings of the two config files. Nothing is saved or started.

import { HubError, type ErrorBody } from "../../errors.ts";
import { parseServerDocument, toConfig, type FileConfig } from "./documents.ts";
import { findWarnings } from "./warnings.ts";

export interface CheckedConfig {
  readonly errors: readonly ErrorBody[];
  readonly warnings: readonly string[];
  /** The valid part of the config. */
  readonly config: FileConfig;
}

export function checkTexts(serverText: string, groupText: string): CheckedConfig {
  const errors: ErrorBody[] = [];
  const attempt = <T>(parse: () => T): T | undefined => {
    try {
      return parse();
    } catch (thrown) {
      if (!(thrown instanceof HubError)) throw thrown;
      errors.push(thrown.toJSON());
      return undefined;
    }
  };
  const document = attempt(() => parseServerDocument(serverText)) ?? parseServerDocument("");
  const config = attempt(() => toConfig(document, groupText)) ?? toConfig(document, "");
  errors.push(
    ...config.servers.flatMap(({ invalid }) => invalid ?? []),
    ...config.invalidGroups.map(({ error }) => error),
  );
  const warned = { servers: config.servers.filter(({ invalid }) => invalid === undefined) };
  return { errors, warnings: [...document.warnings, ...findWarnings(warned)], config };
}
