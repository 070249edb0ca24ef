// The files around the code: workflows, issue forms, changelog, and the promises of docs/stability.md.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "@plugboard/shared/sqlite/driver";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { CALL_LOG_FORM } from "../../hub/src/call-log/sqlite/schema.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFile(join(ROOT, path), "utf8");

describe("workflows", () => {
  it("test Node 20, 22 and 24 on Linux, macOS and Windows, and run what a change must pass", async () => {
    const { jobs } = parse(await read(".github/workflows/test.yml"));
    expect(jobs.versions.strategy.matrix).toEqual({
      os: ["ubuntu-latest", "macos-latest", "windows-latest"],
      node: [20, 22, 24],
    });
    expect(jobs.all.steps).toContainEqual({ run: ".ci/run" });
  });

  it("publish with provenance and an SBOM, after all tests", async () => {
    const { jobs, permissions } = parse(await read(".github/workflows/release.yml"));
    expect(permissions).toEqual({ contents: "read" });
    const commands: string = jobs.packages.steps.map(({ run }: { run?: string }) => run).join("\n");
    expect(commands.match(/npm publish --provenance/g)).toHaveLength(2);
    expect(commands.match(/npm sbom /g)).toHaveLength(2);
    expect([jobs.packages.needs, jobs.image.needs]).toEqual(["check", "check"]);
    expect(jobs.packages.permissions["id-token"]).toBe("write");
  });

  it("run only scripts and files that exist, and give every job a time limit", async () => {
    const { scripts } = JSON.parse(await read("package.json"));
    for (const name of await readdir(join(ROOT, ".github/workflows"))) {
      const text = await read(`.github/workflows/${name}`);
      for (const [, script = ""] of text.matchAll(/npm run (\S+)/g)) expect(Object.keys(scripts)).toContain(script);
      for (const [, file = ""] of text.matchAll(/file: (\S+)/g)) expect(await read(file)).not.toBe("");
      const jobs: Record<string, { readonly "timeout-minutes"?: number }> = parse(text).jobs;
      for (const job of Object.values(jobs)) expect(job["timeout-minutes"]).toBeGreaterThan(0);
    }
  });
});

it("issue forms ask for what is needed, once", async () => {
  for (const name of ["bug.yml", "feature.yml"]) {
    const form = parse(await read(`.github/ISSUE_TEMPLATE/${name}`));
    const ids: string[] = form.body.flatMap(({ id }: { id?: string }) => id ?? []);
    expect([typeof form.name, typeof form.description]).toEqual(["string", "string"]);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

describe("docs/stability.md", () => {
  it("lists the columns of the SQL view, in SQLite and in PostgreSQL", async () => {
    const page = await read("docs/stability.md");
    const listed = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, column = ""]) => column);
    const db = await connect(":memory:");
    for (const { sql } of CALL_LOG_FORM.migrations) db.exec(sql ?? "");
    const columns = db.prepare("SELECT name FROM pragma_table_info('mcp_call_log') ORDER BY cid").all();
    await db.close();
    expect(columns.map(({ name }) => name)).toEqual(listed);
    const [, select = ""] =
      /create view plugboard\.mcp_call_log as\s+select (.*?)\s+from/s.exec(await read("hub/src/database/schema.ts")) ??
      [];
    const shared = select.split(/,\s*(?![^(]*\))/).map((column) => column.split(/\s+/).at(-1));
    expect(shared).toEqual(listed);
  });

  it("its links lead to headings that exist", async () => {
    const page = await read("docs/stability.md");
    for (const [, file = "", anchor = ""] of page.matchAll(/\]\(([\w-]+\.md)#([\w-]+)\)/g)) {
      const headings = [...(await read(`docs/${file}`)).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w -]/g, "")
          .replaceAll(" ", "-"),
      );
      expect([file, headings]).toEqual([file, expect.arrayContaining([anchor])]);
    }
  });
});
