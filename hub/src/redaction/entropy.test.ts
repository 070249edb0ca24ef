import { describe, expect, it } from "vitest";
import { isCommonValue, isRandom } from "./entropy.ts";

describe("common values", () => {
  it.each([
    ..."true 1 /tmp production eu-west-1 localhost:3000 127.0.0.1:8080 en_US.UTF-8 Europe/Helsinki 8080".split(" "),
    ..."/home/someone/projects/notes https://api.example.com/v2/items python3.11 postgres16 x86_64-linux".split(" "),
    ..."C:\\Users\\someone\\Documents someone@example.com application/json 2026-01-31T10:20:30Z my-bucket".split(" "),
  ])("%s is a common value", (value) => expect(isCommonValue(value)).toBe(true));

  it.each([
    "hunter2hunter2",
    "Pa55w0rd!",
    "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "ghp_0123456789abcdefghij",
    "kJhGfDsAqWeRtY",
    "correct horse battery staple",
    "/run/3fa85f64a1b2c3d4e5",
    "deadbeefcafe0123",
  ])("%s is no common value", (value) => expect(isCommonValue(value)).toBe(false));

  it.each([
    ["mcp", false],
    ["my-project-for-production-use", false],
    ["server-filesystem-2026", false],
    ["mzFq2uR81kXw90Lp", true],
    ["3fa85f64-5717-4562-b3fc-2c963f66afa6", true],
  ])("%s is random: %s", (part, random) => expect(isRandom(part)).toBe(random));
});
