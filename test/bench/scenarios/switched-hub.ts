// A hub whose call log can be switched on and off while it runs, by the messages `true` and `false`. It replies when all earlier
// calls are in the database.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { HUB_MODULES } from "../places.ts";

type HubModule = typeof import("../../../hub/dist/hub/hub.js");
type ConfigModule = typeof import("../../../hub/dist/config/files/memory-store.js");
type CallLogModule = typeof import("../../../hub/dist/call-log/sqlite/sqlite-call-log.js");
type Begin = InstanceType<CallLogModule["SqliteCallLog"]>["begin"];
type LogModule = typeof import("../../../hub/dist/log/log.js");

const load = <T>(name: string) => import(pathToFileURL(join(HUB_MODULES, name)).href) as Promise<T>;
const { Hub } = await load<HubModule>("hub/hub.js");
const { MemoryConfig } = await load<ConfigModule>("config/files/memory-store.js");
const { SqliteCallLog } = await load<CallLogModule>("call-log/sqlite/sqlite-call-log.js");
const { startFileLog } = await load<LogModule>("log/log.js");

const home = process.env["PLUGBOARD_HOME"] ?? "";
const mcpServers = JSON.parse(process.env["BENCH_SERVERS"] ?? "{}");
let isOn = false;
/** Without recording too, the calls of one event loop turn are forwarded together, as one write to the pipe. */
let nextTurn: Promise<void> | undefined;

function endOfTurn(): Promise<void> {
  nextTurn ??= new Promise((resolve) => {
    setImmediate(() => {
      nextTurn = undefined;
      resolve();
    });
  });
  return nextTurn;
}

class SwitchedLog extends SqliteCallLog {
  override begin(call: Parameters<Begin>[0]): ReturnType<Begin> {
    return isOn ? super.begin(call) : { begun: endOfTurn(), finish: () => undefined };
  }
}

const hub = await Hub.open({
  paths: { config: home, data: home, state: home, cache: home },
  variables: process.env,
  store: MemoryConfig.of({ mcpServers }),
  callLog: (redactor) => new SwitchedLog(join(home, "calls.db"), { redactor }),
});
const record = hub.latency.record.bind(hub.latency);
hub.latency.record = (...call) => {
  if (isOn) record(...call);
};
startFileLog(hub.events, join(home, "log.jsonl"));
const url = await hub.listen({ host: "127.0.0.1", port: 0 });
await hub.start();

process.on("message", (wanted) => void switchTo(wanted === true));
process.once("disconnect", () => void hub.stop().then(() => process.exit(0)));
process.send?.({ url: `${url}/mcp` });

async function switchTo(wanted: boolean): Promise<void> {
  if (isOn) await hub.callLog.query({ limit: 1 });
  isOn = wanted;
  process.send?.({ isOn });
}
