// The examples that are configuration of other programs. docs-run.test.ts runs the others.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { hubSettingsEntry } from "../../hub/src/config/schema/hub-settings.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFile(join(ROOT, "examples", path), "utf8");

it("the alerts for Prometheus use metrics and labels that the hub has", async () => {
  const config = parse(await read("prometheus/prometheus.yml"));
  expect(config.scrape_configs[0].authorization.credentials_file).toMatch(/\/data\/token$/);
  expect(config.rule_files).toEqual(["alerts.yml"]);
  const { rules } = parse(await read("prometheus/alerts.yml")).groups[0];
  const table = await readFile(join(ROOT, "docs/telemetry.md"), "utf8");
  const named = rules.flatMap(({ expr }: { expr: string }) => expr.match(/\b(?:hub|mcp)_\w+/g) ?? []);
  expect(named).toHaveLength(6);
  for (const metric of named) expect(table).toContain(`\`${metric.replace(/_bucket$/, "")}\``);
  for (const { alert, annotations } of rules) expect([alert, typeof annotations.summary]).toEqual([alert, "string"]);
});

it("the Compose file runs the image as little privileged as possible, with a valid hub.json", async () => {
  const { services, volumes } = parse(await read("docker-compose/compose.yaml"));
  expect(services.hub).toMatchObject({ init: true, read_only: true, cap_drop: ["ALL"] });
  for (const port of services.hub.ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  expect(services.hub.volumes.map((volume: string) => volume.split(":")[1])).toContain("/data");
  expect(Object.keys(volumes)).toEqual(["data"]);
  expect(hubSettingsEntry.parse(JSON.parse(await read("docker-compose/hub.json")))).toMatchObject({
    auth: { mcp: "required" },
  });
});
