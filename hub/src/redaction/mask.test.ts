import { describe, expect, it } from "vitest";
import { hideAll, isCredentialName, maskArgs, maskJson, maskSecret, maskText, maskUrl } from "./mask.ts";

describe("credential names", () => {
  it.each([
    "API_KEY",
    "GITHUB_TOKEN",
    "password",
    "X-Api-Key",
    "Authorization",
    "clientSecret",
    "GITHUB_PAT",
    "key",
    "AUTH",
    "MYTOK",
    "CRED",
    "DB_CREDS",
  ])("%s is a credential name", (name) => expect(isCredentialName(name)).toBe(true));

  it.each(["PATH", "MODE", "KEYBOARD", "AUTHOR", "PATTERN", "PORT", "COMPASS", "MONKEY"])(
    "%s is no credential name",
    (name) => expect(isCredentialName(name)).toBe(false),
  );
});

describe("maskSecret", () => {
  it.each([
    ["hunter2", "***"],
    ["Bearer hunter2", "***"],
    ["${TOKEN}", "${TOKEN}"],
    ["Bearer ${TOKEN}", "Bearer ${TOKEN}"],
    ["${USER}:${PASSWORD}", "${USER}:${PASSWORD}"],
    ["${TOKEN:-}", "${TOKEN:-}"],
    ["${TOKEN:-hunter2}", "***"],
    ["prefix-${TOKEN}", "***"],
    ["$TOKEN", "***"],
    ["", ""],
  ])("CF-5 SE-1 %s is shown as %s", (text, shown) => expect(maskSecret(text, hideAll)).toBe(shown));
});

describe("maskText", () => {
  it.each([
    ["https://example.com/mcp?q=1", "https://example.com/mcp?q=1"],
    ["https://user:hunter2@example.com/mcp", "https://***@example.com/mcp"],
    ["https://hunter2@example.com/mcp", "https://***@example.com/mcp"],
    ["https://${U}:${P}@example.com/", "https://${U}:${P}@example.com/"],
    ["https://example.com/mcp?api_key=hunter2&q=1", "https://example.com/mcp?api_key=***&q=1"],
    ["https://example.com/?key=hunter2#access_token=hunter2", "https://example.com/?key=***#access_token=***"],
    ["https://example.com/?api%5Fkey=hunter2", "https://example.com/?api%5Fkey=***"],
    ["https://example.com/?api_key=${KEY}", "https://example.com/?api_key=${KEY}"],
    ["postgres://app:hunter2@db/prod", "postgres://***@db/prod"],
    ["redis://a:b@h1,redis://c:d@h2", "redis://***@h1,redis://***@h2"],
    ["Server=db;Password=hunter2;Port=1", "Server=db;Password=***;Port=1"],
    ["curl -H 'Authorization: Bearer hunter2222'", "curl -H 'Authorization: Bearer ***'"],
    ["ghp_0123456789abcdefghij0123456789abcdef", "***"],
    ["sent sk-proj-0123456789abcdefghij by mail", "sent *** by mail"],
    ["two words = nothing", "two words = nothing"],
    ['{"apiKey":"hunter2","n":"1"}', '{"apiKey":"***","n":"1"}'],
    ['"{\\"apiKey\\": \\"hunter2\\"}"', '"{\\"apiKey\\": \\"***\\"}"'],
    ["{'password': 'it is', 'a': 'b'}", "{'password': '***', 'a': 'b'}"],
  ])("SE-1 %s is shown as %s", (text, shown) => expect(maskText(text, hideAll)).toBe(shown));
});

describe("maskUrl", () => {
  it.each([
    ["https://example.com/api/mcp/s/mzFq2uR81kXw90LpQ/mcp?q=1", "https://example.com/api/mcp/s/***/mcp?q=1"],
    ["https://example.com/s/3fa85f64-5717-4562-b3fc-2c963f66afa6", "https://example.com/s/***"],
    [
      "https://u:p@example.com/v2/my-long-project-name-for-2026/mcp",
      "https://***@example.com/v2/my-long-project-name-for-2026/mcp",
    ],
    ["https://example.com/${ACCESS}/mcp", "https://example.com/${ACCESS}/mcp"],
    ["https://example.com", "https://example.com"],
    ["${ADDRESS}", "${ADDRESS}"],
  ])("SE-1 %s is shown as %s", (url, shown) => expect(maskUrl(url, hideAll)).toBe(shown));
});

it("T18 masking takes linear time", () => {
  for (const piece of ["-eyJ", "a://", '"a":"', "\\", "Bearer ", ' a="', "?a", "sk-"]) {
    const text = piece.repeat(4096);
    const startedAt = performance.now();
    maskUrl(text, hideAll);
    maskText(text, hideAll);
    expect([piece, performance.now() - startedAt > 2000]).toEqual([piece, false]);
  }
});

describe("maskArgs", () => {
  it.each<[string[], string[]]>([
    [
      ["--token", "hunter2"],
      ["--token", "***"],
    ],
    [["--token=hunter2"], ["--token=***"]],
    [["--token=two words"], ["--token=***"]],
    [
      ["--api-key", "${KEY}"],
      ["--api-key", "${KEY}"],
    ],
    [
      ["--token", "--verbose"],
      ["--token", "--verbose"],
    ],
    [
      ["-e", "API_KEY=hunter2", "-e", "MODE=fast"],
      ["-e", "API_KEY=***", "-e", "MODE=fast"],
    ],
    [
      ["-e", "DB_URL=postgres://u:hunter2@db/x"],
      ["-e", "DB_URL=postgres://***@db/x"],
    ],
    [
      ["-e", "API_KEY"],
      ["-e", "API_KEY"],
    ],
    [
      ["-H", "X-Anything: hunter2"],
      ["-H", "X-Anything: ***"],
    ],
    [
      ["--header", "Authorization: Bearer hunter2"],
      ["--header", "Authorization: ***"],
    ],
    [["Authorization: hunter2"], ["Authorization: ***"]],
    [["https://u:hunter2@h/"], ["https://***@h/"]],
    [
      ["--config", '{"a":1}', "-y", "@scope/package"],
      ["--config", '{"a":1}', "-y", "@scope/package"],
    ],
  ])("SE-1 %j are shown as %j", (args, shown) => expect(maskArgs(args, hideAll)).toEqual(shown));
});

it("SE-1 JSON is masked by member name at any depth, and by the content of strings", () => {
  expect(
    maskJson(
      {
        apiKey: "hunter2",
        deep: [{ password: "hunter2", list: ["x"] }],
        tokens: ["a", "b"],
        url: "http://u:p@h",
        n: 1,
      },
      hideAll,
    ),
  ).toEqual({
    apiKey: "***",
    deep: [{ password: "***", list: ["x"] }],
    tokens: ["***", "***"],
    url: "http://***@h",
    n: 1,
  });
});

it("the identity as Hide changes nothing", () => {
  const same = (secret: string) => secret;
  for (const text of ["https://u:p@h/?key=v", "Bearer abcdefgh", "--token=x y"])
    expect(maskText(text, same)).toBe(text);
  const args = ["--token", "v", "-H", "A: b", "KEY=v", "https://u:p@h"];
  expect(maskArgs(args, same)).toEqual(args);
});

describe("T12 secrets recognized by form or position", () => {
  it.each([
    ["https://hooks.slack.com/services/T00/B00/abcDEF123", "https://hooks.slack.com/services/***"],
    ["post to https://discord.com/api/webhooks/123/abc-def now", "post to https://discord.com/api/webhooks/*** now"],
    ["https://slack.com/services/T00", "https://slack.com/services/T00"],
  ])("%s is shown as %s", (text, shown) => expect(maskText(text, hideAll)).toBe(shown));

  it.each([
    [
      ["-u", "root", "-p", "hunter2"],
      ["-u", "root", "-p", "***"],
    ],
    [
      ["run", "-p", "8080:80", "image"],
      ["run", "-p", "8080:80", "image"],
    ],
    [
      ["-p", "127.0.0.1:53:53/udp"],
      ["-p", "127.0.0.1:53:53/udp"],
    ],
    [
      ["-p", "./folder", "-p", "--verbose"],
      ["-p", "./folder", "-p", "--verbose"],
    ],
    [
      ["-y", "-p", "some-package", "program"],
      ["-y", "-p", "some-package", "program"],
    ],
    [
      ["-p", "${PASSWORD}"],
      ["-p", "${PASSWORD}"],
    ],
  ])("%j is shown as %j", (args, shown) => expect(maskArgs(args, hideAll)).toEqual(shown));
});
