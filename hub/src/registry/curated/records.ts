// The curated servers as a registry has them.

import type { ServerRecord } from "../model.ts";
import { readServerJson } from "../server-json/record.ts";
import { CURATED, type CuratedServer } from "./servers.ts";

export function curatedRecords(): ServerRecord[] {
  return CURATED.map((server) => readServerJson(toServerJson(server)));
}

function toServerJson({ name, title, description, website, run, args = [], positional = [], env = [] }: CuratedServer) {
  const about = { name, title, description, websiteUrl: website };
  if (run.startsWith("https://")) return { ...about, remotes: [{ type: "streamable-http", url: run }] };
  const [, registryType = "", identifier = "", version = ""] = /^(npm|pypi):(.+?)(?:@|==)([^@=]+)$/.exec(run) ?? [];
  const packageArguments = [
    ...args.map((value) => ({ type: "positional", value })),
    ...positional.map(({ name: valueHint, ...input }) => ({ ...input, type: "positional", valueHint })),
  ];
  return {
    ...about,
    version,
    packages: [
      { registryType, identifier, version, transport: { type: "stdio" }, packageArguments, environmentVariables: env },
    ],
  };
}
