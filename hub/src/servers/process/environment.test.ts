import { describe, expect, it } from "vitest";
import type { Launcher } from "../../config/schema/types.ts";
import { childEnvironment } from "./environment.ts";

const HUB = {
  PATH: "/bin",
  HOME: "/home/u",
  LC_ALL: "C.UTF-8",
  TZ: "UTC",
  HUB_MASTER_SECRET: "s3cret",
  NODE_OPTIONS: "--inspect",
  LD_PRELOAD: "/evil.so",
  LANG: "() { :; }; evil",
  PLUGBOARD_INSTANCE: "of an outer hub",
  HTTPS_PROXY: "http://proxy",
  npm_config_registry: "http://npm",
  NPM_CONFIG_CACHE: "/cache",
  "npm_config_@acme:registry": "http://acme",
  npm_lifecycle_event: "start",
  npm_config_package: "plugboard",
  npm_config_call: "plugboard up",
  npm_config_local_prefix: "/hub",
  UV_CACHE_DIR: "/uv",
  PIP_INDEX_URL: "http://pip",
  DOCKER_HOST: "unix:///d.sock",
  DOCKER_PASSWORD: "no setting of the client",
  UNSET: undefined,
};

const names = (launcher: Launcher) => Object.keys(childEnvironment(HUB, {}, { tag: "t", launcher })).toSorted();

describe("the environment of a child", () => {
  it("SE-2 contains the basics, the grants and the tag, and nothing else of the hub", () => {
    expect(childEnvironment(HUB, { API_KEY: "k" }, { tag: "t1", launcher: "binary" })).toEqual({
      PATH: "/bin",
      HOME: "/home/u",
      LC_ALL: "C.UTF-8",
      TZ: "UTC",
      API_KEY: "k",
      PLUGBOARD_INSTANCE: "t1",
    });
  });

  it("SE-2 a server gets PLUGBOARD_HOME of its hub under another name", () => {
    const told = childEnvironment({ PLUGBOARD_HOME: "/hub" }, {}, { tag: "t", launcher: "npx" });
    expect(told).toEqual({ PLUGBOARD_HUB_HOME: "/hub", PLUGBOARD_INSTANCE: "t" });
    const set = childEnvironment({ PLUGBOARD_CHAT_HOME: "/chat" }, {}, { tag: "t", launcher: "npx" });
    expect(set).toEqual({ PLUGBOARD_CHAT_HOME: "/chat", PLUGBOARD_INSTANCE: "t" });
  });

  it.each([
    ["npx", ["HTTPS_PROXY", "NPM_CONFIG_CACHE", "npm_config_@acme:registry", "npm_config_registry"]],
    ["uvx", ["HTTPS_PROXY", "PIP_INDEX_URL", "UV_CACHE_DIR"]],
    ["docker", ["DOCKER_HOST"]],
    ["binary", []],
  ] as const)("SE-2 %s gets only its own settings besides", (launcher, own) => {
    const basics = ["HOME", "LC_ALL", "PATH", "PLUGBOARD_INSTANCE", "TZ"];
    expect(names(launcher)).toEqual([...basics, ...own].toSorted());
  });

  it.each<[Launcher, string | boolean, Record<string, string>]>([
    ["binary", true, { HTTPS_PROXY: "http://proxy" }],
    ["npx", false, {}],
    ["binary", "http://own", { HTTP_PROXY: "http://own", HTTPS_PROXY: "http://own", http_proxy: "http://own" }],
  ])("SE-2 %s with proxy %s", (launcher, proxy, expected) => {
    const env = childEnvironment(HUB, {}, { tag: "t", launcher, proxy });
    const found = Object.fromEntries(Object.entries(env).filter(([name]) => /proxy$/i.test(name)));
    expect(found).toMatchObject(expected);
    expect(Object.keys(expected).length > 0).toBe(Object.keys(found).length > 0);
  });

  it("lets a grant replace what the hub has, but never the tag", () => {
    const env = childEnvironment(HUB, { PATH: "/opt", PLUGBOARD_INSTANCE: "forged" }, { tag: "t", launcher: "binary" });
    expect(env).toMatchObject({ PATH: "/opt", PLUGBOARD_INSTANCE: "t" });
  });
});
