import { describe, expect, it } from "vitest";
import { readPeerSettings } from "./peer-settings.ts";

describe("SC-3 where other hubs reach a hub", () => {
  it("is a free port of this machine, or what hub.json says", async () => {
    expect(await readPeerSettings({}, ".")).toMatchObject({ host: "127.0.0.1", port: 0, tls: undefined });
    const trusted = { listen: "[::]:7431", url: "http://hub1:7431", trust_network: true };
    expect(await readPeerSettings({ cluster: trusted }, ".")).toMatchObject({ host: "::", port: 7431 });
  });

  const wrong = [
    [{ listen: "7431" }, "must be an address and a port"],
    [{ listen: "127.0.0.1:70000" }, "must be an address and a port"],
    [{ listen: "10.0.0.1:7431" }, "readable on the network"],
    [{ listen: "0.0.0.0:7431", trust_network: true }, "no address for the other hubs"],
    [{ url: "https://hub1:7431" }, "must begin with http:"],
    [{ listen: "10.0.0.1:1", tls: { cert: "no.pem", key: "no.key" } }, "Cannot read cluster.tls.cert"],
  ] as const;
  it.each(wrong)("%j is refused: %s", async (cluster, message) => {
    const refused = { kind: "InvalidConfig", message: expect.stringContaining(message) };
    await expect(readPeerSettings({ cluster }, "/nowhere")).rejects.toMatchObject(refused);
  });
});
