// Writes what is not ASCII as escapes: one such character anywhere, and the engine keeps the whole text of a file at two bytes
// for each, which takes twice the memory, and longer to compile. The sources are as people read them.

const BEYOND = /[^\x00-\x7F]/g; // oxlint-disable-line no-control-regex -- it is what ASCII is

/** @returns {import("rolldown").Plugin} */
export function oneByte() {
  return {
    name: "one-byte",
    // At the end: the bundler itself writes them as they are.
    generateBundle(_options, bundle) {
      for (const part of Object.values(bundle)) if (part.type === "chunk") part.code = escaped(part.code);
    },
  };
}

/**
 * An escape means the same in texts, templates, patterns and comments. Only a template that is taken raw could tell.
 *
 * @param {string} code
 */
function escaped(code) {
  return code.replace(BEYOND, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
