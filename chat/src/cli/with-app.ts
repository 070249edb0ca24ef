// Opens the app for a command that only reads. Sources do not run; expired messages are deleted first.

import { openApp, type App } from "../app.ts";
import type { Io } from "./io.ts";

export async function withApp(io: Io, work: (app: App) => Promise<void>): Promise<void> {
  const log = (line: string): void => void io.stderr.write(`${line}\n`);
  const app = await openApp({ ...io, log });
  try {
    expire(app);
    await work(app);
  } finally {
    await app.close();
  }
}

/** Fails while a server writes, which then deletes them itself. */
function expire(app: App): void {
  try {
    app.store.expire(Date.now());
  } catch (error) {
    app.log(`warning: expired messages may be shown: ${error instanceof Error ? error.message : String(error)}`);
  }
}
