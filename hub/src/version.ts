// The hub's version, read from its package.json so that it is defined in one place.

import { createRequire } from "node:module";

const manifest: { version: string } = createRequire(import.meta.url)("plugboard/package.json");

export const VERSION = manifest.version;
