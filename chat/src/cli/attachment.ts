// `plugboard-chat attachment`: saves a photo or file of a message, of any size, under the same access rules as for agents.

import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { findAttachment } from "../access/attachments.ts";
import { invalid } from "../errors.ts";
import type { Context, Io } from "./io.ts";
import { withApp } from "./with-app.ts";

interface AttachmentOptions {
  readonly output?: string;
  readonly force?: boolean;
}

export function attachmentCommand(program: Command, { io }: Context): void {
  program
    .command("attachment <source> <chat> <message> [number]")
    .description("save a photo or file of a message (number 1 is the first)")
    .option("-o, --output <file>", "target file (default: its own name in the current folder)")
    .option("--force", "overwrite an existing file")
    .action(
      async (
        source: string,
        chat: string,
        message: string,
        number: string | undefined,
        options: AttachmentOptions,
      ): Promise<void> => save(io, { source, chat, message, number: toNumber(number ?? "1") }, options),
    );
}

async function save(
  io: Io,
  args: Parameters<typeof findAttachment>[1],
  { output, force = false }: AttachmentOptions,
): Promise<void> {
  await withApp(io, async (app) => {
    const { file, name } = await findAttachment(app.reader, args);
    try {
      const path = resolve(output ?? (name.replace(/^\.+/, "") || "attachment"));
      await requireFree(path, force);
      const bytes = file.chunks(new AbortController().signal);
      await pipeline(bytes, createWriteStream(path, { flags: force ? "w" : "wx", mode: 0o600 }));
      io.stdout.write(`${path}: ${file.sizeBytes.toLocaleString("en-US")} bytes\n`);
    } finally {
      await file.close();
    }
  });
}

async function requireFree(path: string, force: boolean): Promise<void> {
  const isExisting = await stat(path).then(
    () => true,
    () => false,
  );
  if (isExisting && !force)
    throw invalid("output", `${path} already exists`, "Choose another file with -o, or use --force");
}

function toNumber(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw invalid("number", `Invalid attachment number '${text}'`, "Use 1 for the first attachment");
}
