// Controls a container engine through its client. Reads exit codes only.

import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";

/** How an engine is reached. */
export interface Client {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Container {
  readonly name: string;
  readonly client: Client;
}

const ANSWER_MS = 5_000;
const LOOKS = 10;
const PAUSE_MS = 100;

export function engineAnswers(client: Client): Promise<boolean> {
  return succeeds(client, ["version", "--format", "{{.Server.Version}}"]);
}

export function hasImage(client: Client, image: string): Promise<boolean> {
  return succeeds(client, ["image", "inspect", "--format", "{{.Id}}", "--", image]);
}

/**
 * Ends and removes the container. Resolves when it is removed, or when the engine does not answer.
 *
 * A client may request the container just before it is killed, and the engine then creates it later: `mayAppear` keeps
 * looking for it.
 */
export async function removeContainer(
  { name, client }: Container,
  { mayAppear }: { mayAppear: boolean },
): Promise<void> {
  let awaited = mayAppear;
  for (let looks = 0; looks < LOOKS; looks++) {
    // Usually --rm has removed it. The exit code of rm does not distinguish "removed" from "being removed", so check again.
    const isPresent = await succeeds(client, ["container", "inspect", "--format", "{{.Id}}", name]);
    if (!isPresent && !awaited) return;
    if (isPresent) awaited = false;
    if (isPresent && (await succeeds(client, ["rm", "--force", "--volumes", name]))) continue;
    await delay(PAUSE_MS);
  }
}

function succeeds({ command, env }: Client, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, args, { env, timeout: ANSWER_MS, killSignal: "SIGKILL" }, (error) => resolve(error === null));
  });
}
