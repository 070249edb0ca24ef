// The checks of the installation over the API, and their repairs.

import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { DoctorReport } from "../../hub/src/api/schemas/doctor.ts";
import { failing, fixture } from "../support/hub.ts";
import { OWN_SECRET, useOwnHub } from "./own-hub.ts";
import { post } from "./planted-hub.ts";

const open = useOwnHub();

it("reports the machine, the hub, the config and servers that do not work, without secrets", async () => {
  const own = await open({
    echo: fixture("echo"),
    broken: { ...failing("API_KEY"), env: { API_KEY: OWN_SECRET } },
    unset: { ...fixture("echo"), env: { TOKEN: { secretRef: "not-stored", required: true } } },
    lost: { command: "no-such-program", enabled: true },
  });
  await own.hub.start();
  const { checks }: DoctorReport = (await own.ask("/doctor")).json;
  const of = (name: string) => checks.filter((check) => check.name === name);
  expect(of("Node")).toMatchObject([{ section: "machine", status: "ok", fixable: false }]);
  expect(of("hub")).toMatchObject([{ section: "hub", status: "ok", message: `running at ${own.url}` }]);
  expect(of("config")[0]).toMatchObject({ section: "config", status: "ok" });
  expect(of("broken")).toMatchObject([{ section: "servers", status: "problem", message: expect.any(String) }]);
  expect(of("unset")).toMatchObject([
    { section: "servers", status: "problem", fix: "plugboard secret set not-stored" },
  ]);
  expect(of("no-such-program")).toMatchObject([
    { section: "machine", status: "problem", message: "not found, needed by lost" },
  ]);
  expect(of("echo")).toEqual([]);
});

it("repairs what is asked for, and nothing else", async () => {
  const own = await open({});
  const [log, other] = ["log.jsonl", "log.jsonl.1"].map((name) => join(own.paths.state, name));
  await mkdir(own.paths.state, { recursive: true });
  for (const path of [log ?? "", other ?? ""]) {
    await writeFile(path, "");
    await chmod(path, 0o644);
  }
  const before: DoctorReport = (await own.ask("/doctor")).json;
  const found = before.checks.find(({ message }) => message.startsWith(`${log} `));
  expect(found).toMatchObject({ section: "files", status: "warning", fixable: true });
  const after: DoctorReport = (await own.ask("/doctor/fix", post({ checks: [found?.id] }))).json;
  expect(after.fixed).toEqual([`made ${log} private (0600)`]);
  expect(after.failed).toEqual([]);
  expect(after.checks.some(({ id }) => id === found?.id)).toBe(false);
  expect((await stat(log ?? "")).mode & 0o777).toBe(0o600);
  expect((await stat(other ?? "")).mode & 0o777).toBe(0o644);
  const again = await own.ask("/doctor/fix", post({ checks: [found?.id] }));
  expect(again.json).toMatchObject({ status: 400, field: "checks" });
});
