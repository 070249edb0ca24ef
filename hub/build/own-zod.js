// Gives the API's framework a zod of its own. It takes hold of all of it; in one and the same the hub would load all of that
// with its start, and not only what checks its files. The framework is loaded with the first request to the API.

import { readFile } from "node:fs/promises";

const OWN = "?own";
const FRAMEWORK = /[\\/]node_modules[\\/]@(?:hono|asteasolutions)[\\/]zod-/;
const ZOD = /^zod(?:\/|$)/;

/** @returns {import("rolldown").Plugin} */
export function ownZod() {
  return {
    name: "own-zod",
    async resolveId(source, importer) {
      if (importer === undefined) return null;
      const isOwn = importer.endsWith(OWN);
      if (!isOwn && !(FRAMEWORK.test(importer) && ZOD.test(source))) return null;
      const found = await this.resolve(source, isOwn ? pathOf(importer) : importer, { skipSelf: true });
      return found && { ...found, id: found.id + OWN };
    },
    async load(id) {
      return id.endsWith(OWN) ? readFile(pathOf(id), "utf8") : null;
    },
  };
}

/** @param {string} id */
function pathOf(id) {
  return id.slice(0, -OWN.length);
}
