import { expect, it } from "vitest";
import type { Launcher } from "../../config/schema/types.ts";
import { watchDownload } from "./download-watch.ts";

// Recorded output of uv 0.13, npm 11 and docker 28 to a pipe.
it.each<[Launcher, string, boolean[]]>([
  [
    "uvx",
    "Downloading pydantic-core (2.1MiB)\n Downloaded pydantic-core\nInstalled 31 packages in 14ms\n",
    [true, false],
  ],
  ["uvx", "   Building lxml==5.0\n", [true]],
  ["uvx", "Installed 31 packages in 14ms\nserver up\n", []],
  ["npx", "npm warn exec The following package was not found and will be installed: x@1.0.0\n", [true]],
  [
    "docker",
    "Unable to find image 'mcp/time' locally\nlatest: Pulling from mcp/time\nStatus: Downloaded newer image\n",
    [true, false],
  ],
  ["binary", "Downloading everything\n", []],
])("LC-10 %s that says %j", (launcher, text, expected) => {
  const changes: boolean[] = [];
  const watch = watchDownload(launcher, (is) => changes.push(is));
  for (const byte of Buffer.from(text)) watch?.(Uint8Array.of(byte));
  expect(changes).toEqual(expected);
});
