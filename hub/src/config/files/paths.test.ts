// The hub's folders on each platform.

import { describe, expect, it } from "vitest";
import { hubPaths } from "./paths.ts";

const home = "/home/me";

describe("hubPaths", () => {
  it("CF-3 follows the XDG defaults on Linux", () => {
    expect(hubPaths({ env: {}, platform: "linux", home })).toEqual({
      config: "/home/me/.config/plugboard",
      data: "/home/me/.local/share/plugboard",
      state: "/home/me/.local/state/plugboard",
      cache: "/home/me/.cache/plugboard",
    });
  });

  it("takes absolute XDG folders, and ignores relative and empty ones", () => {
    const env = {
      XDG_CONFIG_HOME: "/x/config",
      XDG_DATA_HOME: "relative",
      XDG_STATE_HOME: "",
      XDG_CACHE_HOME: "/x/cache",
    };
    expect(hubPaths({ env, platform: "linux", home })).toEqual({
      config: "/x/config/plugboard",
      data: "/home/me/.local/share/plugboard",
      state: "/home/me/.local/state/plugboard",
      cache: "/x/cache/plugboard",
    });
  });

  it("uses Library on macOS", () => {
    expect(hubPaths({ env: { XDG_CONFIG_HOME: "/x" }, platform: "darwin", home: "/Users/me" })).toEqual({
      config: "/Users/me/Library/Application Support/plugboard",
      data: "/Users/me/Library/Application Support/plugboard/data",
      state: "/Users/me/Library/Logs/plugboard",
      cache: "/Users/me/Library/Caches/plugboard",
    });
  });

  it("uses AppData on Windows, given or derived from the home folder", () => {
    const env = { APPDATA: "D:\\Roaming", LOCALAPPDATA: "D:\\Local" };
    expect(hubPaths({ env, platform: "win32", home: "C:\\Users\\me" })).toEqual({
      config: "D:\\Roaming\\plugboard",
      data: "D:\\Local\\plugboard\\Data",
      state: "D:\\Local\\plugboard\\Log",
      cache: "D:\\Local\\plugboard\\Cache",
    });
    expect(hubPaths({ env: {}, platform: "win32", home: "C:\\Users\\me" }).config).toBe(
      "C:\\Users\\me\\AppData\\Roaming\\plugboard",
    );
  });

  it("CF-3 PLUGBOARD_HOME puts everything in one folder", () => {
    expect(hubPaths({ env: { PLUGBOARD_HOME: "/data", PLUGBOARD_CONFIG: "/other" }, platform: "linux", home })).toEqual(
      {
        config: "/data/config",
        data: "/data/data",
        state: "/data/state",
        cache: "/data/cache",
      },
    );
  });

  it("CF-3 PLUGBOARD_CONFIG moves the config alone", () => {
    const paths = hubPaths({ env: { PLUGBOARD_CONFIG: "/etc/plugboard" }, platform: "linux", home });
    expect(paths).toMatchObject({ config: "/etc/plugboard", data: "/home/me/.local/share/plugboard" });
  });
});
