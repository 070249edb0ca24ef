import { describe, expect, it } from "vitest";
import { proxyAuthorization, proxyFor, type ProxyChoice } from "./proxy.ts";

const BOTH = { HTTP_PROXY: "http://p:1", HTTPS_PROXY: "http://s:2" };

const found = (url: string, env: Record<string, string>, choice?: ProxyChoice) => {
  const proxy = proxyFor(new URL(url), choice, env);
  return proxy instanceof Error ? "error" : proxy?.origin;
};

describe("which proxy", () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ["http://a.test/", {}, undefined],
    ["http://a.test/", BOTH, "http://p:1"],
    ["ws://a.test/", BOTH, "http://p:1"],
    ["https://a.test/", BOTH, "http://s:2"],
    ["wss://a.test/", BOTH, "http://s:2"],
    ["https://a.test/", { HTTP_PROXY: "http://p:1" }, undefined],
    ["http://a.test/", { http_proxy: "http://small:1", HTTP_PROXY: "http://large:1" }, "http://small:1"],
    ["http://a.test/", { HTTP_PROXY: "" }, undefined],
    ["http://a.test/", { HTTP_PROXY: "p:1" }, "http://p:1"],
    ["http://a.test/", { ALL_PROXY: "http://all:1" }, "http://all:1"],
    ["http://a.test/", { HTTP_PROXY: "socks5://p:1" }, "error"],
    ["http://localhost:80/", BOTH, undefined],
    ["http://x.localhost/", BOTH, undefined],
    ["http://127.1.2.3/", BOTH, undefined],
    ["http://[::1]/", BOTH, undefined],
  ])("%s with %j: %s", (url, env, expected) => expect(found(url, env)).toBe(expected));

  it.each<[string, string, boolean]>([
    ["*", "http://a.test/", true],
    ["a.test", "http://a.test/", true],
    ["a.test", "http://x.a.test/", true],
    ["a.test", "http://xa.test/", false],
    [".a.test", "http://x.a.test/", true],
    ["*.a.test", "http://x.a.test/", true],
    ["A.Test", "http://a.test/", true],
    ["b.test, a.test", "http://a.test/", true],
    ["b.test a.test", "http://a.test/", true],
    ["a.test:8080", "http://a.test:8080/", true],
    ["a.test:8080", "http://a.test/", false],
    ["a.test:443", "https://a.test/", true],
    ["10.0.0.0/8", "http://10.1.2.3/", true],
    ["10.0.0.0/8", "http://11.1.2.3/", false],
    ["10.0.0.0/99", "http://10.1.2.3/", false],
    ["10.1.2.3", "http://10.1.2.3/", true],
    ["2.3", "http://10.1.2.3/", false],
    ["fd00::/8", "http://[fd00::1]/", true],
    ["[fd00::1]:80", "http://[fd00::1]/", true],
    ["", "http://a.test/", false],
    [",", "http://a.test/", false],
  ])("NO_PROXY=%s leaves out %s: %s", (list, url, isLeftOut) => {
    expect(found(url, { ...BOTH, NO_PROXY: list }) === undefined).toBe(isLeftOut);
    expect(found(url, { ...BOTH, no_proxy: list }) === undefined).toBe(isLeftOut);
  });

  it("the entry's own setting wins, also for this machine", () => {
    expect(found("http://127.0.0.1/", { NO_PROXY: "*" }, "http://own:3")).toBe("http://own:3");
    expect(found("http://a.test/", BOTH, false)).toBeUndefined();
    expect(found("http://a.test/", BOTH, true)).toBe("http://p:1");
  });

  it("credentials in the proxy's URL are decoded", () => {
    expect(proxyAuthorization(new URL("http://p:1"))).toBeUndefined();
    const basic = proxyAuthorization(new URL("http://us%40er:p%3Ass@p:1"))?.replace("Basic ", "") ?? "";
    expect(Buffer.from(basic, "base64").toString()).toBe("us@er:p:ss");
  });
});
