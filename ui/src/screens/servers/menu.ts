// The menu of a server: in its row, and on its page.

import type { Server, TestResult } from "$api/server.ts";
import { toCommandLine, toJsonEntry } from "../../lib/servers/entry-text.ts";
import { api, Problem } from "../../lib/hub/api.ts";
import { ms } from "../../lib/text/format.ts";
import { pathTo, withQuery } from "../../lib/route.ts";
import { router } from "../../router.svelte.ts";
import { actOrSay, removeServers, rollBackPackage, setEnabled, updatePackage } from "../../state/server-actions.ts";
import { toasts } from "../../state/toasts.svelte.ts";
import { common } from "../../text/common.ts";
import { serversText as text } from "../../text/servers.ts";
import { findScreen } from "../index.ts";

interface Item {
  readonly label: string;
  readonly run?: () => void;
  readonly href?: string;
  readonly danger?: boolean;
  readonly key?: string;
}

export function serverMenu(server: Server): (Item | "-")[] {
  const { config, status, package: inUse } = server;
  const { name, enabled } = config;
  const page = (tab: string) => router.href(withQuery(pathTo`/servers/${name}`, { tab }));
  const isUp = status === "running" || status === "starting";
  const hasTry = findScreen("/tools") !== undefined;
  return [
    { label: text.actions.restart, run: () => void actOrSay(name, "restart"), key: "r" },
    isUp
      ? { label: text.actions.stop, run: () => void actOrSay(name, "stop") }
      : { label: text.actions.start, run: () => void actOrSay(name, "start") },
    { label: text.actions.test, run: () => void test(name) },
    {
      label: enabled ? text.actions.disable : text.actions.enable,
      run: () => void setEnabled(server, !enabled),
    },
    "-",
    { label: text.actions.log, href: page("log"), key: "l" },
    ...(hasTry ? [{ label: text.actions.tryTool, href: router.href(withQuery("/tools", { q: `${name}:` })) }] : []),
    { label: text.actions.edit, href: page("config"), key: "e" },
    {
      label: text.actions.duplicate,
      href: router.href(withQuery("/add", { paste: toJsonEntry(server, `${name}-copy`) })),
    },
    "-",
    { label: text.actions.copyJson, run: () => void copy(toJsonEntry(server)) },
    { label: text.actions.copyCommand, run: () => void copy(toCommandLine(server)) },
    ...(inUse === null
      ? []
      : [
          { label: text.actions.update, run: () => void updatePackage(name) },
          { label: text.actions.rollBack, run: () => void rollBackPackage(name) },
        ]),
    "-",
    { label: text.actions.remove, run: () => void removeServers([server]), danger: true },
  ];
}

async function test(name: string): Promise<void> {
  try {
    const result = await api.post<TestResult>(pathTo`/servers/${name}/test`);
    toasts.show(
      result.success
        ? text.testOk(name, result.tools.length, ms(result.latency_ms))
        : text.failed(name, result.error?.message ?? result.message),
    );
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    toasts.show(text.failed(name, error.message));
  }
}

async function copy(what: string): Promise<void> {
  await navigator.clipboard.writeText(what);
  toasts.show(common.copied);
}
