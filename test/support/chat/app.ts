// The chat app in the test's process, with its own home: filled through the store, queried through the tools.

import { openApp, type App } from "../../../chat/src/app.ts";
import { LIMITS, type Limits } from "../../../chat/src/limits.ts";
import { readResource } from "../../../chat/src/mcp/resources.ts";
import type { SourceEvent } from "../../../chat/src/model/source.ts";
import { NO_USER } from "../../../chat/src/tools/tool.ts";
import { toolsFor } from "../../../chat/src/tools/tools.ts";
import { makeChatHome } from "./client.ts";

export interface OpenedApp {
  readonly app: App;
  apply(source: string, events: readonly SourceEvent[]): void;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  call(tool: string, args?: Readonly<Record<string, unknown>>): Promise<{ readonly text: string; readonly json: any }>;
  read(uri: string): Promise<{ readonly text: string; readonly meta: Readonly<Record<string, unknown>> }>;
  close(): Promise<void>;
}

/** All sources are of kind import. `entry` is merged into each entry, `config` into chat.json. */
export async function openChatApp(
  sources: readonly string[],
  {
    limits = {},
    config = {},
    entry = {},
  }: {
    readonly limits?: Partial<Limits>;
    readonly config?: Record<string, unknown>;
    readonly entry?: Record<string, unknown>;
  } = {},
): Promise<OpenedApp> {
  const home = await makeChatHome(
    Object.fromEntries(sources.map((source) => [source, { entry: { kind: "import", ...entry } }])),
    config,
  );
  const app = await openApp({
    env: home.env,
    platform: process.platform,
    home: home.dir,
    log: () => undefined,
    limits: { ...LIMITS, ...limits },
  });
  const context = { app, signal: new AbortController().signal, onProgress: () => undefined, askUser: NO_USER };
  return {
    app,
    apply: (source, events) => void app.store.apply(source, events),
    call: async (name, args = {}) => {
      const tool = toolsFor(app.sources).find((one) => one.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      const { text, structured } = await tool.run(args, context);
      return { text, json: tool.output.parse(structured) };
    },
    read: async (uri) => {
      const [content] = (await readResource(context, uri)).contents;
      return { text: content !== undefined && "text" in content ? content.text : "", meta: content?._meta ?? {} };
    },
    close: async () => {
      await app.close();
      await home.remove();
    },
  };
}
