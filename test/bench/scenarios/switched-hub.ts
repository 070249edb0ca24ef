// The hub as built, whose record of calls can be switched off and on while it runs. Told `true` it records, told `false` it
// does not; it answers when what came before is in the database.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { HUB_MODULES } from "../places.ts";

type HubModule = typeof import("../../../hub/dist/hub.js");
type ConfigModule = typeof import("../../../hub/dist/config/memory-store.js");
type CallLogModule = typeof import("../../../hub/dist/store/call-log.js");
type Begin = InstanceType<CallLogModule["SqliteCallLog"]>["begin"];
type LogModule = typeof import("../../../hub/dist/log.js");

const load = <T>(name: string) => import(pathToFileURL(join(HUB_MODULES, name)).href) as Promise<T>;
const { Hub } = await load<HubModule>("hub.js");
const { MemoryConfig } = await load<ConfigModule>("config/memory-store.js");
const { SqliteCallLog } = await load<CallLogModule>("store/call-log.js");
const { startFileLog } = await load<LogModule>("log.js");

const home = process.env["PLUGBOARD_HOME"] ?? "";
const mcpServers = JSON.parse(process.env["BENCH_SERVERS"] ?? "{}");
let isOn = false;
/** Also a hub without a record sends on together what came in one turn of the event loop: a pipe costs by the write. */
let turn: Promise<void> | undefined;

function thisTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}

class SwitchedLog extends SqliteCallLog {
  override begin(call: Parameters<Begin>[0]): ReturnType<Begin> {
    return isOn ? super.begin(call) : { begun: thisTurn(), finish: () => undefined };
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

process.on("message", (wanted) => void turnTo(wanted === true));
process.once("disconnect", () => void hub.stop().then(() => process.exit(0)));
process.send?.({ url: `${url}/mcp` });

async function turnTo(wanted: boolean): Promise<void> {
  if (isOn) await hub.callLog.query({ limit: 1 });
  isOn = wanted;
  process.send?.({ isOn });
}
