import { describe, expect, it } from "vitest";
import { HubError } from "../errors.ts";
import { splitWords } from "../lib/shell-words.ts";
import { readGatewayLine } from "./gateway-lines.ts";

describe("CF-11 a command line of a gateway says the same as its config file", () => {
  it.each([
    [
      "supergateway",
      `npx -y supergateway --stdio "uvx mcp-server-git" --outputTransport streamableHttp --port=8000`,
      { git: { stdio: "uvx mcp-server-git", outputTransport: "streamableHttp", port: "8000" } },
    ],
    [
      "supergateway",
      `docker run -it --rm -p 8000:8000 supercorp/supergateway:uvx --stdio 'npx -y @acme/notes /' --stateful`,
      { notes: { stdio: "npx -y @acme/notes /", stateful: true } },
    ],
    [
      "supergateway",
      `--sse https://mcp.acme.com/sse --header "X-Team: a" --header "X-B: c:d" --oauth2Bearer t --cors`,
      {
        acme: {
          url: "https://mcp.acme.com/sse",
          type: "sse",
          headers: { "X-Team": "a", "X-B": "c:d" },
          oauth2Bearer: "t",
          cors: true,
        },
      },
    ],
    [
      "supergateway",
      "supergateway --streamable-http https://acme.com/mcp",
      { acme: { url: "https://acme.com/mcp", type: "streamableHttp" } },
    ],
    [
      "mcp-proxy",
      "uvx mcp-proxy --port=8080 -e KEY v --cwd /srv -- uvx mcp-server-time --utc",
      { time: { command: "uvx", args: ["mcp-server-time", "--utc"], env: { KEY: "v" }, cwd: "/srv" } },
    ],
    [
      "supergateway",
      "supergateway --stdio 'A=1 B=2 uvx mcp-server-time'",
      { time: { stdio: "A=1 B=2 uvx mcp-server-time" } },
    ],
    ["mcp-proxy", "mcp-proxy uvx mcp-server-fetch", { fetch: { command: "uvx", args: ["mcp-server-fetch"], env: {} } }],
    [
      "mcp-proxy",
      "mcp-proxy --headers Authorization 'Bearer t' --transport streamablehttp https://acme.com/mcp",
      {
        acme: { url: "https://acme.com/mcp", transportType: "streamable-http", headers: { Authorization: "Bearer t" } },
      },
    ],
    [
      "mcp-proxy",
      "mcp-proxy --pass-environment --named-server one 'uvx a --b' --named-server two c",
      {
        one: { command: "uvx", args: ["a", "--b"], passEnvironment: true },
        two: { command: "c", args: [], passEnvironment: true },
      },
    ],
  ])("%s: %s", (product, line, mcpServers) => {
    expect(readGatewayLine(product, splitWords(line))).toEqual({ data: { mcpServers } });
  });

  it.each([
    ["supergateway", "supergateway --config ./x.json", { file: "./x.json" }],
    ["mcp-proxy", "mcp-proxy --port 1 --named-server-config s.json", { file: "s.json" }],
    ["mcp-proxy", "mcp-proxy -config c.json", { file: "c.json" }],
    [
      "mcp-proxy",
      "mcp-proxy --named-server-config s.json --named-server ignored x -- y",
      { file: "s.json", data: { mcpServers: { y: { command: "y", args: [], env: {} } } } },
    ],
  ])("%s: the file of %s", (product, line, expected) => {
    expect(readGatewayLine(product, splitWords(line))).toEqual(expected);
  });

  it.each([
    ["supergateway", "--stdio npx -y package", "no option -y"],
    ["supergateway", "--stdio 'npx -y package' extra", 'does not expect the word "extra"'],
    ["supergateway", "--port 8000", "exactly one of --stdio, --sse and --streamableHttp"],
    ["supergateway", "--stdio x --sse https://y", "exactly one of"],
    ["supergateway", "--stdio", "--stdio of supergateway needs a value"],
    ["supergateway", "--stdio 'a \"b'", "is not closed"],
    ["mcp-proxy", "mcp-proxy --port 80", "names no server"],
    ["mcp-proxy", "mcp-proxy --frob -- x", "no option --frob"],
    ["mcp-proxy", "mcp-proxy --named-server one", "needs a value"],
  ])("%s %s: an error that says why", (product, line, message) => {
    const read = () => readGatewayLine(product, line === "--stdio 'a \"b'" ? ["--stdio", 'a "b'] : splitWords(line));
    expect(read).toThrow(HubError);
    expect(read).toThrow(message);
  });

  it("other products have none", () => {
    expect(readGatewayLine("mcphub", ["x"])).toBeUndefined();
    expect(readGatewayLine("constructor", ["x"])).toBeUndefined();
  });
});
