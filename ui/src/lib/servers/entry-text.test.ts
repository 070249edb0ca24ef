import { expect, it } from "vitest";
import { toCommandLine, toJsonEntry } from "./entry-text.ts";

type Described = Parameters<typeof toCommandLine>[0];

const local: Described = {
  config: {
    id: "1",
    name: "files",
    enabled: true,
    command: "npx",
    args: ["-y", "server-filesystem", "/srv/my data", "it's"],
    env: { TOKEN: "***", MODE: "fast" },
  },
  secret_refs: { TOKEN: "files-TOKEN" },
};
const remote: Described = {
  config: {
    id: "2",
    name: "x",
    enabled: false,
    command: "http",
    args: [],
    env: {},
    type: "http",
    url: "https://x.example/mcp",
  },
  secret_refs: {},
};

it("a local server is a command line that a shell takes as it is", () => {
  expect(toCommandLine(local)).toBe(
    "plugboard add files --secret TOKEN=files-TOKEN --env MODE=fast -- npx -y server-filesystem '/srv/my data' 'it'\\''s'",
  );
  expect(toCommandLine(remote)).toBe("plugboard add https://x.example/mcp x");
});

it("the JSON is what a config file has: no defaults, no id, references by name", () => {
  expect(JSON.parse(toJsonEntry(local))).toEqual({
    mcpServers: {
      files: {
        command: "npx",
        args: ["-y", "server-filesystem", "/srv/my data", "it's"],
        env: { TOKEN: { secretRef: "files-TOKEN" }, MODE: "fast" },
      },
    },
  });
  expect(JSON.parse(toJsonEntry(remote, "y"))).toEqual({
    mcpServers: { y: { type: "http", url: "https://x.example/mcp", enabled: false } },
  });
});
