// A name for a server that has none: from its package, image, program or address.

import { trimEnds } from "@plugboard/shared/trim";
import { parseDockerRun } from "../config/parse/docker-flags.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { isLauncher } from "./launch-words.ts";

const CONTAINERS = /^(?:docker|podman|nerdctl)(?:\.exe)?$/;
/** Subcommands of launchers. */
const SUBCOMMANDS = /^(?:run|exec|dlx|x|tool|create|start)$/;
const SAYS_NOTHING = /^(?:mcp|server|mcp-server|index|main|cli|app|dist|build|out|src|bin|lib)$/i;

export function nameOfCommand(command: string, args: readonly string[]): string {
  return toName(tellingWord(command, args));
}

export function nameOfUrl(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  const labels = host.split(".").filter((label) => !/^(?:mcp|api|www|sse|remote|server)$/.test(label));
  return toName(/^[\d.]+$|^\[|^localhost$/.test(host) ? "local" : (labels[0] ?? host));
}

export function nameOfEntry({ command, args, url }: JsonObject): string {
  if (typeof url === "string") return nameOfUrl(url);
  const [program = "", ...words] = [command, ...(Array.isArray(args) ? args : [])].filter(
    (word) => typeof word === "string",
  );
  return nameOfCommand(program, words);
}

/** The word of a command line that identifies the server. */
function tellingWord(command: string, args: readonly string[]): string {
  const image = CONTAINERS.test(base(command)) ? parseDockerRun(args)?.image : undefined;
  if (image !== undefined) return withoutTag(image);
  const word = [command, ...args].find(isTelling) ?? command;
  return word.replace(/^(?:npm|jsr):/, "").replace(/(?<=[^/])@[^/]*$/, "");
}

function isTelling(word: string): boolean {
  return !word.startsWith("-") && !/\s/.test(word) && !isLauncher(word) && !SUBCOMMANDS.test(word);
}

export function withoutTag(image: string): string {
  return image.replace(/@.*/s, "").replace(/:[^:/]*$/, "");
}

/** The distinctive part of a package name or path, as a valid server name. */
export function toName(text: string): string {
  const parts = text.split(/[/\\]/).filter((part) => part !== "");
  // `@playwright/mcp` becomes playwright, `/srv/weather/dist/index.js` becomes weather.
  const short = parts.map(shorten).findLast((part) => part !== "" && !SAYS_NOTHING.test(part));
  const legal = trimEnds((short ?? parts.at(-1) ?? "").replaceAll(/[^\w-]+/g, "-"), "-");
  return legal.slice(0, 64) || "server";
}

function shorten(part: string): string {
  return part
    .replace(/^@/, "")
    .replace(/\.(?:js|mjs|cjs|ts|py|exe|sh)$/i, "")
    .replace(/^(?:mcp[-_])?server[-_]|^mcp[-_]|[-_]mcp(?:[-_]server)?$|[-_]server$/gi, "");
}

function base(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== "") ?? path;
}
