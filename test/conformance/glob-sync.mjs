// Lets the suite start on Node 20. One of its commands, which we do not use, imports `globSync` from "fs"; Node has it since 22, so
// it is added to "fs" here. Loaded with `node --import`.

import * as fs from "node:fs";
import { register } from "node:module";

const FS = `
  export * from "node:fs";
  export { default } from "node:fs";
  export function globSync() { throw new Error("This Node has no globSync"); }
`;

const HOOKS = `
  const url = ${JSON.stringify(moduleOf(FS))};
  const isOfSuite = (parent) => parent !== undefined && parent.includes("/@modelcontextprotocol/conformance/");
  export const resolve = (specifier, context, next) =>
    specifier === "fs" && isOfSuite(context.parentURL) ? { url, shortCircuit: true } : next(specifier, context);
`;

function moduleOf(source) {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

if (!("globSync" in fs)) register(moduleOf(HOOKS));
