import { expect, it } from "vitest";
import { exportName } from "./export-name.ts";

const now = Date.parse("2026-11-18T09:05:00Z");

it("names an exported file after its filter and time", () => {
  expect(exportName({}, "ndjson", now)).toBe("calls-2026-11-18-0905.ndjson");
  expect(exportName({ server: "github", tool: "search" }, "csv", now)).toBe("calls-github-search-2026-11-18-0905.csv");
});

it("takes characters out of the name that a file system may refuse", () => {
  expect(exportName({ server: "../a/b:c\u202e" }, "csv", now)).toBe("calls-.._a_b_c_-2026-11-18-0905.csv");
});
